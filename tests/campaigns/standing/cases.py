"""Random small tokenizers over bytes, each with a library that defines their ids."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

import tiktoken
import tokenizers

import tokdfa
from tests.campaigns.standing.texts import EVERYTHING, SPECIALS, stretch, text
from tests.support.tokenizer_files import added_token, spell, tiktoken_lines, tokenizer_json
from tests.support.utf8 import is_utf8
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.tokenizers.protocol import AnyTokenizer

# Patterns that cut often, rarely, or by distant text; each covers every text, for tiktoken drops what none matches.
PATTERNS = [
    r"\p{L}+|\p{N}{1,3}|\s+|[^\s\p{L}\p{N}]+",
    r"\s*\S+|\s+",
    r"(?s:.{1,5})",
    r"[ab]+|[^ab]",
    r" ?[a-z]+(?![A-Z])|\r?\n|(?s:.)",
    r"[^\n]*\n+|[^\n]+",
]
OF_TIKTOKEN = [name for name in NAMED if NAMED[name].library == "tiktoken"]
OF_TOKENIZERS = [name for name in NAMED if NAMED[name].library == "tokenizers"]


@dataclass
class Case:
    """A tokenizer, its library's ids for a text, and the bytes of its ids."""

    kind: str
    tokenizer: AnyTokenizer
    encode: Callable[[str], list[int]]
    words: dict[int, bytes]
    specials: dict[int, bytes]
    texts: list[str] = field(default_factory=list)
    controls: frozenset[int] = frozenset()
    """The specials that cut the text; the others are text."""

    @cached_property
    def known(self) -> list[int]:
        """The ids that mean something."""
        return [*self.words, *self.specials]

    @cached_property
    def common(self) -> list[int]:
        """The ids that spell a text, most of them of ASCII."""
        texts = [id for id in self.known if is_utf8(*self.bytes_of([id]))]
        return texts + [id for id in texts if self.bytes_of([id])[0].isascii()] * 3

    @cached_property
    def unused(self) -> list[int]:
        """Numbers that mean nothing: between ids, above them, and below."""
        known = {*self.known}
        return [id for id in range(max(known)) if id not in known] + [max(known) + 1, 2**31 - 1, -1]

    def bytes_of(self, ids: Iterable[int]) -> list[bytes]:
        """Return the bytes of each id."""
        return [self.words[id] if id in self.words else self.specials[id] for id in ids]


def words_of(drawn: random.Random, most: int) -> list[tuple[bytes, bytes]]:
    """Return pairs of known words that follow one another in a random text, as rules."""
    sample = "".join(stretch(drawn, 40) for _ in range(3)).encode()
    known = {bytes([byte]) for byte in range(256)}
    longest = 1

    def word_at(place: int) -> bytes:
        fitting = [sample[place:end] for end in range(place + 1, place + longest + 1) if sample[place:end] in known]
        return fitting[-1] if drawn.random() < 0.7 else drawn.choice(fitting)

    rules = []
    for _ in range(drawn.randrange(most) if len(sample) > 3 else 0):
        place = drawn.randrange(len(sample) - 2)
        left = word_at(place)
        if place + len(left) < len(sample):
            right = word_at(place + len(left))
            if left + right not in known:
                known.add(left + right)
                longest = min(max(longest, len(left + right)), 80)
                rules.append((left, right))
    return rules


def by_tiktoken(drawn: random.Random) -> Case:
    """Return a tokenizer of ranks: some are left out, and some words are made by no merge."""
    name = drawn.choice([*OF_TIKTOKEN, *PATTERNS])
    words = [bytes([byte]) for byte in drawn.sample(range(256), 256)]
    words += [left + right for left, right in words_of(drawn, 150)]
    for _ in range(drawn.choice([0, 0, 1, 5])):
        words.append("".join(drawn.choices(EVERYTHING, k=2)).encode())
    gap = drawn.choice([0, 0, 0.02, 0.3])
    ranks: dict[bytes, int] = {}
    rank = 0
    for word in dict.fromkeys(words):
        rank += drawn.random() < gap
        ranks[word] = rank
        rank += 1
    pattern = NAMED[name].steps[0].pattern if name in NAMED else name
    peer = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return Case(
        "ranks" if name in NAMED else "ranks, another pattern",
        tokdfa.load(tiktoken_lines(ranks), pretokenizer=name, specials={}, format="tiktoken"),
        peer.encode_ordinary,
        {rank: word for word, rank in ranks.items()},
        {},
    )


def by_tokenizers(drawn: random.Random) -> Case:
    """Return a tokenizer of rules, which may come in any order, and of special tokens."""
    rules = words_of(drawn, 150)
    shuffled = drawn.random() < 0.2
    if shuffled:
        drawn.shuffle(rules)
    fields = tokenizer_json(rules)
    if drawn.random() < 0.8:
        steps = [
            {"type": "Split", "pattern": {"Regex": step.pattern}, "behavior": "Isolated", "invert": False}
            for step in NAMED[drawn.choice(OF_TOKENIZERS)].steps
        ]
        fields["pre_tokenizer"]["use_regex"] = False
        fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*steps, fields["pre_tokenizer"]]}
    fields["model"]["ignore_merges"] = drawn.random() < 0.3
    vocab = fields["model"]["vocab"]
    for _ in range(drawn.choice([0, 0, 1, 5])):
        vocab.setdefault(spell("".join(drawn.choices(EVERYTHING, k=2)).encode()), len(vocab))
    letters = {letter: byte for byte, letter in enumerate(map(spell, map(bytes, zip(range(256)))))}
    words = {id: bytes(map(letters.__getitem__, word)) for word, id in vocab.items()}
    contents = [content for content in SPECIALS if drawn.random() < 0.5 and content not in vocab]
    fields["added_tokens"] = [
        added_token(len(vocab) + number, content, special=drawn.random() < 0.5)
        for number, content in enumerate(contents)
    ]
    written = json.dumps(fields)
    peer = tokenizers.Tokenizer.from_str(written)
    return Case(
        "rules in any order" if shuffled else "rules",
        tokdfa.load(written.encode()),
        lambda text: peer.encode(text, add_special_tokens=False).ids,
        words,
        {len(vocab) + number: content.encode() for number, content in enumerate(contents)},
        controls=frozenset(token["id"] for token in fields["added_tokens"] if token["special"]),
    )


def case(drawn: random.Random, n_texts: int = 3) -> Case:
    """Return a random tokenizer with its peer, and texts for it."""
    made = drawn.choice([by_tiktoken, by_tokenizers])(drawn)
    made.texts = [text(drawn) for _ in range(n_texts)]
    if drawn.random() < 0.3:
        made.texts.append(text(drawn, 11, 14))
    return made
