"""What leaves the window, where it is cut, and what is kept of it without a model."""
