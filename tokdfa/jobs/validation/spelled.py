"""Finding the special tokens that a text spells, by their ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokdfa.base.arrays import Int32Array

_WHOLE = -1


class Backwards:
    """A tree of contents, each read from its end to its beginning; `longest` is the length of the longest in bytes.

    `children` has the node that follows node n on byte b at ``256 * n + b``: 0 for none, -1 for the beginning of a
    content. Node 0 is the end of all contents.
    """

    def __init__(self, contents: Sequence[bytes]) -> None:
        self._contents = contents
        self.longest = max(map(len, contents), default=0)
        rows: list[dict[int, int]] = [{}]
        for content in contents:
            node = 0
            for byte in reversed(content[1:]):
                if rows[node].get(byte, 0) == _WHOLE:
                    break  # A shorter content ends here.
                if byte not in rows[node]:
                    rows[node][byte] = len(rows)
                    rows.append({})
                node = rows[node][byte]
            else:
                rows[node][content[0]] = _WHOLE
        children = np.zeros((len(rows), 256), dtype=np.int32)
        for number, row in enumerate(rows):
            children[number, list(row)] = list(row.values())
        self.children: Int32Array = children.reshape(-1)

    def nodes(self, word: bytes) -> tuple[int, ...] | None:
        """Return the nodes of all contents that end within a word and begin before it; None if it has a whole one."""
        if not self._contents:
            return ()
        found = []
        for end in range(1, len(word) + 1):
            node = 0
            for byte in reversed(word[:end]):
                node = int(self.children[256 * node + byte])
                if node <= 0:
                    break
            if node == _WHOLE:
                return None
            if node > 0:
                found.append(node)
        return tuple(found)
