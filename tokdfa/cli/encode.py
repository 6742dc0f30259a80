"""``tokdfa encode`` and ``tokdfa decode``: the ids of a text, and the text of ids."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from tokdfa.cli import options
from tokdfa.cli.ids import check_ids_output, check_one_text, of_file, read_text
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import keep_line_ends, print_bytes, print_json, remark, say

if TYPE_CHECKING:
    import numpy.typing as npt

    from tokdfa.tokenizers.decoder import Cut
    from tokdfa.tokenizers.stream_decoder import StreamDecoder

_ERRORS = ("strict", "replace", "ignore", "backslashreplace")


@click.command("encode")
@click.argument("tok")
@click.argument("text", required=False)
@options.file
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=options.new_file,
    help="Write the ids to FILE, a .npy file, instead of printing them.",
)
@options.force
@options.escapes
@tokenizer_options
@options.json
def command(
    tok: str, text: str | None, path: str | None, output: str | None, escapes: bool, loading: Loading, as_json: bool
) -> int:
    r"""Print the ids of a text, separated by spaces.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa encode tokenizer.json "Hello, world"
      tokdfa encode tokenizer.json --file book.txt -o book.npy
    """
    check_one_text(text, path, "encodes", escapes=escapes)
    from tokdfa.base.atomic import write_atomically
    from tokdfa.stores.raw import npy_file

    if output is not None:
        check_ids_output(output)
    tokenizer = load_tokenizer(tok, loading)
    ids = tokenizer.encode(read_text(text, path, escapes=escapes))
    if output is not None:
        write_atomically(output, npy_file(ids))
    if as_json:
        print_json({"ids": ids} if output is None else {"tokens": len(ids), "path": output})
    elif output is None:
        say(" ".join(map(str, ids.tolist())))
    return 0


@click.command("decode")
@click.argument("tok")
@options.ids
@options.dtype
@options.field
@click.option(
    "--raw", is_flag=True, help="Write the bytes unchanged, even if they are not UTF-8 or stdout cannot show them."
)
@click.option(
    "--errors",
    type=click.Choice(_ERRORS),
    default="strict",
    help="Decode bytes that are not UTF-8 as an error after the text up to there, U+FFFD, nothing, or \\xNN.",
)
@click.option(
    "--stop",
    "stops",
    metavar="STRING",
    multiple=True,
    help="Print only the text before the first STRING in it, U+FFFD for bytes that are not UTF-8; may be repeated.",
)
@options.specials
@options.format
@options.json
def decode(
    tok: str,
    ids: str,
    dtype: str | None,
    field: str | None,
    raw: bool,
    errors: str,
    stops: tuple[str, ...],
    specials: str | None,
    format_name: str | None,
    as_json: bool,
) -> int:
    r"""Print the text of ids, special tokens included, with no newline added.

    If the ids end within a character, the text up to there is printed, and stderr says where that is, or where
    a --stop begins.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa decode tokenizer.json ids.npy --stop "User:" --stop "###"
      echo 64 289 | tokdfa decode tokenizer.json - --errors replace
    """
    if raw and as_json:
        raise click.UsageError("--raw and --json cannot be combined: JSON cannot hold bytes that are not text")
    if raw and errors != "strict":
        raise click.UsageError("--raw and --errors cannot be combined: --raw writes all bytes unchanged")
    if stops and (raw or errors not in ("strict", "replace")):
        other = "--raw" if raw else f"--errors {errors}"
        raise click.UsageError(f"--stop and {other} cannot be combined: with --stop, bytes that are no text are U+FFFD")
    from tokdfa.stores import iter_ids
    from tokdfa.tokenizers.loading import load_unsplit
    from tokdfa.tokenizers.stream_decoder import StreamDecoder

    tokenizer = load_unsplit(tok, specials=specials, format=format_name)
    decoder = tokenizer.decoder
    chunks = iter_ids(ids, dtype=dtype, field=field)
    if stops:
        return _decode_up_to(StreamDecoder(tokenizer, stops), chunks, ids, as_json=as_json)
    with of_file(ids):
        if raw:
            for data in decoder.iter_bytes(chunks):
                print_bytes(data)
            return 0
        texts = _Texts(decoder.iter_text(chunks, errors))
        if as_json:
            text = "".join(texts)
            cut = texts.cut and {"token": texts.cut.token, "byte": texts.cut.byte}
            print_json({"text": text, "cut": cut, "stop": None})
            return 0
        keep_line_ends()
        for text in texts:
            say(text, end="")
        if sys.stdout is not None and sys.stdout.isatty():
            say("")
        if texts.cut is not None:
            remark(f"{ids}, token {texts.cut.token}, byte {texts.cut.byte}: the ids end within a character")
    return 0


def _decode_up_to(stream: StreamDecoder, chunks: Iterable[npt.ArrayLike], path: str, *, as_json: bool) -> int:
    """Print the text of ids up to the first stop string."""
    texts = list[str]()
    show = texts.append if as_json else partial(say, end="")
    keep_line_ends()
    with of_file(path):
        for chunk in chunks:
            show(stream.feed(chunk))
            if stream.stopped is not None:
                break
        show(stream.finish())
    stop = stream.stopped
    if as_json:
        found = stop and {"text": stop.text, "index": stop.stop_index, "token": stop.n_ids, "byte": stop.n_bytes}
        print_json({"text": "".join(texts), "cut": None, "stop": found})
        return 0
    if sys.stdout is not None and sys.stdout.isatty():
        say("")
    if stop is not None:
        remark(f"{path}, token {stop.n_ids}, byte {stop.n_bytes} of it: the stop string {stop.text!r} begins")
    return 0


class _Texts:
    """The texts of a stream; `cut` is where it ends within a character, once they are read."""

    def __init__(self, texts: Generator[str, None, Cut | None]) -> None:
        self.cut: Cut | None = None
        self._texts = texts

    def __iter__(self) -> Iterator[str]:
        self.cut = yield from self._texts
