"""The README's film: the fold of [a≀a, b≀a] over {a, b}, rule by rule."""

from __future__ import annotations

from tokdfa import Dictionary, Film
from tokdfa.draw.graph import Graph

FILM = Film(Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab"))


def graph() -> Graph:
    """Return the picture in which the film moves."""
    return FILM.graph


def draw() -> str:
    """Return it as SVG that moves."""
    return FILM.to_svg()
