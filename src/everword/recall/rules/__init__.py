"""How hits are ranked, pure."""
