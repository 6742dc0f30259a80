"""DOT text: deterministic, and rendered exactly as it was given."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tokdfa import Dictionary, TokenAlphabet, TokenDFA, token_dfa
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.dot import quote_label, to_dot
from tokdfa.draw.graph import Edge, Graph, Node
from tokdfa.draw.labels import word_label

FIGURE_3 = """\
digraph {
  rankdir=LR
  q0 [label="0", shape=doublecircle]
  q1 [label="1", shape=doublecircle]
  q2 [label="2", shape=doublecircle]
  start0 [label="", shape=none, width=0, height=0]
  start0 -> q0
  q0 -> q1 [label="a, ba"]
  q0 -> q2 [label="b"]
  q0 -> q0 [label="aa"]
  q1 -> q2 [label="b"]
  q1 -> q1 [label="ba"]
  q2 -> q2 [label="b"]
  q2 -> q0 [label="aa"]
  q2 -> q1 [label="ba"]
}
"""

AWKWARD = [
    *('"', "\\", "\n", "\x00", "\x7f", "&", "<", ">", "{", "}", "|", ",", " ", "\ud800", "\u202e"),
    *(
        '\\"',
        "\\N",
        "\\n",
        "\\l",
        "\\\\",
        "&amp;",
        "&#34;",
        "<b>x</b>",
        "<|x|>",
        "-->",
        "//",
        "/*",
        "שלום",
        "😀",
        "\\x00",
    ),
]


def rendered(dot: str) -> dict[str, list[str]]:
    """Draw with Graphviz and return the lines of text at each node and arrow."""
    pygraphviz = pytest.importorskip("pygraphviz")
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(pygraphviz.AGraph(string=dot).draw(format="svg", prog="dot"))
    return {
        group.findtext(f"{svg}title", ""): [text.text or "" for text in group.findall(f"{svg}text")]
        for group in root.iter(f"{svg}g")
        if group.get("class") in ("node", "edge")
    }


def test_a_figure() -> None:
    assert token_dfa(Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab")).to_dot() == FIGURE_3


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_text_does_not_depend_on_the_process(seed: str) -> None:
    program = (
        "import tokdfa; d = tokdfa.Dictionary.from_pairs([('a', 'a'), ('b', 'a')], 'ab');"
        "print(tokdfa.token_dfa(d).to_dot(), end='')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
    )
    assert done.stdout == FIGURE_3


def test_every_token_is_rendered_as_its_label() -> None:
    alphabet = TokenAlphabet(
        sorted({symbol for token in AWKWARD for symbol in token}), [t for t in AWKWARD if len(t) > 1]
    )
    rows = [{alphabet.number(token): state for state, token in enumerate(AWKWARD, 1)}, *({} for _ in AWKWARD)]
    texts = rendered(TokenDFA(alphabet, rows, finals=[]).to_dot())
    for state, token in enumerate(AWKWARD, 1):
        assert texts[f"q0->q{state}"] == [word_label(token)]


def test_any_text_may_be_a_label() -> None:
    labels = [token for token in AWKWARD if token.isprintable()] + ["two\nlines", "\\", "\\\\\n\\"]
    graph = Graph(tuple(Node(f"node {i}", label, shape="plaintext") for i, label in enumerate(labels)))
    texts = rendered(to_dot(graph))
    for i, label in enumerate(labels):
        if label.strip():
            assert texts[f"q{i}"] == label.split("\n")


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ('"', r'"\""'),
        ("\\", r'"\\"'),
        ("a\nb", r'"a\nb"'),
        ("\0", r'"\\x00"'),
        ("\ud800", r'"\\ud800"'),
        ("&", '"&amp;"'),
        ("<b>", '"<b>"'),
    ],
)
def test_quoting(text: str, quoted: str) -> None:
    assert quote_label(text) == quoted


def test_parallel_edges_are_one_arrow_for_each_style() -> None:
    edges = (Edge("x", "y", ("1",)), Edge("x", "y", style="dashed"), Edge("y", "x"), Edge("x", "y", ("2",)))
    lines = to_dot(Graph((Node("x", "x"), Node("y", "y")), edges)).splitlines()
    assert [line.strip() for line in lines if "->" in line] == [
        'q0 -> q1 [label="1, 2"]',
        "q0 -> q1 [style=dashed]",
        "q1 -> q0",
    ]


def test_long_labels_are_broken_between_tokens() -> None:
    dfa = TokenDFA.universal("abcdefghijklmnopqrstuvwxyz,")
    (label,) = dfa_graph(dfa).edges[0:1]
    assert label.labels == (*"abcdefghijklmnopqrstuvwxyz", ",")
    assert rendered(dfa.to_dot())["q0->q0"] == [
        "a, b, c, d, e, f, g, h, i, j, k, l, m, n,",
        "o, p, q, r, s, t, u, v, w, x, y, z, ,",
    ]


def test_labels_can_be_limited() -> None:
    dfa = TokenDFA.from_edges([(0, "a", 0), (0, "b", 0), (0, "c", 0), (1, "b", 0), (1, "c", 1)], finals=[])
    dot = dfa.to_dot(max_labels=2)
    assert 'q0 -> q0 [label="a, b, … 1 more"]' in dot
    assert 'q1 -> q0 [label="b"]' in dot


def test_many_tokens_that_behave_alike_are_only_counted() -> None:
    dfa = token_dfa(Dictionary.from_pairs([(b"a", b"b")]))
    assert [line.strip() for line in dfa.to_dot(max_labels=4).splitlines() if "->" in line] == [
        "start0 -> q0",
        'q0 -> q0 [label="b, ab, … 254 more"]',
        'q0 -> q1 [label="a"]',
        'q1 -> q0 [label="ab, … 254 more"]',
        'q1 -> q1 [label="a"]',
    ]
    assert 'q0 -> q0 [label="26 tokens"]' in TokenDFA.universal("abcdefghijklmnopqrstuvwxyz").to_dot(max_labels=4)


def test_large_pictures_are_written_quickly() -> None:
    n = 3_000
    chain = TokenDFA(TokenAlphabet("ab"), [{0: (p + 1) % n, 1: p} for p in range(n)], finals=[0])
    assert chain.to_dot().count("->") == 2 * n + 1
