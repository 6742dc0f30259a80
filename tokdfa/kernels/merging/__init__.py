"""Merging by priority, other than for encoding: pieces of any dictionary, and the derivation of words.

`merging` merges pieces with a hash table of pairs. It finds the pair that makes each word, and the steps that derive
it. Callers have checked that symbols are tokens, and that offsets ascend.
"""
