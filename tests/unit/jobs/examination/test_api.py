"""doctor finds each fault that is planted in a sound folder, by its kind, and none in the sound one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support import schemas
from tests.support.gguf_files import Typed
from tests.support.model_folders import (
    SIZE,
    TEMPLATE,
    N,
    edited,
    gguf_file,
    safetensors,
    tokenizer_file,
    write_sound,
    written,
)
from tests.support.tokenizer_files import RULES, added_token, merges_txt, tokenizer_json

Edit = Callable[[Path], object]


def _within() -> list[dict[str, Any]]:
    """Return added tokens; one is within another one and is found before it."""
    tokens = [added_token(N + index, each) for index, each in enumerate(("<s>", "<|end|>", "<pad>", "end"))]
    tokens[1]["normalized"] = True
    return tokens


def _swapped() -> list[dict[str, Any]]:
    """Return added tokens of which two have each other's ids."""
    return [added_token(N + index, each) for index, each in enumerate(("<|end|>", "<s>", "<pad>"))]


# Kind -> an edit that plants it, and the files that are named.
FAULTS: dict[str, tuple[str, Edit, tuple[str, ...]]] = {
    "vocab_size too small": (
        "size too small",
        edited("config.json", vocab_size=N),
        ("config.json", "tokenizer.json"),
    ),
    "two versions": (
        "other ids",
        written("merges.txt", merges_txt([*RULES[1:], RULES[0]])),
        ("tokenizer.json", "merges.txt"),
    ),
    "merges truncated": ("other ids", written("merges.txt", merges_txt(RULES[:3])), ("tokenizer.json", "merges.txt")),
    "GGUF of another version": (
        "other ids",
        written("model.gguf", gguf_file([*RULES[1:], RULES[0]])),
        ("tokenizer.json", "model.gguf"),
    ),
    "GGUF with another end": (
        "ids of a role differ",
        written("model.gguf", gguf_file(eos_token_id=Typed("u32", N + 2))),
        ("generation_config.json", "model.gguf"),
    ),
    "another bos in generation": (
        "ids of a role differ",
        edited("generation_config.json", bos_token_id=N + 1),
        ("generation_config.json", "tokenizer_config.json", "config.json", "model.gguf"),
    ),
    "an eos that is no token": (
        "id of no token",
        edited("generation_config.json", eos_token_id=[N + 1, N + 5]),
        ("generation_config.json", "tokenizer.json"),
    ),
    "a pad that is no token": (
        "id of no token",
        edited("config.json", pad_token_id=N + 5),
        ("config.json", "tokenizer.json"),
    ),
    "too few rows": (
        "too few rows",
        written("model.safetensors", safetensors(N)),
        ("model.safetensors", "tokenizer.json"),
    ),
    "rows of another size": (
        "rows are not the size",
        written("model.safetensors", safetensors(SIZE + 1)),
        ("model.safetensors", "config.json"),
    ),
    "a named token that does not exist": (
        "token does not exist",
        edited("tokenizer_config.json", unk_token="<unk>"),
        ("tokenizer_config.json", "tokenizer.json"),
    ),
    "added tokens with other ids": (
        "token with another id",
        edited("added_tokens.json", **{"<pad>": N + 1}),
        ("added_tokens.json", "tokenizer.json"),
    ),
    "a role with two tokens": (
        "tokens of a role differ",
        edited("special_tokens_map.json", pad_token="<s>"),
        ("special_tokens_map.json", "tokenizer_config.json"),
    ),
    "a token that is split": (
        "token is split",
        written("tokenizer.json", tokenizer_file(added_tokens=_within())),
        ("tokenizer.json",),
    ),
    "rules cut off within the tokenizer": (
        "rules are missing",
        written("tokenizer.json", tokenizer_file(model={**tokenizer_json()["model"], "merges": []})),
        ("tokenizer.json",),
    ),
    "added tokens in another order": (
        "special tokens with two ids",
        written("tokenizer.json", tokenizer_file(added_tokens=_swapped())),
        ("tokenizer.json", "model.gguf"),
    ),
    "a tokenizer cut off": (
        "tokenizer not read",
        written("tokenizer.json", tokenizer_file()[:-20]),
        ("tokenizer.json",),
    ),
    "a config cut off": ("file not read", written("config.json", b'{"vocab_size": 1'), ("config.json",)),
}


TEMPLATES: dict[str, tuple[str, Edit, tuple[str, ...]]] = {
    "a template without an end": (
        "turn without an end",
        written("chat_template.jinja", TEMPLATE.replace("<|end|>", "")),
        ("chat_template.jinja", "tokenizer.json"),
    ),
    "an end that is no eos": (
        "end is not an eos",
        edited("generation_config.json", eos_token_id=N),
        ("chat_template.jinja", "generation_config.json"),
    ),
    "a template of another model": (
        "control string of no token",
        written("chat_template.jinja", "<|im_start|>" + TEMPLATE),
        ("chat_template.jinja", "tokenizer.json"),
    ),
    "two templates": (
        "templates differ",
        edited("tokenizer_config.json", chat_template="{{ bos_token }}" + TEMPLATE),
        ("chat_template.jinja", "tokenizer_config.json"),
    ),
}


def test_a_sound_folder_has_no_fault_and_nothing_unknown(tmp_path: Path) -> None:
    found = tokdfa.doctor(write_sound(tmp_path, template=True))
    # Contents spell control tokens in every template.
    odd = {finding.kind for finding in found.findings if finding.severity != "ok" and not finding.is_optional}
    assert odd <= {"contents spell tokens", "seams split", "turns change", "versions differ"}
    assert found.status == 0
    assert found
    assert found.tokenizers == ("tokenizer.json", "merges.txt", "model.gguf")
    kinds = {finding.kind for finding in found.findings}
    assert {"same ids", "same rules", "size fits", "rows fit", "ids of a role agree", "no gaps"} <= kinds


@pytest.mark.parametrize("name", [*FAULTS, *TEMPLATES])
def test_a_planted_fault_is_found_in_its_files(name: str, tmp_path: Path) -> None:
    kind, edit, where = {**FAULTS, **TEMPLATES}[name]
    edit(write_sound(tmp_path, template=name in TEMPLATES))
    found = tokdfa.doctor(tmp_path)
    faults = [finding for finding in found.findings if finding.severity == "fault"]
    assert (kind, {*where}) in [(finding.kind, {*finding.where}) for finding in faults]
    assert found.status == 1
    assert all(finding.sentence and finding.remedy for finding in faults)
    answer = {"status": found.status, "paths": [], **found.to_dict()}
    answer["findings"] = [{**finding, "known": False} for finding in answer["findings"]]
    schemas.check("doctor", json.dumps(answer))
    assert answer["counts"]["fault"] == len(faults)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("{{ c.function.arguments | tojson }}", None),
        ("{{ c.function.arguments.word | upper }}", "template undecided"),
        ("{{ raise_exception('no tools') }}", "conversations refused"),
    ],
)
def test_the_seams_of_tool_calls_are_decided_or_it_is_said_why_not(call: str, kind: str | None, tmp_path: Path) -> None:
    write_sound(tmp_path)
    changed = TEMPLATE.replace("{{ m.content", f"{{% for c in m.tool_calls %}}{call}{{% endfor %}}{{{{ m.content")
    written("chat_template.jinja", changed)(tmp_path)
    found = tokdfa.doctor(tmp_path / "chat_template.jinja", tmp_path / "tokenizer.json").findings
    kinds = {finding.kind for finding in found if finding.kind in ("template undecided", "conversations refused")}
    assert kinds == ({kind} if kind else set())
    assert any(finding.kind in ("seams split", "seams are safe") for finding in found) or kind == "template undecided"


def test_a_witness_has_these_ids_in_both_files(tmp_path: Path) -> None:
    FAULTS["GGUF of another version"][1](write_sound(tmp_path))
    found = [finding for finding in tokdfa.doctor(tmp_path).findings if finding.kind == "other ids"]
    finding, other = found
    # It follows from this one, as the two have the same ids.
    assert (other.where, other.values["by"]) == (("merges.txt", "model.gguf"), "tokenizer.json")
    ids = [tokdfa.load(tmp_path / name).encode(finding.values["text"]).tolist() for name in finding.where]
    assert ids == [finding.values["ids_a"], finding.values["ids_b"]]
    assert ids[0] != ids[1]


def test_clean_up_is_a_fault_if_it_loses_a_text_and_otherwise_a_warning(tmp_path: Path) -> None:
    write_sound(tmp_path)
    edited("tokenizer_config.json", clean_up_tokenization_spaces=True)(tmp_path)
    config, file = tmp_path / "tokenizer_config.json", tmp_path / "tokenizer.json"
    (found,) = [finding for finding in tokdfa.doctor(config, file).findings if finding.kind.startswith("clean-up")]
    assert (found.kind, found.severity) == ("clean-up is set", "warning")
    pytest.importorskip("transformers", reason="transformers is not installed")
    # transformers 5 does it for byte pairs only if this is set, too.
    edited("tokenizer_config.json", clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output=True)(
        tmp_path
    )
    (found,) = [finding for finding in tokdfa.doctor(tmp_path).findings if finding.kind.startswith("clean-up")]
    assert (found.kind, found.severity) == ("clean-up loses text", "fault")
    assert (found.values["text"], found.values["decoded"]) == ("a .", "a.")


def test_files_are_examined_as_a_folder_is(tmp_path: Path) -> None:
    write_sound(tmp_path)
    edited("config.json", vocab_size=N)(tmp_path)
    found = tokdfa.doctor(tmp_path / "config.json", tmp_path / "tokenizer.json")
    assert [finding.kind for finding in found.findings if finding.severity == "fault"] == ["size too small"]
    assert tokdfa.doctor(tokdfa.load(tmp_path / "tokenizer.json")).status == 0


@pytest.mark.parametrize("names", [(), ("model.safetensors",), ("config.json", "vocab.json")])
def test_a_folder_without_a_tokenizer_is_no_sound_one(names: tuple[str, ...], tmp_path: Path) -> None:
    write_sound(tmp_path / "whole")
    half = tmp_path / "half"
    half.mkdir()
    for name in names:
        half.joinpath(name).write_bytes((tmp_path / "whole" / name).read_bytes())
    found = tokdfa.doctor(half)
    assert "no tokenizer" in [finding.kind for finding in found.findings]
    assert found.status == 2


def _link(target: str) -> Edit:
    return lambda path: os.symlink(path.parent / target, path)


@pytest.mark.parametrize("name", ["a.gguf", "tokenizer.model", "config.json"])
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.touch, "the file is empty"),
        (_link("nothing"), "the link leads to no file"),
        (lambda path: os.symlink(path, path), "the link leads to no file"),
    ],
)
def test_files_without_content_are_named_with_the_reason(name: str, make: Edit, reason: str, tmp_path: Path) -> None:
    write_sound(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    try:
        make(tmp_path / name)
        os.symlink(tmp_path, tmp_path / "again")
        os.symlink(tmp_path / "nothing", tmp_path / "notes.txt")
    except OSError:
        pytest.skip("no links on this system")
    found = tokdfa.doctor(tmp_path)
    named = {finding.values["reason"]: finding.where for finding in found.findings if finding.kind == "check not made"}
    # Where transformers is not installed, its class is one more check that is not made.
    named = {why: where for why, where in named.items() if not why.startswith("transformers is not installed")}
    if make is not Path.touch or name == "a.gguf":
        assert named == {reason: (name,)}
        assert found.status == 2
    else:
        # Other formats have an error for an empty file.
        assert reason not in named
        assert found.status == 1


@pytest.mark.parametrize("names", [("[UNUSED_1]", "<unk>", "</s>"), ("<a b>", "a>", "[a"), ("<|x|>", "ordinary")])
@pytest.mark.parametrize("is_named", [False, True])
def test_control_tokens_without_rules_are_told_from_missing_rules(
    names: tuple[str, ...], is_named: bool, tmp_path: Path
) -> None:
    model = tokenizer_json(added_tokens=[])["model"]
    vocab = {**model["vocab"], **{name.replace(" ", "\u0120"): N + index for index, name in enumerate(names)}}
    written("tokenizer.json", tokenizer_file(model={**model, "vocab": vocab}, added_tokens=[]))(tmp_path)
    declared = {"additional_special_tokens": [*names]} if is_named else {}
    written("special_tokens_map.json", json.dumps(declared))(tmp_path)
    counts = {
        finding.kind: (str(finding.severity), finding.values["count"])
        for finding in tokdfa.doctor(tmp_path).findings
        if finding.kind in ("control tokens are not added", "rules are missing", "dead tokens")
    }
    n_control = sum(is_named or (name[0] + name[-1] in ("<>", "[]") and " " not in name) for name in names)
    n_rules = len(names) - n_control
    assert counts.pop("control tokens are not added", ("warning", 0)) == ("warning", n_control)
    # A few dead tokens are more than 1 % here, or not.
    assert sum(count for _, count in counts.values()) == n_rules


@pytest.mark.parametrize("is_cut", [False, True])
def test_rules_are_missing_where_the_last_ordinary_tokens_are_dead(is_cut: bool, tmp_path: Path) -> None:
    rules = [(b"b" + b"a" * n, b"a") for n in range(1000)]
    file = tokenizer_json(rules, added_tokens=[])
    model = file["model"]
    n = len(model["vocab"])
    model["vocab"] |= {f"<unused{index}>": n + index for index in range(100)}
    if is_cut:
        model["merges"] = model["merges"][:-8]
    written("tokenizer.json", json.dumps(file))(tmp_path)
    found = {finding.kind: finding.severity for finding in tokdfa.doctor(tmp_path / "tokenizer.json").findings}
    assert found["control tokens are not added"] == "warning"
    assert ("rules are missing" in found) == is_cut


HOSTILE = {
    "deep nesting": ("config.json", b'{"a":' * 100_000),
    "half of a pair": ("added_tokens.json", b'{"\\ud800": 1}'),
    "an id of many digits": ("added_tokens.json", b'{"a": ' + b"9" * 5000 + b"}"),
    "ids of other types": ("generation_config.json", b'{"eos_token_id": ["</s>"]}'),
    "a long key as an id": ("tokenizer_config.json", b'{"added_tokens_decoder": {"' + b"9" * 5000 + b'": "a"}}'),
    "a list": ("config.json", b"[]"),
    "not UTF-8": ("chat_template.jinja", b"\xff"),
    "weights without a head": ("model.safetensors", b"1234"),
    "a head longer than the weights": ("model.safetensors", b"\xff" * 9),
    "a head that is no JSON": ("model.safetensors", b"\x02" + bytes(7) + b"ab"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_a_finding_and_no_crash(name: str, tmp_path: Path) -> None:
    file, data = HOSTILE[name]
    written(file, data)(write_sound(tmp_path))
    found = tokdfa.doctor(tmp_path)
    assert [finding.where for finding in found.findings if finding.kind == "file not read"] == [(file,)]
    assert found.status == 1


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        tokdfa.doctor(tmp_path / "nothing")
    with pytest.raises(tokdfa.TokdfaError):
        tokdfa.doctor(object())
