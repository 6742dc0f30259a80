"""The markers of a chat template: the texts that it writes before and after the contents of each role."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tokdfa.base.errors import FileFormatError
from tokdfa.jobs.rollouts.turns import Markers
from tokdfa.jobs.splices.parts import Slot
from tokdfa.jobs.templates.rendering import Rendering, Shape, rendered
from tokdfa.tokenizers.protocol import AnyTokenizer

_TALK = ("user", "assistant", "user", "assistant")
_SHAPES = (
    Shape(("user", "assistant"), prompt=False),
    Shape(("user",), prompt=False),
    Shape(("user",), prompt=True),
    Shape(_TALK, prompt=False),
    Shape(("system", *_TALK), prompt=False),
    Shape(("user", "call", "tool", "assistant"), tools=True, prompt=False),
)


def markers_of(tokenizer: AnyTokenizer, template: str, variables: Mapping[str, str | None]) -> Markers:
    """Return the markers of a template, which is rendered for a few conversations.

    An opening is the generation prompt, or where there is none the text between a user and the assistant. The stop
    token is the first special token after a reply, and ``eos_token``.

    Examples
    --------
    >>> template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
    >>> markers_of(tokdfa.default_tokenizer(), template, {})
    Markers(openings=('<assistant>',), skipped=(), headers=('<user>', '<system>', '<tool>'), stops=())
    """
    given = {name: text for name, text in variables.items() if text is not None}
    every = rendered(template, _SHAPES, given)
    talk, quiet, asked = ([each for each in paths if not each.refused] for paths in every[:3])
    if not talk:
        raise FileFormatError("the template refuses a conversation of a user and the assistant", value=template[:40])
    prompt = _written(asked)[len(_written(quiet)) :] if _written(asked).startswith(_written(quiet)) else ""
    closing, ending = (_after_last(paths) for paths in (talk, quiet))
    specials = sorted((special.content for special in tokenizer.specials if special.content), key=len, reverse=True)
    bos = given.get("bos_token", "")
    openings, skipped, headers = dict.fromkeys([prompt] * bool(prompt)), dict[str, None](), dict[str, None]()
    for role, before in _before_contents(each for paths in every for each in paths):
        own = before.removeprefix(bos)
        if role != "assistant":
            _add(headers, _after(own.removeprefix(closing), (closing, *openings)))
        elif prompt and prompt in own:
            skipped[own.rpartition(prompt)[2]] = None
        else:
            own = own.removeprefix(ending) or own
            _add(openings, own if _known(openings, own) else _from_last(own, specials))
    if not openings:
        what = "the template writes nothing before a reply, so replies cannot be found"
        raise FileFormatError(what, value=template[:40])
    # The longest of those that begin there is last.
    found = {closing.find(text): text for text in reversed(specials) if text in closing}
    stops = [found[min(found)], given.get("eos_token", "")] if found else []
    rows = (openings, skipped, headers, dict.fromkeys(text for text in stops if text in specials))
    return Markers(*(tuple(text for text in row if text) for row in rows))


def _known(markers: Iterable[str], text: str) -> bool:
    return any(text.endswith(marker) for marker in markers)


def _add(markers: dict[str, None], text: str) -> None:
    """Add a marker, unless it is blank or ends with a known one."""
    if text.strip() and not _known(markers, text):
        markers[text] = None


def _before_contents(renderings: Iterable[Rendering]) -> Iterator[tuple[str, str]]:
    """Yield the role of each content that is written, and the text of the template before it."""
    for rendering in renderings:
        text, known = "", set()
        for part in rendering.parts:
            if isinstance(part, str):
                text = part
                continue
            name = rendering.content_of(part)
            if name not in known:
                known.add(name)
                yield name.split()[0], text
            text = ""


def _written(renderings: list[Rendering]) -> str:
    """Return the text that a rendering writes, with a mark in place of contents."""
    parts = renderings[0].parts if renderings else ()
    return "".join("\0" if isinstance(part, Slot) else part for part in parts)


def _after_last(renderings: list[Rendering]) -> str:
    """Return the text after the last content."""
    return _written(renderings).rpartition("\0")[2]


def _after(text: str, markers: Iterable[str]) -> str:
    """Return a text from after the last of some markers on."""
    for marker in markers:
        text = text.rpartition(marker)[2] if marker.strip() else text
    return text


def _from_last(text: str, specials: Iterable[str]) -> str:
    """Return a text from its last special token on; all of it if it has none."""
    at = max((text.rfind(special) for special in specials), default=-1)
    return text[max(at, 0) :]
