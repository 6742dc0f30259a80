"""Random pairs for `compare`: its answer is tried on all short texts, and by those who need no automaton.

Dictionaries are judged by Algorithm 1 as it is printed, tokenizers by the library `tokenizers`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.dictionaries import all_words
from tests.support.seeds import seeds
from tests.support.tokenizer_files import GPT2_BYTES, added_token, spell, tokenizer_json
from tokdfa import Dictionary, compare, tokenize_single_pass
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.comparison.api import compare_tokenizers
from tokdfa.jobs.comparison.models import Tuning
from tokdfa.jobs.comparison.result import Outcome, Part

LETTERS = "ab 1"
# Short texts are tried anyway; here the search is to find a separating text.
QUICK = Tuning(longest_tried=0, max_seconds=0.05)
TEXTS = ["".join(text) for length in range(1, 6) for text in product(LETTERS, repeat=length)]

BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def _split(pattern: str, behavior: str = "Isolated") -> dict[str, Any]:
    step = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}
    return {"type": "Sequence", "pretokenizers": [step, BYTES]}


PRETOKENIZERS = [
    BYTES,
    {**BYTES, "use_regex": True},
    _split(r" ", "MergedWithNext"),
    _split(r" ?[^ ]+| +"),
    _split(r" ?a+| ?[^a ]+| +(?! )| +"),
    _split(r"1"),
]


def random_dictionary(source: random.Random, symbols: str) -> list[tuple[str, str]]:
    """Return the rules of a proper dictionary."""
    tokens = list(symbols)
    rules: list[tuple[str, str]] = []
    for _ in range(source.randrange(8)):
        # The last tokens are the likelier parts, so that long chains come up.
        rule = tuple(source.choice(source.choice((tokens, tokens[-3:]))) for _ in range(2))
        if len("".join(rule)) <= 6 and rule not in rules:
            rules.append(rule)  # type: ignore[arg-type]
            tokens.append("".join(rule))
    return rules


def changed(source: random.Random, rules: list[tuple[str, str]], tokens: list[str]) -> list[tuple[str, str]]:
    """Return the rules with one or two left out, moved or put in."""
    rules = list(rules)
    for _ in range(source.choice((1, 1, 2))):
        kind = source.random()
        if kind < 0.4 and rules:
            rules.insert(source.randrange(len(rules)), rules.pop(source.randrange(len(rules))))
        elif kind < 0.7 and rules:
            rules.pop(source.randrange(len(rules)))
        else:
            rules.insert(source.randrange(len(rules) + 1), (source.choice(tokens), source.choice(tokens)))
    return list(dict.fromkeys(rules))


def check_dictionaries(seed: int, _: Path) -> str:
    """Fail if the answer about two dictionaries is wrong on a short text, or another difference is less."""
    source = random.Random(seed)
    symbols = source.choice(("ab", "ab", "abc"))
    rules = random_dictionary(source, symbols)
    tokens = [*symbols, *("".join(rule) for rule in rules)]
    others = changed(source, rules, tokens) if source.random() < 0.7 else random_dictionary(source, symbols)
    a, b = (Dictionary(side, symbols) for side in (rules, others))
    if not (a.properness() and b.properness()):
        return "improper"
    found = compare(a, b)
    assert bool(compare(b, a)) == bool(found)
    if found.witness is not None:
        text, *sides = found.witness
        assert sides == [tokenize_single_pass(side, text) for side in (a, b)]
        assert sides[0] != sides[1]
    longest = {2: 9, 3: 6}[len(symbols)]
    for word in all_words(symbols, longest):
        of_a, of_b = (tokenize_single_pass(side, word) for side in (a, b))
        if of_a != of_b:
            assert found.witness is not None, word
            key = len(word), len(of_a) + len(of_b), word
            text, *sides = found.witness
            assert (len(text), len(sides[0]) + len(sides[1]), text) <= key, word
            break  # The rest is longer, or as long and greater; tokens of equally long texts are compared below.
    return "equivalent" if found else "different"


def random_file(source: random.Random) -> dict[str, Any]:
    """Return a byte-level tokenizer.json with rules that need not be in order, and parts that no rule needs to make."""
    tokens = list(LETTERS)
    for _ in range(source.randrange(1, 7)):
        word = source.choice(tokens) + source.choice(tokens[-4:])
        if len(word) <= 4:
            tokens.append(word)
    words = [word for word in dict.fromkeys(tokens) if len(word) > 1]
    splits = [(word[:at], word[at:]) for word in words for at in range(1, len(word))]
    known = {*LETTERS, *words}
    splits = [rule for rule in splits if known.issuperset(rule)]
    rules = [rule for rule in splits if source.random() < 0.8]
    if source.random() < 0.4:
        source.shuffle(rules)
    return _file(source, words, rules, source.choice(PRETOKENIZERS))


def _file(
    source: random.Random, words: Iterable[str], rules: Iterable[tuple[str, str]], pretokenizer: dict[str, Any]
) -> dict[str, Any]:
    fields = tokenizer_json([], pre_tokenizer=pretokenizer)
    vocabulary = [*(spell(bytes([byte])) for byte in GPT2_BYTES), *(spell(word.encode()) for word in words)]
    fields["model"]["vocab"] = {word: id for id, word in enumerate(vocabulary)}
    fields["model"]["merges"] = [[spell(u.encode()), spell(v.encode())] for u, v in rules]
    fields["model"]["ignore_merges"] = source.random() < 0.25
    fields["added_tokens"] = [_added(fields, "1a")] if source.random() < 0.15 else []
    return fields


def _added(file: dict[str, Any], content: str) -> dict[str, Any]:
    vocabulary = file["model"]["vocab"]
    return added_token(vocabulary.get(content, len(vocabulary)), content)


def other_file(source: random.Random, file: dict[str, Any]) -> dict[str, Any]:
    """Return a file like another one, with something changed that need not matter."""
    file = json.loads(json.dumps(file))
    model = file["model"]
    for _ in range(source.choice((1, 1, 2))):
        kind = source.randrange(7)
        if kind == 0 and model["merges"]:
            model["merges"].pop(source.randrange(len(model["merges"])))
        elif kind == 1 and model["merges"]:
            moved = model["merges"].pop(source.randrange(len(model["merges"])))
            model["merges"].insert(source.randrange(len(model["merges"]) + 1), moved)
        elif kind == 2:
            file["pre_tokenizer"] = source.choice(PRETOKENIZERS)
        elif kind == 3:
            model["ignore_merges"] = not model["ignore_merges"]
        elif kind == 4 and len(model["vocab"]) > 257 and not file["added_tokens"]:
            one, two = source.sample(list(model["vocab"])[256:], 2)
            model["vocab"][one], model["vocab"][two] = model["vocab"][two], model["vocab"][one]
        elif kind == 5:
            file["added_tokens"] = [] if file["added_tokens"] else [_added(file, "b1")]
        else:
            file["normalizer"] = source.choice((None, {"type": "NFC"}, {"type": "Lowercase"}))
    return file


def check_tokenizers(seed: int, folder: Path) -> str:
    """Fail if the answer about two files is wrong on a short text, by the library, or a lesser one is left out."""
    library = pytest.importorskip("tokenizers")
    source = random.Random(seed)
    files = [random_file(source)]
    files.append(other_file(source, files[0]) if source.random() < 0.8 else random_file(source))
    ignore_ids = source.random() < 0.3
    sides, peers, spelled = [], [], []
    for name, fields in zip("ab", files, strict=True):
        path = folder / f"{name}.json"
        path.write_text(json.dumps(fields), encoding="utf-8")
        try:
            sides.append(tokdfa.load(path))
        except UnsupportedFeatureError:
            return "refused"
        peers.append(library.Tokenizer.from_file(str(path)))
        spelled.append({id: word for word, id in peers[-1].get_vocab().items()})
    try:
        found = compare_tokenizers(*sides, ignore_ids=ignore_ids, tuning=QUICK)
    except (UnsupportedFeatureError, LimitExceededError):
        return "undecided"

    def encoded(texts: list[str]) -> list[tuple[list[int], list[int]]]:
        pairs = zip(*(peer.encode_batch(texts, add_special_tokens=False) for peer in peers), strict=True)
        return [(one.ids, two.ids) for one, two in pairs]

    def differ(ids_a: list[int], ids_b: list[int]) -> bool:
        if not ignore_ids:
            return ids_a != ids_b
        return [spelled[0][id] for id in ids_a] != [spelled[1][id] for id in ids_b]

    differences = [(text, *ids) for text, ids in zip(TEXTS, encoded(TEXTS), strict=True) if differ(*ids)]
    if found:
        assert not differences, differences[0]
        return "equivalent"
    assert found.witness is not None
    (ids,) = encoded([str(found.witness.text)])
    assert ids == (list(found.witness.tokens_a or ()), list(found.witness.tokens_b or ()))
    assert differ(*ids)
    if found.checked[Part.SHORTEST] is not Outcome.PROVEN:
        return "different"
    # Of texts of one length the one with the fewest tokens is looked for in seconds that are not given here.
    least = min((len(text.encode()) for text, *_ in differences), default=None)
    assert least is None or len(str(found.witness.text).encode()) <= least, least
    return "different, shortest"


CHECKS: dict[str, Callable[[int, Path], str]] = {"dictionaries": check_dictionaries, "tokenizers": check_tokenizers}


def assert_pairs_agree(kind: str, chosen: range, folder: Path) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for seed in chosen:
        try:
            outcomes[CHECKS[kind](seed, folder)] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed} of {kind}: {error!r}") from error
    return outcomes


@pytest.mark.parametrize(("kind", "number", "least"), [("dictionaries", 120, 15), ("tokenizers", 36, 4)])
def test_random_pairs(kind: str, number: int, least: int, tmp_path: Path) -> None:
    outcomes = assert_pairs_agree(kind, range(number), tmp_path)
    different = outcomes["different"] + outcomes["different, shortest"]
    assert min(outcomes["equivalent"], different) >= least, outcomes


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHECKS)
def test_many_random_pairs(kind: str, tmp_path: Path, tally: Tally) -> None:
    chosen = seeds(1000)
    print(kind, dict(assert_pairs_agree(kind, chosen, tmp_path)), "of", len(chosen), "pairs")
    tally("comparison", "random cases", len(chosen))
