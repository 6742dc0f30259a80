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
                searching, replacing, guiding, comparison, splices, templates, rollouts, shards,
                identification, certificates
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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokdfa.automata.alphabet import TokenAlphabet as TokenAlphabet
    from tokdfa.automata.bpe import tokenize_leftmost as tokenize_leftmost
    from tokdfa.automata.bpe import tokenize_rounds as tokenize_rounds
    from tokdfa.automata.bpe import tokenize_single_pass as tokenize_single_pass
    from tokdfa.automata.compact import CompactTokenDFA as CompactTokenDFA
    from tokdfa.automata.context import context_invariance as context_invariance
    from tokdfa.automata.dictionary import Dictionary as Dictionary
    from tokdfa.automata.dictionary import Rule as Rule
    from tokdfa.automata.fold import apply_merge as apply_merge
    from tokdfa.automata.fold import iter_token_dfas as iter_token_dfas
    from tokdfa.automata.fold import token_dfa as token_dfa
    from tokdfa.automata.language import Language as Language
    from tokdfa.automata.lift import lift as lift
    from tokdfa.automata.lift import tokenized_language as tokenized_language
    from tokdfa.automata.locality import dloc as dloc
    from tokdfa.automata.locality import k_locality as k_locality
    from tokdfa.automata.look_ahead import LookAhead as LookAhead
    from tokdfa.automata.look_ahead import look_ahead as look_ahead
    from tokdfa.automata.regex import language as language
    from tokdfa.automata.token_dfa import TokenDFA as TokenDFA
    from tokdfa.automata.transducers.determinize import determinize as determinize
    from tokdfa.automata.transducers.subsequential import SubsequentialTransducer as SubsequentialTransducer
    from tokdfa.automata.transducers.transducer import Transducer as Transducer
    from tokdfa.base.errors import TokdfaError as TokdfaError
    from tokdfa.base.verdict import Verdict as Verdict
    from tokdfa.draw.film import Film as Film
    from tokdfa.draw.report.comparison import comparison_report as comparison_report
    from tokdfa.draw.report.validation import validation_report as validation_report
    from tokdfa.jobs.certificates.api import Certificate as Certificate
    from tokdfa.jobs.certificates.api import certify_comparison as certify_comparison
    from tokdfa.jobs.certificates.api import certify_splice as certify_splice
    from tokdfa.jobs.comparison.api import compare as compare
    from tokdfa.jobs.comparison.result import Comparison as Comparison
    from tokdfa.jobs.comparison.result import Difference as Difference
    from tokdfa.jobs.guiding.api import Guide as Guide
    from tokdfa.jobs.guiding.api import guide as guide
    from tokdfa.jobs.guiding.bans import Ban as Ban
    from tokdfa.jobs.guiding.bans import ban as ban
    from tokdfa.jobs.guiding.forcing import Forcing as Forcing
    from tokdfa.jobs.guiding.forcing import forced as forced
    from tokdfa.jobs.guiding.matcher import Matcher as Matcher
    from tokdfa.jobs.identification.api import identify as identify
    from tokdfa.jobs.replacing.api import Replacer as Replacer
    from tokdfa.jobs.replacing.api import replace as replace
    from tokdfa.jobs.replacing.result import Change as Change
    from tokdfa.jobs.replacing.result import Changes as Changes
    from tokdfa.jobs.replacing.result import Replacement as Replacement
    from tokdfa.jobs.rollouts.api import check_rollout as check_rollout
    from tokdfa.jobs.rollouts.api import check_rollouts as check_rollouts
    from tokdfa.jobs.rollouts.api import iter_rollout_checks as iter_rollout_checks
    from tokdfa.jobs.rollouts.prefix import PrefixCheck as PrefixCheck
    from tokdfa.jobs.rollouts.prefix import PrefixKind as PrefixKind
    from tokdfa.jobs.rollouts.prefix import check_prefix as check_prefix
    from tokdfa.jobs.rollouts.result import RolloutCheck as RolloutCheck
    from tokdfa.jobs.rollouts.result import RolloutChecks as RolloutChecks
    from tokdfa.jobs.rollouts.rollout import Rollout as Rollout
    from tokdfa.jobs.rollouts.stretches import Counts as Counts
    from tokdfa.jobs.rollouts.stretches import Shares as Shares
    from tokdfa.jobs.rollouts.stretches import StretchClass as StretchClass
    from tokdfa.jobs.searching.api import Match as Match
    from tokdfa.jobs.searching.api import Matches as Matches
    from tokdfa.jobs.searching.api import Searcher as Searcher
    from tokdfa.jobs.searching.api import search as search
    from tokdfa.jobs.shards.check import check_shard as check_shard
    from tokdfa.jobs.shards.report import Report as Report
    from tokdfa.jobs.splices.api import Splice as Splice
    from tokdfa.jobs.splices.api import SplitTexts as SplitTexts
    from tokdfa.jobs.splices.api import splice as splice
    from tokdfa.jobs.splices.injection import Attack as Attack
    from tokdfa.jobs.splices.injection import Injection as Injection
    from tokdfa.jobs.splices.injection import check_injection as check_injection
    from tokdfa.jobs.splices.parts import Slot as Slot
    from tokdfa.jobs.splices.turns import Turns as Turns
    from tokdfa.jobs.splices.turns import check_turns as check_turns
    from tokdfa.jobs.templates.api import TemplateCheck as TemplateCheck
    from tokdfa.jobs.templates.api import TemplatePrefix as TemplatePrefix
    from tokdfa.jobs.templates.api import TemplateSeam as TemplateSeam
    from tokdfa.jobs.templates.api import check_template as check_template
    from tokdfa.jobs.validation.api import validate as validate
    from tokdfa.jobs.validation.kind import ViolationKind as ViolationKind
    from tokdfa.jobs.validation.result import Validation as Validation
    from tokdfa.jobs.validation.validator import Validator as Validator
    from tokdfa.jobs.validation.violation import Violation as Violation
    from tokdfa.stores.opening import open_store as open_store
    from tokdfa.tokenizers.encoding.batches import EncodedDocuments as EncodedDocuments
    from tokdfa.tokenizers.encoding.batches import encode_batch as encode_batch
    from tokdfa.tokenizers.encoding.batches import iter_encoded as iter_encoded
    from tokdfa.tokenizers.fingerprint import Fingerprint as Fingerprint
    from tokdfa.tokenizers.fingerprint import fingerprint as fingerprint
    from tokdfa.tokenizers.loading import default_dictionary as default_dictionary
    from tokdfa.tokenizers.loading import default_tokenizer as default_tokenizer
    from tokdfa.tokenizers.loading import load as load
    from tokdfa.tokenizers.models.wordpiece.maxmatch import LinMaxMatch as LinMaxMatch
    from tokdfa.tokenizers.models.wordpiece.maxmatch import max_match as max_match
    from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary as WordPieceVocabulary
    from tokdfa.tokenizers.pieces import Piece as Piece
    from tokdfa.tokenizers.pieces import Pieces as Pieces
    from tokdfa.tokenizers.pieces import SplitStep as SplitStep
    from tokdfa.tokenizers.protocol import AnyTokenizer as AnyTokenizer
    from tokdfa.tokenizers.tokenizer import Tokenizer as Tokenizer
    from tokdfa.tokenizers.tokenizer import UnigramTokenizer as UnigramTokenizer
    from tokdfa.tokenizers.tokenizer import WordPieceTokenizer as WordPieceTokenizer
    from tokdfa.training.api import train as train
    from tokdfa.training.greedy import train_greedy as train_greedy

__version__ = "0.1.0"

# Module -> the public names that it has. Imported on first use, so that `import tokdfa` stays light.
_NAMES = {
    "tokdfa.automata.alphabet": "TokenAlphabet",
    "tokdfa.automata.compact": "CompactTokenDFA",
    "tokdfa.automata.context": "context_invariance",
    "tokdfa.automata.fold": "apply_merge iter_token_dfas token_dfa",
    "tokdfa.automata.language": "Language",
    "tokdfa.automata.lift": "lift tokenized_language",
    "tokdfa.automata.locality": "dloc k_locality",
    "tokdfa.automata.look_ahead": "LookAhead look_ahead",
    "tokdfa.automata.regex": "language",
    "tokdfa.automata.token_dfa": "TokenDFA",
    "tokdfa.automata.bpe": "tokenize_leftmost tokenize_rounds tokenize_single_pass",
    "tokdfa.jobs.certificates.api": "Certificate certify_comparison certify_splice",
    "tokdfa.jobs.comparison.api": "compare",
    "tokdfa.jobs.comparison.result": "Comparison Difference",
    "tokdfa.automata.dictionary": "Dictionary Rule",
    "tokdfa.draw.film": "Film",
    "tokdfa.tokenizers.encoding.batches": "EncodedDocuments encode_batch iter_encoded",
    "tokdfa.base.errors": "TokdfaError",
    "tokdfa.jobs.guiding.api": "Guide guide",
    "tokdfa.jobs.guiding.bans": "Ban ban",
    "tokdfa.jobs.guiding.forcing": "Forcing forced",
    "tokdfa.jobs.guiding.matcher": "Matcher",
    "tokdfa.jobs.identification.api": "identify",
    "tokdfa.jobs.replacing.api": "Replacer replace",
    "tokdfa.jobs.replacing.result": "Change Changes Replacement",
    "tokdfa.draw.report.comparison": "comparison_report",
    "tokdfa.draw.report.validation": "validation_report",
    "tokdfa.jobs.rollouts.api": "check_rollout check_rollouts iter_rollout_checks",
    "tokdfa.jobs.rollouts.prefix": "PrefixCheck PrefixKind check_prefix",
    "tokdfa.jobs.rollouts.result": "RolloutCheck RolloutChecks",
    "tokdfa.jobs.rollouts.rollout": "Rollout",
    "tokdfa.jobs.rollouts.stretches": "Counts Shares StretchClass",
    "tokdfa.jobs.searching.api": "Match Matches Searcher search",
    "tokdfa.jobs.shards.check": "check_shard",
    "tokdfa.jobs.shards.report": "Report",
    "tokdfa.jobs.splices.api": "Splice SplitTexts splice",
    "tokdfa.jobs.splices.injection": "Attack Injection check_injection",
    "tokdfa.jobs.splices.parts": "Slot",
    "tokdfa.jobs.splices.turns": "Turns check_turns",
    "tokdfa.stores.opening": "open_store",
    "tokdfa.jobs.templates.api": "TemplateCheck TemplatePrefix TemplateSeam check_template",
    "tokdfa.tokenizers.fingerprint": "Fingerprint fingerprint",
    "tokdfa.tokenizers.loading": "default_dictionary default_tokenizer load",
    "tokdfa.tokenizers.pieces": "Piece Pieces SplitStep",
    "tokdfa.tokenizers.protocol": "AnyTokenizer",
    "tokdfa.tokenizers.tokenizer": "Tokenizer UnigramTokenizer WordPieceTokenizer",
    "tokdfa.training.api": "train",
    "tokdfa.training.greedy": "train_greedy",
    "tokdfa.automata.transducers.determinize": "determinize",
    "tokdfa.automata.transducers.subsequential": "SubsequentialTransducer",
    "tokdfa.automata.transducers.transducer": "Transducer",
    "tokdfa.jobs.validation.api": "validate",
    "tokdfa.jobs.validation.kind": "ViolationKind",
    "tokdfa.jobs.validation.result": "Validation",
    "tokdfa.jobs.validation.validator": "Validator",
    "tokdfa.jobs.validation.violation": "Violation",
    "tokdfa.base.verdict": "Verdict",
    "tokdfa.tokenizers.models.wordpiece.maxmatch": "LinMaxMatch max_match",
    "tokdfa.tokenizers.models.wordpiece.vocabulary": "WordPieceVocabulary",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

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
