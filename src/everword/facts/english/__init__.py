"""Facts read from English by its wording, pure."""
