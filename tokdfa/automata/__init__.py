"""Token automata: the languages of correct tokenizations, and decisions about them.

`dictionary` has ordered rules, proper or not, over an `alphabet` of tokens; `bpe` is Algorithm 1 and its neighbours as
printed: slow, obvious, the oracle.

Read `protocol` first: a token automaton has four members, and every decision procedure here uses only these. Then read

- `token_dfa` and `fold`: explicit token DFAs, and Algorithm 2, which folds one rule into such a DFA if it is
  context-invariant;
- `compact`: the token DFA of all texts for real dictionaries, in memory proportional to the rules, and the pair
  test, which tests streams against it;
- `locality`: degrees of locality, and verification by sliding windows;
- `look_ahead`: the greatest number of last tokens that a continuation of a text changes;
- `rule_order`: which rules may change places without any effect;
- `semantics`: whether the one-pass and the leftmost semantics of a dictionary are one function;
- `lift`: languages of texts, also of regular expressions, and their tokenizations;
- `boolean`, `explicit`, `language`: the algebra; minimization, equivalence, graphs of networkx; the members of a
  language. All of them visit reachable states as `protocol` does;
- `texts`: automata that read texts by classes of code points, their least texts, and guesses about special tokens;
- `transducers` are the functions from words to tokenizations.

Callers: all higher packages. `tokenizers` builds on `compact`, `jobs.validation` on its pair test.

Cost: the compact automaton takes memory proportional to the rules (GPT-2's 50,000 are folded in 0.02 s, cl100k's
100,000 in 0.08 s); explicit automata grow with states times tokens and have a budget of transitions.
"""
