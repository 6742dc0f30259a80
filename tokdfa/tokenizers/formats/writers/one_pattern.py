"""The splitting of a tokenizer as one pattern of tiktoken, for files that hold none and are loaded with one."""

from __future__ import annotations

import re

from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

# The classes of tokenizers' own steps, in every library.
_CLASSES = {
    r"[\p{is_punctuation}]": r"[\p{P}!-/:-@\[-`{-~]",
    r"\p{is_punctuation}": r"[\p{P}!-/:-@\[-`{-~]",
    r"\p{is_numeric}": r"\p{N}",
    r"\p{is_whitespace}": r"\s",
    r"\p{whitespace_word}": r"\w",
    r"\p{whitespace_space}": r"\s",
}

# Steps in use, as one pattern. A later step splits the matches of the earlier ones and the text between them, each as a
# whole text: letters of a match are not in a piece with letters next to it, and white space before it is at an end.
_DIGITS = (r"\p{is_numeric}", r"\p{N}")
_CJK = "一-龥\u3040-ゟ゠-ヿ"
_LETTER, _MARK, _OTHER = r"[\p{L}\p{M}]", r"[\p{P}\p{S}]", r"[^\s\p{L}\p{M}\p{N}\p{P}\p{S}]"


def _words_within(characters: str, *, first: str, marks: str) -> str:
    """Return the pattern of words, marks and other runs of DeepSeek's last step, within a class of characters.

    A word may begin with a character of the class `first`. `marks` is the pattern of marks, with {} for their class.
    """
    letter, mark, other = (f"[{characters}&&{of}]" for of in (_LETTER, _MARK, _OTHER))
    return f"{first}?{letter}+|{marks.format(mark)}|{other}+(?!{letter})"


_KNOWN: dict[tuple[str, ...], str] = {
    **{
        (digits, NAMED["gpt2"].steps[0].pattern): (
            r"\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+"
        )
        for digits in _DIGITS
    },
    tuple(step.pattern for step in NAMED["deepseek"].steps): "|".join(
        (
            r"\p{N}{1,3}",
            _words_within(f"[{_CJK}]", first=rf"[[{_CJK}]&&[^\p{{L}}\p{{P}}\p{{S}}]]", marks="{}+"),
            r"[!-/:-@\[-`{-~][A-Za-z]+",
            _words_within(f"[^{_CJK}]", first=rf"[^\r\n\p{{L}}\p{{P}}\p{{S}}\p{{N}}{_CJK}]", marks=r" ?{}+[\r\n]*"),
            rf"\s*[\r\n]+|\s+(?![^\s\p{{N}}{_CJK}])|\s+",
        )
    ),
}


def one_pattern(splitting: Splitting) -> str | None:
    """Return a pattern of tiktoken that splits like a splitting, or nearly so; None if texts are not split.

    Steps for which no pattern is known become its alternatives.
    """
    if splitting.is_nothing:
        return None
    patterns = tuple(step.pattern for step in splitting.all_steps)
    return _KNOWN.get(patterns) or "|".join(map(_in_tiktoken, splitting.all_steps)) or r"[\s\S]+"


def pretokenizer_option(splitting: Splitting) -> str:
    """Return `one_pattern` as it is given for a file that says nothing: by its name, if tiktoken's has one."""
    named = (name for name, known in NAMED.items() if known.library == "tiktoken" and known == splitting)
    return next(named, None) or one_pattern(splitting) or "none"


def is_one_pattern(splitting: Splitting) -> bool:
    """Return whether a splitting is one pattern, or does nothing."""
    return len(splitting.all_steps) <= 1 and splitting.prefix_space is None and splitting.metaspace is None


def _in_tiktoken(step: Split) -> str:
    if step.literal:
        return re.escape(step.pattern)
    pattern = step.pattern
    for own, usual in _CLASSES.items():
        pattern = pattern.replace(own, usual)
    return pattern
