"""Decide whether ids are canonical: exactly the ids that their tokenizer gives for the text that they spell.

Read in this order:

1. `api`: `validate`, which checks an array from where one walk over it stops. `validator`: streams that come in chunks,
   with documents; many ids that come together are a block, which is checked at once.
2. `violation`: where and why a stream is not canonical, as data, with the kinds and their sentences. `violations`: the
   answer, and violations that are found many at once, each made when it is read. `groups`: equal violations, counted
   with the text around the first of each, for which `recent` has the last ids.
3. `engine`: the one place that chooses an engine for the streams of a tokenizer, and names it; and whole streams that
   one call to the kernels shows to be canonical, so that only the rest is checked. `engines`: the algorithms.
4. The inputs of the engines: `model` (a tokenizer as tables over its ids), `table` (the machine of a pre-tokenizer over
   ids, made on demand), `window` (a part of a stream, its text and special tokens; ids not judged yet, and how many are
   kept; blocks), `differences` (of two tokenizations, or of many texts that are decoded and encoded again at once).

Used by: `Tokenizer.validate`, the command `validate`, `report`.

Cost: 2 to 4 ns an id of an array at rest, in memory that does not grow with the stream, except for tokenizers that are
checked by encoding again. The tables of a tokenizer take less than a tenth of a second, once.
"""
