"""The report on a comparison of two tokenizers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from tokdfa.automata.alphabet import Word, quoted
from tokdfa.base.errors import ImproperDictionaryError
from tokdfa.draw.graph import word_label
from tokdfa.draw.report import page as html
from tokdfa.draw.report.collect import divergence, lanes
from tokdfa.jobs.comparison.api import compare
from tokdfa.jobs.comparison.result import Comparison, Difference, Outcome, answer, part_rows, rule_words
from tokdfa.tokenizers.neighbours import PairAutomaton
from tokdfa.tokenizers.protocol import AnyTokenizer

# The number of special tokens that differ and are shown.
_MOST_SPECIALS = 50

__all__ = ["ComparisonReport", "comparison_report"]


class ComparisonReport(html.Report):
    """A page that shows whether two tokenizers are equivalent, and how they differ.

    Made by :func:`comparison_report`.

    Attributes
    ----------
    verdict : Comparison
        The result of :func:`tokdfa.compare`.
    """

    def __init__(
        self,
        found: Comparison,
        a: AnyTokenizer,
        b: AnyTokenizer,
        names: tuple[str, str],
        sources: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    ) -> None:
        self.verdict = found
        self._sources = sources
        self._sides = (a, b)
        self._names = names

    def __repr__(self) -> str:
        return f"<ComparisonReport: {'equivalent' if self.verdict else 'different'}>"

    def to_html(self, *, max_shown: int | None = None) -> str:
        """Return the page; see :meth:`Report.to_html`."""
        found = self.verdict
        heading = "Equivalent" if found else "Different"
        names = zip("AB", self._names, strict=True)
        named = [", ".join(f"{side}: {name}" for side, name in names)] if self._names != ("A", "B") else []
        said = answer(found)
        subject = [f"{said[:1].upper()}{said[1:]}."]
        if found.witness is not None:
            subject = [html.tag("bdi", html.shortened(quoted(found.witness.text))), f" {said}."]
        data = self._data()
        return html.page(
            f"{heading}: {' and '.join(self._names)}",
            html.verdict(bool(found), heading, html.tag("span", *subject), *named),
            *([] if data is None or found.witness is None else self._witness(found.witness, data)),
            html.tag(
                "section",
                html.tag("h2", "What was compared"),
                html.data_table("Part by part, differences first", ("Part", "Outcome"), self._parts()),
                class_="tables",
            ),
            html.tag("section", html.tag("h2", "Fingerprints"), *self._fingerprints(), class_="tables"),
            html.tag("section", html.tag("h2", "Side by side"), *self._tables(), class_="tables halves headed"),
            data=None if data is None else html.json_block(data, "data"),
        )

    def _data(self) -> dict[str, Any] | None:
        """Return the two tokenizations of the witness, which the script lays out."""
        if self.verdict.witness is None:
            return None
        _, *both = self.verdict.witness
        spellings = [html.Spelling(side) for side in self._sides]
        left, right = ([] if ids is None else [*ids] for ids in both)
        # Tokens that the two share have the same id and the same bytes.
        keys = [id if id < self._sides[0].n_ids and spellings[0].same(id, spellings[1]) else -1 - id for id in right]
        found = divergence(left, keys)
        other = tuple(right[found.before : len(right) - found.behind])
        for spelling, ids in zip(spellings, (left, right), strict=True):
            spelling.note(ids)
        return {
            "witness": {
                "lanes": lanes(found.left, other, spellings[0].length, spellings[1].length)._asdict(),
                "before": left[: found.before],
                "behind": left[len(left) - found.behind :],
                "known_in": -1,
                "known_behind": -1,
                "begins": True,
                "ends": True,
            },
            "names": ["A", "B"],
            "absent": ["cannot be tokenized" if ids is None else "nothing" for ids in both],
            "whole": "text",
            "tokens": spellings[0].table(),
            "other": spellings[1].table(),
        }

    def _witness(self, witness: Difference, data: dict[str, Any]) -> Iterator[html.Markup]:
        text, *both = witness
        left, right = ([] if ids is None else [*ids] for ids in both)
        rows = [
            (name, " ".join(map(str, ids)) or absent, " ".join(data[table][str(id)][0] for id in ids))
            for name, ids, absent, table in zip("AB", (left, right), data["absent"], ("tokens", "other"), strict=True)
        ]
        yield html.tag(
            "section",
            html.tag("h2", "A text on which they differ"),
            html.tag("p", html.tag("bdi", html.marked_up(_shown(text))), class_="witness"),
            html.tag("p", _size(text)),
            html.tag("div", id="witness", class_="scroll", role="group", aria_label="tokens", hidden=True),
            html.tag("noscript", html.data_table("Tokens", ("Tokenizer", "Ids", "Tokens"), rows)),
            *self._pictures(left, right),
            class_="card",
        )

    def _pictures(self, left: list[int], right: list[int]) -> Iterator[html.Markup]:
        """Return, for each side, why it does not give the tokens of the other."""
        for side, names, ids in ((0, "AB", right), (1, "BA", left)):
            automaton, other = self._sides[side].pair_automaton, self._sides[1 - side].pair_automaton
            if automaton is None or other is None or len(ids) < 1:
                continue
            said = _objection(automaton, [word for word in map(other.word, ids) if word is not None])
            if said:
                yield html.tag("p", f"{names[0]} does not give the tokens of {names[1]}: ", *said, class_="reason")

    def _parts(self) -> list[tuple[str, str]]:
        """Return the parts and their outcomes, different ones first."""
        order = [Outcome.DIFFERENT, Outcome.UNKNOWN, Outcome.EQUIVALENT, Outcome.SAME]
        last = len(order)
        ranks = [order.index(outcome) if outcome in order else last for outcome in self.verdict.checked.values()]
        rows = zip(ranks, part_rows(self.verdict), strict=True)
        rules = rule_words(self.verdict)
        first = [] if rules is None else [("rules", rules)]
        return first + [row for _, row in sorted(rows, key=lambda each: each[0])]

    def _fingerprints(self) -> Iterator[html.Markup]:
        """Return the parts of both fingerprints, different ones first, and the special tokens that are not the same."""
        a, b = (side.fingerprint_parts for side in self._sides)
        names = sorted({**a, **b}, key=lambda name: a.get(name) == b.get(name))
        changed = [name for name in names if a.get(name) != b.get(name)]
        yield html.tag(
            "p",
            "All parts are the same, so the two do the same with every text and all ids."
            if not changed
            else f"Different: {', '.join(changed)}. This alone proves nothing: settings can be spelled in two ways, "
            "pieces cut differently where no ids differ, and the Unicode tables of normalizers, of special tokens that "
            "strip white space, and of patterns that no automaton expresses are hashed as data.",
        )
        rows = [(name, *("none" if name not in side else side[name][:16] for side in (a, b))) for name in names]
        yield html.data_table("SHA-256 of each part, different ones first", ("Part", "A", "B"), rows)
        sides = [{special.content: ascii(special) for special in side.specials} for side in self._sides]
        texts = [text for text in sorted({*sides[0], *sides[1]}) if sides[0].get(text) != sides[1].get(text)]
        if texts:
            shown = texts[:_MOST_SPECIALS]
            yield html.data_table(
                f"Special and added tokens that differ: the first {len(shown):,} of {len(texts):,}",
                ("Token", "A", "B"),
                ((_bdi(text), *(side.get(text, "none").removeprefix("Special") for side in sides)) for text in shown),
            )

    def _tables(self) -> Iterator[html.Markup]:
        found, (a, b) = self.verdict, self._sides
        rows = [("Format", a.format, b.format), ("Ids", f"{a.n_ids:,}", f"{b.n_ids:,}")]
        rows += [
            (name.capitalize(), f"{size:,}", f"{b.sizes[name]:,}") for name, size in a.sizes.items() if name in b.sizes
        ]
        for name, of_a, of_b in (
            ("Rules that the other lacks", found.n_rules_only_a, found.n_rules_only_b),
            ("Live tokens that the other lacks", found.n_tokens_only_a, found.n_tokens_only_b),
            ("Dead tokens", found.n_dead_a, found.n_dead_b),
            ("Pairs that the other does not allow", found.pairs_only_a, found.pairs_only_b),
        ):
            if of_a is not None and of_b is not None:
                rows.append((name, f"{of_a:,}", f"{of_b:,}"))
        rows.append(("Fingerprint", a.fingerprint[:16], b.fingerprint[:16]))
        one, other = self._sources
        rows += [(name, one.get(name, "none"), other.get(name, "none")) for name in {**one, **other}]
        yield html.data_table("Numbers", ("What", "A", "B"), rows)
        for side, tokens, total in (
            ("A", found.tokens_only_a, found.n_tokens_only_a),
            ("B", found.tokens_only_b, found.n_tokens_only_b),
        ):
            if tokens:
                yield html.data_table(
                    f"Live tokens only in {side}: the first {len(tokens):,} of {total:,}",
                    ("Token", "Symbols"),
                    ((html.tag("bdi", html.marked_up(_shown(word))), f"{len(word):,}") for word in tokens),
                )


def _objection(automaton: PairAutomaton, words: list[Word]) -> list[str]:
    """Return why a tokenizer does not give these tokens, as parts of a sentence; empty without a simple reason."""
    try:
        dfa = automaton.dfa
    except ImproperDictionaryError:
        return []
    alphabet = dfa.alphabet
    for word in words:
        if word not in alphabet:
            return [_bdi(word), " is not one of its tokens."]
        if dfa.state_of(word) is None:
            return ["merging never gives ", _bdi(word), "."]
    for left, right in pairwise(words):
        number = dfa.blocking_rule(left, right)
        if number is not None:
            rule = automaton.rule(number)
            return [
                f"state {dfa.state_of(left)}, reached on ",
                _bdi(left),
                ", does not allow ",
                _bdi(right),
                f", since rule {number:,} (",
                html.tag("bdi", html.marked_up(f"{_shown(rule.left)} + {_shown(rule.right)}")),
                ") would have merged them.",
            ]
    return []


def _shown(word: Word) -> str:
    return html.shortened(word_label(word))


def _bdi(word: Word) -> html.Markup:
    return html.tag("bdi", html.marked_up(_shown(word)))


def _size(text: Word) -> str:
    if isinstance(text, bytes):
        return f"{len(text):,} bytes"
    size = len("".join(text).encode("utf-8", "surrogatepass"))
    return f"{len(text):,} character{'s' * (len(text) != 1)}, {size:,} byte{'s' * (size != 1)}"


def comparison_report(
    a: AnyTokenizer,
    b: AnyTokenizer,
    found: Comparison | None = None,
    *,
    ignore_ids: bool = False,
    names: tuple[str, str] = ("A", "B"),
    sources: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
) -> ComparisonReport:
    """Compare two tokenizers, and make a page of the result.

    Parameters
    ----------
    a, b : AnyTokenizer
    found : Comparison, optional
        The result of :func:`tokdfa.compare`; by default it is called.
    ignore_ids : bool
        See :func:`tokdfa.compare`.
    names : tuple of str
        The names of the two.
    sources : tuple of mappings
        What else the page says of each, such as the hash of its file.

    Returns
    -------
    ComparisonReport

    Raises
    ------
    UnsupportedFeatureError, ImproperDictionaryError, LimitExceededError
        As :func:`tokdfa.compare` does.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> report = tokdfa.comparison_report(tokenizer, tokenizer)
    >>> bool(report.verdict), report.to_html()[:15]
    (True, '<!doctype html>')
    """
    return ComparisonReport(compare(a, b, ignore_ids=ignore_ids) if found is None else found, a, b, names, sources)
