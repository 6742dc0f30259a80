"""The output of the commands: text, tables and JSON on stdout, remarks on stderr, on any terminal or encoding."""

from __future__ import annotations

import codecs
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from tokdfa.base.errors import TokdfaError

if TYPE_CHECKING:
    from rich.table import Table

    from tokdfa.jobs.certificates.api import Certificate

# Columns of an output that is not a terminal.
_UNLIMITED = 1 << 30


def prepare() -> None:
    """Have stdout escape characters that its encoding cannot show, unless PYTHONIOENCODING asks for something else."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="backslashreplace")


def keep_line_ends() -> None:
    """Have stdout write line ends unchanged, even on Windows."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(newline="\n")


def say(text: str, *, end: str = "\n") -> None:
    """Print text on stdout at once."""
    if sys.stdout is not None:
        with _writing():
            sys.stdout.write(text + end)
            sys.stdout.flush()


def print_bytes(data: bytes) -> None:
    """Write bytes to stdout unchanged."""
    if sys.stdout is not None:
        with _writing():
            sys.stdout.buffer.write(data)


def flush() -> None:
    """Flush stdout."""
    if sys.stdout is not None:
        with _writing():
            sys.stdout.flush()


@contextmanager
def _writing() -> Iterator[None]:
    """Have an error name standard output as its file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from None


def counted(n: int, noun: str) -> str:
    """Return a number and its noun, in the plural unless it is one."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def shown_ids(ids: Sequence[int]) -> str:
    """Return the first of some ids."""
    shown = " ".join(map(str, ids[:12]))
    return shown if len(ids) <= 12 else f"{shown} … ({len(ids)} ids)"


def escaped(text: str) -> str:
    """Return `text` with every character escaped that the encoding of stdout cannot show."""
    encoding = _encoding()
    return text.encode(encoding, "backslashreplace").decode(encoding)


def print_json(fields: Mapping[str, Any]) -> None:
    """Print `fields` as one JSON object on stdout, in ASCII unless the encoding of stdout is UTF-8.

    Numpy arrays and numbers become plain ones.
    """
    # Half of a surrogate pair has no UTF-8, but it is escaped, and the escape is the same in JSON.
    say(json.dumps(fields, ensure_ascii=codecs.lookup(_encoding()).name != "utf-8", default=_plain))


def print_table(table: Table) -> None:
    """Print a table of rich on stdout; its lines are wrapped for terminals only."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console = Console(highlight=False, soft_wrap=True, width=_UNLIMITED)
    with console.capture() as printed:
        console.print(table)
    say("".join(f"{line.rstrip(' ')}\n" for line in printed.get().split("\n")[:-1]), end="")


def print_fields(rows: Iterable[tuple[str, object]]) -> None:
    """Print names and values in two columns, with commas between the thousands of whole numbers."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        if isinstance(value, Mapping):
            value = ", ".join(f"{key} {inner}" for key, inner in value.items())
        is_number = isinstance(value, int) and not isinstance(value, bool)
        table.add_row(name, Text(f"{value:,}" if is_number else str(value)))
    print_table(table)


class Written(NamedTuple):
    """The certificate that was written, as ``--json`` prints it, or the reason why there is none."""

    fields: dict[str, Any] | None = None
    error: Exception | None = None

    def show(self) -> None:
        """Print where the certificate was written, if it was."""
        if self.fields is not None:
            print_fields([("certificate", f"{self.fields['path']}, {self.fields['bytes']:,} bytes")])

    def check(self) -> None:
        """Raise the error, after the answer has been printed."""
        if self.error is not None:
            raise self.error


def write_certificate(make: Callable[[], Certificate], path: str | None) -> Written:
    """Make and write a certificate, if one is asked for; what prevents it must not hide the answer."""
    if path is None:
        return Written()
    try:
        certificate = make()
        certificate.save(path)
    except (TokdfaError, OSError) as error:
        return Written(error=error)
    return Written({"path": path, "bytes": len(certificate.text)})


def remark(text: str) -> None:
    """Print a remark on stderr, where it does not disturb the answer."""
    if sys.stderr is not None:
        print(f"tokdfa: {text}", file=sys.stderr)


@contextmanager
def stages() -> Iterator[Callable[[str], object] | None]:
    """Yield a function that shows the current stage of work on a terminal, or None if stderr is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("reading") as status:
        yield status.update


def _encoding() -> str:
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"not a JSON value: {value!r}")
