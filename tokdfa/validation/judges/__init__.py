"""The judges of streams: each one decides where a stream is not canonical, for one kind of tokenizer.

`walks` says which tokenizers have streams that one walk shows to be canonical, `whole_walk`, and `rest` what such a
walk leaves to judge; only that needs the judges. `choice` says which judge decides for which tokenizer. `walk` is the
fast one: one look-up an id, and a closer look by `pieces`, or by `encoding` where texts are normalized, only where
something is wrong. `whole` is for dictionaries without a pre-tokenizer. `encoding` is the definition, decoding and
encoding again, for all others, and `stretch` compares one part with it; `accepting` spares it the streams of Unigram
tokenizers that are right. `open` and, for the latter, `open_encoding` judge parts cut out of a longer stream,
`documents` each document for itself, with any of the others.

All have `feed`, `finish` and `n_kept`; `documents` defines that protocol.
"""
