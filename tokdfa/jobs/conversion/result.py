"""The answer of a conversion, and the one place where it becomes sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Final, cast

from tokdfa.base.verdict import Verdict
from tokdfa.jobs.comparison.result import Comparison, Difference
from tokdfa.jobs.comparison.result import reason as reason_of_comparison
from tokdfa.jobs.conversion.kept import KeptTexts
from tokdfa.tokenizers.formats.writers.draft import Loss, LostPart
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Conversion"]

_SHOWN = 3
# What a format lacks, in words; {} are the values of the loss.
_WORDS: Final = {
    LostPart.NORMALIZER: "the normalizer {}",
    LostPart.PRETOKENIZER: "the steps that split texts",
    LostPart.SPECIALS: "which texts are special tokens: {}",
    LostPart.FLAGS: "the flags of special tokens: {}",
    LostPart.SYMBOLS: "what becomes of symbols without a token",
    LostPart.ARITHMETIC: "sums of scores that are rounded as by {}",
    LostPart.LONGEST_WORD: "that words of more than {} characters are unknown",
    LostPart.PRIORITY: "rules that are not in the order of the ids, first {}",
    LostPart.WHOLE_PIECES: "whether a piece that is a token is merged",
    LostPart.TOKENS: "tokens that no text has among its ids: {}",
    LostPart.TABLES: "the Unicode tables, {}",
    LostPart.DECODER: "the decoder {}",
    LostPart.ENDS: "what is added or cut off at the ends of texts: {}",
    LostPart.NAMES: "which tokens begin, end and pad a text, and the chat template",
}


def loss_words(loss: Loss) -> str:
    """Return a lost part in words."""
    more = ", …" if len(loss.values) > _SHOWN else ""
    shown = ", ".join(map(repr, loss.values[:_SHOWN])) + more
    return _WORDS[loss.part].format(shown).strip()


def load_words(file: str, options: Mapping[str, str]) -> str:
    """Return the command that describes the file, loaded with the options."""
    words = [f"--{key} {quote(value)}" for key, value in options.items()]
    return " ".join(["tokdfa info", quote(file), *words])


@dataclass(frozen=True, slots=True, repr=False)
class Conversion(Verdict[Difference]):
    """Whether a tokenizer was written in a format, proven to give every text the same ids.

    Attributes
    ----------
    holds, witness
        See :class:`~tokdfa.base.verdict.Verdict`; the witness is a text for which the format has other ids, as
        :class:`~tokdfa.jobs.comparison.result.Difference`.
    reason : str
        The result in words, made from the other attributes.
    target : str
        The format.
    files : tuple of Path
        The files that were written, the one to be loaded first; none if the witness shows a difference.
    options : mapping of str to str
        The keywords of :func:`tokdfa.load` with which the first file gives these ids.
    losses : tuple of Loss
        The parts of the tokenizer for which the format has no word.
    kept : KeptTexts, optional
        Texts that are proven to keep their ids nevertheless, all without some characters, if only the Unicode tables
        stand in the way: a pattern, for `texts`, and the number of these characters.
    found : Comparison
        The comparison of the tokenizer with the file.
    tokenizer : AnyTokenizer
        The tokenizer that the file is, or would have been.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = tokdfa.convert(tokdfa.default_tokenizer(), "tiktoken", Path(folder, "small.tiktoken"))
    ...     again = tokdfa.load(found.files[0], **found.options)
    >>> bool(found), found.reason, again.encode("a man").tolist()
    (True, 'every text has the same ids', [64, 462])
    """

    target: str = ""
    reason: str = field(init=False, compare=False)
    files: tuple[Path, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    losses: tuple[Loss, ...] = ()
    kept: KeptTexts | None = None
    found: Comparison = field(default_factory=lambda: Comparison(True))
    tokenizer: AnyTokenizer = field(default=cast("AnyTokenizer", None), compare=False)

    def __post_init__(self) -> None:
        said = reason_of_comparison(self.found)
        object.__setattr__(self, "reason", said if self.holds else f"{said} as {self.target}")

    @property
    def causes(self) -> tuple[Loss, ...]:
        """The lost parts that may be why a text has other ids; none if no text has."""
        return () if self.holds else tuple(loss for loss in self.losses if loss.part.may_change_ids)

    @property
    def lost(self) -> tuple[Loss, ...]:
        """The lost parts that do not decide about ids; special tokens, too, where all texts have the same ids."""
        beside = (loss for loss in self.losses if not loss.part.may_change_ids or loss.part is LostPart.SPECIALS)
        return tuple(loss for loss in beside if loss not in self.causes)
