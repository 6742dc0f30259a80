"""Decimal numbers as serde_json reads them, which is not always the nearest number of 64 bits."""

from __future__ import annotations

import re

__all__ = ["as_serde_json"]

_PARTS = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
_LARGEST = (1 << 64) - 1
_MOST_ZEROS = 308


def as_serde_json(text: str) -> float:
    """Return the number that serde_json, and with it the library tokenizers, reads from a number of JSON.

    Parameters
    ----------
    text : str
        A number as JSON spells it.

    Returns
    -------
    float
        Infinite if the library refuses the number as out of range.

    Notes
    -----
    The digits, as far as they fit in 64 bits, become a number, which a power of ten multiplies or divides. Both steps
    round, so that the result may be one unit in the last place off (``f64_from_parts`` in serde_json 1 without the
    feature ``float_roundtrip``). About an eighth of the scores in the files that the library writes are read
    differently from what was written.

    Examples
    --------
    >>> as_serde_json("-15.275492379532281"), float("-15.275492379532281")
    (-15.27549237953228, -15.275492379532281)
    """
    found = _PARTS.fullmatch(text)
    assert found is not None
    sign, whole, fraction, power = found.groups()
    if fraction is None and power is None and int(whole) <= _LARGEST:
        return -float(int(whole)) if sign else float(int(whole))
    digits = int(whole + (fraction or ""))
    exponent = -len(fraction or "")
    if digits > _LARGEST:
        digits, exponent = _digits_that_fit(whole, fraction or "")
    value = _scaled(float(digits), exponent + int(power or 0))
    return -value if sign else value


def _digits_that_fit(whole: str, fraction: str) -> tuple[int, int]:
    """Return as many of the first digits as fit in 64 bits, and the power of ten of the last one."""
    value = 0
    for place, digit in enumerate(whole + fraction):
        longer = 10 * value + int(digit)
        if longer > _LARGEST:
            return value, max(len(whole) - place, 0) - max(place - len(whole), 0)
        value = longer
    return value, -len(fraction)


def _scaled(value: float, exponent: int) -> float:
    while value and exponent < -_MOST_ZEROS:
        value /= 1e308
        exponent += _MOST_ZEROS
    if not value:
        return value
    if exponent > _MOST_ZEROS:
        return float("inf")
    return value * float(f"1e{exponent}") if exponent >= 0 else value / float(f"1e{-exponent}")
