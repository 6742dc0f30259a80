"""Documents that a guide for a schema lets through are valid by another library; what is not obeyed is refused."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import jsonschema
import pytest

import tokdfa
from tokdfa.base.errors import PatternError, TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.guiding.schemas import BoundedStringsWarning, pattern_of_schema

pytest.importorskip("outlines_core", reason="outlines-core makes expressions of JSON schemas")

TOKENIZER = tokdfa.default_tokenizer()
LEAVES: list[dict[str, Any]] = [
    {"type": "string", "maxLength": 4},
    {"type": "string", "minLength": 2, "maxLength": 3},
    {"type": "string", "pattern": "a\\d|b[\\w-]?"},
    {"type": "string", "pattern": "^[a-f]{2,3}$"},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "date-time"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": ["integer", "null"]},
    {"enum": ["x", 3, None, "\u00e9 "]},
    {"const": {"k": [1, "two"]}},
    {"$ref": "#/$defs/flag"},
    {"type": "object", "additionalProperties": False},
]
NAMES = ["a", "b.c*", "name", "\u00e9", "x y", "$"]


def random_schema(source: random.Random, depth: int = 2) -> dict[str, Any]:
    """Return a schema of keywords that are obeyed."""
    kind = source.random() if depth else 0.0
    if kind < 0.4:
        return source.choice(LEAVES)
    if kind < 0.6:
        return {
            "type": "array",
            "items": random_schema(source, depth - 1),
            "minItems": source.randrange(2),
            "maxItems": 2,
        }
    if kind < 0.7:
        return {"anyOf": [random_schema(source, depth - 1) for _ in range(2)], "description": "either"}
    if kind < 0.75:
        return {"oneOf": [{"type": "boolean"}, {"type": "string", "maxLength": 2}]}
    names = source.sample(NAMES, source.randrange(1, 4))
    return {
        "type": "object",
        "title": "some",
        "properties": {name: random_schema(source, depth - 1) for name in names},
        "required": source.sample(names, source.randrange(len(names) + 1)),
        "additionalProperties": source.choice([True, False]),
    }


def document(guide: tokdfa.Guide, source: random.Random) -> str:
    """Return the text of a random stream that ends within a budget."""
    ids: list[int] = []
    state, left = guide.initial, guide.least(guide.initial) + source.randrange(12)
    while not guide.is_final(state) or (left and source.random() < 0.5):
        allowed = guide.allowed(state, remaining=left)
        if not len(allowed):
            break
        ids.append(int(source.choice(allowed)))
        target = guide.step(state, ids[-1])
        assert target is not None
        state, left = target, left - 1
    assert guide.is_final(state)
    return TOKENIZER.decode(ids)


def test_documents_of_random_schemas_are_valid() -> None:
    source = random.Random(3)
    kinds: set[str] = set()
    for _ in range(40):
        schema = random_schema(source) | {"$defs": {"flag": {"type": "boolean"}}}
        guide = TOKENIZER.guide(schema=schema)
        for _ in range(5):
            found = json.loads(document(guide, source))
            jsonschema.validate(found, schema, cls=jsonschema.Draft202012Validator)
            kinds.add(type(found).__name__)
    assert kinds >= {"dict", "list", "str", "int", "bool"}


REFUSED: list[tuple[Any, str]] = [
    ({"type": "integer", "minimum": 3}, r"\$\.minimum: this keyword is not supported here: 3"),
    (
        {"type": "object", "properties": {"a": {"type": "number", "multipleOf": 2}}},
        r"\$\.properties\.a\.multipleOf: this",
    ),
    ({"type": "array", "items": {"type": "null"}, "uniqueItems": True}, r"\$\.uniqueItems: this keyword"),
    ({"type": "array", "items": {"not": {}}}, r"\$\.items\.not: this keyword is not supported"),
    ({"type": []}, r"\$\.type: no type of JSON is called so"),
    ({"minimum": 3}, r"\$\.minimum: this keyword is not supported here: 3"),
    ({"type": "array", "minItems": 2, "maxItems": 1}, r"\$\.maxItems: this is less than minItems, 2: 1"),
    ({"oneOf": [{"const": 1}, {"type": "integer"}]}, r"\$\.oneOf: alternatives that may hold together"),
    ({"oneOf": [{"enum": [1, 2]}, {"const": 2}]}, r"\$\.oneOf: alternatives that may hold together"),
    ({"allOf": [{"type": "null"}, {"type": "null"}]}, r"\$\.allOf: several schemas that must hold together"),
    ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, r"\$\.oneOf: alternatives that may hold together"),
    ({"anyOf": [{"type": "null"}], "type": "null"}, r"\$\.type: this keyword is not supported here"),
    ({"type": "string", "enum": ["x", 1]}, r"\$\.enum: a value is not of type string: 1"),
    ({"type": "string", "pattern": "a.b"}, r"\$\.pattern: the pattern matches a quotation mark, a backslash"),
    ({"type": "string", "pattern": "("}, r"\$\.pattern: the pattern cannot be read: "),
    ({"type": "string", "pattern": "a", "minLength": 3}, r"pattern and format stand alone, without lengths"),
    ({"type": "string", "format": "email"}, r"\$\.format: formats are date, time, date-time, uuid: 'email'"),
    ({"type": "object", "properties": {'q"x': {}}}, r"\$\.properties: a name with a character that JSON escapes"),
    ({"type": "object", "properties": {"a": {}}, "required": ["b"]}, r"\$\.required: a name that is required is not"),
    ({"type": "object", "properties": 3}, r"\$\.properties: properties are an object: 3"),
    ({"enum": 3}, r"\$\.enum: this is a list of alternatives: 3"),
    ({"type": {"a": 1}}, r"\$\.type: no type of JSON is called so"),
    ({"$ref": "#"}, r"outlines-core cannot read the schema: "),
    ([], r"\$: a schema is an object: "),
    ("{", r"the schema: the schema is no JSON, "),
]


@pytest.mark.parametrize(("schema", "message"), REFUSED)
def test_what_is_not_obeyed_is_refused_by_its_path(schema: Any, message: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match=message):
        TOKENIZER.guide(schema=schema)


ODD = [True, False, None, -1, 1.5, 2.0, 2, "3", [], {}, ["a"], [{}], {"a": 1}]
PLAIN: list[dict[str, Any]] = [
    {"type": "string", "minLength": 1, "maxLength": 3},
    {"type": "string", "pattern": "^a$"},
    {"type": "string", "format": "date"},
    {"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 2},
    {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"], "additionalProperties": False},
    {"enum": ["a", 1]},
    {"type": "string", "enum": ["a"]},
    {"type": ["string", "null"], "maxLength": 2},
    {"oneOf": [{"const": "a"}, {"const": "b"}]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}},
]


@pytest.mark.filterwarnings("ignore::tokdfa.jobs.guiding.schemas.BoundedStringsWarning")
def test_odd_values_of_keywords_are_obeyed_or_refused() -> None:
    source, met = random.Random(5), {"obeyed": 0, "refused": 0}
    for schema in [True, *(plain | {keyword: odd} for plain in PLAIN for keyword in plain for odd in ODD)]:
        try:
            guide = TOKENIZER.guide(schema=schema)  # type: ignore[arg-type]
        except (UnsupportedFeatureError, PatternError):
            met["refused"] += 1
            continue
        errors = jsonschema.Draft202012Validator(schema).iter_errors(json.loads(document(guide, source)))
        assert [error.message for error in errors] == [], schema
        met["obeyed"] += 1
    assert min(met.values()) > 20, met


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"^[a-c]$|^\d{2}$", ["a", "b", "c", "42"]),
        (r"^a|b$", ["a", "b"]),
        (r"^(a|b|)$", ["a", "b", ""]),
        (r"^[|$^]\|\$$", ["||$", "$|$", "^|$"]),
        (r"^a(?!c)$", ["a"]),
        (r"^\bfoo\b$", ["foo"]),
        (r"^(a$|b)$", None),
        (r"a(?=\")", None),
        (r"^a(?![^x])", None),
    ],
)
def test_patterns_mean_the_same_between_quotation_marks(pattern: str, texts: list[str] | None) -> None:
    schema = {"type": "string", "pattern": pattern}
    if texts is None:
        with pytest.raises(UnsupportedFeatureError, match=r"\$\.pattern: the pattern looks at what is before or after"):
            TOKENIZER.guide(schema=schema)
        return
    guide = TOKENIZER.guide(schema=schema)
    for text in texts:
        assert re.search(pattern, text)
        assert guide.is_final(guide.read(TOKENIZER.encode(f'"{text}"')))


def test_strings_without_a_greatest_length_get_one() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a", "b"],
    }
    message = r"^strings without maxLength have at most 200 characters: \$\.properties\.a, \$\.properties\.b$"
    with pytest.warns(BoundedStringsWarning, match=message):
        guide = TOKENIZER.guide(schema=schema)
    long = [TOKENIZER.encode(json.dumps({"a": "b" * n, "b": ""})) for n in (200, 201)]
    assert guide.is_final(guide.read(long[0]))
    with pytest.raises(TokenStreamError):
        guide.read(long[1])
    # The caller may want any length.
    guide = TOKENIZER.guide(pattern_of_schema(schema, longest=None))
    assert guide.is_final(guide.read(long[1]))
    with pytest.raises(WrongTypeError, match=r"^language: give a language or a schema, one of them: 'a'$"):
        TOKENIZER.guide("a", schema=schema)
