"""The automaton of correct tokenizations accepts what MaxMatch gives, and nothing else; and it is local."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from tests.support.dictionaries import all_words
from tests.support.wordpieces import all_small_vocabularies, random_vocabulary
from tokdfa.automata.protocol import run
from tokdfa.tokenizers.models.wordpiece.language import WordLanguage, WordState
from tokdfa.tokenizers.models.wordpiece.maxmatch import max_match
from tokdfa.tokenizers.models.wordpiece.trie import SUFFIX_ROOT
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary


def _correct(vocabulary: WordPieceVocabulary, symbols: str, longest: int) -> set[tuple[int, ...]]:
    """The ids by MaxMatch of words of up to `longest` symbols, without words that begin with a prefixed entry."""
    found = set()
    for word in all_words(symbols, longest):
        ids = tuple(max_match(vocabulary, word))
        if vocabulary.unknown_id not in ids:
            first = vocabulary.entry(ids[0]) if ids else ""
            if not vocabulary.prefix or not (first or "").startswith(vocabulary.prefix):
                found.add(ids)
    return found


def _accepted(language: WordLanguage, longest: int) -> tuple[set[tuple[int, ...]], set[int]]:
    """The accepted ids without the unknown token, for texts of up to `longest` symbols, and the nodes met."""
    vocabulary = language.vocabulary
    accepted, nodes = set(), set()
    level: list[tuple[tuple[int, ...], WordState, int]] = [((), language.initial, 0)]
    while level:
        following = []
        for ids, state, length in level:
            accepted.add(ids)
            nodes.add(state.node)
            assert language.is_final(state)
            for token, target in language.moves(state):
                if token == vocabulary.unknown_id:  # A word over other symbols.
                    continue
                entry = vocabulary.entry(token) or ""
                size = len(entry) - len(vocabulary.prefix) * entry.startswith(vocabulary.prefix)
                if length + size <= longest:
                    following.append(((*ids, token), target, length + size))
        level = following
    return accepted, nodes


def test_it_accepts_what_max_match_gives_on_small_vocabularies() -> None:
    for vocabulary in all_small_vocabularies(step=5):
        accepted, nodes = _accepted(WordLanguage(vocabulary), 6)
        assert accepted == _correct(vocabulary, "ab", 6), list(vocabulary.items())
        assert nodes <= set(WordLanguage(vocabulary).states)


@pytest.mark.parametrize("seed", range(4))
def test_it_accepts_what_max_match_gives_on_random_vocabularies(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        vocabulary, symbols = random_vocabulary(dice)
        longest = {1: 12, 2: 8, 3: 5}.get(len(symbols), 4)
        unknown = WordPieceVocabulary(
            {entry: number for entry, number in vocabulary.items() if entry != "?"} | {"unknown?": 0},
            prefix=vocabulary.prefix,
            unknown="unknown?",
            longest_word=vocabulary.longest_word,
        )
        accepted, _ = _accepted(WordLanguage(unknown), longest)
        assert accepted == _correct(unknown, symbols, longest), (list(unknown.items()), unknown)


def test_moves_are_steps_in_order() -> None:
    dice = random.Random(9)
    for _ in range(100):
        vocabulary, _ = random_vocabulary(dice)
        language = WordLanguage(vocabulary)
        for node in language.states[:10]:
            state = WordState(node, 0)
            stepped = ((token, language.step(state, token)) for token in range(vocabulary.n_ids))
            assert list(language.moves(state)) == [move for move in stepped if move[1] is not None]


def test_states_are_the_nodes_that_runs_reach_and_distances_the_shortest_words() -> None:
    dice = random.Random(8)
    for _ in range(400):
        vocabulary, _ = random_vocabulary(dice)
        language = WordLanguage(vocabulary, limited=False)
        reached = {language.initial.node}
        queue = [language.initial]
        for state in queue:
            for _, target in language.moves(state):
                if target.node not in reached:
                    reached.add(target.node)
                    queue.append(target)
        assert reached == set(language.states), (list(vocabulary.items()), vocabulary.prefix)
        symbols = "".join(sorted(set("".join(entry for entry, _ in vocabulary.items()))))
        if len(symbols) <= 4:
            nearest: dict[int, int] = {}
            for word in all_words(symbols, 4):
                popped, node = language.advance(language.initial.node, word)
                if node >= 0 and (not popped or not vocabulary.prefix or _is_plain(vocabulary, popped[0])):
                    nearest.setdefault(node, len(word))
            assert nearest == {node: length for node, length in language.distance.items() if length <= 4}


def _is_plain(vocabulary: WordPieceVocabulary, token: int) -> bool:
    return not (vocabulary.entry(token) or "").startswith(vocabulary.prefix)


def _local_from(language: WordLanguage, longest: int) -> int:
    """By definition: the least k such that no sequence of k ids leads from the states to two of them."""
    sets = {frozenset(language.states)}
    for k in range(longest):
        if all(len(nodes) <= 1 for nodes in sets):
            return k
        ends = set()
        for nodes in sets:
            after: dict[int, set[int]] = {}
            for node in nodes:
                for token, target in language.moves(WordState(node, 0)):
                    after.setdefault(token, set()).add(target.node)
            ends.update(map(frozenset, after.values()))
        sets = ends
    raise AssertionError("not local")


def test_locality_is_as_defined() -> None:
    dice = random.Random(4)
    seen = set()
    for _ in range(400):
        vocabulary, _ = random_vocabulary(dice)
        language = WordLanguage(vocabulary, limited=False)
        if len(language.states) > 40:
            continue
        least = language.local_from
        assert least == _local_from(language, 20), (list(vocabulary.items()), vocabulary.prefix)
        seen.add(least)
        for k in range(least):
            verdict = language.k_locality(k)
            assert not verdict
            begins, ids, ends = verdict.witness  # type: ignore[misc]
            assert len(ids) == k
            assert ends[0] != ends[1]
            for begin, end in zip(begins, ends, strict=True):
                assert begin in language.states
                reached = run(language, ids, WordState(begin, 0))
                assert reached is not None
                assert reached.node == end
        assert language.k_locality(least)
    assert {0, 1, 2, 3} <= seen


def test_the_figure_is_local_from_two_on() -> None:
    vocabulary = WordPieceVocabulary(["a", "abcd", "##b", "##bc", "##z"])
    language = WordLanguage(vocabulary, limited=False)
    assert language.local_from == 2
    # After a and ##b, abcd may still come; after ##b alone, only ##bc.
    assert language.k_locality(1).reason == "two runs read ##b and end in different states"


def test_a_limit_is_counted() -> None:
    vocabulary = WordPieceVocabulary(["a", "##a"], longest_word=3)
    language = WordLanguage(vocabulary)
    assert [run(language, ids) is not None for ids in ([0], [0, 1, 1], [0, 1, 1, 1])] == [True, True, False]
    assert run(WordLanguage(vocabulary, limited=False), [0, *[1] * 50]) is not None


def test_every_tokenization_of_a_real_vocabulary_is_accepted_and_others_are_not(data: Path) -> None:
    entries = (data / "vocabs" / "bert_uncased_vocab.txt").read_text("utf-8").splitlines()
    vocabulary = WordPieceVocabulary(entries)
    language = WordLanguage(vocabulary)
    words = sorted(set((data / "corpora" / "english.txt").read_text("utf-8").lower().split()))[::151]
    assert SUFFIX_ROOT in language.states
    for word in words:
        ids = max_match(vocabulary, word)
        if ids == [vocabulary.unknown_id]:
            continue
        assert run(language, ids) is not None
        # Splitting the first token differently is never correct.
        first = vocabulary.spell(ids[:1])[0]
        for cut in range(1, len(first)):
            parts = vocabulary.id(first[:cut]), vocabulary.id("##" + first[cut:])
            if None not in parts:
                assert run(language, [*parts, *ids[1:]]) is None  # type: ignore[list-item]
    assert language.local_from == 6


def test_small_alphabets_exhaustively_against_all_sequences() -> None:
    vocabulary = WordPieceVocabulary(["[UNK]", "a", "ab", "##a", "##b", "##ba", "##bab"], longest_word=None)
    language = WordLanguage(vocabulary)
    for length in range(5):
        for ids in product(range(1, 7), repeat=length):
            spelled = vocabulary.spell(ids)
            is_word = not spelled or not spelled[0].startswith("##")
            is_word = is_word and all(piece.startswith("##") for piece in spelled[1:])
            text = "".join(spelled).replace("##", "")
            assert (run(language, ids) is not None) == (is_word and tuple(max_match(vocabulary, text)) == ids)
