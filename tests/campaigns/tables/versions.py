"""Extract the tables of other versions of the libraries: ``python -m tests.campaigns.tables.versions FOLDER``.

Every version in :data:`VERSIONS` is installed by pip into a folder of its own within FOLDER, unless it is there, and
asked in a process of its own: first for digests of all it knows; of versions with equal digests, the newest one for its
table. ``data/versions.json`` is written anew; it has the changes that turn each table into the next older one.

Answers are kept in FOLDER. A new version takes a minute or less, and some megabytes of download.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from tests.campaigns.tables import classes as probe
from tokdfa.regex.unicode.ranges import SCALARS, Ranges, complement, difference, union
from tokdfa.regex.unicode.tables import CATEGORIES, content, names, ranges, universe, version
from tokdfa.regex.unicode.versions import TABLES, Table, data_file, library_of, ranges_of, symmetric_difference

__all__ = ["VERSIONS", "installed_copy", "main"]

VERSIONS: dict[Table, tuple[str, ...]] = {
    "tokenizers": (
        "0.13.2", "0.13.3", "0.14.0", "0.14.1", "0.15.0", "0.15.1", "0.15.2", "0.19.0", "0.19.1", "0.20.0", "0.20.1",
        "0.20.2", "0.20.3", "0.21.0", "0.21.1", "0.21.2", "0.21.4", "0.22.0", "0.22.1", "0.22.2", "0.23.1", "0.23.2",
        "0.23.3",
    ),
    "tiktoken": (
        "0.1.1", "0.1.2", "0.2.0", "0.3.0", "0.3.1", "0.3.2", "0.3.3", "0.4.0", "0.5.0", "0.5.1", "0.5.2", "0.6.0",
        "0.7.0", "0.8.0", "0.9.0", "0.10.0", "0.11.0", "0.12.0", "0.13.0", "0.14.0",
    ),
    "regex": (
        "2022.10.31", "2023.12.25", "2024.5.15", "2024.7.24", "2024.9.11", "2024.11.6", "2025.8.29", "2025.9.1",
        "2025.9.18", "2025.11.3", "2026.5.9", "2026.6.28", "2026.7.10", "2026.7.19", "2026.8.31", "2026.9.3",
        "2026.9.10", "2026.9.29", "2026.11.7", "2026.11.8", "2026.11.9", "2026.11.15", "2026.11.19",
    ),
}  # fmt: skip
"""The releases that were asked, oldest first: of tokenizers and tiktoken all that have wheels for Python 3.11, the
oldest Python that tokdfa supports; of `regex` some. Others are refused until they are listed and asked."""

_PART = 1 << 12


# In the process of a version


def _scripts() -> list[str]:
    """Return the names of scripts to try: all of the newest table."""
    others = (*CATEGORIES, "alphabetic", "uppercase", "lowercase", "whitespace")
    return [name for name in names("regex") if not name.startswith("\\") and name not in others]


def _caseless(table: Table) -> Ranges:
    """Return all code points except letters, marks, numbers and symbols, and code points of large scripts."""
    large = union(*(ranges(name, "regex") for name in ("han", "hangul", "tangut", "egyptianhieroglyphs", "cuneiform")))
    some = union(*(ranges(category, "regex") for category in "LMNS"))
    return complement(difference(some, large), universe(table))


def _digest(table: Table) -> str:
    """Return digests of the classes of the installed library, of its matches without case, and of its steps."""
    parts: dict[str, object] = {
        "classes": probe._probe_classes(probe.libraries()[table], _scripts()),
        "case": [*_digest_case(table)],
    }
    if table == "tokenizers":
        parts |= {"own": probe._probe_own_classes(), **_digest_normalizers()}
    return json.dumps({name: hashlib.sha256(repr(part).encode()).hexdigest() for name, part in parts.items()})


def _digest_case(table: Table) -> Iterator[bytes]:
    """Yield the matches, without case, of some members of the sets that match one another in the newest table."""
    library = probe.libraries()[table]
    sets = content(table)["case"]
    text = "".join(map(chr, sorted(member for members in sets for member in members)))
    for place in range(max(map(len, sets))):
        some = [members[place] for members in sets if place < len(members)]
        # A union for each bit of a number; these have equally many bits, so that no union can hide another.
        for chosen in filter(None, _unions(some)):
            yield library.matches(f"(?i:{probe._bracket(sorted(set(chosen)))})", text).tobytes()


def _unions(members: list[int]) -> Iterator[list[int]]:
    n_unions = 13
    codes = list(zip(members, combinations(range(n_unions), n_unions // 2), strict=False))
    assert len(codes) == len(members)
    for number in range(n_unions):
        yield [member for member, code in codes if number in code]


def _digest_normalizers() -> dict[str, str]:
    """Return a digest of each normalizer's output for all characters."""
    from tokenizers import normalizers

    bert = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    steps = {name: normalizers.BertNormalizer(**{other: other == name for other in bert}) for name in bert}
    steps |= {
        name: getattr(normalizers, name)() for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")
    }
    text = "".join(chr(code) for first, last in SCALARS for code in range(first, last + 1))
    found = {}
    for name, step in steps.items():
        digest = hashlib.sha256()
        for at in range(0, len(text), _PART):
            digest.update(step.normalize_str("x".join(text[at : at + _PART])).encode())
        found[name] = digest.hexdigest()
    return found


def _answer(what: str, table: Table) -> str:
    if what == "digest":
        return _digest(table)
    return probe.as_text(probe.probe(table, _scripts(), _caseless(table)))


# In the process that asks all versions


def installed_copy(library: str, version: str, folder: Path) -> Path:
    """Return the folder of a version of a library within `folder`, where pip installs it if it is not there."""
    path = folder / f"{library}-{version}"
    if not path.is_dir():
        new = path.with_suffix(".new")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--target", str(new), f"{library}=={version}"], check=True)
        new.rename(path)
    return path


def _ask(what: str, library: Table, version: str, folder: Path) -> str:
    """Return the answer of a version, kept in a file."""
    path = folder / f"{library}-{version}.{what}"
    if not path.exists():
        root = Path(__file__).parents[3]
        environment = {**os.environ, "PYTHONPATH": f"{installed_copy(library, version, folder)}{os.pathsep}{root}"}
        command = [sys.executable, "-m", "tests.campaigns.tables.versions", "--ask", what, library]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, encoding="utf-8")
        path.write_text(done.stdout, "utf-8")
        print(library, version, what, hashlib.sha256(done.stdout.encode()).hexdigest()[:16], flush=True)
    return path.read_text("utf-8")


def _ranges(library: Table, folder: Path) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """Return the runs of versions with equal digests, the newest first, each with the digests."""
    asked = [(number, json.loads(_ask("digest", library, number, folder))) for number in reversed(VERSIONS[library])]
    return [
        (tuple(number for number, _ in reversed(list(run))), digests)
        for digests, run in groupby(asked, key=itemgetter(1))
    ]


def _differences(library: Table, folder: Path) -> list[dict[str, Any]]:
    """Return the entries of the file for a library: the versions of a table, and the changes from the newer one."""
    entries: list[dict[str, Any]] = []
    newer: dict[str, Any] = {}
    newest: dict[str, str] = {}
    for versions, digests in _ranges(library, folder):
        entry: dict[str, Any] = {"versions": versions}
        if not entries:
            if versions[-1] != version(library):
                raise ValueError(f"{library}.json is of {version(library)}; make that of {versions[-1]} first")
            table, newest = content(library), digests
        else:
            table = json.loads(_ask("table", library, versions[-1], folder))
            if table["expansions"] != newer["expansions"]:
                raise ValueError(f"{library} {versions[-1]} matches other sequences when case is ignored")
            entry["classes"] = {
                name: symmetric_difference(newer["classes"].get(name, ()), table["classes"].get(name, ()))
                for name in sorted({*newer["classes"], *table["classes"]})
                if newer["classes"].get(name) != table["classes"].get(name)
            }
            gone = [members for members in newer["case"] if members not in table["case"]]
            new = [members for members in table["case"] if members not in newer["case"]]
            entry["case"] = [gone, new]
            others = digests.keys() - {"classes", "case", "own"}
            entry["normalizers"] = sorted(name for name in others if digests[name] != newest[name])
        entries.append(entry)
        newer = table
    return entries


def main(arguments: list[str]) -> None:
    """Answer for the installed version, or ask all versions and write the file."""
    if arguments[:1] == ["--ask"]:
        print(_answer(arguments[1], library_of(arguments[2])), end="")
        return
    folder = Path(arguments[0]).absolute()
    folder.mkdir(exist_ok=True)
    found = {library: _differences(library, folder) for library in TABLES}
    # Its only table is in `llama_cpp`.
    found["llama.cpp"] = [{"versions": list(part.versions)} for part in ranges_of("llama.cpp")]
    rows = (
        f"{json.dumps(library)}: [\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in entries) + "\n]"
        for library, entries in found.items()
    )
    path = data_file("versions")
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
