"""Searching streams of ids for matches in their text: `search`, whose callers have checked ids against the vocabulary.

``leftmost.wide.c`` finds the leftmost matches, ``all.c`` all of them. Tokens at which nothing happens are skipped: by
their classes (``by_class.h``, with the prefilter of ``prefilter.c``), or, for large automata, in accelerated states
(``accelerated.h``).
"""
