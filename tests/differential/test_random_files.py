"""Random tokenizer.json files: encoding, decoding and verdicts are those of tokenizers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import random_files

import tokdfa
from tokdfa.errors import AlphabetError, TokenStreamError, UnsupportedFeatureError

tokenizers = pytest.importorskip("tokenizers")
FILES: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "characters": random_files.character_file,
    "bytes": random_files.byte_file,
}


def skip_panic(error: BaseException) -> None:
    """Some sequences of normalizers crash the library; then there is nothing to compare with."""
    if type(error).__name__ != "PanicException":
        raise error


def check_file(fields: dict[str, Any], path: Path, drawn: random.Random, n_texts: int) -> bool:
    """Compare a file with the library; return False if it is refused."""
    path.write_text(json.dumps(fields), encoding="utf-8")
    try:
        tokenizer = tokdfa.load(path)
    except UnsupportedFeatureError:
        return False
    try:
        peer = tokenizers.Tokenizer.from_str(json.dumps(fields))
    except BaseException as error:
        skip_panic(error)
        return False
    contents = tuple(token["content"] for token in fields["added_tokens"])

    def encoded(text: str) -> list[int]:
        ids: list[int] = peer.encode(text, add_special_tokens=False).ids
        return ids

    def decoded(ids: list[int]) -> str:
        text: str = peer.decode(ids, skip_special_tokens=False)
        return text

    vocabulary = sorted({*fields["model"]["vocab"].values(), *(token["id"] for token in fields["added_tokens"])})
    for _ in range(n_texts):
        text = random_files.text(drawn, extra=contents)
        try:
            ids = tokenizer.encode(text).tolist()
        except AlphabetError:
            continue
        try:
            expected = encoded(text)
        except BaseException as error:
            skip_panic(error)
            continue
        assert ids == expected, (text, contents)
        spoiled = ids.copy()
        for _ in range(drawn.randrange(3)):
            place = drawn.randrange(len(spoiled) + 1)
            spoiled[place : place + drawn.randrange(2)] = drawn.choices(vocabulary, k=drawn.randrange(3))
        for stream in (ids, spoiled):
            back = decoded(stream)
            try:
                assert tokenizer.decode(stream) == back, stream
            except TokenStreamError:
                assert "\ufffd" in back
                assert not tokenizer.validate(stream)
                continue
            try:
                again = encoded(back)
            except BaseException as error:
                skip_panic(error)
                continue
            verdict = tokenizer.validate(stream)
            try:
                ours = tokenizer.encode(back).tolist()
            except AlphabetError:
                assert not verdict
                continue
            assert ours == again, back
            assert bool(verdict) == (again == stream), (stream, again)
            if not verdict:
                different = (i for i, (a, b) in enumerate(zip(stream, again, strict=False)) if a != b)
                assert verdict.index == next(different, min(len(stream), len(again))), (stream, again)
    return True


def check(kind: str, path: Path, seeds: range, n_texts: int) -> int:
    loaded = 0
    for seed in seeds:
        drawn = random.Random(seed)
        fields = FILES[kind](drawn)
        try:
            loaded += check_file(fields, path, drawn, n_texts)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {json.dumps(fields | {'model': {}})}") from error
    return loaded


@pytest.mark.parametrize("kind", FILES)
def test_random_files(kind: str, tmp_path: Path) -> None:
    assert check(kind, tmp_path / "tokenizer.json", range(45), 12) > 15


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_many_random_files(kind: str, tmp_path: Path) -> None:
    print(kind, check(kind, tmp_path / "tokenizer.json", range(1000, 4000), 40), "files")
