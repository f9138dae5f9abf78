"""A chat completion with a memory behind it."""
