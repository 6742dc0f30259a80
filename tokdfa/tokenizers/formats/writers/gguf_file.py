"""GGUF files of llama.cpp: the tokenizer alone, without weights, written by the package `gguf`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.regex.unicode import version
from tokdfa.tokenizers.decoding import BYTE_TOKENS
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.formats.gguf_tokens import (
    BYTE,
    CONTROL,
    FILLS,
    LLAMA_CPP,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
)
from tokdfa.tokenizers.formats.writers.draft import Draft, Loss, LostPart, unwritable
from tokdfa.tokenizers.formats.writers.merges_txt import vocabulary_of
from tokdfa.tokenizers.formats.writers.pre_names import PreName, nearest_name
from tokdfa.tokenizers.formats.writers.vocabulary import (
    loss_of_arithmetic,
    loss_of_normalizer,
    losses_beside_ids,
    losses_of_specials,
    rules_of,
    with_rules,
)
from tokdfa.tokenizers.models.unigram.character_rules import CharacterTable
from tokdfa.tokenizers.models.wordpiece.normalizer import LlamaCppNormalizer
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, LlamaCppUnigramNormalizer, Precompiled
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer, UnigramTokenizer, WordPieceTokenizer


def draft_of(tokenizer: AnyTokenizer, name: str) -> Draft:
    """Return a tokenizer as the head of a GGUF file: with rules over bytes or over characters, or without rules."""
    if tokenizer.algorithm == "Unigram":
        return _unigrams(cast("UnigramTokenizer", tokenizer), name)
    if tokenizer.algorithm == "WordPiece":
        return _wordpieces(cast("WordPieceTokenizer", tokenizer), name)
    merging = with_rules(tokenizer, "GGUF file")
    contents: Contents = merging.contents
    pre: PreName | None = None
    keys: dict[str, Any] = {"add_bos_token": False, "add_eos_token": False, **_fills(merging)}
    if merging.why_not("bytes") is None:
        texts, types = _tokens(merging)
        has_whole = merging.whole_piece and len(merging.whole_piece_tokens) > 0
        pre = nearest_name(merging.splitting, whole_piece=has_whole)
        keys |= {"model": "gpt2", "pre": pre.name}
        keys |= {"merges": [*map(" ".join, rules_of(merging))]}
    elif contents.fallback is not None and contents.fallback.bytes == BYTE_TOKENS and not contents.suffix:
        texts, types = _tokens(merging)
        keys |= {"model": "llama", "scores": _scores(merging, len(texts)), "add_space_prefix": _puts_space(merging)}
    else:
        what = "a GGUF file holds tokens of bytes, or of characters with a token for every byte, and here not so"
        raise unwritable(what, merging.format)
    data = _written(keys | {"tokens": texts, "token_type": types})
    return Draft("gguf", {name: data}, {"format": "gguf"}, tuple(_losses(merging, pre)))


def _wordpieces(tokenizer: WordPieceTokenizer, name: str) -> Draft:
    """Return the draft of a WordPiece tokenizer: entries that begin a word get a sign, and the others lose theirs."""
    vocabulary, normalizer = tokenizer.vocabulary, tokenizer.contents.normalizer
    texts, types = [f"[PAD{id}]" for id in range(tokenizer.n_ids)], [UNUSED] * tokenizer.n_ids
    special_ids = {special.id for special in tokenizer.specials}
    for entry, id in vocabulary.items():
        text, begins = vocabulary.role(entry)
        texts[id], types[id] = entry if id in special_ids else SPACE * begins + text, NORMAL
    _put_specials(tokenizer, texts, types)
    keys: dict[str, Any] = {
        **{"model": "bert", "add_bos_token": False, "add_sep_token": False, "tokens": texts, "token_type": types},
        "normalizer.lowercase": getattr(normalizer, "lowercase", False),
        "normalizer.strip_accents": getattr(normalizer, "strip_accents", False),
        **({} if vocabulary.unknown_id is None else {"unknown_token_id": vocabulary.unknown_id}),
    }
    losses = _losses_of_wordpieces(tokenizer)
    return Draft("gguf", {name: _written(keys)}, {"format": "gguf"}, tuple(losses))


def _losses_of_wordpieces(tokenizer: WordPieceTokenizer) -> Iterator[Loss]:
    normalizer = tokenizer.contents.normalizer
    if not isinstance(normalizer, LlamaCppNormalizer):
        yield Loss(LostPart.NORMALIZER, (type(normalizer).__name__,))
    if tokenizer.vocabulary.longest_word is not None:
        yield Loss(LostPart.LONGEST_WORD, (str(tokenizer.vocabulary.longest_word),))
    yield from losses_of_specials(tokenizer.specials, has_flags=False)
    yield from losses_beside_ids(tokenizer)


def _unigrams(tokenizer: UnigramTokenizer, name: str) -> Draft:
    """Return the draft of a Unigram tokenizer, with the settings of llama.cpp that are nearest to its normalizer."""
    model = tokenizer.model
    if model.unknown is None:
        raise unwritable("a Unigram model in a GGUF file has an unknown piece, and here none", tokenizer.format)
    if model.byte_ids is not None or tokenizer.contents.spelled_bytes:
        what = "a Unigram model in a GGUF file has no pieces for bytes, and here some"
        raise unwritable(what, tokenizer.format)
    keys = {"model": "t5", "add_bos_token": False, "add_eos_token": False, "unknown_token_id": model.unknown}
    data = _written(keys | _pieces(tokenizer) | _spaces(tokenizer))
    return Draft("gguf", {name: data}, {"format": "gguf"}, tuple(_losses_of_unigrams(tokenizer)))


def _pieces(tokenizer: UnigramTokenizer) -> dict[str, Any]:
    """Return the texts, types and scores of all ids."""
    model = tokenizer.model
    texts = [text or f"[PAD{id}]" for id, text in enumerate(model.pieces)]
    texts += [f"[PAD{id}]" for id in range(len(texts), tokenizer.n_ids)]
    added = (0, len(texts) - len(model.pieces))
    types = np.where(np.pad(model.is_found, added), NORMAL, UNUSED).tolist()
    if model.unknown is not None:
        types[model.unknown] = UNKNOWN
    _put_specials(tokenizer, texts, types)
    # An unused token must be worse than the unknown characters that it is made of.
    worst = -_FAR_BELOW - 2 * float(np.abs(model.scores).max(initial=0.0))
    found = zip(texts, types, np.pad(model.scores, added).tolist(), strict=True)
    scores = [worst * len(text) if type == UNUSED else score for text, type, score in found]
    return {"tokens": texts, "token_type": types, "scores": scores}


def _spaces(tokenizer: UnigramTokenizer) -> dict[str, Any]:
    """Return the settings of llama.cpp that are nearest to a normalizer and a pre-tokenizer."""
    normalizer = tokenizer.rewriting.normalizer
    steps = (normalizer, *getattr(normalizer, "steps", ()))
    tables = [getattr(step, "table", step) for step in steps]
    blobs = [table.blob for table in tables if isinstance(table, CharacterTable | Precompiled)]
    return {
        "add_space_prefix": _puts_space(tokenizer),
        "remove_extra_whitespaces": normalizer is not None and normalizer("a  b") == normalizer("a b"),
        **({"precompiled_charsmap": blobs[0]} if blobs else {}),
    }


_FAR_BELOW = 32.0


def _losses_of_unigrams(tokenizer: Tokenizer) -> Iterator[Loss]:
    yield from loss_of_arithmetic(tokenizer)
    if not isinstance(tokenizer.rewriting.normalizer, LlamaCppUnigramNormalizer):
        yield from loss_of_normalizer(tokenizer)
    if not tokenizer.splitting.is_nothing:
        yield Loss(LostPart.PRETOKENIZER)
    yield from losses_of_specials(tokenizer.specials, has_flags=False)
    yield from losses_beside_ids(tokenizer)


def _put_specials(tokenizer: Tokenizer, texts: list[str], types: list[int]) -> None:
    """Set the texts and types of special tokens; refuse two tokens with one text."""
    for special in tokenizer.specials:
        texts[special.id], types[special.id] = special.content, _type_of(special, types[special.id])
    first: dict[str, int] = {}
    for id, text in enumerate(texts):
        if first.setdefault(text, id) != id:
            raise unwritable(f"two tokens with one text, ids {first[text]} and {id}, at which llama.cpp aborts", text)


def _tokens(tokenizer: Tokenizer) -> tuple[list[str], list[int]]:
    """Return the texts and the types of all ids."""
    vocabulary = vocabulary_of(tokenizer)
    texts = [f"[PAD{id}]" for id in range(tokenizer.n_ids)]
    types = [UNUSED] * len(texts)
    contents: Contents = tokenizer.contents
    byte_tokens = () if contents.fallback is None else contents.fallback.bytes or ()
    for text, id in vocabulary.items():
        texts[id], types[id] = text, BYTE if text in byte_tokens else NORMAL
        if contents.fallback is not None and text == contents.fallback.unknown:
            types[id] = UNKNOWN
        elif text in contents.atoms:
            types[id] = USER_DEFINED
    _put_specials(tokenizer, texts, types)
    return texts, types


def _fills(tokenizer: Tokenizer) -> dict[str, int]:
    """Return keys with the ids of tokens that llama.cpp otherwise makes control tokens, by their texts."""
    vocabulary = vocabulary_of(tokenizer)
    contents = {special.content for special in tokenizer.specials}
    ids = {}
    for (key, *_), names in FILLS.items():
        plain = [vocabulary[name] for name in names if name in vocabulary and name not in contents]
        if plain:
            ids[key] = plain[0]
    return ids


def _type_of(special: Special, type: int) -> int:
    if type == UNKNOWN:
        return UNKNOWN
    return USER_DEFINED if special.is_text else CONTROL


def _scores(tokenizer: Tokenizer, n_ids: int) -> list[float]:
    """Return a score for each id: the higher, the earlier its rule."""
    scores = np.zeros(n_ids, dtype=np.float32)
    product = tokenizer.dictionary.product
    if tokenizer.merges is not None:
        rank = np.zeros(len(tokenizer.token_to_id), dtype=np.int64)
        rank[tokenizer.merges.product] = tokenizer.merges.priority
    else:
        rank = np.zeros(len(tokenizer.token_to_id), dtype=np.int64)
        rank[product] = np.arange(1, len(product) + 1)
    ids = tokenizer.token_to_id
    scores[ids[ids >= 0]] = -rank[ids >= 0]
    found: list[float] = scores.tolist()
    return found


def _puts_space(tokenizer: Tokenizer) -> bool:
    """Return whether a space is put before texts."""
    normalizer = tokenizer.rewriting.normalizer
    return tokenizer.splitting.prefix_space is not None or (normalizer is not None and normalizer("a") != "a")


def _written(keys: dict[str, Any]) -> bytes:
    try:
        from gguf import GGUFWriter
    except ImportError:
        what = "a GGUF file is written by the package gguf, which is not installed"
        raise UnsupportedFeatureError(what, hint="pip install 'tokdfa[gguf]'") from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.gguf")
        writer = GGUFWriter(path, "llama")
        for key, value in keys.items():
            kind = {bool: "bool", int: "uint32", str: "string", list: "array", bytes: "array"}[type(value)]
            getattr(writer, f"add_{kind}")(f"tokenizer.ggml.{key}", value)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path.read_bytes()


def _losses(tokenizer: Tokenizer, pre: PreName | None) -> Iterator[Loss]:
    if pre is not None:
        yield from loss_of_normalizer(tokenizer)
        if not pre.is_same:
            yield Loss(LostPart.PRETOKENIZER, (pre.name,))
        if not tokenizer.splitting.is_nothing:
            yield Loss(
                LostPart.TABLES, (f"{tokenizer.splitting.library}=={version(tokenizer.splitting.table)}", LLAMA_CPP)
            )
    yield from losses_of_specials(tokenizer.specials, has_flags=False)
    yield from losses_beside_ids(tokenizer)
