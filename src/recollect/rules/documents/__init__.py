"""What programs keep under keys of their own."""
