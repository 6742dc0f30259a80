"""The programs that build the documentation site; they are in a folder that is not a package."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[2] / ".site"


@cache
def site(name: str) -> ModuleType:
    """Load one of them."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
