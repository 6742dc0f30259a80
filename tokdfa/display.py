"""Values that show themselves in a notebook."""

from __future__ import annotations

from importlib import import_module

__all__ = ["Displayed"]


class Displayed:
    """Something that notebooks show as a picture or a table; see :func:`tokdfa.draw.display.bundle`."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        # Drawing is above all that is drawn, so the way there is by name.
        shown: dict[str, str] = import_module("tokdfa.draw.display").bundle(self)
        return shown
