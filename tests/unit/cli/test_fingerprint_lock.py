"""Lock files: read as they were written, or refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import tokdfa
from tests.support.editing import edited_bytes
from tokdfa.base.errors import FileFormatError
from tokdfa.cli.fingerprint import lock_text, made_with, read_lock
from tokdfa.tokenizers.fingerprint import PARTS


@pytest.fixture(scope="module")
def found() -> tokdfa.Fingerprint:
    return tokdfa.fingerprint(tokdfa.default_tokenizer())


def test_what_was_written_is_read(found: tokdfa.Fingerprint, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.lock"
    path.write_text(lock_text(found), "utf-8")
    assert read_lock(path) == found
    assert hash(read_lock(path)) == hash(found)
    # A line a part, in a fixed order, so that a change is a change of few lines.
    lines = lock_text(found).splitlines()
    assert [line.split(" = ")[0] for line in lines[lines.index("[parts]") + 1 :][: len(PARTS)]] == [*PARTS]
    assert all(f'{name} = "{version}"' in lines for name, version in made_with().items())


def test_versions_are_no_part_of_it(found: tokdfa.Fingerprint, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.lock"
    path.write_text(lock_text(found).replace(f'tokdfa = "{tokdfa.__version__}"', 'tokdfa = "99"'), "utf-8")
    assert read_lock(path) == found
    path.write_text(lock_text(found).split("[made-with]")[0].replace("\n", "\r\n"), "utf-8", newline="")
    assert read_lock(path) == found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('decoder = "', 'decoder = "0'),
        ("decoder =", "other ="),
        ("[parts]", "[pieces]"),
        ("[parts]", "parts = 3\n[x]"),
        ('fingerprint = "', 'fingerprint = "0'),
        ("fingerprint =", "# fingerprint ="),
        ('ids = "', 'ids = 3 # "'),
        ("=", ":"),
        ("[parts]", "\x00[parts]"),
        ("#", "#" * (1 << 16)),
    ],
)
def test_others_are_refused(found: tokdfa.Fingerprint, tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "tokenizer.lock"
    path.write_text(lock_text(found).replace(old, new), "utf-8")
    with pytest.raises(FileFormatError) as caught:
        read_lock(path)
    assert str(path) in str(caught.value)
    assert "write it again" in str(caught.value)


def test_spoiled_ones_are_refused_or_the_same(found: tokdfa.Fingerprint, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.lock"
    good = lock_text(found).encode()
    drawn = random.Random(5)
    refused = 0
    for _ in range(1_000):
        path.write_bytes(edited_bytes(drawn, good))
        try:
            assert read_lock(path) == found
        except FileFormatError:
            refused += 1
    assert 400 < refused < 1_000


def test_a_missing_file_is_no_lock(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_lock(tmp_path / "missing.lock")
