"""Spoiled objects, rank files and special tokens: one clear error, or their own library's answer, in bounded time."""

from __future__ import annotations

import base64
import json
import random
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support import sentencepieces
from tests.support.editing import edited_bytes
from tests.support.seeds import seeds
from tests.support.tokenizer_files import RANKS, TEXTS, as_bytes, tekken_json, tiktoken_lines, tokenizer_json
from tokdfa.base.errors import AlphabetError, TokdfaError

SECONDS, MEGABYTES = 20, 400
PATTERN = r"\p{L}+|[^\p{L}]+"
SPECIALS = {"<|end|>": 900, "<|a|>": 901, "é": 999}
ODD: list[Any] = [
    *(None, True, False, 0, -1, 5, 900, 2**24 - 1, 2**24, 2**31, 2**64, 10**40, 1.5, float("nan"), np.int64(7)),
    *("", "x", "\ud800", "\x00", "<|end|>", b"", b"a", b"\xff", b"zz", bytearray(b"a")),
    *([], [0], (), {}, {1: 2}, {b"a": 1}),
    *(object(), int, len, "(a", "a*", r"(?<=a)b", "(a{1,50}){1,50}|."),
]  # fmt: skip

Encode = Callable[[str], list[int]]
# The object to load, its options, and the library's function; a library that refuses it raises.
Case = tuple[Any, dict[str, Any], Callable[[], Encode]]


def spoiled_dict(drawn: random.Random, entries: dict[Any, Any]) -> dict[Any, Any]:
    """Return a dict with one to three entries changed, exchanged, left out or put in."""
    changed = dict(entries)
    for _ in range(drawn.randrange(1, 4)):
        key = drawn.choice(list(changed))
        kind = drawn.randrange(4)
        if kind == 0:
            changed[key] = drawn.choice(ODD)
        elif kind == 1:
            other = drawn.choice(list(changed))
            changed[key], changed[other] = changed[other], changed[key]
        elif kind == 2 and len(changed) > 1:
            del changed[key]
        else:
            odd = drawn.choice(ODD)
            changed[odd if odd.__hash__ and not isinstance(odd, tuple) else "y"] = drawn.choice([*ODD, 950, 951])
    return changed


ODD_WORDS = [b"\x00", b"\xff", b"\n", b" ", b"9", b'"', b"\xc3\xa9"]


def by_tiktoken(ranks: Any, specials: Any, pattern: Any) -> Encode:
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials)
    return encoding.encode_ordinary  # type: ignore[no-any-return]


def an_encoding(drawn: random.Random) -> Case:
    parts: dict[str, Any] = {"_mergeable_ranks": dict(RANKS), "_special_tokens": dict(SPECIALS), "_pat_str": PATTERN}
    name = drawn.choice(list(parts))
    whole = drawn.random() < 0.3 or name == "_pat_str"
    parts[name] = drawn.choice(ODD) if whole else spoiled_dict(drawn, parts[name])
    peer = (parts["_mergeable_ranks"], parts["_special_tokens"], parts["_pat_str"])
    return SimpleNamespace(**parts), {}, lambda: by_tiktoken(*peer)


def ranks_in_memory(drawn: random.Random) -> Case:
    ranks = spoiled_dict(drawn, dict(RANKS))
    return ranks, {"pretokenizer": PATTERN}, lambda: by_tiktoken(ranks, {}, PATTERN)


def a_rank_file(drawn: random.Random) -> Case:
    data = edited_bytes(drawn, tiktoken_lines(), ODD_WORDS, range(1, 2))

    def library() -> Encode:
        rows = (line.split() for line in data.splitlines() if line)
        return by_tiktoken({base64.b64decode(word): int(rank) for word, rank in rows}, {}, PATTERN)

    return ("tokenizer.model", data), {"pretokenizer": PATTERN}, library


def special_tokens(drawn: random.Random) -> Case:
    specials = spoiled_dict(drawn, dict(SPECIALS))
    return dict(RANKS), {"specials": specials, "pretokenizer": PATTERN}, lambda: by_tiktoken(RANKS, specials, PATTERN)


def a_file_of_special_tokens(drawn: random.Random) -> Case:
    rows = {str(id): {"content": text} for text, id in SPECIALS.items()}
    data = edited_bytes(
        drawn, as_bytes(drawn.choice([SPECIALS, {"added_tokens_decoder": rows}])), ODD_WORDS, range(1, 2)
    )

    def library() -> Encode:
        fields = json.loads(data)
        rows = fields.get("added_tokens_decoder")
        specials = fields if rows is None else {row["content"]: int(id) for id, row in rows.items()}
        return by_tiktoken(RANKS, specials, PATTERN)

    return dict(RANKS), {"specials": data, "pretokenizer": PATTERN}, library


def a_tekkenizer(drawn: random.Random) -> Case:
    rows: Any = [{"rank": i, "token_str": f"<{i}>", "is_control": True} for i in range(4)]
    model = SimpleNamespace(_mergeable_ranks=dict(RANKS), _pat_str=PATTERN)
    parts: dict[str, Any] = {"_all_special_tokens": rows, "num_special_tokens": 4, "_model": model}
    kind = drawn.randrange(4)
    if kind == 0:
        parts[drawn.choice(list(parts))] = drawn.choice(ODD)
    elif kind == 1:
        rows[drawn.randrange(4)] = drawn.choice([*ODD, *rows])
    elif kind == 2:
        rows[drawn.randrange(4)] = spoiled_dict(drawn, rows[0])
    else:
        model._mergeable_ranks = spoiled_dict(drawn, model._mergeable_ranks)

    def library() -> Encode:
        encode = by_tiktoken(model._mergeable_ranks, {}, PATTERN)
        n = parts["num_special_tokens"]
        assert [(row["rank"], type(row["token_str"])) for row in rows] == [(i, str) for i in range(n)]
        return lambda text: [id + n for id in encode(text)]

    return SimpleNamespace(**parts), {}, library


def fields_in_memory(drawn: random.Random) -> Case:
    fields = drawn.choice([tokenizer_json, tekken_json])()
    inner = drawn.choice([fields, fields.get("model") or fields["config"], fields.get("decoder") or fields["config"]])
    changed = spoiled_dict(drawn, inner)
    inner.clear()
    inner.update(changed)

    def library() -> Encode:
        assert "model" in fields
        peer = pytest.importorskip("tokenizers").Tokenizer.from_str(json.dumps(fields, allow_nan=False))
        return lambda text: peer.encode(text).ids  # type: ignore[no-any-return]

    def by_mistral_common() -> Encode:
        config, n = fields["config"], fields["config"]["default_num_special_tokens"]
        rows = fields["vocab"][: config["default_vocab_size"] - n]
        ranks = {base64.b64decode(row["token_bytes"]): row["rank"] for row in rows}
        encode = by_tiktoken(ranks, {}, config["pattern"])
        return lambda text: [id + n for id in encode(text)]

    return fields, {}, library if "model" in fields else by_mistral_common


def a_slow_tokenizer(drawn: random.Random) -> Case:
    library = pytest.importorskip("sentencepiece")
    model = library.SentencePieceProcessor(model_proto=sentencepieces.trained("identity", drawn.random() < 0.5))
    ids = {model.id_to_piece(id): id + 5 for id in range(model.get_piece_size())}
    added: Any = {id: SimpleNamespace(content=text, special=True) for text, id in list(ids.items())[1:3]}
    parts: dict[str, Any] = {"sp_model": model, "legacy": True, "unk_token_id": 5, "added_tokens_decoder": added}
    kind = drawn.randrange(4)
    if kind == 0:
        parts[drawn.choice(list(parts))] = drawn.choice(ODD)
    elif kind == 1:
        ids = {piece: id for piece, id in spoiled_dict(drawn, ids).items() if piece in ids}
    elif kind == 2:
        parts["added_tokens_decoder"] = spoiled_dict(drawn, added)
    else:
        added[drawn.choice([6, 7, 8, 9000, 2**24])] = SimpleNamespace(
            content=drawn.choice(ODD), special=drawn.choice(ODD)
        )
    parts["convert_tokens_to_ids"] = lambda pieces: [ids.get(piece, 5) for piece in pieces]
    kind_of = type("NllbTokenizer", (SimpleNamespace,), {"_tokenize": _as_of_transformers()})
    encode = model.encode
    return kind_of(**parts), {}, lambda: lambda text: parts["convert_tokens_to_ids"](encode(text, out_type=str))


def _as_of_transformers() -> Callable[[Any], None]:
    def tokenize(_: Any) -> None: ...

    tokenize.__qualname__, tokenize.__module__ = "NllbTokenizer._tokenize", "transformers.models.nllb"
    return tokenize


CASES: dict[str, Callable[[random.Random], Case]] = {
    "tiktoken.Encoding": an_encoding,
    "ranks": ranks_in_memory,
    "rank file": a_rank_file,
    "specials": special_tokens,
    "file of specials": a_file_of_special_tokens,
    "Tekkenizer": a_tekkenizer,
    "fields": fields_in_memory,
    "slow tokenizer": a_slow_tokenizer,
}


@contextmanager
def limits() -> Iterator[None]:
    """Fail where a file takes too long; memory is measured over all of them."""

    def too_long(*_: object) -> None:
        raise AssertionError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def load(source: Any, options: dict[str, Any], folder: Path) -> Any:
    if isinstance(source, tuple):
        name, data = source
        (folder / name).write_bytes(data)
        source = folder
    if isinstance(options.get("specials"), bytes):
        (folder / "specials.json").write_bytes(options["specials"])
        options = {**options, "specials": folder / "specials.json"}
    return tokdfa.load(source, **options)


@pytest.mark.parametrize("name", CASES)
def test_spoiled_objects_are_refused_or_read_as_by_the_library(name: str, tmp_path: Path) -> None:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read, messages = 0, []
    for seed in seeds(100):
        drawn = random.Random(f"{name} {seed}")
        source, options, library = CASES[name](drawn)
        with limits():
            try:
                tokenizer = load(source, options, tmp_path)
            except TokdfaError as error:
                messages.append(str(error))
                continue
        encode = library()
        for text in TEXTS:
            try:
                ids = tokenizer.encode(text)
            except AlphabetError:
                # A symbol has no token, and the library drops it.
                assert len(b"".join(map(tokenizer.name_of, encode(text)))) < len(text.encode()), (seed, text)
                continue
            assert ids.tolist() == encode(text), (seed, text)
        read += 1
    refused = len(messages)
    assert not [message for message in messages if "\n" in message or len(message) > 800]
    # A seed by itself may be of either kind.
    assert (read and refused) or read + refused < 20, (read, refused)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < MEGABYTES * 1024
    print(f"\n{name}: {read} read, {refused} refused")
