"""Whether an earlier version of the library, with other Unicode tables, cuts texts in the same way."""

from __future__ import annotations

from collections.abc import Iterator

from tokdfa.base.budget import total_of
from tokdfa.jobs.comparison.api import compare
from tokdfa.jobs.examination.finding import Finding, Group, Severity
from tokdfa.jobs.examination.folder import Loaded
from tokdfa.regex.unicode.versions import library_of, ranges_of
from tokdfa.tokenizers.tokenizer import Tokenizer, has_rules
from tokdfa.tokenizers.twins import with_specials


def check_tables(loaded: Loaded, max_seconds: float) -> Iterator[Finding]:
    """Yield whether the last change of the library's Unicode tables changes the ids of a text."""
    tokenizer = loaded.tokenizer
    if not has_rules(tokenizer) or tokenizer.pretokenizer is None:
        return
    table = tokenizer.pretokenizer.splitting.table
    ranges = ranges_of(library_of(table))
    at = next(index for index, part in enumerate(ranges) if part.name == table)
    if at + 1 >= len(ranges):
        return
    newer, older = ranges[at : at + 2]
    before = Tokenizer(tokenizer.contents, tokenizer.pretokenizer.with_table(older.name), twin=tokenizer)
    with total_of(max_seconds):
        found = compare(with_specials(tokenizer, "plain"), with_specials(before, "plain"))
    values = {"version_a": f"{newer.library} {newer.versions[0]}", "version_b": f"{older.library} {older.versions[-1]}"}
    if found:
        yield Finding(Group.UNICODE, "versions agree", Severity.OK, (loaded.name,), values)
        return
    assert found.witness is not None
    text, ids_a, ids_b = found.witness
    ids = {"ids_a": [*map(int, ids_a or ())], "ids_b": [*map(int, ids_b or ())]}
    yield Finding(
        Group.UNICODE, "versions differ", Severity.WARNING, (loaded.name,), {**values, "text": str(text), **ids}
    )
