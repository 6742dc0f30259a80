"""The tables of other versions: their storage, and the libraries' answers where copies of the versions are."""

from __future__ import annotations

import hashlib
import json
import os
import random
from pathlib import Path

import pytest

from tests.campaigns.upgrades.__main__ import ask
from tokdfa.base.errors import PatternError, UnsupportedFeatureError, WrongTypeError
from tokdfa.regex.unicode import TABLES, case_variants, contains, library_of, ranges, version
from tokdfa.regex.unicode.tables import CATEGORIES, content, names
from tokdfa.regex.unicode.versions import (
    Range,
    changed_normalizers,
    known_versions,
    ranges_of,
    resolve,
    symmetric_difference,
)

EVERY = [part for library in TABLES for part in ranges_of(library)]
# The SHA-256 of each table as it was asked of its library, by the newest of its versions.
DIGESTS = json.loads(Path(__file__).with_name("versions.json").read_text("ascii"))


def ident(part: Range) -> str:
    return f"{part.library}-{part.versions[-1]}"


def digest(part: Range) -> str:
    table = content(part.name)
    return hashlib.sha256(
        json.dumps([table["classes"], table["case"], table["expansions"]], sort_keys=True).encode()
    ).hexdigest()


@pytest.mark.parametrize("part", EVERY, ids=ident)
def test_tables_are_those_that_were_asked(part: Range) -> None:
    assert digest(part) == DIGESTS[ident(part)]


def test_versions_are_in_one_range_each() -> None:
    for library in TABLES:
        parts = ranges_of(library)
        known = known_versions(library)
        assert len(set(known)) == len(known)
        assert parts[0].name == library
        assert all(part.name == f"{library}=={part.versions[-1]}" for part in parts[1:])
        assert version(library) == known[-1]
        for part in parts:
            assert all(resolve(f"{library}=={number}") == part for number in part.versions)
            assert version(part.name) == part.versions[-1]
            assert all(ranges(r"\w", f"{library}=={number}") == ranges(r"\w", part.name) for number in part.versions)


def test_what_is_known_to_have_changed() -> None:
    # U+1C89 is a letter since Unicode 16; tokenizers has its tables since 0.21.2.
    for number, is_letter in (("0.20.3", False), ("0.21.1", False), ("0.21.2", True), ("0.23.3", True)):
        assert contains(ranges("L", f"tokenizers=={number}"), 0x1C89) == is_letter
    assert contains(case_variants(((0x1C89, 0x1C89),), "tokenizers"), 0x1C8A)
    assert not contains(case_variants(((0x1C89, 0x1C89),), "tokenizers==0.21.1"), 0x1C8A)
    assert changed_normalizers("tokenizers") == frozenset()
    assert changed_normalizers("tokenizers==0.20.3") == {"Lowercase", "lowercase"}
    with pytest.raises(PatternError, match="no such character class"):
        ranges("garay", "tokenizers==0.20.3")
    assert contains(ranges("garay", "tokenizers"), 0x10D40)


def test_spaces_around_a_version_do_not_matter() -> None:
    assert "0.20.3" in resolve(" tokenizers == 0.20.3 ").versions


@pytest.mark.parametrize("unicode", ["tokenizers==0.1", "tokenizers==", "tokenizers", "icu==1", "", "=="])
def test_unknown_versions_are_answered_with_those_known(unicode: str) -> None:
    with pytest.raises(UnsupportedFeatureError) as caught:
        resolve(unicode)
    assert "tokdfa formats" in str(caught.value)
    if unicode.startswith("tokenizers=="):
        assert all(str(part) in str(caught.value) for part in ranges_of("tokenizers"))


def test_names_of_other_types_are_refused() -> None:
    with pytest.raises(WrongTypeError):
        resolve(16)  # type: ignore[arg-type]
    with pytest.raises(PatternError, match="unknown table"):
        library_of("icu==1")
    with pytest.raises(UnsupportedFeatureError):
        ranges("L", "tokenizers==0.1")


def test_symmetric_differences_of_sets() -> None:
    draw = random.Random(1)

    def deltas(members: set[int]) -> list[int]:
        edges = [edge for edge in range(13) if (edge in members) != (edge - 1 in members)]
        return [edge - before for edge, before in zip(edges, [0, *edges], strict=False)]

    for _ in range(300):
        one, other = ({number for number in range(12) if draw.random() < 0.5} for _ in range(2))
        assert symmetric_difference(deltas(one), deltas(other)) == deltas(one ^ other)


@pytest.mark.slow
@pytest.mark.parametrize("part", EVERY, ids=ident)
@pytest.mark.parametrize("end", [0, -1], ids=["oldest", "newest"])
def test_classes_are_those_of_the_version_on_all_code_points(part: Range, end: int) -> None:
    folder = os.environ.get("TOKDFA_VERSIONS")
    if folder is None:
        pytest.skip("TOKDFA_VERSIONS is unset: it names the folder of python -m tests.campaigns.tables.versions")
    scripts = [name for name in ("han", "greek", "garay", "kawi", "vithkuqi", "thai") if name in names(part.name)]
    classes = [name for name in CATEGORIES if len(name) == 2 and name not in ("LC", "Cs")] + scripts
    if part.library == "tiktoken" and "0.3.3" in part.versions:
        # Its regex-syntax takes \p{Sc} for a script without a name, and refuses it.
        classes.remove("Sc")
    patterns = [*(rf"\p{{{name}}}" for name in classes), r"\s", r"\w", r"\d"]
    edges = ask(part.library, part.versions[end], Path(folder), {"what": "classes", "patterns": patterns})
    for name, found in zip([*classes, r"\s", r"\w", r"\d"], edges, strict=True):
        expected = [edge for first, last in ranges(name, part.name) for edge in (first, last + 1)]
        assert found == expected, name
