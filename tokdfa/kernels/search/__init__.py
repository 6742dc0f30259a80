"""Searching streams of ids for matches in their text.

`tables` builds the structs that a search reads, each of them once: the spellings of ids, the automata, and the effects
of tokens on the automata. `run` has the searches themselves, for leftmost matches and for all of them, and the struct
of a search under way. Callers have checked ids against the vocabulary.
"""
