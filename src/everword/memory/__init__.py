"""A memory in this process: its operations, what they run on, and the blocking twin."""
