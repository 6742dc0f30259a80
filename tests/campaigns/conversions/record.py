"""Record the ids of llama.cpp for small files of ours: ``python -m tests.campaigns.conversions.record``."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from tests.support.gguf_files import RECORDED_TEXTS, WORD_TEXTS, gguf, recorded_file
from tests.support.llama_cpp import LlamaCpp
from tokdfa.tokenizers.pretokenizers.llama_cpp import PRE_TOKENIZERS

RECORDED = Path(__file__).with_name("recorded.json")


def main() -> None:
    """Write the ids of each text, one list of them for each file; equal ones of other files are left out."""
    names: dict[object, str] = {}
    for name, pre in PRE_TOKENIZERS.items():
        names.setdefault((pre.splitting, pre.whole_piece), name)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in (*names.values(), "sentencepiece", "wordpiece", "wordpiece, cased"):
            path = Path(folder) / "x.gguf"
            path.write_bytes(gguf(recorded_file(name)))
            peer = LlamaCpp(path)
            texts = WORD_TEXTS if name.startswith("wordpiece") else RECORDED_TEXTS
            found[name] = [peer.encode(text) for text in texts]
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(ids, separators=(',', ':'))}" for name, ids in found.items())
    RECORDED.write_text("{\n" + rows + "\n}\n", "ascii")


if __name__ == "__main__":
    main()
