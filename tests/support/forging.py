"""Forged certificates: for each check of the checker, a subject that this check alone rejects.

The forged certificates are put to a checker, which is a module: it raises, or it accepts.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import tokdfa
from tests.support.checking import PATTERNS, TABLES, digest, load_checker, write_json, write_ranks
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa import Comparison, Tokenizer
from tokdfa.jobs.certificates import api

RULES = [(b"a", b"b"), (b"ab", b"a"), (b" ", b"ab"), (b"s", b"s")]
# Spaces before the end of the text are one piece or two.
SPACES = r"\s++$|[^\s]+|\n|\s+", r"[^\s]+|\n|\s+"
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}

Attempt = Callable[[ModuleType], object]
Certificate = dict[str, Any]


class Subject(NamedTuple):
    """A certificate and the files that it is about, to be checked."""

    certificate: Certificate
    files: tuple[Path, ...]

    def __call__(self, checker: ModuleType) -> object:
        return checker.check(json.loads(json.dumps(self.certificate)), [*self.files], TABLES)

    def changed(self, change: Callable[[Certificate], object]) -> Subject:
        """Change the certificate."""
        certificate = copy.deepcopy(self.certificate)
        change(certificate)
        return Subject(certificate, self.files)

    def put(self, *path: Any) -> Subject:
        """Replace a value of the certificate, the last argument, or add it."""
        *steps, key, value = path

        def change(part: Any) -> None:
            for step in steps:
                part = part[step]
            part[key] = value

        return self.changed(change)

    def rewritten(self, change: Callable[[Any], object], sides: tuple[int, ...] = (0, 1)) -> Subject:
        """Change files (a tokenizer.json as an object, ranks as lines) and the certificate's statements about them."""
        certificate, files = copy.deepcopy(self.certificate), [*self.files]
        for at in sides[: len(files)]:
            side, path = certificate["sides"][at], files[at].with_name(f"changed{at}{files[at].suffix}")
            if path.suffix == ".json":
                content = json.loads(files[at].read_bytes())
                change(content)
                path.write_bytes(as_bytes(content))
                side["specials"] = {token["content"]: token["id"] for token in content["added_tokens"]}
            else:
                lines = files[at].read_text("ascii").splitlines()
                change(lines)
                path.write_text("\n".join(lines) + "\n", "ascii")
            side["files"] = {name: digest(path) for name in side["files"]}
            files[at] = path
        return Subject(certificate, tuple(files))


def certified(
    a: tuple[Tokenizer, Path], b: tuple[Tokenizer, Path], found: Comparison | None = None, **options: Any
) -> Subject:
    """Return the certificate of a comparison."""
    found = tokdfa.compare(a[0], b[0], **options) if found is None else found
    return Subject(tokdfa.certify_comparison(found, a[0], b[0], files=(a[1], b[1])).fields, (a[1], b[1]))


def spliced(side: tuple[Tokenizer, Path], **options: Any) -> Subject:
    """Return the certificate of a seam."""
    found = tokdfa.splice(side[0], **options)
    return Subject(tokdfa.certify_splice(found, side[0], file=side[1], **options).fields, (side[1],))


def word(text: bytes, rank: int) -> str:
    """Return a line of ranks."""
    return f"{base64.b64encode(text).decode()} {rank}"


def add_special(content: str, **more: Any) -> Callable[[Any], None]:
    """Return a change of a tokenizer.json that adds a special token, which the library numbers next."""

    def change(fields: Any) -> None:
        fields["added_tokens"] = [added_token(len(fields["model"]["vocab"]), content) | more]

    return change


class Forge:
    """Makes forged certificates of small tokenizers in a folder; the valid ones are made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def ranks(self, name: str, rules: list[tuple[bytes, bytes]], pattern: str = "none") -> tuple[Tokenizer, Path]:
        return write_ranks(self.folder / f"{name}.tiktoken", rules, pattern)

    def plain_json(self, name: str, rules: list[tuple[bytes, bytes]] = RULES) -> tuple[Tokenizer, Path]:
        content = tokenizer_json(rules, pre_tokenizer=BYTE_LEVEL) | {"added_tokens": []}
        path = self.folder / f"{name}.json"
        path.write_bytes(as_bytes(content))
        loaded = tokdfa.load(path)
        assert isinstance(loaded, Tokenizer)
        return loaded, path

    # Valid certificates

    @cached_property
    def of_ranks(self) -> Subject:
        return certified(self.ranks("a", RULES), self.ranks("b", RULES))

    @cached_property
    def of_json(self) -> Subject:
        return certified(self.plain_json("a"), self.plain_json("b"))

    @cached_property
    def of_two_rules(self) -> Subject:
        """Two rules: the first makes a part of the second, and they have no other token in common."""
        return certified(self.plain_json("c", RULES[::2]), self.plain_json("d", RULES[::2]))

    @cached_property
    def with_split(self) -> Subject:
        a, b = (write_json(self.folder / f"split{at}.json", RULES, PATTERNS[5]) for at in (0, 1))
        return certified(a, b)

    @cached_property
    def different(self) -> Subject:
        return certified(self.ranks("c", RULES), self.ranks("d", RULES[:-1]))

    @cached_property
    def safe(self) -> Subject:
        """A seam within a piece, where no rule merges: < before |."""
        return spliced(self.plain_json("seam"), before="<", after="|")

    @cached_property
    def cut(self) -> Subject:
        """A seam that the pattern cuts."""
        return spliced(write_json(self.folder / "cut.json", RULES, PATTERNS[1]), before="a", after=" ")

    @cached_property
    def unsafe(self) -> Subject:
        return spliced(self.ranks("e", RULES), before="a", after="b")

    # Forged ones

    def special_across(self) -> Subject:
        return self.safe.rewritten(add_special("<|"))

    def special_beside(self) -> Subject:
        special = self.safe.rewritten(add_special("<e>"))
        seam = {"seam": {"before": "<e>", "after": ""}, "splitting": None, "merging": None}
        return special.changed(lambda certificate: certificate.update(seam))

    def patterned(self, pattern: str, sides: tuple[int, ...] = (0, 1)) -> Subject:
        """Say of rank files without a pattern that they have one; tables and states stay."""
        stated = load_checker().Tables(TABLES, "tiktoken").stated

        def change(certificate: Certificate) -> None:
            for at in sides:
                certificate["sides"][at] |= {"pattern": pattern, "library": "tiktoken", "tables": stated}

        return self.of_ranks.changed(change)

    def empty_matches(self) -> Subject:
        """A pattern with empty matches, in a table that reports them."""
        machine = {"next": [[0]], "report": [[1, 1]]}
        doomed = [[0, [0], 0, [], 0], [0, [], 0, [0], 0], [0, [0], 0, [0], 0]]
        part = {"classes": [[0, 0]], "machines": [machine] * 2, "states": [[0, [], 0, [], 0]], "doomed": doomed}
        return self.patterned("(?:[^a]|a)*").put("splitting", part)

    def no_piece(self) -> Subject:
        side = self.ranks("f", RULES, "[ab]+")
        # Such a certificate is not issued.
        with patch.object(api, "_confirmed", lambda fields, *_: tokdfa.Certificate(fields)):
            return certified(side, side, Comparison(True))

    def class_of_nothing(self) -> Subject:
        """A class of surrogates alone, which no text has."""

        def change(certificate: Certificate) -> None:
            part = certificate["splitting"]
            part["classes"] = [[0, 0], [0xD800, 1], [0xE000, 0]]
            for machine in part["machines"]:
                machine["next"] = [[*row, -1] for row in machine["next"]]
                machine["report"] = [[row[0], 0, row[1]] for row in machine["report"]]

        return self.of_ranks.changed(change)

    def doomed(self) -> Subject:
        def change(certificate: Certificate) -> None:
            part = certificate["splitting"]
            part["states"], part["doomed"] = part["states"][:1], part["states"][1:] + part["doomed"]

        return self.of_ranks.changed(change)

    def disputed(self, word_of_both: bytes, *merged: list[Any]) -> Subject:
        """Pieces that differ where spaces end a text, and one more word in both rank files."""
        a, b = (self.ranks(f"spaces{at}", RULES[:1], SPACES[at]) for at in (0, 1))
        subject = certified(a, b).rewritten(lambda lines: lines.append(word(word_of_both, 300)))
        return subject.changed(lambda certificate: certificate["merging"].extend(merged))

    def no_difference(self) -> Subject:
        subject, ids = self.different, load_checker().Tokenizer
        side = subject.certificate["sides"][0]
        found = [id for id, _ in ids(subject.files[0], side, "", TABLES).encode("ab")]
        witness = {"text": "ab", "ids_a": found, "ids_b": found}
        return Subject(subject.certificate | {"sides": [side] * 2, "witness": witness}, subject.files[:1] * 2)

    def no_difference_at_a_seam(self) -> Subject:
        witness = {"before": "x", "after": "y", "ids_before": [120], "ids_after": [121], "ids": [120, 121]}
        return self.unsafe.put("witness", witness).put("seam", {"before": "x", "after": "y"})

    def pattern(self, text: str, dialect: str | None = None) -> Attempt:
        """Only the parser reads a pattern, by a dialect but no tables."""
        return lambda checker: checker.Parser(text, dialect and SimpleNamespace(library=dialect))


def swap_ids(fields: Any) -> None:
    vocabulary = fields["model"]["vocab"]
    vocabulary["ab"], vocabulary["ss"] = vocabulary["ss"], vocabulary["ab"]


def turn_merges(one: int, other: int) -> Callable[[Any], None]:
    """Return a change of a tokenizer.json that exchanges two merges."""

    def change(fields: Any) -> None:
        merges = fields["model"]["merges"]
        merges[one], merges[other] = merges[other], merges[one]

    return change


def look_up_pieces(subject: Subject) -> Subject:
    """Let the second of two tokenizer.json look up whole pieces, and give it a token that no rule makes."""

    def change(fields: Any) -> None:
        fields["model"]["ignore_merges"] = True
        fields["model"]["vocab"]["zz"] = 1000

    return subject.rewritten(change, (1,)).put("sides", 1, "whole_pieces", True)
