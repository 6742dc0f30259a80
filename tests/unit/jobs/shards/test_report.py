"""Reports add up, in any order, and survive being written."""

from __future__ import annotations

import json
import pickle

from hypothesis import given
from hypothesis import strategies as st

from tokdfa.jobs.shards.report import FIRST, WORST, Broken, Finding, Report, WrongDocument

small = st.integers(0, 3)
names = st.sampled_from(["a", "b"])
ids = st.lists(small, max_size=2).map(tuple)
kinds = st.sampled_from(["pair", "boundary", "id-out-of-range"])
findings = st.builds(
    Finding, names, st.just("row"), small, small, kinds, ids, st.none() | ids, st.none() | small, st.just("why")
)
counts = st.dictionaries(small, st.integers(1, 9), max_size=3)
single = st.builds(
    Report,
    **dict.fromkeys(("shards", "ids", "documents", "empty_documents", "wrong_documents", "unended_documents"), small),
    **dict.fromkeys(("out_of_range", "unknown", "fallback"), small),
    kinds=st.dictionaries(kinds, st.integers(1, 9), max_size=3),
    rules=counts,
    dead=counts,
    first=st.lists(findings, max_size=1).map(tuple),
    worst=st.lists(st.builds(WrongDocument, small, names, st.just("row"), small), max_size=1).map(tuple),
    broken=st.lists(st.builds(Broken, names, names, names), max_size=1).map(tuple),
)
reports = st.lists(single, max_size=12).map(lambda parts: sum(parts, Report()))


@given(reports, reports, reports)
def test_adding_is_associative_and_commutative(a: Report, b: Report, c: Report) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + Report() == a
    assert json.dumps((a + b).to_dict()) == json.dumps((b + a).to_dict())


@given(reports)
def test_a_report_is_what_was_written(report: Report) -> None:
    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    assert pickle.loads(pickle.dumps(report)) == report
    assert bool(report) == (not report.kinds and not report.out_of_range and not report.broken)


def test_what_is_kept_is_bounded() -> None:
    rows = [
        Report(first=(Finding("a", "row", n, 0, "pair", (), None, None, ""),), worst=(WrongDocument(n, "a", "row", n),))
        for n in range(40)
    ]
    total = sum(reversed(rows), Report())
    assert [row.number for row in total.first] == [*range(FIRST)]
    assert [row.violations for row in total.worst] == [*range(39, 39 - WORST, -1)]
