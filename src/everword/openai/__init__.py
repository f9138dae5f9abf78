"""The shapes of OpenAI's and Anthropic's APIs, read and written; pure."""
