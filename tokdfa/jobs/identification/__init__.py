"""Which tokenizer made a store of ids: each candidate's violations, and the likely mistakes.

Read in this order:

1. `api`: `identify` judges a sample of a store by each candidate, ranks them, and looks for mistakes in ids that fit,
   such as special ids or another version. Where a file does not record a pre-tokenizer, all named ones are tried.
   `result` is its answer, with the kinds of mistakes.
2. `sample`: the segments that are read, evenly spread over the store, the violations in them, and the ids as another
   integer type, in another byte order, or shifted: in which of these readings a tokenizer fits.

Used by: the command `guess`.

Cost: reading the sample, by default a million ids, and judging it once per candidate; up to ten seconds for a candidate
that does not fit.
"""
