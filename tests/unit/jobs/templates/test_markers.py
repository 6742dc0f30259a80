"""The markers of templates: openings, text that a template may write before a reply, headers, and stop tokens."""

from __future__ import annotations

import json

import pytest

import tokdfa
from tests.support.conversations import FORMATS, small_tokenizer
from tokdfa.base.errors import FileFormatError
from tokdfa.jobs.rollouts.turns import Markers
from tokdfa.jobs.templates.markers import markers_of

CHATML = FORMATS["chatml"]
USER, REPLY = CHATML.user, CHATML.reply
SYSTEM = "<|im_start|>system\n"
TOOL = "<|im_start|>tool\n"
DEFAULT = "{% if messages[0].role != 'system' %}<|im_start|>system\nBe kind.<|im_end|>\n{% endif %}"
THINK = CHATML.template.replace(
    "{{ m.content }}", "{% if m.role == 'assistant' and loop.last %}<think>\n</think>\n{% endif %}{{ m.content }}"
)


@pytest.mark.parametrize(
    ("name", "template", "markers"),
    [
        ("chatml", CHATML.template, Markers((REPLY,), (), (USER, SYSTEM, TOOL), ("<|im_end|>",))),
        ("chatml", DEFAULT + CHATML.template, Markers((REPLY,), (), (USER, SYSTEM, TOOL), ("<|im_end|>",))),
        ("chatml", THINK, Markers((REPLY,), ("<think>\n</think>\n",), (USER, SYSTEM, TOOL), ("<|im_end|>",))),
        ("mistral", FORMATS["mistral"].template, Markers(("[/INST]",), (), ("[INST]",), ("</s>",))),
        ("deepseek", FORMATS["deepseek"].template, Markers(("<|Assistant|>",), (), ("<|User|>",), ("</s>",))),
        (
            "chatml",
            "{% for m in messages %}{{ m.role }}:\n{{ m.content }}\n{% endfor %}",
            # A call of a tool is not written.
            Markers(("assistant:\n",), (), ("user:\n", "system:\n", "\ntool:\n"), ()),
        ),
    ],
)
def test_markers_are_what_a_template_writes(name: str, template: str, markers: Markers) -> None:
    tokenizer = tokdfa.load(json.loads(small_tokenizer(FORMATS[name])))
    assert markers_of(tokenizer, template, {"bos_token": FORMATS[name].begin}) == markers


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ raise_exception('no') }}", "refuses a conversation"),
        ("{% for m in messages %}{{ m.content }}{% endfor %}", "writes nothing before a reply"),
    ],
)
def test_templates_without_markers_are_refused(template: str, message: str) -> None:
    tokenizer = tokdfa.load(json.loads(small_tokenizer(CHATML)))
    with pytest.raises(FileFormatError, match=message):
        markers_of(tokenizer, template, {})
