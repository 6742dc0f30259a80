"""Determinization: making transducers subsequential."""

from __future__ import annotations

from tokdfa.arguments import wrong_argument
from tokdfa.automata.exploration import Numbering
from tokdfa.errors import AutomatonError, LimitExceededError
from tokdfa.transducers.arcs import Arc, Output, show_output
from tokdfa.transducers.square import functionality
from tokdfa.transducers.transducer import Transducer
from tokdfa.transducers.twinning import twinning

__all__ = ["determinize"]

DEFAULT_MAX_STATES = 100_000


def determinize(transducer: Transducer, *, check: bool = True, max_states: int = DEFAULT_MAX_STATES) -> Transducer:
    """Return a subsequential transducer that computes the same function.

    Parameters
    ----------
    transducer : Transducer
        A functional transducer with the twinning property.
    check : bool
        Whether to decide both properties first. Without them, the construction may find two outputs for one word, or go
        on until the budget is spent.
    max_states : int
        The maximum number of states of the result.

    Returns
    -------
    Transducer
        A subsequential transducer, its states numbered breadth first with symbols ascending.

    Raises
    ------
    AutomatonError
        If the transducer is not functional, or no subsequential one exists; the message shows the witness.
    LimitExceededError
        If there would be more states.

    Notes
    -----
    M.-P. Béal, O. Carton, *Determinization of transducers over finite and infinite words*, 2002, which *Constructing a
    BPE Tokenization DFA*, Theorem 4, uses. A state is a set of states of the given transducer, each with the tokens
    still to be written there. The common prefix of all these tokens is written at once.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> T = tokdfa.determinize(tokdfa.Transducer.from_token_dfa(tokdfa.token_dfa(d)))
    >>> T.n_states, bool(T.subsequentiality()), T.outputs("baa")
    (6, True, frozenset({('b', 'aa')}))
    """
    if not isinstance(transducer, Transducer):
        raise wrong_argument(transducer, "a transducer", "tokdfa.determinize(transducer)")
    trim = transducer.trim()
    if check:
        for verdict, what in (
            (functionality(trim), "the transducer is not functional"),
            (twinning(trim), "no subsequential transducer computes the same function"),
        ):
            if not verdict:
                raise AutomatonError(f"{what}: {verdict.reason}")
    start = frozenset({(trim.initial, ())}) if trim.finals else frozenset()

    def check_count(count: int) -> None:
        if count > max_states:
            raise LimitExceededError(
                f"the subsequential transducer has more than {max_states} states", hint="raise max_states"
            )

    subsets: Numbering[frozenset[tuple[int, Output]]] = Numbering(start, check_count)
    arcs: list[list[Arc]] = []
    finals: dict[int, Output] = {}
    for number, subset in enumerate(subsets.states):  # grows during the loop
        ends = {pending + trim.finals[state] for state, pending in subset if state in trim.finals}
        if ends:
            finals[number] = _only(trim, ends)
        following: dict[int, dict[int, set[Output]]] = {}
        for state, pending in subset:
            for symbol, output, target in trim.arcs[state]:
                following.setdefault(symbol, {}).setdefault(target, set()).add(pending + output)
        row = []
        for symbol, reached in sorted(following.items()):
            pendings = {target: _only(trim, outputs) for target, outputs in reached.items()}
            common = _common_prefix(list(pendings.values()))
            key = frozenset((target, pending[len(common) :]) for target, pending in pendings.items())
            row.append(Arc(symbol, common, subsets[key]))
        arcs.append(row)
    return Transducer(trim.alphabet, arcs, finals=finals)


def _only(transducer: Transducer, outputs: set[Output]) -> Output:
    if len(outputs) > 1:
        first, second, *_ = (show_output(transducer.alphabet, output) for output in sorted(outputs))
        raise AutomatonError(f"the transducer is not functional: some word has outputs ending in {first} and {second}")
    return next(iter(outputs))


def _common_prefix(outputs: list[Output]) -> Output:
    shortest, longest = min(outputs), max(outputs)
    # The common prefix of all outputs is that of the least and the greatest.
    for i, token in enumerate(shortest):
        if token != longest[i]:
            return shortest[:i]
    return shortest
