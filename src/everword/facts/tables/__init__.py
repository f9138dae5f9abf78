"""The rows of facts, statements and names."""
