"""JSON of at most n ids, next to llguidance and xgrammar: texts cut off, not canonical or not valid; time of a mask.

    TOKDFA_DATA=... [TOKDFA_SCHEMAS=FILE] python -m tests.benchmarks.bench_guide_budget_peers [gpt2|cl100k|o200k]

The file has a list of schemas, by default a few from `bench_guide_budget`; the schemas that an engine refuses are
counted, and the others walked through. A walk chooses among the ids of the masks at random, with n ids: the fewest that
the guide needs, 5, 10 or 20 more. It is cut off if its text is not complete after n ids. The peers know nothing of n,
nor of merges; their texts are compact, as a guide's are. *Not canonical* are walks with other ids than tiktoken gives
for their text; of those that are cut off, the last two pieces are left out, because more text may follow. *Not valid*
are complete ones, by the library jsonschema. Peers: ``pip install xgrammar llguidance``, which brings torch.
Times are processor time; each engine runs its fastest documented way, with one thread.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import numpy as np
import regex

import tokdfa
from tests.benchmarks.bench_guide import load, one_of, spellings, tiktoken_of, timed
from tests.benchmarks.bench_guide_budget import SCHEMAS
from tests.benchmarks.harness import environment, keep_tables, print_table

COLUMNS = [
    "engine", "schemas", "refused", "walks", "cut off", "not canonical", "not valid", "building, median s", "mask, us",
    "p99",
]  # fmt: skip
MORE = 0, 5, 10, 20


class Sequence(NamedTuple):
    """A sequence of one engine: how its mask is written, where, how it takes an id, and whether nothing can follow."""

    fill: Callable[[], object]
    mask: np.ndarray
    accept: Callable[[int], object]
    is_over: Callable[[], bool]


Grammar = Callable[[int], Sequence]
"""How an engine begins a sequence with a number of ids."""


def of_guide(tokenizer: tokdfa.Tokenizer, end: int) -> Callable[[Any], Grammar]:
    """Guides of tokdfa."""

    size = max(tokenizer.n_ids, end + 1)

    def grammar(schema: Any) -> Grammar:
        guide = tokdfa.guide(tokenizer, schema=schema, end=end, vocab_size=size)

        def begin(left: int) -> Sequence:
            matcher, mask = tokdfa.Matcher(guide, remaining=left), np.zeros((1, -(-size // 32)), dtype=np.int32)
            return Sequence(
                lambda: matcher.fill_bitmask(mask),
                mask[0],
                lambda id: matcher.accept_tokens([id]),
                matcher.is_terminated,
            )

        return begin

    return grammar


def of_llguidance(tokenizer: tokdfa.Tokenizer, name: str) -> Callable[[Any], Grammar]:
    """Matchers of llguidance, with masks in numpy."""
    import llguidance
    import llguidance.numpy
    import llguidance.tiktoken

    peer = llguidance.tiktoken.lltokenizer_from_encoding(tiktoken_of(name, tokenizer))

    def grammar(schema: Any) -> Grammar:
        compact = {"whitespace_flexible": False}
        made = llguidance.LLMatcher(peer, llguidance.LLMatcher.grammar_from_json_schema(schema, overrides=compact))
        if made.is_error():
            raise ValueError(made.get_error())

        def begin(left: int) -> Sequence:
            matcher, mask = made.deep_copy(), llguidance.numpy.allocate_token_bitmask(1, peer.vocab_size)
            fill = llguidance.numpy.fill_next_token_bitmask
            return Sequence(lambda: fill(matcher, mask, 0), mask[0], matcher.consume_token, matcher.is_stopped)

        return begin

    return grammar


def of_xgrammar(tokenizer: tokdfa.Tokenizer, end: int) -> Callable[[Any], Grammar]:
    """Matchers of xgrammar, with masks made when a grammar is compiled."""
    import xgrammar

    words = spellings(tokenizer)[:end]
    info = xgrammar.TokenizerInfo([*words, *[b""] * (end + 1 - len(words))], stop_token_ids=[end])
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def grammar(schema: Any) -> Grammar:
        compiled = compiler.compile_json_schema(json.dumps(schema), any_whitespace=False, separators=(",", ":"))

        def begin(left: int) -> Sequence:
            matcher, mask = xgrammar.GrammarMatcher(compiled), np.zeros((1, end // 32 + 1), dtype=np.int32)
            return Sequence(
                lambda: matcher.fill_next_token_bitmask(mask, 0), mask[0], matcher.accept_token, matcher.is_terminated
            )

        return begin

    return grammar


def walk(begun: Sequence, left: int, end: int, source: random.Random, masks: list[float]) -> tuple[list[int], bool]:
    """Return the ids of a walk and whether it is complete; the times of its masks are added."""
    ids: list[int] = []
    while not begun.is_over():
        masks.append(timed(begun.fill)[1])
        # A peer may set bits after the last id.
        mask = begun.mask[: (end >> 5) + 1].copy()
        mask[end >> 5] &= (2 << (end & 31)) - 1
        is_complete = bool(mask[end >> 5] >> (end & 31) & 1)
        if len(ids) == left:
            return ids, is_complete
        id = one_of(mask, source)
        if id is None or id == end:
            return ids, is_complete
        begun.accept(id)
        ids.append(id)
    return ids, True


def is_valid(data: bytes, schema: Any) -> bool:
    """Return whether a text is a document of a schema."""
    try:
        jsonschema.validate(json.loads(data), schema)
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


def is_canonical(ids: list[int], is_complete: bool, encoding: Any) -> bool:
    """Return whether tiktoken gives the ids of a walk for its text; for the settled pieces of it, if it is cut off."""
    data = encoding.decode_bytes(ids)
    text = data.decode("utf-8", "strict" if is_complete else "ignore")
    if is_complete:
        return bool(encoding.encode_ordinary(text) == ids)
    pieces = regex.findall(encoding._pat_str, text)[:-2]
    settled = [id for piece in pieces for id in encoding._encode_single_piece(piece)]
    return ids[: len(settled)] == settled


def row(engine: str, compile: Callable[[Any], Grammar], cases: list[tuple[Any, int]], encoding: Any) -> list[object]:
    """Return a row of the table of one engine, for schemas with the fewest ids that each needs."""
    source, counts = random.Random(0), Counter[str]()
    masks, built = list[float](), list[float]()
    for schema, least in cases:
        begin = time.process_time()
        try:
            grammar = compile(schema)
        except (ValueError, RuntimeError) as error:
            print(f"{engine} refuses: {error}", file=sys.stderr)
            counts["refused"] += 1
            continue
        built.append(time.process_time() - begin)
        for more in MORE:
            ids, is_complete = walk(grammar(least + more), least + more, encoding.eot_token, source, masks)
            counts["walks"] += 1
            counts["cut off"] += not is_complete
            counts["not canonical"] += not is_canonical(ids, is_complete, encoding)
            counts["not valid"] += is_complete and not is_valid(encoding.decode_bytes(ids), schema)
    figures = [counts[name] for name in COLUMNS[2:7]]
    times = [round(float(np.percentile(np.array(masks) * 1e6, q)), 1) for q in (50, 99)]
    return [engine, len(built), *figures, round(float(np.median(built)), 3), *times]


def main(schemas: list[Any], name: str) -> None:
    tokenizer = load(name)
    encoding = tiktoken_of(name, tokenizer)
    cases = []
    for schema in schemas:
        try:
            guide = tokdfa.guide(tokenizer, schema=schema)
            cases.append((schema, guide.least(guide.initial)))
        except ValueError as error:
            print(f"left out: {error}", file=sys.stderr)
    rows, packages = [row("tokdfa", of_guide(tokenizer, encoding.eot_token), cases, encoding)], []
    for package, make in (("llguidance", lambda: of_llguidance(tokenizer, name)),
                          ("xgrammar", lambda: of_xgrammar(tokenizer, encoding.eot_token))):  # fmt: skip
        try:
            rows.append(row(package, make(), cases, encoding))
            packages.append(package)
        except ImportError as error:
            print(f"not measured: {error}", file=sys.stderr)
    print_table(f"JSON in n ids, {name}", COLUMNS, rows, environment("tiktoken", *packages))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    keep_tables(sys.argv)
    given = (
        json.loads(Path(os.environ["TOKDFA_SCHEMAS"]).read_text("utf-8")) if "TOKDFA_SCHEMAS" in os.environ else SCHEMAS
    )
    main(given, sys.argv[1] if len(sys.argv) > 1 else "cl100k")
