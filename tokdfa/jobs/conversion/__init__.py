"""Whether a tokenizer can be written in another format so that every text keeps its ids; if so, the file.

1. `api`: `convert` writes a draft into a temporary folder, loads it, compares it with the tokenizer, and keeps the file
   only if the comparison proves that the two are the same.
2. `kept`: nearly all texts, which keep their ids where only Unicode tables stand in the way.
3. `result`: the answer, with the files, the options that load them, and the parts that are lost; and its sentences.

Used by: the command `convert`.

Cost: a comparison, see :func:`tokdfa.compare`: 0.2 to 7 s for byte-level vocabularies; and up to a second to write.
"""
