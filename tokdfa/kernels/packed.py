"""Short words packed into two machine words, so that they are compared and hashed at once.

A word of up to 15 bytes is (low, high): its bytes from the first on, zeros behind them, and its length in the last
byte of `high`. Different words have different packings. What follows a word in memory is read and masked away, so that
no loop over bytes is needed; near the end of an array the bytes are gathered one by one.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

__all__ = [
    "BYTES",
    "CUT",
    "LONGEST",
    "WORDS",
    "Bytes",
    "Words",
    "add_bit",
    "get",
    "hash_packed",
    "hash_pair",
    "kernel",
    "load",
    "may_have",
    "pack",
    "power_of_two",
    "prefetch",
    "put",
]

Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.uint64]

BYTES = nb.types.Array(nb.uint8, 1, "C", readonly=True)
WORDS = nb.types.Array(nb.uint64, 1, "C", readonly=True)

_intrinsic: Any = intrinsic

LONGEST = 15
# Added to the packing of the first 15 bytes of a longer word, it tells them from the word of just these bytes.
CUT = np.uint64(1 << 56)

# Masks of the first n bytes of `low` and `high`, for n up to 15.
_LOW = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(16)], np.uint64)
_HIGH = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(16)], np.uint64)


# Without counting references, which such kernels, allocating nothing, do not need and which costs as much as the work.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}


def kernel(signature: Any) -> Any:
    """Compile a function that allocates nothing, for this signature and to run beside other threads."""
    return nb.njit(signature, **_OPTIONS)


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


@_intrinsic
def _unaligned(typing_context: Any, text: Any, at: Any) -> Any:
    """Read the eight bytes from `at` on as one little-endian number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(text, types.int64), generate


@_intrinsic
def prefetch(typing_context: Any, array: Any, at: Any) -> Any:
    """Ask for the cache line of ``array[at]``, which is about to be read."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.bitcast(_pointer(context, builder, signature, arguments), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@_intrinsic
def get(typing_context: Any, array: Any, at: Any) -> Any:
    """Return ``array[at]``, of which it is known that it is there: numba asks of every index whether it is negative."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(context, builder, signature, arguments))

    return array.dtype(array, types.int64), generate


@_intrinsic
def put(typing_context: Any, array: Any, at: Any, value: Any) -> Any:
    """Set ``array[at]``, of which it is known that it is there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _pointer(context, builder, signature, arguments))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), generate


@nb.njit(inline="always")
def load(text, at):  # type: ignore[no-untyped-def]
    """Return the eight bytes of `text` from `at` on as a little-endian number, zeros behind its end."""
    if at + 8 <= len(text):
        return _unaligned(text, at)
    value = np.uint64(0)
    for i in range(at, len(text)):
        value |= np.uint64(text[i]) << np.uint64(8 * (i - at))
    return value


@nb.njit(inline="always")
def pack(low, high, length):  # type: ignore[no-untyped-def]
    """Return the packing of the first `length` of the sixteen bytes in `low` and `high`."""
    return low & get(_LOW, length), (high & get(_HIGH, length)) | (np.uint64(length) << np.uint64(56))


@nb.njit(inline="always")
def hash_packed(low, high):  # type: ignore[no-untyped-def]
    """Return a hash of 64 bits, the upper ones the better mixed."""
    mixed = (low ^ (high * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xD6E8FEB86659FD93)
    return mixed ^ (mixed >> np.uint64(32))


@nb.njit(inline="always")
def hash_pair(pair):  # type: ignore[no-untyped-def]
    """Return a hash of 64 bits of one word."""
    mixed = np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


@nb.njit(inline="always")
def may_have(bits, hashed):  # type: ignore[no-untyped-def]
    """Tell from a power of two of words of bits whether something with this hash may have been added."""
    place = hashed & np.uint64(64 * len(bits) - 1)
    return (get(bits, np.int64(place >> np.uint64(6))) >> (place & np.uint64(63))) & np.uint64(1) != 0


@nb.njit(inline="always")
def add_bit(bits, hashed):  # type: ignore[no-untyped-def]
    """Mark that something with this hash is there."""
    place = hashed & np.uint64(64 * len(bits) - 1)
    bits[np.int64(place >> np.uint64(6))] |= np.uint64(1) << (place & np.uint64(63))


@nb.njit(nb.int64(nb.int64), cache=True)
def power_of_two(least: int) -> int:
    """Return the least power of two that is at least `least`, and 16."""
    size = 16
    while size < least:
        size *= 2
    return size
