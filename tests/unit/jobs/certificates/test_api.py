"""Certificates: their content, that they are the same every time, and the questions without one."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.checking import PATTERNS, TABLES, load_checker, rules_of, write_json, write_merges, write_ranks
from tests.support.commands import run
from tests.support.forging import SPACES
from tests.support.tokenizer_files import as_bytes, tokenizer_json
from tokdfa import Certificate, TokdfaError
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.certificates import api
from tokdfa.jobs.splices.question import SplitTexts

SCHEMA = json.loads(Path(api.__file__).with_name("data").joinpath("certificate.json").read_text("utf-8"))
RULES = [(b"a", b"b"), (b" ", b"ab"), (b"s", b"s")]


def check(certificate: Certificate) -> None:
    """Check a certificate against the schema."""
    Draft202012Validator.check_schema(SCHEMA)
    errors = list(Draft202012Validator(SCHEMA).iter_errors(json.loads(certificate.text)))
    assert not errors, errors[0].message


def test_a_certificate_is_of_the_schema_and_the_same_every_time(tmp_path: Path) -> None:
    a, b = write_ranks(tmp_path / "a.tiktoken", RULES, PATTERNS[0]), write_merges(tmp_path / "b", RULES, PATTERNS[1])
    c = write_ranks(tmp_path / "c.tiktoken", RULES[:2], PATTERNS[0])
    d = write_json(tmp_path / "d.json", RULES, PATTERNS[1])
    claims = []
    for one, other in ((b, d), (a, c)):
        made = [
            tokdfa.certify_comparison(tokdfa.compare(one[0], other[0]), one[0], other[0], files=(one[1], other[1]))
            for _ in range(2)
        ]
        assert made[0].text == made[1].text
        check(made[0])
        claims.append(made[0].claim)
    for before, after in (("a", " "), ("s", "ab"), ("a", "b")):
        found = tokdfa.splice(a[0], before=before, after=after)
        certificate = tokdfa.certify_splice(found, a[0], file=a[1], before=before, after=after)
        check(certificate)
        claims.append(certificate.claim)
    assert claims == ["equivalent", "different", "splices", "splices", "does not splice"]
    certificate.save(tmp_path / "certificate.json")
    assert (tmp_path / "certificate.json").read_text("ascii") == certificate.text


def test_there_is_no_certificate_of_some_texts(tmp_path: Path) -> None:
    a, b = (write_ranks(tmp_path / f"{n}.tiktoken", RULES[:n], PATTERNS[0]) for n in (3, 2))
    found = tokdfa.compare(a[0], b[0], texts="[0-9]*")
    assert found
    with pytest.raises(UnsupportedFeatureError, match="about all texts"):
        tokdfa.certify_comparison(found, a[0], b[0], files=(a[1], b[1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"normalizer": {"type": "NFC"}}, "that change texts or are not over bytes"),
        ({"pre_tokenizer": {"type": "Digits", "individual_digits": True}}, "that split texts"),
    ],
)
def test_tokenizers_without_certificates(tmp_path: Path, change: dict[str, object], message: str) -> None:
    _, path = write_json(tmp_path / "tokenizer.json", RULES, PATTERNS[1])
    content = json.loads(path.read_text("utf-8")) | change
    if "pre_tokenizer" in change:
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True, "trim_offsets": True}
        content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [change["pre_tokenizer"], byte_level]}
    path.write_text(json.dumps(content), encoding="utf-8")
    tokenizer = tokdfa.load(path)
    found = tokdfa.compare(tokenizer, tokenizer)
    with pytest.raises(TokdfaError, match=rf"^there are no certificates about tokenizers {message}"):
        tokdfa.certify_comparison(found, tokenizer, tokenizer, files=(path, path))


def test_questions_without_certificates(tmp_path: Path) -> None:
    tokenizer, path = write_ranks(tmp_path / "a.tiktoken", RULES, PATTERNS[0])
    for before in ("ab|c", "a*", "(?!a)"):
        with pytest.raises(TokdfaError, match=r"^before: there are certificates only for texts, and for expressions"):
            tokdfa.certify_splice(tokdfa.Splice(True), tokenizer, file=path, before=before, after="b", regex=True)
    with pytest.raises(TokdfaError, match=r"^there are no certificates about tokenizers that are not loaded"):
        tokdfa.certify_splice(tokdfa.Splice(True), tokenizer, file=tmp_path / "gone")
    # Untrue claims have no certificate either.
    with pytest.raises(TokdfaError, match=r"^there is no certificate where pieces differ beside tokens that merge"):
        tokdfa.certify_splice(tokdfa.Splice(True), tokenizer, file=path, before="a", after="b")
    other, file = write_ranks(tmp_path / "b.tiktoken", RULES[::-1], PATTERNS[0])
    with pytest.raises(TokdfaError, match=r"^there is no certificate that the checker accepts.* before its part 6162"):
        tokdfa.certify_comparison(tokdfa.Comparison(True), tokenizer, other, files=(path, file))
    other, file = write_ranks(tmp_path / "c.tiktoken", RULES[:-1], PATTERNS[0])
    with pytest.raises(
        TokdfaError, match=r"^there is no certificate for tokenizers that make a token from different parts"
    ):
        tokdfa.certify_comparison(tokdfa.Comparison(True), tokenizer, other, files=(path, file))


def test_another_order_of_the_rules_is_certified_iff_it_makes_no_difference(tmp_path: Path) -> None:
    content, sides = tokenizer_json([(b"a", b"b"), (b"b", b"c"), (b"ab", b"a"), (b"s", b"s")]), []
    for at, order in enumerate([*permutations(content["model"]["merges"])][::2]):
        path = tmp_path / f"{at}.json"
        path.write_bytes(as_bytes(content | {"model": content["model"] | {"merges": order}}))
        sides.append((tokdfa.load(path), path))
    (given, file), alike = sides[0], 0
    for other, path in sides:
        found = tokdfa.compare(given, other)
        alike += bool(found)
        if found:
            assert tokdfa.certify_comparison(found, given, other, files=(file, path)).claim == "equivalent"
        else:
            with pytest.raises(TokdfaError, match=r"^there is no certificate"):
                tokdfa.certify_comparison(tokdfa.Comparison(True), given, other, files=(file, path))
    assert 1 < alike < len(sides)


CLAIMS = ("equivalent", "different", "splices", "does not splice")


def test_pieces_that_differ_where_some_token_is_only_a_whole_piece(tmp_path: Path) -> None:
    # No rule makes xyz, so it is given for a whole piece only; and pieces differ, if never next to it.
    rules = [(b"a", b"b"), (b"x", b"yz")]
    (a, file), (b, other) = (write_ranks(tmp_path / f"{at}.tiktoken", rules, SPACES[at]) for at in (0, 1))
    found = tokdfa.compare(a, b)
    assert found
    with pytest.raises(TokdfaError, match=r"^there is no certificate where pieces differ and a token is given for"):
        tokdfa.certify_comparison(found, a, b, files=(file, other))


@pytest.mark.parametrize("number", [12, pytest.param(1000, marks=pytest.mark.slow)])
def test_what_is_written_is_accepted(tmp_path: Path, number: int, tally: Tally) -> None:
    checker = load_checker()
    drawn = random.Random(27)
    patterns = [*PATTERNS[:4], *SPACES]
    outcomes: Counter[str] = Counter()
    for _ in range(number):
        rules = rules_of(drawn, b"ab s\n")
        # Some tokens that no rule makes.
        longer = [(b"xy", b"z"), (b"a", b"bba"), (b" a ", b"s")]
        made_before = {u + v for u, v in rules}
        rules += [(u, v) for u, v in drawn.sample(longer, drawn.randrange(3)) if u + v not in made_before]
        one = drawn.randrange(len(patterns))
        a = write_ranks(tmp_path / "a.tiktoken", rules, patterns[one])
        b = write_ranks(tmp_path / "b.tiktoken", rules, patterns[one ^ drawn.randrange(2)])
        u, v = drawn.choice("ab s\n"), drawn.choice("ab s\n")
        try:
            if drawn.random() < 0.5:
                made = tokdfa.certify_comparison(tokdfa.compare(a[0], b[0]), a[0], b[0], files=(a[1], b[1]))
            else:
                made = tokdfa.certify_splice(tokdfa.splice(a[0], before=u, after=v), a[0], file=a[1], before=u, after=v)
        except TokdfaError as error:
            outcomes[str(error).partition(": ")[0]] += 1
            continue
        checker.check(json.loads(made.text), [a[1], b[1]][: len(made.fields["sides"])], TABLES)
        outcomes[made.claim] += 1
    if number >= 1000:
        assert outcomes["there is no certificate where pieces differ and a token is given for whole pieces only"] > 9
        assert min(outcomes[claim] for claim in CLAIMS) > 50, outcomes
    tally("certificates", "certificates checked", sum(outcomes[claim] for claim in CLAIMS))


def test_the_commands_write_certificates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, a = write_json(tmp_path / "a.json", RULES, PATTERNS[1])
    _, b = write_json(tmp_path / "b.json", RULES, PATTERNS[1], ignore_merges=True)
    out = tmp_path / "certificate.json"
    assert run("compare", a, b, "--certificate", out, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["certificate"] == {"path": str(out), "bytes": out.stat().st_size}
    assert json.loads(out.read_text("ascii"))["claim"] == "equivalent"
    assert run("splice", a, "--before", "a", "--after", "b", "--certificate", out, "--force") == 1
    assert "bytes" in capsys.readouterr().out
    assert json.loads(out.read_text("ascii"))["claim"] == "does not splice"
    assert run("splice", a, "--before", "a", "--within-after", "b.*", "--certificate", out, "--force") == 2
    assert "there is no certificate for a question with --within-after" in capsys.readouterr().err
    assert run("compare", a, b, "--certificate", tmp_path / "none" / "x") == 2


def test_a_certificate_that_the_checker_does_not_accept_is_not_issued(tmp_path: Path) -> None:
    """The library leaves what no match covers as a piece, which the checker does not read."""
    tokenizer, path = write_json(tmp_path / "tokenizer.json", RULES, "[ab]+")
    found = tokdfa.splice(tokenizer, before="s", after="a")
    assert found
    with pytest.raises(UnsupportedFeatureError, match=r"^there is no certificate that the checker accepts.*no match"):
        tokdfa.certify_splice(found, tokenizer, file=path, before="s", after="a")


def test_a_witness_that_is_not_one_is_not_certified(tmp_path: Path) -> None:
    tokenizer, path = write_ranks(tmp_path / "a.tiktoken", RULES, PATTERNS[0])
    wrong = tokdfa.Splice(False, SplitTexts("a", "b", (97,), (98,), (97, 98)))
    with pytest.raises(UnsupportedFeatureError, match=r"^there is no certificate that the checker accepts.*witness"):
        tokdfa.certify_splice(wrong, tokenizer, file=path, before="a", after="b")


def test_tokens_of_bytes_that_no_text_has(tmp_path: Path) -> None:
    """C3 C3 C3 begins no symbol; a rule with it merges at no boundary."""
    rules = [(b"\xc3", b"\xc3"), (b"\xc3\xc3", b"\xc3"), (b"\xa9", b"\xc3\xc3\xc3")]
    tokenizer, path = write_json(tmp_path / "tokenizer.json", rules, PATTERNS[3])
    found = tokdfa.splice(tokenizer, before="", after="a")
    assert found
    certificate = tokdfa.certify_splice(found, tokenizer, file=path, after="a")
    assert load_checker().check(json.loads(certificate.text), [path], TABLES).startswith("valid")
