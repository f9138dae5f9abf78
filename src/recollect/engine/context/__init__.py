"""What a model is sent: gathered, ranked, rendered, and for whose eyes."""
