"""Models: what turns pieces of text into ids, one of the five parts of a tokenizer.

`model` has what every model does. The models are `byte_pairs`, whose texts are encoded in `byte_pair_texts`, which also
has why streams are judged as a whole (texts of characters are cut by `byte_pair_characters`); `unigram`; and
`wordpiece`.

A model holds no tokenizer: where an answer depends on the other parts, the method gets the tokenizer.
"""
