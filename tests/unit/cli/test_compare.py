"""tokdfa compare."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pytest

import tokdfa
from tests.support.commands import run
from tests.support.tokenizer_files import merges_txt
from tokdfa.jobs.comparison import models
from tokdfa.jobs.comparison.result import Stage, Step

PAIRS = [(b"a", b"b"), (b"c", b"d"), (b"b", b"c"), (b"ab", b"c")]


def write(folder: Path, name: str, pairs: list[tuple[bytes, bytes]]) -> Path:
    path = folder / name / "merges.txt"
    path.parent.mkdir()
    path.write_text(merges_txt(pairs), encoding="utf-8")
    return path


def test_equivalent_tokenizers_give_status_0(tmp_path: Path, capsys) -> None:
    a, b = write(tmp_path, "a", PAIRS), write(tmp_path, "b", [PAIRS[1], PAIRS[0], *PAIRS[2:]])
    assert run("compare", a, a, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equivalent"] is True
    assert found["witness"] is None
    # The rules come in another order, which changes nothing; the ids are numbered in the order of the rules.
    assert run("compare", a, b, "--ignore-ids") == 0
    assert capsys.readouterr().out.startswith("equivalent ")
    assert run("compare", a, b, "--json") == 1
    witness = json.loads(capsys.readouterr().out)["witness"]
    assert witness["text"] == "ab"
    assert witness["ids_a"] != witness["ids_b"]


def test_different_tokenizers_give_status_1(tmp_path: Path, capsys) -> None:
    a, b = write(tmp_path, "a", PAIRS), write(tmp_path, "b", [PAIRS[0], PAIRS[2], PAIRS[1], PAIRS[3]])
    assert run("compare", a, b, "--ignore-ids", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    sides = [tokdfa.load(path) for path in (a, b)]
    assert found["equivalent"] is False
    assert found["witness"] == {
        "text": "bcd",
        "ids_a": sides[0].encode("bcd").tolist(),
        "ids_b": sides[1].encode("bcd").tolist(),
        "tokens_a": ["b", "cd"],
        "tokens_b": ["bc", "d"],
    }
    assert found["checked"] == {
        "dictionary": "different",
        "ids": "ignored",
        "pretokenizer": "same",
        "normalizer": "same",
        "specials": "same",
        "shortest": "proven",
    }
    assert found["report"]["n_other_ids"] == 2
    assert run("compare", a, b, "--ignore-ids") == 1
    out = capsys.readouterr().out
    assert out.startswith("different")
    assert "bcd" in out


def test_bad_input_gives_status_2(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    within = models.within
    # Where nothing is decided, each kind of texts is tried for a tenth of a second, instead of five.
    monkeypatch.setattr(models, "within", lambda seconds, texts: within(seconds / 50, texts))
    a = write(tmp_path, "a", PAIRS)
    improper = write(tmp_path, "b", [(b"ab", b"c"), (b"a", b"b")])
    for arguments in (
        (a, tmp_path / "nothing"),
        (improper, improper, "--pretokenizer-b", "gpt2"),
        (a,),
        (a, a, "--pretokenizer", "nobody"),
        (a, a, "--pretokenizer-b", "(a"),
        (a, a, "--format", "tekken"),
        (a, a, "--format-b", "word"),
    ):
        assert run("compare", *arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("tokdfa: error: ")
        assert err.count("\n") == 1


def test_the_page_is_written_whatever_the_answer(tmp_path: Path, capsys) -> None:
    a, b = write(tmp_path, "a", PAIRS), write(tmp_path, "b", [PAIRS[0], PAIRS[2], PAIRS[1], PAIRS[3]])
    page = tmp_path / "report.html"
    for other, status, heading in ((a, 0, "Equivalent"), (b, 1, "Different")):
        for options in ([], ["--json"]):
            assert run("compare", a, other, *options) == status
            without = capsys.readouterr()
            assert run("compare", a, other, *options, "--html", page, "--force") == status
            assert capsys.readouterr() == without
            assert f"<h1>{heading}</h1>" in page.read_text(encoding="utf-8")
    assert run("compare", a, b, "--html", tmp_path / "nothing" / "report.html") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tokdfa: error: ")


def test_the_page_names_files_hashes_and_options(tmp_path: Path, capsys) -> None:
    a, b = write(tmp_path, "a", PAIRS), write(tmp_path, "b", PAIRS)
    b.write_text(b.read_text(encoding="utf-8").replace("0.2", "0.3"), encoding="utf-8")
    page = tmp_path / "report.html"
    for side in (a, a.parent):
        assert run("compare", side, b, "--pretokenizer", "gpt2", "--html", page, "--force") == 0
        content = page.read_text(encoding="utf-8")
        for path in (a, b):
            assert hashlib.sha256(path.read_bytes()).hexdigest()[:16] in content
        assert content.count("--pretokenizer gpt2") == 2
        assert ">merges.txt<" in content
        assert ">tokenizers<" in content  # The Unicode tables of the pattern.


def test_only_some_texts_are_compared(tmp_path: Path, capsys) -> None:
    a, b = write(tmp_path, "a", PAIRS), write(tmp_path, "b", [PAIRS[0], PAIRS[2], PAIRS[1], PAIRS[3]])
    assert run("compare", a, b, "--texts", "[xyz]*", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["reason"] == "every text that [xyz]* matches has the same ids"
    assert (answer["texts"], answer["special_tokens"]) == ("[xyz]*", None)
    known = tmp_path / "known.json"
    known.write_text(json.dumps(answer), encoding="utf-8")
    # It says nothing about other texts.
    assert run("compare", a, b, "--known", known) == 2
    assert "with --texts: '[xyz]*'" in capsys.readouterr().err
    assert run("compare", a, b, "--known", known, "--texts", "[xyz]*", "--special-tokens", "plain") == 2
    assert "without --special-tokens" in capsys.readouterr().err
    assert run("compare", a, b, "--known", known, "--texts", "[xyz]*") == 0
    assert run("compare", a, b, "--texts", "a", "--certificate", tmp_path / "c") == 2
    assert "--certificate proves all texts" in capsys.readouterr().err


def test_a_known_difference_is_accepted_until_a_side_changes(tmp_path: Path, capsys) -> None:
    a, b = write(tmp_path, "a", PAIRS), write(tmp_path, "b", [PAIRS[0], PAIRS[2], PAIRS[1], PAIRS[3]])
    known = tmp_path / "known.json"
    assert run("compare", a, b, "--json") == 1
    known.write_text(capsys.readouterr().out, encoding="utf-8")
    assert run("compare", a, b, "--known", known) == 0
    assert "A and B have not changed since" in capsys.readouterr().out
    # The other way round it is another difference; the same tokenizers need no file.
    assert run("compare", b, a, "--known", known) == 1
    assert "A and B changed since" in capsys.readouterr().out
    assert run("compare", a, a, "--known", known) == 0
    assert "B changed since" in capsys.readouterr().out
    capsys.readouterr()
    b.write_text(merges_txt([*PAIRS[2:], *PAIRS[:2]]), encoding="utf-8")
    assert run("compare", a, b, "--known", known, "--json") == 1
    assert json.loads(capsys.readouterr().out)["known"] is False
    no_fingerprints = '{"equivalent": false, "reason": "", "ignore_ids": false, "fingerprints": []}'
    for content in ("{", "[]", '{"equivalent": false}', no_fingerprints):
        known.write_text(content, encoding="utf-8")
        assert run("compare", a, b, "--known", known) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert f"{known}: not the output of compare --json" in err


def test_the_answer_to_another_question_is_not_accepted(tmp_path: Path, capsys) -> None:
    a, b = write(tmp_path, "a", PAIRS), write(tmp_path, "b", [PAIRS[1], PAIRS[0], *PAIRS[2:]])
    known = tmp_path / "known.json"
    for made, asked, said in (
        (["--ignore-ids"], [], "with --ignore-ids"),
        ([], ["--ignore-ids"], "without --ignore-ids"),
    ):
        run("compare", a, b, "--json", *made)
        known.write_text(capsys.readouterr().out, encoding="utf-8")
        assert run("compare", a, b, "--known", known, *asked) == 2
        assert f"{known}: this answer is of a comparison {said}" in capsys.readouterr().err


def test_rules_that_only_one_has_are_named(tmp_path: Path, capsys) -> None:
    a, b = write(tmp_path, "a", PAIRS), write(tmp_path, "b", [*PAIRS[:2], PAIRS[3]])
    c = write(tmp_path, "c", [PAIRS[1], PAIRS[0], *PAIRS[2:]])
    facing = [write(tmp_path, name, rules) for name, rules in (("d", PAIRS[0::2]), ("e", PAIRS[2::-2]))]
    for sides, said in (
        ((a, b), "1 only in A: 2 ('b' + 'c')"),
        ((b, a), "1 only in B: 2 ('b' + 'c')"),
        ((a, c), "the same in another order, from rule 0 on\n"),
        (facing, "the same in another order, from rule 0 on; rule 0 ('a' + 'b') must come before 1 ('b' + 'c')\n"),
    ):
        run("compare", *sides, "--ignore-ids")
        assert f"rules         {said}" in capsys.readouterr().out
    run("compare", a, b, "--json")
    report = json.loads(capsys.readouterr().out)["report"]
    assert report["rules_only_a"] == [{"rule": 2, "left": "b", "right": "c"}]
    assert (report["n_rules_only_a"], report["n_rules_only_b"], report["first_other_rule"]) == (1, 0, 2)
    run("compare", a, a)
    assert "rules" not in capsys.readouterr().out


def test_numbers_that_were_not_counted_are_null(tmp_path: Path, capsys) -> None:
    # The rules are improper: pairs are not compared, and zeros would be a wrong answer.
    improper = [(b"a", b"bc"), (b"b", b"c")]
    a, b = (tmp_path / name / "merges.txt" for name in "ab")
    for path, rules in ((a, improper), (b, [*improper, (b"a", b"b")])):
        path.parent.mkdir()
        path.write_text(merges_txt(rules), encoding="utf-8")
    page = tmp_path / "page.html"
    run("compare", a, b, "--json", "--html", page)
    report = json.loads(capsys.readouterr().out)["report"]
    assert {report[name] for name in ("n_dead_a", "n_dead_b", "pairs_only_a", "pairs_only_b")} == {None}
    assert (report["n_rules_only_a"], report["n_rules_only_b"]) == (0, 1)
    assert "Dead tokens" not in page.read_text(encoding="utf-8")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path, monkeypatch, capsys) -> None:
    a, b = write(tmp_path, "a", PAIRS), write(tmp_path, "b", [PAIRS[1], PAIRS[0], *PAIRS[2:]])
    said: list[Stage] = []
    assert tokdfa.compare(tokdfa.load(a), tokdfa.load(b), ignore_ids=True, progress=said.append)
    assert said[:3] == [Stage(Step.DICTIONARIES), Stage(Step.PRETOKENIZERS), Stage(Step.SEARCH, 1)]
    assert said[-1] == Stage(Step.TRIALS)
    lengths = [stage.n_bytes for stage in said[2:-1]]
    assert lengths == sorted(set(lengths))
    assert len(lengths) > 2
    assert run("compare", a, b, "--ignore-ids", "--json") == 0
    plain = capsys.readouterr()
    assert plain.err == ""
    # Stages that are soon over need not be shown; the last one is.
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    assert run("compare", a, b, "--ignore-ids", "--json") == 0
    assert "trying texts" in terminal.getvalue()
    assert capsys.readouterr().out == plain.out
