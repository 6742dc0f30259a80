"""The pre-tokenizer of llama.cpp that is nearest to a splitting: a GGUF file names one, and holds no pattern."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.pretokenizers.llama_cpp import PRE_TOKENIZERS
from tokdfa.tokenizers.pretokenizers.normal_form import splitting_form
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import Splitting

# The names that llama.cpp's own converter writes come first.
_USUAL = ("gpt-2", "llama-bpe", "qwen2", "gpt-4o", "tekken", "deepseek-v3", "kimi-k2", "command-r", "smaug-bpe")
# Texts on which the pre-tokenizers differ.
_SAMPLES = (
    *(
        "0",
        "00",
        "000",
        "0000",
        "0000000",
        " 0",
        " 00",
        "a0",
        "0a",
        "\u00b2",
        "0\u00b2",
        "\u0661\u0661",
        "it's",
        "it'S",
        "'RE",
    ),
    *(
        "'a",
        "'sa",
        " 's",
        "!a",
        " !",
        "!!",
        "!!a",
        "a!",
        "!\n",
        " !\n\n",
        "!\r\n",
        "a/",
        "!/",
        "!/\n",
        "a.b,c (d) [e]",
        "$+<=>^~|`",
    ),
    *(
        " a",
        "  a",
        "   a",
        " ",
        "  ",
        "\n",
        "\n\n",
        " \n",
        "\n ",
        " \n\n ",
        "\n\n a",
        "\t a",
        "\r\na",
        "a\n",
        "  \n  a",
        "\u00a0a",
    ),
    *("aB", "Ba", "BAa", "camelCase", "HTTPServer", "\u00c1S", "a\u0301", "\u0301a", "!\u0301", " \u0301", "\u0301"),
    *(
        "\u4e2d",
        "\u4e2da",
        "a\u4e2d",
        " \u4e2d",
        "\u3042\u4e2d",
        "\u4e2d0",
        "\u4e2d!",
        "\ud55c\uad6d",
        "\u0e01\u0e33",
        "\u0939\u093f",
    ),
    *(
        "a b",
        "a  b",
        "1 2",
        "a-b",
        "a_b",
        "_a",
        "\u3001a",
        "\u2026",
        "\U0001f600",
        "\x00",
        "\x00a",
        "<sentinel:1>",
        "IMGIMGAZ",
    ),
)


class PreName(NamedTuple):
    """The name of a pre-tokenizer, and whether it splits every text alike, with the tables of one library for both."""

    name: str
    is_same: bool


def nearest_name(splitting: Splitting, *, whole_piece: bool) -> PreName:
    """Return the pre-tokenizer of llama.cpp that splits like a splitting, or most nearly so, whatever the tables are.

    Normal forms tell whether one splits every text alike. Otherwise it is one that splits the most of some texts alike.
    `whole_piece` is whether pieces that are tokens should not be merged.
    """
    names = sorted(PRE_TOKENIZERS, key=lambda name: (PRE_TOKENIZERS[name].whole_piece != whole_piece, _rank(name)))
    wanted = [pretokenizer(splitting).split_backtracking(text) for text in _SAMPLES]
    counts: dict[Splitting, int] = {}
    for name in names:
        own = PRE_TOKENIZERS[name].splitting
        if own not in counts:
            counts[own] = _unlike(pretokenizer(_with_table_of(splitting, name)), wanted)
    names.sort(key=lambda name: counts[PRE_TOKENIZERS[name].splitting])
    nearest = names[0]
    is_same = splitting_form(_with_table_of(splitting, nearest)) == splitting_form(splitting)
    return PreName(nearest, is_same)


def _rank(name: str) -> int:
    return _USUAL.index(name) if name in _USUAL else len(_USUAL)


def _with_table_of(splitting: Splitting, name: str) -> Splitting:
    """Return a splitting of llama.cpp with the Unicode tables of another one, so that the patterns alone count."""
    return replace(PRE_TOKENIZERS[name].splitting, unicode=splitting.table)


def _unlike(split: PreTokenizer, wanted: list[list[str]]) -> int:
    """Return the number of samples that are split in another way than wanted."""
    try:
        return sum(split.split_backtracking(text) != pieces for text, pieces in zip(_SAMPLES, wanted, strict=True))
    except TokdfaError:
        return len(_SAMPLES)
