"""Checkpoints: how far a corpus has been counted, in a file that is either complete or absent."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tokdfa.errors import FileFormatError, TokenStreamError, TrainingError
from tokdfa.stores.npy import read_header
from tokdfa.training.atomic import write_atomically
from tokdfa.training.pieces import PieceCounts

__all__ = ["Checkpoint"]

_VERSION = 1
_NAMES = ("request", "text", "ends", "counts", "place")


class Checkpoint:
    """The checkpoint file of a training.

    Parameters
    ----------
    path : str or Path
    request : mapping
        The corpus and the options of the training, as JSON values. A checkpoint of another request is refused.
    """

    def __init__(self, path: str | Path, request: dict[str, Any]) -> None:
        self.path = Path(path)
        self._request = json.loads(json.dumps({"version": _VERSION, **request}))

    def load(self) -> tuple[PieceCounts, int, int] | None:
        """Return the pieces counted, and the file and the byte from which to go on; None if there is no checkpoint.

        Raises
        ------
        TrainingError
            If it belongs to another corpus or other options.
        FileFormatError
            If the file is not a checkpoint.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            arrays = _read_arrays(data)
            request = json.loads(arrays["request"].tobytes()) if arrays else None
        except (ValueError, EOFError, OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            # RuntimeError is what a member with a password and JSON nested too deeply raise.
            raise FileFormatError(f"not a checkpoint: {error}", where=str(self.path), hint="delete it") from None
        if not isinstance(request, dict):
            raise FileFormatError("not a checkpoint: its arrays do not fit together", where=str(self.path),
                                  hint="delete it")  # fmt: skip
        if request != self._request:
            differing = [key for key in self._request if request.get(key) != self._request[key]]
            raise TrainingError(
                f"this checkpoint is of another training, which differs in {', '.join(differing) or 'the version'}",
                where=str(self.path),
                hint="delete it to start again",
            )
        text, ends, counts, place = (arrays[name] for name in ("text", "ends", "counts", "place"))
        if not _are_counts(text, ends, counts) or place.dtype != np.int64 or place.shape != (2,) or (place < 0).any():
            raise FileFormatError("not a checkpoint: its arrays do not fit together", where=str(self.path),
                                  hint="delete it")  # fmt: skip
        return PieceCounts(text, ends, counts), int(place[0]), int(place[1])

    def save(self, pieces: PieceCounts, file: int, offset: int) -> None:
        """Write the checkpoint, replacing the previous one."""
        buffer = io.BytesIO()
        np.savez(
            buffer,
            request=np.frombuffer(json.dumps(self._request).encode(), np.uint8),
            text=pieces.text,
            ends=pieces.ends,
            counts=pieces.counts,
            place=np.array([file, offset], np.int64),
        )
        write_atomically(self.path, buffer.getvalue())

    def remove(self) -> None:
        """Delete the checkpoint, which is of no use after the training."""
        self.path.unlink(missing_ok=True)


def _read_arrays(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an archive as `save` writes them; nothing where one is missing or of another kind.

    numpy reads whatever is called an array, and lets through every exception that a header can cause.
    """
    found: dict[str, npt.NDArray[Any]] = {}
    if not data.startswith(b"PK\x03\x04"):
        return found  # zipfile would skip what precedes an archive
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in _NAMES:
            member = archive.NameToInfo.get(f"{name}.npy")
            # Packed, a small file could take any amount of memory.
            if member is None or member.compress_type != zipfile.ZIP_STORED or member.file_size > len(data):
                return {}
            stream = io.BytesIO(archive.read(member))
            try:
                dtype, count = read_header(stream, name)
            except TokenStreamError:
                return {}
            array = np.frombuffer(stream.read(), np.uint8)
            if len(array) != count * dtype.itemsize:
                return {}
            found[name] = array.view(dtype)
    return found


def _are_counts(text: npt.NDArray[Any], ends: npt.NDArray[Any], counts: npt.NDArray[Any]) -> bool:
    """Return whether these can be consecutive pieces, the ends of the pieces, and their counts."""
    typed = text.dtype == np.uint8 and ends.dtype == counts.dtype == np.int64
    if not typed or text.ndim != 1 or ends.ndim != 1 or ends.shape != counts.shape:
        return False
    borders = np.concatenate((np.zeros(1, np.int64), ends))
    # Compared, not subtracted: a difference may not fit.
    return bool((borders[1:] > borders[:-1]).all() and borders[-1] == len(text) and (counts > 0).all())
