"""Models turn pieces of text into ids. They are one of the five parts of a tokenizer.

`model` has the base class. The models are `byte_pairs`, `unigram`, `wordpiece`, `longest_match` and `by_piece`.
`byte_pair_texts` encodes the texts of byte pairs, and has the reasons why streams are judged as a whole.

A model holds no tokenizer: where an answer depends on the other parts, the method gets the tokenizer.
"""
