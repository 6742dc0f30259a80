"""Regular expressions and lists of words, as automata over classes of code points and over UTF-8.

A pattern passes through five forms. Read the modules in this order:

1. `dialects`, `atoms`, `syntax`: the text of a pattern, in the dialect of its library, becomes a `tree`; `operators` is
   the form between the two, `folds` and `graphemes` are constructs of Oniguruma's.
2. `class_dfa`: code points that no set in the pattern distinguishes become one class of a partition.
3. `program`: the tree becomes a nondeterministic automaton with threads in order of preference; `predicates` are
   its look-arounds; atomic groups are written as look-arounds, too.
4. `subset`: the program becomes a deterministic automaton over classes of code points.
5. `utf8`: that automaton becomes one over bytes.

`scan` reads a split pattern leftmost first: one automaton that reads a piece and shows where it may end; `contexts` is
the automaton of the truth of its look-arounds.

`finder` takes all these steps for searching, merges equal states, and does the same for lists of words, using `trie`.
`backtracking` writes a tree as a pattern of the `regex` module: the slow twin, and the fallback for a pattern that has
no automaton.

`unicode` has character classes and normalization forms, as each library has them.

Callers: `automata.lift` (languages), `tokenizers.pretokenizers`, `tokenizers.models.wordpiece`, `jobs.searching`.

Cost: the subset construction is exponential in the worst case. Every construction draws on one
:mod:`~tokdfa.base.budget` of time, states and memory, and raises `LimitExceededError` when it is spent.
"""
