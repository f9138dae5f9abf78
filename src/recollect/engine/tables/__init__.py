"""Rows of the store as nouns, and back."""
