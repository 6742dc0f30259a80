"""Loops of training: counting different pieces of text, and merging the most frequent pair until enough are made.

`merging` does both. Growing memory belongs to C and is freed with the Python object that holds it.
"""
