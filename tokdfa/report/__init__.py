"""Pages to look at: one file each, which needs nothing else and has nothing from elsewhere.

`validation` and `comparison` make the two pages; `report` is what they share, `page` the frame, `markup` HTML that is
escaped by construction. `collect` takes violations as they come and keeps the first ones with what is around them
(`context`), drawn as `lanes`; `places` shows where in the stream they are, `spelling` how tokens are shown. The script
in ``data/`` builds the cards.

Used by: ``--html`` of the commands, `tokdfa.validation_report`, `tokdfa.comparison_report`.

Cost: about 500 bytes of page a violation shown; all violations are counted, in memory that does not grow with them.
"""
