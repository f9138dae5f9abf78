"""The log: what may enter it, how it is sealed, changed and read; who may see what."""
