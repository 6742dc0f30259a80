"""Deciding whether two dictionaries, or two tokenizers, give every text the same tokens."""
