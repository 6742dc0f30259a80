"""The effects of tokens on the idle state, against reading them symbol by symbol."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.searching import words_with_cuts
from tests.support.streams import Vocabulary
from tokdfa.jobs.searching.plan import SearchPlan, Words
from tokdfa.kernels.search import search as kernels
from tokdfa.regex.finder import finder

BIAS, MATCH, COMPLETE, AT_REST = 1 << 15, 1 << 24, 1 << 25, 1 << 27
LISTS = st.lists(st.lists(st.sampled_from(["a", "b", " ", "é"]), min_size=1, max_size=3).map("".join), min_size=1)


@given(LISTS, words_with_cuts())
def test_outcomes_of_words_of_a_list(sought: list[str], words: list[tuple[bytes, bool]]) -> None:
    vocabulary = Vocabulary([word for word, _ in words], [i for i, (_, cut) in enumerate(words) if cut])
    machine = SearchPlan(finder(sought, "longest"), Words.of(vocabulary), wants_all=False, aligned=False)
    text, idle, dfa = machine.words.text, machine.forward.pointer.idle, machine.finder.forward
    outcomes, runs = kernels.idle_outcomes(text, machine.forward, machine.backward, with_runs=True)
    patterns = [word.encode() for word in sought]
    begin = 0
    for (word, cut), outcome in zip(words, outcomes.tolist(), strict=True):
        run = runs[begin : begin + len(word)]
        begin += len(word)
        spans = [(i, i + len(p)) for i in range(len(word)) for p in patterns if word[i : i + len(p)] == p]
        if not word and not cut:
            assert outcome == -1
        elif cut or not spans:
            # Nothing happens: the state after it is the state of the token's longest suffix with which a word begins.
            state = idle
            for symbol in [256] if cut else word:
                state = int(dfa.table[state, dfa.column[symbol]])
            assert outcome == AT_REST | state << 32
            assert cut or run[-1] == state
        elif outcome != -1:
            # Only one match is reported, the leftmost and longest one.
            start, end = min(spans, key=lambda span: (span[0], -span[1]))
            assert outcome & MATCH
            assert ((outcome & 0xFFFF) - BIAS, outcome >> 16 & 0xFF) == (start, end)
            assert not [span for span in spans if span[0] >= end]
            # It is complete unless a longer one may follow.
            if not outcome & COMPLETE:
                assert any(p.startswith(word[start:]) and len(p) > len(word) - start for p in patterns)


def test_one_match_is_simple_wherever_it_stands() -> None:
    words = [b"ab", b" abx", b"xa", b"abc", b"abab", b"xab", b"b"]
    vocabulary = Vocabulary(words)
    machine = SearchPlan(finder(["ab", "abcd"], "longest"), Words.of(vocabulary), wants_all=False, aligned=False)
    outcomes, _ = kernels.idle_outcomes(machine.words.text, machine.forward, machine.backward, with_runs=True)
    info = [(bool(o & MATCH), bool(o & COMPLETE), (o & 0xFFFF) - BIAS, o >> 16 & 0xFF) for o in outcomes.tolist()]
    assert info[:2] == [(True, False, 0, 2), (True, True, 1, 3)]
    assert info[3] == (True, False, 0, 2)
    assert info[5] == (True, False, 1, 3)
    assert outcomes[4] == -1
    assert [bool(outcomes[i] & AT_REST) for i in (2, 6)] == [True, True]
