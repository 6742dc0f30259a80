"""Small random tokenizers next to their libraries, finite languages, and guides compared with all streams of one."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import regex
import tiktoken
import tokenizers

import tokdfa
from tests.support.sentencepieces import trained
from tests.support.tokenizer_files import added_token, tiktoken_lines, tokenizer_json
from tokdfa.jobs.guiding.prefixes import State
from tokdfa.tokenizers.pretokenizers.steps import NAMED

__all__ = [
    "SYMBOLS",
    "Guided",
    "check_against",
    "continuations",
    "guided",
    "guided_by_sentencepiece",
    "guided_in_form",
    "guided_over_characters",
    "guided_with_any_parts",
    "guided_with_runs",
    "guided_with_strips",
    "random_file",
    "random_ranks",
    "some_languages",
]

SYMBOLS = ["a", "b", " ", "\n", "'", "s", "1", "é", "\u00ea", "中"]
NAMES = ["gpt2_tiktoken", "cl100k", "o200k"]


def random_ranks(source: random.Random, n: int = 14) -> dict[bytes, int]:
    """Ranks of random words over bytes; some of the words begin or end within a symbol."""
    data = "".join(source.choices(SYMBOLS, k=60)).encode()
    words = {data[at : at + source.randint(2, 5)] for at in source.sample(range(50), n)}
    ordered = sorted(words, key=lambda word: (len(word) + 2 * source.random(), word))
    return {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *ordered])}


def continuations(streams: set[tuple[int, ...]]) -> dict[tuple[int, ...], set[int]]:
    """Return the ids that can come next after each beginning of some streams, the shorter beginnings first."""
    nexts: dict[tuple[int, ...], set[int]] = {}
    for stream in sorted(streams, key=len):
        for place in range(len(stream)):
            nexts.setdefault(stream[:place], set()).add(stream[place])
        nexts.setdefault(stream, set())
    return {prefix: nexts[prefix] for prefix in sorted(nexts, key=len)}


def check_against(guide: tokdfa.Guide, streams: set[tuple[int, ...]], begin: State | None = None) -> int:
    """Compare a guide, from a state on, with all streams of its language; return the number of prefixes."""
    nexts = continuations(streams)
    states = {(): guide.initial if begin is None else begin}
    for prefix in nexts:
        if prefix:
            state = guide.step(states[prefix[:-1]], prefix[-1])
            assert state is not None, prefix
            states[prefix] = state
        state = states[prefix]
        assert set(guide.allowed(state).tolist()) == nexts[prefix], prefix
        assert guide.is_final(state) == (prefix in streams), prefix
    return len(nexts)


def some_languages(source: random.Random, symbols: list[str]) -> list[tuple[str, list[str]]]:
    """Finite languages, as regular expressions and as lists of their texts."""
    chosen = source.sample(symbols, 4)
    every = ["".join(word) for n in range(4) for word in product(chosen, repeat=n)]
    found = [(f"({'|'.join(map(regex.escape, chosen))}){{0,3}}", every)]
    exact = ["".join(word) for word in product(chosen[:3], repeat=4)]
    found.append((f"({'|'.join(map(regex.escape, chosen[:3]))}){{4}}", exact))
    texts = ["".join(source.choices(symbols, k=source.randint(1, 7))) for _ in range(12)]
    found.append(("|".join(map(regex.escape, texts)), texts))
    return found


def _random_rules(source: random.Random, text: bytes | None) -> list[tuple[bytes, bytes]]:
    """Ten merge rules, of parts of a text if one is given."""
    words = [bytes([byte]) for byte in dict.fromkeys(text or "".join(SYMBOLS).encode())]
    rules = []
    while len(rules) < 10:
        left, right = source.choice(words), source.choice(words)
        if left + right not in words and (text is None or left + right in text):
            rules.append((left, right))
            words.append(left + right)
    return rules


def random_file(
    source: random.Random, path: Path, text: bytes | None = None, late: str = "'b", **changes: Any
) -> tokenizers.Tokenizer:
    """Write a tokenizer.json with special tokens, and tokens that merging never gives; return the library's object.

    Its rules are of parts of a text, if one is given; `changes` are fields of the file. The special token `late` is
    found in normalized text.
    """
    rules = _random_rules(source, text)
    file = tokenizer_json(rules, **changes)
    vocab = file["model"]["vocab"]
    for word in ("aab", "Ġab", "b1b"):
        vocab.setdefault(word, len(vocab))
    file["model"]["ignore_merges"] = source.random() < 0.7
    added = [added_token(len(vocab), "<|a|>"), added_token(len(vocab) + 1, late, normalized=late != "'b")]
    file["added_tokens"] = added
    path.write_text(json.dumps(file), encoding="utf-8")
    return tokenizers.Tokenizer.from_file(str(path))


class Guided(NamedTuple):
    """A small tokenizer, the ids that its library gives for a text, parts of texts, and whether a text is kept.

    If it `is_anew`, guides take the text after a special token of a prompt for one that nothing precedes.
    """

    tokenizer: tokdfa.Tokenizer
    encode: Callable[[str], list[int]]
    symbols: list[str]
    keeps: Callable[[str], bool] = lambda text: True
    is_anew: bool = False

    def prompt(self, source: random.Random) -> list[int]:
        """Return the first ids of a random text, if they are canonical; none otherwise."""
        ids = self.encode("".join(source.choices(self.symbols, k=source.randrange(4))))[:3]
        is_kept = self.encode(self.tokenizer.decode(ids, errors="replace")) == ids
        return ids if is_kept and not (self.is_anew and {*ids[-1:]} & {*self.tokenizer.special_ids.tolist()}) else []


def guided(seed: int, folder: Path) -> Guided:
    """Return a random tokenizer: of ranks, or of a file with special tokens."""
    source = random.Random(seed)
    if seed % 2:
        library = random_file(source, folder / f"{seed}.json")
        symbols = [*SYMBOLS[:5], "'b", "<|", "a|>", "<|a|>"]
        return Guided(tokdfa.load(folder / f"{seed}.json"), lambda text: library.encode(text).ids, symbols)
    ranks, name = random_ranks(source), NAMES[seed // 2 % 3]
    path = folder / f"{seed}.tiktoken"
    path.write_bytes(tiktoken_lines(ranks))
    pattern = NAMED[name].steps[0].pattern
    oracle = tiktoken.Encoding("oracle", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return Guided(tokdfa.load(path, pretokenizer=name), oracle.encode_ordinary, SYMBOLS)


MARKED = [
    "e",
    "\u00e9",
    "\u0301",
    "\u0323",
    "\u0338",
    "\u1eb9",
    "\u1100",
    "\u1161",
    "\u11a8",
    "\u09c7",
    "\u09be",
    "\u212a",
]
"""Letters, marks that join them in any order or not at all, syllables of Hangul in parts, and the sign for kelvin."""


def guided_in_form(seed: int, folder: Path) -> Guided:
    """Return a random tokenizer that brings texts into a normalization form, one special token being found before."""
    source = random.Random(seed)
    path, form = folder / f"form{seed}.json", ["NFC", "NFC", "NFKC", "NFD"][seed % 4]
    text = "".join(source.choices([*MARKED, "a", "b", " a", "é"], k=300)).encode()
    library = random_file(source, path, text + b"<|>'q", "'q", normalizer={"type": form})
    normal = getattr(tokenizers.normalizers, form)()

    def keeps(text: str) -> bool:
        return all(normal.normalize_str(part) == part for part in text.split("<|a|>"))

    return Guided(tokdfa.load(path), lambda text: library.encode(text).ids, [*MARKED, "a", "b", "'q", "<|a|>"], keeps)


BEGINNINGS = ["put", "kept", "removed", "put once", "put if missing"]
"""Whether a space is put before texts, and removed again by decoding; Llama-2, Gemma, InternLM-2, Mistral."""


def guided_over_characters(seed: int, folder: Path) -> Guided:
    """Return a random tokenizer over characters, with bytes for others; the beginnings of texts are by the seed."""
    source, path, beginning = random.Random(seed), folder / f"characters{seed}.json", BEGINNINGS[seed % 5]
    text = "".join(source.choices(["a", "b", "\u00e9", "\u2581", "\u2581a", "'"], k=200))
    words = [*dict.fromkeys(text)]
    rules: list[tuple[str, str]] = []
    while len(rules) < 9:
        left, right = source.choice(words), source.choice(words)
        if left + right in text and left + right not in words:
            rules.append((left, right))
            words.append(left + right)
    names = ["<s>", *(f"<0x{byte:02X}>" for byte in range(256)), *words, "aab", "\u2581b\u00e9"]
    vocab = {name: id for id, name in enumerate(dict.fromkeys(names))}
    model = {"type": "BPE", "byte_fallback": True, "vocab": vocab, "merges": [list(rule) for rule in rules]}
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    back = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    before = [{"type": "Prepend", "prepend": "\u2581"}] if beginning == "put" else []
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if beginning != "kept" else []
    decoders = [back, {"type": "ByteFallback"}, {"type": "Fuse"}, *strip]
    file = tokenizer_json([], normalizer={"type": "Sequence", "normalizers": [*before, space]}, pre_tokenizer=None)
    if beginning.startswith("put "):
        scheme = "first" if beginning == "put once" else "always"
        metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": seed % 2 == 0}
        file |= {"normalizer": None, "pre_tokenizer": metaspace}
    file |= {"model": file["model"] | model, "decoder": {"type": "Sequence", "decoders": decoders}}
    path.write_text(json.dumps(file | {"added_tokens": [added_token(0, "<s>")]}), encoding="utf-8")
    library = tokenizers.Tokenizer.from_file(str(path))

    def keeps(text: str) -> bool:
        return library.decode(library.encode(text).ids, skip_special_tokens=False) == text

    symbols = ["a", "b", " ", "'", "\u00e9", "\u00ea", "\u4e2d", "\n", "\u2581", "<s>"]
    is_anew = beginning in ("put", "put if missing")
    return Guided(tokdfa.load(path), lambda text: library.encode(text).ids, symbols, keeps, is_anew)


def guided_with_runs(seed: int, folder: Path) -> Guided:
    """Return a random tokenizer with added tokens that begin, contain and continue each other, as Gemma has."""
    source = random.Random(seed)
    words = ["ab", "aba", "ba", "bab", "abaa", "bb", "<s>"]
    if seed % 3:
        path = folder / f"characters{5 * seed + 1}.json"
        guided_over_characters(5 * seed + 1, folder)
        words += ["\n", "\n\n", "\n\n\n", "ab\n", "b\u00e9", "\u2581\u2581", "a b", "\u00e9\nab"]
        split = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
        changes: dict[str, Any] = {"pre_tokenizer": split}
    else:
        path, changes = folder / f"runs{seed}.json", {}
        random_file(source, path, "".join(source.choices(["a", "b", "\u00e9", " b", "\n"], k=200)).encode())
    file = json.loads(path.read_text("utf-8")) | changes
    vocab = file["model"]["vocab"]
    chosen = source.sample(words, 6)
    file["added_tokens"] = [
        added_token(
            vocab.get(word, len(vocab) + n), word, normalized=source.random() < 0.3, special="\u2581" not in word
        )
        for n, word in enumerate(chosen)
    ]
    path.write_text(json.dumps(file), encoding="utf-8")
    library = tokenizers.Tokenizer.from_file(str(path))

    def keeps(text: str) -> bool:
        return library.decode(library.encode(text).ids, skip_special_tokens=False) == text

    symbols = ["a", "b", " ", "\u00e9", "\n", "ab", "ba", *(["\u2581"] if seed % 3 else [])]
    return Guided(tokdfa.load(path), lambda text: library.encode(text).ids, symbols, keeps)


def guided_with_any_parts(seed: int, folder: Path) -> Guided:
    """Return a random tokenizer over characters: added tokens found early or late, few or no bytes, other decoders."""
    source, path = random.Random(seed), folder / f"parts{seed}.json"
    guided_over_characters(seed, folder)
    file = json.loads((folder / f"characters{seed}.json").read_text("utf-8"))
    vocab, model = file["model"]["vocab"], file["model"]
    for word in source.choice([[], [], ["<0xC3>"], [name for name in vocab if name.startswith("<0x")]]):
        vocab.pop(word)
    model["byte_fallback"] = any(name.startswith("<0x") for name in vocab) or source.random() < 0.3
    if source.random() < 0.4:
        first = source.random() < 0.7
        scheme = {"prepend_scheme": "always" if first else "never", "split": source.random() < 0.5}
        file["decoder"] = {"type": "Metaspace", "replacement": "\u2581", **scheme}
    vocab |= {word: id for id, word in enumerate(dict.fromkeys(vocab))}
    file["model"] |= {"merges": [rule for rule in model["merges"] if {*rule, "".join(rule)} <= {*vocab}]}
    words = source.sample(["<t>", "ab", "b<", "<s>a", "\u00e9 a", "\u2581b", "\n\n", "\u00e9 b"], source.randrange(4))
    added = [added_token(vocab["<s>"], "<s>")]
    for n, word in enumerate(words):
        id = vocab.get(word, len(vocab) + n)
        added.append(
            added_token(
                id, word, normalized=source.random() < 0.6, special="\u2581" not in word and source.random() < 0.3
            )
        )
    path.write_text(json.dumps(file | {"added_tokens": added}), encoding="utf-8")
    library = tokenizers.Tokenizer.from_file(str(path))

    def keeps(text: str) -> bool:
        ids = library.encode(text).ids
        return bool(library.decode(ids, skip_special_tokens=False) == text)

    symbols = ["a", "b", " ", "\u00e9", "\u4e2d", "\n", "\u2581", "<s>", *words, "<0x41>"]
    is_anew = BEGINNINGS[seed % 5] in ("put", "put if missing")
    return Guided(tokdfa.load(path), lambda text: library.encode(text).ids, symbols, keeps, is_anew)


def guided_with_strips(seed: int, folder: Path) -> Guided:
    """Return a random tokenizer with added tokens that take the white space next to them, of any family."""
    source = random.Random(seed)
    if seed % 2:
        guided_over_characters(seed, folder)
        path, changes, is_anew = (
            folder / f"characters{seed}.json",
            {},
            BEGINNINGS[seed % 5] in ("put", "put if missing"),
        )
    else:
        path, is_anew = folder / f"strips{seed}.json", False
        text = "".join(source.choices(["a", "b", "\u00e9", " b", "\n", "\u2003", "  "], k=200)).encode()
        random_file(source, path, text)
        changes = {"normalizer": source.choice([None, None, {"type": "NFC"}])}
    file = json.loads(path.read_text("utf-8")) | changes
    vocab = file["model"]["vocab"]
    words = ["<s>", "<t>", "<m>", "<", "ab", "b a", "a\n", "\nb", "\n\n", "\u2003", "\u00a0a", " a", " "]
    # Late tokens cannot be told from texts where these are normalized in other ways.
    n_late = 0.0 if seed % 10 == 5 or file.get("normalizer") == {"type": "NFC"} else 0.3
    added = []
    for n, word in enumerate(dict.fromkeys(["<s>", *source.sample(words[: 9 if seed % 2 else None], 3)])):
        flags = {"normalized": source.random() < n_late, "lstrip": source.random() < 0.4}
        # The library fails on white space that takes more only on its left.
        rstrip = source.random() < 0.5 or (word.isspace() and flags["lstrip"])
        id = vocab.get(word, len(vocab) + n)
        added.append(added_token(id, word, **flags, rstrip=rstrip, special=source.random() < 0.7))
    file["added_tokens"] = added
    path.write_text(json.dumps(file), encoding="utf-8")
    library = tokenizers.Tokenizer.from_file(str(path))

    def keeps(text: str) -> bool:
        return bool(library.decode(library.encode(text).ids, skip_special_tokens=False) == text)

    spaces = [" ", "\n", "\u2003", "\u00a0"]
    symbols = ["a", "b", *source.sample(spaces, 3), " ", *(token["content"] for token in added)]
    return Guided(tokdfa.load(path), lambda text: library.encode(text).ids, symbols, keeps, is_anew)


def guided_by_sentencepiece(seed: int, folder: Path) -> Guided:
    """Return a random SentencePiece model with symbols of several characters; every other one puts a space first."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as pb

    source = random.Random(seed)
    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(trained("identity", byte_fallback=True))
    normal, user = (getattr(model.pieces[0], kind) for kind in ("NORMAL", "USER_DEFINED"))
    kept = [piece for piece in model.pieces if piece.type != user and (piece.type != normal or len(piece.piece) == 1)]
    words = ["ab", "aba", "b\u00e9", "bab", "\nab", "aa"]
    random_words = {"".join(source.choices("ab\u2581\u00e9'", k=source.randint(2, 4))) for _ in range(14)}
    del model.pieces[len(kept) :]
    for at, piece in enumerate(kept):
        model.pieces[at].CopyFrom(piece)
    for word in sorted(random_words):
        model.pieces.add(piece=word, score=-float(source.randrange(9)), type=normal)
    for word in (word for word in source.sample(words, 4) if word not in random_words):
        model.pieces.add(piece=word, score=0.0, type=user)
    model.normalizer_spec.add_dummy_prefix = seed % 2 == 0
    model.normalizer_spec.remove_extra_whitespaces = False
    path = folder / f"pieces{seed}.model"
    path.write_bytes(model.SerializeToString())
    library = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())

    def keeps(text: str) -> bool:
        return bool(library.decode(library.encode(text)) == text)

    symbols = ["a", "b", " ", "'", "\u00e9", "\u4e2d", "\n", "ab", "\u2581"]
    return Guided(tokdfa.load(path), library.encode, symbols, keeps)
