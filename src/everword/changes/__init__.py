"""Edits, moves and removals: each changes the log, and follows provenance into every view."""
