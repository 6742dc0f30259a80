"""bounds of byte pairs over characters, and of WordPiece, against brute force: the library encodes all short texts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers

import tokdfa
from tests.support.tokenizer_files import added_token
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.jobs.measures.of_tokenizers import streams_of
from tokdfa.jobs.measures.streams import Streams

PARTS = [("▁", "a"), ("a", "b"), ("▁", "▁"), ("b", "a"), ("▁a", "b"), ("ab", "a"), ("a", "a"), ("b", "▁"), ("é", "a")]
ENTRIES = ["b", "x", "ab", "abab", "##a", "##x", "##ab", "##ba", "##aab", "é", "##é", "xa", "aba", "##bb"]
ADDED = ["\n", "\n\n", "\n\n\n", "ab\n", "<x>", "ba", "aba"]
CHARACTERS = "ab é\nx"
TEXTS = ["".join(text) for n in range(1, 5) for text in product(CHARACTERS, repeat=n)]
Draw = Callable[[random.Random], dict[str, Any]]
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
UNSPELLED = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}


def random_wordpiece(source: random.Random) -> dict[str, Any]:
    """Return a tokenizer.json like BERT's with few entries, and perhaps with words of three characters at most."""
    entries = ["[U]", "a", "##b", *source.sample(ENTRIES, source.randrange(2, len(ENTRIES)))]
    kept = {"clean_text": True, "handle_chinese_chars": True, "lowercase": False, "strip_accents": False}
    model = {"type": "WordPiece", "unk_token": "[U]", "continuing_subword_prefix": "##"}
    vocab = {entry: id for id, entry in enumerate(entries)}
    return {
        "version": "1.0",
        "added_tokens": [added_token(0, "[U]")],
        "normalizer": {"type": "BertNormalizer", **kept},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {**model, "max_input_chars_per_word": source.choice([3, 100]), "vocab": vocab},
    }


def random_file(source: random.Random) -> dict[str, Any]:
    """Return a tokenizer.json like Llama-2's or Gemma's with few tokens; x and the second byte of é may lack one."""
    vocab = {"<unk>": 0, **{f"<0x{byte:02X}>": byte + 1 for byte in range(256)}}
    for character in ["a", "b", "▁", *source.sample(["é", "\n", "<"], 2)]:
        vocab[character] = len(vocab)
    merges = []
    for left, right in source.sample(PARTS, len(PARTS)):
        if {left, right} <= vocab.keys() and source.random() < 0.7:
            merges.append([left, right])
            vocab.setdefault(left + right, len(vocab))
    added = [added_token(0, "<unk>")]
    added += [
        added_token(vocab.setdefault(content, len(vocab)), content, special=source.random() < 0.3)
        for content in source.sample(ADDED, source.choice([0, 0, 2, 3]))
    ]
    first = source.choice(
        [{"type": "Prepend", "prepend": "▁"}, {"type": "Prepend", "prepend": "▁"}, {"type": "NFC"}, None]
    )
    is_prefixed = first is not None and first["type"] == "Prepend"
    steps = [UNSPELLED, {"type": "ByteFallback"}, {"type": "Fuse"}]
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": {
            "type": "Sequence",
            "normalizers": [*([first] if first else []), REPLACE],
        },
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [*steps, strip] if is_prefixed else steps},
        "model": {"type": "BPE", "unk_token": "<unk>", "byte_fallback": True, "vocab": vocab, "merges": merges},
    }


def canonical(library: tokenizers.Tokenizer, controls: set[int]) -> dict[str, list[int]]:
    """Return the ids of the short texts that decoding gives back, without control tokens."""
    encoded = {text: library.encode(text, add_special_tokens=False).ids for text in TEXTS}
    return {
        text: ids
        for text, ids in encoded.items()
        if not controls & {*ids} and library.decode(ids, skip_special_tokens=False) == text
    }


def paths_of(streams: Streams, text: bytes) -> list[tuple[int, ...]]:
    """Return the ids of all paths that spell a text."""
    found, waiting = [], [(0, 0, text, ())]
    while waiting:
        base, row, rest, labels = waiting.pop()
        if not rest and streams.is_final(base):
            found.append(streams.ids_of(labels))
        fitting = [label for label in streams.edges(base).labels.tolist() if rest.startswith(streams.words[label])]
        for label, target in zip(fitting, streams.after(base, row, np.array(fitting, dtype=int)).tolist(), strict=True):
            if target >= 0:
                after = int(streams.sets.row_of[label])
                waiting.append((target, after, rest[len(streams.words[label]) :], (*labels, label)))
    return found


def outcomes(draw: Draw, seeds: range, folder: Path) -> dict[str, int]:
    """Compare streams and bounds with all short texts; return how many cases there were of each kind."""
    seen = {"texts": 0, "not exact": 0, "attained": 0, "added": 0, "byte tokens": 0, "sized": 0, "other texts": 0}
    for seed in seeds:
        source = random.Random(seed)
        path = folder / f"{seed}.json"
        file = draw(source)
        path.write_text(json.dumps(file))
        tokenizer, library = tokdfa.load(path), tokenizers.Tokenizer.from_file(str(path))
        of_texts = canonical(library, {*tokenizer.control_ids.tolist()})
        streams = streams_of(tokenizer)
        for text, ids in source.sample([*of_texts.items()], min(100, len(of_texts))):
            labels = streams.labels_of(ids)
            assert labels is not None, (seed, text)
            assert streams.spelled(labels).decode() == text
            seen["added"] += any(special.id in ids for special in tokenizer.specials)
            seen["byte tokens"] += any(0 < id <= 256 for id in ids)
        steps = file["normalizer"].get("normalizers")
        if steps and (steps[0]["type"] != "Prepend" or len(file["added_tokens"]) == 1):
            # Some paths of WordPiece are not canonical; nor are those with a space put before the text after a token.
            for text in source.sample(TEXTS, 50):
                expected = [tuple(of_texts[text])] if text in of_texts else []
                assert paths_of(streams, text.encode()) == expected, (seed, text)
                seen["other texts"] += text not in of_texts
        n_bytes = source.randrange(1, 5)
        if n_bytes not in map(len, map(str.encode, of_texts)):
            continue
        found = tokdfa.bounds(tokenizer, n_bytes=n_bytes)
        assert found.tokens is not None
        sized = [Fraction(len(ids)) for text, ids in of_texts.items() if len(text.encode()) == n_bytes]
        for extremes, values in (
            (found.bytes, [Fraction(len(text.encode()), len(ids)) for text, ids in of_texts.items()]),
            (found.characters, [Fraction(len(text), len(ids)) for text, ids in of_texts.items()]),
            (found.tokens, sized),
        ):
            for extreme, best, sign in ((extremes.fewest, min(values), 1), (extremes.most, max(values), -1)):
                assert extreme.value is not None
                assert extreme.proved is not None
                assert sign * extreme.proved <= sign * extreme.value, seed
                assert sign * extreme.proved <= sign * best, (seed, extreme, best)
                assert tuple(library.encode(extreme.text, add_special_tokens=False).ids) == extreme.ids
                seen["not exact"] += not extreme.is_exact
                seen["attained"] += extreme.value == best
                seen["sized"] += values is sized
        seen["texts"] += len(of_texts)
    return seen


def test_a_text_of_a_size_is_not_denied_because_of_a_stream_of_no_text(tmp_path: Path) -> None:
    vocab = {"<unk>": 0, **{f"<0x{byte:02X}>": byte + 1 for byte in range(256)}, "a": 257, "b": 258, "▁": 259}
    file = random_file(random.Random(0)) | {"normalizer": REPLACE, "decoder": UNSPELLED}
    file["model"] |= {"vocab": vocab, "merges": []}
    # Within "bab" there is no word "ba", but the graph does not know.
    file["added_tokens"] = [added_token(260, "ba", special=False) | {"single_word": True}]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(file))
    tokenizer = tokdfa.load(path)
    assert tokenizer.encode("bab").tolist() == [258, 257, 258]
    with pytest.raises(LimitExceededError, match=r"^no text with 3 bytes was found that the tokenizer leaves"):
        tokdfa.bounds(tokenizer, language="bab|a", n_bytes=3)
    with pytest.raises(PatternError, match=r"^no text of the language has 4 bytes"):
        tokdfa.bounds(tokenizer, language="bab|a", n_bytes=4)


def test_all_short_texts_are_paths_and_within_the_bounds(tmp_path: Path) -> None:
    seen = outcomes(random_file, range(8), tmp_path)
    assert min(seen["added"], seen["byte tokens"], seen["attained"]) >= 15, seen
    assert seen["not exact"] <= 1, seen


def test_all_short_texts_of_word_pieces_are_within_the_bounds(tmp_path: Path) -> None:
    seen = outcomes(random_wordpiece, range(10), tmp_path)
    assert seen["attained"] >= 15, seen
    assert seen["not exact"] <= 15, seen


LANGUAGES = ["[abx]+", "a[abx]*", "[ab]+[bx]", "(ab|x)+", "[abx]+( [ab]+)?", "x [abx]+", "([ab]+ )+x", "[ab]{1,3}"]


def languages_compared(seeds: range, folder: Path) -> dict[str, int]:
    """Compare the most tokens of languages with all words of up to three letters, the longest that are known."""
    seen = {"exact": 0, "bounded only": 0, "infinite": 0, "whole words": 0}
    words = ["".join(word) for n in range(1, 4) for word in product("abx", repeat=n)]
    texts = [*words, *map(" ".join, product(words, repeat=2))]
    for seed in seeds:
        file = random_wordpiece(random.Random(seed))
        file["model"]["max_input_chars_per_word"] = 3
        path = folder / f"{seed}.json"
        path.write_text(json.dumps(file))
        tokenizer, library = tokdfa.load(path), tokenizers.Tokenizer.from_file(str(path))
        for language in LANGUAGES:
            members = [text for text in texts if re.fullmatch(language, text)]
            given = [library.encode(text, add_special_tokens=False) for text in members]
            counts = [len(found.ids) for found in given if 0 not in found.ids]
            try:
                tokens = tokdfa.bounds(tokenizer, language=language).tokens
            except (LimitExceededError, PatternError):
                assert not counts, (seed, language)
                continue
            assert tokens is not None
            found = library.encode(tokens.most.text, add_special_tokens=False).ids
            assert tokens.most.ids == tuple(found)
            assert 0 not in found
            if tokens.most.value is None:
                assert language == "([ab]+ )+x", seed
                seen["infinite"] += 1
                continue
            assert tokens.most.value == len(found) <= max(counts), (seed, language)
            assert tokens.most.proved is not None, (seed, language)
            assert tokens.most.proved >= max(counts), (seed, language)
            seen["exact" if tokens.most.is_exact else "bounded only"] += 1
            seen["whole words"] += tokens.most.value >= 3
    return seen


def test_words_of_limited_length_limit_the_tokens_of_languages(tmp_path: Path) -> None:
    seen = languages_compared(range(6), tmp_path)
    assert min(seen["exact"], seen["bounded only"], seen["infinite"], seen["whole words"]) >= 3, seen


@pytest.mark.slow
def test_words_of_limited_length_limit_the_tokens_of_many_languages(tmp_path: Path) -> None:
    seen = languages_compared(range(1000, 1200), tmp_path)
    assert min(seen["exact"], seen["bounded only"], seen["infinite"], seen["whole words"]) >= 50, seen


def pairs_compared(draws: tuple[Draw, Draw], seeds: range, folder: Path) -> dict[str, int]:
    """Compare the most tokens of another tokenizer with all short texts; return how many cases there were of each kind.

    Where a part of a text is repeated, its ratio is of two texts of the library.
    """
    seen = {"attained": 0, "approached": 0, "above 1": 0, "proved": 0, "bounded only": 0, "no text": 0}
    for seed in seeds:
        source, loaded, libraries = random.Random(seed), [], []
        for number, draw in enumerate(draws):
            path = folder / f"{seed}-{number}.json"
            path.write_text(json.dumps(draw(source)))
            loaded.append(tokdfa.load(path))
            libraries.append(tokenizers.Tokenizer.from_file(str(path)))
        given = [canonical(each, {*of.control_ids.tolist()}) for each, of in zip(libraries, loaded, strict=True)]
        ratios = [Fraction(len(given[1][text]), len(ids)) for text, ids in given[0].items() if text in given[1]]
        try:
            found = tokdfa.bounds(loaded[0], other=loaded[1], max_seconds=2.0).other
        except LimitExceededError:
            assert not ratios, seed
            seen["no text"] += 1
            continue
        assert found is not None
        assert found.value is not None
        assert found.proved is not None
        assert max(ratios, default=0) <= found.proved, (seed, found)
        texts = [found.text]
        if found.repeated is not None:
            at = found.text.index(found.repeated)
            texts = [found.text[:at] + found.repeated * times + found.text[at:] for times in (8, 16)]
        counts = [[len(each.encode(text, add_special_tokens=False).ids) for each in libraries] for text in texts]
        first, last = (counts[0], counts[1]) if found.repeated is not None else ([0, 0], counts[0])
        assert found.value == Fraction(last[1] - first[1], last[0] - first[0]), (seed, found)
        seen["approached" if found.repeated is not None else "attained"] += 1
        seen["above 1"] += found.value > 1
        seen["proved" if found.is_exact else "bounded only"] += 1
    return seen


def test_short_texts_have_no_more_tokens_of_another_tokenizer(tmp_path: Path) -> None:
    seen = pairs_compared((random_file, random_file), range(20), tmp_path)
    assert min(seen["attained"], seen["approached"], seen["above 1"], seen["proved"]) >= 1, seen


@pytest.mark.slow
@pytest.mark.parametrize("draws", [(random_file, random_file), (random_file, random_wordpiece)])
def test_many_pairs_have_no_more_tokens_of_another_tokenizer(draws: tuple[Draw, Draw], tmp_path: Path) -> None:
    seen = pairs_compared(draws, range(1000, 1500), tmp_path)
    assert min(seen["attained"], seen["above 1"], seen["proved"]) >= 20, seen


@pytest.mark.slow
def test_short_texts_of_many_word_pieces_are_within_the_bounds(tmp_path: Path) -> None:
    seen = outcomes(random_wordpiece, range(1000, 1300), tmp_path)
    assert seen["attained"] >= 500, seen
    assert seen["not exact"] <= seen["attained"] // 3, seen


@pytest.mark.slow
def test_short_texts_of_many_tokenizers_are_within_the_bounds(tmp_path: Path) -> None:
    seen = outcomes(random_file, range(1000, 1500), tmp_path)
    assert min(seen["added"], seen["byte tokens"], seen["attained"]) >= 500, seen
    assert seen["not exact"] <= seen["attained"] // 20, seen
