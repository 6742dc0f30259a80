"""The beginning of a window that is walked over: the ids that are possible after some unknown text."""

from __future__ import annotations

from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.table import Table
from tokdfa.regex.unicode.quick_check import boundaries, is_normal
from tokdfa.tokenizers.pretokenizers.token_lift import LiftState, TokenParts

_MOST_CONTINUATIONS = 3
_CONTINUATIONS = bytes(range(0x80, 0xC0))


class Beginning:
    """The possible states of the walk in a text with an unknown beginning: those that any text before leads to.

    The model has a table. `last` is the last id; None if nothing is known of the ids before the next one.

    Notes
    -----
    An id that is found impossible is so after any text. The reverse is not promised: a state may be possible, yet only
    after texts with a last token that may not precede the first one here.

    :meth:`~tokdfa.tokenizers.tokenizer.Tokenizer.safe_cuts` also knows where the text is always cut, sometimes earlier,
    since it considers the following ids. That would change no verdict: up to a safe cut the states that remain are
    followed here, and at such a cut all of them agree. It would only read the ids twice.
    """

    def __init__(self, model: Model) -> None:
        assert model.table is not None
        self._model = model
        self._table: Table = model.table
        self.last: int | None = None
        self._state = self._table.anywhere
        self._continuations = 0
        self._unnormalized = b""  # The text from the last offset on before which normalization changes nothing.

    def is_cut_before(self, id: int) -> bool:
        """Return whether the text is always cut before the next id, so that nothing depends on the ids before."""
        return self.last is not None and self._table.is_cut_between(self.last, id)

    def may_end(self) -> bool:
        """Return whether a text may end here."""
        return self._table.lifted.is_final(self._state)

    def take(self, id: int) -> bool:
        """Take the next id, and return whether it is possible; after one that is not, nothing is known."""
        parts = self._table.parts_of(id)
        target: LiftState | None = None
        if parts == "special":
            target = self._table.lifted.initial if self.may_end() else None
        elif isinstance(parts, TokenParts):
            target = self._following(id, parts)
        is_possible = target is not None and self._is_in_form(id)
        if target is None or not is_possible:
            self._unnormalized = b""
            self._state, self.last = self._table.anywhere, None
        else:
            self._state, self.last = target, id
        return is_possible

    def _is_in_form(self, id: int) -> bool:
        """Return whether normalization leaves the text so far as it is, after any text."""
        form = self._model.form
        if form is None:
            return True
        if self._model.parts[id]:
            self._unnormalized = b""
            return True
        # The stream may begin within a symbol.
        data = (self._unnormalized + self._model.bytes_of(id)).lstrip(_CONTINUATIONS)
        text = data.decode("utf-8", "ignore")
        steady = boundaries(form)
        place = next((n for n in range(len(text) - 1, 0, -1) if steady[ord(text[n])]), 0)
        self._unnormalized = data[len(text[:place].encode()) :] if place else data
        return is_normal(text.encode("utf-8"), form)

    def _following(self, id: int, parts: TokenParts) -> LiftState | None:
        if self.last is None and parts.head:
            # The end of a symbol that began earlier.
            self._continuations = len(parts.head)
            return LiftState(self._table.anywhere.hypotheses, parts.tail)
        if self._continuations and parts.head and not self._state.cut:
            self._continuations += len(parts.head)
            if self._continuations > _MOST_CONTINUATIONS:
                return None
            return LiftState(self._table.anywhere.hypotheses, parts.tail)
        self._continuations = 0
        may_continue = self.last is None or self._model.may_be_walked(self.last, id)
        return self._table.lifted.step(self._state, parts, may_continue)
