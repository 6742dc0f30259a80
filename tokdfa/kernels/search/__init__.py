"""Searching streams of ids for matches in their text, `search`, and for n-grams of words, `ngrams`.

``leftmost.wide.c`` finds the leftmost matches, ``all.c`` all of them. The ids are below the size of the vocabulary.
Tokens at which nothing happens are skipped: by their classes (``by_class.h``, with the prefilter of ``prefilter.c``),
or, for large automata, in accelerated states (``accelerated.h``).
``ngrams.c`` counts the n-grams that ``ngram_set.c`` has put into a table.
"""
