"""From texts to the ids of byte pairs: in one compiled loop, or segment by segment; and decisions by pairs of ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, offsets_of
from tokdfa.base.errors import AlphabetError
from tokdfa.kernels.encode.added import added_struct
from tokdfa.kernels.encode.characters import ALWAYS, EVEN_ALONE, NOTHING, UNLESS_THERE
from tokdfa.kernels.encode.characters import ids_a_byte as ids_a_byte_of
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.regex.unicode.normalization import Substitution
from tokdfa.regex.unicode.quick_check import is_normal
from tokdfa.regex.unicode.utf8 import CHARACTER_OF
from tokdfa.tokenizers.boundaries.added import break_each_other
from tokdfa.tokenizers.encoding.batches import EncodedDocuments
from tokdfa.tokenizers.encoding.piece_ids import ForeignSymbolError
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.text_encoder import CharacterSplitter, InForm, OverlapError
from tokdfa.tokenizers.encoding.text_encoder import encode_side_by_side as on_threads
from tokdfa.tokenizers.models.model import Direct
from tokdfa.tokenizers.pretokenizers.steps import Splitting

if TYPE_CHECKING:
    from tokdfa.kernels.library import Struct
    from tokdfa.regex.unicode.normalization import Form, Normalizer
    from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
    from tokdfa.tokenizers.pretokenizers.splitter import Splitter
    from tokdfa.tokenizers.tokenizer import Tokenizer

# With fewer segments, one call of a compiled loop for each takes less time than preparing one call for all.
_FEWEST_TOGETHER = 3
_SURROGATE = re.compile("[\ud800-\udfff]")


def direct(tokenizer: Tokenizer) -> Direct | None:
    """Return a function that encodes texts in this thread, in one compiled loop; None without such a loop.

    It returns None for refused texts.
    """
    splitter = _splitter(tokenizer)
    encoder = None if splitter is None else tokenizer.piece_ids.text_encoder(splitter)
    if encoder is None:
        return None
    run, added = encoder.run, _added(tokenizer, splitter)
    encode, look_for = run.encode_string, run.look_for
    normal = _in_form(tokenizer)
    lacks = splitter.lacks if isinstance(splitter, CharacterSplitter) else None

    def encode_direct(text: str) -> Int32Array | None:
        if lacks is not None and lacks in text:
            return None
        look_for(added)
        try:
            ids = encode(text, normal)
        except (UnicodeEncodeError, OverlapError):
            return None
        return None if isinstance(ids, int) else ids

    return encode_direct


def _normalization(tokenizer: Tokenizer) -> tuple[bool, Form | None]:
    """Return whether texts are at most brought into a normalization form, and that form, if any."""
    read = tokenizer.read_in_form
    return read is not None, None if read is None else read[1]


def _in_form(tokenizer: Tokenizer) -> InForm | None:
    """Return the function that brings texts into a form; None if texts stay as they are."""
    _, form = _normalization(tokenizer)
    return None if form is None else InForm(form, tokenizer.added_tokens)


def _added(tokenizer: Tokenizer, splitter: Splitter | CharacterSplitter | None) -> Struct | None:
    """Return the tables of the added tokens that are found in texts; None if there are none."""
    if isinstance(splitter, CharacterSplitter):
        return splitter.added
    return tokenizer.added_tokens.tables if tokenizer.added_tokens else None


def _splitter(tokenizer: Tokenizer) -> Splitter | CharacterSplitter | None:
    """Return how texts are split, from their beginning on, into pieces of UTF-8; None if no compiled loop does it."""
    if tokenizer.why_not("bytes") is not None:
        return tokenizer.derived(character_splitter)
    pretokenizer = tokenizer.pretokenizer
    if pretokenizer is None or tokenizer.continues or tokenizer.read_in_form is None:
        return None
    if pretokenizer.splitting.prefix_space == 0 or pretokenizer.splitting.metaspace is not None:
        return None
    return pretokenizer.splitter


def _changes(tokenizer: Tokenizer) -> Callable[[str], bool] | None:
    """Return a function that returns whether a text, or a part of it, may be changed; None if no text is."""
    if tokenizer.why_not("spelling") is None:
        return None
    only_form, form = _normalization(tokenizer)
    if not only_form:
        return lambda text: True
    return None if form is None else partial(_is_changed, form)


def _is_changed(form: Form, text: str) -> bool:
    """Return whether bringing a text, or a part of it, into a normalization form changes it."""
    if text.isascii():
        return False
    try:
        return not is_normal(text.encode("utf-8"), form)
    except UnicodeEncodeError:
        return True


def encode_side_by_side(tokenizer: Tokenizer, texts: list[str], n_threads: int) -> EncodedDocuments | None:
    """Return the ids of several texts; see :meth:`AnyTokenizer.encode_side_by_side`."""
    splitter = _splitter(tokenizer)
    lacks, ids_a_byte = None, 1
    if isinstance(splitter, CharacterSplitter):
        lacks, ids_a_byte = splitter.lacks, ids_a_byte_of(splitter.characters)
    elif splitter is None:
        return None
    normal = _in_form(tokenizer)
    try:
        if lacks is not None and any(lacks in text for text in texts):
            return None
        found = FoundTexts(texts) if normal is None else normal.of_all(texts)
    except (TypeError, UnicodeEncodeError, OverlapError):
        return None
    if found is None:
        return None
    encoder = tokenizer.piece_ids.idle_text_encoder
    return on_threads(found, lambda: encoder(splitter), n_threads, _added(tokenizer, splitter), ids_a_byte=ids_a_byte)


def encode(tokenizer: Tokenizer, text: str) -> Int32Array:
    """Return the ids of any text; see :meth:`Tokenizer.encode`."""
    changes = _changes(tokenizer)
    is_changed = changes is not None and changes(text)
    surrogate = _SURROGATE.search(text) if is_changed and not text.isascii() else None
    if surrogate is not None:
        where = f"character {surrogate.start()}"
        raise AlphabetError("half of a surrogate pair", value=surrogate.group(), where=where)
    # A text already in the form is not brought into it segment by segment.
    found = tokenizer.segments(text) if is_changed else tokenizer.added_tokens.segments(text, None, None)
    segments = [*found]
    together = _encode_together(tokenizer, segments)
    if together is not None:
        return together
    parts: list[Int32Array] = []
    for number, (segment, begins) in enumerate(segments):
        if isinstance(segment, Special):
            parts.append(np.array([segment.id], dtype=np.int32))
            continue
        try:
            parts.append(encode_segment(tokenizer, segment, begins=begins))
        except AlphabetError as error:
            if is_changed:
                raise
            offset = tokenizer.added_tokens.spans(text)[number][0] + foreign_character(
                tokenizer, segment, begins=begins
            )
            value = text[offset : offset + 1] if error.value is None else error.value
            raise AlphabetError(error.what, value=value, where=f"character {offset}") from None
    return parts[0] if len(parts) == 1 else np.concatenate((np.empty(0, dtype=np.int32), *parts))


def _encode_together(tokenizer: Tokenizer, segments: Sequence[tuple[str | Special, bool]]) -> Int32Array | None:
    """Return the ids of special tokens and of the segments between them, from one call of a compiled loop.

    Each is given with whether it begins the text. None is returned if the loop is missing, or refuses a segment.
    """
    if len(segments) < _FEWEST_TOGETHER:
        return None
    if tokenizer.is_bytewise:
        return _encode_around(tokenizer, segments)
    return _encode_characters(tokenizer, segments) if tokenizer.piece_ids.character_tables is not None else None


def _encode_around(tokenizer: Tokenizer, segments: Sequence[tuple[str | Special, bool]]) -> Int32Array | None:
    """Return the ids of special tokens and of bytes between them; None if no machine splits them, or refuses some."""
    split = tokenizer.pretokenizer
    if split is None or split is not tokenizer.first_pretokenizer or split.splitting.byte_steps or not split.splitter:
        return None
    encoder = tokenizer.piece_ids.text_encoder(split.splitter)
    if encoder is None:
        return None
    spelled = split.spelled
    try:
        parts = [
            b""
            if isinstance(segment, Special)
            else spelled(segment, begins=begins and not tokenizer.continues).encode()
            for segment, begins in segments
        ]
    except UnicodeEncodeError:
        return None
    ends = offsets_of(parts)
    number, found = tokenizer.added_tokens.number, [segment for segment, _ in segments]
    which = [at for at, segment in enumerate(found) if isinstance(segment, Special)]
    spans: Int64Array = np.empty((len(which), 3), dtype=np.int64)
    spans[:, 0] = spans[:, 1] = ends[which]
    spans[:, 2] = [number[special] for special in found if isinstance(special, Special)]
    encoder.run.look_for(tokenizer.added_tokens.outer_tables)
    ids = encoder.run.encode_around(np.frombuffer(b"".join(parts), dtype=np.uint8), spans)
    return None if isinstance(ids, int) else ids


def _encode_characters(tokenizer: Tokenizer, segments: Sequence[tuple[str | Special, bool]]) -> Int32Array | None:
    """Return the ids of special tokens and of characters between them; None if a segment is refused."""
    pieces = [_split(tokenizer, text, begins) for text, begins in segments if not isinstance(text, Special)]
    try:
        encoded = tokenizer.encode_pieces([*chain.from_iterable(pieces)])
    except AlphabetError:
        return None
    offsets = encoded.offsets[offsets_of(pieces)]
    is_special = np.fromiter((isinstance(segment, Special) for segment, _ in segments), np.bool_, len(segments))
    before = np.cumsum(~is_special)[is_special]
    ids = np.array([segment.id for segment, _ in segments if isinstance(segment, Special)], dtype=np.int32)
    found: Int32Array = np.insert(encoded.ids, offsets[before], ids)
    return found


def encode_segment(tokenizer: Tokenizer, text: str, *, begins: bool) -> Int32Array:
    """Return the ids of a normalized text without looking for special tokens.

    `begins` is whether it is the beginning of a text, and not the text after a special token.
    """
    split, begins = _pretokenizer_at(tokenizer, begins)
    if split is None:
        return tokenizer.encode_piece(text)
    is_bytewise = tokenizer.why_not("bytes") is None
    try:
        if split.splitting.byte_steps:
            # Pieces may begin and end within characters.
            data, spans = split.byte_pieces(text, begins=begins)
            if is_bytewise:
                return tokenizer.piece_ids.encode_spans(data, spans).ids
            return tokenizer.encode_pieces([data[start:end] for start, end in spans.tolist()]).ids
        if not is_bytewise or split.splitter is None:
            return tokenizer.encode_pieces(split.split(text, begins=begins)).ids
        data = split.spelled(text, begins=begins).encode("utf-8")
    except UnicodeEncodeError as error:
        raise AlphabetError("half of a surrogate pair", value=error.object[error.start]) from None
    return tokenizer.piece_ids.encode_text(data, split.splitter)


def pieces_of(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the pieces of a text, rewritten; none if an added token is found in it."""
    segments = [*tokenizer.segments(text)]
    segment, begins = segments[0] if len(segments) == 1 else ("", True)
    return [] if isinstance(segment, Special) else _split(tokenizer, segment, begins)


def _split(tokenizer: Tokenizer, segment: str, begins: bool) -> list[str]:
    """Return the pieces of a normalized segment."""
    split, begins = _pretokenizer_at(tokenizer, begins)
    return [segment] if split is None else split.split(segment, begins=begins)


def _pretokenizer_at(tokenizer: Tokenizer, begins: bool) -> tuple[PreTokenizer | None, bool]:
    """Return the pre-tokenizer of a segment, and whether a text begins there, rather than continues after a cut.

    Nothing is put before a segment that continues a text.
    """
    split = tokenizer.first_pretokenizer if begins else tokenizer.pretokenizer
    return split, begins and not tokenizer.continues


def foreign_character(tokenizer: Tokenizer, text: str, *, begins: bool) -> int:
    """Return the index of the character for which a segment was refused."""
    surrogate = _SURROGATE.search(text)
    if surrogate is not None:
        return surrogate.start()
    pieces, spans = [text], [(0, len(text))]
    if tokenizer.pretokenizer is not None:
        pieces = tokenizer.pretokenizer.split(text, begins=begins)
        spans = tokenizer.pretokenizer.spans(text, begins=begins)
    try:
        tokenizer.encode_pieces(pieces)
    except ForeignSymbolError as error:
        start, end = spans[error.piece]
        return start + max(error.character - (len(pieces[error.piece]) - (end - start)), 0)
    return 0


def why_whole(tokenizer: Tokenizer) -> str | None:
    """Return why neither a walk over ids nor pairs of neighbours decide streams; None if they do."""
    from tokdfa.automata.semantics import agrees_with_leftmost

    if tokenizer.suffix is not None:
        return "what a symbol is depends on the piece that it is in"
    if not is_closed(tokenizer):
        return "a text may have symbols without a token"
    if tokenizer.pretokenizer is None:
        by_pairs = tokenizer.merges is None and tokenizer.dictionary.properness()
        if by_pairs and agrees_with_leftmost(tokenizer.dictionary) and not len(tokenizer.whole_piece_tokens):
            return None
        return "nothing splits the text, and pairs of tokens do not decide what merging gives"
    splitting = tokenizer.pretokenizer.splitting
    if splitting.prefix_space is not None or splitting.metaspace is not None:
        return "the pre-tokenizer puts spaces before pieces, or something else in their place"
    if splitting.byte_steps:
        return "the pre-tokenizer splits letters that stand for bytes"
    if any(step.behavior == "removed" for step in splitting.steps):
        return "the pre-tokenizer drops text"
    return None


def is_closed(tokenizer: Tokenizer) -> bool:
    """Return whether every symbol of the texts that ids spell is itself a token.

    If a text may have such a symbol, the symbol is dropped or the text refused; pairs of neighbouring ids do not show
    which. The suffix of words and the spaces that a pre-tokenizer inserts are not considered.
    """
    if tokenizer.why_not("bytes") is None:
        return True
    known = {*tokenizer.dictionary.alphabet.letters}
    if tokenizer.model.spells_bytes:
        # Ids that are not UTF-8 decode to U+FFFD; some of its letters may be dropped.
        letters = {CHARACTER_OF[byte] for byte in "\ufffd".encode()}
        if not letters <= known and not letters.isdisjoint(known):
            return False
    specials = tokenizer.found_specials
    words = (cast("str | tuple[str, ...]", word) for word in tokenizer.extra_tokens)
    if not all(known.issuperset(word) for word in words):
        return False
    return all(known.issuperset(special.content) for special in specials) or not break_each_other(specials)


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
    steps = splitting.without(Substitution(prefix, becomes).gone).steps
    splits_so = all(step.literal and step.behavior == "merged_with_next" and not step.invert for step in steps)
    if prefix in becomes or not splits_so or any(len(step.pattern) != 1 for step in steps):
        return None
    return _Rewriting(prefix, when, becomes, frozenset(step.pattern for step in steps))
