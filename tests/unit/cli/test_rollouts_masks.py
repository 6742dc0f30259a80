"""`tokdfa rollouts --masks`: faults, the spans as text, the table of edges, labels, and where the template is."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import tokenizers

from tests.support import commands
from tests.support.conversations import FORMATS, Talk, small_tokenizer, talk
from tests.support.pages import check
from tokdfa.draw.graph import word_label

FORM = FORMATS["chatml"]
TALKS = [
    talk(tokenizers.Tokenizer.from_buffer(small_tokenizer(FORM)), FORM, random.Random(seed), 2, plain=True)
    for seed in range(3)
]


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    path = tmp_path / "model" / "tokenizer.json"
    path.parent.mkdir()
    path.write_bytes(small_tokenizer(FORM))
    (path.parent / "chat_template.jinja").write_text(FORM.template)
    return path


def records(tmp_path: Path, *rows: dict[str, object]) -> Path:
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def labels(each: Talk) -> list[int]:
    return [id if mask else -100 for id, mask in zip(each.ids, each.mask, strict=True)]


def test_a_sound_mask_ends_with_zero_faults_and_status_0(
    tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = records(tmp_path, *({"input_ids": each.ids, "loss_mask": each.mask} for each in TALKS))
    assert commands.run("rollouts", tok, path, "--masks", "--examples", 1) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"span: {path}, line 1, tokens {TALKS[0].firsts[0]} to ")
    header = next(line for line in lines if line.startswith("id before"))
    assert header.split() == ["id", "before", "a", "span", "first", "id", "last", "id", "id", "after", "it"]
    assert "6 × " in lines[lines.index(header) + 1]
    assert "masks: 6 spans, 6 of 6 replies trained: 0 faults" in lines


def test_each_fault_has_a_line_with_its_place_and_status_1(
    tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"input_ids": each.ids, "loss_mask": each.with_mask(off=each.of("stop"))} for each in TALKS]
    path = records(tmp_path, *rows)
    assert commands.run("rollouts", tok, path, "--masks") == 1
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("mask: "))
    assert line.startswith(f"mask: the stop token is never trained, after 6 of 6 replies [{path}, line 1, token ")
    assert r" | '<|im_end|>\n<|im_start|>user\nAb" in line
    assert commands.run("rollouts", tok, path) == 0


def test_labels_of_transformers_are_masks_and_may_be_shifted_twice(
    tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    padding = {"attention_mask": [1] * len(TALKS[0].ids)}
    path = records(tmp_path, {"input_ids": TALKS[0].ids, "labels": labels(TALKS[0]), **padding})
    assert commands.run("rollouts", tok, path, "--masks") == 0
    capsys.readouterr()
    twice = records(tmp_path, *({"input_ids": each.ids, "labels": [*labels(each)[1:], -100]} for each in TALKS))
    assert commands.run("rollouts", tok, twice, "--masks", "--json") == 1
    (found,) = json.loads(capsys.readouterr().out)["masks"]["findings"]
    assert (found["kind"], found["shift"], found["count"]) == ("shifted", -1, 6)
    # Without --masks such labels are no mask.
    assert commands.run("rollouts", tok, twice) == 2
    assert "each label is the next id" in capsys.readouterr().err


def test_the_page_has_the_faults_edges_and_spans_of_the_answer(
    tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "masks.html"
    for kind in ("stop", "header", "break", "first"):
        rows = [{"input_ids": each.ids, "loss_mask": each.with_mask(on=each.of(kind))} for each in TALKS]
        rows += [{"input_ids": each.ids, "loss_mask": each.with_mask(off=each.of("stop"))} for each in TALKS]
        path = records(tmp_path, *rows)
        assert commands.run("rollouts", tok, path, "--masks", "--json", "--html", page, "--force") == 1
        told = json.loads(capsys.readouterr().out)["masks"]
        shown = check(page.read_text("utf-8")).texts
        assert f"{len(told['findings'])} fault" in shown["h1"]
        assert told["findings"]
        for fault in told["findings"]:
            assert fault["reason"] in shown["td"] + shown["th"]
            assert f"{fault['source']}, token {fault['token']}" in shown["td"]
        for edge in told["edges"].values():
            for each in edge:
                id = "none" if each["id"] is None else f"({each['id']})"
                assert f"{id}: {each['count']}" in shown["td"] + shown["th"]
        assert len(told["examples"]) == 3
        for span in told["examples"]:
            assert f"{span['source']}, tokens {span['start']} to {span['stop'] - 1}" in shown["th"]
            assert word_label(span["text"]) in shown["mark"]
    assert commands.run("rollouts", tok, path, "--html", page, "--force") == 0
    assert "Loss masks" not in check(page.read_text("utf-8")).texts["h2"]


def test_the_template_is_that_of_the_folder_or_a_file(
    tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = records(tmp_path, {"input_ids": TALKS[0].ids, "loss_mask": [1] * len(TALKS[0].ids)})
    template = (tok.parent / "chat_template.jinja").rename(tmp_path / "other.jinja")
    assert commands.run("rollouts", tok, path, "--masks") == 0
    printed = capsys.readouterr()
    assert "masks: no chat template, so replies are not known (--template FILE gives one)" in printed.out
    assert printed.err.startswith("tokdfa: no chat template: ")
    assert commands.run("rollouts", tok, path, "--masks", "--template", template) == 1
    assert "text that the model did not write is trained" in capsys.readouterr().out
    assert commands.run("rollouts", tok, path, "--template", template) == 2
    assert "--template is for --masks" in capsys.readouterr().err


def test_a_template_of_another_model_is_refused(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tok.parent / "chat_template.jinja").write_text(FORMATS["gemma"].template)
    path = records(tmp_path, {"input_ids": TALKS[0].ids, "loss_mask": TALKS[0].mask})
    assert commands.run("rollouts", tok, path, "--masks") == 2
    assert "no reply is found: the markers of the chat template are in no record" in capsys.readouterr().err


def test_bad_records_are_left_out_of_the_masks(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = [{"input_ids": each.ids, "loss_mask": each.mask} for each in TALKS]
    bad = {"input_ids": TALKS[0].ids, "loss_mask": [1, 0]}
    path = records(tmp_path, bad, good[0], {"loss_mask": [1]}, good[1], bad, good[2])
    fields = ("--ids", "input_ids", "--mask", "loss_mask")
    assert commands.run("rollouts", tok, path, "--masks", "--keep-going", *fields) == 2
    printed = capsys.readouterr()
    assert printed.err.count("bad record: ") == 3
    assert "masks: 6 spans, 6 of 6 replies trained: 0 faults" in printed.out
