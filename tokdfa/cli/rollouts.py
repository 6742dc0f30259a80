"""``tokdfa rollouts``: the parts of rollouts that are not canonical, and whether the model wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokdfa.base.errors import TokdfaError
from tokdfa.cli import options
from tokdfa.cli.corpus import progress
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.masks import check_replies, mask_fields, mask_tally, print_masks
from tokdfa.cli.output import print_json, remark, say, shown_ids
from tokdfa.jobs.rollouts.frameworks import FRAMEWORKS, fields_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tokdfa.base.errors import TokdfaError
    from tokdfa.jobs.rollouts.frameworks import Rollout
    from tokdfa.jobs.rollouts.records import Source
    from tokdfa.jobs.rollouts.result import Example, Tally
    from tokdfa.jobs.rollouts.seams import Seam

_CLASSES = ("bugs", "drift", "junctions")
_SPANS = {"bugs": "bugs", "drift": "spans of drift", "junctions": "junctions"}
_MOST_RULES = 20
_MOST_SEAMS = 5
_MOST_SEAMS_LISTED = 100
_MANY = 10  # Equal junctions that are hardly chance
_MOST_KEPT = 100  # Different spans of each class


def _classes(ctx: click.Context, parameter: click.Parameter, value: str) -> frozenset[str]:
    names = frozenset(filter(None, (part.strip() for part in value.split(","))))
    unknown = sorted(names.difference(_CLASSES))
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(_CLASSES)}")
    return names


@click.command("rollouts")
@click.argument("tok")
@click.argument("files", type=options.NamedPath(), metavar="FILE...", nargs=-1, required=True)
@click.option("--ids", metavar="FIELD", help="The ids: all of them, or those after the prompt if that is a list.")
@click.option("--prompt", metavar="FIELD", help="The ids of the prompt, or their number.")
@click.option(
    "--mask",
    metavar="FIELD|none",
    help="1 for each id that the model sampled, else 0; or labels, -100 for each id that it did not sample; none if it "
    "sampled all ids after the prompt.",
)
@click.option("--framework", type=click.Choice(list(FRAMEWORKS)), help="Take the fields that this framework writes.")
@click.option(
    "--fail-on",
    metavar="CLASSES",
    default="bugs",
    callback=_classes,
    help="The classes that make the exit status 1: bugs, drift, junctions, or several with commas between them.",
)
@click.option("--keep-going", is_flag=True, help="Report bad records and continue; the exit status is then 2.")
@click.option("--examples", type=options.AtLeast(0), default=3, metavar="N",
              help="Show N different spans of each class, the most frequent of the first 100.")  # fmt: skip
@click.option(
    "--masks",
    "with_masks",
    is_flag=True,
    help="Check the masks, too: show the first sampled spans, the ids at their edges, and faults.",
)
@click.option(
    "--template",
    metavar="FILE",
    help="The chat template for --masks, in a file that tokdfa template reads; default: the one of TOK or its folder.",
)
@click.option(
    "--records",
    "records_path",
    metavar="FILE",
    callback=options.new_file,
    help="Write the records with bugs, drift or junctions, and how many of each, to FILE as JSON lines.",
)
@options.threads
@tokenizer_options
@options.html
@options.force
@options.json
def command(
    tok: str,
    files: tuple[str, ...],
    ids: str | None,
    prompt: str | None,
    mask: str | None,
    framework: str | None,
    fail_on: frozenset[str],
    keep_going: bool,
    examples: int,
    with_masks: bool,
    template: str | None,
    records_path: str | None,
    threads: int | None,
    loading: Loading,
    html_path: str | None,
    as_json: bool,
) -> int:
    r"""Tell pipeline bugs from model drift in rollouts, by the mask of the ids that the model sampled.

    A span that is not canonical is a bug if none of its ids was sampled, drift if all were, and otherwise a junction.

    FILE is .jsonl, .jsonl.gz, .jsonl.zst, .parquet, .arrow or .feather, with a rollout in each record. A field within
    another is written with a dot.

    Without --ids and --framework the names in the first record decide, where they leave no doubt. The last line of the
    output is a summary, the line before it names the fields used. A field that is named like a mask but not used is
    refused: choose it with --mask.

    With --masks the turns of each conversation are found by the markers of its chat template, and the mask is compared
    with them.

    Exit status: 0 nothing of --fail-on and --masks, 1 something, 2 trouble.

    \b
    Examples:
      tokdfa rollouts tokenizer.json rollouts.jsonl --framework verl
      tokdfa rollouts model/ data.jsonl --ids input_ids --mask labels --masks

    The fields of the frameworks are:
    """
    from tokdfa.base.atomic import write_atomically
    from tokdfa.jobs.rollouts.api import iter_outcomes
    from tokdfa.jobs.rollouts.frameworks import Rollout
    from tokdfa.jobs.rollouts.records import first_names, iter_rollouts, usual_fields
    from tokdfa.jobs.rollouts.result import Tally
    from tokdfa.jobs.rollouts.spans import SpanClass

    if framework is None and ids is None:
        fields = usual_fields(first_names(files[0]), prompt, mask)
    else:
        fields = fields_of(framework, ids, prompt, mask)
    if template is not None and not with_masks:
        raise click.UsageError("--template is for --masks")
    tokenizer = load_tokenizer(tok, loading)
    masks = mask_tally(tokenizer, tok, template, examples) if with_masks else None
    if masks is not None:
        fields = fields._replace(takes_next_labels=True)
    tally = Tally(max(examples, _MOST_KEPT))
    bad: list[tuple[str, str]] = []
    n_bad = 0
    n_masked = 0
    records: list[dict[str, Any]] = []

    def rollouts() -> Iterator[tuple[Source, Rollout | TokdfaError]]:
        nonlocal n_masked
        for source, rollout in iter_rollouts(files, fields):
            n_masked += isinstance(rollout, Rollout) and rollout.mask is not None
            if masks is not None:
                masks.add(rollout, source)
            yield source, rollout

    items = rollouts()
    with progress([*map(Path, files)]) as (advance, _):
        for source, outcome in iter_outcomes(
            tokenizer, items, keep_going=keep_going, names=fields.names, threads=threads
        ):
            if masks is not None:
                masks.judge(outcome)
            if isinstance(outcome, TokdfaError):
                n_bad += 1
                if len(bad) < _MOST_BAD:
                    bad.append((str(source), str(outcome)))
                if not as_json:
                    remark(f"bad record: {source}, {outcome}")
            else:
                tally.add(outcome, source)
                if advance is not None:
                    advance(outcome.tokens)
                if records_path is not None and any(outcome.counts):
                    where = {"file": source.file, source.unit: source.number, "part": source.part}
                    records.append(
                        {name: value for name, value in where.items() if value != ""} | outcome.counts._asdict()
                    )
    is_failed = any(getattr(tally.counts, name) for name in fail_on) or (masks is not None and bool(masks.findings))
    if masks is not None:
        check_replies(masks, template)
    if as_json:
        used = {"fields": fields.described, "masked": n_masked, "masks": masks and mask_fields(masks)}
        print_json(_answer(tally, bad, n_bad, is_failed, examples) | used)
    else:
        if masks is not None:
            print_masks(masks)
        classes = {each.value: each for each in SpanClass}
        for name in _CLASSES:
            shown = _most_frequent(tally, name, examples)
            for example in shown:
                say(_line(example))
            left = getattr(tally.counts, name) - sum(example.count for example in shown)
            if shown and left:
                say(f"{name}: {left:,} more")
            for seam in tally.seams.seams(_MOST_SEAMS, classes[name]):
                if seam.count > 1:
                    say(_seam_line(seam))
            if name == "junctions" and shown and shown[0].count >= max(_MANY, getattr(tally.counts, name) // 2):
                say("junctions: most have the same ids; is the mask off by a token there? Then bugs may be among them")
        say(f"fields: {fields.described}; {_masked(n_masked, tally.rollouts)}")
        say(tally.reason + (f"; {n_bad:,} bad record{'s' * (n_bad != 1)}" if n_bad else ""))
    if records_path is not None:
        write_atomically(records_path, "".join(json.dumps(record) + "\n" for record in records).encode())
    if html_path is not None:
        from tokdfa.draw.report.rollouts import RolloutsReport

        names = {"title": tok, "source": ", ".join(files)}
        RolloutsReport(tokenizer, tally, masks, bad=bad, n_bad=n_bad, **names).save(html_path)
    return 2 if n_bad else int(is_failed)


_MOST_BAD = 1000


_LISTED = "".join(f"\n    {name:<10} {fields.listed}" for name, fields in FRAMEWORKS.items())
command.help = f"{(command.help or '').rstrip()}\n\n    \b{_LISTED}\n"


def _masked(n_masked: int, n: int) -> str:
    """Return how many of the rollouts say which ids were sampled."""
    if not n_masked:
        return "no mask, so all ids after the prompt count as sampled"
    return "all with a mask" if n_masked >= n else f"{n_masked:,} of {n:,} with a mask"


def _answer(tally: Tally, bad: list[tuple[str, str]], n_bad: int, is_failed: bool, examples: int) -> dict[str, Any]:
    rules = sorted(tally.rules.items(), key=lambda row: (-row[1], row[0]))[:_MOST_RULES]
    return {
        "valid": not is_failed and not n_bad,
        "rollouts": tally.rollouts,
        "tokens": tally.tokens,
        "sampled": tally.sampled,
        **{
            name: {
                "spans": getattr(tally.counts, name),
                "tokens": getattr(tally.ids_in, name),
                "share": getattr(tally.shares, name),
                "rollouts": getattr(tally.rollouts_with, name),
                "examples": [
                    {"source": example.source, "count": example.count, **example.violation.as_json()}
                    for example in _most_frequent(tally, name, examples)
                ],
            }
            for name in _CLASSES
        },
        "kinds": [
            {"class": name.value, "kind": kind.value, "count": count}
            for (name, kind), count in sorted(tally.kinds.items(), key=lambda row: (-row[1], row[0]))
        ],
        "rules": [{"class": name.value, "rule": rule, "count": count} for (name, rule), count in rules],
        "seams": [seam.to_dict() for seam in tally.seams.seams(_MOST_SEAMS_LISTED)],
        "seams_error": tally.seams.error,
        "bad_records": n_bad,
        "errors": [{"source": source, "error": error} for source, error in bad],
        "summary": tally.reason,
    }


def _seam_line(seam: Seam) -> str:
    right = "" if seam.canonical_ids is None else f", canonical {shown_ids(seam.canonical_ids)}"
    cause = seam.kind if seam.merge is None else f"rule {seam.rule} ({' + '.join(seam.merge)})"
    return (
        f"{seam.count:,} {_SPANS[seam.span_class.value]} at {seam.before} + {seam.after}: {seam.left[-20:]!r} + "
        f"{seam.right[:20]!r} [{shown_ids(seam.ids)}{right}], {cause}; first {seam.source}, token {seam.token}"
    )


def _most_frequent(tally: Tally, name: str, most: int) -> list[Example]:
    """Return the most frequent different spans of a class, each by its first."""
    found = (example for example in tally.examples if example.span_class.value == name)
    return sorted(found, key=lambda example: -example.count)[:most]


def _line(example: Example) -> str:
    violation = example.violation
    right = "" if violation.canonical_ids is None else f", canonical {shown_ids(violation.canonical_ids)}"
    name = {"bugs": "bug", "drift": "drift", "junctions": "junction"}[example.span_class.value]
    return (
        f"{name}: {example.source}, token {violation.index}: {violation.reason} "
        f"[from token {violation.start}: {shown_ids(violation.ids)}{right}]"
        f"{f', {example.count:,} times' if example.count > 1 else ''}"
    )
