"""Removing messages for good: for erase, delete and retention."""
