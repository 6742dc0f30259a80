"""Searching streams of ids for what their text matches.

`tables` has what a search reads: what ids spell, the automata, and what tokens do to them, each a struct that is built
once. `run` has the searches themselves, leftmost matches and all of them, and the struct of a search under way. Callers
have checked ids against the vocabulary.
"""
