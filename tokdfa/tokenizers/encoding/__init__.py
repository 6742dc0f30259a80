"""From text to ids: special tokens, pieces, and the engines that encode them.

A text is split at its special tokens (`special`, `added_tokens`) into segments, a segment into pieces (package
`splitting`), and a piece becomes ids. The engine for pieces depends on the tokenizer:

- `text_encoder`: splitting and encoding in one C loop, for dictionaries over bytes if a machine splits the text, and
  for dictionaries over characters with a `character_splitter`;
- `piece_encoder`: pieces that are already cut, over bytes or characters, with a cache of earlier pieces; pieces of
  characters are cut further where no token has both sides next to each other;
- `merger`: merging by priority, for all other dictionaries; `merges` has their pairs;
- `symbols`: from characters to symbols, including the treatment of unknown ones.

`piece_ids` chooses among them and is where to start reading; its results are in `encoded`. `stretch`, `long_piece` and
`stream` do the same for texts that come in parts, `batches` for many texts on all cores. The results of its threads
come `in_order` or, from the engine that does all in one loop, are written `side_by_side` in one call of C on each of
`on_threads`. `texts` refuses values that are not texts, `in_form` brings texts into a normalization form.

Used by: `tokenizers`.

Cost: linear in the text. The tables of a dictionary are made on the first use of an engine, in a few milliseconds.
"""
