"""Seams: the library confirms each witness, and no lesser one; a safe seam survives all short and many nasty texts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import product

import tokdfa
from tests.campaigns.standing.small import FLAGS, Small, in_order, loads, small, texts_of
from tests.support.random_seams import without_prefix
from tests.support.random_steps import SYMBOLS
from tokdfa.base.errors import AlphabetError, LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.jobs.splices.parts import Part, Slot

N_NASTY = 40
UNDECIDED = (UnsupportedFeatureError, PatternError, LimitExceededError)


def is_odd(made: Small) -> bool:
    """Return whether the continuation of a text is defined by more than the library's treatment of whole texts."""
    if without_prefix(made.fields) == made.fields and "any steps" not in made.kind:
        return False
    tokens = made.fields["added_tokens"]
    return "any steps" in made.kind or any(token[flag] for token in tokens for flag in FLAGS)


def continued(made: Small, text: str) -> tuple[int, ...] | None:
    """Return the ids of a text that follows another one: nothing is put before it."""
    places = [(text.find(content), -len(content)) for content in made.contents if content in text]
    place = min(places)[0] if places else len(text)
    first = made.later.ids(text[:place])
    rest = made.peer.ids(text[place:]) if place < len(text) else ()
    return None if first is None or rest is None else first + rest


def ids_apart(made: Small, before: str, after: str, *, starts: bool) -> tuple[tuple[int, ...] | None, ...]:
    """Return the ids of both texts, and of the two as one."""
    is_same = starts or not before or without_prefix(made.fields) == made.fields
    second = made.peer.ids(after) if is_same else continued(made, after)
    return made.peer.ids(before), second, made.peer.ids(before + after)


def differ(made: Small, before: str, after: str, *, starts: bool) -> bool:
    """Return whether the library splits two texts otherwise than as one, and none is refused."""
    first, second, whole = ids_apart(made, before, after, starts=starts)
    if first is None or second is None or whole is None or first + second == whole:
        return False
    return made.encodes(before, after, before + after)


def nasty(drawn: random.Random, made: Small) -> Iterator[str]:
    """Yield contents that spell parts of added tokens, and symbols that tokenizers treat differently."""
    pieces = [*made.symbols * 2, *SYMBOLS, *made.contents, *(content[:-1] for content in made.contents)]
    pieces += [content[1:] for content in made.contents]
    while True:
        yield "".join(drawn.choices(pieces, k=drawn.randrange(8)))


def side(drawn: random.Random, made: Small) -> str:
    """Return a short text, now and then with an added token."""
    symbols = "".join(drawn.choices(made.symbols, k=drawn.randrange(3)))
    if made.contents and drawn.random() < 0.3:
        symbols = drawn.choice([*made.contents, symbols + drawn.choice(made.contents)])
    return symbols


def key(pair: tuple[str, str]) -> tuple[int, int, bytes]:
    """Return the order of witnesses."""
    before, after = pair
    return len((before + after).encode()), len(before.encode()), (before + after).encode()


def check(drawn: random.Random, n_nasty: int = N_NASTY) -> Counter[str]:
    """Ask one question about a seam; a safe seam has to survive so many nasty contents."""
    made = small(drawn)
    if not loads(made):
        return Counter(["refused"])
    before, after = side(drawn, made), side(drawn, made)
    starts = is_odd(made) or drawn.random() < 0.3
    met = Counter([made.kind])
    try:
        verdict = tokdfa.splice(made.tokenizer, before=before, after=after, starts=starts)
    except UNDECIDED:
        return met + Counter(["undecided"])
    shown = (before, after, starts)
    found = verdict.witness
    pairs = [(x + before, after + y) for x, y in product(made.texts(2), repeat=2)]
    if found is not None:
        assert (found.ids_before, found.ids_after, found.ids) == ids_apart(
            made, found.before, found.after, starts=starts
        ), (shown, found)
        assert found.ids_before + found.ids_after != found.ids, (shown, found)
        assert found.before.endswith(before), (shown, found)
        assert found.after.startswith(after), (shown, found)
        met["split"] += 1
        met["split: the shortest"] += found.shortest
        lesser = [pair for pair in pairs if key(pair) < key((found.before, found.after))] if found.shortest else []
        assert not any(differ(made, *pair, starts=starts) for pair in lesser), (
            shown,
            found,
            [pair for pair in lesser if differ(made, *pair, starts=starts)],
        )
        return met
    met["safe"] += 1
    contents = nasty(drawn, made)
    pairs += [(next(contents) + before, after + next(contents)) for _ in range(n_nasty)]
    for pair in pairs:
        assert not differ(made, *pair, starts=starts), (shown, pair, ids_apart(made, *pair, starts=starts))
    return met


# Templates


def template(drawn: random.Random, made: Small) -> list[Part]:
    """Return a text with a slot in it, or at an end."""
    return [
        side(drawn, made),
        Slot("a", strips_left=(strips := drawn.random() < 0.2), strips_right=strips),
        side(drawn, made),
    ]


def filled(parts: list[Part], contents: list[str]) -> str:
    """Return the text with contents in the slots."""
    rest = iter(contents)
    return "".join(part if isinstance(part, str) else next(rest) for part in parts)


def may_fill(parts: list[Part], texts: list[str]) -> list[str]:
    """Return the texts that may fill the slot."""
    return [text for text in texts if all(part.holds(text) for part in parts if isinstance(part, Slot))]


def check_turns(drawn: random.Random) -> Counter[str]:
    """Ask whether the ids of a turn may be kept."""
    made = small(drawn)
    if not loads(made):
        return Counter(["refused"])
    met = Counter([made.kind])
    if is_odd(made):
        return met + Counter(["continuations are not defined by the library"])
    first, rest = template(drawn, made), template(drawn, made)
    try:
        verdict = tokdfa.check_turns(made.tokenizer, first, rest)
    except UNDECIDED:
        return met + Counter(["undecided"])
    found = verdict.witness
    if found is not None:
        apart = ids_apart(made, found.before, found.after, starts=False)
        assert (found.ids_before, found.ids_after, found.ids) == apart, (first, rest, found)
        assert found.ids_before + found.ids_after != found.ids, (first, rest, found)
    contents = nasty(drawn, made)
    texts = [*made.texts(2), *(next(contents) for _ in range(8))]
    pairs = [
        (filled(first, [one]), filled(rest, [other]))
        for one, other in product(may_fill(first, texts), may_fill(rest, texts))
    ]
    if found is not None:
        pairs = [pair for pair in pairs if found.shortest and key(pair) < key((found.before, found.after))]
    for pair in pairs:
        assert not differ(made, *pair, starts=False), (first, rest, found, pair)
    met["split" if found else "safe"] += 1
    met["keeps the prefix"] += found is None or verdict.keeps_prefix is True
    return met


def check_injection(drawn: random.Random) -> Counter[str]:
    """Ask whether contents of a template can make a control id."""
    made = small(drawn)
    if not loads(made):
        return Counter(["refused"])
    met = Counter([made.kind])
    parts = template(drawn, made)
    try:
        verdict = tokdfa.check_injection(made.tokenizer, parts)
    except (AlphabetError, *UNDECIDED):
        return met + Counter(["undecided"])
    control = {token["id"] for token in made.fields["added_tokens"]}

    def control_ids(text: str) -> Counter[int]:
        return Counter(id for id in made.peer.ids(text) or () if id in control)

    literals = [part for part in parts if isinstance(part, str)]
    written = sum(map(control_ids, literals), Counter[int]())

    def is_attack(content: str) -> bool:
        return bool(control_ids(filled(parts, [content])) - written)

    found = verdict.witness
    if found is not None:
        assert found.ids == made.peer.ids(found.text), (parts, found)
        assert is_attack(*found.values), (parts, found)
        assert {*found.made} == {*(control_ids(found.text) - written)}, (parts, found)
    contents = nasty(drawn, made)
    texts = may_fill(
        parts, [*texts_of(dict.fromkeys([*made.symbols, *"<>"]), 2), *(next(contents) for _ in range(N_NASTY))]
    )
    if found is not None:
        least = in_order(found.values)[0]
        texts = [
            text for text in texts if found.shortest and [text, least] == in_order([least, text]) and text != least
        ]
    for text in texts:
        assert not is_attack(text) or not made.encodes(filled(parts, [text])), (parts, found, text)
    met["attack" if found else "safe"] += 1
    return met
