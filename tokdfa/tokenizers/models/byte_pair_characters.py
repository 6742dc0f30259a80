"""How texts of characters are cut without being rewritten first: spaces have the symbol of what they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tokdfa.encoding.character_splitter import CharacterSplitter
from tokdfa.kernels.encode.characters import ALWAYS, NOTHING, UNLESS_THERE
from tokdfa.splitting.steps import Splitting
from tokdfa.unicode.normalizer import Substitution

if TYPE_CHECKING:
    from tokdfa.splitting.pretokenizer import PreTokenizer
    from tokdfa.tokenizers.tokenizer import Tokenizer
    from tokdfa.unicode.normalizer import Normalizer

__all__ = ["character_splitter"]


class _Rewriting(NamedTuple):
    """What becomes of a stretch: what is put before it, when, what characters become, and which then begin pieces."""

    prefix: str
    when: int
    becomes: dict[str, str]
    begins: frozenset[str]


def character_splitter(tokenizer: Tokenizer) -> CharacterSplitter | None:
    """Return how a tokenizer over characters cuts texts; None if more is done to them, or it is not compiled."""
    if not tokenizer.piece_ids.is_over_characters:
        return None
    normalizer = tokenizer.rewriting.normalizer
    first_normalizer = None if normalizer is None else normalizer.later if tokenizer.continues else normalizer
    later = _rewriting(normalizer, tokenizer.pretokenizer, begins=False)
    first = _rewriting(first_normalizer, tokenizer.first_pretokenizer, begins=not tokenizer.continues)
    if later is None or first is None or later[2:] != first[2:]:
        return None
    prefix = first.prefix or later.prefix
    if {first.prefix, later.prefix} - {"", prefix} or not _are_found(tokenizer, normalizer, first.becomes):
        return None
    characters = tokenizer.piece_ids.characters(first.becomes, first.begins, (prefix, first.when, later.when))
    return None if characters is None else CharacterSplitter(characters)


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
    """Return what is done to a stretch; None if it is more than that."""
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
    # What is put before a stretch is not rewritten itself, and what is rewritten splits nothing.
    gone = becomes.keys() - set(becomes.values()) - {prefix}
    steps = [step for step in splitting.steps if not (step.literal and not step.invert and gone & set(step.pattern))]
    splits_so = all(step.literal and step.behavior == "merged_with_next" and not step.invert for step in steps)
    if prefix in becomes or not splits_so or any(len(step.pattern) != 1 for step in steps):
        return None
    return _Rewriting(prefix, when, becomes, frozenset(step.pattern for step in steps))
