"""The drop-in endpoint in OpenAI's shapes."""
