"""The function `check_template`: the seams of a chat template, whether its prompts are kept, and injection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import NamedTuple

from tokdfa.base.budget import total_of
from tokdfa.base.errors import FileFormatError, LimitExceededError, UnsupportedFeatureError
from tokdfa.base.suggestions import expect
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.splices.encoding import RuleName, checked, rule_of
from tokdfa.jobs.splices.injection import Attack, check_injection, confirmed_attack
from tokdfa.jobs.splices.parts import Part, Slot
from tokdfa.jobs.templates.contents import filled
from tokdfa.jobs.templates.prefixes import TemplatePrefix, pairs_of, prefixes_of
from tokdfa.jobs.templates.rendering import CHAINS, SHAPES, Rendering, Shape, rendered, unkept
from tokdfa.jobs.templates.seams import UNREAL, Decider, TemplateSeam, seams_of
from tokdfa.tokenizers.encoding.special import looks_like_control
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["TemplateCheck", "check_template"]

_MOST_RENDERING_SECONDS = 10
_BOS = ("<|begin_of_text|>", "<s>", "<BOS_TOKEN>", "<|begin▁of▁sentence|>", "<bos>")
_EOS = ("<|eot_id|>", "<|im_end|>", "</s>", "<|END_OF_TURN_TOKEN|>", "<|end|>", "<|endoftext|>", "<eos>")


@dataclass(frozen=True, slots=True)
class TemplateCheck(Displayed):
    """The decisions about a template.

    Attributes
    ----------
    seams : tuple of TemplateSeam
        Seams that differ, each once.
    attacks : dict
        For "any text" and for "spelling none" (texts that spell no special token by themselves): an attack, None if
        there is a proof that there is none, or the reason why it is undecided, as a string. Added tokens that are text
        count if the template writes them and they look like control tokens, such as ``<tool_call>``.
    rendered, refused : tuple of str
        The conversations that were rendered, and those that the template refuses.
    prefixes : tuple of TemplatePrefix
        Whether the ids of conversations, with and without the generation prompt, are kept when a turn is added; those
        that are alike once.

    Examples
    --------
    >>> found = tokdfa.TemplateCheck((), {"any text": None, "spelling none": None}, ("user",), ())
    >>> bool(found)
    True
    """

    seams: tuple[TemplateSeam, ...]
    attacks: dict[str, Attack | str | None]
    rendered: tuple[str, ...]
    refused: tuple[str, ...]
    prefixes: tuple[TemplatePrefix, ...] = ()

    def __bool__(self) -> bool:
        is_safe = all(attack is None for attack in self.attacks.values())
        is_kept = all(prefix.answer == "kept" for prefix in self.prefixes)
        return is_safe and is_kept and all(seam.answer == "safe" for seam in self.seams)


def check_template(
    tokenizer: AnyTokenizer,
    template: str,
    *,
    rule: RuleName = "transformers",
    variables: Mapping[str, str | None] | None = None,
    shapes: Sequence[Shape] = SHAPES,
    max_seconds: float = 60.0,
) -> TemplateCheck:
    r"""Decide the seams of a chat template, whether its prompts are kept, and whether contents can make control ids.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer.
    template : str
        A Jinja template, as in ``chat_template`` of transformers and llama.cpp.
    rule : {"transformers", "tiktoken", "mistral-common", "llama.cpp"}
        The library that encodes the rendered text.
    variables : mapping of str, optional
        Variables of the template; None for one that is not set. By default ``bos_token`` and ``eos_token`` are those
        that are usual for the special tokens.
    shapes : sequence of Shape
        The conversations. Those that they grow from, turn by turn, are rendered as well; by default the conversations
        of up to six turns, with and without tools.
    max_seconds : float
        The processor time for all decisions; those that are left when it is used up are undecided. Rendering may take
        as much, and at most 10 s.

    Returns
    -------
    TemplateCheck
        Truthy if every seam is safe, every conversation is kept when a turn is added, and no attack exists.

    Raises
    ------
    WrongTypeError
        If the template or a variable is not a text.
    FileFormatError
        If the template cannot be parsed, refuses every conversation, or writes no content.
    LimitExceededError
        If it takes too much time or memory.
    UnsupportedFeatureError
        If jinja2 is not installed, or the tokenizer is of another kind.

    Notes
    -----
    The template is rendered in a sandbox in a child process without files, for a finite set of conversations with
    marked contents. Stripping is modelled, and so are the first and the last piece of ``split``. A decision by what a
    content is, contains, begins or ends with is followed on both sides. Any other operation of a template on a content
    leaves its seams undecided, and also whether prompts are kept, unless contents are found for which they are not.

    Examples
    --------
    >>> template = "{% for m in messages %}{{ m.role }}: {{ m.content | trim }}\n{% endfor %}"
    >>> found = tokdfa.check_template(tokdfa.default_tokenizer(), template)
    >>> [(seam.side, seam.slot, seam.answer) for seam in found.seams][:2]
    [('before', 'user 1', 'splits'), ('after', 'user 1', 'safe')]
    """
    made_by_rules = checked(tokenizer, "tokdfa.check_template(tokenizer, template)")
    texts = [template, *(text for text in (variables or {}).values() if text is not None)]
    for text in texts:
        expect(text, str, "a text", "tokdfa.check_template(tokenizer, template, variables={name: text})")
    contents = {special.content for special in made_by_rules.specials}
    usual = {"bos_token": _first(_BOS, contents), "eos_token": _first(_EOS, contents)}
    given = {name: text for name, text in {**usual, **(variables or {})}.items() if text is not None}
    pairs = pairs_of(CHAINS if shapes is SHAPES else shapes)
    growing = [*dict.fromkeys(shape for pair in pairs for shape in pair[1:])]
    rendering_seconds = min(ceil(max_seconds), _MOST_RENDERING_SECONDS)
    every = rendered(template, [*shapes, *growing], given, rendering_seconds)
    found = [rendering for paths in every[: len(shapes)] for rendering in paths]
    good = [rendering for rendering in found if not rendering.refused]
    names = tuple(dict.fromkeys(rendering.shape.name for rendering in good))
    refused = {rendering.shape.name: rendering.refused for rendering in reversed(found) if rendering.refused}
    reasons = tuple(f"{shape.name}: {refused[shape.name]}" for shape in shapes if shape.name not in names)
    if not good:
        raise FileFormatError("the template refuses every conversation", value=reasons[0])
    if not any(rendering.notes or _slots(rendering.parts) for rendering in good):
        raise FileFormatError("the template writes the contents of no conversation", value=template[:40])
    by_shape = dict(zip(growing, every[len(shapes) :], strict=True))
    control = _control(made_by_rules, good)
    kinds = {name: _Kind(rule, spelled, control) for name, spelled in (("any text", True), ("spelling none", False))}
    with total_of(max_seconds) as total:
        attacks = {name: _attack(made_by_rules, good, kind) for name, kind in kinds.items()}
        decider = Decider(rule_of(rule, made_by_rules).tokenizer, total)
        seams = seams_of(decider, good)
        prefixes = prefixes_of(pairs, by_shape, decider, partial(unkept, template, given, rendering_seconds))
    return TemplateCheck(seams, attacks, names, reasons, prefixes)


def _first(names: Sequence[str], contents: set[str]) -> str:
    return next((name for name in names if name in contents), "")


def _slots(parts: Sequence[Part]) -> list[Slot]:
    return [part for part in parts if isinstance(part, Slot)]


class _Kind(NamedTuple):
    """The attacks that count: by a library's rule, by contents that may spell special tokens or not, on these ids."""

    rule: RuleName
    spelled: bool
    control: frozenset[int]


def _attack(tokenizer: Tokenizer, renderings: Sequence[Rendering], kind: _Kind) -> Attack | str | None:
    """Return the shortest attack on some rendering; None for a proof that there is none; otherwise why not decided."""
    attacks: list[Attack] = []
    undecided = ""
    known: dict[object, Attack | str | None] = {}
    for rendering in renderings:
        if rendering.notes:
            note = rendering.notes[0]
            undecided = f"line {note.line} of the template: {note.what}"
        if not _slots(rendering.parts):
            continue
        # Parts of contents count as any texts: a proof for these is a proof.
        key = tuple(
            replace(part, name="", pattern=None) if isinstance(part, Slot) else part for part in rendering.parts
        )
        if key not in known:
            known[key] = _attacked(tokenizer, key, kind)
        attack = known[key]
        if isinstance(attack, str):
            undecided = attack
        # With a note it is an attack on the text rendered if the template does nothing to the content.
        elif attack is not None and not rendering.notes:
            real = _real(tokenizer, rendering, key, attack, kind)
            if real is None:
                undecided = UNREAL
            else:
                attacks.append(real)
    if attacks:
        least = min(attacks, key=lambda each: len("".join(each.values).encode()))
        return replace(least, shortest=least.shortest and undecided != UNREAL)
    return undecided or None


def _real(
    tokenizer: Tokenizer, rendering: Rendering, parts: Sequence[Part], attack: Attack, kind: _Kind
) -> Attack | None:
    """Return an attack by contents of the conversation: this one, or one that they give in place of it."""
    # A content may spell a special token where its parts do not.
    if not kind.spelled and rendering.origins:
        return None
    for values in filled(_slots(rendering.parts), attack.values, rendering.conditions, rendering.origins):
        if values == [*attack.values]:
            return attack
        found = confirmed_attack(tokenizer, parts, values, **kind._asdict())
        if found is not None:
            return replace(found, shortest=False)
    return None


def _control(tokenizer: Tokenizer, renderings: Sequence[Rendering]) -> frozenset[int]:
    """Return the ids of special tokens that are not text, and of those that are written as control tokens.

    Gemma's added token of a line break is text, also where a template writes it.
    """
    written = "".join(part for rendering in renderings for part in rendering.parts if isinstance(part, str))
    return frozenset(
        special.id
        for special in tokenizer.specials
        if not special.is_text or (looks_like_control(special.content) and special.content in written)
    )


def _attacked(tokenizer: Tokenizer, parts: Sequence[Part], kind: _Kind) -> Attack | str | None:
    try:
        return check_injection(tokenizer, parts, **kind._asdict()).witness
    except (UnsupportedFeatureError, LimitExceededError) as error:
        return error.what
