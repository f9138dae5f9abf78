"""REST, one module a noun."""
