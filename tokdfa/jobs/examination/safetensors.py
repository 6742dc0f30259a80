"""The heads of safetensors files: the shapes of tensors, without their data."""

from __future__ import annotations

from pathlib import Path

from tokdfa.base.errors import FileFormatError, LimitExceededError
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object

_LARGEST_HEAD = 1 << 27
# The ends of the names of tensors that have one row for each id.
_ROWS = (
    *("embed_tokens.weight", "tok_embeddings.weight", "wte.weight", "word_embeddings.weight", "embed_in.weight"),
    *("lm_head.weight", "output.weight", "embed_out.weight"),
)


def id_rows(path: Path) -> dict[str, int]:
    """Return the number of rows of each tensor in a file that has one row for each id: embeddings, and the output."""
    found = {}
    head = read_head(path)
    for name in head.fields:
        # The output of a layer is called so, too.
        if not name.endswith(_ROWS) or "layers." in name or "vision" in name:
            continue
        tensor = head.object(name)
        shape = [] if tensor is None else tensor.get("shape", list)
        if len(shape) == 2 and isinstance(shape[0], int):
            found[name] = shape[0]
    return found


def read_head(path: Path) -> JsonObject:
    """Return the head of a file: after its length in eight bytes, a JSON object of tensors by name."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        size = path.stat().st_size
        if size < 8 or length > size - 8:
            raise FileFormatError("a head that is longer than the file", value=length, where=str(path))
        if length > _LARGEST_HEAD:
            raise LimitExceededError(f"a head of more than {_LARGEST_HEAD} bytes", value=length, where=str(path))
        return parse_object(file.read(length), path, last_key_counts=True)
