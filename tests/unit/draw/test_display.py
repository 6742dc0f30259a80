"""How notebooks show values."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pytest

import tokdfa
from tokdfa import Dictionary, LinMaxMatch, TokenDFA, Transducer, WordPieceVocabulary, token_dfa
from tokdfa.automata.boolean import complement, difference, intersection
from tokdfa.base.errors import LimitExceededError
from tokdfa.draw.display import automaton_graph
from tokdfa.draw.graph import Graph, Node
from tokdfa.draw.render import can_render
from tokdfa.draw.trie import forest_graph
from tokdfa.training.theory import apply_merges

DICTIONARY = Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab")
SMALL = token_dfa(DICTIONARY)
BOTH = intersection(SMALL, token_dfa(DICTIONARY, "(ab)*"))
LARGE = Dictionary.from_pairs([("a" + "b" * k, "b") for k in range(50)], "ab")


@pytest.mark.parametrize(
    "value",
    [
        SMALL,
        tokdfa.CompactTokenDFA(DICTIONARY),
        BOTH,
        complement(SMALL, len(SMALL.alphabet)),
        Transducer.from_token_dfa(SMALL),
        tokdfa.SubsequentialTransducer(DICTIONARY),
        tokdfa.RuleOrder(DICTIONARY),
        LinMaxMatch(WordPieceVocabulary(["a", "##b"])),
        forest_graph(apply_merges([("a", "b")], "abab")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_small_ones_are_drawn(value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    if can_render():
        shown = value._repr_mimebundle_()  # type: ignore[attr-defined]
        assert shown["text/plain"] == repr(value)
        assert shown["image/svg+xml"].startswith("<svg ")
    monkeypatch.setattr("tokdfa.draw.display.can_render", lambda: False)
    assert value._repr_mimebundle_()["text/vnd.graphviz"].startswith("digraph {")  # type: ignore[attr-defined]


def test_large_ones_are_counted() -> None:
    shown = tokdfa.CompactTokenDFA(LARGE)._repr_mimebundle_()
    assert shown.keys() == {"text/plain", "text/html"}
    assert ">51</td>" in shown["text/html"]
    assert ">51</td>" in token_dfa(LARGE)._repr_mimebundle_()["text/html"]
    assert "nodes of the trie" in LinMaxMatch(WordPieceVocabulary(["a" * 60]))._repr_mimebundle_()["text/html"]
    assert ">live rules</th>" in tokdfa.RuleOrder(LARGE)._repr_mimebundle_()["text/html"]
    assert "rules" in tokdfa.SubsequentialTransducer(LARGE)._repr_mimebundle_()["text/html"]
    chain = Transducer.from_token_dfa(TokenDFA.from_edges([(q, "a", q + 1) for q in range(50)], finals=[50]))
    assert "transitions" in chain._repr_mimebundle_()["text/html"]
    product = intersection(token_dfa(LARGE), token_dfa(LARGE))
    assert "none: the automaton has more" in product._repr_mimebundle_()["text/html"]


def test_verdicts_are_tables() -> None:
    verdict = tokdfa.k_locality(SMALL, 0)
    shown = verdict._repr_mimebundle_()["text/html"]
    assert ">no</td>" in shown
    assert "reason" in shown
    assert ">yes</td>" in tokdfa.default_tokenizer().validate([])._repr_mimebundle_()["text/html"]
    named = tokdfa.Verdict(False, "<b>", "a & b")._repr_mimebundle_()["text/html"]
    assert "&lt;b&gt;" in named
    assert "a &amp; b" in named


def test_what_jobs_find_is_a_table() -> None:
    tokenizer = tokdfa.default_tokenizer()
    shown = tokenizer.search("[ab]", tokenizer.encode("abc" * 20))._repr_mimebundle_()["text/html"]
    assert ">40</td>" in shown
    assert "bytes 0–1, tokens 0–1" in shown
    assert shown.count("<tr>") == 11
    verdict = tokenizer.validate([64, 261, 1193])
    shown = verdict.violations[0]._repr_mimebundle_()["text/html"]
    assert escape(verdict.reason) in shown
    assert ">pair</td>" in shown
    compared = tokdfa.compare(tokenizer, tokenizer)._repr_mimebundle_()["text/html"]
    assert "everything: same" in compared
    shown = tokdfa.Language(BOTH)._repr_mimebundle_()["text/html"]
    assert "members of 4 tokens" in shown
    assert ">no</td>" in shown
    finite = tokdfa.Language(token_dfa(DICTIONARY, "ab"))._repr_mimebundle_()["text/html"]
    assert "yes: the longest member has 2 tokens" in finite
    assert "members of 2 tokens" in finite
    assert "members of 3 tokens" not in finite
    assert "1,001" in Graph(tuple(Node(str(n), "") for n in range(1001)))._repr_mimebundle_()["text/html"]


def test_states_of_products_are_written_out() -> None:
    graph = automaton_graph(difference(SMALL, token_dfa(DICTIONARY, "(ab)*")))
    labels = [node.label for node in graph.nodes]
    assert labels[0] == "(0, 0)"
    assert any("∅" in label for label in labels)
    assert graph.edges[0].labels[0] in {"a", "b", "aa", "ba"}
    with pytest.raises(LimitExceededError):
        automaton_graph(SMALL, max_states=2)


def test_languages_of_tokenizers_are_tables(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\na\n##b\n[unused0]\n")
    tokenizer = tokdfa.load(path)
    assert isinstance(tokenizer, tokdfa.WordPieceTokenizer)
    assert ">2</td>" in tokenizer.language.words._repr_mimebundle_()["text/html"]
    assert "dead tokens" in tokenizer.language._repr_mimebundle_()["text/html"]
