"""Every family of tokenizers: small random members, each next to its own library, and nasty texts and ids for them.

A law that holds for all tokenizers is tested over `FAMILIES`: ``member = FAMILIES[name](drawn)`` has the loaded
tokenizer, the library's results for a text (`encode`), for ids (`decode`, `spell`), and for both in a row (`again`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import sentencepiece
import tiktoken
import tokenizers

import tokdfa
from tests.support import sentencepieces, unigrams
from tests.support.editing import edited
from tests.support.family_files import BYTE_OF, MANY_PARTS, OF_JSON, PARTS, SMALL_PATTERNS, Fields, ranks
from tests.support.tokenizer_files import rwkv_lines, tiktoken_lines
from tokdfa.base.errors import FileFormatError, LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["FAMILIES", "Member", "of_model", "of_ranks", "of_tokenizer_json"]

# Steps of tokenizer.json files that encode the beginning of a text otherwise.
AT_BEGINNINGS = (
    '"add_prefix_space": true',
    '"Prepend"',
    '"prepend_scheme": "always"',
    '"prepend_scheme": "first"',
    '"Strip"',
)
REFUSED = (UnsupportedFeatureError, FileFormatError, PatternError, LimitExceededError)
RANK_PATTERNS = [name for name in NAMED if NAMED[name].library == "tiktoken"]


@dataclass(frozen=True)
class Member:
    """A tokenizer of a family, and its own library."""

    family: str
    tokenizer: AnyTokenizer
    # The ids of a text; None where the library fails.
    encode: Callable[[str], list[int] | None]
    # The text of ids, special tokens kept.
    decode: Callable[[list[int]], str]
    # The bytes of ids; None where the library's decoder tells only a text with U+FFFD.
    spell: Callable[[list[int]], bytes | None]
    # All ids that mean something, and among them the added ones and control pieces.
    ids: list[int]
    added: dict[int, str] = field(default_factory=dict)
    # Ids that decode to nothing and cut a stream into texts.
    cuts: frozenset[int] = frozenset()
    # Added ids that are not text: the special tokens.
    special: frozenset[int] = frozenset()
    # Whether a text is encoded as if it followed another one.
    begins_alike: bool = True
    # Whether the last id of a stream loses the end of a word.
    ends_differ: bool = False
    # Texts that belong to this member, such as the contents of its tokens.
    parts: list[str] = field(default_factory=list)
    # Loads the same tokenizer once more.
    load: Callable[[], AnyTokenizer] = tokdfa.default_tokenizer

    def again(self, ids: list[int]) -> list[int] | None:
        """Return the ids that the library gives for the text of ids; None where it fails."""
        bounds = [-1, *(index for index, id in enumerate(ids) if id in self.cuts), len(ids)]
        found: list[int] = []
        for start, stop in pairwise(bounds):
            encoded = self.encode(self.decode(ids[start + 1 : stop]))
            if encoded is None:
                return None
            found += [*encoded, *ids[stop : stop + 1]]
        return found

    def text(self, drawn: random.Random, most: int = 12) -> str:
        """Return a nasty text of up to `most` parts; now and then a word is long."""
        parts = [*MANY_PARTS, *self.parts * (1 + len(PARTS) // (2 * len(self.parts)))] if self.parts else MANY_PARTS
        chosen = drawn.choices(parts, k=drawn.randrange(most + 1))
        if chosen and drawn.random() < 0.05:
            chosen[drawn.randrange(len(chosen))] *= drawn.randrange(2, 40)
        return "".join(chosen)

    def stream(self, drawn: random.Random, most: int = 12) -> list[int]:
        """Return ids: of a text, of texts one after the other, spoiled, built from tokens, or any."""
        way = drawn.randrange(5)
        if way == 0:
            return drawn.choices(self.ids, k=drawn.randrange(most + 1))
        texts = [self.text(drawn, most) for _ in range(1 if way == 1 else drawn.randrange(1, 4))]
        if way == 2:
            # Each symbol or two encoded alone: short tokens where the text would have long ones.
            whole = "".join(texts)[: 2 * most]
            sizes = drawn.randrange(1, 4)
            texts = [whole[at : at + sizes] for at in range(0, len(whole), sizes)]
        ids = [id for text in texts for id in self.encode(text) or ()]
        return edited(drawn, ids, self.ids, exchanges=0.2) if way == 4 else ids


# The three libraries


def of_tokenizer_json(family: str, fields: Fields) -> Member | None:
    """Return the member of a tokenizer.json; None if it, or the text of its ids, is refused here or by the library."""
    written = json.dumps(fields).encode()
    try:
        tokenizer = tokdfa.load(written)
    except REFUSED:
        return None
    if tokenizer.why_not("text") is not None:
        return None
    try:
        peer = tokenizers.Tokenizer.from_str(written.decode())
    except BaseException as error:
        _skip_panic(error)
        return None
    peer.no_truncation()
    peer.no_padding()
    reads_letters = fields["decoder"] is None and fields["model"].get("type") not in ("WordPiece", "WordLevel")
    if reads_letters:
        # tokdfa reads letters for bytes then.
        peer.decoder = tokenizers.decoders.ByteLevel()  # type: ignore[assignment]
    # The library assigns the ids.
    added = {id: token.content for id, token in peer.get_added_tokens_decoder().items()}
    vocab = fields["model"]["vocab"]
    ids = {*vocab.values()} if isinstance(vocab, dict) else {*range(len(vocab))}
    steps = json.dumps([fields["normalizer"], fields["pre_tokenizer"]])
    only_letters = reads_letters or (fields["decoder"] or {}).get("type") == "ByteLevel"

    def encode(text: str) -> list[int] | None:
        try:
            encoded: list[int] = peer.encode(text, add_special_tokens=False).ids
        except BaseException as error:
            if "Missing" not in str(error):
                _skip_panic(error)
            return None
        return encoded

    def decode(ids: list[int]) -> str:
        decoded: str = peer.decode(ids, skip_special_tokens=False)
        return decoded

    def spell(ids: list[int]) -> bytes | None:
        if not only_letters:
            decoded = decode(ids)
            return None if "\ufffd" in decoded else decoded.encode()
        tokens = [peer.id_to_token(id) or "" for id in ids]
        return b"".join(
            bytes(map(BYTE_OF.__getitem__, token)) if BYTE_OF.keys() >= {*token} else token.encode() for token in tokens
        )

    parts = [part for content in added.values() for part in (content, content, content[:-1], content[1:]) if part]
    return Member(
        family, tokenizer, encode, decode, spell, sorted(ids | added.keys()), added,
        special=frozenset(id for id, token in peer.get_added_tokens_decoder().items() if token.special),
        begins_alike=not any(step in steps for step in AT_BEGINNINGS),
        ends_differ='"BPEDecoder"' in json.dumps(fields["decoder"]),
        parts=parts, load=partial(tokdfa.load, written),
    )  # fmt: skip


def _skip_panic(error: BaseException) -> None:
    """Raise an error again, unless the library has crashed."""
    if type(error).__name__ != "PanicException" and not isinstance(error, Exception):
        raise error


def of_ranks(family: str, ranks: dict[bytes, int], name: str) -> Member:
    """Return the member of a rank file with a named pattern, or with a pattern that covers every text."""
    pattern = NAMED[name].steps[0].pattern if name in NAMED else name
    peer = tiktoken.Encoding(family, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    load = partial(tokdfa.load, tiktoken_lines(ranks), pretokenizer=name, specials={}, format="tiktoken")
    return Member(
        family, load(), peer.encode_ordinary, peer.decode, peer.decode_bytes, sorted(ranks.values()), load=load,
    )  # fmt: skip


def of_longest_match(family: str, tokens: dict[bytes, int]) -> Member:
    """Return the member of a vocabulary of RWKV, next to the definition: at each offset the longest token."""
    words = {id: token for token, id in tokens.items()}
    longest = max(map(len, tokens))
    load = partial(tokdfa.load, rwkv_lines(tokens))

    def encode(text: str) -> list[int]:
        data, ids, at = text.encode(), [], 0
        while at < len(data):
            size = next(size for size in range(longest, 0, -1) if data[at : at + size] in tokens)
            ids.append(tokens[data[at : at + size]])
            at += min(size, len(data) - at)
        return ids

    def spell(ids: list[int]) -> bytes:
        return b"".join(map(words.__getitem__, ids))

    return Member(
        family, load(), encode, lambda ids: spell(ids).decode("utf-8", "replace"), spell, sorted(words), load=load,
    )  # fmt: skip


def of_model(family: str, data: bytes) -> Member | None:
    """Return the member of a SentencePiece model; None if it is refused here."""
    load = partial(tokdfa.load, data)
    try:
        tokenizer = load()
    except REFUSED:
        return None
    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    ids = [*range(len(peer))]
    cuts = frozenset(id for id in ids if peer.is_control(id))

    def spell(ids: list[int]) -> bytes | None:
        decoded: str = peer.decode(ids)
        return None if "\ufffd" in decoded else decoded.encode()

    return Member(
        family, tokenizer, peer.encode, peer.decode, spell, ids, {id: peer.id_to_piece(id) for id in cuts}, cuts, cuts,
        begins_alike=False, parts=[text for text in unigrams.TEXTS if len(text) > 1], load=load,
    )  # fmt: skip


# The families

MOST_TRIES = 200


def _drawn_until_read(name: str, member: Callable[[random.Random], Member | None]) -> Callable[[random.Random], Member]:
    """Return a family that draws again what is refused."""

    def draw(drawn: random.Random) -> Member:
        for _ in range(MOST_TRIES):
            found = member(drawn)
            if found is not None:
                return found
        raise AssertionError(f"{name}: {MOST_TRIES} files in a row are refused")

    return draw


def _drawn_once(draw: Callable[[random.Random], Member]) -> Callable[[random.Random], Member]:
    """Return a family that returns the member of a state of `drawn` again: some have machines of several seconds."""
    found: dict[object, tuple[Member, object]] = {}
    most = 64

    def again(drawn: random.Random) -> Member:
        before = drawn.getstate()
        if before not in found:
            member = draw(drawn)
            if len(found) == most:
                found.clear()
            found[before] = member, drawn.getstate()
        member, after = found[before]
        drawn.setstate(after)  # type: ignore[arg-type]
        return member

    return again


OF_MODELS: dict[str, Callable[[random.Random], bytes]] = {
    "BPE of SentencePiece": sentencepieces.changed,
    "Unigram of SentencePiece": unigrams.changed_sentencepiece,
}

FAMILIES: dict[str, Callable[[random.Random], Member]] = {
    "ranks": lambda drawn: of_ranks(
        "ranks", ranks(drawn, proper=True), drawn.choice(drawn.choice([RANK_PATTERNS, SMALL_PATTERNS]))
    ),
    "improper ranks": lambda drawn: of_ranks(
        "improper ranks", ranks(drawn, proper=False), drawn.choice(drawn.choice([RANK_PATTERNS, SMALL_PATTERNS]))
    ),
    "longest match": lambda drawn: of_longest_match(
        "longest match", {word: id + 1 for word, id in ranks(drawn, proper=False).items() if word}
    ),
    **{
        name: _drawn_until_read(name, lambda drawn, name=name: of_tokenizer_json(name, OF_JSON[name](drawn)))  # type: ignore[misc]
        for name in OF_JSON
    },
    **{
        name: _drawn_until_read(name, lambda drawn, name=name: of_model(name, OF_MODELS[name](drawn)))  # type: ignore[misc]
        for name in OF_MODELS
    },
}
FAMILIES |= {name: _drawn_once(draw) for name, draw in FAMILIES.items() if name.endswith("any steps")}
