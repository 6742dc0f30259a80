"""Where nothing can be written, neither package nor home nor temporary folder, everything that reads works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tokdfa
from tests.support.tokenizer_files import as_bytes, tokenizer_json

# Permissions do not bind root, who runs most containers, so that writing is refused where Python asks to write.
PROGRAM = """
import errno, os, sys

refused = []

def guard(event, arguments):
    writes = event in ("os.mkdir", "os.rename", "os.remove", "os.symlink", "os.link", "os.truncate", "os.utime")
    if event == "open":
        path, mode, flags = arguments
        writes = isinstance(path, (str, bytes)) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    if writes:
        refused.append(arguments[0])
        raise PermissionError(errno.EROFS, "Read-only file system", arguments[0])

sys.addaudithook(guard)
try:
    open("probe", "w")
except PermissionError:
    pass
else:
    raise SystemExit("the guard does not hold")

import json
import tokdfa

answers = {}
for name, text in json.loads(sys.argv[1]):
    tokenizer = tokdfa.load(name)
    ids = tokenizer.encode(text)
    answers[name] = [
        ids.tolist(),
        tokenizer.decode(ids),
        bool(tokenizer.validate(ids)),
        bool(tokenizer.validate(ids[::-1])),
        len(tokenizer.search("the", ids)),
        bool(tokdfa.compare(tokenizer, tokenizer)),
    ]
print(json.dumps(answers))
"""


@pytest.fixture
def files(tmp_path: Path) -> list[tuple[str, str]]:
    (tmp_path / "tokenizer.json").write_bytes(as_bytes(tokenizer_json()))
    (tmp_path / "vocab.txt").write_text("[UNK]\nthe\nn\n##n\n", encoding="utf-8")
    return [(str(tmp_path / name), "the then the") for name in ("tokenizer.json", "vocab.txt")]


def test_reading_needs_no_place_to_write(files: list[tuple[str, str]]) -> None:
    package = Path(tokdfa.__file__).parents[1]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "TOKDFA"))},
        "HOME": "/nonexistent",
        "TMPDIR": "/nonexistent",
        "PYTHONPATH": str(package),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    command = [sys.executable, "-c", PROGRAM, json.dumps(files)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd="/", check=False)
    assert done.returncode == 0, done.stderr
    expected = {}
    for name, text in files:
        tokenizer = tokdfa.load(name)
        ids = tokenizer.encode(text)
        answers = [tokenizer.decode(ids), bool(tokenizer.validate(ids)), bool(tokenizer.validate(ids[::-1]))]
        expected[name] = [ids.tolist(), *answers, len(tokenizer.search("the", ids)), True]
        assert len(tokenizer.search("the", ids)) > 1
    assert json.loads(done.stdout) == expected
