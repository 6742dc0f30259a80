"""Folders of Hugging Face datasets: one split as `Dataset.save_to_disk` writes it, or several.

Notes
-----
As datasets' ``Dataset.save_to_disk`` and ``DatasetDict.save_to_disk`` write them: ``state.json`` names the Arrow
streams of a split in ``_data_files``; ``dataset_dict.json`` names the splits, each a folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.stores.columns import TableStore
from tokdfa.stores.folder import FolderStore, is_there, read_index
from tokdfa.stores.store import Problem, Store

__all__ = ["SPLITS", "STATE", "open_dataset", "split_files"]

STATE = "state.json"
SPLITS = "dataset_dict.json"


def open_dataset(folder: Path, field: str | None = None) -> FolderStore:
    """Open a dataset, or all splits of one."""
    members: list[Store] = []
    problems: list[Problem] = []
    for file in split_files(folder):
        if is_there(file):
            members.append(TableStore(file, field))
        else:
            problems.append(Problem(str(folder), f"there is no file {file.relative_to(folder)}"))
    return FolderStore(folder, "Hugging Face dataset", members, problems)


def split_files(folder: Path) -> list[Path]:
    """Return the files of a dataset, in order, whether they are there or not."""
    if not (folder / SPLITS).is_file():
        return _named(folder)
    described = read_index(folder / SPLITS)
    splits = described.get("splits") if isinstance(described, Mapping) else None
    found: list[Path] = []
    for split in map(str, splits if isinstance(splits, list) else []):
        part = folder / Path(split).name
        found += _named(part) if is_there(part / STATE) else [part / STATE]
    return found


def _named(folder: Path) -> list[Path]:
    path = folder / STATE
    state = read_index(path)
    files = state.get("_data_files") if isinstance(state, Mapping) else None
    if isinstance(state, Mapping) and (state.get("_indices_files") or state.get("_indices_data_files")):
        hint = "load it with datasets and save it again: dataset.flatten_indices().save_to_disk(folder)"
        raise UnsupportedFeatureError("rows in the order of a table of indices", where=str(path), hint=hint)
    if not isinstance(files, list) or not all(isinstance(file, Mapping) for file in files):
        raise TokenStreamError("it does not name the files of the dataset", where=str(path))
    return [folder / Path(str(file.get("filename"))).name for file in files]
