"""Readers of tokenizer files. Untrusted bytes end here."""
