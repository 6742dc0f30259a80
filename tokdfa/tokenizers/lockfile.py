"""Lock files: the fingerprint of a tokenizer, kept beside it to notice that it does something else."""

from __future__ import annotations

import tomllib
from pathlib import Path

import tokdfa
from tokdfa.errors import FileFormatError
from tokdfa.tokenizers.fingerprint import PARTS, Fingerprint

__all__ = ["lock_text", "made_with", "read_lock"]


_HEAD = """\
# What this tokenizer does, by tokdfa: as long as the fingerprint is the same, texts have the same ids and ids the same
# texts. Written by `tokdfa fingerprint TOK -o FILE`, checked by `tokdfa fingerprint TOK --check FILE`.
"""
_MOST_BYTES = 1 << 16
_DIGITS = set("0123456789abcdef")


def made_with() -> dict[str, str]:
    """Return the versions that a lock names beside the fingerprint, which depends on none of them."""
    from tokdfa.unicode.normalization import tables
    from tokdfa.unicode.tables import version

    versions = {"tokdfa": tokdfa.__version__, "tokenizers": tables().version}
    return versions | {"tiktoken": version("tiktoken")}


def lock_text(found: Fingerprint) -> str:
    """Return a lock file, in TOML, a line a part.

    Examples
    --------
    >>> from tokdfa.tokenizers.lockfile import lock_text
    >>> print(lock_text(tokdfa.fingerprint(tokdfa.default_tokenizer())).splitlines()[2][:17])
    fingerprint = "31
    """
    lines = [f'fingerprint = "{found.value}"', "", "[parts]"]
    lines += [f'{name} = "{found.parts[name]}"' for name in PARTS]
    lines += ["", "# Not in the fingerprint: tokdfa, and the libraries whose Unicode tables it had.", "[made-with]"]
    lines += [f'{name} = "{version}"' for name, version in made_with().items()]
    return _HEAD + "\n".join(lines) + "\n"


def read_lock(path: str | Path) -> Fingerprint:
    """Return the fingerprint that a lock file has; FileFormatError says where it is not one, or contradicts itself."""
    with Path(path).open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    hint = "write it again: tokdfa fingerprint TOK -o FILE"
    if len(data) > _MOST_BYTES:
        raise FileFormatError("a lock file is not so long", where=str(path), hint=hint)
    try:
        fields = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise FileFormatError(f"the lock file is not TOML: {error}", where=str(path), hint=hint) from None
    value, parts = fields.get("fingerprint"), fields.get("parts")
    if not isinstance(parts, dict) or {*parts} != {*PARTS}:
        named = sorted(parts) if isinstance(parts, dict) else parts
        what = f"a lock file has the parts {', '.join(PARTS)}"
        raise FileFormatError(what, value=named, where=f"{path}, parts", hint=hint)
    for name, part in {**parts, "fingerprint": value}.items():
        if not isinstance(part, str) or len(part) != 64 or not _DIGITS.issuperset(part):
            raise FileFormatError("a SHA-256 is 64 hexadecimal digits", value=part, where=f"{path}, {name}", hint=hint)
    found = Fingerprint(parts)
    if found.value != value:
        what = "the fingerprint is not that of the parts"
        raise FileFormatError(what, value=value, where=f"{path}, fingerprint", hint=hint)
    return found
