"""How a message gets a new version, and what follows from that."""
