"""A processor of SentencePiece, and tokenizers of transformers in Python that have one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents, Rewriting
from tokdfa.tokenizers.formats.live_object import IN_RUST, NOT_SPECIAL, Live
from tokdfa.tokenizers.formats.reading import read_as
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer

if TYPE_CHECKING:
    from tokdfa.tokenizers.decoding import DecodeSentencePiece
    from tokdfa.tokenizers.formats.unigram import UnigramContents

# transformers' tokenizers in Python that give a text to their SentencePiece model as it is: always, or if `legacy`.
_ALWAYS_AS_IT_IS = {"GemmaTokenizer", "MBartTokenizer", "MBart50Tokenizer", "NllbTokenizer", "PLBartTokenizer"}
_AS_IT_IS_IF_LEGACY = {"LlamaTokenizer", "SentencePieceBackend", "T5Tokenizer"}
# The normalizer of a SentencePiece model that only writes spaces as their sign.
_AS_WRITTEN = SentencePieceNormalizer(None, puts_space=False, trims_spaces=False, shows_spaces=True)


def read_processor(source: Live, proto: Any, _: str | None) -> Contents | UnigramContents:
    """Read a processor; its options must leave the ids as they are."""
    source.check_off("_reverse", "_enable_sampling")
    data = source.checked(source.ask(proto, "model"), bytes, "model")
    if not data:
        raise source.fault("no model has been loaded into the processor", FileFormatError)
    contents = cast("Contents | UnigramContents", read_as(data, source.path, "sentencepiece"))
    encode, piece_of = source.get("encode"), source.get("id_to_piece")
    # Extra options of older versions reverse the pieces, which no attribute shows.
    letters = [*filter(str.islower, contents.characters)][:2]
    ids = source.ask(lambda: encode(" ".join(letters)), "ids of a text")
    spelled = "".join(source.ask(lambda: [*map(piece_of, ids)], "pieces of a text"))
    if len(letters) == 2 and [letter for letter in spelled if letter in letters] == letters[::-1]:
        raise source.fault("the extra option reverse is not modelled", value="reverse")
    adds = len(source.ask(lambda: encode(""), "ids of the empty text")) > 0
    return replace(contents, ignored=(*contents.ignored, "bos and eos")) if adds else contents


def read_over_processor(source: Live, model: Any, format: str | None) -> Contents | UnigramContents:
    """Read the SentencePiece model of a tokenizer in Python, with the ids that this one has for its pieces."""
    what = "a tokenizer in Python that may change texts before its SentencePiece model sees them"
    hint = f"load its sp_model, or {IN_RUST}"
    kind = source.defined_by("_tokenize", _ALWAYS_AS_IT_IS | _AS_IT_IS_IF_LEGACY, what, hint)
    source.check_off("do_lower_case")
    inner = Live(model, source.path)
    if (proto := inner.get("serialized_model_proto")) is None:
        raise source.fault("its sp_model is no SentencePieceProcessor", value=model)
    contents = read_processor(inner, proto, format)
    if kind in _AS_IT_IS_IF_LEGACY and not source.get("legacy"):
        contents = _after_unknown(source, contents, kind)
    if not isinstance(contents, Contents):
        return _over_unigram(source, contents)
    pieces = [*map("".join, (*contents.dictionary.alphabet, *contents.extra))]
    controls = [special.content for special in contents.specials]
    ids = source.ids([*pieces, *controls], "piece")
    own, specials = ids[: len(pieces)], dict(zip(ids[len(pieces) :], controls, strict=True))
    if len(set(own)) < len(own):
        raise source.fault("two pieces share an id, or have none")
    unknown = contents.fallback.unknown if contents.fallback is not None else None
    if unknown is not None and source.get("unk_token_id") != own[pieces.index(unknown)]:
        raise source.fault("unknown text does not get the id of the unknown piece")
    for id, text, is_special in source.added_tokens():
        if id in own:
            continue
        if not is_special and id not in specials:
            raise source.fault(NOT_SPECIAL, value=text)
        if unknown is not None and text and set(text).isdisjoint(pieces):
            # It gets its id where it stands in a text, because unknown characters are looked up as a token.
            raise source.fault("an added token of characters that are unknown to the model is not modelled", value=text)
        specials[id] = text
    if specials.keys() & set(own) or any(not 0 <= id <= LARGEST_ID for id in specials):
        raise source.fault("a control piece has the id of another piece")
    return replace(
        contents,
        ids=np.array(own, dtype=np.int32),
        specials=tuple(Special(id, text, normalized="") for id, text in sorted(specials.items())),
    )


def _after_unknown(source: Live, contents: Contents | UnigramContents, kind: str) -> Contents:
    """Return the contents for ``legacy=False``, which encodes a text after the name of the unknown token.

    With a space before the text, a dummy prefix of the model has the same effect, if no piece spans the two.
    """
    unknown = str(source.get("unk_token"))
    if not isinstance(contents, Contents):
        what = (
            "with legacy=False, a text is encoded after the unknown token, and a Unigram model may split the two as one"
        )
        raise source.fault(what, value=kind, hint=f"load {kind}Fast, and encode with it")
    rewriting = contents.rewriting
    if kind != "LlamaTokenizer" or rewriting is None or not unknown:
        hint = f"load its file, or {IN_RUST}"
        raise source.fault("legacy=False is not modelled for this class or model", value=kind, hint=hint)
    if rewriting.normalizer != _AS_WRITTEN:
        what = "with legacy=False, only a model that leaves its texts as they are is modelled"
        raise source.fault(what, value=kind, hint=f"load its file, or {IN_RUST}")
    pieces = map("".join, (*contents.dictionary.alphabet, *contents.extra))
    if piece := next((piece for piece in pieces if unknown[-1] + SPACE in piece), None):
        raise source.fault("with legacy=False, this piece may cover the end of the unknown token", value=piece)
    puts = source.of("add_prefix_space", bool)
    (step,) = cast("tuple[DecodeSentencePiece]", rewriting.decoding)
    normalizer = replace(_AS_WRITTEN, puts_space=puts)
    return replace(contents, rewriting=Rewriting(normalizer, (replace(step, drops_first=puts),)))


def _over_unigram(source: Live, contents: UnigramContents) -> UnigramContents:
    """Return the contents of a tokenizer in Python over a Unigram model, which must leave the ids as they are."""
    n_pieces = len(contents.model.pieces)
    if source.ids([*contents.model.pieces], "piece") != [*range(n_pieces)]:
        raise source.fault("a tokenizer in Python that gives pieces of a Unigram model other ids is not modelled")
    specials = {special.id: special for special in contents.specials}
    for id, text, is_special in source.added_tokens():
        if id < n_pieces and contents.model.pieces[id] == text:
            continue
        if not is_special or not n_pieces <= id <= LARGEST_ID:
            raise source.fault(NOT_SPECIAL if not is_special else "an added token with the id of a piece", value=text)
        specials[id] = Special(id, text, normalized="")
    known = {*contents.characters}
    for special in specials.values():
        if known.isdisjoint(special.content):
            # It gets its id where it stands in a text, because unknown characters are looked up as a piece.
            what = "an added or control token of characters that are unknown to the model is not modelled"
            raise source.fault(what, value=special.content)
    return replace(contents, specials=tuple(specials[id] for id in sorted(specials)))
