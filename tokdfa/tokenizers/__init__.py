"""Real tokenizers: normalizer, pre-tokenizer, dictionary, special tokens, ids."""
