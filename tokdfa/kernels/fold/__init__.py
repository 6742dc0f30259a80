"""The compact token DFA: folding a dictionary, the rows of its states, and rows compared.

`folding` folds the rules and orders the tokens, and goes back in time to tell which rule merges across a border;
`rows` gathers what the states do not allow; `compare` compares such rows of two automata. Callers have checked that
tokens, states and rows are in range.
"""
