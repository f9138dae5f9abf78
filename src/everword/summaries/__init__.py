"""Tiers, the window, episodes in levels, digests of days."""
