"""A template that decides by contents or writes parts of them has a rendering for each way, as jinja2 renders it."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

import tokdfa
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.jobs.splices.encoding import encode_after
from tokdfa.jobs.splices.parts import Slot
from tokdfa.jobs.templates.api import TemplateCheck, check_template
from tokdfa.jobs.templates.contents import Origin
from tokdfa.jobs.templates.rendering import Rendering, Shape, rendered

jinja2 = pytest.importorskip("jinja2", reason="jinja2 is not installed")

SHAPES = (Shape(("user",)), Shape(("user", "assistant")), Shape(("user", "assistant", "user")))
WRITTEN = (
    *("c", "c | trim", "c.strip('ab')", "c.lstrip('\\n')", "c.rstrip('b ')", "c.split('</t>')[-1]"),
    *("c.split('</t>')[0]", "c.split('</t>') | last", "c.split('a')[-1] | trim", "'<' ~ c ~ '>'"),
    *("c.split('</t>')[0].rstrip('\\n').split('<t>')[-1].lstrip('\\n')", "(c | trim).split(' ')[0]"),
    *("c | tojson", "{'a': [c ~ '<t>', 1]} | tojson", "(c | trim | tojson)[1:-1]", "('<' ~ c ~ '>')[1:]"),
)
ASKED = (
    *("'</t>' in c", "c", "not c", "c == 'ab'", "c != ' a'", "c.startswith('<t>')", "c.endswith('b')"),
    *("(c | trim) == ''", "'a' in c.split('</t>')[0]", "c is string", "c.split('</t>')[-1]", "c.x is defined"),
    "c.startswith(' ') and 'b' in c",
)
SEPARATORS = ("<|end|>", " ", "a", "\n", "<|end|> ", "b")


def random_template(rng: random.Random) -> str:
    pick = rng.choice
    turn = f"{{{{ {pick(WRITTEN)} }}}}"
    for _ in range(rng.randrange(1, 3)):
        turn = f"{{% if {pick(ASKED)} %}}{turn}{{% else %}}{pick(SEPARATORS)}{{{{ {pick(WRITTEN)} }}}}{{% endif %}}"
    first, last = pick(SEPARATORS), pick(SEPARATORS)
    return f"{{% for m in messages %}}{{% set c = m.content %}}{first}{turn}{last}{{% endfor %}}"


def random_content(rng: random.Random) -> str:
    texts = ("", " ", "\n", "a", "b", "ab", "<t>", "</t>", " a", "b ", "x", "\u3000", '"', "\\", "\x01\x1f", "\x7f")
    return "".join(rng.choice(texts) for _ in range(rng.randrange(5)))


def origin_of(rendering: Rendering, slot: Slot) -> Origin:
    return rendering.origins.get(slot.name, Origin(slot.name))


def values(rendering: Rendering, contents: dict[str, str]) -> list[str]:
    """Return what contents write into the slots of a rendering."""
    found = []
    for slot in rendering.parts:
        if isinstance(slot, Slot):
            origin = origin_of(rendering, slot)
            value = origin.of(contents[origin.content])
            value = value.lstrip() if slot.strips_left else value
            found.append(value.rstrip() if slot.strips_right else value)
    return found


def filled_in(parts: Sequence[str | Slot], given: Sequence[str]) -> str:
    rest = iter(given)
    return "".join(part if isinstance(part, str) else next(rest) for part in parts)


def path_of(paths: Sequence[Rendering], contents: dict[str, str]) -> Rendering:
    """Return the only rendering with conditions that contents fulfil."""
    (found,) = (
        path
        for path in paths
        if all(condition.is_of(contents[condition.origin.content]) for condition in path.conditions)
    )
    return found


TOKENIZER = tokdfa.load(
    tokenizer_json(
        [(b"a", b"b"), (b" ", b"a"), (b" a", b"b"), (b"b", b"\n"), (b"<", b"t"), (b"b", b"<t")],
        added_tokens=[added_token(262, "<|end|>")],
    )
)


def is_seam_kept(path: Rendering, contents: dict[str, str], at: int) -> bool:
    """Return whether the texts on both sides of a part may be encoded separately."""
    given = values(path, contents)
    n_before = sum(isinstance(part, Slot) for part in path.parts[:at])
    before = filled_in(path.parts[:at], given[:n_before])
    after = filled_in(path.parts[at:], given[n_before:])
    apart = [*TOKENIZER.encode(before).tolist(), *encode_after(TOKENIZER, after).tolist()]  # type: ignore[arg-type]
    return apart == TOKENIZER.encode(before + after).tolist()


def judged(seed: int) -> Counter[str]:
    """Compare the renderings of a random template, and the answers about its seams, with jinja2; count the answers."""
    rng = random.Random(seed)
    template = random_template(rng)
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = partial(json.dumps, ensure_ascii=False)
    by_jinja2 = environment.from_string(template)
    every = rendered(template, SHAPES, {})
    found: TemplateCheck = check_template(TOKENIZER, template, shapes=SHAPES)
    safe = {
        (slot, side)
        for slot in {seam.slot for seam in found.seams}
        for side in ("before", "after")
        if {seam.answer for seam in found.seams if (seam.slot, seam.side) == (slot, side)} == {"safe"}
    }
    whole = {seam.answer for seam in found.seams} == {"safe"}
    for shape, paths in zip(SHAPES, every, strict=True):
        assert not any(path.notes for path in paths), (seed, template)
        for _ in range(60):
            contents = {name: random_content(rng) for name in shape.slots}
            messages = [{"role": name.split()[0], "content": text} for name, text in contents.items()]
            path = path_of(paths, contents)
            assert filled_in(path.parts, values(path, contents)) == by_jinja2.render(messages=messages), (
                seed,
                template,
            )
            for at, part in enumerate(path.parts):
                if whole and isinstance(part, Slot):
                    assert all(is_seam_kept(path, contents, at + n) for n in (0, 1)), (seed, template, contents)
    for seam in found.seams:
        if seam.witness is not None:
            ids = TOKENIZER.encode(seam.witness.text).tolist()
            assert ids == [*seam.witness.ids] != [*seam.witness.ids_before, *seam.witness.ids_after]
            if seam.shape == "user":
                assert is_rendered(by_jinja2, seam.witness.text), (seed, template, seam)
    return Counter([*(seam.answer for seam in found.seams), *(["whole"] * whole), *(["safe slot"] * len(safe))])


def is_rendered(by_jinja2: Any, text: str) -> bool:
    """Return whether a template writes a text for some content: one or two parts of it, with other texts around."""
    pieces = {text[low:high] for low in range(len(text) + 1) for high in range(low, min(low + 10, len(text)) + 1)}
    for piece in [*pieces]:
        with suppress(ValueError):
            pieces.add(json.loads(f'"{piece}"'))
    tried = {
        f"{one}{joint}{two}" for one in pieces for two in pieces for joint in ("", "</t>", "<t>") if len(one + two) < 8
    }
    tried |= {f"{before}{one}{after}" for one in pieces for before in AROUND for after in AROUND}
    return any(
        by_jinja2.render(messages=[{"role": "user", "content": content}]) == text for content in sorted(tried, key=len)
    )


AROUND = ("", "</t>", "<t>", "b", " ", "a", "ab", "a</t>", "</t>a", " a", " b", "</t>b")


def test_renderings_and_answers_of_random_templates_hold_by_jinja2() -> None:
    reached: Counter[str] = Counter()
    for seed in seeds(4):
        reached += judged(seed)
    assert min(reached[answer] for answer in ("safe", "splits")) > 3


@pytest.mark.slow
def test_renderings_and_answers_of_many_random_templates_hold_by_jinja2() -> None:
    reached: Counter[str] = Counter()
    for seed in seeds(300):
        reached += judged(seed)
    assert min(reached[answer] for answer in ("safe", "splits", "whole", "safe slot")) > 10
