"""merges.txt: one rule per line, two parts separated by a space; and the dictionaries that such rules make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import add
from pathlib import Path

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import FileFormatError
from tokdfa.kernels.spelling.spell import read_letters
from tokdfa.regex.unicode.utf8 import BYTE_OF, CHARACTER_OF, GPT2_ORDER, LETTERS, is_spelled
from tokdfa.tokenizers.decoder import Spellings, gathered
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.checked_dictionary import number_bytes
from tokdfa.tokenizers.formats.contents import Contents, Rewriting
from tokdfa.tokenizers.formats.files import decode_utf8
from tokdfa.tokenizers.formats.written import Pairs, in_utf8
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

END_OF_WORD = "</w>"
# A line, or a rule written as a string, that begins so is none for tokenizers, wherever it is.
VERSION = "#version"

# The first line of CLIP's bpe_simple_vocab_16e6.txt. CLIP uses the first 48,894 of its 262,144 rules.
CLIP_HEADER = '"bpe_simple_vocab_16e6.txt#version: 0.2'
_CLIP_RULES = 49152 - 256 - 2
_CLIP_SPECIALS = ("<|startoftext|>", "<|endoftext|>")
_CLIP_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def read_pairs(data: bytes, path: Path, limit: int | None = None) -> Pairs:
    """Read the lines of a merges.txt, or only the first `limit` rules.

    A line that begins with ``#version`` is no rule; nor is a first line that has this anywhere, as CLIP's does.
    """
    text = decode_utf8(data, path)
    first_line = 1
    if VERSION in text[: text.find("\n") + 1 or None]:
        text = text[text.find("\n") + 1 :] if "\n" in text else ""
        first_line = 2
    text = ("\n".join(text.split("\n", limit)[:limit]) if limit else text).removesuffix("\n")
    skipped: list[int] = []
    if f"\n{VERSION}" in f"\n{text}":
        lines = text.split("\n")
        skipped = [index for index, line in enumerate(lines) if line.startswith(VERSION)]
        text = "\n".join(line for line in lines if not line.startswith(VERSION))

    def where(index: int) -> str:
        return f"{path}, line {first_line + before_skipping(index, skipped)}"

    def columns() -> tuple[list[str], list[str]]:
        # One list of all parts is much faster than one list per line.
        parts = text.replace("\n", " ").split(" ") if text else []
        return parts[::2], parts[1::2]

    written = text.encode("utf-8")
    n_rules = written.count(b"\n") + 1 if text or (first_line == 1 and not skipped) else 0
    if n_rules and not _alternates(written):
        _find_fault(text.split("\n"), where)
    return Pairs(written, n_rules, ord(" "), ord("\n"), columns, where)


def before_skipping(index: int, skipped: list[int]) -> int:
    """Return the index of an entry in a list that has the entries at the `skipped` indices, ascending, as well."""
    for at in skipped:
        index += at <= index
    return index


def _alternates(lines: bytes) -> bool:
    """Return whether spaces and line feeds alternate, with something between any two."""
    data = np.frombuffer(lines, dtype=np.uint8)
    offsets = np.flatnonzero((data == ord(" ")) | (data == ord("\n")))
    expected = np.resize(np.frombuffer(b" \n", dtype=np.uint8), len(offsets))
    is_apart = np.diff(offsets, prepend=-1, append=len(data)) > 1
    alternates = len(offsets) % 2 == 1 and np.array_equal(data[offsets], expected)
    return alternates and bool(is_apart.all()) and b"\r" not in lines


def _find_fault(lines: list[str], where: Callable[[int], str]) -> None:
    """Raise for the first line that is not a rule; a carriage return within a line is an ordinary character."""
    for index, line in enumerate(lines):
        parts = line.split(" ")
        if line.endswith("\r"):
            what = "a carriage return; lines must end with a line feed alone"
            raise FileFormatError(what, where=where(index), hint="convert the line endings")
        if len(parts) != 2 or not parts[0] or not parts[1]:
            raise FileFormatError("a rule must be two parts separated by one space", value=line, where=where(index))


def last_of_equal(left: Int32Array, right: Int32Array) -> Int64Array | None:
    """Return the indices of rules without those that occur again later; None if all are distinct.

    `left` and `right` number the parts.
    """
    keys = left.astype(np.int64) << 32 | right
    # Sorted here because np.unique imports masked arrays, which takes longer.
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    last = {key: index for index, key in enumerate(keys.tolist())}
    return np.array(sorted(last.values()), dtype=np.int64)


def check_rules(pairs: Pairs, left: Int32Array, right: Int32Array) -> None:
    """Raise FileFormatError if a rule occurs twice, because libraries differ on which occurrence counts."""
    if last_of_equal(left, right) is not None:
        rules = [*zip(left.tolist(), right.tolist(), strict=True)]
        seen: dict[tuple[int, int], int] = {}
        again = next(i for i, rule in enumerate(rules) if seen.setdefault(rule, i) != i)
        first = pairs.where(seen[rules[again]]).rpartition(", ")[2]
        raise pairs.fault(f"the same rule as in {first}", again, FileFormatError)


def read_merges(data: bytes, path: Path, *, bytewise: bool | None = None) -> Contents:
    """Read a bare merges.txt: the dictionary alone.

    Without a vocabulary, the ids follow from the kind of the file. Over GPT-2's byte alphabet they number the bytes in
    the order of that alphabet and then the tokens in the order of the rules, as GPT-2 does; over characters, the sorted
    symbols and then the tokens in the order of the rules.

    `bytewise` is whether the file is written in GPT-2's byte alphabet. By default this is assumed if it uses no other
    characters, and uses the Latin letters that the alphabet shares with ordinary text only together with the characters
    from U+0100 on that represent spaces and controls.
    """
    pairs = read_pairs(data, path)
    suffix = suffix_in(pairs)
    stems = [part.removesuffix(suffix or "") for part in chain(*pairs.columns)]
    if bytewise is None:
        characters = set("".join(stems))
        largest = max(characters, default="a")
        bytewise = characters <= BYTE_OF.keys() and (largest >= "\u0100" or (suffix is None and largest < "\u0080"))
    elif bytewise and not all(map(is_spelled, stems)):
        index = next(i for i, stem in enumerate(stems) if not is_spelled(stem)) % pairs.n_rules
        raise pairs.fault("the rule has a character outside GPT-2's byte alphabet", index, FileFormatError)
    if bytewise and suffix is None:
        return _bytewise(pairs)
    dictionary = Dictionary(_words(pairs, suffix))
    check_rules(pairs, dictionary.left, dictionary.right)
    return Contents(
        format="merges", dictionary=dictionary, ids=_ids_by_rule(dictionary), suffix=suffix, spelled_bytes=bytewise
    )


read_merges_of_bytes, read_merges_of_characters = (partial(read_merges, bytewise=it) for it in (True, False))


def _bytewise(pairs: Pairs) -> Contents:
    columns = (*pairs.columns, [*map(add, *pairs.columns)])
    numbers = {word: i for i, word in enumerate(dict.fromkeys(chain(map(CHARACTER_OF.get, range(256)), *columns)))}
    rules = np.array([[*map(numbers.__getitem__, column)] for column in columns], dtype=np.int32).T
    check_rules(pairs, rules[:, 0], rules[:, 1])
    text, offsets, _ = read_letters(*in_utf8([*numbers]), 1, LETTERS)
    long = gathered(Spellings(text, offsets), np.arange(256, len(numbers)))
    numbering = number_bytes(long, np.ascontiguousarray(rules))
    ids = _ids_by_rule(numbering.dictionary)
    ids[list(GPT2_ORDER)] = np.arange(256)
    return Contents(format="merges", dictionary=numbering.dictionary, ids=ids)


def _ids_by_rule(dictionary: Dictionary) -> Int32Array:
    """Number the symbols, then the tokens in the order of the rules that make them, then those that no rule makes."""
    birth = np.where(dictionary.birth < 0, len(dictionary), dictionary.birth)
    birth[: dictionary.alphabet.n_symbols] = -1
    ids = np.empty(len(birth), dtype=np.int32)
    ids[np.argsort(birth, kind="stable")] = np.arange(len(birth), dtype=np.int32)
    return ids


def read_clip(data: bytes, path: Path) -> Contents:
    """Read the first 48,894 rules of CLIP's bpe_simple_vocab_16e6.txt, which CLIP uses, with CLIP's numbering.

    The symbols are the characters of GPT-2's byte alphabet, and those with ``</w>`` for the end of a word.
    """
    pairs = read_pairs(data, path, _CLIP_RULES)
    if pairs.n_rules < _CLIP_RULES:
        what = "the file has too few rules"
        raise FileFormatError(what, value=pairs.n_rules, where=str(path), hint=f"CLIP uses {_CLIP_RULES} of them")
    characters = [CHARACTER_OF[byte] for byte in GPT2_ORDER]
    symbols = characters + [character + END_OF_WORD for character in characters]
    dictionary = Dictionary(_words(pairs, END_OF_WORD), symbols)
    check_rules(pairs, dictionary.left, dictionary.right)
    n_tokens = len(dictionary.alphabet)
    specials = tuple(Special(n_tokens + i, content) for i, content in enumerate(_CLIP_SPECIALS))
    return Contents(
        format="clip",
        dictionary=dictionary,
        ids=np.arange(n_tokens, dtype=np.int32),
        specials=specials,
        suffix=END_OF_WORD,
        spelled_bytes=True,
    )


def clip_as_transformers_has_it(contents: Contents) -> Contents:
    """Return CLIP's rules with transformers' treatment of texts; OpenAI's own also repairs texts with ftfy."""
    from tokdfa.tokenizers.normalizers.steps import Chain, Lowercase, Replace, UnicodeForm

    steps = (UnicodeForm("NFC"), Replace(r"\s+", " ", literal=False), Lowercase())
    return replace(
        contents,
        rewriting=Rewriting(Chain(steps)),
        splitting=Splitting("tokenizers", (Split(_CLIP_PATTERN, "removed", invert=True),)),
        finds_specials=True,
    )


def _words(pairs: Pairs, suffix: str | None) -> Iterator[tuple[Word, Word]]:
    """Return the rules as words: over characters, or over symbols that may end with the suffix."""
    if suffix is None:
        return zip(*pairs.columns, strict=True)
    check_suffix(pairs, suffix)
    # In the oldest files the end of a word is a symbol of its own, not a suffix of one.
    separate = suffix in pairs.columns[1]
    return zip(
        *([symbols_of(part, suffix, separate=separate) for part in parts] for parts in pairs.columns), strict=True
    )


def suffix_in(pairs: Pairs) -> str | None:
    """Return ``</w>`` if there are words that end with it."""
    # The test of all parts together is much faster and settles most files.
    together = " ".join(pairs.columns[1])
    return END_OF_WORD if f"{END_OF_WORD} " in f"{together} " else None


def check_suffix(pairs: Pairs, suffix: str) -> None:
    """Refuse rules in which `suffix` is more than the mark at the end of the right part."""
    for index, (left, right) in enumerate(zip(*pairs.columns, strict=True)):
        if left.endswith(suffix) or ((left + right).endswith(suffix) and not right.endswith(suffix)):
            raise pairs.fault(f"{suffix} occurs where no word ends, or is merged from its characters", index)


def symbols_of(part: str, suffix: str | None, *, separate: bool = False) -> Word:
    """Return a part as a word: its characters, with the suffix on the last of them or as a symbol of its own."""
    if suffix is None:
        return part
    if not part.endswith(suffix):
        return tuple(part)
    stem = part.removesuffix(suffix)
    if separate:
        return (*stem, suffix)
    return (*stem[:-1], stem[-1:] + suffix)
