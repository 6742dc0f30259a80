"""Decide whether texts may be encoded separately: at a seam, between the turns of a chat, in a template.

Read in this order:

1. `api`: `splice`, and `question`: the question for the texts of two automata of `tokdfa.automata.texts`, and its
   answer. `encoding` encodes a text as the continuation of another one, and templates by the rules of libraries.
2. `decision`: the parts of a tokenizer that are searched, the special tokens that matter, and the choice of one of two
   searches. `normal_texts`: the texts that a normalization form makes of others; `normal_seam`: those that it joins.
3. `seam`: the automaton of both texts, apart and as one, over the split NFA.
   `tokens` and `edges`: rewritten spaces and characters without a token, which tokens lead on, and where tokens can
   differ at all, for all texts at once.
4. `search`: the least two texts that are split otherwise, also by `whole_words`, tokens that only whole pieces become.

Built on these: `parts` (texts with slots, and the shortest ones that spell a special token across a template),
`parts_seam` (a seam between parts, next to special tokens that are always found), `turns` (may the ids of a
conversation be kept when a turn is added) and `injection` (can the text in a slot make a control id).

Used by: the commands `splice`, `turns` and `injection`.

Cost: 0.1 to 5 s for a question about a real tokenizer, and up to 0.7 GB.
"""
