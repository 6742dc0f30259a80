"""Draw the figures: ``python -m figures [--measure] [NAME …]``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from figures.table import read_table, read_tables, write_table
from tokdfa.draw.graph import to_dot

HERE = Path(__file__).parent
FOLDERS = ("papers", "measurements", "readme")

GALLERY = """# Figures

`python -m figures` draws all figures and writes this page. Each figure is kept next to the script that draws it and the
data that it shows, in `papers`, `measurements` or `readme`. `python -m figures --measure NAME` repeats a measurement;
throughput is measured by the benchmark that the script of its figure names.
"""
READERS: dict[str, Callable[[Path], object]] = {".csv": read_table, ".json": read_tables}


def scripts() -> dict[str, Path]:
    """Return the script of each figure by its name, folder by folder."""
    found = [path for folder in FOLDERS for path in sorted((HERE / folder).glob("*.py"))]
    return {path.stem: path for path in found if path.stem != "__init__"}


def names() -> list[str]:
    """Return the names of all figures."""
    return [*scripts()]


def module_of(name: str) -> Any:
    """Import the script of a figure."""
    return import_module(f"figures.{scripts()[name].parent.name}.{name}")


def render(name: str) -> str:
    """Return a figure as SVG, from the table or the tables kept for it if there are any."""
    script = scripts()[name]
    data = [read(path) for suffix, read in READERS.items() if (path := script.with_suffix(suffix)).exists()]
    svg: str = module_of(name).draw(*data)
    return svg


def chosen(wanted: list[str]) -> list[str]:
    """Return the figures of these names, or of names that begin with one of them and an underscore; all for none."""
    found = [name for name in names() if not wanted or any(f"{name}_".startswith(f"{each}_") for each in wanted)]
    unknown = [each for each in wanted if not any(f"{name}_".startswith(f"{each}_") for name in found)]
    if unknown:
        raise SystemExit(f"no figure of that name: {', '.join(unknown)}")
    return found


def gallery() -> str:
    """Return the page that shows all figures, each below what its script says of it."""
    parts = [GALLERY]
    for name, script in scripts().items():
        says = (module_of(name).__doc__ or "").partition("\n")[0].replace("``", "`").rstrip(".")
        suffixes = [".py", *(suffix for suffix in (".csv", ".dot", ".json") if script.with_suffix(suffix).exists())]
        links = ", ".join(f"[{name}{suffix}]({script.parent.name}/{name}{suffix})" for suffix in suffixes)
        parts.append(f"\n## {says}\n\n![{says.replace('*', '')}]({script.parent.name}/{name}.svg)\n\n{links}\n")
    return "".join(parts)


def main() -> None:
    """Draw what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m figures", description="Draw the figures.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(names())}, or what some begin with; all by default"
    )
    parser.add_argument("--measure", action="store_true", help="measure anew what they show: minutes")
    options = parser.parse_args()
    for name in chosen(options.names):
        module, script = module_of(name), scripts()[name]
        if options.measure and hasattr(module, "measure"):
            write_table(script.with_suffix(".csv"), module.measure())
        if hasattr(module, "graph"):
            script.with_suffix(".dot").write_text(to_dot(module.graph()), encoding="utf-8")
        path = script.with_suffix(".svg")
        path.write_text(render(name), encoding="utf-8")
        print(path)
    (HERE / "README.md").write_text(gallery(), encoding="utf-8")


if __name__ == "__main__":
    main()
