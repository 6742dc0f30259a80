"""JSON schemas as expressions: the documents of a schema are guided to, and others are not."""

from __future__ import annotations

import json

import pytest

import tokdfa
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.guiding.schemas import pattern_of_schema

pytest.importorskip("outlines_core", reason="outlines-core makes expressions of JSON schemas")

SCHEMAS = [
    (
        {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
        [[1], [10, -2]],
        [[], [1, 2, 3], ["1"]],
    ),
    ({"type": "string", "maxLength": 3}, ["", "a b", "é\n"], ["abcd", 1]),
    ({"enum": ["yes", 1, None]}, ["yes", 1, None], ["no", 2]),
    ({"const": 'é"\\x'}, ['é"\\x'], ["é"]),
    ({"type": "string", "format": "uuid"}, ["0123abcd-0123-0123-0123-0123456789ab"], ["0123"]),
    ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, [True, None], [0]),
]


@pytest.mark.parametrize("case", SCHEMAS)
def test_what_schemas_describe(case: tuple[object, list[object], list[object]]) -> None:
    schema, members, others = case
    tokenizer = tokdfa.default_tokenizer()
    guide = tokenizer.guide(pattern_of_schema(json.dumps(schema)))
    for is_member, documents in ((True, members), (False, others)):
        for document in documents:
            state: tokdfa.State | None = guide.initial
            for id in tokenizer.encode(json.dumps(document, ensure_ascii=False)).tolist():
                state = None if state is None else guide.step(state, id)
            assert (state is not None and guide.is_final(state)) == is_member


def test_white_space() -> None:
    schema = '{"type": "array", "items": {"type": "null"}, "minItems": 2, "maxItems": 2}'
    assert pattern_of_schema(schema) != pattern_of_schema(schema, whitespace="[ \\n]*")
    guide = tokdfa.default_tokenizer().guide(pattern_of_schema(schema, whitespace=""))
    assert guide.is_final(guide.read(tokdfa.default_tokenizer().encode("[null,null]")))


@pytest.mark.parametrize("schema", ["", "{", "[]", "3", '{"type": "foo"}', '{"$ref": "http://x"}'])
def test_bad_schemas(schema: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match=r"^here[,:] [^\n]+$"):
        pattern_of_schema(schema, where="here")
