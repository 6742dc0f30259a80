"""A rollout: its ids, those sampled, and the fields in which frameworks of reinforcement learning write them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, IntegerArray
from tokdfa.base.errors import TokenStreamError

__all__ = ["Rollout"]


IGNORED = -100
"""The label of ids that do not count in training, as torch has it; the label of any other id is the id itself."""

Documents = int | npt.ArrayLike | None
"""The id that separates documents, or the index of the first id of each; None for one document."""


class Rollout(NamedTuple):
    """The ids of a rollout, and which of them the model sampled; see :func:`check_rollout`.

    Examples
    --------
    >>> rollout = tokdfa.Rollout([64, 261, 1193], mask=[0, 1, 1])
    >>> tokdfa.check_rollout(tokdfa.default_tokenizer(), *rollout).counts.drift
    1
    """

    ids: npt.ArrayLike
    mask: npt.ArrayLike | None = None
    prompt: int = 0
    documents: Documents = None


def sampled_ids(mask: npt.ArrayLike | None, prompt: int, ids: IntegerArray) -> BoolArray | None:
    """Return, for each of some ids, whether the model sampled it; None if it sampled all.

    A mask as long as the ids decides alone; otherwise it is as long as the ids after the prompt. One with a -100 has
    labels: each is -100, or the id itself, which then was sampled. Without a mask all ids after the prompt were
    sampled.
    """
    n = len(ids)
    prompt = checked_prompt(prompt, n)
    if mask is None:
        if not prompt:
            return None
        sampled: BoolArray = np.ones(n, dtype=np.bool_)
        sampled[:prompt] = False
        return sampled
    given = _array(mask)
    if len(given) not in (n, n - prompt):
        lengths = str(n) if not prompt else f"{n}, or {n - prompt} without the prompt"
        raise TokenStreamError("the mask has another length than the ids", value=len(given), hint=f"expected {lengths}")
    has_labels = given.dtype.kind in "if" and (given == IGNORED).any()
    flags = by_labels(given, ids[n - len(given) :]) if has_labels else _flags(given)
    return flags if len(flags) == n else np.concatenate((np.zeros(prompt, dtype=np.bool_), flags))


def checked_prompt(prompt: int, n: int) -> int:
    """Return the number of ids of the prompt, an integer from 0 to `n`."""
    try:
        length = operator.index(prompt)
    except TypeError:
        length = -1
    if isinstance(prompt, (bool, np.bool_)) or length < 0:
        raise TokenStreamError("the length of the prompt must be an integer from 0 on", value=prompt)
    if length > n:
        raise TokenStreamError("the prompt is longer than the ids", value=length, hint=f"there are {n}")
    return length


def _array(mask: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return a mask as an array of numbers or truth values in one dimension."""
    try:
        array = np.asarray(mask)
    except (ValueError, TypeError, OverflowError):
        raise TokenStreamError("the mask must be 0 and 1 in one dimension", value=mask) from None
    if array.ndim != 1:
        raise TokenStreamError("the mask must be in one dimension", value=array.shape)
    if array.dtype.kind not in "iufb" and array.size:
        raise TokenStreamError("the mask must be 0 and 1", value=array.dtype.name)
    return array


def by_labels(labels: npt.NDArray[Any], ids: npt.NDArray[Any]) -> BoolArray:
    """Return, for each of some ids, whether it is its own label; others must be labelled -100."""
    flags: BoolArray = labels != IGNORED
    wrong = np.flatnonzero(flags & (labels != ids))
    if len(wrong):
        at = int(wrong[0])
        what = f"a label must be {IGNORED} or the id itself, here {ids[at]}"
        raise TokenStreamError(what, value=labels[at].item(), where=f"token {at} of the mask")
    return flags


def _flags(array: npt.NDArray[Any]) -> BoolArray:
    flags: BoolArray = array != 0
    wrong = np.flatnonzero(flags & (array != 1))
    if len(wrong):
        at = int(wrong[0])
        raise TokenStreamError("the mask must be 0 and 1", value=array[at].item(), where=f"token {at} of the mask")
    return flags


LABELS = "labels"
"""The usual name of labels: the ids, with -100 in place of those that do not count."""

NO_MASK = "none"
"""In place of the name of a mask: all ids after the prompt were sampled."""


class Names(NamedTuple):
    """The names of the ids, the mask and the prompt of a rollout in errors; empty for no name."""

    ids: str = ""
    mask: str = ""
    prompt: str = ""


class Fields(NamedTuple):
    """The fields of a record that make a rollout; dots go into objects, as in ``tokens.prompt_ids``.

    Examples
    --------
    >>> FRAMEWORKS["slime"].ids, FRAMEWORKS["slime"].mask, FRAMEWORKS["slime"].response
    ('tokens', 'loss_mask', 'response_length')
    """

    ids: str  # All of the rollout, or only the ids after the prompt if the prompt is a list of ids
    prompt: str | None = None  # The ids of the prompt, or their number
    # Whether each id was sampled; it may be missing from a record, and then all ids after the prompt were. If it is
    # called ``labels``, it has -100 for ids that were not sampled, and the id itself for others.
    mask: str | None = None
    response: str | None = None  # The number of ids after the prompt, which are the last ones
    ranges: str | None = None  # The sampled ids as pairs of a first index and the one after the last
    each: str | None = None  # A list of objects, each a rollout; `ids` is a field of these
    messages: str | None = None  # A list of messages, some with `prompt` and `ids`; together they are one rollout
    needs_mask: bool = False  # Whether a record without the mask is an error
    # Fields named like a mask that do not say which ids were sampled. Any such field that is not used is an error,
    # unless the caller chose a mask: it may be the mask that is missing.
    others: tuple[str, ...] | None = ()
    # Whether each label may be the next id, with which a model that shifts labels by itself is trained wrongly.
    takes_next_labels: bool = False

    @property
    def own(self) -> list[str]:
        """The fields of the ids, the prompt, the mask, the response and the ranges, as far as there are any."""
        return [name for name in self[:5] if name is not None]

    @property
    def has_labels(self) -> bool:
        """Whether the mask consists of labels."""
        return self.mask is not None and self.mask.rpartition(".")[2] == LABELS

    @property
    def described(self) -> str:
        """The fields and their roles, in one line."""
        parts = {
            "list": self.each or self.messages, "prompt": self.prompt, "ids": self.ids, "mask": self.mask,
            "sampled ranges": self.ranges, "length of the response": self.response,
        }  # fmt: skip
        return ", ".join(f"{name} ({part})" for part, name in parts.items() if name is not None)

    def check_unused(self, names: Iterable[object], path: str = "") -> None:
        """Refuse a field of an object that may be a mask and is not used; `path` is the field with it, and a dot.

        Of a mapping, fields that are null do not count.
        """
        if self.others is None:
            return
        if isinstance(names, Mapping):
            names = [name for name, value in names.items() if value is not None]
        # Labels are masks of their own; the other field is about padding.
        padding = ("attention_mask",) if self.has_labels else ()
        known = {*self.others, *padding, *self.own, *(name.partition(".")[0] for name in self.own)}
        for name in names:
            full = f"{path}{name}"
            if isinstance(name, str) and ("mask" in name.lower() or name == LABELS) and not {name, full} & known:
                # In lists of objects, fields belong to each object.
                mask = name if path.endswith("].") else full
                hint = f"give --mask {mask} to use it, --mask {NO_MASK} if all ids after the prompt were sampled"
                if self.mask is not None:
                    hint += f", or --mask {self.mask}"
                raise TokenStreamError("a field that may be the mask is not used", where=f"field {full}", hint=hint)

    @property
    def listed(self) -> str:
        """The fields without their roles, as the help of the command lists them."""
        own = [name for name in (self.prompt, self.ids, self.response, self.mask, self.ranges) if name is not None]
        if self.response is not None or self.ranges is not None:
            own.sort(key=self.ids.__ne__)
        outer = self.each or self.messages
        return ("" if outer is None else f"{outer}: ") + ", ".join(own)

    @property
    def names(self) -> Names:
        """Their names in errors."""
        both = f"field {self.ids}" if self.prompt is None else f"fields {self.prompt} and {self.ids}"
        others = (self.mask or self.ranges, self.prompt or self.response)
        return Names(both, *("" if name is None else f"field {name}" for name in others))

    @property
    def columns(self) -> tuple[str, ...]:
        """The outermost fields, without the fields of `each` and `messages`."""
        if self.messages is not None:
            return (self.messages.partition(".")[0],)
        names = self.own if self.each is None else [*(name for name in self.own if name != self.ids), self.each]
        return tuple(dict.fromkeys(name.partition(".")[0] for name in names))


FRAMEWORKS = {
    "trl": Fields("completion_ids", "prompt_ids", "tool_mask"),
    "verl": Fields("response_ids", "prompt_ids", "response_mask"),
    "openrlhf": Fields("observation_tokens", ranges="action_ranges"),
    "slime": Fields("tokens", mask="loss_mask", response="response_length"),
    "skyrl": Fields("response_ids", "prompt_token_ids", "loss_masks"),
    "verifiers": Fields("completion_ids", "prompt_ids", "completion_mask", others=("prompt_mask",)),
    "nemo": Fields("generation_token_ids", "prompt_token_ids", messages="response.output"),
    "vllm": Fields("token_ids", "prompt_token_ids", each="choices"),
}
"""The fields by framework, as they were read in TRL 1.13.0 (`prompt_ids`, `completion_ids`, `tool_mask`), verl 0.9.1
(`AgentLoopOutput`), OpenRLHF 0.11.2 (responses of its agents), slime and miles (`Sample.to_dict`, commits 0d234f3
and 002ce70), SkyRL 0.3.0 (`GeneratorOutput`), verifiers 0.1.14 (`TrajectoryStepTokens`), vLLM 0.33.0
(``return_token_ids``), and NeMo Gym (`TokenIDLogProbMixin` in ``nemo_gym/openai_utils.py``, commit 009d2fe). That its
items are in ``response.output`` was read in NeMo RL, where ``nemo_rl/environments/nemo_gym.py`` takes them."""


def fields_of(
    framework: str | None = None,
    ids: str | None = None,
    prompt: str | None = None,
    mask: str | None = None,
    *,
    other_masks: bool = False,
) -> Fields:
    """Return the fields of a framework, some of them replaced; the mask ``none`` stands for no mask.

    With `other_masks` records may have other fields that are called like masks; if a mask is given, they may anyway.
    """
    # Callers who choose a mask, or none, know the other fields.
    chosen: dict[str, Any] = {} if mask is None else {"mask": None if mask == NO_MASK else mask}
    if mask is not None or other_masks:
        chosen["others"] = None
    needs_mask = mask not in (None, NO_MASK)
    if framework is None:
        if ids is None:
            raise TokenStreamError("no field of ids is named", hint="give the name of a field, or of a framework")
        return Fields(ids, prompt, needs_mask=needs_mask)._replace(**chosen)
    if framework not in FRAMEWORKS:
        raise TokenStreamError("no such framework", value=framework, hint=f"those known are {', '.join(FRAMEWORKS)}")
    said = FRAMEWORKS[framework].ranges or FRAMEWORKS[framework].messages
    if needs_mask and said is not None:
        what = f"a mask cannot be given for {framework}: its {said} says what was sampled"
        raise TokenStreamError(what, value=mask, hint="leave --mask out, or give --ids without --framework")
    given = {"ids": ids, "prompt": prompt}
    changed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return FRAMEWORKS[framework]._replace(**changed, **chosen, needs_mask=needs_mask)
