"""Encoding: splitting texts, encoding pieces, and the tables for both.

`split` runs the machine of a split pattern, and `one_pass` has the tables of a dictionary; `pieces` and `texts` encode
with both and a cache of the pieces seen before, `added` finds added tokens, and `strings` any of some strings. `utf8`
finds the UTF-8 of strings, which several threads encode in batches; `characters` cuts pieces of dictionaries over
characters; `events` has the event codes of symbols. `subsequential` writes transducers out. The head of each C file
explains how its loops work.
"""
