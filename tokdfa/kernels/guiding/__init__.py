"""Loops over the ids that can come next.

`masks` has them: what a row forbids is taken out of a mask, and the masks of a state are made from the verdicts on what
its ids lead to. Callers have checked that ids, rows and states are in range.
"""
