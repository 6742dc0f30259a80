"""The tokens of a GGUF file, and those that llama.cpp finds in texts, some of them despite their type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import Float32Array
from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID
from tokdfa.tokenizers.formats.gguf_head import GGUFHead

LLAMA_CPP = "llama.cpp of llama-cpp-python 0.3.36"
"""The standard: its llama_tokenize with parse_special, and without add_special."""

MODEL, PRE = "tokenizer.ggml.model", "tokenizer.ggml.pre"
TOKENS, TYPES, SCORES = (f"tokenizer.ggml.{name}" for name in ("tokens", "token_type", "scores"))
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
FILLS = {
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
    for keys, names in FILLS.items():
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


def found_in(head: GGUFHead, tokens: GGUFTokens, adds_begin: bool, adds_end: bool = False) -> dict[str, Any]:
    """Return the special tokens, which are found in texts, and the flags of tokens left out at the ends of a text."""
    ends = {"add_bos_token": adds_begin, "add_eos_token": adds_end}
    ignored = tuple(name for name, default in ends.items() if head.boolean(f"tokenizer.ggml.{name}", default))
    return {"specials": tokens.specials, "finds_specials": True, "ignored": ignored}


def read_scores(head: GGUFHead, tokens: GGUFTokens) -> Float32Array:
    """Return the scores of the tokens, zeros where the file has none."""
    scores = head.numbers(SCORES, ("f32", "i32")) if SCORES in head else np.zeros(len(tokens.texts), dtype=np.float32)
    if len(scores) < len(tokens.texts):
        raise head.wrong("fewer scores than tokens", len(scores), SCORES)
    scores = scores[: len(tokens.texts)].astype(np.float32)
    if not np.isfinite(scores).all():
        index = int(np.argmin(np.isfinite(scores)))
        where = f"{head.at(SCORES)}, element {index}"
        raise FileFormatError("the score is not a number", value=float(scores[index]), where=where)
    return scores
