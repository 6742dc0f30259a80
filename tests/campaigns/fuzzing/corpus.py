"""The committed corpora: the inputs that a target starts from, one archive a target."""

from __future__ import annotations

import zipfile
from pathlib import Path

FOLDER = Path(__file__).with_name("corpora")


def archive(target: str) -> Path:
    """Return the path of the archive of a target, which need not exist."""
    return FOLDER / f"{target}.zip"


def inputs(target: str) -> dict[str, bytes]:
    """Return the inputs of a target by their names, in their order."""
    with zipfile.ZipFile(archive(target)) as file:
        return {name: file.read(name) for name in sorted(file.namelist())}


def unpack(target: str, folder: Path) -> Path:
    """Write the inputs of a target into a folder of its name within `folder`, and return that one."""
    place = folder / target
    place.mkdir(parents=True, exist_ok=True)
    if archive(target).exists():
        for name, data in inputs(target).items():
            (place / name).write_bytes(data)
    return place


def pack(target: str, kept: dict[str, bytes]) -> None:
    """Replace the archive of a target; equal inputs make an equal archive."""
    FOLDER.mkdir(exist_ok=True)
    with zipfile.ZipFile(archive(target), "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in sorted(kept.items()):
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
