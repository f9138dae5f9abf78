"""What decides about facts, pure."""
