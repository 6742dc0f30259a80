"""Tokenizers with the tables of other versions."""

from __future__ import annotations

import os
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.campaigns.upgrades.__main__ import ask
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.regex.unicode.versions import ranges_of
from tokdfa.tokenizers.pretokenizers.steps import NAMED

OLD = "tokenizers==0.20.3"
RANKS = {bytes([byte]): byte for byte in range(256)} | {b"'s": 256}
# U+1C89 is a letter since Unicode 16.
NEW_LETTER = "\u1c89"


def load(unicode: str | None = None, pretokenizer: str = "gpt2") -> tokdfa.AnyTokenizer:
    return tokdfa.load(RANKS, pretokenizer=pretokenizer, unicode=unicode)


def texts(of: list[str], count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices(of, k=draw.randrange(1, 9))) for _ in range(count)]


def changed_symbols(library: str) -> list[str]:
    """Return symbols about which the tables differ, each with its neighbours."""
    from tokdfa.regex.unicode import ranges
    from tokdfa.regex.unicode.versions import library_of

    edges = set()
    for name in ("L", "N", r"\s", "M", "P", "Lu", "Ll"):
        for part in ranges_of(library_of(library)):
            mine = {edge for pair in ranges(name, part.name) for edge in pair}
            edges |= mine ^ {edge for pair in ranges(name, library) for edge in pair}
    codes = {code + step for code in edges for step in (-1, 0, 1)}
    return [chr(code) for code in sorted(codes) if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000]


def test_texts_are_split_and_ids_judged_as_by_that_version() -> None:
    new, old = load(), load(OLD)
    text = f"a{NEW_LETTER}'s"
    assert [piece.text for piece in new.split(text)] == [f"a{NEW_LETTER}", "'s"]
    assert [piece.text for piece in old.split(text)] == ["a", f"{NEW_LETTER}'", "s"]
    assert new.encode(text)[-1] == 256
    assert not new.validate(old.encode(text))
    assert not old.validate(new.encode(text))
    assert old.validate(old.encode(text))
    stream = old.stream()
    streamed = [
        id for part in (*text, None) for id in (stream.finish() if part is None else stream.feed(part)).tolist()
    ]
    assert streamed == old.encode(text).tolist()
    twin = pickle.loads(pickle.dumps(old))
    assert twin.encode(text).tolist() == old.encode(text).tolist()
    assert old.facts()["unicode"] != new.facts()["unicode"]
    assert "0.20.3" in repr(old.pretokenizer) or "0.21" in repr(old.pretokenizer)


def test_versions_do_not_enter_the_fingerprint() -> None:
    newest = ranges_of("tokenizers")[0]
    for number in newest.versions:
        assert load(f"tokenizers=={number}").fingerprint == load().fingerprint
    # The tables before and after 0.20.3 differ only in classes that GPT-2's pattern does not use.
    old = load(OLD)
    assert old.fingerprint != load().fingerprint
    assert tokdfa.fingerprint(old).changed(tokdfa.fingerprint(load())) == ("pretokenizer",)
    assert old.fingerprint == load("tokenizers==0.21.1").fingerprint
    assert old.made_of != load().made_of
    # A pattern without classes does not ask the tables.
    assert load("tiktoken==0.5.2", "[a-z]+|.").fingerprint == load(None, "[a-z]+|.").fingerprint


def test_what_an_upgrade_changes_is_proven() -> None:
    found = tokdfa.compare(load(OLD), load("tokenizers==0.23.3"))
    assert not found
    assert found.witness is not None
    assert tuple(load(OLD).encode(found.witness.text).tolist()) == found.witness.tokens_a
    assert tuple(load().encode(found.witness.text).tolist()) == found.witness.tokens_b
    assert found.witness.tokens_a != found.witness.tokens_b
    assert tokdfa.compare(load(OLD), load("tokenizers==0.21.1"))


@pytest.mark.parametrize(
    ("unicode", "message"),
    [
        ("tiktoken==0.5.2", "follows tokenizers, so that tables of tiktoken have no effect"),
        ("regex==2022.10.31", "patterns that search"),
        ("tokenizers==9", "are not known"),
    ],
)
def test_versions_that_do_not_apply_are_refused(unicode: str, message: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match=message):
        load(unicode)


def test_what_is_not_known_of_a_version_is_refused(tmp_path: Path) -> None:
    def of(**changes: Any) -> bytes:
        return as_bytes({**tokenizer_json([(b"a", b"b")]), **changes})

    for data in (
        of(normalizer={"type": "Lowercase"}),
        of(normalizer={"type": "Replace", "pattern": {"Regex": r"\p{L}"}, "content": "x"}),
        of(added_tokens=[added_token(257, "<s>", single_word=True)]),
    ):
        assert tokdfa.load(data, format="tokenizer.json")
        assert tokdfa.load(data, format="tokenizer.json", unicode="tokenizers==0.23.3")
        with pytest.raises(UnsupportedFeatureError, match="does something else than the newest version"):
            tokdfa.load(data, format="tokenizer.json", unicode="tokenizers==0.19.1")
    for data in (of(normalizer={"type": "NFC"}), of(added_tokens=[added_token(257, "<s>", lstrip=True)])):
        assert tokdfa.load(data, format="tokenizer.json", unicode=OLD)
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("[UNK]\na\n")
    with pytest.raises(UnsupportedFeatureError, match="lowercase"):
        tokdfa.load(vocab, unicode=OLD)
    vocab.write_text("[UNK]\nA\na\n")
    assert tokdfa.load(vocab, unicode=OLD, lowercase=False).encode("A").tolist() == [1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "llama3", "qwen2", "cl100k", "o200k"])
def test_pieces_are_those_of_the_version(name: str) -> None:
    folder = os.environ.get("TOKDFA_VERSIONS")
    if folder is None:
        pytest.skip("TOKDFA_VERSIONS is unset: it names the folder of python -m tests.campaigns.tables.versions")
    library = NAMED[name].library
    symbols = [*changed_symbols(library), *"aA1 '\n.sSLl\u0130\u017f\u212a" * 40]
    sample = texts(symbols, 400, seed=1)
    (step,) = NAMED[name].steps
    for part in ranges_of(library):
        tokenizer = load(f"{library}=={part.versions[0]}", name)
        found = [[piece.text for piece in tokenizer.split(text, explain=False)] for text in sample]
        for number in {part.versions[0], part.versions[-1]}:
            question = {"what": "pieces", "pattern": step.pattern, "texts": sample}
            assert found == ask(library, number, Path(folder), question), number
        assert all(tokenizer.validate(tokenizer.encode(text)) for text in sample[:100])
