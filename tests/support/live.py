"""Live tokenizers of other libraries, each with its own library's answers, and texts from every corner of Unicode."""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from tests.support import sentencepieces
from tests.support.extra import llama3_json, ranks_of, write_tiktoken
from tests.support.real_tokenizers import SYMBOLS
from tests.support.tokenizer_files import RANKS, tokenizer_json
from tokdfa.regex.unicode.utf8 import CHARACTER_OF, GPT2_ORDER

KIMI = "|".join(
    [
        r"[\p{Han}]+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        *(r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"),
    ]
)  # fmt: skip
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
N_BLOCKS = 0x1100


@dataclass(frozen=True)
class Live:
    """The argument of `tokdfa.load`, and its own library's functions.

    `words` are the bytes of each id where ids spell the text one after the other; `decode` does it where not. The ids
    in `cuts` are special: they split a stream and are never found in a text.
    """

    source: Any
    encode: Callable[[str], list[int]]
    ids: list[int]
    words: dict[int, bytes] | None = None
    decode: Callable[[list[int]], str] | None = None
    cuts: frozenset[int] = frozenset()
    texts: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def expected(self, ids: list[int]) -> set[int | None]:
        """The index of the first violation, None for none; two where the text before bad bytes is encoded otherwise."""
        start = 0
        for stop in (*(place for place, id in enumerate(ids) if id in self.cuts), len(ids)):
            found = self._expected(ids[start:stop])
            if found != {None}:
                return {None if index is None else start + index for index in found}
            start = stop + 1
        return {None}

    def _expected(self, ids: list[int]) -> set[int | None]:
        if self.decode is not None:
            return {apart(ids, self.encode(self.decode(ids)))}
        assert self.words is not None
        pieces = [self.words[id] for id in ids]
        spelled = b"".join(pieces)
        try:
            return {apart(ids, self.encode(spelled.decode()))}
        except UnicodeDecodeError as error:
            bad = next(i for i, end in enumerate(accumulate(map(len, pieces))) if end > error.start)
            before = apart(ids, self.encode(spelled[: error.start].decode()))
            return {bad} if before is None else {bad, min(before, bad)}


def apart(ids: list[int], others: list[int]) -> int | None:
    if ids == others:
        return None
    short = min(len(ids), len(others))
    return next((k for k in range(short) if ids[k] != others[k]), short)


def any_text(drawn: random.Random, number: int, texts: tuple[str, ...] = ()) -> str:
    """Return a text; 4,352 consecutive numbers visit every block of 256 code points, surrogates aside."""
    low = number % N_BLOCKS * 256
    corner = [chr(drawn.randrange(low, low + 256)) for _ in range(drawn.randrange(1, 6))]
    anywhere = [chr(drawn.randrange(0x110000)) for _ in range(drawn.randrange(3))]
    parts = [*corner, *anywhere, *drawn.choices(SYMBOLS, k=drawn.randrange(8))]
    if texts and drawn.random() < 0.2:
        parts.append(drawn.choice(texts))
    drawn.shuffle(parts)
    return "".join(part for part in parts if not "\ud800" <= part[:1] <= "\udfff")


# Where the vocabularies come from


@cache
def ranks_in(path: Path) -> dict[bytes, int]:
    rows = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(word): int(rank) for word, rank in rows}


def _by_tiktoken(encoding: Any, source: Any = None, **options: Any) -> Live:
    ids = sorted(encoding._mergeable_ranks.values())
    specials = encoding._special_tokens
    words = {id: encoding.decode_single_token_bytes(id) for id in (*ids, *specials.values())}
    few = tuple(list(specials)[:50])
    return Live(
        encoding if source is None else source,
        encoding.encode_ordinary,
        ids + [specials[text] for text in few],
        words,
        cuts=frozenset(specials.values()),
        texts=few,
        options=options,
    )


def _encoding(pattern: str, ranks: dict[bytes, int], specials: dict[str, int]) -> Any:
    tiktoken = pytest.importorskip("tiktoken")
    return tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials)


def _harmony(data: Path, _: Path) -> Live:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    ranks = ranks_in(data / "vocabs" / "o200k_base.tiktoken")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: ranks)
        return _by_tiktoken(_encoding(public.o200k_base()["pat_str"], ranks, public.o200k_harmony()["special_tokens"]))


def _kimi(data: Path, _: Path) -> Live:
    specials = {"[BOS]": 163584, "<|im_end|>": 163586}
    return _by_tiktoken(_encoding(KIMI, ranks_in(data / "vocabs" / "cl100k_base.tiktoken"), specials))


def _ranks_in_a_folder(folder: Path, ranks: dict[bytes, int], pattern: str) -> Live:
    write_tiktoken(ranks, folder / "tokenizer.model")
    specials = {"<|begin_of_text|>": len(ranks), "<|eot_id|>": len(ranks) + 9}
    (folder / "specials.json").write_text(json.dumps(specials))
    encoding = _encoding(pattern, ranks, specials)
    return _by_tiktoken(encoding, folder, pretokenizer=pattern, specials=folder / "specials.json")


def _llama3(_: Path, folder: Path) -> Live:
    model: Any = llama3_json()["model"]
    return _ranks_in_a_folder(folder, ranks_of(model["vocab"]), LLAMA3)


def _tekken(_: Path, __: Path) -> Live:
    mistral = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
    path = Path(mistral.__file__).parents[2] / "data" / "tekken_240911.json"
    tokenizer = mistral.MistralTokenizer.from_file(path)
    inner = tokenizer.instruct_tokenizer.tokenizer
    n, model = inner.num_special_tokens, inner._model
    words = {n + rank: model.decode_single_token_bytes(rank) for rank in model._mergeable_ranks.values()}
    return Live(
        tokenizer,
        lambda text: inner.encode(text, bos=False, eos=False),
        [*range(20), *words],
        words,
        cuts=frozenset(range(n)),
        texts=("<s>", "[INST]"),
    )


def _by_processor(processor: Any, source: Any = None) -> Live:
    ids = list(range(processor.get_piece_size()))
    control = frozenset(filter(processor.is_control, ids))
    few = tuple(processor.id_to_piece(id) for id in ids[:20])
    return Live(
        processor if source is None else source,
        processor.encode,
        ids,
        decode=processor.decode,
        cuts=control,
        texts=few,
    )


def _mistral_model(name: str) -> Path:
    mistral = pytest.importorskip("mistral_common")
    return Path(mistral.__file__).parent / "data" / name


def _mistral_sentencepiece(_: Path, __: Path) -> Live:
    mistral = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
    tokenizer = mistral.MistralTokenizer.from_file(_mistral_model("tokenizer.model.v1"))
    return _by_processor(tokenizer.instruct_tokenizer.tokenizer._model, tokenizer)


def _processor(data: Path, _: Path) -> Live:
    library = pytest.importorskip("sentencepiece")
    return _by_processor(library.SentencePieceProcessor(model_file=str(data / "vocabs" / "mistral_v3.model")))


def _small_processor(rule: str) -> Live:
    library = pytest.importorskip("sentencepiece")
    return _by_processor(library.SentencePieceProcessor(model_proto=sentencepieces.trained(rule, True)))


def _by_tokenizers(peer: Any, source: Any = None) -> Live:
    added = tuple(token.content for token in peer.get_added_tokens_decoder().values())
    # Padding and truncation are not applied here; the object that is loaded keeps them.
    bare = type(peer).from_str(peer.to_str())
    bare.no_padding()
    bare.no_truncation()
    return Live(
        peer if source is None else source,
        lambda text: bare.encode(text, add_special_tokens=False).ids,
        sorted(peer.get_vocab(with_added_tokens=True).values()),
        decode=lambda ids: peer.decode(ids, skip_special_tokens=False),
        texts=added,
    )


def _tokenizer(data: Path, name: str) -> Any:
    return pytest.importorskip("tokenizers").Tokenizer.from_file(str(data / "vocabs" / name))


def _small_tokenizer(_: Path, __: Path) -> Live:
    return _by_tokenizers(pytest.importorskip("tokenizers").Tokenizer.from_str(json.dumps(tokenizer_json())))


# transformers


def _fast(peer: Any) -> Live:
    transformers = pytest.importorskip("transformers")
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=peer, clean_up_tokenization_spaces=False)
    live = _by_tokenizers(wrapped.backend_tokenizer, wrapped)
    # By transformers' own functions.
    return Live(
        wrapped,
        lambda text: wrapped.encode(text, add_special_tokens=False),
        live.ids,
        decode=wrapped.decode,
        texts=live.texts,
    )


def _slow(name: str, path: Path, **options: Any) -> Live:
    transformers = pytest.importorskip("transformers")
    kind = getattr(transformers, name, None)
    if kind is None and name == "SentencePieceBackend":
        pytest.importorskip(
            "transformers.tokenization_utils_sentencepiece", reason="only transformers 5 has this class"
        )
        kind = transformers.tokenization_utils_sentencepiece.SentencePieceBackend
    peer = kind(vocab_file=str(path), **options)
    if not hasattr(peer, "sp_model"):
        pytest.skip(f"{name} of transformers {transformers.__version__} is not written in Python")
    model = peer.sp_model
    pieces = [model.id_to_piece(id) for id in range(model.get_piece_size())]
    ids = peer.convert_tokens_to_ids(pieces)
    back = {theirs: id for id, theirs in enumerate(ids)}
    # The model puts no space before texts then; the tokenizer does, and removes it.
    joins = options.get("legacy") is False
    control = {theirs for id, theirs in enumerate(ids) if model.is_control(id)}
    return Live(
        peer,
        lambda text: peer.encode(text, add_special_tokens=False, split_special_tokens=True),
        ids,
        decode=lambda ids: (
            peer.convert_tokens_to_string([pieces[back[id]] for id in ids])
            if joins and ids
            else model.decode([back[id] for id in ids])
        ),
        cuts=frozenset(control),
        texts=tuple(pieces[:20]),
    )


def _t5(folder: Path) -> Live:
    """A tokenizer in Python over a small Unigram model."""
    path = folder / "spiece.model"
    path.write_bytes(sentencepieces.trained("nmt_nfkc", False, "unigram", control=()))
    return _slow("T5Tokenizer", path, legacy=True)


def _merging(name: str, data: Path, **options: Any) -> Live:
    """A tokenizer in Python that merges byte pairs, with GPT-2's vocabulary."""
    transformers = pytest.importorskip("transformers")
    files = (data / "vocabs" / "gpt2" / name for name in ("vocab.json", "merges.txt"))
    peer = getattr(transformers, name)(*map(str, files), **options)
    if not hasattr(peer, "bpe_ranks"):
        pytest.skip(f"{name} of transformers {transformers.__version__} is not written in Python")
    added = peer.added_tokens_decoder
    tokens = {id: token for token, id in peer.encoder.items() if id not in added}
    words = {id: bytes(peer.byte_decoder[letter] for letter in token) for id, token in tokens.items()}
    return Live(
        peer,
        lambda text: peer.encode(text, add_special_tokens=False, split_special_tokens=True),
        [*words, *added],
        words,
        cuts=frozenset(added),
        texts=tuple(token.content for token in added.values()),
    )


# What BERT's words, CLIP's pieces and the cleaning of both treat in a special way.
ODD_WORDS = (
    *(
        "[MASK]",
        " [MASK] ",
        "[MA\0SK]",
        "[MAS\u212a]",
        "[sep]",
        "[UNK]",
        "[E1]",
        "hello",
        "Hello",
        "don't",
        "unaffable",
    ),
    *(
        "ΑΣ",
        "\u0301",
        "e\u0301",
        "\u1e9b\u0323",
        "\u0344",
        "\u0345",
        "\u0f71\u0f72",
        "か\u3099",
        "\u1100\u1161",
        "ﬁ",
        "İ",
    ),
    *("\u2028", "\x85", "\n", "\u00a0", "\u3000", "中", "##s", "s", " ", "a" * 101, "</w>", "'\u017f", "'LL", "ⅷ", "ẞ"),
    *("<|startoftext|>", "<|STARTOFTEXT|>", "!<|EndOfText|>", "<|endof\0text|>", "<|\u017ftartoftext|>"),
)


def _found_in_texts(peer: Any) -> Live:
    """A tokenizer in Python that finds its special tokens in texts."""
    return Live(
        peer,
        lambda text: peer.encode(text, add_special_tokens=False),
        [*range(len(peer))],
        decode=lambda ids: peer.decode(ids, clean_up_tokenization_spaces=False),
        texts=ODD_WORDS,
    )


def _bert(data: Path, *more: str, **options: Any) -> Live:
    """BERT's tokenizer in Python, with `more` special tokens."""
    kind = pytest.importorskip("transformers").BertTokenizer
    if not hasattr(kind, "_convert_token_to_id"):
        kind = pytest.importorskip("transformers.models.bert.tokenization_bert_legacy").BertTokenizerLegacy
    peer = kind(str(data / "vocabs" / "bert_uncased_vocab.txt"), **options)
    if more:
        peer.add_special_tokens({"additional_special_tokens": [*more]})
    return _found_in_texts(peer)


def _clip(data: Path, folder: Path) -> Live:
    """CLIP's tokenizer in Python, with the files that transformers has for it."""
    transformers = pytest.importorskip("transformers")
    packed = (data / "vocabs" / "clip_bpe_simple_vocab_16e6.txt.gz").read_bytes()
    rules = gzip.decompress(packed).decode().split("\n")[1 : 49152 - 256 - 2 + 1]
    letters = [CHARACTER_OF[byte] for byte in GPT2_ORDER]
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), *(rule.replace(" ", "") for rule in rules)]
    numbers = {token: id for id, token in enumerate([*tokens, "<|startoftext|>", "<|endoftext|>"])}
    (folder / "vocab.json").write_text(json.dumps(numbers))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *rules]), encoding="utf-8")
    peer = transformers.CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    if not hasattr(peer, "bpe_ranks"):
        pytest.skip(f"CLIPTokenizer of transformers {transformers.__version__} is not written in Python")
    return _found_in_texts(peer)


def _mistral_backend(_: Path, folder: Path) -> Live:
    transformers = pytest.importorskip("transformers")
    backend = getattr(transformers, "MistralCommonBackend", None)
    if backend is None:
        pytest.skip("only transformers 5 has MistralCommonBackend")
    live = _tekken(folder, folder)
    path = folder / "tekken.json"
    path.write_bytes(_mistral_model("tekken_240911.json").read_bytes())
    peer = backend(path)
    return Live(
        peer,
        lambda text: peer.encode(text, add_special_tokens=False),
        live.ids,
        live.words,
        cuts=live.cuts,
        texts=live.texts,
    )


# By name: tokenizers that need neither data nor transformers; those with data; those with transformers.
SMALL: dict[str, Callable[[Path, Path], Live]] = {
    "tokenizers.Tokenizer, small": _small_tokenizer,
    "tiktoken.Encoding, small": lambda *_: _by_tiktoken(_encoding(LLAMA3, dict(RANKS), {"<|end|>": 900})),
    "ranks in tokenizer.model, small": lambda _, folder: _ranks_in_a_folder(folder, dict(RANKS), KIMI),
    "SentencePieceProcessor, small": lambda *_: _small_processor("identity"),
    "SentencePieceProcessor with a table, small": lambda *_: _small_processor("nmt_nfkc"),
    "mistral-common, tekken": _tekken,
    "mistral-common, SentencePiece": _mistral_sentencepiece,
}
REAL: dict[str, Callable[[Path, Path], Live]] = {
    "tokenizers.Tokenizer, GPT-2": lambda data, _: _by_tokenizers(_tokenizer(data, "gpt2/tokenizer.json")),
    "tokenizers.Tokenizer, BERT": lambda data, _: _by_tokenizers(_tokenizer(data, "bert_uncased_tokenizer.json")),
    "tiktoken.Encoding, o200k_harmony": _harmony,
    "tiktoken.Encoding, Kimi's pattern": _kimi,
    "ranks in tokenizer.model, Llama-3": _llama3,
    "SentencePieceProcessor, Mistral": _processor,
}
OF_TRANSFORMERS: dict[str, Callable[[Path, Path], Live]] = {
    "transformers, fast, small": lambda data, folder: _fast(_small_tokenizer(data, folder).source),
    "transformers, fast, GPT-2": lambda data, _: _fast(_tokenizer(data, "gpt2/tokenizer.json")),
    "transformers, LlamaTokenizer": lambda *_: _slow(
        "LlamaTokenizer", _mistral_model("tokenizer.model.v1"), legacy=True
    ),
    "transformers, LlamaTokenizer, not legacy": lambda *_: _slow(
        "LlamaTokenizer", _mistral_model("tokenizer.model.v1"), legacy=False
    ),
    "transformers, LlamaTokenizer without a space": lambda *_: _slow(
        "LlamaTokenizer", _mistral_model("tokenizer.model.v1"), legacy=False, add_prefix_space=False
    ),
    "transformers, T5Tokenizer": lambda _, folder: _t5(folder),
    "transformers, RobertaTokenizer with a space": lambda data, _: _merging(
        "RobertaTokenizer", data, add_prefix_space=True
    ),
    "transformers, NllbTokenizer": lambda *_: _slow("NllbTokenizer", _mistral_model("tokenizer.model.v1")),
    "transformers, SentencePieceBackend": lambda *_: _slow(
        "SentencePieceBackend", _mistral_model("tokenizer.model.v1")
    ),
    **{
        f"transformers, {name}": lambda data, _, name=name: _merging(name, data)  # type: ignore[misc]
        for name in (
            *("BlenderbotTokenizer", "DebertaTokenizer", "GPT2Tokenizer", "Qwen2Tokenizer", "RobertaTokenizer"),
            "WhisperTokenizer",
        )
    },
    **{
        f"transformers, {name} with a space": lambda data, _, name=name: _merging(  # type: ignore[misc]
            name, data, add_prefix_space=True
        )
        for name in ("CodeGenTokenizer", "GPT2Tokenizer", "WhisperTokenizer")
    },
    **{
        f"transformers, BertTokenizer {options or ''}": lambda data, _, options=options: _bert(  # type: ignore[misc]
            data, **options
        )
        for options in (
            {},
            {"do_lower_case": False},
            {"strip_accents": False},
            {"do_lower_case": False, "strip_accents": True},
            {"tokenize_chinese_chars": False},
            {"do_basic_tokenize": False},
            {"do_lower_case": False, "never_split": ["hello", "and", "##s"]},
        )
    },
    "transformers, BertTokenizer with more special tokens": lambda data, _: _bert(data, "[E1]", "<E2>"),
    "transformers, CLIPTokenizer": _clip,
    "transformers, MistralCommonBackend": _mistral_backend,
}
