"""Bans: by brute force over all sequences of small tokenizers, and along random streams of a real one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex

import tokdfa
from tests.support.guided import (
    Guided,
    check_against,
    guided_by_sentencepiece,
    guided_over_characters,
    guided_with_any_parts,
    guided_with_runs,
    some_languages,
)
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, as_bytes, tiktoken_lines, tokenizer_json
from tokdfa.base.errors import PatternError, TokenStreamError, UnsupportedFeatureError, WrongTypeError

tokenizers = pytest.importorskip("tokenizers")

TOKENIZER = tokdfa.default_tokenizer()
TEXT = "a single man in possession of a good fortune, must be in want of a wife"


def small(path: Path, words: list[bytes]) -> tokdfa.Tokenizer:
    """A tokenizer with some tokens more than the bytes."""
    ranks = {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *words])}
    path.write_bytes(tiktoken_lines(ranks))
    tokenizer = tokdfa.load(path, pretokenizer="gpt2_tiktoken")
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    return tokenizer


@pytest.mark.parametrize("seed", range(6))
def test_all_sequences_of_a_few_ids(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    text = "abé a中bab中 é".encode()
    tokens = [*dict.fromkeys(text[at : at + source.randint(2, 4)] for at in range(len(text) - 2))]
    tokenizer = small(tmp_path / "small.tiktoken", tokens)
    words = [text[at : at + source.randint(1, 5)] for at in source.sample(range(len(text) - 1), 3)]
    ban = tokdfa.ban(tokenizer, words)
    chosen = [*source.sample(range(256, tokenizer.n_ids), 5), *source.sample([*text], 3)]
    for ids in product(chosen, repeat=3):
        data = [tokenizer.decode_bytes([id]) for id in ids]
        state: int | None = ban.initial
        for place in range(3):
            assert state is not None
            is_banned = any(word in b"".join(data[: place + 1]) for word in words)
            allowed = ids[place] in ban.allowed(state).tolist()
            state = ban.step(state, ids[place])
            assert (state is None) == is_banned, (words, data)
            assert allowed != is_banned
            if state is None:
                break
            assert ban.is_final(state)
    for state in range(1, len(ban.machine.final)):
        assert ban.allowed(state).tolist() == [id for id in range(tokenizer.n_ids) if ban.step(state, id)]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [(r"ab+c?", None), (r"\bab\b", None), (r"(?i)é", None), (r"^a|b$", None), (r"a\b", ["a ", "aé"]), ("中b", ["aa"])],
)
def test_patterns_by_brute_force(pattern: str, words: list[str] | None, tmp_path: Path) -> None:
    tokenizer = small(tmp_path / "small.tiktoken", [b"ab", b"b ", b"\xc3\xa9a", b"\xb8\xadb", b"bab", b"\xc3\x89"])
    symbols = ["a", "b", " ", "é", "É", "中"]
    ban = tokdfa.ban(tokenizer, words, pattern=pattern)

    def is_banned(text: str) -> bool:
        return regex.search(pattern, text) is not None or any(word in text for word in words or ())

    good = {text for n in range(6) for chosen in product(symbols, repeat=n) if not is_banned(text := "".join(chosen))}
    n_refused = 0
    for text in ("".join(chosen) for n in range(1, 4) for chosen in product(symbols, repeat=n)):
        data = text.encode()
        cuts = [0, *sorted({random.Random(text).randint(1, len(data)) for _ in range(3)}), len(data)]
        for ids in (list(data), tokenizer.encode(data[cuts[1] :].decode("utf-8", "ignore")).tolist()):
            read = b"".join(tokenizer.decode_bytes([id]) for id in ids).decode()
            try:
                state = ban.read(ids)
            except TokenStreamError:
                # No text without a match continues so.
                assert not any(other.startswith(read) for other in good if len(other) <= len(read) + 2), read
                n_refused += 1
                continue
            assert ban.is_final(state) == (not is_banned(read)), read
    assert n_refused > 0


def test_words_that_begin_and_end_within_tokens() -> None:
    ids = TOKENIZER.encode(TEXT).tolist()
    data = TEXT.encode()
    starts = np.cumsum([0, *(len(TOKENIZER.decode_bytes([id])) for id in ids)]).tolist()
    source = random.Random(0)
    for _ in range(30):
        begin = source.randrange(len(data) - 8)
        word = data[begin : begin + source.randint(1, 8)]
        ban = tokdfa.ban(TOKENIZER, [word])
        place = next(place for place, stop in enumerate(starts[1:]) if stop >= data.find(word) + len(word))
        with pytest.raises(TokenStreamError, match=rf"^token {place}: the text up to this id has what is banned: "):
            ban.read(ids)
        state = ban.read(ids[:place])
        assert ids[place] not in ban.allowed(state).tolist()


def test_thousands_of_words_along_random_streams() -> None:
    source = random.Random(1)
    words = {"".join(source.choices("abcdefghij é", k=source.randint(3, 7))).encode() for _ in range(3_000)}
    ban = tokdfa.ban(TOKENIZER, words)
    spelled = [TOKENIZER.decode_bytes([id]) for id in range(TOKENIZER.n_ids)]
    longest = max(map(len, words))
    n_banned = 0
    for _ in range(2):
        state, data = ban.initial, b""
        for _ in range(7):
            tail = data[-longest:]
            expected = [
                id
                for id, token in enumerate(spelled)
                if not any(
                    (tail + token)[at:end] in words
                    for at in range(len(tail) + len(token))
                    for end in range(max(at + 3, len(tail) + 1), min(at + longest, len(tail) + len(token)) + 1)
                )
            ]
            assert ban.allowed(state).tolist() == expected
            n_banned += TOKENIZER.n_ids - len(expected)
            id = source.choice([id for id in source.sample(expected, 9) if spelled[id].isascii()] or expected)
            following = ban.step(state, id)
            assert following is not None
            state, data = following, data + spelled[id]
    assert n_banned > 50


def test_special_tokens_have_no_text(tmp_path: Path) -> None:
    file = tokenizer_json([(b"a", b"b")])
    file["added_tokens"] = [added_token(len(file["model"]["vocab"]), "<|a|>")]
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(file))
    tokenizer = tokdfa.load(path)
    (special,) = tokenizer.special_ids.tolist()
    ban = tokdfa.ban(tokenizer, ["aa", "|a|"])
    first = tokenizer.encode("a").tolist()
    assert ban.step(ban.read(first), first[0]) is None
    state = ban.read([*first, special, *first])
    assert special in ban.allowed(state).tolist()
    guide = tokenizer.guide(ban=ban)
    assert guide.step(guide.read([*first, special]), first[0]) is not None


def test_guides_with_bans_have_no_dead_ends(tmp_path: Path) -> None:
    tokenizer = small(tmp_path / "small.tiktoken", [b"ab", b"ba", b"aba", b" a"])
    language, banned = "[ab ]{4}", ["bb", "aba", " a"]
    guide = tokenizer.guide(language, ban=tokdfa.ban(tokenizer, banned))
    texts = ["".join(chosen) for chosen in product("ab ", repeat=4)]
    streams = {tuple(tokenizer.encode(text).tolist()) for text in texts if not any(word in text for word in banned)}
    found = set()
    stack = [((), guide.initial)]
    while stack:
        ids, state = stack.pop()
        allowed = guide.allowed(state).tolist()
        assert allowed or guide.is_final(state)
        if guide.is_final(state):
            found.add(ids)
        for id in allowed:
            target = guide.step(state, id)
            assert target is not None
            stack.append(((*ids, id), target))
    assert found == streams
    with pytest.raises(PatternError, match=r"^every text of the language has what is banned: '\[ab\]\{4\}'$"):
        tokenizer.guide("[ab]{4}", ban=tokdfa.ban(tokenizer, ["a", "b"]))
    anything = tokenizer.guide(ban=tokdfa.ban(tokenizer, banned))
    assert anything.step(anything.read([98]), 98) is None
    with pytest.raises(WrongTypeError, match=r"^ban: a ban is what tokdfa.ban\(tokenizer, words\) returns: 'bb'$"):
        tokenizer.guide(ban="bb")


def test_where_nothing_is_left_that_is_said(tmp_path: Path) -> None:
    tokenizer = small(tmp_path / "small.tiktoken", [b"ab"])
    everything = [bytes([byte]) for byte in range(256)]
    ban = tokdfa.ban(tokenizer, everything)
    assert ban.is_exhausted(ban.initial)
    assert ban.is_final(ban.initial)
    assert ban.allowed(ban.initial).tolist() == []
    with pytest.raises(TokenStreamError, match=r"^every id is banned in this state: 1 \(give end=\.\.\., the ids that"):
        ban.mask(ban.initial)
    matcher = tokdfa.Matcher(tokdfa.ban(tokenizer, everything, end=300, vocab_size=301))
    row = np.zeros(10, dtype=np.int32)
    matcher.fill_bitmask(row)
    assert np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist() == [300]
    assert matcher.accept_tokens([300])
    assert matcher.is_terminated()


def test_bad_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(PatternError, match=r"^there is nothing to ban: give words, or a pattern$"):
        tokdfa.ban(TOKENIZER)
    with pytest.raises(PatternError, match=r"^there is nothing to ban: there are no words$"):
        tokdfa.ban(TOKENIZER, [])
    with pytest.raises(PatternError, match=r"^word 1: a word is empty, so every text has it$"):
        tokdfa.ban(TOKENIZER, ["a", ""])
    with pytest.raises(WrongTypeError, match=r"^words are several, as in a list: 'abc'$"):
        tokdfa.ban(TOKENIZER, "abc")
    with pytest.raises(WrongTypeError, match=r"^word 0: a word is a string or bytes: 3$"):
        tokdfa.ban(TOKENIZER, [3])  # type: ignore[list-item]
    with pytest.raises(PatternError, match=r"^word 0: a word is not UTF-8: '\\ud800'$"):
        tokdfa.ban(TOKENIZER, ["\ud800"])
    with pytest.raises(WrongTypeError, match=r"^a pattern is a string: 3$"):
        tokdfa.ban(TOKENIZER, pattern=3)  # type: ignore[arg-type]
    with pytest.raises(PatternError, match=r"^pattern, offset 1: the closing parenthesis has no opening one"):
        tokdfa.ban(TOKENIZER, pattern="a)|(b")
    with pytest.raises(PatternError, match=r"^every text has a match of the pattern: 'a\*'$"):
        tokdfa.ban(TOKENIZER, pattern="a*")
    with pytest.raises(WrongTypeError, match=r"^the ban has no such state: 99$"):
        tokdfa.ban(TOKENIZER, ["a"]).mask(99)
    with pytest.raises(TokenStreamError, match=r"^no token has this id: -1$"):
        tokdfa.ban(TOKENIZER, ["a"]).step(1, -1)
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\na\n##b\n", encoding="utf-8")
    with pytest.raises(UnsupportedFeatureError, match=r"^the text of ids is not the text of each, one after the other"):
        tokdfa.ban(tokdfa.load(vocab), ["a"])


def with_added_tokens(drawn: random.Random) -> tuple[tokdfa.Tokenizer, dict[int, str], set[int]]:
    """A small tokenizer with added tokens, some overlapping; their contents by id, and the control ids."""
    file = tokenizer_json([(b"a", b"b"), (b"<", b"a")])
    first = len(file["model"]["vocab"])
    overlapping = ["<a>", "a>b", "<ab>", "\n", "b<", "<>"]
    contents = drawn.sample(overlapping, 4) if drawn.random() < 0.5 else ["<a>", "\n"]
    file["added_tokens"] = [
        added_token(first + number, content, special=drawn.random() < 0.4, normalized=drawn.random() < 0.5)
        for number, content in enumerate(contents)
    ]
    tokenizer = tokdfa.load(as_bytes(file))
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    added = {token["id"]: token["content"] for token in file["added_tokens"]}
    return tokenizer, added, {token["id"] for token in file["added_tokens"] if token["special"]}


@pytest.mark.parametrize("seed", range(8))
def test_added_tokens_that_are_text_are_banned_like_text(seed: int) -> None:
    """The text between control tokens never has a banned word or a match, alone and in a guide."""
    drawn = random.Random(seed)
    tokenizer, added, controls = with_added_tokens(drawn)
    words = drawn.sample(["<a>", "a>", "b<a", "a\n", "<ab", ">b", "aa"], 2)
    pattern = drawn.choice([None, None, "b$", "a<+b", r"\bab"])
    ban = tokdfa.ban(tokenizer, words, pattern=pattern)
    try:
        guide = tokenizer.guide(ban=ban)
    except UnsupportedFeatureError:  # overlapping added tokens have none
        guide = None
    letters = [tokenizer.encode(letter).tolist()[0] for letter in "ab>"]
    texts = {**added, **{id: tokenizer.decode([id]) for id in letters}}
    n_banned = n_within = 0
    for ids in product(texts, repeat=3):
        parts = "".join("\0" if id in controls else texts[id] for id in ids).split("\0")
        has_word = any(word in part for part in parts for word in words)
        has_match = pattern is not None and any(regex.search(pattern, part) for part in parts)
        state: int | None = ban.initial
        for id in ids:
            allowed = state is not None and id in ban.allowed(state).tolist()
            state = None if state is None else ban.step(state, id)
            assert allowed == (state is not None)
        assert (state is not None and ban.is_final(state)) != (has_word or has_match), (ids, parts, words, pattern)
        n_banned += has_word
        n_within += any(word in added.get(id, "") and id not in controls for id in ids for word in words)
        if guide is not None and tokenizer.validate(ids):
            place = guide.initial
            for id in ids:
                place = None if place is None else guide.step(place, id)
            assert (place is not None and guide.is_final(place)) != (has_word or has_match), (ids, words, pattern)
    assert n_banned > 5
    assert n_within or not any(word in text for id, text in added.items() if id not in controls for word in words)


@pytest.mark.parametrize("seed", range(8))
def test_guides_with_bans_have_all_streams_without_banned_text(seed: int) -> None:
    """The finished streams are the language's streams without a banned word between control tokens, by brute force."""
    drawn = random.Random(seed)
    file = tokenizer_json([(b"a", b"b"), (b"x", b"<")])
    first, contents = len(file["model"]["vocab"]), ["<|e|>", "<t>"]
    flags = [drawn.random() < 0.7 for _ in contents]
    file["added_tokens"] = [
        added_token(first + number, content, special=flag)
        for number, (content, flag) in enumerate(zip(contents, flags, strict=True))
    ]
    tokenizer, library = tokdfa.load(as_bytes(file)), tokenizers.Tokenizer.from_str(as_bytes(file).decode())
    every = ["".join(chosen) for n in range(4) for chosen in product(["a", "b", "x", *contents], repeat=n)]
    texts = drawn.sample(every, drawn.randrange(1, 20))
    words = drawn.sample([">a", ">x", "ab", "b<", "a", "<t", "e|>", "xa", ">b", ">"], drawn.randrange(1, 3))
    streams = set()
    for text in texts:
        cut = text
        for content, is_control in zip(contents, flags, strict=True):
            cut = cut.replace(content, "\0") if is_control else cut
        if not any(word in part for part in cut.split("\0") for word in words):
            streams.add(tuple(library.encode(text).ids))
    ban, language = tokdfa.ban(tokenizer, words), "|".join(map(regex.escape, texts))
    if not streams:
        with pytest.raises(PatternError, match=r"^every text of the language has what is banned"):
            tokenizer.guide(language, ban=ban)
        return
    guide = tokenizer.guide(language, ban=ban)
    found = set()
    stack: list[tuple[tuple[int, ...], Any]] = [((), guide.initial)]
    while stack:
        ids, state = stack.pop()
        allowed = guide.allowed(state).tolist()
        assert allowed or guide.is_final(state), ids
        if guide.is_final(state):
            found.add(ids)
        stack += [((*ids, id), guide.step(state, id)) for id in allowed]
    assert found == streams


def test_a_control_token_may_be_the_only_way_to_an_end() -> None:
    file = tokenizer_json()
    end = len(file["model"]["vocab"])
    file["added_tokens"] = [added_token(end, "<|e|>")]
    tokenizer = tokdfa.load(as_bytes(file))
    a, b = (tokenizer.encode(letter).tolist() for letter in "ab")
    guide = tokenizer.guide(r"(?s:.*)<\|e\|>", ban=tokdfa.ban(tokenizer, ["<", ">", "aa"]))
    assert guide.is_final(guide.read([*a, *b, end, *a, end]))
    assert guide.step(guide.read(a), a[0]) is None
    with pytest.raises(PatternError, match=r"^every text of the language has what is banned, needs symbols"):
        tokenizer.guide(r"a<\|e\|>b", ban=tokdfa.ban(tokenizer, pattern="^b"))


def test_a_tool_call_is_banned_by_its_id_and_by_every_other_spelling() -> None:
    file = tokenizer_json()
    first = len(file["model"]["vocab"])
    file["added_tokens"] = [
        added_token(first, "<|im_end|>"),
        added_token(first + 1, "<tool_call>", special=False),
        added_token(first + 2, "</tool_call>", special=False),
    ]
    tokenizer = tokdfa.load(as_bytes(file))
    ban = tokdfa.ban(tokenizer, ["<tool_call>"])
    assert ban.banned().tolist() == [first + 1]
    assert first + 1 not in ban.allowed(ban.initial)
    assert {first, first + 2} <= {*ban.allowed(ban.initial).tolist()}
    spelled = [tokenizer.encode(letter).tolist()[0] for letter in "<tool_call>"]
    state = ban.read(spelled[:-1])
    assert ban.step(state, spelled[-1]) is None
    assert ban.step(state, first) is not None


def texts_between_controls(tokenizer: tokdfa.Tokenizer, ids: list[int]) -> list[str]:
    controls, parts = {*tokenizer.control_ids.tolist()}, list[list[int]]([[]])
    for id in ids:
        if id in controls:
            parts.append([])
        else:
            parts[-1].append(id)
    return [tokenizer.decode(parts[0]), *map(tokenizer.later.decode, parts[1:])]


@pytest.mark.parametrize("make", [guided_over_characters, guided_with_runs, guided_by_sentencepiece])
def test_guides_with_bans_over_characters_have_all_other_streams(
    make: Callable[[int, Path], Guided], tmp_path: Path
) -> None:
    n_prefixes = n_less = 0
    for seed in range(5):
        made, drawn = make(seed, tmp_path), random.Random(seed)
        for language, texts in some_languages(drawn, made.symbols):
            words = ["".join(drawn.choices(made.symbols[:8], k=drawn.randrange(1, 3))) for _ in range(2)]
            streams = {tuple(made.encode(text)) for text in texts if made.keeps(text)}
            parts = {ids: texts_between_controls(made.tokenizer, [*ids]) for ids in streams}
            kept = {ids for ids in streams if not any(word in part for word in words for part in parts[ids])}
            ban = tokdfa.ban(made.tokenizer, words)
            n_prefixes += check_against(made.tokenizer.guide(language, ban=ban), kept) if kept else 0
            n_less += len(streams) - len(kept)
    assert n_prefixes > 300
    assert n_less > 40


def test_streams_over_characters_by_the_texts_that_the_library_decodes(tmp_path: Path) -> None:
    """Bans know the texts of ids also where guides are refused, as they do not ask how texts are encoded."""
    met: Counter[str] = Counter()
    for seed in seeds(24):
        made, dice = guided_with_any_parts(seed, tmp_path), random.Random(seed)
        library = tokenizers.Tokenizer.from_file(str(tmp_path / f"parts{seed}.json"))
        controls = {*made.tokenizer.control_ids.tolist()}
        texts = ["".join(dice.choices(made.symbols, k=dice.randrange(1, 4))) for _ in range(40)]
        ids = [id for text in texts for id in made.encode(text) if id not in controls]
        words = dice.sample(sorted({text for text in texts if text.strip(" \u2581")}), 3)
        inner = (id for id, string in enumerate(made.tokenizer.token_strings) if "\u2581" in string.lstrip("\u2581"))
        if any(" " not in library.decode([id], skip_special_tokens=False) for id in inner):
            # This decoder removes all spaces of the first id.
            with pytest.raises(UnsupportedFeatureError, match=r"^the text of ids is not the text of each, one after"):
                tokdfa.ban(made.tokenizer, words)
            met["refused"] += 1
            continue
        ban = tokdfa.ban(made.tokenizer, words)
        try:
            made.tokenizer.guide()
        except UnsupportedFeatureError:
            met["no guide"] += 1
        letter = made.encode("a")[-1]
        for _ in range(60):
            stream, state = dice.choices(ids, k=dice.randrange(1, 5)), ban.initial
            # Decoding may remove spaces at the beginning of a text.
            text = library.decode([letter, *stream], skip_special_tokens=False)[1:]
            if "\ufffd" in text:
                continue
            for id in stream:
                following = ban.step(state, id)
                if following is None:
                    break
                state = following
            is_banned = any(word in text for word in words)
            assert (following is None) == is_banned, (seed, words, text)
            met["banned" if is_banned else "free"] += 1
    assert met["banned"] > 50, met
    assert met["free"] > 300, met
    assert met["no guide"] > 3, met
