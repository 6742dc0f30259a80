"""The access to the compiled kernels: the library, checked arrays, and structs that are built once.

The C code trusts its arguments. So every array passes through :func:`call`, :class:`Struct`, :func:`readable` or
:func:`writable`, which check its type and its layout, and every integer has been checked before it gets here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from struct import unpack_from
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.base.errors import KernelError

Array: TypeAlias = npt.NDArray[Any]

NO_MEMORY = -1000

_HERE = Path(__file__).parent
_IN_CHECKOUT = (_HERE.parents[1] / "pyproject.toml").exists()
_REBUILD = f"run: python {_HERE / 'backend' / 'compile.py'}" if _IN_CHECKOUT else "install tokdfa again"


def _is_older_than_its_sources(library: Path, sources: str) -> bool:
    """Return whether a C file of a checkout was edited after the library was made."""
    made = library.stat().st_mtime_ns
    if all(path.stat().st_mtime_ns <= made for pattern in ("*/*.c", "*/*.h") for path in _HERE.glob(pattern)):
        return False
    from tokdfa.kernels.backend.compile import digest

    return digest() != sources


def _is_cut_off(path: Path) -> bool:
    """Return whether a library of Linux lacks bytes that its header counts: touching these would end the process."""
    with path.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:5] != b"\x7fELF\x02":
            return False
        order = "<" if head[5] == 1 else ">"
        (offset,), (size, n) = unpack_from(f"{order}Q", head, 32), unpack_from(f"{order}2H", head, 54)
        file.seek(offset)
        table = file.read(size * n)
    if len(table) < size * n:
        return True
    segments = (unpack_from(f"{order}8x Q 16x Q", table, size * i) for i in range(n))
    return max(map(sum, segments), default=0) > path.stat().st_size


def _open() -> tuple[Any, Any]:
    """Return cffi's interface and the library, after checking that they belong together.

    What belongs together carries the same hash of the C sources. The size may differ: packagers strip libraries.
    """
    try:
        from tokdfa.kernels import _ffi

        declared, sources_declared, path = _ffi.ffi, _ffi.SOURCES, _HERE / _ffi.LIBRARY
    except ImportError as error:
        raise KernelError("the compiled kernels are missing", where=str(_HERE), hint=_REBUILD) from error
    except Exception as error:
        # An incomplete module, whatever error Python or cffi raises for it.
        what = "the declarations of the compiled kernels are broken"
        raise KernelError(what, where=str(_HERE / "_ffi.py"), hint=_REBUILD) from error
    try:
        if _is_cut_off(path):
            raise KernelError("the library of compiled kernels is truncated", where=str(path), hint=_REBUILD)
    except FileNotFoundError as error:
        raise KernelError("the compiled kernels are missing", where=str(_HERE), hint=_REBUILD) from error
    try:
        # Never closed: a daemon thread may still be within a kernel when the interpreter lets go of its modules.
        library = declared.dlopen(str(path), getattr(declared, "RTLD_NODELETE", 0) | getattr(declared, "RTLD_NOW", 0))
        sources = declared.string(library.tokdfa_sources()).decode()
    except (OSError, AttributeError) as error:
        raise KernelError(f"the library of compiled kernels cannot be loaded, {error}", hint=_REBUILD) from error
    if sources != sources_declared:
        raise KernelError("the library of compiled kernels is of another version", where=str(path), hint=_REBUILD)
    if _IN_CHECKOUT and _is_older_than_its_sources(path, sources):
        raise KernelError("the C files have changed since the kernels were compiled", where=str(path), hint=_REBUILD)
    return declared, library


ffi, lib = _open()

# The element types of C arrays, as numpy names them. Truth values are bytes.
_DTYPES: dict[str, np.dtype[Any]] = {
    "uint8_t": np.dtype(np.uint8),
    "uint16_t": np.dtype(np.uint16),
    "uint32_t": np.dtype(np.uint32),
    "uint64_t": np.dtype(np.uint64),
    "int32_t": np.dtype(np.int32),
    "int64_t": np.dtype(np.int64),
    "double": np.dtype(np.float64),
}
_POINTERS = {dtype: ffi.typeof(f"{name}[]") for name, dtype in _DTYPES.items()}
_POINTERS[np.dtype(np.bool_)] = _POINTERS[np.dtype(np.uint8)]
_BYTES = np.dtype(np.uint8)
_ELEMENTS = {ffi.typeof(f"{name} *"): dtype for name, dtype in _DTYPES.items()}


@cache
def _dtypes(kernel: Any) -> list[np.dtype[Any] | None]:
    """Return the element type of each argument of a kernel that is an array."""
    return [_ELEMENTS.get(kind) for kind in ffi.typeof(kernel).args]


def call(kernel: Any, *given: Any, out: Sequence[Any] = ()) -> int:
    """Call a kernel and return its number; arrays become pointers to their elements, and None a null pointer.

    Their types are those that ``api.h`` declares. The last arguments, `out`, are the arrays that the kernel writes, and
    numbers between them. An array of another type or layout is a TypeError, a mistake of the caller.
    """
    dtypes = _dtypes(kernel)
    arguments = list(given)
    arguments += out
    for i, value in enumerate(arguments):
        if value is None:
            arguments[i] = ffi.NULL
        elif isinstance(value, np.ndarray):
            arguments[i] = _elements(value, dtypes[i], written=i >= len(given))
    result: int = kernel(*arguments)
    return result


def readable(array: Array, dtype: Any) -> Any:
    """Return a pointer to the elements of an array that C reads, of this dtype and any shape; see :func:`call`."""
    flags = array.flags
    if array.dtype != dtype or not (flags.c_contiguous and flags.aligned):
        raise TypeError(f"a contiguous array of {np.dtype(dtype)} is needed, not {_described(array)}")
    return ffi.from_buffer(_POINTERS[array.dtype], array)


def writable(array: Array, dtype: Any) -> Any:
    """Return a pointer to the elements of an array that C writes; see :func:`readable`."""
    return _elements(array, dtype, written=True)


def _elements(array: Array, dtype: Any, *, written: bool) -> Any:
    """Return a pointer to the elements of an array. Where C has bytes, truth values are bytes."""
    found, flags = array.dtype, array.flags
    fits = found == dtype or (dtype == _BYTES and found == np.bool_)
    if not (fits and flags.c_contiguous and flags.aligned):
        raise TypeError(f"a contiguous array of {np.dtype(dtype)} is needed, not {_described(array)}")
    return ffi.from_buffer(_POINTERS[found], array, require_writable=written)


def _described(array: Array) -> str:
    lacking = [name for name in ("c_contiguous", "aligned") if not getattr(array.flags, name)]
    return " ".join([str(array.dtype), *(f"without {name}" for name in lacking)])


def check_memory(status: int) -> int:
    """Return the result of a kernel, or raise MemoryError if it reports that there was not enough memory."""
    if status == NO_MEMORY:
        raise MemoryError("a kernel did not get the memory that it needs")
    return status


def rows_of(kernel: Any, *given: Any, width: int, least: int) -> npt.NDArray[np.int64]:
    """Return the rows of numbers that a kernel writes, in a larger and larger array until it has room for all of them.

    It has room for `least` rows at first. The kernel returns the number of rows, or a negative number without room.
    """
    capacity, n = max(64, least) // 4, -1
    while n < 0:
        capacity *= 4
        rows = np.empty((capacity, width), dtype=np.int64)
        n = call(kernel, *given, out=(rows, capacity))
    return rows[:n]


def slots_for(n: int, least: int = 4) -> int:
    """Return the size of a hash table for `n` entries: a power of two, so that at most half of it is used."""
    return max(least, 1 << max(2 * n - 1, 0).bit_length())


class Struct:
    """A struct of the kernels, which keeps alive the arrays that its pointers point to.

    The fields of the type, as ``api.h`` declares it, are arrays, structs, numbers or None, except lengths: the number
    of elements of an array given for the field ``x`` goes to the field ``n_x`` if there is one. `fields` has them as
    they were given, `pointer` is passed to C. A field that is missing, unknown or not of its type is a TypeError, a
    number that does not fit an OverflowError.

    Threads may share a struct, which C only reads once it is built. Buffers and caches, in which C writes, belong to
    one thread; their types say so in ``api.h``.
    """

    __slots__ = ("_kept", "_name", "fields", "pointer")

    def __init__(self, name: str, **fields: Any) -> None:
        self._name = name
        self.pointer = ffi.new(f"{name} *")
        self.fields = fields
        self._kept: dict[str, Any] = {}
        wanted = dict(ffi.typeof(name).fields)
        for field, value in fields.items():
            if field not in wanted:
                raise TypeError(f"{name} has no field {field}")
            setattr(self.pointer, field, self._value(field, wanted.pop(field).type, value))
            if f"n_{field}" in wanted and f"n_{field}" not in fields:
                del wanted[f"n_{field}"]
                setattr(self.pointer, f"n_{field}", value.size)
        if wanted:
            raise TypeError(f"{name} lacks {', '.join(wanted)}")

    def set(self, field: str, value: Array | Struct) -> None:
        """Point to another array, of any size, or another struct; the previous one is released."""
        types = dict(ffi.typeof(self._name).fields)
        setattr(self.pointer, field, self._value(field, types[field].type, value))
        if f"n_{field}" in types and not isinstance(value, Struct):
            setattr(self.pointer, f"n_{field}", value.size)
        self.fields[field] = value

    def _value(self, field: str, kind: Any, value: Any) -> Any:
        if isinstance(value, Struct):
            self._kept[field] = value
            return value.pointer if kind.kind == "pointer" else value.pointer[0]
        if kind.kind != "pointer":
            return value
        if value is None and kind.item.kind == "struct":
            return ffi.NULL
        wanted = f"{self._name}.{field} is a contiguous array of {kind.item.cname}"
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{wanted}, not {type(value).__name__}")
        dtype = _DTYPES.get(kind.item.cname)
        is_flags = dtype == np.uint8 and value.dtype == np.bool_
        fits = (value.dtype == dtype or is_flags) and value.flags.c_contiguous and value.flags.aligned
        if dtype is None or not fits:
            raise TypeError(f"{wanted}, not of {_described(value)}")
        pointer = ffi.from_buffer(_POINTERS[value.dtype], value)
        self._kept[field] = pointer
        return pointer

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self._name, self.fields)


def _rebuilt(name: str, fields: dict[str, Any]) -> Struct:
    return Struct(name, **fields)
