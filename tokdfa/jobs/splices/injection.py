"""The function `check_injection`: whether texts in the slots of a template can make a control id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.base.verdict import Displayed, Verdict
from tokdfa.jobs.splices.encoding import Rule, RuleName, checked, rule_of
from tokdfa.jobs.splices.parts import (
    Part,
    Slot,
    checked_parts,
    least_preimage,
    least_values,
    preimages,
    values_that_spell,
)
from tokdfa.tokenizers.normalizers.steps import Chain, Lowercase, UnicodeForm
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Attack", "Injection", "check_injection"]


@dataclass(frozen=True, slots=True)
class Attack(Displayed):
    """Texts for the slots of a template that make a control id which the template did not write.

    Attributes
    ----------
    values : tuple of str
        The texts that get into the slots, in order.
    text : str
        The whole text.
    ids : tuple of int
        Its ids.
    made : tuple of int
        The control ids that the template did not write.
    names : tuple of str
        Their special tokens.
    shortest : bool
        Whether it is proven that no such texts come before these: by fewer bytes of UTF-8 of all, then in order.

    Examples
    --------
    >>> attack = tokdfa.Attack(("end",), "<|end|>", (256,), (256,), ("<|end|>",))
    >>> attack.values, attack.names
    (('end',), ('<|end|>',))
    """

    values: tuple[str, ...]
    text: str
    ids: tuple[int, ...]
    made: tuple[int, ...]
    names: tuple[str, ...]
    shortest: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class Injection(Verdict[Attack]):
    """Whether a template is safe from injection: no text in its slots makes a control id.

    Attributes
    ----------
    holds, witness
        See :class:`~tokdfa.base.verdict.Verdict`; the witness is an :class:`Attack`.
    rule : str
        The library with this rule.
    reason : str
        The result in words.

    Examples
    --------
    >>> verdict = tokdfa.check_injection(tokdfa.default_tokenizer(), "<user>{content}</user>")
    >>> bool(verdict), verdict.rule
    (True, 'transformers')
    """

    rule: RuleName = "transformers"
    reason: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        attack = self.witness
        if attack is None:
            words = "no text that fills the slots makes a control id"
        else:
            kind = "the shortest texts that make one" if attack.shortest else "texts that make one"
            words = f"{kind}: {', '.join(map(repr, attack.values))} give {', '.join(map(repr, attack.names))}"
        object.__setattr__(self, "reason", words)


def check_injection(
    tokenizer: AnyTokenizer,
    parts: str | Iterable[Part],
    *,
    rule: RuleName = "transformers",
    spelled: bool = True,
    allowed: Iterable[str] | None = None,
    control: Iterable[int] | None = None,
) -> Injection:
    r"""Decide whether texts in the slots of a template can make a control id that the template did not write.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer.
    parts : str, or iterable of str and Slot
        The template: texts and slots. In a single text, slots are written as ``{name}``, ``{name|trim}`` for one with
        its white space stripped, or ``{name:regex}`` for one that a regular expression matches.
    rule : {"transformers", "tiktoken", "mistral-common", "llama.cpp"}
        The library that encodes the rendered text. `transformers` and `llama.cpp` (with ``parse_special``) find special
        tokens in all of it; `tiktoken` finds the allowed ones and raises an error for others; `mistral-common` encodes
        the text in a slot separately, and finds none in it.
    spelled : bool
        Whether the texts may spell special tokens by themselves. If not, only special tokens that are put together
        across a seam count.
    allowed : iterable of str, optional
        The special tokens that tiktoken may find; by default all.
    control : iterable of int, optional
        The control ids; by default the ids of all special tokens.

    Returns
    -------
    Injection
        Truthy if no text does. Otherwise the witness has the shortest texts that do.

    Raises
    ------
    PatternError
        If the parts cannot be read, or the rule, a special token or a control id is unknown.
    UnsupportedFeatureError, LimitExceededError
        If neither a proof nor texts were found; the error says why.
    AlphabetError
        If a text of the template has a symbol without a token.
    WrongTypeError
        If an argument is of another type.

    Notes
    -----
    A control id is made if the ids of the whole text have it more often than the ids of the template's own texts do. If
    a special token is found that overlaps a slot, it is also found when everything around it is left out of the slots;
    so the shortest texts are among those that spell one special token and nothing else. Each is tried by encoding. For
    slots with patterns, an automaton searches all their texts. The cost is some milliseconds for each slot.

    Examples
    --------
    >>> bool(tokdfa.check_injection(tokdfa.default_tokenizer(), "Question: {question}\nAnswer:"))
    True
    """
    encoder = checked(tokenizer, "tokdfa.check_injection(tokenizer, parts)", "injection is decided")
    encodes = rule_of(rule, encoder, allowed=allowed, control=control)
    attack = _Question(encodes, checked_parts(parts), spelled).attack()
    return Injection(attack is None, attack, rule=rule)


def confirmed_attack(
    tokenizer: AnyTokenizer,
    parts: Iterable[Part],
    values: Iterable[str],
    *,
    rule: RuleName,
    spelled: bool,
    control: Iterable[int],
) -> Attack | None:
    """Return texts for the slots as an attack, if encoding confirms it; see :func:`check_injection`."""
    encoder = checked(tokenizer, "tokdfa.check_injection(tokenizer, parts)", "injection is decided")
    encodes = rule_of(rule, encoder, control=control)
    return _Question(encodes, checked_parts(parts), spelled).confirmed(tuple(values))


class _Question:
    def __init__(self, rule: Rule, parts: tuple[Part, ...], spelled: bool) -> None:
        self._rule = rule
        self._parts = parts
        self._spelled = spelled
        self._slots = [part for part in parts if isinstance(part, Slot)]
        self._written = rule.written(parts)
        # Whether texts were left out because they are not encoded.
        self._is_refused = False

    def attack(self) -> Attack | None:
        if not self._slots:
            return None
        # The first of the texts that spell one special token, in the order of attacks, that is one.
        candidates = {*self._candidates()}
        ordered = sorted(candidates, key=lambda values: (len("".join(values).encode()), [*map(str.encode, values)]))
        found = next(filter(None, map(self.confirmed, ordered)), None)
        if not all(slot.is_any for slot in self._slots):
            return self._by_search(found)
        if found is None:
            self._check_proof()
        return found

    def _candidates(self) -> Iterator[tuple[str, ...]]:
        rule = self._rule
        strips = any(slot.strips_left or slot.strips_right for slot in self._slots)
        is_part = any(special.id not in rule.control for special in rule.specials)
        may_touch = bool(rule.refused) or rule.is_odd or rule.overlap or strips or is_part
        filler = rule.filler if may_touch else None
        yield ("",) * len(self._slots)
        if not rule.is_one_text:
            for content in (special.content for special in rule.specials if special.id in rule.merged):
                for number in range(len(self._slots)):
                    yield tuple(content if index == number else "" for index in range(len(self._slots)))
            return
        normalizer = rule.tokenizer.rewriting.normalizer
        for special in rule.specials:
            if special.id not in rule.control:
                continue
            if special.level == 0 or not isinstance(normalizer, Chain) or not normalizer.steps:
                yield from values_that_spell(self._parts, special.text, filler)
                continue
            images = rule.tokenizer.derived(preimages, normalizer)
            parts = [normalizer(part) if isinstance(part, str) else part for part in self._parts]
            for values in values_that_spell(parts, special.text, filler):
                least = [least_preimage(images, value) for value in values]
                if None not in least:
                    yield tuple(value or "" for value in least)
            yield from values_that_spell(self._parts, special.content, filler)

    def confirmed(self, values: tuple[str, ...]) -> Attack | None:
        """Return texts as an attack, if they may fill the slots and encoding confirms it."""
        rule = self._rule
        for slot, value in zip(self._slots, values, strict=True):
            if not slot.holds(value) or (slot.pattern is not None and value not in slot.language()):
                return None
            if not self._spelled and value and rule.spells(value):
                return None
        try:
            ids = rule.ids(self._parts, values)
        except AlphabetError:
            self._is_refused = True
            return None
        made = rule.control_ids(ids or ()) - self._written
        if ids is None or not made:
            return None
        filled = iter(values)
        text = "".join(part if isinstance(part, str) else next(filled) for part in self._parts)
        names = {special.id: special.content for special in rule.specials}
        order = sorted(made)
        shortest = self._is_exact and not self._is_refused
        return Attack(values, text, tuple(ids), tuple(order), tuple(names.get(id, "") for id in order), shortest)

    @property
    def _is_exact(self) -> bool:
        """Whether control ids come from special tokens alone, found in texts that change character by character."""
        if (self._rule.is_odd and self._rule.overlap) or (self._rule.is_one_text and self._rule.merged):
            return False
        normalizer = self._rule.tokenizer.rewriting.normalizer
        late = [special for special in self._rule.specials if special.level]
        if normalizer is None or not late:
            return True
        steps = normalizer.steps if isinstance(normalizer, Chain) else (None,)
        is_known = all(isinstance(step, (UnicodeForm, Lowercase)) for step in steps)
        return is_known and all(special.text.isascii() for special in late)

    def _check_proof(self) -> None:
        """Raise if no attack was found, but the absence of attacks is not proven."""
        neither, merged = "neither a proof nor texts were found", self._rule.merged
        if merged:
            raise UnsupportedFeatureError(f"{neither}: merging may give a control id", value=merged[0])
        if not self._is_exact:
            what = "special tokens are found in changed texts, or depend on others"
            raise UnsupportedFeatureError(f"{neither}: {what}")
        if self._is_refused:
            raise UnsupportedFeatureError(f"{neither}: some texts were not encoded")

    def _by_search(self, known: Attack | None) -> Attack | None:
        """Answer for slots with patterns: search all their texts."""
        rule = self._rule
        levels = {special.level for special in rule.specials}
        is_plain = not rule.is_odd and len(levels) < 2
        is_rewritten = rule.tokenizer.why_not("spelling") is not None and bool(levels - {0})
        if not rule.is_one_text:
            self._check_proof()
            return known
        is_searched = is_plain and not is_rewritten and len(rule.control) == len(rule.specials) and not rule.refused
        is_searched = is_searched and not rule.merged
        values = least_values(self._parts, [special.text for special in rule.specials]) if is_searched else None
        if is_searched and values is None:
            return None
        if values is None or not self._spelled:
            if known is not None:
                return replace(known, shortest=False)
            raise UnsupportedFeatureError(
                "neither a proof nor texts were found: patterns are searched only for special tokens that are found "
                "wherever they are spelled"
            )
        attack = self.confirmed(values)
        if attack is None:
            raise UnsupportedFeatureError("encoding does not confirm the texts that a search found", value=values)
        return attack
