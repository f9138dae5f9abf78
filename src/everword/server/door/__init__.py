"""Access control: API keys, request rates, and checks of where a request comes from."""
