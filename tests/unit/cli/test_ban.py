"""`tokdfa ban`: the ids printed are exactly those after which the words cannot be kept out."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import tokdfa
from tests.support import commands
from tests.support.tokenizer_files import as_bytes, tokenizer_json

RULES = [(b"a", b"b"), (b"ab", b"a"), (b"b", b"b"), (b"c", b"ab"), (b"b", b"a")]
WORDS = ["ab", "bba", "ca", "cc", "b"]


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json(RULES)))
    return path


def test_the_ids_are_those_that_complete_a_word(tok: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer, drawn, n_banned = tokdfa.load(tok), random.Random(1), 0
    spelled = {id: tokenizer.decode_bytes([id]) for id in range(tokenizer.n_ids)}
    for _ in range(30):
        words = drawn.sample(WORDS, drawn.randint(1, 2))
        before = "".join(drawn.choices("abc", k=drawn.randrange(4)))
        if any(word in before for word in words):
            continue
        assert commands.run("ban", tok, *words, "--after", before, "--json") == 0
        found = [each["id"] for each in json.loads(capsys.readouterr().out)["banned"]]
        specials = {special.id for special in tokenizer.specials}
        completing = [
            id
            for id, data in spelled.items()
            if id not in specials and any(word.encode() in before.encode() + data for word in words)
        ]
        assert found == completing
        n_banned += len(found)
    assert n_banned > 30


def test_words_come_from_arguments_a_file_and_a_pattern(tok: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = tok.with_name("words.txt")
    words.write_text("ab\n")
    for options in (["ab"], ["--words", words], ["--pattern", "ab"]):
        assert commands.run("ban", tok, *options) == 0
        assert "'ab'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to ban"),
        ([""], "word 0: a word is empty"),
        (["ab", "--after", "ab"], "the text up to this id has what is banned"),
        (["--pattern", "("], "--pattern"),
        (["ab", "--after", "a", "--after-ids", "1"], "not both"),
        (["ab", "--words", "words.txt"], "not both"),
        (["ab", "--after-ids", "99999"], "99999"),
    ],
)
def test_questions_without_an_answer_are_refused(
    tok: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.run("ban", tok, *options) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1
