"""Replacing in ids: which ids around matches are encoded again, and the ids with the new ones in their places.

`regions` finds these ids and which of them are alike, and exchanges stretches of ids. Callers have checked the ids.
"""
