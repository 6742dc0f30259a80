"""Ids of a conversation that grows, for trainers and engines: sampled ids stay, and text is put after them exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tokdfa.base.errors import TokenStreamError
from tokdfa.integrations.metrics import as_tokenizer

__all__ = ["Conversation"]


class Conversation:
    r"""The ids of a conversation, and which of them were sampled.

    Parameters
    ----------
    tokenizer : AnyTokenizer, path or live object
        The tokenizer; see :func:`tokdfa.load`.
    prompt : str
        The rendered text before the first sampled ids.
    keeps_drift : bool
        Whether sampled ids that encoding would change are kept, and their first index noted as `drift`, instead of
        raising TokenStreamError.

    Attributes
    ----------
    ids, mask : list of int
        All ids, and 1 for each that was sampled, otherwise 0.
    drift : int, optional
        The first sampled id that encoding the text would change.

    Examples
    --------
    >>> import tokdfa
    >>> from tokdfa.integrations.conversations import Conversation
    >>> talk = Conversation(tokdfa.default_tokenizer(), "Q: cat?\n")
    >>> talk.sample(tokdfa.default_tokenizer().encode("A: no"))
    >>> talk.add("\nQ: why?\n")
    >>> record = talk.verl()
    >>> sum(record["response_mask"]), len(record["response_ids"]) == len(record["response_mask"])
    (3, True)
    """

    def __init__(self, tokenizer: Any, prompt: str, *, keeps_drift: bool = False) -> None:
        self._tokenizer = as_tokenizer(tokenizer)
        self._keeps_drift = keeps_drift
        self.ids: list[int] = self._tokenizer.encode(prompt).tolist()
        self.mask = [0] * len(self.ids)
        self.drift: int | None = None

    def sample(self, ids: npt.ArrayLike) -> None:
        """Put sampled ids after the others."""
        whole = [*self.ids, *np.asarray(ids).tolist()]
        verdict = self._tokenizer.validate(whole)
        if not verdict:
            self._note(int(verdict.index or 0), "sampled ids are not canonical")
        self.mask += [1] * (len(whole) - len(self.ids))
        self.ids = whole

    def add(self, text: str) -> None:
        """Put text after the ids, such as the result of a tool with the markers around it."""
        n_fixed = len(self.mask) - self.mask[::-1].index(1) if 1 in self.mask else 0
        kept, new = (n_fixed, None) if self.drift is not None else self._tokenizer.append(self.ids, text)
        if new is None or kept < n_fixed:
            if new is not None:
                self._note(kept, "the text after sampled ids changes them")
            kept, new = len(self.ids), self._tokenizer.later.encode(text)
        self.ids = [*self.ids[:kept], *new.tolist()]
        self.mask = self.mask[:kept] + [0] * len(new)

    def render(self, text: str) -> None:
        """Put the rest of the whole rendered conversation after the ids; its beginning must be their text."""
        known = self._tokenizer.decode(self.ids)
        if not text.startswith(known):
            at = next((n for n, pair in enumerate(zip(text, known, strict=False)) if pair[0] != pair[1]), len(text))
            hint = "the template changes earlier turns; give the new part to add()"
            raise TokenStreamError(
                "the rendered text does not begin with the text so far", where=f"character {at}", hint=hint
            )
        self.add(text[len(known) :])

    def _note(self, index: int, what: str) -> None:
        if not self._keeps_drift:
            raise TokenStreamError(what, where=f"token {index}", hint="keeps_drift=True keeps them and notes the index")
        self.drift = index if self.drift is None else min(index, self.drift)

    @property
    def _n_prompt(self) -> int:
        return self.mask.index(1) if 1 in self.mask else len(self.mask)

    def verl(self) -> dict[str, list[int]]:
        """Return the fields of verl's AgentLoopOutput with ids: 1 for the ids of the model, 0 for those of tools.

        Its `metrics`, which have no default, are the caller's.
        """
        n = self._n_prompt
        return {"prompt_ids": self.ids[:n], "response_ids": self.ids[n:], "response_mask": self.mask[n:]}

    def trl(self) -> dict[str, list[int]]:
        """Return the ids and the mask of one completion, as a `rollout_func` of TRL's GRPO returns them in lists.

        The trainer reads `env_mask` as the mask of tools; `logprobs`, which it also asks for, are the caller's.
        """
        n = self._n_prompt
        return {"prompt_ids": self.ids[:n], "completion_ids": self.ids[n:], "env_mask": self.mask[n:]}

    def slime(self) -> dict[str, Any]:
        """Return the fields of slime's Sample; the mask is for the response."""
        n = self._n_prompt
        return {"tokens": self.ids, "response_length": len(self.ids) - n, "loss_mask": self.mask[n:]}

    def vllm(self) -> dict[str, list[int]]:
        """Return a TokensPrompt of vLLM: its renderer need not encode the conversation again."""
        return {"prompt_token_ids": self.ids}
