"""``tokdfa convert``: write a tokenizer in another format, if every text is proven to keep its ids."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from tokdfa.cli import options
from tokdfa.cli.compare import witness_fields, witness_rows
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import print_fields, print_json, say, stages, write_certificate

if TYPE_CHECKING:
    from tokdfa.jobs.certificates.api import Certificate
    from tokdfa.jobs.comparison.result import Stage
    from tokdfa.jobs.conversion.api import Target
    from tokdfa.jobs.conversion.result import Conversion
    from tokdfa.tokenizers.formats.writers.draft import Loss
    from tokdfa.tokenizers.protocol import AnyTokenizer
    from tokdfa.tokenizers.tokenizer import Tokenizer

# Files that are read together with another one in their folder.
_TOGETHER = ("merges.txt", "vocab.json", "tokenizer_config.json")


@click.command("convert")
@click.argument("tok")
@click.option(
    "--to",
    "target",
    type=click.Choice(["tokenizer.json", "tiktoken", "merges", "gguf"]),
    required=True,
    help="The format to write.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    callback=options.new_file,
    help="The file to write. Next to it go the special tokens of a rank file (NAME.specials.json) and the ids of a "
    "merges.txt (vocab.json).",
)
@options.force
@click.option(
    "--special-tokens",
    type=click.Choice(["found", "plain"]),
    default="found",
    help="Whether special tokens are found in texts, on both sides, or are text like any other.",
)
@click.option(
    "--texts",
    metavar="REGEX",
    help="Only the texts that REGEX matches must keep their ids; the format may give others to other texts.",
)
@tokenizer_options
@options.certificate
@options.json
def command(
    tok: str,
    target: Target,
    output: str,
    special_tokens: Literal["found", "plain"],
    texts: str | None,
    loading: Loading,
    certificate_path: str | None,
    as_json: bool,
) -> int:
    r"""Write a tokenizer in another format, if every text is proven to keep its ids.

    The file is written only if a comparison proves it equal to TOK, loaded with the options that are printed.
    Otherwise a text is shown to which the format gives other ids, and the parts of TOK for which it has no word.

    Exit status: 0 written, 1 a text has other ids, 2 undecided or trouble.

    \b
    Examples:
      tokdfa convert tokenizer.json --to tiktoken -o ranks.tiktoken
      tokdfa convert tokenizer.model --to gguf -o tokenizer.gguf
    """
    from tokdfa.jobs.comparison.api import compare, finding
    from tokdfa.jobs.comparison.result import stage_words
    from tokdfa.jobs.conversion.api import convert_draft, draft_of

    if texts is not None and certificate_path is not None:
        raise click.UsageError("--certificate proves all texts; leave it out, or --texts")
    path = Path(output)
    with stages() as say_stage:
        tokenizer = load_tokenizer(tok, loading)
        draft = draft_of(tokenizer, target, path)
        for name in draft.files:
            options.check_new(path.with_name(name), "-o")
            _check_not_read(path.with_name(name), tok)
        progress: Callable[[Stage], object] | None = say_stage and (lambda stage: say_stage(stage_words(stage)))
        compared = partial(compare, special_tokens=special_tokens, texts=texts, progress=progress)
        found = convert_draft(tokenizer, draft, path, compared)
    both = finding(tokenizer, special_tokens), finding(found.tokenizer, special_tokens)

    def certificate() -> Certificate:
        from tokdfa.jobs.certificates.api import certify_comparison

        return certify_comparison(found.found, *both, files=(tok, output))

    proof = write_certificate(certificate, certificate_path if found else None)
    if as_json:
        print_json({**_fields(found, both, output), "certificate": proof.fields})
    else:
        print_fields(_rows(found, both, output))
        proof.show()
        if found and (code := _snippet(found, output)) is not None:
            say(f"\n{code}")
    proof.check()
    return 0 if found else 1


def _check_not_read(path: Path, tok: str) -> None:
    """Refuse an output file that the tokenizer is read from, even with --force."""
    source = Path(tok)
    read = {source, *(source.iterdir() if source.is_dir() else ())}
    if source.name in _TOGETHER:
        read |= {source.with_name(name) for name in _TOGETHER}
    if os.path.realpath(path) in map(os.path.realpath, read):
        raise click.UsageError(f"-o {path}: TOK is read from this file; write another one")


def _fields(found: Conversion, both: Sequence[AnyTokenizer], output: str) -> dict[str, Any]:
    from tokdfa.jobs.comparison.result import Outcome, Part
    from tokdfa.jobs.conversion.result import load_words

    return {
        "converted": found.holds,
        "target": found.target,
        "files": [str(path) for path in found.files],
        "reason": found.reason,
        "witness": witness_fields(found.witness, both),
        "texts": found.found.texts,
        "kept_texts": found.kept and found.kept._asdict(),
        "shortest": None if found else found.found.checked.get(Part.SHORTEST) is Outcome.PROVEN,
        "causes": [*map(_loss_fields, found.causes)],
        "lost": [*map(_loss_fields, found.lost)],
        "options": dict(found.options),
        "command": load_words(output, found.options) if found else None,
        "snippet": _snippet(found, output) if found else None,
    }


def _loss_fields(loss: Loss) -> dict[str, Any]:
    return {"part": loss.part.value, "values": loss.values}


def _rows(found: Conversion, both: Sequence[AnyTokenizer], output: str) -> Iterator[tuple[str, object]]:
    from tokdfa.jobs.comparison.result import part_rows
    from tokdfa.jobs.conversion.result import load_words, loss_words
    from tokdfa.tokenizers.formats.writers.draft import LostPart

    if found.witness is not None:
        yield "not written", found.reason
        yield from witness_rows(found.witness, both, ("TOK", found.target))
        yield from (row for row in part_rows(found.found) if row[0] == "shortest")
        yield from (("no word for", loss_words(loss)) for loss in found.causes)
        if both[0].finds_specials and LostPart.SPECIALS in {loss.part for loss in found.causes}:
            yield "as text", "--special-tokens plain takes special tokens as text, on both sides"
        if found.kept is not None:
            yield (
                "kept",
                f"the ids of every text without {found.kept.n_left_out:,} code points: --texts '{found.kept.pattern}'",
            )
        elif found.found.texts is None:
            yield "some texts", "--texts REGEX writes the file if those that REGEX matches keep their ids"
        return
    yield "written", ", ".join(map(str, found.files))
    yield "proven", found.reason
    yield from (("lost", loss_words(loss)) for loss in found.lost)
    yield "load it", load_words(output, found.options)


def _snippet(found: Conversion, output: str) -> str | None:
    """Return the lines of Python with which tiktoken loads a rank file; None for other files."""
    from tokdfa.tokenizers.formats.writers.rank_file import snippet

    return snippet(cast("Tokenizer", found.tokenizer), output) if found.target == "tiktoken" else None
