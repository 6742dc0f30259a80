"""Facts about all texts: whether a table of bytes by id adds up, and how few or many tokens a text can have.

Read `streams` first: the graph of the canonical streams of a tokenizer. A state is a pair of a *base*, one of few, and
a *row*, the set of ids that may not follow the last id. All rows of a base are treated together. `of_tokenizers` makes
the graph: by `byte_streams` for byte pairs over bytes, by `character_streams` for those over characters, as
`product_streams` of automata, or by `wordpiece_streams`.

- `check_bytes` is in `api`. `byte_tables` has the tables and the public formulas. `paths` decides whether the sum along
  each stream is 0, and finds the shortest stream with another sum. `missing_space` answers for vocabularies without a
  token for the space.
- `bounds` is in the module `bounds`, and its values in `extremes`. `climbing` finds the greatest sum of a path, or a
  cycle that makes it infinite; `ratios` the greatest ratio; `sized` texts of a given number of bytes. `attained`
  encodes the texts that are found, to confirm them. `per_token`, `tokens_of_texts` and `other_tokens` answer the
  questions.
- `product` reads one text with two tokenizers, each of them a `side`. `product_graph` explores its states, for
  `longest_unit` in the package `alignment`, and `gaining_cycles` finds its cycles, for `bounds`.

Cost: the edges of a base with 100,000 ids take milliseconds, and are made when a search reaches the base.
"""
