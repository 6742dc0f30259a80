"""``tokdfa split`` and ``tokdfa cuts``: the pieces of a text, and where ids or a text can be split safely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from tokdfa.cli import options
from tokdfa.cli.ids import check_one_text, given_text, of_file, read_text
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import escaped, print_json, say

if TYPE_CHECKING:
    from tokdfa.tokenizers.pieces import Piece, Pieces, SplitStep

# A longer piece pushes its own line to the right, not all others.
_WIDEST = 24


@click.command("split")
@click.argument("tok")
@click.argument("text", required=False)
@options.file
@click.option("--explain", is_flag=True, help="Show which alternative of the pattern made each piece, step by step.")
@options.escapes
@tokenizer_options
@options.json
def command(
    tok: str, text: str | None, path: str | None, explain: bool, escapes: bool, loading: Loading, as_json: bool
) -> int:
    r"""Print the pieces of a text: the parts into which TOK splits it before it merges anything.

    Each line has the offsets of a piece, in bytes, and the piece with invisible characters escaped.

    With --explain it also has the alternative of the pattern that matched, and how many symbols after the piece were
    read to find its end. If the pre-tokenizer has several steps, the pieces of each come first.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa split tokenizer.json "It's 2024"
      tokdfa split tokenizer.json --file book.txt --explain
    """
    check_one_text(text, path, "splits", escapes=escapes)

    tokenizer = load_tokenizer(tok, loading)
    pieces = tokenizer.split(read_text(text, path, escapes=escapes), explain=explain)
    if as_json:
        print_json(_fields(pieces, explain))
    elif explain:
        _print_explained(pieces)
    else:
        for piece in pieces:
            say(f"{piece.start}-{piece.end}\t{_shown(piece)}")
    return 0


def _shown(piece: Piece) -> str:
    return ascii(piece.text) if any("\ud800" <= symbol <= "\udfff" for symbol in piece.text) else repr(piece.text)


def _print_explained(pieces: Pieces) -> None:
    steps = pieces.steps
    for number, step in enumerate(steps, 1):
        if len(steps) > 1:
            say(f"step {number} of {len(steps)}: {_described(step)}")
            _print_pieces(step.pieces, steps, number - 1)
    if len(steps) > 1:
        say("pieces")
    elif steps:
        say(_described(steps[0]))
    _print_pieces(pieces, steps, None)


def _described(step: SplitStep) -> str:
    what = "text" if step.literal else "pattern"
    inverted = ", inverted" if step.invert else ""
    return f"{what} {_visible(step.pattern)}, matches {step.behavior.replace('_', ' ')}{inverted}"


def _visible(pattern: str) -> str:
    """Return a pattern with escapes for invisible characters, and its own backslashes as they are."""
    return "".join(
        symbol if symbol.isprintable() else symbol.encode("unicode_escape").decode("ascii") for symbol in pattern
    )


def _print_pieces(pieces: Iterable[Piece], steps: Sequence[SplitStep], number: int | None) -> None:
    """Print a line for each piece of step `number`, or of all steps together if that is None."""
    from rich.cells import cell_len

    rows = [("bytes", "piece", "looked ahead", "made by")]
    rows += [
        (f"{piece.start}-{piece.end}", _shown(piece), _look(piece), _cause(piece, steps, number)) for piece in pieces
    ]
    widths = [min(max(cell_len(row[column]) for row in rows), _WIDEST) for column in range(3)]
    for row in rows:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=False))
        say(escaped(f"{'  '.join(padded)}  {row[3]}".rstrip()))


def _cause(piece: Piece, steps: Sequence[SplitStep], number: int | None) -> str:
    if piece.special is not None:
        return f"special token {piece.special}"
    if piece.step is None or piece.alternative is None:
        return "nothing that matches" if len(steps) else "no pre-tokenizer"
    step = steps[piece.step]
    of = f"step {piece.step + 1}, " if len(steps) > 1 and number is None else ""
    return f"{of}{piece.alternative + 1} of {len(step.alternatives)}: {_visible(step.alternatives[piece.alternative])}"


def _look(piece: Piece) -> str:
    if piece.special is not None:
        return ""
    if piece.looked_ahead is None:
        return "no machine"
    symbols = f"{piece.looked_ahead} symbol{'' if piece.looked_ahead == 1 else 's'}"
    return f"{symbols} and the end" if piece.to_end else symbols


def _fields(pieces: Pieces, explained: bool) -> dict[str, Any]:
    if not explained:
        return {"text": pieces.text, "pieces": [_plain(piece) for piece in pieces]}
    steps = [
        {
            "pattern": step.pattern,
            "alternatives": step.alternatives,
            "behavior": step.behavior,
            "invert": step.invert,
            "literal": step.literal,
            "pieces": [_explained(piece) for piece in step.pieces],
        }
        for step in pieces.steps
    ]
    return {"text": pieces.text, "pieces": [_explained(piece) for piece in pieces], "steps": steps}


def _plain(piece: Piece) -> dict[str, Any]:
    return {"text": piece.text, "start": piece.start, "end": piece.end, "special": piece.special}


def _explained(piece: Piece) -> dict[str, Any]:
    why = {
        "step": piece.step,
        "alternative": piece.alternative,
        "looked_ahead": piece.looked_ahead,
        "to_end": piece.to_end,
    }
    return {**_plain(piece), **why}


@click.command("cuts")
@click.argument("tok")
@click.argument("ids", required=False)
@click.option("--text", metavar="TEXT", help="Split TEXT, in characters, instead of IDS.")
@click.option("--up-to", type=options.AtLeast(0), metavar="N", help="Only the last position up to N.")
@click.option(
    "--window", is_flag=True, help="IDS or TEXT were cut out of a longer stream: something unknown may precede."
)
@click.option("--ends", is_flag=True, help="IDS or TEXT end the stream: nothing follows.")
@options.dtype
@options.field
@options.escapes
@tokenizer_options
@options.json
def cuts(
    tok: str,
    ids: str | None,
    text: str | None,
    up_to: int | None,
    window: bool,
    ends: bool,
    dtype: str | None,
    field: str | None,
    escapes: bool,
    loading: Loading,
    as_json: bool,
) -> int:
    r"""Show where ids or text can be split safely, whatever follows.

    A part may be encoded separately if it begins at one of the printed positions: indices of ids, or of characters with
    --text. With --up-to N only the last position up to N is printed.

    Exit status: 0 found (with --up-to: N is safe), 1 not, 2 trouble.

    \b
    Examples:
      tokdfa cuts TOK ids.npy --up-to 4096
      tokdfa cuts TOK --text "one two" --ends
    """
    if (ids is None) == (text is None):
        raise click.UsageError("give either IDS or --text TEXT, and not both")
    if escapes and text is None:
        raise click.UsageError("--escapes is for --text")
    text = None if text is None else given_text(text, escapes=escapes)
    import numpy as np

    from tokdfa.base.arrays import IntegerArray
    from tokdfa.stores import iter_ids
    from tokdfa.tokenizers.tokenizer import Tokenizer

    tokenizer = cast(Tokenizer, load_tokenizer(tok, loading))
    chunks = [] if ids is None else [*iter_ids(ids, dtype=dtype, field=field)]
    given: IntegerArray | str = np.concatenate([np.empty(0, dtype=np.int64), *chunks]) if text is None else text
    unit = "ids" if text is None else "characters"
    if up_to is not None and up_to > len(given):
        raise click.BadParameter(f"there are only {len(given):,} {unit}, not {up_to:,}", param_hint="--up-to")
    with of_file(ids):
        if up_to is None:
            cuts = tokenizer.safe_cuts(given, begins=not window, ends=ends).tolist()
        else:
            cuts = [tokenizer.last_safe_cut(given, up_to, begins=not window, ends=ends)]
    if as_json:
        print_json({"unit": unit, "places": cuts, "count": len(given), "before": up_to})
    else:
        say(" ".join(map(str, cuts)))
    return 0 if (cuts if up_to is None else cuts == [up_to]) else 1
