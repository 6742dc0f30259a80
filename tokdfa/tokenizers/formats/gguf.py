"""GGUF files: the tokenizer in the head of a model for llama.cpp, as llama.cpp reads it.

llama.cpp takes some tokens for special ones despite their type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.errors import FileFormatError
from tokdfa.regex.unicode.utf8 import BYTE_OF, is_spelled
from tokdfa.tokenizers.decoding import BYTE_TOKENS, DecodeSentencePiece, byte_of
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.symbols import Fallback
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents, Rewriting, has_bytes
from tokdfa.tokenizers.formats.gguf_head import GGUFHead
from tokdfa.tokenizers.formats.ranks import over_scored
from tokdfa.tokenizers.formats.vocabulary import over_bytes, over_characters
from tokdfa.tokenizers.formats.wordpiece import WordPieceContents
from tokdfa.tokenizers.formats.written import Pairs, Vocabulary
from tokdfa.tokenizers.models.wordpiece.normalizer import LlamaCppNormalizer
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
TOKENS, TYPES = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

# Tokens with these texts end a generation, and become control tokens; or are always shown, and user-defined.
_ENDS = frozenset(
    (
        *("<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>"),
        *("<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<eos>"),
        *("<end_of_utterance>", "<turn|>", "<|tool_response>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "[e~["),
    )
)
_SHOWN = frozenset(("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"))
# If no key names the token, the one of these texts that llama.cpp happens to meet first becomes a control token.
_FILLS = {
    ("fim_pre_token_id", "prefix_token_id"): (
        *("<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<\uff5cfim\u2581begin\uff5c>", "<PRE>", "\u2581<PRE>"),
        *("<|code_prefix|>", "<|prefix|>"),
    ),
    ("fim_suf_token_id", "suffix_token_id"): (
        *("<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<\uff5cfim\u2581hole\uff5c>", "<SUF>", "\u2581<SUF>"),
        *("<|code_suffix|>", "<|suffix|>"),
    ),
    ("fim_mid_token_id", "middle_token_id"): (
        *("<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<\uff5cfim\u2581end\uff5c>", "<MID>", "\u2581<MID>"),
        *("<|code_middle|>", "<|middle|>"),
    ),
    ("fim_pad_token_id",): ("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"),
    ("fim_rep_token_id",): ("<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"),
    ("fim_sep_token_id",): ("<|file_sep|>",),
}
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
    if model not in _KINDS:
        what = _NOT_READ.get(model, "a kind of tokenizer that llama.cpp does not know")
        what = f"only the kinds gpt2 (byte pairs), llama (SentencePiece) and bert (WordPiece) can be read, not {what}"
        raise head.unmodelled(what, model, MODEL)
    return _KINDS[model](head, read_tokens(head))


def pre_tokenizer(head: GGUFHead) -> LlamaCppPreTokenizer:
    """Return the pre-tokenizer of ``tokenizer.ggml.pre``; without the key, llama.cpp warns and takes "default"."""
    name = head.string(PRE, default="default") or "default"
    if name not in PRE_TOKENIZERS:
        what = f"{LLAMA_CPP} has no pre-tokenizer of this name, or it is not modelled"
        raise head.unmodelled(what, name, PRE, hint="tokdfa info shows what else is odd in the file")
    return PRE_TOKENIZERS[name]


class GGUFTokens(NamedTuple):
    """The tokens of a file by id, and the tokens that are found in texts, of any type, and their ids."""

    texts: list[str]
    types: list[int]
    id_of: Mapping[str, int]
    specials: tuple[Special, ...]
    found: frozenset[int]


def read_tokens(head: GGUFHead) -> GGUFTokens:
    """Read the tokens and their types."""
    texts = [text or f"[EMPTY_{id}]" for id, text in enumerate(head.strings(TOKENS))]
    if not 0 < len(texts) <= LARGEST_ID:
        raise head.wrong(f"the number of tokens must be from 1 to {LARGEST_ID}", len(texts), TOKENS)
    id_of = {text: id for id, text in enumerate(texts)}
    if len(id_of) < len(texts):
        id = next(id for id, text in enumerate(texts) if id_of[text] != id)
        raise head.wrong(f"the same token as {id_of[texts[id]]}, at which llama.cpp aborts", texts[id], TOKENS, id)
    odd = next((id for id, text in enumerate(texts) if "\0" in text), None)
    if odd is not None:
        raise head.unmodelled("a token with a zero character, at which llama.cpp cuts it off", texts[odd], TOKENS, odd)
    types = [NORMAL] * len(texts)
    if TYPES in head:
        types = head.numbers(TYPES, ("i32",)).tolist()
        if len(types) < len(texts):
            raise head.wrong("fewer types than tokens", len(types), TYPES)
        del types[len(texts) :]
    specials = _specials(head, texts, types, id_of)
    return GGUFTokens(texts, types, id_of, specials, frozenset(special.id for special in specials))


def _specials(head: GGUFHead, texts: list[str], types: list[int], id_of: Mapping[str, int]) -> tuple[Special, ...]:
    ids = {id for id, type in enumerate(types) if type in (UNKNOWN, CONTROL, USER_DEFINED)}
    ids |= {id_of[text] for text in _ENDS | _SHOWN if text in id_of}
    for keys, names in _FILLS.items():
        there = [id_of[name] for name in names if name in id_of]
        if any(f"tokenizer.ggml.{key}" in head for key in keys) or ids.issuperset(there):
            continue
        if len(there) > 1:
            what = "llama.cpp makes one of these tokens a control token, and which one is not known"
            raise head.unmodelled(
                what, [texts[id] for id in there], TYPES, hint=f"add the key tokenizer.ggml.{keys[0]}"
            )
        ids.update(there)
    if "<|plamo:eos|>" in id_of:
        raise head.unmodelled("a token of PLaMo", "<|plamo:eos|>", TOKENS)
    if "<|tool_response>" in id_of and "</s>" in id_of:
        ids.discard(id_of["</s>"])  # Gemma 4 has it as an ordinary token
    specials = tuple(Special(id, texts[id], is_text=_is_text(texts[id], types[id])) for id in sorted(ids))
    return _with_strips(head, _in_order(head, specials), id_of)


def _is_text(text: str, type: int) -> bool:
    """Return whether llama.cpp shows a special token as text: the user-defined ones that do not end a generation."""
    return text in _SHOWN or (type == USER_DEFINED and text not in _ENDS)


def _in_order(head: GGUFHead, specials: tuple[Special, ...]) -> tuple[Special, ...]:
    """Return special tokens in levels, if some overlap so that the order in which they are looked for matters.

    llama.cpp looks for the longest everywhere in a text, then for the next one in the rest. Where none overlap, that is
    the leftmost first, and the longest of those that begin at one offset.
    """
    sizes = {special.content: len(special.content.encode()) for special in specials}
    conflicts = list(_conflicts(sizes))
    if not conflicts:
        return specials
    for earlier, later in conflicts:
        if sizes[earlier] == sizes[later] or head.string("tokenizer.ggml.model") != "gpt2":
            what = f"a special token that overlaps with {later!r}; which one llama.cpp finds is not modelled"
            raise head.unmodelled(what, earlier, TOKENS)
    levels = {size: level for level, size in enumerate(sorted(set(sizes.values()), reverse=True))}
    return tuple(replace(special, level=levels[sizes[special.content]]) for special in specials)


def _conflicts(sizes: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield special tokens and others, no shorter, that begin within them and would be found in their stead."""
    ends: dict[str, list[str]] = {}
    for text in sizes:
        for cut in range(1, len(text)):
            ends.setdefault(text[cut:], []).append(text)
    for later in sizes:
        for length in range(1, len(later)):
            for earlier in ends.get(later[:length], ()):
                if earlier != later and sizes[earlier] <= sizes[later]:
                    both = earlier + later[length:]
                    if max((text for text in sizes if both.startswith(text)), key=len) == earlier:
                        yield earlier, later


def _with_strips(head: GGUFHead, specials: tuple[Special, ...], id_of: Mapping[str, int]) -> tuple[Special, ...]:
    """Return special tokens with the white space that llama.cpp gives to some of them, by names of models."""
    pre = head.string("tokenizer.ggml.pre", default="")
    architecture = head.string("general.architecture", default="")
    name = head.string("general.name", default="").lower()
    left: set[str] = set()
    right: set[str] = set()
    if any(part in pre for part in ("jina-v2-de", "jina-v2-es", "jina-v2-code")) or any(
        part in architecture for part in ("nomic-bert-moe", "jina-bert-v3")
    ):
        left = {"<mask>"}
    elif "phi-3" in name or "phi3" in name:
        missing = [text for text in ("</s>", "<unk>", "<s>", "<|endoftext|>") if text not in id_of]
        if missing:
            what = "a model of this name must have this token, or llama.cpp refuses it"
            raise head.wrong(what, missing[0], "general.name")
        right = {special.content for special in specials} - {"<unk>", "<s>", "<|endoftext|>"}
    elif "modern-bert" in name:
        left = {"[MASK]"}
    strips = left | right
    found = {special.content for special in specials} & strips
    if found and any(set(" \t\n\v\f\r").intersection(special.content) for special in specials):
        raise head.unmodelled("a special token that strips white space, beside one that has some", min(found), TOKENS)
    return tuple(
        replace(special, lstrip=special.content in left, rstrip=special.content in right, strips_ascii=True)
        if special.content in strips
        else special
        for special in specials
    )


def _byte_level(head: GGUFHead, tokens: GGUFTokens) -> Contents:
    pre = pre_tokenizer(head)
    if BYTE in tokens.types:
        what = "a byte token in a byte-level vocabulary"
        raise head.unmodelled(what, BYTE, TOKENS, tokens.types.index(BYTE))
    key = "tokenizer.ggml.merges"
    left, right = [], []
    # A rule is cut at its first space after the first byte.
    for index, rule in enumerate(head.strings(key)):
        at = rule.find(" ", 1)
        if at < 0 or "\0" in rule:
            raise head.wrong("a rule must be two parts separated by a space", rule, key, index)
        left.append(rule[:at])
        right.append(rule[at + 1 :])
    pairs = Pairs.of_columns(left, right, lambda index: head.at(key, index))
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
    return replace(contents, splitting=pre.splitting, **_found(head, tokens, pre.adds_begin))


def _decoded(text: str) -> bytes:
    """Return the bytes to which llama.cpp decodes a token with characters outside the byte alphabet."""
    return b"".join(
        bytes([BYTE_OF[letter]])
        if letter in BYTE_OF
        else b"[UNK_BYTE_0x" + letter.encode().hex().encode() + text.encode() + b"]"
        for letter in text
    )


def _found(head: GGUFHead, tokens: GGUFTokens, adds_begin: bool) -> dict[str, Any]:
    """Return the special tokens, which are found in texts, and the flags of tokens left out at the ends of a text."""
    ends = {"add_bos_token": adds_begin, "add_eos_token": False}
    ignored = tuple(name for name, default in ends.items() if head.boolean(f"tokenizer.ggml.{name}", default))
    return {"specials": tokens.specials, "finds_specials": True, "ignored": ignored}


def _sentencepiece(head: GGUFHead, tokens: GGUFTokens) -> Contents:
    key = "tokenizer.ggml.scores"
    scores = head.numbers(key, ("f32", "i32")) if key in head else np.zeros(len(tokens.texts), dtype=np.float32)
    if len(scores) < len(tokens.texts):
        raise head.wrong("fewer scores than tokens", len(scores), key)
    scores = scores[: len(tokens.texts)].astype(np.float32)
    if not np.isfinite(scores).all():
        index = int(np.argmin(np.isfinite(scores)))
        where = f"{head.at(key)}, element {index}"
        raise FileFormatError("the score is not a number", value=float(scores[index]), where=where)
    normal: dict[str, int] = {}
    byte_tokens: dict[str, int] = {}
    for id, text in enumerate(tokens.texts):
        if byte_of(text) is not None:
            byte_tokens[text] = id
        elif id not in tokens.found:
            normal[text] = id
        if SPACE in text and id in tokens.found:
            what = "a special token with the sign for a space, which llama.cpp looks for before it writes that sign"
            raise head.unmodelled(what, text, TOKENS, id)
        if len(text) > _LONGEST_PIECE:
            raise head.unmodelled(f"a token of more than {_LONGEST_PIECE} characters", text, TOKENS, id)
    _check_byte_tokens(head, tokens, byte_tokens, normal)
    splits = head.boolean("tokenizer.ggml.add_space_prefix", default=True)
    ids = np.array([*normal.values()], dtype=np.int32)
    merging = over_scored([*normal], ids, scores[ids].astype(np.float64), byte_tokens, head.at(TOKENS))
    normalizer = SentencePieceNormalizer(None, splits, trims_spaces=False, shows_spaces=True)
    return Contents(
        format="gguf",
        **merging,
        fallback=Fallback(bytes=BYTE_TOKENS),
        rewriting=Rewriting(normalizer, (DecodeSentencePiece(splits, False, "", ""),)),
        **_found(head, tokens, True),
    )


def _check_byte_tokens(
    head: GGUFHead, tokens: GGUFTokens, byte_tokens: Mapping[str, int], normal: Mapping[str, int]
) -> None:
    """Refuse byte tokens that are missing, that merging may make, or that are found in texts."""
    if not has_bytes(byte for text in byte_tokens if (byte := byte_of(text)) is not None):
        raise head.unmodelled("some byte that text can have has no token such as <0x0A>", len(byte_tokens), TOKENS)
    for text, id in byte_tokens.items():
        if id in tokens.found or tokens.types[id] != BYTE:
            raise head.unmodelled("a byte token whose type is not that of byte tokens", text, TOKENS, id)
        if any(text[:cut] in tokens.id_of and text[cut:] in tokens.id_of for cut in range(1, len(text))):
            what = "a byte token that llama.cpp makes of the characters of its name, too"
            raise head.unmodelled(what, text, TOKENS, id)
    for text, id in normal.items():
        if tokens.types[id] == BYTE:
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


_KINDS: dict[str, Callable[[GGUFHead, GGUFTokens], Contents | WordPieceContents]] = {
    "gpt2": _byte_level,
    "llama": _sentencepiece,
    "bert": _wordpiece,
}
