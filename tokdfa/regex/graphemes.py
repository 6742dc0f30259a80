r"""Graphemes as Oniguruma cuts them, for \X, \y and \Y: by the rules of Unicode 16 except for conjuncts.

In "e\u0301🇫🇷🇩" there are three: a letter with its accent, a pair of flags, half a pair. Whether two flags belong
together depends on the number of flags before them, those before the match included. The end of a text is
a boundary, and so is its beginning, which no rule has to say: none holds there.
"""

from __future__ import annotations

from functools import cache

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.regex.tree import Alternate, Anchor, Assertion, Concat, LookAhead, Node, Repeat, Symbols
from tokdfa.regex.unicode import Ranges, complement, difference, union, universe
from tokdfa.regex.unicode.ranges import decode
from tokdfa.regex.unicode.versions import library_of, read_data, resolve

_CR, _LF, _JOINER = ((13, 13),), ((10, 10),), ((0x200D, 0x200D),)
_SYLLABLES: Ranges = ((0xAC00, 0xD7A3),)
_WITHOUT_TAIL: Ranges = tuple((c, c) for c in range(0xAC00, 0xD7A4, 28))


def grapheme(table: str) -> Node:
    r"""Return the pattern of one grapheme, or of its rest: \X, in the table of tokenizers or of one of its versions."""
    symbol = Symbols(universe(table))
    more = Repeat(Concat((boundary(table, negated=True), symbol)), 0, None)
    return Concat((symbol, more, boundary(table)))


def boundary(table: str, *, negated: bool = False) -> Node:
    r"""Return the assertion that a grapheme ends here: \y, or that none does: \Y."""
    if "==" in table and resolve(table).name != library_of(table):
        hint = "the newest version's are; leave the version out"
        raise UnsupportedFeatureError(
            "the graphemes of this version of the tables are not known", value=table, hint=hint
        )
    return Assertion(_within(), behind=False, negated=not negated)


@cache
def _classes() -> dict[str, Ranges]:
    data = read_data("graphemes")
    return {name: decode(deltas) for name, deltas in (data | data["oniguruma"]).items() if isinstance(deltas, list)}


@cache
def _within() -> Node:
    """Return the pattern of the empty word at an offset within a grapheme, one option for each rule."""
    sets = _classes()
    control = complement(sets["control"], universe("tokenizers"))  # everything else
    lead, vowel, tail, flag = (sets[name] for name in ("lead", "vowel", "tail", "flag"))
    with_tail = difference(_SYLLABLES, _WITHOUT_TAIL)
    marks = Repeat(Symbols(difference(sets["extending"], _JOINER)), 0, None)
    picture = Symbols(sets["picture"])
    pair = Repeat(Concat((Symbols(flag),) * 2), 0, None)
    start = Alternate((Anchor("start of text"), Symbols(complement(flag, universe("tokenizers")))))
    rules: list[tuple[Node, tuple[Ranges, ...]]] = [
        (Symbols(_CR), (_LF,)),
        (Symbols(control), (sets["extending"], sets["spacing"])),
        (Symbols(sets["prepended"]), (control,)),
        (Symbols(lead), (lead, vowel, _SYLLABLES)),
        (Symbols(union(vowel, _WITHOUT_TAIL)), (vowel, tail)),
        (Symbols(union(tail, with_tail)), (tail,)),
        (Concat((picture, marks, Symbols(_JOINER))), (picture.ranges,)),
        (Concat((start, pair, Symbols(flag))), (flag,)),
    ]
    return Alternate(
        tuple(
            Concat(
                (
                    Assertion(before, behind=True, negated=False),
                    LookAhead(union(*after), False),
                )
            )
            for before, after in rules
        )
    )
