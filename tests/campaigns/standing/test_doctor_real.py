"""doctor finds each fault that is planted in the folder of a real model, and none in the sound folder.

TOKDFA_DATA and TOKDFA_FAMILIES name the folders with the real tokenizers.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.model_folders import edited, safetensors, written
from tests.support.tokenizer_files import added_token, as_bytes

pytestmark = pytest.mark.slow

END = "<|endoftext|>"
GPT2_CONFIG = {
    **dict.fromkeys(("bos_token", "eos_token", "unk_token"), END),
    "tokenizer_class": "GPT2Tokenizer",
    "chat_template": "{% for m in messages %}{{ m.role + ': ' + m.content + eos_token }}{% endfor %}",
}
# The size, and the ids of bos and eos.
SIZES: dict[str, tuple[int, int, list[int]]] = {
    "gpt2": (50257, 50256, [50256]),
    "qwen2_5": (151936, 151643, [151645, 151643]),
    "qwen3": (151936, 151643, [151645, 151643]),
    "deepseek_v3": (129280, 0, [1]),
}
Edit = Callable[[Path], object]


def sound(name: str, folder: Path) -> Path:
    """Write the folder of a model, its tokenizer and what other files say about it."""
    variable = "TOKDFA_DATA" if name == "gpt2" else "TOKDFA_FAMILIES"
    if not os.environ.get(variable):
        pytest.skip(f"{variable} is unset: it names the folder with real tokenizers")
    root = Path(os.environ[variable])
    shutil.copytree(root / "vocabs/gpt2" if name == "gpt2" else root / name / "package/models", folder)
    size, bos, eos = SIZES[name]
    if name == "gpt2":
        folder.joinpath("tokenizer_config.json").write_bytes(as_bytes(GPT2_CONFIG))
    folder.joinpath("config.json").write_bytes(
        as_bytes({"vocab_size": size, "bos_token_id": bos, "eos_token_id": eos[0]})
    )
    folder.joinpath("generation_config.json").write_bytes(as_bytes({"bos_token_id": bos, "eos_token_id": eos}))
    return folder


def template(old: str, new: str, folder: Path) -> None:
    """Replace a text in the template of a configuration."""
    path = folder / "tokenizer_config.json"
    fields = json.loads(path.read_bytes())
    assert old in fields["chat_template"]
    edited(path.name, chat_template=fields["chat_template"].replace(old, new))(folder)


def added(change: Callable[[list[Any]], object], folder: Path) -> None:
    """Change the added tokens of a tokenizer.json."""
    tokens = json.loads((folder / "tokenizer.json").read_bytes())["added_tokens"]
    change(tokens)
    edited("tokenizer.json", added_tokens=tokens)(folder)


def within(tokens: list[Any]) -> None:
    tokens[0]["normalized"] = True
    tokens.append(added_token(50257, "oftext"))


def exchanged(tokens: list[Any]) -> None:
    one, other = (next(token for token in tokens if token["content"] == f"<|im_{end}|>") for end in ("start", "end"))
    one["content"], other["content"] = other["content"], one["content"]


def merges(change: Callable[[list[str]], list[str]], folder: Path) -> None:
    """Change the rules of a merges.txt, which come after a line with the version."""
    path = folder / "merges.txt"
    version, *rules = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(version + "".join(change(rules)), encoding="utf-8")


FAULTS: dict[str, tuple[str, Edit, str]] = {
    "another class": ("qwen2_5", edited("tokenizer_config.json", tokenizer_class="GPT2Tokenizer"), "other ids"),
    "pad is unk": ("gpt2", edited("tokenizer_config.json", pad_token=END), "pad is unk"),
    "vocab_size": ("gpt2", edited("config.json", vocab_size=50256), "size too small"),
    "eos": ("qwen2_5", edited("generation_config.json", eos_token_id=151643), "end is not an eos"),
    "a token that is split": ("gpt2", partial(added, within), "token is split"),
    "two versions": ("gpt2", partial(merges, lambda rules: [*rules[1:], rules[0]]), "other ids"),
    "merges truncated": ("gpt2", partial(merges, lambda rules: rules[:30_000]), "other ids"),
    "bos of generation": ("gpt2", edited("generation_config.json", bos_token_id=0), "ids of a role differ"),
    "added tokens exchanged": ("qwen2_5", partial(added, exchanged), "ids of a role differ"),
    "a missing token": ("qwen3", partial(template, "<|im_end|>", "<|im_end|><|im_sep|>"), "control string of no token"),
    "two templates": ("qwen3", written("chat_template.jinja", "{{ messages[0].content }}"), "templates differ"),
    "added_tokens.json": ("qwen3", written("added_tokens.json", b'{"<|im_end|>": 151644}'), "token with another id"),
    "too few rows": ("gpt2", written("model.safetensors", safetensors(50256)), "too few rows"),
    "clean-up": (
        "gpt2",
        edited(
            "tokenizer_config.json",
            clean_up_tokenization_spaces=True,
            clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output=True,
        ),
        "clean-up loses text",
    ),
    "a misspelled token": (
        "deepseek_v3",
        partial(template, "\uff5cUser\uff5c", "\uff5cUsers\uff5c"),
        "control string of no token",
    ),
}


def bad(folder: Path) -> set[str]:
    """Return the kinds of the faults in a folder, and of the warnings that two roles share a token."""
    found = tokdfa.doctor(folder).findings
    return {finding.kind for finding in found if finding.severity == "fault" or finding.kind == "pad is unk"}


@pytest.mark.parametrize("name", SIZES)
def test_the_folder_of_a_real_model_has_no_fault(name: str, tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    assert bad(sound(name, tmp_path / name)) == set()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_folder_of_a_real_model_is_found(fault: str, tmp_path: Path) -> None:
    for package in ("jinja2", "transformers"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    name, edit, kind = FAULTS[fault]
    folder = sound(name, tmp_path / name)
    edit(folder)
    assert kind in bad(folder)
