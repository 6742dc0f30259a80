"""``tokdfa split``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import commands
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json

MERGES = str(Path(__file__).parents[3] / "tokdfa" / "tokenizers" / "data" / "default.merges.txt")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = commands.run("split", *arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_pieces_and_their_places(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, MERGES, "it's é\u200b", "--pretokenizer", "gpt2")
    assert (status, out.splitlines()) == (0, ["0-2\t'it'", '2-4\t"\'s"', "4-7\t' é'", "7-10\t'\\u200b'"])
    status, out, _ = run(capsys, MERGES, "it's", "--pretokenizer", "gpt2", "--json")
    assert json.loads(out) == {
        "text": "it's",
        "pieces": [
            {"text": "it", "start": 0, "end": 2, "special": None},
            {"text": "'s", "start": 2, "end": 4, "special": None},
        ],
    }
    assert run(capsys, MERGES, "", "--pretokenizer", "gpt2") == (0, "", "")


def test_explanation(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"a  b\r\n")
    status, out, _ = run(capsys, MERGES, "--file", str(path), "--pretokenizer", "llama3", "--explain")
    lines = out.splitlines()
    assert status == 0
    assert lines[0].startswith("pattern (?i:'s|")
    # Invisible characters of the pattern are escaped, and its own backslashes are not doubled.
    assert r"|\s*[\r\n]+|\s+(?!\S)|\s+" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["bytes", "0-1", "1-2", "2-4", "4-6"]
    assert lines[3].split("  ")[-1] == r"6 of 7: \s+(?!\S)"
    assert "2 symbols" in lines[3]
    assert "0 symbols and the end" in lines[5]
    status, out, _ = run(capsys, MERGES, "12 的", "--pretokenizer", "deepseek", "--explain")
    assert out.startswith(r"step 1 of 3: pattern \p{N}{1,3}, matches isolated")
    assert r"step 1, 1 of 1: \p{N}{1,3}" in out
    status, out, _ = run(capsys, MERGES, "a", "--explain")
    assert "no pre-tokenizer" in out


def test_specials_and_characters_cut_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fields = tokenizer_json([(b"a", b"b")], added_tokens=[added_token(257, "<s>")])
    by_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    steps = [by_bytes, {"type": "Digits", "individual_digits": True}]
    fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    tok = tmp_path / "tokenizer.json"
    tok.write_bytes(as_bytes(fields))
    status, out, _ = run(capsys, str(tok), "²<s>")
    assert (status, out.splitlines()) == (0, ["0-1\t'\\udcc2'", "1-2\t'\\udcb2'", "2-5\t'<s>'"])
    status, out, _ = run(capsys, str(tok), "²<s>", "--explain")
    assert "special token 257" in out
    status, out, _ = run(capsys, str(tok), "²<s>", "--explain", "--json")
    assert [piece["special"] for piece in json.loads(out)["pieces"]] == [None, None, 257]


def test_trouble_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes(b"abc\xff")
    for arguments, said in (
        ((MERGES, "--file", str(text)), "byte 3: not UTF-8"),
        ((MERGES,), "give either TEXT or --file F"),
        ((MERGES, "a", "--file", str(text)), "give either TEXT or --file F"),
        ((MERGES, "a", "--pretokenizer", "gpt2", "--unicode", "tokenizers==0.0.1"), "are not known"),
    ):
        status, out, error = run(capsys, *arguments)
        assert (status, out) == (2, "")
        assert said in error
        assert error.count("\n") == 1
