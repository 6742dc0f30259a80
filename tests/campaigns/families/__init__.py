"""Real families of tokenizers against their own libraries: ids of texts, and verdicts on ids.

`subjects` finds the files, `peers` has what their libraries make of texts and ids, `texts` and `spoiling` draw what
both are asked, `asking` compares, and `shrinking` makes a difference small. ``python -m tests.campaigns.families``
runs it.
"""
