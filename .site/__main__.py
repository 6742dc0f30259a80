"""Build the documentation site, and check it: `python .site`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUTPUT = HERE / "build" / "html"
sys.path[:0] = [str(ROOT), str(HERE)]


def build() -> int:
    """Write the reference's pages, run Sphinx, and check every link of what comes out."""
    import links
    import mending
    import reference
    from sphinx.cmd.build import build_main

    reference.write(ROOT / "notebooks" / "reference")
    doctrees = HERE / "build" / "doctrees"
    arguments = ["-b", "html", "-q", "-W", "--keep-going", "-c", HERE, "-d", doctrees, ROOT, OUTPUT]
    status = build_main([str(argument) for argument in arguments])
    if status:
        # Sphinx does not repeat its complaints about pages that it keeps.
        shutil.rmtree(doctrees, ignore_errors=True)
        return status
    # One file that loads nothing; Sphinx would make a download of it.
    shutil.copy(ROOT / "notebooks" / "token_dfa.html", OUTPUT / "notebooks")
    mending.mend(OUTPUT)
    links.write_entrance(OUTPUT)
    faults = links.faults(OUTPUT)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{OUTPUT / 'index.html'}: {len(list(OUTPUT.rglob('*.html')))} pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(build())
