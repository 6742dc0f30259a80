"""Random regular expressions, spelled as all engines of the tests read them."""

from __future__ import annotations

from hypothesis import strategies as st

LITERALS = st.sampled_from(["a", "b", "c", "é", "😀", " "])
CLASSES = st.sampled_from(["[ab]", "[^a]", "[a-cé]", "[^b😀]", "."])
PLACES = [r"\b", r"\B", "(?m:^)", "(?m:$)", r"\A", "^"]
ANCHORS = st.sampled_from(PLACES)


def patterns(
    *, anchors: bool = False, lazy: bool = True, last_line: bool = False, empty_turns: bool = False
) -> st.SearchStrategy[str]:
    """Patterns over a, b, c, é, 😀 and the space; `last_line` adds $ to the anchors.

    Nothing that can be empty is repeated without end but for `empty_turns`: backtracking engines agree on the effect of
    an empty turn of a repetition, others have their own ways.
    """
    atoms = st.tuples(st.one_of(LITERALS, CLASSES), st.just(False))
    if anchors or last_line:
        places = st.one_of(*[ANCHORS] * anchors, *[st.sampled_from(["$", r"\n"])] * last_line)
        atoms = st.one_of(atoms, atoms, places.map(lambda place: (place, place != r"\n")))
    return st.recursive(atoms, lambda inner: _larger(inner, lazy, empty_turns), max_leaves=8).map(lambda pair: pair[0])


def _larger(
    inner: st.SearchStrategy[tuple[str, bool]], lazy: bool, empty_turns: bool
) -> st.SearchStrategy[tuple[str, bool]]:
    several = st.lists(inner, min_size=2, max_size=3)
    concatenations = several.map(lambda parts: ("".join(text for text, _ in parts), all(empty for _, empty in parts)))
    alternations = several.map(
        lambda parts: ("(?:" + "|".join(text for text, _ in parts) + ")", any(empty for _, empty in parts))
    )
    modes = ["", "?"] if lazy else [""]
    repetitions = st.tuples(
        inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,2}", "{2,}"]), st.sampled_from(modes)
    ).map(lambda given: _repeated(*given, empty_turns=empty_turns))
    return st.one_of(concatenations, alternations, repetitions)


def _repeated(part: tuple[str, bool], operator: str, mode: str, empty_turns: bool) -> tuple[str, bool]:
    text, empty = part
    if empty and (not empty_turns or text in (*PLACES, "$")):
        return text, empty
    return f"(?:{text}){operator}{mode}", empty or operator in ("*", "?", "{0,2}")


def texts(longest: int = 12) -> st.SearchStrategy[str]:
    """Texts over the symbols of :func:`patterns`, and a line feed."""
    return st.text("abcé😀 \n", max_size=longest)
