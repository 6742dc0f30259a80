"""The checker of certificates: accepted and rejected certificates."""

from __future__ import annotations

import ast
import copy
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import forging
from tests.support.checking import (
    PATTERNS,
    SOURCE,
    TABLES,
    digest,
    load_checker,
    rules_of,
    write_json,
    write_merges,
    write_ranks,
)
from tests.support.forging import certified, spliced
from tests.support.tokenizer_files import as_bytes, tokenizer_json
from tokdfa import Tokenizer

check = load_checker()
RULES = [*forging.RULES, (b"ss", b"s"), (b"\xc3", b"\xa9"), (b"b", b"\xc3\xa9")]

Files = tuple[Path, ...]


def verdict(certificate: dict[str, Any], files: Files, checker: Any = check) -> int:
    """Return the exit status of the checker."""
    try:
        checker.check(json.loads(json.dumps(certificate)), [*files], TABLES)
    except checker.Invalid:
        return 1
    except Exception:
        return 2
    return 0


@pytest.fixture
def formats(tmp_path: Path) -> list[tuple[Tokenizer, Path]]:
    """One tokenizer in all formats, with two spellings of its pattern."""
    return [
        write_ranks(tmp_path / "ranks.tiktoken", RULES, PATTERNS[0]),
        write_merges(tmp_path / "merges", RULES, PATTERNS[1]),
        write_json(tmp_path / "tokenizer.json", RULES, PATTERNS[1]),
        write_json(tmp_path / "whole.json", RULES, PATTERNS[1], ignore_merges=True),
    ]


# What is accepted


def test_equivalent_tokenizers_of_all_formats(formats: list[tuple[Tokenizer, Path]]) -> None:
    ids = [formats[0], (formats[3])]
    for a, b in pairwise([*formats[1:], formats[2]]):
        certificate, files = certified(a, b)
        assert certificate["claim"] == "equivalent"
        assert verdict(certificate, files) == 0
    certificate, files = certified(*ids, ignore_ids=True)
    assert (certificate["claim"], certificate["ids"]) == ("equivalent", "ignored")
    assert verdict(certificate, files) == 0


def test_a_difference(formats: list[tuple[Tokenizer, Path]], tmp_path: Path) -> None:
    other = write_ranks(tmp_path / "other.tiktoken", RULES[:-1], PATTERNS[0])
    certificate, files = certified(formats[0], other)
    assert certificate["claim"] == "different"
    assert verdict(certificate, files) == 0
    assert verdict(certificate, files[::-1]) == 1
    same = {**certificate, "sides": [certificate["sides"][0]] * 2}
    same["witness"] = {**certificate["witness"], "ids_b": certificate["witness"]["ids_a"]}
    assert verdict(same, (files[0], files[0])) == 1


def test_pieces_that_differ_where_nothing_merges(tmp_path: Path) -> None:
    # Spaces before the end are one piece or two, and no rule merges them.
    a = write_ranks(tmp_path / "a.tiktoken", [(b"a", b"b")], r"\s++$|[^\s]+|\n|\s+")
    b = write_ranks(tmp_path / "b.tiktoken", [(b"a", b"b")], r"[^\s]+|\n|\s+")
    certificate, files = certified(a, b)
    assert certificate["claim"] == "equivalent"
    assert any(one != other for one, _, other, *_ in certificate["splitting"]["states"])
    assert verdict(certificate, files) == 0
    # With a rule for them there is a text that they encode otherwise, and no such certificate is one.
    other = [(b"a", b"b"), (b"\n", b" ")]
    files = (
        write_ranks(tmp_path / "c.tiktoken", other, r"\s++$|[^\s]+|\n|\s+")[1],
        write_ranks(tmp_path / "d.tiktoken", other, r"[^\s]+|\n|\s+")[1],
    )
    forged = copy.deepcopy(certificate)
    for side, file in zip(forged["sides"], files, strict=True):
        side["files"]["ranks"] = digest(file)
    forged["merging"].append([b"\n ".hex(), 1])
    assert verdict(forged, files) == 1


@pytest.mark.parametrize(
    ("before", "after", "regex"),
    [
        *((".", " a", False), ("a", "\n", False), ("[ab]", " [ab]", True), ("é", "é", False), ("s", "é", False)),
        *(("a", "a", False), ("ba", "[^b ]", True), ("x", "", False), ("a", "", False), ("", "", False)),
    ],
)
def test_a_seam_is_certified_in_every_format(
    formats: list[tuple[Tokenizer, Path]], before: str, after: str, regex: bool
) -> None:
    for side in formats:
        certificate, files = spliced(side, before=before, after=after, regex=regex)
        assert verdict(certificate, files) == 0
        assert certificate["claim"] == ("splices" if (before, after) != ("a", "") and before else "does not splice")


def test_a_seam_within_a_piece_needs_the_rules(formats: list[tuple[Tokenizer, Path]]) -> None:
    certificate, files = spliced(formats[0], before="é", after="é")
    assert certificate["merging"] is not None
    assert verdict(certificate, files) == 0
    assert verdict({**certificate, "merging": None}, files) == 1
    assert spliced(formats[0], before="a", after=" ")[0]["merging"] is None


def test_a_special_token_at_the_seam(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json()))
    tokenizer = tokdfa.load(path)
    assert isinstance(tokenizer, Tokenizer)
    certificate, files = spliced((tokenizer, path), before="<|end|>", after="")
    assert certificate["splitting"] is None
    assert verdict(certificate, files) == 0
    # Without it the special token may be across the seam.
    assert verdict({**certificate, "seam": {"before": "<", "after": "\\|"}}, files) == 1
    with pytest.raises(tokdfa.TokdfaError, match="where a special token may be across the seam"):
        tokdfa.certify_splice(tokdfa.Splice(True), tokenizer, file=path, before="<", after="|")


def test_it_runs_alone(formats: list[tuple[Tokenizer, Path]], tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    shutil.copytree(TABLES, alone / "regex" / "unicode" / "data")
    shutil.copy(SOURCE, alone / "check.py")
    certificate, files = certified(formats[1], formats[2])
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate), encoding="utf-8")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", alone / "check.py", *arguments]
        return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)

    done = run(path, *files)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("valid: ")
    path.write_text(json.dumps({**certificate, "claim": "proven"}), encoding="utf-8")
    done = run(path, *files)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == "not valid: claim: it is none of equivalent, different, splices, does not splice\n"
    path.write_text(json.dumps(certificate), encoding="utf-8")
    assert run(path, *files, "--tables", tmp_path).returncode == 2
    assert run(path).returncode == 2
    assert run().returncode == 2


def test_it_imports_nothing_but_the_standard_library() -> None:
    tree = ast.parse(SOURCE.read_text("utf-8"))
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {module.partition(".")[0] for module in modules} <= sys.stdlib_module_names
    assert len(SOURCE.read_text("utf-8").splitlines()) <= 900


def test_no_certificate_is_made_with_the_checker() -> None:
    for path in (SOURCE.parent / "certificates").glob("*.py"):
        assert "tokdfa.check" not in [
            node.module for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
        ]


# What is rejected

Spoil = Callable[[dict[str, Any], random.Random], None]


def _places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a certificate."""
    found = [path] if path else []
    pairs = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in pairs:
        found += _places(value, (*path, key))
    return found


def _spoil(certificate: dict[str, Any], drawn: random.Random) -> dict[str, Any]:
    """Return a certificate with one value changed, dropped or repeated, outside of the description of the files."""
    spoiled = copy.deepcopy(certificate)
    *path, key = drawn.choice(_places(spoiled))
    part = spoiled
    for step in path:
        part = part[step]
    value = part[key]
    others: list[Any] = [None, -1, [], {}, "x", 0, 1]
    if isinstance(value, int) and not isinstance(value, bool):
        others += [value + 1, value - 1, value ^ 1, -value, value + 256] * 3
    if isinstance(value, str):
        others += [value + "a", value[:-1], value[::-1], value.upper()] * 2
    if isinstance(value, list):
        others += [value[::-1], value[1:], value[:-1], value + value[:1], drawn.sample(value, len(value))] * 2
    if isinstance(part, list) and drawn.random() < 0.3:
        del part[key]
    else:
        part[key] = drawn.choice([other for other in others if other != value or type(other) is not type(value)])
    return spoiled


def _spoil_file(path: Path, drawn: random.Random) -> None:
    """Change a file of a tokenizer: rules in another order, or dropped, or other ids."""
    if path.suffix == ".tiktoken":
        lines = path.read_bytes().splitlines()
        at, other = drawn.sample(range(256, len(lines)), 2)
        if drawn.random() < 0.5:
            del lines[at]
        else:
            words = [line.split() for line in lines]
            words[at][0], words[other][0] = words[other][0], words[at][0]
            lines = [b" ".join(word) for word in words]
        path.write_bytes(b"\n".join(lines) + b"\n")
        return
    fields = json.loads(path.read_bytes())
    merges, vocab = fields["model"]["merges"], fields["model"]["vocab"]
    at, other = drawn.sample(range(len(merges)), 2)
    kind = drawn.randrange(4)
    if kind == 0:
        merges[at], merges[other] = merges[other], merges[at]
    elif kind == 1:
        del merges[at]
    elif kind == 2:
        one, two = ("".join(merges[number]) for number in (at, other))
        vocab[one], vocab[two] = vocab[two], vocab[one]
    else:
        fields["model"]["ignore_merges"] = not fields["model"]["ignore_merges"]
    path.write_bytes(as_bytes(fields))


def _is_true(certificate: dict[str, Any], files: Files, longest: int = 5) -> bool:
    """Return whether what a certificate says holds for short texts: by tokdfa's encoding, and for seams by cutting."""
    tokenizers = []
    for side, file in zip(certificate["sides"], files, strict=True):
        options = {} if file.suffix == ".json" else {"pretokenizer": side["pattern"] or "none"}
        tokenizers.append(tokdfa.load(file, **options))
    texts = ["".join(text) for length in range(longest) for text in product("ab s'\né", repeat=length)]
    if certificate["claim"] == "equivalent":
        ids = [[tokenizer.encode(text).tolist() for text in texts] for tokenizer in tokenizers]
        return certificate["ids"] == "ignored" or ids[0] == ids[1]
    (tokenizer,) = tokenizers
    before, after = (certificate["seam"][name].replace("\\", "") for name in ("before", "after"))
    encode = tokenizer.encode
    short = [text for text in texts if len(text) < 3]
    return all(
        [*encode(u + before), *encode(after + v)] == encode(u + before + after + v).tolist()
        for u in short
        for v in short
    )


def _subjects(tmp_path: Path, drawn: random.Random) -> list[tuple[dict[str, Any], Files]]:
    """Return certificates of small random tokenizers."""
    found: list[tuple[dict[str, Any], Files]] = []
    while len(found) < 12:
        rules = rules_of(drawn)
        if len(rules) < 3:
            continue
        number, which = len(found), drawn.randrange(len(PATTERNS))
        a = write_json(tmp_path / f"a{number}.json", rules, PATTERNS[1 if which < 2 else 5])
        b = write_json(tmp_path / f"b{number}.json", rules, PATTERNS[1 if which < 2 else 5], ignore_merges=True)
        c = write_ranks(tmp_path / f"c{number}.tiktoken", rules, PATTERNS[which])
        d = write_ranks(tmp_path / f"d{number}.tiktoken", rules, PATTERNS[1 - which if which < 2 else which])
        try:
            if number % 3 == 2:
                seams = [(u, v) for u in "ab s'é" for v in "ab s'é"]
                u, v = drawn.choice(seams)
                found.append(spliced(drawn.choice((a, c)), before=u, after=v))
            else:
                found.append(certified(a, b) if number % 2 else certified(c, d))
        except tokdfa.TokdfaError:
            continue
        if found[-1][0]["claim"] not in ("equivalent", "splices"):
            found.pop()
    return found


@pytest.mark.parametrize("thousands", [0.2, pytest.param(1, marks=pytest.mark.slow)])
def test_a_thousand_spoiled_certificates(tmp_path: Path, thousands: float, tally: Tally) -> None:
    drawn = random.Random(27)
    subjects = _subjects(tmp_path, drawn)
    assert {certificate["claim"] for certificate, _ in subjects} == {"equivalent", "splices"}
    assert all(verdict(*subject) == 0 for subject in subjects)
    passed = 0
    for _ in range(int(800 * thousands)):
        certificate, files = drawn.choice(subjects)
        spoiled = _spoil(certificate, drawn)
        if verdict(spoiled, files) == 0:
            # It is still a proof, of its present claim.
            passed += 1
            assert _is_true(spoiled, files), spoiled
    # Files that were changed, with certificates that have the hashes of these.
    for number in range(int(200 * thousands)):
        certificate, files = drawn.choice(subjects)
        folder = tmp_path / f"spoiled{number}"
        folder.mkdir()
        forged, copies = copy.deepcopy(certificate), tuple(Path(shutil.copy(file, folder)) for file in files)
        _spoil_file(copies[drawn.randrange(len(copies))], drawn)
        for side, file in zip(forged["sides"], copies, strict=True):
            side["files"] = {name: digest(file) for name in side["files"]}
            side["whole_pieces"] = file.suffix != ".json" or json.loads(file.read_bytes())["model"]["ignore_merges"]
        if verdict(forged, copies) == 0:
            passed += 1
            assert _is_true(forged, copies), forged
    assert 0 < passed < 100 * thousands
    tally("certificates", "certificates checked", len(subjects))
    tally("certificates", "spoiled inputs", int(1000 * thousands))


def test_a_spoiled_input_has_another_hash(formats: list[tuple[Tokenizer, Path]]) -> None:
    certificate, files = certified(formats[1], formats[2])
    files[0].with_name("vocab.json").write_bytes(b"{}")
    assert verdict(certificate, files) == 1


@pytest.mark.parametrize("arguments", [[], ["--help"], ["a"], ["a", "b", "c", "d"], ["a", "--tables", "folder"]])
def test_other_numbers_of_arguments_are_told_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert load_checker().main(arguments) == 2
    assert capsys.readouterr().err == "usage: check.py FILE A [B] [--tables FOLDER]\n"
