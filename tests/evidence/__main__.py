"""Write the page of evidence and the block of README from the ledger: ``python -m tests.evidence``.

Nothing is run. To add to the ledger, name it in TOKDFA_LEDGER while the tests run, or `tests.mutation`, or
`tests.sanitizers`; `tests.fuzzing` adds to it anyway::

    TOKDFA_LEDGER=tests/evidence/ledger.json TOKDFA_SEEDS=0:99 python -m pytest -m slow tests/splices
"""

from __future__ import annotations

from tests.evidence import page


def main() -> None:
    """Write both."""
    page.write([(page.PAGE, page.page()), (page.README, page.readme())])
    print(page.PAGE, page.README, sep="\n")


if __name__ == "__main__":
    main()
