"""Loops over explicit automata: states and transitions in arrays, words as tries.

`explicit` has the algorithms on token DFAs (reachability, the coarsest partition, the first difference) and on words in
a trie. Each function states its cost. Callers have checked that states, tokens and offsets are in range.
"""
