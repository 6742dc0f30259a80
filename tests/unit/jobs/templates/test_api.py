"""Chat templates: their output is the rendering of jinja2, and their changes of contents are noticed."""

from __future__ import annotations

import pytest

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.jobs.splices.injection import Attack
from tokdfa.jobs.splices.parts import Slot
from tokdfa.jobs.templates.api import TemplateCheck, TemplateSeam, check_template
from tokdfa.jobs.templates.rendering import SHAPES, Shape, rendered

jinja2 = pytest.importorskip("jinja2", reason="jinja2 is not installed")

USER = (Shape(("user",)),)
TURNS = "{% for m in messages %}<|end|>{{ m.role }} {{ m['content'] CHANGE }}<|end|>{% endfor %}"


def tokenizer() -> tokdfa.Tokenizer:
    found = tokdfa.load(tokenizer_json([(b"t", b"h"), (b"e", b"r"), (b" ", b"th")]))
    assert isinstance(found, tokdfa.Tokenizer)
    return found


def checked(change: str, **options: object) -> TemplateCheck:
    return check_template(tokenizer(), TURNS.replace("CHANGE", change), shapes=USER, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", ["", "| trim", "+ '\\n'", "~ ''", "| string", ".strip()", ".rstrip()"])
def test_what_is_written_is_what_jinja2_renders(change: str) -> None:
    template = TURNS.replace("CHANGE", change)
    for (rendering,) in rendered(template, SHAPES[:5], {}):
        assert not rendering.notes
        contents = {name: f"\t{name} <{number}>\n " for number, name in enumerate(rendering.shape.slots)}
        messages = [{"role": name.split()[0], "content": text} for name, text in contents.items()]
        text = ""
        for part in rendering.parts:
            value = part if isinstance(part, str) else contents[part.name]
            if isinstance(part, Slot) and part.strips_left:
                value = value.lstrip()
            if isinstance(part, Slot) and part.strips_right:
                value = value.rstrip()
            text += value
        assert text == jinja2.Template(template).render(messages=messages)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("| upper", "the filter upper"),
        (".split('a')[1]", "split"),
        (".split('a') | reverse | join", "split"),
        ("if m.content.split('a') | length > 1 else ''", "split"),
        ("[1:]", "getitem"),
        ("| tojson(ensure_ascii=true)", "the filter tojson"),
        ("| length", "the filter length"),
        ("* 2", "the operator *"),
        ("if 'a' in m.content ~ m.role else 'b'", "contains"),
        ("if m.content ~ m.role == 'a' else 'b'", "eq"),
        ("| replace('a', 'b')", "the filter replace"),
    ],
)
def test_what_is_done_to_contents_leaves_their_seams_undecided(change: str, what: str) -> None:
    found = checked(change)
    assert {(seam.answer, seam.reason.strip("_"), seam.line) for seam in found.seams} >= {("undecided", what, 1)}
    assert found.attacks["spelling none"] == f"line 1 of the template: {what}"
    assert not found


def test_a_branch_on_a_content_is_followed_on_both_sides() -> None:
    found = checked("if 'x' in m['content'] else 'y'")
    assert [(seam.side, seam.answer, seam.conditions) for seam in found.seams] == [
        ("before", "splits", ("user 1 contains 'x'",)),
        ("after", "safe", ("user 1 contains 'x'",)),
    ]
    witness = found.seams[0].witness
    assert witness is not None
    assert "x" in witness.after
    assert found.attacks["spelling none"] is None


def test_what_is_excluded_by_a_branch_splits_nothing() -> None:
    # A space and "th" are one token; it is written only where it begins with another letter.
    free, bound = (checked(f"if m.content.startswith('{text}') else '-'") for text in ("", "x"))
    assert [seam.answer for seam in free.seams] == ["splits", "safe"]
    assert [seam.answer for seam in bound.seams] == ["safe", "safe"]


def test_an_undecided_seam_has_the_question_that_decides_it() -> None:
    found = checked("| upper")
    before, after = found.seams
    assert before.turns == ("user ", "{user_1}")
    assert after.turns == ("user {user_1}", "") or after.turns == ("{user_1}", "")
    assert not tokdfa.check_turns(tokenizer(), *before.turns)


def test_seams_and_attacks() -> None:
    found = checked("")
    assert [(seam.side, seam.answer) for seam in found.seams] == [("before", "splits"), ("after", "safe")]
    witness = found.seams[0].witness
    assert witness is not None
    assert witness.before == "<|end|>user "
    assert witness.after.startswith("t")
    attack = found.attacks["any text"]
    assert isinstance(attack, tokdfa.Attack)
    assert attack.values == ("<|end|>",)
    assert found.attacks["spelling none"] is None
    assert checked("", rule="mistral-common").attacks["any text"] is None
    assert isinstance(found.seams[0], TemplateSeam)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% for %}", "the template cannot be read"),
        ("a\n{{ b", "line 2: the template cannot be read"),
        ("{{ raise_exception('never') }}", "refuses every conversation.*never"),
        ("{% include '/etc/passwd' %}", "refuses every conversation"),
        ("{{ messages.__class__.__mro__ }}", "refuses every conversation.*unsafe"),
        ("{{ messages.append(1) }}", "refuses every conversation"),
        ("{{ 'a' * 10**10 }}", "the template"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nested too deeply"),
        ("\U000f0000", "private characters"),
        ("hello", "writes the contents of no conversation: 'hello'"),
    ],
)
def test_bad_templates(template: str, message: str) -> None:
    with pytest.raises(tokdfa.TokdfaError, match=message):
        check_template(tokenizer(), template, shapes=USER)


def test_a_template_that_runs_on_is_stopped() -> None:
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(tokdfa.TokdfaError, match="the template takes too"):
        check_template(tokenizer(), loop, shapes=USER, max_seconds=1)


def test_a_seam_without_time_left_is_undecided_until_there_is_time() -> None:
    given, template = tokenizer(), TURNS.replace("CHANGE", "")
    found = check_template(given, template, shapes=USER, max_seconds=1e-9)
    assert {(seam.answer, seam.reason) for seam in found.seams} == {("undecided", "time is up")}
    assert not found
    assert check_template(given, template, shapes=USER) == checked("")
    assert "undecided" not in {seam.answer for seam in checked("").seams}


@pytest.mark.parametrize("text", ["\n", "a", "<tool>", "[INST]"])
@pytest.mark.parametrize("is_special", [False, True])
@pytest.mark.parametrize("is_written", [False, True])
def test_an_added_token_is_a_control_token_if_special_or_written_as_one(
    text: str, is_special: bool, is_written: bool
) -> None:
    added = [added_token(300, text, special=is_special)]
    template = "{% for m in messages %}WRITTEN{{ m.content }}.{% endfor %}".replace(
        "WRITTEN", text if is_written else "-"
    )
    found = check_template(tokdfa.load(tokenizer_json(added_tokens=added)), template, shapes=USER)
    attack = found.attacks["any text"]
    assert (attack is not None) == (is_special or (is_written and text[0] in "<["))
    assert attack is None or (isinstance(attack, Attack) and attack.values == (text,) and attack.names == (text,))
