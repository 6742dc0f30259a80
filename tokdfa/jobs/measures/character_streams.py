"""The graph of the canonical streams of byte pairs over characters: Llama-2, Gemma, Yi.

The rows are the tokens that may not be neighbours. Three automata say more about the next label: the text may not have
begun, since Llama-2 puts a space before it that decoding removes; a character without a token may be spelled byte by
byte; and the text may be spelling added tokens, of which the longest are found.
"""

from __future__ import annotations

import numpy as np

from tokdfa.automata.lift import language
from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.guiding.byte_machines import ByteMachine, machine_of
from tokdfa.jobs.guiding.longest_matches import longest_matches
from tokdfa.jobs.guiding.tokens import NONE, FollowSets
from tokdfa.jobs.measures.product_streams import Factor, ProductStreams, TableFactor, TextFactor
from tokdfa.regex.unicode.normalization import Substitution
from tokdfa.regex.unicode.ranges import LAST
from tokdfa.tokenizers.decoder import Spellings, spellings, words_of
from tokdfa.tokenizers.decoding import DecodeSentencePiece
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer, SpaceAfter
from tokdfa.tokenizers.normalizers.steps import Replace, steps_of
from tokdfa.tokenizers.pretokenizers.steps import Split
from tokdfa.tokenizers.tokenizer import Tokenizer

_SURROGATES = slice(0xD800, 0xE000)


def character_streams(tokenizer: Tokenizer, texts: ByteMachine | None = None) -> ProductStreams:
    """Return the graph of a byte pair tokenizer over characters, with its texts in a language if one is given."""
    _check(tokenizer)
    n, spelled = tokenizer.n_ids, tokenizer.spelled
    alone = tokenizer.token_to_id[tokenizer.whole_piece_tokens]
    alone = alone[alone >= 0]
    usual = words_of(spelled.usual)
    first = usual if spelled.other is None else words_of(spelled.other)
    begins = first != usual
    n_labels = 2 * n if begins else n
    sets = FollowSets(tokenizer.neighbours, n_labels, alone)
    ordinary = sets.position[:n] >= 0
    # Special tokens cut a text, even where others are spelled like them.
    sets.row_of[tokenizer.special_ids], sets.position[tokenizer.special_ids] = NONE, -1
    ordinary[alone] = True
    gone = _gone(tokenizer)
    ordinary &= [gone.isdisjoint(token) for token in tokenizer.token_strings]
    ordinary[tokenizer.special_ids] = False
    ordinary[[special.id for special in tokenizer.found_specials]] = True
    ordinary[tokenizer.control_ids] = False
    # Ids without a text are not given again for it, except at the beginning.
    ordinary &= np.diff(spelled.usual.offsets) > 0
    ids, words = np.arange(n, dtype=np.int32), usual
    factors: list[Factor] = []
    if begins:
        sets.row_of[n:], sets.position[n:] = sets.row_of[:n], sets.position[:n]
        ids, ordinary, words = np.tile(ids, 2), np.tile(ordinary, 2), usual + first
    factors += _few_spaces(tokenizer, ids)
    byte_of = _bytes_by_label(tokenizer, ids)
    if (byte_of >= 0).any():
        is_covered = _covered(tokenizer, gone)
        # It comes first, since few labels follow within a character.
        factors.append(_byte_by_byte(is_covered, byte_of))
    if begins:
        factors.append(_beginning(tokenizer, usual, first))
    spelled_labels = spellings(words)
    added = _added(tokenizer, ids, spelled_labels)
    if added is not None:
        factors.append(added)
    streams = ProductStreams(sets, ordinary, ids, spelled_labels, factors, texts, has_dead_ends=True)
    if added is None:
        # Copies that spell no added token with other labels never do.
        streams.most_repeated += max((len(special.content) for special in tokenizer.found_specials), default=0)
    return streams


def _check(tokenizer: Tokenizer) -> None:
    """Refuse tokenizers that cut texts into pieces, since tokens that may not be neighbours may then be."""
    splitting = tokenizer.splitting
    normalizer = None if tokenizer.rewriting is None else tokenizer.rewriting.normalizer
    replaced = {step.pattern for step in steps_of(normalizer) if isinstance(step, Replace) and step.literal}
    cuts = any(not (isinstance(step, Split) and step.literal and step.pattern in replaced) for step in splitting.steps)
    reasons = {
        "the pre-tokenizer splits texts over characters": cuts or splitting.byte_steps,
        "the pre-tokenizer inserts spaces": splitting.metaspace is None and splitting.prefix_space is not None,
        "spaces stay as they are": isinstance(normalizer, SentencePieceNormalizer) and not normalizer.shows_spaces,
        "a space is put after the text": isinstance(normalizer, SpaceAfter),
        "words end with a suffix": tokenizer.suffix is not None,
        "tokens within words have a prefix": tokenizer.contents.prefix is not None,
        "its symbols are letters that stand for bytes": tokenizer.why_not("letters") is None,
        "the text of an id depends on whether it is the last one": tokenizer.spelled.varies == "last",
    }
    for why, holds in reasons.items():
        if holds:
            raise UnsupportedFeatureError(f"{why}, so the ids that may follow an id are not known")


def _beginning(tokenizer: Tokenizer, usual: list[bytes], first: list[bytes]) -> TableFactor:
    """Return the automaton of the beginning of a text, which the second half of the labels spell.

    Its states: nothing was read; ids without a text, with the next one still the first, or not; the text has begun; and
    after an added token where a space is put, too, which decoding does not remove: only added tokens follow.
    """
    n, silent = tokenizer.n_ids, tokenizer.spelled.silent
    probe = tokenizer.encode("a").tolist()
    is_prefixed = bool(probe) and usual[probe[0]][:1] == b" "
    specials = {*tokenizer.special_ids.tolist()}
    table = np.full((5, 2 * n), -1, dtype=np.int32)
    table[2:4, :n] = 3
    for id in range(n):
        after = 3 if first[id] else 1 if silent is not None and silent[id] else 2
        table[1, n + id] = after
        # Where a prefix is removed, a text begins with one; where none is, a text does not begin with what is removed.
        if id in specials or (usual[id] != first[id]) == is_prefixed:
            table[0, n + id] = after
    for special in tokenizer.found_specials:
        following = tokenizer.encode(f"{special.content}a").tolist()
        if following[:1] == [special.id] and usual[following[1]][:1] == b" ":
            ends = table[:4, [special.id, n + special.id]]
            ends[ends == 3] = 4
            table[:4, [special.id, n + special.id]] = ends
            table[4, special.id] = 4
    return TableFactor(table, (True, False, False, True, True))


def _few_spaces(tokenizer: Tokenizer, ids: Int32Array) -> list[Factor]:
    """Return the automaton of texts without spaces side by side or at the end, if normalization removes these."""
    normalizer = tokenizer.rewriting.normalizer
    if not isinstance(normalizer, SentencePieceNormalizer) or not normalizer.trims_spaces:
        return []
    steps = tokenizer.rewriting.decoding or ()
    kept = {token for step in steps if isinstance(step, DecodeSentencePiece) for token in step.kept}
    # A token that is kept as it is has no spaces.
    tokens = ["" if token in kept else token for token in tokenizer.token_strings]
    after = np.array([token.endswith(SPACE) for token in tokens], dtype=np.int32)
    after[[SPACE * 2 in token for token in tokens]] = -1
    after_space = np.where([token.startswith(SPACE) for token in tokens], -1, after)
    return [TableFactor(np.stack([after, after_space])[:, ids], (True, False))]


def _bytes_by_label(tokenizer: Tokenizer, ids: Int32Array) -> Int32Array:
    """Return the byte for which each label stands in characters without a token, -1 for none."""
    fallback = tokenizer.contents.fallback
    symbols = () if fallback is None else fallback.bytes or ()
    byte_of = {symbol: byte for byte, symbol in enumerate(symbols) if symbol is not None}
    strings = tokenizer.token_strings
    found: Int32Array = np.array([byte_of.get(string, -1) for string in strings], dtype=np.int32)[ids]
    return found


def _covered(tokenizer: Tokenizer, gone: set[str]) -> BoolArray:
    """Return for each code point whether it is a symbol, or no normalized text has it."""
    found = np.zeros(LAST + 1, dtype=np.bool_)
    found[_SURROGATES] = True
    found[[ord(character) for character in (*tokenizer.contents.characters, *gone)]] = True
    return found


def _gone(tokenizer: Tokenizer) -> set[str]:
    """Return the characters that normalization always replaces by others, among those that tokens have."""
    normalizer, change = tokenizer.rewriting.normalizer, Substitution("", {})
    for step in reversed(steps_of(normalizer)):
        if step.substitution is None:
            break
        change = step.substitution.then(change)
    gone = change.gone | ({" "} if tokenizer.splitting.metaspace else set())
    table = normalizer.table if isinstance(normalizer, SentencePieceNormalizer) else None
    if table is not None:
        # U+2581 is a space, whatever becomes of one that a text has.
        characters = {*tokenizer.contents.characters} - {SPACE}
        gone |= {character for character in characters if table(character) != character}
    return gone


def _byte_by_byte(is_covered: BoolArray, byte_of: Int32Array) -> TableFactor:
    """Return the automaton of characters without a token, which labels that stand for bytes spell."""
    bounds = np.flatnonzero(np.diff(np.concatenate(([True], is_covered, [True])))).reshape(-1, 2)
    ranges = "".join(f"\\U{low:08x}-\\U{high - 1:08x}" for low, high in bounds.tolist())
    kinds = byte_of + 1
    if not ranges:
        return TableFactor(np.array([[0, *[-1] * 256]], dtype=np.int32), (True,), kinds)
    machine = machine_of(language(f"[{ranges}]", bytes(range(256))))
    # The factor numbers the states within a character from 1 on; a whole character leads to 0.
    within = np.flatnonzero(~machine.final[1:] & (np.arange(1, len(machine.final)) != machine.initial)) + 1
    number = np.full(len(machine.final), -1, dtype=np.int32)
    number[within] = np.arange(1, len(within) + 1)
    number[machine.final] = 0
    table = np.full((len(within) + 1, 257), -1, dtype=np.int32)
    table[0, 0] = 0
    table[:, 1:] = number[machine.table[np.append(machine.initial, within)][:, machine.column]]
    return TableFactor(table, (True, *[False] * len(within)), kinds)


def _added(tokenizer: Tokenizer, ids: Int32Array, words: Spellings) -> TextFactor | None:
    """Return the automaton of texts in which the longest added tokens are found, and no label spells another one.

    None if they depend on the text next to them, or are found in normalized texts.
    """
    found = tokenizer.found_specials
    if not found or any(special.single_word or special.level or special.normalized for special in found):
        return None
    number_of = {special.id: number for number, special in enumerate(found)}
    specials = {label: number_of[id] for label, id in enumerate(ids.tolist()) if id in number_of}
    return TextFactor(longest_matches([special.content.encode() for special in found]), words, specials)
