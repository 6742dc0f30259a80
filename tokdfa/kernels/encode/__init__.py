"""Encoding: splitting texts, encoding pieces, and the tables for both.

`split` runs the machine of a split pattern, `rules` and `one_pass` have the tables of a dictionary, `memory` the pieces
seen before, and `pieces` and `texts` encode with all of them; `utf8` finds the UTF-8 of strings, which several threads
encode in `parcels`; `characters` cuts pieces of dictionaries over characters; `events` has the codes of what a symbol
does. `rank_lines` reads files of ranks, and `subsequential` writes transducers out. The head of each C file explains
how its loops work.
"""
