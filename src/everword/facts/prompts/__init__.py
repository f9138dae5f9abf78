"""What is asked of a model about facts, with the answer without one."""
