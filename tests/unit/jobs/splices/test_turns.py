"""Turns of a chat: a proof, or contents for which the library changes the ids of the first part, or the rest."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from random import Random

import pytest
import tokenizers

import tokdfa
from tests.support.random_seams import is_over_bytes, over_bytes, over_characters, random_question
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.jobs.splices.parts import Part, Slot
from tokdfa.jobs.splices.turns import check_turns


def filled(parts: list[Part], contents: tuple[str, ...]) -> str:
    rest = iter(contents)
    return "".join(part if isinstance(part, str) else next(rest) for part in parts)


def assert_agrees(seed: int, met: Counter[str]) -> None:
    random = Random(seed)
    question = random_question(random, 3)
    content = json.loads(question.content)
    if not is_over_bytes(question.content):
        return
    library = tokenizers.Tokenizer.from_str(question.content)
    literals = ["".join(random.choice(question.symbols) for _ in range(random.randrange(3))) for _ in range(4)]
    if content["added_tokens"]:
        literals[random.randrange(4)] += random.choice(content["added_tokens"])["content"]
    limit = f"[{question.symbols}]{{0,2}}".replace("\n", r"\n")
    first: list[Part] = [literals[0], Slot("a", limit), literals[1]]
    rest: list[Part] = [literals[2], Slot("b", limit), literals[3]]
    found = check_turns(tokdfa.load(content), first, rest)
    texts = ["".join(some) for n in range(3) for some in product(question.symbols, repeat=n)]
    differ = []
    keeps = True
    for one, other in product(texts, repeat=2):
        u, v = filled(first, (one,)), filled(rest, (other,))
        ids = [library.encode(text, add_special_tokens=False).ids for text in (u, v, u + v)]
        if ids[0] + ids[1] != ids[2]:
            differ.append((len((u + v).encode()), len(u.encode()), (u + v).encode(), u, v))
            keeps = keeps and ids[2][: len(ids[0])] == ids[0]
    assert bool(found) == (not differ), (seed, first, rest)
    if found.witness is not None:
        assert found.witness.shortest
        assert (found.witness.before, found.witness.after) == min(differ)[3:], (seed, first, rest)
        assert found.keeps_prefix is not keeps or found.keeps_prefix is None or not keeps
        assert found.keeps_prefix is None or found.keeps_prefix == keeps, seed
    met["kept" if found else "not kept"] += 1
    met["special"] += bool(content["added_tokens"])
    met["prefix changes"] += found.keeps_prefix is False


def test_random_conversations() -> None:
    met: Counter[str] = Counter()
    for seed in range(40):
        assert_agrees(seed, met)
    assert min(met.values()) > 4, met


def test_what_is_far_from_the_seam_is_not_searched() -> None:
    tokenizer = tokdfa.load(tokenizer_json())
    long = "the he " * 200
    turn = f"{long}<|end|>user {{q}}"
    assert check_turns(tokenizer, turn, f"<|end|>{long}{{a}}")
    found = check_turns(tokenizer, turn, f"{{a}}<|end|>{long}").witness
    assert found is not None
    assert found.before == f"{long}<|end|>user "
    assert found.after == f"t<|end|>{long}"
    assert found.ids_before + found.ids_after != found.ids


_NORMALIZERS = (
    {"type": "NFC"},
    {"type": "NFKD"},
    {"type": "Lowercase"},
    {"type": "Replace", "pattern": {"String": "a"}, "content": "e"},
    {"type": "Replace", "pattern": {"String": "ae"}, "content": "e\u0301"},
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Prepend", "prepend": "a"},
)


def test_a_special_token_parts_a_text_before_it_is_normalized() -> None:
    met: Counter[str] = Counter()
    symbols = "ae\u0301"
    for seed in range(30):
        random = Random(seed)
        content, _ = (over_characters if seed % 4 == 0 else over_bytes)(random)
        n = len(content["model"]["vocab"])
        # If "<e" is found after normalizing, a mark after it makes another letter of its last one.
        is_late = seed % 8 == 1
        names = ["<e", *random.sample(["a", "\u0301e", "e<a"], 0 if is_late else random.randrange(3))]
        flags = [{"normalized": is_late or random.random() < 0.2} for _ in names]
        content["added_tokens"] = [added_token(n + at, name, **flags[at]) for at, name in enumerate(names)]
        content["normalizer"] = _NORMALIZERS[0] if is_late else random.choice(_NORMALIZERS[: 7 if seed % 5 == 0 else 5])
        library = tokenizers.Tokenizer.from_str(json.dumps(content))
        texts = ["".join(some) for size in range(3) for some in product(symbols, repeat=size)]
        end = random.choice(texts) if random.random() < 0.2 else ""
        parts: list[list[Part]] = (
            [[Slot("a"), "<e" + end], [Slot("b")]] if seed % 2 else [[Slot("a")], [end + "<e", Slot("b")]]
        )
        try:
            found = check_turns(tokdfa.load(content), *parts)
        except tokdfa.TokdfaError:
            met["refused"] += 1
            continue
        differ = []
        for one, other in product(texts, repeat=2):
            u, v = filled(parts[0], (one,)), filled(parts[1], (other,))
            ids = [library.encode(text, add_special_tokens=False).ids for text in (u, v, u + v)]
            differ += [(u, v)] if ids[0] + ids[1] != ids[2] else []
        # A space or a prefix that is put before texts is not put before a text that continues another one.
        split = json.dumps(content["pre_tokenizer"])
        is_put = (
            content["normalizer"]["type"] == "Prepend" or '"add_prefix_space": true' in split or "Metaspace" in split
        )
        assert is_put or not (found and differ), (seed, differ[:1])
        if found.witness is not None and not is_put:
            whole = library.encode(found.witness.before + found.witness.after, add_special_tokens=False).ids
            assert [*found.witness.ids] == whole
            assert found.witness.ids_before + found.witness.ids_after != found.witness.ids
        met["kept"] += bool(found)
    assert met["kept"] > 7, met


def test_normalization_and_bad_questions() -> None:
    tokenizer = tokdfa.load(tokenizer_json([], normalizer={"type": "NFC"}))
    assert check_turns(tokenizer, "user {q}\n", "bot {a}")
    assert check_turns(tokenizer, "user {q}", "\n{a}")
    with pytest.raises(tokdfa.TokdfaError, match="a tokenizer"):
        check_turns("gpt2", "a", "b")  # type: ignore[arg-type]
    strips = tokdfa.load(tokenizer_json([], added_tokens=[{**added_token(256, "<x>"), "lstrip": True}]))
    assert not check_turns(strips, "{q} ", "<x>{a}")
