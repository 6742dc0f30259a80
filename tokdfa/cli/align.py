"""``tokdfa align``: cut two streams of ids of one text at shared boundaries, or decide how long a unit can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from tokdfa.cli import options
from tokdfa.cli.ids import ids_and_documents, of_file
from tokdfa.cli.loading import of_both, remark_unsplit
from tokdfa.cli.output import counted, print_fields, print_json, say, shown_ids

if TYPE_CHECKING:
    from tokdfa.base.arrays import Int64Array, IntegerArray
    from tokdfa.jobs.alignment.result import Alignment
    from tokdfa.tokenizers.protocol import AnyTokenizer

_SHAPES = 8
_OF_IDS = ("output", "special", "documents", "documents_b", "dtype", "dtype_b", "field", "field_b")


def _new_file(ctx: click.Context, parameter: click.Parameter, path: Any) -> Any:
    """Check the name of the file for units, and the file."""
    from pathlib import Path

    from tokdfa.jobs.alignment.result import FILES

    if path is not None and Path(path).suffix.lower() not in FILES:
        what = f"{path}: units are written as {' or '.join(FILES)}; give a name that ends so"
        raise click.BadParameter(what, param_hint=parameter.opts[0])
    return options.new_file(ctx, parameter, path)


@click.command("align")
@click.argument("tokenizers_and_ids", nargs=-1, metavar="A [IDS_A] B [IDS_B]")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=_new_file,
    help="Write the units to FILE: arrays to a .npz, or one JSON object per unit to a .jsonl.",
)
@click.option(
    "--special",
    type=click.Choice(["drop", "keep"]),
    default="drop",
    help="Whether control tokens, such as <s>, add nothing to the text (drop, the default), or are spelled (keep).",
)
@of_both(
    {
        **dict.fromkeys((options.documents, options.dtype, options.field), "IDS_B"),
        **dict.fromkeys((options.pretokenizer, options.specials, options.format), "B"),
    }
)
@options.time_limit(
    "For all texts: search for N seconds of processor time at most; then the status is 2, or the answer "
    "a bound that is proven.",
    60.0,
)
@options.force
@options.json
def command(
    tokenizers_and_ids: tuple[str, ...],
    output: str | None,
    special: Literal["drop", "keep"],
    max_seconds: float,
    as_json: bool,
    sides: tuple[dict[str, Any], dict[str, Any]],
) -> int:
    r"""Cut two streams of ids of one text into units, at the boundaries that both share.

    A unit is the smallest part of the text that both streams spell with whole ids, such as one id for " single" in A
    and two for " s", "ingle" in B. A and B are tokenizer files, or folders with one; IDS_A and IDS_B are stores of ids.
    If the texts differ, the error shows the first difference.

    Printed are the numbers of ids in the units, the units that split a character, and the units that a single id of the
    other side spells, too. -o FILE has all units, with these ids.

    Without IDS_A and IDS_B, the answer is the most bytes that a unit can have, over all texts that both leave
    unchanged, or a part of a text that can be repeated, so that there is no limit. A and B are byte pairs or WordPiece.

    Exit status: 0 aligned or bounded, 1 unbounded, 2 trouble or other texts.

    \b
    Examples:
      tokdfa align teacher/ teacher.npy student/tokenizer.json student.npy -o units.npz
      tokdfa align teacher/ student/
    """
    if len(tokenizers_and_ids) not in (2, 4):
        raise click.UsageError("give A, IDS_A, B and IDS_B, in this order; or only A and B, for all texts")
    if len(tokenizers_and_ids) == 2:
        a, b = tokenizers_and_ids
        if any(map(options.is_given, _OF_IDS)):
            raise click.UsageError("options about units and ids are for IDS_A and IDS_B")
        return _print_longest((a, b), sides, max_seconds, as_json)
    if options.is_given("max_seconds"):
        raise click.UsageError("--max-seconds is for all texts, without IDS_A and IDS_B")
    a, ids_a, b, ids_b = tokenizers_and_ids
    if ids_a == ids_b == "-":
        raise click.UsageError("standard input is one stream, so IDS_A and IDS_B cannot both be -")
    alignment = _aligned((a, b), (ids_a, ids_b), sides, special)
    if output is not None:
        alignment.save(output)
    fields = {"a": a, "b": b, **_fields(alignment)}
    if as_json:
        print_json(fields)
    else:
        _print(fields)
    return 0


def _aligned(
    paths: tuple[str, str],
    stores: tuple[str, str],
    options: tuple[dict[str, Any], dict[str, Any]],
    special: Literal["drop", "keep"],
) -> Alignment:
    """Return the units of two stores of ids."""
    from tokdfa.jobs.alignment.api import align
    from tokdfa.tokenizers.loading import load_unsplit

    both = [load_unsplit(a, specials=of["specials"], format=of["format"]) for a, of in zip(paths, options, strict=True)]
    (ids_a, starts_a), (ids_b, starts_b) = map(_stream, both, stores, options)
    return align(both[0], ids_a, both[1], ids_b, documents_a=starts_a, documents_b=starts_b, special=special)


def _print_longest(
    paths: tuple[str, str], options: tuple[dict[str, Any], dict[str, Any]], max_seconds: float, as_json: bool
) -> int:
    """Print how long units can become over all texts, and return the exit status."""
    from tokdfa.jobs.alignment.longest import longest_unit
    from tokdfa.tokenizers.loading import load

    both = [
        load(a, pretokenizer=of["pretokenizer"], specials=of["specials"], format=of["format"])
        for a, of in zip(paths, options, strict=True)
    ]
    for tokenizer, path, of, option in zip(both, paths, options, ("", "-b"), strict=True):
        remark_unsplit(tokenizer, path, of["pretokenizer"], f"--pretokenizer{option}")
    found = longest_unit(*both, max_seconds=max_seconds)
    unit = found.witness
    assert unit is not None
    if as_json:
        names = ("text", "start", "stop", "ids_a", "ids_b", "pump")
        witness = {name: getattr(unit, name) for name in names}
        answer = {"bounded": found.holds, "most_bytes": found.most, "exact": found.is_exact, "witness": witness}
        print_json({"a": paths[0], "b": paths[1], **answer})
    else:
        say(found.reason)
        say(f"bytes {unit.start}-{unit.stop}: ids {shown_ids(unit.ids_a)} of A, {shown_ids(unit.ids_b)} of B")
    return 0 if found else 1


def _stream(tokenizer: AnyTokenizer, ids: str, of: dict[str, Any]) -> tuple[IntegerArray, Int64Array | None]:
    """Return the ids of a store, and where its documents begin."""
    import numpy as np

    with of_file(ids):
        chunks, documents, _ = ids_and_documents(ids, of["dtype"], of["field"], of["documents"])
        found = tokenizer.decoder.check(np.concatenate([np.zeros(0, dtype=np.int64), *chunks]))
    if isinstance(documents, int):
        starts = np.append(0, np.flatnonzero(found == documents) + 1)
        documents = starts[(starts < len(found)) | (starts == 0)]
    return found, documents if documents is not None and len(documents) else None


def _fields(alignment: Alignment) -> dict[str, Any]:
    import numpy as np

    return {
        "tokens_a": len(alignment.ids_a),
        "tokens_b": len(alignment.ids_b),
        "documents": len(alignment.documents) - 1,
        "bytes": int(alignment.offsets[-1]),
        "units": len(alignment),
        "shapes": [{"a": a, "b": b, "units": count} for (a, b), count in alignment.shapes.items()],
        "within_characters": int(np.count_nonzero(alignment.within_characters)),
        "spelled_by_one_a": int(np.count_nonzero(np.diff(alignment.candidates("a").bounds))),
        "spelled_by_one_b": int(np.count_nonzero(np.diff(alignment.candidates("b").bounds))),
    }


def _print(fields: dict[str, Any]) -> None:
    shapes = [f"{shape['a']}:{shape['b']} {shape['units']:,}" for shape in fields["shapes"]]
    rows: list[tuple[str, object]] = [
        ("units", f"{fields['units']:,} of {fields['tokens_a']:,} and {fields['tokens_b']:,} ids"),
        ("text", f"{counted(fields['bytes'], 'byte')} in {counted(fields['documents'], 'document')}"),
        ("ids of A : ids of B", ", ".join(shapes[:_SHAPES]) + " …" * (len(shapes) > _SHAPES)),
        ("boundaries within characters", fields["within_characters"]),
        ("units that one id of A spells", fields["spelled_by_one_a"]),
        ("units that one id of B spells", fields["spelled_by_one_b"]),
    ]
    print_fields(rows)
