"""Counts of tokens."""
