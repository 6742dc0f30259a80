"""The longest unit of tokenizers of two families, over bytes, over characters and WordPiece, against brute force.

Their library encodes short texts; none of those that both leave unchanged has a longer unit.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import accumulate, combinations_with_replacement, pairwise, product
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tests.unit.jobs.measures.test_bounds_families import random_file, random_wordpiece
from tokdfa.base.errors import LimitExceededError

PARTS = [b"a", b"b", b" ", b"\n", b"\xc3", b"\xa9", b"x", b"."]
TEXTS = ["".join(text) for n in range(1, 6) for text in product("ab éx.", repeat=n)]


def random_bytes(source: random.Random) -> dict[str, Any]:
    """Return a tokenizer.json over bytes with few tokens, some of them cut a character."""
    tokens, rules = [*PARTS], []
    for _ in range(source.randrange(12)):
        left, right = source.choice(tokens), source.choice(tokens)
        if left + right not in tokens and len(left + right) < 6:
            rules.append((left, right))
            tokens.append(left + right)
    file = tokenizer_json(rules)
    file["pre_tokenizer"]["use_regex"] = source.random() < 0.1
    n = len(file["model"]["vocab"])
    contents = source.choice([[], ["ba"], ["x\n", "ab"]])
    return file | {"added_tokens": [added_token(n + k, text, special=k > 0) for k, text in enumerate(contents)]}


def random_words(source: random.Random) -> dict[str, Any]:
    """Return a tokenizer.json of WordPiece, most with the word `.`, which has no space before it."""
    file = random_wordpiece(source)
    vocab = file["model"]["vocab"]
    for entry in ".!" if source.random() < 0.8 else "":
        vocab[entry] = len(vocab)
    return file


DRAWS = {"bytes": random_bytes, "characters": random_file, "words": random_words}
PAIRS = [pair for pair in combinations_with_replacement(DRAWS, 2) if pair != ("bytes", "bytes")]


class Peer:
    """A tokenizer.json in its library, which also says where tokens end in the bytes of a text."""

    def __init__(self, file: dict[str, Any]) -> None:
        self.library = tokenizers.Tokenizer.from_str(json.dumps(file))
        self.kind = file["decoder"]["type"]
        added = self.library.get_added_tokens_decoder()
        self.added = {id: token.content for id, token in added.items()}
        self.controls = {id for id, token in added.items() if token.special}
        self.strips = "Strip" in json.dumps(file["decoder"])
        self.is_fallen_back = False

    def ends(self, text: str) -> set[int] | None:
        """Return the ends of the tokens of a text, and 0; None if it is changed, or has a control token."""
        encoding = self.library.encode(text, add_special_tokens=False)
        ids = encoding.ids
        if self.controls & {*ids} or self.library.decode(ids, skip_special_tokens=False) != text:
            return None
        if self.kind == "WordPiece":
            return {0, *(len(text[:end].encode()) for _, end in encoding.offsets)}
        strings = [self.library.id_to_token(id) for id in ids]
        if self.kind == "ByteLevel":
            sizes = [
                len(self.added[id].encode()) if id in self.added else len(string)
                for id, string in zip(ids, strings, strict=True)
            ]
        else:
            is_byte = [string.startswith("<0x") for string in strings]
            self.is_fallen_back = any(is_byte)
            sizes = [
                1 if byte else len(string.replace("▁", " ").encode())
                for byte, string in zip(is_byte, strings, strict=True)
            ]
            sizes[0] -= self.strips and strings[0].startswith("▁")
        assert sum(sizes) == len(text.encode()), (text, strings)
        return {*accumulate(sizes, initial=0)}


def longest_of(text: str, peers: list[Peer]) -> int | None:
    """Return the length of the longest unit of a text; None if one of the libraries changes it."""
    ends = [peer.ends(text) for peer in peers]
    if ends[0] is None or ends[1] is None:
        return None
    return max(b - a for a, b in pairwise(sorted(ends[0] & ends[1])))


def grows(before: str, part: str, after: str, peers: list[Peer]) -> bool:
    """Return whether the longest unit grows by each copy of a part."""
    lengths = [longest_of(before + n * part + after, peers) for n in (1, 2, 7, 110)]
    return lengths == [(lengths[0] or 0) + n * len(part.encode()) for n in (0, 1, 6, 109)]


def bound_without_time(files: list[dict[str, Any]]) -> int | None:
    """Return the bound that is proved without the states of a product, if there is one and a text is found."""
    try:
        found = tokdfa.longest_unit(*(tokdfa.load(json.dumps(file).encode()) for file in files), max_seconds=1e-6)
    except LimitExceededError:
        return None
    return found.most


def outcomes(seeds: range, n_texts: int) -> Counter[str]:
    """Compare answers with the units of texts; return how often each kind of answer was given."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        source = random.Random(seed)
        files = [DRAWS[kind](source) for kind in PAIRS[seed % len(PAIRS)]]
        peers = [Peer(file) for file in files]
        of_texts = {text: longest_of(text, peers) for text in source.sample(TEXTS, n_texts)}
        seen["unchanged texts"] += sum(length is not None for length in of_texts.values())
        most = max((length or 0 for length in of_texts.values()), default=0)
        try:
            found = tokdfa.longest_unit(*(tokdfa.load(json.dumps(file).encode()) for file in files))
        except LimitExceededError:
            seen["undecided" if most else "no texts"] += 1
            continue
        unit = found.witness
        assert unit is not None
        assert longest_of(unit.text, peers) == unit.stop - unit.start, seed
        seen["prefix space"] += any(peer.strips for peer in peers)
        seen["byte fallback"] += any(peer.is_fallen_back for peer in peers)
        seen["unknown"] += any(peer.kind == "WordPiece" for peer in peers)
        cut = unit.text.encode()[: unit.start], unit.text.encode()[: unit.stop]
        seen["split characters"] += any(data.decode(errors="replace")[-1:] == "\ufffd" for data in cut)
        if found.most is None:
            assert unit.pump is not None
            assert grows(*unit.pump, peers), seed
            seen["unbounded"] += 1
            continue
        assert most <= found.most, seed
        seen["exact" if found.is_exact else "bounded"] += 1
        seen["reached by a text tried"] += most == found.most
        seen["long"] += found.most > 4
        if "words" in PAIRS[seed % len(PAIRS)]:
            limit = bound_without_time(files)
            seen["bounded by words"] += limit is not None
            assert limit is None or found.most <= limit, seed
    return seen


def test_no_text_of_two_families_has_a_longer_unit_and_pumps_work() -> None:
    seen = outcomes(range(1063, 1091), 150)
    assert seen["undecided"] + seen["bounded"] == 0, seen
    assert min(seen["exact"], seen["unbounded"], seen["unknown"], seen["bounded by words"]) >= 10, seen
    assert min(seen["prefix space"], seen["byte fallback"], seen["reached by a text tried"]) >= 5, seen
    assert seen["split characters"] >= 1, seen


@pytest.mark.slow
def test_no_text_of_thousands_of_two_families_has_a_longer_unit() -> None:
    # 25 minutes of a processor.
    seen = outcomes(range(1000, 11000), 300)
    assert min(seen["unbounded"], seen["exact"], seen["long"], seen["bounded by words"]) >= 1000, seen
    assert seen["split characters"] >= 100, seen
    assert seen["bounded"] + seen["undecided"] <= 20, seen
