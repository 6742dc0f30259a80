"""The output of commands with ``--json``, checked against the shipped schemas; and how much of a schema is met."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from tokdfa.cli.about import schema_text

__all__ = ["check", "met", "promised", "schema", "validator"]


@cache
def schema(command: str) -> dict[str, Any]:
    """The schema of a command."""
    loaded = json.loads(schema_text(command))
    assert isinstance(loaded, dict)
    return loaded


@cache
def validator(command: str) -> Draft202012Validator:
    return Draft202012Validator(schema(command))


def check(command: str, printed: str) -> None:
    """Fail if what was printed is not one JSON object as the schema of the command describes it."""
    error = best_match(validator(command).iter_errors(_shortened(json.loads(printed))))
    assert error is None, f"{command} --json, {error.json_path}: {error.message[:500]}"


def _shortened(answer: Any) -> Any:
    """The answer with the middle of long arrays left out: there are streams of a million ids."""
    if isinstance(answer, dict):
        return {name: _shortened(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return [_shortened(value) for value in (answer if len(answer) <= 1000 else answer[:500] + answer[-500:])]
    return answer


def promised(command: str) -> set[str]:
    """Everything that some answer has by the schema: fields, members of arrays, values of enumerations, types."""
    found: set[str] = set()
    pending = [("#", schema(command))]
    while pending:
        place, node = pending.pop()
        if "$ref" in node:
            pending.append((node["$ref"], _at(command, node["$ref"])))
            continue
        found |= {place, *(f"{place} = {value!r}" for value in _values(node))}
        pending += [*_children(place, node), *_branches(place, node)]
    return found


def met(command: str, answer: object) -> set[str]:
    """The part of :func:`promised` that a valid answer has."""
    found: set[str] = set()
    pending: list[tuple[str, dict[str, Any], object]] = [("#", schema(command), answer)]
    while pending:
        place, node, value = pending.pop()
        if "$ref" in node:
            pending.append((node["$ref"], _at(command, node["$ref"]), value))
            continue
        found |= {place, *(f"{place} = {known!r}" for known in _values(node) if known in (value, _kind(value)))}
        pending += [
            (there, branch, value)
            for there, branch in _branches(place, node)
            if validator(command).evolve(schema={**branch, "$defs": schema(command).get("$defs", {})}).is_valid(value)
        ]
        children = dict(_children(place, node))
        for name, member in value.items() if isinstance(value, dict) else ():
            there = f"{place}/properties/{name}"
            pending += [
                (key, child, member)
                for key, child in children.items()
                if key == there or key.startswith(f"{place}/patternProperties/")
            ]
        if isinstance(value, list) and f"{place}/items" in children:
            pending += [(f"{place}/items", children[f"{place}/items"], member) for member in value]
    return found


def _at(command: str, reference: str) -> dict[str, Any]:
    node: Any = schema(command)
    for name in reference.removeprefix("#/").split("/"):
        node = node[name]
    assert isinstance(node, dict)
    return node


def _children(place: str, node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for keyword in ("properties", "patternProperties"):
        for name, child in node.get(keyword, {}).items():
            yield f"{place}/{keyword}/{name}", child
    if "items" in node:
        yield f"{place}/items", node["items"]


def _branches(place: str, node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, branch in enumerate(node.get("oneOf", ())):
        yield f"{place}/oneOf/{number}", branch


def _values(node: dict[str, Any]) -> list[Any]:
    """The values that a schema lists; where several types are possible, their names."""
    if "enum" in node:
        return list(node["enum"])
    kinds = node.get("type", [])
    return list(kinds) if isinstance(kinds, list) else ["true", "false"] if kinds == "boolean" else []


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    kinds = {type(None): "null", str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return kinds[type(value)]
