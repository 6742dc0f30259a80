"""Guides: which ids can come next so that the ids are canonical, and their text is in a language.

Example: in the language `a (single|married) man`, after `a`, the mask allows ` single` and ` married`, not ` s`.

Read `api` first: the function `guide`, and `Guide` with its states, masks and forced ids. `bans` keeps some words out
of the text. Both are `masked` automata. A matcher of `matchers` follows one sequence, for engines. `prompts` finds the
state after a prompt, and `covers` the ids with which all texts with given first bytes can begin. `schemas` turns JSON
schemas into regular expressions. `fast_forward` decides whether forced text can be encoded separately, and `jumps`
shows the forced text with its ids.

Below them, from the bottom up:

- `splits`: the pre-tokenizer read by ids, incomplete symbols included;
- `byte_machines`: automata over bytes as tables;
- `forms`: automata of the texts in a normalization form;
- `openings`: the beginnings of texts, where a space is put before them or removed, and of those next to special tokens,
  which may take white space;
- `characters`: how tokenizers over characters spell texts;
- `longest_matches`: the automaton of the texts in which the longest of some special tokens are found;
- `scan`: the automaton that refuses texts with other special tokens, and texts that are not in the form;
- `tokens`: the tables of one tokenizer, made once, among them the ids that may not follow a token within a piece, as
  rows of intervals;
- `texts`: a regular language of texts, read by groups of ids that it and the pre-tokenizer cannot tell apart;
- `prefixes`: the product of all these without dead ends, and the moves of its states as arrays; its inner loops are
  `tokdfa.kernels.guiding.product`.

Cost: the tables of a tokenizer take about half a second for 100,000 ids. Masks are cached by state. A new mask is made
from the masks of its *base*, the states that differ only in the last id. With a budget of ids, a base has one mask for
each number of ids left, up to the number that excludes no id.
"""
