"""What a tokenizer file says, in one shape for all formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.alphabet import Word
from tokdfa.dictionary import Dictionary
from tokdfa.errors import FileFormatError
from tokdfa.tokenizers.byte_dictionary import ByteDictionary, ByteTokens, in_order_of_mention

if TYPE_CHECKING:
    from tokdfa.tokenizers.decoding import DecodeStep
    from tokdfa.tokenizers.normalizers import Normalizer

__all__ = [
    "LARGEST_ID",
    "LEFTMOST_FORMATS",
    "Contents",
    "Fallback",
    "Merges",
    "Numbering",
    "Rewriting",
    "Special",
    "Split",
    "Splitting",
    "check_bytes",
    "has_bytes",
    "number_bytes",
]

Int32Array: TypeAlias = npt.NDArray[np.int32]
Behavior: TypeAlias = Literal["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
Library: TypeAlias = Literal["tokenizers", "tiktoken"]

# Tables over all ids are arrays; this keeps a file of one line from asking for gigabytes.
LARGEST_ID = (1 << 24) - 1

# Files whose library is known, and so its way of using rules, which is merging leftmost: theirs may be improper.
LEFTMOST_FORMATS = ("tokenizer.json", "tiktoken", "tekken")

# UTF-8 has no other bytes, so that a tokenizer may lack those.
_BYTES_OF_UTF8 = frozenset(range(256)) - {0xC0, 0xC1, *range(0xF5, 0x100)}


@dataclass(frozen=True, slots=True)
class Special:
    """A special token: an id that stands for `content` as a whole.

    `level` is the order in which `tokenizers` looks for such tokens in a text: 0 before, 1 after its normalizer. White
    space to the left or right of one that strips belongs to it; one that is a single word touches no other. What is
    looked for in normalized text is itself `normalized`, where that makes a difference.
    """

    id: int
    content: str
    level: int = 0
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: str | None = None

    @property
    def text(self) -> str:
        """What it is found and decoded as."""
        return self.content if self.normalized is None else self.normalized

    @property
    def is_plain(self) -> bool:
        """Whether it is found wherever its content stands, and nothing else belongs to it."""
        return not (self.lstrip or self.rstrip or self.single_word) and self.normalized is None


@dataclass(frozen=True, slots=True)
class Split:
    """One splitting step: where `pattern` matches (or, inverted, does not), and what becomes of the matches."""

    pattern: str
    behavior: Behavior = "isolated"
    invert: bool = False
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Splitting:
    """The pre-tokenizer of a file: a name or the steps, one after the other, with the library whose classes they mean.

    With `prefix_space`, a stretch that does not begin with a space gets one before the step of that index; with
    `prefix_once`, only a stretch that begins the text. With `metaspace`, a character, that is put in place of all
    spaces before the first step; `prefix_space` is None or 0 then, and means this character.
    """

    library: Library
    steps: tuple[Split, ...] = ()
    prefix_space: int | None = None
    metaspace: str | None = None
    prefix_once: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether every text is one piece and stays as it is."""
        return not self.steps and self.prefix_space is None and self.metaspace is None


class Merges(NamedTuple):
    """Every pair that merges, as int32 arrays of token numbers; smaller priorities are stronger."""

    left: Int32Array
    right: Int32Array
    priority: Int32Array
    product: Int32Array


@dataclass(frozen=True, slots=True)
class Fallback:
    """What a symbol becomes that is not in the alphabet: nothing, if neither `bytes` nor `unknown` is given.

    Attributes
    ----------
    bytes : tuple of str, optional
        A symbol for each byte: it becomes those of its bytes.
    unknown : str, optional
        Otherwise it becomes this symbol.
    fuses : bool
        Whether several such symbols side by side become one.
    """

    bytes: tuple[str, ...] | None = None
    unknown: str | None = None
    fuses: bool = False

    @property
    def drops(self) -> bool:
        """Whether the symbol is left out, so that its neighbours may merge."""
        return self.bytes is None and self.unknown is None


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What is done to texts before they are cut into pieces and after ids are spelled, where anything is.

    Attributes
    ----------
    normalizer : Normalizer, optional
        Done to the text between the special tokens of level 0.
    decoding : tuple of steps, optional
        What makes a text of the spellings of tokens; by default these are put one behind the other.
    """

    normalizer: Normalizer | None = None
    decoding: tuple[DecodeStep, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Contents:
    """What a tokenizer file says.

    Attributes
    ----------
    format : str
        The format's name, as ``--format`` takes it.
    dictionary : Dictionary
    extra : tuple of words
        Tokens that no rule mentions; they are numbered behind those of the dictionary.
    foreign : tuple of bytes
        Tokens of a byte-level vocabulary that are not written in the byte alphabet and so occur in no tokenization,
        as decoding spells them; they are numbered behind `extra`.
    ids : int32 array, one entry a token
        The id of a token, -1 for tokens without one.
    splitting : Splitting, optional
        The pre-tokenizer, if the file names one.
    specials : tuple of Special
    finds_specials : bool
        Whether specials are found in the text to encode, as `tokenizers` does and tiktoken's encode_ordinary does not.
    whole_piece : bool
        Whether a piece that is itself a token is not merged but taken as it is.
    merges : Merges, optional
        All merging pairs, where the rules of an improper dictionary are not all there is to say.
    suffix : str, optional
        What is appended to the last symbol of a piece, such as ``</w>``.
    spelled_bytes : bool
        Whether symbols that are characters stand for bytes, in GPT-2's alphabet.
    prefix : str, optional
        What is put in front of every symbol of a piece but the first, such as ``##``.
    atoms : tuple of str
        Symbols of several characters that are found in every piece, the longest at each place, and never merge.
    fallback : Fallback, optional
        What symbols become that are not in the alphabet; by default a text that has them is refused.
    drops_unknown : bool
        Whether the library leaves such symbols out where there is no `fallback`. Texts are refused all the same, but
        not texts that are only decoded to be encoded again.
    rewriting : Rewriting, optional
        What else is done to texts.
    ignored : tuple of str
        What else the file asks for, which `encode` leaves out.
    """

    format: str
    dictionary: Dictionary
    ids: Int32Array
    extra: tuple[Word, ...] = ()
    foreign: tuple[bytes, ...] = ()
    splitting: Splitting | None = None
    specials: tuple[Special, ...] = field(default=())
    finds_specials: bool = False
    whole_piece: bool = False
    merges: Merges | None = None
    suffix: str | None = None
    spelled_bytes: bool = False
    prefix: str | None = None
    atoms: tuple[str, ...] = ()
    fallback: Fallback | None = None
    drops_unknown: bool = False
    rewriting: Rewriting | None = None
    ignored: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether texts are encoded as they are, and ids spell them one behind the other, but for a suffix."""
        return (
            self.rewriting is None
            and self.fallback is None
            and not (self.atoms or self.prefix)
            and all(special.is_plain for special in self.specials)
        )


class Numbering(NamedTuple):
    """A dictionary over the bytes, the tokens that it does not mention, and the number that each word got."""

    dictionary: ByteDictionary
    extra: tuple[bytes, ...]
    number: Int32Array


def number_bytes(words: Sequence[bytes], rules: Int32Array) -> Numbering:
    """Number the words of a byte-level file the way a Dictionary numbers its tokens.

    Parameters
    ----------
    words : sequence of bytes
        Distinct words of two bytes or more; word i is token 256 + i in `rules`, and bytes are tokens 0 to 255.
    rules : int32 array of shape (rules, 3)
        The rules: left part, right part, product.

    Returns
    -------
    Numbering
        Its `number` has an entry for each of the 256 + ``len(words)`` tokens.
    """
    n_tokens = 256 + len(words)
    mentioned = in_order_of_mention(rules, n_tokens)
    unmentioned = np.ones(n_tokens, dtype=np.bool_)
    unmentioned[:256] = False
    unmentioned[mentioned] = False
    order = np.concatenate((np.arange(256), mentioned, np.flatnonzero(unmentioned)))
    number = np.empty(n_tokens, dtype=np.int32)
    number[order] = np.arange(n_tokens, dtype=np.int32)
    tokens = ByteTokens([words[i] for i in (mentioned - 256).tolist()])
    extra = tuple(words[i] for i in (order[256 + len(mentioned) :] - 256).tolist())
    return Numbering(ByteDictionary(tokens, *number[rules.T]), extra, number)


def has_bytes(present: Iterable[int]) -> bool:
    """Tell whether every byte that UTF-8 text can have is there."""
    return set(present) >= _BYTES_OF_UTF8


def check_bytes(present: Iterable[int], path: Path) -> None:
    """Raise FileFormatError unless every byte that UTF-8 text can have is a token."""
    missing = sorted(_BYTES_OF_UTF8.difference(present))
    if missing:
        what = f"{len(missing)} of the bytes that text can have are no tokens, the first one 0x{missing[0]:02x}"
        raise FileFormatError(what, where=str(path))
