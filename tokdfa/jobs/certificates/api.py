"""The certificates of comparisons and of seams."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, cast

from tokdfa import check
from tokdfa.automata.texts import literal
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.certificates import runs
from tokdfa.jobs.comparison.derived import derived_merges
from tokdfa.jobs.comparison.parts import as_text
from tokdfa.jobs.comparison.result import Comparison, Outcome, Part
from tokdfa.jobs.splices.question import Splice
from tokdfa.regex.syntax import Concat, Node, Repeat, Symbols, parse
from tokdfa.regex.unicode import SURROGATES, Ranges, contains, difference, version
from tokdfa.regex.unicode.versions import data_file
from tokdfa.tokenizers.encoding.special import odd_ones
from tokdfa.tokenizers.formats.reading import find
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.tokenizers.twins import SpecialsPolicy, with_specials

__all__ = ["Certificate", "certify_comparison", "certify_splice"]


VERSION = 1

# Letters with a meaning in a pattern, or in brackets, that the checker reads after a backslash.
_SPECIAL = frozenset(r"\.[](){}*+?^$|-&~#")


@dataclass(frozen=True, slots=True)
class Certificate(Displayed):
    r"""Why two tokenizers are equivalent or different, or why a seam is safe or not.

    Attributes
    ----------
    fields : dict
        The certificate as JSON values. The guide "Certificates" describes them.

    Notes
    -----
    The same question about the same files gives the same bytes.

    Examples
    --------
    >>> from tokdfa.jobs.certificates.api import Certificate
    >>> Certificate({"claim": "equivalent"}).text
    '{"claim":"equivalent"}\n'
    """

    fields: dict[str, Any]

    @property
    def claim(self) -> str:
        """Its claim: "equivalent", "different", "splices" or "does not splice"."""
        return str(self.fields["claim"])

    @property
    def text(self) -> str:
        """The content of the file."""
        return json.dumps(self.fields, ensure_ascii=True, separators=(",", ":")) + "\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate to a file.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        from tokdfa.base.atomic import write_atomically

        write_atomically(Path(path), self.text.encode("ascii"))


def certify_comparison(
    found: Comparison, a: AnyTokenizer, b: AnyTokenizer, *, files: tuple[str | PathLike[str], str | PathLike[str]]
) -> Certificate:
    r"""Return a certificate of a comparison, which ``python -m tokdfa.check FILE A B`` checks without tokdfa.

    Parameters
    ----------
    found : Comparison
        The result of :func:`tokdfa.compare` for `a` and `b`.
    a, b : AnyTokenizer
        Two byte pair tokenizers.
    files : two paths
        The files that they were loaded from.

    Returns
    -------
    Certificate
        If they are equivalent, why; if not, the text on which they differ.

    Raises
    ------
    UnsupportedFeatureError
        If certificates about tokenizers of this kind do not exist, or they are equivalent for a reason that a
        certificate cannot give.
    FileFormatError, OSError
        If a file cannot be read.
    LimitExceededError
        If an automaton is too large.

    Notes
    -----
    Certificates are about rank files, ``merges.txt`` with ``vocab.json``, and ``tokenizer.json`` with ByteLevel, alone
    or after one Split. One for a real tokenizer takes 0.5 to 8 s and 1 to 4 MB.

    Examples
    --------
    >>> import base64, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = [Path(folder, name) for name in ("a.tiktoken", "b.tiktoken")]
    ...     for file, word in zip(files, ("YWI=", "YWM=")):
    ...         _ = file.write_text("".join(
    ...             f"{base64.b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256)) + f"{word} 256\n")
    ...     a, b = (tokdfa.load(file, pretokenizer="none") for file in files)
    ...     certificate = tokdfa.certify_comparison(tokdfa.compare(a, b), a, b, files=files)
    >>> certificate.claim, certificate.fields["witness"]
    ('different', {'text': 'ab', 'ids_a': [256], 'ids_b': [97, 98]})
    """
    if found and found.texts is not None:
        what = "a certificate is about all texts, and these were the only ones that were compared"
        raise UnsupportedFeatureError(what, value=found.texts, where="texts", hint="compare all texts")
    ignored = found.checked.get(Part.IDS) is Outcome.IGNORED
    sides = [side_of(a, files[0]), side_of(b, files[1])]
    fields = _head("equivalent" if found else "different", sides, "ignored" if ignored else "compared")
    if not found:
        assert found.witness is not None, "two tokenizers differ"
        text, ids_a, ids_b = found.witness
        if ids_a is None or ids_b is None:
            raise UnsupportedFeatureError("there is no certificate for a text that one of two refuses", value=text)
        return _confirmed({**fields, "witness": {"text": text, "ids_a": [*ids_a], "ids_b": [*ids_b]}}, *files)
    classes, machines = runs.machines_of([side.splitting for side in sides], ())
    states = runs.explore(runs.Pair(*machines))
    derived = [_derived(side) for side in sides]
    runs.check_boundaries(states, classes, derived, _dead(sides, derived))
    parts = {"splitting": _splitting(classes, machines, states), "merging": merging_fields(derived)}
    return _confirmed({**fields, **parts}, *files)


def certify_splice(
    found: Splice,
    tokenizer: AnyTokenizer,
    *,
    file: str | PathLike[str],
    before: str = "",
    after: str = "",
    regex: bool = False,
    specials: SpecialsPolicy | None = None,
    table: str = "regex",
) -> Certificate:
    r"""Return a certificate of a seam, which ``python -m tokdfa.check FILE A`` checks without tokdfa.

    Parameters
    ----------
    found : Splice
        The result of :func:`tokdfa.splice` for the other arguments.
    tokenizer : AnyTokenizer
    file : path
        The file that it was loaded from.
    before, after, regex, specials, table
        See :func:`tokdfa.splice`. Expressions must be symbols and classes one after the other.

    Returns
    -------
    Certificate
        If the texts may be encoded separately, why; if not, two texts.

    Raises
    ------
    UnsupportedFeatureError
        If certificates about tokenizers or expressions of this kind do not exist, or the texts may be encoded
        separately for a reason that a certificate cannot give.
    FileFormatError, OSError
        If the file cannot be read.
    LimitExceededError
        If an automaton is too large.

    Notes
    -----
    There is a certificate if a special token is at the seam, or wherever a piece may continue across the seam, no rule
    can merge there.

    Examples
    --------
    >>> import base64, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "ranks.tiktoken")
    ...     _ = file.write_text("".join(
    ...         f"{base64.b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256)) + "YWI= 256\n")
    ...     tokenizer = tokdfa.load(file, pretokenizer="none")
    ...     found = tokdfa.splice(tokenizer, before="b", after="a")
    ...     certificate = tokdfa.certify_splice(found, tokenizer, file=file, before="b", after="a")
    >>> certificate.claim, certificate.fields["seam"]
    ('splices', {'before': 'b', 'after': 'a'})
    """
    side = side_of(tokenizer, file, specials)
    sets = [
        _sequence(text, regex=regex, table=table, name=name) for name, text in (("before", before), ("after", after))
    ]
    fields = _head("splices" if found else "does not splice", [side], "compared")
    seam = dict(zip(("before", "after"), ("".join(map(_as_class, each)) for each in sets), strict=True))
    if not found:
        pair = found.witness
        assert pair is not None, "the texts are split otherwise"
        witness: dict[str, Any] = {"before": pair.before, "after": pair.after}
        witness |= {"ids_before": [*pair.ids_before], "ids_after": [*pair.ids_after], "ids": [*pair.ids]}
        return _confirmed({**fields, "witness": witness, "seam": seam}, file)
    return _confirmed({**fields, **_seam_parts(side, *sets), "seam": seam}, file)


def _confirmed(fields: dict[str, Any], *files: str | PathLike[str]) -> Certificate:
    """Return a certificate that the checker accepts; raise UnsupportedFeatureError if it does not."""
    certificate = Certificate(fields)
    try:
        check.check(json.loads(certificate.text), [*map(Path, files)], data_file("tokenizers").parent)
    except (check.Invalid, check.Refused) as error:
        raise UnsupportedFeatureError("there is no certificate that the checker accepts", value=str(error)) from None
    return certificate


def _seam_parts(side: Side, before: list[Ranges], after: list[Ranges]) -> dict[str, Any]:
    """Return the parts of the proof that a seam is safe."""
    specials = side.fields["specials"]
    for special in specials:
        for at in range(1, len(special)):
            if _may_begin(special[:at][::-1], before[::-1]) and _may_begin(special[at:], after):
                what = "there is no certificate where a special token may be across the seam"
                raise UnsupportedFeatureError(what, value=special)
    if any(_is_text(before[-len(each) :], each) or _is_text(after[: len(each)], each) for each in specials):
        return {"splitting": None, "merging": None}
    classes, (machine,) = runs.machines_of([side.splitting], [*before, *after])
    stops = {at for at in range(1, len(after)) if any(_may_begin(each, after[at:]) for each in specials)}
    members = classes.members[: len(before)], classes.members[len(before) :]
    states = runs.explore(runs.SeamPair(machine, *members, stops | {len(after)}, cut_short=bool(specials)))
    merging = None
    if states.has_disputes:
        derived = [_derived(side)]
        runs.check_boundaries(states, classes, derived * 2, _dead([side], derived))
        merging = merging_fields(derived)
    return {"splitting": _splitting(classes, [machine], states), "merging": merging}


def _head(claim: str, sides: Sequence[Side], ids: str) -> dict[str, Any]:
    from tokdfa import __version__

    return {
        "certificate": VERSION,
        "made_by": f"tokdfa {__version__}",
        "claim": claim,
        "ids": ids,
        "sides": [side.fields for side in sides],
    }


def _splitting(classes: runs.Classes, machines: Sequence[runs.Machine], states: runs.States) -> dict[str, Any]:
    return {
        "classes": [[*run] for run in classes.runs],
        "machines": [{"next": machine.next, "report": machine.report} for machine in machines],
        **{
            name: [[one.current, [*one.ended], other.current, [*other.ended], phase] for one, other, phase in of]
            for name, of in (("states", states.live), ("doomed", states.doomed))
        },
    }


def _dead(sides: Sequence[Side], derived: Sequence[runs.Derived]) -> list[bytes]:
    """Return the tokens that may be pieces and are given for whole pieces only, shortest first."""
    found: set[bytes] = set()
    specials = sides[0].fields["specials"]
    for side, made in zip(sides, derived, strict=True):
        live = {token for token, _ in made}
        words = (as_text(side.tokenizer.token(number)) for number in side.tokenizer.whole_piece_tokens.tolist())
        texts = (word for word in words if word is not None and not any(special in word for special in specials))
        found |= {word.encode() for word in texts} - live
    return sorted(found, key=lambda word: (len(word), word))


def _sequence(text: str, *, regex: bool, table: str, name: str) -> list[Ranges]:
    """Return the sets of symbols of a text, or of a regular expression of symbols and classes one after the other."""
    sets = _sets(parse(text, table) if regex else literal(text, name))
    if sets is None or not all(sets):
        what = "there are certificates only for texts, and for expressions of symbols and classes one after the other"
        raise UnsupportedFeatureError(what, value=text, where=name)
    return sets


def _sets(node: Node) -> list[Ranges] | None:
    if isinstance(node, Symbols):
        return [difference(node.ranges, SURROGATES)]
    if isinstance(node, Repeat) and node.least == node.most:
        inner = _sets(node.body)
        return None if inner is None else inner * node.least
    if not isinstance(node, Concat):
        return None
    parts = [_sets(part) for part in node.parts]
    return None if None in parts else [each for part in parts if part is not None for each in part]


def _as_class(symbols: Ranges) -> str:
    """Return a pattern that names every symbol, so that it depends on no table of classes."""

    def letter(code_point: int) -> str:
        return "\\" * (chr(code_point) in _SPECIAL) + chr(code_point)

    if len(symbols) == 1 and symbols[0][0] == symbols[0][1]:
        return letter(symbols[0][0])
    parts = (letter(first) + (f"-{letter(last)}" if last > first else "") for first, last in symbols)
    return f"[{''.join(parts)}]"


def _may_begin(text: str, sets: list[Ranges]) -> bool:
    """Return whether a text may begin with these sets of symbols, or be the beginning of such a text."""
    return all(contains(symbols, ord(symbol)) for symbol, symbols in zip(text, sets, strict=False))


def _is_text(sets: list[Ranges], text: str) -> bool:
    """Return whether these sets of symbols allow one text only, this one."""
    return [*sets] == [((ord(symbol), ord(symbol)),) for symbol in text]


# The formats of files that the checker reads, by their names here.
_FORMATS = {"tiktoken": "ranks", "merges+vocab": "merges", "tokenizer.json": "tokenizer.json"}


class Side(NamedTuple):
    """A tokenizer of a certificate."""

    tokenizer: Tokenizer
    splitting: Splitting | None  # How it splits texts, in one step; None if it leaves them whole
    fields: dict[str, Any]  # Its description in the certificate


def side_of(given: AnyTokenizer, file: str | PathLike[str], specials: SpecialsPolicy | None = None) -> Side:
    """Return a tokenizer as a certificate describes it, with the file or folder that it was loaded from."""
    has_rules = given.why_not("rules") is None
    format = _FORMATS.get(given.format)
    if not has_rules or format is None:
        raise _unsupported("of this format", given.format if has_rules else given.algorithm)
    tokenizer = with_specials(cast(Tokenizer, given), specials)
    is_spelled = tokenizer.why_not("bytes") is None and tokenizer.why_not("spelling") is None
    if not is_spelled or tokenizer.suffix is not None:
        raise _unsupported("that change texts or are not over bytes", tokenizer.format)
    if odd_ones(tokenizer.found_specials):
        raise _unsupported("with special tokens that take white space or are whole words", tokenizer.format)
    if any(special.is_mistaken for special in tokenizer.found_specials):
        raise _unsupported("with added tokens that decode to other text", tokenizer.format)
    splitting = _single_step(tokenizer)
    library = "tokenizers" if tokenizer.format != "tiktoken" else "tiktoken"
    if splitting is not None:
        library = splitting.library
    fields = {
        "format": format,
        "files": _hashes(Path(file), tokenizer.format),
        "pattern": None if splitting is None else splitting.steps[0].pattern,
        "library": library,
        "tables": None if splitting is None else _table(library),
        "whole_pieces": tokenizer.whole_piece,
        "specials": {special.content: special.id for special in tokenizer.found_specials},
    }
    return Side(tokenizer, splitting, fields)


def _unsupported(what: str, value: object) -> UnsupportedFeatureError:
    hint = "byte-level rank files, merges.txt with vocab.json, and tokenizer.json with at most one Split have them"
    return UnsupportedFeatureError(f"there are no certificates about tokenizers {what}", value=value, hint=hint)


def _single_step(tokenizer: Tokenizer) -> Splitting | None:
    if tokenizer.pretokenizer is None:
        return None
    splitting = tokenizer.pretokenizer.splitting
    added = (splitting.prefix_space, splitting.metaspace, *splitting.byte_steps)
    if len(splitting.steps) != 1 or any(value is not None for value in added):
        raise _unsupported("that split texts in several steps, or add spaces", splitting)
    (step,) = splitting.steps
    if step.behavior != "isolated" or step.invert or step.literal:
        raise _unsupported("with a split of this kind", step)
    if splitting.unicode is not None or splitting.library == "llama.cpp":
        raise _unsupported("with the character classes of this library", splitting.unicode or splitting.library)
    return splitting


def _table(library: str) -> dict[str, str]:
    return {"version": version(library), "sha256": hashlib.sha256(data_file(library).read_bytes()).hexdigest()}


def _hashes(given: Path, format: str) -> dict[str, str]:
    if not given.exists():
        raise _unsupported("that are not loaded from a file", str(given))
    data, path, _ = find(given, format)
    if path.read_bytes() != data:
        raise FileFormatError("a certificate needs a file that is not packed", where=str(path))
    digest = hashlib.sha256(data).hexdigest()
    if format == "merges+vocab":
        vocabulary = path.with_name("vocab.json").read_bytes()
        return {"merges": digest, "vocab": hashlib.sha256(vocabulary).hexdigest()}
    return {"ranks" if format == "tiktoken" else "json": digest}


def _derived(side: Side) -> runs.Derived:
    """Return the tokens that merging makes, in order, with the lengths of the first parts."""
    words = cast("Sequence[bytes]", side.tokenizer.piece_ids.words)
    made, left, *_ = derived_merges(side.tokenizer)
    return [(words[token], len(words[first])) for token, first in zip(made.tolist(), left.tolist(), strict=True)]


def merging_fields(derived: list[runs.Derived]) -> list[list[Any]]:
    """Return the part of a certificate about merging, by one or two tokenizers."""
    for one, other in pairwise(derived):
        if different := sorted({*one} ^ {*other}):
            what = "there is no certificate for tokenizers that make a token from different parts"
            raise UnsupportedFeatureError(what, value=different[0][0])
    return [[token.hex(), size] for token, size in derived[0]]
