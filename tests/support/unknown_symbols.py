"""Tokenizers that do not know all characters: SentencePiece's and tokenizers' models, trained on English lines."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import tokdfa

KINDS = (
    *("unigram.model", "bpe.model", "word.model", "char.model"),
    *("unigram", "bpe", "bpe fused", "bpe unsplit", "bpe suffix", "wordpiece", "wordlevel"),
)
UNKNOWN = "漢字ключ😀ÞŸ"


class Unknowing(NamedTuple):
    """A tokenizer's file, and its own library's ids of a text."""

    data: bytes
    encode: Callable[[str], list[int]]
    unknown: int

    def load(self) -> tokdfa.AnyTokenizer:
        return tokdfa.load(self.data)


def trained(kind: str, lines: list[str], drawn: random.Random) -> Unknowing:
    """Return a tokenizer trained on lines; whether its unknown token is special is drawn."""
    if kind.endswith(".model"):
        return _sentencepiece(kind.removesuffix(".model"), lines, drawn.randrange(300, 900))
    return of_tokenizers(_trained(kind, lines, drawn), is_special=drawn.random() < 0.5)


def of_tokenizers(peer: Tokenizer, *, is_special: bool) -> Unknowing:
    """Return a tokenizer of tokenizers, with an unknown token that is special or not."""
    value = json.loads(peer.to_str())
    if not is_special:
        value["added_tokens"] = []
    peer = Tokenizer.from_str(json.dumps(value))
    return Unknowing(peer.to_str().encode(), lambda text: peer.encode(text, add_special_tokens=False).ids, 0)


def as_tokenizers(model: bytes, drawn: random.Random) -> Tokenizer:
    """Return the tokenizer.json of a Unigram model of SentencePiece, with other scores of some pieces."""
    from sentencepiece import sentencepiece_model_pb2 as pb

    read: Any = pb.ModelProto()  # type: ignore[attr-defined]
    read.ParseFromString(model)
    changed = drawn.randrange(3)
    pieces = [(each.piece, each.score - 3 * (drawn.randrange(20) < changed)) for each in read.pieces]
    peer = Tokenizer(models.Unigram(pieces, unk_id=0))
    charsmap = read.normalizer_spec.precompiled_charsmap
    peer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(charsmap), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    peer.pre_tokenizer, peer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    peer.add_special_tokens(["<unk>"])
    return peer


def text_of(lines: list[str], drawn: random.Random, every: int) -> str:
    """Return lines with unknown characters in one of `every` words: before, in, after and between words."""
    words: list[str] = []
    for word in " ".join(lines).split():
        if drawn.randrange(every):
            words.append(word)
            continue
        unknown = "".join(drawn.choices(UNKNOWN, k=drawn.choice((1, 1, 1, 2, 3))))
        at = drawn.randrange(len(word) + 1)
        words += drawn.choice(([word[:at] + unknown + word[at:]], [word, unknown]))
    return " ".join(words)


def _sentencepiece(kind: str, lines: list[str], size: int) -> Unknowing:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        model_type=kind,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    peer = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    return Unknowing(written.getvalue(), peer.encode, 0)


def _trained(kind: str, lines: list[str], drawn: random.Random) -> Tokenizer:
    unknown = drawn.choice(("<unk>", "[UNK]"))
    options: dict[str, Any] = {"special_tokens": [unknown], "show_progress": False, "vocab_size": 800}
    white = pre_tokenizers.WhitespaceSplit()
    metaspace, whole = pre_tokenizers.Metaspace(), pre_tokenizers.Metaspace(split=False)
    match kind:
        case "unigram":
            peer = Tokenizer(models.Unigram())
            options["unk_token"], trainer = unknown, trainers.UnigramTrainer
            peer.pre_tokenizer, peer.decoder = metaspace, decoders.Metaspace()
        case "wordpiece":
            peer, trainer = Tokenizer(models.WordPiece(unk_token=unknown)), trainers.WordPieceTrainer
            peer.normalizer = normalizers.BertNormalizer(lowercase=drawn.random() < 0.5)
            peer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
            peer.decoder = decoders.WordPiece(cleanup=drawn.random() < 0.5)
        case "wordlevel":
            peer, trainer = Tokenizer(models.WordLevel(unk_token=unknown)), trainers.WordLevelTrainer
            peer.pre_tokenizer, peer.decoder = metaspace, decoders.Metaspace()
        case "bpe suffix":
            peer, trainer = Tokenizer(models.BPE(unk_token=unknown)), trainers.BpeTrainer
            options["end_of_word_suffix"] = "</w>"
            peer.pre_tokenizer, peer.decoder = white, decoders.BPEDecoder()
        case _:
            peer, trainer = Tokenizer(models.BPE(unk_token=unknown, fuse_unk=kind == "bpe fused")), trainers.BpeTrainer
            peer.pre_tokenizer, peer.decoder = whole if kind == "bpe unsplit" else metaspace, decoders.Metaspace()
    peer.train_from_iterator(lines, trainer(**options))
    return peer
