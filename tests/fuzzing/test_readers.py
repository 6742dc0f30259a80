"""The targets of the readers on the inputs that they start from, and some changes of them; atheris is not needed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzzing.readers import session
from tests.fuzzing.readers.target import CORPORA, TARGETS, examine, target

MOST_CHANGED = 30
PEERS = ("tokenizers", "tiktoken", "sentencepiece", "mistral_common")


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_and_some_changes(name: str) -> None:
    for peer in PEERS:
        pytest.importorskip(peer)
    subject = target(name)
    drawn = random.Random(5)
    outcomes = []
    inputs = sorted((CORPORA / name).iterdir())
    for number, path in enumerate(inputs):
        data = path.read_bytes()
        outcomes.append(subject.check(data))
        if number >= MOST_CHANGED:
            continue
        for _ in range(3 if len(inputs) < 10 else 1):
            changed = data if subject.change is None else subject.change(data, drawn)
            outcomes.append(examine(subject, changed))
            outcomes.append(examine(subject, data[: drawn.randrange(len(data))]))
    assert {*outcomes} == {True, False}


def test_every_target_has_a_corpus_and_is_named() -> None:
    modules = {path.stem for path in Path(session.__file__).parent.glob("*.py")}
    assert modules - {"__init__", "run", "session", "target", "json_changes"} == set(TARGETS)
    assert set(TARGETS) <= {path.name for path in CORPORA.iterdir()}
