"""``tokdfa draw``: pictures of a dictionary's automaton."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import click

from tokdfa.base.errors import AlphabetError, LimitExceededError, UnsupportedFeatureError
from tokdfa.cli import options
from tokdfa.cli.ids import given_text
from tokdfa.cli.loading import Folded, automaton_options, refuse_options
from tokdfa.cli.output import print_json, remark, say
from tokdfa.draw.graph import MAX_ARROWS, MAX_SECONDS

if TYPE_CHECKING:
    from tokdfa.automata.alphabet import TokenAlphabet, Word
    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.automata.token_dfa import TokenDFA
    from tokdfa.draw.graph import Graph
    from tokdfa.tokenizers.models.wordpiece.trie import FailureTrie
    from tokdfa.tokenizers.tokenizer import Tokenizer, WordPieceTokenizer

_SUFFIXES = (".dot", ".gv", ".svg", ".png")
# Transitions of a transducer that is determinized, for each state that may be drawn: 36 take 5 s, 99 take minutes.
_ARCS_PER_STATE = 40


class Asked(TypedDict):
    """The options that choose the picture."""

    language: str | None
    rules: int | None
    max_seconds: float
    words: tuple[str, ...]
    output: Path
    minimal: bool
    transducer: bool
    run: str | None
    around: str | None
    film: bool
    max_states: int
    max_arrows: int
    layout_seconds: float
    max_labels: int
    as_json: bool


@click.command("draw")
@automaton_options
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    callback=options.new_file,
    metavar="X.svg|png|dot",
    help="The picture.",
)
@options.force
@click.option("--minimal", is_flag=True, help="Draw the minimal automaton instead of the one that Algorithm 2 builds.")
@click.option("--transducer", is_flag=True, help="Draw the minimal subsequential transducer from text to tokens.")
@click.option("--run", "run", metavar="TOKENS", help="Highlight the run on these tokens, separated by ≀ or spaces.")
@click.option("--around", metavar="TOKEN", help="Draw only the states that TOKEN leads to, and their neighbours.")
@click.option(
    "--film", is_flag=True, help="Draw every step of the construction: X.svg is animated, X.html is paged through."
)
@click.option("--max-states", type=options.AtLeast(1), default=500, metavar="N", help="Do not draw more than N states.")
@click.option(
    "--max-arrows",
    type=options.AtLeast(1),
    default=MAX_ARROWS,
    metavar="N",
    help="Do not lay out more than N arrows for SVG and PNG; all transitions between two states are one arrow.",
)
@click.option(
    "--layout-seconds",
    type=options.Seconds(),
    default=MAX_SECONDS,
    metavar="N",
    help="Give up if Graphviz takes more than N seconds.",
)
@click.option(
    "--max-labels", type=options.AtLeast(1), default=16, metavar="N", help="Write at most N tokens on one arrow."
)
@click.option(
    "--word", "words", multiple=True, metavar="W", help="For WordPiece: draw only the nodes visited on the word W."
)
@options.escapes
@options.json
def command(tok: str, specials: str | None, format_name: str | None, escapes: bool, **asked: Unpack[Asked]) -> int:
    r"""Draw the automata of a dictionary: the token DFA, as Algorithm 2 builds it.

    It accepts the correct tokenizations of all texts, or of a regular language. The states that the last rule added are
    filled. For a WordPiece vocabulary the trie of LinMaxMatch is drawn, with failure links and pops.

    SVG and PNG need Graphviz, .dot does not. If there are too many states or arrows, only a summary is printed.

    Exit status: 0 drawn, 1 too large to draw, 2 trouble.

    \b
    Examples:
      tokdfa draw merges.txt --rules 5 -o first.svg
      tokdfa draw merges.txt --around "the" -o the.dot
    """
    run, around = asked["run"], asked["around"]
    asked["run"] = None if run is None else given_text(run, escapes=escapes)
    asked["around"] = None if around is None else given_text(around, escapes=escapes)
    asked["words"] = tuple(given_text(word, escapes=escapes) for word in asked["words"])
    _check_options(asked)
    from tokdfa.tokenizers.loading import load_unsplit

    tokenizer = load_unsplit(tok, specials=specials, format=format_name)
    if tokenizer.segmenter is not None:
        what = "a Unigram tokenizer has no automaton over tokens that could be drawn"
        raise UnsupportedFeatureError(what, where=tok, hint="see notebooks/guides/unigram.md")
    drawn = _DRAWN.get(tokenizer.algorithm)
    if drawn is None:
        what = "tokenizers of this algorithm cannot be drawn"
        raise UnsupportedFeatureError(what, value=tokenizer.algorithm, where=tok)
    return drawn(tokenizer, asked)


def _draw_rules(tokenizer: Tokenizer, asked: Asked) -> int:
    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.draw.automaton import arrows_of, dfa_graph
    from tokdfa.draw.graph import word_label

    refuse_options(tokenizer.algorithm, word=asked["words"])
    max_states = asked["max_states"]
    folded = Folded.of(tokenizer.dictionary, asked["language"], asked["rules"], asked["max_seconds"])
    if asked["around"] is not None:
        return _draw_around(folded, asked["around"], asked)
    if asked["film"]:
        return _draw_film(folded, asked)
    is_as_built = not asked["minimal"] and not asked["transducer"]
    if is_as_built and folded.language is None and folded.most_states > max_states:
        return _sum_up(CompactTokenDFA(folded.dictionary), asked)  # Known before anything is built.
    dfa = folded.token_dfa()
    if asked["minimal"]:
        dfa = dfa.minimize()
    if dfa.n_states > max_states:
        return _sum_up(dfa, asked)
    if asked["transducer"]:
        return _draw_transducer(dfa, asked)
    n_arrows = len(arrows_of(dfa))
    if _is_laid_out(asked) and n_arrows > asked["max_arrows"]:
        return _sum_up(dfa, asked, n_arrows)
    painted = None if asked["run"] is None else _tokens(dfa.alphabet, asked["run"])
    fresh = () if asked["minimal"] else _fresh(folded, dfa)
    try:
        graph = dfa_graph(dfa, max_labels=asked["max_labels"], fresh=fresh, run=painted)
    except AlphabetError as error:
        raise AlphabetError(error.what, value=error.value, where="--run") from None
    if painted is not None and dfa.run(painted) is None:
        n = next(n for n in range(len(painted)) if dfa.run(painted[: n + 1]) is None)
        stop = f"where it stops: before token {n}, {word_label(painted[n])}"
        remark(f"the automaton does not accept this sequence of tokens; the run is highlighted up to {stop}")
    return _write(graph, dfa.n_states, dfa.n_transitions, asked)


def _draw_trie(tokenizer: WordPieceTokenizer, asked: Asked) -> int:
    from tokdfa.draw.trie import trie_graph

    names = ("language", "rules", "minimal", "transducer", "run", "around", "film")
    given = dict(asked)
    refuse_options(tokenizer.algorithm, **{name: given[name] for name in names})
    if not asked["words"] and len(tokenizer.trie) > asked["max_states"]:
        return _sum_up_trie(tokenizer.trie, asked)
    trie = trie_graph(tokenizer.vocabulary, words=asked["words"] or None, max_nodes=asked["max_states"])
    return _write(trie, len(trie.nodes), len(trie.edges), asked)


def _is_laid_out(asked: Asked) -> bool:
    """Return whether the picture needs Graphviz, which takes long for many arrows."""
    return asked["output"].suffix not in (".dot", ".gv")


def _check_options(asked: Asked) -> None:
    output = asked["output"]
    if asked["film"]:
        if output.suffix not in (".svg", ".html"):
            raise click.BadParameter(f"{output}: the name of a film must end in .svg or .html", param_hint="-o")
    elif output.suffix not in _SUFFIXES:
        what = f"{output}: the name of a picture must end in one of {', '.join(_SUFFIXES)}"
        raise click.BadParameter(what, param_hint="-o")
    chosen = {
        "--minimal": asked["minimal"],
        "--transducer": asked["transducer"],
        "--around": asked["around"] is not None,
        "--film": asked["film"],
    }
    names = [name for name, given in chosen.items() if given]
    if asked["run"] is not None and names not in ([], ["--minimal"]):
        raise click.BadParameter(f"cannot be combined with {names[0]}", param_hint="--run")
    if len(names) > 1:
        raise click.BadParameter(f"cannot be combined with {names[0]}", param_hint=names[1])


def _write(graph: Graph, n_states: int, n_transitions: int, asked: Asked) -> int:
    from tokdfa.base.atomic import write_atomically
    from tokdfa.draw.graph import to_dot
    from tokdfa.draw.render import render

    output = asked["output"]
    if _is_laid_out(asked):
        kind: Literal["svg", "png"] = "svg" if output.suffix == ".svg" else "png"
        data = render(graph, kind, max_arrows=asked["max_arrows"], max_seconds=asked["layout_seconds"])
    else:
        data = to_dot(graph).encode("utf-8")
    write_atomically(output, data)
    if asked["as_json"]:
        print_json({"states": n_states, "transitions": n_transitions, "path": str(output)})
    else:
        say(f"{output}: {n_states:,} states, {n_transitions:,} transitions")
    return 0


def _tokens(alphabet: TokenAlphabet, text: str) -> list[Word]:
    """Read tokens separated by ≀ or spaces; for a dictionary over bytes they are encoded as UTF-8."""
    parts = [part for part in (text.split("≀") if "≀" in text else text.split(" ")) if part]
    return [_word(alphabet, part) for part in parts]


def _word(alphabet: TokenAlphabet, text: str) -> Word:
    return text.encode("utf-8") if isinstance(alphabet[0], bytes) else text


def _fresh(folded: Folded, dfa: TokenDFA) -> range:
    """Return the states that the last rule added: they come after the others."""
    dictionary = folded.dictionary
    if not len(dictionary):
        return range(0)
    before = Folded(dictionary.prefix(len(dictionary) - 1), folded.language).token_dfa()
    return range(before.n_states, dfa.n_states)


def _draw_transducer(dfa: TokenDFA, asked: Asked) -> int:
    from tokdfa.automata.transducers.determinize import determinize, minimize
    from tokdfa.automata.transducers.transducer import Transducer
    from tokdfa.draw.automaton import transducer_graph

    max_states = asked["max_states"]
    hint = "use only the first rules, with --rules N, or --language REGEX; or raise --max-states"
    plain = Transducer.from_token_dfa(dfa)
    if plain.n_arcs > _ARCS_PER_STATE * max_states:
        what = f"before it is determinized, the transducer has {plain.n_arcs:,} transitions"
        raise LimitExceededError(f"{what}, more than the limit of {_ARCS_PER_STATE * max_states:,}", hint=hint)
    machine = minimize(determinize(plain, max_states=20 * max_states))
    if machine.n_states > max_states:
        what = f"the transducer has {machine.n_states:,} states, more than the limit of {max_states:,}"
        raise LimitExceededError(what, hint=hint)
    return _write(transducer_graph(machine), machine.n_states, machine.n_arcs, asked)


def _draw_around(folded: Folded, token: str, asked: Asked) -> int:
    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.draw.summary import around

    automaton = CompactTokenDFA(folded.dictionary) if folded.language is None else folded.token_dfa()
    graph = around(automaton, _word(automaton.alphabet, token), max_labels=asked["max_labels"])
    return _write(graph, len(graph.nodes), len(graph.edges), asked)


def _draw_film(folded: Folded, asked: Asked) -> int:
    from tokdfa.base.atomic import write_atomically
    from tokdfa.draw.film import Film

    output = asked["output"]
    film = Film(folded.dictionary, folded.language, max_states=asked["max_states"], max_arrows=asked["max_arrows"])
    page = film.to_svg() if output.suffix == ".svg" else film.to_html()
    write_atomically(output, page.encode("utf-8"))
    last = film.frames[-1].dfa
    if asked["as_json"]:
        fields = {"states": last.n_states, "transitions": last.n_transitions, "path": str(output)}
        print_json({**fields, "frames": len(film.frames)})
    else:
        say(f"{output}: {len(film.frames)} frames, the last with {last.n_states:,} states")
    return 0


def _sum_up(automaton: CompactTokenDFA | TokenDFA, asked: Asked, n_arrows: int | None = None) -> int:
    """Print the size of an automaton with too many states or, if these are given, arrows."""
    from tokdfa.draw.summary import summarize

    summary = summarize(automaton)
    max_states, max_arrows = asked["max_states"], asked["max_arrows"]
    if asked["as_json"]:
        densest = [dense._asdict() for dense in summary.densest]
        sizes = {"states": summary.states, "transitions": summary.transitions, "arrows": n_arrows}
        print_json({**sizes, "path": None, "densest": densest})
        return 1
    if n_arrows is None:
        found = f"{summary.states:,} states, more than the limit of {max_states:,}, "
        found += f"and {summary.transitions:,} transitions"
    else:
        found = f"{summary.states:,} states and {summary.transitions:,} transitions, which are {n_arrows:,} arrows, "
        found += f"more than the limit of {max_arrows:,}"
    say(f"not drawn: the automaton has {found}")
    for dense in summary.densest:
        shown = ", ".join(dense.examples) + " …" * (dense.n_tokens > len(dense.examples))
        leading = "1 token leads" if dense.n_tokens == 1 else f"{dense.n_tokens:,} tokens lead"
        say(f"  state {dense.state}: {leading} to it{f' ({shown})' * bool(shown)}, {dense.n_moves:,} can follow")
    part = "Draw a part with --around TOKEN, --language REGEX or --rules N"
    if n_arrows is None:
        say(f"{part}, or raise the limit with --max-states.")
    else:
        say(f"{part}, write a .dot file, which needs no layout, or raise the limit with --max-arrows.")
    return 1


def _sum_up_trie(trie: FailureTrie, asked: Asked) -> int:
    if asked["as_json"]:
        # The arrows below both roots, the one between them, and the failure links.
        n_arrows = len(trie) - 2 + 1 + sum(target >= 0 for target in trie.failure)
        print_json({"states": len(trie), "transitions": n_arrows, "arrows": None, "path": None, "densest": []})
    else:
        max_states = asked["max_states"]
        say(f"not drawn: the trie has {len(trie):,} nodes, more than the limit of {max_states:,}")
        say("Draw only the nodes visited on a word with --word W, or raise the limit with --max-states.")
    return 1


# The function that draws a tokenizer, by the tokenizer's algorithm.
_DRAWN: dict[str, Callable[[Any, Asked], int]] = {"byte pair": _draw_rules, "WordPiece": _draw_trie}
