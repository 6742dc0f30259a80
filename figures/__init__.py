"""The figures of the project, each with the data that it shows.

Every module in `papers`, `measurements` and `readme` is a figure: it has ``draw``, which returns SVG, and, where there
is something to measure, ``measure``, which returns the rows of a table. An automaton's figure has ``graph``; its DOT
text is kept next to it. ``python -m figures`` draws all figures, from the tables where there are some; with
``--measure`` and names it measures these anew. The throughput figures are drawn from tables that benchmarks keep with
``--json``, which takes the libraries that they compare; ``python -m figures throughput`` draws them and takes none.
"""
