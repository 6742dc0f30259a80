"""The remark that a tokenizer does not split text, made once the answer is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokdfa.cli.output import remark

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["remark_unsplit"]


def remark_unsplit(tokenizer: AnyTokenizer, path: str, given: str | None, option: str = "--pretokenizer") -> None:
    """Say on stderr that the whole text is one piece, if that is so because the file does not say how to split it.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    path : str
        Its file.
    given : str or None
        The pre-tokenizer that was asked for; then nothing is said.
    option : str
        The option that chooses a pre-tokenizer.
    """
    if given is None and tokenizer.pretokenizer is None and tokenizer.format not in ("sentencepiece", "tokenizer.json"):
        remark(f"no pre-tokenizer in {path}: the whole text is one piece (choose one, such as {option} gpt2)")
