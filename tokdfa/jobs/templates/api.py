"""The function `check_template`: the seams of a chat template, whether its prompts are kept, and injection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tokdfa.base.errors import FileFormatError, LimitExceededError, UnsupportedFeatureError
from tokdfa.base.suggestions import wrong_argument
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.splices.api import Splice, SplitTexts
from tokdfa.jobs.splices.encoding import checked
from tokdfa.jobs.splices.injection import Attack, check_injection
from tokdfa.jobs.splices.parts import Part, Slot
from tokdfa.jobs.splices.rules import RuleName, rule_of
from tokdfa.jobs.splices.turns import near_seam, seam_of
from tokdfa.jobs.templates.prefixes import TemplatePrefix, pairs_of, prefixes_of
from tokdfa.jobs.templates.rendering import CHAINS, SHAPES, Note, Rendering, Shape, rendered
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["TemplateCheck", "TemplatePrefix", "TemplateSeam", "check_template"]

Answer: TypeAlias = tuple[str, SplitTexts | None, str]

_BOS = ("<|begin_of_text|>", "<s>", "<BOS_TOKEN>", "<|begin▁of▁sentence|>", "<bos>")
_EOS = ("<|eot_id|>", "<|im_end|>", "</s>", "<|END_OF_TURN_TOKEN|>", "<|end|>", "<|endoftext|>", "<eos>")


@dataclass(frozen=True, slots=True)
class TemplateSeam(Displayed):
    """A seam of a template: where a content begins or ends.

    Attributes
    ----------
    shape : str
        The first conversation that has it.
    slot : str
        The content.
    side : {"before", "after"}
        Whether it is before or after the content.
    answer : {"safe", "splits", "undecided"}
        Whether the text before it and the text after it may always be encoded separately.
    witness : SplitTexts, optional
        The shortest texts where they may not.
    reason : str
        Why it is undecided.
    line : int, optional
        The line of the template that does something to the content that is not modelled.
    count : int
        The number of seams in all conversations that are alike.

    Examples
    --------
    >>> seam = tokdfa.TemplateSeam("user", "user 1", "before", "undecided", reason="the filter upper", line=3)
    >>> seam.answer, seam.line
    ('undecided', 3)
    """

    shape: str
    slot: str
    side: str
    answer: str
    witness: SplitTexts | None = None
    reason: str = ""
    line: int | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class TemplateCheck(Displayed):
    """The decisions about a template.

    Attributes
    ----------
    seams : tuple of TemplateSeam
        Seams that differ, each once.
    attacks : dict
        For "any text" and for "spelling none" (texts that spell no special token by themselves): an attack, None if
        there is a proof that there is none, or the reason why it is undecided, as a string.
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
    max_seconds: int = 10,
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
    max_seconds : int
        The CPU time that rendering may take.

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
    marked contents. Stripping white space is modelled. Any other operation of a template on a content, or decision by
    it, leaves its seams undecided, and also whether prompts are kept, unless contents are found for which they are not.

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
        if not isinstance(text, str):
            raise wrong_argument(text, "a text", "tokdfa.check_template(tokenizer, template, variables={name: text})")
    contents = {special.content for special in made_by_rules.specials}
    usual = {"bos_token": _first(_BOS, contents), "eos_token": _first(_EOS, contents)}
    given = {name: text for name, text in {**usual, **(variables or {})}.items() if text is not None}
    pairs = pairs_of(CHAINS if shapes is SHAPES else shapes)
    growing = [*dict.fromkeys(shape for pair in pairs for shape in pair[1:])]
    every = rendered(template, [*shapes, *growing], given, max_seconds)
    found = every[: len(shapes)]
    good = [rendering for rendering in found if not rendering.refused]
    refused = tuple(f"{rendering.shape.name}: {rendering.refused}" for rendering in found if rendering.refused)
    if not good:
        raise FileFormatError("the template refuses every conversation", value=refused[0])
    if not any(rendering.notes or _slots([rendering.parts]) for rendering in good):
        raise FileFormatError("the template writes the contents of no conversation", value=template[:40])
    seams: dict[object, TemplateSeam] = {}
    known: dict[object, Splice] = {}
    encoder = rule_of(rule, made_by_rules).tokenizer
    for rendering in good:
        _add_seams(encoder, rendering, seams, known)

    def decide(before: Sequence[Part], after: Sequence[Part]) -> Answer:
        return _answer(encoder, before, after, known)

    by_shape = dict(zip(growing, every[len(shapes) :], strict=True))
    prefixes = prefixes_of(template, pairs, by_shape, given, max_seconds, decide)
    kinds = ("any text", True), ("spelling none", False)
    attacks = {name: _attack(made_by_rules, good, rule, spelled) for name, spelled in kinds}
    return TemplateCheck(tuple(seams.values()), attacks, tuple(one.shape.name for one in good), refused, prefixes)


def _first(names: Sequence[str], contents: set[str]) -> str:
    return next((name for name in names if name in contents), "")


def _add_seams(
    tokenizer: Tokenizer, rendering: Rendering, seams: dict[object, TemplateSeam], known: dict[object, Splice]
) -> None:
    noted = {slot: note for note in reversed(rendering.notes) for slot in note.slots}
    parts = rendering.parts
    missing = [name for name in rendering.shape.slots if name not in {p.name for p in parts if isinstance(p, Slot)}]
    for name in missing:
        if name in noted:
            _add(seams, ("missing", name.split()[0], noted[name]), _undecided(rendering, name, "before", noted[name]))
    for number, part in enumerate(parts):
        if not isinstance(part, Slot):
            continue
        for side, at in (("before", number), ("after", number + 1)):
            before, after = parts[:at], parts[at:]
            if not before or not after:
                continue
            key: object = "noted", part.name.split()[0], side, noted.get(part.name)
            notes = [noted[part.name]] if part.name in noted else []
            if not notes:
                near = near_seam(tokenizer, before, after)
                notes = [noted[slot.name] for slot in _slots(near) if slot.name in noted]
                key = tuple(tuple(map(_bare, row)) for row in near), bool(notes)
            if notes or key in seams:
                _add(seams, key, seams[key] if key in seams else _undecided(rendering, part.name, side, notes[0]))
                continue
            answer = _answer(tokenizer, before, after, known)
            _add(seams, key, TemplateSeam(rendering.shape.name, part.name, side, *answer))


def _slots(rows: Sequence[Sequence[Part]]) -> list[Slot]:
    return [part for row in rows for part in row if isinstance(part, Slot)]


def _bare(part: Part) -> object:
    return part if isinstance(part, str) else (part.strips_left, part.strips_right)


def _add(seams: dict[object, TemplateSeam], key: object, seam: TemplateSeam) -> None:
    seams[key] = replace(seams[key], count=seams[key].count + 1) if key in seams else seam


def _undecided(rendering: Rendering, slot: str, side: str, note: Note) -> TemplateSeam:
    return TemplateSeam(rendering.shape.name, slot, side, "undecided", None, note.what, note.line)


def _answer(tokenizer: Tokenizer, before: Sequence[Part], after: Sequence[Part], known: dict[object, Splice]) -> Answer:
    """Return the answer about a seam, two texts for which it splits, and why it is undecided."""
    try:
        found = seam_of(tokenizer, before, after, quick=True, known=known)
    except (UnsupportedFeatureError, LimitExceededError) as error:
        return "undecided", None, error.what
    return "safe" if found else "splits", found.witness, ""


def _attack(
    tokenizer: Tokenizer, renderings: Sequence[Rendering], rule: RuleName, spelled: bool
) -> Attack | str | None:
    """Return the shortest attack on some rendering; None for a proof that there is none; otherwise why not decided."""
    best: Attack | None = None
    undecided = ""
    for rendering in renderings:
        if rendering.notes:
            note = rendering.notes[0]
            undecided = f"line {note.line} of the template: {note.what}"
        if not _slots([rendering.parts]):
            continue
        try:
            attack = check_injection(tokenizer, rendering.parts, rule=rule, spelled=spelled).witness
        except (UnsupportedFeatureError, LimitExceededError) as error:
            undecided = error.what
            continue
        sizes = [len("".join(one.values).encode()) for one in (attack, best) if one is not None]
        if attack is not None and (best is None or sizes[0] < sizes[1]):
            # With a note it is an attack on the text rendered if the template does nothing to the content.
            best = attack if not rendering.notes else best
    return best if best is not None else undecided or None
