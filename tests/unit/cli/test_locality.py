"""tokdfa locality."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tokdfa
from tests.support.commands import run
from tests.support.tokenizer_files import merges_txt
from tokdfa.automata.lift import language
from tokdfa.automata.locality import dloc, local_from
from tokdfa.base.errors import LimitExceededError
from tokdfa.cli.loading import Folded
from tokdfa.cli.locality import _measure
from tokdfa.tokenizers.loading import load_byte_pairs

PAIRS = [(b"a", b"a"), (b"a", b"b"), (b"ab", b"a"), (b"b", b"b"), (b"aa", b"ab"), (b"a", b"bb")]


@pytest.fixture
def merges(tmp_path: Path) -> Path:
    path = tmp_path / "merges.txt"
    path.write_text(merges_txt(PAIRS), encoding="utf-8")
    return path


def measured(dfa: tokdfa.TokenDFA, longest: int) -> dict[str, object]:
    degrees = {str(k): dloc(dfa, k).degree for k in range(1, longest + 1)}
    return {"states": dfa.n_states, "dloc": degrees, "local_from": local_from(dfa)}


@pytest.mark.parametrize("n_rules", range(7))
def test_what_is_known_of_all_texts_is_what_the_automaton_has(merges: Path, capsys, n_rules: int) -> None:
    assert run("locality", merges, "--rules", n_rules, "-k", 3, "--json") == 0
    fields = json.loads(capsys.readouterr().out)
    dfa = tokdfa.token_dfa(tokdfa.load(merges).dictionary.prefix(n_rules))
    expected = {"rules": n_rules, "language": None, **measured(dfa, 3), "minimal": measured(dfa.minimize(), 3)}
    expected["look_ahead"] = None
    assert {key: fields[key] for key in expected} == expected


@pytest.mark.parametrize("pattern", ["(aa|b)*", "ab|ba", "a*b", "(a|b){5}", "c?"])
def test_locality_of_a_language_is_that_of_its_automata(merges: Path, capsys, pattern: str) -> None:
    assert run("locality", merges, "--language", pattern, "-k", 3, "--json") == 0
    fields = json.loads(capsys.readouterr().out)
    dictionary = tokdfa.load(merges).dictionary
    dfa = tokdfa.token_dfa(dictionary, language(pattern, dictionary))
    for part, automaton in ((fields, dfa), (fields["minimal"], dfa.minimize())):
        expected = measured(automaton, 3)
        assert {key: part[key] for key in expected} == expected


def test_a_table_has_one_line_a_length(merges: Path, capsys) -> None:
    assert run("locality", merges, "--language", "(aa|b)*", "-k", 2) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["states", "8", "2"],
        ["dloc(A,", "1)", "2", "1", "a"],
        ["dloc(A,", "2)", "2", "1", "aa≀a"],
        ["k-local", "from", "k", "=", "never", "1"],
    ]


def test_look_ahead_is_that_of_the_function(merges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("locality", merges, "--rules", 3, "--look-ahead", "--json") == 0
    found = json.loads(capsys.readouterr().out)["look_ahead"]
    dictionary = tokdfa.load(merges).dictionary.prefix(3)
    for unit in ("tokens", "symbols"):
        expected = tokdfa.look_ahead(dictionary, unit)
        assert found[unit] == {
            "revised": expected.revised,
            "text": expected.text.decode(),
            "continuation": expected.continuation.decode(),
        }
    assert run("locality", merges, "--rules", 1, "--look-ahead") == 0
    assert "tokens that may change   the last 1 of 'a' before 'a'" in capsys.readouterr().out
    assert run("locality", merges, "--rules", 0, "--look-ahead") == 0
    assert "tokens that may change   none" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("pairs", "arguments", "message"),
    [
        (PAIRS, ["--look-ahead", "--language", "a*"], "cannot be used with --language"),
        (PAIRS, ["--language", "(a"], "error: "),
        (PAIRS, ["--language", r"(a)\1"], "error: "),
        (PAIRS, ["-k", "0"], "Invalid value for '-k'"),
        (PAIRS, ["--rules", "-1"], "Invalid value for '--rules'"),
        ([(b"ab", b"a"), (b"a", b"b")], [], "rule 0, ab≀a: no earlier rule makes its left part 'ab'"),
    ],
)
def test_trouble_is_one_line(tmp_path: Path, capsys, pairs, arguments: list[str], message: str) -> None:
    path = tmp_path / "merges.txt"
    path.write_text(merges_txt(pairs), encoding="utf-8")
    assert run("locality", path, *arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_the_budget_is_told_with_the_bound_of_theorem_2(merges: Path) -> None:
    folded = Folded.of(load_byte_pairs(merges, pretokenizer="none").dictionary, "(aa|b)*", None, 60.0)
    with pytest.raises(LimitExceededError) as caught:
        folded.token_dfa(max_transitions=5)
    # The language has two states, both reached on a; and there are six rules.
    assert str(caught.value) == (
        "the explicit token DFA has more than 5 transitions, and up to 14 states "
        "(use only the first rules, with --rules N)"
    )


def test_degrees_tell_from_which_k_on_it_is_local(merges: Path, capsys) -> None:
    assert run("locality", merges, "--language", "(a|b){5}", "--json") == 0
    least = json.loads(capsys.readouterr().out)["local_from"]
    assert least > 1
    dfa = Folded.of(load_byte_pairs(merges, pretokenizer="none").dictionary, "(a|b){5}", None, 60.0).token_dfa()
    assert _measure(dfa, least, max_pairs=0)["local_from"] == least
    with pytest.raises(LimitExceededError, match=f"not {least - 1}-local"):
        _measure(dfa, least - 1, max_pairs=0)


def test_the_prefix_of_an_improper_dictionary_may_be_proper(tmp_path: Path, capsys) -> None:
    path = tmp_path / "merges.txt"
    path.write_text(merges_txt([(b"a", b"b"), (b"ba", b"b")]), encoding="utf-8")
    assert run("locality", path, "--rules", 1) == 0
    assert run("locality", path, "--rules", 2) == 2
    assert "rule 1" in capsys.readouterr().err


def test_real_dictionaries(data: Path, capsys) -> None:
    gpt2 = data / "vocabs/gpt2"
    assert run("locality", gpt2, "--json") == 0
    fields = json.loads(capsys.readouterr().out)
    assert (fields["states"], fields["local_from"]) == (50_001, 1)
    assert set(fields["dloc"].values()) == {1}
    assert run("locality", gpt2, "--language", "(?s).*", "--json") == 2
    assert "transitions, and up to 150,008 states (use only the first rules, with --rules N)" in capsys.readouterr().err
