"""Write the pages of the reference: the public names, the modules that have them, and the commands."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import get_origin

import click

import tokdfa
from tokdfa.cli.group import GROUPS, group

# Not for users of the library: the commands have a page of their own, and the kernels are called by others.
PRIVATE = ("tokdfa.cli", "tokdfa.kernels")
# Public name -> the module that describes it; a package may have it from there.
HOMES: dict[str, str] = {name: getattr(tokdfa, name).__module__ for name in tokdfa.__all__ if name != "__version__"}
# A task of the reference, and the packages of the names that serve it; the first that fits counts.
TASKS: dict[str, tuple[str, ...]] = {
    "Load a tokenizer, encode, decode": ("tokdfa.tokenizers",),
    "Validate ids": ("tokdfa.jobs.validation", "tokdfa.base.verdict"),
    "Check rollouts": ("tokdfa.jobs.rollouts",),
    "Check corpora": ("tokdfa.jobs.shards", "tokdfa.stores", "tokdfa.jobs.identification"),
    "Compare tokenizers": (
        "tokdfa.jobs.comparison",
        "tokdfa.jobs.conversion",
        "tokdfa.jobs.certificates",
        "tokdfa.jobs.measures",
        "tokdfa.jobs.alignment",
    ),
    "Examine a model's folder": ("tokdfa.jobs.examination",),
    "Join texts, check chat templates": ("tokdfa.jobs.splices", "tokdfa.jobs.templates", "tokdfa.jobs.auditing"),
    "Search and replace in ids": ("tokdfa.jobs.searching", "tokdfa.jobs.replacing"),
    "Constrain decoding": ("tokdfa.jobs.guiding",),
    "Train a dictionary": ("tokdfa.training",),
    "Build automata and transducers": ("tokdfa.automata",),
    "Draw and report": ("tokdfa.draw",),
    "Handle errors": ("tokdfa.base",),
}


def public_modules() -> list[str]:
    """Name every module of the package that a user may import."""
    found = (module.name for module in pkgutil.walk_packages(tokdfa.__path__, "tokdfa."))
    names = [name for name in found if not any(part.startswith("_") for part in name.split("."))]
    return [name for name in names if not any(name == each or name.startswith(each + ".") for each in PRIVATE)]


def _summary(item: object) -> str:
    text = inspect.getdoc(item) or ""
    return " ".join(text.split("\n\n")[0].split())


def _title(text: str, mark: str) -> str:
    return f"{text}\n{mark * len(text)}\n\n"


def _table(rows: list[tuple[str, str]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: auto", "", "   * - name", "     - what it is"]
    for name, what in rows:
        lines += [f"   * - {name}", f"     - {what}"]
    return "\n".join(lines) + "\n\n"


def members(module: ModuleType) -> list[str]:
    """Name what a module has of its own; what it only passes on is described where it comes from."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    found = {name: getattr(module, name) for name in names}
    # No aliases of types: a tuple of something passes for a class.
    found = {name: item for name, item in found.items() if get_origin(item) is None}
    found = {name: item for name, item in found.items() if inspect.isclass(item) or inspect.isroutine(item)}
    own = [name for name, item in found.items() if item.__module__ == module.__name__]
    # A function may have the name of a module beside it; the module is described.
    return [name for name in own if f"{module.__name__}.{name}" not in sys.modules]


def _section(name: str, mark: str) -> str:
    own = ", ".join(members(importlib.import_module(name)))
    section = _title(name, mark) + f".. automodule:: {name}\n"
    return section + (f"   :members: {own}\n\n" if own else "\n")


def _package_pages(modules: list[str]) -> dict[str, str]:
    """Make one page for each package, with a section for each of its modules."""
    packages = {name for name in modules if hasattr(importlib.import_module(name), "__path__")}
    pages = {}
    for package in sorted(packages):
        inside = [name for name in modules if name.rpartition(".")[0] == package and name not in packages]
        pages[package] = _section(package, "=") + "".join(_section(name, "-") for name in inside)
    top = [name for name in modules if name.count(".") == 1 and name not in packages]
    pages["tokdfa"] = _title("tokdfa", "=") + ".. automodule:: tokdfa\n\n"
    pages["tokdfa"] += "".join(_section(name, "-") for name in top)
    return pages


def _names_page(pages: list[str]) -> str:
    tasks = defaultdict(list)
    for name, home in HOMES.items():
        tasks[next(task for task, packages in TASKS.items() if home.startswith(packages))].append((name, home))
    page = _title("Reference", "=")
    page += "Every public name is an attribute of the package, such as ``tokdfa.validate``. Each links to its full\n"
    page += "description. Other names of a module are public, too: import them from it.\n\n"
    for task in TASKS:
        page += _title(task, "-")
        page += _table([(f":py:obj:`{n} <{h}.{n}>`", _summary(getattr(tokdfa, n))) for n, h in sorted(tasks[task])])
    page += _title("Packages", "-") + ".. toctree::\n   :maxdepth: 1\n\n"
    return page + "".join(f"   {name}\n" for name in pages)


def _commands_page() -> str:
    page = _title("Commands", "=")
    page += "The output of ``tokdfa COMMAND --help``. The exit status is 0 for yes, 1 for no and 2 for trouble.\n\n"
    # As many columns as a block of the page shows without wrapping.
    context = click.Context(group, info_name="tokdfa", terminal_width=80)
    for heading, commands in GROUPS.items():
        page += _title(heading, "-")
        for name in commands:
            command = group.get_command(context, name)
            assert command is not None
            text = command.get_help(click.Context(command, info_name=name, parent=context))
            page += _title(f"tokdfa {name}", "~") + ".. code-block:: text\n\n"
            page += "".join(f"   {line}\n" if line else "\n" for line in text.splitlines()) + "\n"
    return page


def write(folder: Path) -> None:
    """Write all pages into a folder, and take away those of modules that are gone."""
    pages = _package_pages(public_modules())
    pages |= {"index": _names_page(sorted(pages)), "commands": _commands_page()}
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        # Sphinx reads anew what was written anew.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
