"""Programs that make the package's data: tables of Unicode by querying the libraries, and the machines of known splits.

Run one when a library changes: `classes`, `versions`, `llama_cpp`, `normalization`, `graphemes`; `splitters` when the
construction of machines does.
"""
