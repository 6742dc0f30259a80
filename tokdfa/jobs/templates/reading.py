"""Reading a chat template from a Jinja file, a configuration, a GGUF file, or a folder with one of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from tokdfa.base.errors import FileFormatError
from tokdfa.base.files import open_named
from tokdfa.tokenizers.formats.files import content, decode_utf8
from tokdfa.tokenizers.formats.gguf_head import MAGIC, GGUFHead
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object

CONFIG: Final = "tokenizer_config.json"
JINJA: Final = "chat_template.jinja"
# Of processors, before they had a Jinja file.
_PROCESSOR: Final = "chat_template.json"
_MORE: Final = "additional_chat_templates"
_DEFAULT: Final = "default"
_GGUF_TEMPLATE: Final = "tokenizer.chat_template"
_GGUF_TOKENS: Final = "tokenizer.ggml.tokens"
# The variables that transformers gives to templates, if the tokenizer has them.
_TOKENS: Final = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class Source(NamedTuple):
    """A chat template and the other fields of its file."""

    text: str  # The template
    name: str | None  # Its name, where the file has several
    names: tuple[str, ...]  # The names of all of them
    # The special tokens of a ``tokenizer_config.json`` or a GGUF file, which a template is given; None for one that is
    # not set.
    variables: dict[str, str | None]


def read_template(path: str | Path, name: str | None = None) -> Source:
    """Return the template of a name in a file or a folder; by default the one called "default".

    The file is a Jinja file, a GGUF file, or a JSON file with ``chat_template``, such as ``tokenizer_config.json``.
    In a folder, ``chat_template.jinja`` comes first, as in transformers.
    """
    path = Path(path)
    if path.is_dir():
        return _in_folder(path, name)
    data = content(path)
    if data.startswith(MAGIC):
        head = GGUFHead(data, path)
        found = gguf_templates(head)
        if not found:
            raise FileFormatError(f"no {_GGUF_TEMPLATE} in this file", where=str(path))
        return _chosen(found, name, path, gguf_tokens(head))
    is_json = path.suffix.lower() == ".json"
    try:
        config = parse_object(data, path) if is_json or data.lstrip().startswith(b"{") else None
    except FileFormatError:
        # A Jinja template may begin with a brace, too.
        if is_json:
            raise
        config = None
    if config is None:
        return _chosen({_DEFAULT: decode_utf8(data, path)}, name, path, {})
    found = config_templates(config)
    if not found:
        beside = path.with_name(JINJA)
        hint = f"give {beside}" if beside.is_file() else f"newer tokenizers have it in a file {JINJA}"
        raise FileFormatError("no chat_template in this file", where=str(path), hint=hint)
    return _chosen(found, name, path, config_tokens(config))


def has_template(path: str | Path) -> bool:
    """Return whether a path may have a template by itself: a folder or a GGUF file."""
    path = Path(path)
    return is_gguf(path) if path.is_file() else path.is_dir()


def is_gguf(path: Path) -> bool:
    """Return whether a file begins as a GGUF file."""
    with open_named(path) as file:
        return file.read(len(MAGIC)) == MAGIC


def _in_folder(folder: Path, name: str | None) -> Source:
    found: dict[str, str] = {}
    variables: dict[str, str | None] = {}
    jinja_path = folder / JINJA
    for config_path in (folder / CONFIG, folder / _PROCESSOR):
        if not config_path.is_file():
            continue
        config = parse_object(content(config_path), config_path)
        variables = config_tokens(config) | variables
        if not (found or jinja_path.is_file()):
            found = config_templates(config)
    if jinja_path.is_file():
        paths = {_DEFAULT: jinja_path, **{file.stem: file for file in sorted((folder / _MORE).glob("*.jinja"))}}
        found = {key: decode_utf8(content(file), file) for key, file in paths.items()}
    models = sorted(folder.glob("*.gguf"))
    if not found and len(models) == 1:
        return read_template(models[0], name)
    if not found:
        what = f"neither {JINJA} nor {CONFIG}, {_PROCESSOR} or one GGUF file with a chat template"
        raise FileFormatError(what, where=str(folder))
    return _chosen(found, name, folder, variables)


def gguf_templates(head: GGUFHead) -> dict[str, str]:
    """Return the templates of a GGUF file by their names; none if it has none."""
    found = {_DEFAULT: head.string(_GGUF_TEMPLATE)} if _GGUF_TEMPLATE in head else {}
    dotted = f"{_GGUF_TEMPLATE}."
    return found | {key.removeprefix(dotted): head.string(key) for key in head.keys if key.startswith(dotted)}


def gguf_tokens(head: GGUFHead) -> dict[str, str | None]:
    """Return the special tokens that the ids of a GGUF file name."""
    keys = {name: f"tokenizer.ggml.{name}_id" for name in _TOKENS}
    # As llama.cpp spells them.
    keys |= {f"{name[:3]}_token": f"tokenizer.ggml.{name}_token_id" for name in ("unknown", "padding", "seperator")}
    named = {name: head.number(key) for name, key in keys.items() if key in head}
    texts = head.strings(_GGUF_TOKENS) if named and _GGUF_TOKENS in head else []
    return {name: texts[id] for name, id in named.items() if id is not None and id < len(texts)}


def config_templates(config: JsonObject) -> dict[str, str]:
    """Return the templates of a JSON file by their names: one text, or a list of named ones; none if it has none."""
    given = config.fields.get("chat_template")
    if given is None:
        return {}
    if isinstance(given, str):
        return {_DEFAULT: given}
    rows: Any = given
    if isinstance(given, list) and all(isinstance(row, dict) for row in given):
        rows = {row.get("name"): row.get("template") for row in given}
    is_named = isinstance(rows, dict) and all(isinstance(part, str) for pair in rows.items() for part in pair)
    if not rows or not is_named:
        raise FileFormatError("a template, or a list of named ones, is expected", where=config.at("chat_template"))
    return {str(name): str(text) for name, text in rows.items()}


def config_tokens(config: JsonObject) -> dict[str, str | None]:
    """Return the special tokens of a ``tokenizer_config.json``, each a text or an object with its content."""
    found: dict[str, str | None] = {}
    for key in filter(config.fields.__contains__, _TOKENS):
        found[key] = text_of(config.fields[key])
    return found


def text_of(token: object) -> str | None:
    """Return the text of a token, which is written as a string, or as an object with its content."""
    token = token.get("content") if isinstance(token, dict) else token
    return token if isinstance(token, str) else None


def default_of(templates: Mapping[str, str]) -> str | None:
    """Return the name of the template that is used if none is named; None if there is no such template."""
    if _DEFAULT in templates:
        return _DEFAULT
    return next(iter(templates)) if len(templates) == 1 else None


def _chosen(templates: dict[str, str], name: str | None, path: Path, variables: dict[str, str | None]) -> Source:
    names = tuple(templates)
    wanted = name or default_of(templates) or _DEFAULT
    if wanted not in templates:
        what = "no chat template of this name" if name else "several chat templates, and none of them is the default"
        raise FileFormatError(what, where=str(path), value=wanted, hint=f"the names are {', '.join(names)}")
    return Source(templates[wanted], wanted if len(names) > 1 else None, names, variables)
