"""Checking streams of ids: the pair test, and the walk through the machine of a pre-tokenizer.

`pairs` builds the table of all pairs and marks the ids that may not follow the one before them, `histories.h` tests
pairs without a table; `parts` takes the words of all ids apart, as the machine lifted to ids needs them, and says which
cut symbols can be completed alike; `walk` walks over ids, over many streams, and continues after violations in them;
`differences` finds where two tokenizations of texts differ, where ids end in a text that differs by spaces, and the
symbols of texts of ids that are not UTF-8; `alignment` finds where two streams of one text both have a boundary. Over
characters, `neighbours` finds which parts of a text may not be canonical, with a cache of the values of pairs. Callers
have checked that ids are in range, except for `accepts`, which checks that itself.
"""
