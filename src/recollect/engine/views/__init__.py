"""The views that follow the log, one module each, named as the view is."""
