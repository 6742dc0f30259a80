"""The longest unit over all texts: no text has a longer one, and a part that can be repeated makes it longer."""

from __future__ import annotations

import random
from collections import Counter
from itertools import accumulate, pairwise, product

import pytest
import tokenizers

import tokdfa
from tests.support.byte_tokenizers import tokenizer_of
from tests.support.canonical_by_definition import Definition
from tests.support.real_tokenizers import family_files
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError

PATTERNS = [None, None, " ?[ab]+|[^ab]+", "[a-z]| ?[^a-z]+", "a+|[^a]", "[ab]{1,3}|[^ab]"]
TEXTS = ["".join(text) for n in range(1, 7) for text in product("ab é", repeat=n)]


def random_tokenizer(source: random.Random) -> Definition:
    """Return a random tokenizer over a few bytes, with long tokens of a and b."""
    tokens, rules = [b"a", b"b", b" ", b"\xc3", b"\xa9"], []
    for _ in range(source.randrange(14)):
        likely = [token for token in tokens if token[:1] in b"ab" or source.random() < 0.3]
        left, right = source.choice(likely), source.choice(likely)
        if left + right not in tokens and len(left + right) < 7:
            rules.append((left, right))
            tokens.append(left + right)
    pattern, specials = source.choice(PATTERNS), source.choice([[], ["ba"], ["a b"]])
    return Definition(tokenizer_of(rules, pattern, specials, finds_specials=source.random() < 0.5), pattern)


def longest_of(text: str, both: list[Definition]) -> int:
    """Return the length of the longest unit of a text; 0 if a tokenizer finds a control token in it."""
    ends: list[set[int]] = []
    for side in both:
        ids = side.encode(text)
        if {*ids} & {*side.tokenizer.control_ids.tolist()}:
            return 0
        ends.append({*accumulate((len(side.decode([id])) for id in ids), initial=0)})
    return max(b - a for a, b in pairwise(sorted(ends[0] & ends[1])))


def outcomes(seeds: range, n_texts: int) -> Counter[str]:
    """Compare answers with the units of texts; return how often each kind of answer was given."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        source = random.Random(seed)
        both = [random_tokenizer(source), random_tokenizer(source)]
        found = tokdfa.longest_unit(both[0].tokenizer, both[1].tokenizer)
        unit = found.witness
        assert unit is not None
        assert longest_of(unit.text, both) == unit.stop - unit.start
        if found.most is None:
            assert unit.pump is not None
            before, part, after = unit.pump
            lengths = [longest_of(before + n * part + after, both) for n in (1, 2, 7, 30)]
            assert lengths == [lengths[0] + n * len(part.encode()) for n in (0, 1, 6, 29)]
            seen["unbounded"] += 1
            continue
        most = max(longest_of(text, both) for text in source.sample(TEXTS, n_texts))
        assert most <= found.most, seed
        assert unit.stop - unit.start <= found.most
        seen["exact" if found.is_exact else "bounded"] += 1
        seen["reached by a text tried"] += most == found.most
        seen["long"] += found.most > 3
    return seen


def test_no_text_has_a_longer_unit_and_pumps_work() -> None:
    seen = outcomes(range(16), 300)
    assert seen["unbounded"] >= 1, seen
    assert seen["exact"] >= 10, seen
    assert seen["bounded"] == 0, seen
    assert seen["reached by a text tried"] >= 5, seen


@pytest.mark.slow
def test_no_text_of_thousands_has_a_longer_unit() -> None:
    seen = outcomes(range(1000, 2000), 2000)
    assert min(seen["unbounded"], seen["exact"], seen["long"]) >= 50, seen
    assert seen["bounded"] <= 10, seen


def test_tokenizers_that_cut_alike_have_units_of_one_token() -> None:
    tokenizer = tokdfa.default_tokenizer()
    found = tokdfa.longest_unit(tokenizer, tokenizer)
    assert found.witness is not None
    assert (found.most, found.witness.text, found.witness.ids_a) == (14, " circumstances", found.witness.ids_b)


def test_a_part_that_can_be_repeated_may_be_of_several_bytes() -> None:
    # Of `xééé`, the first has ids that begin within characters.
    cut = tokenizer_of([(b"x", b"\xc3"), (b"\xa9", b"\xc3")])
    found = tokdfa.longest_unit(cut, tokenizer_of([(b"\xc3", b"\xa9")]))
    assert found.witness is not None
    assert found.witness.pump is not None
    assert {*found.witness.pump[1]} == {"é"}


def test_without_time_the_answer_is_undecided() -> None:
    both = tokenizer_of([(b"a", b"b")]), tokenizer_of([(b"b", b"c")])
    with pytest.raises(LimitExceededError, match="seconds"):
        tokdfa.longest_unit(*both, max_seconds=1e-6)


def test_other_models_are_refused_by_name_here_too() -> None:
    with pytest.raises(UnsupportedFeatureError, match="suffix"):
        tokdfa.longest_unit(tokenizer_of([(b"a", b"b")]), tokenizer_of([(b"a", b"b")], suffix="</w>"))


NAMES = ["claude", "command_r_plus", "deepseek_v3", "gpt4o", "llama3_1", "mistral_nemo", "qwen2_5", "qwen3"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_units_of_real_tokenizers_grow_as_their_libraries_say(name: str) -> None:
    files = family_files()
    if not {name, "qwen2_5"} <= files.keys():
        pytest.skip(f"TOKDFA_FAMILIES lacks {name} or qwen2_5")
    paths = [str(files["qwen2_5"]), str(files[name])]
    found = tokdfa.longest_unit(*map(tokdfa.load, paths))
    assert found.witness is not None
    if name == "qwen2_5":
        assert found.is_exact
        return
    assert found.witness.pump is not None
    libraries = [tokenizers.Tokenizer.from_file(path) for path in paths]
    before, part, after = found.witness.pump
    lengths = []
    for n in (1, 10, 100):
        ends = []
        for library in libraries:
            ids = library.encode(before + n * part + after, add_special_tokens=False).ids
            # A character of a token stands for a byte.
            ends.append({*accumulate((len(library.id_to_token(id)) for id in ids), initial=0)})
        lengths.append(max(b - a for a, b in pairwise(sorted(ends[0] & ends[1]))))
    size = len(part.encode())
    assert lengths == [lengths[0], lengths[0] + 9 * size, lengths[0] + 99 * size]
