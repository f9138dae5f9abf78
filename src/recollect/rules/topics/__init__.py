"""Which topic a message belongs to, how topics fade, and how they are packed."""
