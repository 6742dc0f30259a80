"""Small random files of every family of tokenizers, as their models have them, and parts of nasty texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tests.support import random_files, random_steps, unigrams
from tests.support.tokenizer_files import SPELLED, added_token, spell, tokenizer_json
from tokdfa.tokenizers.pretokenizers.steps import NAMED

Fields = dict[str, Any]

MARKER = "\u2581"
# Words, marks in and out of order, jamo, spaces of all kinds, markers and halves of them, scripts.
PARTS = [
    *random_steps.SYMBOLS,
    *(
        "the",
        "ab",
        "it's",
        "aaaa",
        "12",
        "  ",
        "   ",
        "\n\n",
        "\r\n",
        " \n ",
        "\u0323\u0301",
        "e\u0301",
        "\u0915\u093c",
    ),
    *("</w>", "</w", "##", "##a", "<0x0A>", "<0x0", "<x", "x>", "\u2581\u2581", "한국", "дом", "😀", "नि", "が", "ß"),
]
COMMON = [*"ab  ", "the", " a", "ab"]
MANY_PARTS = [*PARTS, *COMMON * 6]
BYTE_OF = {letter: byte for byte, letter in SPELLED.items()}
BYTE_PATTERNS = [name for name in NAMED if NAMED[name].library == "tokenizers"]
# Patterns of few states that cut often, rarely, by length or by the next text. Each covers every text: tiktoken drops
# the rest.
# Decoding reads all of these letters as bytes, two of them as "í".
LETTERS_OF_BYTES = ["õ", "đem", "für", "é", "É", "Ã", "\u00c3\u0143", "Ġ", "é?"]
SMALL_PATTERNS = [
    r"\p{L}+|\p{N}{1,3}|\s+|[^\s\p{L}\p{N}]+",
    r"\s*\S+|\s+",
    r"(?s:.{1,5})",
    r"[ab]+|[^ab]",
    r"a+(?!b)|(?s:.)",
    r" ?[a-z]+(?![A-Z])|\r?\n|(?s:.)",
    r"\s+(?!\S)|\s+|\S+",
]


def ranks(drawn: random.Random, *, proper: bool) -> dict[bytes, int]:
    """Return ranks: proper ones, or with words that no merge makes, gaps, and rules in any order."""
    words = [bytes([byte]) for byte in drawn.sample(range(256), 256)]
    samples = [list(spell(text.encode())) for text in sample_texts(drawn)]
    made = [bytes(map(BYTE_OF.__getitem__, left + right)) for left, right in rules_along(drawn, samples)]
    if not proper:
        made += [text.encode() for text in sample_texts(drawn, drawn.randrange(1, 6))] + [b""] * drawn.randrange(2)
        drawn.shuffle(made)
    gap = 0 if proper else drawn.choice([0, 0.02, 0.3])
    found: dict[bytes, int] = {}
    rank = 0
    for word in dict.fromkeys([*words, *made]):
        rank += drawn.random() < gap
        found[word] = rank
        rank += 1
    return found


def rules_along(drawn: random.Random, samples: list[list[str]], most: int = 40) -> list[tuple[str, str]]:
    """Return rules that merge neighbours in samples step by step, so that each part is a symbol or made before."""
    rules: list[tuple[str, str]] = []
    known = {symbol for sample in samples for symbol in sample}
    for _ in range(drawn.randrange(most)):
        sample = drawn.choice(samples)
        if len(sample) < 2:
            continue
        at = drawn.randrange(len(sample) - 1)
        left, right = sample[at : at + 2]
        if left + right not in known:
            known.add(left + right)
            rules.append((left, right))
        sample[at : at + 2] = [left + right]
    return rules


def sample_texts(drawn: random.Random, n: int = 6) -> list[str]:
    return ["".join(drawn.choices(MANY_PARTS, k=drawn.randrange(1, 7))) for _ in range(n)]


def split(pattern: str, behavior: str = "Isolated", *, invert: bool = False) -> Fields:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def byte_level(*, prefix_space: bool = False, regex: bool = False) -> Fields:
    return {"type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": True, "use_regex": regex}


def byte_fields(drawn: random.Random, *, prefix_space: bool = False) -> Fields:
    """A proper byte-level tokenizer.json with special tokens, as GPT-2, Llama-3 or Qwen have it."""
    samples = [list(spell(text.encode())) for text in sample_texts(drawn)]
    rules = rules_along(drawn, samples)
    fields = tokenizer_json([], added_tokens=[])
    vocab: dict[str, int] = fields["model"]["vocab"]
    for left, right in rules:
        vocab.setdefault(left + right, len(vocab))
    fields["model"]["merges"] = [list(rule) for rule in rules]
    level = byte_level(prefix_space=prefix_space, regex=drawn.random() < 0.4)
    if level["use_regex"] or drawn.random() < 0.1:
        fields["pre_tokenizer"] = level
    else:
        named = [step.pattern for step in NAMED[drawn.choice(BYTE_PATTERNS)].steps]
        steps = [split(pattern) for pattern in drawn.choice([named, [drawn.choice(SMALL_PATTERNS)]])]
        fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*steps, level]}
    for content in drawn.sample(["<|end|>", "<s>", "<x>"], drawn.randrange(3)):
        fields["added_tokens"].append(added_token(_next_id(fields), content))
    return fields


def _next_id(fields: Fields) -> int:
    return len(fields["model"]["vocab"]) + sum(
        token["content"] not in fields["model"]["vocab"] for token in fields["added_tokens"]
    )


def whole_words(drawn: random.Random) -> Fields:
    """As Llama-3 has it: words of the vocabulary are taken whole, and no merge makes some of them."""
    fields = byte_fields(drawn)
    fields["model"]["ignore_merges"] = True
    vocab = fields["model"]["vocab"]
    fields["added_tokens"] = []
    for text in sample_texts(drawn, drawn.randrange(1, 8)):
        vocab.setdefault(spell(text.encode()), len(vocab))
    if drawn.random() < 0.5:
        drawn.shuffle(fields["model"]["merges"])
    return fields


def with_form(drawn: random.Random, forms: Sequence[str], *, prefix_space: bool) -> Fields:
    """A byte-level file with a normalization form and added tokens that are normalized or not."""
    fields = byte_fields(drawn, prefix_space=prefix_space)
    fields["normalizer"] = {"type": drawn.choice(forms)}
    contents = ["é", "<e>", "\u0301x", "가", "\u1161z", "é?", "<e\u0301>", "n>s"]
    for content in drawn.sample(contents, drawn.choice([0, 0, 1, 2])):
        if content not in fields["model"]["vocab"]:
            flags = {name: drawn.random() < 0.3 for name in ("normalized", "lstrip", "rstrip", "special")}
            fields["added_tokens"].append(added_token(_next_id(fields), content, **flags))
    return fields


def with_added_tokens(drawn: random.Random) -> Fields:
    """A byte-level file with added tokens of all flags."""
    fields = byte_fields(drawn, prefix_space=drawn.random() < 0.2)
    fields["added_tokens"] = random_steps.added_tokens(drawn, fields["model"]["vocab"], bytewise=True)
    fields["normalizer"] = drawn.choice([None, None, {"type": "NFC"}, {"type": "Lowercase"}])
    return fields


def with_odd_parts(drawn: random.Random) -> Fields:
    """A byte-level file with an empty token, gaps in its ids, rules that are repeated, and letters of bytes added."""
    fields = byte_fields(drawn)
    model = fields["model"]
    rules = model["merges"]
    for rule in drawn.sample(rules, drawn.randrange(len(rules) + 1)):
        rules.insert(drawn.randrange(len(rules) + 1), rule)
    if drawn.random() < 0.5:
        model["merges"] = [" ".join(rule) for rule in rules]
        model["merges"].insert(drawn.randrange(len(rules) + 1), drawn.choice(["#version: 0.2", "#version a b c"]))
    gap, id = drawn.choice([0, 0.02, 0.3]), -1
    tokens = [*model["vocab"], *[""] * drawn.randrange(2)]
    drawn.shuffle(tokens)
    for token in tokens:
        id += 1 + (drawn.random() < gap)
        model["vocab"][token] = id
    fields["normalizer"] = drawn.choice([None, None, {"type": "NFC"}, {"type": "Lowercase"}])
    names = ("normalized", "special", *(("lstrip", "rstrip", "single_word") if drawn.random() < 0.3 else ()))
    for content in drawn.sample([*LETTERS_OF_BYTES, "<e>", "n>s"], drawn.randrange(5)):
        flags = {name: drawn.random() < 0.4 for name in names}
        fields["added_tokens"].append(added_token(drawn.randrange(2000), content, **flags))
    return fields


def character_fields(drawn: random.Random, *, prefix: str = "", suffix: str = "", most: int = 40) -> Fields:
    """A BPE over characters: `prefix` spells what continues a word, `suffix` its end. Few symbols have no token."""
    samples = []
    for text in sample_texts(drawn):
        letters = list(text.replace(" ", MARKER if not prefix + suffix else "")) or ["a"]
        letters = [letters[0], *(prefix + letter for letter in letters[1:])]
        letters[-1] += suffix
        samples.append(letters)
    vocab: dict[str, int] = {"<unk>": 0} if drawn.random() < 0.6 else {}
    as_bytes = not prefix + suffix and drawn.random() < 0.8
    for byte in range(256) if as_bytes else ():
        vocab[f"<0x{byte:02X}>"] = len(vocab)
    singles = drawn.sample(random_steps.SYMBOLS, drawn.randrange(len(random_steps.SYMBOLS)))
    for letter in [*COMMON[:2], MARKER, *singles]:
        for token in {letter, prefix + letter, letter + suffix, prefix + letter + suffix}:
            vocab.setdefault(token, len(vocab))
    # A sixth of the samples lack a token for some of their symbols: they are spelled by bytes, unknown or dropped.
    rules: list[tuple[str, str]] = []
    for token in [token for sample in samples[1:] for token in sample]:
        vocab.setdefault(token, len(vocab))
    for _ in range(drawn.randrange(most)):
        sample = drawn.choice(samples)
        if len(sample) > 1:
            at = drawn.randrange(len(sample) - 1)
            left, right = sample[at : at + 2]
            # The right part's prefix is not in the middle of the product.
            made = left + right[len(prefix) :]
            if made not in vocab and left in vocab and right in vocab:
                vocab[made] = len(vocab)
                rules.append((left, right))
            sample[at : at + 2] = [made]
    fields = tokenizer_json([], added_tokens=[], pre_tokenizer=None)
    fields["model"] |= {
        "vocab": vocab,
        "merges": [list(rule) for rule in rules],
        "byte_fallback": as_bytes,
        "unk_token": "<unk>" if "<unk>" in vocab else None,
        "fuse_unk": drawn.random() < 0.5,
        "continuing_subword_prefix": prefix or None,
        "end_of_word_suffix": suffix or None,
    }
    return fields


SHOWN = {"type": "Replace", "pattern": {"String": MARKER}, "content": " "}
MARKED = {"type": "Replace", "pattern": {"String": " "}, "content": MARKER}
BYTES_AND_FUSE = [{"type": "ByteFallback"}, {"type": "Fuse"}]


def llama2(drawn: random.Random) -> Fields:
    """As Llama-2 or Mistral has it: a marker before the text and for each space, bytes for other characters."""
    fields = character_fields(drawn)
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    if drawn.random() < 0.5:
        fields["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": MARKER}, MARKED]}
    else:
        scheme, splits = drawn.choice(["always", "first"]), drawn.random() < 0.3
        fields["pre_tokenizer"] = {
            "type": "Metaspace", "replacement": MARKER, "prepend_scheme": scheme, "split": splits
        }  # fmt: skip
    fields["decoder"] = {"type": "Sequence", "decoders": [SHOWN, *BYTES_AND_FUSE, strip]}
    for content in drawn.sample(["<s>", "</s>", "[INST]"], drawn.randrange(3)):
        special = drawn.random() < 0.7
        fields["added_tokens"].append(added_token(_next_id(fields), content, special=special, normalized=not special))
    return fields


def gemma(drawn: random.Random) -> Fields:
    r"""As Gemma has it: no marker before the text, and added tokens that are text: ``\n``, runs of markers, tags."""
    fields = character_fields(drawn)
    fields["normalizer"] = MARKED
    if drawn.random() < 0.5:
        step = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
        fields["pre_tokenizer"] = step
    fields["decoder"] = {"type": "Sequence", "decoders": [SHOWN, *BYTES_AND_FUSE]}
    vocab = fields["model"]["vocab"]
    contents = ["\n", "\n\n", "\t", MARKER * 2, MARKER * 3, "<b>", "</b>", "<table>", "[x]"]
    for content in drawn.sample(contents, drawn.randrange(1, 6)):
        vocab.setdefault(content, len(vocab))
        fields["added_tokens"].append(added_token(vocab[content], content, special=False))
    if drawn.random() < 0.5:
        fields["added_tokens"].append(added_token(_next_id(fields), "<eos>"))
    return fields


def with_suffix(drawn: random.Random) -> Fields:
    """Characters, the end of a word spelled ``</w>``, as OpenAI's first GPT has it."""
    fields = character_fields(drawn, suffix="</w>")
    fields["pre_tokenizer"] = drawn.choice([{"type": name} for name in ("BertPreTokenizer", "WhitespaceSplit")])
    fields["decoder"] = {"type": "BPEDecoder", "suffix": "</w>"}
    fields["normalizer"] = drawn.choice([None, {"type": "Lowercase"}, {"type": "NFC"}])
    vocab = fields["model"]["vocab"]
    contents = ["<e></w>", "x</w>y", "</w></w>", "a</w>", "<x>"]
    for content in drawn.sample(contents, drawn.choice([0, 0, 1, 2])):
        id = vocab[content] if content in vocab else _next_id(fields)
        special = drawn.random() < 0.5
        fields["added_tokens"].append(added_token(id, content, special=special, normalized=drawn.random() < 0.3))
    return fields


def with_prefix(drawn: random.Random) -> Fields:
    """Characters merged by rules; those that continue a word are spelled with ``##``."""
    fields = character_fields(drawn, prefix="##")
    fields["pre_tokenizer"] = drawn.choice([{"type": name} for name in ("BertPreTokenizer", "Whitespace")])
    fields["decoder"] = {"type": "WordPiece", "prefix": "##", "cleanup": drawn.random() < 0.3}
    return fields


def clip(drawn: random.Random) -> Fields:
    """As CLIP has it: bytes with ``</w>``, NFC, spaces to one, lower case, only what the pattern matches kept."""
    fields = tokenizer_json([], added_tokens=[])
    letters = list(SPELLED.values())
    vocab = {letter: id for id, letter in enumerate([*letters, *(letter + "</w>" for letter in letters)])}
    samples = [list(spell(text.lower().encode())) for text in sample_texts(drawn)]
    for sample in samples:
        sample[-1] += "</w>"
    rules = rules_along(drawn, samples)
    for left, right in rules:
        vocab.setdefault(left + right, len(vocab))
    vocab |= {content: len(vocab) + n for n, content in enumerate(["<|startoftext|>", "<|endoftext|>"])}
    spaces = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
    fields["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "NFC"}, spaces, {"type": "Lowercase"}]}
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    fields["pre_tokenizer"] = {
        "type": "Sequence", "pretokenizers": [split(pattern, "Removed", invert=True), byte_level()]
    }  # fmt: skip
    fields["model"] |= {
        "vocab": vocab,
        "merges": [list(rule) for rule in rules],
        "continuing_subword_prefix": "",
        "end_of_word_suffix": "</w>",
        "unk_token": "<|endoftext|>",
    }
    shown = {"type": "Replace", "pattern": {"String": "</w>"}, "content": " "}
    fields["decoder"] = {"type": "Sequence", "decoders": [byte_level(), shown]}
    fields["added_tokens"] = [
        added_token(vocab[content], content, normalized=drawn.random() < 0.3) for content in [*vocab][-2:]
    ]
    return fields


def wordpiece_with_steps(drawn: random.Random) -> Fields:
    """WordPiece, or WordLevel, with any steps and added tokens; those that are not supported are drawn again."""
    fields = random_files.wordpiece_file(drawn)
    if drawn.random() < 0.7:
        names = ["Lowercase", "NFC", "NFD", "NFKC", "StripAccents", "Strip", "Replace", "BertNormalizer"]
        fields["normalizer"] = drawn.choice([None, random_steps.normalizer(drawn), {"type": drawn.choice(names[:5])}])
    fields["pre_tokenizer"] = drawn.choice(
        [random_steps.pre_tokenizer(drawn), {"type": drawn.choice(random_steps.SIMPLE)}, fields["pre_tokenizer"]]
    )
    if drawn.random() < 0.3:
        fields["model"] = {key: fields["model"][key] for key in ("vocab", "unk_token")} | {"type": "WordLevel"}
    if drawn.random() < 0.2:
        fields["decoder"] = drawn.choice([None, random_steps.decoder(drawn, None)])
    for token in fields["added_tokens"] if drawn.random() < 0.3 else ():
        token |= {flag: drawn.random() < 0.4 for flag in ("normalized", "single_word", "lstrip", "rstrip")}
    return fields


FORMS = ("NFD", "NFKC", "NFKD")
OF_JSON: dict[str, Callable[[random.Random], Fields]] = {
    "bytes": byte_fields,
    "bytes, prefix space": partial(byte_fields, prefix_space=True),
    "bytes, whole words": whole_words,
    "bytes, added tokens": with_added_tokens,
    "bytes, odd parts": with_odd_parts,
    "bytes, NFC": partial(with_form, forms=["NFC"], prefix_space=False),
    "bytes, NFC, prefix space": partial(with_form, forms=["NFC"], prefix_space=True),
    "bytes, other forms": partial(with_form, forms=FORMS, prefix_space=False),
    "bytes, other forms, prefix space": partial(with_form, forms=FORMS, prefix_space=True),
    "bytes, any steps": random_files.KINDS["bytes"],
    "CLIP": clip,
    "Llama-2": llama2,
    "Gemma": gemma,
    "characters, any steps": random_files.KINDS["characters"],
    "suffix": with_suffix,
    "prefix": with_prefix,
    "WordPiece": random_files.KINDS["wordpiece"],
    "WordPiece, any steps": wordpiece_with_steps,
    "Unigram of tokenizers": unigrams.changed_tokenizers,
}
