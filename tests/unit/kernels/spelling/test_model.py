"""The vocabulary and the rules of a tokenizer.json, against Python's json."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokdfa.kernels.spelling.model import NOWHERE, read_model

LARGEST = 1 << 24
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)
ODD = ['"', "\\", "\\u", "\\ud83d", "\\u0000", "{", "}", "[", "]", ",", ":", " ", "0", "-", "1e3"]
ODD += ["\n", "\x00", "é", "\x80"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(['"', "\\", "}]", "vocab"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def files(drawn: st.DrawFn) -> str:
    """A file with a model, members in any order, written in any of json's ways."""
    words = drawn(st.lists(WORDS, min_size=1, max_size=8))
    rule = st.tuples(st.sampled_from(words), WORDS)
    rules = drawn(st.lists(rule.map(" ".join), max_size=5) | st.lists(rule.map(list), max_size=5))
    ids = st.integers(0, LARGEST)
    model: dict[str, Any] = {"vocab": {word: drawn(ids) for word in words}, "merges": rules}
    model |= drawn(st.dictionaries(st.sampled_from(["type", "model", 'a"b', "vocab ", "merge"]), VALUES))
    top = {"model": model} | drawn(st.dictionaries(st.sampled_from(["version", "vocab", "merges", "é"]), VALUES))
    for fields in (model, top):
        for key in drawn(st.permutations(list(fields))):
            fields[key] = fields.pop(key)
    how = {"ensure_ascii": drawn(st.booleans()), "indent": drawn(st.sampled_from([None, 0, 2]))}
    return json.dumps(top, **how)


def as_pairs(data: bytes) -> Any:
    """The value of the file, objects as tuples of pairs; None if it is not JSON."""
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=tuple, parse_constant=int)
    except ValueError:
        return None


def put(top: Any, found: dict[str, Any]) -> Any:
    """Put the vocabulary and the rules that were found into the model of a file without them."""
    model = tuple((key, found.get(key, value)) for key, value in dict(top)["model"])
    return tuple((key, model if key == "model" else value) for key, value in top)


def assert_read_by_json(data: bytes) -> bool:
    """Check what is read of a file, and return whether it is read."""
    found = read_model(data, LARGEST)
    if found is None or found.merges == NOWHERE:
        return False
    text, ends = found.text.tobytes(), found.offsets.tolist()
    words = [text[start : end - 1].decode("utf-8") for start, end in pairwise(ends)]
    assert "" not in words
    parts = found.rules.tobytes().decode("utf-8").split("\0")[:-1]
    rules = [list(rule) for rule in zip(parts[::2], parts[1::2], strict=True)] if found.in_pairs else parts
    assert len(rules) == found.n_rules
    assert data[found.vocab[0]] == ord("{")
    assert data[found.merges[0]] == ord("[")
    (first, one), (second, other) = sorted([(found.vocab, b"{}"), (found.merges, b"[]")])
    rest = as_pairs(data[: first[0]] + one + data[first[1] : second[0]] + other + data[second[1] :])
    whole = as_pairs(data)
    assert (rest is None) == (whole is None)
    if rest is not None and [key for key, _ in rest].count("model") == 1:
        model = [key for key, _ in dict(rest)["model"]]
        if model.count("vocab") == model.count("merges") == 1:
            assert put(rest, {"vocab": tuple(zip(words, found.ids.tolist(), strict=True)), "merges": rules}) == whole
    return True


@settings(max_examples=40)
@given(files())
def test_plain_files_are_read(text: str) -> None:
    is_read = assert_read_by_json(text.encode("utf-8"))
    assert is_read


@settings(max_examples=80)
@given(files(), st.data())
def test_spoiled_files_are_read_as_json_reads_them_or_not_at_all(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(text)))
        end = min(len(text), begin + data.draw(st.integers(0, 3)))
        text = text[:begin] + data.draw(st.sampled_from(ODD) | st.just("")) + text[end:]
    assert_read_by_json(text.encode("utf-8"))
    assert_read_by_json(text.encode("latin-1", "replace"))
    assert_read_by_json(text.encode("utf-8")[: data.draw(st.integers(0, len(text)))])


MODEL = '{"model":{"vocab":{"a":0,"é":1},"merges":["a b"]}}'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"a":0', '"":0'),
        ('"a":0', '"\\u0000":0'),
        ('"a":0', '"\\ud800":0'),
        ('"a":0', '"\\udc00\\ud800":0'),
        ('"a":0', '"\n":0'),
        ('"a":0', '"\\x":0'),
        ('"a":0', '"a":00'),
        ('"a":0', '"a":-0'),
        ('"a":0', '"a":1.0'),
        ('"a":0', '"a":1e0'),
        ('"a":0', f'"a":{LARGEST + 1}'),
        ('"a":0', '"a":99999999999999999999'),
        ('"a":0', '"a":"0"'),
        ('{"a":0,"é":1}', "{}"),
        ('"é":1', '"é":1,'),
        ('"a b"', '"a b",'),
        ('"a b"', '"a b",["a","b"]'),
        ('["a b"]', '[["a","b","c"]]'),
        ('["a b"]', '[["a"]]'),
        ('["a b"]', "null"),
        ('"vocab"', '"voca"'),
        ('"merges"', '"\\u006derges"'),
        ('"model"', '"\\u006dodel"'),
    ],
)
def test_odd_files_are_not_read(old: str, new: str) -> None:
    are_read = [assert_read_by_json(text.encode()) for text in (MODEL, MODEL.replace(old, new))]
    assert are_read == [True, False]


def test_what_is_not_utf8_is_not_read() -> None:
    for odd in (b"\x80", b"\xc3", b"\xc0\x80", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8", b"\xff"):
        assert read_model(MODEL.encode().replace(b'"a"', b'"' + odd + b'"'), LARGEST) is None
        assert read_model(MODEL.encode().replace(b'"a b"', b'"' + odd + b' b"'), LARGEST) is None


def test_escapes_and_every_length_of_symbols() -> None:
    text = '\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00é中\U0001f600'
    found = read_model(MODEL.replace('"a"', f'"{text}"').encode(), LARGEST)
    assert found is not None
    assert found.text[: found.offsets[1] - 1].tobytes().decode() == json.loads(f'"{text}"')


def test_the_largest_id_is_checked() -> None:
    for largest in (-1, 1 << 31):
        with pytest.raises(ValueError, match=r"is no largest id$"):
            read_model(MODEL.encode(), largest)
    assert read_model(b"", LARGEST) is None


def test_a_vocabulary_without_rules() -> None:
    found = read_model(b'{"model": {"vocab": {"a": 3, "b": 1}, "type": "WordPiece"}}', LARGEST)
    assert found is not None
    assert (found.text.tobytes(), found.ids.tolist(), found.merges, found.scores) == (b"a\0b\0", [3, 1], NOWHERE, None)
    assert read_model(b'{"model": {"merges": []}}', LARGEST) is None


SCORED = '{"model": {"vocab": [["a", -1.25], [ "\\u00e9" , 3 ] ,["b",0.5e-3]]}}'


def scores_of(text: str) -> list[tuple[int, int, int]] | None:
    found = read_model(text.encode(), LARGEST, scored=True)
    if found is None:
        return None
    assert found.scores is not None
    assert found.ids.tolist() == [*range(len(found.ids))]
    return [*zip(*(part.tolist() for part in found.scores), strict=True)]


def test_a_vocabulary_with_scores() -> None:
    assert scores_of(SCORED) == [(125, -2, 1), (3, 0, 0), (5, -4, 0)]
    found = read_model(SCORED.encode(), LARGEST, scored=True)
    assert found is not None
    assert found.text.tobytes().decode() == "a\0é\0b\0"
    assert SCORED[found.vocab[0] : found.vocab[1]] == SCORED[SCORED.index("[") : SCORED.rindex("]") + 1]
    # One is not read as the other.
    assert read_model(SCORED.encode(), LARGEST) is None
    assert read_model(MODEL.encode(), LARGEST, scored=True) is None


@pytest.mark.parametrize(
    ("number", "read"),
    [
        ("-0", (0, 0, 1)),
        ("0.0", (0, -1, 0)),
        ("18446744073709551615", ((1 << 64) - 1, 0, 0)),
        ("1.8446744073709551615", ((1 << 64) - 1, -19, 0)),
        ("1E+308", (1, 308, 0)),
        ("1e-308", (1, -308, 0)),
        ("10e-0308", None),
        ("18446744073709551616", None),
        ("1.8446744073709551616", None),
        *((odd, None) for odd in ("1e309", "1e-309", "1e99999", "1e9999999999", "0.1e-308", "", "-", "01", "1.", ".5")),
        *(
            (odd, None)
            for odd in ("1e", "1e+", "+1", "NaN", "1 2", "0x1", "null", '"1"', "true", "--1", "1.5.5", "[1]")
        ),
    ],
)
def test_numbers_are_read_or_refused(number: str, read: tuple[int, int, int] | None) -> None:
    assert scores_of(SCORED.replace("-1.25", number)) == (None if read is None else [read, (3, 0, 0), (5, -4, 0)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"a"', '""'),
        ('"a"', '"\\u0000"'),
        ('["a", -1.25]', '["a"]'),
        ('["a", -1.25]', '["a", -1.25, 0]'),
        ('["a", -1.25]', '{"a": -1.25}'),
        ('["a", -1.25]', '"a"'),
        ('["a", -1.25],', ""),
        ("3 ] ,", "3 ]"),
        ("3 ] ,", "3 ],,"),
        ("]]}", "],]}"),
        ("]]}", "]}"),
    ],
)
def test_odd_rows_are_not_read(old: str, new: str) -> None:
    is_shorter = (old, new) == ('["a", -1.25],', "")
    assert (scores_of(SCORED.replace(old, new)) is None) != is_shorter
    for end in range(len(SCORED)):
        assert scores_of(SCORED[:end]) is None
