"""Which tokenizer made a store of ids: each candidate's violations, and the likely mistakes.

Read in this order:

1. `api`: `identify` judges a sample of a store by each candidate, and ranks them. `result` is its answer.
2. `sample`: the stretches that are read, evenly spread over the store. `counting` counts the violations in them.
3. `mistakes`: the search for a correction after which a candidate fits; `mistake` has their kinds. `reading` reads the
   ids otherwise: as another integer type, in another byte order, shifted. `agreement` measures quickly how well a
   tokenizer fits; `cut` finds ids that were cut to 16 bits, and `evidence` tells special ids from another version.
4. `candidates`: tokenizers to try, with all named pre-tokenizers where a file does not record one. `wording` makes
   sentences of mistakes, and `tuning` sets how much is read.

Used by: the command `guess`.

Cost: reading the sample, by default a million ids, and judging it once per candidate; up to ten seconds for a candidate
that does not fit.
"""
