"""Report pages: each is one file that loads nothing else.

`validation`, `comparison`, `corpus`, `rollouts` and `examination` make the pages. `page` has their common parts: HTML
that is escaped by construction, spelled tokens, their frame, tables and charts; `causes` has groups of equal
violations and where in documents they are, `masks` the loss masks of rollouts. `collect` takes violations as they come
and keeps the first ones with their surroundings, laid out as lanes. The script in ``data/`` builds the cards.

Used by: ``--html`` of the commands, `tokdfa.validation_report`, `tokdfa.comparison_report`.

Cost: about 500 bytes of page per violation shown. All violations are counted, in memory that does not grow with them.
"""
