"""Used by every package: errors, verdicts, arrays of ids, locks.

- `errors`: the exceptions: a sentence, the value, its location, and a hint;
- `verdict`: a yes or no with its evidence, kinds of findings with a sentence about each, and values
  that notebooks show;
- `arrays`: types and checks of arrays of ids;
- `suggestions`: the likely meaning of a name that does not exist, or of an argument of another kind;
- `budget`: the time, states and memory that a construction may take;
- `locks`: the lock of shared tables, renewed after a fork; `recent`: a cache of values of different sizes;
- `files`: named files, for errors; `atomic`: files written whole or not at all;
  `journal`: the parts of a long job that are done.

Callers: all.

Cost: no kernel is loaded.
"""
