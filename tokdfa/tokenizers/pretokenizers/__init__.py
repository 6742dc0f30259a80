"""Pre-tokenizers as finite machines: where a text is cut into pieces, in one pass and in streams.

Read in this order:

1. `steps`: the content of a file, a sequence of splitting steps, their treatment of matches, and the patterns in use,
   by name; `llama_cpp`: the patterns of llama.cpp.
2. `pretokenizer`: their meaning by definition, with a backtracking engine, and steps that come after ByteLevel.
3. `step_trees`, `split_nfa`: the same as an unambiguous NFA that guesses where pieces begin and
   which look-arounds of the pattern hold.
4. `machine`: that NFA, and its determinization; those in use are shipped. `finding` reads or builds the one,
   `building` the other.
5. `splitter`: the machine over UTF-8 in C, on whole texts and on streams.

`explanation` says which alternative of which step made a piece, and how far the machine had to look. `token_lift` lifts
the NFA from symbols to tokens; validation and comparison read ids with it, byte by byte where a token ends within a
symbol. `normal_form` is the same for all splittings that do the same.

Where a text may be cut and its parts split separately: `certain` knows it for pairs of symbols (prebuilt, or found in
the patterns), and `safe_pieces` decides it exactly, by an automaton. :mod:`tokdfa.tokenizers.boundaries` adds the
effect of the other parts of a tokenizer.

Callers: `encoding`, `tokenizers`, `training`, `validation`, `comparison`.

Cost: a known machine is read in milliseconds; a new one is built in 0.1 to 10 s, within a budget. A splitting without a
machine (too large, or of another kind of atomic group) is cut by the `regex` module.
"""
