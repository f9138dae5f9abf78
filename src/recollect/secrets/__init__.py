"""Finds secrets that somebody pasted, and says what becomes of them."""
