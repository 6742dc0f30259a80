"""The pairs that make tokens: rules written differently that merge alike, against the library."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import product
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.support.gguf_files import gguf, sentencepiece
from tests.support.seeds import seeds
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.comparison.api import compare_tokenizers
from tokdfa.jobs.comparison.derived import derived_merges
from tokdfa.jobs.comparison.models import Tuning
from tokdfa.jobs.comparison.result import Outcome, Part
from tokdfa.tokenizers.tokenizer import Tokenizer

LONGEST = 6
TEXTS = ["".join(symbols) for n in range(1, LONGEST + 1) for symbols in product("abc", repeat=n)]
# Wrong answers are to be found by the test, not by the texts that a comparison tries.
UNTRIED = Tuning(longest_tried=0, max_seconds=0)


def fields_of(rules: list[tuple[str, str]], words: list[str], **model: Any) -> dict[str, Any]:
    vocab = {word: id for id, word in enumerate(words)}
    model = {"type": "BPE", "vocab": vocab, "merges": [*map(list, rules)], **model}
    return {"version": "1.0", "added_tokens": [], "decoder": {"type": "Fuse"}, "model": model}


def random_rules(drawn: random.Random) -> tuple[list[tuple[str, str]], list[str]]:
    words = [*"abc"]
    for _ in range(drawn.randrange(2, 7)):
        word = drawn.choice(words) + drawn.choice(words)
        if word not in words:
            words.append(word)
    splits = [(word[:cut], word[cut:]) for word in words for cut in range(1, len(word))]
    rules = [rule for rule in splits if {*rule} <= {*words}]
    return [rule for rule in rules if drawn.random() < 0.8], words


def changed(drawn: random.Random, rules: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out a rule, move one, or exchange two."""
    rules = rules.copy()
    for _ in range(drawn.randrange(1, 3)):
        if len(rules) > 1:
            rule = rules.pop(drawn.randrange(len(rules)))
            if drawn.random() < 0.6:
                rules.insert(drawn.randrange(len(rules) + 1), rule)
    return rules


def loaded(fields: dict[str, Any]) -> tuple[Tokenizer, list[list[int]]]:
    peer = tokenizers.Tokenizer.from_str(json.dumps(fields))
    tokenizer = tokdfa.load(fields)
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer, [encoding.ids for encoding in peer.encode_batch(TEXTS)]


@pytest.mark.parametrize("seed", seeds(1))
def test_tokenizers_with_the_same_pairs_give_the_same_ids(seed: int) -> None:
    drawn = random.Random(seed)
    outcomes: Counter[tuple[object, bool]] = Counter()
    for _ in range(60):
        rules, words = random_rules(drawn)
        ids = words.copy()
        if drawn.random() < 0.2:
            drawn.shuffle(ids)
        whole = drawn.random() < 0.3
        a, ids_a = loaded(fields_of(rules, words, ignore_merges=whole))
        b, ids_b = loaded(fields_of(changed(drawn, rules), ids, ignore_merges=whole))
        try:
            found = compare_tokenizers(a, b, tuning=UNTRIED)
        except UnsupportedFeatureError:
            outcomes["undecided", ids_a == ids_b] += 1
            continue
        if found:
            assert ids_a == ids_b, (rules, words, ids)
        outcomes[found.checked.get(Part.DICTIONARY, Outcome.SAME), bool(found)] += 1
    # Rules that differ are seen to merge alike, by their rows if they are proper, otherwise by their pairs.
    assert outcomes[Outcome.EQUIVALENT, True] > 3
    assert outcomes["undecided", False] > 3


def test_the_example_of_the_module_has_one_pair_a_token() -> None:
    rules = [("a", "b"), ("ab", "c"), ("b", "c"), ("a", "bc")]
    tokenizer, _ = loaded(fields_of(rules, ["a", "b", "c", "ab", "abc", "bc"]))
    steps = derived_merges(tokenizer)
    words = [tokenizer.dictionary.alphabet.spell(part.tolist()) for part in steps[:3]]
    assert [*zip(*words, steps.rank.tolist(), strict=True)] == [
        ("ab", "a", "b", 0),
        ("abc", "ab", "c", 1),
        ("bc", "b", "c", 2),
    ]


def test_scores_and_rules_of_one_vocabulary_are_equal() -> None:
    pieces = ["\u2581", *"thes", "th", "he", "ths", "\u2581t", "\u2581th"]
    of_scores = tokdfa.load(gguf(sentencepiece(pieces)))
    vocab = {token: id for id, token in enumerate(of_scores.token_strings)}
    splits = [[word[:cut], word[cut:]] for word in pieces for cut in range(1, len(word))]
    merges = [split for split in splits if {*split} <= vocab.keys()]
    fields = fields_of([], [])
    fields["model"] |= {"vocab": vocab, "merges": merges, "byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}
    tokens = [(0, "<unk>"), (1, "<s>"), (2, "</s>")]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    fields["added_tokens"] = [{"id": id, "content": text, "special": True, **flags} for id, text in tokens]
    shown = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    fields["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, shown]}
    fields["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
    found = tokdfa.compare(of_scores, tokdfa.load(fields))
    assert found
    assert found.checked[Part.DICTIONARY] is Outcome.EQUIVALENT
    assert found.checked[Part.NORMALIZER] is Outcome.SAME
    # Another order of two rules that meet is found out.
    fields["model"]["merges"] = [["h", "e"], *(split for split in merges if split != ["h", "e"])]
    assert not tokdfa.compare(of_scores, tokdfa.load(fields))


def test_ids_of_pieces_that_are_not_merged_count() -> None:
    sides = [loaded(fields_of([], ["a", "b", *words], ignore_merges=True))[0] for words in (("ab", "ba"), ("ba", "ab"))]
    found = tokdfa.compare(*sides)
    assert found.witness is not None
    assert found.witness.text in ("ab", "ba")
    assert tokdfa.compare(*sides, ignore_ids=True)


@pytest.mark.parametrize("seed", seeds(1))
def test_rules_of_texts_that_are_cut_at_special_tokens_make_no_difference(seed: int) -> None:
    drawn = random.Random(seed)
    outcomes: Counter[tuple[bool, bool, bool]] = Counter()
    for _ in range(80):
        rules, words = random_rules(drawn)
        taken = drawn.choice([*"abc", "ab", "bc", "aa", "ca"])
        # Perhaps a rule too many is left out.
        dropped = drawn.choice([taken, taken, drawn.choice("abc")])
        kept = [word for word in words if len(word) == 1 or dropped not in word]
        sides = [fields_of([rule for rule in rules if "".join(rule) in some], words) for some in (words, kept)]
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
        for fields in sides:
            fields["added_tokens"] = [{"id": words.index(taken) if taken in words else 99, "content": taken, **flags}]
        (a, ids_a), (b, ids_b) = map(loaded, sides)
        try:
            found = bool(compare_tokenizers(a, b, tuning=UNTRIED))
        except UnsupportedFeatureError:
            found = False
        assert ids_a == ids_b or not found, (rules, words, taken, dropped)
        outcomes[found, ids_a == ids_b, a.dictionary == b.dictionary] += 1
    assert outcomes[True, True, False] > 3
    assert outcomes[False, False, False] > 3


def test_a_tab_that_is_a_token_is_the_byte_token_of_another_file() -> None:
    pieces = ["\u2581", *"ab", "ab"]
    of_scores = tokdfa.load(gguf(sentencepiece(pieces)))
    vocab = {token: id for id, token in enumerate(of_scores.token_strings)}
    of_tab = vocab.pop("<0x09>")
    fields = fields_of([("a", "b")], [])
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    fields["added_tokens"] = [
        {"id": id, "content": text, "special": True, **flags} for id, text in enumerate(("<unk>", "<s>", "</s>"))
    ]
    shown = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    fields["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, shown]}
    fields["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
    # Splitting at spaces splits nothing when there are none left.
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    fields["pre_tokenizer"] = split
    for tab, is_same in ((of_tab, True), (len(vocab) + 1, False)):
        fields["model"] |= {"vocab": vocab | {"\t": tab}, "byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}
        found = tokdfa.compare(of_scores, tokdfa.load(fields))
        assert bool(found) is is_same
