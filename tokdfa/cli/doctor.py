"""``tokdfa doctor``: whether the files of a model's folder agree with each other and with the tokenizer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from tokdfa.base.errors import FileFormatError
from tokdfa.base.files import read_named
from tokdfa.cli import options
from tokdfa.cli.output import counted, print_json, say, stages

if TYPE_CHECKING:
    from tokdfa.jobs.examination.finding import Finding


@click.command("doctor")
@click.argument("paths", type=options.NamedPath(), nargs=-1, required=True, metavar="FOLDER|FILE...")
@click.option(
    "--known",
    "known_path",
    metavar="FILE",
    help="Accept the findings in FILE, the output of --json: status 0 until there is a new one.",
)
@options.html
@options.force
@options.json
def command(paths: tuple[str, ...], known_path: str | None, html_path: str | None, as_json: bool) -> int:
    r"""Examine a model's folder: whether its files agree with each other and with the tokenizer.

    All tokenizers in the folder are compared, with a proof or a text on which they differ; sizes, ids and special
    tokens in the other files are checked against the first of them. Several folders and files are taken as one model.

    Exit status: 0 no fault, 1 a fault, 2 a check could not be made, or trouble.

    \b
    Examples:
      tokdfa doctor model/
      tokdfa doctor model/ --known findings.json --html model.html
    """
    from tokdfa.jobs.examination.api import doctor
    from tokdfa.jobs.examination.finding import status_of

    known = None if known_path is None else _known(known_path)
    with stages() as say_stage:
        found = doctor(*paths, progress=say_stage)
    new = found.findings if known is None else found.new(known)
    if as_json:
        rows = [{**finding.to_dict(), "known": finding not in new} for finding in found.findings]
        print_json({"status": status_of(new), "paths": [*paths], **found.to_dict(), "findings": rows})
    else:
        _print(found.findings, new)
    if html_path is not None:
        from tokdfa.draw.report.examination import ExaminationReport

        accepted = [finding for finding in found.findings if finding not in new]
        ExaminationReport(found, ", ".join(paths), accepted).save(html_path)
    return status_of(new)


def _known(path: str) -> list[dict[str, Any]]:
    """Return the findings of an earlier examination."""
    try:
        answer = json.loads(read_named(path))
    except (ValueError, RecursionError) as error:
        raise FileFormatError("not the output of doctor --json", where=path, hint=str(error)) from None
    findings = answer.get("findings") if isinstance(answer, dict) else None
    if not isinstance(findings, list) or not all(isinstance(finding, dict) for finding in findings):
        raise FileFormatError("not the output of doctor --json: it has no findings", where=path)
    return findings


def _print(findings: tuple[Finding, ...], new: tuple[Finding, ...]) -> None:
    for finding in findings:
        where = f" ({', '.join(finding.where)})" if finding.where else ""
        known = "" if finding in new else " (known)"
        say(f"{finding.severity:<8} {finding.group}: {finding.sentence}{where}{known}")
        if finding.remedy:
            say(f"{'':<8} → {finding.remedy}")
    counts = {name: sum(finding.severity == name for finding in findings) for name in ("fault", "warning")}
    n_unknown, n_ok = (sum(finding.severity == name for finding in findings) for name in ("unknown", "ok"))
    said = ", ".join(counted(count, name) for name, count in counts.items())
    say(f"{said}, {n_unknown} unknown, {n_ok} ok")
