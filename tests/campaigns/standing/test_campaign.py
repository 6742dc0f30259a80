"""The standing campaign finds no difference on its first seeds, reaches what it is about, and notices faults."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.campaigns.standing import certifying, comparing, seams
from tests.campaigns.standing.campaign import ONE_OF, PROMISES, run
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.encoding.stream import EncodingStream
from tokdfa.tokenizers.jobs import Jobs

# Part -> what some of the first seeds have to reach.
REACHED = {
    "stream": [
        *("texts", "longer than a stretch", "in parts of bytes", "in parts of characters", "several parts"),
        *("added tokens", "refused texts", "documents in one call", "several threads"),
    ],
    "change": ["append", "edit", "roll back", "cuts", "refused changes"],
    "append": ["canonical", "not canonical", "kept all", "kept less", "not repaired"],
    "verdict": [
        *("canonical", "spoiled", "repaired", "several violations", "not UTF-8", "in chunks", "more than a chunk"),
        *("documents", "a document that is spoiled", "an unused id"),
        *("violation: pair", "violation: boundary", "violation: not-utf8"),
    ],
    "cut": ["safe", "not safe", "continuations", "both parts", "safe for ids"],
    "decode": ["whole", "stopped"],
    "ban": ["allowed", "banned", "whole streams", "added tokens that are text"],
    "find": [
        *("streams", "words", "a match", "special tokens", "added tokens that are text", "not UTF-8", "blocks"),
        *("a match over several tokens", "a match within a token", "wanted first", "wanted longest"),
    ],
    "name": ["a match", "by its context", "special tokens"],
    "rewrite": ["streams", "replaced", "nothing matches", "special tokens", "blocks"],
    "rollout": ["bugs", "drift", "junctions", "canonical", "no text"],
    "guide": ["masks of a finite language", "added tokens allowed", "texts of an endless language", "walks"],
    "history": ["pickled", "copied", "in threads", "validate_in_chunks", "stream", "search", "safe_cuts", "refusals"],
    "bound": ["calls", "a long word"],
    "train": ["pieces", "files", "no pair is left", "count overlapping", "tie first-seen", "tie sentencepiece"],
    "splice": ["split", "split: the shortest", "safe", "bytes", "characters"],
    "turns": ["split", "safe", "bytes", "characters"],
    "injection": ["attack", "safe", "bytes", "characters", "characters with any steps"],
    "compare": [
        *("different", "different: the shortest", "different, ids apart", "equivalent, by another file"),
        *("wordpiece", "unigram"),
    ],
    "forced": ["the same", "different", "repeats", "not ASCII", "ranks", "bytes", "bytes with any steps"],
    "certificates": ["splices", "does not splice", "equivalent", "spoiled"],
}


@pytest.mark.parametrize("part", PROMISES)
def test_first_seeds(part: str) -> None:
    asked = ONE_OF.get(part)
    chosen = range(60) if asked is None else range(0, 30 * asked, asked)
    outcome = run(chosen, [part])
    assert not outcome.differences, outcome.differences[0]
    assert outcome.seeds == len(chosen)
    missed = [name for name in REACHED[part] if not outcome.met[part][name]]
    assert not missed, (missed, outcome.met[part])


def test_safe_seams_survive_a_thousand_contents() -> None:
    met = sum((seams.check(random.Random(f"nasty {seed}"), n_nasty=1000) for seed in range(25)), Counter[str]())
    assert met["safe"] > 4, met


# Seeds of longer runs that found something; see the changes that mended it.
@pytest.mark.parametrize(("part", "seed"), [("splice", 412950), ("turns", 406096)])
def test_seeds_that_found_something_find_it_no_more(part: str, seed: int) -> None:
    outcome = run([seed], [part])
    assert not outcome.differences
    assert outcome.met[part].total() > 0


def always(value: Any) -> Callable[..., Any]:
    return lambda *given, **options: value


def tiring(encode: Callable[[Any, str], np.ndarray]) -> Callable[[Any, str], np.ndarray]:
    """Return an `encode` that is wrong from its third call on."""
    calls: Counter[int] = Counter()

    def encode_or_not(tokenizer: Any, text: str) -> np.ndarray:
        calls[id(tokenizer)] += 1
        return encode(tokenizer, text if calls[id(tokenizer)] < 3 else text + "a")

    return encode_or_not


def keeping(encode: Callable[[Any, str], np.ndarray]) -> Callable[[Any, str], np.ndarray]:
    """Return an `encode` that keeps memory."""
    kept: list[str] = []

    def encode_and_keep(tokenizer: Any, text: str) -> np.ndarray:
        kept.append(text * 1000)
        return encode(tokenizer, text)

    return encode_and_keep


# Part -> a method, and a fault in it.
FAULTS: dict[str, tuple[type, str, Callable[[Any], Callable[..., Any]]]] = {
    "stream": (EncodingStream, "finish", lambda old: lambda stream: np.append(old(stream), 0)),
    "change": (Boundaries, "last_cut", lambda old: lambda _, before, text: len(text) - 1),
    "append": (Jobs, "append", lambda old: lambda self, ids, text, *, repair=False: (len(ids), self.encode(text))),
    "verdict": (tokdfa.Validator, "iter_finish", lambda old: always(())),
    "cut": (tokdfa.Tokenizer, "safe_cuts", lambda old: lambda _, ids, **options: np.arange(1, len(ids))),
    "decode": (tokdfa.StreamDecoder, "feed", lambda old: lambda decoder, ids: old(decoder, ids)[1:]),
    "ban": (tokdfa.Ban, "allowed", lambda old: lambda ban, state: np.arange(ban._n_ids)),
    "find": (tokdfa.Searcher, "search", lambda old: always([])),
    "rewrite": (tokdfa.Replacer, "replace", lambda old: lambda replacer, ids: old(replacer, ids[1:])),
    "rollout": (tokdfa.RolloutCheck, "of_class", lambda old: always(())),
    "guide": (tokdfa.Guide, "is_final", lambda old: lambda guide, state: not old(guide, state)),
    "history": (tokdfa.Tokenizer, "encode", tiring),
    "bound": (tokdfa.Tokenizer, "encode", keeping),
}


@pytest.mark.parametrize("part", FAULTS)
def test_faults_against_a_law_are_noticed(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, spoil = FAULTS[part]
    chosen = range(48 if part == "bound" else 16)
    sound = {seed for _, seed, _ in run(chosen, [part]).differences}
    monkeypatch.setattr(owner, name, spoil(getattr(owner, name)))
    assert {seed for _, seed, _ in run(chosen, [part]).differences} > sound


def unspoiled(drawn: random.Random, fields: dict[str, Any]) -> dict[str, Any]:
    return fields


# Part -> where an answer is taken from, and a wrong one.
WRONG: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "splice": (tokdfa, "splice", lambda *question, **options: tokdfa.Splice(True)),
    "turns": (tokdfa, "check_turns", lambda *question: tokdfa.Turns(True)),
    "injection": (tokdfa, "check_injection", lambda *question: tokdfa.Injection(True)),
    "compare": (comparing, "compare_tokenizers", lambda *both, **options: tokdfa.Comparison(True)),
    "forced": (tokdfa, "forced", lambda *question, longest: tokdfa.Forcing(True, 0, None, {}, {}, longest)),
    "certificates": (certifying, "spoiled", unspoiled),
}


@pytest.mark.parametrize("part", WRONG)
def test_wrong_answers_are_noticed(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*WRONG[part])
    assert run(range(0, 20 * ONE_OF[part], ONE_OF[part]), [part]).differences
