"""Spoiled files of tokenizers that rewrite texts: an error, or the answer of the file's own library."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import random_files, sentencepieces
from tests.support.editing import edited_bytes
from tests.support.limits import bounded
from tests.support.seeds import seeds
from tokdfa.base.errors import AlphabetError, FileFormatError, LimitExceededError, PatternError, TokenStreamError

# One file takes no longer, and all together no more memory.
SECONDS = 30
MEGABYTES = 1500

TEXTS = [
    "",
    "the cat",
    " a  b ",
    "abcabc\n\t",
    "Aé\u0301 \u2581\u2581",
    "<sep>x<ctl>",
    "日本 ½\ufb01",
    "\U0001f600\x00",
    "<x>AB [b]",
]
IDS = [[], [0], [1, 2, 3], [5, 90, 31, 7], [260, 12, 270], [200, 227, 129]]

# The libraries crash on some of these files, so that they are asked in a process of their own.
SERVER = """
import json, sys
def load(kind, path):
    if kind == "sentencepiece":
        import sentencepiece
        peer = sentencepiece.SentencePieceProcessor(model_file=path)
        return peer.encode, peer.decode, len(peer)
    import tokenizers
    peer = tokenizers.Tokenizer.from_file(path)
    encode = lambda text: peer.encode(text, add_special_tokens=False).ids
    return encode, (lambda ids: peer.decode(ids, skip_special_tokens=False)), peer.get_vocab_size(True)
for line in sys.stdin:
    kind, path, texts, streams = json.loads(line)
    try:
        encode, decode, n = load(kind, path)
    except BaseException as error:
        print(json.dumps({"refused": str(error)[:200]}), flush=True)
        continue
    def safely(function, value):
        try:
            return function(value)
        except BaseException:
            return None
    answer = [safely(encode, text) for text in texts], [safely(decode, ids) for ids in streams]
    print(json.dumps({"answer": answer}), flush=True)
"""


class Library:
    """A process that answers what a library does with a file."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, kind: str, path: Path, streams: list[list[int]]) -> dict[str, Any]:
        """Return ids of the texts and texts of the streams; or why the file is refused; or nothing after a crash."""
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-c", SERVER]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([kind, str(path), TEXTS, streams]) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._process.wait()
            return {}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    started = Library()
    yield started
    started.close()


def examine(data: bytes, path: Path, kind: str, library: Library) -> bool:
    """Load a file and compare; return whether it loads."""
    path.write_bytes(data)
    with bounded(SECONDS, MEGABYTES):
        try:
            tokenizer = tokdfa.load(path, format="sentencepiece" if kind == "sentencepiece" else "tokenizer.json")
        except (FileFormatError, PatternError, LimitExceededError) as error:
            message = str(error)
        else:
            message = ""
    if message:
        assert "\n" not in message
        assert len(message) < 700
        return False
    with bounded(SECONDS, MEGABYTES):
        ours: list[list[int] | None] = []
        for text in TEXTS:
            try:
                ours.append(tokenizer.encode(text).tolist())
            except AlphabetError:
                ours.append(None)
        streams = [ids for ids in IDS if max(ids, default=0) < tokenizer.n_ids]
        spelled: list[str | None] = []
        for ids in streams:
            try:
                spelled.append(tokenizer.decode(ids))
                tokenizer.validate(ids)
            except TokenStreamError:
                spelled.append(None)
    answer = library.ask(kind, path, streams)
    if not answer:
        return True
    assert "refused" not in answer, answer
    for mine, theirs, text in zip(ours, answer["answer"][0], TEXTS, strict=True):
        assert mine is None or theirs is None or mine == theirs, text
    if kind == "tokenizers" and json.loads(data).get("decoder") is None:
        # Without a decoder the library joins tokens with spaces; the text of ids is their bytes' text.
        return True
    for mine_spelled, their_text, ids in zip(spelled, answer["answer"][1], streams, strict=True):
        assert mine_spelled is None or their_text is None or mine_spelled == their_text, ids
    return True


# Bytes


# Protocol buffers


def model_changed(data: bytes, drawn: random.Random) -> bytes:
    from sentencepiece import sentencepiece_model_pb2 as pb

    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(data)
    trainer, normalizer = model.trainer_spec, model.normalizer_spec

    def flag(spec: Any, *names: str) -> None:
        name = drawn.choice(names)
        setattr(spec, name, not getattr(spec, name))

    def piece(**values: Any) -> None:
        for name, value in values.items():
            setattr(drawn.choice(model.pieces), name, value)

    table = bytes(normalizer.precompiled_charsmap)
    changes: list[Callable[[], object]] = [
        lambda: flag(trainer, "byte_fallback", "treat_whitespace_as_suffix"),
        lambda: flag(normalizer, "add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"),
        lambda: setattr(trainer, "model_type", drawn.randrange(1, 5)),
        lambda: piece(score=drawn.choice([0.0, -1e30, 1e30, float("inf"), float("nan"), -0.0])),
        lambda: piece(type=drawn.randrange(1, 7)),
        lambda: piece(piece=drawn.choice(["", "a", "\u2581", "<unk>", "<s>", "ab", "\x00", "<0x41>", " ", "x" * 3000])),
        lambda: model.pieces.add(piece=drawn.choice(["zz", "\u2581t", "the"]), score=drawn.random()),
        lambda: model.pieces.remove(drawn.choice(model.pieces)),
        lambda: setattr(trainer, "unk_surface", drawn.choice(["", "\u2581", " x", "\x00", "<unk>"])),
        lambda: setattr(normalizer, "precompiled_charsmap", edited_bytes(drawn, table) if table else b"abcd"),
        lambda: setattr(normalizer, "precompiled_charsmap", edited_bytes(drawn, table) if table else b"\4\0\0\0abcd\0"),
    ]
    for _ in range(drawn.randrange(1, 4)):
        drawn.choice(changes)()
    changed: bytes = model.SerializeToString()
    return changed


def model_spoiled(drawn: random.Random) -> bytes:
    rule = drawn.choice([*sentencepieces.RULES[1:2], *["identity"] * 8])
    data = sentencepieces.trained(rule, drawn.random() < 0.5)
    return model_changed(data, drawn) if drawn.random() < 0.6 else edited_bytes(drawn, data)


# JSON

ODD: list[Any] = [None, True, False, 0, -1, 1.5, 2**31, 2**64, 10**40, "", "x", " ", "\u2581", "\ud800", [], [None], {}]
ODD += [{"type": kind} for kind in ("Sequence", "NFKC", "Metaspace", "ByteFallback", "Fuse", "Strip", "Whitespace")]


def places(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield where
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*where, key))


def values_changed(fields: dict[str, Any], drawn: random.Random) -> bytes:
    fields = copy.deepcopy(fields)
    for _ in range(drawn.randrange(1, 3)):
        # The vocabulary is most of the file, so that it gets but one chance as a whole.
        others = [key for key in fields if key != "model" and isinstance(fields[key], (dict, list))]
        branch = drawn.choice([*others, "model", drawn.choice([*fields])])
        *path, last = (branch, *drawn.choice([*places(fields[branch])]))
        inner = fields
        for key in path:
            inner = inner[key]
        if isinstance(inner[last], bool) and drawn.random() < 0.7:
            inner[last] = not inner[last]
        elif isinstance(inner[last], str) and drawn.random() < 0.4:
            inner[last] = drawn.choice(["a", " ", "ab", "\u2581", "always", "first", "never", inner[last] + "a"])
        elif drawn.random() < 0.2:
            del inner[last]
        else:
            inner[last] = copy.deepcopy(drawn.choice(ODD))
    return json.dumps(fields).encode()


def json_spoiled(drawn: random.Random) -> bytes:
    fields = drawn.choice([random_files.character_file, random_files.byte_file])(drawn)
    if drawn.random() < 0.3:
        return edited_bytes(drawn, json.dumps(fields).encode())
    return values_changed(fields, drawn)


SPOILED = {"sentencepiece": model_spoiled, "tokenizers": json_spoiled}


def assert_spoiled_files_agree(kind: str, chosen: range, path: Path, library: Library) -> int:
    pytest.importorskip(kind)
    loaded = 0
    for seed in chosen:
        data = SPOILED[kind](random.Random(seed))
        try:
            loaded += examine(data, path, kind, library)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    return loaded


@pytest.mark.parametrize("kind", SPOILED)
def test_spoiled_files(kind: str, tmp_path: Path, library: Library) -> None:
    loaded = assert_spoiled_files_agree(kind, range(60), tmp_path / "spoiled.model", library)
    assert 0 < loaded < 60


@pytest.mark.slow
@pytest.mark.parametrize("kind", SPOILED)
def test_many_spoiled_files(kind: str, tmp_path: Path, library: Library, tally: Tally) -> None:
    chosen = seeds(1000)
    loaded = assert_spoiled_files_agree(kind, chosen, tmp_path / "spoiled.model", library)
    print(kind, loaded, "of", len(chosen), "files load")
    tally("loading", "spoiled inputs", len(chosen))
