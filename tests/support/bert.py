"""The peer of the WordPiece tests: BERT's tokenizer of the tokenizers library, and texts to try it on."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary

# Blocks where much happens: Latin with accents, marks, Greek, Cyrillic, Hebrew, Arabic with its newer marks, Indic,
# Hangul, CJK with compatibility ideographs, presentation forms, musical symbols, emoji, controls, private use.
_BLOCKS = [
    *((0x20, 0x7F), (0x20, 0x7F), (0, 0x250), (0x2B0, 0x600), (0x590, 0x700), (0x8A0, 0x1000), (0x1100, 0x1200)),
    *((0x1AB0, 0x1B00), (0x1D00, 0x2070), (0x2000, 0x2100), (0x2190, 0x2300), (0x2DE0, 0x3100), (0x3130, 0x3300)),
    *((0x4E00, 0x4F00), (0xA640, 0xAC20), (0xABF0, 0xAC80), (0xD780, 0xD800), (0xE000, 0xE010), (0xF900, 0x10000)),
    *((0x10A00, 0x10A40), (0x10EF0, 0x11500), (0x16F40, 0x17000), (0x1D100, 0x1D250), (0x1E000, 0x1E960)),
    *((0x1F300, 0x1F700), (0x20000, 0x20020), (0x2F800, 0x2FA30), (0xE0000, 0xE0200), (0x10FFF0, 0x110000)),
]
# Marks that are put in order, removed ones and surviving ones of several classes, and fully removed characters.
_MARKS = "\u0301\u0316\u0345\u0334\u05b0\u0f71\u0f73\u0344\u200d\x00"
_MARKS += "\u302e\u302f\u08d4\u08e3\u1baa\U0001d165\U0001d16d\U0001d15e"


def random_text(dice: random.Random, added: Sequence[str] = ("[SEP]", "[MASK]")) -> str:
    """Return a random text of up to some twenty pieces."""
    pieces = []
    for _ in range(dice.randint(0, 20)):
        kind = dice.random()
        if kind < 0.4:
            pieces.append(chr(dice.randrange(*dice.choice(_BLOCKS))))
        elif kind < 0.6:
            pieces.append(dice.choice("abcdefgABCDEFG") * dice.randint(1, 3))
        elif kind < 0.75:
            pieces.append("".join(dice.choices(_MARKS, k=dice.randint(1, 4))))
        elif kind < 0.85:
            pieces.append(dice.choice(" \t\n\r\u00a0\u3000\u2028,.!-'#[]"))
        elif kind < 0.9:
            code = dice.randrange(0x110000 - 0x800)
            pieces.append(chr(code if code < 0xD800 else code + 0x800))
        elif kind < 0.95:
            pieces.append(dice.choice(["the", "ing", "Running", "é", "straße", "ÀÉÎ", "İ", "ΑΣ", "한국", "中文"]))
        else:
            pieces.append(dice.choice(added))
    return "".join(pieces)


def spelling_vocabulary(dice: random.Random) -> dict[str, int]:
    """Return a vocabulary in which most characters are entries of their own, so that ids show what they became."""
    entries = {"[UNK]": 0, "[SEP]": 1, "[MASK]": 2}
    for first, last in _BLOCKS:
        for code in range(first, last):
            if dice.random() < 0.97 and not 0xD800 <= code < 0xE000:
                for prefix in ("", "##"):
                    entries.setdefault(prefix + chr(code), len(entries))
    for _ in range(3000):
        word = "".join(dice.choices("abcdefg", k=dice.randint(2, 6)))
        entries.setdefault(dice.choice(["", "##"]) + word, len(entries))
    return entries


def peer(
    entries: Mapping[str, int], normalizer: BertNormalizer, added: Mapping[str, int], longest_word: int = 100
) -> Any:
    """Return the tokenizer of the tokenizers library with these settings."""
    from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

    model = models.WordPiece(dict(entries), unk_token="[UNK]", max_input_chars_per_word=longest_word)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=normalizer.clean_text,
        handle_chinese_chars=normalizer.chinese,
        strip_accents=normalizer.strip_accents,
        lowercase=normalizer.lowercase,
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in added])
    return tokenizer


def pair(entries: Mapping[str, int], normalizer: BertNormalizer, longest_word: int = 100) -> tuple[EndToEnd, Any]:
    """Return our tokenizer and the peer, alike in everything."""
    added = {token: entries[token] for token in ("[SEP]", "[MASK]")}
    vocabulary = WordPieceVocabulary(entries, longest_word=longest_word)
    return EndToEnd(vocabulary, normalizer, added), peer(entries, normalizer, added, longest_word)


def differences(ours: EndToEnd, theirs: Any, texts: Sequence[str]) -> list[str]:
    """Return the texts on which ids or offsets differ."""
    tokens, rows = ours.encode_batch(texts, "characters")
    ids, begins, ends, bounds = (array.tolist() for array in (*tokens, rows))
    found = []
    for index, (text, encoding) in enumerate(
        zip(texts, theirs.encode_batch(list(texts), add_special_tokens=False), strict=True)
    ):
        part = slice(bounds[index], bounds[index + 1])
        if encoding.ids != ids[part] or encoding.offsets != list(zip(begins[part], ends[part], strict=True)):
            found.append(text)
    return found
