"""Tables belong to their tokenizer: made once, by one thread, and gone with it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread
from time import sleep
from typing import Any

import pytest

import tokdfa
from tests.support.tokenizer_files import as_bytes, tokenizer_json
from tokdfa.tokenizers.derived import MOST_KEYED

THREADS = 8


def test_tables_of_twelve_tokenizers_in_turn_are_made_once() -> None:
    tokenizers = [tokdfa.load(as_bytes(tokenizer_json())) for _ in range(12)]
    rounds = []
    for _ in range(3):
        for tokenizer in tokenizers:
            assert tokenizer.validate(tokenizer.encode("the ab"))
            assert len(tokdfa.ban(tokenizer, ["the"]).banned()) == 1
            assert tokdfa.check_rollout(tokenizer, [*tokenizer.encode("h"), *tokenizer.encode("e")]).counts.drift
            assert tokenizer.safe_cuts("ab the").size
        rounds.append([{name: id(table) for name, table in tokenizer._tables.made.items()} for tokenizer in tokenizers])
    assert rounds[0] == rounds[1] == rounds[2]
    assert all(len(made) >= 5 for made in rounds[0])


def test_one_thread_makes_a_table_and_the_others_wait() -> None:
    tokenizer, calls = tokdfa.load(as_bytes(tokenizer_json())), []
    together = Barrier(THREADS)

    def slow(_: object) -> object:
        calls.append(1)
        sleep(0.05)
        return object()

    def ask(_: int) -> object:
        together.wait()
        return tokenizer.derived(slow)

    with ThreadPoolExecutor(THREADS) as pool:
        found = [*pool.map(ask, range(THREADS))]
    assert len(calls) == 1
    assert all(table is found[0] for table in found)


def test_a_table_is_made_while_another_one_is() -> None:
    first, second = (tokdfa.load(as_bytes(tokenizer_json())) for _ in range(2))
    inside, done = Event(), Event()

    def waits(_: object) -> bool:
        inside.set()
        return done.wait(10)

    thread = Thread(target=first.derived, args=(waits,))
    thread.start()
    assert inside.wait(10)
    assert (first.derived(id_of), second.derived(id_of)) == (id(first), id(second))
    done.set()
    thread.join()
    assert first.derived(waits) is True


def id_of(owner: object) -> int:
    return id(owner)


def test_an_error_is_not_kept() -> None:
    tokenizer, calls = tokdfa.load(as_bytes(tokenizer_json())), []

    def fails_once(_: object) -> int:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("once")
        return len(calls)

    with pytest.raises(ValueError, match="once"):
        tokenizer.derived(fails_once)
    assert [tokenizer.derived(fails_once) for _ in range(2)] == [2, 2]


def test_a_table_that_needs_itself_is_an_error() -> None:
    def endless(owner: Any) -> object:
        return owner.derived(endless)

    with pytest.raises(RecursionError, match="endless"):
        tokdfa.load(as_bytes(tokenizer_json())).derived(endless)


def test_of_tables_with_keys_the_last_used_are_kept() -> None:
    tokenizer, calls = tokdfa.load(as_bytes(tokenizer_json())), []

    def of(_: object, key: int) -> int:
        calls.append(key)
        return -key

    for key in range(MOST_KEYED):
        tokenizer.derived(of, key)
    assert tokenizer.derived(of, 0) == 0
    tokenizer.derived(of, MOST_KEYED)
    calls.clear()
    assert [tokenizer.derived(of, key) for key in (0, 1)] == [0, -1]
    assert calls == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_a_thread_of_its_parent() -> None:
    tokenizer = tokdfa.load(as_bytes(tokenizer_json()))
    inside, done = Event(), Event()
    calls = []

    def slow(_: object) -> int:
        calls.append(1)
        if len(calls) == 1:
            inside.set()
            done.wait(20)
        return len(calls)

    thread = Thread(target=tokenizer.derived, args=(slow,))
    thread.start()
    assert inside.wait(10)
    child = os.fork()
    if not child:
        os._exit(tokenizer.derived(slow))
    status = os.waitpid(child, 0)[1]
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 2
