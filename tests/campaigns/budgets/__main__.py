"""Walks through masks with a budget, for each number of ids from the least to 20 more: complete, canonical and valid.

    python -m tests.campaigns.budgets SCHEMAS.json TOKENIZER... [--walks 3] [--seed 0]

The file has a list of schemas. The ids of a walk are those that the tokenizer's own library gives for its text: the
library tokenizers, tiktoken for files of ranks, or sentencepiece for its models. The text is a document of the schema
by the library jsonschema, and a text of the expression that outlines-core makes of the whole schema. The exit status is
1 if any walk fails.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import regex
import sentencepiece
import tiktoken
import tokenizers
from outlines_core import json_schema
from tiktoken.load import load_tiktoken_bpe

import tokdfa
from tests.benchmarks.bench_guide import one_of
from tests.benchmarks.bench_guide_budget import load
from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.pretokenizers.steps import NAMED

MORE = 20


def library_of(path: str) -> Callable[[str], list[int]]:
    """Return how the tokenizer's own library encodes a text."""
    if path.endswith(".tiktoken"):
        pattern = NAMED[Path(path).name.partition("_")[0]].steps[0].pattern
        ranks = load_tiktoken_bpe(path)
        encoding = tiktoken.Encoding("oracle", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        return encoding.encode_ordinary
    if path.endswith(".model"):
        pieces = sentencepiece.SentencePieceProcessor(model_file=path)
        return lambda text: list(pieces.encode(text))
    library = tokenizers.Tokenizer.from_file(path)
    return lambda text: library.encode(text, add_special_tokens=False).ids


def walk(guide: tokdfa.Guide, left: int, source: random.Random) -> list[int] | None:
    """Return the ids of a walk with a number of ids; None if it does not end in time, or has nowhere to go."""
    matcher, ids = tokdfa.Matcher(guide, remaining=left), list[int]()
    end = guide.end[0]
    while True:
        id = one_of(guide.mask(matcher.state, remaining=matcher.remaining), source)
        if id == end:
            return ids
        if id is None or not matcher.accept_tokens([id]) or len(ids) == left:
            return None
        ids.append(id)


def fault_of(ids: list[int] | None, data: bytes, schema: Any, pattern: str, encode: Callable[[str], list[int]]) -> str:
    """Return which law a walk with some text breaks; an empty string for none."""
    if ids is None:
        return "incomplete"
    text = data.decode()
    if encode(text) != ids:
        return "not canonical"
    if not regex.fullmatch(pattern, text):
        return "not in the language"
    try:
        jsonschema.validate(json.loads(text), schema)
    except (ValueError, jsonschema.ValidationError):
        return "not valid"
    return ""


def run(path: str, schemas: list[Any], n_walks: int, seed: int) -> Counter[str]:
    """Walk with one tokenizer; return the number of walks by the law that they break, and print those that do."""
    tokenizer, encode, source = load(path), library_of(path), random.Random(seed)
    end = tokenizer.n_ids
    found: Counter[str] = Counter()
    for schema in schemas:
        try:
            guide = tokdfa.guide(tokenizer, schema=schema, end=end, vocab_size=end + 1)
        except TokdfaError:
            found["schemas refused"] += 1
            continue
        pattern = json_schema.build_regex_from_schema(json.dumps(schema))
        least = guide.least(guide.initial)
        for left in range(least, least + MORE + 1):
            for _ in range(n_walks):
                ids = walk(guide, left, source)
                data = tokenizer.decode_bytes(ids or [])
                fault = fault_of(ids, data, schema, pattern, encode)
                found[fault or "right"] += 1
                found["with all ids used"] += ids is not None and len(ids) == left
                if fault:
                    print(f"{path}, {left} ids: {fault}: {data!r} {ids} {json.dumps(schema)}", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("schemas", type=Path)
    parser.add_argument("tokenizers", nargs="+")
    parser.add_argument("--walks", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    schemas = json.loads(asked.schemas.read_text("utf-8"))
    is_right = True
    for path in asked.tokenizers:
        found = run(path, schemas, asked.walks, asked.seed)
        print(path, dict(found), flush=True)
        is_right &= not [law for law in found if law.startswith(("incomplete", "not"))]
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
