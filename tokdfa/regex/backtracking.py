"""Patterns for the backtracking engine of the `regex` module, which defines what a tree means.

Every set of symbols in the tree is written out as ranges, so neither the engine's dialect nor its version of Unicode
has any influence.
"""

from __future__ import annotations

from typing import Any

from tokdfa.base.errors import LimitExceededError
from tokdfa.regex.program import MAX_INSTRUCTIONS
from tokdfa.regex.syntax import (
    Alternate,
    Anchor,
    Assertion,
    Atomic,
    LookAhead,
    Node,
    Place,
    Repeat,
    Symbols,
    children,
)
from tokdfa.regex.unicode import Ranges

_ANCHORS: dict[Place, str] = {
    "start of text": r"\A",
    "end of text": r"\Z",
    "start of line": r"(?:\A|(?<=\n))",
    "start of line with text": r"(?:\A|(?<=\n))(?!\Z)",
    "start of search": r"\G",
    "end of line": r"(?=\n|\Z)",
    "end of last line": r"(?=\n?\Z)",
}
_SUFFIXES = {"greedy": "", "lazy": "?", "possessive": "+"}


def spell_out(node: Node) -> str:
    """Return the pattern in the syntax of the `regex` module."""
    done: list[str] = []
    tasks: list[tuple[Node, bool]] = [(node, False)]
    while tasks:
        node, expanded = tasks.pop()
        parts = children(node)
        if not expanded:
            tasks.append((node, True))
            tasks.extend((part, False) for part in reversed(parts))
        else:
            spelled = [done.pop() for _ in parts][::-1]
            done.append(_spell_node(node, spelled))
    return done.pop()


def compile_backtracking(node: Node) -> Any:
    """Return the pattern compiled by the `regex` module, unless it repeats so much that this would take gigabytes."""
    import regex

    if _written_out(node) > MAX_INSTRUCTIONS:
        what = f"the pattern takes more than {MAX_INSTRUCTIONS} instructions"
        raise LimitExceededError(what, hint="repeat less, or less deeply")
    return regex.compile(spell_out(node), regex.VERSION0)


def _written_out(node: Node) -> int:
    """Return the number of nodes if each body is written as often as it must match, as the `regex` module does it."""
    n_nodes = 1 + sum(map(_written_out, children(node)))
    return n_nodes * max(1, node.least) if isinstance(node, Repeat) else n_nodes


def _spell_node(node: Node, parts: list[str]) -> str:
    if isinstance(node, Symbols):
        return _spell_set(node.ranges)
    if isinstance(node, LookAhead):
        options = ([_spell_set(node.ranges)] if node.ranges else []) + ([r"\Z"] if node.at_end else [])
        return f"(?={'|'.join(options)})" if options else "(?!)"
    if isinstance(node, Anchor):
        if node.word:
            word = _spell_set(node.word)
            inside = f"(?<={word})(?={word})|(?<!{word})(?!{word})"
            across = f"(?<={word})(?!{word})|(?<!{word})(?={word})"
            return f"(?:{across if node.place == 'word boundary' else inside})"
        return _ANCHORS[node.place]
    if isinstance(node, Repeat):
        bounds = f"{{{node.least},{'' if node.most is None else node.most}}}"
        return f"(?:{parts[0]}){bounds}{_SUFFIXES[node.mode]}"
    if isinstance(node, Assertion):
        return f"(?{'<' if node.behind else ''}{'!' if node.negated else '='}{parts[0]})"
    if isinstance(node, Atomic):
        return f"(?>{parts[0]})"
    if isinstance(node, Alternate):
        return f"(?:{'|'.join(parts)})"
    return "".join(parts)


def _spell_set(ranges: Ranges) -> str:
    if not ranges:
        return "(?!)"
    spelled = (f"\\U{first:08X}" + (f"-\\U{last:08X}" if last > first else "") for first, last in ranges)
    return f"[{''.join(spelled)}]"
