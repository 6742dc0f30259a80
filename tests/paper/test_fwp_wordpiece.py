"""FWP (*Fast WordPiece Tokenization*): LinMaxMatch, its trie, and tokenization of text in one pass."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pytest

from tests.support.bert import differences
from tests.support.wordpieces import all_small_vocabularies, random_vocabulary
from tokdfa import LinMaxMatch, WordPieceVocabulary, load, max_match
from tokdfa.base.errors import AlphabetError
from tokdfa.draw.trie import trie_graph
from tokdfa.kernels.wordpiece.matching import count_cells_read, word_trie
from tokdfa.tokenizers.models.wordpiece.language import WordLanguage
from tokdfa.tokenizers.models.wordpiece.maxmatch import PackedTrie
from tokdfa.tokenizers.models.wordpiece.trie import FailureTrie

VOCABULARY = WordPieceVocabulary(["a", "abcd", "##b", "##bc", "##z"])


def _by_definition(entries: list[str], word: str) -> list[str] | None:
    """The longest entry first, counted down, over the entries as texts; shares no code with the package."""
    tokens: list[str] = []
    rest = word
    while rest:
        candidates = [rest[:n] if not tokens else "##" + rest[:n] for n in range(len(rest), 0, -1)]
        longest = next((piece for piece in candidates if piece in entries), None)
        if longest is None:
            return None
        tokens.append(longest)
        rest = rest[len(longest) - 2 * (len(tokens) > 1) :]
    return tokens


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        ("abcz", ["a", "##bc", "##z"]),
        ("abcd", ["abcd"]),
        ("abcdz", ["abcd", "##z"]),
        ("abz", ["a", "##b", "##z"]),
        ("a", ["a"]),
        ("", []),
    ],
)
def test_max_match_takes_the_longest_match_first(word: str, tokens: list[str]) -> None:
    assert VOCABULARY.spell(max_match(VOCABULARY, word)) == tokens == _by_definition([*dict(VOCABULARY.items())], word)


def test_max_match_is_its_definition_on_random_words() -> None:
    dice = random.Random(1)
    for _ in range(200):
        entries = {dice.choice(["", "##"]) + "".join(dice.choices("ab", k=dice.randint(1, 4))) for _ in range(8)}
        vocabulary = WordPieceVocabulary(["[UNK]", *sorted(entries)])
        for _ in range(20):
            word = "".join(dice.choices("ab", k=dice.randint(0, 12)))
            expected = _by_definition(["[UNK]", *entries], word)
            assert vocabulary.spell(max_match(vocabulary, word)) == (["[UNK]"] if expected is None else expected)


def test_lin_max_match_on_the_word_of_the_figure() -> None:
    assert VOCABULARY.spell(LinMaxMatch(VOCABULARY).tokenize("abcz")) == ["a", "##bc", "##z"]
    # Matching stops after "abc" at z: a is popped, and the link leads to "bc", with the pop ##bc.
    trie = FailureTrie.of(VOCABULARY)
    stuck = next(node for node in range(len(trie)) if trie.path(node) == "abc")
    assert VOCABULARY.spell(pop.id for pop in trie.pops[stuck]) == ["a"]
    linked = trie.failure[stuck]
    assert trie.path(linked) == "bc"
    assert VOCABULARY.spell(pop.id for pop in trie.pops[linked]) == ["##bc"]


def test_the_trie_of_the_figure_with_its_links_and_pops() -> None:
    graph = trie_graph(VOCABULARY)
    labels = {node.name: node.label for node in graph.nodes}
    edges = {
        (labels[edge.source], edge.labels[0], labels[edge.target]) for edge in graph.edges if edge.style == "solid"
    }
    assert edges == {
        *(("ε", "a", "a"), ("a", "b", "ab"), ("ab", "c", "abc"), ("abc", "d", "abcd")),
        *(("ε", "##", "##"), ("##", "b", "##b"), ("##b", "c", "##bc"), ("##", "z", "##z")),
    }
    assert {node.label for node in graph.nodes if node.double} == {"a", "abcd", "##b", "##bc", "##z"}
    links = {
        labels[edge.source]: (edge.labels[0], labels[edge.target]) for edge in graph.edges if edge.style == "dashed"
    }
    assert links == {
        **{"a": ("a", "##"), "ab": ("a", "##b"), "abc": ("a", "##bc"), "abcd": ("abcd", "##")},
        **{"##b": ("##b", "##"), "##bc": ("##bc", "##"), "##z": ("##z", "##")},
    }


def test_lin_max_match_is_max_match_on_small_vocabularies() -> None:
    words = [bin(number)[3:].replace("0", "a").replace("1", "b") for number in range(1, 1 << 6)]
    for vocabulary in all_small_vocabularies(step=61, offset=7):
        machine = LinMaxMatch(vocabulary)
        for word in words:
            assert machine.tokenize(word) == max_match(vocabulary, word)


def test_lin_max_match_is_max_match_on_random_vocabularies() -> None:
    dice = random.Random(2)
    for _ in range(150):
        vocabulary, symbols = random_vocabulary(dice)
        machine = LinMaxMatch(vocabulary)
        for _ in range(20):
            word = "".join(dice.choices(symbols + "?", k=dice.randint(0, 30)))
            try:
                expected = max_match(vocabulary, word)
            except AlphabetError:
                continue
            assert machine.tokenize(word) == expected


class Counted(dict[str, int]):
    """The edges of a node, which count how often they are asked for."""

    asked = 0

    def __contains__(self, symbol: object) -> bool:
        Counted.asked += 1
        return super().__contains__(symbol)

    def __getitem__(self, symbol: str) -> int:
        Counted.asked += 1
        return super().__getitem__(symbol)


def steps(trie: FailureTrie, word: str) -> int:
    """Match a word and count the look-ups of edges."""
    trie.children = [Counted(edges) for edges in trie.children]
    Counted.asked = 0
    trie.match(word)
    return Counted.asked


def deceptive(length: int) -> tuple[WordPieceVocabulary, str]:
    """A word, cut into single symbols; every suffix begins like an entry half as long as the word."""
    entries = ["a", "##a", "a" * (length // 2) + "b", "##" + "a" * (length // 2) + "b"]
    return WordPieceVocabulary(entries, longest_word=None), "a" * length


def test_linear_in_the_length_of_a_word() -> None:
    # At most one look-up that fails for every symbol, one that finds it, and one that follows it.
    dice = random.Random(3)
    reached = 0
    for _ in range(200):
        vocabulary, symbols = random_vocabulary(dice)
        word = "".join(dice.choices(symbols, k=200))
        counted = steps(FailureTrie.of(vocabulary), word)
        assert counted <= 3 * len(word) + 1
        reached += counted > len(word)
    assert reached >= 50
    for length in (10, 100, 1_000, 10_000):
        vocabulary, word = deceptive(length)
        assert 2 * length < steps(FailureTrie.of(vocabulary), word) <= 3 * length + 1


def test_longest_match_first_is_quadratic_where_lin_max_match_is_not() -> None:
    # Walking down the trie afresh for each token would break the bound above.
    for length in (100, 1_000):
        vocabulary, word = deceptive(length)
        trie = FailureTrie.of(vocabulary)
        walked = begin = 0
        while begin < length:
            node, end = int(begin > 0), begin
            while end < length and word[end] in trie.children[node]:
                node, end, walked = trie.children[node][word[end]], end + 1, walked + 1
            begin += 1
        assert walked > length * length // 4


def cells_read(vocabulary: WordPieceVocabulary, word: str) -> int:
    """Match a word with the compiled loop and count the cells it reads."""
    packed = PackedTrie.of(*vocabulary.words)
    return count_cells_read(word_trie(packed.cells, packed.pops, packed.points), word)


def test_linear_in_the_length_of_a_word_as_it_is_run() -> None:
    # A root, one cell for every symbol, and for every token the cell that does not follow and the one linked instead.
    dice = random.Random(3)
    reached = 0
    for _ in range(200):
        vocabulary, symbols = random_vocabulary(dice)
        word = "".join(dice.choices(symbols, k=200))
        counted = cells_read(vocabulary, word)
        assert counted <= 3 * len(word) + 1
        reached += counted > len(word)
    assert reached >= 50
    for length in (10, 100, 1_000, 10_000):
        vocabulary, word = deceptive(length)
        assert LinMaxMatch(vocabulary).tokenize(word) == [0] + [1] * (length - 1)
        assert 2 * length < cells_read(vocabulary, word) <= 3 * length + 1


@pytest.mark.slow
def test_a_word_takes_time_linear_in_its_length() -> None:
    # Time spent without reading cells would show here. A word 16 times as long would take 256 times as long if it were
    # quadratic, be it in the length of the word or of the entries.
    def least_time(length: int, enough: int) -> int:
        vocabulary, word = deceptive(length)
        machine = LinMaxMatch(vocabulary)
        least, spent = sys.maxsize, 0
        for _ in range(20):
            start = time.process_time_ns()
            ids = machine.tokenize(word)
            least, spent = min(least, time.process_time_ns() - start), spent + time.process_time_ns() - start
            assert ids == [0] + [1] * (length - 1)
            if least < enough or spent > 2_000_000_000:
                break
        return least

    limit = 64 * max(least_time(1_000, 0), 10_000)
    assert least_time(16_000, limit) < limit


def test_end_to_end_is_the_tokenizer_of_bert(data: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = data / "vocabs" / "bert_uncased_tokenizer.json"
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    for corpus in ("english.txt", "multilingual.txt"):
        lines = (data / "corpora" / corpus).read_text("utf-8").splitlines()[::50]
        assert differences(load(path).end_to_end, theirs, lines) == []  # type: ignore[union-attr]


@pytest.mark.parametrize("k", range(1, 8))
def test_local_with_exactly_k(k: int) -> None:
    # Not a statement of the paper: every vocabulary is local, and no k is enough for all.
    vocabulary = WordPieceVocabulary(["[UNK]", "a", "##a", "a" * (k + 1)], longest_word=None)
    language = WordLanguage(vocabulary, limited=False)
    assert language.local_from == k
    tokens = [max_match(vocabulary, "a" * length) for length in range(1, 3 * k + 4)]
    # The tokens that may follow after the last k - 1 tokens differ, with these two runs.
    short, long = tokens[k - 1], tokens[2 * k + 1]
    assert len(short) == k
    assert short[1:] == long[len(long) - k + 1 :]
    assert [*short, 2] not in tokens
    assert [*long, 2] in tokens
