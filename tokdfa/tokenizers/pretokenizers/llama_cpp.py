r"""The pre-tokenizers of llama.cpp, by the names that a GGUF file has in ``tokenizer.ggml.pre``.

They follow the llama.cpp in llama-cpp-python 0.3.36 (commit 0c1e570). Each is a list of patterns, one after the other;
text that a pattern does not match stays in pieces between its matches. llama.cpp cuts by hand where a pattern is one of
eight that it knows by their text, and by ``std::regex`` otherwise. Here a cut by hand is a pattern that makes the same
pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting


@dataclass(frozen=True, slots=True)
class LlamaCppPreTokenizer:
    """The splitting that a name stands for, and the defaults of llama.cpp where the file does not say.

    If `whole_piece`, a piece that is a token is emitted without merging (llama.cpp's ``ignore_merges``); `adds_begin`
    and `adds_separator` say whether these tokens are added (``add_bos``, ``add_sep``).
    """

    splitting: Splitting
    whole_piece: bool = False
    adds_begin: bool = False
    adds_separator: bool = False


_APOSTROPHE = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
_SPACES = r"\s+(?!\S)|\s+"
_LINES = r"\s*[\r\n]+|" + _SPACES
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|" + _SPACES


def _like_llama3(digits: str, *, word: str = _WORD, marks: str = _MARKS, spaces: str = _LINES) -> str:
    return f"{_APOSTROPHE}|{word}|{digits}|{marks}|{spaces}"


# llama.cpp has one category of letters: upper case is all but ASCII's small letters, lower case all but its capitals.
_CAPITAL, _SMALL = r"(?:(?=%s)[^a-z])", r"(?:(?=%s)[^A-Z])"


def _like_o200k(digits: str, *, letters: str = r"\p{L}", end: str = f"(?:{_APOSTROPHE})?") -> str:
    upper, lower = _CAPITAL % letters, _SMALL % letters
    return (
        rf"[^\r\n\p{{L}}\p{{N}}]?{upper}*{lower}+{end}|[^\r\n\p{{L}}\p{{N}}]?{upper}+{lower}*{end}"
        rf"|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_LINES}"
    )


# Every category of letters becomes the category of all letters.
_CASED = r"[\p{L}\p{M}]"
_LIKE_O200K_WITH_MARKS = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_CASED}*{_CASED}+(?:{_APOSTROPHE})?|[^\r\n\p{{L}}\p{{N}}]?{_CASED}+{_CASED}*(?:{_APOSTROPHE})?"
    rf"|%s| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_LINES}"
)
_ASCII_PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""
_DEEPSEEK_WORDS = _ASCII_PUNCTUATION + r"[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+"
_CJK = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
_OLD_CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_NEWLINES = r"[^\n]+|[\n]+"
# A run of digits in groups of three from its right. The first group takes all that is before it.
_GROUPED_DIGITS = r"\P{N}*\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
_HAN_WORDS = (
    rf"\p{{Han}}+|[^\r\n\p{{L}}\p{{N}}]?(?:(?!\p{{Han}})\p{{L}})+(?:{_APOSTROPHE})?|\p{{N}}{{1,3}}|{_MARKS}|{_LINES}"
)
_POWERS = "|".join(rf"\s{{{1 << power}}}(?!\S)" for power in range(9, 1, -1))

# The letters with case that DeepSeek's first model lists.
_CASED_LETTERS = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
    "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
    "\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d"
    "\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb"
    "\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128"
    "\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4"
    "\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf"
    "\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3"
    "\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"
)


def _splitting(*patterns: str) -> Splitting:
    return Splitting("llama.cpp", tuple(map(Split, patterns)))


_LLAMA3 = _splitting(_like_llama3(r"\p{N}{1,3}"))
_QWEN2 = _splitting(_like_llama3(r"\p{N}"))
_OF_GPT2 = _splitting(_GPT2)
_STARCODER = _splitting(r"\p{N}", _GPT2)
_DEEPSEEK3 = _splitting(r"\p{N}{1,3}", _CJK, rf"{_DEEPSEEK_WORDS}[\r\n]*|{_LINES}")
_BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
_BAILING = (
    r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|"
) + _SPACES
_EXAONE_WORD = r"[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+"

_LLAMA3_NAMES = "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano"
_SPLITTINGS: list[tuple[Splitting, str]] = [
    (_splitting(r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]"), "default"),
    (_LLAMA3, f"{_LLAMA3_NAMES} dbrx smaug-bpe chatglm-bpe glm4 glm5"),
    (_splitting(_like_llama3(r"\p{N}{1,3}", spaces=rf"\s*[\r\n]+|{_POWERS}|\s{{1,2}}(?!\S)|\s{{1}}")), "jais-2"),
    (
        _splitting(
            r"[\r\n]",
            rf"\s?[{_CASED_LETTERS}]+",
            "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
            r"\s+(?![\s\S])",
            _OLD_CJK,
            r"\p{N}+",
        ),
        "deepseek-llm",
    ),
    (_DEEPSEEK3, "deepseek-v3 hunyuan-dense hy_v4 joyai-llm"),
    (_splitting(r"\p{N}{1,3}", _CJK, rf"{_DEEPSEEK_WORDS}|[\r\n]|{_SPACES}", r"\p{N}"), "spark2_5"),
    (
        _splitting(
            "[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+"
            f"|[\u3105-\u312f]+|{_CJK}",
            _LIKE_O200K_WITH_MARKS % r"\p{N}",
        ),
        "youtu",
    ),
    (_splitting(r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _OLD_CJK, r"\p{N}"), "deepseek-coder"),
    (_splitting(r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]"), "falcon"),
    (_STARCODER, "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2"),
    (
        _OF_GPT2,
        "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert "
        "jina-v1-en jina-v2-code roberta-bpe mpt olmo jais trillion granite-docling exaone4",
    ),
    (_QWEN2, "qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 megrez hunyuan solar-open grok-2"),
    (
        _splitting(
            _like_llama3(r"\p{N}", word=r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+", marks=r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*")
        ),
        "qwen35",
    ),
    (_splitting(_BLOOM), "poro-chat bloom gpt3-finnish"),
    (_splitting(_BLOOM, r"\p{N}"), "viking"),
    (_splitting(_like_o200k(r"\p{N}", end="")), "tekken"),
    (
        _splitting(
            "<sentinel:[0-9]+>",
            "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
            r"([\t\n]|    |  )",
            r"\p{N}",
            r"[\p{P}!-/:-@\[-`{-~]",
            _GPT2,
        ),
        "chameleon",
    ),
    (_splitting(_like_o200k(r"\p{N}{1,3}")), "gpt-4o llama4 kanana2 talkie minimax-m2"),
    (_splitting(_like_o200k(r"\p{N}{1,3}", letters=r"[\p{L}\p{M}]")), "granite-embed-multi-97m"),
    (_splitting(_GROUPED_DIGITS, _LIKE_O200K_WITH_MARKS % r"\p{N}{1,3}"), "tiny_aya cohere2moe"),
    (_splitting(_HAN_WORDS), "kimi-k2"),
    (_splitting(r"\p{N}+", r"(?=(\d{3})+(?!\d))"), "superbpe"),
    (_splitting(_BAILING), "bailingmoe bailingmoe2 llada-moe"),
    (_splitting(_like_llama3(r"\p{N}{1}", marks=r" ?[^\s\p{L}\p{N}\r\n]+")), "seed-coder"),
    (_splitting(rf"{_WORD}|\p{{N}}|{_MARKS}|{_LINES}"), "ufakzeka"),
    (
        _splitting(
            _GROUPED_DIGITS,
            "[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f\u0e80-\u0eff"
            "\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+",
            rf"{_DEEPSEEK_WORDS}[\r\n]*|{_LINES}",
        ),
        "afmoe",
    ),
    (_splitting(_NEWLINES, _like_llama3(r"\p{N}")), "laguna"),
    (
        _splitting(
            _like_llama3(
                r"\p{N}", word=_EXAONE_WORD, marks=r" ?[^\s\p{L}\p{N}]+[\r\n/]?", spaces=r"\s*[\r\n]|" + _SPACES
            )
        ),
        "exaone-moe",
    ),
    (_splitting(r"\p{N}{1,3}", _like_llama3(r"\p{N}+")), "minicpm5"),
]
_WHOLE_PIECE = f"{_LLAMA3_NAMES} minicpm5 youtu glm4 glm5 tekken granite-embed-multi-97m".split()
_ADDS_BEGIN = f"{_LLAMA3_NAMES} tekken chameleon".split()
_ADDS_SEPARATOR = ("jina-v1-en", "jina-v2-code", "roberta-bpe")

PRE_TOKENIZERS: dict[str, LlamaCppPreTokenizer] = {
    name: LlamaCppPreTokenizer(splitting, name in _WHOLE_PIECE, name in _ADDS_BEGIN, name in _ADDS_SEPARATOR)
    for splitting, names in _SPLITTINGS
    for name in names.split()
}
"""The pre-tokenizers of byte-level models by name."""
