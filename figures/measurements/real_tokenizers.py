"""Real tokenizers: states of their automata, improper rules, dead tokens, and tokens that four texts never use.

The files are in TOKDFA_DATA, and others by name in TOKDFA_TOKENIZERS: ``NAME=FILE`` for each, separated as paths
are. The texts are English books, short English sentences, Python code, and over 500 languages: 21 MB.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figures.bars import bar_chart
from figures.table import Row

if TYPE_CHECKING:
    from tokdfa import Dictionary, Tokenizer
    from tokdfa.base.arrays import BoolArray

FILES = {
    "GPT-2": "gpt2",
    "cl100k": "cl100k_base.tiktoken",
    "o200k": "o200k_base.tiktoken",
    "Mistral v3": "mistral_v3.model",
    "CLIP": "clip_bpe_simple_vocab_16e6.txt.gz",
}
TEXTS = ("english.txt", "fra_eng_en.txt", "multilingual.txt", "python_code.txt")


def files() -> dict[str, Path]:
    """Return the tokenizers to measure, by name."""
    folder = Path(os.environ["TOKDFA_DATA"]) / "vocabs"
    more = [entry.partition("=") for entry in os.environ.get("TOKDFA_TOKENIZERS", "").split(os.pathsep) if entry]
    return {name: folder / file for name, file in FILES.items()} | {name: Path(file) for name, _, file in more}


def late_parts(dictionary: Dictionary) -> tuple[int, int]:
    """Return the number of rules with a part that no earlier rule makes, and of the tokens that are such parts."""
    index, n_symbols = np.arange(len(dictionary)), dictionary.alphabet.n_symbols
    late = [
        (part >= n_symbols) & ((dictionary.birth[part] < 0) | (dictionary.birth[part] >= index))
        for part in (dictionary.left, dictionary.right)
    ]
    parts = np.concatenate((dictionary.left[late[0]], dictionary.right[late[1]]))
    return int((late[0] | late[1]).sum()), len(np.unique(parts))


def used_ids(tokenizer: Tokenizer, texts: list[str]) -> BoolArray:
    """Return whether the texts, encoded line by line, use each id."""
    used = np.zeros(tokenizer.n_ids, dtype=np.bool_)
    for text in texts:
        for line in text.splitlines(keepends=True):
            used[tokenizer.encode(line)] = True
    return used


def row(name: str, tokenizer: Tokenizer, texts: list[str]) -> Row:
    """Return what is counted for a tokenizer; -1 where it is not defined."""
    facts = tokenizer.facts()
    dictionary = tokenizer.dictionary
    offending, late = late_parts(dictionary)
    used = used_ids(tokenizer, texts)
    ids = np.unique([int(tokenizer.token_to_id[number]) for number in range(tokenizer.n_tokens)])
    found: Row = {
        "tokenizer": name,
        "ids": facts["ids"],
        "tokens": len(ids),
        "rules": facts["rules"],
        "improper_rules": offending,
        "late_parts": late,
        "late_tokens": -1 if facts["proper_part"] is None else facts["proper_part"]["late_tokens"],
        **{key: -1 if facts[key] is None else facts[key] for key in STATES},
        "intervals": -1,
        "dead_rules": -1,
        "dead_tokens": facts["dead_tokens"],
        "unused_tokens": int((~used[ids]).sum()),
        "unused_rules": -1,
        "unused_bytes": -1,
    }
    if facts["proper"]:
        rows = tokenizer.dfa.rows
        found["intervals"] = len(rows.start)
        found["dead_rules"] = len(dictionary) - len(dictionary.live_rules)
        id_of = np.array([int(tokenizer.token_to_id[number]) for number in range(len(dictionary.alphabet))])
        folding = dictionary.folding
        needed = used[id_of]
        # From the longest derivation down: a used token uses the rules that make it and its parts.
        for token in np.argsort(-folding.birth).tolist():
            if needed[token] and folding.head[token] >= 0:
                needed[folding.head[token]] = needed[folding.tail[token]] = True
        made = (folding.head >= 0) & needed
        found["unused_rules"] = len(dictionary) - int(made.sum())
    if tokenizer.is_bytewise:
        bytes_of = [int(tokenizer.token_to_id[tokenizer.dictionary.alphabet.number(bytes([b]))]) for b in range(256)]
        found["unused_bytes"] = int((~used[bytes_of]).sum())
    return found


STATES = ("states_built", "states_reachable", "states_minimal")


def measure() -> list[Row]:
    """Load them all and encode the texts: some minutes."""
    import tokdfa

    folder = Path(os.environ["TOKDFA_DATA"]) / "corpora"
    texts = [(folder / name).read_text(encoding="utf-8") for name in TEXTS]
    rows = []
    for name, path in files().items():
        tokenizer = tokdfa.load(path)
        rows.append(row(name, tokenizer, texts))
    return rows


def draw(rows: list[Row]) -> str:
    return bar_chart(
        {
            "tokens that the texts never use, %": {
                row["tokenizer"]: 100 * row["unused_tokens"] / row["tokens"] for row in rows
            },
            "dead tokens": {row["tokenizer"]: row["dead_tokens"] for row in rows if row["dead_tokens"]},
            "tokens that are parts of a rule before they are made": {
                row["tokenizer"]: row["late_parts"] for row in rows if row["late_parts"]
            },
            "states of the minimal token DFA, % of the rules": {
                row["tokenizer"]: 100 * row["states_minimal"] / row["rules"]
                for row in rows
                if row["states_minimal"] >= 0
            },
        },
        title="Real tokenizers: what they never use",
        note=[f"{len(rows)} tokenizers. Texts of 21 MB: English, Python code, over 500 languages."],
    )
