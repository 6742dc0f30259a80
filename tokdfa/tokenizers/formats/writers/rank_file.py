"""Rank files of tiktoken: a line a token, and the special tokens in a JSON file next to them."""

from __future__ import annotations

import base64
import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath
from typing import Any

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.writers.draft import Draft, Loss, LostPart, unwritable
from tokdfa.tokenizers.formats.writers.one_pattern import is_one_pattern, one_pattern, pretokenizer_option
from tokdfa.tokenizers.formats.writers.vocabulary import (
    loss_of_normalizer,
    losses_beside_ids,
    losses_of_specials,
    over_bytes,
    words_with_ids,
)
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer


def rank_lines(ranks: Mapping[bytes, int]) -> bytes:
    """Return the content of a rank file, in the order of the ranks."""
    ranked = sorted((rank, word) for word, rank in ranks.items())
    return b"".join(b"%s %d\n" % (base64.b64encode(word), rank) for rank, word in ranked)


def draft_of(tokenizer: AnyTokenizer, name: str) -> Draft:
    """Return the ranks, with a file of special tokens next to them if there are any."""
    merging = over_bytes(tokenizer, "rank file")
    draft = _draft(merging, name, ())
    if merging.whole_piece:
        return draft
    # tiktoken makes any token of two others, and gives every piece that is a token as it is.
    dead = {merging.token(number) for number in merging.dead_tokens.tolist()}
    return replace(draft, smaller=lambda: _draft(merging, name, dead)) if dead else draft


def _draft(merging: Tokenizer, name: str, left_out: Container[Word]) -> Draft:
    specials = merging.specials
    _check_found_in_order(specials)
    special_ids = {special.id for special in specials}
    kept = ((word, id) for word, id in words_with_ids(merging) if id not in special_ids and word not in left_out)
    ranks = {word: id for word, id in kept if isinstance(word, bytes)}
    files = {name: rank_lines(ranks)}
    options = {"pretokenizer": pretokenizer_option(merging.splitting)}
    if PurePath(name).suffix != ".tiktoken":
        options["format"] = "tiktoken"
    if specials:
        options["specials"] = f"{PurePath(name).stem}.specials.json"
        files[options["specials"]] = json.dumps(_special_fields(specials), ensure_ascii=False, indent=2).encode()
    return Draft("tiktoken", files, options, tuple(_losses(merging)))


def _check_found_in_order(specials: tuple[Special, ...]) -> None:
    """Refuse special tokens of which tiktoken finds any: those that begin alike."""
    texts = sorted(special.content for special in specials)
    for text, longer in pairwise(texts):
        if longer.startswith(text):
            what = f"tiktoken finds either of two special tokens that begin alike, this one and {longer!r}"
            raise unwritable(what, text)


def _special_fields(specials: tuple[Special, ...]) -> dict[str, Any]:
    """Return the fields of the file: texts and ids, or, if some are text, with the flag that says which."""
    if not any(special.is_text for special in specials):
        return {special.content: special.id for special in specials}
    rows = {str(one.id): {"content": one.content, "special": not one.is_text} for one in specials}
    return {"added_tokens_decoder": rows}


def _losses(tokenizer: Tokenizer) -> Iterator[Loss]:
    yield from loss_of_normalizer(tokenizer)
    if not is_one_pattern(tokenizer.splitting):
        yield Loss(LostPart.PRETOKENIZER, tuple(step.pattern for step in tokenizer.splitting.all_steps))
    yield from losses_of_specials(tokenizer.specials, has_flags=False)
    if not tokenizer.whole_piece and len(tokenizer.dead_tokens):
        yield Loss(LostPart.WHOLE_PIECES)
    products = tokenizer.token_to_id[tokenizer.dictionary.product]
    if (np.diff(products) <= 0).any():
        at = int(np.argmax(np.diff(products) <= 0)) + 1
        yield Loss(LostPart.PRIORITY, (f"rule {at}",))
    yield from losses_beside_ids(tokenizer)


def snippet(tokenizer: Tokenizer, file: str) -> str:
    """Return the lines of Python with which tiktoken loads the rank file of a tokenizer."""
    pattern = one_pattern(tokenizer.splitting) or r"[\s\S]+"
    specials = {special.content: special.id for special in tokenizer.specials}
    return "\n".join(
        (
            "import tiktoken",
            "from tiktoken.load import load_tiktoken_bpe",
            "encoding = tiktoken.Encoding(",
            f"    {PurePath(file).stem!r},",
            f"    pat_str={pattern!r},",
            f"    mergeable_ranks=load_tiktoken_bpe({file!r}),",
            f"    special_tokens={specials!r},",
            ")",
        )
    )
