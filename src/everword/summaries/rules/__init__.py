"""What a summary says, pure."""
