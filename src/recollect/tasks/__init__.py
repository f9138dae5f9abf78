"""What is asked of a model, one module a task: prompt, reply type, parser, and the answer without a model."""
