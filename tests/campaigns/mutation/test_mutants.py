"""Faults planted by a mutation run: one at a time, where it says, and under a name of its own."""

from __future__ import annotations

import ast
import json
from itertools import pairwise

import pytest

from tests.campaigns.mutation import subjects
from tests.campaigns.mutation.__main__ import EQUIVALENT, apart, sample
from tests.campaigns.mutation.mutants import mutants
from tests.campaigns.mutation.subjects import ROOT, files


def planted(body: str) -> set[str]:
    source = f"def f(a, b):\n    {body}\n"
    return {mutant.applied(source.encode()).decode().splitlines()[1].strip() for mutant in mutants("f.py", source)}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = a < b", {"x = (a <= b)"}),
        ("x = a + b", {"x = (a - b)"}),
        ("x = a and b", {"x = (a or b)", "x = b", "x = a"}),
        ("x = not a", {"x = a"}),
        ("x = 3", {"x = 4", "x = 2"}),
        ("x = True", {"x = False"}),
        ("g(a, b)", {"g(b, a)", "pass"}),
        ("x = a[b:]", {"x = a[:]"}),
        ("x = min(a)", {"x = max(a)"}),
        ("return a", {"return None"}),
        ("a += b", {"a -= b", "pass"}),
        ("a.b = b", {"pass"}),
        ("raise a", {"pass"}),
        ("x = a if b else 'é'", {"x = ('é' if b else a)"}),
        ("while a: break", {"while (not (a)): break", "while a: continue"}),
        ("x = [a for a in b if a]", {"x = [a for a in b]"}),
        ("x = f'{a + b} is {3}'", set()),
        ("x: int = 'a'", set()),
        ("'''A docstring.'''", set()),
    ],
)
def test_each_kind_of_fault(body: str, expected: set[str]) -> None:
    assert planted(body) == expected


def test_every_fault_of_the_package_is_a_program_with_a_name_of_its_own() -> None:
    keys = set[str]()
    for file in files():
        source = (ROOT / file).read_bytes()
        found = mutants(file, source.decode())
        for mutant in found:
            assert source[mutant.start : mutant.end].decode() == mutant.before
            assert mutant.applied(source) != source
        for mutant in found[:: max(1, len(found) // 5)]:
            ast.parse(mutant.applied(source))
        assert keys.isdisjoint(mutant.key for mutant in found)
        keys |= {mutant.key for mutant in found}
        assert subjects.tests_of(file)
    assert len(keys) > 5_000


def test_faults_judged_equivalent_are_faults_of_the_package() -> None:
    keys = {mutant.key for file in files() for mutant in mutants(file, (ROOT / file).read_text(encoding="utf-8"))}
    reasons = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    assert not reasons.keys() - keys
    assert all(reason.endswith(".") for reason in reasons.values())


def test_a_larger_sample_contains_the_smaller_one() -> None:
    larger = sample(300, 1)
    assert [mutant.key for mutant in sample(200, 1)] == [mutant.key for mutant in larger[:200]]
    groups = apart(larger)
    assert sorted(mutant.key for group in groups for mutant in group) == sorted(mutant.key for mutant in larger)
    for group in groups:
        spans = sorted((mutant.file, mutant.start, mutant.end) for mutant in group)
        assert all(one[0] != other[0] or one[2] <= other[1] for one, other in pairwise(spans))
