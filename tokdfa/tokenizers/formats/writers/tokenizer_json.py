"""tokenizer.json of the library `tokenizers`, with byte pairs, WordPiece or Unigram."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tokdfa.tokenizers.decoding import DecodeSentencePiece
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.formats.json_text import as_serde_json
from tokdfa.tokenizers.formats.writers.draft import Draft, Loss, LostPart, unwritable
from tokdfa.tokenizers.formats.writers.merges_txt import vocabulary_of
from tokdfa.tokenizers.formats.writers.text_steps import decoder_fields, normalizer_fields, pre_tokenizer_fields
from tokdfa.tokenizers.formats.writers.vocabulary import (
    loss_of_arithmetic,
    losses_beside_ids,
    losses_of_specials,
    rules_of,
    with_rules,
)
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.protocol import AnyTokenizer

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.unigram import UnigramContents
    from tokdfa.tokenizers.formats.wordpiece import WordPieceContents
    from tokdfa.tokenizers.tokenizer import Tokenizer, UnigramTokenizer, WordPieceTokenizer


def tokenizer_json(
    model: Mapping[str, Any],
    *,
    pre_tokenizer: Mapping[str, Any] | None,
    decoder: Mapping[str, Any] | None,
    normalizer: Mapping[str, Any] | None = None,
    added_tokens: Iterable[Mapping[str, Any]] = (),
) -> bytes:
    """Return the content of a tokenizer.json with these parts."""
    fields = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [*added_tokens],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }
    return json.dumps(fields, ensure_ascii=False, indent=2).encode()


def byte_pair_fields(vocabulary: Mapping[str, int], rules: list[tuple[str, str]], **changes: object) -> dict[str, Any]:
    """Return a model of byte pairs; `changes` are fields that are not as usual."""
    # As strings, which older releases also read, unless a part has a space.
    has_spaces = any(" " in part for rule in rules for part in rule)
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        **changes,
        "vocab": vocabulary,
        "merges": [*map(list, rules)] if has_spaces else [*map(" ".join, rules)],
    }


def draft_of(tokenizer: AnyTokenizer, name: str) -> Draft:
    """Return a tokenizer that merges, or a WordPiece or Unigram tokenizer, as a tokenizer.json."""
    data = _OF_MODELS.get(tokenizer.algorithm, _byte_pairs)(tokenizer)
    return Draft("tokenizer.json", {name: data}, {"format": "tokenizer.json"}, tuple(_losses(tokenizer)))


def _byte_pairs(tokenizer: AnyTokenizer) -> bytes:
    merging = with_rules(tokenizer, "tokenizer.json")
    contents: Contents = merging.contents
    is_bytewise = merging.why_not("bytes") is None or contents.spelled_bytes
    vocabulary = vocabulary_of(merging)
    # Symbols of several characters are found in the normalized text, as are these.
    atoms = (Special(vocabulary[text], text, level=1, is_text=True) for text in contents.atoms)
    added = [*_added_tokens((*merging.specials, *atoms), vocabulary)]
    fallback = contents.fallback
    model = byte_pair_fields(
        vocabulary,
        rules_of(merging),
        unk_token=None if fallback is None else fallback.unknown,
        continuing_subword_prefix=contents.prefix,
        end_of_word_suffix=contents.suffix,
        fuse_unk=fallback is not None and fallback.fuses,
        byte_fallback=fallback is not None and fallback.bytes is not None,
        ignore_merges=merging.whole_piece and len(merging.whole_piece_tokens) > 0,
    )
    splits = merging.pretokenizer
    drops_text = splits is not None and merging.splitting.library == "tiktoken" and splits.drops_text
    return tokenizer_json(
        model,
        pre_tokenizer=pre_tokenizer_fields(merging.splitting, is_bytewise=is_bytewise, drops_text=drops_text),
        decoder=decoder_fields(merging.rewriting.decoding, is_bytewise=is_bytewise, suffix=contents.suffix),
        normalizer=normalizer_fields(merging.rewriting.normalizer),
        added_tokens=added,
    )


def _wordpieces(tokenizer: AnyTokenizer) -> bytes:
    contents: WordPieceContents = cast("WordPieceTokenizer", tokenizer).contents
    vocabulary = contents.vocabulary
    if not isinstance(contents.normalizer, BertNormalizer) or vocabulary.opening or vocabulary.longest_word is None:
        raise unwritable("words as llama.cpp reads them, for which a tokenizer.json has no word", contents.format)
    entries = dict(sorted(vocabulary.items(), key=lambda item: item[1]))
    model = {
        "type": "WordPiece",
        "unk_token": vocabulary.unknown,
        "continuing_subword_prefix": vocabulary.prefix,
        "max_input_chars_per_word": vocabulary.longest_word,
        "vocab": entries,
    }
    return tokenizer_json(
        model,
        pre_tokenizer={"type": "BertPreTokenizer"},
        decoder={"type": "WordPiece", "prefix": vocabulary.prefix, "cleanup": contents.cleanup},
        normalizer=normalizer_fields(contents.normalizer),
        added_tokens=[*_added_tokens(contents.specials, entries)],
    )


def _unigrams(tokenizer: AnyTokenizer) -> bytes:
    segmenting = cast("UnigramTokenizer", tokenizer)
    contents: UnigramContents = segmenting.contents
    model = contents.model
    # Every piece of a file is found in texts; these are the last ones to be the best.
    least = float(model.scores[model.is_found].min(initial=0.0))
    scores = dict(zip(model.pieces, np.where(model.is_found, model.scores, least).tolist(), strict=True))
    ids = dict(zip(model.pieces, range(len(model.pieces)), strict=True))
    added = [*_added_tokens(contents.specials, ids)]
    words = sorted(ids, key=ids.__getitem__)
    if len(model.pieces) > len(scores) or [*map(ids.__getitem__, words)] != [*range(len(words))]:
        raise unwritable("ids without a piece of their own, for which a tokenizer.json has no word", contents.format)
    fields: dict[str, Any] = {
        "type": "Unigram",
        "unk_id": model.unknown,
        "vocab": [],
        "byte_fallback": model.byte_ids is not None,
    }
    data = tokenizer_json(
        fields,
        pre_tokenizer=pre_tokenizer_fields(segmenting.splitting, is_bytewise=contents.spelled_bytes),
        decoder=decoder_fields(contents.rewriting.decoding, is_bytewise=contents.spelled_bytes, suffix=None),
        normalizer=normalizer_fields(contents.rewriting.normalizer),
        added_tokens=added,
    )
    # The module json writes a number only as Python does.
    rows = (f"[{json.dumps(word, ensure_ascii=False)}, {_read_as(scores.get(word, least))}]" for word in words)
    return data.replace(b'"vocab": []', f'"vocab": [{", ".join(rows)}]'.encode(), 1)


def _read_as(score: float) -> str:
    """Return the number from which tokenizers, which rounds twice, reads a score, or nearly so; see `as_serde_json`."""
    if as_serde_json(repr(score)) == score:
        return repr(score)
    for places in (16, 17):
        digits, power = f"{score:.{places}e}".replace(".", "").split("e")
        for change in range(-_MOST_CHANGE, _MOST_CHANGE + 1):
            number = f"{int(digits) + change}e{int(power) - places}"
            if as_serde_json(number) == score:
                return number
    return repr(score)


_MOST_CHANGE = 32
_OF_MODELS = {"WordPiece": _wordpieces, "Unigram": _unigrams}


def _added_tokens(specials: Iterable[Special], vocabulary: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Yield the added tokens; those to which the library would give another id are put into the vocabulary.

    It gives them the ids from the number of the tokens on, one after the other, unless the vocabulary has them.
    """
    ordered = sorted(specials, key=lambda special: special.id)
    ids = {special.id for special in ordered}
    if len(ids) < len(ordered):
        again = next(two for one, two in pairwise(ordered) if one.id == two.id)
        raise unwritable(
            f"tokenizers gives no id to two tokens, as {again.content!r} and another one have it", again.id
        )
    missing = [special for special in ordered if vocabulary.get(special.content) != special.id]
    if [special.id for special in missing] != [*range(len(vocabulary), len(vocabulary) + len(missing))]:
        words = {id: word for word, id in vocabulary.items()}
        for special in missing:
            if special.id in words:
                del vocabulary[words[special.id]]
            if special.content in vocabulary:
                raise unwritable("a special token that is spelled like a token with another id", special.content)
            vocabulary[special.content] = special.id
    for special in ordered:
        yield {
            "id": special.id,
            "content": special.content,
            "single_word": special.single_word,
            "lstrip": special.lstrip,
            "rstrip": special.rstrip,
            "normalized": special.level > 0,
            "special": not special.is_text,
        }


def _losses(tokenizer: AnyTokenizer) -> Iterator[Loss]:
    yield from losses_of_specials(tokenizer.specials, has_flags=True)
    rewriting = cast("Tokenizer", tokenizer).rewriting
    decoding, table = rewriting.decoding or (), getattr(rewriting.normalizer, "table", None)
    if table is not None:
        yield Loss(LostPart.NORMALIZER, ("SentencePiece",))
    yield from loss_of_arithmetic(tokenizer)
    if any(isinstance(step, DecodeSentencePiece) for step in decoding):
        yield Loss(LostPart.DECODER, ("SentencePiece",))
    yield from losses_beside_ids(tokenizer)
