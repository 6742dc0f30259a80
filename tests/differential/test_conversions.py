"""Real tokenizers converted to every format: the table of outcomes, and the libraries on the files that are written."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import tiktoken
import tokenizers

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.conversions import NAMES, by_library, converted
from tests.support.llama_cpp import LlamaCpp, library
from tests.support.real_tokenizers import family_files, text
from tokdfa import Conversion
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.tokenizers.formats.tiktoken_encodings import ENCODINGS
from tokdfa.tokenizers.formats.writers.gguf_file import draft_of
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.tokenizers.protocol import AnyTokenizer

pytestmark = pytest.mark.slow

# Which text is found may depend on the time that a search takes.
WRITTEN, REFUSED, A_TEXT = "written", "refused", "a text"
N_TEXTS = 2_000
SEED = 7
# To tokenizer.json, tiktoken, merges and gguf: written, refused, or the text for which the format has other ids.
OUTCOMES: dict[str, tuple[str, str, str, str]] = {
    "gpt2 rules": (WRITTEN, WRITTEN, WRITTEN, "\u1c89'd"),
    "gpt2 json": (WRITTEN, WRITTEN, "<|endoftext|>", "\u1c89'd"),
    "cl100k_base": (WRITTEN, WRITTEN, "<|endoftext|>", "\u1c89!I"),
    "o200k_base": (WRITTEN, WRITTEN, "<|endoftext|>", "\u00c1S"),
    "qwen2_5": (WRITTEN, "\u0374", "\u0374", "\u0374"),
    "qwen3": (WRITTEN, "\u0374", "\u0374", "\u0374"),
    "llama3_1": (WRITTEN, WRITTEN, REFUSED, " \ua7dbi"),
    "command_r_plus": (WRITTEN, "\u0340", "\u0340", "\u0340"),
    "deepseek_v3": (WRITTEN, WRITTEN, "<|EOT|>", " \u1b4e"),
    "mistral_nemo": (WRITTEN, WRITTEN, REFUSED, A_TEXT),
    "gpt4o": (WRITTEN, WRITTEN, "<|endoftext|>", "\u00c1S"),
    "claude": (WRITTEN, "\u00a0", "\u00a0", "\u00a0"),
    "llama2": (WRITTEN, REFUSED, REFUSED, WRITTEN),
    "gemma2": (WRITTEN, REFUSED, REFUSED, WRITTEN),
    "mistral_v3": ("<s>", REFUSED, REFUSED, "<s>"),
    "bert": (WRITTEN, REFUSED, REFUSED, "\u0488"),
}

# The number of code points without which all texts keep their ids in GGUF files.
LEFT_OUT = {"gpt2 json": 4382, "cl100k_base": 4384, "llama3_1": 4384, "deepseek_v3": 5185}

# Tokens that llama.cpp takes for special ones, by their texts.
TAKEN_FOR_SPECIAL = {"gpt2 rules": "<|endoftext|>", "qwen2_5": "</s>", "qwen3": "</s>"}

Encode = Callable[[str], list[int]]


def by_tokenizers(path: Path) -> Encode:
    peer = tokenizers.Tokenizer.from_file(str(path))
    peer.no_truncation()
    peer.no_padding()
    return lambda text: list(peer.encode(text, add_special_tokens=False).ids)


def by_tiktoken(path: Path, name: str) -> Encode:
    known = ENCODINGS[name]
    rows = (line.split() for line in path.read_bytes().splitlines())
    ranks = {base64.b64decode(word): int(rank) for word, rank in rows}
    pattern = NAMED[known.pretokenizer].steps[0].pattern
    peer = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=known.specials)
    return lambda text: list(peer.encode(text, allowed_special="all"))


def source(name: str, vocabs: Path) -> tuple[AnyTokenizer, Encode | None]:
    """Return a tokenizer, and its own library's encoding."""
    if name in ENCODINGS:
        path = vocabs / f"{name}.tiktoken"
        return tokdfa.load(path), by_tiktoken(path, name)
    if name == "mistral_v3":
        return tokdfa.load(vocabs / "mistral_v3.model"), None
    if name == "gpt2 rules":
        return tokdfa.load(vocabs / "gpt2", format="merges+vocab", pretokenizer="gpt2"), None
    files = {"gpt2 json": vocabs / "gpt2" / "tokenizer.json", "bert": vocabs / "bert_uncased_tokenizer.json"}
    path = files.get(name) or family_files().get(name)
    if path is None:
        pytest.skip(f"{name} is not in TOKDFA_FAMILIES")
    return tokdfa.load(path), by_tokenizers(path)


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes_are_those_of_the_table_and_libraries_agree(
    name: str, data: Path, tmp_path: Path, tally: Tally
) -> None:
    tokenizer, encode = source(name, data / "vocabs")
    for target, expected in zip(NAMES, OUTCOMES[name], strict=True):
        folder = tmp_path / target
        folder.mkdir()
        found = converted(tokenizer, target, folder)
        outcome = REFUSED
        if isinstance(found, Conversion):
            outcome = WRITTEN if found else str(found.witness and found.witness.text)
        assert outcome == expected or (expected == A_TEXT and outcome not in (WRITTEN, REFUSED)), target
        kept = found.kept if isinstance(found, Conversion) else None
        assert (kept and kept.n_left_out) == (LEFT_OUT.get(name) if target == "gguf" else None)
        peer = by_library(found, tokenizer) if isinstance(found, Conversion) and found else None
        if peer is None or encode is None:
            continue
        drawn = random.Random(SEED)
        specials = tuple(special.content for special in tokenizer.specials)
        for _ in range(N_TEXTS):
            sample = text(drawn, specials)
            assert peer(sample) == encode(sample), (target, sample)
        tally("comparison", "real texts", N_TEXTS)


@pytest.mark.skipif(library() is None, reason="the library of llama.cpp is not here")
@pytest.mark.parametrize("name", OUTCOMES)
def test_llama_cpp_encodes_as_the_file_is_read_here(name: str, data: Path, tmp_path: Path, tally: Tally) -> None:
    tokenizer, _ = source(name, data / "vocabs")
    path = tmp_path / "x.gguf"
    path.write_bytes(draft_of(tokenizer, path.name).files[path.name])
    try:
        read = tokdfa.load(path)
    except UnsupportedFeatureError:
        assert OUTCOMES[name][3] == REFUSED
        return
    peer, drawn = LlamaCpp(path), random.Random(SEED)
    specials = tuple(special.content for special in tokenizer.specials)
    for _ in range(N_TEXTS):
        sample = text(drawn, specials)
        assert read.encode(sample).tolist() == peer.encode(sample), sample
    tally("comparison", "real texts", N_TEXTS)


@pytest.mark.parametrize(
    "name", [name for name in OUTCOMES if OUTCOMES[name][3] not in (WRITTEN, REFUSED, "<s>", "\u0488")]
)
def test_gguf_files_are_written_for_texts_of_ascii(name: str, data: Path, tmp_path: Path) -> None:
    tokenizer, encode = source(name, data / "vocabs")
    found = tokdfa.convert(tokenizer, "gguf", tmp_path / "x.gguf", texts=r"[\x00-\x7f]*")
    assert (found.witness and found.witness.text) == TAKEN_FOR_SPECIAL.get(name)
    if not found:
        return
    again = tokdfa.load(found.files[0])
    drawn = random.Random(SEED)
    samples = (text(drawn, tuple(special.content for special in tokenizer.specials)) for _ in range(N_TEXTS))
    for sample in filter(str.isascii, samples):
        assert encode is None or again.encode(sample).tolist() == encode(sample), sample
