"""JSON schemas as regular expressions, which the library outlines-core writes."""

from __future__ import annotations

from tokdfa.base.errors import UnsupportedFeatureError

__all__ = ["pattern_of_schema"]


def pattern_of_schema(schema: str, *, whitespace: str | None = None, where: str = "the schema") -> str:
    """Return a regular expression of the JSON documents of a schema without recursion, as outlines-core reads it.

    `whitespace` is an expression of the white space between the parts, by default one space or none; `where` is what
    the schema is called in messages.
    """
    try:
        from outlines_core.json_schema import build_regex_from_schema
    except ImportError:
        what = "a JSON schema is made a regular expression by outlines-core, which is not installed"
        raise UnsupportedFeatureError(what, where=where, hint="pip install outlines-core") from None
    try:
        pattern: str = build_regex_from_schema(schema, whitespace)
    except (ValueError, TypeError) as error:
        # The rest of its message is advice about the library.
        first = str(error).strip().partition("\n")[0].strip().rstrip(".")
        raise UnsupportedFeatureError(f"outlines-core cannot read the schema: {first}", where=where) from None
    return pattern
