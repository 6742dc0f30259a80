"""The page on which a token DFA grows: its JavaScript equals the package's Algorithm 2, and everyone can use it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.campaigns.evidence.tally import Tally
from tests.support.browser import Browser, browser, findings_of_axe
from tests.support.seeds import seeds
from tokdfa import Dictionary, iter_token_dfas, tokenize_single_pass

PAGE = Path(__file__).parents[3] / "notebooks" / "token_dfa.html"
BATCH = 250
# The page's answers to a list of questions.
ANSWERS = """%s.map(({symbols, rules, text}) => {
    const automata = grow(symbols, rules);
    return {
        automata: automata.map(dfa => dfa.flatMap((row, p) => [...row].map(([token, q]) => [p, token, q]))),
        states: automata.map(dfa => dfa.length),
        texts: automata.map(dfa => run(dfa, text).map(step => step[1])),
    };
})"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


def question(seed: int) -> dict[str, Any]:
    """A proper dictionary of up to eight rules, equal parts and dead rules included, and a text."""
    drawn = random.Random(seed)
    symbols = list("abé𝄞"[: drawn.randint(1, 4)])
    tokens, rules = list(symbols), list[tuple[str, str]]()
    for _ in range(drawn.randint(0, 8)):
        # The last tokens are the likelier parts, so that long chains come up.
        rule = drawn.choice([*tokens, *tokens[-2:]]), drawn.choice([*tokens, *tokens[-2:]])
        rules.append(rule)
        if "".join(rule) not in tokens:
            tokens.append("".join(rule))
    text = "".join(drawn.choices(tokens, k=drawn.randint(0, 6)))
    return {"symbols": symbols, "rules": rules, "text": text}


def assert_page_folds_alike(chromium: Browser, chosen: range) -> int:
    """Compare the automata after every rule, state by state, and the tokens of the text; return their number."""
    chromium.open(PAGE)
    n_automata = n_dead = 0
    for begin in range(0, len(chosen), BATCH):
        questions = [question(seed) for seed in chosen[begin : begin + BATCH]]
        for asked, found in zip(questions, chromium(ANSWERS % json.dumps(questions)), strict=True):
            dictionary = Dictionary.from_pairs(asked["rules"], asked["symbols"])
            n_dead += len(dictionary.dead_rules)
            for i, dfa in enumerate(iter_token_dfas(dictionary)):
                assert found["states"][i] == dfa.n_states, asked
                assert {tuple(edge) for edge in found["automata"][i]} == set(dfa.edges()), asked
                expected = tokenize_single_pass(dictionary.prefix(i), asked["text"])
                assert tuple(found["texts"][i]) == expected, asked
                n_automata += 1
    assert n_automata > 3 * len(chosen)
    assert n_dead > len(chosen)
    assert chromium.complaints == []
    return len(chosen)


def test_algorithm_2_is_that_of_the_package(chromium: Browser) -> None:
    assert_page_folds_alike(chromium, range(300))


@pytest.mark.slow
def test_algorithm_2_is_that_of_the_package_on_ten_thousand_dictionaries(chromium: Browser, tally: Tally) -> None:
    tally("construction", "random cases", assert_page_folds_alike(chromium, seeds(10_000)))


def typed(chromium: Browser, rules: str, text: str) -> None:
    """Type into both fields, as far as the page can tell."""
    for name, value in (("rules", rules), ("text", text)):
        chromium(f"$('{name}').value = {json.dumps(value)}; $('{name}').dispatchEvent(new Event('input'))")


def says(chromium: Browser) -> str:
    return str(chromium("$('says').textContent"))


def test_what_is_typed_is_folded_and_run(chromium: Browser) -> None:
    chromium.open(PAGE)
    typed(chromium, "a a\n\n b≀a \n", "baa")
    assert says(chromium) == "After rule 2, b≀a: 3 states, 1 new one. The text is cut into 2 tokens: b≀aa."
    assert chromium("$('states').innerText").split() == (
        "state a b aa ba q0 q1 q2 q0 q1 q1 · q2 · q1 q2 · q2 q0 q1".split()  # noqa: SIM905
    )
    assert chromium("[...$('states').querySelectorAll('.fresh th')].map(e => e.textContent).join()") == "q2"
    assert (
        chromium("[...$('growth').rows].map(row => row.cells[2].textContent).join(' ')") == "the text b≀a≀a b≀aa b≀aa"
    )
    assert chromium("$('drawing').querySelectorAll('circle').length") == 6
    typed(chromium, "t h\nth ␣", "th th")
    assert says(chromium).endswith("2 tokens: th␣≀th.")
    typed(chromium, "", "")
    assert says(chromium) == "After no rule: 1 state. The text is empty."


@pytest.mark.parametrize(
    ("rules", "trouble"),
    [
        ("a a\nb", "Line 2: a rule is two tokens, with a space between them."),
        ("a b c", "Line 1: a rule is two tokens, with a space between them."),
        ("ab a\na b", "Line 1, ab≀a: no earlier rule makes ab. Such a list is not proper."),
        ("\n".join(["a a"] * 41), "There are 41 rules, and room for 40."),
    ],
)
def test_what_is_no_rule_is_said(chromium: Browser, rules: str, trouble: str) -> None:
    chromium.open(PAGE)
    before = says(chromium)
    typed(chromium, rules, "aab")
    assert chromium("$('trouble').textContent") == trouble
    assert chromium("$('rules').getAttribute('aria-invalid')") == "true"
    assert says(chromium) == before
    typed(chromium, "a b", "aab")
    assert chromium("$('trouble').textContent") == ""
    assert chromium("$('rules').hasAttribute('aria-invalid')") is False


def test_many_states_are_in_the_table_only(chromium: Browser) -> None:
    chromium.open(PAGE)
    typed(chromium, "\n".join(f"{'a' * 2**i} {'a' * 2**i}" for i in range(7)), "a" * 127)
    assert chromium("getComputedStyle($('drawing')).display") != "none"
    typed(chromium, "\n".join(f"{a} {b}" for a in "abcd" for b in "abcd"), "abcd" * 50)
    assert chromium("$('states').rows.length") == 18
    assert chromium("getComputedStyle($('drawing')).display") == "none"
    assert "17 states" in chromium("$('drawing-note').textContent")
    typed(chromium, "a b", "a" * 201)
    assert chromium("$('trouble').textContent") == "The text is longer than 200 symbols."


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium: Browser, scheme: str) -> None:
    chromium.open(PAGE, scheme=scheme)
    assert findings_of_axe(chromium) == []


def test_it_is_used_with_the_keyboard(chromium: Browser) -> None:
    chromium.open(PAGE)
    reached = []
    for _ in range(8):
        chromium.press("Tab")
        reached.append(
            chromium("document.activeElement.id || document.activeElement.closest('section').querySelector('h2').id")
        )
        assert chromium("document.activeElement.matches(':focus-visible')")
        assert float(chromium("getComputedStyle(document.activeElement).outlineWidth").removesuffix("px")) >= 3
    # Controls that can do nothing now are left out.
    assert reached == ["rules", "text", "folded", "fewer", "read", "on", "states-head", "growth-head"]
    chromium("$('folded').focus()")
    chromium.press("Home")
    assert says(chromium).startswith("After no rule: 1 state.")
    assert chromium("$('folded').getAttribute('aria-valuetext')") == "0 of 2, the last one no rule"
    chromium.press("ArrowRight")
    assert says(chromium).startswith("After rule 1, a≀a: 2 states, 1 new one.")
    chromium("$('more').focus()")
    chromium.press("Enter")
    assert says(chromium).startswith("After rule 2, b≀a")
    # The button is disabled now; the focus is not lost.
    assert chromium("document.activeElement.id") == "folded"
    chromium("$('on').focus()")
    chromium.press(" ")
    assert says(chromium).endswith("Token 1, a, leads from q0 to q1.")
    assert chromium("document.querySelectorAll('#tokens [aria-current=step], #drawing .here').length") == 2


def test_a_screen_reader_has_names_for_everything(chromium: Browser) -> None:
    chromium.open(PAGE)
    nodes = chromium.call("Accessibility.getFullAXTree")["nodes"]
    found = [
        (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")
    ]
    for role in (
        "textbox",
        "slider",
        "button",
        "image",
        "table",
        "columnheader",
        "rowheader",
        "heading",
        "status",
        "list",
    ):
        named = [name for kind, name in found if kind == role]
        assert named, role
        assert role in ("status", "table") or all(named), role
    assert {name for role, name in found if role == "slider"} == {"Rules folded:", "Tokens read:"}
    assert chromium("$('says').getAttribute('aria-live') + document.documentElement.lang") == "politeen"
    levels = chromium("[...document.querySelectorAll('h1, h2, h3')].map(e => e.tagName).join()")
    assert re.fullmatch(r"H1(,H2)+", levels)


CONTRASTS = """(() => {
    const light = colour => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(x => x / 255)
            .map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const ground = e => {
        const colour = getComputedStyle(e).backgroundColor;
        return colour === "rgba(0, 0, 0, 0)" ? ground(e.parentElement) : colour;
    };
    return [...document.querySelectorAll("body *")]
        .filter(e => !e.disabled && e.getClientRects().length)
        .filter(e => [...e.childNodes].some(c => c.nodeType === 3 && c.data.trim()))
        .map(e => {
            const isFresh = e.closest("g.fresh");
            const under = isFresh ? getComputedStyle(isFresh.querySelector("circle")).fill : ground(e);
            const over = e.closest("svg") ? getComputedStyle(e).fill : getComputedStyle(e).color;
            const [one, other] = [light(over), light(under)].sort((x, y) => y - x);
            return [(one + .05) / (other + .05), e.tagName + " " + e.textContent.slice(0, 20)];
        });
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1200])
def test_it_fits_and_is_legible(chromium: Browser, width: int, scheme: str) -> None:
    chromium.open(PAGE, width=width, scheme=scheme)
    chromium("$('on').click()")
    assert chromium("document.documentElement.scrollWidth") <= width
    faint = [
        (ratio, what) for ratio, what in chromium(CONTRASTS) if ratio < 4.5 and not what.startswith(("SCRIPT", "TITLE"))
    ]
    assert not faint
    assert len(chromium(CONTRASTS)) > 40
    assert chromium.complaints == []
    assert [url for url in chromium.requests if url != "about:blank"] == [PAGE.as_uri()]


def test_nothing_moves_where_nothing_should(chromium: Browser) -> None:
    chromium.open(PAGE)
    names = {}
    for value in ("reduce", "no-preference"):
        chromium.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": value}])
        names[value] = chromium("getComputedStyle(document.querySelector('svg .fresh')).animationName")
    assert names == {"reduce": "none", "no-preference": "appear"}


def test_it_is_one_file_and_loads_nothing() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert not re.search(r"\b(?:src|href)=|@import|url\((?!#|`?#)|fetch\(|XMLHttpRequest|import ", text)
    assert len(text.splitlines()) <= 400
