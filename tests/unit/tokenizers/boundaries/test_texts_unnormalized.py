"""Safe cuts of texts that are not in the normalization form, next to special tokens found before and after it."""

from __future__ import annotations

import random
from collections import Counter
from typing import cast

import pytest

import tokdfa
from tests.campaigns.standing.laws import cutting
from tests.support.families import Member, of_tokenizer_json
from tests.support.family_files import byte_level, split
from tests.support.normalized import normalized_file
from tests.support.tokenizer_files import added_token, tokenizer_json

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
# Characters that become one another, or parts of one another.
GROUPS = (
    "e\u0301\u00e9",
    "<\u0338",
    "\u212aK",
    "\u1100\u1161\u11a8",
    "\ufb01fi",
    "\u00a8 ",
    "\u24601",
    "x ",
    "e\u0323\u0301",
)
PATTERNS = (
    r"a[<eK]+|[\s\S]", r"ae|a<|[\s\S]", r"[aefK]+|[\s\S]", r"[\s\S]", r"\p{L}+|\p{M}|[^\p{L}\p{M}]", r"a+(?!e)|[\s\S]",
    r"\s+(?!\S)|\s+|\S",
)  # fmt: skip


def member_of(form: str, pattern: str, specials: list[tuple[str, dict[str, bool]]], *, spaced: bool = False) -> Member:
    """Return a tokenizer with few merges and with special tokens and their flags."""
    fields = tokenizer_json([(b"a", b"<"), (b"x", b"a"), (b"a", b"K")], normalizer={"type": form}, added_tokens=[])
    steps = [split(pattern), byte_level(prefix_space=spaced)]
    fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    first = len(fields["model"]["vocab"])
    fields["added_tokens"] = [added_token(first + n, text, **flags) for n, (text, flags) in enumerate(specials)]
    found = of_tokenizer_json("forms", fields)
    assert found is not None
    return found


def assert_safe(member: Member, text: str, contexts: list[tuple[str, str]], met: Counter[str]) -> None:
    """Both sides of each cut have the library's ids of the whole, with every text around that fits."""
    tokenizer = cast(tokdfa.Tokenizer, member.tokenizer)
    for begins in (True, False):
        for ends in (True, False):
            cuts = tokenizer.safe_cuts(text, begins=begins, ends=ends).tolist()
            for left, right in {
                (left[: 0 if begins else None], right[: 0 if ends else None]) for left, right in contexts
            }:
                whole = member.encode(left + text + right)
                for cut in cuts:
                    parts = member.encode(left + text[:cut]), member.encode(text[cut:] + right)
                    assert [id for part in parts for id in part or ()] == whole, (left, text, cut, right, member.added)
                    met["tried"] += 1


def test_both_sides_of_a_cut_are_encoded_separately_whatever_is_around() -> None:
    met: Counter[str] = Counter()
    for seed in range(80):
        drawn = random.Random(seed)
        symbols = [*"".join(drawn.sample(GROUPS, 2)), "a"]

        def some(least: int, most: int, drawn: random.Random = drawn, symbols: list[str] = symbols) -> str:
            return "".join(drawn.choices(symbols, k=drawn.randint(least, most)))

        contents = [text for text in dict.fromkeys(some(1, 3) for _ in range(3)) if not text.isspace()]
        odd = ("lstrip", "rstrip", "single_word")
        flags = [
            {name: drawn.random() < 0.12 for name in odd} | {"normalized": drawn.random() < 0.25} for _ in contents
        ]
        specials = list(zip(sorted(contents), flags, strict=True))
        member = member_of(drawn.choice(FORMS), drawn.choice(PATTERNS), specials, spaced=drawn.random() < 0.15)
        for text in [some(2, 5) for _ in range(4)]:
            assert_safe(member, text, [(some(0, 3), some(0, 3)) for _ in range(8)], met)
    assert met["tried"] > 5000, met


def test_texts_have_the_cuts_of_their_ids() -> None:
    met: Counter[str] = Counter()
    for seed in range(8):
        drawn = random.Random(seed)
        member = of_tokenizer_json("forms", normalized_file(drawn))
        for _ in range(12 if member is not None else 0):
            met += cutting.check(cast(Member, member), drawn, 2)
    assert met["alike"] > 100, met


@pytest.mark.parametrize(
    ("pattern", "special", "text", "rest", "cuts"),
    [
        # The token takes the mark of "<", so that "a<" is a piece.
        (r"a[<]+|[\s\S]", "\u0338x", "a<\u0338", "x", []),
        (r"ba(?!\u226e)|ba<|[\s\S]", "\u0338x", "ba<\u0338", "x", []),
        (r"ba(?!1)|[\s\S]", "\u2460x", "ba\u2460", "x", []),
        (r"[\s\S]", "\u24601x", "b\u24601", "x", [1]),
        (r"\p{L}+|[\s\S]", "K", "a\u212ab", "b", []),
        (r"[\s\S]", "<\u0338>", "one<\u0338>a\u212a", "b", [1, 2, 3, 6, 7]),
        (r"[\s\S]", "K", "a\u212ab", "b", [1, 2]),
    ],
)
def test_tokens_found_before_the_form_is_made(
    pattern: str, special: str, text: str, rest: str, cuts: list[int]
) -> None:
    member = member_of("NFKC", pattern, [(special, {"normalized": False})])
    assert cast(tokdfa.Tokenizer, member.tokenizer).safe_cuts(text).tolist() == cuts
    assert_safe(member, text, [("", ""), ("", rest)], Counter())


def test_a_token_of_the_normalized_text_that_an_earlier_one_may_break() -> None:
    member = member_of("NFC", r"\p{L}+|[\s\S]", [("ab", {"normalized": True}), ("bc", {"normalized": False})])
    tokenizer = cast(tokdfa.Tokenizer, member.tokenizer)
    assert_safe(member, "xab", [("", ""), ("", "c")], Counter())
    assert tokenizer.safe_cuts("xab").tolist() == []
    assert tokenizer.safe_cuts("xab", ends=True).tolist() == [1]


def test_a_token_of_which_a_text_is_the_middle() -> None:
    member = member_of("NFC", r"[\s\S]", [("xa by", {"normalized": False})])
    tokenizer = cast(tokdfa.Tokenizer, member.tokenizer)
    assert tokenizer.safe_cuts("a b", begins=False).tolist() == []
    assert tokenizer.safe_cuts("a b", begins=False, ends=True).tolist() == [1, 2]
