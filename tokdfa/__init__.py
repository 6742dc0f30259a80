"""tokdfa: an automata-theoretic verifier of tokenization.

A byte pair dictionary maps every text to exactly one token sequence, and the set of these sequences is a regular
language. tokdfa builds its automaton and answers with it: is this token stream canonical, where does a pattern
match, do two tokenizers agree on every text.

The verbs are functions: `load`, `validate`, `search`, `replace`, `guide`, `compare`, `splice`, `encode_batch`, `train`.
The nouns are packages; each says at its head what lives in it, in which order to read it and what it costs. Bottom up:

=================  ====================================================================================
`bpe`              Algorithm 1 and its neighbours as printed: slow, obvious, the oracle
`dictionary`       ordered rules, proper or not; `alphabet` spells token numbers; `arrays` checks ids
`errors`           what is raised: what, value, where, what to do; `verdict` is a yes or no with its evidence;
                   `locks` is the lock of what threads share; `meanings`, kinds with a sentence about each
`door`             the one way up, for values that answer or show themselves (`display`)
`guesses`          what a name that does not exist was meant to be; `arguments`, what an argument of another kind was
`kernels`          the inner loops in C, and the modules that check their arguments
`unicode`          character classes and normalization forms, as each library has them
`patterns`         regular expressions and word lists as automata over classes and bytes
`automata`         token automata: the fold (Algorithm 2), the compact token DFA, the algebra, locality
`transducers`      from words to tokenizations: twinning, determinization, one pass
`splitting`        pre-tokenizers as finite machines
`encoding`         from text to ids: which engine when, streams, batches
`tokenizers`       real tokenizers and the formats of their files; ids back to text
`wordpiece`        longest match first, in linear time; `unigram`, the pieces with the best sum of scores
`stores`           token stores on disk: every format, one interface
`validation`       is a stream canonical, and if not, where, why, and what belongs there
`searching`        patterns over the text of ids; `replacing` what matches; `guiding`, which ids can come next
`comparison`       do two tokenizers agree on every text; `certificates`, the proofs, which `check` verifies alone
`shards`           corpora of many files: reports that add up; `identification`, which tokenizer made them
`rollouts`         what of a rollout is a bug, what is drift, and what a junction
`splices`          may two texts be encoded separately; can a text forge a control id; `templates` of chats
`training`         greedy trainers, and the theory of what they optimise
`draw`, `report`   pictures and pages
`integrations`     hooks for frameworks that train, importing them only within functions; `cli`: the commands
=================  ====================================================================================

To see the main job from end to end, read `automata.fold`, then `automata.compact`, then `validation`.

The words are explained in ``notebooks/glossary.md``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokdfa.alphabet import TokenAlphabet as TokenAlphabet
    from tokdfa.automata.compact import CompactTokenDFA as CompactTokenDFA
    from tokdfa.automata.context import context_invariance as context_invariance
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
    from tokdfa.bpe import tokenize_leftmost as tokenize_leftmost
    from tokdfa.bpe import tokenize_rounds as tokenize_rounds
    from tokdfa.bpe import tokenize_single_pass as tokenize_single_pass
    from tokdfa.certificates.api import Certificate as Certificate
    from tokdfa.certificates.api import certify_comparison as certify_comparison
    from tokdfa.certificates.api import certify_splice as certify_splice
    from tokdfa.comparison.api import compare as compare
    from tokdfa.comparison.result import Comparison as Comparison
    from tokdfa.comparison.result import Difference as Difference
    from tokdfa.dictionary import Dictionary as Dictionary
    from tokdfa.dictionary import Rule as Rule
    from tokdfa.draw.film import Film as Film
    from tokdfa.encoding.batches import EncodedDocuments as EncodedDocuments
    from tokdfa.encoding.batches import encode_batch as encode_batch
    from tokdfa.encoding.batches import iter_encoded as iter_encoded
    from tokdfa.errors import TokdfaError as TokdfaError
    from tokdfa.guiding.api import Guide as Guide
    from tokdfa.guiding.api import guide as guide
    from tokdfa.guiding.bans import Ban as Ban
    from tokdfa.guiding.bans import ban as ban
    from tokdfa.guiding.forcing import Forcing as Forcing
    from tokdfa.guiding.forcing import forced as forced
    from tokdfa.guiding.matcher import Matcher as Matcher
    from tokdfa.identification.api import identify as identify
    from tokdfa.replacing.api import Replacer as Replacer
    from tokdfa.replacing.api import replace as replace
    from tokdfa.replacing.result import Change as Change
    from tokdfa.replacing.result import Changes as Changes
    from tokdfa.replacing.result import Replacement as Replacement
    from tokdfa.report.comparison import comparison_report as comparison_report
    from tokdfa.report.validation import validation_report as validation_report
    from tokdfa.rollouts.api import check_rollout as check_rollout
    from tokdfa.rollouts.api import check_rollouts as check_rollouts
    from tokdfa.rollouts.api import iter_rollout_checks as iter_rollout_checks
    from tokdfa.rollouts.prefix import PrefixCheck as PrefixCheck
    from tokdfa.rollouts.prefix import PrefixKind as PrefixKind
    from tokdfa.rollouts.prefix import check_prefix as check_prefix
    from tokdfa.rollouts.result import RolloutCheck as RolloutCheck
    from tokdfa.rollouts.result import RolloutChecks as RolloutChecks
    from tokdfa.rollouts.rollout import Rollout as Rollout
    from tokdfa.rollouts.stretches import Counts as Counts
    from tokdfa.rollouts.stretches import Shares as Shares
    from tokdfa.rollouts.stretches import StretchClass as StretchClass
    from tokdfa.searching.api import Match as Match
    from tokdfa.searching.api import Matches as Matches
    from tokdfa.searching.api import Searcher as Searcher
    from tokdfa.searching.api import search as search
    from tokdfa.shards.check import check_shard as check_shard
    from tokdfa.shards.report import Report as Report
    from tokdfa.splices.api import Splice as Splice
    from tokdfa.splices.api import SplitTexts as SplitTexts
    from tokdfa.splices.api import splice as splice
    from tokdfa.splices.injection import Attack as Attack
    from tokdfa.splices.injection import Injection as Injection
    from tokdfa.splices.injection import check_injection as check_injection
    from tokdfa.splices.parts import Slot as Slot
    from tokdfa.splices.turns import Turns as Turns
    from tokdfa.splices.turns import check_turns as check_turns
    from tokdfa.stores.opening import open_store as open_store
    from tokdfa.templates.api import TemplateCheck as TemplateCheck
    from tokdfa.templates.api import TemplatePrefix as TemplatePrefix
    from tokdfa.templates.api import TemplateSeam as TemplateSeam
    from tokdfa.templates.api import check_template as check_template
    from tokdfa.tokenizers.fingerprint import Fingerprint as Fingerprint
    from tokdfa.tokenizers.fingerprint import fingerprint as fingerprint
    from tokdfa.tokenizers.loading import default_dictionary as default_dictionary
    from tokdfa.tokenizers.loading import default_tokenizer as default_tokenizer
    from tokdfa.tokenizers.loading import load as load
    from tokdfa.tokenizers.pieces import Piece as Piece
    from tokdfa.tokenizers.pieces import Pieces as Pieces
    from tokdfa.tokenizers.pieces import SplitStep as SplitStep
    from tokdfa.tokenizers.protocol import AnyTokenizer as AnyTokenizer
    from tokdfa.tokenizers.tokenizer import Tokenizer as Tokenizer
    from tokdfa.tokenizers.tokenizer import UnigramTokenizer as UnigramTokenizer
    from tokdfa.tokenizers.tokenizer import WordPieceTokenizer as WordPieceTokenizer
    from tokdfa.training.api import train as train
    from tokdfa.training.greedy import train_greedy as train_greedy
    from tokdfa.transducers.determinize import determinize as determinize
    from tokdfa.transducers.subsequential import SubsequentialTransducer as SubsequentialTransducer
    from tokdfa.transducers.transducer import Transducer as Transducer
    from tokdfa.validation.api import validate as validate
    from tokdfa.validation.kind import ViolationKind as ViolationKind
    from tokdfa.validation.result import Validation as Validation
    from tokdfa.validation.validator import Validator as Validator
    from tokdfa.validation.violation import Violation as Violation
    from tokdfa.verdict import Verdict as Verdict
    from tokdfa.wordpiece.maxmatch import LinMaxMatch as LinMaxMatch
    from tokdfa.wordpiece.maxmatch import max_match as max_match
    from tokdfa.wordpiece.vocabulary import WordPieceVocabulary as WordPieceVocabulary

__version__ = "0.1.0"

# Module -> the public names that it has. Imported on first use, so that `import tokdfa` stays light.
_NAMES = {
    "tokdfa.alphabet": "TokenAlphabet",
    "tokdfa.automata.compact": "CompactTokenDFA",
    "tokdfa.automata.context": "context_invariance",
    "tokdfa.automata.fold": "apply_merge iter_token_dfas token_dfa",
    "tokdfa.automata.language": "Language",
    "tokdfa.automata.lift": "lift tokenized_language",
    "tokdfa.automata.locality": "dloc k_locality",
    "tokdfa.automata.look_ahead": "LookAhead look_ahead",
    "tokdfa.automata.regex": "language",
    "tokdfa.automata.token_dfa": "TokenDFA",
    "tokdfa.bpe": "tokenize_leftmost tokenize_rounds tokenize_single_pass",
    "tokdfa.certificates.api": "Certificate certify_comparison certify_splice",
    "tokdfa.comparison.api": "compare",
    "tokdfa.comparison.result": "Comparison Difference",
    "tokdfa.dictionary": "Dictionary Rule",
    "tokdfa.draw.film": "Film",
    "tokdfa.encoding.batches": "EncodedDocuments encode_batch iter_encoded",
    "tokdfa.errors": "TokdfaError",
    "tokdfa.guiding.api": "Guide guide",
    "tokdfa.guiding.bans": "Ban ban",
    "tokdfa.guiding.forcing": "Forcing forced",
    "tokdfa.guiding.matcher": "Matcher",
    "tokdfa.identification.api": "identify",
    "tokdfa.replacing.api": "Replacer replace",
    "tokdfa.replacing.result": "Change Changes Replacement",
    "tokdfa.report.comparison": "comparison_report",
    "tokdfa.report.validation": "validation_report",
    "tokdfa.rollouts.api": "check_rollout check_rollouts iter_rollout_checks",
    "tokdfa.rollouts.prefix": "PrefixCheck PrefixKind check_prefix",
    "tokdfa.rollouts.result": "RolloutCheck RolloutChecks",
    "tokdfa.rollouts.rollout": "Rollout",
    "tokdfa.rollouts.stretches": "Counts Shares StretchClass",
    "tokdfa.searching.api": "Match Matches Searcher search",
    "tokdfa.shards.check": "check_shard",
    "tokdfa.shards.report": "Report",
    "tokdfa.splices.api": "Splice SplitTexts splice",
    "tokdfa.splices.injection": "Attack Injection check_injection",
    "tokdfa.splices.parts": "Slot",
    "tokdfa.splices.turns": "Turns check_turns",
    "tokdfa.stores.opening": "open_store",
    "tokdfa.templates.api": "TemplateCheck TemplatePrefix TemplateSeam check_template",
    "tokdfa.tokenizers.fingerprint": "Fingerprint fingerprint",
    "tokdfa.tokenizers.loading": "default_dictionary default_tokenizer load",
    "tokdfa.tokenizers.pieces": "Piece Pieces SplitStep",
    "tokdfa.tokenizers.protocol": "AnyTokenizer",
    "tokdfa.tokenizers.tokenizer": "Tokenizer UnigramTokenizer WordPieceTokenizer",
    "tokdfa.training.api": "train",
    "tokdfa.training.greedy": "train_greedy",
    "tokdfa.transducers.determinize": "determinize",
    "tokdfa.transducers.subsequential": "SubsequentialTransducer",
    "tokdfa.transducers.transducer": "Transducer",
    "tokdfa.validation.api": "validate",
    "tokdfa.validation.kind": "ViolationKind",
    "tokdfa.validation.result": "Validation",
    "tokdfa.validation.validator": "Validator",
    "tokdfa.validation.violation": "Violation",
    "tokdfa.verdict": "Verdict",
    "tokdfa.wordpiece.maxmatch": "LinMaxMatch max_match",
    "tokdfa.wordpiece.vocabulary": "WordPieceVocabulary",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        if name.startswith("_"):
            raise AttributeError(f"module 'tokdfa' has no attribute {name!r}")
        from tokdfa.guesses import UnknownNameError

        raise UnknownNameError(sys.modules[__name__], name)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
