"""Replacing in streams of random tokenizers: the new ids are those that tokenizers gives for the new text."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import normalized, random_files
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, spell
from tests.support.tuned import tuned
from tokdfa.base.errors import AlphabetError, FileFormatError, PatternError, TokenStreamError, UnsupportedFeatureError
from tokdfa.jobs.replacing.rewriting import Tuning

tokenizers = pytest.importorskip("tokenizers")


def plain_file(drawn: random.Random) -> dict[str, Any]:
    """A tokenizer.json over bytes that encodes texts unchanged."""
    fields = normalized.normalized_file(drawn) | {"normalizer": None}
    for token in fields["added_tokens"]:
        token["lstrip"] = False
    return fields


def overlapping_file(drawn: random.Random) -> dict[str, Any]:
    """A tokenizer.json over bytes with added tokens within, at the beginnings and at the ends of one another."""
    fields = plain_file(drawn)
    vocab = fields["model"]["vocab"]
    contents = ["".join(drawn.choices("ab<> \n", k=drawn.choice([2, 2, 3, 4]))) for _ in range(drawn.randrange(2, 7))]
    contents = [content for content in dict.fromkeys(contents) if spell(content.encode()) not in vocab]
    fields["added_tokens"] = [
        added_token(len(vocab) + number, content, special=drawn.random() < 0.5, normalized=drawn.random() < 0.3)
        for number, content in enumerate(contents)
    ]
    return fields


def overlapping_text(drawn: random.Random, contents: tuple[str, ...]) -> str:
    return "".join(drawn.choices([*"ab<> \nx", *contents * 2], k=drawn.randrange(12)))


def longer_text(drawn: random.Random, contents: tuple[str, ...]) -> str:
    text = normalized.text(drawn, 30)
    return text + drawn.choice(contents) if contents and drawn.random() < 0.3 else text


FILES = {
    **random_files.KINDS,
    "normalized": normalized.normalized_file,
    "plain": plain_file,
    "overlapping": overlapping_file,
}
TEXTS = {**random_files.TEXTS, "normalized": longer_text, "plain": longer_text, "overlapping": overlapping_text}
SMALL = Tuning(block=3, first_block=2, near=1, context=1, max_known=2)


def skip_panic(error: BaseException) -> None:
    """Some sequences of normalizers crash the library; then there is nothing to compare with."""
    if type(error).__name__ != "PanicException":
        raise error


def pattern_of(drawn: random.Random, text: str) -> str:
    """A pattern that often matches somewhere in a text, and often within tokens."""
    if drawn.random() < 0.2:
        return drawn.choice(["", "x*", r"\b", "(?m)^", "$", "(?=a)", r"\s*", "a??"])

    def part() -> str:
        if not text or drawn.random() < 0.3:
            return drawn.choice(["a", "b", " ", r"\w", r"\s", "[^a]", ".", r"\b", "(?!b)", "(?<=a)", "^", "$"])
        begin = drawn.randrange(len(text))
        return regex.escape(text[begin : begin + drawn.randrange(1, 4)])

    parts = [f"({part()})" if drawn.random() < 0.4 else part() for _ in range(drawn.randrange(1, 4))]
    joined = drawn.choice(["", "", "|"]).join(parts)
    ends = drawn.choice(["", "", "", "+", "+?", "{1,2}", "++"])
    return f"(?:{joined}){ends}" if ends else joined


def replacement_of(drawn: random.Random, text: str, n_groups: int, contents: tuple[str, ...]) -> str:
    if drawn.random() < 0.3:
        group = rf"\{drawn.randrange(1, n_groups + 1)}" if n_groups else ""
        return drawn.choice(["", "a", " "]) + drawn.choice([r"\g<0>", group, r"\g<0>\g<0>"]) + drawn.choice(["", "b"])
    options = ["", "", "a", "b", " ", "ab", " a", "\n", *contents]
    if text:
        begin = drawn.randrange(len(text))
        options += [text[begin : begin + drawn.randrange(1, 4)]] * 4
    return drawn.choice(options).replace("\\", r"\\")


def parts_of(text: str, encoded: Any, content: dict[int, str], inserts_space: bool) -> list[tuple[str, bool]] | None:
    """A text cut at its control tokens, with the space that decoding puts before each; None if these are not known."""
    parts = []
    at = 0
    for id, token, (begin, end) in zip(encoded.ids, encoded.tokens, encoded.offsets, strict=True):
        if id in content:
            # A normalized content may be longer than the match, and is decoded so.
            if not text[begin:end] == token == content[id] or begin < at:
                return None
            begin -= inserts_space and begin > at and text[begin - 1] == " "
            parts += [(text[at:begin], False), (text[begin:end], True)]
            at = end
    return [*parts, (text[at:], False)]


class Oracle:
    """The library, decoding, substituting and encoding."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.peer = tokenizers.Tokenizer.from_str(json.dumps(fields))
        self.peer.no_truncation()
        self.peer.no_padding()
        if fields["decoder"] is None:
            self.peer.decoder = tokenizers.decoders.ByteLevel()
        self.inserts_space = fields["model"]["type"] == "WordPiece"
        self.content = {token["id"]: token["content"] for token in fields["added_tokens"] if token["special"]}

    def encode(self, text: str) -> Any:
        try:
            return self.peer.encode(text, add_special_tokens=False)
        except BaseException as error:
            if "Missing" not in str(error):
                skip_panic(error)
            return None

    def replaced(self, ids: list[int], pattern: str, replacement: str) -> tuple[list[int], int, str, str] | None:
        """The new ids, how many matches there are, and both texts; None if the ids are not canonical."""
        text = self.peer.decode(ids, skip_special_tokens=False)
        encoded = self.encode(text)
        if encoded is None or encoded.ids != ids:
            return None
        parts = parts_of(text, encoded, self.content, self.inserts_space)
        if parts is None:
            return None
        done = [(part, 0) if special else regex.subn(pattern, replacement, part) for part, special in parts]
        new = "".join(part for part, _ in done)
        again = self.encode(new)
        return None if again is None else (again.ids, sum(n for _, n in done), text, new)


def check_stream(
    tokenizer: tokdfa.AnyTokenizer, oracle: Oracle, ids: list[int], drawn: random.Random, contents: tuple[str, ...]
) -> Counter[str]:
    met: Counter[str] = Counter()
    text = oracle.peer.decode(ids, skip_special_tokens=False)
    pattern = pattern_of(drawn, text)
    try:
        n_groups = regex.compile(pattern).groups
        replacement = replacement_of(drawn, text, n_groups, contents)
        replacer = tuned(tokdfa.Replacer, drawn.choice([SMALL, Tuning()]))(tokenizer, pattern, replacement)
    except (regex.error, PatternError):
        return met + Counter(["refused pattern"])
    except UnsupportedFeatureError:
        return met + Counter(["refused tokenizer"])
    expected = oracle.replaced(ids, pattern, replacement)
    if expected is None:
        return met + Counter(["not canonical"])
    try:
        tokenizer.decode(ids)
    except TokenStreamError:
        # The library leaves out bytes without a token, and has U+FFFD for the rest. No text has these ids.
        return met + Counter(["not UTF-8"])
    new_ids, count, before, after = expected
    shown = (ids, pattern, replacement, before, after)
    try:
        found = replacer.replace(np.array(ids, dtype=drawn.choice([np.int32, np.int64, np.uint16])))
    except AlphabetError:
        with pytest.raises(AlphabetError):
            tokenizer.encode(after)
        return met + Counter(["lacks a symbol"])
    assert found.ids.tolist() == new_ids, (found.ids.tolist(), new_ids, *shown)
    assert found.count == count, shown
    # The changes lead from the old ids to the new ones.
    again, at = [], 0
    for start, stop, new_start, new_stop, old, new in found.changes:
        again += ids[at:start]
        assert new_start == len(again)
        assert (old, new) == (tuple(ids[start:stop]), tuple(new_ids[new_start:new_stop])), shown
        again += new_ids[new_start:new_stop]
        at = stop
    assert again + ids[at:] == new_ids, shown
    size = drawn.randrange(1, 5)
    parts = [*replacer.iter_replaced(ids[begin : begin + size] for begin in range(0, len(ids), size))]
    assert [id for part in parts for id in part.ids.tolist()] == new_ids, shown
    assert sum(part.count for part in parts) == count
    assert [change for part in parts for change in part.changes] == [*found.changes], shown
    met["exact"] += 1
    met["replaced"] += count > 0
    met["changed"] += len(found.changes) > 0
    met["with special tokens"] += count > 0 and bool(set(ids) & {*oracle.content})
    met["empty match"] += any(match.end() == match.start() for match in regex.finditer(pattern, before))
    matches = [] if not count else [*tokenizer.search(pattern, ids, wanted="first")]
    aligned = {*tokenizer.search(pattern, ids, wanted="first", aligned=True)} if matches else set()
    met["within tokens"] += any(match not in aligned for match in matches)
    met["across tokens"] += any(match.end_token > match.start_token + 1 for match in matches)
    # An id before the first match, or after the last one, is another one now.
    if matches and len(found.changes):
        met["merges on the left"] += found.changes[0].start < matches[0].start_token
        met["merges on the right"] += found.changes[-1].stop > matches[-1].end_token
        met["others stay"] += any(a.stop < b.start for a, b in zip(found.changes, found.changes[1:], strict=False))
    return met


def assert_replaced_alike(kind: str, path: Path, chosen: range, n_texts: int) -> Counter[str]:
    met: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        fields = FILES[kind](drawn)
        path.write_text(json.dumps(fields), encoding="utf-8")
        try:
            tokenizer = tokdfa.load(path)
            oracle = Oracle(fields)
        except (UnsupportedFeatureError, PatternError, FileFormatError):
            # Some files give added tokens ids that the library does not assign.
            continue
        except BaseException as error:
            skip_panic(error)
            continue
        met["files"] += 1
        contents = tuple(token["content"] for token in fields["added_tokens"])
        for number in range(n_texts):
            encoded = oracle.encode("".join(TEXTS[kind](drawn, contents) for _ in range(drawn.randrange(1, 5))))
            if encoded is None:
                continue
            try:
                met += check_stream(tokenizer, oracle, encoded.ids, drawn, contents)
            except Exception as error:
                raise AssertionError(f"seed {seed} of {kind}, text {number}: {error!r}") from error
    return met


@pytest.mark.parametrize("kind", FILES)
def test_random_files(kind: str, tmp_path: Path) -> None:
    met = assert_replaced_alike(kind, tmp_path / "tokenizer.json", range(16), 6)
    assert met["exact"] > 10, met
    # The cases of the statement are met.
    for case in ("replaced", "changed", "empty match", "across tokens"):
        assert met[case] > 2, (case, met)
    if kind == "plain":
        for case in (
            "within tokens",
            "others stay",
            "with special tokens",
            "merges on the left",
            "merges on the right",
        ):
            assert met[case] > 0, (case, met)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_many_random_files(kind: str, tmp_path: Path, tally: Tally) -> None:
    print(kind, assert_replaced_alike(kind, tmp_path / "tokenizer.json", seeds(1000), 12))
    tally("searching", "random cases", 12 * len(seeds(1000)))
