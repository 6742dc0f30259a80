"""Replacing the matches of a pattern in the text of streams of ids, without decoding them.

Read `api` first (`replace` and `Replacer`), then `regions` (the ids around matches that have to be encoded again, up to
the boundaries on both sides), `text_run` (the replacing in one text, chunk by chunk; matches are found on the ids, or
where that is not enough, in the decoded text), `rewriting` (templates, and the new ids of a region) and `result` (the
ids given out, with new ones in place of some, and the answer). `alternatives` makes one expression of several, `files`
replaces in many files, and `carrying` has the masks that follow their ids.

Used by: the command `replace`.

Cost: searching, copying once, and some microseconds for each match with new surroundings; for files of Parquet, reading
and writing them, which is three quarters of it.
"""
