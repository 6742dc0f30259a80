"""Draw the figures: ``python -m figures [--measure] [NAME …]``."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from figures.table import read_table, write_table
from tokdfa.draw.dot import to_dot

HERE = Path(__file__).parent
HELPERS = {"__init__", "__main__", "chart", "table"}


def names() -> list[str]:
    """Return the names of all figures."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in HELPERS)


def render(name: str) -> str:
    """Return a figure as SVG, from the table kept for it if it has one."""
    module = import_module(f"figures.{name}")
    kept = HERE / f"{name}.csv"
    svg: str = module.draw(read_table(kept)) if kept.exists() else module.draw()
    return svg


def main() -> None:
    """Draw what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m figures", description="Draw the figures.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names())}; all by default")
    parser.add_argument("--measure", action="store_true", help="measure anew what they show: minutes")
    options = parser.parse_args()
    if unknown := set(options.names).difference(names()):
        parser.error(f"no figure of that name: {', '.join(sorted(unknown))}")
    for name in options.names or names():
        module = import_module(f"figures.{name}")
        if options.measure and hasattr(module, "measure"):
            write_table(HERE / f"{name}.csv", module.measure())
        if hasattr(module, "graph"):
            (HERE / f"{name}.dot").write_text(to_dot(module.graph()), encoding="utf-8")
        path = HERE / f"{name}.svg"
        path.write_text(render(name), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
