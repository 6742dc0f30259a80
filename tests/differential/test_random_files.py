"""Random tokenizer.json files: encoding, decoding and verdicts match the tokenizers library."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import random_files
from tests.support.editing import edited
from tests.support.seeds import seeds
from tokdfa.base.errors import AlphabetError, PatternError, TokenStreamError, UnsupportedFeatureError

tokenizers = pytest.importorskip("tokenizers")
FILES = random_files.KINDS


def skip_panic(error: BaseException) -> None:
    """Some sequences of normalizers crash the library; then there is nothing to compare with."""
    if type(error).__name__ != "PanicException":
        raise error


def check_file(kind: str, fields: dict[str, Any], path: Path, drawn: random.Random, n_texts: int) -> bool:
    """Compare a file with the library; return False if either refuses it."""
    path.write_text(json.dumps(fields), encoding="utf-8")
    try:
        tokenizer = tokdfa.load(path)
    except (UnsupportedFeatureError, PatternError):
        return False
    try:
        peer = tokenizers.Tokenizer.from_str(json.dumps(fields))
    except BaseException as error:
        skip_panic(error)
        return False
    peer.no_truncation()
    peer.no_padding()
    if fields["decoder"] is None:
        # Then the bytes are as by ByteLevel, which splits.
        peer.decoder = tokenizers.decoders.ByteLevel()
    contents = tuple(token["content"] for token in fields["added_tokens"])

    def encoded(text: str) -> list[int] | None:
        try:
            ids: list[int] = peer.encode(text, add_special_tokens=False).ids
        except BaseException as error:
            if "Missing" not in str(error):
                skip_panic(error)
                return None
            # A word has no tokenization, and an entry for unknown words is missing.
            with pytest.raises(AlphabetError):
                tokenizer.encode(text)
            return None
        return ids

    def decoded(ids: list[int]) -> str:
        text: str = peer.decode(ids, skip_special_tokens=False)
        return text

    vocabulary = sorted({*fields["model"]["vocab"].values(), *(token["id"] for token in fields["added_tokens"])})
    for _ in range(n_texts):
        text = random_files.TEXTS[kind](drawn, contents)
        expected = encoded(text)
        if expected is None:
            continue
        with suppress(AlphabetError):  # a text that would lose a symbol
            assert tokenizer.encode(text).tolist() == expected, (text, contents)
        spoiled = edited(drawn, expected, vocabulary, range(3))
        for stream in (expected, spoiled):
            back = decoded(stream)
            again = encoded(back)
            if again is None:
                continue
            verdict = tokenizer.validate(stream)
            try:
                assert tokenizer.decode(stream) == back, stream
            except TokenStreamError:
                assert "\ufffd" in back
                assert not verdict
                continue
            with suppress(AlphabetError):
                assert tokenizer.encode(back).tolist() == again, back
            assert bool(verdict) == (again == stream), (stream, back, again)
            if not verdict:
                different = (i for i, (a, b) in enumerate(zip(stream, again, strict=False)) if a != b)
                assert verdict.index == next(different, min(len(stream), len(again))), (stream, back, again)
    return True


def assert_files_agree(kind: str, path: Path, chosen: range, n_texts: int) -> int:
    loaded = 0
    for seed in chosen:
        drawn = random.Random(seed)
        fields = FILES[kind](drawn)
        try:
            loaded += check_file(kind, fields, path, drawn, n_texts)
        except Exception as error:
            shown = json.dumps(fields | {"model": {**fields["model"], "vocab": {}, "merges": []}})
            raise AssertionError(f"seed {seed} of {kind}: {error!r}: {shown}") from error
    return loaded


@pytest.mark.parametrize("kind", FILES)
def test_random_files(kind: str, tmp_path: Path) -> None:
    loaded = assert_files_agree(kind, tmp_path / "tokenizer.json", range(30), 10)
    assert loaded > 9


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_many_random_files(kind: str, tmp_path: Path, tally: Tally) -> None:
    chosen = seeds(1000)
    print(kind, assert_files_agree(kind, tmp_path / "tokenizer.json", chosen, 12), "of", len(chosen), "files")
    tally("loading", "random cases", len(chosen))
