"""The table "paper statement → code → test", read off the tests of this folder: ``python -m tests.paper.table``."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
TABLE = FOLDER / "README.md"
KINDS = {
    "alg": "Algorithm",
    "algorithm": "Algorithm",
    "cor": "Corollary",
    "corollary": "Corollary",
    "def": "Definition",
    "definition": "Definition",
    "eq": "Equation",
    "ex": "Example",
    "example": "Example",
    "examples": "Examples",
    "fig": "Figure",
    "figure": "Figure",
    "lemma": "Lemma",
    "observation": "Observation",
    "obs": "Observation",
    "prop": "Proposition",
    "rem": "Remark",
    "remark": "Remark",
    "sec": "Section",
    "section": "Section",
    "tab": "Table",
    "thm": "Theorem",
    "theorem": "Theorem",
}
HEAD = re.compile(
    rf"(?:and_)?({'|'.join(sorted(KINDS, key=len, reverse=True))})_((?:\d+[ab]?(?:_and_)?_?)*\d+[ab]?|a_\d+|b)(?:_|$)"
)
INTRODUCTION = """# From the papers to the code

Each numbered statement of the papers has a test named after it. `python -m tests.paper.table` generates this table
from the tests, and a test keeps it up to date. It gives the statement, what the test says of it, and the modules of the
package that the test imports.
"""


@dataclass(frozen=True)
class Row:
    """One test: the statement, the claim about it, the modules it imports from, and its file."""

    statement: str
    says: str
    modules: tuple[str, ...]
    test: str
    file: str


def statement(name: str) -> tuple[str, str]:
    """Split the name of a test into the statement and the claim about it."""
    rest, found = name.removeprefix("test_"), []
    while match := HEAD.match(rest):
        number = re.sub(r"_?and_?", " and ", match[2]).replace("_", ".").replace("a.", "A.")
        found.append(f"{KINDS[match[1]]} {number}")
        rest = rest[match.end() :]
    return ", ".join(found), rest.removeprefix("and_").replace("_", " ").strip()


def homes(tree: ast.Module) -> dict[str, str]:
    """For each name that a test file imports from the package, the module that has it."""
    from tokdfa import _HOMES

    return {
        alias.asname or alias.name: _HOMES.get(alias.name, node.module) if node.module == "tokdfa" else node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "tokdfa"
        for alias in node.names
    }


def used(node: ast.AST, functions: dict[str, ast.FunctionDef], seen: set[str]) -> set[str]:
    """Names that a function uses, also through the helpers in its file."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    for helper in names & functions.keys() - seen:
        seen.add(helper)
        names |= used(functions[helper], functions, seen)
    return names


def rows(file: Path) -> list[Row]:
    """Read the tests of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules, functions = homes(tree), {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    out = []
    for name, node in functions.items():
        if name.startswith("test_"):
            of_test = {modules[each] for each in used(node, functions, {name}) & modules.keys()} - {
                "tokdfa.base.errors"
            }
            out.append(Row(*statement(name), tuple(sorted(of_test)), name, file.name))
    return out


def table() -> str:
    """Write the whole table in Markdown."""
    parts = [INTRODUCTION]
    for file in sorted(FOLDER.glob("test_*.py")):
        if file.name == "test_table.py":
            continue
        title = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").splitlines()[0]
        parts.append(
            f"\n## {title.rstrip('.')}\n\n| statement | what the test says | code | test |\n|---|---|---|---|\n"
        )
        for row in rows(file):
            code = ", ".join(f"`{module.removeprefix('tokdfa.')}`" for module in row.modules)
            parts.append(f"| {row.statement} | {row.says} | {code} | [`{row.test}`]({row.file}) |\n")
    return "".join(parts)


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
    print(TABLE)
