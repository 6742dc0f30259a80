"""What the files about a tokenizer declare: special tokens, ids, sizes, embedding rows and chat templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tokdfa.base.errors import FileFormatError
from tokdfa.jobs.examination.safetensors import id_rows
from tokdfa.tokenizers.formats.files import content, decode_utf8
from tokdfa.tokenizers.formats.gguf_head import MAGIC, GGUFHead
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object

CONFIG: Final = "tokenizer_config.json"
GENERATION: Final = "generation_config.json"
ADDED: Final = "added_tokens.json"
JINJA: Final = "chat_template.jinja"
NAMES: Final = (CONFIG, "special_tokens_map.json", ADDED, "config.json", GENERATION, "params.json")
ROLES: Final = ("bos", "eos", "pad", "unk")

_TOKENS = (*(f"{role}_token" for role in (*ROLES, "sep", "cls", "mask")),)
_LISTS = ("additional_special_tokens", "extra_special_tokens")
_LONGEST_ID = 10
# Keys of GGUF that differ from the names elsewhere.
_GGUF_ROLES = {"bos": "bos", "eos": "eos", "pad": "padding", "unk": "unknown"}


@dataclass(slots=True)
class Declared:
    """What the files of a folder declare, each by the name of the file.

    With ``{"eos_token": "</s>"}`` in tokenizer_config.json, ``tokens["tokenizer_config.json"]`` is that. With
    ``{"eos_token_id": [1, 107]}`` in config.json, ``ids["config.json"]`` is ``{"eos": (1, 107)}``.
    """

    tokens: dict[str, dict[str, str]] = field(default_factory=dict)
    extra_tokens: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ids: dict[str, dict[str, tuple[int, ...]]] = field(default_factory=dict)
    ids_of_tokens: dict[str, dict[str, int]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    rows: dict[str, dict[str, int]] = field(default_factory=dict)
    templates: dict[str, str] = field(default_factory=dict)
    cleans_up: bool = False
    tokenizer_class: str | None = None

    def role(self, role: str) -> str | None:
        """Return the token of a role, such as "eos", by the first file that names it."""
        return next((tokens[f"{role}_token"] for tokens in self.tokens.values() if f"{role}_token" in tokens), None)

    def read(self, name: str, path: Path) -> None:
        """Add what a file declares; FileFormatError if it cannot be parsed, or a field is of another type."""
        if path.name == JINJA:
            self.templates[name] = decode_utf8(content(path), path)
        elif path.suffix == ".safetensors":
            self.rows[name] = id_rows(path)
        elif path.suffix == ".gguf":
            self._read_gguf(name, path)
        else:
            self._read_json(name, parse_object(content(path), path, last_key_counts=True))

    def _read_json(self, name: str, file: JsonObject) -> None:
        plain = file.path.name
        if plain == ADDED:
            self.ids_of_tokens[name] = {text: file.get(text, int) for text in file.fields}
            return
        self.tokens[name] = {key: text for key in _TOKENS if (text := text_of(file.fields.get(key))) is not None}
        self.extra_tokens[name] = tuple(_extra(file))
        self.ids[name] = {role: ids for role in ROLES if (ids := _ids(file, f"{role}_token_id"))}
        size = next((size for part in _with_text_config(file) if (size := part.get_or_none("vocab_size", int))), None)
        if size is not None and size >= 0:
            self.sizes[name] = size
        if plain != CONFIG:
            return
        self.ids_of_tokens[name] = _added_tokens(file)
        self.cleans_up = file.fields.get("clean_up_tokenization_spaces") is True
        self.tokenizer_class = file.get_or_none("tokenizer_class", str)
        template = file.fields.get("chat_template")
        if isinstance(template, list):
            named = {row.get("name"): row.get("template") for row in template if isinstance(row, dict)}
            template = named.get("default")
        if isinstance(template, str):
            self.templates[name] = template

    def _read_gguf(self, name: str, path: Path) -> None:
        head = GGUFHead(content(path), path)
        numbers = {role: head.number(f"tokenizer.ggml.{key}_token_id") for role, key in _GGUF_ROLES.items()}
        self.ids[name] = {role: (id,) for role, id in numbers.items() if id is not None}
        if "tokenizer.chat_template" in head:
            self.templates[name] = head.string("tokenizer.chat_template")


def is_gguf(path: Path) -> bool:
    """Return whether a file begins as a GGUF file."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def text_of(token: object) -> str | None:
    """Return the text of a token, which is written as a string, or as an object with its content."""
    token = token.get("content") if isinstance(token, Mapping) else token
    return token if isinstance(token, str) else None


def _with_text_config(file: JsonObject) -> Iterator[JsonObject]:
    """Yield a file and the part for text of a model that also sees or hears."""
    yield file
    part = file.object("text_config")
    if part is not None:
        yield part


def _extra(file: JsonObject) -> Iterator[str]:
    for key in _LISTS:
        given: Any = file.fields.get(key) or ()
        for token in given.values() if isinstance(given, dict) else given if isinstance(given, (list, tuple)) else ():
            if (text := text_of(token)) is not None:
                yield text


def _ids(file: JsonObject, key: str) -> tuple[int, ...]:
    """Return the ids of a key: one, or a list of them; none where it is absent, null or negative."""
    for part in _with_text_config(file):
        value = part.fields.get(key)
        if value is None:
            continue
        found: list[Any] = value if isinstance(value, list) else [value]
        if not all(type(id) is int for id in found):
            raise part.wrong(key, "an id, or a list of ids, is expected")
        # Files say -1 for none.
        if ids := tuple(id for id in found if id >= 0):
            return ids
    return ()


def _added_tokens(file: JsonObject) -> dict[str, int]:
    """Return the ids of the tokens of ``added_tokens_decoder``."""
    decoder = file.object("added_tokens_decoder")
    found: dict[str, int] = {}
    for id, token in ({} if decoder is None else decoder.fields).items():
        text = text_of(token)
        if text is None or len(id) > _LONGEST_ID or not (id.isascii() and id.isdecimal()):
            raise FileFormatError("an id and a token are expected", value=id, where=file.at("added_tokens_decoder"))
        found[text] = int(id)
    return found
