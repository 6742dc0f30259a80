"""Forged certificates, each of which the checker accepts if the one check that rejects it is left out."""

from __future__ import annotations

import ast
import copy
import json
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.checking import PATTERNS, SOURCE, TABLES, digest, load_checker, write_json, write_ranks
from support.tokenizer_files import added_token, as_bytes

import tokdfa
from tokdfa import Comparison, Tokenizer

check = load_checker()
RULES = [(b"a", b"b"), (b"ab", b"a"), (b" ", b"ab"), (b"s", b"s")]

Subject = tuple[dict[str, Any], tuple[Path, ...]]


def certified(a: tuple[Tokenizer, Path], b: tuple[Tokenizer, Path], found: Comparison | None = None) -> Subject:
    files = a[1], b[1]
    found = tokdfa.compare(a[0], b[0]) if found is None else found
    return tokdfa.certify_comparison(found, a[0], b[0], files=files).fields, files


def rewritten(subject: Subject, change: Any, folder: Path) -> Subject:
    """Change the second file, a tokenizer.json, and its hash in the certificate."""
    certificate, files = copy.deepcopy(subject)
    content = json.loads(files[1].read_bytes())
    change(content)
    path = folder / "changed.json"
    path.write_bytes(as_bytes(content))
    side = certificate["sides"][1]
    side["files"]["json"] = digest(path)
    side["specials"] = {token["content"]: token["id"] for token in content["added_tokens"]}
    side["whole_pieces"] = content["model"]["ignore_merges"]
    return certificate, (files[0], path)


def forged(kind: str, tmp_path: Path) -> Subject:
    """Return a certificate that is wrong in one way."""
    a = write_json(tmp_path / "a.json", RULES, PATTERNS[1])
    subject = certified(a, write_json(tmp_path / "b.json", RULES, PATTERNS[1], ignore_merges=True))
    certificate, files = copy.deepcopy(subject)
    splitting = certificate["splitting"]
    if kind == "other ids":

        def swap(content: Any) -> None:
            vocabulary = content["model"]["vocab"]
            vocabulary["ab"], vocabulary["ss"] = vocabulary["ss"], vocabulary["ab"]

        return rewritten(subject, swap, tmp_path)
    if kind == "a piece that is a token":
        return rewritten(subject, lambda content: content["model"]["vocab"].update(zz=1000), tmp_path)
    if kind == "a special token of one":

        def add(content: Any) -> None:
            content["added_tokens"] = [added_token(len(content["model"]["vocab"]), "<|end|>")]

        return rewritten(subject, add, tmp_path)
    if kind == "another order of rules":

        def turn(content: Any) -> None:
            content["model"]["merges"][0:4:3] = content["model"]["merges"][0:4:3][::-1]

        return rewritten(subject, turn, tmp_path)
    if kind == "every state doomed":
        splitting["states"], splitting["doomed"] = (
            splitting["states"][:1],
            splitting["states"][1:] + splitting["doomed"],
        )
    elif kind == "a state left out":
        del splitting["states"][-1]
    elif kind == "no start":
        splitting["states"], splitting["doomed"] = [], []
    elif kind == "text that is in no piece":
        side = write_json(tmp_path / "c.json", RULES, "[ab]+")
        return certified(side, side, Comparison(True))
    elif kind == "rules where only one cuts":
        rules = [(b"a", b"b"), (b"\n", b" ")]
        found = [write_ranks(tmp_path / f"{at}.tiktoken", rules, r"\s++$|[^\s]+|\n|\s+"[at * 6 :]) for at in (0, 1)]
        plain = [
            write_ranks(tmp_path / f"p{at}.tiktoken", rules[:1], r"\s++$|[^\s]+|\n|\s+"[at * 6 :]) for at in (0, 1)
        ]
        certificate, _ = certified(plain[0], plain[1])
        for side, (_, file) in zip(certificate["sides"], found, strict=True):
            side["files"]["ranks"] = digest(file)
        certificate["merging"].append([b"\n ".hex(), 1])
        return certificate, (found[0][1], found[1][1])
    elif kind == "no difference":
        ids = a[0].encode("ab").tolist()
        certificate = {name: certificate[name] for name in ("certificate", "made_by", "ids")}
        certificate |= {"claim": "different", "sides": [subject[0]["sides"][0]] * 2}
        certificate["witness"] = {"text": "ab", "ids_a": ids, "ids_b": ids}
        return certificate, (files[0], files[0])
    elif kind == "another file":
        files[1].write_bytes(files[1].read_bytes() + b"\n")
    return certificate, files


KINDS = (
    *("other ids", "a piece that is a token", "a special token of one", "another order of rules", "no start"),
    *("every state doomed", "a state left out", "text that is in no piece", "rules where only one cuts"),
    *("no difference", "another file"),
)


def status(module: Any, subject: Subject) -> tuple[int, int]:
    """Return the exit status of a checker, and the line of the check that rejects."""
    certificate, files = subject
    try:
        module.check(json.loads(json.dumps(certificate)), [*files], TABLES)
    except module.Invalid as error:
        lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if frame.name != "need"]
        return 1, lines[-1]
    return 0, 0


def without(line: int) -> ModuleType:
    """Return the checker without the check on a line."""
    tree = ast.parse(SOURCE.read_text("utf-8"))
    n_left_out = 0
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "need"
        if is_call and node.lineno <= line <= (node.end_lineno or 0):
            assert isinstance(node, ast.Call)
            node.args[0] = ast.copy_location(ast.Constant(True), node.args[0])
            n_left_out += 1
    assert n_left_out == 1
    module = ModuleType("mutant")
    module.__file__ = str(SOURCE)
    exec(compile(tree, "mutant", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("kind", KINDS)
def test_each_check_is_needed(kind: str, tmp_path: Path) -> None:
    subject = forged(kind, tmp_path)
    rejected, line = status(check, subject)
    assert rejected == 1
    assert status(without(line), subject)[0] == 0
