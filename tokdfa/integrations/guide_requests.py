"""Requests for a guide, read from the parameters that engines pass on: for vLLM and SGLang."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tokdfa.base.arrays import id_array
from tokdfa.base.errors import WrongTypeError
from tokdfa.base.suggestions import nearest
from tokdfa.jobs.guiding.api import Guide, guide
from tokdfa.jobs.guiding.bans import ban
from tokdfa.jobs.guiding.masked import checked_remaining
from tokdfa.jobs.guiding.matchers import Matcher
from tokdfa.jobs.guiding.schemas import pattern_of_schema
from tokdfa.regex.syntax import parse
from tokdfa.tokenizers.protocol import AnyTokenizer

_NAMES = "pattern", "schema", "ban", "prompt", "remaining"


class GuideTexts(NamedTuple):
    """The texts that a request wants, all of them by default; requests for the same texts share a guide."""

    pattern: str | None = None
    ban: tuple[str, ...] = ()

    def guide(self, tokenizer: AnyTokenizer, end: Iterable[int], vocab_size: int) -> Guide:
        """Return the guide of these texts."""
        banned = ban(tokenizer, self.ban) if self.ban else None
        return guide(tokenizer, self.pattern, ban=banned, end=end, vocab_size=vocab_size)


class GuideRequest(NamedTuple):
    """The texts that a request wants, the prompt before them, and the number of ids that they may have."""

    texts: GuideTexts
    # True is the prompt or the number of the request itself, if the engine tells it; None is none.
    prompt: tuple[int, ...] | bool | None
    remaining: int | bool | None

    def matcher(self, guide: Guide, prompt: Sequence[int] | None = None, most_ids: int | None = None) -> Matcher:
        """Return the matcher of a request with a prompt and a greatest number of new ids; None if they are not told.

        Raises
        ------
        TokenStreamError
            If the prompt is not canonical, or no sequence has as few ids.
        PatternError
            If no text can follow the prompt.
        WrongTypeError
            If the request asks for one of them that is not told.
        """
        for asked, told, name in ((self.prompt, prompt, "prompt"), (self.remaining, most_ids, "remaining")):
            if asked is True and told is None:
                raise WrongTypeError("the engine does not tell it", value=True, where=name, hint="give it instead")
        ids = prompt if self.prompt is True else self.prompt
        state = guide.initial if ids is None else guide.after_prompt(ids)
        return Matcher(guide, remaining=most_ids if self.remaining is True else self.remaining, state=state)


def request_of(value: Any, where: str) -> GuideRequest:
    """Return the request in a parameter: a pattern, True for all canonical texts, or a mapping.

    A mapping may have a ``pattern``, or a ``schema`` of JSON; ``ban``, a list of words; ``prompt``, a list of ids; and
    ``remaining``, a number of ids. True for one of the last two is the request's own.

    Raises
    ------
    WrongTypeError
        If it is something else.
    PatternError, UnsupportedFeatureError
        If the pattern cannot be read, or the schema cannot be obeyed.

    Examples
    --------
    >>> request_of({"pattern": "[0-9]+", "prompt": True, "remaining": 20}, "extra_args['tokdfa']").remaining
    20
    """
    fields: Any = {} if value is True else {"pattern": value} if isinstance(value, str) else value
    if not isinstance(fields, Mapping):
        raise WrongTypeError("a pattern, a mapping or true is expected", value=value, where=where)
    for name in fields:
        if name not in _NAMES:
            near = nearest(str(name), _NAMES)
            hint = f"{near} is the nearest" if near else f"one of {', '.join(_NAMES)}"
            raise WrongTypeError("a guide has no such parameter", value=name, where=where, hint=hint)
    pattern, schema, banned, prompt, remaining = map(fields.get, _NAMES)
    if schema is not None:
        if pattern is not None:
            raise WrongTypeError("give a pattern or a schema, one of them", value=pattern, where=where)
        pattern = pattern_of_schema(schema, where=f"{where}, schema")
    elif pattern is not None:
        if not isinstance(pattern, str):
            raise WrongTypeError("a pattern is a string", value=pattern, where=where)
        parse(pattern)
    if banned is not None and not isinstance(banned, (list, tuple)):
        raise WrongTypeError("words are several, as in a list", value=banned, where=where)
    if remaining is not None and remaining is not True:
        remaining = checked_remaining(remaining, f"{where}, remaining")
    if prompt is not None and prompt is not True:
        prompt = tuple(id_array(prompt).tolist())
    return GuideRequest(GuideTexts(pattern, tuple(banned or ())), prompt, remaining)
