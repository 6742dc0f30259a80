"""Runs of each command that prints JSON: together they show all that its schema promises."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers

import tokdfa
from tests.support import sentencepieces, unigrams
from tests.support.command_files import PAIRS, Files
from tests.support.conversations import EVERY, FORMATS, small_tokenizer, talk
from tests.support.gguf_files import Typed, byte_level, gguf
from tests.support.gguf_files import sentencepiece as gguf_sentencepiece
from tests.support.gguf_files import wordpiece as gguf_wordpiece
from tests.support.model_folders import edited, write_sound
from tests.support.tokenizer_files import (
    GPT2_BYTES,
    added_token,
    as_bytes,
    merges_txt,
    rwkv_lines,
    tekken_json,
    tokenizer_json,
)
from tests.support.tokenizer_files import vocabulary as byte_vocabulary
from tokdfa.draw.render import can_render
from tokdfa.jobs.examination.api import doctor

Run = tuple[object, ...]


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
    yield tok, "--text", "ab cd e", "--up-to", "3"
    yield tok, files.write("ids.json", "[0, 1, 2]"), "--ends", "--window"


def of_injection(files: Files) -> Iterator[Run]:
    tok = files.json()
    yield tok, "<user>{content}"
    yield tok, "{content:[ab]*}", "--rule", "mistral-common"
    yield tok, "{content:[ab]*}", "--rule", "llama.cpp"
    yield tok, "{content:(ab)+<.*c}", "--rule", "tiktoken"
    strips = [{**added_token(260, text), "lstrip": True} for text in ("<<",)]
    yield _with(files.json(), added_tokens=strips), "<{content}"


def of_check_prefix(files: Files) -> Iterator[Run]:
    tok = files.json()
    a, b, d = (GPT2_BYTES.index(byte) for byte in b"abd")
    yield tok, f"{a}", f"{a},{d}"
    yield tok, f"{a},{d}", f"{a}"
    yield tok, f"{a},{d}", f"{a},{b}"
    yield tok, f"{a},{b}", "256"
    yield tok, "256", f"{a},{b}"
    yield tok, f"{a}", "256"
    # The text abc is 256, c.
    crossing = files.json([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")])
    yield crossing, f"{a},{b},{GPT2_BYTES.index(ord('c'))}", files.ids(a, 257)


def of_ban(files: Files) -> Iterator[Run]:
    tok = files.json()
    yield tok, "ab", "--after", "a"
    yield tok, "--pattern", "[ab]+c", "--after-ids", f"{GPT2_BYTES.index(0xC3)}"


def of_turns(files: Files) -> Iterator[Run]:
    tok = files.json()
    yield tok, "<|end|>a{q}", "<|end|>{a}"
    yield tok, "{q}", "b{a}"
    yield files.json([(b"d", b"x")]), "'", "dx{a}"
    yield _with(files.json(), normalizer={"type": "NFC"}), "{q}ab", "c{a}"


def of_audit(files: Files) -> Iterator[Run]:
    yield files.json(), "--scheme", "added-token", "--scheme", "text-prefix"
    yield files.json([(b"a", b"b")], added_tokens=[]), "--scheme", "turns"
    changed = _with(files.json(), normalizer={"type": "NFKC"})
    yield changed, "--scheme", "back-off=99,99", "--scheme", "text-prefix", "--max-seconds", "0.3"


def of_template(files: Files) -> Iterator[Run]:
    tok = files.json()
    turns = "{% for m in messages %}<|end|>{{ m.role }} {{ m.content }}{% endfor %}"
    refuses = "{% if tools %}{{ raise_exception('no tools') }}{% endif %}"
    yield tok, files.write("a.jinja", refuses + turns)
    upper = "{{ m.content | upper if m.role == 'system' else m.content }}"
    yield tok, files.write("b.jinja", turns.replace("{{ m.content }}", f"a{upper}")), "--rule", "llama.cpp"
    named = [{"name": "default", "template": turns}, {"name": "rag", "template": turns}]
    yield tok, files.write("g.jinja", turns + "{% if add_generation_prompt %}x{% endif %}")
    yield tok, files.write("tokenizer_config.json", json.dumps({"chat_template": named}))
    yield tok, files.write("c.jinja", "{% for m in messages %}<|end|>{{ m.content }}<|end|>{% endfor %}")
    yield tok, files.write("d.jinja", "a{{ messages[0].content }}b"), "--rule", "mistral-common"
    decides = "{% for m in messages %}<|end|>{{ 'x' if 'y' in m.content else m.content }}{% endfor %}"
    yield tok, files.write("h.jinja", decides)
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
    yield files.json(), "--language", "x(ab|a b)|c( a)*", "--max-bytes", "9"


def of_bytes(files: Files) -> Iterator[Run]:
    yield files.json(), "bytes"
    yield files.merges(), "decoded"
    # The Kelvin sign is not in NFC, and the last two bytes of other symbols of three bytes are not a token.
    firsts = [bytes([first]) for first in range(0xE1, 0xF0) if first != 0xE2]
    pairs = [*((first, b"\x84") for first in firsts), (b"\x84", b"\xaa")]
    table = [1] * 256 + [2] * len(firsts) + [3, 0]
    tok = _with(files.json(pairs), normalizer={"type": "NFC"})
    yield tok, files.write("table.json", str(table).encode())


def of_align(files: Files) -> Iterator[Run]:
    tok, a, b = files.json(), GPT2_BYTES.index(ord("a")), GPT2_BYTES.index(ord("b"))
    yield tok, files.ids(256, a), tok, files.write("b.json", json.dumps([a, b, a]).encode())
    yield tok, tok
    # `baaaa` is ba·aa·a and b·aa·aa.
    yield files.json([(b"a", b"a")]), files.json([(b"b", b"a"), (b"a", b"a")])


def of_bounds(files: Files) -> Iterator[Run]:
    yield (files.json(),)
    yield files.json(), "--bytes", "9"
    yield files.json(), "--language", "(ab)+", "--other", files.json()
    # The Kelvin sign is not in NFC, so no text is found with as many bytes a token as the proof has.
    tok = _with(files.json([(b"\xe2", b"\x84"), (b"\xe2\x84", b"\xaa")]), normalizer={"type": "NFC"})
    yield tok, "--language", "[\u212aa]+"
    # Two of the tokens in a row are merged otherwise, which only a search shows.
    tok = files.json([(b"a", b"a"), (b"aa", b"a"), (b"b", b"a")])
    yield tok, "--language", "b?(aab)+", "--max-seconds", "1e-9"


def of_decode(files: Files) -> Iterator[Run]:
    yield files.merges(), files.ids(64, 65)
    yield files.merges(), files.ids(64, GPT2_BYTES.index(0xC3)), "--errors", "ignore"
    yield files.merges(), files.ids(64, 65), "--stop", "b"
    yield files.merges(), files.ids(64, 65), "--stop", "c"


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
    yield tok, files.write("ids.bin", ids.astype("<u2").tobytes()), *of_gpt2
    yield tok, files.write("ids.bin", ids.astype("<u2").tobytes()), *of_gpt2, "--dtype", ">u2"
    yield tok, files.write("ids.bin", ids.astype("<u4").tobytes()), *of_gpt2, "--dtype", "uint16"
    yield tok, files.ids(*(ids + 5)), *of_gpt2
    yield tok, files.ids(*np.insert(ids, range(50, 4000, 50), 5000)), *of_gpt2
    yield tok, files.ids(*np.tile(ids, 20)), *of_gpt2, "--max-ids", 5000
    shards = files.folder / "shards"
    shards.mkdir()
    np.save(shards / "right.npy", ids)
    np.save(shards / "shifted.npy", ids + 5)
    np.save(shards / "few.npy", [64, 261, 1193])
    (shards / "cut.npy").write_bytes(b"cut short")
    yield tok, shards, *of_gpt2, "--each"
    yield tok, shards / "right.npy", *of_gpt2, "--each"
    rows = files.write("ids.jsonl", '{"input_ids": [97]}\n{"input_ids": [98]}\n')
    yield files.ranks([b"ab", b"cd"]), files.json(), rows, *of_gpt2
    yield files.json(), files.write("ids.txt", "97 98")
    (rows.parent / "x.npy").write_bytes(b"\x93NUMPY")
    yield files.json(), rows.parent
    # A dictionary that is not proper, and for which its library's answer is not known.
    improper = files.write("merges.txt", merges_txt([(b"a", b"bc"), (b"b", b"c")]))
    yield improper, files.json(), files.ids(97, 98)


def of_search(files: Files) -> Iterator[Run]:
    tok, ids = files.merges(), files.ids(64, 65)
    yield tok, "a", ids
    yield tok, "x", ids
    yield tok, "a", ids, "--count"
    yield tok, "--words", files.write("words.txt", "a\nc"), ids, "--count"
    for how in ("--count", "--text"):
        yield tok, "--patterns", files.write("named.txt", "a\tletter\n[b-z]\tother"), ids, how
    for rule in ("exact", "lm-eval", "ids"):
        yield tok, "--ngrams", files.write("items.txt", "ab\nc\na b"), ids, "-n", 1 + (rule == "exact"), "--rule", rule


def of_replace(files: Files) -> Iterator[Run]:
    tok, ids = files.merges(), files.ids(64, 65)
    yield tok, "a", "c", ids
    yield tok, "a", "c", ids, "-o", tok.with_name("replaced.npy")
    good, bad = (files.write(name, text) for name, text in (("a.jsonl", '{"ids": [64, 65]}\n'), ("b.jsonl", "")))
    yield tok, "a", "c", good, bad, "-o", tok.with_name("replaced")


def of_train(files: Files) -> Iterator[Run]:
    corpus = files.write("corpus.txt", "low low lower")
    yield corpus, "--merges", 2, "-o", corpus.with_name("merges.txt")
    lists = {
        "honest": "l o\nlo w\n", "order": "lo w\nl o\n", "dropped": "w e\n", "absent": "x y\n", "tie": "o w\n",
        "pretokenizer": "w Ġ\n",
    }  # fmt: skip
    for name, lines in lists.items():
        yield corpus, "--check", files.write(f"{name}.txt", "#version: 0.2\n" + lines)
    honest = files.write("honest.txt", "#version: 0.2\nl o\nlo w\n")
    yield corpus, "--check", honest, "--pretokenizer", "gpt2"
    yield corpus, "--check", honest, "--min-frequency", 4
    yield corpus, "--check", honest, "--max-token-length", 2
    runs = files.write("runs.txt", "aaaa aaaa bc bc bc bc bc"), files.write("count.txt", "#version: 0.2\na a\n")
    yield runs[0], "--check", runs[1]
    yield corpus, "--check", files.ranks([b"low"])


def of_draw(files: Files) -> Iterator[Run]:
    tok, entries = files.merges(PAIRS[:1]), files.entries("[UNK]", "a", "##b")
    output = tok.with_name("x.dot")
    yield tok, "-o", output, "--language", "(ab)*"
    yield tok, "-o", output, "--force", "--max-states", 1
    yield tok, "-o", tok.with_name("x.svg"), "--max-arrows", 1
    yield entries, "-o", output, "--force"
    yield entries, "-o", output, "--force", "--max-states", 1
    if can_render():
        yield tok, "-o", tok.with_name("x.html"), "--film", "--language", "(ab)*"


def of_locality(files: Files) -> Iterator[Run]:
    tok = files.merges(PAIRS[:1])
    yield (tok,)
    # No rule is about c; without an even number of them nothing is accepted, for any number of known tokens.
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
    # The last rule never applies, for its pairs have been merged otherwise.
    yield (files.merges([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]),)
    yield files.ranks([b"abc", b"ab"]), "--pretokenizer", "none"
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
    yield files.entries("[UNK]", "A"), "--no-lowercase"
    vocab = files.entries("[UNK]", "A")
    vocab.with_name("tokenizer_config.json").write_text('{"do_lower_case": false}')
    yield (vocab,)
    odd: dict[str, Any] = {"truncation": None, "padding": None, "post_processor": None}
    odd["truncation"] = {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0}
    odd["padding"] = {"strategy": "BatchLongest", "direction": "Right", "pad_id": 0, "pad_type_id": 0}
    odd["padding"]["pad_token"] = "[PAD]"
    odd["post_processor"] = bert
    no = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    yield (files.wordpiece(normalizer=no, **odd),)
    yield (files.json(truncation=odd["truncation"], padding=odd["padding"]),)
    yield (files.wordpiece(("[UNK]", "a", "xb"), model={"continuing_subword_prefix": "x"}),)
    special = {"truncation": odd["truncation"], "added_tokens": [added_token(0, "[UNK]")]}
    yield (_with(files.wordpiece(), normalizer={"type": "Lowercase"}, **special),)
    yield (files.wordpiece(model={"type": "WordLevel", "unk_token": "?"}),)
    yield (files.write("word.model", sentencepieces.trained("identity", True, "word")),)
    yield (files.write("rwkv_vocab.txt", rwkv_lines({bytes([byte]): byte + 1 for byte in range(256)} | {b"ab": 300})),)
    yield (files.unigram(normalizer={"type": "Lowercase"}, truncation=odd["truncation"]),)
    yield (files.unigram(decoder=None),)
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
    fingerprints = {name: tokdfa.load(side).fingerprint for name, side in (("a", a), ("b", b))}
    question = {"ignore_ids": False, "texts": None, "special_tokens": None}
    earlier = {"equivalent": False, "reason": "'ab' has different ids", **question, "fingerprints": fingerprints}
    known = files.write("known.json", as_bytes(earlier))
    yield a, b, "--known", known, "--html", files.folder / "known.html"
    yield a, c, "--known", known
    yield a, c, "--ignore-ids"
    yield a, c, "--texts", "[ab]*", "--special-tokens", "plain"
    yield a, c, "--special-tokens", "found"
    yield c, a, "--ignore-ids"
    yield a, files.merges(PAIRS[:1])
    yield files.merges(PAIRS[:1]), a
    yield a, a, "--pretokenizer", ".|\n", "--pretokenizer-b", "(?:.|\n)+"
    # These leave text out, so that they are not compared.
    removing = {"type": "Split", "behavior": "Removed", "invert": False}
    whole = byte_level_step(use_regex=False)
    parts = ([{**removing, "pattern": {"Regex": regex}}, whole] for regex in ("c+", "c"))
    split = [{"type": "Sequence", "pretokenizers": part} for part in parts]
    yield files.json(pre_tokenizer=split[0]), files.json(PAIRS[:1], pre_tokenizer=split[1])
    yield files.json(), files.json(normalizer={"type": "Lowercase"})
    yield files.json(), files.json(added_tokens=[added_token(len(byte_vocabulary(PAIRS)), "<x>")])
    characters = files.characters()
    yield characters, files.characters(unk_token="<unk>")
    yield files.characters(unk_token="<unk>"), characters
    yield characters, files.json(added_tokens=[])
    x, y = files.entries("[UNK]", "a", "##b"), files.entries("[UNK]", "a", "##b", "##bb")
    yield x, y
    yield y, x
    yield x, files.entries("[UNK]", "a", "##b", "a b")
    yield files.wordpiece(), files.wordpiece(model={"max_input_chars_per_word": 7})
    plain = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": False, "lowercase": False}
    yield files.wordpiece(), files.wordpiece(normalizer=plain)
    yield files.wordpiece(("[UNK]", "a", "b")), files.wordpiece(normalizer=plain)


def of_convert(files: Files) -> Iterator[Run]:
    def run(tok: Path, target: str, *options: object) -> Run:
        # In a folder of its own.
        return tok, "--to", target, "-o", files.write("taken", "").with_name("new.file"), *options

    for target in ("tokenizer.json", "tiktoken"):
        yield run(files.json(pre_tokenizer=byte_level_step(use_regex=False)), target)
    yield run(files.json(), "merges")
    yield run(files.json(), "merges", "--special-tokens", "plain")
    # llama.cpp does not take this character for a letter yet.
    yield run(files.json([(b"!", "\u1c89".encode()[:1])]), "gguf")
    yield run(files.json(), "gguf", "--texts", "[a-z ]*")
    yield run(files.wordpiece(), "gguf")
    yield run(files.write("u.model", unigrams.trained_by_sentencepiece("identity", False, 1)), "gguf")
    yield run(files.json(normalizer={"type": "NFC"}), "tiktoken")
    digits = [{"type": "Digits", "individual_digits": True}, {"type": "CharDelimiterSplit", "delimiter": "b"}]
    digits.append(byte_level_step(use_regex=False))
    template = {"type": "RobertaProcessing", "sep": ["b", 65], "cls": ["a", 64], "trim_offsets": True}
    steps = {"pre_tokenizer": {"type": "Sequence", "pretokenizers": digits}, "post_processor": template}
    yield run(files.json(**steps), "tiktoken")
    n_tokens = len(byte_vocabulary(PAIRS))
    yield run(files.json(added_tokens=[added_token(n_tokens, "<x>", lstrip=True)]), "tiktoken")
    yield run(_with_model(files.json(), vocab=shuffled(byte_vocabulary(PAIRS))), "tiktoken")
    whole = {**byte_vocabulary(PAIRS), "da": n_tokens}
    tokens = [added_token(n_tokens + 1, "<x>")]
    yield run(_with_model(files.json(added_tokens=tokens), vocab=whole, ignore_merges=True), "merges")
    yield run(
        _with_model(files.json(added_tokens=tokens), vocab={**byte_vocabulary(PAIRS), "中": n_tokens}), "tiktoken"
    )
    yield run(files.characters(unk_token="<unk>"), "merges", "--special-tokens", "plain")
    yield run(files.characters(), "merges")
    replaced = {"type": "Replace", "pattern": {"String": "a"}, "content": "x"}
    yield run(_with(files.characters(), normalizer=replaced), "merges")


def byte_level_step(*, use_regex: bool) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def _with_model(path: Path, **changes: Any) -> Path:
    fields = json.loads(path.read_text(encoding="utf-8"))
    return _with(path, model={**fields["model"], **changes})


def shuffled(vocabulary: dict[str, int]) -> dict[str, int]:
    """Return a vocabulary in which the ids of the products are not in the order of the rules."""
    last = max(vocabulary.values())
    return {word: last + 256 - id if id >= 256 else id for word, id in vocabulary.items()}


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
    yield tok, files.ids(9999)
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
    yield tok, rollouts([1 << 20]), *fields
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
    yield from _of_masks(files)


def _of_masks(files: Files) -> Iterator[Run]:
    form = FORMATS["chatml"]
    data = small_tokenizer(form)
    tok, template = files.write("tokenizer.json", data), files.write("chat.jinja", form.template)
    drawn, library = random.Random(1), tokenizers.Tokenizer.from_buffer(data)
    every = [(talk(library, form, drawn, 2, plain=True), spoiled) for fault, spoiled in EVERY if fault != "shifted"]
    rows = [(each.ids, spoiled(each)) for each, spoiled in every]
    head, begun, rest = (library.encode(each).ids for each in (form.reply, "xxxh", "e\u4e2d<|im_end|>"))
    for n in (len(head) + len(begun), len(head) + len(begun) + 2):
        ids = head + begun + rest
        rows.append((ids, [0] * n + [1] * (len(ids) - n)))
    for fault, spoiled in EVERY:
        if fault == "shifted":
            yield (
                tok,
                _records(files, [(each.ids, spoiled(each)) for each, _ in every]),
                "--template",
                template,
                "--masks",
            )
    yield tok, _records(files, rows), "--template", template, "--masks"
    yield tok, _records(files, rows), "--masks"


def _records(files: Files, rows: list[tuple[list[int], list[int]]]) -> Path:
    lines = (json.dumps({"input_ids": ids, "loss_mask": mask}) for ids, mask in rows)
    return files.write("r.jsonl", "".join(f"{line}\n" for line in lines))


def of_formats(_: Files) -> Iterator[Run]:
    yield ()


def of_doctor(files: Files) -> Iterator[Run]:
    folder = write_sound(files.folder / "sound", template=True)
    yield (folder,)
    faulty = write_sound(files.folder / "faulty")
    edited("config.json", vocab_size=1)(faulty)
    yield (faulty,)
    yield faulty, "--known", files.write("known.json", json.dumps(doctor(faulty).to_dict()))
    yield (files.write("config.json", "{}").parent,)


EXAMPLES: dict[str, Callable[[Files], Iterator[Run]]] = {
    "validate": of_validate,
    "rollouts": of_rollouts,
    "compare": of_compare,
    "convert": of_convert,
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
    "doctor": of_doctor,
    "check-prefix": of_check_prefix,
    "ban": of_ban,
    "turns": of_turns,
    "audit": of_audit,
    "forced": of_forced,
    "bytes": of_bytes,
    "align": of_align,
    "bounds": of_bounds,
    "split": of_split,
    "fingerprint": of_fingerprint,
    "locality": of_locality,
    "draw": of_draw,
    "train": of_train,
    "formats": of_formats,
}
