"""Compile the kernels into the package: ``python tokdfa/kernels/backend/compile.py``.

With ``--cross FOLDER`` they are compiled by Zig for all other systems that the package is for, into a folder of each.

All C files of ``tokdfa/kernels`` become one shared library without Python headers, and the declarations of all
``api.h`` become the module ``_ffi``, through which cffi calls it. Both carry the hash of the sources.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1]
X86_64 = {"x86_64", "amd64", "AMD64"}


@dataclass(frozen=True)
class Target:
    """A system to compile for: the names that Python gives it and its processor, and Zig's name of both."""

    system: str
    machine: str
    triple: str | None = None

    @property
    def library(self) -> str:
        """The name of the file of the library."""
        return {"win32": "_kernels.dll", "darwin": "_kernels.dylib"}.get(self.system, "_kernels.so")

    @property
    def flags(self) -> list[str]:
        """The flags that tell the compiler about the system."""
        named = ["-target", self.triple] if self.triple else []
        return named + ([] if self.system == "win32" else ["-fPIC", "-fvisibility=hidden"])


HERE = Target(sys.platform, platform.machine())
TARGETS = [
    Target("win32", "AMD64", "x86_64-windows-gnu"),
    Target("win32", "ARM64", "aarch64-windows-gnu"),
    Target("darwin", "x86_64", "x86_64-macos"),
    Target("darwin", "arm64", "aarch64-macos"),
    Target("linux", "aarch64", "aarch64-linux-gnu"),
    Target("linux", "x86_64", "x86_64-linux-musl"),
    Target("linux", "aarch64", "aarch64-linux-musl"),
]

FLAGS = ["-std=c11", "-O3", "-fno-math-errno", "-Wall", "-Wextra", "-Wno-unknown-pragmas"]
# Zig targets the machine that it runs on and traps on undefined behaviour, unless it is told otherwise.
ZIG_FLAGS = ["-mcpu=baseline", "-fno-sanitize=undefined"]
SANITIZE = ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

# Files `*.wide.c` are compiled once more for processors of this level; see common/wide.h.
WIDE_FLAGS = {"cc": "-march=x86-64-v3", "zig": "-mcpu=x86_64_v3"}

_PROBE = "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\nint64_t tokdfa_probe(void) { return 1; }\n"


class BuildError(Exception):
    """The kernels cannot be compiled here; says what to do."""


def sources_with(ending: str) -> list[Path]:
    """Return the C files and headers with this ending, in order."""
    return sorted(KERNELS.glob(f"*/*{ending}"))


def names_of_api() -> list[str]:
    """Return the names of the functions that the library exports."""
    texts = [path.read_text(encoding="utf-8") for path in sources_with("api.h")]
    return sorted({name for text in texts for name in re.findall(r"\b(tokdfa_\w+)\(", text)})


def digest() -> str:
    """Return the hash of all C files and headers: their names and contents, line endings aside."""
    found = hashlib.sha256()
    for path in sorted([*sources_with(".c"), *sources_with(".h")]):
        found.update(f"{path.relative_to(KERNELS).as_posix()}\0".encode())
        found.update(path.read_bytes().replace(b"\r\n", b"\n"))
        found.update(b"\0")
    return found.hexdigest()


def compiler_of_this_machine() -> list[str] | None:
    """Return the command of a C compiler that works: ``CC`` or a usual one; None if there is none.

    A BuildError says that ``CC`` names one that does not work.
    """
    if os.environ.get("CC"):
        named = shlex.split(os.environ["CC"])
        if not _works(named):
            raise BuildError(f"CC names a compiler that does not work, {shlex.join(named)}: correct it, or unset it")
        return named
    if sys.platform == "win32":
        # Zig alone: other compilers need a runtime library of theirs, which another machine may lack.
        return None
    candidates = [[name] for name in ("cc", "gcc", "clang") if shutil.which(name)]
    return next((command for command in candidates if _works(command)), None)


def _works(command: list[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(_PROBE, encoding="utf-8")
        try:
            done = subprocess.run(
                [*command, "-std=c11", "-shared", "-fPIC", str(source), "-o", str(Path(folder, "probe.so"))],
                capture_output=True,
                check=False,
            )
        except OSError:
            return False
        return done.returncode == 0


def zig() -> list[str]:
    """Return the command of the C compiler of the package ziglang. A BuildError says that it is not installed."""
    command = [sys.executable, "-m", "ziglang", "cc"]
    if subprocess.run([*command[:3], "version"], capture_output=True, check=False).returncode:
        raise BuildError(
            "no C compiler was found, and the package ziglang, which brings one, is not installed: install gcc or "
            "clang, or let pip reach ziglang"
        )
    return command


def build(target: Path = KERNELS, *, sanitize: bool = False, warnings_are_errors: bool = False) -> Path:
    """Compile the library and write it, and the module ``_ffi``, into a folder, by default the package's own.

    With `sanitize`, the library stops at wrong accesses and undefined behaviour; then it runs under a preloaded
    libasan. A BuildError says that no compiler was found, that it fails, or that the folder cannot be written.
    """
    command = compiler_of_this_machine() or zig()
    with tempfile.TemporaryDirectory() as folder:
        environment = zig_environment(Path(folder))
        sources = digest()
        flags = SANITIZE if sanitize else []
        flags = [*flags, *(["-Werror"] if warnings_are_errors else [])]
        objects = compile_objects(Path(folder), command, flags, sources=sources, environment=environment)
        made = Path(folder, HERE.library)
        link(objects, made, command, SANITIZE if sanitize else [], environment=environment)
        try:
            _replace(made.read_bytes(), target / HERE.library)
            _replace(_declarations(sources).encode(), target / "_ffi.py")
        except OSError as error:
            hint = "build from a copy of the sources in a folder that can"
            raise BuildError(f"{target} cannot be written ({error.strerror}): {hint}") from error
    return target / HERE.library


def cross(folder: Path, targets: Sequence[Target] = TARGETS) -> Iterator[Path]:
    """Compile the library for each of some targets, by Zig, with warnings as errors; yield the libraries.

    The library of a target, and its object files, are in a folder of its name. A BuildError says that Zig was not
    found, or that it fails.
    """
    command = zig()
    environment = zig_environment(folder)
    for target in targets:
        library = folder / str(target.triple) / target.library
        objects = library.parent / "objects"
        objects.mkdir(parents=True, exist_ok=True)
        compiled = compile_objects(
            objects, command, ["-Werror"], sources=digest(), environment=environment, target=target
        )
        link(compiled, library, command, environment=environment, target=target)
        yield library


def link(
    objects: Sequence[Path],
    library: Path,
    command: Sequence[str],
    flags: Sequence[str] = (),
    *,
    environment: dict[str, str] | None = None,
    target: Target = HERE,
) -> None:
    """Link object files into a library that exports the API alone. A BuildError says that the compiler fails."""
    # Without the symbols of a debugger, which Zig puts into it.
    flags = [*target.flags, *flags, *(["-s"] if _is_zig(command) else [])]
    if target.system == "win32":
        # Where the sources mark nothing, a library exports all that is not static.
        exports = library.with_suffix(".def")
        exports.write_text("\n".join(["EXPORTS", *names_of_api()]), encoding="utf-8")
        flags.append(str(exports))
    _run([*command, "-shared", *flags, *map(str, objects), "-o", str(library)], environment)


def _is_zig(command: Sequence[str]) -> bool:
    """Return whether a command is Zig's: ``zig cc`` or ``python -m ziglang cc``."""
    return any(Path(word).stem in {"zig", "ziglang"} for word in command)


def zig_environment(folder: Path) -> dict[str, str]:
    """Return the environment of a compiler where Zig, which else needs a home, keeps its caches in a folder."""
    caches = ("ZIG_LOCAL_CACHE_DIR", "ZIG_GLOBAL_CACHE_DIR")
    return dict.fromkeys(caches, str(folder.resolve() / "zig")) | dict(os.environ)


def compile_objects(
    folder: Path,
    command: Sequence[str],
    flags: Sequence[str],
    *,
    sources: str = "",
    environment: dict[str, str] | None = None,
    target: Target = HERE,
) -> list[Path]:
    """Compile each C file by itself into a folder, ``*.wide.c`` twice for x86-64; return the object files.

    The compiler is a `command`, with `flags` beyond the usual; `sources` is the hash that the library is to carry. A
    BuildError says that the compiler fails.
    """
    is_zig = _is_zig(command)
    flags = [*FLAGS, *(ZIG_FLAGS if is_zig else []), *target.flags, *flags]
    jobs = []
    for path in sources_with(".c"):
        variants: list[tuple[str, list[str]]] = [("", [])]
        if path.name.endswith(".wide.c") and target.machine in X86_64:
            variants = [
                ("-baseline", ["-DTOKDFA_HAS_WIDE"]),
                ("-wide", ["-DTOKDFA_WIDE", WIDE_FLAGS["zig" if is_zig else "cc"]]),
            ]
        for name, more in variants:
            compiled = Path(folder, f"{path.parent.name}-{path.stem}{name}.o")
            stamp = [f'-DTOKDFA_SOURCES="{sources}"'] if sources and path.name == "library.c" else []
            kept = flags if "-wide" not in name else [flag for flag in flags if flag not in ZIG_FLAGS[:1]]
            jobs.append((compiled, [*command, *kept, *more, *stamp, "-c", str(path), "-o", str(compiled)]))
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(lambda job: _run(job[1], environment), jobs))
    return [compiled for compiled, _ in jobs]


def _run(command: Sequence[str], environment: dict[str, str] | None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, check=False)
    if done.returncode:
        raise BuildError(f"the C compiler failed: {shlex.join(command)}\n{done.stderr.strip()}")
    if done.stderr.strip():
        print(done.stderr.strip(), file=sys.stderr)


def _replace(content: bytes, path: Path) -> None:
    """Write a file such that processes which have the old one open keep it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    beside.write_bytes(content)
    beside.replace(path)


def _declarations(sources: str) -> str:
    """Return the module of cffi's declarations."""
    import cffi

    ffi = cffi.FFI()
    for path in _after_included(sources_with("api.h")):
        lines = path.read_text(encoding="utf-8").splitlines()
        ffi.cdef("\n".join(line for line in lines if not line.startswith("#")))
    ffi.set_source("_ffi", None)
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder, "_ffi.py")
        with contextlib.redirect_stdout(None):
            ffi.emit_python_code(str(module))
        code = module.read_text(encoding="utf-8")
    return f"{code}\nSOURCES = {sources!r}\nLIBRARY = {HERE.library!r}\n"


def _after_included(paths: list[Path]) -> list[Path]:
    """Return headers in an order in which each comes after those that it includes."""
    ordered: list[Path] = []

    def put(path: Path) -> None:
        for name in re.findall(r'^#include "(.*api\.h)"', path.read_text(encoding="utf-8"), re.MULTILINE):
            put((path.parent / name).resolve())
        if path not in ordered:
            ordered.append(path)

    for path in paths:
        put(path.resolve())
    return ordered


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Compile tokdfa's kernels.")
    parser.add_argument("-o", "--output", type=Path, default=KERNELS, help="the folder to write to")
    parser.add_argument("--sanitize", action="store_true", help="stop at wrong accesses and undefined behaviour")
    parser.add_argument("--werror", action="store_true", help="let warnings fail")
    parser.add_argument("--cross", type=Path, metavar="FOLDER", help="compile for all other systems instead, by Zig")
    options = parser.parse_args()
    try:
        if options.cross:
            for library in cross(options.cross):
                print(library)
            return
        print(build(options.output, sanitize=options.sanitize, warnings_are_errors=options.werror))
    except BuildError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
