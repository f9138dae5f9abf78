"""The operations of a memory: what programs call."""
