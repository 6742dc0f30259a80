"""A violation as HTML. What is built here, report.js builds for the violations further down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokdfa.report.markup import Markup, tag
from tokdfa.report.spelling import marked_up

__all__ = ["Words", "card", "table"]

# Neighbours further away than this are left out where the page is narrow.
NEAR = 2

NO_TEXT = "none: no text has these ids"


@dataclass(frozen=True, slots=True)
class Words:
    """What the fields of violations refer to.

    Attributes
    ----------
    tokens : mapping
        For each id, written out, its label and its class.
    rules : mapping
        For each rule, written out, its label.
    meanings : mapping
        What each kind of violation means.
    n_live : int
        How many tokens occur in tokenizations at all.
    """

    tokens: Mapping[str, list[str]]
    rules: Mapping[str, str]
    meanings: Mapping[str, str]
    n_live: int

    def label(self, id: int) -> Markup:
        """Return the label of an id."""
        return tag("bdi", marked_up(self.tokens[str(id)][0]))


def card(fields: Mapping[str, Any], words: Words) -> Markup:
    """Return a violation."""
    number = f"v{fields['n']}"
    known = f"known at token {fields['known']:,}"
    return tag(
        "article",
        tag(
            "header",
            tag(
                "h3",
                tag("a", f"{fields['n']:,}.", href=f"#{number}"),
                f" Token {fields['token']:,}, byte {fields['byte']:,}",
                id=f"{number}-title",
            ),
            tag("span", fields["kind"], class_="kind"),
            tag("span", known, class_="known-at") if fields["known"] != fields["token"] else "",
        ),
        tag(
            "p",
            *(tag("bdi", part) if place % 2 else part for place, part in enumerate(fields["reason"])),
            class_="reason",
        ),
        tag(
            "div",
            table(fields, words, ("given", "canonical"), absent=("nothing", "nothing" if fields["text"] else NO_TEXT)),
            class_="scroll",
            role="group",
            aria_label="tokens",
        ),
        _picture(fields, words),
        id=number,
        class_="card",
        tabindex=-1,
        aria_labelledby=f"{number}-title",
    )


def table(
    fields: Mapping[str, Any],
    words: Words,
    names: tuple[str, str],
    *,
    other: Words | None = None,
    absent: tuple[str, str] = ("nothing", "nothing"),
    whole: str = "stream",
) -> Markup:
    """Return two tokenizations, one above the other, with the tokens around them.

    Parameters
    ----------
    fields : mapping
        The fields of a violation.
    words : Words
        The labels of the tokens.
    names : tuple of str
        What the two are called.
    other : Words, optional
        The labels of the tokens of the second one, if they are others.
    absent : tuple of str
        What stands where one of the two has no tokens.
    whole : str
        What the tokens are those of.
    """
    rows = fields["lanes"]
    before, behind = fields["before"], fields["behind"]

    def cell(place: str, words: Words, id: int, known: bool, **span: int) -> Markup:
        return tag(
            "td",
            words.label(id),
            tag("small", str(id)),
            *_mark(known),
            class_=f"t {place} {words.tokens[str(id)][1]}".rstrip(),
            **span,
        )

    def around(id: int, distance: int, known: bool) -> Markup:
        return cell("around far" if distance > NEAR else "around", words, id, known, rowspan=2)

    def lane(side: str, words: Words) -> list[Markup]:
        cells = [
            cell(side, words, id, side == "left" and place == fields["known_in"], colspan=span)
            for place, (id, span) in enumerate(rows[side])
        ]
        rest = rows["columns"] - sum(span for _, span in rows[side])
        if rest:
            more = rows[f"{side}_more"]
            said = f"… {more:,} more" if more else absent[side == "right"]
            cells.append(tag("td", said, class_="rest", colspan=rest))
        return cells

    return tag(
        "table",
        tag(
            "tbody",
            tag(
                "tr",
                tag("th", names[0], scope="row"),
                *_edge("⊢", f"the {whole} begins", fields["begins"], len(before)),
                *(around(id, len(before) - place, False) for place, id in enumerate(before)),
                *lane("left", words),
                *(around(id, place + 1, place == fields["known_behind"]) for place, id in enumerate(behind)),
                *_edge("⊣", f"the {whole} ends", fields["ends"], len(behind)),
            ),
            tag("tr", tag("th", names[1], scope="row"), *lane("right", other or words)),
        ),
        class_="runs" if other is None else "runs ab",
    )


def _mark(known: bool) -> list[Markup]:
    return [tag("span", "✕", class_="mark", role="img", aria_label="not allowed here")] if known else []


def _edge(sign: str, meaning: str, there: bool, distance: int) -> list[Markup]:
    if not there:
        return []
    place = "edge far" if distance > NEAR else "edge"
    return [tag("td", tag("span", sign, role="img", aria_label=meaning, title=meaning), class_=place, rowspan=2)]


def _picture(fields: Mapping[str, Any], words: Words) -> Markup:
    picture = fields["picture"]
    if picture is None:
        return Markup("")
    pair = picture["pair"]
    alone = pair is not None and len(picture["given"][0]) == 1
    start = _state(picture["states"].get(str(pair[0])) if alone else None, "start")

    def run(name: str, steps: list[Any], stuck: bool) -> Markup:
        first, left_out, last = steps
        ids = [*first, *([None] if left_out else []), *last]
        parts = [tag("span", name, class_="name"), start]
        for place, id in enumerate(ids):
            if id is None:
                parts.append(tag("span", f"… {left_out:,} more", class_="left-out"))
                continue
            blocked = stuck and place == len(ids) - 1
            parts.append(tag("span", words.label(id), class_="step blocked" if blocked else "step"))
            if blocked:
                parts.append(tag("span", "✕", class_="state none", role="img", aria_label="no state"))
            else:
                parts.append(_state(picture["states"].get(str(id)), ""))
        return tag("div", *parts, class_="run")

    return tag(
        "figure",
        run("given", picture["given"], True),
        run("canonical", picture["right"], False) if picture["right"][0] else "",
        tag("figcaption", *_caption(fields, words)),
        class_="picture",
    )


def _state(number: int | None, place: str) -> Markup:
    return tag("span", "" if number is None else str(number), class_=f"state {place}".rstrip())


def _caption(fields: Mapping[str, Any], words: Words) -> list[str]:
    pair = fields["picture"]["pair"]
    if pair is None:
        return [words.meanings[fields["kind"]]]
    left, right, rule, allowed = pair
    state = fields["picture"]["states"][str(left)]
    caption = [
        f"State {state}, reached on ",
        words.label(left),
        f", allows {allowed:,} of {words.n_live:,} tokens. ",
        words.label(right),
        " is not one of them",
    ]
    if rule < 0:
        return [*caption, "."]
    return [*caption, f": rule {rule:,}, ", tag("bdi", marked_up(words.rules[str(rule)])), ", took it away."]
