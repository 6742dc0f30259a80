"""Answers to names that do not exist: what the name that was meant is called here.

Users of other libraries write ``tokenizer.vocab_size`` or ``tokdfa.from_pretrained``. One thing has one name, so these
are errors; but the error says which name it is, from the table of guesses, or gives the nearest one that exists.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["GUESSES", "Guided", "UnknownNameError", "iter_submodules", "names_beside", "nearest"]

_MOST_NEIGHBOURS = 1000


def _table(answers: Mapping[str, str]) -> dict[str, str]:
    """Return the answer for each of the names that are written before it, separated by spaces."""
    return {name: answer for names, answer in answers.items() for name in names.split()}


_LEARN = "tokdfa.train(sources, merges) trains a dictionary, and its save(path) writes it"

# By the name of a class, or of the package: the names that are guessed, and what is meant.
GUESSES: dict[str, dict[str, str]] = {
    "tokdfa": _table(
        {
            "load_tokenizer from_file from_pretrained get_encoding encoding_for_model open read AutoTokenizer": (
                "use tokdfa.load(path)"
            ),
            "encode tokenize": "use tokdfa.load(path).encode(text)",
            "decode detokenize": "use tokdfa.load(path).decode(ids)",
            "check verify is_canonical is_valid is_valid_tokenization": "use tokdfa.validate(tokenizer, ids)",
            "violations iter_violations all_violations validate_all find_violations": (
                "use tokdfa.validate(tokenizer, ids, all=True).violations"
            ),
            "find grep findall finditer match": "use tokdfa.search(tokenizer, pattern, ids)",
            "sub subn substitute redact": "use tokdfa.replace(tokenizer, pattern, replacement, ids)",
            "equal equals equivalent diff is_equivalent same": "use tokdfa.compare(a, b)",
            "guess guess_tokenizer detect which_tokenizer": "use tokdfa.identify(path, tokenizers)",
            "batch_encode encode_many encode_documents": "use tokdfa.encode_batch(tokenizer, texts)",
            "fold build_dfa dfa automaton Automaton DFA": "use tokdfa.token_dfa(dictionary)",
            "plot to_dot show": "use to_dot() of an automaton, or the command tokdfa draw",
            "BPE": "use tokdfa.Dictionary(rules), or tokdfa.load(path) for the file of a tokenizer",
            "learn learn_bpe fit train_bpe": _LEARN,
            "save write write_dictionary": "use save(path) of a dictionary",
            "mask token_mask logits_mask allowed_mask constrain": (
                "use allowed_mask(state) of tokdfa.TokenDFA.from_automaton(tokdfa.tokenized_language(dictionary, "
                "tokdfa.language(pattern, dictionary)), dictionary.alphabet).trim(), then tokenizer.id_mask of it"
            ),
            "properness is_proper": "use properness() of a dictionary",
            "locality": "use tokdfa.k_locality(dfa, k)",
            "regex compile": "use tokdfa.language(pattern, alphabet), or tokdfa.Searcher(tokenizer, pattern)",
            "Error TokdfaException": "use tokdfa.TokdfaError",
        }
    ),
    "AnyTokenizer": _table(
        {
            "vocab_size n_vocab get_vocab_size get_piece_size n_words size": (
                "use n_ids, one more than the largest id, or n_tokens, which does not count special tokens"
            ),
            "vocab get_vocab convert_ids_to_tokens id_to_piece IdToPiece decode_single_token_bytes": (
                "use name_of(id), or decode_bytes([id])"
            ),
            "tokenize encode_ordinary encode_as_ids EncodeAsIds text_to_ids": "use encode(text)",
            "encode_batch batch_encode encode_ordinary_batch encode_documents": (
                "use tokdfa.encode_batch(tokenizer, texts)"
            ),
            "detokenize decode_ids ids_to_text": "use decode(ids)",
            "decode_batch batch_decode": "use decode(ids) of each",
            "encode_stream iter_encode feed": "use stream()",
            "encode_file tokenize_file": "use encode(text) of what the file holds, or stream() for one read in parts",
            "violations iter_violations all_violations validate_all find_violations": (
                "use validate(ids, all=True).violations"
            ),
            "is_canonical is_valid check verify accepts canonical": "use validate(ids)",
            "canonicalize repair retokenize fix": "use encode(decode(ids)), or canonical_ids of validate(ids)",
            "find grep findall finditer match": "use search(pattern, ids)",
            "compare equals diff equivalent is_equivalent": "use tokdfa.compare(tokenizer, other)",
            "save save_pretrained to_file write dump": (
                "a tokenizer is what its file says: copy the file; its dictionary has save(path)"
            ),
            "from_file from_pretrained load": "use tokdfa.load(path)",
            "train learn": _LEARN,
            "special_tokens all_special_tokens special_tokens_set get_added_vocab": "use specials",
            "all_special_ids eos_token_id bos_token_id pad_token_id eot_token eos_id bos_id": (
                "use special_ids, or specials, which have names"
            ),
            "info describe summary stats": "use facts()",
            "name path": "use format and fingerprint, or keep the path that was loaded",
        }
    ),
    # Most of it only byte pair tokenizers have.
    "Tokenizer": _table(
        {
            "merge_rules rules bpe_ranks mergeable_ranks": "use dictionary",
            "token_dfa automaton": "use dfa",
            "properness is_proper": "use dictionary.properness()",
            "locality k_locality": "use tokdfa.k_locality(tokdfa.token_dfa(tokenizer.dictionary), k)",
            "mask token_mask logits_mask allowed_mask allowed_ids": "use id_mask(allowed)",
        }
    ),
    "Dictionary": _table(
        {
            "vocab vocabulary tokens get_vocab": "use alphabet",
            "vocab_size n_tokens": "use len(dictionary.alphabet)",
            "n_rules size": "use len(dictionary)",
            "rules merges pairs": "the dictionary is the sequence of its rules: use list(dictionary)",
            "is_proper proper check": "use properness()",
            "token_dfa dfa automaton fold": "use tokdfa.token_dfa(dictionary), or tokdfa.CompactTokenDFA(dictionary)",
            "transducer": "use tokdfa.SubsequentialTransducer(dictionary), or Transducer.from_token_dfa(dfa)",
            "tokenize encode": "use tokdfa.tokenize_leftmost(dictionary, word)",
            "write to_file save_pretrained dump": "use save(path)",
            "from_file load": "use tokdfa.load(path).dictionary",
            "from_rules from_merges": "use from_pairs(pairs)",
            "compare equals equivalent": "use tokdfa.compare(dictionary, other)",
            "train": _LEARN,
        }
    ),
    "TokenDFA": _table(
        {
            "states": "use range(n_states)",
            "transitions": "use edges(), or the arrays offsets, tokens and targets",
            "delta transition next": "use step(state, token)",
            "start start_state initial_state q0": "use initial",
            "final_states accepting accepting_states accept_states": "use finals",
            "minimal minimized minimise hopcroft": "use minimize()",
            "equivalent equals is_equivalent compare": "use equivalence(other)",
            "is_isomorphic isomorphic": "use isomorphism(other)",
            "draw show plot view render graphviz to_graphviz": "use to_dot(), or the command tokdfa draw",
            "to_graph graph nx": "use to_networkx()",
            "is_empty count sample members words language enumerate": "use tokdfa.Language(dfa)",
            "intersection intersect union complement difference": (
                "use tokdfa.automata.boolean, whose functions take any two automata"
            ),
            "mask row": "use allowed_mask(state)",
        }
    ),
    "CompactTokenDFA": _table(
        {
            "n_states states": "use states_built, states_reachable or states_minimal",
            "accepts run": "use step(state, token), or allows(u, v) for a pair",
            "minimize minimal": "use rows, the minimal token DFA",
            "to_dot draw explicit": "use to_token_dfa()",
            "mask row": "use allowed_mask(state)",
            "is_allowed pair": "use allows(u, v)",
        }
    ),
    "Combination": _table(
        {
            "accepts run trim minimize to_dot n_states": (
                "use TokenDFA.from_automaton(automaton, alphabet), which writes it out"
            ),
            "mask row": "use allowed_mask(state)",
        }
    ),
    "Language": _table(
        {
            "is_finite finite": "use finiteness(), or longest",
            "size cardinality": "use count(length)",
            "random choice choices": "use sample(length)",
            "shortest first": "iterate: the shortest members come first",
            "members words enumerate list": "iterate: the shortest members come first",
        }
    ),
    "Validation": _table(
        {
            "all_violations errors": "use violations, of validate(ids, all=True)",
            "first first_violation violation": "use witness",
            "valid is_valid ok canonical is_canonical": "use holds, or bool(verdict)",
            "position place offset token": "use index, the first wrong token, or byte_offset",
            "message text why explanation": "use reason",
            "expected fix repair": "use canonical_ids",
        }
    ),
    "Fingerprint": _table({"hexdigest digest sha256 hash hex": "use value"}),
    "Comparison": _table(
        {
            "equivalent is_equivalent equal same": "use holds, or bool(comparison)",
            "difference counterexample text": "use witness",
            "message why explanation": "use reason",
        }
    ),
    "Identification": _table(
        {
            "winner name guess tokenizer": "use best.name, or candidates",
            "rates scores ranking": "use candidates, each of which has per_million",
        }
    ),
    "Verdict": _table(
        {
            "valid ok value result answer": "use holds, or bool(verdict)",
            "evidence counterexample": "use witness",
            "message why explanation": "use reason",
        }
    ),
    "Transducer": _table(
        {
            "states": "use range(n_states)",
            "transitions": "use edges()",
            "apply transduce translate run": "call it with a word, or use outputs(word) or iter_runs(word)",
            "is_functional functional": "use functionality()",
            "is_subsequential subsequential": "use subsequentiality()",
            "draw show plot graphviz": "use to_dot(), or the command tokdfa draw --transducer",
        }
    ),
    "Searcher": _table({"find findall finditer iter feed": "use search(ids), or iter_matches(chunks)"}),
    "Validator": _table(
        {
            "validate check update push": "use feed(ids), and finish() at the end",
            "close end done": "use finish()",
            "violations": "feed(ids) and finish() yield them",
        }
    ),
}


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that `name` was probably meant to be, or None if none is near."""
    from difflib import get_close_matches

    known = sorted({*names})
    plain = {other.lower().replace("-", "_"): other for other in known}
    found = get_close_matches(name.lower().replace("-", "_"), plain, n=1, cutoff=0.7)
    return plain[found[0]] if found else None


def names_beside(path: Path) -> list[str]:
    """Return the names in the folder of a path, at most a thousand; none if the folder cannot be read."""
    try:
        with os.scandir(path.parent) as entries:
            return [entry.name for entry, _ in zip(entries, range(_MOST_NEIGHBOURS), strict=False)]
    except (OSError, ValueError):
        return []


def iter_submodules(module: ModuleType) -> Iterator[str]:
    """Yield the names of the modules and packages in a package, whether they are imported or not."""
    from pkgutil import iter_modules

    return (found.name for found in iter_modules(module.__path__))


class UnknownNameError(AttributeError):
    """A name that a value or a module does not have. Which one was meant is worked out only when the error is shown.

    Attributes
    ----------
    name : str
    """

    def __init__(self, owner: object, name: str) -> None:
        # Without the attribute `obj`, Python adds no suggestion of its own.
        super().__init__(name=name)
        self._owner = owner

    def __str__(self) -> str:
        owner, name = self._owner, str(self.name)
        if isinstance(owner, ModuleType):
            if name in iter_submodules(owner) and name not in GUESSES.get(owner.__name__, ()):
                return f"{owner.__name__}.{name} is not imported yet (use import {owner.__name__}.{name})"
            what, kinds = f"module '{owner.__name__}'", [owner.__name__]
        else:
            what, kinds = f"'{type(owner).__name__}' object", [kind.__name__ for kind in type(owner).__mro__]
        advice = next((GUESSES[kind][name] for kind in kinds if name in GUESSES.get(kind, ())), None)
        if advice is None:
            near = nearest(name, (known for known in dir(owner) if not known.startswith("_")))
            advice = None if near is None else f"did you mean {near}?"
        return f"{what} has no attribute {name!r}" + (f" ({advice})" if advice else "")

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


class Guided:
    """Something whose names may be guessed: the error about a name that it does not have says what was meant."""

    __slots__ = ()

    # Hidden from type checkers, for which every name would exist.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Python comes here after a property has failed, too; then that error is the one to show.
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)
            raise UnknownNameError(self, name)
