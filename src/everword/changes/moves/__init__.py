"""Conversations and people that are moved or merged."""
