"""Arguments in the wrong order, or of another kind, are answered with the right call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import tokdfa
from tokdfa.base.errors import TokenStreamError, TrainingError, WrongTypeError
from tokdfa.base.suggestions import is_tokenizer, with_article, wrong_argument

TOKENIZER = tokdfa.default_tokenizer()
# As an object of the library looks, by which it is told.
LIVE = type("Tokenizer", (), {"__module__": "tokenizers"})()
IDS = [64, 261, 1193]
ARRAY = np.array(IDS, dtype=np.int32)
TOY = tokdfa.Dictionary([("a", "a"), ("b", "a")], alphabet="ab")
DFA = tokdfa.token_dfa(TOY)
COMPACT = tokdfa.CompactTokenDFA(TOY)
TRANSDUCER = tokdfa.Transducer.from_token_dfa(DFA)
VOCABULARY = tokdfa.WordPieceVocabulary(["[UNK]", "a"])

LOAD = "tokdfa.load(path) returns one"
DICTIONARY = "use its dictionary: tokenizer.dictionary"
CASES: list[tuple[Callable[..., object], tuple[object, ...], str]] = [
    (tokdfa.validate, (IDS, TOKENIZER), "the order is tokdfa.validate(tokenizer, ids)"),
    (tokdfa.validate, (ARRAY, TOKENIZER), "the order is tokdfa.validate(tokenizer, ids)"),
    (tokdfa.validate, (iter([ARRAY]), TOKENIZER), "the order is tokdfa.validate(tokenizer, ids)"),
    (tokdfa.validate, ("tok.json", IDS), LOAD),
    (tokdfa.validate, ("tok.json", ARRAY), LOAD),
    (tokdfa.validate, (IDS, IDS), "the call is tokdfa.validate(tokenizer, ids)"),
    (tokdfa.validate, (ARRAY, ARRAY), "the call is tokdfa.validate(tokenizer, ids)"),
    (tokdfa.validate, (TOY, IDS), "tokdfa.load(path) makes a tokenizer of it"),
    (tokdfa.Validator, ("tok.json",), LOAD),
    (tokdfa.validation_report, (IDS, TOKENIZER), "the order is tokdfa.validation_report(tokenizer, ids)"),
    (tokdfa.validation_report, ("tok.json", IDS), LOAD),
    (tokdfa.search, (IDS, TOKENIZER, "a"), "tokdfa.search(tokenizer, pattern, ids), or tokenizer.search(pattern, ids)"),
    (tokdfa.search, (TOKENIZER, IDS, "a"), "tokdfa.search(tokenizer, pattern, ids), or tokenizer.search(pattern, ids)"),
    (tokdfa.search, ("a", TOKENIZER, IDS), "the order is tokdfa.search(tokenizer, pattern, ids)"),
    (tokdfa.search, ("a", IDS, TOKENIZER), "the order is tokdfa.search(tokenizer, pattern, ids)"),
    (tokdfa.search, ("tok.json", "a", IDS), LOAD),
    (TOKENIZER.search, (IDS, "a"), "tokenizer.search(pattern, ids)"),
    (TOKENIZER.search, (ARRAY, "a"), "tokenizer.search(pattern, ids)"),
    (TOKENIZER.search, (IDS, ["a", "man"]), "the pattern comes before the ids"),
    (TOKENIZER.search, (ARRAY, ["a", "man"]), "the pattern comes before the ids"),
    (tokdfa.Searcher, ("a", TOKENIZER), "the order is tokdfa.Searcher(tokenizer, pattern)"),
    (tokdfa.replace, ("a", TOKENIZER, "b", IDS), "the order is tokdfa.replace(tokenizer, pattern, replacement, ids)"),
    (tokdfa.replace, ("a", "b", IDS, TOKENIZER), "the order is tokdfa.replace(tokenizer, pattern, replacement, ids)"),
    (tokdfa.replace, ("tok.json", "a", "b", IDS), LOAD),
    (tokdfa.Replacer, ("a", TOKENIZER, "b"), "the order is tokdfa.Replacer(tokenizer, pattern, replacement)"),
    (tokdfa.encode_batch, (["a"], TOKENIZER), "the order is tokdfa.encode_batch(tokenizer, texts)"),
    (tokdfa.encode_batch, ("tok.json", ["a"]), LOAD),
    (tokdfa.compare, ("a.json", "b.json"), LOAD),
    (tokdfa.compare, (TOKENIZER, "b.json"), LOAD),
    (tokdfa.comparison_report, ("a.json", "b.json"), LOAD),
    (tokdfa.train, (10, "corpus.txt"), "the order is tokdfa.train(sources, merges)"),
    (tokdfa.train_greedy, ("low lower", 3), "the call is tokdfa.train_greedy(pieces, merges)"),
    (tokdfa.token_dfa, ("a|aab", TOY), "the order is tokdfa.token_dfa(dictionary, language)"),
    (tokdfa.token_dfa, (TOKENIZER,), DICTIONARY),
    (tokdfa.language, (TOY, "a*"), "the order is tokdfa.language(pattern, symbols)"),
    (tokdfa.language, ("a*", TOKENIZER), DICTIONARY),
    (tokdfa.tokenized_language, (DFA, TOY), "the order is tokdfa.tokenized_language(dictionary, language)"),
    (tokdfa.tokenized_language, (TOY, "a*"), "the call is tokdfa.tokenized_language(dictionary, language)"),
    (tokdfa.validate, (LIVE, IDS), "tokdfa.load(object) makes one of it"),
    (tokdfa.Searcher, (LIVE, "a"), "tokdfa.load(object) makes one of it"),
    (tokdfa.compare, (LIVE, TOKENIZER), "tokdfa.load(object) makes one of it"),
    (tokdfa.lift, (TOY, DFA), "the order is tokdfa.lift(dfa, alphabet)"),
    (tokdfa.tokenize_leftmost, ("baa", TOY), "(dictionary, word)"),
    (tokdfa.tokenize_rounds, (TOKENIZER, "baa"), DICTIONARY),
    (tokdfa.dloc, (2, DFA), "the order is tokdfa.dloc(dfa, k)"),
    (tokdfa.k_locality, (1, DFA), "the order is tokdfa.k_locality(dfa, k)"),
    (tokdfa.k_locality, (TOY, 1), "tokdfa.token_dfa(dictionary) returns one"),
    (tokdfa.dloc, (COMPACT, 1), "its to_token_dfa() returns one"),
    (tokdfa.context_invariance, (TOKENIZER,), "use tokenizer.dfa, or tokdfa.token_dfa(tokenizer.dictionary)"),
    (tokdfa.CompactTokenDFA, (TOKENIZER,), DICTIONARY),
    (tokdfa.SubsequentialTransducer, (TOKENIZER,), DICTIONARY),
    (tokdfa.Language, (TOY,), "tokdfa.token_dfa(dictionary) returns one"),
    (tokdfa.determinize, (DFA,), "tokdfa.Transducer.from_token_dfa(dfa) returns one"),
    (tokdfa.fingerprint, ("tok.json",), LOAD),
    (tokdfa.fingerprint, (None,), "the call is tokdfa.fingerprint(tokenizer)"),
    (tokdfa.identify, (IDS, 5), "the call is tokdfa.identify(path, [file, other])"),
    (tokdfa.open_store, (IDS,), "the call is tokdfa.open_store(path)"),
    (tokdfa.open_store, (b"ids.npy",), "the call is tokdfa.open_store(path)"),
    (tokdfa.check_turns, (TOKENIZER, None, "A"), "a text with slots, or a list of texts and slots, is expected: None"),
    (tokdfa.check_injection, (TOKENIZER, 5), "a text with slots, or a list of texts and slots, is expected: 5"),
    (tokdfa.check_template, ("{{ messages }}", TOKENIZER), LOAD),
    (tokdfa.check_template, (TOKENIZER, b"{{ messages }}"), "the call is tokdfa.check_template(tokenizer, template"),
    (tokdfa.check_template, (TOKENIZER, None), "the call is tokdfa.check_template(tokenizer, template"),
    (tokdfa.check_template, (TOKENIZER, {"chat_template": "a"}), "a text is expected, not a dict"),
    (partial(tokdfa.check_template, variables={"bos_token": 1}), (TOKENIZER, "a"), "a text is expected, not an int: 1"),
    (tokdfa.max_match, ("a", VOCABULARY), "the order is tokdfa.max_match(vocabulary, word)"),
]


@pytest.mark.parametrize(("call", "arguments", "hint"), CASES)
def test_the_right_call_is_said(call: Callable[..., object], arguments: tuple[object, ...], hint: str) -> None:
    with pytest.raises(WrongTypeError) as caught:
        call(*arguments)
    assert hint in str(caught.value)


def test_the_whole_sentence() -> None:
    with pytest.raises(WrongTypeError) as caught:
        tokdfa.validate(IDS, TOKENIZER)  # type: ignore[arg-type]
    said = "a tokenizer is expected, not a list: [64, 261, 1193] (the order is tokdfa.validate(tokenizer, ids))"
    assert str(caught.value) == said


def test_texts_and_lists_of_streams_are_not_ids() -> None:
    with pytest.raises(TokenStreamError, match="encode\\(text\\) gives the ids of a text"):
        TOKENIZER.validate("a single man")
    with pytest.raises(TokenStreamError, match="a stream is one list; give several one by one"):
        TOKENIZER.validate([[1, 2], [3]])
    with pytest.raises(TokenStreamError, match="a stream is one list; give several one by one"):
        TOKENIZER.validate([[1, 2], [3, 4]])
    with pytest.raises(TrainingError, match="sources are files: write the text into one"):
        tokdfa.train(["low lower lowest"], 3)


def test_what_is_a_tokenizer() -> None:
    assert is_tokenizer(TOKENIZER)
    assert not any(map(is_tokenizer, (TOY, DFA, IDS, "a", None, tokdfa.AnyTokenizer, tokdfa)))


def test_articles_fit_the_nouns() -> None:
    assert [*map(with_article, ("list", "int", "ndarray", "Encoding"))] == [
        "a list",
        "an int",
        "an ndarray",
        "an Encoding",
    ]
    assert wrong_argument(None, "a thing", "f(thing)").hint == "the call is f(thing)"
