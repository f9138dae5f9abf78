"""Chat models, embedders, tokenizers."""
