"""Which tokenizer made a store of ids: each candidate's violations, and the likely mistakes.

Read in this order:

1. `api`: `identify` reads a sample of a store and ranks the candidates, `identify_each` does so for many stores.
   `result` is the answer, with the kinds of mistakes.
2. `judging`: how a candidate is judged by the sample. Where a file does not record a pre-tokenizer, all named ones are
   tried.
3. `sample`: the segments that are read, evenly spread over the store; `counts`: the violations in them; `readings`: the
   ids as another integer type, in another byte order, or shifted, and in which of these a tokenizer fits; `lost`: the
   neighbours that are lost when text is encoded again, by which this is seen; `free_neighbours`: the shifts of Unigram,
   which are seen by texts next to each other.
4. `mistakes`: what is wrong with ids that fit, such as special ids or another version; `mixture`: the parts of a store
   that several tokenizers made.

Used by: the command `guess`.

Cost: reading the sample, by default a million ids, and judging it by each candidate that is near: 40 ms for 65,536 ids
and ten candidates, two seconds if none fits.
"""
