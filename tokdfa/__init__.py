"""tokdfa: an automata-theoretic verifier of tokenization.

A byte pair dictionary maps every text to exactly one token sequence, and the set of these sequences is a regular
language. tokdfa builds its automaton and answers with it: is this token stream canonical, where does a pattern
match, do two tokenizers agree on every text.

The verbs are functions: `load`, `validate`, `search`, `replace`, `guide`, `compare`, `splice`, `encode_batch`, `train`.
The nouns are packages; each says at its head what lives in it, in which order to read it and what it costs. Bottom up:

==============  =======================================================================================
`base`          errors, verdicts, arrays of ids, locks; what a name that does not exist was meant to be
`kernels`       the inner loops in C, and the modules that check their arguments
`regex`         patterns and word lists as automata over classes and bytes; character classes of Unicode
`automata`      dictionaries, the oracle, token DFAs: the fold (Algorithm 2), the compact token DFA, the
                algebra, locality; `automata.transducers`, from words to tokenizations
`tokenizers`    real tokenizers: formats of files, added tokens, normalizers, pre-tokenizers, models,
                decoders; from text to ids (`tokenizers.encoding`) and back
`stores`        token stores on disk: every format, one interface
`training`      greedy trainers, and the theory of what they optimise
`jobs`          `jobs.validation`: is a stream canonical, and if not, where, why, and what belongs there;
                searching, replacing, guiding, comparison, conversion, splices, templates, rollouts,
                shards, identification, certificates, measures, alignment, auditing
`draw`          pictures, films and pages
`integrations`  hooks for frameworks that train, importing them only within functions
`cli`           the commands
`check`         the checker of certificates, alone
==============  =======================================================================================

To see the main job from end to end, read `automata.fold`, then `automata.compact`, then `jobs.validation`.

The words are explained in ``notebooks/glossary.md``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def _homes() -> dict[str, str]:
    """Return the module of each public name, from the lines `from MODULE import NAME as NAME` of the stub."""
    stub = __spec__.loader.get_data(f"{__path__[0]}/__init__.pyi").decode()
    words = (line.split() for line in stub.splitlines() if line.startswith("from "))
    return {name: module for _, module, _, name, *_ in words}


# Each is imported on first use, so that `import tokdfa` stays light.
_HOMES = _homes()

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        if name.startswith("_"):
            raise AttributeError(f"module 'tokdfa' has no attribute {name!r}")
        from tokdfa.base.suggestions import UnknownNameError

        raise UnknownNameError(sys.modules[__name__], name)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
