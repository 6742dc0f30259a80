"""Reading the words of a tokenizer.json, a SentencePiece model, or lines of ranks, where they are written plainly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Float64Array, Int32Array, Int64Array, Uint8Array, Uint64Array
from tokdfa.kernels.library import Struct, call, lib

SEPARATOR = 0
"""The byte after each word, and after each part of a rule; no word that is read contains it."""

NOWHERE = (0, 0)
"""The bytes of a part that is not there."""

# A word of one byte, its quotation marks, a colon, a digit and a comma.
_LEAST_ENTRY = 6


class Scores(NamedTuple):
    """Numbers as they are written: ``digits * 10 ** powers``, from -308 to 308, negative where there is a sign."""

    digits: Uint64Array
    powers: Int32Array
    signs: Uint8Array


class ModelText(NamedTuple):
    """A vocabulary and its rules, as they were read.

    Word i of the vocabulary, in UTF-8, is ``text[offsets[i] : offsets[i + 1] - 1]``, and the separator follows it. None
    is empty; there may be equal ones. They have `ids`; if scored, they also have `scores`, and their ids are their
    indices. `rules` has the rules as strings, or the parts of rules if they are `in_pairs`, each followed by the
    separator. `vocab` and `merges` are the first byte of each, which is a bracket, and the byte after the other
    bracket; `NOWHERE` for rules that are not there.
    """

    text: Uint8Array
    offsets: Int64Array
    ids: Int32Array
    scores: Scores | None
    rules: Uint8Array
    n_rules: int
    in_pairs: bool
    vocab: tuple[int, int]
    merges: tuple[int, int]


def read_model(data: bytes, largest_id: int, *, scored: bool = False) -> ModelText | None:
    """Read the members ``vocab`` and ``merges`` of the member ``model`` of a JSON object: O(n).

    Ids are read up to `largest_id`, less than 2**31; if `scored`, the vocabulary is an array of words with scores. The
    rest of the file is skipped, and not checked: the file is JSON if it is with an empty object and an empty array in
    their place.

    None if the vocabulary is missing; if it is anything but words and ids, or words and scores, or the rules anything
    but a list of strings, or of pairs of strings; if something is not UTF-8, or has half of a surrogate pair or U+0000,
    or an empty word; if a word is missing altogether, or a score has too many digits.
    """
    if not 0 <= largest_id < 1 << 31:
        raise ValueError(f"{largest_id} is no largest id")
    most = min(len(data) // _LEAST_ENTRY, largest_id) + 1
    # Untouched pages take no memory.
    words, rules = (np.empty(len(data) + 1, dtype=np.uint8) for _ in range(2))
    offsets, ids = np.empty(most + 1, dtype=np.int64), np.empty(most, dtype=np.int32)
    n_scores = most if scored else 1
    digits, powers = np.empty(n_scores, dtype=np.uint64), np.empty(n_scores, dtype=np.int32)
    signs = np.empty(n_scores, dtype=np.uint8)
    model = Struct(
        "tokdfa_model_text", data=np.frombuffer(data or b"\0", dtype=np.uint8), n_data=len(data), most_ids=most,
        largest_id=largest_id, is_scored=scored, words=words, offsets=offsets, ids=ids, digits=digits, powers=powers,
        signs=signs, rules=rules, n_ids=0, n_rules=0, n_rule_bytes=0, in_pairs=0, vocab_begin=0, vocab_end=0,
        merges_begin=0, merges_end=0,
    )  # fmt: skip
    if not lib.tokdfa_read_model(model.pointer) & lib.TOKDFA_HAS_WORDS:
        return None
    found = model.pointer
    n = found.n_ids
    scores = Scores(digits[:n], powers[:n], signs[:n]) if scored else None
    vocab, merges = (found.vocab_begin, found.vocab_end), (found.merges_begin, found.merges_end)
    return ModelText(
        words[: int(offsets[n])], offsets[: n + 1], ids[:n], scores, rules[: found.n_rule_bytes], found.n_rules,
        bool(found.in_pairs), vocab, merges,
    )  # fmt: skip


# A tag, a length, and the same and a byte for the spelling.
_LEAST_PIECE = 5


class PieceList(NamedTuple):
    """The pieces of a SentencePiece model.

    Piece i is ``text[offsets[i] : offsets[i + 1] - 1]``, and a zero byte follows it, which no piece has. It has 1 to
    1024 bytes, which need not be UTF-8. Its score is a value of 32 bits, its kind is from 1 to 6, as the format numbers
    them. `left` is the rest of the model, as it is written.
    """

    text: Uint8Array
    offsets: Int64Array
    scores: Float64Array
    kinds: Uint8Array
    left: bytes


def read_pieces(data: bytes) -> PieceList | None:
    """Read the pieces of a SentencePiece model: O(n).

    None if all pieces are missing, or anything is odd: a field of a piece that is unknown or there twice, a piece that
    is empty, long or has a zero byte, a group, or a message that does not end.
    """
    most = len(data) // _LEAST_PIECE + 1
    # Untouched pages take no memory.
    text, left = (np.empty(len(data) + 1, dtype=np.uint8) for _ in range(2))
    offsets, scores = np.empty(most + 1, dtype=np.int64), np.empty(most, dtype=np.float64)
    kinds = np.empty(most, dtype=np.uint8)
    pieces = Struct(
        "tokdfa_piece_list", data=np.frombuffer(data or b"\0", dtype=np.uint8), n_data=len(data), most=most, text=text,
        offsets=offsets, scores=scores, kinds=kinds, left=left, n_pieces=0, n_left=0,
    )  # fmt: skip
    if not lib.tokdfa_read_pieces(pieces.pointer) or not pieces.pointer.n_pieces:
        return None
    n, found = pieces.pointer.n_pieces, pieces.pointer
    return PieceList(text[: int(offsets[n])], offsets[: n + 1], scores[:n], kinds[:n], left[: found.n_left].tobytes())


def check_spellings(text: Uint8Array, offsets: Int64Array, kinds: Uint8Array) -> tuple[int, bool] | None:
    """Return the number of characters of pieces, and whether all of normal ones are normal pieces themselves: O(n).

    The pieces come from a :class:`PieceList`; the zero bytes after them count as characters. None if a spelling is not
    UTF-8.
    """
    lengths = np.diff(offsets)
    if len(lengths) != len(kinds) or offsets[0] != 0 or offsets[-1] != len(text) or lengths.min(initial=2) < 2:
        raise ValueError("each piece has a kind and a spelling, followed by a zero byte")
    known, has_all = np.zeros(0x110000 // 8, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    n = call(lib.tokdfa_check_spellings, text, offsets, kinds, len(kinds), out=(known, has_all))
    return None if n < 0 else (n, bool(has_all[0]))


LARGEST_RANK = 0xFFFFFFFF


def read_rank_lines(data: bytes) -> tuple[Uint8Array, Int64Array, Int64Array, Int64Array, int, int]:
    """Read every line of a base64 word, a space and a rank that is not empty: O(n).

    Word i is ``text[offsets[i]:offsets[i + 1]]``; then come its rank, and the number of its line, from 1 on. Last come
    0 without a fault, otherwise the fault of the last line that was read, and its offset in `data`: 1 a character
    outside the base64 alphabet, 2 base64 of an invalid length, 3 no word, 4 no space after the word, 5 no rank, 6
    something after the rank, 7 a rank greater than LARGEST_RANK.
    """
    n_lines = lib.tokdfa_count_lines(data, len(data))
    text = np.empty(3 * (len(data) // 4) + 3, dtype=np.uint8)
    offsets, ranks, lines = (np.empty(n_lines + more, dtype=np.int64) for more in (1, 0, 0))
    found = Struct(
        "tokdfa_rank_lines", text=text, offsets=offsets, ranks=ranks, lines=lines, n_words=0, fault=0, place=0
    )
    lib.tokdfa_read_rank_lines(data, len(data), found.pointer)
    n, fault, place = found.pointer.n_words, found.pointer.fault, found.pointer.place
    return text[: offsets[n]].copy(), offsets[: n + 1].copy(), ranks[:n].copy(), lines[:n].copy(), fault, place
