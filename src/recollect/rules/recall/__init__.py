"""How hits are ranked, and what is shown of them."""
