"""Loops of training: counting different pieces of text, and merging the most frequent pair until enough are made.

`piece_table` counts pieces, `merging` merges pairs. What grows on the way belongs to C and goes with the Python object
that holds it.
"""
