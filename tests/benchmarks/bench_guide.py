"""Guides and bans: the times of a mask, of a step and of building, beside llguidance and xgrammar where installed.

    TOKDFA_DATA=... python -m tests.benchmarks.bench_guide [gpt2|cl100k|o200k]

A *new* state is one whose mask was not made before; one *met before* is asked for again. Walks choose among the allowed
ids at random, so most of what they write is text that no model would. Masks and steps are processor time of the thread;
building is elapsed time. The peers' masks allow every tokenization of the text: they know neither the merges nor the
pre-tokenizer, so they compute less. Their matchers have no states that can be kept; each mask of theirs counts.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np

import tokdfa
from tokdfa.splitting.named import NAMED

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
    begin = time.thread_time()
    found = function(*arguments)
    return found, time.thread_time() - begin


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


def load(name: str) -> tokdfa.Tokenizer:
    vocabs = Path(os.environ["TOKDFA_DATA"]) / "vocabs"
    found = (
        tokdfa.load(vocabs / name)
        if name == "gpt2"
        else tokdfa.load(vocabs / f"{name}_base.tiktoken", pretokenizer=name)
    )
    assert isinstance(found, tokdfa.Tokenizer)
    return found


def along(automaton: tokdfa.Guide | tokdfa.Ban, ids: list[int]) -> str:
    """Return the times of new masks, of masks met before and of steps along a text."""
    new, old, stepping, seen = [], [], [], set()
    state = automaton.initial
    for id in ids:
        seconds = timed(automaton.mask, state)[1]
        (old if state in seen else new).append(seconds)
        seen.add(state)
        following, seconds = timed(automaton.step, state, id)
        stepping.append(seconds)
        # What is banned is not said.
        state = automaton.initial if following is None else following
    return f"new {shown(new)}\n    met before {shown(old)}\n    step {shown(stepping)}"


def main(name: str) -> None:
    tokenizer = load(name)
    begin = time.perf_counter()
    guide = tokenizer.guide()
    print(f"{name}, {tokenizer.n_ids} ids: tables of the tokenizer {time.perf_counter() - begin:.2f} s")
    corpora = Path(os.environ["TOKDFA_DATA"]) / "corpora"
    texts = {file: (corpora / f"{file}.txt").read_text("utf-8")[:60_000] for file in ("english", "multilingual")}
    for file, text in texts.items():
        print(f"all texts, {file}:\n    {along(guide, tokenizer.encode(text).tolist())}")
    for what, language in LANGUAGES.items():
        begin = time.perf_counter()
        guide = tokenizer.guide(language)
        built = time.perf_counter() - begin
        new, old, stepping = walks(guide, 20, 60, 20)
        print(f"{what}: building {built:.3f} s, {guide!r}")
        print(f"    new {shown(new)}\n    met before {shown(old)}\n    step {shown(stepping)}")
    english = (corpora / "english.txt").read_text("utf-8")
    words = list(dict.fromkeys(word for word in english.split() if len(word) > 4))
    random.Random(0).shuffle(words)
    begin = time.perf_counter()
    ban = tokdfa.ban(tokenizer, words[:10_000])
    print(f"ban of {len(words[:10_000]):,} words: building {time.perf_counter() - begin:.3f} s, {ban!r}")
    print(f"    {along(ban, tokenizer.encode(texts['english']).tolist())}")
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB up to here")
    for peer in (llguidance_masks, xgrammar_masks):
        try:
            peer(name, tokenizer)
        except ImportError as error:
            print(f"not measured: {error}")


def spellings(tokenizer: tokdfa.Tokenizer) -> list[bytes]:
    """The bytes of each id; none for those without a token."""
    text, offsets = tokenizer.id_spellings
    data = text.tobytes()
    return [data[begin:end] for begin, end in pairwise(offsets.tolist())]


def peer_walks(what: str, built: float, mask, bitmask, accept, reset, is_over) -> None:  # type: ignore[no-untyped-def]
    """Measure the masks and the steps of a peer along walks through its own masks."""
    source, masks, stepping = random.Random(0), [], []
    for _ in range(20):
        reset()
        for _ in range(60):
            if is_over():
                break
            masks.append(timed(mask)[1])
            allowed = np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little")).tolist()
            if not allowed:
                break
            stepping.append(timed(accept, source.choice(allowed))[1])
    print(f"{what}: building {built:.3f} s\n    mask {shown(masks)}\n    step {shown(stepping)}")


def llguidance_masks(name: str, tokenizer: tokdfa.Tokenizer) -> None:
    """Measure llguidance: a matcher a regular expression, and masks in numpy."""
    import llguidance
    import llguidance.numpy
    import llguidance.tiktoken
    import tiktoken

    special = set(tokenizer.special_ids.tolist())
    ranks = {word: id for id, word in enumerate(spellings(tokenizer)) if id not in special and word}
    pattern = NAMED["gpt2_tiktoken" if name == "gpt2" else name].steps[0].pattern
    ends = {"<|endoftext|>": max(ranks.values()) + 1}
    begin = time.perf_counter()
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=ends)
    peer = llguidance.tiktoken.lltokenizer_from_encoding(encoding)
    print(f"llguidance {version('llguidance')}: its tables {time.perf_counter() - begin:.2f} s")
    for what, language in LANGUAGES.items():
        bitmask = llguidance.numpy.allocate_token_bitmask(1, peer.vocab_size)
        begin = time.perf_counter()
        matcher = llguidance.LLMatcher(peer, llguidance.LLMatcher.grammar_from_regex(language))
        built = time.perf_counter() - begin
        fill = partial(llguidance.numpy.fill_next_token_bitmask, matcher, bitmask, 0)
        peer_walks(
            f"llguidance, {what}", built, fill, bitmask[0], matcher.consume_token, matcher.reset, matcher.is_stopped
        )


def xgrammar_masks(name: str, tokenizer: tokdfa.Tokenizer) -> None:
    """Measure xgrammar: a compiled grammar a regular expression, whose masks are made when it is compiled."""
    import xgrammar

    begin = time.perf_counter()
    info = xgrammar.TokenizerInfo(spellings(tokenizer), stop_token_ids=[tokenizer.n_ids - 1])
    print(f"xgrammar {version('xgrammar')}: its tables {time.perf_counter() - begin:.2f} s")
    for what, language in LANGUAGES.items():
        compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        begin = time.perf_counter()
        matcher = xgrammar.GrammarMatcher(compiler.compile_regex(language))
        built = time.perf_counter() - begin
        bitmask = np.zeros((1, -(-tokenizer.n_ids // 32)), dtype=np.int32)
        fill = partial(matcher.fill_next_token_bitmask, bitmask, 0)
        peer_walks(
            f"xgrammar, {what}", built, fill, bitmask[0], matcher.accept_token, matcher.reset, matcher.is_terminated
        )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cl100k")
