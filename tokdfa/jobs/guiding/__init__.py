"""Guides: the ids that can come next so that a canonical stream continues, in a language of texts if one is given.

Read `api` first: the function `guide`, and `Guide` with its states, masks and forced ids. `bans` has the ids after
which a text has none of some words. Both are `masked` automata. `matchers` keep the states of a sequence, for engines.
`prompts` finds where a guide begins after a prompt, and `covers` the first ids of all texts with some first bytes.
`schemas` makes languages of JSON schemas. `fast_forward` decides whether forced text may be encoded separately, which
`jumps` have with its ids.

Below them, from the bottom up:

- `splits`: the pre-tokenizer read by ids, incomplete symbols included;
- `byte_machines`: automata over bytes as tables;
- `openings`: the beginnings of texts, where a space is put before them or removed;
- `characters`: how tokenizers over characters spell texts;
- `forms`: automata of the texts in a normalization form;
- `longest_matches`: the automaton of the texts in which the longest of some special tokens are found;
- `scan`: the automaton that refuses texts with other special tokens, and texts that are not in the form;
- `tokens`: the tables of one tokenizer, made once, among them the ids that may not follow a token within a piece, as
  rows of intervals;
- `texts`: a regular language of texts, read by groups of ids that it and the pre-tokenizer cannot tell apart;
- `prefixes`: the product of all these without dead ends, and the moves of its states as arrays; its inner loops are
  `tokdfa.kernels.guiding.product`.

Cost: the tables of a tokenizer take about half a second for 100,000 ids. A mask of a state met before is copied; a new
mask is made from the masks of its *base*, the states that differ only in the last id. With a number of ids left, a base
has a mask for each number that is not known to be enough for all ids of the mask without one.
"""
