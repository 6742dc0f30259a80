"""Patterns for the backtracking engine of the `regex` module, which defines the meaning of a tree.

Every set of symbols in the tree is written out as ranges, so neither the engine's dialect nor its version of Unicode
has any influence.
"""

from __future__ import annotations

from typing import Any

from tokdfa.base.errors import LimitExceededError
from tokdfa.regex import syntax
from tokdfa.regex.operators import AnchorKind
from tokdfa.regex.program import MAX_INSTRUCTIONS
from tokdfa.regex.unicode import Ranges

_ANCHORS: dict[AnchorKind, str] = {
    "start of text": r"\A",
    "end of text": r"\Z",
    "start of line": r"(?:\A|(?<=\n))",
    "start of line with text": r"(?:\A|(?<=\n))(?!\Z)",
    "start of search": r"\G",
    "end of line": r"(?=\n|\Z)",
    "end of last line": r"(?=\n?\Z)",
}
_SUFFIXES = {"greedy": "", "lazy": "?", "possessive": "+"}


def spell_out(node: syntax.Node) -> str:
    """Return the pattern in the syntax of the `regex` module."""
    done: list[str] = []
    tasks: list[tuple[syntax.Node, bool]] = [(node, False)]
    while tasks:
        node, expanded = tasks.pop()
        parts = syntax.children(node)
        if not expanded:
            tasks.append((node, True))
            tasks.extend((part, False) for part in reversed(parts))
        else:
            spelled = [done.pop() for _ in parts][::-1]
            done.append(_spell_node(node, spelled))
    return done.pop()


def compile_backtracking(node: syntax.Node) -> Any:
    """Return the pattern compiled by the `regex` module, unless it repeats so much that this would take gigabytes."""
    import regex

    if _written_out(node) > MAX_INSTRUCTIONS:
        what = f"the pattern takes more than {MAX_INSTRUCTIONS} instructions"
        raise LimitExceededError(what, hint="repeat less, or less deeply")
    return regex.compile(spell_out(node), regex.VERSION0)


def _written_out(node: syntax.Node) -> int:
    """Return the number of nodes if each body is written as often as it must match, as the `regex` module does it."""
    n_nodes = 1 + sum(map(_written_out, syntax.children(node)))
    return n_nodes * max(1, node.least) if isinstance(node, syntax.Repeat) else n_nodes


def _spell_node(node: syntax.Node, parts: list[str]) -> str:
    if isinstance(node, syntax.Symbols):
        return _spell_set(node.ranges)
    if isinstance(node, syntax.LookAhead):
        options = ([_spell_set(node.ranges)] if node.ranges else []) + ([r"\Z"] if node.at_end else [])
        return f"(?={'|'.join(options)})" if options else "(?!)"
    if isinstance(node, syntax.Anchor):
        if node.word:
            word = _spell_set(node.word)
            inside = f"(?<={word})(?={word})|(?<!{word})(?!{word})"
            across = f"(?<={word})(?!{word})|(?<!{word})(?={word})"
            return f"(?:{across if node.kind == 'word boundary' else inside})"
        return _ANCHORS[node.kind]
    if isinstance(node, syntax.Repeat):
        bounds = f"{{{node.least},{'' if node.most is None else node.most}}}"
        return f"(?:{parts[0]}){bounds}{_SUFFIXES[node.mode]}"
    if isinstance(node, syntax.Assertion):
        return f"(?{'<' if node.behind else ''}{'!' if node.negated else '='}{parts[0]})"
    if isinstance(node, syntax.Atomic):
        return f"(?>{parts[0]})"
    if isinstance(node, syntax.Alternate):
        return f"(?:{'|'.join(parts)})"
    return "".join(parts)


def _spell_set(ranges: Ranges) -> str:
    if not ranges:
        return "(?!)"
    spelled = (f"\\U{first:08X}" + (f"-\\U{last:08X}" if last > first else "") for first, last in ranges)
    return f"[{''.join(spelled)}]"
