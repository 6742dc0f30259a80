"""The standing campaign: random small tokenizers on hostile texts and ids, against the libraries that they are of.

`cases` draws tokenizers with their peers, `texts` what they read. Each part, one file a verb, states laws and counts
what it reached; the parts in `laws` hold for every family of ``tests/support/families.py``. `campaign` runs the parts
on seeds, and ``python -m tests.campaigns.standing --seeds 0:19999`` does so for long.
"""
