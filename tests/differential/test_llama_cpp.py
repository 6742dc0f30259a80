"""llama.cpp's own library, where it is installed: the ids of its test vocabularies and of random and nasty texts.

``TOKDFA_LLAMA_CPP`` names its library, if llama-cpp-python is not installed; ``TOKDFA_GGUF`` the folder of its test
vocabularies, ``vendor/llama.cpp/models`` in the source distribution of llama-cpp-python 0.3.36.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.llama_cpp import LlamaCpp, library
from tests.support.seeds import seeds
from tests.support.unicode_texts import character
from tokdfa.base.errors import AlphabetError

FOLDER = Path(os.environ.get("TOKDFA_GGUF", "no folder"))
FILES = sorted(FOLDER.glob("ggml-vocab-*.gguf"))
SEPARATOR = "\n__ggml_vocab_test__\n"
# The number of texts for each file, in the long run.
N_TEXTS = 100_000
N_STREAMS = 20_000

pytestmark = pytest.mark.skipif(not FILES, reason="TOKDFA_GGUF does not name llama.cpp's test vocabularies")
needs_library = pytest.mark.skipif(library() is None, reason="the library of llama.cpp is not here")

SYMBOLS = (
    *(" ", "  ", "   ", "\n", "\n\n", "\r", "\r\n", "\t", "\v", "\f", "\x00", "\x1c", "\x85", "\u00a0", "\u1680"),
    *("\u2003", "\u2028", "\u202f", "\u3000", "\u200b", "\u2060", "\ufeff", "\u2581", "\u00ad"),
    *("'", "'s", "'S", "'ll", "'LL", "'Re", "'\u017f", "\u2019s", "!", "?!", "...", "_", "-", "<", ">", "|", "/", "//"),
    *(
        "$",
        "+",
        "=",
        "^",
        "~",
        "`",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\\",
        '"',
        "#",
        "%",
        "&",
        "*",
        ",",
        ".",
        ":",
        ";",
        "@",
    ),
    *("a", "A", "Ab", "AB", "aB", "the", " The", "hello", "\u00e9", "e\u0301", "\u0301", "\u0130", "\u0131", "\u00df"),
    *(
        "\ufb01",
        "\u0295",
        "\u01c5",
        "\u1c89",
        "\ua7cb",
        "\u0416\u0436",
        "\u05d0",
        "\u0645\u0631",
        "\u0939\u093f",
        "\u0e01\u0e33",
    ),
    *(
        "1",
        "12",
        "123",
        "1234",
        "1234567",
        "\u0661",
        "\u00bd",
        "\u00b2",
        "\u2167",
        "\u3007",
        "\u4e2d",
        "\u4e2d\u6587",
        "\u9fff",
    ),
    *(
        "\u3042",
        "\u30a2",
        "\uff76",
        "\u3131",
        "\ud55c",
        "\u1100\u1161",
        "\uac00",
        "\u0800",
        "\u2e80",
        "\u8c48",
        "\uf900",
    ),
    *(
        "\U00020000",
        "\U0001f600",
        "\U0001f469\u200d\U0001f4bb",
        "\ufe0f",
        "\ufffd",
        "\ue000",
        "\U000e0041",
        "\U0010ffff",
    ),
    *(
        "\u3001",
        "\u3002",
        "\uff01",
        "\uff0c",
        "\uff1a",
        "\u2026",
        "\u060c",
        "\u06d4",
        "\u0964",
        "\u2018",
        "\u201d",
        "\u20ac",
    ),
)


def texts(seed: int, n: int, specials: list[str]) -> list[str]:
    """Return texts of symbols that pre-tokenizers treat differently, of any code points, and of special tokens."""
    drawn = random.Random(seed)
    found = []
    for _ in range(n):
        parts = []
        for _ in range(drawn.randrange(1, 12)):
            kind = drawn.randrange(20)
            if kind < 15:
                parts.append(drawn.choice(SYMBOLS))
            elif kind < 17:
                parts.append(character(drawn))
            elif kind == 17 and specials:
                special = drawn.choice(specials)
                parts.append(special if drawn.random() < 0.8 else special[: drawn.randrange(len(special))])
            else:
                parts.append(drawn.choice(SYMBOLS) * drawn.randrange(1, 9))
        found.append("".join(parts))
    return found


def name_of(path: Path) -> str:
    return path.stem.removeprefix("ggml-vocab-")


@pytest.fixture(scope="module", params=FILES, ids=name_of)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param  # type: ignore[no-any-return]


@pytest.mark.slow
def test_its_own_vocabularies(path: Path) -> None:
    tokenizer = tokdfa.load(path)
    given, expected = path.with_name(path.name + ".inp"), path.with_name(path.name + ".out")
    if not given.exists():
        return
    inputs = given.read_bytes().decode().split(SEPARATOR)[:-1]
    lines = expected.read_text().splitlines()
    assert len(inputs) == len(lines) > 40
    for text, line in zip(inputs, lines, strict=True):
        assert tokenizer.encode(text).tolist() == [*map(int, line.split())], text


@pytest.mark.slow
@needs_library
@pytest.mark.parametrize("seed", seeds(1))
def test_random_and_nasty_texts(path: Path, seed: int, tally: Tally) -> None:
    tokenizer, peer = tokdfa.load(path), LlamaCpp(path)
    n_refused = 0
    specials = [special.content for special in tokenizer.specials]
    for text in texts(seed, N_TEXTS, specials):
        try:
            ids = tokenizer.encode(text).tolist()
        except AlphabetError:
            n_refused += 1
            continue
        assert ids == peer.encode(text), repr(text)
    assert n_refused < N_TEXTS // 4
    tally("encoding", "random cases", N_TEXTS - n_refused)


@pytest.mark.slow
@needs_library
@pytest.mark.parametrize("seed", seeds(1))
def test_spoiled_streams_of_wordpiece(seed: int, tally: Tally) -> None:
    path = FOLDER / "ggml-vocab-bert-bge.gguf"
    tokenizer, peer = tokdfa.load(path), LlamaCpp(path)
    drawn, n_canonical = random.Random(seed), 0
    for text in texts(seed, N_STREAMS, [special.content for special in tokenizer.specials]):
        ids = peer.encode(text)
        for _ in range(drawn.randrange(3)):
            at, other = drawn.randrange(len(ids) + 1), drawn.choice((0, 100, 102, drawn.randrange(tokenizer.n_ids)))
            ids[at : at + drawn.randrange(3)] = [[], [other], ids[at : at + 2][::-1]][drawn.randrange(3)]
        spelled = peer.decode(ids)
        assert tokenizer.decode(ids).encode() == spelled, ids
        is_canonical = peer.encode(spelled.decode()) == ids
        assert bool(tokenizer.validate(ids)) == is_canonical, ids
        n_canonical += is_canonical
    assert N_STREAMS // 40 < n_canonical < N_STREAMS - N_STREAMS // 40
    tally("validation", "spoiled inputs", N_STREAMS)
