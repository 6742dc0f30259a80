"""``tokdfa demo``: the main jobs on the embedded dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli import options
from tokdfa.cli.output import say

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

_TEXT = "It is a truth universally acknowledged, that a single man must be in want of a wife."
_PREFIX = [("h", "e"), ("t", "he"), ("t", "h"), ("th", "e")]


@click.command("demo")
@click.option(
    "-o",
    "--output",
    default="tokdfa-demo",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder of the files.",
)
@options.force
def command(output: Path) -> int:
    r"""Show the main job on the embedded dictionary: validate a good and a spoiled stream of ids.

    The folder gets the dictionary, both streams, a web page of the findings, and the picture of a small automaton.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa demo
      tokdfa demo -o tour
    """
    from importlib.resources import files

    import tokdfa
    from tokdfa.base.atomic import write_atomically
    from tokdfa.stores.raw import npy_file
    from tokdfa.tokenizers.loading import load_byte_pairs

    output.mkdir(parents=True, exist_ok=True)
    for name in ("merges.txt", "good.npy", "spoiled.npy", "spoiled.html", "toy.dot"):
        options.check_new(output / name, "-o")
    rules = output / "merges.txt"
    write_atomically(rules, files("tokdfa.tokenizers").joinpath("data", "default.merges.txt").read_bytes())
    tokenizer = load_byte_pairs(rules, pretokenizer="gpt2")

    tokdfa.CompactTokenDFA(tokenizer.dictionary.prefix(1))  # Loads the compiled kernels, so that this is not timed.
    began = perf_counter()
    dfa = tokdfa.CompactTokenDFA(tokenizer.dictionary)
    seconds = perf_counter() - began
    say(f"dictionary  {len(tokenizer.dictionary):,} rules over bytes, trained on English books: {rules}")
    say(
        f"fold        {dfa.states_built:,} states built, {dfa.states_reachable:,} reachable, "
        f"{dfa.states_minimal:,} minimal, in {seconds * 1000:.1f} ms"
    )

    good = tokenizer.encode(_TEXT)
    spoiled = _split_longest(tokenizer, good)
    for name, ids in (("good", good), ("spoiled", spoiled)):
        path = output / f"{name}.npy"
        write_atomically(path, npy_file(ids))
        verdict = tokenizer.validate(ids)
        say(f"validate    {path}, {len(ids)} tokens: {'canonical' if verdict else 'NOT canonical'}")
        if not verdict:
            say(f"            token {verdict.index} (byte {verdict.byte_offset}): {verdict.reason}")
            given, right = (_spell(tokenizer, part) for part in (verdict.ids or (), verdict.canonical_ids or ()))
            say(f"            given {given}, canonical {right}")

    page = output / "spoiled.html"
    tokdfa.validation_report(tokenizer, spoiled, names=(str(rules), str(output / "spoiled.npy"))).save(page)
    say(f"page        {page}: the same answer as a web page")

    toy = tokdfa.token_dfa(tokdfa.Dictionary.from_pairs(_PREFIX, alphabet="teh"))
    picture = output / "toy.dot"
    write_atomically(picture, toy.to_dot().encode("utf-8"))
    say(f"draw        {picture}: the token DFA of the rules {', '.join(' + '.join(rule) for rule in _PREFIX)}")
    return 0


def _split_longest(tokenizer: Tokenizer, ids: Any) -> list[int]:
    """Return `ids` with the longest token split into the parts of the rule that makes it."""
    dictionary = tokenizer.dictionary
    tokens = tokenizer.id_to_token[ids].tolist()
    place = max(range(len(tokens)), key=lambda index: len(dictionary.alphabet[tokens[index]]))
    rule = dictionary.birth[tokens[place]]
    parts = tokenizer.token_to_id[[dictionary.left[rule], dictionary.right[rule]]]
    return [*ids[:place].tolist(), *parts.tolist(), *ids[place + 1 :].tolist()]


def _spell(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    from tokdfa.automata.alphabet import quoted

    return " ".join(quoted(tokenizer.token(int(tokenizer.id_to_token[id]))) for id in ids)
