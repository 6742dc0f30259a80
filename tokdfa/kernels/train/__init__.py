"""Loops of training: counting different pieces of text, and merging the most frequent pair until enough are made.

`piece_table` counts pieces, `merging` merges pairs. Growing memory belongs to C and is freed with the Python object
that holds it.
"""
