"""The API of the kernels refuses bad values before C sees them, and libraries that do not belong to the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tokdfa.kernels.library import NO_MEMORY, Struct, call, check_memory, ffi, lib, readable, writable

PACKAGE = Path(tokdfa.__file__).parent
LIBRARY = next(path.name for path in (PACKAGE / "kernels").glob("_kernels.*"))


def _call(array: np.ndarray, dtype: object) -> None:
    call(lib.tokdfa_depths, array, len(array), out=(np.zeros(len(array), dtype=np.int32),))


@pytest.mark.parametrize("function", [readable, writable, _call])
@pytest.mark.parametrize(
    "array",
    [
        np.zeros(4, dtype=np.int64),
        np.zeros(4, dtype=np.uint32),
        np.zeros(4, dtype=np.float32),
        np.zeros(4, dtype=np.bool_),
        np.zeros(4, dtype=np.dtype(np.int32).newbyteorder()),
        np.zeros(8, dtype=np.int32)[::2],
        np.zeros((3, 4), dtype=np.int32).T,
        np.zeros(4, dtype=object),
        np.zeros(17, dtype=np.uint8)[1:].view(np.int32),
    ],
)
def test_arrays_of_another_type_or_layout_are_refused(function: Callable, array: np.ndarray) -> None:
    with pytest.raises(TypeError, match="a contiguous array of int32 is needed"):
        function(array, np.int32)


def test_arrays_that_may_not_be_written_are_read_only() -> None:
    array = np.arange(3, dtype=np.int32)
    assert list(writable(array, np.int32)) == [0, 1, 2]
    array.setflags(write=False)
    assert list(readable(array, np.int32)) == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        writable(array, np.int32)


def test_a_kernel_is_called_with_the_arrays_that_it_declares() -> None:
    keys, offsets, positions = np.array([1, 0, 1], dtype=np.int32), np.empty(4, dtype=np.int64), np.empty(3, np.int32)
    call(lib.tokdfa_group, keys, 3, 2, out=(offsets, positions))
    assert (offsets[:-1].tolist(), positions.tolist()) == ([0, 1, 3], [1, 0, 2])
    positions.setflags(write=False)
    with pytest.raises(ValueError, match=r"not writable|read-only"):
        call(lib.tokdfa_group, keys, 3, 2, out=(offsets, positions))
    with pytest.raises(TypeError, match="contiguous array of int64 is needed, not int32"):
        call(lib.tokdfa_group, keys, 3, 2, out=(positions, positions))
    with pytest.raises(TypeError):
        call(lib.tokdfa_group, keys, 3, 2, out=(offsets,))


@pytest.mark.parametrize("function", [readable, writable])
def test_empty_arrays_are_taken(function: Callable) -> None:
    assert len(function(np.zeros(0, dtype=np.int64), np.int64)) == 0
    assert len(function(np.zeros((0, 5), dtype=np.uint8), np.uint8)) == 0


def test_every_struct_says_whether_threads_may_share_it() -> None:
    shared, owned, written = [], [], []
    for path in (PACKAGE / "kernels").rglob("api.h"):
        comments = re.findall(
            r"(?:/\*((?:[^*]|\*(?!/))*)\*/\n)?typedef struct \w*\s*\{[^}]*\n\} (\w+);", path.read_text()
        )
        for comment, name in comments:
            words = " ".join(comment.split())
            kinds = {
                "Read-only once it is built.": shared,
                "It belongs to one thread": owned,
                "Threads share it while they write:": written,
            }
            said = [names for kind, names in kinds.items() if kind in words]
            assert len(said) == 1, name
            said[0].append(name)
    assert {"tokdfa_walker", "tokdfa_token_tables", "tokdfa_machine", "tokdfa_wordpiece"} <= {*shared}
    assert {"tokdfa_place", "tokdfa_piece_cache", "tokdfa_search", "tokdfa_wordpiece_buffers"} <= {*owned}
    assert {*written} == {"tokdfa_pair_cache", "tokdfa_work_queue"}


def test_a_struct_has_its_arrays_and_their_lengths() -> None:
    offsets, tokens = np.array([0, 2], dtype=np.int64), np.array([5, 7], dtype=np.int32)
    final = np.array([True])
    rows = Struct("tokdfa_rows", offsets=offsets, tokens=tokens, targets=tokens, final=final)
    assert [rows.pointer.tokens[i] for i in range(2)] == [5, 7]
    assert (rows.pointer.n_final, rows.pointer.final[0]) == (1, 1)
    del offsets, tokens, final
    assert [rows.pointer.offsets[i] for i in range(2)] == [0, 2]
    rows.fields.clear()
    assert [rows.pointer.offsets[i] for i in range(2)] == [0, 2]


def test_a_pointer_to_a_struct_may_be_null() -> None:
    names = [name for name, field in ffi.typeof("tokdfa_guide").fields if field.type.kind == "pointer"]
    assert names == ["splits", "followers", "forbidding", "ids", "texts", "cache", "any"]
    guide = Struct("tokdfa_guide", **dict.fromkeys(names))
    assert guide.pointer.any == ffi.NULL


def _rows(**fields: object) -> dict[str, object]:
    ints = np.zeros(1, dtype=np.int32)
    return {"offsets": np.zeros(2, np.int64), "tokens": ints, "targets": ints, "final": np.zeros(1, bool)} | fields


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (_rows(other=1), "tokdfa_rows has no field other"),
        ({name: value for name, value in _rows().items() if name != "tokens"}, "tokdfa_rows lacks tokens"),
        (_rows(offsets=np.zeros(2, np.int32)), "tokdfa_rows.offsets is a contiguous array of int64_t, not"),
        (_rows(tokens=np.zeros(4, np.int32)[::2]), "tokdfa_rows.tokens is a contiguous array of int32_t, not"),
        (_rows(tokens=np.zeros(4, np.dtype(np.int32).newbyteorder())), "tokdfa_rows.tokens is a contiguous array"),
        (_rows(tokens=np.zeros(9, np.uint8)[1:].view(np.int32)), "not of int32 without aligned"),
        (_rows(final=np.zeros(1, np.int8)), "tokdfa_rows.final is a contiguous array of uint8_t, not"),
        (_rows(final=[True]), "tokdfa_rows.final is a contiguous array of uint8_t, not"),
        (_rows(tokens=None), "tokdfa_rows.tokens is a contiguous array of int32_t, not"),
        (_rows(tokens=3), "tokdfa_rows.tokens is a contiguous array of int32_t, not"),
        (_rows(n_final="1"), None),
        (_rows(n_final=1.5), None),
        (_rows(n_final=np.zeros(2, np.int64)), None),
    ],
)
def test_a_struct_of_other_fields_is_refused(fields: dict[str, object], message: str | None) -> None:
    with pytest.raises(TypeError, match=message):
        Struct("tokdfa_rows", **fields)


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1, 1 << 100])
def test_numbers_that_do_not_fit_are_refused(number: int) -> None:
    with pytest.raises(OverflowError):
        Struct("tokdfa_rows", **_rows(n_final=number))
    with pytest.raises(OverflowError):
        lib.tokdfa_group(ffi.NULL, number, 0, ffi.NULL, ffi.NULL)


def test_a_struct_in_a_struct_is_of_the_type_declared() -> None:
    rows = Struct("tokdfa_rows", **_rows())
    with pytest.raises(TypeError):
        Struct("tokdfa_machine", text=rows, forward=rows, backward=rows, moves=rows)


def test_a_kernel_without_memory_says_so() -> None:
    assert check_memory(7) == 7
    with pytest.raises(MemoryError, match="did not get the memory"):
        check_memory(NO_MEMORY)


# Libraries that do not belong to the package. Each case damages a copy of it.


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, in a checkout."""
    folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(PACKAGE, folder / "tokdfa", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").touch()
    (folder / "merges.txt").write_text("a b\n", encoding="utf-8")
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    """A copy of the copy, which may be damaged."""
    shutil.copytree(whole, tmp_path / "copy")
    return tmp_path / "copy"


def _info(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command there."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", "tokdfa", "info", "merges.txt"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=False,
    )


def _damage(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(kernels: Path) -> None:
        (kernels / name).write_bytes(change((kernels / name).read_bytes()))

    return damage


def _another_version(kernels: Path) -> None:
    data = (kernels / LIBRARY).read_bytes()
    sources = next(line for line in (kernels / "_ffi.py").read_text().splitlines() if line.startswith("SOURCES"))
    digest = sources.split("'")[1].encode()
    assert data.count(digest) == 1
    (kernels / LIBRARY).write_bytes(data.replace(digest, digest[::-1]))


def _edit(kernels: Path) -> None:
    source = kernels / "dfa" / "trie.c"
    source.write_text(source.read_text() + "\n/* Another line. */\n", encoding="utf-8")
    later = time.time_ns() + 10**9
    os.utime(source, ns=(later, later))


DAMAGES = {
    "no library": (lambda kernels: (kernels / LIBRARY).unlink(), "the compiled kernels are missing"),
    "no declarations": (lambda kernels: (kernels / "_ffi.py").unlink(), "the compiled kernels are missing"),
    "empty declarations": (_damage("_ffi.py", lambda data: b""), "the declarations of the compiled kernels are broken"),
    "half the declarations": (
        _damage("_ffi.py", lambda data: data[: len(data) // 2]),
        "the declarations of the compiled kernels are broken",
    ),
    "half a library": (
        _damage(LIBRARY, lambda data: data[: len(data) // 2]),
        "the library of compiled kernels is truncated",
    ),
    "no segments": (_damage(LIBRARY, lambda data: data[:80]), "the library of compiled kernels is truncated"),
    "an empty library": (_damage(LIBRARY, lambda data: b""), "cannot be loaded"),
    "something else": (_damage(LIBRARY, lambda data: b"\0" * len(data)), "cannot be loaded"),
    "another version": (_another_version, "the library of compiled kernels is of another version"),
    "an edited source": (_edit, "the C files have changed since the kernels were compiled"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_library_that_does_not_belong_here_is_refused_in_one_line(name: str, copy: Path) -> None:
    damage, message = DAMAGES[name]
    damage(copy / "tokdfa" / "kernels")
    done = _info(copy)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert done.stderr.startswith("tokdfa: error: ")
    assert message in done.stderr
    assert f"(run: python {copy / 'tokdfa' / 'kernels' / 'backend' / 'compile.py'})" in done.stderr


def test_a_library_of_another_system_next_to_it_is_not_looked_at(copy: Path) -> None:
    kernels = copy / "tokdfa" / "kernels"
    for name in {"_kernels.so", "_kernels.dll", "_kernels.dylib"} - {LIBRARY}:
        (kernels / name).write_bytes(b"something")
    assert _info(copy).returncode == 0


@pytest.mark.parametrize("tool", [["strip"], ["patchelf", "--set-rpath", "$ORIGIN/" + "x" * 500]])
def test_packagers_may_change_the_library(tool: list[str], copy: Path) -> None:
    if not shutil.which(tool[0]) or not sys.platform.startswith("linux"):
        pytest.skip(f"there is no {tool[0]} for libraries of Linux here")
    library = copy / "tokdfa" / "kernels" / LIBRARY
    size = library.stat().st_size
    subprocess.run([*tool, str(library)], check=True)
    assert library.stat().st_size != size
    done = _info(copy)
    assert done.returncode == 0, done.stderr


def test_outside_a_checkout_the_advice_is_to_install_again(copy: Path) -> None:
    (copy / "pyproject.toml").unlink()
    # Nothing can be compiled there: sources that were edited are nobody's business.
    _edit(copy / "tokdfa" / "kernels")
    assert _info(copy).returncode == 0
    (copy / "tokdfa" / "kernels" / LIBRARY).unlink()
    done = _info(copy)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "(install tokdfa again)" in done.stderr


def test_sources_that_are_newer_but_the_same_are_no_trouble(copy: Path) -> None:
    later = time.time_ns() + 10**9
    for source in (copy / "tokdfa" / "kernels").glob("*/*.c"):
        os.utime(source, ns=(later, later))
    done = _info(copy)
    assert done.returncode == 0, done.stderr
    assert "rules" in done.stdout


def test_a_package_that_cannot_be_written_runs(copy: Path) -> None:
    for path in [*copy.rglob("*"), copy]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        done = _info(copy)
    finally:
        for path in [copy, *copy.rglob("*")]:
            path.chmod(0o755)
    assert done.returncode == 0, done.stderr
