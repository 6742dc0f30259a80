"""Injection: the verdict and the shortest attack, against the library and all short texts."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import product
from random import Random
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.jobs.splices.injection import check_injection
from tokdfa.jobs.splices.parts import Part, Slot

SYMBOLS = "\0 <a>"


def random_content(random: Random) -> dict[str, Any]:
    content = tokenizer_json([], added_tokens=[])
    first = len(content["model"]["vocab"])
    normalizer = random.choice([None, None, {"type": "Lowercase"}, {"type": "NFC"}])
    is_odd = random.random() < 0.4
    for _ in range(random.randint(1, 3)):
        text = "".join(random.choice("<a> ") for _ in range(random.randint(2, 4)))
        if text.isspace() or text in [token["content"] for token in content["added_tokens"]]:
            continue
        odd = {name: is_odd and random.random() < 0.3 for name in ("lstrip", "rstrip", "single_word")}
        token = added_token(first + len(content["added_tokens"]), text)
        content["added_tokens"].append({**token, **odd, "normalized": random.random() < 0.5})
    return {**content, "normalizer": normalizer}


def random_parts(random: Random) -> list[Part]:
    parts: list[Part] = []
    for number in range(random.randint(1, 2)):
        strips = random.random() < 0.2
        parts += ["".join(random.choice("<a>b ") for _ in range(random.randrange(3)))]
        parts += [Slot(str(number), strips_left=strips, strips_right=strips)]
    return [*parts, "".join(random.choice("<a> ") for _ in range(random.randrange(3)))]


def least_attack(content: dict[str, Any], parts: list[Part], longest: int, *, spelled: bool) -> tuple[str, ...] | None:
    """Return the least texts that the library makes more control ids of than the template's texts have."""
    library = tokenizers.Tokenizer.from_str(json.dumps(content))
    control = {token["id"] for token in content["added_tokens"]}

    @cache
    def made(text: str) -> Counter[int]:
        return Counter(id for id in library.encode(text, add_special_tokens=False).ids if id in control)

    written: Counter[int] = Counter()
    literal = ""
    for part in [*parts, Slot()]:
        if isinstance(part, str):
            literal += part
        else:
            written += made(literal)
            literal = ""
    slots = [part for part in parts if isinstance(part, Slot)]
    texts = ["".join(some) for n in range(longest + 1) for some in product(SYMBOLS, repeat=n)]
    texts = [text for text in texts if spelled or not made(text)]
    rows = (row for row in product(texts, repeat=len(slots)) if sum(map(len, row)) <= longest)
    for row in sorted(rows, key=lambda row: (len("".join(row).encode()), [*map(str.encode, row)])):
        if any(slot.strips_left and text != text.strip() for slot, text in zip(slots, row, strict=True)):
            continue
        filled = iter(row)
        if made("".join(part if isinstance(part, str) else next(filled) for part in parts)) - written:
            return row
    return None


def assert_agrees(seed: int, met: Counter[str]) -> None:
    random = Random(seed)
    content, parts = random_content(random), random_parts(random)
    spelled = random.random() < 0.3
    expected = least_attack(content, parts, 3, spelled=spelled)
    try:
        verdict = check_injection(tokdfa.load(content), parts, spelled=spelled)
    except tokdfa.TokdfaError:
        met["not decided"] += 1
        return
    found = verdict.witness
    if found is not None:
        met["not the shortest"] += not found.shortest
        library = tokenizers.Tokenizer.from_str(json.dumps(content))
        assert found.ids == tuple(library.encode(found.text, add_special_tokens=False).ids)
        # A text of other symbols may be less, or longer than the texts tried.
        if found.shortest and expected is None:
            assert len("".join(found.values)) > 3 or "A" in "".join(found.values), (seed, found, parts)
        elif found.shortest and "A" not in "".join(found.values):
            assert found.values == expected, (seed, parts, content["added_tokens"])
    else:
        assert expected is None, (seed, parts, expected, content["added_tokens"])
    met["attack" if found else "proof"] += 1
    met["spelled" if spelled else "put together"] += found is not None
    met["odd"] += any(token[name] for token in content["added_tokens"] for name in ("lstrip", "rstrip", "single_word"))
    met["normalized"] += content["normalizer"] is not None and any(x["normalized"] for x in content["added_tokens"])


def test_shortest_attacks_of_random_small_tokenizers() -> None:
    met: Counter[str] = Counter()
    for seed in range(70):
        assert_agrees(seed, met)
    assert min(met[what] for what in ("attack", "proof", "spelled", "put together", "odd", "normalized")) > 10, met


@pytest.mark.slow
def test_shortest_attacks_of_many_small_tokenizers(tally: Tally) -> None:
    chosen, met = seeds(5_000), Counter[str]()
    for seed in chosen:
        assert_agrees(seed, met)
    print(met)
    tally("splices", "random cases", len(chosen))


def test_slots_with_patterns_are_searched() -> None:
    content = tokenizer_json([])
    tokenizer = tokdfa.load(content)
    assert check_injection(tokenizer, "<user>{x:[a-z ]*}|>")
    found = check_injection(tokenizer, "<user>{x:[a-z<|]*}|>").witness
    assert found is not None
    assert found.values == ("<|end",)
    assert found.shortest
    found = check_injection(tokenizer, "{x:x.*}<{y:[^e]*e[^e]*}|>").witness
    assert found is not None
    assert found.values == ("x", "|end")
    # The automaton continues where a special token alone is not a text of the slot.
    found = check_injection(tokenizer, "{x:(ab)+<.*c}").witness
    assert found is not None
    assert found.values == ("ab<|end|>c",)


@pytest.mark.parametrize(
    ("rule", "spelled", "values"),
    [
        ("transformers", True, ("<|end|>",)),
        ("transformers", False, None),
        ("tiktoken", True, ("<|end|>",)),
        ("llama.cpp", True, ("<|end|>",)),
        ("mistral-common", True, None),
    ],
)
def test_rules_of_spelling_decide_the_attack(rule: Any, spelled: bool, values: tuple[str, ...] | None) -> None:
    tokenizer = tokdfa.load(tokenizer_json([]))
    verdict = check_injection(tokenizer, "<|end|>{content}<|end|>", rule=rule, spelled=spelled)
    assert (None if verdict.witness is None else verdict.witness.values) == values
    assert bool(verdict) == (values is None)
    assert verdict.rule == rule


def test_what_tiktoken_does_not_allow_it_refuses() -> None:
    added = [added_token(256, "<x>"), added_token(257, "<xyz>")]
    tokenizer = tokdfa.load(tokenizer_json([], added_tokens=added))
    found = check_injection(tokenizer, "{content}", rule="tiktoken", allowed=["<xyz>"]).witness
    assert found is not None
    assert found.values == ("<xyz>",)
    assert check_injection(tokenizer, "{content}", rule="tiktoken", allowed=[])
    found = check_injection(tokenizer, "<x{content}", rule="tiktoken", allowed=["<xyz>"], control=[257]).witness
    assert found is not None
    assert found.values == ("yz>",)


def test_llama_cpp_finds_the_longest_first() -> None:
    added = [added_token(256, "<a"), added_token(257, "a--->")]
    tokenizer = tokdfa.load(tokenizer_json([], added_tokens=added))
    by_place = check_injection(tokenizer, "<{content}--->", control=[257]).witness
    by_length = check_injection(tokenizer, "<{content}--->", control=[257], rule="llama.cpp").witness
    assert by_place is not None
    assert by_place.values == ("\0a",)
    assert by_length is not None
    assert by_length.values == ("a",)


def test_what_is_beside_a_special_token_may_be_in_a_slot_that_it_does_not_reach() -> None:
    added = [{**added_token(256, ">a<a"), "single_word": True}]
    tokenizer = tokdfa.load(tokenizer_json([], added_tokens=added))
    found = check_injection(tokenizer, "<b{x}>a{y}a{z}").witness
    assert found is not None
    assert found.values == ("\0", "<", "")
    assert found.shortest


def test_an_empty_text_may_put_two_texts_together() -> None:
    found = check_injection(tokdfa.load(tokenizer_json([])), "<|e{content}nd|>").witness
    assert found is not None
    assert (found.values, found.names) == (("",), ("<|end|>",))


TOKENIZER = tokdfa.default_tokenizer()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parts": "a{b"}, "a brace that is not part of a slot"),
        ({"parts": "{a:(}"}, "not closed"),
        ({"parts": [7]}, "a text or a slot is expected"),
        ({"parts": [Slot("a", pattern="b", strips_left=True)]}, "cannot strip as well"),
        ({"parts": "\ud800"}, "half of a surrogate pair"),
        ({"parts": "{a}", "rule": "sglang"}, "no such rule"),
        ({"parts": "{a}", "allowed": ["x"]}, "only tiktoken has allowed special tokens"),
        ({"parts": "{a}", "rule": "tiktoken", "allowed": ["x"]}, "no such special token"),
        ({"parts": "{a}", "control": [3]}, "not the id of a special token"),
    ],
)
def test_bad_questions_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(tokdfa.TokdfaError, match=message):
        check_injection(TOKENIZER, **arguments)


def over_few_characters(content: str, **changes: Any) -> dict[str, Any]:
    """Return a tokenizer.json over a few characters with one added token."""
    vocab = {"<unk>": 0, "a": 1, "b": 2, " ": 3, "!": 4}
    fields = tokenizer_json([], added_tokens=[added_token(5, content) | changes], pre_tokenizer=None)
    fields["decoder"] = {"type": "Fuse"}
    fields["model"] |= {"vocab": vocab}
    return fields


def test_symbols_around_a_special_token_have_tokens() -> None:
    """U+0000 has no token here; another symbol lets the content of a slot that is stripped begin with one."""
    tokenizer = tokdfa.load(over_few_characters("  "))
    found = check_injection(tokenizer, "a{content|trim}").witness
    assert found is not None
    assert (found.values, found.ids) == (("!  !",), (1, 4, 5, 4))
    with pytest.raises(AlphabetError):
        tokenizer.encode("\0")


def test_an_unknown_symbol_gives_the_id_of_a_special_token() -> None:
    fields = over_few_characters("<s>")
    fields["added_tokens"].insert(0, added_token(0, "<unk>"))
    fields["model"]["unk_token"] = "<unk>"
    tokenizer = tokdfa.load(fields)
    assert tokenizer.encode("z").tolist() == [0]
    found = check_injection(tokenizer, "a{content}").witness
    assert found is not None
    assert not found.shortest
    with pytest.raises(UnsupportedFeatureError, match="neither a proof nor texts were found"):
        check_injection(tokenizer, "a{content:[xyz]}")
