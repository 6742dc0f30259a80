"""The function `check_template`: the seams of a chat template, whether its prompts are kept, and injection.

A rendering is a sequence of texts and slots, say ``["<user>", user 1, "<end>"]``; a longer conversation gives
``["<user>", user 1, "<end><bot>", assistant 2]``. If the first is a prefix of the second part by part, it is a prefix
for every content; if not, there are contents for which it is not. Where the template decides by contents, only these
are looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from tokdfa.base.errors import FileFormatError, LimitExceededError, UnsupportedFeatureError
from tokdfa.base.suggestions import expect
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.splices.api import Splice, SplitTexts
from tokdfa.jobs.splices.encoding import RuleName, checked, rule_of
from tokdfa.jobs.splices.injection import Attack, check_injection
from tokdfa.jobs.splices.parts import Part, Slot
from tokdfa.jobs.splices.turns import near_seam, seam_of
from tokdfa.jobs.templates.rendering import CHAINS, SHAPES, Note, Rendering, Shape, Unkept, rendered, unkept
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["TemplateCheck", "TemplatePrefix", "TemplateSeam", "check_template"]

Kind: TypeAlias = Literal["turn", "prompt"]
Decide: TypeAlias = Callable[[Sequence[Part], Sequence[Part]], tuple[str, SplitTexts | None, str]]
"""A function that decides a seam: "safe", "splits" or "undecided", with two texts where it splits, or the reason."""

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
class TemplatePrefix(Displayed):
    r"""Whether the ids of a conversation are kept when a turn is added.

    Attributes
    ----------
    kind : {"turn", "prompt"}
        Whether the conversation is rendered without or with the generation prompt. The longer one is rendered without.
    shape : str
        The longer conversation, the first that is alike.
    answer : {"kept", "changes", "undecided"}
        Whether the rendering is always a prefix of the rendering of the longer conversation, and the rest has the ids
        that it has alone.
    messages : tuple of (str, str)
        Roles and contents for which the rendering is not a prefix.
    before, after : str
        The renderings of the conversation and of the longer one, for these messages.
    witness : SplitTexts, optional
        Where the rendering is a prefix: two texts at its end that have other ids together than separately.
    reason : str
        Why it is undecided.
    line : int, optional
        The line of the template that does something to a content that is not modelled.
    count : int
        The number of conversations that are alike.

    Examples
    --------
    >>> found = tokdfa.TemplatePrefix("prompt", "user assistant", "changes", (("user", "a"),), "a<bot>\n", "a<bot>b")
    >>> found.messages, found.offset
    ((('user', 'a'),), 6)
    """

    kind: Kind
    shape: str
    answer: str
    messages: tuple[tuple[str, str], ...] = ()
    before: str = ""
    after: str = ""
    witness: SplitTexts | None = None
    reason: str = ""
    line: int | None = None
    count: int = 1

    @property
    def offset(self) -> int:
        """The number of characters in which `before` and `after` agree."""
        pairs = enumerate(zip(self.before, self.after, strict=False))
        return next((i for i, (a, b) in pairs if a != b), min(len(self.before), len(self.after)))


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
        expect(text, str, "a text", "tokdfa.check_template(tokenizer, template, variables={name: text})")
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
    if not any(rendering.notes or _slots(rendering.parts) for rendering in good):
        raise FileFormatError("the template writes the contents of no conversation", value=template[:40])
    encoder = rule_of(rule, made_by_rules).tokenizer
    known: dict[object, Splice] = {}
    decide = partial(_answer, encoder, known)
    seams: dict[object, TemplateSeam] = {}
    for rendering in good:
        _add_seams(encoder, rendering, seams, decide)
    by_shape = dict(zip(growing, every[len(shapes) :], strict=True))
    prefixes = _prefixes(pairs, by_shape, decide, partial(unkept, template, given, max_seconds))
    kinds = ("any text", True), ("spelling none", False)
    attacks = {name: _attack(made_by_rules, good, rule, spelled) for name, spelled in kinds}
    return TemplateCheck(tuple(seams.values()), attacks, tuple(one.shape.name for one in good), refused, prefixes)


def _first(names: Sequence[str], contents: set[str]) -> str:
    return next((name for name in names if name in contents), "")


def _slots(parts: Sequence[Part]) -> list[Slot]:
    return [part for part in parts if isinstance(part, Slot)]


def _bare(part: Part) -> Part:
    return replace(part, name="") if isinstance(part, Slot) else part


def _answer(
    tokenizer: Tokenizer, known: dict[object, Splice], before: Sequence[Part], after: Sequence[Part]
) -> tuple[str, SplitTexts | None, str]:
    """Return the answer about a seam, two texts for which it splits, and why it is undecided."""
    try:
        found = seam_of(tokenizer, before, after, quick=True, known=known)
    except (UnsupportedFeatureError, LimitExceededError) as error:
        return "undecided", None, error.what
    return "safe" if found else "splits", found.witness, ""


def _add_seams(tokenizer: Tokenizer, rendering: Rendering, seams: dict[object, TemplateSeam], decide: Decide) -> None:
    """Add the seams of a rendering, by keys that are the same for seams that are alike."""
    shape, parts = rendering.shape, rendering.parts
    noted = {slot: note for note in reversed(rendering.notes) for slot in note.slots}

    def add(key: object, slot: str, side: str, note: Note | None, at: int = 0) -> None:
        if key in seams:
            seams[key] = replace(seams[key], count=seams[key].count + 1)
            return
        answer = decide(parts[:at], parts[at:]) if note is None else ("undecided", None, note.what)
        seams[key] = TemplateSeam(shape.name, slot, side, *answer, None if note is None else note.line)

    written = {slot.name for slot in _slots(parts)}
    for name in shape.slots:
        if name in noted and name not in written:
            add(("missing", name.split()[0], noted[name]), name, "before", noted[name])
    for number, part in enumerate(parts):
        if not isinstance(part, Slot):
            continue
        for side, at in (("before", number), ("after", number + 1)):
            if not 0 < at < len(parts):
                continue
            note = noted.get(part.name)
            key: object = "noted", part.name.split()[0], side, note
            if note is None:
                near = near_seam(tokenizer, parts[:at], parts[at:])
                note = next((noted[slot.name] for row in near for slot in _slots(row) if slot.name in noted), None)
                key = tuple(tuple(map(_bare, row)) for row in near), note is not None
            add(key, part.name, side, note, at)


def _attack(
    tokenizer: Tokenizer, renderings: Sequence[Rendering], rule: RuleName, spelled: bool
) -> Attack | str | None:
    """Return the shortest attack on some rendering; None for a proof that there is none; otherwise why not decided."""
    attacks: list[Attack] = []
    undecided = ""
    for rendering in renderings:
        if rendering.notes:
            note = rendering.notes[0]
            undecided = f"line {note.line} of the template: {note.what}"
        if not _slots(rendering.parts):
            continue
        try:
            attack = check_injection(tokenizer, rendering.parts, rule=rule, spelled=spelled).witness
        except (UnsupportedFeatureError, LimitExceededError) as error:
            undecided = error.what
            continue
        # With a note it is an attack on the text rendered if the template does nothing to the content.
        if attack is not None and not rendering.notes:
            attacks.append(attack)
    return min(attacks, key=lambda each: len("".join(each.values).encode()), default=undecided or None)


class Pair(NamedTuple):
    """A conversation, with or without the generation prompt, and the one with the next turn."""

    kind: Kind
    short: Shape
    long: Shape


def pairs_of(chains: Iterable[Shape]) -> list[Pair]:
    """Return the pairs of conversations that grow into `chains`, from the first turn of a user on."""
    pairs: dict[Pair, None] = {}
    for chain in chains:
        for n in range(1, len(chain.roles)):
            short, long = chain.first(n), chain.first(n + 1)
            if all(role == "system" for role in short.roles):
                continue
            pairs[Pair("turn", short, long)] = None
            if short.is_asked and not long.is_asked:
                pairs[Pair("prompt", chain.first(n, prompt=True), long)] = None
    return [*pairs]


def rest_of(short: Sequence[Part], long: Sequence[Part]) -> list[Part] | None:
    """Return the parts of `long` after the parts of `short`; None if for some contents it is not a prefix."""
    for index, part in enumerate(short):
        other = long[index] if index < len(long) else ""
        if part == other:
            continue
        is_last = index == len(short) - 1
        if is_last and isinstance(part, str) and isinstance(other, str) and other.startswith(part):
            return [other[len(part) :], *long[index + 1 :]]
        return None
    return [*long[len(short) :]]


def _prefixes(
    pairs: Sequence[Pair],
    renderings: Mapping[Shape, Rendering],
    decide: Decide,
    tried: Callable[[Sequence[tuple[Shape, Shape]]], Sequence[Unkept | None]],
) -> tuple[TemplatePrefix, ...]:
    """Return the decisions about pairs of conversations, those that are alike once; `tried` tries contents."""
    found: dict[Pair, TemplatePrefix] = {}
    for pair in pairs:
        short, long = renderings[pair.short], renderings[pair.long]
        if not (short.refused or long.refused):
            found[pair] = _by_parts(pair, short, long, decide)
    open_pairs = [pair for pair, prefix in found.items() if prefix.answer == "undecided"]
    try:
        trials = tried([(pair.short, pair.long) for pair in open_pairs]) if open_pairs else ()
    except LimitExceededError:
        # Trials are not part of a proof: without them it is not decided.
        trials = [None] * len(open_pairs)
    for pair, texts in zip(open_pairs, trials, strict=True):
        if texts is not None:
            roles = (name.split()[0] for name in pair.long.slots)
            messages = tuple(zip(roles, texts.contents, strict=True))
            found[pair] = TemplatePrefix(
                pair.kind, pair.long.name, "changes", messages, texts.before, texts.after, line=found[pair].line
            )
    # Those that have the same answer for the same reason.
    groups: dict[object, list[TemplatePrefix]] = {}
    for pair, prefix in found.items():
        added = pair.long.roles[-1] if prefix.answer == "changes" else ""
        key = prefix.kind, prefix.answer, added, prefix.witness is None, prefix.reason, prefix.line
        groups.setdefault(key, []).append(prefix)
    return tuple(replace(alike[0], count=len(alike)) for alike in groups.values())


def _by_parts(pair: Pair, short: Rendering, long: Rendering, decide: Decide) -> TemplatePrefix:
    """Return the answer by the parts of both renderings; it is open where these are not a prefix for every content."""
    kind, name = pair.kind, pair.long.name
    for note in (*short.notes, *long.notes):
        return TemplatePrefix(kind, name, "undecided", reason=note.what, line=note.line)
    rest = rest_of(short.parts, long.parts)
    if rest is None:
        return TemplatePrefix(kind, name, "undecided", reason="no contents were found for which it is not a prefix")
    answer, witness, reason = decide(short.parts, rest) if short.parts and rest else ("safe", None, "")
    meaning = {"safe": "kept", "splits": "changes"}
    return TemplatePrefix(kind, name, meaning.get(answer, answer), witness=witness, reason=reason)
