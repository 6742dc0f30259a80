"""Guides and bans: the times of a mask, of a step and of building, with llguidance and xgrammar where installed.

    TOKDFA_DATA=... python -m tests.benchmarks.bench_guide [gpt2|cl100k|o200k] [--json FILE]

A *new* state is asked for its mask for the first time; one *met before* is asked again. A *first* step is one that was
not taken before; it is taken *again* at once. Walks choose among the allowed ids at random, so most of their text
is unlike a model's. Masks and steps are processor time of the thread; building is elapsed time. The masks of
the peers allow every tokenization of the text: they know neither the merges nor the pre-tokenizer, so they compute
less. Their matchers have no states that can be kept; each mask of theirs counts.
"""

from __future__ import annotations

import os
import random
import sys
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, peak_memory, print_table
from tokdfa.tokenizers.pretokenizers.steps import NAMED

LANGUAGES = {
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z",
    "object": r'\{"name": "[a-z ]{1,40}", "age": [0-9]{1,3}(, "tags": \[("[a-z]+"(, "[a-z]+")*)?\])?\}',
    "email": r"[a-z0-9._]{1,20}@[a-z0-9]{1,20}\.(com|org|net)",
    "call": r"[a-zA-Z_][a-zA-Z0-9_]*\([a-z, ]*\)",
    "line": r"[^\n]{1,200}\n",
}


COLUMNS = ["us", "building s", "new mask", "p99", "met before", "step, first", "p99", "again", "masks"]


def row(what: str, built: float | None, new: list[float], old: list[float], first: list[float], again: list[float]):  # type: ignore[no-untyped-def]
    """Return a row of the table: medians and 99th percentiles in microseconds."""

    def percentile(seconds: list[float], q: float) -> float | str:
        return round(float(np.percentile(np.array(seconds) * 1e6, q)), 1) if seconds else "-"

    figures = [percentile(new, 50), percentile(new, 99), percentile(old, 50)]
    steps = [percentile(first, 50), percentile(first, 99), percentile(again, 50)]
    return [what, "-" if built is None else round(built, 3), *figures, *steps, len(new)]


def timed(function, *arguments):  # type: ignore[no-untyped-def]
    begin = time.thread_time()
    found = function(*arguments)
    return found, time.thread_time() - begin


def one_of(mask: np.ndarray, source: random.Random) -> int | None:
    """Choose one of the ids of a mask without a list of all of them, which would empty the caches."""
    words = np.flatnonzero(mask)
    if not len(words):
        return None
    place = int(words[source.randrange(len(words))])
    bits = int(mask[place]) & 0xFFFFFFFF
    return 32 * place + source.choice([bit for bit in range(32) if bits >> bit & 1])


def walks(guide: tokdfa.Guide, n: int, steps: int, longest: float) -> tuple[list[float], ...]:
    """Return the times of masks of new states, of those met before, of steps taken first, and of steps taken again."""
    source = random.Random(0)
    new, old, first, again = [], [], [], []
    seen = set()
    begin = time.perf_counter()
    for _ in range(n):
        state = guide.initial
        for _ in range(steps):
            mask, seconds = timed(guide.mask, state)
            if state not in seen:
                new.append(seconds)
            old.append(timed(guide.mask, state)[1])
            id = one_of(mask, source)
            if id is None or time.perf_counter() - begin > longest:
                break
            following, seconds = timed(guide.step, state, id)
            if (state, id) not in seen:
                first.append(seconds)
            again.append(timed(guide.step, state, id)[1])
            assert following is not None
            seen |= {state, (state, id)}
            state = following
    return new, old, first, again


def load(name: str) -> tokdfa.Tokenizer:
    vocabs = Path(os.environ["TOKDFA_DATA"]) / "vocabs"
    found = (
        tokdfa.load(vocabs / name)
        if name == "gpt2"
        else tokdfa.load(vocabs / f"{name}_base.tiktoken", pretokenizer=name)
    )
    assert isinstance(found, tokdfa.Tokenizer)
    return found


def along(automaton: tokdfa.Guide | tokdfa.Ban, ids: list[int]) -> tuple[list[float], ...]:
    """Return the same times as `walks`, along a text."""
    new, old, first, again, seen = [], [], [], [], set()
    state = automaton.initial
    for id in ids:
        seconds = timed(automaton.mask, state)[1]
        (old if state in seen else new).append(seconds)
        following, seconds = timed(automaton.step, state, id)
        (again if (state, id) in seen else first).append(seconds)
        seen |= {state, (state, id)}
        # After a banned id the walk begins anew.
        state = automaton.initial if following is None else following
    return new, old, first, again


def main(name: str) -> None:
    tokenizer = load(name)
    rows = []
    begin = time.perf_counter()
    guide = tokenizer.guide()
    tables = time.perf_counter() - begin
    corpora = Path(os.environ["TOKDFA_DATA"]) / "corpora"
    texts = {file: (corpora / f"{file}.txt").read_text("utf-8")[:60_000] for file in ("english", "multilingual")}
    for file, text in texts.items():
        rows.append(row(f"all texts, {file}", tables, *along(guide, tokenizer.encode(text).tolist())))
    for what, language in LANGUAGES.items():
        begin = time.perf_counter()
        guide = tokenizer.guide(language)
        built = time.perf_counter() - begin
        rows.append(row(what, built, *walks(guide, 20, 60, 20)))
    english = (corpora / "english.txt").read_text("utf-8")
    words = list(dict.fromkeys(word for word in english.split() if len(word) > 4))
    random.Random(0).shuffle(words)
    begin = time.perf_counter()
    ban = tokdfa.ban(tokenizer, words[:10_000])
    built = time.perf_counter() - begin
    rows.append(
        row(f"ban of {len(words[:10_000]):,} words", built, *along(ban, tokenizer.encode(texts["english"]).tolist()))
    )
    peak, packages = peak_memory() >> 20, []
    for package, peer in (("llguidance", llguidance_masks), ("xgrammar", xgrammar_masks)):
        try:
            rows += peer(name, tokenizer)
            packages.append(package)
        except ImportError as error:
            print(f"not measured: {error}", file=sys.stderr)
    caption = f"{tokenizer.n_ids:,} ids; {peak} MB before the peers; {environment(*packages)}"
    print_table(f"Guides of {name}", COLUMNS, rows, caption)


def spellings(tokenizer: tokdfa.Tokenizer) -> list[bytes]:
    """The bytes of each id; none for those without a token."""
    text, offsets = tokenizer.id_spellings
    data = text.tobytes()
    return [data[begin:end] for begin, end in pairwise(offsets.tolist())]


def tiktoken_of(name: str, tokenizer: tokdfa.Tokenizer):  # type: ignore[no-untyped-def]
    """The same tokenizer as an object of tiktoken; its last id ends a text."""
    import tiktoken

    special = set(tokenizer.special_ids.tolist())
    ranks = {word: id for id, word in enumerate(spellings(tokenizer)) if id not in special and word}
    pattern = NAMED["gpt2_tiktoken" if name == "gpt2" else name].steps[0].pattern
    ends = {"<|endoftext|>": max(ranks.values()) + 1}
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=ends)


def peer_walks(what: str, built: float, mask, bitmask, accept, reset, is_over) -> list[object]:  # type: ignore[no-untyped-def]
    """Measure the masks and the steps of a peer along walks through its own masks."""
    source, masks, stepping = random.Random(0), [], []
    for _ in range(20):
        reset()
        for _ in range(60):
            if is_over():
                break
            masks.append(timed(mask)[1])
            id = one_of(bitmask, source)
            if id is None:
                break
            stepping.append(timed(accept, id)[1])
    return row(what, built, masks, [], stepping, [])


def llguidance_masks(name: str, tokenizer: tokdfa.Tokenizer) -> list[list[object]]:
    """Measure llguidance: a matcher a regular expression, and masks in numpy."""
    import llguidance
    import llguidance.numpy
    import llguidance.tiktoken

    peer = llguidance.tiktoken.lltokenizer_from_encoding(tiktoken_of(name, tokenizer))
    rows = []
    for what, language in LANGUAGES.items():
        bitmask = llguidance.numpy.allocate_token_bitmask(1, peer.vocab_size)
        begin = time.perf_counter()
        matcher = llguidance.LLMatcher(peer, llguidance.LLMatcher.grammar_from_regex(language))
        built = time.perf_counter() - begin
        fill = partial(llguidance.numpy.fill_next_token_bitmask, matcher, bitmask, 0)
        calls = fill, bitmask[0], matcher.consume_token, matcher.reset, matcher.is_stopped
        rows.append(peer_walks(f"llguidance, {what}", built, *calls))
    return rows


def xgrammar_masks(name: str, tokenizer: tokdfa.Tokenizer) -> list[list[object]]:
    """Measure xgrammar: a compiled grammar for each regular expression; its masks are made when it is compiled."""
    import xgrammar

    info = xgrammar.TokenizerInfo(spellings(tokenizer), stop_token_ids=[tokenizer.n_ids - 1])
    rows = []
    for what, language in LANGUAGES.items():
        compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        begin = time.perf_counter()
        matcher = xgrammar.GrammarMatcher(compiler.compile_regex(language))
        built = time.perf_counter() - begin
        bitmask = np.zeros((1, -(-tokenizer.n_ids // 32)), dtype=np.int32)
        fill = partial(matcher.fill_next_token_bitmask, bitmask, 0)
        calls = fill, bitmask[0], matcher.accept_token, matcher.reset, matcher.is_terminated
        rows.append(peer_walks(f"xgrammar, {what}", built, *calls))
    return rows


if __name__ == "__main__":
    keep_tables(sys.argv)
    main(sys.argv[1] if len(sys.argv) > 1 else "cl100k")
