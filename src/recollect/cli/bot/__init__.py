"""`recollect bot`."""
