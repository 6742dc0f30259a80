"""Streams of ids of one text, cut at the boundaries that both share."""

from __future__ import annotations

import json
import random
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.byte_tokenizers import tokenizer_of
from tests.support.families import FAMILIES, Member
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError, WrongTypeError

TOKENIZER = tokdfa.default_tokenizer()


def aligned(member: Member, ids: list[int], others: list[int], special: str) -> tokdfa.Alignment | None:
    """Return an alignment; None if the tokenizer is refused, or the texts differ."""
    try:
        return tokdfa.align(member.tokenizer, ids, member.tokenizer, others, special=special)  # type: ignore[arg-type]
    except (UnsupportedFeatureError, TokenStreamError):
        return None


# Decoders that change the text of an id by its neighbours.
REFUSED = ("CLIP", "prefix")


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in REFUSED])
def test_candidates_are_the_ids_that_the_library_decodes_as_the_unit(family: str) -> None:
    n_cases = 0
    for seed in range(12):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        ids = [id for id in member.stream(drawn) if id not in member.special]
        others = member.again(ids)
        found = None if others is None else aligned(member, ids, others, "keep")
        if found is None or "\ufffd" in member.decode(ids):
            continue
        candidates = found.candidates("a")
        for index, unit in enumerate(found):
            before, after = ids[: int(found.a_bounds[index])], ids[int(found.a_bounds[index + 1]) :]
            alone = {*candidates.ids[slice(*candidates.bounds[index : index + 2])].tolist()}
            assert {*unit.a} <= alone or len(unit.a) > 1 or not unit.text
            # Ids are spelled in another way at the edges of a text.
            is_at_edge = not found.offsets[index] or not after
            tried = member.ids if is_at_edge else drawn.choices(member.ids, k=5)
            for id in {*alone, *tried} - member.special:
                replaced = member.decode([*before, id, *after])
                if not unit.text or "\ufffd" in replaced + member.decode([id]) or b"\xef\xbf\xbd" in unit.text:
                    continue
                assert (id in alone) == (replaced == member.decode(ids))
                n_cases += 1
    assert n_cases > 30


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in REFUSED])
def test_documents_and_dropped_tokens_change_no_text(family: str) -> None:
    n_cases = n_dropped = 0
    for seed in range(6):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        dropped = member.tokenizer.control_ids.tolist()
        texts = [[id for id in member.stream(drawn, 5) if id not in dropped] for _ in range(5)]
        alone = [aligned(member, ids, ids, "drop") for ids in texts]
        if None in alone:
            continue
        for ids in texts if dropped else ():
            for _ in range(drawn.randrange(3)):
                # Often at the beginning, where a tokenizer may add or remove a space.
                ids.insert(drawn.choice([0, 0, drawn.randrange(len(ids) + 1)]), drawn.choice(dropped))
                n_dropped += 1
        starts = [*accumulate(map(len, texts), initial=0)][:-1]
        ids = [id for text in texts for id in text]
        found = tokdfa.align(
            member.tokenizer, ids, member.tokenizer, ids, documents_a=starts, documents_b=starts, special="drop"
        )
        cuts = found.offsets[found.documents].tolist()
        assert [found.text[a:b] for a, b in pairwise(cuts)] == [each.text for each in alone if each is not None]
        n_cases += 1
    assert n_cases >= 1
    assert n_dropped >= 1 or not dropped


def test_control_tokens_add_nothing_unless_they_are_kept() -> None:
    with_control = tokenizer_of([(b"a", b"b")], None, ["<s>"])
    plain = tokenizer_of([])
    a, b, ab, control = ord("a"), ord("b"), 256, 257
    found = tokdfa.align(with_control, [control, a, control, ab, control], plain, [a, a, b])
    assert [unit.a for unit in found] == [(control,), (a,), (control,), (ab,), (control,)]
    assert [unit.b for unit in found] == [(), (a,), (), (a, b), ()]
    assert found.text == b"aab"
    # Within a unit, they are a part of it; such ids of both sides are one unit.
    assert [unit.a for unit in tokdfa.align(with_control, [control, a, control, b], with_control, [control, ab])] == [
        (control,),
        (a, control, b),
    ]
    with pytest.raises(TokenStreamError, match=r'byte 0, tokens 1 and 0: .*different texts.*special="keep"'):
        tokdfa.align(with_control, [control, a], plain, [*b"<s>", b])
    kept = tokdfa.align(with_control, [control, a], plain, [*b"<s>a"], special="keep")
    assert [unit.text for unit in kept] == [b"<s>", b"a"]


@pytest.mark.parametrize("name", ["units.npz", "units.jsonl"])
def test_units_are_written_with_their_candidates(tmp_path: Path, name: str) -> None:
    found = tokdfa.align(TOKENIZER, [64, 2513, 126, 114], TOKENIZER, [64, 261, 1193, 126, 114])
    found.save(tmp_path / name)
    if name.endswith("npz"):
        arrays = np.load(tmp_path / name)
        assert [arrays["a_bounds"].tolist(), arrays["b_bounds"].tolist()] == [[0, 1, 2, 3, 4], [0, 1, 3, 4, 5]]
        assert np.array_equal(arrays["b_candidates"], found.candidates("b").ids)
    else:
        lines = [*map(json.loads, (tmp_path / name).read_text().splitlines())]
        assert [line["b"] for line in lines] == [[64], [261, 1193], [126], [114]]
        assert [line["b_candidates"] for line in lines] == [[64], [2513], [126], [114]]
        assert [line["splits_character"] for line in lines] == [False, False, True, True]
        assert [line["offset"] for line in lines] == [0, 1, 8, 9]
    with pytest.raises(WrongTypeError, match=r"npz or \.jsonl"):
        found.save(tmp_path / "units.csv")


def test_each_document_is_decoded_by_itself() -> None:
    a, b = [64, 2513, 64], [64, 261, 1193, 64]
    found = tokdfa.align(TOKENIZER, a, TOKENIZER, b, documents_a=[0, 2, 2], documents_b=[0, 3, 3])
    assert found.documents.tolist() == [0, 2, 2, 3]
    assert found.shapes == {(1, 1): 2, (1, 2): 1}


@pytest.mark.parametrize(
    ("b", "starts_b", "match"),
    [
        ([64, 261, 1193, 64], [0, 2], r"document 0, byte 3, tokens 1 and 1: .* b'ingle' of ids 2513 in A and the end"),
        ([64, 261, 1193, 70], [0, 3], r"document 1, byte 0, tokens 2 and 3: .* b'a' of ids 64 in A and b'g' of ids 70"),
        ([64, 261, 1193, 64, 64], [0, 3], r"document 1, byte 1, tokens 2 and 4: .* the end in A and b'a' of ids 64"),
        ([64, 261, 1193, 64], None, r"1 and 2 documents|2 and 1 documents"),
    ],
)
def test_streams_of_different_texts_are_refused_where_they_part(
    b: list[int], starts_b: list[int] | None, match: str
) -> None:
    with pytest.raises(TokenStreamError, match=match):
        tokdfa.align(TOKENIZER, [64, 2513, 64], TOKENIZER, b, documents_a=[0, 2], documents_b=starts_b)


def test_boundaries_within_characters_are_told() -> None:
    ids = TOKENIZER.encode("ö")
    assert len(ids) == 2
    assert tokdfa.align(TOKENIZER, ids, TOKENIZER, ids).within_characters.tolist() == [False, True, False]


def test_empty_streams_have_no_units() -> None:
    found = tokdfa.align(TOKENIZER, [], TOKENIZER, [])
    assert len(found) == 0
    assert found.text == b""
    assert found.shapes == {}
    assert found.candidates("a").bounds.tolist() == [0]


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"ids_a": [10**6]}, "ids_a, token 0"),
        ({"ids_b": [-1]}, "ids_b, token 0"),
        ({"documents_a": [0, 1]}, "2 and 1 documents"),
        ({"documents_a": [1]}, "must begin at id 0"),
        ({"documents_b": [0, 9]}, "must begin at id 0"),
        ({"documents_b": [0, 0.5]}, "integers"),
        ({"special": "skip"}, "drop"),
    ],
)
def test_bad_arguments_are_refused(changed: dict[str, object], match: str) -> None:
    ids = {"ids_a": [64, 2513], "ids_b": [64, 2513]} | changed
    with pytest.raises((TokenStreamError, WrongTypeError), match=match):
        tokdfa.align(TOKENIZER, ids.pop("ids_a"), TOKENIZER, ids.pop("ids_b"), **ids)  # type: ignore[arg-type]


def test_streams_longer_than_a_page_of_memory() -> None:
    drawn = np.random.default_rng(0)
    words = [64, 2513, 70, 292]
    ids = drawn.choice(words, 300_000).astype(np.int32)
    pieces = {id: [261, 1193] if id == 2513 else [id] for id in words}
    others = np.array([id for each in ids.tolist() for id in pieces[each]])
    found = tokdfa.align(TOKENIZER, ids, TOKENIZER, others)
    assert np.array_equal(found.a_bounds, np.arange(len(ids) + 1))
    assert np.array_equal(np.diff(found.b_bounds), 1 + (ids == 2513))


def test_candidates_of_several_ids_at_the_beginning_lack_the_space(tmp_path: Path) -> None:
    # The second id is not the first of its text, so `▁ab` is `ab` for the first unit, and ` ab` for the second.
    vocab = {token: id for id, token in enumerate(["<unk>", "▁", "a", "b", "▁a", "ab", "▁ab"])}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    unspelled = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    model = {"type": "BPE", "unk_token": "<unk>", "vocab": vocab, "merges": [["▁", "a"], ["a", "b"], ["▁a", "b"]]}
    decoder = {"type": "Sequence", "decoders": [unspelled, {"type": "Fuse"}, strip]}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [], "decoder": decoder, "model": model}))
    tokenizer = tokdfa.load(path)
    found = tokdfa.align(tokenizer, [4, 3, 4, 3, 2, 3], tokenizer, [6, 6, 5])
    assert [unit.text for unit in found] == [b"ab", b" ab", b"ab"]
    for side in ("a", "b"):
        candidates = found.candidates(side)  # type: ignore[arg-type]
        # At the beginning, `ab` is spelled by the token without a space, too.
        assert candidates.bounds.tolist() == [0, 2, 3, 4]
        assert candidates.ids.tolist() == [5, 6, 6, 5]
