"""What every package uses: errors, verdicts, arrays of ids, locks.

- `errors`: the exceptions: what happened, the value, where, and what to do;
- `verdict`: a yes or no with its evidence, kinds of findings with a sentence about each, and values
  that notebooks show;
- `arrays`: types and checks of arrays of ids;
- `suggestions`: what a name that does not exist, or an argument of another kind, was meant to be;
- `locks`: the lock of what threads share, renewed after a fork; `atomic`: files written whole or not at all.

Callers: all.

Cost: no kernel is loaded.
"""
