"""Tests for `tokdfa.jobs.splices.api`: the question about seams."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from random import Random
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.family_files import MANY_PARTS, with_form
from tests.support.random_seams import Oracle, least_pair, random_question
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.base.errors import PatternError, UnsupportedFeatureError
from tokdfa.jobs.splices.question import Splice, SplitTexts


def _agrees(seed: int, longest: int, met: Counter[str]) -> None:
    """Compare one answer with the result of trying all texts, and count the cases met."""
    question = random_question(Random(seed), longest)
    content = json.loads(question.content)
    model = content["model"]
    over = "bytes" if "\u0100" in model["vocab"] else "characters"
    try:
        verdict = tokdfa.splice(
            tokdfa.load(content),
            before=question.before,
            after=question.after,
            within_before=question.within,
            within_after=question.within,
            starts=question.starts,
        )
    except (UnsupportedFeatureError, PatternError) as refusal:
        error = str(refusal)
        met["undecided"] += 1
        met[next((reason for reason in _REASONS if reason in error), f"seed {seed}: {error}")] += 1
        return
    expected = least_pair(question)
    found = verdict.witness
    if found is not None and not found.shortest:
        # The question is not searched, or its texts distinguish spaces from their replacements, or may be normalized.
        assert expected is not None
        assert Oracle(question).differ(found.before, found.after), (seed, question)
        met["not shortest"] += 1
        return
    assert (None if found is None else (found.before, found.after)) == expected, (seed, question)
    answer = "yes" if verdict else "no"
    met[answer] += 1
    what = {
        over: True,
        "specials": bool(content["added_tokens"]),
        "whole pieces": model["ignore_merges"],
        "fallback to bytes": model["byte_fallback"],
        "unknown": model["unk_token"] is not None,
        "ends of words": model["end_of_word_suffix"] is not None,
        "a space first": _puts_a_space(content),
        "starts": question.starts,
        "NFC": content["normalizer"] == {"type": "NFC"},
    }
    met.update(f"{answer}: {name}" for name, is_there in what.items() if is_there)
    if found is not None:
        specials = {token["id"] for token in content["added_tokens"]}
        met["special across"] += len(specials & {*found.ids}) > len(specials & {*found.ids_before, *found.ids_after})
        met["more than two symbols"] += len(found.text) > 2


def _puts_a_space(content: dict[str, Any]) -> bool:
    before = json.dumps([content["normalizer"], content["pre_tokenizer"]])
    return any(part in before for part in ('"Prepend"', '"always"', '"first"', '"add_prefix_space": true'))


# Why a question about a small tokenizer may be refused.
_REASONS = (
    "no text of these languages is encoded",
    "unknown symbols of one piece may be in two pieces",
    "the space that is put before texts is unknown",
    "a character has a token only at the end of a piece",
    "may change when they are normalized",
)


def test_least_texts_of_random_small_tokenizers() -> None:
    met: Counter[str] = Counter()
    for seed in range(80):
        _agrees(seed, 3, met)
    for what in ("bytes", "characters", "specials", "whole pieces", "fallback to bytes", "unknown"):
        assert min(met[f"{answer}: {what}"] for answer in ("yes", "no")) > 1, met
    for what in ("bytes", "characters", "a space first", "starts"):
        assert min(met[f"{answer}: {what}"] for answer in ("yes", "no")) > 4, met
    assert met["no: ends of words"] > 2, met
    assert min(met["special across"], met["more than two symbols"]) > 2, met
    assert met["undecided"] < 8, met
    assert met["undecided"] == sum(met[reason] for reason in _REASONS), met


@pytest.mark.slow
def test_least_texts_of_many_small_tokenizers(tally: Tally) -> None:
    chosen, met = seeds(10_000), Counter[str]()
    for seed in chosen:
        _agrees(seed, 4, met)
    print(*sorted(met.items()), sep="\n")
    assert met["undecided"] + met["not shortest"] < max(len(chosen) / 8, 5)
    assert met["undecided"] == sum(met[reason] for reason in _REASONS)
    tally("splices", "random cases", len(chosen))


TOKENIZER = tokdfa.default_tokenizer()


def test_ids_of_one_side_may_be_given() -> None:
    given = TOKENIZER.encode("a single").tolist()
    found = tokdfa.splice(TOKENIZER, before_ids=given, after="s").witness
    assert found is not None
    assert (found.before, found.after, found.ids_before) == ("a single", "s", tuple(given))
    assert tokdfa.splice(TOKENIZER, before_ids=given, after=" ")
    assert tokdfa.splice(TOKENIZER, before="a", after_ids=TOKENIZER.encode(" man"))


def test_given_ids_that_are_not_canonical_are_not_what_encoding_gives() -> None:
    broken = [64, 261, 1193]  # a≀ s≀ingle
    found = tokdfa.splice(TOKENIZER, before_ids=broken, after=" man").witness
    assert found is not None
    assert found.shortest
    assert found.ids_before == tuple(broken)
    assert found.ids_before + found.ids_after != found.ids


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"before": "\ud800"}, r"^character 0 of before: half of a surrogate pair, which no text has: '\\ud800'$"),
        ({"after": "a\udfff"}, r"^character 1 of after: half of a surrogate pair, which no text has: '\\udfff'$"),
        ({"before": "(", "regex": True}, r"^before, offset 0: the group is not closed: '\('$"),
        ({"after": "a{2,1}", "regex": True}, r"^after, offset 1: min repeat greater than max repeat: '\{2,1\}'$"),
        ({"before": r"[^\s\S]", "regex": True}, r"^before: no text is in this language$"),
        ({"after": r"a$b", "regex": True}, r"^after: no text is in this language$"),
        ({"before": "a", "within_before": "b*"}, r"^before and within_before: no text is in this language$"),
        ({"after": "b", "within_after": "(b"}, r"^within_after, offset 0: the group is not closed: '\(b'$"),
        ({"before": "a", "before_ids": [64]}, r"^before: give the ids or the text, and not both: 'a'$"),
        ({"before_ids": [10**6]}, r"^token 0: id out of range: 1000000 \(ids go from 0 to 4095\)$"),
        ({"after_ids": [64, -1]}, r"^token 1: negative id: -1 \(ids go from 0 to 4095\)$"),
        ({"after_ids": [10**30]}, r"^token 0: ids must be integers of at most 64 bits: 10{30}$"),
        ({"before_ids": [0.5]}, r"^ids must be integers: 'float64'$"),
        ({"before_ids": [[64]]}, r"^ids must be in one dimension: \(1, 1\) "),
        ({"specials": "some"}, r"^specials: special tokens are found or plain: 'some'$"),
        ({"before": 7}, r"^before: a text is expected: 7$"),
        ({"table": "python", "before": "a", "regex": True}, r"^before: unknown table of character classes: 'python' "),
    ],
)
def test_bad_questions_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(tokdfa.TokdfaError, match=message):
        tokdfa.splice(TOKENIZER, **arguments)  # type: ignore[arg-type]


def test_special_tokens_that_do_not_exist_are_refused() -> None:
    tokenizer = tokdfa.load(tokenizer_json([]))
    with pytest.raises(PatternError, match=r"^after: the tokenizer has no such special token: '<\|ned\|>' \(.*\)$"):
        tokdfa.splice(tokenizer, before="<|end|>", after="<|ned|>")
    assert tokdfa.splice(tokenizer, before="<|end|>", after="<|ned|>", specials="plain")
    assert tokdfa.splice(tokenizer, before="<|end|>", after=r"<\|ned\|>", regex=True)


def test_texts_that_are_not_encoded_are_refused() -> None:
    content = tokenizer_json([], added_tokens=[], pre_tokenizer=None, decoder={"type": "Fuse"})
    content["model"] |= {"vocab": {"a": 0, "b": 1}, "merges": []}
    tokenizer = tokdfa.load(content)
    assert tokdfa.splice(tokenizer, before="a", after="b")
    with pytest.raises(PatternError, match=r"^before or after: no text of these languages is encoded$"):
        tokdfa.splice(tokenizer, before="c", after="b")


def test_special_tokens_are_found_or_plain() -> None:
    content = tokenizer_json([(b">", b"<"), (b"|", b">")])
    tokenizer = tokdfa.load(content)
    assert tokdfa.splice(tokenizer, before="<|end|>", after="<|end|>")
    assert not tokdfa.splice(tokenizer, before="<|end|>", after="<|end|>", specials="plain")
    found = tokdfa.splice(tokenizer, before="<|en", after="d|>").witness
    assert found is not None
    assert (found.before, found.after) == ("<|en", "d|>")


def test_a_normalization_crosses_the_seam_only_where_characters_compose() -> None:
    tokenizer = tokdfa.load(tokenizer_json([], normalizer={"type": "NFC"}))
    assert tokdfa.splice(tokenizer, before="\n")
    assert tokdfa.splice(tokenizer, before="a", after="b")
    found = tokdfa.splice(tokenizer, before="e", after="\u0301").witness
    assert found is not None
    assert (*found.ids_before, *found.ids_after) != found.ids
    assert found.ids == tuple(tokenizer.encode("\u00e9"))


def test_no_normalization_crosses_a_special_token_found_before() -> None:
    """Answers about random tokenizers with NFC and added tokens of all flags, against the library on random texts."""
    met: Counter[str] = Counter()
    for seed in range(12):
        drawn = Random(seed)
        fields = with_form(drawn, ["NFC"], prefix_space=False)
        for token in fields["added_tokens"]:
            token["normalized"] = drawn.random() < 0.5
        try:
            tokenizer = tokdfa.load(fields)
        except PatternError:
            met["pattern refused"] += 1
            continue
        library = tokenizers.Tokenizer.from_str(json.dumps(fields))
        contents = [token["content"] for token in fields["added_tokens"]] or ["é"]
        for _ in range(4):
            before, after = drawn.choice(contents), drawn.choice(["", "\u0301", "a", drawn.choice(contents)])
            pairs = [
                (before, after),
                (after, before),
                ("a" + before + "\n", after),
                ("e", "\u0301"),
                (before + "a", "b"),
            ]
            before, after = drawn.choice(pairs)
            try:
                found = tokdfa.splice(tokenizer, before=before, after=after)
            except tokdfa.TokdfaError:
                met["refused"] += 1
                continue
            witness = found.witness
            rest = ["", "\u0301", "\u0338", "\u0323\u0301", *drawn.choices(MANY_PARTS, k=6)]
            texts = [(one + before, after + other) for one, other in product(rest, repeat=2)]
            for u, v in texts if witness is None else [(witness.before, witness.after)]:
                ids = [library.encode(text, add_special_tokens=False).ids for text in (u, v, u + v)]
                assert (ids[0] + ids[1] == ids[2]) == bool(found), (seed, u, v)
            kind = "kept by a special token" if after in ("", "\u0301") or before in ("", "\u0301") else "kept"
            met["not kept" if witness else kind] += 1
    assert min(met["kept by a special token"], met["not kept"], met["kept"]) >= 2, met
    assert met["refused"] < 13, met


def test_what_is_not_searched_is_tried_and_then_refused() -> None:
    strips = tokdfa.load(tokenizer_json([], added_tokens=[{**added_token(256, "<x>"), "lstrip": True}]))
    found = tokdfa.splice(strips, before=" ", after="<x>").witness
    assert found is not None
    assert not found.shortest
    lower = tokdfa.load(tokenizer_json([], normalizer={"type": "Lowercase"}))
    with pytest.raises(tokdfa.TokdfaError, match="neither a proof nor two texts"):
        tokdfa.splice(lower, before="a", after="b")


def test_a_verdict_says_what_it_found() -> None:
    texts = SplitTexts("a", "s", (64,), (82,), (289,))
    assert texts.text == "as"
    assert Splice(False, texts).reason == "the shortest texts for which not: 'a' + 's', ids 64 + 82, as one text 289"
    some = SplitTexts("a", "s", (64,), (82,), (289,), shortest=False)
    assert Splice(False, some).reason.startswith("texts for which not: 'a' + 's'")
    assert Splice(True).reason.startswith("the ids of both texts, one after the other, are always those")
    assert Splice(True)
    assert not Splice(False, texts)
