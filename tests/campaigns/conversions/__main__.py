"""Write the table of llama.cpp's substitutes for patterns: ``python -m tests.campaigns.conversions``.

For each model's own pattern and the pre-tokenizer of llama.cpp for it, a shortest text that they cut differently is
found, or it is proven that there is none: once with the tables of both libraries, and once with one table for both,
which no library has but which tells patterns from tables. Each text is confirmed by both libraries: the model's own
cuts it, and llama.cpp encodes it with a vocabulary that shows its cuts. The results are kept in ``conversions.json``,
and as a table in ``notebooks/llama_cpp.md``. ``TOKDFA_LLAMA_CPP`` names the library of llama.cpp.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from tests.support.cut_differences import first_text_cut_differently
from tests.support.generated_pages import code, page_with_table
from tests.support.gguf_files import byte_level, gguf
from tokdfa.tokenizers.pretokenizers.llama_cpp import PRE_TOKENIZERS
from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

DATA = Path(__file__).with_name("conversions.json")
PAGE = Path(__file__).parents[3] / "notebooks" / "llama_cpp.md"

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_END = r"|\s*[\r\n]+|\s+(?!\S)|\s+"


def _own(*patterns: str) -> Splitting:
    return Splitting("tokenizers", tuple(map(Split, patterns)))


OWN: dict[str, tuple[str, Splitting]] = {
    "gpt-2": ("GPT-2", NAMED["gpt2"]),
    "llama-bpe": ("Llama-3", NAMED["llama3"]),
    "qwen2": ("Qwen2", NAMED["qwen2"]),
    "qwen35": (
        "Qwen3.5",
        _own(_CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + _END),
    ),
    "gpt-4o": ("o200k: gpt-oss, Llama-4", replace(NAMED["o200k"], library="tokenizers")),
    "tekken": ("Tekken: Mistral Nemo", replace(NAMED["tekken"], library="tokenizers")),
    "deepseek-v3": ("DeepSeek-V3", NAMED["deepseek"]),
    "kimi-k2": ("Kimi-K2", NAMED["kimi"]),
    "bailingmoe": (
        "Ling",
        _own(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
            r"|\s*[\r\n]|\s+(?!\S)|\s+"
        ),
    ),
    "seed-coder": (
        "Seed-Coder",
        _own(_CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+" + _END),
    ),
    "exaone-moe": (
        "EXAONE-MoE",
        _own(
            _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
        ),
    ),
    "minicpm5": (
        "MiniCPM5",
        _own(r"\p{N}{1,3}", _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*" + _END),
    ),
    "tiny_aya": ("Tiny Aya", _own(r"\d{1,3}(?=(?:\d{3})*\b)", NAMED["o200k"].steps[0].pattern)),
    "superbpe": ("SuperBPE", _own(r"\p{N}+", r"(?=(\d{3})+(?!\d))")),
}
"""The pattern of each model, by the name of the pre-tokenizer of llama.cpp."""


def conversions() -> list[dict[str, Any]]:
    """Return what each replacement changes."""
    rows = []
    for name, (_, own) in OWN.items():
        new = PRE_TOKENIZERS[name].splitting
        row: dict[str, Any] = {"pre": name, "library": own.library}
        for tables, other in (("own", new), ("same", replace(new, unicode=own.library))):
            text = first_text_cut_differently(own, other)
            # A text that differs with one table for both is shown as the libraries cut it, each with its own table.
            pieces = None if text is None else [pretokenizer(side).split(text) for side in (own, new)]
            row[tables] = {"text": text, "pieces": pieces}
        rows.append(row)
    return rows


def confirm(rows: list[dict[str, Any]]) -> None:
    """Raise AssertionError unless both libraries cut every text as its row says."""
    for row in rows:
        for found in (row["own"], row["same"]):
            if found["text"] is not None:
                name, own = OWN[row["pre"]]
                assert found["pieces"][0] != found["pieces"][1], row
                assert _by_the_models_library(own, found["text"]) == found["pieces"][0], row
                _confirm_by_llama_cpp(row["pre"], found["text"], found["pieces"][1])
                print(f"confirmed: {name} {found}")


def _by_the_models_library(own: Splitting, text: str) -> list[str]:
    if own.library == "tiktoken":
        import tiktoken

        (step,) = own.steps
        ranks = {bytes([byte]): byte for byte in range(256)} | {text.encode()[:n]: 256 + n for n in range(2, 40)}
        encoding = tiktoken.Encoding("x", pat_str=step.pattern, mergeable_ranks=ranks, special_tokens={})
        words = [part.encode() for part in pretokenizer(own).split(text)]
        ranks |= {word: 300 + n for n, word in enumerate(words) if len(word) > 1 and word not in ranks}
        encoding = tiktoken.Encoding("x", pat_str=step.pattern, mergeable_ranks=ranks, special_tokens={})
        return [part.decode() for part in encoding.decode_tokens_bytes(encoding.encode_ordinary(text))]
    from tokenizers import Regex, pre_tokenizers

    steps = [pre_tokenizers.Split(Regex(step.pattern), "isolated") for step in own.steps]
    return [piece for piece, _ in pre_tokenizers.Sequence(steps).pre_tokenize_str(text)]


def _confirm_by_llama_cpp(pre: str, text: str, pieces: list[str]) -> None:
    """Ask llama.cpp with a vocabulary in which every part of the text is a token: then its ids are its pieces."""
    from tests.support.llama_cpp import LlamaCpp

    data = text.encode()
    # Any two neighbours merge, until all of a piece is one token.
    ends = range(len(data) + 1)
    rules = {(data[a:b], data[b:c]): None for a, b, c in combinations(ends, 3)}
    ordered = sorted(rules, key=lambda rule: len(rule[0] + rule[1]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.gguf"
        path.write_bytes(gguf(byte_level(ordered, pre=pre, specials=())))
        peer = LlamaCpp(path)
        found = [peer.decode([id]) for id in peer.encode(text)]
    assert found == [piece.encode() for piece in pieces], (pre, text, found, pieces)


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown."""
    lines = [
        "| model | `pre` | shortest text cut differently | by the model's library | by llama.cpp"
        " | with one Unicode table for both |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [OWN[row["pre"]][0], f"`{row['pre']}`"]
        if row["own"]["text"] is None:
            cells += ["none: every text is cut alike", "", ""]
        else:
            cells += [code([row["own"]["text"]]), *map(code, row["own"]["pieces"])]
        same = row["same"]
        cells.append(
            "equal, proven"
            if same["text"] is None
            else f"{code([same['text']])}: {code(same['pieces'][0])}, llama.cpp {code(same['pieces'][1])}"
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page with the table in its place."""
    return page_with_table(PAGE, "conversions", table(rows))


def main() -> None:
    """Prove, confirm and write."""
    rows = conversions()
    confirm(rows)
    DATA.write_text(json.dumps(rows, indent=1) + "\n", "ascii")
    PAGE.write_text(page(rows), "utf-8")


if __name__ == "__main__":
    main()
