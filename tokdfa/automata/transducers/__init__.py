"""String-to-token transducers: the function from words to their tokenizations, as a machine.

Read `transducer` first (Definition 6 of *Constructing a BPE Tokenization DFA*, every transition written out). `square`
runs a transducer in parallel with itself, or with an automaton over its tokens. `determinize` decides with it whether a
transducer can be made subsequential, makes it so, and finds the smallest one. For real dictionaries there are

- `subsequential`: the transducer built lazily as texts are read, or all its states in arrays;
- `one_pass`: the same function in linear time without the transducer, which `tokenizers.encoding` runs.

Cost: subsequential transducers of real dictionaries do not fit in memory (|D|^2.3 to |D|^2.6 states); `one_pass` takes
memory proportional to the rules.
"""
