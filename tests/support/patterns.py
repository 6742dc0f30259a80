"""Random regular expressions, spelled as all engines of the tests read them."""

from __future__ import annotations

from hypothesis import strategies as st

LITERALS = st.sampled_from(["a", "b", "c", "é", "😀", " "])
CLASSES = st.sampled_from(["[ab]", "[^a]", "[a-cé]", "[^b😀]", "."])
ANCHORS = st.sampled_from([r"\b", r"\B", "(?m:^)", "(?m:$)", r"\A", "^"])


def patterns(*, anchors: bool = False, lazy: bool = True) -> st.SearchStrategy[str]:
    """Patterns over a, b, c, é, 😀 and the space; nothing that can be empty is repeated without end.

    Engines disagree on what an empty turn of a repetition does, and on nothing else here.
    """
    atoms = st.tuples(st.one_of(LITERALS, CLASSES), st.just(False))
    if anchors:
        atoms = st.one_of(atoms, atoms, st.tuples(ANCHORS, st.just(True)))
    return st.recursive(atoms, lambda inner: _larger(inner, lazy), max_leaves=8).map(lambda pair: pair[0])


def _larger(inner: st.SearchStrategy[tuple[str, bool]], lazy: bool) -> st.SearchStrategy[tuple[str, bool]]:
    several = st.lists(inner, min_size=2, max_size=3)
    concatenations = several.map(lambda parts: ("".join(text for text, _ in parts), all(empty for _, empty in parts)))
    alternations = several.map(
        lambda parts: ("(?:" + "|".join(text for text, _ in parts) + ")", any(empty for _, empty in parts))
    )
    modes = ["", "?"] if lazy else [""]
    repetitions = st.tuples(
        inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,2}", "{2,}"]), st.sampled_from(modes)
    ).map(lambda given: _repeated(*given))
    return st.one_of(concatenations, alternations, repetitions)


def _repeated(part: tuple[str, bool], operator: str, mode: str) -> tuple[str, bool]:
    text, empty = part
    if empty:
        return text, empty
    return f"(?:{text}){operator}{mode}", operator in ("*", "?", "{0,2}")


def texts(longest: int = 12) -> st.SearchStrategy[str]:
    """Texts over the symbols of :func:`patterns`, and a line feed."""
    return st.text("abcé😀 \n", max_size=longest)
