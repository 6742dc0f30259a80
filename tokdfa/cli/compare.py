"""``tokdfa compare``: whether two tokenizers give every text the same ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import click

from tokdfa.base.errors import FileFormatError
from tokdfa.base.files import read_named
from tokdfa.cli import options
from tokdfa.cli.loading import of_both, remark_unsplit
from tokdfa.cli.output import print_fields, print_json, stages, write_certificate

if TYPE_CHECKING:
    from tokdfa.jobs.certificates.api import Certificate
    from tokdfa.jobs.comparison.result import Comparison, Difference, Stage
    from tokdfa.tokenizers.protocol import AnyTokenizer

_NUMBERS = (
    *("n_tokens_only_a", "n_tokens_only_b", "n_dead_a", "n_dead_b"),
    *("pairs_only_a", "pairs_only_b", "n_other_ids", "n_rules_only_a", "n_rules_only_b", "first_other_rule"),
)


# What --known reads of an earlier answer.
_KEPT = ("equivalent", "reason", "ignore_ids", "texts", "special_tokens", "fingerprints")


class _Question(TypedDict):
    """What is asked about A and B; --known accepts only an answer to the same question."""

    ignore_ids: bool
    texts: str | None
    special_tokens: Literal["found", "plain"] | None


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--ignore-ids", is_flag=True, help="Compare the spelling of the tokens, not their ids.")
@click.option("--texts", metavar="REGEX", help="Compare only the texts that REGEX matches as a whole.")
@click.option(
    "--special-tokens",
    type=click.Choice(["found", "plain"]),
    help="Whether special tokens are found in texts, on both sides, or are text like any other; default: as each does.",
)
@of_both(dict.fromkeys((options.pretokenizer, options.specials, options.unicode, options.format), "B"))
@click.option(
    "--known",
    "known_path",
    metavar="FILE",
    help="Accept the difference in FILE, the output of --json: status 0 if A and B have the fingerprints in it.",
)
@options.certificate
@options.html
@options.force
@options.json
def command(
    a: str,
    b: str,
    ignore_ids: bool,
    texts: str | None,
    special_tokens: Literal["found", "plain"] | None,
    known_path: str | None,
    certificate_path: str | None,
    html_path: str | None,
    as_json: bool,
    sides: tuple[dict[str, Any], dict[str, Any]],
) -> int:
    r"""Decide whether two tokenizers ever differ: whether A and B give every text the same ids.

    If they differ, a text with different ids is shown, and whether it is proven to be a shortest one.

    A and B are tokenizer files or folders with one, in any two formats.

    Exit status: 0 equivalent or known, 1 different, 2 undecided or trouble.

    \b
    Examples:
      tokdfa compare old/tokenizer.json new/tokenizer.json
      tokdfa compare tokenizer.json tokenizer.model --ignore-ids
    """
    from tokdfa.jobs.comparison.api import compare, finding
    from tokdfa.jobs.comparison.result import stage_words
    from tokdfa.tokenizers.loading import load

    if texts is not None and certificate_path is not None:
        raise click.UsageError("--certificate proves all texts; leave it out, or --texts")
    question: _Question = {"ignore_ids": ignore_ids, "texts": texts, "special_tokens": special_tokens}
    with stages() as say_stage:
        of_a, of_b = sides
        both = load(a, **of_a), load(b, **of_b)
        wanted = both if as_json or known_path is not None else ()
        fingerprints = {side: tokenizer.fingerprint for side, tokenizer in zip("ab", wanted, strict=False)}
        earlier = None if known_path is None else _earlier(known_path, question)
        is_known = None if earlier is None else earlier["fingerprints"] == fingerprints
        if earlier is not None and is_known and html_path is None and certificate_path is None:
            # It is still the answer, also where a search depends on the time that the machine takes.
            if as_json:
                print_json({**earlier, "known": True})
            else:
                head = "equivalent" if earlier["equivalent"] else "different"
                print_fields([(head, earlier["reason"]), ("known", f"{known_path}: A and B have not changed since")])
            return 0
        progress: Callable[[Stage], object] | None = say_stage and (lambda stage: say_stage(stage_words(stage)))
        found = compare(*both, **question, progress=progress)
        both = finding(both[0], special_tokens), finding(both[1], special_tokens)

    def certificate() -> Certificate:
        from tokdfa.jobs.certificates.api import certify_comparison

        return certify_comparison(found, *both, files=(a, b))

    written = write_certificate(certificate, certificate_path)
    # Two dictionaries on their own are compared as such; one compared with a whole tokenizer is a surprise.
    if (both[0].pretokenizer is None) != (both[1].pretokenizer is None):
        remark_unsplit(both[0], a, of_a["pretokenizer"])
        remark_unsplit(both[1], b, of_b["pretokenizer"], "--pretokenizer-b")
    if as_json:
        answer = {
            **_fields(found, both),
            **question,
            "fingerprints": fingerprints,
            "known": is_known,
            "certificate": written.fields,
        }
        print_json(answer)
    else:
        _print(found, both)
        if earlier is not None:
            changed = " and ".join(
                side.upper() for side in "ab" if earlier["fingerprints"].get(side) != fingerprints[side]
            )
            said = f"{changed} changed since" if changed else "A and B have not changed since"
            print_fields([("known", f"{known_path}: {said}")])
        written.show()
    if html_path is not None:
        from tokdfa.draw.report.comparison import comparison_report

        sources = _source(both[0], a, of_a), _source(both[1], b, of_b)
        comparison_report(*both, found, names=(a, b), sources=sources).save(html_path)
    written.check()
    return 0 if found or is_known else 1


def _earlier(path: str, question: _Question) -> dict[str, Any]:
    """Return the answer of an earlier comparison with the same options."""
    try:
        answer = json.loads(read_named(path))
    except ValueError as error:
        raise FileFormatError("not the output of compare --json", where=path, hint=str(error)) from None
    if not isinstance(answer, dict) or not {*_KEPT} <= {*answer} or not isinstance(answer["fingerprints"], dict):
        what = f"not the output of compare --json: it has no {', '.join(_KEPT)}"
        raise FileFormatError(what, where=path)
    for name, value in question.items():
        made = answer[name]
        if made != value:
            what = f"this answer is of a comparison {'with' if made else 'without'} --{name.replace('_', '-')}"
            hint = "make it with the options of this comparison"
            raise FileFormatError(what, value=made or None, where=path, hint=hint)
    return answer


def _source(tokenizer: AnyTokenizer, path: str, asked: Mapping[str, str | None]) -> dict[str, str]:
    """Return the page's rows on the file of a tokenizer, its Unicode tables and the options it was loaded with."""
    from hashlib import sha256

    from tokdfa.tokenizers.formats.reading import find

    rows = {"Options": " ".join(f"--{name} {value}" for name, value in asked.items() if value is not None) or "none"}
    if tokenizer.pretokenizer is not None and not isinstance(tokenizer.pretokenizer, str):
        rows["Unicode tables of the pre-tokenizer"] = tokenizer.pretokenizer.splitting.table
    if Path(path).exists():
        data, file, _ = find(Path(path), asked["format"])
        rows |= {"File": file.name, "SHA-256 of the file": sha256(data).hexdigest()[:16]}
    return rows


def witness_fields(found: Difference | None, both: Sequence[AnyTokenizer]) -> dict[str, Any] | None:
    """Return a text on which two tokenizers differ as ``--json`` prints it."""
    from tokdfa.automata.alphabet import show

    if found is None:
        return None
    text, ids_a, ids_b = found
    # A text is shown unchanged; only bytes that are not a text need escapes.
    plain = text if isinstance(text, str) else show(text)
    witness: dict[str, Any] = {"text": plain, "ids_a": ids_a, "ids_b": ids_b}
    for name, side, ids in zip("ab", both, (ids_a, ids_b), strict=True):
        witness[f"tokens_{name}"] = None if ids is None else [show(side.name_of(id)) for id in ids]
    return witness


def witness_rows(
    found: Difference, both: Sequence[AnyTokenizer], names: Sequence[str] = "AB"
) -> Iterator[tuple[str, object]]:
    """Yield a text on which two tokenizers differ, and the ids and tokens of both, as rows."""
    from tokdfa.automata.alphabet import quoted

    text, *ids_of = found
    yield "text", repr(text)
    for name, side, ids in zip(names, both, ids_of, strict=True):
        tokens = "" if not ids else ": " + " ".join(quoted(side.name_of(id)) for id in ids)
        yield f"ids of {name}", "none" if ids is None else " ".join(map(str, ids)) + tokens


def _fields(found: Comparison, both: Sequence[AnyTokenizer]) -> dict[str, Any]:
    from tokdfa.automata.alphabet import show

    return {
        "equivalent": found.holds,
        "witness": witness_fields(found.witness, both),
        "checked": {part.value: outcome.value for part, outcome in found.checked.items()},
        "reason": found.reason,
        "report": {
            **{name: getattr(found, name) for name in _NUMBERS},
            "tokens_only_a": [*map(show, found.tokens_only_a)],
            "tokens_only_b": [*map(show, found.tokens_only_b)],
            **{
                name: [{"rule": rule, "left": show(u), "right": show(v)} for rule, u, v in getattr(found, name)]
                for name in ("rules_only_a", "rules_only_b", "exchanged_rules")
            },
        },
    }


def _print(found: Comparison, both: Sequence[AnyTokenizer]) -> None:
    from tokdfa.automata.alphabet import quoted
    from tokdfa.jobs.comparison.result import part_rows, rule_words

    rows: list[tuple[str, object]] = [("equivalent" if found else "different", found.reason)]
    if found.witness is not None:
        rows += witness_rows(found.witness, both)
    rows += part_rows(found)
    rules = rule_words(found)
    if rules is not None:
        rows.append(("rules", rules))
    counts = {
        "live tokens only in A": found.n_tokens_only_a,
        "live tokens only in B": found.n_tokens_only_b,
        "dead tokens of A": found.n_dead_a,
        "dead tokens of B": found.n_dead_b,
        "pairs allowed in A only": found.pairs_only_a,
        "pairs allowed in B only": found.pairs_only_b,
    }
    rows += [(label, count) for label, count in counts.items() if count]
    for label, words in (("only in A", found.tokens_only_a), ("only in B", found.tokens_only_b)):
        if words:
            rows.append((label, " ".join(quoted(word) for word in words[:5])))
    print_fields(rows)
