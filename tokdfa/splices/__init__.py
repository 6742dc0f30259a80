"""Decide whether texts may be encoded separately: at a seam, between the turns of a chat, in a template.

Read in this order:

1. `api`: `splice`, and `result`, its answer. `languages` are what the texts on both sides may be, and `texts` the least
   ones of them; `encoding` encodes a text as the continuation of another one.
2. `decision`: what a tokenizer does, as far as it is searched, and which special tokens matter; `rewrites`, what it
   does to spaces and to characters without a token; `forms`, for those that normalize.
3. `seam`: the automaton of both texts, apart and as one, over the hypotheses of the splitting; `found` are the special
   tokens in it. `tokens`, their `trie` and `edges`: which tokens lead on.
4. `partings`: where tokens can differ at all, for all texts at once; `whole_words`, the same for tokens that only
   whole pieces become. `search`: the least two texts that are split otherwise; `marked`, the same for tokenizers that
   mark the ends of words, where borders decide.

Built on these: `parts` (texts with slots), `turns` (may the ids of a conversation be kept when a turn is added) and
`injection` (can what fills a slot make a control id), by the `rules` of each library: `alignments` are the shortest
texts that spell a special token across a template, and `spelling` searches those of given languages.

Used by: the commands `splice`, `turns` and `injection`.

Cost: 0.1 to 5 s for a question about a real tokenizer, and up to 0.7 GB.
"""
