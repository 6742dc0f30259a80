"""The collection of split patterns of published tokenizers, each with texts and its library's pieces of them."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from tokdfa.tokenizers.pretokenizers.machine import SplitNFA

WITHOUT_MACHINE = {
    "hub-014": "a back-reference is not regular",
    "hub-020": "offset 25: .*it counts to 256",
    "hub-044": "offset 0: .*it counts to 510",
    "problematic-atomic-digit-group": "offset 3: .*it counts to 510",
}
"""The patterns of the collection that have no machine, and a part of the reason."""


@dataclass(frozen=True)
class Case:
    """A pattern with a behavior, texts, and the pieces of each text that the library found."""

    name: str
    pattern: str
    behavior: Any
    invert: bool
    texts: list[str]
    pieces: list[list[str]]


def cases(data: Path) -> list[Case]:
    """Return the collection with its oracle."""
    folder = data / "vocabs" / "split_patterns"
    collected: dict[str, Any] = json.loads((folder / "patterns.json").read_text("utf-8"))
    with gzip.open(folder / "oracle.json.gz") as file:
        oracle: dict[str, Any] = json.load(file)
    default = collected["defaults"]
    patterns = {each["id"]: each for each in collected["patterns"]}
    found = []
    for each in (*patterns.values(), *collected["additionalCases"]):
        key = each.get("name") or each["id"]
        of = patterns[each.get("patternId", each.get("id"))]
        behavior = each.get("behavior", default["behavior"]).lower()
        texts = each.get("inputs", default["inputs"])
        invert = each.get("invert", default["invert"])
        found.append(Case(key, of["pattern"], behavior, invert, texts, oracle["tokens"][key]))
    return found


def representatives(hypotheses: SplitNFA) -> str:
    """Return one symbol of each class, a visible one of ASCII if there is any."""
    classes = hypotheses.class_of_code_point
    order = [*range(0x21, 0x7F), *range(0x21), *range(0x7F, 0xD800), *range(0xE000, 0x110000)]
    found: dict[int, int] = {}
    for code_point in order:
        found.setdefault(int(classes[code_point]), code_point)
        if len(found) == hypotheses.n_classes:
            break
    return "".join(map(chr, found.values()))


def short_texts(symbols: str, longest: int, most: int, seed: int = 0) -> list[str]:
    """Return all texts of at most `longest` symbols; if there are more than `most`, that number of random ones."""
    n = len(symbols)
    if sum(n**length for length in range(longest + 1)) <= most:
        return ["".join(text) for length in range(longest + 1) for text in product(symbols, repeat=length)]
    source = Random(seed)
    return ["".join(source.choices(symbols, k=source.randint(1, 2 * longest))) for _ in range(most)]
