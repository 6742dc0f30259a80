"""Compiling the targets with all kernels: for libFuzzer, with eight threads, with failing allocations."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.campaigns.fuzzing.kernels.machines import write as write_machines

HERE = Path(__file__).parent
ROOT = Path(__file__).parents[4]
sys.path.append(str(ROOT / "tokdfa" / "kernels" / "backend"))

from compile import BuildError, compile_objects, compiler_of_this_machine  # noqa: E402

TARGETS = (
    "walk", "search", "encode", "documents", "train", "wordpiece", "dfa", "normalization", "unigram", "guiding",
    "replacing", "models", "ngrams",
)  # fmt: skip
CHECKED = ["-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]
# The flags for the targets themselves; the targets check the kernels, so nothing may be dubious in them either.
OWN = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
INSTALL_CLANG = "needs clang with libFuzzer: apt-get install clang (Debian), or set CLANG"


@cache
def clang() -> list[str]:
    """Return the command of a clang that has libFuzzer.

    Raises
    ------
    BuildError
        If there is none.
    """
    named = os.environ.get("CLANG")
    names = [named] if named else ["clang", *(f"clang-{number}" for number in range(30, 10, -1))]
    target = "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return !data && size; }"
    for name in names:
        command = shlex.split(name)
        if shutil.which(command[0]) and _links(command, ["-fsanitize=fuzzer,address"], target):
            return command
    raise BuildError(INSTALL_CLANG)


@cache
def sanitizing_compiler(sanitizer: str) -> list[str]:
    """Return the command of a compiler that has a sanitizer.

    Raises
    ------
    BuildError
        If there is none.
    """
    usual = compiler_of_this_machine()
    for command in [*([usual] if usual else []), ["gcc"], ["clang"], ["clang-14"]]:
        if shutil.which(command[0]) and _links(command, [f"-fsanitize={sanitizer}"], "int main(void) { return 0; }"):
            return command
    raise BuildError(f"needs a C compiler with -fsanitize={sanitizer}: apt-get install gcc")


def _links(command: Sequence[str], flags: Sequence[str], program: str) -> bool:
    done = subprocess.run(
        [*command, *flags, "-x", "c", "-", "-o", os.devnull], input=program, text=True, capture_output=True, check=False
    )
    return done.returncode == 0


def program(
    folder: Path,
    driver: str,
    targets: Sequence[str],
    command: Sequence[str],
    *,
    kernels: Sequence[str],
    own: Sequence[str],
    linked: Sequence[str] = (),
    name: str | None = None,
    objects_in: Path | None = None,
) -> Path:
    """Compile a driver with targets and all kernels, and return the program.

    Parameters
    ----------
    folder : Path
        Where to put it.
    driver : str
        The C file that runs the targets.
    targets : sequence of str
    command : sequence of str
        The compiler.
    kernels, own, linked : sequences of str
        The flags of the kernels, of the targets and their driver, and of the linker.
    name : str, optional
        That of the program; by default the driver's.
    objects_in : Path, optional
        Where to put the object files of the kernels, which several programs may share; by default the folder.

    Raises
    ------
    BuildError
        If the compiler fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    objects = _compiled(objects_in or folder, tuple(command), tuple(kernels))
    if "search" in targets:
        write_machines(folder / "machines.h")
    sources = [HERE / driver, *(HERE / f"{target}.c" for target in targets)]
    place = folder / (name or Path(driver).stem)
    line = [
        *command,
        *OWN,
        *own,
        f"-I{folder}",
        *linked,
        *map(str, sources),
        *map(str, objects),
        "-lm",
        "-o",
        str(place),
    ]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"the C compiler failed: {shlex.join(line)}\n{done.stderr.strip()}")
    return place


@cache
def _compiled(folder: Path, command: tuple[str, ...], flags: tuple[str, ...]) -> tuple[Path, ...]:
    """Compile the kernels, once in a process, and return their object files."""
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(compile_objects(folder, command, flags))


def fuzzer(folder: Path, target: str, *, optimize: str = "-O2") -> Path:
    """Compile a target for libFuzzer, with addresses and undefined behaviour checked."""
    # The judge's own steps are counted too, or it would not learn what its twin does with an input.
    flags = [optimize, *CHECKED, "-fsanitize=fuzzer-no-link,address,undefined"]
    return program(
        folder / target,
        "fuzz.c",
        [target],
        clang(),
        kernels=flags,
        own=[optimize, *CHECKED, f"-DTARGET={target}_target"],
        linked=["-fsanitize=fuzzer,address,undefined"],
        name=target,
        objects_in=folder / "kernels",
    )
