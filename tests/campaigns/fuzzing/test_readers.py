"""The targets of the readers on the inputs that they start from, and some changes of them; atheris is not needed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.campaigns.fuzzing.corpus import archive, inputs
from tests.campaigns.fuzzing.readers import session
from tests.campaigns.fuzzing.readers.target import TARGETS, examine, target

MOST_CHANGED = 30
PEERS = ("tokenizers", "tiktoken", "sentencepiece", "mistral_common")


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_and_some_changes(name: str) -> None:
    for peer in PEERS:
        pytest.importorskip(peer)
    subject = target(name)
    drawn = random.Random(5)
    outcomes = []
    committed = inputs(name)
    for number, data in enumerate(committed.values()):
        outcomes.append(subject.check(data))
        if number >= MOST_CHANGED:
            continue
        for _ in range(3 if len(committed) < 10 else 1):
            changed = data if subject.change is None else subject.change(data, drawn)
            outcomes.append(examine(subject, changed))
            outcomes.append(examine(subject, data[: drawn.randrange(len(data))]))
    assert {*outcomes} == {True, False}


def test_every_target_has_a_corpus_and_is_named() -> None:
    modules = {path.stem for path in Path(session.__file__).parent.glob("*.py")}
    assert modules - {"__init__", "run", "session", "target", "json_changes"} == set(TARGETS)
    assert all(archive(name).exists() for name in TARGETS)
