"""The judges of streams, which decide where a stream is not canonical.

- `accepting` shows whole streams to be canonical by one call to the kernels; only the rest is judged.
- `walk` is the fast judge: one look-up an id, and a closer look only where something is wrong. `beginning` knows how a
  window may begin.
- `encoding` looks closely, for the walk and for all tokenizers that are not walked: at the text of the ids, by `pieces`
  or by the definition, decoding and encoding again; `stretch` compares one part with its encoding.
- `at_once` judges blocks: the parts that the walk encloses are encoded again together (`parts`), and other texts are
  decoded and `encoded` together, or judged by their `words`; `found` are the violations of a block. The rest goes to
  the judges of streams, which take over where the text is always cut.
- `whole` is for dictionaries without a pre-tokenizer.

All have `feed`, `finish` and `n_kept`, and `unjudged`: the rest, to be judged at once. With the validator, which feeds
them document by document, they are all that judges streams.
"""
