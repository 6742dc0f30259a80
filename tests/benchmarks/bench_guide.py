"""Guides: the time of a mask, of a step and of building, beside llguidance and xgrammar where they are installed.

    TOKDFA_DATA=... python -m tests.benchmarks.bench_guide [cl100k|o200k]

A *new* state is one whose mask was not made before; one *met before* is asked for again. Walks choose among the allowed
ids at random, so most of what they write is text that no model would.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path

import numpy as np

import tokdfa

LANGUAGES = {
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z",
    "object": r'\{"name": "[a-z ]{1,40}", "age": [0-9]{1,3}(, "tags": \[("[a-z]+"(, "[a-z]+")*)?\])?\}',
    "email": r"[a-z0-9._]{1,20}@[a-z0-9]{1,20}\.(com|org|net)",
    "call": r"[a-zA-Z_][a-zA-Z0-9_]*\([a-z, ]*\)",
    "line": r"[^\n]{1,200}\n",
}


def shown(seconds: list[float]) -> str:
    if not seconds:
        return "none"
    median, high = np.percentile(np.array(seconds) * 1e6, [50, 99])
    return f"median {median:,.1f} us, 99th percentile {high:,.1f} us ({len(seconds)})"


def timed(function, *arguments):  # type: ignore[no-untyped-def]
    begin = time.perf_counter()
    found = function(*arguments)
    return found, time.perf_counter() - begin


def walks(guide: tokdfa.Guide, n: int, steps: int, longest: float) -> tuple[list[float], list[float], list[float]]:
    """Return the times of masks of new states, of masks of states met before, and of steps."""
    source = random.Random(0)
    new, old, stepping = [], [], []
    seen = set()
    begin = time.perf_counter()
    for _ in range(n):
        state = guide.initial
        for _ in range(steps):
            _, seconds = timed(guide.mask, state)
            if state not in seen:
                new.append(seconds)
            seen.add(state)
            old.append(timed(guide.mask, state)[1])
            allowed = guide.allowed(state).tolist()
            if not allowed or time.perf_counter() - begin > longest:
                break
            following, seconds = timed(guide.step, state, source.choice(allowed))
            stepping.append(seconds)
            assert following is not None
            state = following
    return new, old, stepping


def main(name: str) -> None:
    data = Path(os.environ["TOKDFA_DATA"])
    tokenizer = tokdfa.load(data / "vocabs" / f"{name}_base.tiktoken", pretokenizer=name)
    guide, seconds = timed(tokenizer.guide)
    print(f"{name}: tables of the tokenizer {seconds:.2f} s")
    text = (data / "corpora" / "english.txt").read_text("utf-8")[:60_000]
    new, stepping, seen, state = [], [], set(), guide.initial
    for id in tokenizer.encode(text).tolist():
        _, seconds = timed(guide.mask, state)
        if state not in seen:
            new.append(seconds)
        seen.add(state)
        state, seconds = timed(guide.step, state, id)
        stepping.append(seconds)
    print(f"all texts, English: new {shown(new)}; step {shown(stepping)}")
    for what, language in LANGUAGES.items():
        guide, seconds = timed(tokenizer.guide, language)
        new, old, stepping = walks(guide, 20, 60, 20)
        print(f"{what}: building {seconds:.3f} s, {guide!r}")
        print(f"    new {shown(new)}\n    met before {shown(old)}\n    step {shown(stepping)}")
    try:
        peers(name)
    except ImportError as error:
        print(f"no peers: {error}")


def peers(name: str) -> None:
    """Measure the masks of llguidance on the same expressions, along walks through its own masks."""
    import llguidance
    import llguidance.numpy
    import llguidance.tiktoken
    import tiktoken

    from tokdfa.splitting.named import NAMED

    data = Path(os.environ["TOKDFA_DATA"]) / "vocabs" / f"{name}_base.tiktoken"
    import base64

    ranks = {base64.b64decode(word): int(rank) for word, rank in map(bytes.split, data.read_bytes().splitlines())}
    end = max(ranks.values()) + 1
    pattern = NAMED[name].steps[0].pattern
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": end})
    tokenizer = llguidance.tiktoken.lltokenizer_from_encoding(encoding)
    for what, language in LANGUAGES.items():
        source, seconds = random.Random(0), []
        bitmask = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)
        begin = time.perf_counter()
        grammar = llguidance.LLMatcher.grammar_from_regex(language)
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        built = time.perf_counter() - begin
        for _ in range(20):
            matcher.reset()
            for _ in range(60):
                seconds.append(timed(llguidance.numpy.fill_next_token_bitmask, matcher, bitmask, 0)[1])
                allowed = np.flatnonzero(np.unpackbits(bitmask[0].view(np.uint8), bitorder="little"))
                if matcher.is_stopped() or not len(allowed):
                    break
                matcher.consume_token(int(source.choice(allowed.tolist())))
        print(f"llguidance, {what}: building {built:.3f} s, mask {shown(seconds)}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cl100k")
