"""Laws that hold for every tokenizer, one file each: a check of a member of any family, which counts what it reached.

`streams` of texts in parts, `verdicts` at once and in chunks, `cutting` where it is safe, `finding` and replacing,
`banning` and `masking` of ids, `histories` of calls, and `bounds` of memory. What a verb refuses is counted as refused.
"""
