"""What the files about a tokenizer declare: special tokens, ids, sizes, embedding rows and chat templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tokdfa.base.errors import FileFormatError
from tokdfa.jobs.examination.safetensors import id_rows
from tokdfa.jobs.templates.reading import (
    CONFIG,
    JINJA,
    config_templates,
    config_tokens,
    default_of,
    gguf_templates,
    gguf_tokens,
    read_template,
    text_of,
)
from tokdfa.tokenizers.formats.files import content
from tokdfa.tokenizers.formats.gguf_head import GGUFHead
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object

GENERATION: Final = "generation_config.json"
ADDED: Final = "added_tokens.json"
NAMES: Final = (CONFIG, "special_tokens_map.json", ADDED, "config.json", GENERATION, "params.json")
ROLES: Final = ("bos", "eos", "pad", "unk")

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
    variables: dict[str, str | None] = field(default_factory=dict)
    cleans_up: bool = False
    tokenizer_class: str | None = None

    @property
    def special(self) -> Iterator[str]:
        """The texts that some file says are special tokens."""
        for tokens in self.tokens.values():
            yield from tokens.values()
        for texts in (*self.extra_tokens.values(), *self.ids_of_tokens.values()):
            yield from texts

    def role(self, role: str) -> str | None:
        """Return the token of a role, such as "eos", by the first file that names it."""
        return next((tokens[f"{role}_token"] for tokens in self.tokens.values() if f"{role}_token" in tokens), None)

    def read(self, name: str, path: Path) -> None:
        """Add what a file declares; FileFormatError if it cannot be parsed, or a field is of another type."""
        if path.name == JINJA:
            self.templates[name] = read_template(path).text
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
        tokens = config_tokens(file)
        self._set(tokens)
        self.tokens[name] = {key: text for key, text in tokens.items() if text is not None}
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
        self._add_default(name, config_templates(file))

    def _read_gguf(self, name: str, path: Path) -> None:
        head = GGUFHead(content(path), path)
        numbers = {role: head.number(f"tokenizer.ggml.{key}_token_id") for role, key in _GGUF_ROLES.items()}
        self.ids[name] = {role: (id,) for role, id in numbers.items() if id is not None}
        self._set(gguf_tokens(head))
        self._add_default(name, gguf_templates(head))

    def _set(self, tokens: Mapping[str, str | None]) -> None:
        """Add the variables of templates that no earlier file sets."""
        self.variables |= {key: text for key, text in tokens.items() if self.variables.get(key) is None}

    def _add_default(self, name: str, templates: Mapping[str, str]) -> None:
        """Add the template of a file that is used if none is named."""
        default = default_of(templates)
        if default is not None:
            self.templates[name] = templates[default]


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
