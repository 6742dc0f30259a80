"""Unigram: the trie of pieces as a double array, and the best segmentation of texts.

`segmentation` packs a trie, and segments texts.
"""
