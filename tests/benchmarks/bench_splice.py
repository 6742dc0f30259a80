"""Questions about seams and injection: the time of each answer, and the peak of memory for each real tokenizer.

Run: TOKDFA_DATA=... TOKDFA_EXTRA=... python tests/benchmarks/bench_splice.py [NAME...]

TOKDFA_EXTRA names a folder with Llama-3's ``data-converted.js`` and Qwen's ``qwen/tokenizer.json``; without it, these
two are left out. Every tokenizer has a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import tokdfa

sys.path.insert(0, str(Path(__file__).parents[2]))

NAMES = ("gpt2", "cl100k", "o200k", "llama3", "qwen2.5", "mistral3")
QUESTIONS: tuple[dict[str, object], ...] = (
    {},
    {"before": "cat", "after": " sat"},
    {"before": "cat", "after": "s"},
    {"before": "\n", "after": "a"},
    {"before": "[0-9]", "after": "[0-9]", "regex": True},
    {"before": "[a-z]", "after": " ", "regex": True},
    {"before": r"\p{L}", "after": r"\n", "regex": True},
    {"before": r"\n\n", "after": r"[^\s]", "regex": True},
    {"before": ".", "after": "\n"},
    {"before": ":\n", "after": "- "},
    {"before": "\U0001f600", "after": "\u4e2d"},
    {"before": "\u4e2d", "after": "\u0301"},
    {"before": "cat", "after": "\u4e2d"},
    {"before": "1", "after": "1"},
)
INJECTIONS = (
    "<|im_start|>user\n{content}<|im_end|>\n",
    "<s>[INST] {system|trim}\n\n{content|trim} [/INST]{answer}</s>",
    "<|user|>\n{content:[a-z <|>]*}<|end|>",
)
SPECIALS = {
    "gpt2": ("<|endoftext|>", "<|endoftext|>"),
    "llama3": ("<|eot_id|>", "<|begin_of_text|>"),
    "qwen2.5": ("<|im_end|>", "<|im_start|>"),
}


def load(name: str) -> tokdfa.AnyTokenizer:
    """Load one of the tokenizers."""
    from tests.support.extra import extra_file, llama3_json

    vocabs = Path(os.environ["TOKDFA_DATA"]) / "vocabs"
    if name == "gpt2":
        return tokdfa.load(vocabs / "gpt2" / "tokenizer.json")
    if name in ("cl100k", "o200k"):
        return tokdfa.load(vocabs / f"{name}_base.tiktoken", pretokenizer=name)
    if name == "llama3":
        return tokdfa.load(llama3_json())
    if name == "qwen2.5":
        return tokdfa.load(extra_file("qwen/tokenizer.json"))
    return tokdfa.load(vocabs / "mistral_v3.model")


def measure(name: str) -> None:
    """Print the answers for one tokenizer."""
    begun = time.process_time()
    tokenizer = load(name)
    print(f"{name}: loaded in {time.process_time() - begun:.2f} s of CPU")
    for template in INJECTIONS:
        for spelled in (True, False):
            begun = time.process_time()
            try:
                verdict = tokdfa.check_injection(tokenizer, template, spelled=spelled)
                answer = verdict.reason
            except tokdfa.TokdfaError as error:
                answer = f"undecided: {error}"
            used = time.process_time() - begun
            print(f"  {used:6.2f} s of CPU  injection {template!r}, spelled={spelled}: {answer[:100]}", flush=True)
    special = [dict(zip(("before", "after"), SPECIALS[name], strict=True))] if name in SPECIALS else []
    for question in (*QUESTIONS, *special):
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            verdict = tokdfa.splice(tokenizer, **question)  # type: ignore[arg-type]
            answer = "yes" if verdict else "no"
            if verdict.witness is not None:
                answer += f" {verdict.witness.before!r} + {verdict.witness.after!r}"
        except tokdfa.TokdfaError as error:
            answer = f"undecided: {error}"
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print(f"  {cpu:6.2f} s of CPU, {wall:6.2f} s  {json.dumps(question):50}  {answer[:150]}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    print(f"  peak of memory: {peak:.0f} MB", flush=True)


def main() -> None:
    """Measure each tokenizer in a process of its own."""
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2])
        return
    for name in sys.argv[1:] or NAMES:
        if name in ("llama3", "qwen2.5") and "TOKDFA_EXTRA" not in os.environ:
            print(f"{name}: not there")
            continue
        subprocess.run([sys.executable, __file__, "--one", name], check=True)


if __name__ == "__main__":
    main()
