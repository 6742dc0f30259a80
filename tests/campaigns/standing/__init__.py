"""The standing campaign: random small tokenizers on hostile texts and ids, against the libraries that they are of.

Each part, one file a verb, states laws and counts the cases that it reached; the parts in `laws` hold for every family
of ``tests/support/families.py``. `texts` draws hostile texts. `campaign` runs the parts on seeds, and
``python -m tests.campaigns.standing --seeds 0:19999`` does so for long.
"""
