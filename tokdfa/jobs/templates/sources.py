"""Reading a chat template: from a Jinja file, from the JSON file that holds it, or from a folder with one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.formats.files import content
from tokdfa.tokenizers.formats.json_text import JsonObject, decode_utf8, parse_object

_CONFIG: Final = "tokenizer_config.json"
_JINJA: Final = "chat_template.jinja"
_MORE: Final = "additional_chat_templates"
_DEFAULT: Final = "default"
# The variables that transformers gives to templates, if the tokenizer has them.
_TOKENS: Final = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class Source(NamedTuple):
    """A chat template and the other fields of its file."""

    text: str  # The template
    name: str | None  # Its name, where the file has several
    names: tuple[str, ...]  # The names of all of them
    # The special tokens of a ``tokenizer_config.json``, which a template is given; None for one that is not set.
    variables: dict[str, str | None]


def read_template(path: str | Path, name: str | None = None) -> Source:
    """Return the template in a file or a folder.

    Parameters
    ----------
    path : str or Path
        A Jinja file; a JSON file with ``chat_template``, such as ``tokenizer_config.json``; or a folder with
        ``chat_template.jinja``, which comes first as in transformers, or ``tokenizer_config.json``.
    name : str, optional
        The template, where there are several; by default the one called "default".
    """
    path = Path(path)
    if path.is_dir():
        return _in_folder(path, name)
    data = content(path)
    config = _config(data, path)
    if config is None:
        return _chosen({_DEFAULT: decode_utf8(data, path)}, name, path, {})
    return _chosen(_templates(config, path), name, path, _tokens(config))


def _config(data: bytes, path: Path) -> JsonObject | None:
    """Return a JSON object, or None for a Jinja template."""
    if path.suffix.lower() == ".json":
        return parse_object(data, path)
    try:
        return parse_object(data, path) if data.lstrip().startswith(b"{") else None
    except FileFormatError:
        return None


def _in_folder(folder: Path, name: str | None) -> Source:
    found: dict[str, str] = {}
    variables: dict[str, str | None] = {}
    config_path, jinja_path = folder / _CONFIG, folder / _JINJA
    if config_path.is_file():
        config = parse_object(content(config_path), config_path)
        variables = _tokens(config)
        if not jinja_path.is_file() and config.fields.get("chat_template") is not None:
            found = _templates(config, config_path)
    if jinja_path.is_file():
        paths = {_DEFAULT: jinja_path, **{file.stem: file for file in sorted((folder / _MORE).glob("*.jinja"))}}
        found = {key: decode_utf8(content(file), file) for key, file in paths.items()}
    if not found:
        raise FileFormatError(f"neither {_JINJA} nor {_CONFIG} with a chat template", where=str(folder))
    return _chosen(found, name, folder, variables)


def _templates(config: JsonObject, path: Path) -> dict[str, str]:
    """Return the templates of a JSON file by their names: one text, or a list of named ones."""
    given = config.fields.get("chat_template")
    if given is None:
        beside = path.with_name(_JINJA)
        hint = f"give {beside}" if beside.is_file() else f"newer tokenizers have it in a file {_JINJA}"
        raise FileFormatError("no chat_template in this file", where=str(path), hint=hint)
    if isinstance(given, str):
        return {_DEFAULT: given}
    rows: Any = given
    if isinstance(given, list) and all(isinstance(row, dict) for row in given):
        rows = {row.get("name"): row.get("template") for row in given}
    is_named = isinstance(rows, dict) and all(isinstance(part, str) for pair in rows.items() for part in pair)
    if not rows or not is_named:
        raise FileFormatError("a template, or a list of named ones, is expected", where=f"{path}, $.chat_template")
    return {str(name): str(text) for name, text in rows.items()}


def _tokens(config: JsonObject) -> dict[str, str | None]:
    """Return the special tokens of a ``tokenizer_config.json``, each a text or an object with its content."""
    found: dict[str, str | None] = {}
    for key in filter(config.fields.__contains__, _TOKENS):
        token = config.fields[key]
        token = token.get("content") if isinstance(token, dict) else token
        found[key] = token if isinstance(token, str) else None
    return found


def _chosen(templates: dict[str, str], name: str | None, path: Path, variables: dict[str, str | None]) -> Source:
    names = tuple(templates)
    wanted = name or (_DEFAULT if _DEFAULT in templates or len(templates) > 1 else names[0])
    if wanted not in templates:
        what = "no chat template of this name" if name else "several chat templates, and none of them is the default"
        raise FileFormatError(what, where=str(path), value=wanted, hint=f"the names are {', '.join(names)}")
    return Source(templates[wanted], wanted if len(names) > 1 else None, names, variables)
