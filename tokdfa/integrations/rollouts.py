"""Frameworks of reinforcement learning: their samples, checked during a training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from typing import Any

import numpy as np

from tokdfa.base.errors import TokenStreamError
from tokdfa.integrations.metrics import as_tokenizer, metrics_of
from tokdfa.jobs.rollouts.api import iter_outcomes, iter_rollout_checks
from tokdfa.jobs.rollouts.frameworks import Rollout, fields_of
from tokdfa.jobs.rollouts.prefix import PrefixCheck, check_prefix
from tokdfa.jobs.rollouts.records import from_parts, rollouts_of
from tokdfa.jobs.rollouts.result import RolloutCheck, RolloutChecks


def check_records(
    tokenizer: Any, records: Iterable[Any], framework: str, *, threads: int | None = None
) -> RolloutChecks:
    """Check the records of a framework of reinforcement learning, as :func:`tokdfa.check_rollouts` does.

    Parameters
    ----------
    tokenizer : AnyTokenizer, path, or live object such as a tokenizer of transformers
    records : iterable
        The framework's own objects; a batch is one record with many rollouts.
    framework : str
        A row of the table below, or a framework of ``tokdfa rollouts --framework`` with mappings as records.
    threads : int, optional
        See :func:`tokdfa.check_rollouts`.

    Raises
    ------
    TokenStreamError
        If the framework is not known, a field is missing, a mask has another length than the ids or other values, or a
        prompt or a response is longer than the ids; the error says which.

    Notes
    -----
    ==================  ==================================================================================
    ``openrlhf``        responses of agents: `observation_tokens`, and `action_ranges`, pairs of a first token
                        and the one after the last (OpenRLHF 0.11.2, ``openrlhf/utils/agent.py``)
    ``skyrl``           outputs of generators: lists `prompt_token_ids`, `response_ids`, `loss_masks`, which are as
                        long as the responses (SkyRL 0.3.0, ``skyrl.train.generators.base.GeneratorOutput``)
    ``slime``           samples of slime and miles, or lists of them, which are groups: `tokens`, ended by
                        `response_length` tokens of the response, and `loss_mask`, None if all of it counts
                        (``slime/utils/types.py`` at commit 0d234f3, ``miles/utils/types.py`` at commit 002ce70).
                        Call this function from a hook on the samples of a rollout, such as the function of
                        ``--rollout-function-path`` or of ``--custom-reward-post-process-path``
    ``verifiers``       steps of trajectories, of prime-rl too: their `tokens`, if there are any, have `prompt_ids`,
                        `completion_ids`, `completion_mask` (verifiers 0.1.14, ``verifiers.types``)
    ``verifiers.v1``    branches of traces: `token_ids`, `sampled_mask` (verifiers 0.4.0, ``verifiers.v1.trace``)
    ``verl``            outputs of agent loops: `prompt_ids`, `response_ids`, and `response_mask`, 1 for generated ids
                        (verl 0.9.1, ``verl.experimental.agent_loop.AgentLoopOutput``)
    ``verl.batch``      a `DataProto`, or a mapping of tensors: `input_ids` and `attention_mask` have the prompts,
                        padded on the left, and the responses, padded on the right; `response_mask` is as long
                        as the responses (verl 0.9.1, ``AgentLoopWorker._postprocess``)
    ``vllm``            responses of its server, mappings or objects with `model_dump`, asked for with
                        ``return_token_ids``; each choice is a rollout. Responses of the client of OpenAI keep the
                        fields. Chunks of a stream are not taken (vLLM 0.33.0, ``protocol.py`` of
                        ``vllm/entrypoints/openai/chat_completion`` and of ``completion`` next to it)
    ==================  ==================================================================================

    Examples
    --------
    >>> import tokdfa
    >>> from types import SimpleNamespace
    >>> tok = tokdfa.default_tokenizer()
    >>> output = SimpleNamespace(prompt_ids=[64], response_ids=[261, 1193], response_mask=[1, 1])
    >>> check_records(tok, [output], "verl").counts.drift
    1
    >>> branch = SimpleNamespace(token_ids=[64, 261, 1193], sampled_mask=[False, True, True])
    >>> check_records(tok, [branch], "verifiers.v1").counts.drift
    1
    >>> response = {"prompt_token_ids": [64], "choices": [{"index": 0, "token_ids": [261, 1193]}]}
    >>> check_records(tok, [response], "vllm").counts.drift
    1
    """
    read = _READERS.get(framework) or _by_fields(framework)
    rollouts = (rollout for record in records for rollout in read(record))
    return RolloutChecks([*iter_rollout_checks(as_tokenizer(tokenizer), rollouts, threads=threads)])


def check_extensions(tokenizer: Any, steps: Iterable[Mapping[str, Any]]) -> list[PrefixCheck]:
    """Check, for each step of verifiers but the first, that its prompt begins with the ids of the step before.

    See :func:`tokdfa.check_prefix`.

    Examples
    --------
    >>> import tokdfa
    >>> turns = [([64], [261, 1193]), ([64, 2513, 462], [64])]
    >>> steps = [{"tokens": {"prompt_ids": prompt, "completion_ids": ids}} for prompt, ids in turns]
    >>> [check.canonical for check in check_extensions(tokdfa.default_tokenizer(), steps)]
    ['b']
    """
    own = as_tokenizer(tokenizer)
    tokens = [step["tokens"] for step in steps if step["tokens"] is not None]
    return [
        check_prefix(own, [*before["prompt_ids"], *before["completion_ids"]], after["prompt_ids"])
        for before, after in pairwise(tokens)
    ]


def drift_metric(
    tokenizer: Any, *, prefix: str = "tokdfa/", on_bug: Callable[[Any], object] | None = None
) -> Callable[..., list[float | None]]:
    """Return a reward function of TRL for `GRPOTrainer` and `RLOOTrainer` that logs drift and gives no reward.

    Use it with another reward function: ``reward_funcs=[reward, drift_metric(tokenizer)]``. It returns None for every
    completion, which TRL leaves out of the sum, and reports by ``log_metric``. It does not end a training: completions
    that cannot be judged, such as completions with a mask of another length, are counted as ``unjudged``.

    Parameters
    ----------
    tokenizer : AnyTokenizer, path, or tokenizer of transformers
    prefix : str
        The beginning of the names of the metrics.
    on_bug : callable, optional
        Called with the checks of a batch in which there is a bug. Tool results are told from samples only where the
        columns of the dataset or of a rollout function have `tool_mask` or `env_mask`.

    Notes
    -----
    Read in TRL 1.13.0, ``GRPOTrainer._calculate_rewards``: reward functions are called with `prompts`, `completions`,
    `completion_ids`, the columns of the dataset, `trainer_state`, `log_extra` and `log_metric`. `completion_ids` are
    the ids after the prompt, so the boundary to the prompt is not judged.

    Examples
    --------
    >>> import tokdfa
    >>> measure, logged = drift_metric(tokdfa.default_tokenizer()), {}
    >>> measure(completion_ids=[[64, 261, 1193], [64]], log_metric=logged.__setitem__)
    [None, None]
    >>> logged["tokdfa/drift"]
    0.5
    """
    own = as_tokenizer(tokenizer)

    def tokdfa_drift(
        *, completion_ids: Sequence[Any], log_metric: Callable[[str, float], object] | None = None, **columns: object
    ) -> list[float | None]:
        masks = columns.get("tool_mask", columns.get("env_mask"))
        each = repeat(None) if masks is None else iter(masks)  # type: ignore[call-overload]
        # A mask that is missing has no ids, so its rollout is not judged.
        items = ((number, Rollout(ids, next(each, ()))) for number, ids in enumerate(completion_ids))
        outcomes = [outcome for _, outcome in iter_outcomes(own, items, keep_going=True)]
        checks = RolloutChecks([outcome for outcome in outcomes if isinstance(outcome, RolloutCheck)])
        if log_metric is not None:
            for name, value in metrics_of(checks, prefix).items():
                log_metric(name, value)
            log_metric(f"{prefix}unjudged", float(len(outcomes) - len(checks)))
        if on_bug is not None and not checks:
            on_bug(checks)
        return [None] * len(completion_ids)

    return tokdfa_drift


_Reader = Callable[[Any], Iterable[Rollout]]


def _by_fields(framework: str) -> _Reader:
    """Return a reader of mappings with the fields that a framework writes."""
    fields = fields_of(framework, other_masks=True)
    return lambda record: (
        rollout for _, rollout in rollouts_of(record.model_dump() if hasattr(record, "model_dump") else record, fields)
    )


def _samples(record: Any) -> Iterator[Rollout]:
    """Yield the rollout of a sample of slime, or the rollouts of a list of samples."""
    if isinstance(record, (list, tuple)):
        for inner in record:
            yield from _samples(inner)
        return
    n, n_response, mask = len(record.tokens), int(record.response_length), record.loss_mask
    if n_response > n:
        what = "the response of a sample is longer than its tokens"
        raise TokenStreamError(what, value=n_response, hint=f"there are {n}")
    if mask is not None and len(mask) != n_response:
        what = "the loss mask of a sample has another length than its response"
        raise TokenStreamError(what, value=len(mask), hint=f"expected {n_response}")
    yield Rollout(record.tokens, mask, n - n_response)


def _step(record: Mapping[str, Any]) -> Iterator[Rollout]:
    """Yield the rollout of a step of verifiers that has tokens."""
    if (tokens := record["tokens"]) is not None:
        yield from_parts(tokens["prompt_ids"], tokens["completion_ids"], tokens["completion_mask"])


def _padded(batch: Any) -> Iterator[Rollout]:
    """Yield the rollouts of a batch of verl without their padding."""
    fields = getattr(batch, "batch", batch)
    ids, attention, mask = (np.asarray(fields[name]) for name in ("input_ids", "attention_mask", "response_mask"))
    sampled = np.zeros(ids.shape, dtype=np.bool_)
    sampled[:, ids.shape[1] - mask.shape[1] :] = mask != 0
    for row, kept, flags in zip(ids, attention != 0, sampled, strict=True):
        yield Rollout(row[kept], flags[kept])


# The rollouts of a record, where these are objects, not mappings with the fields of `tokdfa rollouts --framework`.
_READERS: dict[str, _Reader] = {
    "slime": _samples,
    "verifiers": _step,
    "verifiers.v1": lambda branch: [Rollout(branch.token_ids, branch.sampled_mask)],
    "verl": lambda output: [from_parts(output.prompt_ids, output.response_ids, output.response_mask)],
    "verl.batch": _padded,
}
