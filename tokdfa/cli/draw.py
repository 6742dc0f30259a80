"""``tokdfa draw``: pictures of automata."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokdfa.cli import wordpiece
from tokdfa.cli.folded import Folded, automaton_options
from tokdfa.cli.output import json_option, print_json

if TYPE_CHECKING:
    from tokdfa.automata.token_dfa import TokenDFA

__all__ = ["command"]


@click.command("draw")
@automaton_options
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="FILE.dot")
@click.option("--minimal", is_flag=True, help="Draw the minimal automaton instead of the one that is built.")
@click.option("--max-states", type=click.IntRange(min=1), default=500, show_default=True, help="Refuse to draw more.")
@click.option(
    "--max-labels", type=click.IntRange(min=1), default=16, show_default=True, help="Tokens to write on one arrow."
)
@click.option("--word", "words", multiple=True, metavar="W", help="For WordPiece: draw only what is met on W.")
@json_option
def command(
    tok: str,
    language: str | None,
    rules: int | None,
    format_name: str | None,
    words: tuple[str, ...],
    output: Path,
    minimal: bool,
    max_states: int,
    max_labels: int,
    as_json: bool,
) -> int:
    """Draw the token DFA of the dictionary of TOK, as Algorithm 2 builds it, in the DOT language of Graphviz.

    It accepts the correct tokenizations of all texts, or of those that REGEX matches. Of a WordPiece vocabulary the
    trie of LinMaxMatch is drawn, with failure links and pops.
    """
    if output.suffix not in (".dot", ".gv"):
        raise click.BadParameter(f"{output}: pictures are written in the DOT language, to a .dot file", param_hint="-o")
    tokenizer = wordpiece.load_wordpiece(tok, format_name)
    if tokenizer is not None:
        wordpiece.refuse_options(language=language, rules=rules, minimal=minimal)
        n_states, n_transitions = wordpiece.write_trie(tokenizer, words, output, max_states)
        return _report(output, n_states, n_transitions, as_json)
    if words:
        raise click.BadParameter("TOK is no WordPiece vocabulary", param_hint="--word")
    dfa = _build(Folded.load(tok, language, rules, format_name), minimal, max_states)
    output.write_text(dfa.to_dot(max_labels=max_labels), encoding="utf-8")
    return _report(output, dfa.n_states, dfa.n_transitions, as_json)


def _report(output: Path, n_states: int, n_transitions: int, as_json: bool) -> int:
    if as_json:
        print_json({"states": n_states, "transitions": n_transitions, "path": str(output)})
    else:
        click.echo(f"{output}: {n_states:,} states, {n_transitions:,} transitions")
    return 0


def _build(folded: Folded, minimal: bool, max_states: int) -> TokenDFA:
    from tokdfa.errors import LimitExceededError

    def check(n_states: int) -> None:
        if n_states > max_states:
            raise LimitExceededError(
                f"the automaton has {n_states:,} states, more than {max_states:,} to draw",
                hint="draw the first rules only, with --rules N, or raise --max-states",
            )

    if folded.language is None and not minimal:
        check(folded.most_states)  # Here it is known before anything is built.
    dfa = folded.token_dfa()
    if minimal:
        dfa = dfa.minimize()
    check(dfa.n_states)
    return dfa
