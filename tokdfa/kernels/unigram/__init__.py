"""Unigram: the trie of pieces as a double array, and the best segmentation of texts.

`segmentation` packs a trie, and segments texts that are normalized. `texts` segments them as they are given, by the
rules of SentencePiece. `accept` finds out whether ids are the best segmentation of their text.
"""
