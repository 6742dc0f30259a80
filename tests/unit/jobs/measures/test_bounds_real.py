"""bounds for real tokenizers: the library gives the ids of each text, and no text of a corpus is beyond a bound."""

from __future__ import annotations

from fractions import Fraction

import pytest
import tokenizers

import tokdfa
from tests.support.real_tokenizers import family_files
from tokdfa.jobs.measures.extremes import Extreme

BYTES = ("claude", "command_r_plus", "deepseek_v3", "gpt4o", "llama3_1", "mistral_nemo", "qwen2_5", "qwen3")
CHARACTERS = ("baichuan2", "chatglm3", "gemma2", "gemma3", "internlm2", "llama2", "yi")
QUESTIONS = ((None, None), (None, 1000), (r"\p{Han}+", 999), (r"[a-z]{1,12}", None), (r"\p{Thai}{5}", None))
TEXTS = ("習近平的中国有限公司", "ประเทศไทย", "the quick brown fox", "a" * 40, " " * 300, "x=1\n\n\tif y:", "𠀀𠀁")


def confirmed(extreme: Extreme, library: tokenizers.Tokenizer) -> bool:
    """Return whether the library gives the ids of a text."""
    return tuple(library.encode(extreme.text, add_special_tokens=False).ids) == extreme.ids


@pytest.mark.slow
@pytest.mark.parametrize("name", BYTES + CHARACTERS)
def test_bounds_are_attained_and_hold_for_the_library(name: str) -> None:
    files = family_files()
    if name not in files:
        pytest.skip(f"TOKDFA_FAMILIES has no {name}")
    tokenizer, library = tokdfa.load(files[name]), tokenizers.Tokenizer.from_file(str(files[name]))
    for language, n_bytes in QUESTIONS:
        found = tokdfa.bounds(tokenizer, language=language, n_bytes=n_bytes)
        ranges = [found.bytes, found.characters, *([] if found.tokens is None else [found.tokens])]
        for extreme in (each for some in ranges for each in (some.fewest, some.most)):
            assert extreme.is_exact
            assert confirmed(extreme, library)
    whole = tokdfa.bounds(tokenizer)
    for text in TEXTS:
        n = len(library.encode(text, add_special_tokens=False).ids)
        for some, size in ((whole.bytes, len(text.encode())), (whole.characters, len(text))):
            assert some.fewest.proved is not None
            assert some.most.proved is not None
            assert some.fewest.proved <= Fraction(size, n) <= some.most.proved


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [("gpt4o", "deepseek_v3"), ("deepseek_v3", "gpt4o"), ("qwen3", "gpt4o")])
@pytest.mark.parametrize("language", [r"\p{Han}+", "[a-z]+"])
def test_the_most_tokens_of_the_other_are_given_by_both_libraries(first: str, second: str, language: str) -> None:
    files = family_files()
    if first not in files or second not in files:
        pytest.skip(f"TOKDFA_FAMILIES lacks {first} or {second}")
    loaded = [tokdfa.load(files[name]) for name in (first, second)]
    libraries = [tokenizers.Tokenizer.from_file(str(files[name])) for name in (first, second)]
    most = tokdfa.bounds(loaded[0], language=language, other=loaded[1]).other
    assert most is not None
    assert most.is_exact
    assert confirmed(most, libraries[0])
    if most.repeated is None:
        n_first, n_second = (len(each.encode(most.text, add_special_tokens=False).ids) for each in libraries)
        assert most.value == Fraction(n_second, n_first)
