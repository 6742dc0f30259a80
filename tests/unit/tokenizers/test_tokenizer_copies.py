"""Copies of tokenizers, by pickle and by copy, answer as the original and are about as small as its file.

Originals and copies are freed as soon as nothing refers to them.
"""

from __future__ import annotations

import copy
import gc
import multiprocessing
import pickle
import random
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support import random_files, sentencepieces
from tests.support.answers import TEXTS, answers, answers_of_pickled, attempt
from tests.support.tokenizer_files import as_bytes, merges_txt, ranks, tekken_json, tiktoken_lines, tokenizer_json
from tokdfa import Tokenizer
from tokdfa.tokenizers.protocol import AnyTokenizer

SPLIT = {"type": "Split", "pattern": {"Regex": r"\s+"}, "behavior": "Removed", "invert": False}
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}


def over_characters(**model: Any) -> dict[str, Any]:
    fields = tokenizer_json([], pre_tokenizer=None, decoder={"type": "Fuse"}, added_tokens=[])
    vocab = {token: id for id, token in enumerate(["a", "b", " ", "t", "h", "e", "ab", "th", "the", "?", "\u2581"])}
    fields["model"] |= {"vocab": vocab, "merges": [["a", "b"], ["t", "h"], ["th", "e"]], **model}
    return fields


def wordpiece() -> dict[str, Any]:
    vocab = {entry: id for id, entry in enumerate(["[UNK]", "[SEP]", "the", "a", "##b", "##at", "c", ",", "12", "x"])}
    model = {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab}
    normalizer = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    return {
        "version": "1.0",
        "added_tokens": [dict(tokenizer_json()["added_tokens"][0], id=1, content="[SEP]")],
        "normalizer": {"type": "BertNormalizer", **normalizer},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", **model},
    }


def json_file(fields: dict[str, Any]) -> Callable[[Path], Any]:
    return file_of("tokenizer.json", as_bytes(fields))


def file_of(name: str, data: bytes, **options: Any) -> Callable[[Path], Any]:
    def load(folder: Path) -> Any:
        (folder / name).write_bytes(data)
        return tokdfa.load(folder / name, **options)

    return load


def sentencepiece(folder: Path) -> Any:
    pytest.importorskip("sentencepiece")
    return file_of("x.model", sentencepieces.trained("nmt_nfkc", byte_fallback=True))(folder)


def random_character_file(folder: Path) -> Any:
    return json_file(random_files.character_file(random.Random(6)))(folder)


KINDS: dict[str, Callable[[Path], Any]] = {
    "byte pairs": json_file(tokenizer_json()),
    "byte pairs behind splits": json_file(
        tokenizer_json(pre_tokenizer={"type": "Sequence", "pretokenizers": [SPLIT, BYTE_LEVEL]})
    ),
    "ranks": file_of("x.tiktoken", tiktoken_lines(), pretokenizer="cl100k"),
    "improper ranks": file_of("x.tiktoken", tiktoken_lines(ranks([b"the", b"he", b" t", b"th"])), pretokenizer="o200k"),
    "a pattern that leaves out text": file_of("x.tiktoken", tiktoken_lines(), pretokenizer=r"\d+(?=%)|%|[a-z]+"),
    "tekken": file_of("tekken.json", as_bytes(tekken_json())),
    "rules": file_of("merges.txt", merges_txt().encode()),
    "ends of words": file_of("merges.txt", b"t h\nth e</w>\na b</w>\n"),
    "characters": json_file(over_characters()),
    "unknown characters": json_file(over_characters(unk_token="?")),
    "whole pieces": json_file(over_characters(ignore_merges=True)),
    "metaspace": json_file(over_characters() | {"pre_tokenizer": METASPACE, "decoder": METASPACE}),
    "normalized": json_file(tokenizer_json(normalizer={"type": "NFKC"})),
    "random": random_character_file,
    "sentencepiece": sentencepiece,
    "wordpiece": json_file(wordpiece()),
    "vocab.txt": file_of("vocab.txt", b"[UNK]\nthe\na\n##b\nc\n##at\n"),
    "default": lambda _: tokdfa.default_tokenizer(),
}


@pytest.fixture
def tokenizer(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return KINDS[request.param](tmp_path)


every_kind = pytest.mark.parametrize("tokenizer", KINDS, indirect=True)


def test_the_kinds_are_of_every_class(tmp_path: Path) -> None:
    made = {type(KINDS[name](tmp_path)) for name in ("byte pairs", "normalized", "wordpiece")}
    assert made == {Tokenizer, tokdfa.WordPieceTokenizer}


@every_kind
def test_copies_answer_as_the_original(tokenizer: Any) -> None:
    before = pickle.loads(pickle.dumps(tokenizer))
    expected = answers(tokenizer)
    assert any(isinstance(answer, list) and answer for answer in expected)
    after = [pickle.loads(pickle.dumps(tokenizer, protocol=2)), copy.deepcopy(tokenizer), copy.copy(tokenizer)]
    for twin in (before, *after):
        assert type(twin) is type(tokenizer)
        assert answers(twin) == expected
        assert twin.fingerprint == tokenizer.fingerprint


@every_kind
def test_what_is_computed_stays_behind(tokenizer: Any) -> None:
    size = len(pickle.dumps(tokenizer))
    for text in TEXTS:
        attempt(lambda text=text: tokenizer.validate(tokenizer.encode(text)))
        attempt(lambda text=text: tokenizer.search("a", tokenizer.encode(text)))
    assert tokenizer.fingerprint
    assert tokenizer.decoder is tokenizer.decoder
    # Some strings are interned meanwhile, which pickles of Python 3.14 tell from equal ones; a table is larger.
    assert abs(len(pickle.dumps(tokenizer)) - size) < 32


@every_kind
def test_a_deep_copy_shares_no_array(tokenizer: Any) -> None:
    if tokenizer.why_not("rules") is None:
        twin = copy.deepcopy(tokenizer)
        for name in ("token_to_id", "id_to_token"):
            assert not np.shares_memory(getattr(twin, name), getattr(tokenizer, name))
            assert not getattr(twin, name).flags.writeable
        assert not twin.dictionary.left.flags.writeable
        assert twin.dictionary == tokenizer.dictionary


def test_in_a_spawned_process(tmp_path: Path) -> None:
    names = ("byte pairs", "improper ranks", "metaspace", "sentencepiece", "wordpiece", "default")
    tokenizers = {name: KINDS[name](tmp_path) for name in names}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        expected = {name: answers(tokenizer) for name, tokenizer in tokenizers.items()}
        pickled = [pickle.dumps(tokenizer) for tokenizer in tokenizers.values()]
        for (name, tokenizer), (given, what) in zip(
            tokenizers.items(), pool.map(answers_of_pickled, pickled), strict=True
        ):
            assert given == expected[name], name
            assert what == f"{type(tokenizer).__name__} {tokenizer.fingerprint} tokdfa"


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("gpt2/tokenizer.json", 1.0),
        ("cl100k_base.tiktoken", 2.0),
        ("o200k_base.tiktoken", 2.0),
        ("bert_uncased_vocab.txt", 2.0),
        ("bert_uncased_tokenizer.json", 1.0),
    ],
)
def test_a_copy_is_about_as_small_as_the_file(path: str, most: float, data: Path) -> None:
    file = data / "vocabs" / path
    tokenizer = tokdfa.load(file)
    ids = tokenizer.encode("Hello, world 123\n")
    size = len(pickle.dumps(tokenizer))
    assert size < most * file.stat().st_size
    twin = pickle.loads(pickle.dumps(tokenizer))
    assert twin.encode("Hello, world 123\n").tolist() == ids.tolist()


def test_a_dictionary_leaves_behind_what_is_computed(tmp_path: Path) -> None:
    for dictionary in (
        tokdfa.Dictionary([("a", "b"), ("ab", "a")]),
        tokdfa.Dictionary([(("a",), ("b</w>",))], ["a", "b</w>"]),
        KINDS["byte pairs"](tmp_path).dictionary,
    ):
        fresh = len(pickle.dumps(dictionary))
        tokdfa.CompactTokenDFA(dictionary)
        assert dictionary.properness()
        assert dictionary.fingerprint
        assert len(pickle.dumps(dictionary)) == fresh
        for twin in (pickle.loads(pickle.dumps(dictionary)), copy.deepcopy(dictionary)):
            assert twin == dictionary
            assert twin.folding.birth.tolist() == dictionary.folding.birth.tolist()
            assert twin.alphabet.number(twin.alphabet[len(twin.alphabet) - 1]) == len(twin.alphabet) - 1


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def uses(tokenizer: Any, folder: Path) -> Iterator[Callable[[], object]]:
    """Yield calls that between them make every table of a tokenizer."""
    ids = attempt(lambda: tokenizer.encode("the"))
    spoiled = [0, 1, 2, 3]
    yield lambda: answers(tokenizer)
    yield lambda: (tokenizer.facts(), tokenizer.fingerprint, tokenizer.decoder, tokenizer.round_trip)
    yield lambda: [violation.reason for violation in tokenizer.validate(spoiled, all=True).violations]
    yield lambda: tokenizer.validate(spoiled, window=True)
    yield lambda: tokenizer.validate(spoiled, documents=[0, 1], all=True)
    yield lambda: tokdfa.replace(tokenizer, "t", "a", ids)
    yield lambda: tokdfa.guide(tokenizer, "a+").allowed(tokdfa.guide(tokenizer, "a+").initial)
    yield lambda: tokdfa.ban(tokenizer, ["the"]).banned()
    yield lambda: tokdfa.forced(tokenizer, "a( the)?")
    yield lambda: tokdfa.splice(tokenizer, before="a", after="b")
    yield lambda: tokdfa.check_turns(tokenizer, "<a>", "b")
    yield lambda: tokdfa.check_injection(tokenizer, "<a>{content}</a>")
    yield lambda: tokenizer.safe_cuts("a the") if hasattr(tokenizer, "safe_cuts") else None
    yield lambda: tokenizer.safe_cuts(ids) if hasattr(tokenizer, "safe_cuts") else None
    yield lambda: [*tokdfa.check_rollouts(tokenizer, [spoiled])[0].iter_causes()]
    yield lambda: tokdfa.check_prefix(tokenizer, ids, spoiled)
    yield lambda: tokdfa.compare(tokenizer, tokenizer)
    yield lambda: tokenizer.split("a the")
    yield lambda: tokdfa.check_shard(tokenizer, folder / "ids.npy")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "default"])
def test_a_dropped_tokenizer_is_freed_without_the_collector(kind: str, tmp_path: Path, no_collector: None) -> None:
    np.save(tmp_path / "ids.npy", np.array([0, 1], dtype=np.int32))
    kept = []
    for number in range(len([*uses(KINDS[kind](tmp_path), tmp_path)])):
        tokenizer = KINDS[kind](tmp_path)
        attempt([*uses(tokenizer, tmp_path)][number])
        parts = [tokenizer, *(part for part in vars(tokenizer).values() if isinstance(part, AnyTokenizer))]
        alive = [weakref.ref(part) for part in parts]
        del tokenizer, parts
        if any(reference() is not None for reference in alive):
            kept.append(number)
    assert kept == []


def test_what_a_tokenizer_has_given_outlives_it(tmp_path: Path) -> None:
    tokenizer = KINDS["metaspace"](tmp_path)
    ids = tokenizer.encode("the a")
    expected = tokenizer.decode(ids), tokenizer.validate(ids)
    decoder, trip, validator = tokenizer.decoder, tokenizer.round_trip, tokdfa.Validator(tokenizer)
    del tokenizer
    assert "".join(decoder.iter_text([ids])) == trip.decode(ids).text == expected[0]
    assert (not [*validator.feed(ids), *validator.finish()]) == bool(expected[1])


@pytest.mark.parametrize("kind", ["byte pairs", "normalized", "metaspace", "unknown characters", "wordpiece"])
def test_jobs_outlive_the_name_of_their_tokenizer(kind: str, tmp_path: Path) -> None:
    """A table refers to its tokenizer weakly, so any object that a user holds has to hold the tokenizer."""
    ids = KINDS[kind](tmp_path).encode("the").tolist()
    makers: list[Callable[[Any], Callable[[], object]]] = [
        lambda tokenizer: [*tokenizer.validate([*ids, *ids, 1], all=True).violations].__repr__,
        lambda tokenizer: partial(fed, tokdfa.Validator(tokenizer), [*ids, *ids, 1]),
        lambda tokenizer: partial(tokdfa.Searcher(tokenizer, "t?he").search, ids),
        lambda tokenizer: partial(tokdfa.Replacer(tokenizer, "t?he", "a").replace, ids),
        lambda tokenizer: partial(used_guide, tokdfa.guide(tokenizer, "the( the)*"), ids),
        lambda tokenizer: partial(used_guide, tokdfa.ban(tokenizer, ["he"]), ids[:1]),
        lambda tokenizer: [*tokdfa.check_rollout(tokenizer, [*ids, *ids, 1]).iter_causes()].__repr__,
    ]
    for make in makers:
        kept = KINDS[kind](tmp_path)
        expected = attempt(lambda make=make, kept=kept: make(kept)())  # type: ignore[misc]
        lost = attempt(lambda make=make: make(KINDS[kind](tmp_path)))  # type: ignore[misc]
        assert repr(attempt(lost) if callable(lost) else lost) == repr(expected)


def fed(validator: tokdfa.Validator, ids: list[int]) -> object:
    return [(found.index, found.reason) for found in (*validator.feed(ids), *validator.finish())]


def used_guide(guide: Any, ids: list[int]) -> object:
    state = guide.read(ids)
    return guide.allowed(state).tolist(), guide.forced(state).tolist()
