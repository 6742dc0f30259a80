"""The automata of texts in a form accept what the tokenizers library leaves as it is."""

from __future__ import annotations

import random

import pytest
import tokenizers

from tokdfa.jobs.guiding.byte_machines import NOWHERE, ByteMachine
from tokdfa.jobs.guiding.forms import form_machines
from tokdfa.regex.unicode.normalization import Form, joining, tables


def accepts(machine: ByteMachine, text: str) -> bool:
    state = machine.initial
    for byte in text.encode():
        state = int(machine.table[state, machine.column[byte]])
    return state != NOWHERE


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_texts_in_a_form_are_those_that_the_library_keeps(form: Form) -> None:
    source, machines = random.Random(form), form_machines(form)
    library = getattr(tokenizers.normalizers, form)()
    data = tables()
    letters = sorted({pair[0] for pair in data.compositions} | {*data.compositions.values(), *"aq\u1100\uac00\uac01"})
    marks = sorted(data.combining)
    kinds = [letters, marks, sorted(joining()), sorted({*data.decompositions, *data.compatibility})]
    n_kept = n_by_order = 0
    for number in range(20_000):
        text = "".join(source.choice(source.choice(kinds)) for _ in range(source.randint(1, 5)))
        if number % 2:
            # Near a text in the form: one more mark.
            text, at = library.normalize_str(text), source.randrange(6)
            text = text[:at] + source.choice(marks) + text[at:]
        found = [accepts(machine, text) for machine in machines]
        assert all(found) == (library.normalize_str(text) == text), ascii(text)
        n_kept += all(found)
        n_by_order += found == [False, True]
    assert n_kept > 500
    assert n_by_order > 500


def test_letters_are_joined_by_all_marks_that_the_library_composes() -> None:
    library, machines = tokenizers.normalizers.NFC(), form_machines("NFC")
    for letter in sorted({pair[0] for pair in tables().compositions} | {"\u1100", "\uac00"}):
        for mark in sorted(joining()):
            is_kept = library.normalize_str(letter + mark) == letter + mark
            assert all(accepts(machine, letter + mark) for machine in machines) == is_kept, (letter, mark)
