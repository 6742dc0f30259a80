"""Build and run the kernels for platforms: ``python -m tests.campaigns.platforms [NAME…] [-o FOLDER] [--no-run]``.

For each platform, by Zig (``pip install --group platforms``): all C files are compiled with warnings as errors and
linked into the library; its exported functions are the API; and a program that uses the library runs the
corpora of `tests/campaigns/fuzzing`; its targets compare every answer with a slow twin. Other processors than this
machine's are emulated by qemu-user, Windows by wine; macOS is only compiled for.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.campaigns.fuzzing.corpus import inputs, unpack
from tests.campaigns.fuzzing.kernels.build import HERE as FUZZING
from tests.campaigns.fuzzing.kernels.build import OWN, ROOT, TARGETS
from tests.campaigns.fuzzing.kernels.machines import write as write_machines

sys.path.append(str(ROOT / "tokdfa" / "kernels" / "backend"))

from compile import TARGETS as SHIPPED
from compile import BuildError, Target, cross, names_of_api, zig, zig_environment

NATIVE = Target("linux", "x86_64", "x86_64-linux-gnu")
# Nobody is sent a wheel for it: its numbers are big-endian, so that it shows who reads them as if they were not.
BIG_ENDIAN = Target("linux", "s390x", "s390x-linux-musl")
PLATFORMS = {str(target.triple): target for target in (NATIVE, *SHIPPED, BIG_ENDIAN)}


@dataclass
class Outcome:
    """The result for a platform: the library's size and whether it exports the API alone, and how the run ended."""

    linked: str
    exports: str = "-"
    ran: str = "-"
    failed: bool = False


def exported(library: Path) -> set[str]:
    """Return the names of the functions that a library exports."""
    import lief

    lief.logging.disable()
    binary = lief.parse(str(library))
    if isinstance(binary, lief.PE.Binary):
        return {str(entry.name) for entry in binary.get_export().entries}
    if isinstance(binary, lief.ELF.Binary):
        return {str(symbol.name) for symbol in binary.dynamic_symbols if symbol.exported and symbol.is_function}
    found = {str(symbol.name).removeprefix("_") for symbol in binary.exported_symbols}
    return found - {"__dso_handle", "_mh_dylib_header"}  # The linker's own.


def runner(target: Target) -> list[str] | str:
    """Return the command that runs a program of a platform here, or why there is none."""
    system, machine = target.system, target.machine
    if system == "darwin":
        return "no emulator"
    if system == "win32":
        found = shutil.which("wine")
        return [found] if found and machine == "AMD64" else "no emulator" if machine != "AMD64" else "wine is missing"
    if machine == os.uname().machine:
        return []
    found = shutil.which(f"qemu-{machine}")
    return [found, "-L", f"/usr/{machine}-linux-gnu"] if found else f"qemu-{machine} is missing"


def program(library: Path, target: Target, environment: dict[str, str]) -> Path:
    """Compile the targets of the fuzzers for a platform, linked with its library, and return the program."""
    folder = library.parent
    write_machines(folder / "machines.h")
    made = folder / "once.exe"
    if target.system == "win32":
        kernels = [*folder.glob("*.lib")]
    elif "musl" in str(target.triple):
        # Its loader is not here: the object files are put into the program.
        kernels = [Path("-static"), *(folder / "objects").glob("*.o")]
    else:
        kernels = [library, Path("-Wl,-rpath,$ORIGIN")]
    sources = [FUZZING / "once.c", *(FUZZING / f"{name}.c" for name in TARGETS)]
    own = [*OWN, "-O1", "-fno-sanitize=undefined", f"-I{folder}"]
    line = [*zig(), *target.flags, *own, *map(str, [*sources, *kernels]), "-lm", "-o", str(made)]
    done = subprocess.run(line, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise BuildError(done.stderr.strip())
    return made


def run(made: Path, command: list[str], corpora: Path) -> str:
    """Run a program on all corpora; return its report. A BuildError has its finding, or says that it did not start."""
    environment = os.environ | {"WINEPREFIX": str(made.parent / "wine"), "WINEDEBUG": "-all"}
    folders = [str(unpack(name, corpora)) for name in TARGETS]
    began = time.monotonic()
    done = subprocess.run(
        [*command, str(made), *folders], capture_output=True, text=True, errors="replace", env=environment, check=False
    )
    counts = [line.split() for line in done.stdout.splitlines() if line.endswith(" runs")]
    wanted = {name: len(inputs(name)) for name in TARGETS}
    if done.returncode or {name.rstrip(":"): int(n) for name, n, *_ in counts} != wanted:
        raise BuildError(done.stderr.strip()[-2000:] or done.stdout)
    how = Path(command[0]).name if command else "natively"
    return f"{sum(wanted.values()):,} inputs, {how}, {time.monotonic() - began:.0f} s"


def outcome_of(target: Target, folder: Path, *, runs: bool, say: Callable[[str], None]) -> Outcome:
    """Compile for a platform, look at the library, and run it."""
    try:
        (library,) = cross(folder, [target])
    except BuildError as error:
        say(str(error))
        return Outcome("failed", failed=True)
    found, wanted = exported(library), {*names_of_api()}
    outcome = Outcome(f"{library.stat().st_size >> 10:,} KB", f"{len(found)} functions", failed=found != wanted)
    if found != wanted:
        say(f"{target.triple}: more {sorted(found - wanted)}, missing {sorted(wanted - found)}")
    command = runner(target)
    if not runs or isinstance(command, str):
        outcome.ran = f"not run: {command}" if runs else "not run"
        return outcome
    try:
        outcome.ran = run(program(library, target, zig_environment(folder)), command, folder / "corpora")
    except BuildError as error:
        say(f"{target.triple}: {error}")
        outcome.ran, outcome.failed = "failed", True
    return outcome


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("platforms", nargs="*", metavar="NAME", default=[*PLATFORMS], help=", ".join(PLATFORMS))
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "platforms", help="the folder of results")
    parser.add_argument("--no-run", action="store_true", help="compile and link only")
    options = parser.parse_args()
    unknown = {*options.platforms} - {*PLATFORMS}
    if unknown:
        parser.error(f"no platform {', '.join(sorted(unknown))}; there are {', '.join(PLATFORMS)}")
    console, table = Console(width=100), Table("platform", "linked", "exports", "ran")
    failed = False
    for name in options.platforms:
        done = outcome_of(PLATFORMS[name], options.output.resolve(), runs=not options.no_run, say=console.print)
        table.add_row(name, done.linked, done.exports, done.ran)
        failed |= done.failed
    console.print(table)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
