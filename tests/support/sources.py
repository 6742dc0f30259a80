"""Python sources, as far as tests of style need them; `tokenize` and `ast.walk` take 10 s for all of ours."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

# A string is skipped, whatever it quotes; then a # begins a comment.
_COMMENT = re.compile(
    r'"{3}(?:\\(?s:.)|[^\\])*?"{3}'
    r"|'{3}(?:\\(?s:.)|[^\\])*?'{3}"
    r'|"(?:\\(?s:.)|[^"\\\n])*"'
    r"|'(?:\\(?s:.)|[^'\\\n])*'"
    r"|#(.*)"
)
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(source: str) -> Iterator[ast.AST]:
    """Yield a module and the statements in it, at any depth, without their expressions."""
    unseen: list[ast.AST] = [ast.parse(source)]
    while unseen:
        node = unseen.pop()
        yield node
        for name in _BODIES:
            unseen += getattr(node, name, ())


def comments(source: str) -> Iterator[str]:
    """Yield the comments of a source, without their mark."""
    return (found[1] for found in _COMMENT.finditer(source) if found[1] is not None)


def called(call: ast.Call) -> str:
    """Return the last name of the function that a call names: ``run`` of ``subprocess.run()``."""
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))
