"""Tokenizers as files of the formats that other libraries load: the way back from a tokenizer to a file.

A writer takes a loaded tokenizer and returns a `draft`: the content of the files, the options with which they are
loaded, and the parts for which the format has no word. It raises UnsupportedFeatureError if the format has no word for
the model. Whether the draft gives every text the same ids is not decided here, but by :func:`tokdfa.convert`.

The writers are `tokenizer_json` (with `text_steps`: its normalizer, pre-tokenizer and decoder), `rank_file`,
`merges_txt` and `gguf_file` (with `pre_names`: the pre-tokenizer of llama.cpp that is nearest to a splitting).
`vocabulary` has the spelled tokens and rules that several of them write, and `one_pattern` the splitting
as one pattern, for files that are loaded with one. `TARGETS` has them by name.

Used by: `jobs.conversion`; `training.output` writes dictionaries by the same functions.

Cost: one pass over the vocabulary; a second at most for the largest ones.
"""

from __future__ import annotations

from collections.abc import Callable

from tokdfa.tokenizers.formats.writers import gguf_file, merges_txt, rank_file, tokenizer_json
from tokdfa.tokenizers.formats.writers.draft import Draft
from tokdfa.tokenizers.protocol import AnyTokenizer

TARGETS: dict[str, Callable[[AnyTokenizer, str], Draft]] = {
    "tokenizer.json": tokenizer_json.draft_of,
    "tiktoken": rank_file.draft_of,
    "merges": merges_txt.draft_of,
    "gguf": gguf_file.draft_of,
}
"""The writers of formats: functions from a tokenizer and the name of a file, without a folder, to a draft."""
