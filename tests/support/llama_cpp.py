"""The tokenizer of llama.cpp, by its own library, where llama-cpp-python is installed or its library has been built."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Any

VERSION = "0.3.36"
"""The release of llama-cpp-python that has the llama.cpp of the tables."""


@cache
def library() -> Any:
    """Return the loaded library; None if there is none.

    ``TOKDFA_LLAMA_CPP`` names the file, or it is the one of the package llama-cpp-python.
    """
    path = os.environ.get("TOKDFA_LLAMA_CPP")
    if path is None:
        found = importlib.util.find_spec("llama_cpp")
        if found is None or found.origin is None:
            return None
        path = str(Path(found.origin).with_name("lib") / "libllama.so")
    loaded = ctypes.CDLL(path)
    loaded.llama_model_default_params.restype = _Parameters
    loaded.llama_model_load_from_file.restype = ctypes.c_void_p
    loaded.llama_model_load_from_file.argtypes = [ctypes.c_char_p, _Parameters]
    loaded.llama_model_get_vocab.restype = ctypes.c_void_p
    for name in ("llama_tokenize", "llama_token_to_piece"):
        getattr(loaded, name).restype = ctypes.c_int32
    flags = [ctypes.c_bool, ctypes.c_bool]
    numbers = [ctypes.POINTER(ctypes.c_int32), ctypes.c_int32]
    loaded.llama_tokenize.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, *numbers, *flags]
    loaded.llama_token_to_piece.argtypes = [
        *(ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_bool)
    ]
    loaded.llama_log_set(_SILENT, None)
    loaded.llama_backend_init()
    return loaded


_SILENT = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: None)


_FLAGS = ("vocab_only", "check_tensors", "use_extra_bufts", "no_host", "no_alloc", "load_mtp")


class _Parameters(ctypes.Structure):
    """The structure llama_model_params, which is passed by value."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("devices", "overrides")),
        *((name, ctypes.c_int32) for name in ("n_gpu_layers", "split_mode", "load_mode", "lazy_mode", "main_gpu")),
        *((name, ctypes.c_void_p) for name in ("tensor_split", "progress", "progress_data", "kv_overrides")),
        *((name, ctypes.c_bool) for name in _FLAGS),
    ]


class LlamaCpp:
    """The vocabulary of a GGUF file. A file on which llama.cpp asserts ends the process.

    Parameters
    ----------
    path : Path

    Raises
    ------
    ValueError
        If llama.cpp refuses the file.
    """

    def __init__(self, path: Path) -> None:
        self._library = library()
        parameters = self._library.llama_model_default_params()
        parameters.vocab_only = True
        model = self._library.llama_model_load_from_file(os.fsencode(path), parameters)
        if not model:
            raise ValueError(f"llama.cpp refuses {path.name}")
        self._model = ctypes.c_void_p(model)
        self._vocab = ctypes.c_void_p(self._library.llama_model_get_vocab(self._model))

    def encode(self, text: str, *, adds: bool = False, parses: bool = True) -> list[int]:
        """Return the ids of a text; with `adds`, those at its ends, with `parses`, special tokens found in it."""
        data = text.encode()
        room = len(data) + 16
        ids = (ctypes.c_int32 * room)()
        n = self._library.llama_tokenize(self._vocab, data, len(data), ids, room, adds, parses)
        assert n >= 0
        return list(ids[:n])

    def decode(self, ids: list[int]) -> bytes:
        """Return the pieces of ids one after the other, special tokens included."""
        return b"".join(self._piece(id) for id in ids)

    def _piece(self, id: int) -> bytes:
        room = ctypes.create_string_buffer(4096)
        n = self._library.llama_token_to_piece(self._vocab, id, room, len(room), 0, True)
        assert n >= 0
        return room.raw[:n]

    def __del__(self) -> None:
        if hasattr(self, "_model"):
            self._library.llama_model_free(self._model)
