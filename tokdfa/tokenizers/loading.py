"""Loading a tokenizer of any kind; the embedded one is plain data, so that a real one is always at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.errors import UnsupportedFeatureError, WrongTypeError
from tokdfa.regex.unicode.tables import ranges
from tokdfa.regex.unicode.versions import Range, changed_normalizers, resolve
from tokdfa.tokenizers.formats import read
from tokdfa.tokenizers.formats.contents import AnyContents
from tokdfa.tokenizers.formats.files import named
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Splitting
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import TOKENIZERS, Tokenizer, has_rules

if TYPE_CHECKING:
    from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer

__all__ = ["default_dictionary", "default_tokenizer", "load"]

Specials: TypeAlias = Mapping[str, int] | str | Path
# The library that a format is the one of, where it is not tokenizers.
_LIBRARY = {"tiktoken": "tiktoken", "tekken": "tiktoken", "sentencepiece": "sentencepiece", "rwkv": "rwkv"}


def load(
    source: Any,
    *,
    pretokenizer: str | None = None,
    specials: Specials | None = None,
    format: str | None = None,
    unicode: str | None = None,
    lowercase: bool | None = None,
) -> AnyTokenizer:
    r"""Load a tokenizer from a file or a folder, or from an object of another library.

    Parameters
    ----------
    source : str, Path or object
        A ``tokenizer.json``, ``tekken.json``, ``.model``, ``.gguf``, ``.tiktoken``, ``merges.txt`` or ``vocab.txt``
        file, or a folder with one. Or an object, recognised by its attributes: a ``tokenizers.Tokenizer``; a tokenizer
        of transformers, with a backend in Rust or over a SentencePiece model; a ``tiktoken.Encoding``; a tokenizer of
        mistral-common; a ``SentencePieceProcessor``. Or the content of such a file: bytes, a file object, a dict of the
        fields of a JSON file, or a dict of bytes and ranks.
    pretokenizer : str, optional
        The pre-tokenizer, which splits text into pieces: a name (gpt2, cl100k, o200k, llama3, qwen2, tekken, kimi,
        deepseek), a pattern, or "none". By default the file says it. A file of ranks says nothing: those that tiktoken
        publishes have their own, others must be given one. For rules without a vocabulary the default is "none". A
        WordPiece tokenizer has its own. For CLIP's rules "clip" is allowed too: its pattern, its specials, and text in
        lower case, as in transformers.
    specials : dict of str to int, str or Path, optional
        The special tokens of a rank file, which does not name them: their texts and ids; or a JSON file of these, or
        one with ``added_tokens_decoder`` as a ``tokenizer_config.json`` has, where those that are not special are text;
        or the name of an encoding of tiktoken, such as "o200k_harmony". The default is those that tiktoken gives to the
        files it publishes.
    format : str, optional
        One of :data:`tokdfa.tokenizers.formats.FORMATS`; detected by default.
    unicode : str, optional
        The version of the library whose Unicode tables define letters and other classes: ``tokenizers==0.20.3``,
        ``tiktoken==0.5.2``. The default is the version of the object's own library, if its tables are known, and
        otherwise the newest one that tokdfa knows; ``tokdfa formats`` lists them. For a Unigram model of SentencePiece,
        ``sentencepiece==0.2.1`` asks for the sums of the versions before 0.2.2.
    lowercase : bool, optional
        Whether texts become lower case, for a ``vocab.txt``, which does not say. The default is `do_lower_case` of a
        ``tokenizer_config.json`` next to it, and otherwise True, as in the libraries.

    Returns
    -------
    AnyTokenizer
        A byte pair :class:`Tokenizer`, a :class:`UnigramTokenizer` or a :class:`WordPieceTokenizer`.

    Raises
    ------
    FileFormatError
        If the file is malformed; the error says where.
    UnsupportedFeatureError
        If it asks for something that is not modelled exactly, or the tables of the version are not known; or if it is
        a file of ranks that is not known, and no pre-tokenizer is given.
    PatternError
        If the pattern cannot be read.
    WrongTypeError
        If the object is none of these.
    OSError
        If the file cannot be read.

    Notes
    -----
    An object is taken as it is now, and not kept: later changes to it have no effect. Nothing is imported; the
    attributes follow transformers 4.57 and 5.23, tokenizers 0.22 and 0.23, tiktoken 0.14, mistral-common 1.13 and
    sentencepiece 0.2. A tokenizer of transformers is read as its backend. If it is written in Python over a
    SentencePiece model, it is that model with the ids of the object, as with ``split_special_tokens=True``. The classes
    in Python of BERT, CLIP and Qwen2 follow the Unicode tables of this Python, which the tokenizer names; a pickle of
    it is refused by a Python with others.

    With `unicode`, texts are split as by that version. A tokenizer is refused if the version's Unicode makes a
    difference to its normalizer or its added tokens. llama.cpp has tables of its own. A GGUF file with another
    library's tables is split as no library splits it; this tells differences of tables from differences of patterns.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "merges.txt").write_text("#version: 0.2\nA k\ni t\nAk it\nAkit a\n")
    ...     tokenizer = tokdfa.load(folder)
    >>> tokenizer.decode(tokenizer.encode("Akita")), len(tokenizer.encode("Akita"))
    ('Akita', 1)

    Ranks in memory, with special tokens:

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    >>> tokenizer = tokdfa.load(ranks, pretokenizer="gpt2", specials={"<end>": 257})
    >>> tokenizer.encode("ab").tolist(), tokenizer.decode([256, 257])
    ([256], 'ab<end>')
    """
    contents = read(source, format, specials=specials)
    if lowercase is not None:
        from tokdfa.tokenizers.formats.wordpiece import with_case

        contents = with_case(contents, lowercase, named(source))
    if unicode is None and pretokenizer is None:
        unicode = _known_version(contents.library)
    tokenizer = tokenizer_of(contents, pretokenizer, unicode, named(source))
    if contents.format == "tiktoken" and has_rules(tokenizer):
        # Next to deriving the rules of a rank file, making the tables of `encode` takes little, and the first text need
        # not wait for it.
        from tokdfa.tokenizers.pretokenizers.machine import is_known

        tokenizer.piece_ids.prepare()
        if tokenizer.pretokenizer is not None and is_known(tokenizer.pretokenizer.splitting):
            _ = tokenizer.pretokenizer.splitter
    return tokenizer


def _known_version(library: str | None) -> str | None:
    """Return the version of an object's library if its Unicode tables are known; None for the newest tables."""
    try:
        if library is not None:
            resolve(library)
    except UnsupportedFeatureError:
        return None
    return library


def load_byte_pairs(
    path: str | Path, *, pretokenizer: str | None = None, specials: Specials | None = None, format: str | None = None
) -> Tokenizer:
    """Load a byte pair tokenizer, and refuse others; see :func:`load`."""
    contents = read(path, format, specials=specials)
    if contents.algorithm != "byte pair":
        what = f"this needs a byte pair tokenizer, but the file is {contents.algorithm}"
        raise UnsupportedFeatureError(what, where=str(path))
    return cast("Tokenizer", tokenizer_of(contents, pretokenizer, None, named(path)))


def load_unsplit(path: str | Path, *, specials: Specials | None = None, format: str | None = None) -> AnyTokenizer:
    """Load a tokenizer only for the spelling of its ids; see :func:`load`.

    A byte pair tokenizer is loaded without its pre-tokenizer, which takes time to build and does not affect how ids are
    spelled.
    """
    contents = read(path, format, specials=specials)
    return tokenizer_of(contents, "none" if contents.own_splitting is None else None, None, named(path))


def load_each(path: str | Path, pretokenizer: str | None = None) -> tuple[tuple[str | None, AnyTokenizer], ...]:
    """Load a tokenizer with each pre-tokenizer that it may have: all named ones where nothing says which it is."""
    contents = read(path)
    if contents.says_splitting:
        return ((None, load(path)),)
    names = (pretokenizer,) if pretokenizer is not None or contents.format == "tiktoken" else (*NAMED,)
    return tuple((name, tokenizer_of(contents, name, None, named(path))) for name in names)


def tokenizer_of(
    contents: AnyContents, pretokenizer: str | None = None, unicode: str | None = None, where: str | None = None
) -> AnyTokenizer:
    """Return the tokenizer that a file describes; see :func:`load`. `where` is for messages."""
    found: Any = contents
    kind = TOKENIZERS.get(contents.algorithm, Tokenizer)
    if contents.own_splitting is not None:
        if pretokenizer is not None:
            what = f"{contents.algorithm} is modelled only with {contents.own_splitting}"
            raise UnsupportedFeatureError(what, value=pretokenizer, where=where)
        if unicode is not None:
            library = _LIBRARY.get(contents.format) or found.normalizer.library
            _check_version(found, getattr(found, "normalizer", None), unicode, library)
        return kind(found)
    if contents.format == pretokenizer == "clip":
        from tokdfa.tokenizers.formats.merges import clip_as_transformers_has_it

        found, pretokenizer = clip_as_transformers_has_it(found), None
    elif contents.format == "sentencepiece" and contents.algorithm == "Unigram":
        name, _, number = (unicode or contents.library or "").partition("==")
        if name == "sentencepiece" and all(map(str.isdecimal, number.split("."))):
            unicode = None
            if tuple(map(int, number.split("."))) < (0, 2, 2):
                from tokdfa.tokenizers.formats.unigram import as_before_0_2_2

                found = as_before_0_2_2(found)
    return kind(found, _pretokenizer(found, pretokenizer, unicode, where))


def _pretokenizer(contents: Any, name: str | None, unicode: str | None, where: str | None) -> PreTokenizer | None:
    splitting = contents.splitting if name is None else name
    if splitting is None and contents.format == "tiktoken":
        # Whatever was assumed, the answers would be about another tokenizer.
        what = "a file of ranks does not say how text is split into pieces, and this one is not known"
        hint = f"choose with --pretokenizer or pretokenizer=: {', '.join(NAMED)}, a pattern, or none"
        raise UnsupportedFeatureError(what, where=where, hint=hint)
    # A file may name steps that leave a text whole.
    if splitting is None or splitting == "none" or (isinstance(splitting, Splitting) and splitting.is_nothing):
        found = None
    elif not isinstance(splitting, (str, Splitting)):
        raise WrongTypeError("a pre-tokenizer must be a name or a pattern", value=splitting)
    else:
        from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer

        found = pretokenizer(splitting)
    if unicode is None:
        return found
    library = found.splitting.library if found is not None else _LIBRARY.get(contents.format, "tokenizers")
    part = resolve(unicode)
    if library == "llama.cpp" and found is not None:
        return found.with_table(part.name)
    normalizer = None if contents.rewriting is None else contents.rewriting.normalizer
    _check_version(contents, normalizer, unicode, library)
    return None if found is None else found.with_table(None if part.name == part.library else part.name)


def _check_version(contents: Any, normalizer: Any, unicode: str, library: str) -> None:
    """Raise UnsupportedFeatureError unless all of a tokenizer of a library but its splitting is known for a version.

    The version is written as ``tokenizers==0.20.3``.
    """
    part = resolve(unicode)
    if library != part.library:
        what = f"this tokenizer follows {library}, so that tables of {part.library} have no effect"
        hint = "tables of regex are for patterns that search" if part.library == "regex" else None
        raise UnsupportedFeatureError(what, value=unicode, hint=hint)
    for what in _changed(contents, normalizer, part):
        raise UnsupportedFeatureError(
            f"{part.library} {part} does something else than the newest version with {what}, or may do so;"
            " only what splits texts is modelled for other versions",
            value=unicode,
        )


def _changed(contents: Any, normalizer: Any, part: Range) -> Iterator[str]:
    """Yield the parts of a tokenizer, except its splitting, that other versions may have changed."""
    from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
    from tokdfa.tokenizers.normalizers.sentencepiece import Precompiled
    from tokdfa.tokenizers.normalizers.steps import Chain, Lowercase, Replace, Strip, StripAccents, UnicodeForm

    def differs(name: str) -> bool:
        return ranges(name, part.name) != ranges(name, part.library)

    changed = changed_normalizers(part.name)
    steps = normalizer.steps if isinstance(normalizer, Chain) else [normalizer]
    for step in steps if part.name != part.library else ():
        uses: tuple[str, ...] = ()
        match step:
            case UnicodeForm(form):
                uses = (form,)
            case Lowercase() | StripAccents() | Precompiled() | Replace(literal=False):
                uses = (type(step).__name__,)
            case Strip() if differs("is_whitespace"):
                uses = ("Strip",)
            case BertNormalizer(cleans, chinese, strips, lowers):
                names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
                uses = tuple(compress(names, (cleans, chinese, strips, lowers)))
        if found := changed.union(("Precompiled", "Replace", "Strip")).intersection(uses):
            yield ", ".join(sorted(found))
    for special in contents.specials if part.library == "tokenizers" else ():
        if special.single_word and differs("whitespace_word"):
            yield "an added token that is a single word"
        if (special.lstrip or special.rstrip) and differs("is_whitespace"):
            yield "an added token that strips white space"
    if contents.algorithm == "WordPiece" and (differs("is_bert_punctuation") or differs("is_whitespace")):
        yield "BertPreTokenizer"


@cache
def default_dictionary() -> Dictionary:
    """Return the byte pair dictionary that comes with tokdfa: 3,840 rules over bytes, trained on English books.

    Returns
    -------
    Dictionary
        Proper; every rule is live. It was trained on pieces split by GPT-2's pattern: see ``README.md`` by the file.

    Examples
    --------
    >>> len(tokdfa.default_dictionary()), str(tokdfa.default_dictionary()[0])
    (3840, ' ≀t')
    """
    from importlib.resources import files

    from tokdfa.tokenizers.formats.merges import read_merges

    resource = files(__package__).joinpath("data", "default.merges.txt")
    return read_merges(resource.read_bytes(), Path(str(resource)), bytewise=True).dictionary


@cache
def default_tokenizer() -> Tokenizer:
    """Return the tokenizer of the embedded dictionary, with text split by GPT-2's pattern.

    Returns
    -------
    Tokenizer
        The tokenizer that ``tokdfa.load`` makes from the file that ``tokdfa demo`` writes.

    Examples
    --------
    >>> tokdfa.default_tokenizer().encode("a single man").tolist()
    [64, 2513, 462]
    """
    from importlib.resources import as_file, files

    with as_file(files(__package__).joinpath("data", "default.merges.txt")) as path:
        return load_byte_pairs(path, pretokenizer="gpt2")
