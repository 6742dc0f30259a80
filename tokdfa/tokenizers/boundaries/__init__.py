"""Boundaries: where a text, or ids, are always cut and both sides encoded separately.

`protocol` is the interface of every tokenizer's `boundaries`, with a cache for pairs. Each part of a tokenizer says
where it does not join the two sides of a text:

- added tokens in `added`: by two characters, and by the text around;
- normalizers in their methods; see :class:`tokdfa.regex.unicode.normalization.Normalizer`;
- pre-tokenizers in :mod:`tokdfa.tokenizers.pretokenizers.safe_pieces`, exactly, and
  :mod:`tokdfa.tokenizers.pretokenizers.certain`, by two symbols;
- models where there is nothing else that cuts: `characters` (merging) and `words` (Unigram and WordPiece).

`texts` puts them together for texts over bytes, `characters` for texts over characters.

Callers: `tokenizers`, `validation`, `training`, `replacing`, `shards`, `rollouts`.

Cost: two characters are decided in some microseconds, once; ids take about 2 µs each where the text around decides.
"""
