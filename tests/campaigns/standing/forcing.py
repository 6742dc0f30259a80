"""Forced text: the answer, the counts and the shortest witness match all texts of a finite language."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import regex
import tiktoken

import tokdfa
from tests.campaigns.standing.small import loads, small
from tests.support.tokenizer_files import SPELLED, tiktoken_lines
from tokdfa.base.errors import LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.tokenizers.protocol import AnyTokenizer

MOST_TEXTS = 60
LONGEST = 40
N_LANGUAGES = 3
SYMBOLS = "aab 1é中丮丰-'\n"


@dataclass
class Judged:
    """A tokenizer, its library's ids for a text, and the bytes of ids."""

    kind: str
    tokenizer: AnyTokenizer
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], bytes]
    symbols: str


def by_ranks(drawn: random.Random) -> Judged:
    """Return a tokenizer of ranks; no merge makes some of its tokens."""
    symbols = "".join(drawn.sample(SYMBOLS, 4))
    data = "".join(drawn.choices(symbols, k=60)).encode()
    words = dict.fromkeys(data[at : at + drawn.randint(2, 5)] for at in drawn.sample(range(55), drawn.randrange(14)))
    ranks = {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *words])}
    name = drawn.choice(["gpt2_tiktoken", "cl100k"])
    peer = tiktoken.Encoding("peer", pat_str=NAMED[name].steps[0].pattern, mergeable_ranks=ranks, special_tokens={})
    tokenizer = tokdfa.load(tiktoken_lines(ranks), pretokenizer=name, specials={}, format="tiktoken")
    return Judged("ranks", tokenizer, peer.encode_ordinary, peer.decode_bytes, symbols)


def by_file(drawn: random.Random) -> Judged | None:
    """Return a tokenizer.json with rules in any order and added tokens; None if it is refused."""
    made = small(drawn, ["bytes", "bytes with any steps"])
    if not loads(made):
        return None
    byte_of = {letter: byte for byte, letter in SPELLED.items()}
    words = {id: word for word, id in made.fields["model"]["vocab"].items()}
    added = {token["id"]: token["content"].encode() for token in made.fields["added_tokens"]}
    return Judged(
        made.kind,
        made.tokenizer,
        lambda text: [*(made.peer.ids(text) or ())],
        lambda ids: b"".join(added.get(id) or bytes(map(byte_of.__getitem__, words[id])) for id in ids),
        made.symbols + "".join([*drawn.sample(SYMBOLS, 2), *made.contents]),
    )


def language(drawn: random.Random, symbols: str, depth: int = 3) -> tuple[str, set[str]]:
    """Return a pattern without an empty text at its ends, and its texts."""
    kind = drawn.choice(["text", "text", "one", "choice", "repeat", "rest"]) if depth else "text"
    if kind == "text":
        text = "".join(drawn.choices(symbols, k=drawn.randint(1, 4)))
        return regex.escape(text), {text}
    if kind == "one":
        some = sorted({*drawn.choices(symbols, k=3)})
        return f"[{''.join(map(regex.escape, some))}]", {*some}
    inner, texts = language(drawn, symbols, depth - 1)
    if kind == "choice":
        other, more = language(drawn, symbols, depth - 1)
        return f"(?:{inner}|{other})", texts | more
    if kind == "repeat":
        least, most = drawn.choice([(0, 1), (1, 2), (2, 2), (0, 2), (1, 3)])
        repeated = {"".join(some) for n in range(least, most + 1) for some in product(sorted(texts)[:12], repeat=n)}
        if len(texts) > 12:
            return inner, texts
        return f"(?:{inner}){{{least},{most}}}", repeated
    other, more = language(drawn, symbols, depth - 1)
    return inner + other, {one + two for one, two in product(texts, more)}


def forced_after(prefix: str, texts: set[str]) -> str:
    """Return the symbols that must follow a prefix."""
    found = ""
    while True:
        here = prefix + found
        following = {text[len(here)] for text in texts if text.startswith(here) and text != here}
        if here in texts or len(following) != 1:
            return found
        found += following.pop()


def differing(made: Judged, texts: set[str], kept: set[str]) -> dict[str, tuple[int, str]]:
    """Return the kept texts along which a jump is not canonical, with the first such jump."""
    found: dict[str, tuple[int, str]] = {}
    for text in kept:
        ids = made.encode(text)
        place = 0
        while place < len(ids):
            try:
                prefix = made.decode(ids[:place]).decode()
            except UnicodeDecodeError:
                place += 1
                continue
            forced = forced_after(prefix, texts)
            jump = made.encode(forced)
            if ids[place : place + len(jump)] != jump:
                found[text] = place, forced
                break
            place += max(len(jump), 1)
    return found


def check(drawn: random.Random) -> Counter[str]:
    """Ask about a few languages of one tokenizer."""
    if drawn.random() < 0.3:
        made = by_ranks(drawn)
    else:
        made = by_file(drawn)
    if made is None:
        return Counter(["refused"])
    met = Counter([made.kind])
    for _ in range(N_LANGUAGES):
        pattern, texts = "", {""}
        for _ in range(drawn.randint(1, 3)):
            more, others = language(drawn, made.symbols)
            if len(texts) * len(others) <= MOST_TEXTS:
                pattern, texts = pattern + more, {one + two for one, two in product(texts, others)}
        if max(len(text.encode()) for text in texts) <= LONGEST:
            judge(made, pattern, texts, texts, met)
    return met


def judge(made: Judged, pattern: str, texts: set[str], kept: set[str], met: Counter[str]) -> None:
    """Compare the answer for one language; `kept` are its texts that encoding and decoding leave unchanged."""
    try:
        found = tokdfa.forced(made.tokenizer, pattern, longest=LONGEST)
    except (UnsupportedFeatureError, PatternError, LimitExceededError):
        met["undecided"] += 1
        return
    expected = differing(made, texts, kept)
    shown = pattern, found, expected
    sizes = Counter(len(text.encode()) for text in kept)
    assert found.longest == LONGEST, shown
    assert {n: count for n, count in found.texts.items() if count} == sizes, shown
    sizes = Counter(len(text.encode()) for text in expected)
    assert {n: count for n, count in found.differing.items() if count} == sizes, shown
    assert bool(found) == (not expected), shown
    witness = found.witness
    assert (witness is None) == bool(found), shown
    if witness is not None:
        data = witness.text.encode()
        assert len(data) == min(sizes), shown
        assert [*witness.canonical_ids] == made.encode(witness.text), shown
        assert (witness.start_token, witness.forced) == expected[witness.text], shown
        assert [*witness.forced_ids] == made.encode(witness.forced), shown
        assert data[witness.start_byte :].startswith(witness.forced.encode()), shown
        met["a text that begins with another symbol in bytes"] += len(data) > len(witness.text)
    met["the same" if found else "different"] += 1
    met["texts that differ"] += len(expected)
    met["texts that do not differ"] += len(kept) - len(expected)
    met["several texts"] += len(texts) > 1
    met["repeats"] += "{" in pattern
    met["not ASCII"] += not pattern.isascii()
