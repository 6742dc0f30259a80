"""The methods of every tokenizer, called on one of each kind."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tokdfa
from tests.support.longest_prefix import LongestPrefix
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer, WordPieceTokenizer

KINDS = ["byte pairs", "normalized byte pairs", "WordPiece"]
ENTRIES = ["[UNK]", "a", "b", "ab", "##a", "##b", "##ab", ",", "[SEP]"]


@pytest.fixture(scope="module")
def each(tmp_path_factory: pytest.TempPathFactory) -> dict[str, AnyTokenizer]:
    folder = tmp_path_factory.mktemp("tokenizers")
    (folder / "vocab.txt").write_text("\n".join(ENTRIES) + "\n")
    (folder / "tokenizer.json").write_bytes(as_bytes(tokenizer_json(normalizer={"type": "NFC"})))
    loaded = (tokdfa.default_tokenizer(), tokdfa.load(folder / "tokenizer.json"), tokdfa.load(folder / "vocab.txt"))
    return dict(zip(KINDS, loaded, strict=True))


def test_there_is_one_of_each_kind(each: dict[str, AnyTokenizer]) -> None:
    assert [type(tokenizer) for tokenizer in each.values()] == [Tokenizer, Tokenizer, WordPieceTokenizer]
    assert [tokenizer.is_plain for tokenizer in each.values()] == [True, False, False]
    assert [tokenizer.algorithm for tokenizer in each.values()] == ["byte pair", "byte pair", "WordPiece"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_answered_fits_together(kind: str, each: dict[str, AnyTokenizer]) -> None:
    tokenizer = each[kind]
    ids = tokenizer.encode("ab, ab")
    text = tokenizer.decode(ids)
    assert tokenizer.decode_bytes(ids) == text.encode()
    assert tokenizer.encode(text).tolist() == ids.tolist()
    assert tokenizer.validate(ids)
    assert len(tokenizer.search("ab", ids)) == 2
    assert int(tokenizer.means_something.sum()) == tokenizer.n_tokens + len(tokenizer.special_ids)
    assert (
        len(tokenizer.means_something) == tokenizer.n_ids == len(tokenizer) == len(tokenizer.id_spellings.offsets) - 1
    )
    facts = json.loads(json.dumps(tokenizer.facts()))
    assert (facts["ids"], facts["tokens"], facts["format"]) == (tokenizer.n_ids, tokenizer.n_tokens, tokenizer.format)
    assert facts["fingerprint"] == tokenizer.fingerprint
    assert tokdfa.encode_batch(tokenizer, ["ab", ", ab"], threads=1).offsets[-1] > 0
    assert len(tokenizer.sizes) == 1
    assert tokenizer.name_of(int(ids[0])) == text[: len(tokenizer.name_of(int(ids[0])))].encode()


def test_what_ids_spell_by_place(each: dict[str, AnyTokenizer]) -> None:
    def spelled(tokenizer: AnyTokenizer, ids: list[int]) -> bytes:
        usual, varies, other, _ = tokenizer.spelled
        text = b""
        for place, id in enumerate(ids):
            is_other = {"": False, "first": place == 0, "last": place == len(ids) - 1}[varies]
            bytes_of, offsets = other if is_other and other is not None else usual
            text += bytes_of[offsets[id] : offsets[id + 1]].tobytes()
        return text

    for tokenizer in each.values():
        ids = tokenizer.encode("ab, ba b").tolist()
        assert len(ids) > 2
        assert spelled(tokenizer, ids) == tokenizer.decode_bytes(ids)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="ab,Ä\u0301 \n中q[SEP]", max_size=40), st.lists(st.integers(0, 60), max_size=6))
def test_streams_give_what_encode_gives(each: dict[str, AnyTokenizer], text: str, places: list[int]) -> None:
    data = text.encode()
    bounds = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    for tokenizer in (each["byte pairs"], each["WordPiece"]):
        stream = tokenizer.stream()
        parts = [stream.feed(data[start:stop]) for start, stop in pairwise(bounds)]
        assert np.concatenate([*parts, stream.finish()]).tolist() == tokenizer.encode(text).tolist()
        assert (stream.n_read, stream.n_settled) == (0, 0)


def test_words_are_settled_by_the_space_behind_them(each: dict[str, AnyTokenizer]) -> None:
    stream = each["WordPiece"].stream()
    assert [stream.feed(part).tolist() for part in ("a", "b a", " b [S", "EP]")] == [[], [3], [1, 2], []]
    assert (stream.delay, stream.longest_delay) == (6, 6)
    assert stream.finish().tolist() == [8]
    assert stream.feed("ab ").tolist() == [3]
    assert stream.finish().tolist() == []


def test_a_space_in_a_special_token_settles_nothing(each: dict[str, AnyTokenizer]) -> None:
    contents = each["WordPiece"].__reduce__()[1][0]
    tokenizer = WordPieceTokenizer(replace(contents, specials=(Special(8, "[S P]"),)))
    stream = tokenizer.stream()
    assert [stream.feed(part).tolist() for part in ("ab ", "a [S ", "P] b")] == [[], [], []]
    assert stream.finish().tolist() == tokenizer.encode("ab a [S P] b").tolist() == [3, 1, 8, 2]


def test_an_error_says_at_which_byte_of_the_whole_text(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("a\n##b\n")
    stream = tokdfa.load(tmp_path / "vocab.txt").stream()
    assert stream.feed("ab ab ").tolist() == [0, 1, 0, 1]
    with pytest.raises(AlphabetError, match=r"byte 9: a word has no tokenization.*'abc'"):
        stream.feed("ab abc "), stream.finish()


@pytest.mark.parametrize(("method", "function"), [("validate", tokdfa.validate), ("search", tokdfa.search)])
@pytest.mark.parametrize("kind", [AnyTokenizer, Tokenizer, WordPieceTokenizer])
def test_methods_have_the_signatures_of_the_functions(
    kind: type[AnyTokenizer], method: str, function: Callable[..., object]
) -> None:
    def options(callable: Callable[..., object]) -> list[tuple[str, object, object, object]]:
        # Thresholds belong to the function: their default is defined above the tokenizers.
        parameters = [each for each in inspect.signature(callable).parameters.values() if each.name != "tuning"]
        return [(each.name, each.kind, each.default, each.annotation) for each in parameters[1:]]

    assert options(getattr(kind, method)) == options(function)
    documented = inspect.getdoc(getattr(kind, method)) or ""
    assert all(f"\n{name} : " in documented for name, *_ in options(function))


def test_the_automaton_of_the_rules_is_asked_by_ids(each: dict[str, AnyTokenizer]) -> None:
    assert each["WordPiece"].pair_automaton is None
    tokenizer = each["byte pairs"]
    assert isinstance(tokenizer, Tokenizer)
    automaton = tokenizer.pair_automaton
    space_s, ingle = 261, 1193
    assert (automaton.word(space_s), automaton.word(ingle)) == (b" s", b"ingle")
    state = automaton.state_of(space_s)
    assert state == tokenizer.dfa.state_of(b" s")
    moves = [token for token, _ in tokenizer.dfa.moves(state)]
    assert automaton.n_allowed(space_s) == len(moves) < automaton.n_live_tokens == 4096
    blocking = tokenizer.dfa.blocking_rule(b" s", b"ingle")
    assert blocking is not None
    assert automaton.rule(blocking) == tokenizer.dictionary[blocking] == (b" s", b"ingle")


def test_special_tokens_and_tokens_without_a_rule_lead_to_no_state(tmp_path: Path) -> None:
    content = tokenizer_json()
    content["model"]["vocab"]["zq"] = free = len(content["model"]["vocab"])
    content["added_tokens"] = [added_token(free + 1, "<e>", special=True)]
    (tmp_path / "tokenizer.json").write_bytes(as_bytes(content))
    automaton = tokdfa.load(tmp_path / "tokenizer.json").pair_automaton
    assert automaton is not None
    assert (automaton.word(free), automaton.state_of(free), automaton.n_allowed(free)) == (b"zq", None, 0)
    assert (automaton.word(free + 1), automaton.state_of(free + 1)) == (None, None)


def test_a_new_kind_of_tokenizer_is_a_class_and_nothing_else() -> None:
    tokenizer = LongestPrefix(["a", "b", "ab", "ba", "Ä"])
    ids = tokenizer.encode("abbaÄ")
    assert ids.tolist() == [2, 3, 4]
    assert tokenizer.decode(ids) == "abbaÄ"
    assert tokenizer.validate(ids)
    verdict = tokenizer.validate([2, 1, 0, 4], all=True)
    assert (verdict.index, verdict.ids, verdict.canonical_ids) == (1, (1, 0), (3,))
    assert [tuple(match) for match in tokenizer.search("b+", ids)] == [(1, 3, 0, 2)]
    stream = tokenizer.stream()
    assert [*stream.feed("ab"), *stream.feed("ba"), *stream.finish()] == [2, 3]
    assert tokdfa.encode_batch(tokenizer, ["ab", "ba"], threads=1).ids.tolist() == [2, 3]
    page = tokdfa.validation_report(tokenizer, [2, 1, 0, 4]).to_html()
    assert "<dt>Words</dt><dd>5</dd>" in page
    with pytest.raises(UnsupportedFeatureError, match="cannot be compared: 'longest prefix'"):
        tokdfa.compare(tokenizer, LongestPrefix(["a", "b"]))
    assert tokdfa.compare(tokenizer, tokenizer)
    with pytest.raises(UnsupportedFeatureError, match="only tokenizers of one algorithm"):
        tokdfa.compare(tokenizer, tokdfa.default_tokenizer())
    assert tokenizer.validate([2, 4, 3], documents=4)
    with pytest.raises(UnsupportedFeatureError, match="windows cannot be judged for a longest prefix tokenizer"):
        tokenizer.validate(ids, window=True)
