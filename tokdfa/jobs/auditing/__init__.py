"""Audit the shortcuts by which engines encode a growing text: proof, shortest counterexample found, or undecided.

Read in this order:

1. `schemes`: each shortcut as a description that runs, and the seams that it relies on.
2. `api`: `audit`, its answer, and the choice between proof and search.
3. `back_off`: when agreeing on m tokens proves that the rest may be kept, from the machine of the pre-tokenizer.
4. `trials`: texts that are tried where there is no proof, and how counterexamples are made smaller.

Used by: the command `audit`.

Cost: 0.1 to 5 s for a proof, and up to the budget for a search.
"""
