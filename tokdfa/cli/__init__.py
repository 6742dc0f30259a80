"""The command line: thin modules of one command, or of a few that belong together.

The commands are `info`, `validate`, `encode`, `decode`, `split`, `compare`, `search`, `replace`, `rollouts`,
`splice`, `cuts`, `injection`, `template`, `turns`, `forced`, `stores`, `guess`, `fingerprint`, `locality`, `train`,
`draw`, `demo`, `formats` and `schema`; `group` imports each one when it is used, and answers shells that complete them.
`options` has what several commands share, and checks the files that they write. `output` writes to stdout, to stderr
and certificates for all of them, and `trouble` reports why a command failed. `ids` reads their argument IDS, their
texts and files of words, `corpus` works on many files of IDS, and `loading` loads a tokenizer, and the automata that
several commands write out. ``schemas/`` describes the output of ``--json``.

Exit status 0 means yes (valid, equivalent, found, done), 1 means no, 2 is trouble with one line on stderr, 130 an
interrupt. An unexpected exception is trouble, too: status 1 is always an answer.
"""

# Nothing but the standard library is imported before `main` runs: an earlier failure would exit with status 1.
from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status.

    If the environment variable ``TOKDFA_DEBUG`` is set, the traceback of any error is shown as well.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; by default the process's own.
    """
    try:
        from tokdfa.cli.group import run
        from tokdfa.cli.output import flush, prepare

        prepare()
        status = run(sys.argv[1:] if arguments is None else arguments)
        flush()
    except BaseException as error:
        from tokdfa.cli.trouble import report

        status = report(error)
    _settle_stdout()
    sys.exit(status)


def _settle_stdout() -> None:
    """Discard output that stdout refuses: the interpreter's own flush at exit would fail and change the status."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
