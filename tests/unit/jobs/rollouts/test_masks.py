"""Masks by the turns of a conversation: a sound one has no fault, and a spoiled one has exactly its fault."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import jinja2
import pytest
import tokenizers

import tokdfa
from tests.support.conversations import EVERY, FORMATS, Format, Talk, small_tokenizer, talk
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token
from tokdfa.jobs.rollouts.frameworks import Rollout
from tokdfa.jobs.rollouts.masks import MaskTally
from tokdfa.jobs.templates.markers import markers_of
from tokdfa.jobs.templates.reading import read_template


class Chat:
    """A small tokenizer with a format, the library's, and its markers."""

    def __init__(self, form: Format, data: bytes, variables: dict[str, str | None]) -> None:
        self.form = form
        self.library = tokenizers.Tokenizer.from_buffer(data)
        self.tokenizer = tokdfa.load(data)
        self.markers = markers_of(self.tokenizer, form.template, variables)

    def talks(self, drawn: random.Random, *, plain: bool, n: int = 6) -> list[Talk]:
        return [talk(self.library, self.form, drawn, drawn.randint(2, 3), plain=plain) for _ in range(n)]

    def tally(self, rollouts: Iterable[tuple[list[int], list[int]]]) -> MaskTally:
        tally = MaskTally(self.tokenizer, self.markers)
        for number, (ids, mask) in enumerate(rollouts):
            tally.add(Rollout(ids, mask), f"record {number}")
            tally.judge(tokdfa.check_rollout(self.tokenizer, ids, mask))
        return tally

    def faults(self, rollouts: Iterable[tuple[list[int], list[int]]]) -> list[str]:
        return [finding.kind.value for finding in self.tally(rollouts).findings]


@pytest.fixture(scope="module")
def chats() -> dict[str, Chat]:
    return {name: Chat(form, small_tokenizer(form), {"bos_token": form.begin}) for name, form in FORMATS.items()}


@pytest.mark.parametrize("name", FORMATS)
def test_the_template_writes_what_its_format_says(name: str) -> None:
    form = FORMATS[name]
    turns = [{"role": role, "content": content} for role, content in (("user", "A"), ("assistant", "B"))]
    written = jinja2.Template(form.template, keep_trailing_newline=True).render(messages=turns, bos_token=form.begin)
    assert written == f"{form.begin}{form.user}A{form.user_end}{form.reply}B{form.stop}{form.after}"


@pytest.mark.parametrize("name", FORMATS)
def test_a_sound_mask_has_no_fault(name: str, chats: dict[str, Chat]) -> None:
    chat, n_across = chats[name], 0
    for seed in seeds(8):
        talks = chat.talks(random.Random(seed), plain=False)
        assert chat.faults((each.ids, each.mask) for each in talks) == [], seed
        tally = chat.tally((each.ids, each.mask) for each in talks)
        assert tally.n_replies == tally.n_trained == sum(len(each.of("stop")) for each in talks)
        n_across += sum(sum(each.mask) != len(each.of("reply text", "stop")) for each in talks)
    # A header that ends with a line break and a reply that begins with one are one token.
    assert (n_across > 0) == (name in ("chatml", "gemma"))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("fault", "spoiled"), EVERY, ids=[f"{fault}-{at}" for at, (fault, _) in enumerate(EVERY)])
def test_a_spoiled_mask_has_exactly_its_fault(
    name: str, fault: str, spoiled: Callable[[Talk], list[int]], chats: dict[str, Chat]
) -> None:
    chat = chats[name]
    for seed in seeds(4):
        talks = chat.talks(random.Random(f"{fault}-{seed}"), plain=True)
        masks = [spoiled(each) for each in talks]
        if all(mask == each.mask for mask, each in zip(masks, talks, strict=True)):
            assert (name, fault) in NOT_POSSIBLE
            continue
        assert chat.faults((each.ids, mask) for each, mask in zip(talks, masks, strict=True)) == [fault], seed


NOT_POSSIBLE = {
    *((name, "line-break-trained") for name in ("llama", "mistral", "deepseek")),
    *((name, "stop-of-others-trained") for name in ("mistral", "deepseek")),
}


def test_replies_may_be_left_out_cut_short_or_padded(chats: dict[str, Chat]) -> None:
    for name, chat in chats.items():
        for each in chat.talks(random.Random(name), plain=True):
            last = each.firsts[-1]
            only_last = each.with_mask(off=[*range(last)])
            assert chat.faults([(each.ids, only_last)]) == []
            short = each.of("reply text")[-2] + 1
            assert chat.faults([(each.ids[:short], each.mask[:short])]) == []
            padded = [*each.ids, *chat.library.encode("<|pad|><|pad|>").ids]
            assert chat.faults([(padded, [*each.mask, 0, 0])]) == []
            # A rollout whose prompt was not kept.
            assert chat.faults([(each.ids[last:], each.mask[last:])]) == []
            assert chat.faults([(padded, [*only_last[:last], *[1] * (len(padded) - last)])]) == ["open-end"]


def test_a_token_across_the_boundary_does_not_hide_a_shift(chats: dict[str, Chat]) -> None:
    for name in ("chatml", "gemma"):
        talks, n_across = chats[name].talks(random.Random(name), plain=False, n=12), 0
        for each in talks:
            n_across += sum(each.mask) != len(each.of("reply text", "stop"))
        assert n_across > 0
        assert chats[name].faults((each.ids, [*each.mask[1:], 0]) for each in talks) == ["shifted"]


def test_a_special_token_at_the_beginning_of_a_reply_may_be_left_out(chats: dict[str, Chat]) -> None:
    chat = chats["chatml"]
    head, reply = (chat.library.encode(text).ids for text in (chat.form.reply, "<|pad|>hex<|im_end|>"))
    assert chat.faults([(head + reply, [0] * (len(head) + 1) + [1] * (len(reply) - 1))]) == []


def test_line_breaks_that_are_added_tokens_do_not_hide_an_opening() -> None:
    form = FORMATS["gemma"]
    file = json.loads(small_tokenizer(form))
    file["added_tokens"].append(added_token(400, "\n\n", special=False, normalized=False))
    chat = Chat(form, json.dumps(file).encode(), {"bos_token": form.begin})
    ids = chat.library.encode(f"<bos>{form.reply}\nhex{form.stop}").ids
    n = chat.library.token_to_id("\n\n")
    assert n in ids
    mask = [int(at > ids.index(n)) for at in range(len(ids))]
    tally = chat.tally([(ids, mask)])
    assert (tally.n_replies, tally.n_trained, tally.findings) == (1, 1, [])


def test_a_span_within_a_character_is_found(chats: dict[str, Chat]) -> None:
    chat = chats["chatml"]
    pieces = ["<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", "he x😀y<|im_end|>"]
    head, reply = (chat.library.encode(piece).ids for piece in pieces)
    found = []
    for begin in range(len(reply)):
        mask = [0] * (len(head) + begin) + [1] * (len(reply) - begin)
        found.append(chat.faults([(head + reply, mask)]))
    # The ids of he, space, x, the four bytes of a character, y, and the stop token.
    plain, late, inside = list[str](), ["first-untrained"], ["within-character"]
    assert found == [plain, late, plain, plain, inside, inside, inside, plain, plain]


def test_a_span_between_ids_that_are_joined_is_found(chats: dict[str, Chat]) -> None:
    chat = chats["chatml"]
    head, first, rest = (
        chat.library.encode(piece).ids
        for piece in ("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", "xxxh", "ey<|im_end|>")
    )
    ids, n = head + first + rest, len(head) + len(first)
    (finding,) = chat.tally([(ids, [0] * n + [1] * len(rest))]).findings
    assert (finding.kind, finding.place.token) == ("within-token", n)
    assert (finding.place.before[-4:], finding.place.after) == ("xxxh", "ey<|im_end|>")
    # At the boundary of the template this is a junction, and not the fault of the mask.
    head = chat.library.encode("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n").ids
    ids = head + chat.library.encode("\n<|im_end|>").ids
    assert tokdfa.check_rollout(chat.tokenizer, ids, prompt=len(head)).counts.junctions == 1
    assert chat.faults([(ids, [0] * len(head) + [1] * (len(ids) - len(head)))]) == []


def test_without_a_stop_token_the_next_header_may_be_trained() -> None:
    form = FORMATS["deepseek"]._replace(
        stop="", template=FORMATS["deepseek"].template.replace("{{ m.content }}</s>", "{{ m.content }}")
    )
    chat = Chat(form, small_tokenizer(FORMATS["deepseek"]), {"bos_token": "<s>"})
    assert chat.markers.stops == ()
    for each in chat.talks(random.Random(3), plain=True):
        assert chat.faults([(each.ids, each.mask)]) == []
        stopped = each.with_mask(on=[at for at in each.of("user") if at > 2])
        assert chat.faults([(each.ids, stopped)]) == []
        assert chat.faults([(each.ids, each.with_mask(on=each.of("user text")))]) == ["text-trained"]


def test_edges_and_spans_are_counted_as_they_are(chats: dict[str, Chat]) -> None:
    chat = chats["llama"]
    talks = chat.talks(random.Random(4), plain=False)
    tally = chat.tally((each.ids, each.mask) for each in talks)
    n = sum(len(each.of("stop")) for each in talks)
    stop = chat.library.token_to_id("<|eot|>")
    assert tally.n_spans == n
    assert tally.edges["last"] == {stop: n}
    assert tally.edges["after"][None] == len(talks)
    assert sum(tally.edges["before"].values()) == sum(tally.edges["first"].values()) == n
    span, each = tally.spans[0], talks[0]
    assert each.ids[span.start : span.stop] == chat.library.encode(span.text).ids
    assert span.before.endswith("<|eh|>\n\n")


# The masks of public reports on a conversation of two turns, each with its faults.
REPORTS: list[tuple[str, Callable[[Talk], list[int]], list[str]]] = [
    # With add_eos_token, the first token of the response was labelled -100.
    (
        "https://github.com/tloen/alpaca-lora/pull/306",
        lambda talk: talk.with_mask(off=talk.firsts),
        ["first-untrained"],
    ),
    # All of a message of the assistant was trained: its header, and the line break after the stop token.
    (
        "https://github.com/NovaSky-AI/SkyRL/pull/710",
        lambda talk: talk.with_mask(on=talk.of("reply", "after")),
        ["header-trained", "line-break-trained"],
    ),
    # The padding token is the stop token, and all padding is labelled -100.
    (
        "https://github.com/deepseek-ai/DeepSeek-Coder/issues/163",
        lambda talk: talk.with_mask(off=talk.of("stop")),
        ["stop-untrained"],
    ),
    # The prompt of the user was in the loss.
    ("https://github.com/nvidia-cosmos/cosmos-rl/pull/132", lambda talk: [1] * len(talk.ids), ["text-trained"]),
    # Only the tokens before the first marker of the assistant were left out, and later turns of the user were trained.
    (
        "https://github.com/Blaizzy/mlx-vlm/pull/970",
        lambda talk: talk.with_mask(on=[*range(talk.firsts[0], len(talk.ids))]),
        ["open-end"],
    ),
    # Labels were shifted in the data, and once more in the model.
    (
        "https://github.com/InternLM/InternLM/issues/318",
        lambda talk: [*talk.mask[1:], 0],
        ["shifted"],
    ),
    # Replies and stop tokens are trained, headers and line breaks are not: as it should be.
    ("https://github.com/NVIDIA-NeMo/Speech/pull/16284", lambda talk: talk.mask, []),
]


def _without_breaks(faults: list[str], form: Format) -> list[str]:
    return [fault for fault in faults if fault != "line-break-trained" or form.after]


@pytest.mark.parametrize(("source", "mask", "faults"), REPORTS, ids=[source for source, _, _ in REPORTS])
def test_masks_of_public_reports_are_told_apart(
    source: str, mask: Callable[[Talk], list[int]], faults: list[str], chats: dict[str, Chat]
) -> None:
    for chat in chats.values():
        talks = [talk(chat.library, chat.form, random.Random(source), 2, plain=True)]
        found = chat.faults((each.ids, mask(each)) for each in talks)
        assert sorted(found) == sorted(_without_breaks(faults, chat.form))


_QWEN = "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n"
_HEADERS = ("<|start_header_id|>user<|end_header_id|>\n\n", "<|start_header_id|>assistant<|end_header_id|>\n\n")
REAL = {
    "qwen2_5": FORMATS["chatml"]._replace(begin=_QWEN),
    "qwen3": FORMATS["chatml"],
    "llama3_1": Format("<|begin_of_text|>", _HEADERS[0], "<|eot_id|>", _HEADERS[1], "<|eot_id|>", "", ""),
    "gemma3": Format(
        "<bos>", "<start_of_turn>user\n", "<end_of_turn>\n", "<start_of_turn>model\n", "<end_of_turn>", "\n", ""
    ),
    "mistral_nemo": FORMATS["mistral"],
}


@pytest.mark.slow
@pytest.mark.skipif("TOKDFA_FAMILIES" not in os.environ, reason="TOKDFA_FAMILIES names no folder of real tokenizers")
@pytest.mark.parametrize("name", REAL)
def test_real_templates_and_tokenizers_obey_the_same_laws(name: str) -> None:
    folder = Path(os.environ["TOKDFA_FAMILIES"]) / name / "package" / "models"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    source = read_template(folder)
    data = (folder / "tokenizer.json").read_bytes()
    chat = Chat(REAL[name]._replace(template=source.text), data, source.variables)
    talks = chat.talks(random.Random(name), plain=False)
    assert chat.faults((each.ids, each.mask) for each in talks) == []
    talks = chat.talks(random.Random(name), plain=True)
    for fault, spoiled in EVERY:
        masks = [spoiled(each) for each in talks]
        if any(mask != each.mask for mask, each in zip(masks, talks, strict=True)):
            assert chat.faults((each.ids, mask) for each, mask in zip(talks, masks, strict=True)) == [fault]
    for report, mask, faults in REPORTS:
        found = chat.faults((each.ids, mask(each)) for each in talks)
        assert sorted(found) == sorted(_without_breaks(faults, chat.form)), report


def test_the_masks_of_transformers_by_generation_blocks_are_sound(chats: dict[str, Chat]) -> None:
    transformers = pytest.importorskip("transformers")
    chat, n_trained = chats["chatml"], 0
    block = "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}{% else %}"
    template = FORMATS["chatml"].template.replace(
        "{{ m.content }}<|im_end|>", f"{block}{{{{ m.content }}}}<|im_end|>{{% endif %}}{{{{ '' }}}}"
    )
    assert markers_of(chat.tokenizer, template, {}) == chat.markers
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=chat.library, chat_template=template)
    drawn = random.Random(5)
    for _ in range(20):
        turns = [
            {"role": role, "content": "".join(drawn.choices(["he", "\n", " 中", "😀", "x"], k=4)) + "y"}
            for _ in range(drawn.randint(1, 3))
            for role in ("user", "assistant")
        ]
        made = wrapped.apply_chat_template(turns, return_dict=True, return_assistant_tokens_mask=True)
        assert chat.faults([(made["input_ids"], made["assistant_masks"])]) == [], turns
        n_trained += sum(made["assistant_masks"])
    assert n_trained > 20


@pytest.mark.parametrize("name", FORMATS)
def test_masks_are_checked_by_one_function(name: str, chats: dict[str, Chat]) -> None:
    chat = chats[name]
    talks = chat.talks(random.Random(5), plain=True)
    late = [tokdfa.Rollout(each.ids, [0, *each.mask[:-1]]) for each in talks]
    sound = [tokdfa.Rollout(each.ids, each.mask) for each in talks]
    variables = {"bos_token": chat.form.begin}
    found = [
        tokdfa.check_masks(chat.tokenizer, some, chat.form.template, variables=variables) for some in (sound, late)
    ]
    assert [[finding.kind.value for finding in each] for each in found] == [[], ["shifted"]]
