"""How messages and topics fit, pure."""
