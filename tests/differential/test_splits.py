"""Pre-tokenizers split as the libraries that they are of."""

from __future__ import annotations

import random
from dataclasses import replace
from importlib.metadata import version as installed
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest

from tests.campaigns.evidence.tally import Tally
from tests.support.machines import all_beginnings
from tests.support.splitting import REPRESENTATIVES, pieces_of_tiktoken, tiktoken_agrees
from tokdfa.regex.backtracking import compile_backtracking
from tokdfa.regex.syntax import Alternate, Atomic, Concat, LookAhead, Node, Repeat, Symbols
from tokdfa.regex.unicode import Ranges, Table, intersection, union, version
from tokdfa.tokenizers.pretokenizers import steps as patterns
from tokdfa.tokenizers.pretokenizers.building import build_machine
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Behavior, Split, Splitting

CORPORA = ("english.txt", "python_code.txt", "multilingual.txt", "fra_eng_en.txt")
# Symbols that the patterns, or the versions of Unicode, distinguish.
SYMBOLS = (
    "  \t\n\r\x0b\x1c\x1d\x85\xa0\u2028\u3000''sSltTrReEvVdDmMaAzéÉßſ\u017f\u0295\u02b0ǅ中ひ\u0301\u0345\u094d"
    "12\u0661\u00b2\u2167!?/,.-_€™😀\u200d\ufe0f\U0001f3fd\0\x7f\ue000\U000e0041\U0002ebf0\u1c89\ua7ce\u0897"
)


def check_version(library: Table) -> None:
    pytest.importorskip(library)
    if installed(library) != version(library):
        pytest.skip(f"the table is of {library} {version(library)}, installed is {installed(library)}")


def original(splitting: Splitting) -> Any:
    """Return the pre-tokenizer of the library tokenizers."""
    from tokenizers import Regex, pre_tokenizers

    steps = [
        pre_tokenizers.Split(step.pattern if step.literal else Regex(step.pattern), step.behavior, step.invert)
        for step in splitting.steps
    ]
    return pre_tokenizers.Sequence(steps)


def assert_split_alike(splitting: Splitting, texts: list[str], pre_tokenizer: Any = None) -> None:
    ours = PreTokenizer(splitting)
    assert ours.splitter is not None
    for text in texts:
        assert ours.spans(text) == ours.spans_backtracking(text), text
    if splitting.library == "tokenizers":
        theirs = pre_tokenizer or original(splitting)
        for text in texts:
            assert ours.spans(text) == [span for _, span in theirs.pre_tokenize_str(text)], text
    else:
        pieces = [ours.split(text) for text in texts]
        assert all("".join(split) == text for split, text in zip(pieces, texts, strict=True))
        assert tiktoken_agrees(splitting.steps[0].pattern, texts, pieces)


@pytest.mark.parametrize("name", NAMED)
def test_all_short_texts(name: str) -> None:
    check_version(NAMED[name].library)
    texts = ["".join(text) for n in range(4) for text in product(REPRESENTATIVES[name], repeat=n)]
    assert_split_alike(NAMED[name], texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_all_texts_of_six_symbols(name: str, tally: Tally) -> None:
    check_version(NAMED[name].library)
    for start in product(REPRESENTATIVES[name], repeat=2):
        assert_split_alike(NAMED[name], ["".join(start + text) for text in product(REPRESENTATIVES[name], repeat=4)])
    tally("splitting", "exhaustive cases", len(REPRESENTATIVES[name]) ** 6)


def restricted(node: Node, symbols: Ranges) -> Node:
    """Return the pattern for texts of these symbols only, with the sets that small; the engine is faster so."""
    if isinstance(node, (Symbols, LookAhead)):
        return replace(node, ranges=intersection(node.ranges, symbols))
    if isinstance(node, Concat):
        return Concat(tuple(restricted(part, symbols) for part in node.parts))
    if isinstance(node, Alternate):
        return Alternate(tuple(restricted(option, symbols) for option in node.options))
    if isinstance(node, (Repeat, Atomic)):
        return replace(node, body=restricted(node.body, symbols))
    return node


def definition_on_all_texts(name: str, most: int) -> list[npt.NDArray[np.uint8]]:
    """Return for each length the places where pieces begin, as bits, in all texts of that length of representatives.

    The backtracking engine looks for one match a text and step. The rest of the text is a text of its own, for
    no pattern looks back, and a later step's cuts of a piece were found when that piece was a text.
    """
    symbols = REPRESENTATIVES[name]
    k = len(symbols)
    members = union((ord(symbol), ord(symbol)) for symbol in symbols)
    begins = [np.full(k**length, min(length, 1), dtype=np.uint8) for length in range(most + 1)]
    for tree in reversed(PreTokenizer(NAMED[name])._trees):
        search = compile_backtracking(restricted(tree, members)).search
        inner, begins = begins, [np.zeros(1, dtype=np.uint8)]
        for length in range(1, most + 1):
            spans = (
                (0, length) if (m := search("".join(t))) is None else m.span() for t in product(symbols, repeat=length)
            )
            first = np.fromiter((start or end for start, end in spans), dtype=np.int64, count=k**length)
            found = np.empty(k**length, dtype=np.uint8)
            for size in range(1, length + 1):
                (texts,) = np.nonzero(first == size)
                rest = k ** (length - size)
                found[texts] = inner[size][texts // rest] | begins[length - size][texts % rest] << size
            begins.append(found)
    return begins


def check_machine(name: str, most: int) -> int:
    """Compare the machine with the definition on every text of up to `most` of the representatives."""
    machine = build_machine(NAMED[name])
    definition = definition_on_all_texts(name, most)
    for length, expected in enumerate(definition):
        found = all_beginnings(machine, REPRESENTATIVES[name], length)
        assert np.array_equal(found, expected), length
    return sum(map(len, definition))


@pytest.mark.parametrize("name", NAMED)
def test_the_machine_on_all_texts_of_five_symbols(name: str) -> None:
    assert check_machine(name, 5) > 100_000


@pytest.mark.parametrize("name", NAMED)
def test_the_definition_in_bulk_is_the_definition(name: str) -> None:
    definition = PreTokenizer(NAMED[name])
    begins = definition_on_all_texts(name, 4)
    for length in range(5):
        for text, found in zip(product(REPRESENTATIVES[name], repeat=length), begins[length].tolist(), strict=True):
            assert sum(1 << start for start, _ in definition.spans_backtracking("".join(text))) == found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_the_machine_on_all_texts_of_seven_symbols(name: str, tally: Tally) -> None:
    n_texts = check_machine(name, 7)
    assert n_texts > 10_000_000
    tally("splitting", "exhaustive cases", n_texts)


def random_texts(seed: int, n: int) -> list[str]:
    source = random.Random(seed)
    return ["".join(source.choices(SYMBOLS, k=source.randint(1, 20))) for _ in range(n)]


@pytest.mark.parametrize("name", NAMED)
def test_random_texts(name: str) -> None:
    check_version(NAMED[name].library)
    assert_split_alike(NAMED[name], random_texts(0, 3_000))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_many_random_texts(name: str, tally: Tally) -> None:
    check_version(NAMED[name].library)
    for seed in range(1, 51):
        assert_split_alike(NAMED[name], random_texts(seed, 20_000))
    tally("splitting", "random cases", 50 * 20_000)


def corpus(data: Path, name: str, length: int | None = None) -> str:
    with (data / "corpora" / name).open(encoding="utf-8", newline="") as file:
        return file.read(length)


@pytest.mark.parametrize("name", NAMED)
def test_beginnings_of_corpora(name: str, data: Path) -> None:
    check_version(NAMED[name].library)
    assert_split_alike(NAMED[name], [corpus(data, file, 20_000) for file in CORPORA])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("file", CORPORA)
def test_corpora_are_split_as_by_the_library(name: str, file: str, data: Path, tally: Tally) -> None:
    check_version(NAMED[name].library)
    assert_split_alike(NAMED[name], [corpus(data, file)])
    tally("splitting", "real texts", 1)


@pytest.mark.parametrize("prefix_space", [False, True])
def test_byte_level_splits_as_by_the_library(prefix_space: bool) -> None:
    check_version("tokenizers")
    from tokenizers import pre_tokenizers

    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space, trim_offsets=False)
    gpt2 = NAMED["gpt2"].steps
    texts = ["".join(text) for n in range(4) for text in product(REPRESENTATIVES["gpt2"], repeat=n)] + random_texts(
        1, 500
    )
    assert_bytes_alike(Splitting("tokenizers", gpt2, 0 if prefix_space else None), byte_level, texts)
    sequence = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level])
    splitting = Splitting("tokenizers", (Split(r"\p{is_numeric}", "isolated"), *gpt2), 1 if prefix_space else None)
    assert_bytes_alike(splitting, sequence, texts)
    bare = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space, use_regex=False)
    sequence = pre_tokenizers.Sequence([pre_tokenizers.Digits(), bare])
    assert_bytes_alike(
        Splitting("tokenizers", (Split(r"\p{is_numeric}", "contiguous"),), 1 if prefix_space else None), sequence, texts
    )


def assert_bytes_alike(splitting: Splitting, theirs: Any, texts: list[str]) -> None:
    """Compare pieces that are spelled in the byte alphabet, in which an inserted space can be seen."""
    from tokdfa.regex.unicode.utf8 import BYTE_OF

    ours = PreTokenizer(splitting)
    for text in texts:
        spelled = [bytes(BYTE_OF[c] for c in piece).decode() for piece, _ in theirs.pre_tokenize_str(text)]
        assert ours.split(text) == ours.split_backtracking(text) == spelled, text


@pytest.mark.parametrize("behavior", get_args(Behavior))
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("step", [Split("a"), Split("a+|ab"), Split("ab", literal=True), Split("a.", literal=True)])
def test_behaviors_split_as_by_the_library(behavior: Behavior, invert: bool, step: Split) -> None:
    pytest.importorskip("tokenizers")
    splitting = Splitting("tokenizers", (Split(step.pattern, behavior, invert, step.literal),))
    assert_split_alike(splitting, ["".join(text) for n in range(7) for text in product("ab.", repeat=n)])


@pytest.mark.parametrize(
    "name", ["digits", "digits_individual", "punctuation", "whitespace", "whitespace_split", "bert"]
)
def test_other_pre_tokenizers_of_tokenizers(name: str) -> None:
    check_version("tokenizers")
    from tokenizers import pre_tokenizers as p

    ours, theirs = {
        "digits": ((Split(r"\p{is_numeric}", "contiguous"),), p.Digits()),
        "digits_individual": ((Split(r"\p{is_numeric}", "isolated"),), p.Digits(individual_digits=True)),
        "punctuation": ((Split(r"\p{is_punctuation}", "merged_with_next"),), p.Punctuation("merged_with_next")),
        "whitespace": ((patterns.WHITESPACE,), p.Whitespace()),
        "whitespace_split": ((patterns.WHITESPACE_SPLIT,), p.WhitespaceSplit()),
        "bert": (patterns.BERT, p.BertPreTokenizer()),
    }[name]
    texts = random_texts(2, 2_000) + ["".join(text) for n in range(5) for text in product("a1 \n!\u0301", repeat=n)]
    assert_split_alike(Splitting("tokenizers", ours), texts, theirs)


FILE_STEPS: list[dict[str, Any]] = [
    {"type": "CharDelimiterSplit", "delimiter": "-"},
    {"type": "FixedLength", "length": 3},
    {"type": "Split", "pattern": {"Regex": "[a-c]+"}, "behavior": "MergedWithPrevious", "invert": True},
    {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Punctuation"}]},
    *(
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}
        for scheme in ("always", "first", "never")
        for split in (False, True)
    ),
    {"type": "Metaspace", "replacement": "-", "add_prefix_space": True},
    {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
            {"type": "Digits", "individual_digits": True},
        ],
    },
]  # fmt: skip


@pytest.mark.parametrize("step", FILE_STEPS, ids=lambda step: "-".join(map(str, step.values()))[:60])
def test_steps_of_files(step: dict[str, Any], tmp_path: Path) -> None:
    """The pieces of a file's pre-tokenizer for every short text and of random ones, the spelling of pieces included."""
    check_version("tokenizers")
    import json

    from tokenizers import Tokenizer

    from tokdfa.tokenizers.formats.json_text import JsonObject
    from tokdfa.tokenizers.formats.text_steps import read_pre_tokenizer

    file = {"version": "1.0", "pre_tokenizer": step, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}
    rest = dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder"))
    theirs = Tokenizer.from_str(json.dumps(rest | {"added_tokens": []} | file)).pre_tokenizer
    splitting, is_bytewise = read_pre_tokenizer(JsonObject(file, "$", tmp_path))
    assert splitting is not None
    assert not is_bytewise
    ours = PreTokenizer(splitting)
    assert ours.splitter is not None
    texts = ["".join(text) for n in range(5) for text in product("a -1▁", repeat=n)] + random_texts(4, 1_000)
    for text in texts:
        expected = theirs.pre_tokenize_str(text)
        assert ours.split(text) == ours.split_backtracking(text) == [piece for piece, _ in expected], text
        assert ours.spans(text) == ours.spans_backtracking(text), text
        # The library takes a piece that was inserted as a whole for the character after it.
        assert splitting.prefix_space == 0 or ours.spans(text) == [span for _, span in expected], text


@pytest.mark.parametrize("behind", [[], ["<s>"]])
def test_where_metaspace_comes_once(behind: list[str]) -> None:
    """After a special token nothing is put before the text."""
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers import models, pre_tokenizers

    vocabulary = {"▁": 0, "a": 1, "b": 2, "<s>": 3}
    peer = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    peer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    peer.add_special_tokens(["<s>"])
    once = PreTokenizer(Splitting("tokenizers", (Split("▁", "merged_with_next", literal=True),), 0, "▁", True))
    for text in map("".join, product("ab ", repeat=4)):
        tokens = peer.encode("".join(behind) + text).tokens
        pieces = once.split(text, begins=not behind)
        assert [*behind, *"".join(pieces)] == tokens
        assert once.split_backtracking(text, begins=not behind) == pieces


def test_what_tiktoken_drops() -> None:
    pytest.importorskip("tiktoken")
    texts = ["".join(text) for n in range(1, 7) for text in product("ab ", repeat=n)]
    ours = pretokenizer("a+b|bb")
    assert [ours.split(text) for text in texts] == pieces_of_tiktoken("a+b|bb", texts)


def test_the_check_of_tiktoken_can_fail() -> None:
    pytest.importorskip("tiktoken")
    pattern = NAMED["cl100k"].steps[0].pattern
    texts = ["I've got a b 1234 中中", "a\n\n b"]
    right = [pretokenizer("cl100k").split(text) for text in texts]
    assert tiktoken_agrees(pattern, texts, right)
    for index, split in enumerate(right):
        for place, piece in enumerate(split):
            wrongs = [[*split[:place], piece[:cut], piece[cut:], *split[place + 1 :]] for cut in range(1, len(piece))]
            wrongs += (
                [[*split[:place], piece + split[place + 1], *split[place + 2 :]]] if place + 1 < len(split) else []
            )
            for wrong in wrongs:
                assert not tiktoken_agrees(pattern, texts, [*right[:index], wrong, *right[index + 1 :]])
