"""Fuzz targets of the readers of untrusted files; atheris guides them by the branches of Python that are reached.

`target` defines a target and the limits for each input; `run` is the process that atheris fuzzes in.
One module a target: `tokenizer_json`, `sentencepiece_model`, `tiktoken_ranks`, `tekken_json`, `gguf`, `merges`
(merges.txt, with and without vocab.json), `vocab_txt`, `rwkv`, `id_streams`, `stores`, `split_patterns` and
`checkpoints`.
`json_changes` changes JSON by its structure. The inputs that a target starts from are in ``corpora``.

The property is the same everywhere: an input gives the same result as the file's own library, or one of tokdfa's own
errors, in bounded time and memory.
"""
