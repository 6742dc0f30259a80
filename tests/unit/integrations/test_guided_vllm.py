"""A logits processor of vLLM by its two interfaces, on arrays; `test_guided_in_vllm` has vLLM's own classes."""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tokdfa
from tokdfa.base.errors import PatternError, WrongTypeError
from tokdfa.integrations.guided_vllm import GuidedRequests

TOKENIZER = tokdfa.default_tokenizer()


def test_requests_of_vllm() -> None:
    with pytest.raises(WrongTypeError, match=r"^extra_args\['tokdfa'\]: a pattern, a mapping or true is expected: 3$"):
        GuidedRequests.validate_params(SimpleNamespace(extra_args={"tokdfa": 3}))
    with pytest.raises(PatternError, match=r"the group is not closed"):
        GuidedRequests.validate_params(SimpleNamespace(extra_args={"tokdfa": "(a"}))
    for value in ("a+", True, None):
        GuidedRequests.validate_params(SimpleNamespace(extra_args={"tokdfa": value}))
    GuidedRequests.validate_params(SimpleNamespace(extra_args=None, min_tokens=2))
    with pytest.raises(WrongTypeError, match=r"^min_tokens: it may forbid all ids that the guide allows: 2 \(write it"):
        GuidedRequests.validate_params(SimpleNamespace(extra_args={"tokdfa": True}, min_tokens=2))


def test_requests_of_vllm_are_followed() -> None:
    end = TOKENIZER.n_ids
    config = SimpleNamespace(
        tokenizer=TOKENIZER, get_vocab_size=lambda: end + 1, hf_config=SimpleNamespace(eos_token_id=end)
    )
    processor = GuidedRequests(SimpleNamespace(model_config=config), "cpu", False)
    assert not processor.is_argmax_invariant()
    assert processor.needs_output_token_ids()
    output: list[int] = []
    guided = SimpleNamespace(extra_args={"tokdfa": "a (single|married) man"})
    plain = SimpleNamespace(extra_args=None)
    added = [(0, guided, [], output), (1, plain, [], [])]
    processor.update_state(SimpleNamespace(removed=[], added=added, moved=[]))
    processor.update_state(None)

    def allowed(row: int) -> list[int]:
        logits = processor.apply(np.zeros((2, end + 1)))
        return np.flatnonzero(np.isfinite(logits[row])).tolist()

    assert allowed(0) == [64]
    assert len(allowed(1)) == end + 1
    output.append(64)
    moved = [(0, 1, SimpleNamespace(name="SWAP"))]
    processor.update_state(SimpleNamespace(removed=[], added=[], moved=moved))
    assert len(allowed(0)) == end + 1
    assert len(allowed(1)) == 2
    output.extend(TOKENIZER.encode("a single man")[1:].tolist())
    assert allowed(1) == [end]
    output.append(end)
    assert len(allowed(1)) == end + 1
    assert processor.n_departed == 0
    processor.update_state(SimpleNamespace(removed=[1], added=[], moved=[]))
    assert len(allowed(1)) == end + 1


def test_requests_of_vllm_come_go_and_move() -> None:
    """A batch as vLLM keeps it, against one guide a request: removed, added, moved, in this order; resumed requests."""
    end = TOKENIZER.n_ids
    config = SimpleNamespace(
        tokenizer=TOKENIZER, get_vocab_size=lambda: end + 1, hf_config=SimpleNamespace(eos_token_id=[end])
    )
    processor = GuidedRequests(SimpleNamespace(model_config=config), "cpu", False)
    dice = random.Random(2)
    languages: list[Any] = [None, True, "a (single|married) man", "[a-z]{1,3}( [a-z]{2}){0,3}"]
    batch: list[tuple[Any, list[int]]] = []
    met: Counter[str] = Counter()
    for _ in range(150):
        removed = sorted(dice.sample(range(len(batch)), k=min(len(batch), dice.randrange(3))), reverse=True)
        places: list[Any] = [None if place in removed else request for place, request in enumerate(batch)]
        added, moved = [], []
        holes = sorted(removed)
        for _ in range(dice.randrange(3)):
            language = dice.choice(languages)
            # A request that was preempted comes back with the ids that it has.
            ids = TOKENIZER.encode("a single man")[: dice.randrange(3)].tolist() if language != languages[3] else []
            place = holes.pop(0) if holes else len(places)
            places[place : place + 1] = [(language, ids)]
            added.append((place, SimpleNamespace(extra_args={"tokdfa": language} if language else None), [1], ids))
        while None in places:
            # The last request moves to the first free place.
            free, last = places.index(None), len(places) - 1
            if places[last] is not None:
                places[free] = places[last]
                moved.append((last, free, SimpleNamespace(name="UNIDIRECTIONAL")))
                met["moved"] += 1
            places.pop()
        if len(places) > 1 and dice.random() < 0.5:
            one, other = dice.sample(range(len(places)), k=2)
            places[one], places[other] = places[other], places[one]
            moved.append((one, other, SimpleNamespace(name="SWAP")))
            met["swapped"] += 1
        batch = places
        is_changed = removed or added or moved
        update = SimpleNamespace(batch_size=len(batch), removed=removed, added=added, moved=moved)
        processor.update_state(update if is_changed else None)
        logits = processor.apply(np.zeros((len(batch), end + 1)))
        for (language, ids), row in zip(batch, logits, strict=True):
            found = np.flatnonzero(np.isfinite(row)).tolist()
            if language is None or end in ids:
                assert len(found) == end + 1
                continue
            guide = TOKENIZER.guide(None if language is True else language, end=end, vocab_size=end + 1)
            assert found == guide.allowed(guide.read(ids)).tolist()
            ids.append(dice.choice(found))
            met["guided"] += 1
        batch = batch[:6] if len(batch) <= 6 else batch
    assert min(met["moved"], met["swapped"], met["guided"]) > 20, met
    assert processor.n_departed == 0


def test_a_request_of_vllm_that_departs(caplog: pytest.LogCaptureFixture) -> None:
    end = TOKENIZER.n_ids
    config = SimpleNamespace(
        tokenizer=TOKENIZER, get_vocab_size=lambda: end + 1, hf_config=SimpleNamespace(eos_token_id=end)
    )
    processor = GuidedRequests(SimpleNamespace(model_config=config), "cpu", False)
    added = [(0, SimpleNamespace(extra_args={"tokdfa": True}), [], [64, 261, 1193])]
    processor.update_state(SimpleNamespace(removed=[], added=added, moved=[]))
    for _ in range(2):
        assert np.isfinite(processor.apply(np.zeros((1, end + 1)))).all()
        assert processor.n_departed == 1
    assert "token 2 of a request, id 1193, is not allowed; it is guided no more" in caplog.text


def test_ids_that_vllm_drops() -> None:
    """It computes them again, where their keys and values could not be loaded: by then the last one may be another."""
    end, ids, one = (
        TOKENIZER.n_ids,
        TOKENIZER.encode("a single man").tolist(),
        TOKENIZER.encode("a married man").tolist(),
    )
    config = SimpleNamespace(
        tokenizer=TOKENIZER, get_vocab_size=lambda: end + 1, hf_config=SimpleNamespace(eos_token_id=end)
    )
    processor = GuidedRequests(SimpleNamespace(model_config=config), "cpu")
    output = [*ids, end]
    added = [(0, SimpleNamespace(extra_args={"tokdfa": "a (single|married) man"}), [], output)]
    processor.update_state(SimpleNamespace(removed=[], added=added, moved=[]))

    def allowed() -> list[int]:
        return np.flatnonzero(np.isfinite(processor.apply(np.zeros((1, end + 1)))[0])).tolist()

    assert len(allowed()) == end + 1
    output.pop()
    assert allowed() == [end]
    del output[1:]
    assert allowed() == sorted([ids[1], one[1]])
    output.append(one[1])
    assert allowed() == [one[2]]
    assert processor.n_departed == 0


def test_stop_ids_of_a_request_end_it() -> None:
    """vLLM has them from the model's settings and from the request; the configuration of a model may lack some."""
    end, stops = TOKENIZER.n_ids, [int(TOKENIZER.encode(".")[0]), TOKENIZER.n_ids + 1]
    config = SimpleNamespace(tokenizer=TOKENIZER, get_vocab_size=lambda: end + 2, hf_config=SimpleNamespace())
    processor = GuidedRequests(SimpleNamespace(model_config=config), "cpu")
    params = SimpleNamespace(extra_args={"tokdfa": "a( man)?"}, all_stop_token_ids={*stops})
    processor.update_state(SimpleNamespace(removed=[], added=[(0, params, [], [64])], moved=[]))
    found = np.flatnonzero(np.isfinite(processor.apply(np.zeros((1, end + 2)))[0])).tolist()
    assert found == sorted([*stops, int(TOKENIZER.encode(" man")[0])])
    without = SimpleNamespace(extra_args={"tokdfa": "a"})
    with pytest.raises(WrongTypeError, match=r"^no id ends a sequence: \(\) \(give stop_token_ids to the request\)"):
        processor.update_state(SimpleNamespace(removed=[], added=[(0, without, [], [])], moved=[]))


@pytest.mark.parametrize("seed", range(8))
def test_rows_of_slots_with_drafts(seed: int) -> None:
    """The second interface: requests in slots, which are used again, with drafts that are accepted in part.

    Each row before the first draft that is not allowed is as a guide of the request says, with its prompt and budget.
    """
    dice, end, n_slots, met = random.Random(seed), TOKENIZER.n_ids, 4, Counter[str]()
    config = SimpleNamespace(
        tokenizer=TOKENIZER, get_vocab_size=lambda: end + 1, hf_config=SimpleNamespace(eos_token_id=end)
    )
    states = SimpleNamespace(
        prompt_len=SimpleNamespace(np=np.zeros(n_slots, dtype=np.int32)),
        all_token_ids=SimpleNamespace(gpu=np.zeros((n_slots, 64), dtype=np.int32)),
        total_len=SimpleNamespace(gpu=np.zeros(n_slots, dtype=np.int32)),
    )
    processor = GuidedRequests(SimpleNamespace(model_config=config), states)
    language = "(le|ular|s)?( [a-z]+){1,3}"
    asked = {"pattern": language, "prompt": True, "remaining": True}
    running: dict[int, tuple[Any, int, list[int]]] = {}  # The guide, the budget and the ids of each slot

    def following(guide: Any, budget: int, path: Any) -> list[int] | None:
        """The ids that may follow, or None for all of them: without a guide, and where nothing is chosen."""
        if guide is None or path is None or end in path:
            return None
        return guide.allowed(guide.read(path), remaining=budget - len(path)).tolist()  # type: ignore[no-any-return]

    for _ in range(60):
        for slot in [slot for slot, (_, _, ids) in running.items() if end in ids or dice.random() < 0.05]:
            del running[slot]
        free = [slot for slot in range(n_slots) if slot not in running]
        if free and dice.random() < 0.7:
            slot, is_guided = dice.choice(free), dice.random() < 0.8
            prompt = TOKENIZER.encode(dice.choice(["a sing", "is it", "two"])).tolist()
            params = SimpleNamespace(extra_args={"tokdfa": asked} if is_guided else None, max_tokens=5)
            guide = TOKENIZER.guide(language, end=end, vocab_size=end + 1, prompt=prompt)
            # A request that was preempted comes back with ids.
            ids = guide.shortest(guide.initial).tolist()[: dice.randrange(2)]
            states.prompt_len.np[slot], states.total_len.gpu[slot] = len(prompt), len(prompt) + len(ids)
            states.all_token_ids.gpu[slot, : len(prompt) + len(ids)] = prompt + ids
            assert processor.add_request(slot, params) == is_guided
            running[slot] = guide if is_guided else None, 5, ids
        processor.apply_staged_writes()
        batch, rows = dice.sample(sorted(running), len(running)), list[tuple[int, int, int, Any]]()
        for slot in batch:
            guide, budget, ids = running[slot]
            path: Any = ids
            rows.append((slot, 0, ids[-1] if ids else 0, path))
            for place in range(1, dice.randrange(1, 5)):
                near = following(guide, budget, path) or []
                unknown = dice.choice([-1, dice.randrange(end + 1)])
                draft = dice.choice(near) if near and dice.random() < 0.8 else unknown
                path = [*path, draft] if draft in near else None
                rows.append((slot, place, draft, path))
        if not batch:
            continue
        context = SimpleNamespace(
            idx_mapping_np=np.array(batch), expanded_idx_mapping=np.array([row[0] for row in rows]),
            expanded_local_pos=np.array([row[1] for row in rows]), input_ids=np.array([row[2] for row in rows]),
        )  # fmt: skip
        logits = processor.apply(np.zeros((len(rows), end + 1)), context)
        accepted: dict[int, list[int]] = {}
        for (slot, place, _, path), row in zip(rows, logits, strict=True):
            guide, budget, _ = running[slot]
            found, expected = np.flatnonzero(np.isfinite(row)).tolist(), following(guide, budget, path)
            if expected is None:
                assert len(found) == end + 1
                met["free" if guide is None else "after a draft"] += 1
                continue
            assert found == expected
            met["drafts" if place else "rows"] += 1
            if place == 0 or dice.random() < 0.5:
                accepted[slot] = [*path, dice.choice(found)]
        for slot, ids in accepted.items():
            n = states.prompt_len.np[slot]
            states.all_token_ids.gpu[slot, n : n + len(ids)] = ids
            states.total_len.gpu[slot] = n + len(ids)
            running[slot] = *running[slot][:2], ids
    assert min(met[kind] for kind in ("free", "after a draft", "drafts", "rows")) > 5, met
    assert processor.n_departed == processor.n_refused == 0


def test_slots_without_a_guide_end_at_once(caplog: pytest.LogCaptureFixture) -> None:
    end = TOKENIZER.n_ids
    config = SimpleNamespace(
        tokenizer=TOKENIZER, get_vocab_size=lambda: end + 1, hf_config=SimpleNamespace(eos_token_id=end)
    )
    states = SimpleNamespace(
        prompt_len=SimpleNamespace(np=np.array([3, 1])),
        all_token_ids=SimpleNamespace(gpu=np.array([[64, 261, 1193, 0], [5, 64, 261, 1193]])),
        total_len=SimpleNamespace(gpu=np.array([3, 4])),
    )
    processor = GuidedRequests(SimpleNamespace(model_config=config), states)
    processor.add_request(0, SimpleNamespace(extra_args={"tokdfa": {"prompt": True}}, max_tokens=5))
    processor.add_request(1, SimpleNamespace(extra_args={"tokdfa": True}, max_tokens=5))
    processor.apply_staged_writes()
    rows = np.array([1, 0, 0])
    context = SimpleNamespace(
        idx_mapping_np=np.array([1, 0]), expanded_idx_mapping=rows, expanded_local_pos=np.array([0, 0, 1]),
        input_ids=np.array([1193, 1193, 7]),
    )  # fmt: skip
    for _ in range(2):
        free, *refused = processor.apply(np.zeros((3, end + 1)), context)
        assert np.isfinite(free).all()
        assert [np.flatnonzero(np.isfinite(row)).tolist() for row in refused] == [[end], [end]]
        assert (processor.n_departed, processor.n_refused) == (1, 1)
    assert "token 2 of the prompt: the prompt is not canonical" in caplog.text
    assert "token 2 of a request, id 1193, is not allowed; it is guided no more" in caplog.text
