"""BLOG (BPE algorithm note): the merges it prints."""

from __future__ import annotations

from tokdfa.train.naive import train_naive

WORDS = {
    ("l", "o", "w", "</w>"): 5,
    ("l", "o", "w", "e", "r", "</w>"): 2,
    ("n", "e", "w", "e", "s", "t", "</w>"): 6,
    ("w", "i", "d", "e", "s", "t", "</w>"): 3,
}
PRINTED = """
e s, es t, est </w>, l o, lo w, n e, ne w, new est</w>, low </w>, w i, wi d, wid est</w>, low e, lowe r, lower </w>
"""


def test_ex_1_the_fifteen_merges_in_the_printed_order() -> None:
    d = train_naive(WORDS, 1000, tie="first-seen", count="overlapping")
    assert [f"{''.join(rule.left)} {''.join(rule.right)}" for rule in d] == PRINTED.strip().split(", ")


def test_stop_rule_no_pair_occurs_twice() -> None:
    d = train_naive({"aaabdaaabac": 1}, 1000)
    assert [str(rule) for rule in d] == ["a≀a", "aa≀a", "aaa≀b"]
    assert len(train_naive({"aaabdaaabac": 1}, 1)) == 1
