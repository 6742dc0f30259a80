"""GGUF files: the tokenizer in the head of a model for llama.cpp, as llama.cpp reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from tokdfa.regex.unicode.utf8 import BYTE_OF, is_spelled
from tokdfa.tokenizers.decoding import BYTE_TOKENS, DecodeSentencePiece, byte_of
from tokdfa.tokenizers.encoding.symbols import Fallback
from tokdfa.tokenizers.formats.contents import AnyContents, Contents, Rewriting, check_bytes, has_bytes
from tokdfa.tokenizers.formats.gguf_head import GGUFHead
from tokdfa.tokenizers.formats.gguf_tokens import (
    BYTE,
    CONTROL,
    LLAMA_CPP,
    MODEL,
    NORMAL,
    PRE,
    TOKENS,
    TYPES,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    GGUFTokens,
    found_in,
    read_scores,
    read_tokens,
)
from tokdfa.tokenizers.formats.gguf_unigram import read_unigram
from tokdfa.tokenizers.formats.ranks import over_scored
from tokdfa.tokenizers.formats.rwkv import LongestMatchContents
from tokdfa.tokenizers.formats.vocabulary import over_bytes, over_characters
from tokdfa.tokenizers.formats.wordpiece import WordPieceContents
from tokdfa.tokenizers.formats.written import Pairs, Vocabulary
from tokdfa.tokenizers.models.wordpiece.normalizer import LlamaCppNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer
from tokdfa.tokenizers.pretokenizers.llama_cpp import PRE_TOKENIZERS, LlamaCppPreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

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

_NOT_READ = {
    "plamo2": "a model of PLaMo-2",
    "hybriddna": "a model of DNA",
    "whitespace": "a model that splits at white space",
    "none": "a file without a vocabulary",
    "no_vocab": "a file without a vocabulary",
}


def read_gguf(data: bytes, path: Path) -> AnyContents:
    """Read the head of a GGUF file with a byte pair, SentencePiece, WordPiece, Unigram or RWKV tokenizer."""
    head = GGUFHead(data, path)
    model = head.string(MODEL)
    for key in head.keys:
        if key.startswith("tokenizer.") and key not in _WITHOUT_EFFECT and not key.startswith(_TEMPLATES):
            raise head.unmodelled("an unknown key", key, key)
    if model not in _KINDS:
        what = _NOT_READ.get(model, "a kind of tokenizer that llama.cpp does not know")
        readable = "gpt2 and gemma4 (byte pairs), llama (SentencePiece), bert (WordPiece), t5 (Unigram) and rwkv"
        what = f"only the kinds {readable} can be read, not {what}"
        raise head.unmodelled(what, model, MODEL)
    return _KINDS[model](head, read_tokens(head))


def pre_tokenizer(head: GGUFHead) -> LlamaCppPreTokenizer:
    """Return the pre-tokenizer of ``tokenizer.ggml.pre``; without the key, llama.cpp warns and takes "default"."""
    name = head.string(PRE, default="default") or "default"
    if name not in PRE_TOKENIZERS:
        what = f"{LLAMA_CPP} has no pre-tokenizer of this name, or it is not modelled"
        raise head.unmodelled(what, name, PRE, hint="tokdfa info shows what else is odd in the file")
    return PRE_TOKENIZERS[name]


def _byte_level(head: GGUFHead, tokens: GGUFTokens) -> Contents:
    pre = pre_tokenizer(head)
    if BYTE in tokens.types:
        what = "a byte token in a byte-level vocabulary"
        raise head.unmodelled(what, BYTE, TOKENS, tokens.types.index(BYTE))
    pairs = _read_rules(head)
    vocabulary = Vocabulary(tokens.texts, np.arange(len(tokens.texts), dtype=np.int32), tokens.id_of)
    if has_bytes(BYTE_OF[letter] for letter in BYTE_OF.keys() & tokens.id_of.keys()):
        contents = over_bytes(vocabulary, pairs, head.path, "gguf", whole_piece=pre.whole_piece)
        contents = replace(contents, foreign=tuple(_decoded(text.decode()) for text in contents.foreign))
    else:
        # llama.cpp leaves out bytes without a token, and nothing merges across them. Texts with such bytes are refused.
        for id, text in enumerate(tokens.texts):
            if id not in tokens.found and not is_spelled(text):
                what = "a token with a character outside GPT-2's byte alphabet in a vocabulary without some bytes"
                raise head.unmodelled(what, text, TOKENS, id)
        contents = over_characters(vocabulary, pairs, "gguf", whole_piece=pre.whole_piece)
        contents = replace(contents, spelled_bytes=True)
    return replace(contents, splitting=pre.splitting, **found_in(head, tokens, pre.adds_begin))


def _read_rules(head: GGUFHead) -> Pairs:
    key = "tokenizer.ggml.merges"
    left, right = [], []
    # A rule is cut at its first space after the first byte.
    for index, rule in enumerate(head.strings(key)):
        at = rule.find(" ", 1)
        if at < 0 or "\0" in rule:
            raise head.wrong("a rule must be two parts separated by a space", rule, key, index)
        left.append(rule[:at])
        right.append(rule[at + 1 :])
    return Pairs.of_columns(left, right, lambda index: head.at(key, index))


def _decoded(text: str) -> bytes:
    """Return the bytes to which llama.cpp decodes a token with characters outside the byte alphabet."""
    return b"".join(
        bytes([BYTE_OF[letter]])
        if letter in BYTE_OF
        else b"[UNK_BYTE_0x" + letter.encode().hex().encode() + text.encode() + b"]"
        for letter in text
    )


def _characters(head: GGUFHead, tokens: GGUFTokens) -> Contents:
    """Return the contents of a file of Gemma 4, which merges characters; others become their bytes."""
    if UNUSED in tokens.types:
        what = "an unused token, which llama.cpp neither finds nor shows"
        raise head.unmodelled(what, tokens.texts[tokens.types.index(UNUSED)], TYPES)
    pairs = _read_rules(head)
    _check_byte_tokens(head, tokens, {text: id for id, text in enumerate(tokens.texts) if byte_of(text) is not None})
    vocabulary = Vocabulary(tokens.texts, np.arange(len(tokens.texts), dtype=np.int32), tokens.id_of)
    contents = over_characters(vocabulary, pairs, "gguf", fallback=Fallback(bytes=BYTE_TOKENS))
    _check_lines(head, tokens, pairs)
    found = found_in(head, tokens, True)
    return replace(
        contents,
        splitting=Splitting("llama.cpp", (Split(r"[^\n]+|\n+"),)),
        rewriting=_spaces(False, tokens),
        **found | {"ignored": ("add_bos_token", *(name for name in found["ignored"] if name != "add_bos_token"))},
    )


def _check_lines(head: GGUFHead, tokens: GGUFTokens, pairs: Pairs) -> None:
    """Refuse a token of line feeds that merging does not make: llama.cpp takes a run of them for it without merging."""
    rules = (pair for pair in zip(*pairs.columns, strict=True) if not "".join(pair).strip("\n"))
    rank = {pair: index for index, pair in enumerate(dict.fromkeys(rules))}
    for text, id in tokens.id_of.items():
        if id in tokens.found or text.strip("\n"):
            continue
        parts = [*text]
        while found := [(rank[pair], at) for at, pair in enumerate(pairwise(parts)) if pair in rank]:
            at = min(found)[1]
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        if len(parts) > 1:
            raise head.unmodelled("a token of line feeds that no rules make", text, TOKENS, id)


def _spaces(puts_space: bool, tokens: GGUFTokens) -> Rewriting:
    """Return how spaces are written and read: not in the special tokens, which llama.cpp shows as they are."""
    normalizer = SentencePieceNormalizer(None, puts_space, trims_spaces=False, shows_spaces=True)
    kept = frozenset(special.content for special in tokens.specials if SPACE in special.content)
    return Rewriting(normalizer, (DecodeSentencePiece(puts_space, False, "", "", kept),))


def _sentencepiece(head: GGUFHead, tokens: GGUFTokens) -> Contents:
    scores = read_scores(head, tokens)
    normal: dict[str, int] = {}
    byte_tokens: dict[str, int] = {}
    for id, text in enumerate(tokens.texts):
        if byte_of(text) is not None:
            byte_tokens[text] = id
        elif id not in tokens.found or _is_merged(text, tokens.id_of):
            normal[text] = id
        if len(text) > _LONGEST_PIECE:
            raise head.unmodelled(f"a token of more than {_LONGEST_PIECE} characters", text, TOKENS, id)
    # A character that is a token itself never becomes a byte: Gemma has the tab, and no token for its byte.
    _check_byte_tokens(head, tokens, byte_tokens, {ord(text) for text in tokens.id_of if len(text) == 1})
    for text, id in byte_tokens.items():
        if any(text[:cut] in tokens.id_of and text[cut:] in tokens.id_of for cut in range(1, len(text))):
            what = "a byte token that llama.cpp makes of the characters of its name, too"
            raise head.unmodelled(what, text, TOKENS, id)
    splits = head.boolean("tokenizer.ggml.add_space_prefix", default=True)
    ids = np.array([*normal.values()], dtype=np.int32)
    merging = over_scored([*normal], ids, scores[ids].astype(np.float64), byte_tokens, head.at(TOKENS))
    return Contents(
        format="gguf",
        **merging,
        fallback=Fallback(bytes=BYTE_TOKENS),
        rewriting=_spaces(splits, tokens),
        **found_in(head, tokens, True),
    )


def _is_merged(text: str, id_of: Mapping[str, int]) -> bool:
    """Return whether merging may make a special token: it has the sign for a space, so it is not found in its text."""

    def is_part(part: str) -> bool:
        return len(part) == 1 or part in id_of

    cuts = range(1, len(text)) if SPACE in text else ()
    return any(is_part(text[:cut]) and is_part(text[cut:]) for cut in cuts)


def _check_byte_tokens(
    head: GGUFHead, tokens: GGUFTokens, byte_tokens: Mapping[str, int], characters: AbstractSet[int] = frozenset()
) -> None:
    """Refuse byte tokens that are missing, of another type or found in texts, and tokens that only have their type.

    `characters` are those that never become bytes.
    """
    present = {byte for text in byte_tokens if (byte := byte_of(text)) is not None}
    if not has_bytes(present | {code for code in characters if code < 0x80}):
        raise head.unmodelled("some byte that text can have has no token such as <0x0A>", len(byte_tokens), TOKENS)
    for text, id in byte_tokens.items():
        if id in tokens.found or tokens.types[id] != BYTE:
            raise head.unmodelled("a byte token whose type is not that of byte tokens", text, TOKENS, id)
    for id, text in enumerate(tokens.texts):
        if tokens.types[id] == BYTE and text not in byte_tokens and id not in tokens.found:
            what = "a token of the type of byte tokens whose name is none of theirs"
            raise head.unmodelled(what, text, TOKENS, id)


def _wordpiece(head: GGUFHead, tokens: GGUFTokens) -> WordPieceContents:
    for id, text in enumerate(tokens.texts):
        if tokens.types[id] == BYTE:
            raise head.unmodelled("a byte token in a WordPiece vocabulary, at which llama.cpp aborts", text, TOKENS, id)
        if text == SPACE:
            what = "a token that is the sign for the beginning of a word alone, with which any word may begin"
            raise head.unmodelled(what, text, TOKENS, id)
    for special in tokens.specials:
        if special.level:
            what = "a special token that overlaps with another"
            raise head.unmodelled(what, special.content, TOKENS, special.id)
    # Without an id that there is, words without a tokenization get the one of BERT.
    n_tokens = len(tokens.texts)
    ids = (head.number("tokenizer.ggml.unknown_token_id"), _UNKNOWN_OF_BERT)
    unknown = next((tokens.texts[id] for id in ids if id is not None and id < n_tokens), "")  # no token is empty
    lowercase = head.boolean("tokenizer.ggml.normalizer.lowercase", default=True)
    strips = head.boolean("tokenizer.ggml.normalizer.strip_accents", default=lowercase)
    spelled = (NORMAL, UNKNOWN, CONTROL, USER_DEFINED)
    return WordPieceContents(
        "gguf",
        WordPieceVocabulary(tokens.id_of, prefix="", opening=SPACE, unknown=unknown, longest_word=None),
        LlamaCppNormalizer(strip_accents=strips, lowercase=lowercase),
        tokens.specials,
        cleanup=False,
        ignored=("add_bos_token", "add_sep_token"),
        silent=frozenset(id for id, type in enumerate(tokens.types) if type not in spelled and id not in tokens.found),
    )


# Of a token, llama.cpp reads hexadecimal digits in lower case, and any other character after a backslash.
_ESCAPED = re.compile(r"[^\\]|\\x[0-9a-f]{2}|\\[^x]", re.DOTALL)
_CONTROLS = {"\\t": b"\t", "\\n": b"\n", "\\r": b"\r"}


def _unescaped(head: GGUFHead, text: str, id: int) -> bytes:
    """Return the bytes of a token of RWKV, which is written with escapes."""
    parts = _ESCAPED.findall(text)
    if sum(map(len, parts)) < len(text):
        raise head.unmodelled("an escape that llama.cpp reads in a way of its own", text, TOKENS, id)
    return b"".join(
        part.encode()
        if len(part) == 1
        else bytes([int(part[2:], 16)])
        if len(part) == 4
        else _CONTROLS.get(part, part[1:].encode())
        for part in parts
    )


def _longest_match(head: GGUFHead, tokens: GGUFTokens) -> LongestMatchContents:
    spelled: dict[bytes, int] = {}
    for id, text in enumerate(tokens.texts):
        token = _unescaped(head, text, id)
        if token in spelled:
            raise head.unmodelled(f"the same token as {spelled[token]}", text, TOKENS, id)
        if id in tokens.found and token != text.encode():
            raise head.unmodelled(
                "a special token with an escape, which llama.cpp looks for as written", text, TOKENS, id
            )
        spelled[token] = id
    check_bytes((token[0] for token in spelled if len(token) == 1), head.path)
    # Special tokens are taken out of texts before.
    found = tuple(b"" if id in tokens.found else token for token, id in spelled.items())
    return LongestMatchContents(format="gguf", tokens=found, **found_in(head, tokens, False))


_KINDS: dict[str, Callable[[GGUFHead, GGUFTokens], AnyContents]] = {
    "gpt2": _byte_level,
    "gemma4": _characters,
    "llama": _sentencepiece,
    "bert": _wordpiece,
    "t5": read_unigram,
    "rwkv": _longest_match,
}
