"""Conversations and people under other names: renamed, moved, merged, and back."""
