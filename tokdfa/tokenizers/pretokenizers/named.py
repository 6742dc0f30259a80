"""The split patterns in use, by name, and the other pre-tokenizers of the library tokenizers as such patterns."""

from __future__ import annotations

from tokdfa.tokenizers.pretokenizers.steps import Behavior, Split, Splitting

__all__ = [
    "NAMED",
    "ONE_SCRIPT",
    "bert",
    "digits",
    "fixed_length",
    "punctuation",
    "unicode_scripts",
    "whitespace",
    "whitespace_split",
]

ONE_SCRIPT = r"\p{unicode_script}+"
"""A character with a script and all after it that have the same one or any: no regular expression of the library."""

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_LIKE_LLAMA3 = (
    _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|" + "%s" + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|" + _SPACES
)  # fmt: skip
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_NOT_HAN = r"&&[^\p{Han}]]"
_KIMI_UPPER, _KIMI_LOWER = _UPPER.replace("]", _NOT_HAN), _LOWER.replace("]", _NOT_HAN)
_LIKE_O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+%(end)s|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*%(end)s"
    rf"|%(digits)s| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)
_ASCII_PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""

NAMED: dict[str, Splitting] = {
    "gpt2": Splitting(
        "tokenizers", (Split(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),)
    ),
    "gpt2_tiktoken": Splitting(
        "tiktoken", (Split(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"),)
    ),
    "cl100k": Splitting(
        "tiktoken",
        (
            Split(
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
                r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
            ),
        ),
    ),
    "o200k": Splitting("tiktoken", (Split(_LIKE_O200K % {"end": _CONTRACTIONS + "?", "digits": r"\p{N}{1,3}"}),)),
    "llama3": Splitting("tokenizers", (Split(_LIKE_LLAMA3 % r"\p{N}{1,3}"),)),
    "qwen2": Splitting("tokenizers", (Split(_LIKE_LLAMA3 % r"\p{N}"),)),
    "tekken": Splitting("tiktoken", (Split(_LIKE_O200K % {"end": "", "digits": r"\p{N}"}),)),
    "kimi": Splitting(
        "tiktoken",
        (
            Split(
                rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?{_KIMI_UPPER}*{_KIMI_LOWER}+{_CONTRACTIONS}?"
                rf"|[^\r\n\p{{L}}\p{{N}}]?{_KIMI_UPPER}+{_KIMI_LOWER}*{_CONTRACTIONS}?|\p{{N}}{{1,3}}"
                rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
            ),
        ),
    ),
    "deepseek": Splitting(
        "tokenizers",
        (
            Split(r"\p{N}{1,3}"),
            Split("[一-龥぀-ゟ゠-ヿ]+"),
            Split(
                _ASCII_PUNCTUATION
                + "[A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
                + "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
            ),
        ),
    ),
}
"""Named pre-tokenizers, each with the library whose pattern and character classes it uses."""


def digits(individual: bool = False) -> Split:
    """Return the step Digits of tokenizers: each number is a piece, or each digit."""
    return Split(r"\p{is_numeric}", "isolated" if individual else "contiguous")


def punctuation(behavior: Behavior = "isolated") -> Split:
    """Return the step Punctuation of tokenizers."""
    return Split(r"\p{is_punctuation}", behavior)


def whitespace() -> Split:
    """Return the step Whitespace of tokenizers, which drops spaces."""
    word, space = r"\p{whitespace_word}", r"\p{whitespace_space}"
    return Split(f"{word}+|[^{word}{space}]+", "removed", invert=True)


def whitespace_split() -> Split:
    """Return the step WhitespaceSplit of tokenizers, which drops spaces."""
    return Split(r"\p{is_whitespace}", "removed")


def bert() -> tuple[Split, Split]:
    """Return the two steps of BertPreTokenizer of tokenizers, which drops spaces."""
    return whitespace_split(), Split(r"\p{is_bert_punctuation}")


def unicode_scripts() -> Split:
    """Return the step UnicodeScripts of tokenizers, which drops spaces before the first character with a script."""
    return Split(ONE_SCRIPT, "removed", invert=True)


def fixed_length(length: int) -> Split:
    """Return the step FixedLength of tokenizers: pieces of `length` characters; the last one may be shorter."""
    return Split(rf"[\s\S]{{1,{length}}}")
