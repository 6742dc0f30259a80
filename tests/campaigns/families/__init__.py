"""Real families of tokenizers against their own libraries: ids of texts, and verdicts on ids.

`subjects` finds the files, `peers` asks their libraries about texts and ids, `texts` and `spoiling` draw the
questions for both, `asking` compares, and `shrinking` makes a difference small. ``python -m tests.campaigns.families``
runs it.
"""
