"""The theory of what training optimises; no job uses it.

`merges` are merges as trees, `utility` is their gain, `exact` the best possible sequence, `permutations` are
rearrangements that change nothing; `gage` and `longest_piece` are other objectives and trainers of the literature.

Callers: the command `train` (the exact optimum), drawings of forests, notebooks.

Cost: `exact` is exponential and for small words only.
"""
