"""Prefixes called kept are kept for every content, by jinja2 itself; it confirms the changes of the others."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

import tokdfa
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa.jobs.splices.parts import Slot
from tokdfa.jobs.templates.api import TemplatePrefix, check_template
from tokdfa.jobs.templates.prefixes import pairs_of, rest_of
from tokdfa.jobs.templates.rendering import CHAINS, Shape

jinja2 = pytest.importorskip("jinja2", reason="jinja2 is not installed")

SPECIALS = ["<|end|>", "<|bot|>", "<|odd|>"]
FILE = tokenizer_json(
    [(b"a", b"b"), (b" ", b"a")],
    added_tokens=[added_token(258 + n, text) for n, text in enumerate(SPECIALS)],
)
TURN = "<|bot|>{{ m.role }}\n{{ m.content }}<|end|>"
PROMPT = "{% if add_generation_prompt %}<|bot|>assistant\n{% endif %}"


def messages(shape: Shape, contents: Sequence[str]) -> dict[str, Any]:
    """Return the variables of a conversation with these contents."""
    filled = iter(contents)
    given: dict[str, Any] = shape.variables({})
    for message, role in zip(given["messages"], shape.roles, strict=True):
        if role == "call":
            message["tool_calls"][0]["function"]["arguments"]["word"] = next(filled)
        else:
            message["content"] = next(filled)
    return given


@cache
def compiled(template: str) -> Any:
    return jinja2.Environment(trim_blocks=True, lstrip_blocks=True).from_string(template)


def by_jinja2(template: str, shape: Shape, contents: Sequence[str]) -> str:
    return str(compiled(template).render(**messages(shape, contents)))


def prefixes(template: str, **options: Any) -> dict[str, set[str]]:
    """Return the answers by kind."""
    answers: dict[str, set[str]] = {"turn": set(), "prompt": set()}
    for prefix in check_template(tokdfa.load(FILE), template, **options).prefixes:
        answers[prefix.kind].add(prefix.answer)
    return answers


LOOP = "{% for m in messages %}" + TURN + "{% endfor %}"
ODD_LAST = "{% if m.role == 'assistant' and loop.last %}<|odd|>{% endif %}"
MOVED = "{% if loop.last and messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}"


def with_content(written: str) -> str:
    return LOOP.replace("m.content", written)


@pytest.mark.parametrize(
    ("template", "turn", "prompt"),
    [
        (LOOP + PROMPT, "kept", "kept"),
        # Everything that only strips is decided.
        (with_content("m.content | trim") + PROMPT, "kept", "kept"),
        # The generation prompt has a token that the answer lacks.
        (LOOP + PROMPT.replace("{% endif", "<|odd|>{% endif"), "kept", "changes"),
        # The end of a text is marked.
        (LOOP + "{% if not add_generation_prompt %}<|odd|>{% endif %}" + PROMPT, "changes", "kept"),
        # An earlier turn is written otherwise, or another part of it, for some contents or for all.
        (LOOP.replace("<|bot|>", ODD_LAST + "<|bot|>"), "kept changes", "kept"),
        (with_content("m.content if loop.last else m.content | trim"), "changes kept", "changes"),
        (with_content("m.content if loop.last else m.content.split('</think>')[-1]"), "changes kept", "changes"),
        (with_content("m.content if m.content != 'xyzzy' or loop.last else ''"), "changes kept", "changes"),
        # The system prompt moves to the last turn.
        (LOOP.replace("<|bot|>", MOVED + "<|bot|>"), "kept changes", "kept changes"),
        # Something is done to contents, and no content is found for which they are not kept.
        (with_content("m.content | upper") + PROMPT, "undecided", "undecided"),
        # The ids change at the end of a turn, where the text is kept.
        (LOOP.replace("<|end|>", " ").replace("<|bot|>", "a"), "changes", "changes"),
        # A conversation of two turns is refused, so there is nothing that could be kept.
        ("{% if messages | length > 1 %}{{ raise_exception('one') }}{% endif %}" + LOOP, "", ""),
    ],
)  # fmt: skip
def test_what_is_kept(template: str, turn: str, prompt: str) -> None:
    answers = prefixes(template)
    assert {kind: {*answers[kind]} for kind in answers} == {"turn": {*turn.split()}, "prompt": {*prompt.split()}}


def test_a_witness_has_the_messages_and_both_texts() -> None:
    found = check_template(tokdfa.load(FILE), LOOP + PROMPT.replace("{% endif", "<|odd|>{% endif")).prefixes
    prefix = next(prefix for prefix in found if prefix.kind == "prompt")
    assert prefix.messages == (("user", "a"), ("assistant", "b"))
    assert prefix.before == "<|bot|>user\na<|end|><|bot|>assistant\n<|odd|>"
    assert prefix.after == "<|bot|>user\na<|end|><|bot|>assistant\nb<|end|>"
    assert prefix.before[: prefix.offset] + "b<|end|>" == prefix.after


def test_ids_that_change_at_the_end_of_a_turn_have_two_texts() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    template = LOOP.replace("<|end|>", " ").replace("<|bot|>", "a")
    prefix = check_template(tokdfa.load(FILE), template).prefixes[0]
    texts = prefix.witness
    assert texts is not None
    library = tokenizers.Tokenizer.from_str(as_bytes(FILE).decode())
    assert library.encode(texts.text).ids == [*texts.ids]
    assert library.encode(texts.before).ids == [*texts.ids_before]
    assert texts.ids[: len(texts.ids_before)] != texts.ids_before


@pytest.mark.parametrize(
    ("short", "long", "rest"),
    [
        (["a", Slot("u"), "b"], ["a", Slot("u"), "bc", Slot("v")], ["c", Slot("v")]),
        (["a", Slot("u")], ["a", Slot("u"), "b"], ["b"]),
        ([], ["a"], ["a"]),
        (["a"], ["a"], []),
        (["a", Slot("u")], ["ab", Slot("u")], None),
        (["a", Slot("u")], ["a"], None),
        (["a", Slot("u")], ["a", Slot("v")], None),
        (["a", Slot("u")], ["a", Slot("u", strips_right=True)], None),
        (["ab"], ["a", Slot("u")], None),
    ],
)
def test_parts_that_are_a_prefix(short: list[Any], long: list[Any], rest: list[Any] | None) -> None:
    assert rest_of(short, long) == rest


def test_conversations_grow_from_the_first_user_on() -> None:
    pairs = pairs_of([Shape(("system", "user", "call"))])
    assert [(pair.kind, pair.short.name, pair.short.prompt, pair.long.name) for pair in pairs] == [
        ("turn", "system user", False, "system user call"),
        ("prompt", "system user", True, "system user call"),
    ]


def random_template(rng: random.Random) -> str:
    """Return a template of parts that may or may not keep their output in longer conversations."""
    pick = rng.choice
    content = pick(["m.content"] * 4 + ["m.content | trim", "m.content.rstrip()", "(m.content | trim) ~ ' '"])
    if rng.random() < 0.25:
        other = pick(
            ["m.content | trim", "''", "m.content.split('</think>')[-1]", "m.content | upper", "'<think>' ~ m.content"]
        )
        content = (
            f"({content}) if {pick(['loop.last', 'not loop.last', 'loop.first', 'loop.index > 2'])} else ({other})"
        )
    ends = pick(
        ["<|end|>"] * 4 + ["<|end|>\n", "{{ '' if loop.last else '<|end|>' }}", "{{ '<|odd|>' if loop.last }}<|end|>"]
    )
    turn = f"<|bot|>{{{{ m.role }}}}\n{{{{ {content} }}}}{ends}"
    if rng.random() < 0.2:
        turn = f"{{% if m.role == 'system' %}}{{{{ m.content }}}}<|odd|>{{% else %}}{turn}{{% endif %}}"
    first = pick(["", "", "<|odd|>", "{% if messages[0].role != 'system' %}<|bot|>system\nab<|end|>{% endif %}",
                  "{% if messages | length > 2 %}<|odd|>{% endif %}", "{% if tools %}<|odd|>{% endif %}"])  # fmt: skip
    last = pick(["", "", "", "{% if not add_generation_prompt %}<|odd|>{% endif %}"])
    asks = pick([PROMPT, PROMPT, "", PROMPT.replace("{% endif", "<think>\n{% endif"), PROMPT.replace("\n", "")])
    return f"{first}{{% for m in messages %}}{turn}{{% endfor %}}{last}{asks}"


def nasty(rng: random.Random) -> str:
    texts = ["", " ", "\n", "a", "ab", " a", "a\n", "<think>", "</think>", "\u3000", "<|end|>", "<|bot|>", "é", "ß"]
    return "".join(rng.choice(texts) for _ in range(rng.randrange(4)))


def kept_by_jinja2(template: str, pair: Any, contents: list[str]) -> bool:
    n_short = len(pair.short.slots)
    short = by_jinja2(template, pair.short, contents[:n_short])
    return by_jinja2(template, pair.long, contents).startswith(short)


def judged(seed: int) -> Counter[str]:
    """Compare the answers about a random template with renderings by jinja2; return the answers."""
    rng = random.Random(seed)
    template = random_template(rng)
    found: tuple[TemplatePrefix, ...] = check_template(tokdfa.load(FILE), template).prefixes
    pairs = pairs_of(CHAINS)
    for kind in ("turn", "prompt"):
        own = [pair for pair in pairs if pair.kind == kind]
        trials = [(pair, [nasty(rng) for _ in pair.long.slots]) for pair in own for _ in range(25)]
        if {prefix.answer for prefix in found if prefix.kind == kind} == {"kept"}:
            assert all(kept_by_jinja2(template, *trial) for trial in trials), (seed, template)
    for prefix in found:
        if prefix.messages:
            contents = [content for _, content in prefix.messages]
            texts = {by_jinja2(template, pair.long, contents) for pair in pairs if pair.long.name == prefix.shape}
            assert texts == {prefix.after}, (seed, template)
            assert not prefix.after.startswith(prefix.before), (seed, template)
            shorts = {
                by_jinja2(template, pair.short, contents[: len(pair.short.slots)])
                for pair in pairs
                if pair.long.name == prefix.shape and pair.kind == prefix.kind
            }
            assert shorts == {prefix.before}, (seed, template)
    return Counter(prefix.answer for prefix in found)


def test_answers_about_random_templates_hold_by_jinja2() -> None:
    reached: Counter[str] = Counter()
    for seed in seeds(6):
        reached += judged(seed)
    assert min(reached[answer] for answer in ("kept", "changes")) > 2


@pytest.mark.slow
def test_answers_about_many_random_templates_hold_by_jinja2() -> None:
    reached: Counter[str] = Counter()
    for seed in seeds(200):
        reached += judged(seed)
    assert min(reached[answer] for answer in ("kept", "changes", "undecided")) > 5
