"""One place chooses the engine of streams, and its name fits each family of tokenizers."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support import sources
from tests.support.byte_tokenizers import tokenizer_of
from tests.support.families import FAMILIES
from tests.support.longest_prefix import LongestPrefix
from tokdfa.base.errors import ImproperDictionaryError, UnsupportedFeatureError
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.jobs.validation.engines.reencoding import TextComparison
from tokdfa.jobs.validation.engines.walk import PairWalk
from tokdfa.jobs.validation.engines.whole import WholeText

WALK, PART, FORM = "pair walk", "pair walk of the proper part", "pair walk in a normalization form"
PARTS, WHOLE, WORDS = "encoding again, in parts", "encoding again, whole", "words"
BARE = "pairs without pieces"
PART_FORM = "pair walk of the proper part in a normalization form"
# The engines of each family, with those that most of its members get first.
ENGINES = {
    "ranks": [WALK],
    "improper ranks": [PART, WALK],
    "bytes": [WALK, BARE],
    "bytes, prefix space": [WHOLE],
    "bytes, whole words": [WALK, PART, WHOLE],
    "bytes, odd parts": [WHOLE, PART, WALK, FORM, PART_FORM, PARTS],
    "bytes, added tokens": [WHOLE, WALK, FORM, PARTS],
    "bytes, NFC": [FORM, PARTS, WHOLE],
    "bytes, NFC, prefix space": [PARTS],
    "bytes, other forms": [FORM, PARTS, WHOLE],
    "bytes, other forms, prefix space": [PARTS],
    "bytes, any steps": [WHOLE, PARTS],
    "CLIP": [WHOLE],
    "longest match": [PARTS],
    "Llama-2": [PARTS],
    "Gemma": [PARTS],
    "characters, any steps": [WHOLE, PARTS],
    "suffix": [WHOLE],
    "prefix": [WHOLE],
    "WordPiece": [PARTS, WHOLE],
    "WordPiece, any steps": [PARTS, WHOLE],
    "Unigram of tokenizers": [WHOLE, PARTS, WORDS],
    "BPE of SentencePiece": [PARTS, WHOLE],
    "Unigram of SentencePiece": [WHOLE, WORDS, PARTS],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_name_fits_the_family(family: str) -> None:
    met = []
    for seed in range(12):
        member = FAMILIES[family](random.Random(seed))
        tokenizer = member.tokenizer
        engine = engine_of(tokenizer)
        name, _, why = engine.name.partition(": because ")
        met.append(name)
        # The name tells the engine.
        assert bool(why) == (name == WHOLE)
        stream_engine = engine.stream_engines()(0, 0)
        kind = WholeText if name == BARE else PairWalk if name.startswith(WALK) else TextComparison
        assert type(stream_engine) is kind
        assert (engine.unjudged is not None) == (name.startswith(WALK) or name == WORDS)
        assert (engine.walk is not None) == (name in (WALK, PART))
        assert (name == FORM) <= (tokenizer.why_not("spelling") is not None)
        if kind is TextComparison and name != WORDS:
            assert (name == PARTS) == (tokenizer.round_trip.boundaries.why_none is None)
            assert why == tokenizer.facts().get("rewriting", {"judged_as_a_whole": why}).get("judged_as_a_whole", "")
        # All callers get this stream engine, and ids that one call shows to be canonical are canonical.
        ids = np.array(member.encode(member.text(random.Random(seed))) or (), dtype=np.int32)
        if engine.unjudged is not None and engine.unjudged(ids) is None:
            assert not [*stream_engine.feed(ids), *stream_engine.finish()]
    assert {*met} <= {*ENGINES[family]}, met
    assert max(met, key=met.count) in ENGINES[family][:2]


def test_a_tokenizer_of_another_algorithm_is_judged_as_a_whole() -> None:
    tokenizer = LongestPrefix(["a", "b", "ab"])
    assert engine_of(tokenizer).name == f"{WHOLE}: because nothing is known of what its algorithm joins"
    assert tokenizer.validate(tokenizer.encode("aab"))


def test_literal_special_tokens_are_encoded_again() -> None:
    tokenizer = tokenizer_of([(b"a", b"b")], r"[ab]+|[^ab]", ["<e>"], finds_specials=False)
    assert engine_of(tokenizer).name == WALK
    assert engine_of(tokenizer, literal=True).name == f"{WHOLE}: because special tokens are taken literally"
    with pytest.raises(UnsupportedFeatureError, match="special tokens taken literally"):
        engine_of(tokenizer, window=True, literal=True)


def test_pieces_where_no_table_can_be_made() -> None:
    long = b"a" * (1 << 15)
    rules = [(long[: 1 << n], long[: 1 << n]) for n in range(15)]
    tokenizer = tokenizer_of([*rules, (long, long)], r"a+|[^a]", [], finds_specials=True)
    engine = engine_of(tokenizer)
    assert engine.name == "pieces"
    assert engine.unjudged is None
    assert tokenizer.validate(tokenizer.encode("ab" * 9))
    assert not tokenizer.validate([*b"aab"])


def test_improper_rules_whose_meaning_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "merges.txt").write_text("ab c\na b\n")
    with pytest.raises(ImproperDictionaryError):
        engine_of(tokdfa.load(tmp_path / "merges.txt"))


STREAM_ENGINES = {"PairWalk", "WholeText", "TextComparison"}


def test_four_classes_check_streams_and_one_place_chooses_among_them() -> None:
    package = Path(tokdfa.__file__).parent
    engines, importers = set(), set()
    for path in sorted(package.rglob("*.py")):
        for node in sources.statements(path.read_text(encoding="utf-8")):
            if isinstance(node, ast.ClassDef) and path.is_relative_to(package / "jobs" / "validation"):
                methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                engines |= {node.name} if {"feed", "finish"} <= methods else set()
            elif isinstance(node, ast.ImportFrom) and any(each.name in STREAM_ENGINES for each in node.names):
                importers.add(path.relative_to(package).as_posix())
    assert engines == {"Validator", *STREAM_ENGINES}
    # A walk looks closely by encoding; no other module knows one of these engines.
    assert importers == {"jobs/validation/engine.py", "jobs/validation/engines/walk.py"}
