"""Numbers that hold for every text: whether counts of bytes, by id, add up, and how many tokens a text can have.

Read `streams` first: the graph of the canonical streams of a tokenizer. Its states have one of few bases, and a row,
the ids that may not follow the last id; so all rows of a base are treated at once. `of_tokenizers` makes it:
`byte_streams` of byte pairs over bytes, `character_streams` over characters, as `product_streams` of automata, and
`wordpiece_streams`. `byte_tables` has counts of bytes by id, and the public formulas for them; `paths` decides whether
sums along all streams are 0, and finds the shortest stream with another sum; `api` is the function `check_bytes`, and
`missing_space` its answer for vocabularies without a space. `product` has two streams of one text, by two tokenizers,
each of them a `side`. `product_graph` explores its states, for `longest_unit` in the package `alignment`, and
`gaining_cycles` finds cycles of it, for `bounds`.

`bounds` is the function of that name, and `extremes` its values. `climbing` has the greatest sums of paths, or a cycle
that makes them infinite; `ratios` the greatest ratios; `sized` searches for texts of a number of bytes. `attained`
confirms texts. With these, `per_token`, `tokens_of_texts` and `other_tokens` answer the questions.

Cost: the graph of a base with 100,000 ids takes some milliseconds, and is made where a question reaches it.
"""
