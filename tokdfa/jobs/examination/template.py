"""Whether the chat template writes tokens that exist, ends a turn with an eos, and keeps contents apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

from tokdfa.jobs.examination.declared import GENERATION, Declared
from tokdfa.jobs.examination.finding import Finding, Group, Severity
from tokdfa.jobs.examination.folder import Loaded
from tokdfa.jobs.examination.special_tokens import Names
from tokdfa.jobs.splices.injection import Attack
from tokdfa.jobs.splices.parts import Slot
from tokdfa.jobs.templates.api import TemplateCheck, check_template
from tokdfa.jobs.templates.reading import CONFIG, JINJA
from tokdfa.jobs.templates.rendering import SHAPES, Rendering, Shape, rendered

_GROUP = Group.TEMPLATE
_MOST_NAMED = 5
# Texts that only control tokens are written as.
_CONTROL: Final = re.compile(r"<[|\uff5c][^<>|\uff5c\s]{1,64}[|\uff5c]>")
# Special tokens of other forms: their names with one or two letters exchanged, left out or put in.
_TAG: Final = re.compile(r"</?[A-Za-z_]{3,64}>|\[/?[A-Z_]{3,64}\]")
_NEAR = 0.9
# The conversations whose seams are decided; tokdfa template has all of them, which takes longer.
_SHAPES: Final = (
    Shape(("user", "assistant", "user")),
    Shape(("system", "user", "assistant", "user")),
    Shape(("user", "call", "tool"), tools=True),
)


def check_templates(loaded: Loaded, declared: Declared, max_seconds: float) -> Iterator[Finding]:
    """Yield the findings about the chat template, its seams decided within some seconds; none without one."""
    templates = declared.templates
    if not templates:
        return
    ranked = sorted(templates, key=lambda name: (not name.endswith(JINJA), not name.endswith(CONFIG)))
    others = [name for name in ranked[1:] if templates[name].strip() != templates[ranked[0]].strip()]
    if others:
        yield Finding(_GROUP, "templates differ", Severity.FAULT, (ranked[0], *others))
    elif len(ranked) > 1:
        yield Finding(_GROUP, "templates agree", Severity.OK, tuple(ranked))
    name, variables = ranked[0], declared.variables
    given = {key: text for key, text in variables.items() if text is not None}
    # A template that decides by contents has several renderings of a conversation.
    every = chain.from_iterable(rendered(templates[name], SHAPES, given))
    renderings = [found for found in every if not found.refused]
    yield from _control(loaded, name, renderings)
    yield from _ends(loaded, declared, name, renderings)
    found = check_template(
        loaded.tokenizer, templates[name], variables=variables, shapes=_SHAPES, max_seconds=max_seconds
    )
    if found.refused:
        values = {"count": len(found.refused), "first": found.refused[0]}
        yield Finding(_GROUP, "conversations refused", Severity.WARNING, (name,), values)
    yield from _attacks(found, name)
    yield from _seams(found, name)


def _texts(renderings: Sequence[Rendering]) -> list[str]:
    return [part for rendering in renderings for part in rendering.parts if isinstance(part, str)]


def _control(loaded: Loaded, name: str, renderings: Sequence[Rendering]) -> Iterator[Finding]:
    """Yield a fault for control strings that are not one id, and for those that are nearly special tokens."""
    names = Names(loaded.tokenizer)
    texts = _texts(renderings)
    written = {text: None for part in texts for text in _CONTROL.findall(part)}
    missing = [text for text in written if text not in names.special]
    if missing:
        values = {"count": len(missing), "first": missing[0], "tokens": missing[:_MOST_NAMED]}
        yield Finding(_GROUP, "control string of no token", Severity.FAULT, (name, loaded.name), values)
    tags = {text for part in texts for text in _TAG.findall(part) if text not in names.special}
    for text in sorted(tags):
        near = _nearly(text, names)
        if near is not None:
            values = {"first": text, "token": near}
            yield Finding(_GROUP, "nearly a token", Severity.FAULT, (name, loaded.name), values)
    if not missing and written:
        yield Finding(_GROUP, "control strings exist", Severity.OK, (name, loaded.name), {"count": len(written)})


def _nearly(text: str, names: Names) -> str | None:
    """Return a special token of the same length, within two letters, that a text was meant to be."""
    from difflib import get_close_matches

    alike = [known for known in names.special if abs(len(known) - len(text)) <= 1 and _TAG.fullmatch(known)]
    found = get_close_matches(text, alike, n=1, cutoff=_NEAR)
    # An opening tag and its closing one are both meant.
    return found[0] if found and found[0].replace("/", "") != text.replace("/", "") else None


def _ends(loaded: Loaded, declared: Declared, name: str, renderings: Sequence[Rendering]) -> Iterator[Finding]:
    """Yield whether the first special token after an answer ends a generation."""
    special = {*loaded.tokenizer.special_ids.tolist()}
    tail = next((tail for rendering in renderings if (tail := _after_answer(rendering)) is not None), None)
    if tail is None:
        values = {"check": "the end of a turn", "reason": "no conversation with an answer was rendered"}
        yield Finding(_GROUP, "check not made", Severity.UNKNOWN, (name,), values)
        return
    id = next((id for id in loaded.tokenizer.encode(tail).tolist() if id in special), None)
    if id is None:
        yield Finding(_GROUP, "turn without an end", Severity.FAULT, (name, loaded.name), {"text": tail})
        return
    token = next(each.content for each in loaded.tokenizer.specials if each.id == id)
    for source in (GENERATION, "config.json"):
        ids = next(
            (roles["eos"] for file, roles in declared.ids.items() if file.endswith(source) and "eos" in roles), ()
        )
        if ids:
            is_end = id in ids
            kind, severity = ("turn ends", Severity.OK) if is_end else ("end is not an eos", Severity.FAULT)
            yield Finding(_GROUP, kind, severity, (name, source), {"token": token, "id": id, "ids": [*ids]})
            return
    eos = declared.role("eos")
    if eos is not None and eos != token:
        yield Finding(_GROUP, "end is another eos", Severity.WARNING, (name,), {"token": token, "first": eos})


def _after_answer(rendering: Rendering) -> str | None:
    """Return the text after the content of an answer that ends a conversation; None if it is not one."""
    if rendering.shape.roles[-1] != "assistant" or not rendering.parts:
        return None
    tail: list[str] = []
    for part in reversed(rendering.parts):
        if isinstance(part, Slot):
            return "".join(reversed(tail)) if rendering.content_of(part).startswith("assistant") else None
        tail.append(part)
    return None


def _attacks(found: TemplateCheck, name: str) -> Iterator[Finding]:
    """Yield whether contents can forge control tokens: by spelling them, which must be prevented, or otherwise."""
    for kind, attack in found.attacks.items():
        spells = kind == "any text"
        if isinstance(attack, Attack):
            # Contents that are empty do nothing.
            contents = [value for value in attack.values if value]
            values: dict[str, Any] = {"contents": contents, "tokens": [*attack.names]}
            finding = "contents spell tokens" if spells else "contents forge tokens"
            severity = Severity.WARNING if spells else Severity.FAULT
            yield Finding(_GROUP, finding, severity, (name,), values)
        elif attack is None:
            kind = "no contents make tokens" if spells else "contents forge nothing"
            yield Finding(_GROUP, kind, Severity.OK, (name,))
        else:
            values = {"check": "contents that forge tokens" if not spells else "contents that spell tokens"}
            yield Finding(_GROUP, "template undecided", Severity.UNKNOWN, (name,), {**values, "reason": attack})


def _seams(found: TemplateCheck, name: str) -> Iterator[Finding]:
    """Yield whether turns may be encoded separately, and are kept when a turn is added."""
    for check, rows, bad in (
        ("turns encoded separately", found.seams, "splits"),
        ("turns kept", found.prefixes, "changes"),
    ):
        wrong = [row for row in rows if row.answer == bad]
        undecided = [row for row in rows if row.answer == "undecided"]
        if wrong:
            witness = wrong[0].witness
            values: dict[str, Any] = {"count": sum(row.count for row in wrong), "first": wrong[0].shape}
            values["text"] = "" if witness is None else f"{witness.before[-24:]}{witness.after[:24]}"
            kind = "seams split" if bad == "splits" else "turns change"
            yield Finding(_GROUP, kind, Severity.WARNING, (name,), values)
        if undecided:
            first = undecided[0]
            reason = f"line {first.line}: {first.reason}" if first.line else first.reason
            values = {"check": check, "reason": reason}
            yield Finding(_GROUP, "template undecided", Severity.UNKNOWN, (name,), values)
        if not wrong and not undecided:
            kind = "seams are safe" if bad == "splits" else "turns are kept"
            yield Finding(_GROUP, kind, Severity.OK, (name,), {"count": sum(row.count for row in rows)})
