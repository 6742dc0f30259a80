"""The compact token DFA: folding a dictionary, the rows of its states, and comparing rows.

`folding` folds the rules, orders the tokens, and goes back in time to find the rule that merges across a boundary. It
gathers the rows of tokens that the states do not allow, and compares such rows of two automata. Callers have checked
that tokens, states and rows are in range.
"""
