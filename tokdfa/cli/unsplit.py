"""The remark that a tokenizer does not split text, made once the answer is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tokdfa.cli.output import remark

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["remark_unsplit"]


def remark_unsplit(tokenizer: AnyTokenizer, path: str, option: str = "--pretokenizer") -> None:
    """Say on stderr that the whole text is one piece, if that is so because the file does not say how to split it.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    path : str
        Its file, whose name may be that of an encoding of tiktoken.
    option : str
        The option that chooses a pre-tokenizer.
    """
    if tokenizer.pretokenizer is not None or tokenizer.format in ("sentencepiece", "tokenizer.json"):
        return
    from tokdfa.tokenizers.formats.encodings import ENCODINGS

    encoding = ENCODINGS.get(Path(path).stem)
    hint = f"choose one, such as {option} gpt2"
    if encoding is not None:
        hint = f"{option} {encoding.pretokenizer} is that of the encoding {Path(path).stem}"
    remark(f"no pre-tokenizer in {path}: the whole text is one piece ({hint})")
