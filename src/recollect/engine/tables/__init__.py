"""Converts objects to rows of the store, and back."""
