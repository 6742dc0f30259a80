"""Comparing: the libraries differ on each witness, and on no lesser text; equivalent tokenizers agree on all texts."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import tokdfa
from tests.campaigns.standing.seams import UNDECIDED, nasty
from tests.campaigns.standing.small import Small, loads, small, texts_of
from tests.support.random_files import BERT_PARTS, wordpiece_file
from tests.support.random_steps import metaspace, normalizer, splitting_step
from tests.support.tokenizer_files import added_token
from tests.support.unigrams import any_tokenizers
from tokdfa.base.errors import AutomatonError
from tokdfa.jobs.comparison.api import compare_tokenizers
from tokdfa.jobs.comparison.models import Tuning, compare_unigrams

QUICK = Tuning(longest_tried=1, max_texts=200, max_seconds=0.01, max_specials=20)
N_NASTY = 40


def edit_rules(drawn: random.Random, fields: dict[str, Any]) -> None:
    merges = fields["model"]["merges"]
    drawn.choice([drawn.shuffle, lambda rules: rules.__delitem__(slice(-1, None)), lambda rules: None])(merges)


def edit_ids(drawn: random.Random, fields: dict[str, Any]) -> None:
    vocab = fields["model"]["vocab"]
    added = {token["content"] for token in fields["added_tokens"]}
    words = [word for word in vocab if word not in added]
    if not words:
        return
    one, other = drawn.choice(words), drawn.choice(words)
    vocab[one], vocab[other] = vocab[other], vocab[one]


def edit_added(drawn: random.Random, fields: dict[str, Any]) -> None:
    tokens = fields["added_tokens"]
    if tokens and drawn.random() < 0.5:
        token = drawn.choice(tokens)
        flag = drawn.choice(["special", "lstrip", "rstrip", "single_word", "normalized"])
        token[flag] = not token[flag]
    elif tokens and drawn.random() < 0.5:
        tokens.pop()
    else:
        vocab = fields["model"]["vocab"]
        last = max((token["id"] for token in tokens), default=-1)
        content = "".join(drawn.choices("ab <é", k=drawn.randint(1, 3)))
        if content not in {token["content"] for token in tokens} and content not in vocab:
            tokens.append(added_token(last + 1 if last >= len(vocab) else len(vocab), content))


def edit_model(drawn: random.Random, fields: dict[str, Any]) -> None:
    flags = [flag for flag in ("ignore_merges", "fuse_unk", "byte_fallback") if flag in fields["model"]]
    if flags:
        flag = drawn.choice(flags)
        fields["model"][flag] = not fields["model"][flag]


def edit_steps(drawn: random.Random, fields: dict[str, Any]) -> None:
    if drawn.random() < 0.4:
        fields["normalizer"] = normalizer(drawn)
        return
    steps = fields["pre_tokenizer"]
    steps = [] if steps is None else steps.get("pretokenizers", [steps])
    step = drawn.choice([splitting_step, metaspace])(drawn)
    fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [step, *steps]}


EDITS = [edit_rules, edit_rules, edit_ids, edit_added, edit_model, edit_steps]


def pair(drawn: random.Random) -> tuple[Small, Small] | None:
    """Return two tokenizers, one made from the other by a few edits."""
    kind = drawn.choice(["wordpiece", "unigram", "", "", "", ""])
    if kind == "wordpiece":
        one = Small(
            kind, wordpiece_file(drawn), "".join(drawn.sample([part for part in BERT_PARTS if len(part) == 1], 3))
        )
    elif kind == "unigram":
        one = Small(kind, any_tokenizers(drawn), "ab ")
    else:
        one = small(drawn)
    fields = copy.deepcopy(one.fields)
    for _ in range(drawn.choice([1, 1, 2])):
        if kind in ("wordpiece", "unigram"):
            drawn.choice([edit_added, edit_steps, edit_vocabulary])(drawn, fields)
        else:
            drawn.choice(EDITS)(drawn, fields)
    other = Small(one.kind, fields, one.symbols)
    return (one, other) if loads(one) and loads(other) else None


def edit_vocabulary(drawn: random.Random, fields: dict[str, Any]) -> None:
    """Add, exchange or rescore a word."""
    model = fields["model"]
    if model["type"] == "Unigram":
        row = drawn.randrange(len(model["vocab"]))
        piece, score = model["vocab"][row]
        model["vocab"][row] = [piece, score - drawn.choice([0, 0.5, 2])]
        return
    words = [*model["vocab"]]
    model["vocab"].setdefault(drawn.choice(words) + drawn.choice("ab"), len(words))
    edit_ids(drawn, fields) if len(words) > 1 else None


def check(drawn: random.Random) -> Counter[str]:
    """Compare two tokenizers."""
    both = next((found for found in (pair(drawn) for _ in range(3)) if found is not None), None)
    if both is None:
        return Counter(["refused"])
    a, b = both
    met, ignore_ids = Counter([a.kind]), drawn.random() < 0.3

    def differ(text: str) -> bool:
        one, other = ((side.peer.tokens if ignore_ids else side.peer.ids)(text) for side in both)
        return one != other

    try:
        if a.tokenizer.algorithm == "byte pair":
            found = compare_tokenizers(a.tokenizer, b.tokenizer, ignore_ids=ignore_ids, tuning=QUICK)
        elif a.tokenizer.algorithm == "Unigram":
            found = compare_unigrams(a.tokenizer, b.tokenizer, ignore_ids=ignore_ids, tuning=QUICK)
        else:
            found = tokdfa.compare(a.tokenizer, b.tokenizer, ignore_ids=ignore_ids)
    except (AutomatonError, *UNDECIDED):
        return met + Counter(["undecided"])
    contents = nasty(drawn, a)
    texts = texts_of(dict.fromkeys([*a.symbols, *"a"]), 3 if len(a.symbols) < 3 else 2)
    witness = found.witness
    if witness is not None:
        for side, ids in zip(both, witness[1:], strict=True):
            if ids is not None:
                assert side.peer.ids(witness.text) == ids, (witness, side.peer.ids(witness.text))
            else:
                assert not side.encodes(witness.text)
        assert differ(witness.text), (witness, ignore_ids, a.peer.ids(witness.text))
        met["different: one refuses"] += None in witness[1:]
        is_least = found.checked["shortest"] == "proven"
        met["different"] += 1
        met["different, ids apart"] += ignore_ids
        met["different: the shortest"] += is_least
        size = len(witness.text.encode())
        texts = [text for text in texts if is_least and len(text.encode()) < size]
    else:
        met["equivalent"] += 1
        met["equivalent, by another file"] += a.fields != b.fields
        met["equivalent but for ids"] += any(a.peer.ids(text) != b.peer.ids(text) for text in texts)
        texts += [next(contents) for _ in range(N_NASTY)]
    for text in texts:
        if differ(text):
            # A text that both refuse separates nothing.
            is_refused = not a.encodes(text) and not b.encodes(text)
            assert is_refused, (found.checked, witness, text, a.peer.ids(text), b.peer.ids(text))
    return met
