"""The libraries that define what files mean, asked for many texts and many streams of ids at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from tests.support.tokenizer_files import SPELLED

__all__ = ["Peer", "Wanted", "of_model", "of_ranks", "of_tekken", "of_tokenizer_json", "of_vocabulary"]

S = TypeVar("S")
T = TypeVar("T")
BYTE_OF = {letter: byte for byte, letter in SPELLED.items()}


@dataclass(frozen=True)
class Wanted:
    """A library's answer about ids.

    Attributes
    ----------
    canonical : list of int
        The ids of their text.
    indices : set of (int or None)
        Where the first violation may be; {None} if the ids are canonical. Bytes that are not UTF-8 are a violation at
        the token of the first of them, or before, where the text up to them is encoded otherwise.
    is_text : bool
        Whether the ids spell UTF-8.
    """

    canonical: list[int]
    indices: frozenset[int | None]
    is_text: bool = True


@dataclass(frozen=True)
class Peer:
    """A library with a file.

    Attributes
    ----------
    encode : callable
        From texts to ids; None where the library fails.
    decode : callable
        From streams of ids to texts.
    tokens : dict
        Each id's token as the file spells it.
    words : dict
        The bytes of each id, as far as it has bytes of its own.
    added : dict
        The added tokens and control pieces by id.
    spells : bool
        Whether the text of ids is their words one after the other, so that U+FFFD is told from bad bytes.
    cuts : frozenset of int
        Ids that are not text and cut a stream.
    replaces : bool
        Whether the U+FFFD that the decoder writes for bad bytes is the meaning of the ids.
    """

    encode: Callable[[Sequence[str]], list[list[int] | None]]
    decode: Callable[[Sequence[list[int]]], list[str]]
    tokens: dict[int, str]
    words: dict[int, bytes]
    added: dict[int, str] = field(default_factory=dict)
    spells: bool = False
    cuts: frozenset[int] = frozenset()
    replaces: bool = False

    def wanted(self, streams: Sequence[list[int]]) -> list[Wanted | None]:
        """Return what the library makes of each stream; None where it fails."""
        parts = [self._parts(ids) for ids in streams]
        flat = [part for of_stream in parts for part in of_stream]
        found = iter(self._wanted_of_parts(flat))
        return [
            self._joined(ids, [next(found) for _ in of_stream]) for ids, of_stream in zip(streams, parts, strict=True)
        ]

    def _parts(self, ids: list[int]) -> list[list[int]]:
        """Return the ids between those that cut."""
        ends = [*(index for index, id in enumerate(ids) if id in self.cuts), len(ids)]
        return [ids[start:end] for start, end in zip([0, *(end + 1 for end in ends)], ends, strict=False)]

    def _joined(self, ids: list[int], parts: list[Wanted | None]) -> Wanted | None:
        """Return what is made of a stream, from its parts."""
        canonical: list[int] = []
        indices: frozenset[int | None] = frozenset([None])
        start = 0
        for part, length in zip(parts, map(len, self._parts(ids)), strict=True):
            if part is None:
                return None
            if indices == {None}:
                indices = frozenset(None if index is None else start + index for index in part.indices)
            start += length + 1
            canonical += [*part.canonical, *ids[start - 1 : start]]
        return Wanted(canonical, indices, all(part.is_text for part in parts if part is not None))

    def _wanted_of_parts(self, parts: list[list[int]]) -> list[Wanted | None]:
        """Return what is made of each part without cuts, the text before bad bytes being encoded as well."""
        decoded = self.decode(parts)
        asked = [not self.replaces and "\ufffd" in text for text in decoded]
        bad = [self._bad(ids) if is_asked else None for ids, is_asked in zip(parts, asked, strict=True)]
        # Decoders that strip a space at the beginning also do so in the part before bad bytes.
        heads = self.decode([[] if place is None else ids[: place[0]] for ids, place in zip(parts, bad, strict=True)])
        if self.spells:
            heads = ["" if place is None else place[1].decode() for place in bad]
        again = self.encode([*decoded, *heads])
        found: list[Wanted | None] = []
        for ids, place, whole, part in zip(parts, bad, again, again[len(parts) :], strict=False):
            if whole is None or part is None:
                found.append(None)
            elif place is None:
                found.append(Wanted(whole, frozenset([apart(ids, whole)])))
            else:
                first = apart(ids, part)
                indices = {place[0], place[0] if first is None else min(first, place[0])}
                if not self.spells:
                    indices.add(apart(ids, whole) or 0)
                found.append(Wanted(whole, frozenset(indices), is_text=False))
        return found

    def _bad(self, ids: list[int]) -> tuple[int, bytes] | None:
        """Return the index of the token with the first bad byte, and the bytes before that; None if there is none."""
        pieces = [self.words.get(id, b"") for id in ids]
        data = b"".join(pieces)
        try:
            data.decode()
        except UnicodeDecodeError as error:
            index = next(i for i, end in enumerate(accumulate(map(len, pieces))) if end > error.start)
            return index, data[: error.start]
        return None


def apart(ids: list[int], others: list[int]) -> int | None:
    """Return the length of the longest common prefix; None if they are the same."""
    if ids == others:
        return None
    short = min(len(ids), len(others))
    return next((k for k in range(short) if ids[k] != others[k]), short)


def each_alone(together: Callable[[Sequence[S]], list[T]], values: Sequence[S]) -> list[T | None]:
    """Ask for all at once; one by one if the library fails, with None for those at which it does."""
    try:
        return [*together(values)]
    except BaseException as error:
        if not _is_failure(error):
            raise
    if len(values) == 1:
        return [None]
    middle = len(values) // 2
    return each_alone(together, values[:middle]) + each_alone(together, values[middle:])


def _is_failure(error: BaseException) -> bool:
    """Whether the library has failed at a text: a panic is not an Exception."""
    return type(error).__name__ == "PanicException" or isinstance(error, Exception)


# The libraries


def of_tokenizer_json(path: Path) -> Peer:
    """Return tokenizers with a tokenizer.json."""
    return _of_written(path.read_text("utf-8"))


def of_vocabulary(path: Path) -> Peer:
    """Return tokenizers with the vocab.txt of a BERT without cases."""
    from tokenizers import BertWordPieceTokenizer

    return _of_written(BertWordPieceTokenizer(str(path)).to_str())


def _of_written(written: str) -> Peer:
    """Return tokenizers with the text of a tokenizer.json."""
    import tokenizers

    fields = json.loads(written)
    peer: Any = tokenizers.Tokenizer.from_str(written)
    peer.no_truncation()
    peer.no_padding()
    reads_letters = fields["decoder"] is None and fields["model"].get("type") not in ("WordPiece", "WordLevel")
    if reads_letters:
        # tokdfa reads letters for bytes then.
        peer.decoder = tokenizers.decoders.ByteLevel()
    tokens = {id: token for token, id in peer.get_vocab(with_added_tokens=True).items()}
    # The library assigns the ids.
    added = {id: token.content for id, token in peer.get_added_tokens_decoder().items()}
    spells = reads_letters or (fields["decoder"] or {}).get("type") == "ByteLevel"
    words = {id: _word(token) if spells else _shown(token) for id, token in tokens.items()}

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in peer.encode_batch_fast([*texts], add_special_tokens=False)]

    def decode(streams: Sequence[list[int]]) -> list[str]:
        return list(peer.decode_batch([*streams], skip_special_tokens=False))

    return Peer(partial(each_alone, encode), decode, tokens, words, added, spells, replaces=not spells)  # type: ignore[arg-type]


def _word(token: str) -> bytes:
    """Return the bytes that GPT-2's letters stand for; a token with any other letter stands for itself."""
    return bytes(map(BYTE_OF.__getitem__, token)) if BYTE_OF.keys() >= {*token} else token.encode()


def _shown(token: str) -> bytes:
    """Return the bytes of a token over characters; the fallback for a byte is that."""
    is_byte = len(token) == 6 and token.startswith("<0x") and token.endswith(">")
    return bytes([int(token[3:5], 16)]) if is_byte else token.encode()


def of_ranks(ranks: dict[bytes, int], pattern: str) -> Peer:
    """Return tiktoken with ranks."""
    import tiktoken

    peer = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    words = {id: word for word, id in ranks.items()}
    tokens = {id: "".join(map(SPELLED.__getitem__, word)) for id, word in words.items()}

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return list(map(peer.encode_ordinary, texts))

    return Peer(
        partial(each_alone, encode), lambda streams: list(map(peer.decode, streams)), tokens, words, spells=True
    )  # type: ignore[arg-type]


def of_tekken(path: Path) -> Peer:
    """Return mistral-common with a tekken.json."""
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    peer: Any = Tekkenizer.from_file(path)
    n, model = peer.num_special_tokens, peer._model
    words = {n + rank: model.decode_single_token_bytes(rank) for rank in model._mergeable_ranks.values()}
    tokens = {id: "".join(map(SPELLED.__getitem__, word)) for id, word in words.items()}
    added = {id: peer.id_to_piece(id) for id in range(n)}

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return [peer.encode(text, bos=False, eos=False) for text in texts]

    def decode(streams: Sequence[list[int]]) -> list[str]:
        return [b"".join(words.get(id, b"") for id in ids).decode("utf-8", "replace") for ids in streams]

    return Peer(partial(each_alone, encode), decode, tokens, words, added, True, frozenset(added))  # type: ignore[arg-type]


def of_model(data: bytes) -> Peer:
    """Return SentencePiece with a model."""
    import sentencepiece

    peer: Any = sentencepiece.SentencePieceProcessor(model_proto=data)
    tokens = {id: peer.id_to_piece(id) for id in range(len(peer))}
    cuts = frozenset(filter(peer.is_control, tokens))
    words = {id: _shown(token.replace("\u2581", " ")) for id, token in tokens.items()}
    added = {id: token for id, token in tokens.items() if id in cuts}

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return list(peer.encode([*texts], num_threads=1))

    def decode(streams: Sequence[list[int]]) -> list[str]:
        return list(peer.decode([*streams], num_threads=1))

    return Peer(partial(each_alone, encode), decode, tokens, words, added, cuts=cuts)  # type: ignore[arg-type]
