"""OpenAI's shapes, read and written; pure."""
