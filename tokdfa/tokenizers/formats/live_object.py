"""An object of another library, or a part of one, asked for its attributes and refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.contents import LARGEST_ID

T = TypeVar("T")
NOT_SPECIAL = "an added token that is not special, which is found in texts, is not modelled"
IN_RUST = "the tokenizer with a backend in Rust"
_NOTHING: Any = object()
_AS_XLNET = (
    "changes quotes, strips accents by the Unicode tables of this Python, and encodes again a piece that ends in a "
    "digit and a comma"
)
# The code that is not modelled, by class of transformers; other classes get the reason of the reader that refuses them.
_REASONS = dict.fromkeys(("AlbertTokenizer", "XLNetTokenizer"), _AS_XLNET)


def installed(name: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


class Live:
    """An object of another library, or a part of one. `path` is its name in messages."""

    def __init__(self, value: Any, path: Path) -> None:
        self.value, self.path = value, path

    def ask(self, question: Callable[[], T], name: str) -> T:
        """Return the answer of the object, or raise UnsupportedFeatureError if it fails."""
        try:
            return question()
        except Exception as error:
            raise self.fault(f"the object cannot give its {name}: {error}") from error

    def get(self, name: str) -> Any:
        """Return an attribute; None if there is none. An object may compute it, and fail to."""
        return self.ask(lambda: getattr(self.value, name, None), name)

    def part(self, name: str) -> Live:
        """Return an attribute as an object."""
        return Live(self.get(name), self.path)

    def of(self, name: str, kind: type[T]) -> T:
        """Return an attribute of a type."""
        return self.checked(self.get(name), kind, name)

    def checked(self, value: object, kind: type[T], name: str) -> T:
        """Return a value, or raise FileFormatError if it is of another type."""
        if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
            what = f"the {name} of the object must be of type {kind.__name__}"
            raise self.fault(what, FileFormatError, value=value)
        return value

    def fault(
        self,
        what: str,
        error: type[FileFormatError] = UnsupportedFeatureError,
        *,
        value: object = _NOTHING,
        hint: str | None = None,
    ) -> FileFormatError:
        """Return the error that says why the object is refused."""
        shown = {} if value is _NOTHING else {"value": value}
        return error(what, where=str(self.path), hint=hint, **shown)

    def check_off(self, *names: str) -> None:
        """Refuse an object with an option that is not modelled."""
        for name in names:
            if self.get(name):
                raise self.fault(f"the option {name.lstrip('_')} is not modelled for it", value=True)

    def defined_by(self, method: str, classes: set[str], what: str, hint: str) -> str:
        """Return the class of transformers that defines a method of the object; refuse all but some classes."""
        found = Live(type(self.value), self.path).get(method)
        kind, _, _ = str(getattr(found, "__qualname__", "")).partition(".")
        if not str(getattr(found, "__module__", "")).startswith("transformers."):
            raise self.fault(what, value=kind or type(self.value).__name__, hint=hint)
        if kind not in classes:
            if reason := _REASONS.get(kind):
                what, hint = f"a tokenizer in Python that {reason}", f"load {kind}Fast, and encode with it"
            raise self.fault(what, value=kind, hint=hint)
        return kind

    def ids(self, tokens: list[str], name: str) -> list[int]:
        """Return the ids that a tokenizer gives for tokens or pieces."""
        convert = self.get("convert_tokens_to_ids")
        ids = [self.checked(id, int, f"id of a {name}") for id in self.ask(lambda: list(convert(tokens)), "ids")]
        if len(ids) != len(tokens) or not all(0 <= id <= LARGEST_ID for id in ids):
            raise self.fault(f"a {name} without an id from 0 to {LARGEST_ID}")
        return ids

    def added_tokens(self) -> Iterator[tuple[int, str, bool]]:
        """Yield the added tokens of a tokenizer: id, text, and whether it is special."""
        for id, token in self.of("added_tokens_decoder", dict).items():
            one = Live(token, self.path)
            text = one.checked(one.get("content"), str, "added token")
            yield self.checked(id, int, "id of an added token"), text, bool(one.get("special"))
