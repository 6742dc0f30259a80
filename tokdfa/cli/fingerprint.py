"""``tokdfa fingerprint``: the behaviour of a tokenizer as a hash, and whether it is still the same.

A lock file keeps the fingerprint next to the tokenizer, so that one notices when the tokenizer behaves otherwise.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokdfa.base.errors import FileFormatError
from tokdfa.base.files import open_named
from tokdfa.cli import options
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import print_json, say

if TYPE_CHECKING:
    from tokdfa.tokenizers.fingerprint import Fingerprint

_HEAD = """\
# What this tokenizer does, by tokdfa: as long as the fingerprint is the same, texts have the same ids and ids the same
# texts. Written by `tokdfa fingerprint TOK -o FILE`, checked by `tokdfa fingerprint TOK --check FILE`.
"""
_MOST_BYTES = 1 << 16
_DIGITS = set("0123456789abcdef")


@click.command("fingerprint")
@click.argument("tok")
@click.option("--check", "lock", metavar="LOCK", help="Compare with the lock file LOCK instead of printing one.")
@click.option(
    "-o", "--output", metavar="FILE", callback=options.new_file, help="Write the lock to FILE instead of printing it."
)
@options.force
@tokenizer_options
@options.json
def command(tok: str, lock: str | None, output: str | None, loading: Loading, as_json: bool) -> int:
    r"""Lock what a tokenizer does: print its fingerprint as a lock file, or check it against one.

    Equal fingerprints mean equal ids for every text and equal texts for all ids, even if the files differ. Different
    fingerprints do not prove a difference; tokdfa compare decides that.

    Exit status: 0 printed or unchanged, 1 parts have changed, 2 trouble.

    \b
    Examples:
      tokdfa fingerprint tokenizer.json -o tokenizer.lock
      tokdfa fingerprint tokenizer.json --check tokenizer.lock
    """
    if lock is not None and output is not None:
        raise click.UsageError("give either --check LOCK or --output FILE, and not both")
    from tokdfa.base.atomic import write_atomically
    from tokdfa.tokenizers.fingerprint import fingerprint

    kept = None if lock is None else read_lock(lock)
    found = fingerprint(load_tokenizer(tok, loading))
    changed = () if kept is None else kept.changed(found)
    if output is not None:
        write_atomically(output, lock_text(found).encode())
    if as_json:
        answer = {"path": tok, "fingerprint": found.value, "parts": dict(found.parts), "made_with": made_with()}
        print_json(answer if kept is None else {**answer, "lock": lock, "same": not changed, "changed": changed})
    elif kept is not None:
        say(f"changed: {', '.join(changed)}" if changed else f"the same: {found}")
    elif output is None:
        say(lock_text(found), end="")
    return 1 if changed else 0


def made_with() -> dict[str, str]:
    """Return the versions that a lock names next to the fingerprint, which depends on none of them."""
    import tokdfa
    from tokdfa.regex.unicode.normalization import tables
    from tokdfa.regex.unicode.tables import version

    versions = {"tokdfa": tokdfa.__version__, "tokenizers": tables().version}
    return versions | {"tiktoken": version("tiktoken")}


def lock_text(found: Fingerprint) -> str:
    """Return a lock file, in TOML, a line a part.

    Examples
    --------
    >>> from tokdfa.cli.fingerprint import lock_text
    >>> print(lock_text(tokdfa.fingerprint(tokdfa.default_tokenizer())).splitlines()[2][:17])
    fingerprint = "31
    """
    from tokdfa.tokenizers.fingerprint import PARTS

    lines = [f'fingerprint = "{found.value}"', "", "[parts]"]
    lines += [f'{name} = "{found.parts[name]}"' for name in PARTS]
    lines += ["", "# Not in the fingerprint: tokdfa, and the libraries whose Unicode tables it had.", "[made-with]"]
    lines += [f'{name} = "{made}"' for name, made in made_with().items()]
    return _HEAD + "\n".join(lines) + "\n"


def read_lock(path: str | Path) -> Fingerprint:
    """Return the fingerprint that a lock file has; FileFormatError says where it is not one, or contradicts itself."""
    from tokdfa.tokenizers.fingerprint import PARTS, Fingerprint

    with open_named(path) as file:
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
        what = "the fingerprint does not belong to the parts"
        raise FileFormatError(what, value=value, where=f"{path}, fingerprint", hint=hint)
    return found
