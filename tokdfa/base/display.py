"""The base class of values that notebooks display."""

from __future__ import annotations

from tokdfa.base.suggestions import SuggestsNames


class Displayed(SuggestsNames):
    """Something that notebooks show as a picture or a table; see :func:`tokdfa.draw.display.bundle`."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from tokdfa.draw.display import bundle

        return bundle(self)
