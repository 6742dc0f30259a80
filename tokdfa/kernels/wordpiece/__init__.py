"""Loops of WordPiece: the trie of LinMaxMatch as a double array, matching words, and whole texts in one pass.

`matching` builds the trie and matches one word, `end_to_end` tokenizes texts, and names the codes in the tables.
"""
