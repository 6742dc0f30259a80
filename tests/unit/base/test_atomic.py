"""Where files can be written is known beforehand, and they are written whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tokdfa.base.atomic import check_writable, write_atomically, write_together


def test_what_can_be_written_passes(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "new")
    for path in (tmp_path / "new", tmp_path / "old", tmp_path / "link", Path(os.devnull), str(tmp_path / "new")):
        check_writable(path)
    assert (tmp_path / "old").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "old"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("folder", errno.EISDIR),
        ("link", errno.EISDIR),
        ("missing/new", errno.ENOENT),
        ("file/new", errno.ENOTDIR),
    ],
)
def test_why_a_file_cannot_be_written(name: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    with pytest.raises(OSError, match=os.strerror(code)) as caught:
        check_writable(tmp_path / name)
    assert caught.value.errno == code
    assert caught.value.filename == str(tmp_path / ("folder" if name == "link" else name))


def test_locked_folders_and_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A user who may write everywhere, like root, gets the same answer.
    asked = []

    def access(path: Path, mode: int) -> bool:
        asked.append((path, mode))
        return False

    monkeypatch.setattr(os, "access", access)
    for path in (tmp_path / "new", Path(os.devnull)):
        with pytest.raises(PermissionError) as caught:
            check_writable(path)
        assert caught.value.filename == str(path)
    assert asked == [(tmp_path, os.W_OK), (Path(os.devnull), os.W_OK)]


def test_several_parts_are_one_file(tmp_path: Path) -> None:
    write_atomically(tmp_path / "new", [b"one ", memoryview(b"two "), b"three"])
    assert (tmp_path / "new").read_bytes() == b"one two three"
    write_together({tmp_path / "new": b"again", str(tmp_path / "other"): [b"", b"more"]})
    assert (tmp_path / "new").read_bytes() == b"again"
    assert (tmp_path / "other").read_bytes() == b"more"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "other"]


@pytest.mark.parametrize("read", ["ids.npy", None])
def test_nothing_is_left_of_what_fails(read: str | None, tmp_path: Path) -> None:
    """An error of reading the data keeps its file name, if it has one, and does not name the output."""

    def broken() -> Iterator[bytes]:
        yield b"begun"
        raise OSError(errno.EIO, os.strerror(errno.EIO), read)

    (tmp_path / "one").write_bytes(b"before")
    with pytest.raises(OSError, match="Input/output") as caught:
        write_together({tmp_path / "one": b"after", tmp_path / "two": broken()})
    assert caught.value.filename == read
    assert (tmp_path / "one").read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


@pytest.mark.skipif(not hasattr(os, "fchmod"), reason="this system has no such permissions")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
def test_a_file_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    path.chmod(mode)
    seen = []

    def parts() -> Iterator[bytes]:
        # Nobody who could not read the old file can read a part of the new one.
        seen.append((tmp_path / ".old.part").stat().st_mode & 0o777)
        yield b"new"

    write_atomically(path, parts())
    assert (path.read_bytes(), path.stat().st_mode & 0o777, seen) == (b"new", mode, [mode])
    write_atomically(tmp_path / "new", b"new")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o666 & ~mask
