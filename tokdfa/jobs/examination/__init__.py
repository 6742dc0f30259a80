"""Whether the files of a model's folder agree with each other, and with what its tokenizer does.

Read in this order:

1. `api`: `doctor` reads the files, runs the groups of checks, and returns an `Examination`.
2. `finding`: what a check finds, as data; `sentences`: the words for it, and what to do.
3. `folder`: the files of a folder, its tokenizers loaded; `declared`: the tokens, ids, sizes and templates that its
   other files name; `safetensors`: the shapes in the heads of weights.
4. The groups, each an iterator over findings: `agreement` compares tokenizers, with the one that transformers builds
   (`built`) included; `ids`, `special_tokens`, `template`, `dictionary`, `decoding`, `tables`.

Used by: the command `doctor`.

Cost: loading each tokenizer, comparing each with the first one, and some seconds for a chat template.
"""
