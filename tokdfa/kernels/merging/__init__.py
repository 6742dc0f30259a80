"""Merging by priority, for what is not encoding: pieces of any dictionary, and how words come about.

`pieces` merges pieces with a hash table of pairs; `words` finds the pair that makes each word, and the steps by which
words come about. Callers have checked that symbols are tokens, and that offsets ascend.
"""
