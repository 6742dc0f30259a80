"""The function `convert`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np

from tokdfa.base.atomic import check_writable, write_together
from tokdfa.base.errors import LimitExceededError, TokdfaError, UnsupportedFeatureError
from tokdfa.base.suggestions import expect
from tokdfa.jobs.comparison.api import compare
from tokdfa.jobs.comparison.result import Comparison, Stage
from tokdfa.jobs.conversion.kept import KeptTexts, texts_without_changes
from tokdfa.jobs.conversion.result import Conversion
from tokdfa.tokenizers.formats.writers import TARGETS
from tokdfa.tokenizers.formats.writers.draft import Draft, Loss, LostPart
from tokdfa.tokenizers.loading import load
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.twins import SpecialsPolicy

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["convert"]

Target = Literal["tokenizer.json", "tiktoken", "merges", "gguf"]


def convert(
    tokenizer: AnyTokenizer,
    target: Target,
    path: str | Path,
    *,
    special_tokens: SpecialsPolicy = "found",
    texts: str | None = None,
    progress: Callable[[Stage], object] | None = None,
) -> Conversion:
    """Write a tokenizer in another format, if that is proven to give every text the same ids.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    target : {"tokenizer.json", "tiktoken", "merges", "gguf"}
        The format. With "tiktoken", special tokens are written to ``NAME.specials.json`` next to ``NAME.tiktoken``;
        with "merges", the ids to ``vocab.json`` next to the rules.
    path : str or Path
        The file. Files of these names are replaced.
    special_tokens : {"found", "plain"}
        Whether special tokens are found in texts, by both sides, or are text like any other.
    texts : str, optional
        A regular expression, in the dialect of the module `regex`: only the texts that it matches from beginning to end
        must have the same ids. The format may give others to other texts.
    progress : callable, optional
        As in :func:`tokdfa.compare`.

    Returns
    -------
    Conversion
        Truthy if the files were written. Otherwise nothing was, and its witness is a text to which the format gives
        other ids.

    Raises
    ------
    UnsupportedFeatureError
        If the format has no word for a part without which no file can be written, such as the model; or if neither
        equality nor a difference could be established. Nothing is written.
    WrongTypeError
        If it is not a tokenizer, or there is no such format.
    LimitExceededError
        If an automaton is too large.
    OSError
        If a file cannot be written; then none is.

    Notes
    -----
    The files are made in a temporary folder, loaded from there as any other file, and compared by
    :func:`tokdfa.compare`. These bytes are then moved to their place, all or none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = tokdfa.convert(tokdfa.default_tokenizer(), "tokenizer.json", f"{folder}/tokenizer.json")
    >>> bool(found), found.reason, found.files[0].name
    (True, 'the tokenizers are the same', 'tokenizer.json')
    """
    path = Path(path)
    draft = draft_of(tokenizer, target, path)
    for name in draft.files:
        check_writable(path.with_name(name))
    compared = partial(compare, special_tokens=special_tokens, texts=texts, progress=progress)
    return convert_draft(tokenizer, draft, path, compared)


def draft_of(tokenizer: AnyTokenizer, target: str, path: Path) -> Draft:
    """Return the files that a conversion may write to `path` and next to it."""
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.convert(tokenizer, target, path)")
    if target not in TARGETS:
        what = "this format cannot be written"
        raise UnsupportedFeatureError(what, value=target, where="target", hint=f"the formats are {', '.join(TARGETS)}")
    return TARGETS[target](tokenizer, path.name)


Compare: TypeAlias = Callable[..., Comparison]


def convert_draft(tokenizer: AnyTokenizer, draft: Draft, path: Path, compared: Compare) -> Conversion:
    """Write the files of a draft to `path` and next to it, if `compared` proves that they are the tokenizer."""
    try:
        found = _compared(tokenizer, draft, compared)
    except UnsupportedFeatureError:
        if draft.smaller is None:
            raise
        found = _compared(tokenizer, draft := draft.smaller(), compared)
    if not found and draft.smaller is not None:
        smaller = draft.smaller()
        with suppress(UnsupportedFeatureError):
            again = _compared(tokenizer, smaller, compared)
            found, draft = (again, smaller) if again else (found, draft)
    if not found and found.found.texts is None:
        found = replace(found, kept=_kept(tokenizer, found, compared))
    files = tuple(path.with_name(name) for name in draft.files) if found else ()
    if found:
        write_together(dict(zip(files, draft.files.values(), strict=True)))
    return replace(found, files=files, options=draft.options_in(path.parent))


def _compared(tokenizer: AnyTokenizer, draft: Draft, compared: Compare) -> Conversion:
    """Return the answer about a draft before anything is written."""
    written = _loaded(draft)
    found = compared(tokenizer, written)
    losses = (*draft.losses, *_losses_seen(tokenizer, written))
    return Conversion(found.holds, found.witness, draft.target, losses=losses, found=found, tokenizer=written)


def _kept(tokenizer: AnyTokenizer, found: Conversion, compared: Compare) -> KeptTexts | None:
    """Return the texts that keep their ids, if only the tables of a format stand in the way."""
    parts = {loss.part for loss in found.causes}
    if LostPart.TABLES not in parts or LostPart.NORMALIZER in parts or found.witness is None:
        return None
    one, other = cast("Tokenizer", tokenizer), cast("Tokenizer", found.tokenizer)
    kept = texts_without_changes(one.splitting, other.splitting, str(found.witness.text))
    with suppress(UnsupportedFeatureError, LimitExceededError):
        if kept is not None and compared(tokenizer, found.tokenizer, texts=kept.pattern):
            return kept
    return None


def _losses_seen(tokenizer: AnyTokenizer, written: AnyTokenizer) -> Iterator[Loss]:
    """Yield special tokens of one of the two, ids that have lost their meaning, and ids that spell something else."""
    # SentencePiece finds none of its own.
    sides = (tokenizer, written)
    contents = [{special.content: None for special in side.specials if special.text} for side in sides]
    unlike = (*(text for text in contents[0] if text not in contents[1]), *contents[1].keys() - contents[0])
    if unlike:
        yield Loss(LostPart.SPECIALS, unlike)
    meaning = tokenizer.means_something
    still = np.pad(written.means_something, (0, max(0, len(meaning) - written.n_ids)))[: len(meaning)]
    if (meaning & ~still).any():
        lost = np.flatnonzero(meaning & ~still).tolist()
        yield Loss(LostPart.TOKENS, tuple(tokenizer.name_of(id).decode("utf-8", "backslashreplace") for id in lost))
    common = np.flatnonzero(meaning & still).tolist()
    other = [id for id in common if tokenizer.name_of(id) != written.name_of(id)]
    if other:
        yield Loss(LostPart.DECODER, tuple(tokenizer.name_of(id).decode("utf-8", "backslashreplace") for id in other))


def _loaded(draft: Draft) -> AnyTokenizer:
    """Write a draft into a temporary folder, and load it from there as any other file."""
    with TemporaryDirectory(prefix="tokdfa-convert-") as name:
        folder = Path(name)
        for file, data in draft.files.items():
            (folder / file).write_bytes(data)
        try:
            return load(folder / draft.main, **draft.options_in(folder))
        except TokdfaError as error:
            # The place is one of a file that nobody sees.
            raise UnsupportedFeatureError(f"{draft.target}: {error.what}", value=error.value, hint=error.hint) from None
