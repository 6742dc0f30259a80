"""Counting a corpus in blocks, on threads, with interruptions, equals counting its files as wholes."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pieces import count_pieces
from tokdfa import TokdfaError
from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.training import counting as splitting_module
from tokdfa.training.corpus import BLOCK, Block, Corpus, PieceCounts, PieceTable
from tokdfa.training.counting import Checkpoint, CorpusSplitter, count_corpus

zstandard = pytest.importorskip("zstandard")

TEXTS = {
    "b.txt": "Hello  world\n\nwe're 12345 here\r\nand THERE\n",
    "a.txt": "für Élise \n \nfoo\u3000bar\n中文字\nдва слова\n",
    "sub/c.txt": "x/\n/y\n.\nz" * 40,
    ".hidden": "left out",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path


SMALL = 7


def count(
    *sources: str | Path, name: str = "gpt2", unit: str = "file", block: int = BLOCK, threads: int = 1
) -> PieceCounts:
    splitter = CorpusSplitter(name, unit, segment=min(block // 2, 1 << 16))  # type: ignore[arg-type]
    return count_corpus(Corpus.find(sources, block=block), splitter, threads=threads)


def laid_out(pieces: list[bytes]) -> tuple[Any, Any]:
    """Return pieces with gaps between them, and where they are."""
    ends = np.cumsum([len(piece) + 1 for piece in pieces], dtype=np.int64)
    starts = ends - [len(piece) for piece in pieces] if pieces else ends
    return np.frombuffer(b"".join(b"." + piece for piece in pieces), np.uint8), np.stack((starts, ends), axis=1)


@cache
def splitter_named(name: str, stretch: int) -> CorpusSplitter:
    return CorpusSplitter(name, segment=stretch)


def plainly(texts: list[str], name: str) -> list[tuple[bytes, int]]:
    split = pretokenizer(name).split
    return [(piece.encode(), n) for piece, n in Counter(piece for text in texts for piece in split(text)).items()]


@given(st.lists(st.tuples(st.binary(min_size=1, max_size=40), st.integers(1, 9)), max_size=60))
def test_the_table_counts_as_a_counter_does(pieces: list[tuple[bytes, int]]) -> None:
    expected: Counter[bytes] = Counter()
    table = PieceTable()
    for some in (pieces[::2], pieces[1::2]):
        text, spans = laid_out([piece for piece, _ in some])
        table.add(text, spans, np.array([n for _, n in some], np.int64))
        table.add(text, spans)
        for piece, n in some:
            expected[piece] += n + 1
    assert list(table.counts().items()) == list(expected.items())
    assert len(table) == len(expected)


def test_the_table_grows() -> None:
    pieces = [b"%d" % (i * 7919 % 30_011) * (1 + i % 5) for i in range(60_000)]
    table = PieceTable()
    table.add(*laid_out(pieces))
    assert list(table.counts().items()) == list(Counter(pieces).items())


@pytest.fixture(params=["machine", "definition"])
def splitting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "definition":
        monkeypatch.setattr(splitting_module, "_machine", lambda splitting: None)


@pytest.mark.usefixtures("splitting")
@pytest.mark.parametrize("name", ["whitespace", "gpt2", "cl100k", "deepseek"])
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_change_nothing(folder: Path, name: str, threads: int) -> None:
    counts = count(folder, name=name, threads=threads, block=SMALL)
    texts = [TEXTS[file] for file in ("a.txt", "b.txt", "sub/c.txt")]
    if name == "whitespace":
        assert dict(counts) == Counter(word.encode() for text in texts for word in text.split())
    else:
        assert list(counts.items()) == plainly(texts, name)


@given(
    st.lists(st.sampled_from(["a", "É", "中", "7", " ", "\n", "\r\n", "/", "'s", ".", "\u2028", "\x1c"]), max_size=30),
    st.sampled_from(list(NAMED)),
    st.integers(1, 5),
)
def test_odd_texts_can_be_cut_where_it_says(parts: list[str], name: str, stretch: int) -> None:
    text = "".join(parts).encode()
    splitter = splitter_named(name, stretch)
    cut = splitter.last_cut(text)
    pieces: list[bytes] = []
    for block in (Block(text[:cut], text[cut : cut + 8], "", 0, 0), Block(text[cut:], b"", "", 0, cut)):
        for array, spans in splitter.cut(block):
            pieces += [bytes(array[start:end]) for start, end in spans.tolist()]
    assert pieces == [piece.encode() for piece in pretokenizer(name).split(text.decode())]


def test_a_pattern_of_which_nothing_is_known_sees_the_whole_file(folder: Path) -> None:
    pattern = r"(?s:.{4})|(?s:.)"
    assert list(count(folder / "b.txt", name=pattern, block=SMALL).items()) == plainly([TEXTS["b.txt"]], pattern)


@pytest.mark.usefixtures("splitting")
@pytest.mark.parametrize("threads", [1, 2])
def test_lines_are_split_by_themselves(folder: Path, threads: int) -> None:
    lines = [line + "\n" for line in TEXTS["b.txt"].split("\n")[:-1]]
    assert list(count(folder / "b.txt", unit="line", threads=threads, block=SMALL).items()) == plainly(lines, "gpt2")
    whole = {line.encode(): n for line, n in Counter(lines).items()}
    assert dict(count(folder / "b.txt", name="none", unit="line", threads=threads, block=SMALL)) == whole


def test_without_a_pretokenizer_a_file_is_one_piece(folder: Path) -> None:
    assert dict(count(folder / "b.txt", name="none")) == {TEXTS["b.txt"].encode(): 1}


def test_packed_files(tmp_path: Path) -> None:
    text = TEXTS["b.txt"].encode() * 30
    (tmp_path / "plain").write_bytes(text)
    (tmp_path / "a.gz").write_bytes(gzip.compress(text))
    half = len(text) // 2
    # Two frames, as parallel packers write them.
    (tmp_path / "a.zst").write_bytes(zstandard.compress(text[:half]) + zstandard.compress(text[half:]))
    expected = list(count(tmp_path / "plain", block=SMALL).items())
    assert list(count(tmp_path / "a.gz", block=SMALL).items()) == expected
    assert list(count(tmp_path / "a.zst", block=SMALL).items()) == expected


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_packed_files_that_are_damaged(tmp_path: Path, ending: str) -> None:
    text = os.urandom(5000).hex().encode()
    packed = gzip.compress(text) if ending == "gz" else zstandard.compress(text)
    path = tmp_path / f"a.{ending}"
    for data in (packed[:-3], packed[: len(packed) // 2], b"nothing packed", packed[:20] + b"spoiled" + packed[27:]):
        path.write_bytes(data)
        with pytest.raises(TokdfaError, match=f"a.{ending}: damaged"):
            count(path)


def test_folders_and_patterns_are_read_by_name(folder: Path) -> None:
    def names(*sources: str | Path) -> list[str]:
        return [os.path.relpath(path, folder) for path in Corpus.find(sources).files]

    assert names(folder) == ["a.txt", "b.txt", "sub/c.txt"]
    assert names(folder / "*.txt") == ["a.txt", "b.txt"]
    assert names(folder / "**/c*") == ["sub/c.txt"]
    assert names(folder / "b.txt", folder / "a.txt") == ["b.txt", "a.txt"]
    (folder / "empty").mkdir()
    for nothing in ("none.txt", "*.md", "empty"):
        with pytest.raises(TokdfaError, match="no "):
            names(folder / nothing)
    with pytest.raises(TokdfaError):
        names()


@pytest.mark.usefixtures("splitting")
@pytest.mark.parametrize("threads", [1, 2])
def test_text_that_is_not_utf8_is_told_with_its_place(tmp_path: Path, threads: int) -> None:
    path = tmp_path / "spoiled"
    path.write_bytes(b"good text\nand then\n\xff\xfe")
    with pytest.raises(TokdfaError, match=r"spoiled, byte 19: not UTF-8 text: b'\\xff\\xfe'"):
        count(path, threads=threads, block=SMALL)


def test_an_interruption_changes_nothing(folder: Path, tmp_path: Path) -> None:
    expected = list(count(folder, block=SMALL).items())

    class InterruptionError(Exception):
        pass

    def progress(_: int) -> None:
        nonlocal calls
        calls += 1
        if calls % 5 == 0:
            raise InterruptionError

    corpus, calls, interruptions = Corpus.find([folder], block=SMALL), 0, 0
    while True:
        kept = Checkpoint(tmp_path / "kept", {"corpus": corpus.stamp()})
        try:
            counts = count_corpus(corpus, CorpusSplitter("gpt2"), checkpoint=kept, interval=0, progress=progress)
            break
        except InterruptionError:
            interruptions += 1
    assert interruptions > 5
    assert list(counts.items()) == expected
    with pytest.raises(TokdfaError, match="another training, which differs in corpus"):
        Checkpoint(tmp_path / "kept", {"corpus": []}).load()
    kept.remove()
    assert kept.load() is None


def npy(data: bytes) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.frombuffer(data, np.uint8))
    return stream.getvalue()


def test_a_spoiled_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    Checkpoint(path, {}).save(PieceTable().counts(), 0, 0)
    whole = path.read_bytes()
    for data in (b"", b"text", whole[:-40], b"\3" + whole, whole.replace(b"version", b"xxxxxxx")):
        path.write_bytes(data)
        with pytest.raises(TokdfaError, match="delete it"):
            Checkpoint(path, {}).load()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("request.npy", b"no array"),
        ("request.npy", b"\x93NUMPY\x01\x00"),
        ("request.npy", npy(b"[1]")),
        ("request.npy", npy(b"[" * 100_000)),
        ("text.npy", b"\x93NUMPY\x01\x00" + b"(" * 300),
        ("text.npy", npy(b"a").replace(b"(1,)", b"(9,)")),
        ("place.npy", b""),
    ],
)
def test_an_archive_of_other_things_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / "kept"
    Checkpoint(path, {}).save(PieceTable().counts(), 0, 0)
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    for packing, member in ((zipfile.ZIP_STORED, data), (zipfile.ZIP_DEFLATED, members[name])):
        with zipfile.ZipFile(path, "w", packing) as archive:
            for other, whole in members.items():
                archive.writestr(other, member if other == name else whole)
        with pytest.raises(FileFormatError, match=r"not a checkpoint.*delete it"):
            Checkpoint(path, {}).load()


@pytest.mark.parametrize(
    ("text", "ends", "counts"),
    [
        (b"abc", [1, 3], [1]),
        (b"abc", [1, 4], [1, 1]),
        (b"abc", [2**62, 3], [1, 1]),
        (b"abc", [3, 3], [1, 1]),
        (b"abc", [-1, 3], [1, 1]),
        (b"abc", [0, 3], [1, 1]),
        (b"abc", [1, 3], [1, 0]),
        (b"abc", [1.0, 3.0], [1, 1]),
    ],
)
def test_a_checkpoint_whose_arrays_do_not_fit_is_refused(
    tmp_path: Path, text: bytes, ends: list[int], counts: list[int]
) -> None:
    path = tmp_path / "kept"
    Checkpoint(path, {}).save(PieceCounts(np.frombuffer(text, np.uint8), np.array(ends), np.array(counts)), 0, 0)
    with pytest.raises(TokdfaError, match="do not fit together"):
        Checkpoint(path, {}).load()


@pytest.mark.parametrize(
    ("text", "ends", "counts"),
    [
        ("int8", "int64", "int64"),
        ("int64", "int64", "int64"),
        ("uint8", "int32", "int64"),
        ("uint8", "int64", "uint64"),
    ],
)
def test_a_checkpoint_with_arrays_of_other_types_is_refused(tmp_path: Path, text: str, ends: str, counts: str) -> None:
    path = tmp_path / "kept"
    pieces = PieceCounts(np.array([97, 98], text), np.array([1, 2], ends), np.array([1, 1], counts))
    Checkpoint(path, {}).save(pieces, 0, 0)
    with pytest.raises(TokdfaError, match="do not fit together"):
        Checkpoint(path, {}).load()


@pytest.mark.parametrize(
    ("text", "ends", "counts", "fits"), [(1, 1, 1, True), (2, 1, 1, False), (1, 2, 2, False), (1, 1, 2, False)]
)
def test_the_arrays_of_a_checkpoint_have_one_dimension(
    tmp_path: Path, text: int, ends: int, counts: int, fits: bool
) -> None:
    path = tmp_path / "kept"
    shapes = {1: (2,), 2: (2, 1)}
    arrays = np.array([97, 98], np.uint8), np.array([1, 2]), np.array([1, 3])
    pieces = PieceCounts(*(array.reshape(shapes[n]) for array, n in zip(arrays, (text, ends, counts), strict=True)))
    Checkpoint(path, {}).save(pieces, 3, 4)
    if fits:
        found = Checkpoint(path, {}).load()
        assert found is not None
        assert dict(found[0]) == {b"a": 1, b"b": 3}
        assert found[1:] == (3, 4)
        return
    with pytest.raises(TokdfaError, match="do not fit together"):
        Checkpoint(path, {}).load()


def test_counts_are_a_mapping() -> None:
    counts = count_pieces(["a b a"])
    assert counts == {b"a": 1, b" b": 1, b" a": 1}
    table = PieceTable()
    table.add(*laid_out(["ä".encode(), b"b"]))
    assert table.counts()["ä".encode()] == 1
    assert table.counts().characters() == {"ä": 1, "b": 1}
    table.add(*laid_out([b"\xff"]))
    with pytest.raises(TokdfaError, match="no characters"):
        table.counts().characters()
