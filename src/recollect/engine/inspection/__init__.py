"""What a dashboard shows of a memory: reads that nothing else needs, each of one page at a time."""
