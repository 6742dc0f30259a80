"""Names that users guess are answered with the right one, and nothing else changes for the values."""

from __future__ import annotations

import copy
import enum
import inspect
import pickle
import re
import subprocess
import sys
from typing import Any

import pytest

import tokdfa
import tokdfa.automata.boolean
from tokdfa.automata.boolean import Combination, intersection
from tokdfa.automata.protocol import ListedAutomaton, MaskedAutomaton
from tokdfa.base.suggestions import SuggestsNames, UnknownNameError, nearest, suggestions
from tokdfa.jobs.identification.result import Candidate, Identification

TOY = tokdfa.Dictionary([("a", "a"), ("b", "a")], alphabet="ab")
DFA = tokdfa.token_dfa(TOY)
TOKENIZER = tokdfa.default_tokenizer()
WORDPIECE = tokdfa.WordPieceVocabulary(["[UNK]", "a"])


# A value of each public class, and one of each class that the table of suggestions names.
VALUES: dict[str, Any] = {
    "AnyTokenizer": TOKENIZER,
    "Tokenizer": TOKENIZER,
    "TokenAlphabet": TOY.alphabet,
    "Dictionary": TOY,
    "TokenDFA": DFA,
    "CompactTokenDFA": tokdfa.CompactTokenDFA(TOY),
    "Combination": intersection(DFA, DFA),
    "Language": tokdfa.Language(DFA),
    "Guide": TOKENIZER.guide("a|b"),
    "Covers": tokdfa.covers(TOKENIZER, "a"),
    "Encoding": TOKENIZER.encoding("a single man"),
    "Forcing": tokdfa.forced(TOKENIZER, "a"),
    "Matcher": tokdfa.Matcher(TOKENIZER.guide("a|b")),
    "Verdict": TOY.properness(),
    "Validation": TOKENIZER.validate([64, 261, 1193]),
    "Violation": TOKENIZER.validate([64, 261, 1193]).witness,
    "Comparison": tokdfa.compare(TOY, TOY),
    "Fingerprint": tokdfa.fingerprint(TOKENIZER),
    "Transducer": tokdfa.Transducer.from_token_dfa(DFA),
    "SubsequentialTransducer": tokdfa.SubsequentialTransducer(TOY),
    "Searcher": tokdfa.Searcher(TOKENIZER, "a"),
    "Validator": tokdfa.Validator(TOKENIZER),
    "Matches": TOKENIZER.search("a", [64]),
    "Replacer": tokdfa.Replacer(TOKENIZER, "a", "b"),
    "Replacement": tokdfa.replace(TOKENIZER, "a", "b", [64]),
    "Changes": tokdfa.replace(TOKENIZER, "a", "b", [64]).changes,
    "Film": tokdfa.Film(TOY),
    "WordPieceVocabulary": WORDPIECE,
    "LinMaxMatch": tokdfa.LinMaxMatch(WORDPIECE),
    "RolloutCheck": tokdfa.check_rollout(TOKENIZER, [64, 261, 1193], [False, True, True]),
    "ByteCheck": tokdfa.check_bytes(TOKENIZER, "decoded"),
    "MergeCheck": tokdfa.check_merges([("b", "a")], {"ab": 1}),
    "WrongMerge": tokdfa.check_merges([("b", "a")], {"ab": 1}).witness,
    "Miscount": tokdfa.check_bytes(TOKENIZER, "decoded").witness,
    "Alignment": tokdfa.align(TOKENIZER, [64, 2513], TOKENIZER, [64, 261, 1193]),
    "LongUnit": tokdfa.longest_unit(TOKENIZER, TOKENIZER).witness,
    "UnitLength": tokdfa.longest_unit(TOKENIZER, TOKENIZER),
    "Bounds": tokdfa.bounds(TOKENIZER, language="a"),
    "Extremes": tokdfa.bounds(TOKENIZER, language="a").bytes,
    "Extreme": tokdfa.bounds(TOKENIZER, language="a").bytes.most,
    "PrefixCheck": tokdfa.check_prefix(TOKENIZER, [64, 261, 1193], [64, 2513]),
    "Pieces": TOKENIZER.split("a b"),
    "Piece": TOKENIZER.split("a b")[0],
    "SplitStep": TOKENIZER.split("a b").steps[0],
    "LookAhead": tokdfa.look_ahead(tokdfa.Dictionary([("a", "a")])),
    "RuleOrder": tokdfa.RuleOrder(tokdfa.Dictionary([("a", "a")])),
    "Ban": tokdfa.ban(TOKENIZER, ["a"]),
    "Certificate": tokdfa.Certificate({"claim": "equivalent"}),
    "Splice": tokdfa.splice(TOKENIZER, before="a", after="s"),
    "SplitTexts": tokdfa.splice(TOKENIZER, before="a", after="s").witness,
    "Slot": tokdfa.Slot("a"),
    "StreamDecoder": tokdfa.StreamDecoder(TOKENIZER),
    "Audit": tokdfa.audit(TOKENIZER, "text-prefix"),
    "WrongIds": tokdfa.audit(TOKENIZER, "text-prefix").witness,
    "Turns": tokdfa.check_turns(TOKENIZER, "a{x}", "s"),
    "Injection": tokdfa.check_injection(TOKENIZER, "{x}"),
    "Attack": tokdfa.Attack(("a",), "a", (64,), (64,), ("a",)),
    "TemplateCheck": tokdfa.TemplateCheck((), {"any text": None}, ("user",), ()),
    "TemplatePrefix": tokdfa.TemplatePrefix("prompt", "user assistant", "kept"),
    "TemplateSeam": tokdfa.TemplateSeam("user", "user 1", "before", "safe"),
    "Report": tokdfa.Report(),
    "Conversion": tokdfa.Conversion(
        True, None, "tiktoken", found=tokdfa.compare(TOKENIZER, TOKENIZER), tokenizer=TOKENIZER
    ),
    "Examination": tokdfa.Examination(()),
    "Finding": tokdfa.Finding("ids", "size fits", "ok", ("config.json",), {"size": 320, "ids": 300}),
    "MaskFinding": tokdfa.check_masks(
        TOKENIZER,
        [tokdfa.Rollout(TOKENIZER.encode("<user>Hi</user><assistant>Yes</assistant>"))],
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}",
    )[0],
    "Candidate": Candidate("x"),
    "Identification": Identification("x", "", None, True, 0, True, (), (Candidate("x"),)),
    "RolloutChecks": tokdfa.check_rollouts(TOKENIZER, [[64, 261, 1193]], [[False, True, True]]),
}
PAIRS = [(kind, name) for kind, names in suggestions().items() for name in names]


def test_every_public_class_answers_suggestions() -> None:
    classes = [value for name in tokdfa.__all__ if inspect.isclass(value := getattr(tokdfa, name))]
    guided = {kind for kind in classes if not issubclass(kind, (tuple, enum.Enum, BaseException))}
    assert len(guided) > 15
    assert {kind.__name__ for kind in guided if not issubclass(kind, SuggestsNames)} == set()
    assert {kind.__name__ for kind in guided} - {"WordPieceTokenizer", "UnigramTokenizer"} <= set(VALUES)
    assert set(suggestions()) - {"tokdfa"} <= set(VALUES)


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_a_guess_is_answered_with_what_exists(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = tokdfa if kind == "tokdfa" else VALUES[kind]
    if kind == "tokdfa" and name in ("check", "regex"):
        # A module, which is there once something has imported it.
        monkeypatch.delattr(tokdfa, name, raising=False)
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert suggestions()[kind][name] in str(caught.value)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("answer", sorted({answer for names in suggestions().values() for answer in names.values()}))
def test_the_names_in_an_answer_exist(answer: str) -> None:
    kinds = [kind for kind, names in suggestions().items() if answer in names.values()]
    for name in re.findall(r"tokdfa\.([\w.]+)", answer):
        value: Any = tokdfa
        for part in name.split("."):
            value = getattr(value, part)
    # The word after "use" or "or" is a name of the value, unless it is a builtin or an ordinary word.
    for name in re.findall(r"(?<![\w.])(?:use |or )(\w+)(?!\w*\.)", answer):
        if name in ("tokdfa", "the", "keep", "list", "range", "len", "bool", "str", "canonical_ids", "it", "use"):
            continue
        for kind in kinds:
            owner = tokdfa if kind == "tokdfa" else VALUES[kind]
            meant = [owner, TOY, DFA, TOKENIZER] if kind == "tokdfa" else [owner]
            assert any(hasattr(value, name) for value in meant), (kind, name)


@pytest.mark.parametrize(
    ("owner", "name", "message"),
    [
        (TOKENIZER, "encod", "'Tokenizer' object has no attribute 'encod' (did you mean encode?)"),
        (TOKENIZER, "nIds", "'Tokenizer' object has no attribute 'nIds' (did you mean n_ids?)"),
        (TOKENIZER, "xyzzy", "'Tokenizer' object has no attribute 'xyzzy'"),
        (DFA, "Accepts", "'TokenDFA' object has no attribute 'Accepts' (did you mean accepts?)"),
        (tokdfa, "Tokeniser", "module 'tokdfa' has no attribute 'Tokeniser' (did you mean Tokenizer?)"),
        (tokdfa, "xyzzy", "module 'tokdfa' has no attribute 'xyzzy'"),
        (tokdfa, "validate_", "module 'tokdfa' has no attribute 'validate_' (did you mean validate?)"),
    ],
)
def test_near_names_are_proposed(owner: object, name: str, message: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert str(caught.value) == message


def test_modules_that_are_not_imported_are_named() -> None:
    program = "import tokdfa; tokdfa.automata.boolean.intersection"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("tokdfa.automata is not imported yet (use import tokdfa.automata)\n")


def test_private_names_get_the_plain_error() -> None:
    for owner in (TOKENIZER, tokdfa, TOY.properness()):
        with pytest.raises(AttributeError) as caught:
            owner._encode  # type: ignore[union-attr]  # noqa: B018
        assert not isinstance(caught.value, UnknownNameError)


def test_names_that_do_not_exist_are_absent() -> None:
    for value in VALUES.values():
        assert not hasattr(value, "no_such_name")
        assert getattr(value, "no_such_name", 5) == 5
    assert not isinstance(TOKENIZER, MaskedAutomaton)
    assert isinstance(VALUES["Combination"], MaskedAutomaton)
    assert not isinstance(VALUES["Combination"], ListedAutomaton)
    assert type(VALUES["Combination"]) is Combination


@pytest.mark.parametrize("kind", ["Tokenizer", "Dictionary", "TokenDFA", "TokenAlphabet", "Verdict", "Validation"])
def test_values_are_copied_and_pickled(kind: str) -> None:
    value = VALUES[kind]
    for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert type(twin) is type(value)
        if kind != "Tokenizer":
            assert twin == value
        with pytest.raises(AttributeError):
            twin.no_such_name  # noqa: B018


class Failing(SuggestsNames):
    @property
    def broken(self) -> int:
        raise AttributeError("from inside")


def test_an_error_inside_a_property_is_not_hidden() -> None:
    with pytest.raises(AttributeError, match=r"^from inside$"):
        Failing().broken  # noqa: B018


def test_the_error_is_pickled_as_its_message() -> None:
    with pytest.raises(AttributeError) as caught:
        TOKENIZER.vocab_size  # type: ignore[attr-defined]  # noqa: B018
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert caught.value.name == "vocab_size"


def test_python_adds_no_second_suggestion() -> None:
    program = "import tokdfa; tokdfa.default_tokenizer().encod"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("'Tokenizer' object has no attribute 'encod' (did you mean encode?)")


def test_nearest_is_the_name_that_was_meant() -> None:
    assert nearest("valdiate", ["validate", "compare"]) == "validate"
    assert nearest("CL100K-base", ["cl100k_base", "o200k_base"]) == "cl100k_base"
    assert nearest("xyzzy", ["validate", "compare"]) is None
    assert nearest("x", []) is None
