"""How work is claimed, done, tried again and counted."""
