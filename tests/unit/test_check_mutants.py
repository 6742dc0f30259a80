"""Every check of the checker is needed: each is left out in turn, and something wrong is accepted.

A check is a call of `need`, `need_fields`, `Parser.require` or `only`, or a statement that raises. `NEEDED` has inputs
that one check alone rejects: without it, they are accepted. The inputs of `IMPLIED` are not accepted without their
checks either, as the next step fails; these checks are there for a clear answer.
"""

from __future__ import annotations

import ast
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from tests.campaigns.evidence.tally import Tally
from tests.support.checking import SOURCE, TABLES, load_checker
from tests.support.forging import Attempt, Forge, add_special, look_up_pieces, swap_ids, turn_merges, word

CHECKER = load_checker()
TREE = ast.parse(SOURCE.read_text("utf-8"))
# The message is raised here; each call is a check.
MEANS = ("need", "Parser.require")


def text_of(node: ast.expr) -> str:
    """Return a message, with {} for each value to fill in."""
    if isinstance(node, ast.JoinedStr):
        return "".join("{}" if isinstance(part, ast.FormattedValue) else text_of(part) for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def found_in(node: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield the checks, each with a name: its function and its message."""
    for child in ast.iter_child_nodes(node):
        name = inside
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{inside}.{child.name}".removeprefix(".")
        elif isinstance(child, ast.Raise) and isinstance(child.exc, ast.Call) and inside not in MEANS:
            yield f"{inside}: {text_of(child.exc.args[0])}", child
        elif isinstance(child, ast.Call):
            called = ast.unparse(child.func)
            if called in ("need", "self.require"):
                yield f"{inside}: {text_of(child.args[-1])}", child
            elif called in ("need_fields", "only"):
                yield f"{inside}: {called} {text_of(child.args[1 if called == 'need_fields' else 0])}", child
        yield from found_in(child, name)


CHECKS = dict(found_in(TREE))


def place_of(node: ast.AST) -> tuple[int, int, int, int, type] | None:
    """Return the lines and columns of a node, and its class; None if it has no place of its own."""
    if not isinstance(node, ast.expr | ast.stmt):
        return None
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset, type(node)


def without(name: str) -> ModuleType:
    """Return the checker without a check; its arguments are still evaluated."""
    check = place_of(CHECKS[name])
    assert check is not None

    class Leave(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            place = place_of(node)
            if place != check:
                return self.generic_visit(node) if place is None or place[0] <= check[0] <= place[1] else node
            if isinstance(node, ast.Raise):
                return ast.copy_location(ast.Pass(), node)
            assert isinstance(node, ast.Call)
            return ast.copy_location(ast.Tuple([*node.args], ast.Load()), node)

    module = ModuleType("mutant")
    module.__file__ = str(SOURCE)
    tree = Leave().visit(ast.parse(SOURCE.read_text("utf-8")))
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), module.__dict__)
    return module


def status(checker: ModuleType, attempt: Attempt) -> tuple[int, list[int]]:
    """Return the exit status that the checker would have, and the lines of the checker where it failed."""
    try:
        attempt(checker)
    except Exception as error:
        lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__)]
        return 1 if isinstance(error, checker.Invalid) else 2, lines
    return 0, []


Make = Callable[[Forge], Attempt]


def json_with(*path: Any) -> Make:
    """Put a value into both files of a comparison."""
    *steps, key, value = path

    def change(part: Any) -> None:
        for step in steps:
            part = part[step]
        part[key] = value

    return lambda forge: forge.of_json.rewritten(change)


def split_with(at: int, **fields: Any) -> Make:
    return lambda forge: forge.with_split.rewritten(
        lambda content: content["pre_tokenizer"]["pretokenizers"][at].update(fields)
    )


def pattern(text: str, dialect: str | None = None) -> Make:
    return lambda forge: forge.pattern(text, dialect)


def few_places(forge: Forge) -> Attempt:
    def attempt(checker: ModuleType) -> object:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checker, "check_machine", partial(checker.check_machine, most=1))
            return forge.of_ranks(checker)

    return attempt


NEEDED: dict[str, Make] = {
    "need_fields: its fields are not {}": lambda f: f.of_ranks.put("more", 1),
    # Tables and patterns
    "Tables.__init__: the dialect and the character classes of {} are not known here": lambda f: f.patterned(
        r"[\s\S]+"
    ).changed(lambda certificate: [side.update(library="./tiktoken") for side in certificate["sides"]]),
    "Tables.named: the character class {} is not read here": lambda _: (
        lambda checker: checker.Tables(TABLES, "tokenizers").named("Foo")
    ),
    "Tables.ignoring_case: (?i:{}) is not read here": lambda _: (
        lambda checker: checker.Tables(TABLES, "tokenizers").ignoring_case("é")
    ),
    "Parser.__init__: a closing parenthesis": pattern("a)b"),
    "Parser.atom: classes": pattern("(?i:s)"),
    "Parser.atom: a group that is not closed": pattern("(a"),
    "Parser.atom: a look-ahead at more than a symbol": pattern("(?=ab)"),
    "Parser.atom: a bracket expression": pattern("[&a]"),
    "Parser.atom: a range": pattern("[ab-a]"),
    "Parser.atom: an empty class": pattern("[]"),
    "Parser.atom: an operator; or an anchor, the end of a line in Oniguruma": pattern("*a"),
    "Parser.symbol: a class": pattern(r"\p{L}"),
    "Parser.repeated: a possessive repetition of more than a symbol, or of an interval": pattern("a{2}+", "tokenizers"),
    "Parser.repeated: a repetition of nothing": pattern("(?:a?)*"),
    "Parser.repeated: the bounds of an interval": pattern("a{2,1}"),
    "Parser.repeated: a second quantifier": pattern("a**"),
    "Program.pieces: the pattern matches nothing where {} begins": lambda _: (
        lambda checker: next(checker.Program("a", None).pieces("b"))
    ),
    # Files
    "only: the field {} of tokenizer.json is not read here": json_with("more", 1),
    "only: tokenizer.json has {}: {}, which is not read here": json_with("model", "dropout", 0.5),
    "Tokenizer.__init__: need_fields format files pattern library tables whole_pieces specials": lambda f: (
        f.of_ranks.put("sides", 0, "more", 1)
    ),
    "Tokenizer.__init__: those here are other ones": lambda f: f.of_ranks.put("sides", 0, "tables", {"version": "1"}),
    "Tokenizer.__init__: {}: two tokens have one id, an id is no number, or a byte of UTF-8 has none": lambda f: (
        f.of_ranks.rewritten(lambda lines: lines.append(word(b"zzzz", 256)))
    ),
    "Tokenizer.__init__: the special token {} is empty, or may overlap with itself or another one": lambda f: (
        f.of_json.rewritten(add_special("<e><"))
    ),
    "Tokenizer.read: need_fields names": lambda f: f.of_ranks.put("sides", 0, "files", "more", 1),
    "Tokenizer.read: {} has the SHA-256 {}": lambda f: f.of_ranks.put("sides", 0, "files", "ranks", "0" * 64),
    "Tokenizer.compare: the file says {}": lambda f: f.of_ranks.put("sides", 0, "whole_pieces", False),
    "Tokenizer.read_ranks: {}: a token is repeated or without rank: {}": lambda f: f.of_ranks.rewritten(
        lambda lines: lines.extend([word(b"zzzz", 900), word(b"zzzz", 901)])
    ),
    "Tokenizer.read_json: only content": json_with("normalizer", {"type": "NFC"}),
    "Tokenizer.read_json: only model": json_with("model", "byte_fallback", True),
    "Tokenizer.read_json: only token": lambda f: f.of_json.rewritten(add_special("<e>", lstrip=True)),
    "Tokenizer.read_json: {}: the library gives an added token another id: {}": lambda f: f.of_json.rewritten(
        add_special("<e>", id=999)
    ),
    "Tokenizer.read_json: only last": json_with("pre_tokenizer", "add_prefix_space", True),
    "Tokenizer.read_json: {}: the pre-tokenizer splits more than once, or adds a space": split_with(1, use_regex=True),
    "Tokenizer.read_json: only split": split_with(0, behavior="Removed"),
    "Tokenizer.add: merge {} needs a token that is not in the vocabulary: {}": lambda f: f.of_json.rewritten(
        lambda content: content["model"]["merges"].append("zz zz")
    ),
    # Merging
    "check_merging: {} makes other tokens": lambda f: f.of_ranks.changed(
        lambda certificate: certificate["merging"].pop()
    ),
    "check_merging: {} makes {} before its part {}": lambda f: f.of_two_rules.rewritten(turn_merges(0, 1), (1,)),
    "check_merging: {} makes {} before another token with the part {}": lambda f: f.of_json.rewritten(
        turn_merges(1, 2), (1,)
    ),
    "check_ids: {} has two": lambda f: f.of_json.rewritten(swap_ids, (1,)),
    "check_ids: the piece {} has two": lambda f: look_up_pieces(f.of_json),
    # Splitting
    "check_splitting: need_fields classes machines states doomed": lambda f: f.of_ranks.put("splitting", "more", 1),
    "Classes.__init__: no ranges that ascend from 0": lambda f: f.of_ranks.put(
        "splitting", "classes", [[0, 0], [0, 0]]
    ),
    "Classes.__init__: a class is empty": Forge.class_of_nothing,
    "Machine.__init__: need_fields next report": lambda f: f.of_ranks.put("splitting", "machines", 0, "more", 1),
    "Machine.__init__: a row is none of a table": lambda f: f.of_ranks.changed(
        lambda certificate: certificate["splitting"]["machines"][0]["next"][0].append(0)
    ),
    "check_machine: the pattern reports {}, not {}": lambda f: f.patterned("[^a]|a", (0,)),
    "check_machine: an empty match": Forge.empty_matches,
    "check_machine: no match": Forge.no_piece,
    "check_machine: the pattern has too many states": few_places,
    "check_machine: no text leads to some state": lambda f: f.of_ranks.changed(
        lambda certificate: [
            certificate["splitting"]["machines"][0][name].append(row)
            for name, row in (("next", [0]), ("report", [0, 0]))
        ]
    ),
    "check_states: a state is repeated": lambda f: f.of_ranks.changed(
        lambda certificate: certificate["splitting"]["states"].append(certificate["splitting"]["states"][0])
    ),
    "check_states: a start is missing": lambda f: f.of_ranks.put("splitting", "states", []).put(
        "splitting", "doomed", []
    ),
    "check_states: a text may end here": Forge.doomed,
    "check_states: a successor is no state, or not doomed": lambda f: f.of_ranks.changed(
        lambda certificate: certificate["splitting"]["states"].pop()
    ),
    "check_disputes: pieces differ, and some tokens are made by no rule": lambda f: f.disputed(b"xyz"),
    "check_disputes: {} may be made, from {}, where only one of two cuts": lambda f: f.disputed(b"\n ", ["0a20", 1]),
    # Seams
    "seam_sets: no sequence of symbols and classes": lambda f: f.unsafe.put("seam", "before", "x|y"),
    "is_at_special: the special token {} may be across it": Forge.special_across,
    "check_seam: need_fields before after": lambda f: f.unsafe.put("seam", "more", 1),
    "check_seam: with a special token at the seam there is none": lambda f: f.special_beside().put("splitting", {}),
    "check_seam: it is there if pieces may cross the seam, and only then": lambda f: f.cut.put("merging", []),
    "check_seam: need_fields before after ids_before ids_after ids": lambda f: f.unsafe.put("witness", "more", 1),
    "check_seam: the texts do not end and begin as it says": lambda f: f.unsafe.put("seam", "before", "x"),
    "check_seam: the tokenizer gives {}": lambda f: f.unsafe.put("witness", "ids", [0]),
    "check_seam: the ids are the same": Forge.no_difference_at_a_seam,
    # The certificate
    "check: need_fields certificate made_by claim ids sides {}": lambda f: f.of_ranks.put("more", 1),
    "check: not version 1": lambda f: f.of_ranks.put("certificate", 2),
    "check: compared or ignored": lambda f: f.safe.put("ids", "ignored"),
    "check_pair: need_fields text ids_a ids_b": lambda f: f.different.put("witness", "more", 1),
    "check_pair: {} gives {}": lambda f: f.different.put("witness", "ids_a", [0]),
    "check_pair: both give the same": Forge.no_difference,
    "check_pair: the special tokens differ": lambda f: f.of_json.rewritten(add_special("<e>"), (1,)),
}
IMPLIED: dict[str, Make] = {
    # The next line reads the match that there is not.
    "Parser.symbol: an escape": pattern(r"\q"),
    # `zip` is strict.
    "check_splitting: another number of machines": lambda f: f.of_ranks.changed(
        lambda certificate: certificate["splitting"]["machines"].pop()
    ),
    # The fields of a claim that there is not are looked up.
    "check: it is none of {}": lambda f: f.of_ranks.put("claim", "proven"),
    # The sides are zipped strictly with the files, and taken apart into one or two.
    "check: the certificate is about {} tokenizers": lambda f: f.of_ranks._replace(files=f.of_ranks.files[:1]),
}


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return Forge(tmp_path_factory.mktemp("forged"))


def test_each_check_has_an_entry() -> None:
    assert len(CHECKS) == sum(1 for _ in found_in(TREE)), "two checks have one name"
    assert CHECKS.keys() == NEEDED.keys() | IMPLIED.keys()
    assert not NEEDED.keys() & IMPLIED.keys()


def test_what_is_forged_is_valid_before(forge: Forge) -> None:
    for subject in (forge.of_ranks, forge.of_json, forge.with_split, forge.different, forge.safe, forge.cut):
        assert status(CHECKER, subject)[0] == 0
    assert status(CHECKER, forge.unsafe)[0] == status(CHECKER, forge.special_beside())[0] == 0


@pytest.mark.parametrize("name", [*NEEDED, *IMPLIED])
def test_each_check_is_needed(name: str, forge: Forge, tally: Tally) -> None:
    attempt, check = (NEEDED | IMPLIED)[name](forge), CHECKS[name]
    rejected, lines = status(CHECKER, attempt)
    assert rejected
    assert any(check.lineno <= line <= (check.end_lineno or 0) for line in lines), "another check rejects it"
    assert bool(status(without(name), attempt)[0]) == (name in IMPLIED)
    tally("tests", "faults planted", 1)
