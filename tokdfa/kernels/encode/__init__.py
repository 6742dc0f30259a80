"""Encoding: splitting texts, encoding pieces, and the tables that this takes.

`split` runs the machine of a split pattern, `rules` and `one_pass` have the tables of a dictionary, `memory` the pieces
that were seen before, `pieces` and `texts` encode with all of them; `events` has the numbers that stand for what a
symbol does. `rank_lines` reads files of ranks, `subsequential` writes transducers out. How the loops work is said at
the head of the C files.
"""
