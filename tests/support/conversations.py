"""Random conversations in the chat formats of well-known models, with a sound mask and masks that are spoiled.

The masks are made from the texts of which a conversation is written, by the offsets of the library tokenizers, as
transformers makes them from the generation blocks of a template.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import tokenizers

from tests.support.tokenizer_files import added_token, tokenizer_json

RULES = [(b"h", b"e"), (b" ", b"t"), (b"a", b"n"), (b"\n", b"\n"), (b"u", b"s"), (b"us", b"e"), (b"b", b"c")]
WORDS = ["he", " the", "an", " 中", "é ", "\n", "😀", "bc", "x", "\n\n", " use"]
_LOOP = "{% for m in messages %}"


class Format(NamedTuple):
    """How a template writes turns: the texts around a user's content and around a reply."""

    begin: str
    user: str
    user_end: str
    reply: str
    stop: str
    after: str
    template: str

    @property
    def specials(self) -> list[str]:
        """The special tokens in these texts, and one for padding."""
        texts = "".join(self[:6]).replace(">", ">\0").replace("]", "]\0").replace("<", "\0<").replace("[", "\0[")
        found = [text for text in texts.split("\0") if text.startswith(("<", "[")) and text.endswith((">", "]"))]
        return [*dict.fromkeys(found), "<|pad|>"]


FORMATS = {
    "chatml": Format(
        "", "<|im_start|>user\n", "<|im_end|>\n", "<|im_start|>assistant\n", "<|im_end|>", "\n",
        _LOOP + "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    ),
    "llama": Format(
        "<|bot|>", "<|sh|>user<|eh|>\n\n", "<|eot|>", "<|sh|>assistant<|eh|>\n\n", "<|eot|>", "",
        "{{ bos_token }}" + _LOOP + "<|sh|>{{ m.role }}<|eh|>\n\n{{ m.content }}<|eot|>{% endfor %}"
        "{% if add_generation_prompt %}<|sh|>assistant<|eh|>\n\n{% endif %}",
    ),
    "gemma": Format(
        "<bos>", "<sot>user\n", "<eot>\n", "<sot>model\n", "<eot>", "\n",
        "{{ bos_token }}" + _LOOP + "<sot>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content }}<eot>\n"
        "{% endfor %}{% if add_generation_prompt %}<sot>model\n{% endif %}",
    ),
    "mistral": Format(
        "<s>", "[INST]", "", "[/INST]", "</s>", "",
        "{{ bos_token }}" + _LOOP + "{% if m.role == 'assistant' %}{{ m.content }}</s>{% else %}"
        "[INST]{{ m.content }}[/INST]{% endif %}{% endfor %}",
    ),
    "deepseek": Format(
        "<s>", "<|User|>", "", "<|Assistant|>", "</s>", "",
        "{{ bos_token }}" + _LOOP + "{% if m.role == 'assistant' %}<|Assistant|>{{ m.content }}</s>{% else %}"
        "<|User|>{{ m.content }}{% endif %}{% endfor %}{% if add_generation_prompt %}<|Assistant|>{% endif %}",
    ),
}  # fmt: skip


@dataclass
class Talk:
    """A conversation: its ids, the texts that it is written of with their kinds, and the kind of each id."""

    ids: list[int]
    kinds: list[str]  # begin, user, user text, user end, reply, reply text, stop, after
    mask: list[int]

    def of(self, *kinds: str) -> list[int]:
        """Return the indices of the ids of some kinds."""
        return [index for index, kind in enumerate(self.kinds) if kind in kinds]

    def with_mask(self, *, on: list[int] | None = None, off: list[int] | None = None) -> list[int]:
        """Return the mask with some ids trained, and others not."""
        mask = [*self.mask]
        for index in on or []:
            mask[index] = 1
        for index in off or []:
            mask[index] = 0
        return mask

    @property
    def firsts(self) -> list[int]:
        """The indices of the first ids of replies."""
        return [at for at in self.of("reply text") if self.kinds[at - 1] != "reply text"]


def small_tokenizer(form: Format) -> bytes:
    """Return a small tokenizer.json with the special tokens of a format."""
    specials = [added_token(300 + number, text) for number, text in enumerate(form.specials)]
    return json.dumps(tokenizer_json(RULES, added_tokens=specials)).encode()


def talk(library: tokenizers.Tokenizer, form: Format, drawn: random.Random, n_turns: int, *, plain: bool) -> Talk:
    """Return a random conversation; the contents of a plain one begin with a letter."""
    pieces = [("begin", form.begin)]
    for _ in range(n_turns):
        user, reply = ("".join(drawn.choices(WORDS, k=drawn.randint(2, 6))) for _ in range(2))
        start = "Ab" if plain else ""
        pieces += [("user", form.user), ("user text", start + user + "x"), ("user end", form.user_end)]
        pieces += [
            ("reply", form.reply),
            ("reply text", start + reply + "y"),
            ("stop", form.stop),
            ("after", form.after),
        ]
    text = "".join(piece for _, piece in pieces)
    encoded = library.encode(text, add_special_tokens=False)
    kind_at = [kind for kind, piece in pieces for _ in piece]
    kinds = [kind_at[begin] for begin, _ in encoded.offsets]
    # As by character-to-token: a token that is partly in a block is in it.
    own = [{*kind_at[begin:end]} & {"reply text", "stop"} for begin, end in encoded.offsets]
    return Talk(encoded.ids, kinds, [int(bool(each)) for each in own])


def _shifted(talk: Talk, by: int) -> list[int]:
    n = len(talk.mask)
    return [talk.mask[at - by] if 0 <= at - by < n else 0 for at in range(n)]


EVERY: list[tuple[str, Callable[[Talk], list[int]]]] = [
    ("stop-untrained", lambda talk: talk.with_mask(off=talk.of("stop"))),
    (
        "stop-of-others-trained",
        lambda talk: talk.with_mask(on=[at for at in talk.of("user end") if talk.kinds[at - 1] != "user end"]),
    ),
    ("header-trained", lambda talk: talk.with_mask(on=talk.of("reply"))),
    ("text-trained", lambda talk: [1] * len(talk.ids)),
    ("first-untrained", lambda talk: talk.with_mask(off=talk.firsts)),
    ("line-break-trained", lambda talk: talk.with_mask(on=talk.of("after"))),
    ("nothing-trained", lambda talk: [0] * len(talk.ids)),
    ("open-end", lambda talk: talk.with_mask(on=[*range(talk.firsts[0], len(talk.ids))])),
    ("shifted", lambda talk: _shifted(talk, -1)),
    ("header-trained", lambda talk: talk.with_mask(on=[first - 1 for first in talk.firsts])),
    ("header-trained", lambda talk: talk.with_mask(on=talk.of("user"))),
    ("text-trained", lambda talk: talk.with_mask(on=talk.of("user text"))),
    ("shifted", lambda talk: _shifted(talk, 1)),
]
"""Masks that are spoiled, each with its only fault."""
