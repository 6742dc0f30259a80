"""Reading rank lines, against Python's own base64."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.spelling.model import LARGEST_RANK, read_rank_lines

LINES = st.lists(st.one_of(st.none(), st.tuples(st.binary(min_size=1), st.integers(0, LARGEST_RANK))))


def read(data: bytes) -> tuple[list[tuple[bytes, int, int]], int, int]:
    text, offsets, ranks, lines, fault, place = read_rank_lines(data)
    words = [text[offsets[i] : offsets[i + 1]].tobytes() for i in range(len(ranks))]
    return list(zip(words, ranks.tolist(), lines.tolist(), strict=True)), fault, place


@given(LINES, st.booleans())
def test_what_was_written_is_read(lines: list[tuple[bytes, int] | None], newline_at_the_end: bool) -> None:
    written = [b"" if line is None else base64.b64encode(line[0]) + b" %d" % line[1] for line in lines]
    data = b"\n".join(written) + b"\n" * newline_at_the_end
    expected = [(*line, at) for at, line in enumerate(lines, 1) if line is not None]
    assert read(data)[:2] == (expected, 0)


@pytest.mark.parametrize(
    ("line", "fault", "place"),
    [
        (b"YQ== 1\nY-== 2\n", 1, 8),
        (b"YQ==\r\n", 1, 4),
        (b"YQ 1", 2, 0),
        (b"YR== 1", 2, 0),
        (b"Y 1", 2, 0),
        (b"Y=== 1", 2, 0),
        (b"YQ=== 1", 2, 0),
        (b"=YQ== 1", 1, 1),
        (b" 1", 3, 0),
        (b"YQ==", 4, 4),
        (b"YQ==\n", 4, 4),
        (b"YQ== ", 5, 5),
        (b"YQ== -1", 5, 5),
        (b"YQ== 1 ", 6, 6),
        (b"YQ== 1\r\n", 6, 6),
        (b"YQ== 4294967296", 7, 5),
        (b"YQ== 99999999999999999999999999", 7, 5),
    ],
)
def test_faults_have_a_place(line: bytes, fault: int, place: int) -> None:
    assert read(line)[1:] == (fault, place)


@pytest.mark.parametrize("padding", [b"=", b"==", b"===", b"===="])
def test_padding_alone_is_the_empty_word(padding: bytes) -> None:
    assert base64.b64decode(padding) == b""
    assert read(b"YQ== 7\n" + padding + b" 8\n") == ([(b"a", 7, 1), (b"", 8, 2)], 0, len(padding) + 10)


@given(st.binary())
def test_any_bytes_are_read_or_faulted(data: bytes) -> None:
    for written in (data, b"YQ== " + data, base64.b64encode(data)):
        entries, fault, place = read(written)
        assert 0 <= place <= len(written)
        assert fault or len(entries) <= written.count(b"\n") + 1
