"""How a context is written and what a model asks back, pure."""
