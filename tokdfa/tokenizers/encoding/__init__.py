"""From text to ids: special tokens, pieces, and the engines that encode them.

A text is split at its special tokens (`special`, `added_tokens`) into segments, a segment into pieces (package
`splitting`), and a piece becomes ids. The engine for pieces depends on the tokenizer:

- `text_encoder`: splitting and encoding in one C loop, for dictionaries over bytes if a machine splits the text, and
  for dictionaries over characters, on one thread or on several that write their ids side by side; texts are brought
  into a normalization form first, if need be;
- `piece_encoder`: pieces that are already cut, over bytes or characters, with a cache of earlier pieces; pieces of
  characters are cut further where no token has both sides next to each other;
- `merger`: merging by priority, for all other dictionaries;
- `symbols`: from characters to symbols, including the treatment of unknown ones.

`piece_ids` chooses among them and is where to start reading. `stream` does the same for texts that come in parts,
`encoding` for a text that changes, `appending` for text after ids at hand, `batches` for many texts on all cores, by
`threads`. `texts` refuses values that are not texts.

Used by: `tokenizers`.

Cost: linear in the text. The tables of a dictionary are made on the first use of an engine, in a few milliseconds.
"""
