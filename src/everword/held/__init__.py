"""Messages held in memory while the store takes none."""
