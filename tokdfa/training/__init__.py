"""Training dictionaries, and the theory of the objective of training.

`api` has `train`: from files to a dictionary. The way there:

1. `corpus`: blocks of text from files, which are unpacked as they are read, and pieces with multiplicities;
2. `counting`: the text is split into pieces, which are counted on several threads, with a checkpoint;
3. `rules`: how pairs are counted and ties are broken, by name, or all of it as another library does;
4. `greedy`: the fast trainer, in C. `naive` is its slow twin, the trainer as printed in the papers;
5. `output`: the dictionary as a file that other libraries load.

`checking` has `check_merges`, whether an honest trainer makes listed merges: `listed` reads them, `kept` has the
parts of pieces that trainers keep, and `replay` finds the first wrong merge and its likely cause.

`theory` has the objective of training: merges as trees, their curvature, the best possible sequence.

Callers: the command `train`; `tokdfa.train`, `tokdfa.train_greedy`, `tokdfa.check_merges`.

Cost: counting is linear in the corpus; the greedy trainer takes time proportional to the occurrences of the merged
pairs. The exact optimum is exponential and for small words only.
"""
