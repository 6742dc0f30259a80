"""The engines, which decide where a stream is not canonical.

Streams, id by id:

- `walk`, the pair walk: one look-up an id, and a closer look only where something is wrong.
- `reencoding` looks closely, for the walk and for all tokenizers that are not walked: by `pieces`, comparing the ids
  with the pieces of their text, or by the definition, decoding and encoding again; `segment` is one part, compared with
  its encoding.
- `whole`, whole texts: dictionaries without a pre-tokenizer.

All have `feed`, `finish` and `n_kept`, and `unjudged`: the ids kept, to be checked at once.

Blocks of ids, at once: `blocks` encodes the parts again that the walk encloses; the texts of other tokenizers are
decoded and encoded together (`texts`), or checked by their `words`. What cannot be checked at once goes to the engines
of streams, which take over where the text is always cut.
"""
