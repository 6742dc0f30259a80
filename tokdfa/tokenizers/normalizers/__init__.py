"""Normalizers rewrite a text before it is split into pieces. They are one of the five parts of a tokenizer.

`steps` are the normalizers of the library tokenizers, `sentencepiece` is SentencePiece's: a character table, and white
space. `python` has the normalizers written in Python, by the Unicode tables of the Python that runs them.

Callers: `formats`, which makes them of files; models, which ask whether a text stays as it is.
"""
