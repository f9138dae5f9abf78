"""A turn that comes in OpenAI's shape."""
