"""The theory of the objective of training; no job uses it.

`merges` are merges as trees, and their gain; `exact` is the best possible sequence, and rearrangements that change
nothing; `alternatives` has Gage's compression, and encoding by the longest pieces first.

Callers: the command `train` (the exact optimum), drawings of forests, notebooks.

Cost: `exact` is exponential and for small words only.
"""
