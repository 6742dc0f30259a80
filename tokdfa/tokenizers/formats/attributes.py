"""The attributes of objects of other libraries, which may be computed and fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tokdfa.errors import FileFormatError, UnsupportedFeatureError

__all__ = ["asked", "attribute", "given"]

T = TypeVar("T")


def attribute(source: object, name: str, path: Path) -> Any:
    """Return an attribute; None if there is none. An object may compute it, and fail to."""
    return asked(lambda: getattr(source, name, None), name, path)


def asked(ask: Callable[[], T], name: str, path: Path) -> T:
    """Return what a function of an object gives, or raise UnsupportedFeatureError if it fails."""
    try:
        return ask()
    except Exception as error:
        raise UnsupportedFeatureError(f"the object cannot give its {name}: {error}", where=str(path)) from error


def given(value: object, kind: type[T], name: str, path: Path) -> T:
    """Return a value, or raise FileFormatError if it is of another type."""
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise FileFormatError(f"the {name} of the object must be of type {kind.__name__}", value=value, where=str(path))
    return value
