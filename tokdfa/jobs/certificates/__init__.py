"""Write why two tokenizers are equivalent, or a seam is safe, so that others can check it without tokdfa.

Read `api` first: the certificates of a comparison and of a seam; the description of each tokenizer in one, which
tokenizers it can be about, and the pair of tokens from which merging makes each token. The other part:

- `runs`: a split pattern as a table over classes of symbols; the states of two such tables that some text reaches, and
  the states that no text can leave alive; and whether a rule merges across a boundary that only one of them has.

`tokdfa/check.py` checks certificates, and imports nothing of tokdfa. A certificate that it rejects is not issued.

Used by: the commands `compare` and `splice`.

Cost: 0.5 to 8 s, and 1 to 4 MB for the certificate of a real tokenizer.
"""
