"""A grammar backend of SGLang: regular expressions and JSON schemas, canonical ids only.

The interface is in ``sglang/srt/constrained/base_grammar_backend.py``; tried with SGLang 0.5.23, on its classes. A
plug-in, which is an entry point of the group ``sglang.srt.plugins``, calls :func:`register`, and the server is started
with ``--grammar-backend tokdfa``; nothing registers it by itself.

A backend is told one string of a request, and the ids of its prompt. So whoever wants more than a language writes it
there, as the ``structural_tag`` of a request::

    {"structural_tag": json.dumps({"tokdfa": {"pattern": "[0-9]+", "prompt": True, "remaining": 8}}),
     "max_new_tokens": 8}

A text is guided from its first id. If a model reasons before it answers, the language must have the reasoning, too.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from functools import lru_cache, partial
from itertools import takewhile
from typing import Any

from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.integrations.guide_requests import GuideTexts, request_of
from tokdfa.integrations.metrics import as_tokenizer
from tokdfa.jobs.guiding.matchers import Matcher

_log = logging.getLogger(__name__)

MAX_GUIDES = 64

try:
    from sglang.srt.constrained import base_grammar_backend as _sglang
except ModuleNotFoundError:
    _sglang = None
# A version without one of these names has another interface, so that importing this module fails.
_Backend: Any = object if _sglang is None else _sglang.BaseGrammarBackend
_Grammar: Any = object if _sglang is None else _sglang.BaseGrammarObject


class GuidedGrammar(_Grammar):  # type: ignore[misc]
    """The state of one request, which begins with a matcher that has accepted no ids.

    `has_prompt` is whether it is for one prompt only, so that there is no use in keeping it for other requests.
    """

    def __init__(self, matcher: Matcher, *, has_prompt: bool = False) -> None:
        super().__init__()
        self.has_prompt = has_prompt
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
    def reset_vocab_mask(vocab_mask: Any) -> None:
        """Make a bitmask allow everything."""
        vocab_mask.fill_(-1)

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
        return GuidedGrammar(matcher, has_prompt=self.has_prompt)

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
    request fails with it.

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
        self._guide_of = lru_cache(MAX_GUIDES)(
            partial(
                GuideTexts.guide, tokenizer=as_tokenizer(tokenizer), end=sorted(eos_token_ids), vocab_size=vocab_size
            )
        )

    def get_request_grammar_key(
        self, key: tuple[str, str], *, input_ids: Iterable[int], thinking_budget: int | None = None
    ) -> tuple[str, str]:
        """Return the key of a request's grammar, with the ids of its prompt if it asks for them."""
        wanted = _tag(key[1]) if key[0] == "structural_tag" else None
        if isinstance(wanted, dict) and wanted.get("prompt") is True:
            return key[0], json.dumps({"tokdfa": wanted | {"prompt": [*map(int, input_ids)]}})
        return key

    def set_cache(self, key: tuple[str, str], value: Any) -> None:
        """Keep a grammar for other requests, unless it is for one prompt only: there are too many of these."""
        if not getattr(value, "has_prompt", False):
            super().set_cache(key, value)

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
        wanted = _tag(key_string)
        if wanted is None:
            return self._refuse("structural_tag", key_string, "a guide is for a regular language, not for tags")
        return self._grammar("structural_tag", key_string, wanted)

    def _grammar(self, kind: str, key: str, wanted: Any) -> Any:
        try:
            asked = request_of(wanted, kind)
            matcher = asked.matcher(self._guide_of(asked.texts))
            return GuidedGrammar(matcher, has_prompt=asked.prompt is not None)
        except TokdfaError as error:
            return self._refuse(kind, key, str(error))

    def _refuse(self, kind: str, key: str, reason: str) -> Any:
        _log.error("no guide for the %s %r: %s", kind, key, reason)
        return None if _sglang is None else _sglang.InvalidGrammarObject(reason)


def _tag(key: str) -> Any:
    """Return the value under ``tokdfa`` of a structural tag; None if it is another tag."""
    try:
        tag = json.loads(key)
    except ValueError:
        return None
    return tag["tokdfa"] if isinstance(tag, dict) and [*tag] == ["tokdfa"] else None


def register(name: str = "tokdfa") -> None:
    """Make the backend known to SGLang, which must be installed, and to its option ``--grammar-backend``."""
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend
    from sglang.srt.server_args import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices

    def create(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | None) -> GuidedBackend:
        return GuidedBackend(tokenizer, vocab_size, eos_token_ids or ())

    register_grammar_backend(name, create)
    if name not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([name])
