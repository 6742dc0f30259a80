"""Any sequence of calls, in any thread, is answered as a fresh tokenizer answers."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import _lru_cache_wrapper, cache
from itertools import compress
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import tokdfa
from tests.support import answers
from tests.support.tokenizer_files import as_bytes, ranks, tiktoken_lines, tokenizer_json
from tokdfa.automata.transducers.subsequential import SubsequentialTransducer
from tokdfa.jobs.validation.validator import Validator
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting
from tokdfa.tokenizers.pretokenizers.token_lift import TokenLift

PARTS = [
    "a",
    "b",
    " ",
    "ab",
    "the",
    " the",
    "50",
    "%",
    "\n",
    "é",
    "\u2581",
    "##b",
    "x",
    "!",
    "<|end|>",
    "<x>",
    "\u4e2d",
]
THREADS = 3
# After this number of ids a table is built, by which later ones are walked over.
LONG = 9000

Question = tuple[Callable[[Any, Any], object], Any]


class Subject:
    """A tokenizer that is loaded as often as wanted, and the answers of a fresh one.

    A fresh one may share with others what is made of its pattern, unless it must not, which takes much longer.
    """

    def __init__(self, load: Callable[[], Any], *, shares: bool = True) -> None:
        self.load = load
        self._shares = shares
        forget()
        self._known: dict[tuple[str, str], object] = {}
        tokenizer = load()
        meaning = (id for id in range(tokenizer.n_ids) if tokenizer.decoder.is_id(id))
        self.ids = sorted({*(id for _, id in zip(range(400), meaning, strict=False)), *tokenizer.special_ids.tolist()})

    def expected(self, question: Question) -> object:
        ask, value = question
        key = ask.__name__, repr(value)
        if key not in self._known:
            if not self._shares:
                forget()
            self._known[key] = answers.attempt(lambda: ask(self.load(), value))
        return self._known[key]


def forget() -> None:
    """Drop what is remembered for all tokenizers, so that one that is loaded shares nothing with others."""
    for remembered in remembered_for_all(len(sys.modules)):
        remembered.cache_clear()


@cache
def remembered_for_all(n_modules: int) -> list[Any]:
    """Return the functions of the package that remember their results, once so many modules are imported."""
    gc.unfreeze()  # The collector does not tell objects that are frozen.
    found = [each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper)]
    gc.freeze()
    modules = [str(each.__module__) for each in found]
    is_meant = [name.startswith("tokdfa.") and not name.startswith("tokdfa.regex.unicode") for name in modules]
    return [*compress(found, is_meant)]


TEXTS = st.lists(st.sampled_from(PARTS), max_size=8).map("".join)
BY_TEXT = [answers.encode, answers.encode_piece, answers.encode_in_batch, answers.stream, answers.search]
QUESTIONS_BY_TEXT = st.tuples(st.sampled_from([*BY_TEXT, answers.validate_text]), TEXTS)


def machine(subject: Subject) -> RuleBasedStateMachine:
    questions = QUESTIONS_BY_TEXT | st.tuples(
        st.sampled_from([answers.decode, answers.validate]), st.lists(st.sampled_from(subject.ids), max_size=6)
    )

    class History(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.tokenizer = subject.load()
            self.streams: list[tuple[Any, list[str], list[object]]] = []
            self.validators: list[tuple[Validator, list[int], list[int]]] = []

        def answer(self, question: Question) -> object:
            ask, value = question
            return answers.attempt(lambda: ask(self.tokenizer, value))

        @rule(question=questions)
        def ask(self, question: Question) -> None:
            assert self.answer(question) == subject.expected(question), question

        @rule(of_threads=st.lists(st.lists(questions, min_size=1, max_size=3), min_size=THREADS, max_size=THREADS))
        def ask_in_threads(self, of_threads: list[list[Question]]) -> None:
            def work(mine: list[Question]) -> list[object]:
                return [self.answer(question) for question in mine]

            with switching_often(), ThreadPoolExecutor(THREADS) as pool:
                given = [*pool.map(work, of_threads)]
            assert given == [[subject.expected(question) for question in mine] for mine in of_threads]

        @rule(text=TEXTS)
        def begin_or_feed_a_stream(self, text: str) -> None:
            if not hasattr(self.tokenizer, "stream"):
                return
            if len(self.streams) < 2:
                self.streams.append((self.tokenizer.stream(), [], []))
            stream, fed, given = self.streams[-1 - len(text) % len(self.streams)]
            fed.append(text)
            given.append(answers.attempt(lambda: stream.feed(text).tolist()))

        @rule()
        def finish_a_stream(self) -> None:
            if self.streams:
                stream, fed, given = self.streams.pop()
                expected = subject.expected((answers.encode, "".join(fed)))
                if isinstance(expected, list):
                    given.append(stream.finish().tolist())
                    assert [id for part in given if isinstance(part, list) for id in part] == expected

        @rule(ids=st.lists(st.sampled_from(subject.ids), max_size=6))
        def begin_or_feed_a_validator(self, ids: list[int]) -> None:
            if len(self.validators) < 2:
                made = answers.attempt(lambda: Validator(self.tokenizer))
                if not isinstance(made, Validator):
                    return
                self.validators.append((made, [], []))
            validator, fed, found = self.validators[-1 - len(ids) % len(self.validators)]
            fed += ids
            found += [violation.index for violation in validator.feed(np.array(ids, dtype=np.int32))]

        @rule()
        def finish_a_validator(self) -> None:
            if self.validators:
                validator, fed, found = self.validators.pop()
                found += [violation.index for violation in validator.finish()]
                valid, violations = subject.expected((answers.validate, fed))  # type: ignore[misc]
                assert (not found, found) == (valid, [index for index, *_ in violations])

        @rule(text=TEXTS)
        def validate_at_length(self, text: str) -> None:
            ids = answers.attempt(lambda: self.tokenizer.encode(text))
            if not isinstance(ids, str) and len(ids):
                question = answers.validate_often, (ids.tolist(), LONG // len(ids) + 1)
                assert self.answer(question) == subject.expected(question)

    return History()


@contextmanager
def switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def assert_laws_of_any_history(subject: Subject, n_examples: int, n_steps: int = 12) -> None:
    given = settings(max_examples=n_examples, stateful_step_count=n_steps, deadline=None)
    run_state_machine_as_test(lambda: machine(subject), settings=given)


def subject_of(path: Path, data: bytes, *, shares: bool = True, **options: Any) -> Subject:
    path.write_bytes(data)
    return Subject(lambda: tokdfa.load(path, **options), shares=shares)


LETTERS = {"type": "Split", "pattern": {"Regex": "[ab ]+x"}, "behavior": "Removed", "invert": True}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def splits(*steps: dict[str, Any]) -> bytes:
    sequence = {"type": "Sequence", "pretokenizers": [*steps, BYTE_LEVEL]}
    return as_bytes(tokenizer_json(pre_tokenizer=sequence))


FILES: dict[str, tuple[str, bytes, dict[str, Any]]] = {
    "leaves out text": ("x.tiktoken", tiktoken_lines(), {"pretokenizer": r"\d+(?=%)|%|[a-z]+"}),
    "leaves out twice": ("tokenizer.json", splits(LETTERS, {"type": "Whitespace"}), {}),
    "improper": ("x.tiktoken", tiktoken_lines(ranks([b"the", b"he", b" t", b"th", b"ab"])), {"pretokenizer": "cl100k"}),
    "gpt2": ("tokenizer.json", as_bytes(tokenizer_json()), {}),
    "without splits": ("x.tiktoken", tiktoken_lines(), {"pretokenizer": "none"}),
    "normalized": ("tokenizer.json", as_bytes(tokenizer_json(normalizer={"type": "NFKC"})), {}),
    "vocab.txt": ("vocab.txt", b"[UNK]\n[SEP]\nthe\na\n##b\nb\nab\n##the\n%\n50\n!\n\xc3\xa9", {}),
}


@pytest.mark.parametrize("name", FILES)
def test_any_history(name: str, tmp_path: Path) -> None:
    file, data, options = FILES[name]
    assert_laws_of_any_history(subject_of(tmp_path / file, data, **options), 3, 8)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_any_history_at_length(name: str, tmp_path: Path) -> None:
    file, data, options = FILES[name]
    assert_laws_of_any_history(subject_of(tmp_path / file, data, shares=False, **options), 30)


REAL = ["gpt2", "cl100k_base.tiktoken", "mistral_v3.model", "bert_uncased_vocab.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_any_history_of_real_files(name: str, data: Path) -> None:
    options = {"pretokenizer": "cl100k"} if name.endswith(".tiktoken") else {}
    assert_laws_of_any_history(Subject(lambda: tokdfa.load(data / "vocabs" / name, **options)), 5)


# What threads share, and numbers as it is met


class Slow(list[Any]):
    """A list that lets other threads run whenever its length is asked for."""

    def __len__(self) -> int:
        n = super().__len__()
        sleep(1e-4)
        return n


def test_effects_that_threads_meet_at_once_have_numbers_of_their_own() -> None:
    drawn = random.Random(0)
    words = ["".join(drawn.choices("aA1 \n'é!中\t", k=drawn.randrange(1, 6))).encode() for _ in range(60)]
    splitting = NAMED["o200k"]

    def meaning(lifted: TokenLift, word: bytes) -> object:
        parts = lifted.parts(word)
        assert parts is not None
        assert parts.effect is not None
        return lifted._effects[parts.effect]

    alone = TokenLift(splitting)
    expected = {word: meaning(alone, word) for word in words}
    shared = TokenLift(splitting)
    shared._effects = Slow(shared._effects)

    def work(seed: int) -> dict[bytes, object]:
        return {word: meaning(shared, word) for word in random.Random(seed).sample(words, len(words))}

    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(work, range(4)))


def test_threads_share_a_transducer_that_forgets() -> None:
    dictionary = tokdfa.Dictionary([("a", "b"), ("ab", "a"), ("b", "a"), ("aba", "ba")])
    texts = ["".join(random.Random(seed).choices("ab", k=200)) for seed in range(8)]
    expected = [SubsequentialTransducer(dictionary).tokenize(text).tolist() for text in texts]
    shared = SubsequentialTransducer(dictionary, max_states=3)

    def streamed(text: str) -> list[int]:
        stream = shared.stream()
        return [id for symbol in text for id in stream.feed(symbol).tolist()] + stream.finish().tolist()

    with switching_often(), ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert [*pool.map(streamed, texts)] == expected


def test_forgetting_clears_what_is_shared() -> None:
    from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer

    splitting = Splitting("tokenizers", (Split("a"),))
    before = pretokenizer(splitting)
    assert pretokenizer(splitting) is before
    forget()
    assert pretokenizer(splitting) is not before
