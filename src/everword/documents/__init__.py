"""Documents that programs keep under keys of their own."""
