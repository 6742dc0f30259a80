"""GGUF files with a Unigram model: T5, and others of SentencePiece that llama.cpp calls by its name."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Float32Array
from tokdfa.tokenizers.decoding import DecodeSentencePiece, byte_of
from tokdfa.tokenizers.formats.charsmap import read_charsmap
from tokdfa.tokenizers.formats.contents import Rewriting
from tokdfa.tokenizers.formats.gguf_head import GGUFHead
from tokdfa.tokenizers.formats.gguf_tokens import (
    CONTROL,
    NORMAL,
    SCORES,
    TOKENS,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    GGUFTokens,
    found_in,
    read_scores,
)
from tokdfa.tokenizers.formats.unigram import UnigramContents
from tokdfa.tokenizers.models.unigram.character_rules import CharacterTable
from tokdfa.tokenizers.models.unigram.model import UnigramModel, unknown_score
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, LlamaCppUnigramNormalizer

_UNKNOWN_OF_T5 = 2
# An unknown character has ten less than the least score. Below this, any piece is better than two of them.
_LARGEST_LEAST = 10


def read_unigram(head: GGUFHead, tokens: GGUFTokens) -> UnigramContents:
    """Return the contents of a file of a Unigram model: sums of 64 bits, as in tokenizers, over a whole text."""
    for special in tokens.specials:
        if SPACE in special.content:
            what = "a special token with the sign for a space, which llama.cpp looks for before it writes that sign"
            raise head.unmodelled(what, special.content, TOKENS, special.id)
    types, scores = np.array(tokens.types), read_scores(head, tokens)
    least = float(scores[types == NORMAL].min(initial=np.inf))
    if not least < _LARGEST_LEAST:
        raise head.unmodelled("a least score from which unknown characters are not the last resort", least, SCORES)
    unknown = head.number("tokenizer.ggml.unknown_token_id")
    unknown = _UNKNOWN_OF_T5 if unknown is None or unknown >= len(types) else unknown
    if unknown >= len(types) or types[unknown] != UNKNOWN:
        raise head.unmodelled("an unknown token of another type", unknown, TOKENS)
    of_unknown = unknown_score(least, single=True)
    pieces = _pieces(head, tokens, scores, of_unknown)
    # llama.cpp gives user-defined tokens this score, whatever the file says.
    scores[types == USER_DEFINED] = 0.0
    users = tuple(np.flatnonzero(types == USER_DEFINED).tolist())
    return UnigramContents(
        format="gguf",
        model=UnigramModel(
            pieces,
            scores.astype(np.float64),
            (types == NORMAL) | (types == USER_DEFINED),
            unknown,
            of_unknown,
            "tokenizers",
        ),
        user_defined=users,
        rewriting=Rewriting(
            LlamaCppUnigramNormalizer(
                _read_table(head, tuple(tokens.texts[id] for id in users)),
                head.boolean("tokenizer.ggml.add_space_prefix", default=False),
                head.boolean("tokenizer.ggml.remove_extra_whitespaces", default=False),
            ),
            (DecodeSentencePiece(False, False, "", ""),),
        ),
        **found_in(head, tokens, False, True),
    )


def _pieces(head: GGUFHead, tokens: GGUFTokens, scores: Float32Array, of_unknown: float) -> tuple[str, ...]:
    """Return the texts of the pieces, none for unused ones; refuse types that are not modelled."""
    pieces = [*tokens.texts]
    for id, (text, type) in enumerate(zip(tokens.texts, tokens.types, strict=True)):
        if type == UNUSED and len(text) > 1 and scores[id] < len(text) * of_unknown:
            pieces[id] = ""  # it is never better than its characters alone, and llama.cpp shows nothing for it
        elif type not in (NORMAL, UNKNOWN, CONTROL, USER_DEFINED) or (type == NORMAL and id in tokens.found):
            what = "a token of this type, or one that llama.cpp takes for a special one by its text"
            raise head.unmodelled(what, text, TOKENS, id)
        elif byte_of(text) is not None:
            raise head.unmodelled("a token with the name of a byte", text, TOKENS, id)
    return tuple(pieces)


def _read_table(head: GGUFHead, kept: tuple[str, ...]) -> CharacterTable | None:
    key = "tokenizer.ggml.precompiled_charsmap"
    if key not in head:
        return None
    blob = head.numbers(key, ("i8", "u8")).tobytes()
    return CharacterTable(read_charsmap(blob, head.at(key)), kept, blob)
