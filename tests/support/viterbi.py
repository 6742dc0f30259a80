"""The best segmentation by definition, step by step as the two libraries compute it: slow, obvious, the oracle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.models.unigram.model import UnigramModel

__all__ = ["Edge", "best_path", "encode_by_definition", "ids_of_path"]


# Since version 0.2.2, SentencePiece subtracts a sum of a greater magnitude from all that continue.
_TOO_LARGE = 1e5


class Edge(NamedTuple):
    """A piece in a text: where it begins and ends, in characters, and its id; the id is None for an unknown character.

    `score` is the sum of the scores up to its end.
    """

    start: int
    stop: int
    id: int | None
    score: float


def encode_by_definition(model: UnigramModel, text: str) -> list[int]:
    """Return the ids of a text that is added up as a whole.

    Parameters
    ----------
    model : UnigramModel
    text : str
        A whole text for SentencePiece, a pre-token for tokenizers; normalized, without halves of surrogate pairs.

    Raises
    ------
    AlphabetError
        If a character is unknown and has no id.

    Notes
    -----
    As read in ``unigram_model.cc`` of sentencepiece 0.2.1 (``EncodeOptimized``) and ``models/unigram/model.rs`` of
    tokenizers 0.23 (``encode_optimized``), and as sentencepiece 0.2.3 answers.

    Examples
    --------
    >>> import numpy as np
    >>> from tokdfa.tokenizers.models.unigram.model import UnigramModel
    >>> scores = np.array([0.0, -1.0, -1.0, -1.5])
    >>> model = UnigramModel(("?", "a", "b", "ab"), scores, np.array([False, True, True, True]), 0, -11.5, "tokenizers")
    >>> encode_by_definition(model, "abbx")
    [3, 2, 0]
    """
    return ids_of_path(model, text, best_path(model, text))


def best_path(model: UnigramModel, text: str, score: float = 0.0) -> list[Edge]:
    """Return the pieces of the best segmentation of a text; `score` is the sum before its beginning.

    Raises
    ------
    AlphabetError
        If a character is unknown and has no id.
    """
    id_of = {model.pieces[id]: id for id in np.flatnonzero(model.is_found).tolist()}
    longest = max(map(len, id_of), default=0)
    best: list[Edge | None] = [Edge(0, 0, None, score), *[None] * len(text)]
    for start in range(len(text)):
        here = best[start]
        assert here is not None
        if model.arithmetic == "sentencepiece" and abs(here.score) > _TOO_LARGE:
            _shift(best, start, min(start + longest, len(text)))
            here = best[start]
            assert here is not None
        is_known = False
        for stop in range(start + 1, min(start + longest, len(text)) + 1):
            id = id_of.get(text[start:stop])
            if id is None:
                continue
            total = exact = float(model.scores[id]) + here.score
            if model.is_single:
                total = float(np.float32(exact))
            before = best[stop]
            # Up to version 0.2.1, SentencePiece compares a sum of 64 bits with one of 32 bits.
            if before is None or (exact if model.is_rounded_late else total) > before.score:
                best[stop] = Edge(start, stop, id, total)
            is_known |= stop == start + 1
        if not is_known:
            total = model.unknown_score + here.score
            total = float(np.float32(total)) if model.is_single else total
            before = best[start + 1]
            if before is None or total > before.score:
                if model.unknown is None:
                    what = "a character that is no piece, and there is no unknown piece"
                    raise AlphabetError(what, value=text[start], where=f"character {start}")
                best[start + 1] = Edge(start, start + 1, None, total)
    path: list[Edge] = []
    stop = len(text)
    while stop:
        edge = best[stop]
        assert edge is not None
        path.append(edge)
        stop = edge.start
    return path[::-1]


def _shift(best: list[Edge | None], start: int, stop: int) -> None:
    """Subtract the sum at a place from all that continue."""
    here = best[start]
    assert here is not None
    for place in range(start, stop + 1):
        edge = best[place]
        if edge is not None:
            best[place] = edge._replace(score=float(np.float32(edge.score - here.score)))


def ids_of_path(model: UnigramModel, text: str, path: list[Edge]) -> list[int]:
    """Return the ids that the library gives for a segmentation of a text."""
    return _ids_of_sentencepiece(model, text, path) if model.is_single else _ids_of_tokenizers(model, text, path)


def _ids_of_sentencepiece(model: UnigramModel, text: str, path: list[Edge]) -> list[int]:
    ids: list[int] = []
    was_unknown = False
    for edge in path:
        is_unknown = edge.id is None
        if edge.id is not None:
            ids.append(edge.id)
        elif model.byte_ids is not None:
            ids += [model.byte_ids[byte] for byte in text[edge.start : edge.stop].encode("utf-8")]
        elif not was_unknown and model.unknown is not None:
            ids.append(model.unknown)
        was_unknown = is_unknown
    return ids


def _ids_of_tokenizers(model: UnigramModel, text: str, path: list[Edge]) -> list[int]:
    id_of = {model.pieces[id]: id for id in np.flatnonzero(model.is_found).tolist()}
    parts: list[tuple[bool, str]] = []
    for edge in path:
        # The unknown piece may be spelled in a text, and is then joined with others as well.
        is_unknown = edge.id is None or edge.id == model.unknown
        part = text[edge.start : edge.stop]
        if is_unknown and parts and parts[-1][0]:
            parts[-1] = True, parts[-1][1] + part
        else:
            parts.append((is_unknown, part))
    ids: list[int] = []
    for _, part in parts:
        bytes_of = [model.byte_ids[byte] if model.byte_ids is not None else -1 for byte in part.encode("utf-8")]
        if part in id_of:
            ids.append(id_of[part])
        elif min(bytes_of) >= 0:
            ids += bytes_of
        else:
            assert model.unknown is not None
            ids.append(model.unknown)
    return ids
