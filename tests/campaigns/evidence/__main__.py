"""Write the page of evidence and the sentence of README: ``python -m tests.campaigns.evidence [--merge FILE …]``.

Nothing is run; the ledgers of other runs can be added, each once. To add to the ledger, name it in TOKDFA_LEDGER while
the tests run, or `tests.campaigns.mutation`, or `tests.campaigns.sanitizers`; `tests.campaigns.fuzzing` adds to it
anyway::

    TOKDFA_LEDGER=tests/campaigns/evidence/ledger.json python -m pytest -m slow tests/unit/jobs/splices
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.campaigns.evidence import page
from tests.campaigns.evidence.ledger import merge


def main() -> None:
    """Add ledgers, and write both."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.evidence", description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--merge", nargs="+", type=Path, default=[], metavar="FILE", help="ledgers to add")
    merge(parser.parse_args().merge)
    page.write([(page.PAGE, page.page()), (page.README, page.readme())])
    print(page.PAGE, page.README, sep="\n")


if __name__ == "__main__":
    main()
