"""Unigram: the segmentation of a text into pieces with the greatest sum of scores.

`unigram` is the model as a part of a tokenizer, `accepted` says which ids it accepts word by word, or as the text that
they spell.

Read `model` (the contents of a file: pieces, scores, and the library that gives the arithmetic), then `segmenter` (the
compiled segmentation, and the acceptor of streams word by word). `lattice` has the ways through the pieces of a text,
and compares the sums of two of them. `texts` normalizes and segments in one pass; `character_rules` are its rules as
arrays.

The two libraries run the same recurrence from left to right; of equal sums, the one with the longest last piece wins.
SentencePiece rounds each sum to 32 bits and adds up a whole text, so that a piece may depend on how much text is before
it. tokenizers adds up each pre-token with 64 bits. So no automaton over pairs of tokens decides what is canonical.

Callers: `tokenizers`, `jobs.validation`, `jobs.comparison`.

Cost: a step in the trie of pieces for each byte of each piece, and each beginning of one, that is in the text.
"""
