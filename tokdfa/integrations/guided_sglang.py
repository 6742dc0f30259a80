"""A grammar backend of SGLang: regular expressions and JSON schemas, canonical ids only.

The interface is in ``sglang/srt/constrained/base_grammar_backend.py``. A plug-in calls :func:`register`, and the
server is started with ``--grammar-backend tokdfa``; nothing registers it by itself.

SGLang tells a grammar nothing of its request but one string. So whoever wants more than a language writes it there, as
the ``structural_tag`` of a request::

    {"structural_tag": json.dumps({"tokdfa": {"pattern": "[0-9]+", "prompt": input_ids, "remaining": 8}}),
     "max_new_tokens": 8}
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.integrations.guide_requests import GuideTexts, request_of
from tokdfa.integrations.metrics import as_tokenizer
from tokdfa.jobs.guiding.api import Guide
from tokdfa.jobs.guiding.matchers import Matcher

_log = logging.getLogger(__name__)

try:
    from sglang.srt.constrained.base_grammar_backend import INVALID_GRAMMAR_OBJ as _INVALID
    from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend as _Backend
    from sglang.srt.constrained.base_grammar_backend import BaseGrammarObject as _Grammar
except ImportError:
    _INVALID, _Backend, _Grammar = None, object, object


class GuidedGrammar(_Grammar):  # type: ignore[misc]
    """The state of one request, which begins with a matcher that has accepted no ids."""

    def __init__(self, matcher: Matcher) -> None:
        super().__init__()
        self._matcher = matcher

    def accept_token(self, token: int) -> None:
        """Follow an id, which must be allowed."""
        if not self.is_terminated() and not self._matcher.accept_tokens([token]):
            where = f"token {self._matcher.n_accepted}"
            raise TokenStreamError(
                "no canonical stream of the language continues with this id", value=token, where=where
            )

    def rollback(self, k: int) -> None:
        """Take back the last k ids."""
        self._matcher.rollback(k)

    def is_terminated(self) -> bool:
        """Return whether the sequence has ended."""
        return self._matcher.is_terminated()

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        """Return a bitmask that allows everything, on the CPU: an int32 tensor."""
        import torch

        return torch.full((batch_size, -(-vocab_size // 32)), -1, dtype=torch.int32)

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        """Write the mask of the ids that can come next into a row."""
        self._matcher.fill_bitmask(vocab_mask, idx)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        """Return the bitmask on a device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Set the logits of ids that are not allowed to minus infinity."""
        import torch

        bits = vocab_mask[:, :, None] >> torch.arange(32, dtype=torch.int32, device=vocab_mask.device) & 1
        allowed = bits.reshape(len(vocab_mask), -1)[:, : logits.shape[-1]]
        logits.masked_fill_(allowed == 0, float("-inf"))

    def copy(self) -> GuidedGrammar:
        """Return a grammar for another request, which begins anew."""
        matcher = self._matcher.copy()
        matcher.reset()
        return GuidedGrammar(matcher)

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """Return the ids that must follow, with no text; None if there are none."""
        ids = self._matcher.find_jump_forward_ids().tolist()
        return (ids, "") if ids else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """Return the text of a jump, which is always empty: a jump has ids."""
        return "", -1

    def jump_and_retokenize(self, old_output_ids: list[int], new_output_ids: list[int], next_state: int) -> None:
        """Go back to where new ids differ from the old ones, and follow them from there."""
        n = len([*takewhile(lambda pair: pair[0] == pair[1], zip(old_output_ids, new_output_ids, strict=False))])
        self._matcher.rollback(len(old_output_ids) - n)
        for id in new_output_ids[n:]:
            self.accept_token(id)


class GuidedBackend(_Backend):  # type: ignore[misc]
    """A grammar backend: it makes grammars of regular expressions and of JSON schemas without recursion.

    A prompt and a number of ids, such as ``max_new_tokens``, are given by :meth:`dispatch_structural_tag`.

    A grammar that cannot be guided is refused as SGLang's own backends refuse them: the reason is logged, and the
    request fails.

    Parameters
    ----------
    tokenizer : object
        A tokenizer of tokdfa, a live object such as a tokenizer of transformers, or a path.
    vocab_size : int
        The number of logits.
    eos_token_ids : iterable of int
        The ids that end a sequence.
    """

    def __init__(self, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int]) -> None:
        super().__init__()
        self._tokenizer = as_tokenizer(tokenizer)
        self._vocab_size = vocab_size
        self._end = sorted(eos_token_ids)
        self._guides: dict[GuideTexts, Guide] = {}

    def dispatch_regex(self, key_string: str) -> Any:
        """Return the grammar of a regular expression that the whole text matches."""
        return self._grammar("regex", key_string, {"pattern": key_string})

    def dispatch_json(self, key_string: str) -> Any:
        """Return the grammar of a JSON schema, which outlines-core makes a regular expression."""
        return self._grammar("json", key_string, {"schema": key_string})

    def dispatch_ebnf(self, key_string: str) -> Any:
        """Refuse a grammar that is not regular."""
        return self._refuse("ebnf", key_string, "a guide is for a regular language")

    def dispatch_structural_tag(self, key_string: str) -> Any:
        """Return the grammar of the mapping under ``tokdfa``; other tags are refused.

        See :func:`~tokdfa.integrations.guide_requests.request_of`.
        """
        try:
            tag = json.loads(key_string)
        except ValueError:
            tag = None
        if not isinstance(tag, dict) or [*tag] != ["tokdfa"]:
            return self._refuse("structural_tag", key_string, "a guide is for a regular language, not for tags")
        return self._grammar("structural_tag", key_string, tag["tokdfa"])

    def _grammar(self, kind: str, key: str, wanted: Any) -> Any:
        try:
            asked = request_of(wanted, kind)
            if asked.texts not in self._guides:
                self._guides[asked.texts] = asked.texts.guide(self._tokenizer, self._end, self._vocab_size)
            return GuidedGrammar(asked.matcher(self._guides[asked.texts]))
        except TokdfaError as error:
            return self._refuse(kind, key, str(error))

    def _refuse(self, kind: str, key: str, reason: str) -> Any:
        _log.error("no guide for the %s %r: %s", kind, key, reason)
        return _INVALID


def register(name: str = "tokdfa") -> None:
    """Make the backend known to SGLang, which must be installed."""
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend

    def create(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | None) -> GuidedBackend:
        return GuidedBackend(tokenizer, vocab_size, eos_token_ids or ())

    register_grammar_backend(name, create)
