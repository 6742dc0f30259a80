"""Streams of tokenizers that normalize texts: walked over, and found right or wrong as judging them as a whole does."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.normalized import normalized_file, spoiled, text
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, spell, tokenizer_json
from tests.support.tuned import validate_tuned
from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import TokdfaError, TokenStreamError, UnsupportedFeatureError
from tokdfa.jobs.validation.api import validate
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.jobs.validation.engines.reencoding import TextComparison
from tokdfa.jobs.validation.violation import Violation
from tokdfa.jobs.validation.window import Tuning
from tokdfa.regex.unicode.normalization import Form, normalize
from tokdfa.tokenizers.tokenizer import Tokenizer


def as_a_whole(tokenizer: Tokenizer, ids: Int32Array) -> list[Violation]:
    """Judge by decoding and encoding all of the ids at once."""
    judge = TextComparison(tokenizer.round_trip, tuning=Tuning(window=1 << 40))
    return [*judge.feed(ids), *judge.finish()]


def is_walked(tokenizer: Tokenizer) -> bool:
    return engine_of(tokenizer).model is not None


def repaired(ids: list[int], violations: list[Violation]) -> list[int]:
    made, at = [], 0
    for violation in violations:
        made += [*ids[at : violation.start], *(violation.canonical_ids or ())]
        at = violation.start + len(violation.ids)
    return made + ids[at:]


def test_walking_finds_what_judging_as_a_whole_finds(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    met: Counter[str] = Counter()
    for seed in seeds(16):
        drawn = random.Random(seed)
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(normalized_file(drawn)), encoding="utf-8")
        try:
            tokenizer = tokdfa.load(path)
        except TokdfaError:
            met["refused"] += 1
            continue
        assert isinstance(tokenizer, Tokenizer)
        assert not tokenizer.is_plain
        met["walked" if is_walked(tokenizer) else "not walked"] += 1
        theirs = tokenizers.Tokenizer.from_file(str(path))
        words = [tokenizer.decode_bytes([id]) for id in range(tokenizer.n_ids)]
        for _ in range(20):
            source = text(drawn, drawn.choice([6, 12, 60]))
            encoded = theirs.encode(source, add_special_tokens=False).ids
            assert tokenizer.encode(source).tolist() == encoded
            given = spoiled(drawn, words, encoded, source.encode())
            ids = np.array(given, dtype=np.int32)
            wanted = as_a_whole(tokenizer, ids)
            try:
                canonical = theirs.encode(tokenizer.decode(ids), add_special_tokens=False).ids
            except TokenStreamError:
                met["not UTF-8"] += 1
                assert wanted
            else:
                met["canonical" if canonical == given else "not canonical"] += 1
                assert repaired(given, wanted) == canonical
                assert (canonical == given) == (not wanted)
                if wanted:
                    pairs = enumerate(zip(given, canonical, strict=False))
                    shorter = min(len(given), len(canonical))
                    assert wanted[0].index == next((i for i, (a, b) in pairs if a != b), shorter)
            assert [*validate(tokenizer, ids, all=True).violations] == wanted, (seed, given)
            assert validate(tokenizer, ids).violations == tuple(wanted[:1])
            windows = drawn.choices([1, 2, 5, 40], k=2)
            tuning = Tuning(window=windows[0], close_window=windows[1], patience=drawn.choice([1, 7, 30]), head=1)
            size = drawn.choice([1, 2, 7, 50])
            chunks = (ids[i : i + size] for i in range(0, len(ids), size))
            found = validate_tuned(tokenizer, chunks, all=True, tuning=tuning)
            assert [*found.violations] == wanted, (seed, given, tuning)
            if not is_walked(tokenizer):
                continue
            # Documents, and windows: a window of a canonical stream is never found wrong.
            starts = [0, len(ids)]
            found = validate_tuned(tokenizer, np.append(ids, ids), documents=starts, all=True, tuning=tuning)
            indices = [violation.index for violation in wanted]
            assert [violation.index for violation in found.violations] == [
                i + start for start in starts for i in indices
            ]
            low, high = sorted(drawn.choices(range(len(ids) + 1), k=2))
            try:
                window = validate_tuned(tokenizer, ids[low:high], window=True, all=True, tuning=tuning)
            except UnsupportedFeatureError:
                met["no windows"] += 1
                continue
            met["window" if window else "wrong window"] += 1
            assert window or wanted, (seed, given, low, high)
    assert min(met["walked"], met["not walked"]) > 1, met
    kinds = ("canonical", "not canonical", "not UTF-8", "window", "wrong window")
    assert min(met[kind] for kind in kinds) > 12, met


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize("special", ["가", "\u1100\u1161", "e\u0301", "<\u212b>", "ﬁ"])
def test_added_tokens_in_no_form_separate_violations(form: Form, special: str, tmp_path: Path) -> None:
    rules = [(b" ", b"a"), (b"\xd0", b"\xb4"), (b"\xe1", b"\x84"), (b"\xe1\x84", b"\x80"), (b"\xcc", b"\x81")]
    file = tokenizer_json(rules, normalizer={"type": form}, added_tokens=[])
    vocab = file["model"]["vocab"]
    id = len(vocab)
    file["added_tokens"].append(added_token(id, special))
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(file), encoding="utf-8")
    tokenizer = tokdfa.load(path)
    assert isinstance(tokenizer, Tokenizer)
    assert is_walked(tokenizer)
    drawn, wrong = random.Random(f"{form} {special}"), 0
    for _ in range(100):
        ids: list[int] = []
        for _ in range(drawn.randrange(2, 6)):
            part = normalize(drawn.choice([" a", "д", "\u1100", "e\u0301", "a"]), form)
            alone = [vocab[spell(bytes([byte]))] for byte in part.encode()]
            ids += alone if drawn.random() < 0.6 else tokenizer.read_in_form[0].encode(part).tolist()
            ids += [id] * drawn.randrange(2)
        given = np.array(ids, dtype=np.int32)
        at_once = [*validate(tokenizer, given, all=True).violations]
        assert at_once == as_a_whole(tokenizer, given), ids
        # Wrong ids before and after the token are two violations, as they are next to any other text.
        assert not any(id in violation.ids for violation in at_once), ids
        wrong += len(at_once) > 1
    assert wrong > 20


@pytest.fixture
def tokenizer(tmp_path: Path) -> Tokenizer:
    rules = [(b"\xcc", b"\x81"), (b"e", b"\xcc\x81"), (b" ", b"a"), (b"\xc3", b"\xa9"), (b"\xe0", b"\xb8")]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer_json(rules, normalizer={"type": "NFC"})), encoding="utf-8")
    loaded = tokdfa.load(path)
    assert isinstance(loaded, Tokenizer)
    assert not loaded.is_plain
    return loaded


def test_a_stream_is_judged_in_parts_and_little_of_it_is_kept(tokenizer: Tokenizer) -> None:
    validator = tokdfa.Validator(tokenizer)
    ids = tokenizer.encode("x thing, ต่ำ and é\n" * 500)
    most = 0
    for _ in range(40):
        assert not list(validator.feed(ids))
        most = max(most, validator.n_kept)
    bad = tokenizer.read_in_form[0].encode(" e\u0301 a")
    found = [*validator.feed(bad), *validator.feed(ids), *validator.finish()]
    (violation,) = found
    assert violation.index == 40 * len(ids) + 1
    assert tokenizer.decode(violation.ids) == "e\u0301"
    assert tokenizer.decode(violation.canonical_ids or ()) == "é"
    assert most < 3 * len(ids)


@pytest.mark.parametrize("n_marks", [30, 62, 63, 64, 127, 128, 129, 1_000])
@pytest.mark.parametrize("is_last_wrong", [False, True])
def test_runs_of_marks_of_any_length(tokenizer: Tokenizer, n_marks: int, is_last_wrong: bool) -> None:
    word = "x" + "\u0334" * n_marks + ("\u0301\u0323" if is_last_wrong else "\u0323\u0301")
    ids = tokenizer.read_in_form[0].encode(" a" * 300 + word + " a" * 300)
    for size in (7, 400, len(ids)):
        found = validate(tokenizer, (ids[i : i + size] for i in range(0, len(ids), size)), all=True)
        assert [*found.violations] == as_a_whole(tokenizer, ids)
        assert bool(found) != is_last_wrong
        # A long run at the end of a window is not a violation.
        window = validate(tokenizer, ids[10 : len(ids) - 602], window=True)
        assert window or is_last_wrong


def test_windows_see_marks_that_are_out_of_order_before_the_first_cut(tokenizer: Tokenizer) -> None:
    for source, is_possible in (("\u0323\u0301", True), ("\u0301\u0323", False), ("e\u0301", False), ("\u0301e", True)):
        ids = tokenizer.read_in_form[0].encode(source)
        assert bool(validate(tokenizer, ids, window=True)) == is_possible, source
