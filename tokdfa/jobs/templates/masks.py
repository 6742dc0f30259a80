"""The function `check_masks`: loss masks, compared with the turns that a chat template writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.rollouts.api import iter_rollout_checks
from tokdfa.jobs.rollouts.frameworks import Rollout
from tokdfa.jobs.rollouts.masks import MaskFinding, MaskTally
from tokdfa.jobs.templates.markers import markers_of
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["check_masks"]


def check_masks(
    tokenizer: AnyTokenizer,
    rollouts: Iterable[Rollout],
    template: str,
    *,
    variables: Mapping[str, str | None] | None = None,
) -> list[MaskFinding]:
    """Find the faults of loss masks, which are compared with the turns of each conversation.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    rollouts : iterable of Rollout
        The ids of each conversation with its mask.
    template : str
        The source of the chat template. Turns are found by the texts that it writes around contents.
    variables : mapping, optional
        Other texts that the template reads, such as ``bos_token``.

    Returns
    -------
    list of MaskFinding
        Each fault with its kind, the number of cases, the first place, and a sentence, its `reason`; none if the masks
        are sound.

    Raises
    ------
    TokenStreamError
        If a rollout cannot be checked, as for :func:`tokdfa.check_rollout`; or if no reply is found in any.
    FileFormatError
        If the template refuses a conversation of a user and the assistant.

    Examples
    --------
    >>> template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> ids = tokenizer.encode("<user>Hi</user><assistant>Yes</assistant>")
    >>> [found.kind.value for found in tokdfa.check_masks(tokenizer, [tokdfa.Rollout(ids)], template)]
    ['text-trained']
    """
    tally = MaskTally(tokenizer, markers_of(tokenizer, template, variables or {}))

    def added() -> Iterator[Rollout]:
        for number, rollout in enumerate(rollouts):
            tally.add(rollout, f"rollout {number}")
            yield rollout

    for check in iter_rollout_checks(tokenizer, added()):
        tally.judge(check)
    if tally.n_records and not tally.n_replies:
        raise TokenStreamError("no reply is found: the markers of the chat template are in no record")
    return tally.findings
