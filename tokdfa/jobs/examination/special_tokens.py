"""Whether the special tokens that files name exist, are found in texts, and have the ids that files give them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.examination.declared import ROLES, Declared
from tokdfa.jobs.examination.finding import Finding, Group, Severity
from tokdfa.jobs.examination.folder import Loaded
from tokdfa.tokenizers.protocol import AnyTokenizer

_GROUP = Group.SPECIAL_TOKENS
_MOST_NAMED = 5


class Names:
    """The ids of the special tokens of a tokenizer, and of its other tokens, by their names."""

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self.special = {special.content: special.id for special in tokenizer.specials}
        self._tokenizer = tokenizer
        self._others: dict[bytes, int] | None = None

    def id_of(self, text: str) -> int | None:
        """Return the id of a token, special or not; None without one."""
        if text in self.special:
            return self.special[text]
        if self._others is None:
            ids = np.flatnonzero(self._tokenizer.means_something).tolist()
            self._others = {self._tokenizer.name_of(id): id for id in ids}
        return self._others.get(text.encode("utf-8", "surrogatepass"))


def check_special_tokens(loaded: Loaded, declared: Declared) -> Iterator[Finding]:
    """Yield the findings about tokens of roles, added tokens with their ids, and special tokens within texts."""
    names = Names(loaded.tokenizer)
    n_faults = 0
    for finding in (*_named(loaded, declared, names), *_with_ids(loaded, declared, names), *_roles(declared)):
        n_faults += finding.severity == Severity.FAULT
        yield finding
    if declared.tokens and not n_faults:
        count = len({text for tokens in declared.tokens.values() for text in tokens.values()})
        yield Finding(_GROUP, "named tokens exist", Severity.OK, (loaded.name,), {"count": count})
    yield from _in_texts(loaded)


def _named(loaded: Loaded, declared: Declared, names: Names) -> Iterator[Finding]:
    """Yield a fault for named tokens that do not exist, and a warning for those that are ordinary tokens."""
    for name, tokens in declared.tokens.items():
        texts = dict.fromkeys((*tokens.values(), *declared.extra_tokens.get(name, ())))
        missing = [text for text in texts if names.id_of(text) is None]
        if missing:
            values = {**_first(missing), "ids": _n_ids(loaded.tokenizer, missing[0])}
            yield Finding(_GROUP, "token does not exist", Severity.FAULT, (name, loaded.name), values)
        plain = [text for text in texts if names.id_of(text) is not None and text not in names.special]
        if plain and loaded.tokenizer.finds_specials:
            yield Finding(_GROUP, "token is ordinary", Severity.WARNING, (name, loaded.name), _first(plain))


def _with_ids(loaded: Loaded, declared: Declared, names: Names) -> Iterator[Finding]:
    for name, tokens in declared.ids_of_tokens.items():
        wrong = [(text, id, names.id_of(text)) for text, id in tokens.items() if names.id_of(text) != id]
        if wrong:
            text, id, own = wrong[0]
            values = {"count": len(wrong), "first": text, "id": id, "ids": [own]}
            yield Finding(_GROUP, "token with another id", Severity.FAULT, (name, loaded.name), values)
        elif tokens:
            yield Finding(_GROUP, "ids of tokens agree", Severity.OK, (name, loaded.name), {"count": len(tokens)})


def _roles(declared: Declared) -> Iterator[Finding]:
    """Yield a fault for each role that has another token in another file."""
    for role in (*ROLES, "sep", "cls", "mask"):
        found = {name: tokens[f"{role}_token"] for name, tokens in declared.tokens.items() if f"{role}_token" in tokens}
        if len({*found.values()}) > 1:
            values = {"role": role, "tokens": [[name, text] for name, text in found.items()]}
            yield Finding(_GROUP, "tokens of a role differ", Severity.FAULT, tuple(found), values)


def _in_texts(loaded: Loaded) -> Iterator[Finding]:
    """Yield whether each special token that is looked for is found as one id: alone, and between other letters."""
    tokenizer = loaded.tokenizer
    specials = [special for special in tokenizer.found_specials if special.content]
    alone = [special.content for special in specials if not _is_found(tokenizer, special.content, special.id)]
    inside = [
        special.content
        for special in specials
        if special.content not in alone and not _is_found(tokenizer, f"a{special.content}b", special.id)
    ]
    for kind, severity, texts in (
        ("token is split", Severity.FAULT, alone),
        ("in words only", Severity.WARNING, inside),
    ):
        if texts:
            values = {**_first(texts), "ids": _n_ids(tokenizer, texts[0])}
            yield Finding(_GROUP, kind, severity, (loaded.name,), values)
    if specials and not alone and not inside:
        yield Finding(_GROUP, "tokens are found", Severity.OK, (loaded.name,), {"count": len(specials)})


def _is_found(tokenizer: AnyTokenizer, text: str, id: int) -> bool:
    """Return whether an id is among the ids of a text; a text that is refused has none."""
    try:
        return id in tokenizer.encode(text).tolist()
    except TokdfaError:
        return False


def _n_ids(tokenizer: AnyTokenizer, text: str) -> int | None:
    try:
        return len(tokenizer.encode(text))
    except TokdfaError:
        return None


def _first(texts: Iterable[str]) -> dict[str, Any]:
    found = [*texts]
    return {"count": len(found), "first": found[0], "tokens": found[:_MOST_NAMED]}
