"""Statements about people, their names, and commands to the memory."""
