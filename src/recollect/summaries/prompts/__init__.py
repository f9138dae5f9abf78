"""What is asked of a model about summaries, with the answer without one."""
