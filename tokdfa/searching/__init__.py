"""Searching the text of streams of ids, without decoding them.

Read `api` first (`search` and `Searcher`), then `words` (the spelling of ids), `plan` (the effect of every id on
the automaton of a pattern) and `stream` (a search under way, chunk by chunk). `matches` holds the results, `recent`
keeps the last few plans, and `tuning` sets when a search computes the effects of all tokens.

Used by: `Tokenizer.search`, the command `search`.

Cost: 0.4 to 2 ns per id at rest. Memory grows only with undecided matches, not with the stream.
"""
