"""Templates are read as transformers reads them: from a Jinja file, a configuration, a GGUF file, or a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support import commands, gguf_files
from tests.support.tokenizer_files import as_bytes, tokenizer_json
from tokdfa.base.errors import FileFormatError
from tokdfa.jobs.templates.reading import read_template

NAMED = [{"name": "default", "template": "A"}, {"name": "rag", "template": "B"}]


def config(folder: Path, template: Any = "A", name: str = "tokenizer_config.json", **more: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps({"chat_template": template, **more}))
    return path


def test_a_jinja_file_is_the_template(tmp_path: Path) -> None:
    path = tmp_path / "a.jinja"
    path.write_text("{{ 'é' }}\n", "utf-8")
    assert read_template(path) == ("{{ 'é' }}\n", None, ("default",), {})
    path.write_text('{"role": {{ x }}}')
    assert read_template(path).text == '{"role": {{ x }}}'


def test_a_configuration_has_the_template_and_the_special_tokens(tmp_path: Path) -> None:
    tokens = {"bos_token": "<s>", "eos_token": {"__type": "AddedToken", "content": "</s>"}, "pad_token": None}
    found = read_template(config(tmp_path, **tokens))
    assert found == ("A", None, ("default",), {"bos_token": "<s>", "eos_token": "</s>", "pad_token": None})
    assert read_template(config(tmp_path, name="copy.txt")).text == "A"


@pytest.mark.parametrize("given", [NAMED, {row["name"]: row["template"] for row in NAMED}])
def test_one_of_several_templates(tmp_path: Path, given: Any) -> None:
    path = config(tmp_path, given)
    assert read_template(path)[:3] == ("A", "default", ("default", "rag"))
    assert read_template(path, "rag")[:2] == ("B", "rag")
    assert read_template(config(tmp_path, NAMED[1:]))[:2] == ("B", None)


def test_a_folder_has_its_newer_file_first(tmp_path: Path) -> None:
    config(tmp_path, bos_token="<s>")
    assert read_template(tmp_path).text == "A"
    (tmp_path / "chat_template.jinja").write_text("J")
    assert read_template(tmp_path) == ("J", None, ("default",), {"bos_token": "<s>"})
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "rag.jinja").write_text("K")
    assert read_template(tmp_path, "rag")[:3] == ("K", "rag", ("default", "rag"))


def test_a_folder_of_a_processor_or_with_one_gguf_file(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(gguf_files.gguf(gguf_files.byte_level(**{"tokenizer.chat_template": string("G")})))
    assert read_template(tmp_path).text == "G"
    config(tmp_path, "P", "chat_template.json")
    assert read_template(tmp_path)[0::3] == ("P", {})
    # The file of the tokenizer comes before the one of the processor, and a Jinja file before both.
    config(tmp_path, None, bos_token="<s>")
    assert read_template(tmp_path)[0::3] == ("P", {"bos_token": "<s>"})
    config(tmp_path, "T")
    assert read_template(tmp_path).text == "T"
    (tmp_path / "chat_template.jinja").write_text("J")
    assert read_template(tmp_path).text == "J"


def test_a_gguf_file_has_named_templates_and_the_special_tokens(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    more = {"tokenizer.chat_template": string("A"), "tokenizer.chat_template.rag": string("B")}
    ids = {"padding_token_id": gguf_files.Typed("u32", 1), "sep_token_id": None}
    fields = gguf_files.byte_level(**more, **ids)
    path.write_bytes(gguf_files.gguf(fields))
    tokens = fields["tokenizer.ggml.tokens"].value
    found = read_template(path)
    assert found[:3] == ("A", "default", ("default", "rag"))
    assert found.variables == {"bos_token": tokens[0], "eos_token": tokens[0], "pad_token": tokens[1]}
    assert read_template(path, "rag").text == "B"
    path.write_bytes(gguf_files.gguf(gguf_files.byte_level()))
    with pytest.raises(FileFormatError, match=r"no tokenizer.chat_template in this file"):
        read_template(path)


def test_the_command_reads_a_gguf_file_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    template = "{% for m in messages %}<|end|>{{ m.content }}<|end|>{% endfor %}"
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_files.gguf(gguf_files.byte_level(**{"tokenizer.chat_template": string(template)})))
    assert commands.run("template", path, "--json") == 1
    assert {seam["answer"] for seam in json.loads(capsys.readouterr().out)["seams"]} == {"safe"}


def string(text: str) -> gguf_files.Typed:
    return gguf_files.Typed("string", text)


@pytest.mark.parametrize(
    ("template", "name", "message"),
    [
        (None, None, "no chat_template in this file"),
        (5, None, r"\$.chat_template: a template, or a list of named ones, is expected"),
        ([{"name": "a"}], None, "is expected"),
        ([], None, "is expected"),
        ([{"name": "a", "template": "A"}, {"name": "b", "template": "B"}], None, "none of them is the default"),
        (NAMED, "tool", "no chat template of this name: 'tool' .*default, rag"),
        ("A", "tool", "no chat template of this name: 'tool'"),
    ],
)
def test_a_configuration_without_the_template(tmp_path: Path, template: Any, name: str | None, message: str) -> None:
    with pytest.raises(tokdfa.TokdfaError, match=message):
        read_template(config(tmp_path, template), name)


def test_other_files(tmp_path: Path) -> None:
    (tmp_path / "a.jinja").write_bytes(b"a\xff")
    (tmp_path / "a.json").write_bytes(b"{")
    for path, message in (("a.jinja", "not UTF-8"), ("a.json", "not JSON"), (".", "neither chat_template.jinja nor")):
        with pytest.raises(FileFormatError, match=message):
            read_template(tmp_path / path)
    with pytest.raises(FileNotFoundError):
        read_template(tmp_path / "b")


def test_the_command_takes_the_tokens_of_the_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    tok = tmp_path / "tokenizer.json"
    tok.write_bytes(as_bytes(tokenizer_json([(b"a", b"b")])))
    # The end of a turn is a special token, or else a letter that joins what follows.
    turns = "{% for m in messages %}{{ eos_token }}{{ m.content }}{{ eos_token }}{% endfor %}"
    rag = turns.replace("m.content", "(m.content | upper)")
    named = [{"name": "default", "template": turns}, {"name": "rag", "template": rag}]

    def answers(*arguments: object) -> tuple[str | None, set[str]]:
        commands.run("template", *arguments, "--json")
        found = json.loads(capsys.readouterr().out)
        return found["name"], {seam["answer"] for seam in found["seams"]}

    path = config(tmp_path, named, eos_token="<|end|>")
    assert answers(tok, path) == ("default", {"safe"})
    assert answers(tmp_path) == ("default", {"safe"})
    assert answers(tok, path, "--name", "rag") == ("rag", {"undecided"})
    assert answers(tok, config(tmp_path, turns, eos_token="a")) == (None, {"safe", "splits"})
    assert answers(tok, path, "--set", "eos_token=<|end|>") == (None, {"safe"})
    assert commands.run("template", tok) == 2
    assert "give FILE" in capsys.readouterr().err


def test_json_that_is_given_as_a_template_is_recognised() -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    with pytest.raises(FileFormatError, match="looks like JSON: the template is the text in its chat_template"):
        tokdfa.check_template(tokdfa.default_tokenizer(), '{"chat_template": "{{ messages }} {{"}')


def test_a_token_that_is_not_set_is_undefined() -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    from tokdfa.jobs.templates.rendering import SHAPES

    template = "{{ 'yes ' if bos_token is defined else 'no' }}{{ messages[0].content }}"
    tokenizer = tokdfa.default_tokenizer()
    for value, before in ((None, "no"), ("", "yes ")):
        found = tokdfa.check_template(tokenizer, template, variables={"bos_token": value}, shapes=SHAPES[:1])
        assert [seam.witness.before for seam in found.seams if seam.witness is not None] == [before]
