"""The film of a construction: A₀, A₁, …, Aₙ, one frame per rule, with every part in the same place in all frames."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Callable, Collection
from functools import cached_property
from importlib.resources import files
from typing import NamedTuple

from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.fold import iter_token_dfas
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import LimitExceededError, TokdfaError
from tokdfa.base.suggestions import SuggestsNames
from tokdfa.draw.automaton import arrows_of, edge_labels
from tokdfa.draw.graph import FRESH, MAX_ARROWS, Edge, Graph, Node, word_label
from tokdfa.draw.render import can_render, to_svg

__all__ = ["Film", "Frame"]

_SECONDS = 2.0
_CAPTION = 28.0
_LABELS = 6
_TEXT = re.compile(r"<text(?P<attributes>[^>]*)>[^<]*</text>")
_GROUP = re.compile(r'(?P<head><g id="(?P<kind>node|edge)(?P<number>\d+)" class="[a-z]+")>(?P<body>.*?)</g>', re.DOTALL)
_SIZE = re.compile(r'width="(?P<width>[\d.]+)pt" height="(?P<height>[\d.]+)pt"\s+viewBox="[^"]*"')


class Frame(NamedTuple):
    """One step: its caption, the automaton, and the states that are new in it."""

    caption: str
    dfa: TokenDFA
    fresh: range


class Film(SuggestsNames):
    """The construction of the token DFA of a dictionary by Algorithm 2, step by step.

    All steps are laid out as one picture, and each frame shows a part of it, so nothing moves between frames.

    Parameters
    ----------
    dictionary : Dictionary
        The rules to fold.
    language : TokenDFA or str, optional
        The language; see :func:`tokdfa.iter_token_dfas`.
    max_states, max_arrows : int
        The maximum number of states, and of arrows in any frame, to draw.

    Attributes
    ----------
    frames : tuple of Frame
        A₀ to Aₙ.

    Raises
    ------
    LimitExceededError
        If there are more states or arrows, or for the reasons given in :func:`tokdfa.iter_token_dfas`.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Algorithm 2 and Theorem 1; Fig 3 and Fig 5 are films.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> film = tokdfa.Film(d)
    >>> [frame.dfa.n_states for frame in film.frames]
    [1, 2, 3]
    >>> film.frames[2].caption
    'A2: rule 2, b≀a'
    """

    def __init__(
        self,
        dictionary: Dictionary,
        language: TokenDFA | str | None = None,
        *,
        max_states: int = 100,
        max_arrows: int = MAX_ARROWS,
    ) -> None:
        frames: list[Frame] = []
        arrows: set[tuple[int, ...]] = set()
        self._max_arrows = max_arrows
        for i, dfa in enumerate(iter_token_dfas(dictionary, language)):
            if dfa.n_states > max_states:
                what = f"after {i} rules there are {dfa.n_states} states, more than the limit of {max_states}"
                raise LimitExceededError(what, hint="film only the first rules, or raise the limit")
            arrows.update(map(tuple, arrows_of(dfa).tolist()))
            if len(arrows) > max_arrows:
                what = f"after {i} rules there are {len(arrows):,} arrows, more than the limit of {max_arrows:,}"
                raise LimitExceededError(what, hint="film only the first rules, or a language; or raise the limit")
            caption = f"A{i}"
            if i:
                caption += f": rule {i}, {'≀'.join(map(word_label, dictionary[i - 1]))}"
            before = frames[-1].dfa.n_states if frames else dfa.n_states
            frames.append(Frame(caption, dfa, range(before, dfa.n_states)))
        self.frames = tuple(frames)

    @cached_property
    def _arrows(self) -> dict[tuple[int, int], list[str]]:
        """The label of each arrow, given by its ends, in each frame; empty for a missing arrow."""
        arrows: dict[tuple[int, int], list[str]] = {}
        for i, (_, dfa, _) in enumerate(self.frames):
            tokens: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
            for source, target, token in zip(
                dfa.sources.tolist(), dfa.targets.tolist(), dfa.tokens.tolist(), strict=True
            ):
                tokens[source, target].append(token)
            for ends, numbers in tokens.items():
                arrows.setdefault(ends, [""] * len(self.frames))[i] = ", ".join(edge_labels(dfa, numbers, _LABELS))
        return arrows

    @cached_property
    def graph(self) -> Graph:
        """Everything visible in any frame, in one picture, with the longest label of each arrow."""
        last = self.frames[-1].dfa
        nodes = tuple(Node(str(q), str(q), double=last.is_final(q)) for q in range(last.n_states))
        edges = tuple(
            Edge(str(source), str(target), (max(labels, key=len),)) for (source, target), labels in self._arrows.items()
        )
        what = f"The construction of a token DFA in {len(self.frames)} steps, the last with {last.n_states} states."
        return Graph(nodes, edges, (str(last.initial),), description=what)

    def to_svg(self) -> str:
        """Return an SVG that plays in a loop without a script; a viewer without animation shows Aₙ."""
        n = len(self.frames)

        def animated(attribute: str, values: list[str]) -> str:
            return (
                f'<animate attributeName="{attribute}" values="{";".join(values)}" dur="{_SECONDS * n:g}s" '
                'calcMode="discrete" repeatCount="indefinite"/>'
            )

        def seen(when: Collection[int]) -> tuple[str, str]:
            shown = animated("visibility", ["visible" if i in when else "hidden" for i in range(n)])
            return f' visibility="{"visible" if n - 1 in when else "hidden"}"', shown

        def filled(frame: int) -> str:
            return animated("fill", [FRESH if i == frame else "white" for i in range(n)])

        captions = []
        for i, frame in enumerate(self.frames):
            attribute, shown = seen({i})
            captions.append(f'<text x="4" y="-9" font-size="14"{attribute}>{html.escape(frame.caption)}{shown}</text>')
        return _with_captions(self._drawn(seen, filled), captions, max(len(frame.caption) for frame in self.frames))

    def to_html(self) -> str:
        """Return a self-contained page: buttons and arrow keys step through the frames, the space bar plays them."""

        def seen(when: Collection[int]) -> tuple[str, str]:
            return f' data-frames="{" ".join(map(str, sorted(when)))}"', ""

        steps = "".join(
            f'<li><button type="button" data-fresh="{" ".join(f"q{q}" for q in frame.fresh)}">'
            f"{html.escape(frame.caption)}</button></li>"
            for frame in self.frames
        )
        svg = self._drawn(seen, lambda frame: "")
        page = files("tokdfa.draw").joinpath("data/film.html").read_text(encoding="utf-8")
        return page.replace("{{fresh}}", FRESH).replace("{{steps}}", steps).replace("{{svg}}", svg)

    def _drawn(self, seen: Callable[[Collection[int]], tuple[str, str]], filled: Callable[[int], str]) -> str:
        """Draw all parts, each with an attribute and children that say in which frames it is visible or filled."""
        last = self.frames[-1].dfa
        n = len(self.frames)
        born = [next(i for i in range(n) if q < self.frames[i].dfa.n_states) for q in range(last.n_states)]
        labels = [*self._arrows.values()]

        def part(match: re.Match[str]) -> str:
            # Graphviz numbers nodes and edges in order; the start comes after the states and before the arrows.
            kind, number, body = match["kind"], int(match["number"]) - 1, match["body"]
            if kind == "node" and number < last.n_states:
                attribute, child = seen(range(born[number], n))
                if born[number] and filled(born[number]):
                    body = re.sub(r"<ellipse([^>]*)/>", rf"<ellipse\1>{filled(born[number])}</ellipse>", body, count=1)
            elif kind == "edge" and number > 0:
                written = labels[number - 1]
                attribute, child = seen([i for i in range(n) if written[i]])
                body = _TEXT.sub(lambda text: _texts(text["attributes"], written, seen), body)
            else:
                return match[0]
            return f"{match['head']}{attribute}>{child}{body}</g>"

        return _GROUP.sub(part, to_svg(self.graph, max_arrows=self._max_arrows))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if can_render():
            try:
                bundle["image/svg+xml"] = self.to_svg()
            except LimitExceededError as error:
                bundle["text/plain"] += f": {error}"
        return bundle

    def __repr__(self) -> str:
        return f"<Film of {len(self.frames)} frames, the last with {self.frames[-1].dfa.n_states} states>"


def _texts(attributes: str, written: list[str], seen: Callable[[Collection[int]], tuple[str, str]]) -> str:
    """Return a text for each label that an arrow has in any frame, all in the same place."""
    frames: defaultdict[str, list[int]] = defaultdict(list)
    for i, label in enumerate(written):
        if label:
            frames[label].append(i)
    texts = []
    for label, when in frames.items():
        attribute, child = seen(when)
        texts.append(f"<text{attributes}{attribute}>{html.escape(label)}{child}</text>")
    return "".join(texts)


def _with_captions(svg: str, captions: list[str], longest: int) -> str:
    """Return an SVG with space at the top for the captions."""
    head = _SIZE.search(svg)
    if head is None:
        raise TokdfaError("the pictures of this Graphviz have no size", value=svg[:80], hint="write an .html film")
    width, height = max(float(head["width"]), 9.0 * longest), float(head["height"]) + _CAPTION
    size = f'width="{width:g}pt" height="{height:g}pt"\n viewBox="0 {-_CAPTION:g} {width:g} {height:g}"'
    end = svg.rindex("</svg>")
    ground = f'<rect x="0" y="{-_CAPTION:g}" width="{width:g}" height="{height:g}" fill="white"/>'
    font = 'font-family="Helvetica,sans-Serif"'
    first = svg.index("<g ", head.end())
    written = f"<g {font}>{''.join(captions)}</g>"
    return f"{svg[: head.start()]}{size}{svg[head.end() : first]}{ground}\n{svg[first:end]}{written}\n</svg>\n"
