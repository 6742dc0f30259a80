"""Certificates: the checker accepts each one that is issued, and none that is spoiled."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import tokdfa
from tests.campaigns.standing.comparing import EDITS, QUICK
from tests.campaigns.standing.seams import UNDECIDED, side
from tests.campaigns.standing.small import Small, loads, small
from tests.support.checking import PATTERNS, TABLES, load_checker
from tokdfa import Certificate
from tokdfa.base.errors import FileFormatError
from tokdfa.jobs.comparison.api import compare_tokenizers

checker: Callable[[], ModuleType] = cache(load_checker)


def spoil_witness(drawn: random.Random, fields: dict[str, Any]) -> None:
    ids = fields["witness"][drawn.choice([name for name in fields["witness"] if name.startswith("ids")])]
    ids.append(0)


def spoil_files(drawn: random.Random, fields: dict[str, Any]) -> None:
    files = drawn.choice(fields["sides"])["files"]
    name = drawn.choice([*files])
    files[name] = files[name][::-1]


def spoil_states(drawn: random.Random, fields: dict[str, Any]) -> None:
    states = fields["splitting"]["states"]
    del states[drawn.randrange(len(states))]


def spoil_machine(drawn: random.Random, fields: dict[str, Any]) -> None:
    reports = drawn.choice(fields["splitting"]["machines"])["report"]
    row = drawn.choice(reports)
    at = drawn.randrange(len(row))
    row[at] = not row[at]


def spoil_side(drawn: random.Random, fields: dict[str, Any]) -> None:
    said = drawn.choice(fields["sides"])
    said["whole_pieces"] = not said["whole_pieces"]


def spoil_merging(drawn: random.Random, fields: dict[str, Any]) -> None:
    del fields["merging"][drawn.randrange(len(fields["merging"]))]


def spoiled(drawn: random.Random, fields: dict[str, Any]) -> dict[str, Any]:
    """Return a certificate with one change after which it is not true, or does not show it."""
    fields = copy.deepcopy(fields)
    ways = [spoil_files, spoil_side]
    ways += [spoil_witness] if "witness" in fields else []
    ways += [spoil_states, spoil_machine] if fields.get("splitting") else []
    ways += [spoil_merging] if fields.get("merging") else []
    drawn.choice(ways)(drawn, fields)
    return fields


def accepts(fields: dict[str, Any], paths: list[Path]) -> bool:
    """Return whether the checker accepts a certificate; raise if it cannot check it."""
    try:
        checker().check(json.loads(json.dumps(fields)), paths, TABLES)
    except checker().Invalid:
        return False
    return True


def written(made: Small, folder: Path, name: str) -> Path:
    """Write a tokenizer.json."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(made.fields), encoding="utf-8")
    return path


def overlap(contents: list[str]) -> bool:
    """Return whether special tokens may overlap, which the checker refuses."""
    pairs = [(one, other, at) for one in contents for other in contents for at in range(len(one))]
    return any(
        one[at:].startswith(other) or other.startswith(one[at:]) for one, other, at in pairs if at or one != other
    )


def simplified(drawn: random.Random, made: Small) -> None:
    """Leave out steps and added tokens that certificates do not cover."""
    kept: list[dict[str, Any]] = []
    for token in made.fields["added_tokens"]:
        if not overlap([*(other["content"] for other in kept), token["content"]]):
            kept.append(token | dict.fromkeys(("lstrip", "rstrip", "single_word"), False))
    # The library numbers tokens that are not in the vocabulary by their order.
    vocab = made.fields["model"]["vocab"]
    new = [token for token in kept if token["content"] not in vocab]
    for number, token in enumerate(new):
        token["id"] = len(vocab) + number
    made.fields |= {"added_tokens": kept, "normalizer": None}
    *splits, byte_level = made.fields["pre_tokenizer"]["pretokenizers"]
    byte_level["add_prefix_space"] = False
    for split in splits:
        split["pattern"]["Regex"] = drawn.choice(PATTERNS)


def certified(drawn: random.Random, folder: Path, met: Counter[str]) -> tuple[Certificate, list[Path]] | None:
    """Return a certificate of some answer; None if there is none."""
    made = small(drawn, ["bytes"])
    if drawn.random() < 0.8:
        simplified(drawn, made)
    if not loads(made):
        met["refused"] += 1
        return None
    paths = [written(made, folder, "a")]
    tokenizer = tokdfa.load(paths[0])
    try:
        if drawn.random() < 0.5:
            fields = copy.deepcopy(made.fields)
            drawn.choice(EDITS)(drawn, fields)
            other = Small(made.kind, fields, made.symbols)
            if not loads(other):
                met["refused"] += 1
                return None
            paths.append(written(other, folder, "b"))
            both = tokenizer, tokdfa.load(paths[1])
            compared = compare_tokenizers(*both, tuning=QUICK)
            return tokdfa.certify_comparison(compared, *both, files=(paths[0], paths[1])), paths
        sides = {"before": side(drawn, made), "after": side(drawn, made)}
        spliced = tokdfa.splice(tokenizer, **sides)
        return tokdfa.certify_splice(spliced, tokenizer, file=paths[0], **sides), paths
    except (FileFormatError, *UNDECIDED):
        met["no certificate"] += 1
        return None


def check(drawn: random.Random) -> Counter[str]:
    """Issue one certificate, and let it be checked as it is and spoiled."""
    met: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        found = certified(drawn, Path(folder), met)
        if found is None:
            return met
        certificate, paths = found
        assert accepts(certificate.fields, paths), certificate.fields["claim"]
        met[certificate.claim] += 1
        fields = spoiled(drawn, certificate.fields)
        try:
            assert not accepts(fields, paths), (certificate.claim, fields)
        except checker().Refused:
            met["spoiled so that it is not checked"] += 1
        met["spoiled"] += 1
    return met
