"""Pictures by Graphviz: the same from the program and from the wheels, and with words for those who do not see them."""

from __future__ import annotations

import io
import re
import shutil
import struct
from xml.etree import ElementTree

import pytest

from tokdfa import Dictionary, token_dfa
from tokdfa.base.errors import LimitExceededError, TokdfaError
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.display import bundle
from tokdfa.draw.film import Film
from tokdfa.draw.graph import Edge, Graph, Node
from tokdfa.draw.render import can_render, render, to_svg

if not can_render():
    pytest.skip("there is no Graphviz", allow_module_level=True)

DICTIONARY = Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab")
GRAPH = dfa_graph(token_dfa(DICTIONARY), run=["b", "aa"], fresh=[2])
SVG = "{http://www.w3.org/2000/svg}"


def _parts(svg: str) -> dict[str, tuple[str, list[str]]]:
    """The parts that are drawn: by name, the class and the texts of each."""
    return {
        group.findtext(f"{SVG}title", ""): (
            group.get("class", ""),
            [text.text or "" for text in group.iter(f"{SVG}text")],
        )
        for group in ElementTree.fromstring(svg).iter(f"{SVG}g")
        if group.get("class") != "graph"
    }


def test_svg_has_a_role_and_a_description() -> None:
    svg = to_svg(GRAPH)
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.findtext(f"{SVG}desc") == GRAPH.description
    assert "<!--" not in svg
    assert _parts(svg)["q0->q1"] == ("edge", ["a, ba"])
    assert "aria-label" not in to_svg(Graph(GRAPH.nodes))


def test_png_has_a_description() -> None:
    png = render(GRAPH, "png")
    (length,) = struct.unpack(">I", png[33:37])
    assert png[37:41] == b"iTXt"
    assert png[41 : 41 + length].endswith(GRAPH.description.encode())
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(png))
    image.load()
    assert image.width > 100


def test_program_and_wheels_draw_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygraphviz")
    if shutil.which("dot") is None:
        pytest.skip("there is no program dot")
    by_program = _parts(to_svg(GRAPH))
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert _parts(to_svg(GRAPH)) == by_program


def test_graphviz_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("dot") is None:
        pytest.skip("there is no program dot")
    monkeypatch.setattr("tokdfa.draw.render.to_dot", lambda graph: "no graph")
    with pytest.raises(TokdfaError, match=r"Graphviz fails: .*syntax error"):
        to_svg(GRAPH)


def _frames(svg: str, name: str, attribute: str) -> list[list[str]]:
    """The animation of a part: the values in each frame, for the part and its texts."""
    group = next(g for g in ElementTree.fromstring(svg).iter(f"{SVG}g") if g.findtext(f"{SVG}title") == name)
    return [
        move.get("values", "").split(";")
        for move in group.iter(f"{SVG}animate")
        if move.get("attributeName") == attribute
    ]


def test_a_film_shows_every_step() -> None:
    film = Film(DICTIONARY)
    assert [frame.caption for frame in film.frames] == ["A0", "A1: rule 1, a≀a", "A2: rule 2, b≀a"]
    assert [len(frame.fresh) for frame in film.frames] == [0, 1, 1]
    svg = film.to_svg()
    assert _frames(svg, "q1", "visibility") == [["hidden", "visible", "visible"]]
    assert _frames(svg, "q2", "fill") == [["white", "white", "#56b4e9"]]
    # The arrow from 0 to 0 is in all frames, under other tokens in each.
    shown = _frames(svg, "q0->q0", "visibility")
    assert shown[0] == ["visible"] * 3
    texts = _parts(svg)["q0->q0"][1]
    assert {text: shown[1 + k] for k, text in enumerate(texts)} == {
        "a, b": ["visible", "hidden", "hidden"],
        "b, aa": ["hidden", "visible", "hidden"],
        "aa": ["hidden", "hidden", "visible"],
    }
    assert "script" not in svg
    assert film._repr_mimebundle_()["image/svg+xml"] == svg


def test_the_page_of_a_film_needs_no_network() -> None:
    page = Film(DICTIONARY).to_html()
    assert "{{" not in page
    assert page.count("<li>") == 3
    assert 'data-fresh="q2"' in page
    assert not re.search(r'(?:src|href)="(?!http://www\.w3\.org/)', page)


def test_a_film_may_be_too_long() -> None:
    with pytest.raises(LimitExceededError, match="after 2 rules there are 3 states, more than the limit of 2"):
        Film(DICTIONARY, max_states=2)


def _spanning(n: int) -> Graph:
    """Return a chain of nodes, each with an arrow to the first: few arrows, and a slow layout."""
    edges = [Edge(str(i), str(i + 1)) for i in range(n)] + [Edge(str(i), "0") for i in range(n)]
    return Graph(tuple(Node(str(i), "") for i in range(n + 1)), tuple(edges))


def test_a_layout_that_takes_long_is_stopped() -> None:
    with pytest.raises(LimitExceededError, match=r"Graphviz takes more than 0\.001 s for 151 nodes and 300 arrows"):
        to_svg(_spanning(150), max_seconds=0.001)


def test_a_layout_of_many_arrows_is_refused() -> None:
    # All labels between two nodes are one arrow.
    twice = Graph((Node("a", ""),), (Edge("a", "a", ("x",)), Edge("a", "a", ("y",))))
    assert twice.n_arrows == 1
    assert to_svg(twice, max_arrows=1).count('class="edge"') == 1
    with pytest.raises(LimitExceededError, match="the picture has 500 arrows, more than the limit of 400"):
        to_svg(_spanning(250))


def test_a_film_may_have_too_many_arrows() -> None:
    arrows = Film(DICTIONARY).graph.n_arrows
    with pytest.raises(LimitExceededError, match=f"after 2 rules there are {arrows} arrows, more than the limit of"):
        Film(DICTIONARY, max_arrows=arrows - 1)
    assert Film(DICTIONARY, max_arrows=arrows).to_svg()


def test_a_film_whose_layout_is_refused_says_so_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    film = Film(DICTIONARY, max_arrows=1000)
    monkeypatch.setattr(film, "_max_arrows", 1)
    shown = film._repr_mimebundle_()
    assert shown.keys() == {"text/plain"}
    assert "more than the limit of 1 (" in shown["text/plain"]


def test_a_notebook_shows_why_there_is_no_picture() -> None:
    assert "none: Graphviz takes more than 0.001 s" in bundle(_spanning(150), max_seconds=0.001)["text/html"]
    assert ">500</td>" in _spanning(250)._repr_mimebundle_()["text/html"]
