"""New versions of messages."""
