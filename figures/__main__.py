"""Draw the figures: ``python -m figures [--measure] [NAME …]``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from figures.table import read_table, read_tables, write_table
from tokdfa.draw.dot import to_dot

HERE = Path(__file__).parent
HELPERS = {"__init__", "__main__", "bars", "chart", "small_dictionaries", "table", "training_growth"}

GALLERY = """# Figures

`python -m figures` draws all figures and writes this page. Each figure is kept beside the script that draws it and the
data that it shows. `python -m figures --measure NAME` repeats a measurement; throughput is measured by the benchmark
that the script of its figure names.
"""
READERS: dict[str, Callable[[Path], object]] = {".csv": read_table, ".json": read_tables}


def names() -> list[str]:
    """Return the names of all figures."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in HELPERS)


def render(name: str) -> str:
    """Return a figure as SVG, from the table or the tables kept for it if there are any."""
    module = import_module(f"figures.{name}")
    data = [read(path) for suffix, read in READERS.items() if (path := HERE / f"{name}{suffix}").exists()]
    svg: str = module.draw(*data)
    return svg


def chosen(wanted: list[str]) -> list[str]:
    """Return the figures of these names, or whose names begin with one of them and an underscore; all for none."""
    found = [name for name in names() if not wanted or any(f"{name}_".startswith(f"{each}_") for each in wanted)]
    unknown = [each for each in wanted if not any(f"{name}_".startswith(f"{each}_") for name in found)]
    if unknown:
        raise SystemExit(f"no figure of that name: {', '.join(unknown)}")
    return found


def gallery() -> str:
    """Return the page that shows all figures, each below what its script says of it."""
    parts = [GALLERY]
    for name in names():
        says = (import_module(f"figures.{name}").__doc__ or "").partition("\n")[0].replace("``", "`").rstrip(".")
        data = [kept.name for kept in sorted(HERE.glob(f"{name}.*")) if kept.suffix in (".csv", ".dot", ".json")]
        links = ", ".join(f"[{file}]({file})" for file in [f"{name}.py", *data])
        parts.append(f"\n## {says}\n\n![{says.replace('*', '')}]({name}.svg)\n\n{links}\n")
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
        module = import_module(f"figures.{name}")
        if options.measure and hasattr(module, "measure"):
            write_table(HERE / f"{name}.csv", module.measure())
        if hasattr(module, "graph"):
            (HERE / f"{name}.dot").write_text(to_dot(module.graph()), encoding="utf-8")
        path = HERE / f"{name}.svg"
        path.write_text(render(name), encoding="utf-8")
        print(path)
    (HERE / "README.md").write_text(gallery(), encoding="utf-8")


if __name__ == "__main__":
    main()
