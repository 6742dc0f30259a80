"""Accepts ids of Unigram tokenizers: word by word, where their text is the concatenation of their pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import AlphabetError, TokenStreamError
from tokdfa.kernels.spelling.spell import spell
from tokdfa.kernels.unigram.accept import (
    ASKED,
    BARE,
    BEGINS,
    DOUBTFUL,
    DROPS_ALL,
    DROPS_FIRST,
    DROPS_NOTHING,
    ENDS,
    PLAIN,
    SHOWN,
    SPACED,
    SPECIAL,
)
from tokdfa.regex.unicode.normalization import spaces
from tokdfa.tokenizers.boundaries.words import UnigramBoundaries
from tokdfa.tokenizers.decoder import Spellings, spellings
from tokdfa.tokenizers.decoding import DecodeSentencePiece, byte_of
from tokdfa.tokenizers.models.unigram.segmenter import BEGINNING, Acceptor, Before, WrongWords
from tokdfa.tokenizers.models.unigram.texts import one_pass
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer
from tokdfa.tokenizers.normalizers.steps import Chain, Replace, Strip
from tokdfa.tokenizers.word_decoding import DecodeMetaspace

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import UnigramTokenizer


# The number of runs of undecided ids in a stream that are judged by their text, and of ids within which the next cut
# usually is.
_MOST_STOPS, _NEAR = 1 << 10, 1 << 8
_SPACE_BYTES = SPACE.encode("utf-8")


def accept(tokenizer: UnigramTokenizer, ids: Int32Array, before: Before | None) -> tuple[int, Before] | None:
    """Return the number of bytes that canonical ids add to a text, and the state after them.

    `before` is the state before them; None if a text begins with them. None is returned if they are not canonical, or
    if this does not decide it.
    """
    acceptor = tokenizer.acceptor
    if acceptor is None:
        return _accept_text(tokenizer, ids, before)
    at = n_bytes = 0
    after = BEGINNING if before is None else before
    for _ in range(_MOST_STOPS):
        n, size, found = acceptor.accept(ids[at:], None if before is None and not at else after)
        if n:
            at, n_bytes, after = at + n, n_bytes + size, found
        if at == len(ids):
            return n_bytes, after
        # Undecided ids are judged by their text, up to the next offset where the text is cut.
        part = ids[at : at + _NEAR]
        cut = np.flatnonzero(tokenizer.boundaries.always_cut(part))
        if not len(cut) and at + len(part) < len(ids):
            return None
        part = part[: int(cut[0]) + 1] if len(cut) else part
        accepted = _accept_text(tokenizer, part, None if before is None and not at else after)
        if accepted is None:
            return None
        at, n_bytes, after = at + len(part), n_bytes + accepted[0], accepted[1]
        if at == len(ids):
            return n_bytes, after
    return None


def _accept_text(tokenizer: UnigramTokenizer, ids: Int32Array, before: Before | None) -> tuple[int, Before] | None:
    """Do as `accept`, from the text of the ids."""
    encoded = _encoded_again(tokenizer, ids, before)
    return None if encoded is None or not np.array_equal(encoded[1], ids) else (encoded[0], encoded[2])


def _encoded_again(
    tokenizer: UnigramTokenizer, ids: Int32Array, before: Before | None
) -> tuple[int, Int32Array, Before] | None:
    """Return the bytes of the text of ids, its canonical ids, and the state after it; None if they have no text."""
    begins = before is None
    text = _text_of_usual(tokenizer, ids, begins)
    try:
        if text is None:
            text = (tokenizer.decoder if begins else tokenizer.decoder.later).text_of(ids).text
        return len(text.encode("utf-8")), *tokenizer.model.encode_on(tokenizer, text, before, begins=begins)
    except (AlphabetError, TokenStreamError):
        return None


def wrong_words(
    tokenizer: UnigramTokenizer, ids: Int32Array, before: Before | None
) -> tuple[int, int, Before, WrongWords]:
    """Return how many of the first ids are judged, the bytes of their text, the state after them, and wrong words.

    `before` is the state before the ids; None if a text begins with them. The tokenizer has an acceptor. Undecided ids
    are judged by their text, up to the next offset where the text is cut, and count as a word. If not all ids are
    judged, the text is cut before the others, and the next ids have no text or are refused.
    """
    acceptor = tokenizer.acceptor
    assert acceptor is not None
    parts: list[WrongWords] = []
    at = n_bytes = 0
    after = BEGINNING if before is None else before
    while True:
        here = None if before is None and not at else after
        n, size, found, wrong = acceptor.wrong_words(ids[at:], here)
        if len(wrong.bounds) or not parts:
            parts.append(wrong.moved(at, n_bytes))
        if n:
            at, n_bytes, after = at + n, n_bytes + size, found
        if at == len(ids):
            break
        own, here = ids[at : _next_cut(tokenizer, ids, at)], None if before is None and not at else after
        encoded = _encoded_again(tokenizer, own, here)
        if encoded is None:
            break
        size, canonical, found = encoded
        if not np.array_equal(canonical, own):
            bounds = np.array([[at, at + len(own)]])
            right_bounds, byte = np.array([0, len(canonical)]), np.array([n_bytes])
            sums, is_unknown = np.array([after.score]), np.array([after.is_unknown])
            parts.append(WrongWords(bounds, canonical, right_bounds, byte, sums, is_unknown, np.array([ASKED])))
        at, n_bytes, after = at + len(own), n_bytes + size, found
        if at == len(ids):
            break
    return at, n_bytes, after, WrongWords.joined(parts)


def _next_cut(tokenizer: UnigramTokenizer, ids: Int32Array, at: int) -> int:
    """Return the next offset after `at` where the text is cut, or the number of ids."""
    size = _NEAR
    while True:
        cut = np.flatnonzero(tokenizer.boundaries.always_cut(ids[at : at + size]))
        if len(cut) or at + size >= len(ids):
            return at + int(cut[0]) + 1 if len(cut) else len(ids)
        size *= 4


def _text_of_usual(tokenizer: UnigramTokenizer, ids: Int32Array, begins: bool) -> str | None:
    """Return the text of ids that are usual pieces; None if there are others, or decoding needs a closer look."""
    steps = tokenizer.rewriting.decoding or ()
    if len(steps) != 1 or not isinstance(steps[0], (DecodeSentencePiece, DecodeMetaspace)) or not len(ids):
        return None
    step, known = steps[0], tokenizer.derived(is_usual)
    if not known[ids].all():
        # Within a text, SentencePiece spells an unknown character in one way.
        unknown = tokenizer.model.unknown
        if not isinstance(step, DecodeSentencePiece) or unknown is None or (begins and not known[ids[0]]):
            return None
        if tokenizer.token_strings[unknown] != step.unknown or not (known[ids] | (ids == unknown)).all():
            return None
    if isinstance(step, DecodeMetaspace) and step.replacement != SPACE:
        return None
    data = spell(*tokenizer.derived(_texts_of_usual), ids)[0].tobytes()
    drops = step.drops_first or (isinstance(step, DecodeSentencePiece) and step.drops_all)
    if begins and drops and data.startswith(_SPACE_BYTES):
        # Only one space, which begins the first piece, may be dropped here.
        first = tokenizer.token_strings[int(ids[0])]
        if SPACE in first[1:] or data.startswith(_SPACE_BYTES, len(_SPACE_BYTES)) or len(data) == len(_SPACE_BYTES):
            return None
        data = data[len(_SPACE_BYTES) :]
    elif begins and drops and SPACE in tokenizer.token_strings[int(ids[0])]:
        return None
    return data.decode("utf-8").replace(SPACE, " ")


def acceptor(tokenizer: UnigramTokenizer) -> Acceptor | None:
    """Return the acceptor of streams word by word; None if their text is not the concatenation of their pieces.

    Notes
    -----
    The first id of a word, and no other, has a piece that begins with a visible space. The text of several words is
    these pieces with real spaces, without the first space, which the decoder drops and the encoder puts back. It is
    normalized and cut into the same words if no character of it is touched.
    """
    drops, boundaries = _drops(tokenizer), tokenizer.boundaries
    if not isinstance(boundaries, UnigramBoundaries) or drops is None:
        return None
    normalizer = tokenizer.rewriting.normalizer
    characters = frozenset(" ").union(*tokenizer.token_strings)
    changed = frozenset() if normalizer is None else normalizer.touched(characters)
    if changed is None or " " in changed:
        return None
    changed |= {SPACE}
    if not tokenizer.model.is_single:
        # Python's strings take the last ones for white space, too.
        changed |= spaces() - {" "} | {*"\x1c\x1d\x1e\x1f"}
    found = tokenizer.found_specials
    signs = {special.text[0] for special in found}
    # Then no special token begins inside another one.
    is_clear = all(signs.isdisjoint(special.text[1:]) for special in found)
    usual = is_usual(tokenizer).tolist()
    unknown = tokenizer.model.unknown
    if unknown is not None and not tokenizer.model.is_single and unknown not in tokenizer.special_ids:
        # tokenizers decodes it to its piece, and finds that in texts; SentencePiece decodes it to something else.
        usual[unknown] = True
    kinds = np.zeros(tokenizer.n_ids, dtype=np.uint8)
    for id, piece in enumerate(tokenizer.token_strings):
        if not usual[id] or not piece or byte_of(piece) is not None or " " in piece:
            continue
        is_spaced = piece.startswith(SPACE)
        rest = piece[is_spaced:]
        if changed.isdisjoint(rest):
            is_doubtful = not signs.isdisjoint(rest)
            kinds[id] = PLAIN + SPACED * is_spaced + BARE * (piece == SPACE) + DOUBTFUL * is_doubtful
    pieces = [piece.encode("utf-8", "surrogatepass") for piece in tokenizer.token_strings]
    shown = [piece.replace(_SPACE_BYTES, b" ") for piece in pieces]
    if unknown is not None and (surface := _surface(tokenizer)) is not None:
        shown[unknown], usual[unknown] = surface.encode("utf-8"), True
    kinds += SHOWN * np.array(usual, dtype=np.uint8)
    may_end, may_begin = boundaries.sides
    kinds[may_end] += ENDS
    kinds[may_begin] += BEGINS
    if is_clear:
        kinds[[special.id for special in found if special.level == 0]] = SPECIAL
    return Acceptor(
        tokenizer.model.segmenter,
        tokenizer.derived(one_pass),
        pieces,
        shown,
        kinds,
        [special.text.encode("utf-8") for special in found],
        drops=drops,
        keeps_spaces=_keeps_spaces(tokenizer),
    )


def _surface(tokenizer: UnigramTokenizer) -> str | None:
    """Return the text that the unknown piece adds after other ids; None if it is decoded as other pieces are."""
    model, steps = tokenizer.model, tokenizer.rewriting.decoding or ()
    for step in steps:
        if isinstance(step, DecodeSentencePiece) and model.unknown is not None:
            is_same = tokenizer.token_strings[model.unknown] == step.unknown
            return step.surface if is_same and SPACE not in step.surface else None
    return None


def is_usual(tokenizer: UnigramTokenizer) -> BoolArray:
    """Return for each id whether it is a piece that is found in texts, and decoded by its spelling."""
    model = tokenizer.model
    usual = np.zeros(tokenizer.n_ids, dtype=np.bool_)
    usual[: len(model.pieces)] = model.is_found
    usual[tokenizer.special_ids] = False
    if model.unknown is not None:
        usual[model.unknown] = False
    return usual


def _texts_of_usual(tokenizer: UnigramTokenizer) -> Spellings:
    """Return the pieces of all ids in UTF-8; the unknown one as unknown characters are spelled within a text."""
    pieces = [token.encode("utf-8", "surrogatepass") for token in tokenizer.token_strings]
    for step in tokenizer.rewriting.decoding or ():
        if isinstance(step, DecodeSentencePiece) and step.unknown in tokenizer.token_strings:
            pieces[tokenizer.token_strings.index(step.unknown)] = step.surface.encode("utf-8")
    return spellings(pieces)


def _drops(tokenizer: UnigramTokenizer) -> int | None:
    """Return which spaces decoding drops at the beginning; None if encoding does not put it back, or another one."""
    steps, normalizer = tokenizer.rewriting.decoding or (), tokenizer.rewriting.normalizer
    if len(steps) != 1:
        return None
    (step,) = steps
    if tokenizer.model.is_single:
        if not isinstance(step, DecodeSentencePiece) or not isinstance(normalizer, SentencePieceNormalizer):
            return None
        drops = DROPS_ALL if step.drops_all else DROPS_FIRST if step.drops_first else DROPS_NOTHING
        return drops if (drops > 0) == normalizer.puts_space and tokenizer.pretokenizer is None else None
    if not isinstance(step, DecodeMetaspace) or step.replacement != SPACE or tokenizer.pretokenizer is None:
        return None
    splitting = tokenizer.pretokenizer.splitting
    puts = splitting.prefix_space is not None
    # After WhitespaceSplit each word must get a space.
    is_put_back = splitting.metaspace_at == 0 or (puts and not splitting.prefix_once)
    return int(step.drops_first) if step.drops_first == puts and is_put_back else None


def _keeps_spaces(tokenizer: UnigramTokenizer) -> bool:
    """Return whether several spaces in a row, and spaces at the ends of a text, reach the model."""
    normalizer = tokenizer.rewriting.normalizer
    if isinstance(normalizer, SentencePieceNormalizer):
        return not normalizer.trims_spaces
    steps = normalizer.steps if isinstance(normalizer, Chain) else (normalizer,)
    if any(isinstance(step, (Strip, Replace)) for step in steps):
        return False
    return tokenizer.pretokenizer is not None and tokenizer.pretokenizer.splitting.metaspace_at == 0
