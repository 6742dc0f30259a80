"""WordPiece: longest match first, in linear time, and its automata.

`wordpiece` is the model as a part of a tokenizer.

Read `vocabulary` and `maxmatch` (the algorithm by definition, the oracle, and in linear time), then `trie` (*Fast
WordPiece Tokenization*, Algorithms 1 and 2) and `end_to_end` (whole texts in one pass, with `normalizer` and `codes`;
`words` are words and entries as arrays). `language` is the automaton of correct tokenizations of words, `stream` the
automaton of whole streams. `difference` finds a shortest text on which two tokenizers differ.

Callers: `tokenizers`, `jobs.validation`, `jobs.comparison`.

Cost: linear in the text; the trie takes memory proportional to the vocabulary.
"""
