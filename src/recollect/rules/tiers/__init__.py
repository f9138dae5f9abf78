"""A message at three resolutions, and which of them is needed."""
