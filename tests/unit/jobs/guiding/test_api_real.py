"""Guides of real tokenizers compared with their own libraries, on random choices and on encoded texts."""

from __future__ import annotations

import json
import random
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import regex
import tokenizers

import tokdfa
from tests.benchmarks.encode_peers import as_tokenizers
from tests.support.libraries import pair
from tests.support.real_tokenizers import family_files
from tests.support.tokenizer_files import added_token, as_bytes
from tokdfa.jobs.guiding.schemas import pattern_of_schema

NAMES = ["gpt2", "gpt2.json", "cl100k", "cl100k.json", "o200k", "tekken"]


def _words(dice: random.Random) -> str:
    words = ("".join(dice.choices("etaoinshrdlucmw", k=dice.randrange(1, 9))) for _ in range(dice.randrange(1, 6)))
    return " ".join(words) + dice.choice(".!?")


def _record(dice: random.Random) -> str:
    name = "".join(dice.choices("ABab éßж中 '", k=dice.randrange(0, 9)))
    return json.dumps({"name": name, "age": dice.randrange(1000)}, ensure_ascii=False)


def _date(dice: random.Random) -> str:
    month = dice.choice(["January", "May", "Sept."])
    iso = f"{dice.randrange(10_000):04}-{dice.randrange(1, 13):02}-{dice.randrange(1, 32):02}"
    return dice.choice([iso, f"{month} {dice.randrange(1, 32)}, {dice.randrange(10_000)}"])


LANGUAGES: dict[str, Callable[[random.Random], str]] = {
    r"[a-z]{1,8}( [a-z]{1,8}){0,4}[.!?]": _words,
    r'\{"name": "[AaBb éßж中\']{0,8}", "age": (0|[1-9][0-9]{0,2})\}': _record,
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}|(January|May|Sept\.) [1-9][0-9]?, (0|[1-9][0-9]{0,3})": _date,
}
"""Expressions, and functions that choose members at random."""


@cache
def both(name: str, data: Path) -> tuple[Any, Callable[[str], list[int]]]:
    """A tokenizer, and the function by which its own library encodes."""
    if not name.endswith(".json"):
        found = pair(name, data)
        return found.tokenizer, found.encode
    if name == "gpt2.json":
        theirs = tokenizers.Tokenizer.from_file(str(data / "vocabs/gpt2/tokenizer.json"))
    else:
        theirs = as_tokenizers(data / "vocabs/cl100k_base.tiktoken", "cl100k")
    return tokdfa.load(theirs.to_str().encode()), lambda text: theirs.encode(text).ids


def walk(guide: tokdfa.Guide, dice: random.Random, most: int) -> list[int]:
    """Choose among the allowed ids until the stream may end; after `most` ids, at the first place where it may."""
    state, ids = guide.initial, []
    while not guide.is_final(state) or (len(ids) < most and dice.random() < 0.7):
        allowed = guide.allowed(state)
        if not len(allowed):
            assert guide.is_final(state)
            break
        ids.append(int(allowed[dice.randrange(len(allowed))]))
        following = guide.step(state, ids[-1])
        assert following is not None
        state = following
    return ids


def check_walks(name: str, language: str | None, data: Path, n: int, dice: random.Random) -> Counter[str]:
    tokenizer, encode = both(name, data)
    guide = tokenizer.guide(language)
    met: Counter[str] = Counter()
    for _ in range(n):
        ids = walk(guide, dice, 12)
        text = tokenizer.decode(ids)
        assert language is None or regex.fullmatch(language, text), (ids, text)
        # Special tokens are those that the stream was cut at; the library spells them only where it is asked to.
        if not set(tokenizer.special_ids.tolist()) & set(ids):
            assert list(encode(text)) == ids, (ids, text)
            met["walks"] += 1
        met["ids"] += len(ids)
    return met


def check_members(name: str, language: str | None, data: Path, n: int, dice: random.Random) -> Counter[str]:
    tokenizer, encode = both(name, data)
    guide = tokenizer.guide(language)
    met: Counter[str] = Counter()
    corpus = (data / "corpora/multilingual.txt").read_text("utf-8") if language is None else ""
    for _ in range(n):
        begin = dice.randrange(max(len(corpus) - 40, 1))
        text = corpus[begin : begin + dice.randrange(40)] if language is None else LANGUAGES[language](dice)
        assert language is None or regex.fullmatch(language, text), text
        state: tokdfa.State | None = guide.initial
        for id in encode(text):
            assert state is not None
            assert guide.mask(state)[id >> 5] >> (id & 31) & 1, (text, id)
            state = guide.step(state, id)
            met["ids"] += 1
        assert state is not None
        assert guide.is_final(state), text
        met["members"] += 1
    return met


@pytest.mark.parametrize("check", [check_walks, check_members])
@pytest.mark.parametrize("name", ["gpt2.json", "cl100k"])
def test_some_languages_guide_real_tokenizers(name: str, check: Callable[..., Counter[str]], data: Path) -> None:
    for language in (None, *LANGUAGES):
        assert check(name, language, data, 3, random.Random(1))["ids"] > 0


SCHEMAS: list[dict[str, Any]] = [
    {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 60}, "n": {"type": "integer"}},
        "required": ["city"],
    },
    {"type": "array", "items": {"enum": ["é", "ë", 1]}, "minItems": 1, "maxItems": 4},
    {"anyOf": [{"type": "string", "format": "date"}, {"type": "array", "items": {"type": "string", "maxLength": 9}}]},
]


def check_schemas(name: str, n: int, dice: random.Random) -> Counter[str]:
    """Walk by the masks of schemas after a prompt; a walk may begin with marks that join the prompt."""
    if name not in family_files():
        pytest.skip(f"TOKDFA_FAMILIES has no {name}")
    tokenizer = tokdfa.load(family_files()[name])
    library = tokenizers.Tokenizer.from_file(str(family_files()[name]))
    met: Counter[str] = Counter()
    for number, schema in enumerate(SCHEMAS):
        pattern = pattern_of_schema(schema)
        for before in "", "Answer: <", "cafe":
            language = f"[\u0338\u0301\u0323\u00e9 ]?{pattern}"
            prompt = library.encode(before, add_special_tokens=False).ids
            guide = tokenizer.guide(language, prompt=prompt, heal=True)
            for _ in range(n):
                ids = [*guide.kept.tolist(), *walk(guide, dice, 30)]
                text = library.decode(ids, skip_special_tokens=False)
                assert library.encode(text, add_special_tokens=False).ids == ids, (text, ids)
                assert regex.fullmatch(regex.escape(before) + language, text), (text, number)
                met["walks"] += 1
                met["marks"] += text[len(before) : len(before) + 1] in ("\u0338", "\u0301", "\u0323")
                met["with marks in strings"] += unicodedata.normalize("NFD", text) != text
    return met


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama2", "yi", "internlm2", "gemma2", "gemma3"])
def test_schemas_guide_tokenizers_over_characters(name: str) -> None:
    assert check_schemas(name, 9, random.Random(2))["walks"] > 70


@pytest.mark.parametrize("name", ["claude", pytest.param("qwen2_5", marks=pytest.mark.slow)])
def test_schemas_guide_tokenizers_that_normalize(name: str) -> None:
    met = check_schemas(name, 3, random.Random(1))
    assert met["marks"] > 0, met
    assert met["with marks in strings"] > 0, met


def _with_strips(name: str, data: Path) -> dict[str, Any]:
    """Return a file with the added tokens of Phi-3, which is Llama-2 otherwise, or with the mask of RoBERTa."""
    if name == "phi3":
        if "llama2" not in family_files():
            pytest.skip("TOKDFA_FAMILIES has no llama2")
        contents, flags, path = ["<|end|>", "<|user|>", "<|assistant|>"], {"rstrip": True}, family_files()["llama2"]
    else:
        contents, flags, path = ["<mask>"], {"lstrip": True}, data / "vocabs/gpt2/tokenizer.json"
    file: dict[str, Any] = json.loads(path.read_text("utf-8"))
    first = max(max(file["model"]["vocab"].values()), *(token["id"] for token in file["added_tokens"])) + 1
    file["added_tokens"] += [added_token(first + n, content, **flags) for n, content in enumerate(contents)]
    return file


@pytest.mark.parametrize("name", ["phi3", "roberta"])
def test_real_tokenizers_with_tokens_that_take_white_space(name: str, data: Path) -> None:
    file, dice, met = _with_strips(name, data), random.Random(name), Counter[str]()
    library, tokenizer = tokenizers.Tokenizer.from_str(json.dumps(file)), tokdfa.load(as_bytes(file))
    contents = [token["content"] for token in file["added_tokens"][-3:]]

    def encode(text: str) -> list[int]:
        ids: list[int] = library.encode(text, add_special_tokens=False).ids
        return ids

    # Any text of words, white space and added tokens is read if it is kept as it is, and refused if not.
    guide = tokenizer.guide(rf"(?s:.*)({'|'.join(map(regex.escape, contents))})(?s:.*)")
    between = [" ", "  ", "\n", "\u00a0", "\u3000", "", "Hi", " Hi", "x\n", "\u4e2d"]
    for _ in range(600):
        text = "".join(dice.choice(part) for part in (between, contents, between, between, [*contents, ""], between))
        ids = encode(text)
        shown = library.decode(ids, skip_special_tokens=False)
        state: tokdfa.State | None = guide.initial
        for id in ids:
            state = guide.step(state, id) if state is not None else None
        is_read = state is not None and guide.is_final(state)
        assert is_read == (encode(shown) == ids), (text, ids)
        met["kept" if shown == text else "changed"] += 1
    # And walks through all texts, after a prompt or not, are canonical.
    for before in "", f"Say {contents[-1]}", f"{contents[0]} Hi{contents[-1]}":
        prompt = encode(before)
        guide = tokenizer.guide(r"[a-z< ]{1,9}(<mask>|<\|end\|>)?", prompt=prompt)
        for _ in range(30):
            ids = [*prompt, *walk(guide, dice, 9)]
            assert encode(library.decode(ids, skip_special_tokens=False)) == ids, ids
            met["walks"] += 1
    assert met["kept"] > 20, met
    assert met["changed"] > 50, met


@pytest.mark.slow
@pytest.mark.parametrize("check", [check_walks, check_members])
@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand(name: str, check: Callable[..., Counter[str]], data: Path) -> None:
    met: Counter[str] = Counter()
    for number, language in enumerate((None, *LANGUAGES)):
        met += check(name, language, data, 2500, random.Random(number))
    print(name, check.__name__, dict(met))
    assert met["walks"] + met["members"] > 9_900
