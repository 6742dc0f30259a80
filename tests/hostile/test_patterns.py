"""Patterns that lead to huge automata: every entry point ends in time, with a result or with what to do."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tokdfa
from tests.support.commands import run
from tests.support.streams import Vocabulary
from tokdfa.automata.lift import language
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.jobs.searching.api import Searcher
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

SECONDS = 0.05
# A begun step is ended: a table that is being written, a parser that cannot be stopped. In seconds of the processor,
# so that a busy machine makes no difference.
MOST_SECONDS = 3.0

NASTY = {
    "a large class often": r"[\p{L}\p{N}]{150}",
    "two classes often": r"(\p{L}|\p{N}){500}",
    "classes of many lengths": r"[\p{L}\p{So}]{3,200}\p{N}",
    "words of many lengths": r"\b\w{1,400}\b",
    "nested repetitions": "((((a{99}){99}){99}){99})",
    "nested repetitions of nothing": "((|){60000}){60000}",
    "a huge repetition": "a{4000000000}",
    "optional ones": "(a?){2000}a{2000}",
    "many optional ones": "(a?){100000}a",
    "a window": "(a|b)*a(a|b){40}",
    "dots": ".*a.*b.*c.*d.*e.*f.*g.*h.{50}",
    "many words": "(?:" + "|".join(f"w{i}q" for i in range(10_000)) + ")+x",
    "many symbols": "|".join(f"{chr(0x4E00 + i)}a{chr(0x5E00 + i)}" for i in range(4_000)),
    "many classes": "".join(f"[{chr(0x100 + 7 * i)}-{chr(0x3000 + 11 * i)}]" for i in range(1_500)),
    "many classes without case": "(?i)" + r"[\p{L}\d]" * 4_000,
    "too long": "ab" * 300_000,
    "looks on both sides": r"(?:\w(?=\W)|\W(?=\w)){300}",
}
BYTES = [bytes([byte]) for byte in range(256)]


def refused_or_done(build: Callable[[], object], seconds: float = MOST_SECONDS) -> bool:
    """Whether it was refused; within the time, and saying what to do."""
    began = time.process_time()
    refusal = None
    try:
        build()
    except LimitExceededError as error:
        refusal = error
    assert time.process_time() - began < seconds
    assert refusal is None or refusal.hint
    return refusal is not None


def test_searches_end_in_time() -> None:
    vocabulary = Vocabulary(BYTES)

    def search(pattern: str, wanted: str) -> None:
        searcher = Searcher(vocabulary, pattern, wanted=wanted, max_seconds=SECONDS)  # type: ignore[arg-type]
        searcher.search(list(b"abc w1q " * 50))

    refused = [
        refused_or_done(lambda pattern=pattern, wanted=wanted: search(pattern, wanted))  # type: ignore[misc]
        for pattern, wanted in zip(NASTY.values(), ["longest", "first", "all"] * 6, strict=False)
    ]
    assert sum(refused) > len(NASTY) // 2


def test_languages_end_in_time() -> None:
    refused = [
        refused_or_done(lambda pattern=pattern: language(pattern, BYTES, max_seconds=SECONDS))  # type: ignore[misc]
        for pattern in NASTY.values()
    ]
    assert sum(refused) > len(NASTY) // 2


def test_splitters_end_in_time() -> None:
    """The pattern of a pre-tokenizer, as a machine."""

    def split(pattern: str) -> None:
        try:
            Splitter(Splitting("tiktoken", (Split(pattern),)), max_seconds=SECONDS)
        except PatternError:  # a pattern that may be empty splits nothing
            return

    refused = [
        refused_or_done(lambda pattern=pattern: split(pattern))  # type: ignore[misc]
        for pattern in NASTY.values()
    ]
    assert sum(refused) > len(NASTY) // 2


def test_a_pretokenizer_without_a_machine_splits_all_the_same() -> None:
    """The machine is refused at once, for it would have too many states, and is not tried again."""
    pretokenizer = PreTokenizer(Splitting("tiktoken", (Split("(?:a|b)*a(?:a|b){15}c|[ab]"),)))
    began = time.process_time()
    assert pretokenizer.splitter is None
    assert pretokenizer.split("ab" * 9 + "c" + "ba") == ["ab" * 9 + "c", "b", "a"]
    again = time.process_time()
    assert PreTokenizer(pretokenizer.splitting).splitter is None
    assert time.process_time() - again < max(0.1, (again - began) / 10)


def test_memory_is_bounded_as_well() -> None:
    """Sets of threads are counted: an hour would not be enough, and memory neither."""
    refused = refused_or_done(lambda: language("((a{30}){30}){30}b|[^a]", BYTES, max_seconds=3600), seconds=60)
    assert refused


@pytest.fixture
def dictionary(tmp_path: Path) -> str:
    tokdfa.default_tokenizer()
    path = tmp_path / "merges.txt"
    path.write_text("a b\nab c\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("command", ["search", "info", "locality", "draw"])
def test_commands_end_in_time(
    command: str, dictionary: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ids.txt").write_text("1 2 3\n", encoding="utf-8")
    arguments = {
        "search": [dictionary, NASTY["a window"], tmp_path / "ids.txt"],
        "info": [dictionary, "--language", NASTY["a window"]],
        "locality": [dictionary, "--language", NASTY["a window"]],
        "draw": [dictionary, "--language", NASTY["a window"], "-o", tmp_path / "x.dot"],
    }[command]
    began = time.process_time()
    assert run(command, *arguments, "--max-seconds", SECONDS) == 2
    assert time.process_time() - began < MOST_SECONDS
    # A fast machine has too many states before the time is over.
    assert re.search("raise (--max-seconds|max_states|--max-states)", capsys.readouterr().err)
