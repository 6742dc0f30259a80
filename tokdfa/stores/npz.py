"""Archives of numpy: ids in one of their arrays."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.fields import ids_field
from tokdfa.stores.npy import read_header
from tokdfa.stores.store import CHUNK, Chunk, Problem, Store

__all__ = ["ZIP", "NpzStore"]

ZIP = (b"PK\x03\x04", b"PK\x05\x06")


class NpzStore(Store):
    """An archive of arrays, one of which has ids: one with a usual name, or the only one."""

    def __init__(self, path: Path, field: str | None = None) -> None:
        with path.open("rb"):  # Its error names the file.
            pass
        import zipfile

        try:
            with zipfile.ZipFile(path) as archive:
                names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
                self._name = ids_field(names, field, str(path), names) + ".npy"
                if self._name not in archive.namelist():
                    raise TokenStreamError("the field is missing", value=field, where=str(path))
                size = archive.getinfo(self._name).file_size
                with archive.open(self._name) as stream:
                    dtype, count = read_header(stream, self._where(path))
                    begin = stream.tell()
        except TokenStreamError:
            raise
        except _damage() as error:
            raise TokenStreamError("the archive is damaged or cut short", value=str(error), where=str(path)) from None
        problems: tuple[Problem, ...] = ()
        if begin + count * dtype.itemsize != size:
            what = f"the array has {size} bytes instead of {begin + count * dtype.itemsize}"
            problems = (Problem(self._where(path), what),)
        super().__init__(path, ".npz", dtype=dtype, n_ids=count, problems=problems)

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of the array; see :meth:`Store.iter_chunks`."""
        assert self.dtype is not None
        import zipfile

        done = 0
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(self._name) as stream:
                read_header(stream, self._where(self.path))
                while data := stream.read((size or CHUNK) * self.dtype.itemsize):
                    if len(data) % self.dtype.itemsize:
                        raise EOFError("the array ends in the middle of an id")
                    yield Chunk(np.frombuffer(data, dtype=self.dtype))
                    done += len(data) // self.dtype.itemsize
        except TokenStreamError:
            raise
        except _damage() as error:
            what = "the archive is damaged or cut short"
            raise TokenStreamError(what, value=str(error), where=f"{self.path}, token {done}") from None

    def _where(self, path: Path) -> str:
        return f"{path}, array {self._name.removesuffix('.npy')}"


def _damage() -> tuple[type[Exception], ...]:
    """Return what zipfile raises for damaged archives; places outside of the file are an OSError or a ValueError."""
    import zipfile

    return zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError
