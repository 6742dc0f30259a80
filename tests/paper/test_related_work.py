"""Related work: the statements that tokdfa uses, each against Algorithm 1 or the longest match."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings

from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tests.support.tokenizer_files import rwkv_lines
from tokdfa import (
    CompactTokenDFA,
    Dictionary,
    LinMaxMatch,
    Rule,
    SubsequentialTransducer,
    Transducer,
    WordPieceVocabulary,
    default_dictionary,
    guide,
    load,
    look_ahead,
    max_match,
    token_dfa,
    tokenize_single_pass,
)
from tokdfa.automata.alphabet import Word

# Whether a word came later than the first, and its symbols: a node of a trie, or a token.
Node: TypeAlias = tuple[bool, str]

DICTIONARIES = [*all_proper_dictionaries("ab", 3, up_to_renaming=True)][::25]


# Canonical prefixes: a sequence of tokens is the beginning of a canonical one iff it is canonical, pair by pair.


def test_canonical_prefixes_are_what_the_automaton_allows_next() -> None:
    for dictionary in DICTIONARIES:
        automaton, words = CompactTokenDFA(dictionary), dictionary.alphabet
        canonical = {tokenize_single_pass(dictionary, word) for word in all_words("ab", 7)}
        assert {tau[:-1] for tau in canonical if tau} <= canonical
        for tau in canonical:
            state = 0
            for token in words.numbers(tau):
                state = automaton.step(state, token)  # type: ignore[assignment]
            for token, word in enumerate(words):
                if len("".join(map(str, tau))) + len(word) <= 7:
                    assert (automaton.step(state, token) is not None) == ((*tau, word) in canonical)


def test_canonical_prefixes_are_the_masks_of_a_guide(tmp_path: Path) -> None:
    default_dictionary().save(tmp_path / "merges.txt")
    tokenizer = load(tmp_path / "merges.txt", pretokenizer="none")
    letters, ids = guide(tokenizer, r"[a-z ]*"), list[int]()
    spelled = {id: tokenizer.decode_bytes([id]) for id in range(0, len(default_dictionary().alphabet), 7)}
    n_allowed = 0
    for id in tokenizer.encode("the cats sat").tolist():
        allowed = {*letters.allowed(letters.read(ids)).tolist()}
        for candidate, word in spelled.items():
            fits = all(chr(byte) in "abcdefghijklmnopqrstuvwxyz " for byte in word)
            longer = [*ids, candidate]
            is_canonical = fits and tokenizer.encode(tokenizer.decode(longer)).tolist() == longer
            assert (candidate in allowed) == is_canonical
            n_allowed += is_canonical
        ids.append(id)
    assert n_allowed > 500


# One transducer for each rule, composed: a second construction of the tokenization, and of its transducer.


class RuleTransducer:
    """Writes what it reads, but uv for a u that is followed by v: it holds a u until the next token."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.holds = False

    def read(self, token: Word) -> Iterator[Word]:
        held, self.holds = self.holds, False
        if held and token == self.rule.right:
            yield self.rule.product
            return
        if held:
            yield self.rule.left
        if token == self.rule.left:
            self.holds = True
        else:
            yield token

    def end(self) -> Iterator[Word]:
        if self.holds:
            yield self.rule.left
        self.holds = False


def read_all(transducers: list[RuleTransducer], tokens: Iterable[Word]) -> list[Word]:
    for transducer in transducers:
        tokens = [written for token in tokens for written in transducer.read(token)]
    return [*tokens]


def composed(transducers: list[RuleTransducer], word: str) -> Iterator[tuple[tuple[bool, ...], list[Word]]]:
    """Yield the state and the output after each symbol, and after the end."""
    for symbol in word:
        yield tuple(each.holds for each in transducers), read_all(transducers, [symbol])
    written: list[Word] = []
    for at, transducer in enumerate(transducers):
        written += read_all(transducers[at + 1 :], transducer.end())
    yield (), written


@settings(max_examples=40)
@given(proper_dictionaries("ab", max_rules=6))
def test_transducers_of_rules_composed_are_the_transducer_of_observation_3(dictionary: Dictionary) -> None:
    transducer = Transducer.from_token_dfa(token_dfa(dictionary))
    transducers = [RuleTransducer(dictionary[index]) for index in dictionary.live_rules.tolist()]
    for word in all_words("".join(map(str, dictionary.alphabet.symbols)), 6):
        tokens = tuple(token for _, written in composed(transducers, word) for token in written)
        assert transducer(word) == tokens == tokenize_single_pass(dictionary, word)


def test_transducers_of_rules_composed_have_at_most_two_to_the_n_states() -> None:
    # Each holds its left part or does not. So do all n live rules, which is another proof of the bound 2ⁿ.
    doubling = Dictionary([("a" * 2**i, "a" * 2**i) for i in range(5)])
    transducers = [RuleTransducer(rule) for rule in doubling]
    states = {state for state, _ in composed(transducers, "a" * 200)} - {()}
    assert len(states) == 2**5 == SubsequentialTransducer(doubling).explicit().n_states


# MaxMatch as a transducer: a second construction of the longest match, from left to right.


class MaxMatchTransducer:
    """Reads symbols down two tries: of the words that begin a text, and of those that come later.

    Where a node has no edge for the next symbol, its link writes tokens and leads to the node of the rest.
    """

    def __init__(self, opening: Iterable[str], later: Iterable[str]) -> None:
        words = {*((False, word) for word in opening), *((True, word) for word in later)}
        roots = (False, ""), (True, "")
        self.nodes = {*roots, *((is_later, word[:n]) for is_later, word in words for n in range(1, len(word) + 1))}
        self.links: dict[Node, tuple[Node, list[Node]]] = {}
        self.n_followed = 0
        for is_later, path in sorted(self.nodes, key=lambda node: len(node[1])):
            if (is_later, path) in words:
                self.links[is_later, path] = (True, ""), [(is_later, path)]
            elif path and (is_later, path[:-1]) in self.links:
                link, written = self.links[is_later, path[:-1]]
                step = self.read(link, path[-1])
                if step:
                    self.links[is_later, path] = step[0], written + step[1]
        self.n_followed = 0

    def follow(self, node: Node) -> tuple[Node, list[Node]]:
        self.n_followed += 1
        return self.links[node]

    def read(self, node: Node, symbol: str) -> tuple[Node, list[Node]] | None:
        """Return the next node and the tokens written, or None if nothing matches."""
        written: list[Node] = []
        while (child := (node[0], node[1] + symbol)) not in self.nodes:
            if node not in self.links:
                return None
            node, tokens = self.follow(node)
            written += tokens
        return child, written

    def __call__(self, text: str) -> list[Node] | None:
        """Return the tokens, or None if nothing matches at some place."""
        node, written = (False, ""), list[Node]()
        for symbol in text:
            step = self.read(node, symbol)
            if step is None:
                return None
            node, written = step[0], written + step[1]
        while node[1]:
            if node not in self.links:
                return None
            node, tokens = self.follow(node)
            written += tokens
        return written


def longest_first(opening: set[str], later: set[str], text: str) -> list[Node] | None:
    """MaxMatch by definition."""
    tokens: list[Node] = []
    while text:
        fitting = [word for word in (later if tokens else opening) if text.startswith(word)]
        if not fitting:
            return None
        tokens.append((bool(tokens), max(fitting, key=len)))
        text = text[len(tokens[-1][1]) :]
    return tokens


def random_words(dice: random.Random, symbols: str) -> set[str]:
    return {"".join(dice.choices(symbols, k=dice.randint(1, 6))) for _ in range(dice.randint(1, 12))}


def test_transducer_with_failure_links_is_the_longest_match_of_wordpiece() -> None:
    dice, n_followed, n_unknown, n_tokenized = random.Random(1), 0, 0, 0
    for _ in range(200):
        opening, later = random_words(dice, "abc"), {*random_words(dice, "abc"), *dice.choice(["", "abc"])}
        vocabulary = WordPieceVocabulary(["[UNK]", *sorted(opening), *(f"##{word}" for word in sorted(later))])
        transducer, machine = MaxMatchTransducer(opening, later), LinMaxMatch(vocabulary)
        for _ in range(20):
            text = dice.choice([*sorted(opening)]) + "".join(dice.choices("abc", k=dice.randint(0, 20)))
            transducer.n_followed = 0
            tokens = transducer(text)
            spelled = ["[UNK]"] if tokens is None else ["##" * is_later + word for is_later, word in tokens]
            assert tokens == longest_first(opening, later, text)
            assert spelled == vocabulary.spell(machine.tokenize(text)) == vocabulary.spell(max_match(vocabulary, text))
            # Every link writes one token or more, so the time is linear.
            assert transducer.n_followed <= len(text)
            n_followed += transducer.n_followed
            n_unknown += tokens is None
            n_tokenized += tokens is not None
    assert n_followed > 5000
    assert n_unknown > 500
    assert n_tokenized > 500


def test_transducer_with_failure_links_is_the_longest_match_of_rwkv(tmp_path: Path) -> None:
    dice, n_followed, n_several = random.Random(2), 0, 0
    for _ in range(20):
        words = {*map(chr, range(256)), *(word for _ in range(3) for word in random_words(dice, "abé\x80"))}
        ids = {word: id for id, word in enumerate(sorted(words), start=1)}
        path = tmp_path / "rwkv_vocab.txt"
        path.write_bytes(rwkv_lines({word.encode("latin-1"): id for word, id in ids.items()}))
        tokenizer, transducer = load(path), MaxMatchTransducer(words, words)
        n_several += any(len(tokens) > 1 for _, tokens in transducer.links.values())
        for _ in range(20):
            text = "".join(dice.choices("abcé中", k=dice.randint(0, 40)))
            # A symbol of the transducer is a byte, as the code point of its number.
            symbols = text.encode().decode("latin-1")
            tokens = transducer(symbols)
            assert tokens is not None
            assert tokens == longest_first(words, words, symbols)
            assert tokenizer.encode(text).tolist() == [ids[word] for _, word in tokens]
        n_followed += transducer.n_followed
    assert n_followed > 5000
    assert n_several > 10


# Incremental tokenization: the tokens of every prefix; and how many of them are settled.


@pytest.mark.parametrize("dictionary", DICTIONARIES[::3], ids=repr)
def test_incremental_tokenization_adds_the_last_token_of_each_prefix(dictionary: Dictionary) -> None:
    revised = look_ahead(dictionary).revised
    for word in all_words("ab", 8):
        tau = tokenize_single_pass(dictionary, word)
        if tau:
            # One token a prefix is enough to have all of them.
            assert tau[:-1] == tokenize_single_pass(dictionary, word[: -len(tau[-1])])
        stream = SubsequentialTransducer(dictionary).stream()
        written = dictionary.alphabet.spell(stream.feed(word).tolist())
        assert tau[: len(written)] == written
        assert len(tau) - len(written) <= revised


def test_incremental_tokenization_holds_back_as_much_as_the_look_ahead_says() -> None:
    dictionary = default_dictionary()
    found = look_ahead(dictionary, "symbols")
    stream = SubsequentialTransducer(dictionary).stream()
    delays = [stream.delay for symbol in found.text if not stream.feed(bytes([symbol])).size]  # type: ignore[list-item]
    assert max(delays) == stream.delay == found.revised == 44


@pytest.mark.parametrize("dictionary", DICTIONARIES[::3], ids=repr)
def test_covers_of_a_prefix_share_all_but_the_tokens_that_the_look_ahead_counts(dictionary: Dictionary) -> None:
    # A cover of w is a canonical sequence that ends, for the first time, at the end of w or beyond it.
    revised = look_ahead(dictionary).revised
    seen = 0
    canonical = [tokenize_single_pass(dictionary, word) for word in all_words("ab", 9)]
    for word in all_words("ab", 4):
        tau = tokenize_single_pass(dictionary, word)
        covers = {
            each
            for each in canonical
            if "".join(each).startswith(word) and len("".join(each[:-1])) < len(word)  # type: ignore[arg-type]
        }
        assert tau in covers or not word
        for cover in covers:
            settled = next((i for i, (a, b) in enumerate(zip(tau, cover, strict=False)) if a != b), len(tau))
            assert len(tau) - settled <= revised
            seen += cover != tau
    assert seen > 0 or revised == 0
