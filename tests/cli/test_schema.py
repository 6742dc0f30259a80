"""tokdfa schema: what --json prints is described exactly, and nothing is described that is never printed."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from support import commands, schemas, sentencepieces, unigrams
from support.gguf_files import Typed, byte_level, gguf
from support.gguf_files import sentencepiece as gguf_sentencepiece
from support.gguf_files import wordpiece as gguf_wordpiece
from support.tokenizer_files import (
    GPT2_BYTES,
    added_token,
    as_bytes,
    merges_txt,
    ranks,
    tekken_json,
    tiktoken_lines,
    tokenizer_json,
)
from support.tokenizer_files import vocabulary as byte_vocabulary

import tokdfa
from tokdfa.cli.group import COMMANDS, group
from tokdfa.cli.schema import described
from tokdfa.comparison.findings import Outcome, Part
from tokdfa.draw.render import can_render
from tokdfa.validation.kind import ViolationKind

PAIRS = [(b"a", b"b"), (b"c", b"d"), (b"b", b"c"), (b"ab", b"c")]
Run = tuple[object, ...]


class Files:
    """Writes small tokenizers and streams, each into a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n = 0

    def write(self, name: str, content: bytes | str) -> Path:
        self.n += 1
        path = self.folder / str(self.n) / name
        path.parent.mkdir()
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def merges(self, pairs: list[tuple[bytes, bytes]] = PAIRS) -> Path:
        return self.write("merges.txt", merges_txt(pairs))

    def json(self, rules: list[tuple[bytes, bytes]] = PAIRS, **changes: Any) -> Path:
        return self.write("tokenizer.json", as_bytes(tokenizer_json(rules, **changes)))

    def characters(self, **model: Any) -> Path:
        """A tokenizer.json over characters, of which it has a, b and c."""
        vocab = {word: number for number, word in enumerate(["a", "b", "c", "ab", "<unk>"])}
        plain = tokenizer_json([], pre_tokenizer=None, decoder={"type": "Fuse"}, added_tokens=[])
        plain["model"] |= {"vocab": vocab, "merges": [["a", "b"]], **model}
        return self.write("tokenizer.json", as_bytes(plain))

    def ranks(self, words: list[bytes]) -> Path:
        return self.write("some.tiktoken", tiktoken_lines(ranks(words)))

    def entries(self, *entries: str) -> Path:
        return self.write("vocab.txt", "".join(f"{entry}\n" for entry in entries))

    def wordpiece(self, entries: tuple[str, ...] = ("[UNK]", "a", "##b"), **changes: Any) -> Path:
        model = {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {entry: number for number, entry in enumerate(entries)},
            **changes.pop("model", {}),
        }
        normalizer = {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        }
        whole = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {**normalizer, **changes.pop("normalizer", {})},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": None,
            "decoder": {"type": "WordPiece", "prefix": model["continuing_subword_prefix"], "cleanup": True},
            "model": model,
            **changes,
        }
        return self.write("tokenizer.json", as_bytes(whole))

    def unigram(self, **changes: Any) -> Path:
        fields = {
            "version": "1.0",
            "added_tokens": [],
            "decoder": {"type": "Fuse"},
            "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["b", -1], ["ab", -1.5]]},
        }
        return self.write("unigram.json", as_bytes({**fields, **changes}))

    def unigram_with_bytes(self) -> Path:
        """One with the bytes of xa, which is a piece, where x is none."""
        pieces = [["?", 0], ["a", -1], ["xa", -2], ["<0x61>", -1], ["<0x78>", -1]]
        decoder = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
        model = {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": pieces}
        return self.unigram(model=model, decoder=decoder)

    def ids(self, *ids: int) -> Path:
        path = self.write("ids.npy", b"")
        np.save(path, np.array(ids))
        return path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def of_encode(files: Files) -> Iterator[Run]:
    tok = files.merges()
    yield tok, "abc"
    yield tok, "abc", "-o", tok.with_name("ids.npy")


def of_split(files: Files) -> Iterator[Run]:
    tok = _with(files.json(), added_tokens=[added_token(260, "<s>")])
    yield tok, "abc<s>"
    yield tok, "abc<s>", "--explain"
    behaviors = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
    steps = [
        {"type": "Split", "pattern": {"String": symbol}, "behavior": behavior, "invert": symbol == "+"}
        for symbol, behavior in zip("xc-+.", behaviors, strict=True)
    ]
    # The machine of a space that a later step inserts is not there.
    steps.insert(1, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False})
    yield _with(files.json(), pre_tokenizer={"type": "Sequence", "pretokenizers": steps}), "a bc", "--explain"


def of_cuts(files: Files) -> Iterator[Run]:
    tok = files.json()
    yield tok, "--text", "ab cd e"
    yield tok, "--text", "ab cd e", "--before", "3"
    yield tok, files.write("ids.json", "[0, 1, 2]"), "--ends", "--window"


def of_injection(files: Files) -> Iterator[Run]:
    tok = files.json()
    yield tok, "<user>{content}"
    yield tok, "{content:[ab]*}", "--rule", "mistral-common"
    yield tok, "{content:[ab]*}", "--rule", "llama.cpp"
    yield tok, "{content:(ab)+<.*c}", "--rule", "tiktoken"
    strips = [{**added_token(260, text), "lstrip": True} for text in ("<<",)]
    yield _with(files.json(), added_tokens=strips), "<{content}"


def of_turns(files: Files) -> Iterator[Run]:
    tok = files.json()
    yield tok, "<|end|>a{q}", "<|end|>{a}"
    yield tok, "{q}", "b{a}"
    yield files.json([(b"d", b"x")]), "'", "dx{a}"
    yield _with(files.json(), normalizer={"type": "NFC"}), "{q}ab", "c{a}"


def of_template(files: Files) -> Iterator[Run]:
    tok = files.json()
    turns = "{% for m in messages %}<|end|>{{ m.role }} {{ m.content }}{% endfor %}"
    refuses = "{% if tools %}{{ raise_exception('no tools') }}{% endif %}"
    yield tok, files.write("a.jinja", refuses + turns)
    upper = "{{ m.content | upper if m.role == 'system' else m.content }}"
    yield tok, files.write("b.jinja", turns.replace("{{ m.content }}", f"a{upper}")), "--rule", "llama.cpp"
    yield tok, files.write("c.jinja", "{% for m in messages %}<|end|>{{ m.content }}<|end|>{% endfor %}")
    yield tok, files.write("d.jinja", "a{{ messages[0].content }}b"), "--rule", "mistral-common"
    strips = [{**added_token(260, "<<"), "lstrip": True}]
    odd = _with(files.json(), added_tokens=strips)
    yield odd, files.write("e.jinja", "<{{ messages[0].content }}"), "--rule", "transformers"
    yield (
        tok,
        files.write("f.jinja", "<|end|>{{ messages[0].content }} {{ messages[0].content }}"),
        "--rule",
        "tiktoken",
    )


def of_splice(files: Files) -> Iterator[Run]:
    tok = files.json()
    yield tok, "--before", "a", "--after", "b"
    yield tok, "--before", "a", "--after", "d"
    yield tok, "--before-ids", "64 65", "--after", "b"
    yield _with(files.json(), normalizer={"type": "NFC"}), "--before", "ab", "--after", "c"


def of_forced(files: Files) -> Iterator[Run]:
    yield files.json(), "--language", "(a|b)cd"
    yield files.json(), "--language", "x(ab|a b)|c( a)*", "--longest", "9"


def of_decode(files: Files) -> Iterator[Run]:
    yield files.merges(), files.ids(64, 65)


def of_fingerprint(files: Files) -> Iterator[Run]:
    tok = files.merges()
    lock = tok.with_name("tokenizer.lock")
    yield (tok,)
    yield tok, "-o", lock
    yield tok, "--check", lock
    yield files.merges(PAIRS[:1]), "--check", lock


def corpora(files: Files) -> Iterator[Run]:
    """The runs of validate over several files, from its arguments on."""
    a, b = (GPT2_BYTES.index(byte) for byte in b"ab")
    # The last rule never applies.
    tok = files.json([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")])
    yield tok, files.ids(a), files.ids(a)
    yield tok, files.ids(a, b, 99999, 258), files.ids(GPT2_BYTES.index(0xFF))
    yield tok, files.ids(a), files.write("ids.npz", b"")


def of_stores(files: Files) -> Iterator[Run]:
    """The runs of stores, from its arguments on."""
    yield (files.write("ids.txt", "97 98"),)
    yield (files.write("ids.jsonl", '{"input_ids": [97], "loss_mask": [1]}\n[3]\n'),)
    yield (files.write("ids.jsonl", '{"input_ids": [97], "loss_mask": [1]}\n'),)
    yield ("--dtype", "uint16", files.write("ids.bin", b"1234"))
    yield (files.write("ids.npy", b"1234").parent,)


def of_guess(files: Files) -> Iterator[Run]:
    """The runs of guess, from its arguments on."""
    tok = files.write("merges.txt", "")
    tokdfa.default_dictionary().save(tok)
    of_gpt2 = ("--pretokenizer", "gpt2")
    text = Path(__file__).with_name("test_schema.py").parents[2].joinpath("README.md").read_text("utf-8")
    ids = tokdfa.default_tokenizer().encode(text)[:4000]
    yield files.write("ids.bin", ids.astype("<u2").tobytes()), tok, *of_gpt2
    yield files.write("ids.bin", ids.astype("<u2").tobytes()), tok, *of_gpt2, "--dtype", ">u2"
    yield files.write("ids.bin", ids.astype("<u4").tobytes()), tok, *of_gpt2, "--dtype", "uint16"
    yield files.ids(*(ids + 5)), tok, *of_gpt2
    yield files.ids(*np.insert(ids, range(50, 4000, 50), 5000)), tok, *of_gpt2
    yield files.ids(*np.tile(ids, 20)), tok, *of_gpt2, "--most", 5000
    rows = files.write("ids.jsonl", '{"input_ids": [97]}\n{"input_ids": [98]}\n')
    yield rows, files.ranks([b"ab", b"cd"]), files.json()
    yield files.write("ids.txt", "97 98"), files.json()
    (rows.parent / "x.npy").write_bytes(b"\x93NUMPY")
    yield rows.parent, files.json()
    # A dictionary that is not proper, and of which it is not known what its library makes.
    improper = files.write("merges.txt", merges_txt([(b"a", b"bc"), (b"b", b"c")]))
    yield files.ids(97, 98), improper, files.json()


def of_search(files: Files) -> Iterator[Run]:
    tok, ids = files.merges(), files.ids(64, 65)
    yield tok, "a", ids
    yield tok, "x", ids
    yield tok, "a", ids, "--count"


def of_replace(files: Files) -> Iterator[Run]:
    tok, ids = files.merges(), files.ids(64, 65)
    yield tok, "a", "c", ids
    yield tok, "a", "c", ids, "-o", tok.with_name("replaced.npy")


def of_train(files: Files) -> Iterator[Run]:
    corpus = files.write("corpus.txt", "low low lower")
    yield corpus, "--merges", 2, "-o", corpus.with_name("merges.txt")


def of_draw(files: Files) -> Iterator[Run]:
    tok, entries = files.merges(PAIRS[:1]), files.entries("[UNK]", "a", "##b")
    output = tok.with_name("x.dot")
    yield tok, "-o", output, "--language", "(ab)*"
    yield tok, "-o", output, "--max-states", 1
    yield entries, "-o", output
    yield entries, "-o", output, "--max-states", 1
    if can_render():
        yield tok, "-o", tok.with_name("x.html"), "--film", "--language", "(ab)*"


def of_locality(files: Files) -> Iterator[Run]:
    tok = files.merges(PAIRS[:1])
    yield (tok,)
    # No rule is about c; without an even number of them nothing is accepted, however many tokens are known.
    yield tok, "--language", "(cc)*"
    yield tok, "--language", "ab|ba"
    yield tok, "--look-ahead"
    yield (files.entries("[UNK]"),)
    yield (files.entries("[UNK]", "a", "abcd", "##b", "##bc", "##z"),)


def _gguf_files(files: Files) -> Iterator[Run]:
    """Files of llama.cpp with everything that may be odd in them and is read all the same."""
    flags = {f"add_{name}_token": Typed("bool", True) for name in ("bos", "eos", "sep")}
    for fields in (
        byte_level(pre=None),
        byte_level(pre="llama-bpe", **flags),
        byte_level(specials=(("<|end|>", 1),)),
        gguf_sentencepiece(scores=None),
        gguf_sentencepiece(remove_extra_whitespaces=Typed("bool", True)),
        gguf_wordpiece(merges=Typed("string", ["x y"])),
        gguf_wordpiece(eos_token_id=Typed("u32", 5)),
    ):
        yield (files.write("x.gguf", gguf(fields)),)


def of_info(files: Files) -> Iterator[Run]:
    template = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {},
    }
    end = ["<|end|>", len(byte_vocabulary(PAIRS))]
    bert = {"type": "BertProcessing", "sep": end, "cls": end}
    roberta = {**bert, "type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False}
    merges = files.merges()
    yield (merges,)
    for store in of_stores(files):
        yield (*store,) if Path(store[0]).suffix != ".txt" else (files.ids(97),)  # type: ignore[arg-type]
    yield (files.json(post_processor={"type": "Sequence", "processors": [template, bert, roberta]}),)
    # The last rule never applies, for what it merges has been merged otherwise.
    yield (files.merges([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]),)
    yield (files.ranks([b"abc", b"ab"]),)
    yield (files.write("tekken.json", as_bytes(tekken_json())),)
    # The left part of a rule before the rule that makes it; and its right part.
    yield (files.merges([(b"ab", b"c"), (b"a", b"b")]),)
    yield (files.merges([(b"c", b"ab"), (b"a", b"b")]),)
    yield from _gguf_files(files)
    with_vocab = files.merges()
    with_vocab.with_name("vocab.json").write_bytes(as_bytes(byte_vocabulary(PAIRS)))
    yield (with_vocab.parent,)
    # No rule makes the left part of a rule, which is a token all the same: without the rule it is the same.
    idle = tokenizer_json([])["model"]
    idle["vocab"] |= {"ca": 256, "cac": 257}
    yield (files.json(model={**idle, "merges": [["ca", "c"]]}, added_tokens=[]),)
    yield (files.write("some.model", sentencepieces.trained("identity", True)),)
    yield (_with(files.characters(unk_token="<unk>"), normalizer={"type": "Lowercase"}),)
    yield (files.characters(continuing_subword_prefix="##", vocab={"a": 0, "##b": 1, "ab": 2}, merges=[["a", "##b"]]),)
    dead = {"ignore_merges": True}
    rules = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]
    yield (files.json(rules, model={**tokenizer_json(rules)["model"], **dead}),)
    yield (files.entries("[UNK]", "a", "##b", "a b", "a"),)
    yield (files.entries("a", "##b"),)
    odd: dict[str, Any] = {"truncation": None, "padding": None, "post_processor": None}
    odd["truncation"] = {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0}
    odd["padding"] = {"strategy": "BatchLongest", "direction": "Right", "pad_id": 0, "pad_type_id": 0}
    odd["padding"]["pad_token"] = "[PAD]"
    odd["post_processor"] = bert
    no = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    yield (files.wordpiece(normalizer=no, **odd),)
    yield (files.json(truncation=odd["truncation"], padding=odd["padding"]),)
    yield (files.wordpiece(("[UNK]", "a", "xb"), model={"continuing_subword_prefix": "x"}),)
    yield (files.unigram(normalizer={"type": "Lowercase"}, truncation=odd["truncation"]),)
    as_bytes_too = {"type": "Unigram", "byte_fallback": True, "vocab": [["a", -1]]}
    yield (files.unigram(model=as_bytes_too, added_tokens=[added_token(1, "<x>")]),)
    model = files.write("x.model", unigrams.trained_by_sentencepiece("identity", False, 0))
    yield (model,)
    yield model, "--unicode", "sentencepiece==0.2.1"
    for language in ("(abc){1,2}|x", "a*", r"[^\s\S]"):
        yield merges, "--language", language


def _with(path: Path, **changes: Any) -> Path:
    path.write_bytes(as_bytes({**json.loads(path.read_text(encoding="utf-8")), **changes}))
    return path


def of_compare(files: Files) -> Iterator[Run]:
    a, b = files.merges(), files.merges([PAIRS[1], PAIRS[0], *PAIRS[2:]])
    c = files.merges([PAIRS[0], PAIRS[2], PAIRS[1], PAIRS[3]])
    yield a, a
    yield a, b, "--ignore-ids"
    yield a, b
    yield a, c, "--ignore-ids"
    yield c, a, "--ignore-ids"
    yield a, files.merges(PAIRS[:1])
    yield files.merges(PAIRS[:1]), a
    yield a, a, "--pretokenizer", ".|\n", "--pretokenizer-b", "(?:.|\n)+"
    # Of these no automaton is built.
    yield a, b, "--pretokenizer", "(a|b)*a(a|b){12}|ab|.|\n", "--pretokenizer-b", "(?:a|b)*a(?:a|b){12}|ab|.|\n"
    yield files.json(), files.json(normalizer={"type": "Lowercase"})
    yield files.json(), files.json(added_tokens=[added_token(len(byte_vocabulary(PAIRS)), "<x>")])
    characters = files.characters()
    yield characters, files.characters(unk_token="<unk>")
    yield files.characters(unk_token="<unk>"), characters
    yield characters, files.json(added_tokens=[])
    yield files.characters(), files.characters(merges=[])
    x, y = files.entries("[UNK]", "a", "##b"), files.entries("[UNK]", "a", "##b", "##bb")
    yield x, y
    yield y, x
    yield x, files.entries("[UNK]", "a", "##b", "a b")
    yield files.wordpiece(), files.wordpiece(model={"max_input_chars_per_word": 7})
    plain = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": False, "lowercase": False}
    yield files.wordpiece(), files.wordpiece(normalizer=plain)
    yield files.wordpiece(("[UNK]", "a", "b")), files.wordpiece(normalizer=plain)


def of_validate(files: Files) -> Iterator[Run]:
    def ids(text: bytes, *before: int) -> Path:
        return files.ids(*before, *map(GPT2_BYTES.index, text))

    tok, crossing = files.json(), files.json([(b"a", b" ")])
    yield tok, files.ids(256)
    yield tok, ids(b"ab")
    yield tok, ids(b"ab"), "--window"
    yield crossing, ids(b"b", 256)
    yield crossing, ids(b"b", 256), "--window"
    yield tok, ids(b"\xff")
    yield tok, ids(b"<|end|>")
    yield from corpora(files)
    rules = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]
    whole = files.json(rules, model={**tokenizer_json(rules)["model"], "ignore_merges": True})
    yield files.merges(rules), files.ids(258)
    yield whole, ids(b"a", 258)
    yield whole, ids(b"c", 256)
    yield files.entries("[UNK]", "a", "##b", "ab"), files.ids(1, 2)
    yield files.entries("a", "##b"), files.ids(1)
    lower = _with(files.characters(vocab={"a": 0, "A": 1}, merges=[]), normalizer={"type": "Lowercase"})
    yield lower, files.ids(1)
    unigram = files.unigram()
    yield unigram, files.ids(1, 2), "--explain"
    yield files.unigram_with_bytes(), files.ids(4, 3), "--explain"


def of_rollouts(files: Files) -> Iterator[Run]:
    fields = ("--ids", "ids", "--mask", "mask")

    def rollouts(*streams: list[int]) -> Path:
        # The first of three of each is a bug, the second drift, the third a junction.
        masks = ([0] * 9, [1] * 9, [1, 0] * 5)
        rows = [{"ids": ids, "mask": mask[: len(ids)]} for ids in streams for mask in masks]
        return files.write("r.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def ids(text: bytes, *before: int) -> list[int]:
        return [*before, *map(GPT2_BYTES.index, text)]

    tok, crossing = files.json(), files.json([(b"a", b" ")])
    yield tok, rollouts([256]), *fields
    yield tok, rollouts(ids(b"ab"), ids(b"\xff"), ids(b"<|end|>")), *fields
    yield crossing, rollouts(ids(b"b", 256)), *fields
    rules = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]
    whole = files.json(rules, model={**tokenizer_json(rules)["model"], "ignore_merges": True})
    yield files.merges(rules), rollouts([258]), *fields
    yield whole, rollouts(ids(b"a", 258), ids(b"c", 256)), *fields
    yield files.entries("[UNK]", "a", "##b", "ab"), rollouts([1, 2]), *fields
    yield files.entries("a", "##b"), rollouts([1]), *fields
    lower = _with(files.characters(vocab={"a": 0, "A": 1}, merges=[]), normalizer={"type": "Lowercase"})
    yield lower, rollouts([1]), *fields


def of_formats(_: Files) -> Iterator[Run]:
    yield ()


EXAMPLES: dict[str, Callable[[Files], Iterator[Run]]] = {
    "validate": of_validate,
    "rollouts": of_rollouts,
    "compare": of_compare,
    "search": of_search,
    "replace": of_replace,
    "stores": of_stores,
    "guess": of_guess,
    "info": of_info,
    "encode": of_encode,
    "decode": of_decode,
    "splice": of_splice,
    "cuts": of_cuts,
    "injection": of_injection,
    "template": of_template,
    "turns": of_turns,
    "forced": of_forced,
    "split": of_split,
    "fingerprint": of_fingerprint,
    "locality": of_locality,
    "draw": of_draw,
    "train": of_train,
    "formats": of_formats,
}
# What no example here has.


def _under(place: str) -> set[str]:
    """Return all that the schema of info promises at a place."""
    return {each for each in schemas.promised("info") if each.startswith(place)}


# What may be odd in files of byte pairs and of SentencePiece alone.
_OF_OTHERS = ("no pre", "scores not ordered")
# Certificates are written, and checked, in tests/certificates/test_api.py.
CERTIFICATE = {
    "#/properties/certificate = 'object'",
    *(f"#/properties/certificate/properties/{field}" for field in ("path", "bytes")),
}
ELSEWHERE = {
    "compare": CERTIFICATE,
    "splice": CERTIFICATE,
    "guess": {
        *(f"#/$defs/stretch/properties/unit = '{unit}'" for unit in ("member", "sample", "row")),
        # The violations of validate, and mistakes that need larger vocabularies.
        *(
            f"#/$defs/kind/properties/kind = '{kind}'"
            for kind in ViolationKind
            if kind not in ("pair", "border", "not-utf8")
        ),
        *(
            f"#/$defs/mistake/properties/kind = '{kind}'"
            for kind in ("specials-as-text", "cut-to-16-bits", "another-version")
        ),
    },
    "info": {
        # A whole file of CLIP has 48,894 rules; and Windows does not report the memory of a process.
        "#/$defs/byte_pairs/properties/format = 'clip'",
        # Files with these are refused, and what is odd goes to stderr; or they are of other kinds.
        *_under("#/$defs/unigram/properties/lint/items"),
        "#/$defs/unigram/properties/peak_memory_bytes = 'null'",
        *(
            f"#/$defs/{algorithm}/properties/lint/items/properties/kind = '{kind}'"
            for algorithm, others in (("byte_pairs", ("merge without token",)), ("wordpiece", _OF_OTHERS))
            for kind in ("duplicate token", "pattern is a string", "unknown pre", *others)
        ),
        "#/$defs/byte_pairs/properties/left_out/items = 'add_sep_token'",
        "#/$defs/byte_pairs/properties/peak_memory_bytes = 'null'",
        "#/$defs/wordpiece/properties/peak_memory_bytes = 'null'",
    },
    "rollouts": {
        # With bad records the status is 2.
        "#/properties/errors/items",
        "#/properties/errors/items/properties/error",
        "#/properties/errors/items/properties/source",
    },
}


def test_the_commands_with_json_are_those_with_a_schema() -> None:
    with_json = set()
    for name in COMMANDS:
        command = group.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        if any("--json" in parameter.opts for parameter in command.params):
            with_json.add(name)
    assert with_json == set(described()) == set(EXAMPLES)


def test_the_kinds_of_violations_are_those_of_the_schema() -> None:
    kinds = schemas.schema("validate")["$defs"]["violation"]["properties"]["kind"]["enum"]
    assert kinds == [kind.value for kind in ViolationKind]
    # Rollouts are whole texts.
    whole = [kind for kind in kinds if kind != ViolationKind.IN_NO_TEXT.value]
    assert schemas.schema("rollouts")["$defs"]["kind"]["enum"] == whole


def test_the_parts_and_outcomes_of_comparisons_are_those_of_the_schema() -> None:
    checked = schemas.schema("compare")["properties"]["checked"]["properties"]
    # The others are of dictionaries alone, which have no command.
    assert {*Part} - checked.keys() == {Part.SEMANTICS, Part.RULES, Part.LIVE_TOKENS, Part.ALLOWED_PAIRS}
    assert checked.keys() < {*Part}
    assert {outcome for part in checked.values() for outcome in part["enum"]} == {*Outcome}


def test_the_list_and_the_schemas(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("schema") == 0
    names = capsys.readouterr().out.splitlines()
    assert names == sorted(EXAMPLES)
    for name in names:
        assert commands.run("schema", name) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed == schemas.schema(name)
        assert printed["title"] == f"tokdfa {name} --json"
        assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("name", ["demo", "nobody", "../group", ""])
def test_other_commands_have_none(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("schema", name) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tokdfa: error: ")
    assert err.count("\n") == 1
    assert ", ".join(sorted(EXAMPLES)) in err


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_schema_is_closed_and_says_what_everything_is(name: str) -> None:
    schema = schemas.schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["description"]
    for place, node in _nodes("#", schema):
        if "properties" in node or "patternProperties" in node:
            assert node["type"] in ("object", ["object", "null"]), place
            assert node["additionalProperties"] is False, place
            assert "patternProperties" in node or "required" in node, place
        for field, child in node.get("properties", {}).items():
            described = schema["$defs"][child["$ref"].rpartition("/")[2]] if "$ref" in child else child
            assert re.fullmatch(r"[A-Z].*[.]", described["description"]), f"{place}, {field}"
            assert re.fullmatch(r"[a-z][a-z0-9_]*", field), f"{place}, {field}"


def _nodes(place: str, node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        yield place, node
        for key, child in node.items():
            yield from _nodes(f"{place}/{key}", child)
    elif isinstance(node, list):
        for number, child in enumerate(node):
            yield from _nodes(f"{place}/{number}", child)


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_that_a_schema_promises_is_met_and_nothing_else_is_valid(
    name: str, files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    met: set[str] = set()
    for arguments in EXAMPLES[name](files):
        # What is known is printed even if some of the files are not readable.
        statuses = (0, 1, 2) if name in ("stores", "info", "guess", "validate") else (0, 1)
        assert commands.run(name, *arguments, "--json") in statuses, capsys.readouterr().err
        answer = json.loads(capsys.readouterr().out)
        met |= schemas.met(name, answer)
        for spoiled in _spoiled(answer):
            assert not schemas.validator(name).is_valid(spoiled), spoiled
    promised = schemas.promised(name)
    left = {place for place in promised - met if not (not can_render() and "film" in place)}
    assert met <= promised
    assert left == ELSEWHERE.get(name, set())


def _spoiled(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield answers with a field too many, at the top or within, with one of another type, and without one."""

    def objects(value: Any) -> Iterator[dict[str, Any]]:
        if isinstance(value, dict):
            yield value
            for member in value.values():
                yield from objects(member)
        elif isinstance(value, list):
            for member in value[:2]:
                yield from objects(member)

    for number in range(len([*objects(answer)])):
        spoiled = copy.deepcopy(answer)
        [*objects(spoiled)][number]["surplus"] = 0
        yield spoiled
    for field in answer:
        yield {**answer, field: [[0.5]]}
        # Without these it is an answer of another kind.
        if field not in ("matches", "frames"):
            yield {other: value for other, value in answer.items() if other != field}
