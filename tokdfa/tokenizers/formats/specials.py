"""The special tokens of rank files, which do not name them: given by name of an encoding, in a file, or one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokdfa.encoding.special import Special
from tokdfa.errors import FileFormatError, UnsupportedFeatureError, WrongTypeError
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents
from tokdfa.tokenizers.formats.encodings import ENCODINGS
from tokdfa.tokenizers.formats.files import content
from tokdfa.tokenizers.formats.json_text import JsonObject, check_surrogates, parse_object

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.reading import AnyContents

__all__ = ["specials_of", "with_specials"]


def with_specials(contents: AnyContents, given: Mapping[str, int] | str | Path) -> AnyContents:
    """Return the contents of a rank file with special tokens.

    Parameters
    ----------
    contents : Contents
    given : dict of str to int, str or Path
        The ids of the special tokens by their text; or the name of one of tiktoken's encodings; or a JSON file with an
        object of texts and ids, or with ``added_tokens_decoder`` as in a ``tokenizer_config.json``, of which those
        that are not ``"special": true`` are text.

    Raises
    ------
    FileFormatError
        If there is no such encoding or file, or the file is something else, or a special token has no text, or its id
        is no id, that of a token or that of another one.
    UnsupportedFeatureError
        If the contents are not those of a rank file.
    OSError
        If the file cannot be read.
    WrongTypeError
        If they are given in another form.
    """
    where, texts = "specials", frozenset[Any]()
    if isinstance(given, str) and given in ENCODINGS:
        pairs: dict[Any, Any] = dict(ENCODINGS[given].specials)
    elif isinstance(given, (str, Path)):
        where, (pairs, texts) = str(given), _in_file(Path(given))
    elif isinstance(given, Mapping):
        pairs = dict(given)
    else:
        raise WrongTypeError(
            "special tokens must be a dict of texts and ids, a file, or the name of an encoding", value=given
        )
    if not isinstance(contents, Contents) or contents.format != "tiktoken":
        raise UnsupportedFeatureError(
            "special tokens can be given for rank files only; this one has its own",
            value=contents.format,
            where=where,
        )
    specials = tuple(replace(special, is_text=special.content in texts) for special in specials_of(pairs, where))
    taken = set(contents.ids.tolist()).intersection(special.id for special in specials)
    if taken:
        one = next(special for special in specials if special.id in taken)
        raise FileFormatError(
            f"the id of the special token {one.content!r} is that of a token", value=one.id, where=where
        )
    return replace(contents, specials=specials)


def specials_of(
    pairs: Mapping[Any, Any], where: str, *, decoded: Callable[[int], str] | None = None
) -> tuple[Special, ...]:
    """Return special tokens, checked.

    Parameters
    ----------
    pairs : mapping of str to int
    where : str
        For messages.
    decoded : function of int to str, optional
        Returns the text to which an id decodes; called if several special tokens share it.

    Raises
    ------
    FileFormatError
        If a text is empty or not UTF-8, or an id is no id.
    UnsupportedFeatureError
        If two share an id and it is not known which of them it decodes to.
    """
    of_id: dict[int, list[str]] = {}
    # Members of an enumeration of strings become plain ones.
    pairs = {str.__str__(text) if isinstance(text, str) else text: id for text, id in pairs.items()}
    for text, id in pairs.items():
        if not isinstance(text, str) or not text:
            what = "the text of a special token must be a string of one character or more"
            raise FileFormatError(what, value=text, where=where)
        check_surrogates(text, where)
        if type(id) is not int or not 0 <= id <= LARGEST_ID:
            what = f"the id of the special token {text!r} must be an integer from 0 to {LARGEST_ID}"
            raise FileFormatError(what, value=id, where=where)
        of_id.setdefault(id, []).append(text)
    is_harmony = pairs == ENCODINGS["o200k_harmony"].specials
    last: dict[int, str] = {}
    for id, texts in of_id.items():
        if len(texts) == 1:
            last[id] = texts[0]
        elif is_harmony:
            # tiktoken decodes a shared id to the one that its table of hashes puts last.
            last[id] = "<|endofprompt|>"
        elif decoded is not None and (text := decoded(id)) in texts:
            last[id] = text
        else:
            what = f"{texts[0]!r} and {texts[1]!r} share an id, and which of them it decodes to is not defined"
            raise UnsupportedFeatureError(what, value=id, where=where, hint="give one of them")
    # Of those that share an id, the last one is what it decodes to.
    ordered = sorted(pairs.items(), key=lambda pair: (pair[1], pair[0] == last[pair[1]]))
    return tuple(Special(id, text) for text, id in ordered)


def _in_file(path: Path) -> tuple[dict[Any, Any], frozenset[Any]]:
    """Return the texts and ids in a JSON file, and those of the texts that are not control tokens."""
    if not path.exists():
        raise FileFormatError(
            "neither a file nor the name of an encoding",
            value=str(path),
            hint=f"the encodings are {', '.join(ENCODINGS)}",
        )
    top = parse_object(content(path), path)
    rows = top.object("added_tokens_decoder") if "added_tokens_decoder" in top.fields else None
    if rows is None:
        return top.fields, frozenset()
    pairs: dict[Any, Any] = {}
    texts = set()
    for id, row in rows.fields.items():
        if not (id.isascii() and id.isdecimal()) or not isinstance(row, dict):
            raise FileFormatError("an id and its token are expected", value=row, where=rows.place(id))
        token = JsonObject(row, f"{rows.where}.{id}", path)
        text = token.get("content", str)
        if text in pairs:
            raise FileFormatError("a duplicate special token", value=text, where=rows.place(id))
        pairs[text] = int(id) if len(id) < 10 else -1
        # As AddedToken of tokenizers has it.
        if not token.get("special", bool, False):
            texts.add(text)
    return pairs, frozenset(texts)
