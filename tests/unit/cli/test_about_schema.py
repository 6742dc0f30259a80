"""tokdfa schema describes the output of --json exactly, and nothing that is never printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support import commands, schemas
from tests.support.command_files import Files
from tests.support.command_runs import EXAMPLES
from tokdfa.cli.about import described
from tokdfa.cli.group import COMMANDS, group
from tokdfa.draw.render import can_render
from tokdfa.jobs.comparison.result import Outcome, Part
from tokdfa.jobs.validation.violation import ViolationKind


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def _under(place: str) -> set[str]:
    """Return all that the schema of info promises at a place."""
    return {each for each in schemas.promised("info") if each.startswith(place)}


# Oddities that only files of byte pairs and of SentencePiece can have.
_OF_OTHERS = ("no pre", "scores not ordered")
# Certificates are written, and checked, in tests/unit/jobs/certificates/test_api.py.
CERTIFICATE = {
    "#/properties/certificate = 'object'",
    *(f"#/properties/certificate/properties/{field}" for field in ("path", "bytes")),
}
# Values that no run of support.command_runs prints.
ELSEWHERE = {
    "compare": CERTIFICATE,
    "convert": CERTIFICATE,
    "splice": CERTIFICATE,
    "guess": {
        *(f"#/$defs/segment/properties/unit = '{unit}'" for unit in ("member", "sample", "row")),
        # The violations of validate, and mistakes that need larger vocabularies.
        *(
            f"#/$defs/kind/properties/kind = '{kind}'"
            for kind in ViolationKind
            if kind not in ("pair", "boundary", "not-utf8", "id-out-of-range")
        ),
        *(
            f"#/$defs/mistake/properties/kind = '{kind}'"
            for kind in ("specials-as-text", "cut-to-16-bits", "another-version", "mixed")
        ),
        "#/$defs/part",
        *(f"#/$defs/part/properties/{name}" for name in ("name", "begin")),
        *(f"#/$defs/part/properties/begin/properties/{name}" for name in ("file", "unit", "number", "token")),
        *(
            f"#/$defs/part/properties/begin/properties/unit = '{unit}'"
            for unit in ("byte", "row", "line", "sample", "member", "token")
        ),
    },
    "info": {
        # A whole file of CLIP has 48,894 rules; and Windows does not report the memory of a process.
        "#/$defs/byte_pairs/properties/format = 'clip'",
        # Files with these oddities are refused, the oddities go to stderr, or only files of other kinds have them.
        *(
            place
            for name in ("unigram", "by_piece", "longest_match")
            for place in (
                *_under(f"#/$defs/{name}/properties/lint/items"),
                f"#/$defs/{name}/properties/peak_memory_bytes = 'null'",
            )
        ),
        *(
            f"#/$defs/{algorithm}/properties/lint/items/properties/kind = '{kind}'"
            for algorithm, others in (("byte_pairs", ("merge without token",)), ("wordpiece", _OF_OTHERS))
            for kind in ("duplicate token", "pattern is a string", "unknown pre", *others)
        ),
        "#/$defs/byte_pairs/properties/left_out/items = 'add_sep_token'",
        "#/$defs/byte_pairs/properties/peak_memory_bytes = 'null'",
        "#/$defs/wordpiece/properties/peak_memory_bytes = 'null'",
        # GGUF files of Unigram models, and of RWKV with special tokens.
        "#/$defs/unigram/properties/format = 'gguf'",
        "#/$defs/longest_match/properties/format = 'gguf'",
        *(f"#/$defs/longest_match/properties/specials_policy = '{policy}'" for policy in ("found", "ignored")),
        "#/$defs/longest_match/properties/left_out/items",
    },
    # The examination of a folder by a package that is not installed.
    "doctor": set() if find_spec("transformers") is None else {"#/$defs/finding/properties/optional = 'true'"},
    # These are met in tests/unit/training/test_checking.py.
    "train": {
        f"#/$defs/checked/properties/wrong/oneOf/1/properties/cause = '{cause}'"
        for cause in ("overflow", "normalization", "alphabet")
    },
    "rollouts": {
        # With bad records the status is 2.
        "#/properties/errors/items",
        "#/properties/errors/items/properties/error",
        "#/properties/errors/items/properties/source",
    },
}


def test_the_commands_with_json_are_those_with_a_schema() -> None:
    with_json = set()
    for name in COMMANDS:
        command = group.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        if any("--json" in parameter.opts for parameter in command.params):
            with_json.add(name)
    assert with_json == set(described()) == set(EXAMPLES)


def test_the_kinds_of_violations_are_those_of_the_schema() -> None:
    kinds = schemas.schema("validate")["$defs"]["violation"]["properties"]["kind"]["enum"]
    assert kinds == [kind.value for kind in ViolationKind]
    # Rollouts are whole texts.
    assert schemas.schema("rollouts")["$defs"]["kind"]["enum"] == [kind for kind in kinds if kind != "in-no-text"]


def test_the_parts_and_outcomes_of_comparisons_are_those_of_the_schema() -> None:
    checked = schemas.schema("compare")["properties"]["checked"]["properties"]
    # The others are of dictionaries alone, which have no command.
    assert {*Part} - checked.keys() == {Part.SEMANTICS, Part.RULES, Part.LIVE_TOKENS, Part.ALLOWED_PAIRS}
    assert checked.keys() < {*Part}
    assert {outcome for part in checked.values() for outcome in part["enum"]} == {*Outcome}


def test_the_list_and_the_schemas(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("schema") == 0
    names = capsys.readouterr().out.splitlines()
    assert names == sorted(EXAMPLES)
    for name in names:
        assert commands.run("schema", name) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed == schemas.schema(name)
        assert printed["title"] == f"tokdfa {name} --json"
        assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("name", ["demo", "nobody", "../group", ""])
def test_other_commands_have_none(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("schema", name) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tokdfa: error: ")
    assert err.count("\n") == 1
    assert ", ".join(sorted(EXAMPLES)) in err


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_schema_is_closed_and_says_what_everything_is(name: str) -> None:
    schema = schemas.schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["description"]
    for place, node in _nodes("#", schema):
        if "properties" in node or "patternProperties" in node:
            assert node["type"] in ("object", ["object", "null"]), place
            assert node["additionalProperties"] is False, place
            assert "patternProperties" in node or "required" in node, place
        for field, child in node.get("properties", {}).items():
            described = schema["$defs"][child["$ref"].rpartition("/")[2]] if "$ref" in child else child
            assert re.fullmatch(r"[A-Z].*[.]", described["description"]), f"{place}, {field}"
            assert re.fullmatch(r"[a-z][a-z0-9_]*", field), f"{place}, {field}"


def _nodes(place: str, node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        yield place, node
        for key, child in node.items():
            yield from _nodes(f"{place}/{key}", child)
    elif isinstance(node, list):
        for number, child in enumerate(node):
            yield from _nodes(f"{place}/{number}", child)


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_that_a_schema_promises_is_met_and_nothing_else_is_valid(
    name: str, files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    met: set[str] = set()
    ways: set[tuple[object, object]] = set()
    for arguments in EXAMPLES[name](files):
        # Results are printed even if some of the files are not readable.
        statuses = (0, 1, 2) if name in ("stores", "info", "guess", "validate", "doctor", "replace") else (0, 1)
        assert commands.run(name, *arguments, "--json") in statuses, capsys.readouterr().err
        answer = json.loads(capsys.readouterr().out)
        met_here = schemas.met(name, answer)
        met |= met_here
        # Answers with the same fields, of the same definitions, are spoiled in the same ways.
        form = frozenset(place for place in met_here if re.fullmatch(r"#/\$defs/\w+", place))
        for way, spoiled in _spoiled(answer):
            if (form, way) not in ways:
                ways.add((form, way))
                assert not schemas.validator(name).is_valid(spoiled), spoiled
    promised = schemas.promised(name)
    left = {place for place in promised - met if not (not can_render() and "film" in place)}
    assert met <= promised
    assert left == ELSEWHERE.get(name, set())


def _spoiled(answer: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield answers with a field too many, at the top or within, with one of another type, and without one.

    Each comes with the way in which it is spoiled, which answers of one form share.
    """

    def objects(place: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        if isinstance(value, dict):
            yield place, value
            for name, member in value.items():
                yield from objects(f"{place}/{name}", member)
        elif isinstance(value, list):
            for member in value[:2]:
                yield from objects(f"{place}/items", member)

    for place, fields in [*objects("#", answer)]:
        way = (place, *fields)
        fields["surplus"] = 0
        yield way, answer
        del fields["surplus"]
    for field in answer:
        yield ("another type", field, *answer), {**answer, field: [[0.5]]}
        # Without these it is an answer of another kind.
        if field not in ("matches", "frames"):
            yield ("missing", field, *answer), {other: value for other, value in answer.items() if other != field}
