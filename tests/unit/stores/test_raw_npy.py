"""Headers of .npy files: as programs write them, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.stores import collect
from tokdfa.base.errors import TokenStreamError


def _npy(header: str, version: bytes = b"\1\0") -> bytes:
    data = header.encode("latin-1")
    return b"\x93NUMPY" + version + len(data).to_bytes(2 if version[0] == 1 else 4, "little") + data + b"\7\0" * 3


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }      \n",
        "{'shape':(3,),'descr':'<u2','fortran_order':True}",
        '{"descr": "<u2", "fortran_order": False, "shape": (3L, )}',
        "  { 'descr' : '<u2' , 'fortran_order' : False , 'shape' : ( 3 , ) , }",
    ],
)
@pytest.mark.parametrize("version", [b"\1\0", b"\2\0", b"\3\0"])
def test_headers_as_programs_write_them(tmp_path: Path, header: str, version: bytes) -> None:
    (tmp_path / "ids.npy").write_bytes(_npy(header, version))
    assert collect(tmp_path / "ids.npy") == [7, 7, 7]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (3", "its header is"),  # tokenize.TokenError in numpy
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (3,), 'more': (1,)}", "its header is"),
        ("{'descr': '<u2', 'fortran_order': False, 'descr': '<u2'}", "its header is"),
        ("{'descr': '<u2', 'fortran_order': False}", "its header is"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (3,)} + {}", "its header is"),
        ("{['descr']: '<u2', 'fortran_order': False, 'shape': (3,)}", "its header is"),  # TypeError in numpy
        ("(" * 9_000, "its header is"),
        (" " * 9_999, "its header is"),
        (" " * 10_001, "its header has 10,001 bytes"),
        ("{'descr': '<u2', 'fortran_order': (0,), 'shape': (3,)}", "fortran_order is"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (3)}", "ids must be in one dimension"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': ()}", "ids must be in one dimension"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (1, 3)}", r"ids must be in one dimension: \(1, 3\)"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (True,)}", "its shape is not a tuple"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (-3,)}", "its shape is not a tuple"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (03,)}", "its shape is not a tuple"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (4,)}", "cut short"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}", "there is data after its array"),
        # OverflowError in numpy
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (9999999999999999999,)}", "cut short"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (99999999999999999999,)}", "its shape is not a tuple"),
        ("{'descr': '<U2', 'fortran_order': False, 'shape': (3,)}", "ids must be integers: 'str64'"),
        ("{'descr': '<u3', 'fortran_order': False, 'shape': (3,)}", "ids must be integers"),
        ("{'descr': '<u99999999999999999999', 'fortran_order': False, 'shape': (3,)}", "ids must be integers"),
        ("{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (3,)}", "ids must be integers"),
        # SyntaxError in numpy
        ("{'descr': ',', 'fortran_order': False, 'shape': (3,)}", "ids must be integers"),
        ("{'descr': (1,), 'fortran_order': False, 'shape': (3,)}", "ids must be integers"),
    ],
)
def test_headers_that_are_refused(tmp_path: Path, header: str, message: str) -> None:
    (tmp_path / "ids.npy").write_bytes(_npy(header))
    with pytest.raises(TokenStreamError, match=rf"ids\.npy: .*{message}"):
        collect(tmp_path / "ids.npy")


@pytest.mark.parametrize("version", [b"\0\0", b"\1\1", b"\4\0", b"\xff\xff"])
def test_versions_that_are_refused(tmp_path: Path, version: bytes) -> None:
    header = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }"
    (tmp_path / "ids.npy").write_bytes(_npy(header, version))
    with pytest.raises(TokenStreamError, match="there is no format version"):
        collect(tmp_path / "ids.npy")
