"""Whether sizes and ids fit: vocab_size, embedding rows, the ids of bos, eos, pad and unk, gaps and duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from tokdfa.automata.alphabet import show
from tokdfa.jobs.examination.declared import GENERATION, ROLES, Declared
from tokdfa.jobs.examination.finding import Finding, Group, Severity
from tokdfa.jobs.examination.folder import Loaded
from tokdfa.tokenizers.protocol import AnyTokenizer

_GROUP = Group.IDS


def check_ids(loaded: Loaded, declared: Declared) -> Iterator[Finding]:
    """Yield the findings about sizes, the ids that files name, gaps and duplicates."""
    yield from _sizes(loaded, declared)
    yield from _rows(loaded, declared)
    yield from _named_ids(loaded, declared)
    for role in ROLES:
        yield from _role(role, loaded, declared)
    yield from _padding(loaded, declared)
    yield from _gaps(loaded)


def _sizes(loaded: Loaded, declared: Declared) -> Iterator[Finding]:
    n = loaded.tokenizer.n_ids
    for name, size in declared.sizes.items():
        values = {"size": size, "ids": n, "token": _name(loaded.tokenizer, n - 1)}
        if size < n:
            yield Finding(_GROUP, "size too small", Severity.FAULT, (name, loaded.name), values)
        else:
            yield Finding(_GROUP, "size fits", Severity.OK, (name, loaded.name), values)


def _rows(loaded: Loaded, declared: Declared) -> Iterator[Finding]:
    n = loaded.tokenizer.n_ids
    sizes = declared.sizes.get("config.json")
    for name, rows in declared.rows.items():
        for tensor, n_rows in rows.items():
            values = {"tensor": tensor, "rows": n_rows, "ids": n, "size": sizes}
            if n_rows < n:
                yield Finding(_GROUP, "too few rows", Severity.FAULT, (name, loaded.name), values)
            elif sizes is not None and n_rows != sizes:
                yield Finding(_GROUP, "rows are not the size", Severity.FAULT, (name, "config.json"), values)
            else:
                yield Finding(_GROUP, "rows fit", Severity.OK, (name, loaded.name), values)


def _named_ids(loaded: Loaded, declared: Declared) -> Iterator[Finding]:
    """Yield a fault for each id of a role that no token has."""
    for name, roles in declared.ids.items():
        for role, ids in roles.items():
            missing = [id for id in ids if not _is_id(loaded.tokenizer, id)]
            values = {"role": role, "id": (missing or ids)[0], "ids": loaded.tokenizer.n_ids}
            if missing:
                yield Finding(_GROUP, "id of no token", Severity.FAULT, (name, loaded.name), values)


def _role(role: str, loaded: Loaded, declared: Declared) -> Iterator[Finding]:
    """Yield whether the files agree on the ids of a role.

    One that ends a generation is in the list of ``generation_config.json``, which comes before the other files.
    """
    found: dict[str, tuple[int, ...]] = {name: roles[role] for name, roles in declared.ids.items() if role in roles}
    text, special_ids = declared.role(role), _special_ids(loaded.tokenizer)
    if text is not None and text in special_ids:
        source = next(name for name, tokens in declared.tokens.items() if f"{role}_token" in tokens)
        found[source] = (special_ids[text],)
    if len(found) < 2:
        return
    first = GENERATION if GENERATION in found else next(iter(found))
    others = [name for name, ids in found.items() if name != first and not {*ids} & {*found[first]}]
    values = {
        "role": role,
        "ids": [[name, *ids] for name, ids in found.items()],
        "tokens": [[id, _name(loaded.tokenizer, id)] for id in sorted({id for ids in found.values() for id in ids})],
    }
    # Padding is chosen for training or for generating, and both are right.
    severity = Severity.WARNING if role in ("pad", "unk") else Severity.FAULT
    if others:
        yield Finding(_GROUP, "ids of a role differ", severity, (first, *others), values)
    else:
        yield Finding(_GROUP, "ids of a role agree", Severity.OK, tuple(found), values)


def _padding(loaded: Loaded, declared: Declared) -> Iterator[Finding]:
    pad = declared.role("pad")
    if pad is None:
        return
    for role, kind in (("eos", "pad is eos"), ("unk", "pad is unk")):
        if declared.role(role) == pad:
            yield Finding(_GROUP, kind, Severity.WARNING, (loaded.name,), {"token": pad})


def _gaps(loaded: Loaded) -> Iterator[Finding]:
    tokenizer = loaded.tokenizer
    missing = np.flatnonzero(~tokenizer.means_something)
    if len(missing):
        values = {"count": len(missing), "first": int(missing[0])}
        yield Finding(_GROUP, "gaps", Severity.WARNING, (loaded.name,), values)
    else:
        yield Finding(_GROUP, "no gaps", Severity.OK, (loaded.name,), {"ids": tokenizer.n_ids})
    ids: dict[str, set[int]] = {}
    for special in tokenizer.specials:
        ids.setdefault(special.content, set()).add(special.id)
    twice = {text: sorted(found) for text, found in ids.items() if len(found) > 1}
    for text, found in twice.items():
        yield Finding(_GROUP, "token with two ids", Severity.FAULT, (loaded.name,), {"token": text, "ids": found})
    names = Counter(special.id for special in tokenizer.specials)
    for id, count in names.items():
        if count > 1:
            texts = [special.content for special in tokenizer.specials if special.id == id]
            yield Finding(_GROUP, "id with two tokens", Severity.FAULT, (loaded.name,), {"id": id, "tokens": texts})


def _special_ids(tokenizer: AnyTokenizer) -> dict[str, int]:
    return {special.content: special.id for special in tokenizer.specials}


def _is_id(tokenizer: AnyTokenizer, id: int) -> bool:
    return id < tokenizer.n_ids and bool(tokenizer.means_something[id])


def _name(tokenizer: AnyTokenizer, id: int) -> str | None:
    return show(tokenizer.name_of(id)) if _is_id(tokenizer, id) else None
