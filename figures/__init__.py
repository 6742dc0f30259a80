"""The figures of the project, each with the data that it shows.

Every module beside this one but the helpers is a figure: it has ``draw``, which returns SVG, and, where there is
something to measure, ``measure``, which returns the rows of a table. ``python -m figures`` draws all figures from the
tables kept beside them; with ``--measure`` and names it measures these anew.
"""
