"""Decide whether two dictionaries, or two tokenizers, give every text the same tokens.

Read `api` first, then `result` (parts, outcomes and obstacles, their sentences, the answer of a comparison, and
encoding each text before it becomes a witness). Then one of

- `dictionaries`: two dictionaries, by the rows of their compact token DFAs;
- `parts`, and again `api`: two byte pair tokenizers, part by part where that is possible. The search for a shortest
  text that separates them runs in `separation`, over the product of their automata: `joint` has their splittings side
  by side, `vocabularies` their tokens, `reach` the product and the states of it that texts reach. Where it cannot run,
  `derived` may show that both merge alike, by `phases` where the order of the rules differs. `restricted` leaves only
  the texts of one language;
- `models`: two Unigram tokenizers, part by part and by texts that are tried (those of `rounding` if only the
  arithmetic differs), or two WordPiece tokenizers; and what is tried, and for how long, if no search decides;
- `longest_match`: two tokenizers that take the longest token.

Used by: the command `compare`, `report`.

Cost: 0.3 to 1 s for real dictionaries, 4 to 40 s and up to 1.5 GB for real tokenizers with different splittings.
"""
