"""doctor reads the same of a template as `tokdfa template` does of the same file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.gguf_files import Typed
from tests.support.model_folders import N, gguf_file
from tokdfa.jobs.examination.declared import Declared
from tokdfa.jobs.templates.reading import read_template

NAMED = [{"name": "rag", "template": "A"}, {"name": "default", "template": "B"}]
TOKENS = {"bos_token": {"content": "<s>"}, "eos_token": None, "pad_token": "<pad>"}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("chat_template.jinja", b"{{ bos_token }}"),
        *(
            ("tokenizer_config.json", json.dumps({"chat_template": template, **TOKENS}).encode())
            for template in ("A", NAMED, NAMED[:1], {"rag": "C"})
        ),
        ("a.gguf", gguf_file(**{"tokenizer.chat_template": Typed("string", "A"), "eos_token_id": Typed("u32", N + 2)})),
    ],
)
def test_a_template_and_its_variables_are_read_in_one_way(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    declared, source = Declared(), read_template(path)
    declared.read(name, path)
    assert declared.templates == {name: source.text}
    assert declared.variables == source.variables


@pytest.mark.parametrize(
    "fields", [{}, {"chat_template": None}, {"chat_template": [*NAMED[:1], {**NAMED[0], "name": "b"}]}]
)
def test_a_file_without_a_default_template_declares_none(fields: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(fields))
    declared = Declared()
    declared.read(path.name, path)
    assert not declared.templates
