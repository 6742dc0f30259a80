"""Aligning two streams of ids of one text: the shortest parts that both spell with ids of their own.

Read `api` first (`align`), then `spelling` (the bytes that the ids of one side add to the text) and `result` (the
units). The loop over ids is `tokdfa/kernels/walk/alignment.c`. `longest` decides how long units can become over all
texts, and `limited_words` bounds them for WordPiece.

Used by: the command `align`.

Cost: some 5 ns per id at rest; 24 bytes per unit. Over all texts, seconds where a unit can be extended without end;
otherwise the states of a product are explored, too many for two different vocabularies of real size.
"""
