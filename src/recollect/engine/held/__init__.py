"""Messages that the store does not take for now, held in memory until it does."""
