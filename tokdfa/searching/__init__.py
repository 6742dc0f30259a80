"""Searching streams of ids for what their text matches, without decoding them.

Read `api` first (`search` and `Searcher`), then `words` (what ids spell), `plan` (what every id does to the
automaton of a pattern) and `stream` (a search under way, chunk by chunk). `matches` holds what is found;
`recent` keeps the last few plans, and `tuning` says when a search finds out what every token does.

Callers: `Tokenizer.search`, the command `search`.

Cost: 1 to 3 ns an id at rest. Memory grows with undecided matches and with nothing else of the stream.
"""
