"""Searching the text of streams of ids, without decoding them.

Read `api` first (`search` and `Searcher`), then `plan` (the spelling of ids, the effect of every id on the
automaton of a pattern, and when it pays to compute it) and `stream` (a search under way, chunk by chunk, its matches,
and the special tokens of a stream). `counting` counts words, or names of patterns, by matches, documents and files,
and `ngrams` the n-grams of an evaluation, which are made of the words or ids of `ngram_units`.

Used by: `Tokenizer.search`, the command `search`.

Cost: 0.4 to 2 ns per id at rest. Memory grows only with undecided matches, not with the stream.
"""
