"""Every public method is described: by a docstring of its own, or by the docstring of the method that it overrides."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import tokdfa

PACKAGE = Path(tokdfa.__file__).parent
# Modules that are not the package's own, or need a package that is only there when it is built.
BUILT = ("_ffi", "build_backend", "__main__")


def function_of(member: Any) -> Any:
    """Return the function of a method, a property or a cached property; None for other members."""
    function = member.fget if isinstance(member, property) else member
    function = getattr(function, "func" if isinstance(member, cached_property) else "__func__", function)
    return function if inspect.isfunction(function) else None


def undescribed(kind: type) -> Iterator[str]:
    """Yield the public methods of a class that neither it nor one of its bases describes."""
    for name, member in vars(kind).items():
        function = function_of(member)
        is_own = function is not None and function.__qualname__ == f"{kind.__qualname__}.{name}"
        if not is_own or (name.startswith("_") and name != "__call__"):
            continue
        versions = (vars(base)[name] for base in kind.__mro__ if name in vars(base))
        if not any(inspect.getdoc(function_of(version) or version) for version in versions):
            yield f"{kind.__module__}.{kind.__qualname__}.{name}"


def public_classes() -> Iterator[type]:
    """Yield the classes of all modules of the package, except private ones."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts[-1] not in BUILT:
            module = import_module(".".join(parts).removesuffix(".__init__"))
            for name, kind in vars(module).items():
                if inspect.isclass(kind) and kind.__module__ == module.__name__ and not name.startswith("_"):
                    yield kind


class Described:
    """A class to try the rule on."""

    def method(self) -> None:
        """Do nothing."""


class Silent(Described):
    """A class with one method that is described, and two that are not."""

    def method(self) -> None:
        pass

    def other(self) -> None:
        pass

    @property
    def third(self) -> None:
        pass


def test_methods_without_a_description_are_found() -> None:
    assert [name.rpartition(".")[2] for name in undescribed(Silent)] == ["other", "third"]


def test_every_public_method_is_described() -> None:
    kinds = [*public_classes()]
    assert len(kinds) > 300
    assert [name for kind in kinds for name in undescribed(kind)] == []
