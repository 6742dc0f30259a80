"""Loops of WordPiece: the trie of LinMaxMatch as a double array, words matched, and whole texts in one pass.

`matching` packs a trie and matches one word, `end_to_end` tokenizes texts. `codes` names what tables are made of.
"""
