"""What is removed for good, with all that was derived from it."""
