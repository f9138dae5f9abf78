"""What people say about themselves and others: found, decided, kept, forgotten."""
