"""Measurements of quality and speed, on published data sets and on made-up ones."""
