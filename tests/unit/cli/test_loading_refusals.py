"""A tokenizer that :func:`tokdfa.load` refuses is refused by every command, for the same reason."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.commands import run
from tests.support.tokenizer_files import merges_txt, tekken_json, tiktoken_lines, tokenizer_json
from tokdfa.base.errors import TokdfaError

SOUND = tokenizer_json()
COMMANDS = {
    "info": "info TOK",
    "encode": "encode TOK abc",
    "decode": "decode TOK IDS",
    "validate": "validate TOK IDS",
    "split": "split TOK abc",
    "compare": "compare TOK SOUND",
    "compare, the other one": "compare SOUND TOK",
    "convert": "convert TOK --to tokenizer.json -o OUT",
    "fingerprint": "fingerprint TOK",
    "search": "search TOK a IDS",
    "replace": "replace TOK a b IDS -o OUT",
    "locality": "locality TOK",
    "draw": "draw TOK -o OUT",
    "guess": "guess TOK IDS",
    "splice": "splice TOK --before a --after b",
    "cuts": "cuts TOK IDS",
    "turns": "turns TOK {q} {a}",
    "audit": "audit TOK --scheme text-prefix",
    "injection": "injection TOK {q}",
    "check-prefix": "check-prefix TOK 1 1,2",
    "ban": "ban TOK a",
    "forced": "forced TOK --language ab",
    "bytes": "bytes TOK bytes",
    "align": "align TOK IDS TOK IDS",
    "bounds": "bounds TOK",
    "rollouts": "rollouts TOK ROLLOUTS --ids ids --mask none",
}


def refused_files() -> dict[str, bytes]:
    """Return files by name: malformed, not modelled, cut short, or of no kind that is known."""
    model = SOUND["model"]
    return {
        "tokenizer.json": json.dumps({**SOUND, "model": {**model, "dropout": 0.5}}).encode(),
        "cut.json": json.dumps(SOUND).encode()[:999],
        # As in a cache, where names have no suffix.
        "a1b2c3": json.dumps({**SOUND, "model": {**model, "vocab": {**model["vocab"], "he": 0}}}).encode(),
        "d4e5f6": b"neither a tokenizer nor ids",
        "tekken.json": json.dumps({**tekken_json(), "vocab": 3}).encode(),
        "ranks.tiktoken": tiktoken_lines() + b"YQ 999\n",
        "cut.gguf": b"GGUF\3\0\0\0",
        "merges.txt": merges_txt().encode() + b"a b c\n",
        "bad.model": b"\n\5\n\1a\x15\0",
        "odd.xyz": b"nothing that is known",
    }


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("refused")
    places = {"SOUND": folder / "sound.json", "IDS": folder / "ids.npy", "ROLLOUTS": folder / "rollouts.jsonl"}
    places["SOUND"].write_text(json.dumps(SOUND))
    np.save(places["IDS"], np.arange(3, dtype=np.uint16))
    places["ROLLOUTS"].write_text('{"ids": [1, 2]}\n')
    for name, data in refused_files().items():
        (folder / name).write_bytes(data)
    # A model's folder, with weights that might be ids, and one without a tokenizer.
    for name in ("model", "nothing"):
        (folder / name).mkdir()
    shutil.copy(folder / "cut.json", folder / "model" / "tokenizer.json")
    (folder / "model" / "training_args.bin").write_bytes(bytes(64))
    return places


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", [*refused_files(), "model", "nothing"])
def test_every_command_gives_the_reason_of_load(
    name: str, command: str, places: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = places["SOUND"].with_name(name)
    with pytest.raises(TokdfaError) as caught:
        tokdfa.load(path)
    named = {**places, "TOK": path, "OUT": tmp_path / "out.svg"}
    status = run(*(named.get(word, word) for word in COMMANDS[command].split()))
    printed = capsys.readouterr()
    assert str(caught.value) in printed.err + printed.out
    assert status == 2


@pytest.mark.parametrize("name", refused_files())
def test_doctor_gives_the_reason_of_load_as_a_finding(
    name: str, places: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = places["SOUND"].with_name(name)
    with pytest.raises(TokdfaError) as caught:
        tokdfa.load(path)
    assert run("doctor", path) in (1, 2)
    assert str(caught.value) in capsys.readouterr().out


def test_ids_without_a_suffix_are_described(places: dict[str, Path], tmp_path: Path) -> None:
    shutil.copy(places["IDS"], tmp_path / "ids")
    assert run("info", tmp_path / "ids") == 0
