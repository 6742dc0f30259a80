"""Uses of all kernels that allocate, with every allocation failing in turn: run with `failing_allocations.c` preloaded.

It prints what came of each use as JSON; `tests/hostile/test_failing_allocations.py` starts it, and judges.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
import tokdfa
from tests.support.searching import Plain
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.automata.explicit import equivalence, minimize_hopcroft
from tokdfa.automata.transducers.subsequential import TransducerTable
from tokdfa.kernels import library
from tokdfa.kernels.dfa.explicit import build_trie, tokens_from, trie_of
from tokdfa.kernels.encode.characters import characters_of
from tokdfa.kernels.merging.merging import merge_pieces, pair_table
from tokdfa.kernels.search.search import prefilter_of, token_effects
from tokdfa.kernels.spelling.charsmap import read_table
from tokdfa.kernels.spelling.lookup import sort_words
from tokdfa.kernels.train.merging import FIRST_SEEN, Pieces, Text, Training
from tokdfa.kernels.unigram.segmentation import unigram_tables
from tokdfa.tokenizers.encoding.piece_encoder import PieceEncoder
from tokdfa.tokenizers.neighbours import proper_part
from tokdfa.training.greedy import train_greedy

WORDS = [b"ab", b"abc", b" a", b" ab", b"bc", b"\n\n", b"the", b" the", b"th"]
PAIRS = [("a", "b"), ("ab", "a"), ("b", "b"), ("aba", "bb")]
KERNELS = Path(tokdfa.__file__).parent / "kernels"
# The allocations of one use that are made to fail, evenly chosen.
MOST = 24

Use = Callable[[], Any]


def cases(folder: Path) -> dict[str, Callable[[], Use]]:
    """Return functions that make a fresh object, and give a function that uses it and returns comparable results."""
    ranks = folder / "x.tiktoken"
    numbers = {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *WORDS])}
    ranks.write_bytes(tiktoken_lines(numbers))
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[UNK]", "un", "##aff", "##able", *"abc", *(f"##{letter}" for letter in "abc")]))
    dictionary = tokdfa.Dictionary.from_pairs(PAIRS, alphabet="ab")

    def search() -> Use:
        tokenizer = tokdfa.load(ranks, pretokenizer="gpt2")
        ids = tokenizer.encode("the ab abcab\n\n the the" * 3)
        found = partial(tokenizer.search, ["ab", "abc", "the"], ids)
        return lambda: [(match.start_byte, match.end_byte) for match in found()]

    def improper() -> Use:
        path = folder / "improper.tiktoken"
        swapped = numbers | {b"ab": numbers[b"abc"], b"abc": numbers[b"ab"]}
        path.write_bytes(tiktoken_lines(swapped))
        tokenizer = tokdfa.load(path, pretokenizer="none")
        return lambda: proper_part(tokenizer).number.tolist()

    def merged() -> Use:
        zero, one, two = (np.array([value], dtype=np.int32) for value in range(3))
        table, text = pair_table(zero, one, zero, two), np.array([0, 1] * 300, dtype=np.int32)
        return lambda: [part.tolist() for part in merge_pieces(text, np.array([0, 600]), table)]

    def characters() -> Use:
        none = np.zeros(0, dtype=np.int32)
        ids = np.arange(3, dtype=np.int32)
        inner = np.array([0 << 32 | 0], dtype=np.int64)
        tables = characters_of({ord("a"): 0}, None, None, False, inner, pair_table(none, none, none, none), ids)
        return lambda: PieceEncoder.of_characters(tables, ids).encode(b"a" * 600, np.array([0, 600])).ids.tolist()

    def automata() -> Use:
        first = tokdfa.token_dfa(dictionary)
        second = tokdfa.token_dfa(tokdfa.Dictionary.from_pairs(PAIRS[:3], alphabet="ab"))
        return lambda: [
            minimize_hopcroft(first).n_states,
            bool(equivalence(first, first)),
            equivalence(first, second).witness,
        ]

    def transducer() -> Use:
        def use() -> Any:
            table = TransducerTable.of(dictionary, max_states=10_000)
            return [table.n_states, table.minimal().target.tolist()]

        return use

    def training() -> Use:
        words = {"abab" * 9: 5, "bab" * 9: 3, "aabb": 2}
        return lambda: repr(list(train_greedy(words, 9)))

    def goes_on() -> Use:
        # One training, which continues where memory was refused.
        symbols = np.array([-1, *[0, 1] * 40, -1, *[0, 0, 1] * 20, -1], dtype=np.int32)
        nothing = np.empty(0, np.int32), np.empty(0, np.int64)
        text = Text(symbols, (symbols >= 0).astype(np.int64), *nothing)
        made = Training(text, 2, 4, np.empty(0, np.int32), tie=FIRST_SEEN, overlapping=False, least=1, longest=99)
        return lambda: [made.run(4), made.left.tolist(), made.right.tolist()]

    def pieces() -> Use:
        counted = Pieces()
        text = np.frombuffer(b"".join(b"%05d" % number for number in range(20_000)), dtype=np.uint8)
        places = np.arange(0, len(text), 5)
        spans = np.column_stack((places, places + 5))
        zeros = np.zeros(len(spans), dtype=np.int64)

        def use() -> Any:
            # Nothing is counted by a call that fails, and a call with multiplicities of zero counts nothing new.
            counted.add(text, spans, np.ones_like(zeros) if len(counted) == 0 else zeros)
            return [counts.tolist() for counts in counted.contents()[1:]]

        return use

    def effects() -> Use:
        cycle = Plain([[(state + 1) % 5] for state in range(5)], [0] * 257, [-1] * 5, boundary=-1, idle=0)
        text, forward = cycle.spelled([(b"a" * length, False) for length in range(6)]), cycle.forward()
        return lambda: [part.tolist() for part in token_effects(text, forward, 6)]

    def prefilter() -> Use:
        entries = np.arange(0, 4 * 6 * 6, 4, dtype=np.int32) // 24 * 24
        return lambda: [
            np.asarray(part).tolist() for part in prefilter_of(np.arange(6, dtype=np.int32), entries, 6, 6, 0)
        ]

    def trie() -> Use:
        symbols, offsets = np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 1, 3, 4])
        made = trie_of(*build_trie(symbols, offsets, np.arange(3)))
        table = np.array([0, 0, 2, 0, 1, 2], dtype=np.int32)
        return lambda: [part.tolist() for part in tokens_from(made, table, 2, 1)]

    def wordpiece() -> Use:
        return lambda: tokdfa.load(vocabulary).encode("unaffable cab").tolist()

    def unigram() -> Use:
        scores, ids = np.array([-1.0, -1.5, -2.0]), np.arange(1, 4, dtype=np.int32)
        pieces = np.frombuffer(b"aabb", np.uint8), np.array([0, 1, 3, 4]), 0
        made = partial(
            unigram_tables, pieces, scores, ids, unknown=(0, -9.0), byte_ids=None, single=False,
            rounded_late=False, restarts=False, has_words=False,
        )  # fmt: skip
        return lambda: int(made().pointer.n_cells)

    def table_of_characters() -> Use:
        units = np.zeros(256, dtype=np.uint32)
        # The word "a", with the value 7.
        units[0], units[1 ^ ord("a")], units[2] = 1 << 10, ord("a") | 1 << 8 | (1 ^ ord("a") ^ 2) << 10, 1 << 31 | 7
        return lambda: [part.tolist() for part in read_table(units)]

    def order() -> Use:
        return lambda: sort_words(np.frombuffer(b"baac", dtype=np.uint8), np.array([0, 1, 3, 4]), 0).tolist()

    return {
        "a table of characters": table_of_characters,
        "the order of words": order,
        "ranks": lambda: lambda: tokdfa.load(ranks, pretokenizer="none").encode("the abcab\n\n the").tolist(),
        "improper ranks": improper,
        "merging": merged,
        "merging characters": characters,
        "search": search,
        "automata": automata,
        "transducer": transducer,
        "training": training,
        "a training that goes on": goes_on,
        "pieces": pieces,
        "a table of pieces": lambda: lambda: len(Pieces()),
        "effects of tokens": effects,
        "prefilter of tokens": prefilter,
        "tokens that an automaton reads": trie,
        "WordPiece": wordpiece,
        "Unigram": unigram,
    }


def functions(error: BaseException) -> list[str]:
    """Return the innermost function of the API of kernels that an error passed through."""
    frames = [
        f"{Path(frame.filename).relative_to(KERNELS)}:{frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(KERNELS) and frame.name != "check_memory"
    ]
    return frames[-1:]


def examine(make: Callable[[], Use], shim: Any) -> dict[str, Any]:
    """Return what comes of a use when its allocations fail."""
    make()()
    use = make()
    gc.collect()
    shim.fail_call(-1)
    expected = use()
    n = shim.count_calls()
    outcome: dict[str, Any] = {"calls": n, "refused": 0, "answered": 0, "wrong": [], "left": [], "functions": []}
    del use
    for k in sorted({k * n // min(n, MOST) for k in range(min(n, MOST))}):
        use = make()
        gc.collect()
        before = shim.count_live()
        shim.fail_call(k)
        try:
            found = use()
            outcome["answered"] += 1
            if found != expected:
                outcome["wrong"].append(k)
        except MemoryError as error:
            outcome["refused"] += 1
            outcome["functions"] += functions(error)
            del error
        shim.fail_call(-1)
        gc.collect()
        between = shim.count_live()
        # It is as good as before, and the refused request has not been kept.
        if use() != expected:
            outcome["wrong"].append(k)
        del use
        gc.collect()
        if max(between, shim.count_live()) > before:
            outcome["left"].append(k)
    outcome["functions"] = sorted(set(outcome["functions"]))
    return outcome


def main() -> None:
    """Watch the library and run all cases."""
    shim = ctypes.CDLL(None)
    shim.watch_library.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
    shim.fail_call.argtypes = [ctypes.c_long]
    shim.count_calls.restype = shim.count_live.restype = ctypes.c_long
    library.lib.tokdfa_count_lines(b"", 0)
    lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    places = [line[0] for line in lines if len(line) > 5 and Path(line[5]).name.startswith("_kernels.")]
    ends = [int(end, 16) for place in places for end in place.split("-")]
    shim.watch_library(min(ends), max(ends))
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps({name: examine(make, shim) for name, make in cases(Path(folder)).items()}))


if __name__ == "__main__":
    main()
