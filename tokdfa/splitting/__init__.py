"""Pre-tokenizers as finite machines: where a text is cut into pieces, in one pass and in streams."""
