"""A backend of outlines 1: regular expressions and JSON schemas, canonical ids only.

outlines chooses among its own backends by name, so the logits processor is made here and given to a generator::

    processor = GuidedBackend(model).get_regex_logits_processor("[0-9]+", prompt=True, remaining=8)
    generator = outlines.Generator(model, processor=processor)
    text = generator("How many? ", max_new_tokens=8)
"""

from __future__ import annotations

from typing import Any

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.integrations.guided import SequenceStates, only_allowed
from tokdfa.integrations.metrics import as_tokenizer
from tokdfa.jobs.guiding.api import guide
from tokdfa.jobs.guiding.bans import Ban
from tokdfa.jobs.guiding.matchers import checked_budget
from tokdfa.jobs.guiding.schemas import pattern_of_schema
from tokdfa.tokenizers.protocol import AnyTokenizer

try:
    from outlines.backends.base import BaseBackend as _Backend
    from outlines.processors.base_logits_processor import OutlinesLogitsProcessor as _Processor
except ImportError:
    _Backend, _Processor = object, object


def _require_outlines() -> None:
    if _Backend is object:
        raise UnsupportedFeatureError("outlines 1.3 or later is not installed", hint="pip install 'outlines>=1.3'")


class GuidedProcessor(_Processor):  # type: ignore[misc]
    """A logits processor: only ids that the guide allows are left.

    The ids up to the first call of a generation are the prompt. The library of tensors is ``torch`` or ``numpy``. The
    options are the same as in :class:`~tokdfa.integrations.guided.GuidedLogits`; `ban` is as in :func:`tokdfa.guide`.
    """

    def __init__(
        self, tokenizer: AnyTokenizer, language: str, end: int, tensor_library: str, *, ban: Ban | None = None,
        prompt: bool = False, remaining: int | None = None,
    ) -> None:  # fmt: skip
        _require_outlines()
        if tensor_library not in ("torch", "numpy"):
            what = "the tensors of this library are not masked; torch and numpy are"
            raise UnsupportedFeatureError(what, value=tensor_library)
        super().__init__(tensor_library)
        self._what = tokenizer, language, end, ban
        self._options: dict[str, Any] = {"prompt": prompt, "remaining": remaining}
        self._known: dict[int, SequenceStates] = {}

    def reset(self) -> None:
        """Begin another generation."""
        for states in self._known.values():
            states.n_prompt = None

    def process_logits(self, input_ids: Any, logits: Any) -> Any:
        """Return the logits with minus infinity for ids that are not allowed; both have two dimensions."""
        width = int(logits.shape[1])
        if width not in self._known:
            tokenizer, language, end, ban = self._what
            made = guide(tokenizer, language, end=end, vocab_size=max(width, tokenizer.n_ids), ban=ban)
            self._known[width] = SequenceStates(made, **self._options)
        return only_allowed(logits, self._known[width].allowed(input_ids, width))


class GuidedBackend(_Backend):  # type: ignore[misc]
    """Makes logits processors for a model of outlines with a tokenizer of transformers."""

    def __init__(self, model: Any) -> None:
        _require_outlines()
        self._tokenizer = as_tokenizer(model.hf_tokenizer)
        self._end = int(model.hf_tokenizer.eos_token_id)
        self._tensor_library = model.tensor_library_name

    def get_regex_logits_processor(
        self, regex: str, *, ban: Ban | None = None, prompt: bool = False, remaining: int | None = None
    ) -> GuidedProcessor:
        """Return a processor for the texts that a regular expression matches as a whole; see :class:`GuidedProcessor`.

        Raises
        ------
        PatternError, UnsupportedFeatureError
            If the expression cannot be read, or the tokenizer cannot be guided.
        TokenStreamError
            If no text has as few ids.
        """
        # An error is better here than while a text is generated.
        made = guide(self._tokenizer, regex, ban=ban)
        if remaining is not None and not prompt:
            checked_budget(made, made.initial, remaining)
        return GuidedProcessor(
            self._tokenizer, regex, self._end, self._tensor_library, ban=ban, prompt=prompt, remaining=remaining
        )

    def get_json_schema_logits_processor(
        self, json_schema: str, whitespace_pattern: str | None = None, *, ban: Ban | None = None, prompt: bool = False,
        remaining: int | None = None,
    ) -> GuidedProcessor:  # fmt: skip
        """Return a processor for the documents of a JSON schema without recursion; options as for an expression."""
        pattern = pattern_of_schema(json_schema, whitespace=whitespace_pattern)
        return self.get_regex_logits_processor(pattern, ban=ban, prompt=prompt, remaining=remaining)

    def get_cfg_logits_processor(self, grammar: str) -> GuidedProcessor:
        """Refuse a grammar that is not regular."""
        raise UnsupportedFeatureError("a guide is for a regular language, which a grammar need not have", value=grammar)
