"""Pictures of automata, transducers, tries and merge trees, and the film of the fold.

`graph` has the graphs that are drawn: nodes and edges without a layout, their labels, and DOT. `automaton`, for
transducers too, and `trie`, for forests of merges and orders of rules too, make graphs; `render` makes SVG and PNG
where Graphviz is installed. `film` shows the fold rule by rule on one page. `display` decides what a notebook shows for
each value; `summary` makes the tables for automata that are too large to draw.

Callers: the command `draw`, notebooks through `tokdfa.base.verdict`, `report`.

Cost: explicit automata only, within a budget of transitions. A layout has a budget of arrows and of seconds.
"""
