"""DOT text: deterministic, and rendered exactly as it was given."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tokdfa import Dictionary, TokenAlphabet, TokenDFA, token_dfa
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.graph import Edge, Graph, Node, quote_label, to_dot, word_label

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


def test_dot_of_figure_3_is_as_written() -> None:
    assert token_dfa(Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab")).to_dot() == FIGURE_3


def printed(seed: int) -> str:
    """The text that another process prints, in which strings have other hashes."""
    program = (
        "import tokdfa; d = tokdfa.Dictionary.from_pairs([('a', 'a'), ('b', 'a')], 'ab');"
        "print(tokdfa.token_dfa(d).to_dot(), end='')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONHASHSEED": str(seed)}, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("seed", [1, 2])
def test_the_text_does_not_depend_on_the_process(seed: int) -> None:
    assert printed(seed) == FIGURE_3


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
def test_quoting_keeps_the_label(text: str, quoted: str) -> None:
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
    dfa = TokenDFA.universal("acegikmoqsuwybdfhjlnprtvxz,")
    (label,) = dfa_graph(dfa).edges[0:1]
    assert label.labels == (*"acegikmoqsuwybdfhjlnprtvxz", ",")
    assert rendered(dfa.to_dot())["q0->q0"] == [
        "a, c, e, g, i, k, m, o, q, s, u, w, y, b,",
        "d, f, h, j, l, n, p, r, t, v, x, z, ,",
    ]


@pytest.mark.parametrize(
    ("symbols", "labels"),
    [
        ("abc", ("a", "b", "c")),
        ("abcd", ("a … d",)),
        ("abcdxyz;:", ("a … d", "x", "y", "z", ";", ":")),
        (bytes(range(256)), (r"\x00 … \xff",)),
        (["a", "b", "c", "d", "</w>", "e"], ("a … d", "</w>", "e")),
    ],
)
def test_symbols_that_follow_each_other_are_a_range(symbols: str | bytes | list[str], labels: tuple[str, ...]) -> None:
    assert dfa_graph(TokenDFA.universal(symbols)).edges[0].labels == labels
    # No token has the label of a range: a space of its own is not shown as one.
    assert word_label("a … d") != "a … d"


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


def test_dead_fresh_and_marked_parts() -> None:
    edges = [(0, "a", 1), (0, "b", 1), (1, "a", 2), (3, "a", 1), (1, "b", 4)]
    dfa = TokenDFA.from_edges(edges, finals=[2])
    graph = dfa_graph(dfa, fresh=[2, 3], run=["a", "b", "a"])
    assert [node.dead for node in graph.nodes] == [False, False, False, True, True]
    assert [node.fresh for node in graph.nodes] == [False, False, True, True, False]
    assert [node.marked for node in graph.nodes] == [True, True, False, False, True]
    assert [(edge.source, edge.target, edge.labels) for edge in graph.edges if edge.marked] == [
        ("0", "1", ("a",)),
        ("1", "4", ("b",)),
    ]
    assert "it begins in 0. New: 2. On no accepting run: 2. The run on a≀b is painted: 0 1 4." in graph.description
    lines = [line.strip() for line in to_dot(graph).splitlines()]
    assert 'q2 [label="2", shape=doublecircle, style="filled", fillcolor="#56b4e9"]' in lines
    assert 'q3 [label="3", shape=circle, style="filled,dashed", fillcolor="#56b4e9"]' in lines
    assert 'q0 -> q1 [label="a", color="#d55e00", fontcolor="#d55e00", penwidth=2.5]' in lines
    assert 'q0 -> q1 [label="b"]' in lines
    none = dfa_graph(dfa, run=["b", "a"]).edges
    assert [edge.labels for edge in none if edge.marked] == [("b",), ("a",)]


def _unescaped(label: str, is_bytes: bool) -> str | bytes:
    """Read a label back, by the rules that :func:`word_label` states."""
    escapes = {"n": "\n", "t": "\t", "r": "\r"}
    pattern = r"\\(?:(\\)|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([ntr]))"
    if is_bytes:
        parts = re.split(r"(\\x[89a-f][0-9a-f])", label) if re.search(pattern, label) else [label]
        return b"".join(
            bytes([int(part[2:], 16)]) if k % 2 else str(_unescaped(part, False)).encode()
            for k, part in enumerate(parts)
        )
    text = label
    if re.search(pattern, label):
        text = re.sub(
            pattern,
            lambda m: m[1] or escapes.get(m[5] or "", "") or chr(int(m[2] or m[3] or m[4] or "0", 16)),
            label.replace("␣", " "),
        )
        return text
    return text.replace("␣", " ")


def _random_words() -> list[str]:
    dice = random.Random(9)
    blocks = [(0, 0x80), (0x20, 0x7F), (0x80, 0x250), (0x590, 0x700), (0x2000, 0x2070), (0x4E00, 0x4F00)]
    blocks += [(0x1F300, 0x1F700), (0xE0000, 0xE0080)]
    pieces = ['"', "\\", "\0", "<|x|>", "\\n", "&amp;", "\\x41", "\u202e", "😀", "\\\\", "--", "\\N", "\\G"]
    words = []
    for _ in range(10_000):
        parts = [
            dice.choice(pieces) if dice.random() < 0.4 else chr(dice.randrange(*dice.choice(blocks)))
            for _ in range(dice.randint(1, 6))
        ]
        words.append("".join(parts))
    return words


def test_ten_thousand_random_tokens_come_back() -> None:
    for word in _random_words():
        assert _unescaped(word_label(word), False) == word


@pytest.mark.parametrize("n", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_tokens_are_rendered_as_their_labels(n: int) -> None:
    labels = [word_label(word) for word in _random_words()[:n]]
    texts = rendered(to_dot(Graph(tuple(Node(f"n{i}", label, shape="plaintext") for i, label in enumerate(labels)))))
    # White space at the ends, which has signs of its own, never gets that far.
    assert [texts[f"q{i}"] for i in range(len(labels))] == [[label] for label in labels]


@pytest.mark.slow
def test_the_text_does_not_depend_on_a_hundred_processes() -> None:
    assert {printed(seed) for seed in range(100)} == {FIGURE_3}
