"""Aligning two streams of ids of one text: the shortest parts of the text that both spell with whole ids.

Example: the streams ` single` and ` s`, `ingle` share only the boundaries around both, so they are one unit.

Read `api` first (`align`), then `spelling` (the bytes that the ids of one side add to the text) and `result` (the
units). The loop over ids is `tokdfa/kernels/walk/alignment.c`. `longest` decides how long units can become over all
texts, and `limited_words` bounds them for WordPiece.

Used by: the command `align`.

Cost: 5 ns per id and 24 bytes per unit. Over all texts, it takes seconds to find that a unit can grow without end.
Otherwise all states of a product are explored, which are too many for two large vocabularies.
"""
