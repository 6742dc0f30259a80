"""GGUF files: the tokenizer in the head of a model for llama.cpp, as llama.cpp reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.errors import FileFormatError
from tokdfa.regex.unicode.utf8 import BYTE_OF, is_spelled
from tokdfa.tokenizers.decoding import DecodeSentencePiece, byte_of
from tokdfa.tokenizers.encoding.symbols import Fallback
from tokdfa.tokenizers.formats import gguf_tokens
from tokdfa.tokenizers.formats.contents import Contents, Rewriting, has_bytes
from tokdfa.tokenizers.formats.gguf_head import GGUFHead
from tokdfa.tokenizers.formats.ranks import over_scored
from tokdfa.tokenizers.formats.vocabulary import over_bytes, over_characters
from tokdfa.tokenizers.formats.wordpiece import WordPieceContents
from tokdfa.tokenizers.formats.written import Pairs, Vocabulary
from tokdfa.tokenizers.models.wordpiece.llama_cpp import LlamaCppNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer
from tokdfa.tokenizers.pretokenizers.llama_cpp import PRE_TOKENIZERS, LlamaCppPreTokenizer

LLAMA_CPP = "llama.cpp of llama-cpp-python 0.3.36"
"""The standard: its llama_tokenize with parse_special, and without add_special."""

_LONGEST_PIECE = 1024
_UNKNOWN_OF_BERT = 100

# Keys that name ids for the model or its user, or texts that llama.cpp does not tokenize by.
_WITHOUT_EFFECT = frozenset(
    f"tokenizer.ggml.{name}"
    for name in (
        *("model", "pre", "tokens", "merges", "scores", "token_type", "token_type_count"),
        *("add_bos_token", "add_eos_token", "add_sep_token", "add_space_prefix", "remove_extra_whitespaces"),
        *("precompiled_charsmap", "suppress_tokens", "normalizer.lowercase", "normalizer.strip_accents"),
        *(
            f"{name}_token_id"
            for name in ("bos", "eos", "eot", "eom", "unknown", "seperator", "padding", "cls", "mask")
        ),
        *(f"fim_{name}_token_id" for name in ("pre", "suf", "mid", "pad", "rep", "sep")),
        *("prefix_token_id", "suffix_token_id", "middle_token_id"),
    )
) | {"tokenizer.huggingface.json", "tokenizer.chat_template", "tokenizer.chat_templates"}
_TEMPLATES = "tokenizer.chat_template."

MODEL, PRE = "tokenizer.ggml.model", "tokenizer.ggml.pre"
_NOT_READ = {
    "t5": "a Unigram model",
    "rwkv": "a model of RWKV",
    "plamo2": "a model of PLaMo-2",
    "gemma4": "a model of Gemma 4, which merges characters and not bytes",
    "hybriddna": "a model of DNA",
    "whitespace": "a model that splits at white space",
    "none": "a file without a vocabulary",
    "no_vocab": "a file without a vocabulary",
}


def read_gguf(data: bytes, path: Path) -> Contents | WordPieceContents:
    """Read the head of a GGUF file with a byte pair, SentencePiece or WordPiece tokenizer."""
    head = GGUFHead(data, path)
    model = head.string(MODEL)
    for key in head.keys:
        if key.startswith("tokenizer.") and key not in _WITHOUT_EFFECT and not key.startswith(_TEMPLATES):
            raise head.unmodelled("an unknown key", key, key)
    if model == "gpt2":
        return _byte_level(head)
    if model == "llama":
        return _sentencepiece(head)
    if model == "bert":
        return _wordpiece(head)
    what = _NOT_READ.get(model, "a kind of tokenizer that llama.cpp does not know")
    raise head.unmodelled(
        f"only the kinds gpt2 (byte pairs), llama (SentencePiece) and bert (WordPiece) can be read, not {what}",
        model,
        MODEL,
    )


def pre_tokenizer(head: GGUFHead) -> LlamaCppPreTokenizer:
    """Return the pre-tokenizer of ``tokenizer.ggml.pre``; without the key, llama.cpp warns and takes "default"."""
    name = head.string(PRE, default="default") or "default"
    if name not in PRE_TOKENIZERS:
        what = f"{LLAMA_CPP} has no pre-tokenizer of this name, or it is not modelled"
        raise head.unmodelled(what, name, PRE, hint="tokdfa info shows what else is odd in the file")
    return PRE_TOKENIZERS[name]


def _byte_level(head: GGUFHead) -> Contents:
    pre = pre_tokenizer(head)
    tokens = gguf_tokens.read_tokens(head)
    if gguf_tokens.BYTE in tokens.types:
        raise head.unmodelled(
            "a byte token in a byte-level vocabulary",
            gguf_tokens.BYTE,
            gguf_tokens.TOKENS,
            tokens.types.index(gguf_tokens.BYTE),
        )
    pairs = _pairs(head)
    vocabulary = Vocabulary(tokens.texts, np.arange(len(tokens.texts), dtype=np.int32), tokens.id_of)
    whole_piece = pre.whole_piece
    if has_bytes(BYTE_OF[letter] for letter in BYTE_OF.keys() & tokens.id_of.keys()):
        contents = over_bytes(vocabulary, pairs, head.path, "gguf", whole_piece=whole_piece)
        contents = replace(contents, foreign=tuple(_decoded(text.decode()) for text in contents.foreign))
    else:
        # llama.cpp leaves out bytes without a token, and nothing merges across them. Texts with such bytes are refused.
        _check_spelled(head, tokens)
        contents = over_characters(vocabulary, pairs, "gguf", whole_piece=whole_piece)
        contents = replace(contents, spelled_bytes=True)
    found = _found(head, tokens, pre.adds_begin)
    return replace(contents, splitting=pre.splitting, **found)


def _check_spelled(head: GGUFHead, tokens: gguf_tokens.GGUFTokens) -> None:
    """Refuse tokens with characters outside the byte alphabet in a vocabulary without some bytes."""
    found = {special.id for special in tokens.specials}
    for id, text in enumerate(tokens.texts):
        if id not in found and not is_spelled(text):
            what = "a token with a character outside GPT-2's byte alphabet in a vocabulary without some bytes"
            raise head.unmodelled(what, text, gguf_tokens.TOKENS, id)


def _decoded(text: str) -> bytes:
    """Return the bytes to which llama.cpp decodes a token with characters outside the byte alphabet."""
    return b"".join(
        bytes([BYTE_OF[letter]])
        if letter in BYTE_OF
        else b"[UNK_BYTE_0x" + letter.encode().hex().encode() + text.encode() + b"]"
        for letter in text
    )


def _pairs(head: GGUFHead) -> Pairs:
    """Return the rules; a rule is cut at its first space after the first byte."""
    key = "tokenizer.ggml.merges"
    left, right = [], []
    for index, rule in enumerate(head.strings(key)):
        at = rule.find(" ", 1)
        if at < 0 or "\0" in rule:
            raise head.wrong("a rule must be two parts separated by a space", rule, key, index)
        left.append(rule[:at])
        right.append(rule[at + 1 :])
    return Pairs.of_columns(left, right, lambda index: head.place_of_string(key, index))


def _found(head: GGUFHead, tokens: gguf_tokens.GGUFTokens, adds_begin: bool) -> dict[str, Any]:
    """Return the special tokens, which are found in texts, and the flags of tokens left out at the ends of a text."""
    ends = {"add_bos_token": adds_begin, "add_eos_token": False}
    ignored = tuple(name for name, default in ends.items() if head.boolean(f"tokenizer.ggml.{name}", default))
    return {"specials": tokens.specials, "finds_specials": True, "ignored": ignored}


def _sentencepiece(head: GGUFHead) -> Contents:
    tokens = gguf_tokens.read_tokens(head)
    key = "tokenizer.ggml.scores"
    scores = head.numbers(key, ("f32", "i32")) if key in head else np.zeros(len(tokens.texts), dtype=np.float32)
    if len(scores) < len(tokens.texts):
        raise head.wrong("fewer scores than tokens", len(scores), key)
    scores = scores[: len(tokens.texts)].astype(np.float32)
    if not np.isfinite(scores).all():
        index = int(np.argmin(np.isfinite(scores)))
        where = f"{head.place(key)}, element {index}"
        raise FileFormatError("the score is not a number", value=float(scores[index]), where=where)
    found = {special.id for special in tokens.specials}
    normal: dict[str, tuple[int, float]] = {}
    byte_tokens: dict[str, int] = {}
    for id, (text, score) in enumerate(zip(tokens.texts, scores.tolist(), strict=True)):
        if byte_of(text) is not None:
            byte_tokens[text] = id
        elif id not in found:
            normal[text] = (id, score)
        if SPACE in text and id in found:
            what = "a special token with the sign for a space, which llama.cpp looks for before it writes that sign"
            raise head.unmodelled(what, text, gguf_tokens.TOKENS, id)
        if len(text) > _LONGEST_PIECE:
            raise head.unmodelled(f"a token of more than {_LONGEST_PIECE} characters", text, gguf_tokens.TOKENS, id)
    _check_byte_tokens(head, tokens, byte_tokens, normal)
    splits = head.boolean("tokenizer.ggml.add_space_prefix", default=True)
    return Contents(
        format="gguf",
        **over_scored(
            [*normal],
            np.array([id for id, _ in normal.values()], dtype=np.int32),
            np.array([score for _, score in normal.values()], dtype=np.float64),
            byte_tokens,
            head.place(gguf_tokens.TOKENS),
        ),
        fallback=Fallback(bytes=tuple(f"<0x{byte:02X}>" for byte in range(256))),
        rewriting=Rewriting(
            SentencePieceNormalizer(None, splits, trims_spaces=False, shows_spaces=True),
            (DecodeSentencePiece(splits, False, "", ""),),
        ),
        **_found(head, tokens, True),
    )


def _check_byte_tokens(
    head: GGUFHead, tokens: gguf_tokens.GGUFTokens, byte_tokens: dict[str, int], normal: dict[str, tuple[int, float]]
) -> None:
    """Refuse byte tokens that are missing, that merging may make, or that are found in texts."""
    if not has_bytes(byte for text in byte_tokens if (byte := byte_of(text)) is not None):
        raise head.unmodelled(
            "some byte that text can have has no token such as <0x0A>", len(byte_tokens), gguf_tokens.TOKENS
        )
    found = {special.content for special in tokens.specials}
    for text, id in byte_tokens.items():
        if text in found or tokens.types[id] != gguf_tokens.BYTE:
            raise head.unmodelled("a byte token whose type is not that of byte tokens", text, gguf_tokens.TOKENS, id)
        if any(text[:cut] in tokens.id_of and text[cut:] in tokens.id_of for cut in range(1, len(text))):
            what = "a byte token that llama.cpp makes of the characters of its name, too"
            raise head.unmodelled(what, text, gguf_tokens.TOKENS, id)
    for text in normal:
        if tokens.types[tokens.id_of[text]] == gguf_tokens.BYTE:
            what = "a token of the type of byte tokens whose name is none of theirs"
            raise head.unmodelled(what, text, gguf_tokens.TOKENS, tokens.id_of[text])


def _wordpiece(head: GGUFHead) -> WordPieceContents:
    tokens = gguf_tokens.read_tokens(head)
    found = {special.id for special in tokens.specials}
    for id, text in enumerate(tokens.texts):
        what = ""
        if tokens.types[id] == gguf_tokens.BYTE:
            what = "a byte token in a WordPiece vocabulary, at which llama.cpp aborts"
        elif text == SPACE:
            what = "a token that is the sign for the beginning of a word alone, with which any word may begin"
        if what:
            raise head.unmodelled(what, text, gguf_tokens.TOKENS, id)
    for special in tokens.specials:
        if special.level:
            raise head.unmodelled(
                "a special token that overlaps with another", special.content, gguf_tokens.TOKENS, special.id
            )
    unknown = _unknown_id(head, len(tokens.texts))
    lowercase = head.boolean("tokenizer.ggml.normalizer.lowercase", default=True)
    strips = head.boolean("tokenizer.ggml.normalizer.strip_accents", default=lowercase)
    spelled = (gguf_tokens.NORMAL, gguf_tokens.UNKNOWN, gguf_tokens.CONTROL, gguf_tokens.USER_DEFINED)
    return WordPieceContents(
        "gguf",
        # No token is empty.
        WordPieceVocabulary(
            tokens.id_of,
            prefix="",
            opening=SPACE,
            unknown="" if unknown is None else tokens.texts[unknown],
            longest_word=None,
        ),
        LlamaCppNormalizer(strip_accents=strips, lowercase=lowercase),
        tokens.specials,
        cleanup=False,
        ignored=("add_bos_token", "add_sep_token"),
        silent=frozenset(id for id, type in enumerate(tokens.types) if type not in spelled and id not in found),
    )


def _unknown_id(head: GGUFHead, n_tokens: int) -> int | None:
    """Return the id for words without a tokenization; BERT's, if the file gives none that is an id."""
    id = head.number("tokenizer.ggml.unknown_token_id")
    if id is None or id >= n_tokens:
        id = _UNKNOWN_OF_BERT
    return id if id < n_tokens else None
