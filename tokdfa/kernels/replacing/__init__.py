"""Replacing in ids: which ids around matches are encoded again, and the ids with the new ones put in.

`regions` finds these ids and which of them are alike, and exchanges spans of ids. Callers have checked the ids.
"""
