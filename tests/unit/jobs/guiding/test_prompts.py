"""Guides after a prompt, healed or not, are all canonical streams that go on after it; covers are their beginnings."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
import regex
import tokenizers

import tokdfa
from tests.support.guided import (
    Guided,
    check_against,
    guided,
    guided_by_sentencepiece,
    guided_in_form,
    guided_over_characters,
    guided_with_runs,
    guided_with_strips,
    some_languages,
)
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, as_bytes
from tokdfa.base.errors import PatternError, TokenStreamError, WrongTypeError

TOKENIZER = tokdfa.default_tokenizer()


MAKERS = [guided, guided_in_form, guided_over_characters, guided_with_runs, guided_with_strips, guided_by_sentencepiece]


@pytest.mark.parametrize(("make", "n"), [*zip(MAKERS, (16, 8, 10, 9, 12, 6), strict=True)])
def test_streams_after_a_prompt_are_canonical_as_one_text(make: Callable[..., Guided], n: int, tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    for seed in seeds(n):
        made, source = make(seed, tmp_path), random.Random(seed)
        languages = some_languages(source, made.symbols)[::2]
        alone = ["".join(source.choices(made.symbols, k=3)) for _ in range(4)]
        for language, texts in [*languages, *((regex.escape(text), [text]) for text in alone)]:
            for _ in range(4):
                met += check_prompt(made, made.prompt(source), language, texts)
    assert met["kept"] > 1000, met
    assert met["healed"] > 1000, met
    assert met["shared"] > 200, met
    assert (met["none"] > 5, met["dropped"] > 500) == (make != guided, make != guided), met
    assert met["refused"] > 0
    assert met["given back"] > 3, met


def check_prompt(made: Guided, prompt: list[int], language: str, texts: list[str]) -> Counter[str]:
    """Compare guides after a prompt with the ids of all texts of a language behind its text."""
    met: Counter[str] = Counter()
    before = made.tokenizer.decode(prompt)
    streams = [made.encode(before + text) for text in texts if made.keeps(before + text)]
    met["dropped"] += len(texts) - len(streams)
    kept = {tuple(stream[len(prompt) :]) for stream in streams if stream[: len(prompt)] == prompt}
    if kept:
        guide = tokdfa.guide(made.tokenizer, language, prompt=prompt)
        assert guide.kept.tolist() == prompt
        assert guide.given_back == b""
        met["kept"] += check_against(guide, kept)
        if len(prompt) == 1:
            # A guide serves all prompts, whichever it was made for.
            with suppress(PatternError):
                shared = tokdfa.guide(made.tokenizer, language)
                met["shared"] += check_against(shared, kept, shared.after_prompt(prompt))
    else:
        with pytest.raises(
            PatternError, match=r"^no text of the language can (follow the prompt so that its ids remain|be encoded)"
        ):
            tokdfa.guide(made.tokenizer, language, prompt=prompt)
        met["refused"] += 1
    if not streams:
        with pytest.raises(PatternError, match=r"^no text of the language can "):
            tokdfa.guide(made.tokenizer, language, prompt=prompt, heal=True)
        met["none"] += 1
        return met
    # As many ids remain as all streams begin with.
    differing = (n for n, id in enumerate(prompt) if any(stream[n : n + 1] != [id] for stream in streams))
    n_kept = next(differing, len(prompt))
    guide = tokdfa.guide(made.tokenizer, language, prompt=prompt, heal=True)
    assert guide.kept.tolist() == prompt[:n_kept]
    # Decoding may remove a space before the text.
    expected = made.tokenizer.decode_bytes(prompt[n_kept:])
    assert guide.given_back in (expected, b" " + expected)
    met["healed"] += check_against(guide, {tuple(stream[n_kept:]) for stream in streams})
    met["given back"] += n_kept < len(prompt)
    return met


@pytest.mark.parametrize("seed", range(4))
def test_covers_are_the_beginnings_of_all_texts_that_begin_so(seed: int, tmp_path: Path) -> None:
    tokenizer, encode, symbols, *_ = guided(2 * seed, tmp_path)
    source = random.Random(seed)
    n_long = 0
    chosen = source.sample(symbols, 5)
    for _ in range(6):
        text = "".join(source.choices(chosen, k=source.randrange(1, 4)))
        data = text.encode()[: source.randrange(1, 9)]
        known = data.decode(errors="ignore")
        expected = set()
        for rest in (word for n in range(4) for word in product(symbols, repeat=n)):
            stream = encode(known + "".join(rest))
            spelled = tokenizer.decode_bytes(stream)
            if spelled.startswith(data):
                n_ids = next(n for n in range(len(stream) + 1) if len(tokenizer.decode_bytes(stream[:n])) >= len(data))
                expected.add(tuple(stream[:n_ids]))
        covers = tokdfa.covers(tokenizer, data)
        found = [tuple(ids.tolist()) for ids in covers]
        assert len(found) == len(set(found)) == covers.n
        assert expected <= set(found)
        for ids in set(found) - expected:
            # Others end in texts that were not tried; each is the beginning of the ids of some text.
            guide = tokdfa.guide(tokenizer, prompt=ids)
            whole = [*ids, *guide.shortest(guide.initial).tolist()]
            assert encode(tokenizer.decode(whole)) == whole
            assert tokenizer.decode_bytes(ids).startswith(data)
            assert not tokenizer.decode_bytes(ids[:-1]).startswith(data)
        n_long += sum(len(ids) > 1 for ids in expected)
    assert n_long > 2


def test_covers_come_in_the_order_of_their_ids() -> None:
    for text in ("man", "of a", "th"):
        found = [ids.tolist() for ids in tokdfa.covers(TOKENIZER, text)]
        assert found == sorted(found)


def test_covers_of_nothing_and_after_a_prompt() -> None:
    assert [ids.tolist() for ids in tokdfa.covers(TOKENIZER, "")] == [[]]
    after = tokdfa.covers(TOKENIZER, "le", prompt=TOKENIZER.encode("a sing"))
    assert all(TOKENIZER.decode(ids).startswith("le") for ids in after)
    assert TOKENIZER.encode("le").tolist() not in [ids.tolist() for ids in after]
    with pytest.raises(
        PatternError, match=r"^no text that begins so can follow the prompt so that its ids remain: b'le m"
    ):
        tokdfa.covers(TOKENIZER, "le man", prompt=TOKENIZER.encode("a sing"))
    with pytest.raises(WrongTypeError, match=r"^begins: the beginning of a text is a string or bytes: 3$"):
        tokdfa.covers(TOKENIZER, 3)  # type: ignore[arg-type]


def test_control_tokens_without_a_text_are_in_no_cover(tmp_path: Path) -> None:
    made = guided_by_sentencepiece(0, tmp_path)
    assert len(made.tokenizer.control_ids)
    covers = {tuple(ids.tolist()) for ids in tokdfa.covers(made.tokenizer, "ab")}
    assert covers
    assert not {*made.tokenizer.control_ids.tolist()} & {id for ids in covers for id in ids}


def test_a_special_token_of_the_prompt_is_never_given_back(tmp_path: Path) -> None:
    tokenizer, encode, *_ = guided(1, tmp_path)
    prompt = encode("a<|a|>")
    guide = tokdfa.guide(tokenizer, "a{1,3}", prompt=prompt, heal=True)
    assert guide.kept.tolist() == prompt
    guide = tokdfa.guide(tokenizer, "a{1,3}", prompt=[*prompt, *encode("a")], heal=True)
    assert guide.kept[: len(prompt)].tolist() == prompt


def test_the_text_after_a_special_token_begins_anew_with_a_space(tmp_path: Path) -> None:
    made = guided_over_characters(0, tmp_path)
    alone, after = (tokdfa.guide(made.tokenizer, "(ab|é)?|a b", prompt=prompt) for prompt in (None, [0]))
    assert after.kept.tolist() == [0]
    for text in "", "ab", "é", "a b":
        ids = made.encode(text)
        assert all(guide.is_final(guide.read(ids)) for guide in (alone, after))
    assert made.tokenizer.decode(ids) == "a b"
    # Decoded and encoded again, such a text would get another space.
    with pytest.raises(TokenStreamError, match=r"^token 1: no canonical stream of the language continues with this id"):
        made.tokenizer.guide().read([0, ids[0]])
    assert made.tokenizer.guide("ab<s><s>").forced(made.tokenizer.guide("ab<s><s>").initial)[-2:].tolist() == [0, 0]
    covers = tokdfa.covers(made.tokenizer, "a", prompt=[0])
    assert covers.n > 1
    assert all(made.tokenizer.decode(ids).startswith("a") for ids in covers)
    assert not any(made.tokenizer.decode_bytes([0, *ids.tolist()[:-1]]).endswith(b"a") for ids in covers)


def test_text_after_a_token_that_takes_white_space_gets_one_space(tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    for seed in seeds(30):
        made, source = guided_with_strips(seed, tmp_path), random.Random(seed)
        taking = [special for special in made.tokenizer.found_specials if special.rstrip]
        if not (made.is_anew and taking):
            continue
        for language, texts in some_languages(source, made.symbols)[::2] * 3:
            before = source.choice(["", *made.symbols]) + source.choice(taking).content
            prompt = made.encode(before)
            if not made.keeps(before) or made.encode(before + "x")[:-2] != prompt:
                continue
            specials, n, kept = {*made.tokenizer.special_ids.tolist()}, len(prompt), list[list[int]]()
            for text in texts:
                # The space that decoding shows before a text is taken, and put there again.
                ids = made.encode(before + text)
                is_put = len(ids) > n and ids[n] not in specials
                kept += [ids] * (made.tokenizer.decode(ids) == before + " " * is_put + text)
            expected = {tuple(ids[n:]) for ids in kept if ids[:n] == prompt}
            guide = tokdfa.guide(made.tokenizer, language, prompt=prompt)
            met["after it"] += check_against(guide, expected)
            with suppress(PatternError):
                shared = tokdfa.guide(made.tokenizer, language)
                met["shared"] += check_against(shared, expected, shared.after_prompt(prompt))
            met["dropped"] += len(texts) - len(expected)
    assert met["after it"] > 300, met
    assert met["shared"] > 300, met
    assert met["dropped"] > 100, met


def test_a_space_shown_after_a_token_that_takes_it_belongs_to_the_text_given_back(tmp_path: Path) -> None:
    guided_over_characters(0, tmp_path)
    file = json.loads((tmp_path / "characters0.json").read_text("utf-8"))
    file["added_tokens"] = [added_token(len(file["model"]["vocab"]), "b a", rstrip=True)]
    tokenizer, library = tokdfa.load(as_bytes(file)), tokenizers.Tokenizer.from_str(json.dumps(file))
    made = Guided(tokenizer, lambda text: library.encode(text).ids, [])
    prompt = made.encode("b a b")
    guide = tokdfa.guide(tokenizer, " a|a", prompt=prompt, heal=True)
    # "b a b a" has the token twice, without the space that was given back.
    check_against(guide, {tuple(made.encode("b a ba")[len(guide.kept) :])})
    assert made.encode("b a b a") == prompt[:1] * 2


def test_a_prompt_may_have_spaces_of_its_own_after_a_special_token(tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    for seed in 4, 9:
        made = guided_over_characters(seed, tmp_path)  # Puts a space where none is, after special tokens, too
        for text in ("".join(symbols) for symbols in product(" a<", repeat=2)):
            prompt = made.encode("b<s> " + text)
            for texts in [["", " a"], ["ab", "  b"]]:
                met += check_prompt(made, prompt, "|".join(texts), texts)
    assert met["kept"] > 20, met
    assert met["healed"] > 20, met


def test_texts_that_can_only_follow_others_need_a_prompt(tmp_path: Path) -> None:
    made = guided_over_characters(2, tmp_path)  # Removes the space at the beginning of a text, and puts none
    with pytest.raises(PatternError, match=r"^no text of the language can be encoded: .*after_prompt takes others\)$"):
        tokdfa.guide(made.tokenizer, " a{1,2}")
    texts, prompts = [" a", " aa"], [made.encode("b"), made.encode("'b")]
    guide = tokdfa.guide(made.tokenizer, " a{1,2}", prompt=prompts[0])
    for prompt in prompts:
        wholes = [made.encode(made.tokenizer.decode(prompt) + text) for text in texts]
        expected = {tuple(ids[len(prompt) :]) for ids in wholes if ids[: len(prompt)] == prompt}
        assert check_against(guide, expected, guide.after_prompt(prompt)) > 1
    with pytest.raises(PatternError, match=r"^no text of the language can follow the prompt so that its ids remain"):
        guide.after_prompt([])


def test_what_is_banned_is_banned_after_a_control_token_too() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"ac": 257}
    tokenizer = tokdfa.load(ranks, pretokenizer="gpt2", specials={"<|end|>": 258})
    guide = tokdfa.guide(tokenizer, prompt=tokenizer.encode("a"), heal=True, ban=tokdfa.ban(tokenizer, ["b"]))
    assert guide.given_back == b"a"
    assert guide.allowed(guide.initial).tolist() == [97, 257]
    # The text given back does not come again.
    after = guide.allowed(guide.read([97, 258])).tolist()
    assert {99, 257, 258} <= set(after)
    assert {98, 256}.isdisjoint(after)


def is_free(made: Guided, stream: list[int], n_prompt: int, banned: str) -> bool:
    """Whether a stream has no banned text after the bytes of a prompt; control tokens end texts."""
    texts = [b""]
    for id in stream:
        data = made.tokenizer.decode_bytes([id])
        skipped = min(n_prompt, len(data))
        n_prompt -= skipped
        if id in made.tokenizer.control_ids:
            texts.append(b"")
        else:
            texts[-1] += data[skipped:]
    return not any(banned.encode() in text for text in texts)


@pytest.mark.parametrize("seed", range(1, 9, 2))
def test_a_control_token_may_begin_in_text_given_back_whatever_is_banned(seed: int, tmp_path: Path) -> None:
    made, source, n_across = guided(seed, tmp_path), random.Random(seed), 0
    for text in ("<|", "a<|", "'", "\n<", "ab") * 3:
        rests = [
            "b",
            "|>",
            "a|>",
            "|a|>",
            *("".join(source.choices(made.symbols, k=source.randrange(4))) for _ in "1234"),
        ]
        texts, banned, prompt = (
            list(map("".join, product(rests, ["", "a", "b"]))),
            source.choice("ab"),
            made.encode(text),
        )
        every = [made.encode(text + rest) for rest in texts]
        streams = [stream for stream in every if is_free(made, stream, len(text), banned)]
        n_kept = next((n for n, id in enumerate(prompt) if any(each[n] != id for each in streams)), len(prompt))
        options = {"prompt": prompt, "heal": True, "ban": tokdfa.ban(made.tokenizer, [banned])}
        guide = tokdfa.guide(made.tokenizer, "|".join(map(regex.escape, texts)), **options)
        assert guide.kept.tolist() == prompt[:n_kept]
        check_against(guide, {tuple(stream[n_kept:]) for stream in streams})
        n_across += any(stream[0] in made.tokenizer.control_ids for stream in streams if text != "ab")
    assert n_across > 3


def test_prompts_that_are_refused() -> None:
    with pytest.raises(
        TokenStreamError, match=r"^token 2 of the prompt: the prompt is not canonical from this id on: "
    ):
        TOKENIZER.guide(prompt=[64, 261, 1193])
    with pytest.raises(TokenStreamError, match=rf"^token 1: id out of range: {TOKENIZER.n_ids}"):
        TOKENIZER.guide(prompt=[64, TOKENIZER.n_ids])
    with pytest.raises(WrongTypeError, match=r"^heal: only the ids of a prompt can be given back: True$"):
        TOKENIZER.guide("a", heal=True)
    with pytest.raises(PatternError, match=r"remain: 'le man' \(heal=True gives the last ids back\)$"):
        TOKENIZER.guide("le man", prompt=TOKENIZER.encode("a sing"))
    with pytest.raises(PatternError, match=r"^no text of the language can follow the prompt: 'a'$"):
        # The prompt ends within a character.
        TOKENIZER.guide("a", prompt=TOKENIZER.encode("\u4e2d")[:1], heal=True)
