"""Laws that hold for every tokenizer, one file each: a check of a member of any family, which counts its cases.

`streams` of texts in parts, `changing` texts, `verdicts` at once and in chunks, `cutting` where it is safe,
`decoding` of streams, `finding` and replacing, `banning` and `masking` of ids, `histories` of calls, and `bounds` of
memory. A verb's refusal is counted as refused.
"""
