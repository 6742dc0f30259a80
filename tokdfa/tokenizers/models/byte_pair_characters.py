"""Texts of characters, cut without being rewritten first: a space has the symbol of its replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from tokdfa.kernels.encode.added import added_struct
from tokdfa.kernels.encode.characters import ALWAYS, EVEN_ALONE, NOTHING, UNLESS_THERE
from tokdfa.regex.unicode.normalization import Substitution
from tokdfa.tokenizers.encoding.text_encoder import CharacterSplitter
from tokdfa.tokenizers.pretokenizers.steps import Splitting

if TYPE_CHECKING:
    from tokdfa.kernels.library import Struct
    from tokdfa.regex.unicode.normalization import Normalizer
    from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
    from tokdfa.tokenizers.tokenizer import Tokenizer


class _Rewriting(NamedTuple):
    """The rewriting of a segment: its prefix and when that is put, replaced characters, and those that begin pieces."""

    prefix: str
    when: int
    becomes: dict[str, str]
    begins: frozenset[str]


def character_splitter(tokenizer: Tokenizer) -> CharacterSplitter | None:
    """Return how a tokenizer over characters cuts texts; None if more is done to them, or it is not compiled."""
    if not tokenizer.piece_ids.has_character_tables:
        return None
    normalizer = tokenizer.rewriting.normalizer
    first_normalizer = cast("Normalizer | None", tokenizer.first_normalizer)
    later = _rewriting(normalizer, tokenizer.pretokenizer, begins=False)
    first = _rewriting(first_normalizer, tokenizer.first_pretokenizer, begins=not tokenizer.continues)
    if later is None or first is None or later[2:] != first[2:]:
        return None
    added = tokenizer.added_tokens.tables if tokenizer.added_tokens else None
    puts = first.prefix or later.prefix, first.when, later.when
    lacks, prefixes = None, {first.prefix, later.prefix}
    if tokenizer.contents.atoms:
        atoms = None if added is not None or tokenizer.pretokenizer is not None else _atoms(tokenizer, first)
        if atoms is None:
            return None
        # They are in the segment that gets the prefix. Without added tokens, it is the only one.
        (added, lacks), puts = atoms, (first.prefix, EVEN_ALONE if first.when else NOTHING, NOTHING)
        prefixes = {first.prefix}
    if prefixes - {"", puts[0]} or not _are_found(tokenizer, normalizer, first.becomes):
        return None
    characters = tokenizer.piece_ids.characters(first.becomes, first.begins, puts)
    return None if characters is None else CharacterSplitter(characters, added, lacks)


def _atoms(tokenizer: Tokenizer, rewriting: _Rewriting) -> tuple[Struct, str | None] | None:
    """Return the tables that find symbols of several characters in texts, and a character that texts must lack.

    Such a symbol may have the replacement of a space. In a text without that character it is found by its spaces. None
    is returned if they are not found so.
    """
    atoms, becomes = tokenizer.contents.atoms, rewriting.becomes
    made = {new for new in becomes.values() if any(new in atom for atom in atoms)}
    if any(becomes.keys() & set(atom) for atom in atoms) or len(made) > 1:
        return None
    back = {ord(new): old for old, new in becomes.items() if new in made}
    # Nor may the prefix of a text become a part of one.
    if made and (rewriting.when or [*becomes.values()].count(*made) > 1):
        return None
    ids = tokenizer.piece_ids.ids_of_symbols(atoms)
    words = {atom.translate(back).encode(): number for number, atom in enumerate(atoms)}
    no_flags, none = np.zeros(len(ids), dtype=np.uint8), np.zeros(0, dtype=np.int32)
    return added_struct(words, {}, ids, no_flags, none, np.zeros(0, dtype=np.uint64)), next(iter(made), None)


def _are_found(tokenizer: Tokenizer, normalizer: Normalizer | None, becomes: dict[str, str]) -> bool:
    """Return whether added tokens that are found in normalized texts are found in the texts just as well."""
    inner = [special for special in tokenizer.found_specials if special.level]
    if normalizer is None or not inner:
        return True
    strips = any(special.lstrip or special.rstrip for special in inner)
    changed = becomes.keys() | set(becomes.values())
    puts = normalizer.substitution is None or normalizer.substitution.prefix
    return not (strips or puts or any(changed & set(special.text) for special in inner))


def _rewriting(normalizer: Normalizer | None, pretokenizer: PreTokenizer | None, *, begins: bool) -> _Rewriting | None:
    """Return the rewriting of a segment; None if more is done to it."""
    done = Substitution("", {}) if normalizer is None else normalizer.substitution
    if done is None or len(done.prefix) > 1:
        return None
    prefix, when, becomes = done.prefix, ALWAYS if done.prefix else NOTHING, done.becomes
    splitting = Splitting("tokenizers") if pretokenizer is None else pretokenizer.splitting
    space = splitting.metaspace
    if splitting.byte_steps or splitting.metaspace_at or (space is None and splitting.prefix_space is not None):
        return None
    if space is not None:
        becomes = done.then(Substitution("", {" ": space})).becomes
        if splitting.prefix_space == 0 and (begins or not splitting.prefix_once):
            if prefix:
                return None
            prefix, when = space, UNLESS_THERE
    # The prefix itself is not rewritten, and rewritten characters split nothing.
    gone = becomes.keys() - set(becomes.values()) - {prefix}
    steps = [step for step in splitting.steps if not (step.literal and not step.invert and gone & set(step.pattern))]
    splits_so = all(step.literal and step.behavior == "merged_with_next" and not step.invert for step in steps)
    if prefix in becomes or not splits_so or any(len(step.pattern) != 1 for step in steps):
        return None
    return _Rewriting(prefix, when, becomes, frozenset(step.pattern for step in steps))
