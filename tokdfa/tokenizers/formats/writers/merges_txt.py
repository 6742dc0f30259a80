"""merges.txt: one rule per line; and vocab.json, the ids of the tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.tokenizers.formats.writers.draft import Draft, Loss, LostPart, unwritable
from tokdfa.tokenizers.formats.writers.one_pattern import is_one_pattern, pretokenizer_option
from tokdfa.tokenizers.formats.writers.vocabulary import (
    foreign_with_ids,
    loss_of_normalizer,
    losses_beside_ids,
    rules_of,
    spelled,
    with_rules,
    words_with_ids,
)
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

_VOCABULARY = "vocab.json"


def merges_lines(rules: Iterable[tuple[str, str]]) -> bytes:
    """Return the content of a merges.txt; UnsupportedFeatureError if a part of a rule cannot be on a line."""
    lines = ["#version: 0.2\n"]
    for index, parts in enumerate(rules):
        if any(not part.isprintable() or " " in part for part in parts):
            what = "a merges.txt cannot hold spaces and control characters"
            raise UnsupportedFeatureError(what, value=parts, where=f"rule {index}", hint="write a tokenizer.json")
        lines.append(f"{parts[0]} {parts[1]}\n")
    return "".join(lines).encode()


def vocabulary_of(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the ids of the tokens as spelled, in the order of the ids."""
    rows = [(id, spelled(word, tokenizer.contents.prefix)) for word, id in words_with_ids(tokenizer)]
    rows += [(id, text) for text, id in foreign_with_ids(tokenizer)]
    return {text: id for id, text in sorted(rows)}


def draft_of(tokenizer: AnyTokenizer, name: str) -> Draft:
    """Return the rules, with a vocab.json next to them."""
    merging = with_rules(tokenizer, "merges.txt")
    if name == _VOCABULARY:
        raise unwritable("this is the name of the other file, which is written next to the rules", name)
    found = merging.dictionary.properness()
    if not found:
        what = (
            "a merges.txt holds proper rules only: libraries differ on a part that is made by a later rule, or by none"
        )
        raise unwritable(what, None if found.witness is None else found.witness.part, "convert it to tokenizer.json")
    options = {"format": "merges+vocab", "pretokenizer": pretokenizer_option(merging.splitting)}
    files = {
        name: merges_lines(rules_of(merging)),
        _VOCABULARY: json.dumps(vocabulary_of(merging), ensure_ascii=False).encode(),
    }
    return Draft("merges", files, options, tuple(_losses(merging)))


def _losses(tokenizer: Tokenizer) -> Iterator[Loss]:
    contents = tokenizer.contents
    yield from loss_of_normalizer(tokenizer)
    if contents.fallback is not None or contents.atoms or contents.prefix:
        yield Loss(LostPart.SYMBOLS)
    if tokenizer.whole_piece and len(tokenizer.whole_piece_tokens):
        yield Loss(LostPart.WHOLE_PIECES)
    if tokenizer.rewriting.decoding is not None:
        yield Loss(LostPart.DECODER)
    if not is_one_pattern(tokenizer.splitting):
        yield Loss(LostPart.PRETOKENIZER, tuple(step.pattern for step in tokenizer.splitting.all_steps))
    yield from losses_beside_ids(tokenizer)
