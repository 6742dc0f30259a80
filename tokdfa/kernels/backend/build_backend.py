"""The build backend: setuptools', with the kernels compiled first (PEP 517, PEP 660).

A wheel is for a platform and every Python, and holds the compiled kernels, not their sources. A source distribution
holds every file of the checkout, so that its tests pass, and nothing that was compiled. With ``SOURCE_DATE_EPOCH`` set,
both are the same bytes each time. If ``TOKDFA_REPOSITORY`` is set, such as ``https://github.com/OWNER/tokdfa``, the
links of README.md are absolute in the metadata, so that they work on the page of a package index.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compile import BuildError, build, compiler_of_this_machine  # type: ignore[import-not-found]
from setuptools import build_meta
from setuptools.build_meta import get_requires_for_build_sdist
from setuptools.build_meta import prepare_metadata_for_build_editable as _prepare_metadata_for_build_editable

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

prepare_metadata_for_build_editable = _prepare_metadata_for_build_editable

Settings = Mapping[str, Any] | None

ROOT = Path(__file__).resolve().parents[3]
ZIG = "ziglang>=0.13,<0.18"

# A link or a picture of Markdown that leads to a file of the repository.
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)")


def _compiler() -> list[str]:
    try:
        return [] if compiler_of_this_machine() else [ZIG]
    except BuildError as error:
        raise SystemExit(f"tokdfa's kernels cannot be compiled: {error}") from None


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return the requirements of a build: a compiler from pip if the machine has none."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_compiler()]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Return the requirements of an editable installation."""
    return [*build_meta.get_requires_for_build_editable(config_settings), *_compiler()]


def _compile() -> None:
    try:
        build()
    except BuildError as error:
        raise SystemExit(f"tokdfa's kernels cannot be compiled: {error}") from None


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Write the metadata, with absolute links if the repository is known, and return the name of their folder."""
    info: str = build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)
    repository = os.environ.get("TOKDFA_REPOSITORY", "").rstrip("/")
    if repository:
        path = Path(metadata_directory, info, "METADATA")
        text = path.read_text(encoding="utf-8")
        (version,) = re.findall(r"^Version: (.*)$", text, re.MULTILINE)[:1]

        def absolute(link: re.Match[str]) -> str:
            kind = "raw" if link[1] else "blob"
            return f"{link[1]}[{link[2]}]({repository}/{kind}/v{version}/{link[3]})"

        path.write_text(_LINK.sub(absolute, text), encoding="utf-8")
    return info


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Compile, and build a wheel for this platform and every Python."""
    from setuptools.command.bdist_wheel import get_platform

    _compile()
    settings = dict(config_settings or {})
    options = settings.get("--build-option", [])
    options = options.split() if isinstance(options, str) else list(options)
    settings["--build-option"] = [f"--plat-name={get_platform(None)}", *options]
    with tempfile.TemporaryDirectory() as folder:
        known = metadata_directory or str(Path(folder, prepare_metadata_for_build_wheel(folder, config_settings)))
        name: str = build_meta.build_wheel(wheel_directory, settings, known)
    return name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Compile into the source tree, and install it as it is."""
    _compile()
    # The checkout goes on Python's path. Setuptools' other ways find the package later than a folder of its name that
    # happens to lie in the working directory, such as the checkout itself.
    settings = {"editable_mode": "compat", **(config_settings or {})}
    name: str = build_meta.build_editable(wheel_directory, settings, metadata_directory)
    return name


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Pack all files of the checkout, or of an unpacked source distribution, and the metadata."""
    with tempfile.TemporaryDirectory() as folder:
        info = prepare_metadata_for_build_wheel(folder, config_settings)
        metadata = Path(folder, info, "METADATA").read_bytes()
    stem = info.removesuffix(".dist-info")
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", 0)) or None
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in [*_files(), "PKG-INFO"]:
            member, content = tarfile.TarInfo(f"{stem}/{name}"), metadata
            member.mtime = epoch or int((ROOT / "pyproject.toml").stat().st_mtime)
            if name != "PKG-INFO":
                content, mode = (ROOT / name).read_bytes(), (ROOT / name).stat().st_mode
                member.mode = 0o755 if mode & 0o100 else 0o644
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    made = Path(sdist_directory, f"{stem}.tar.gz")
    made.write_bytes(gzip.compress(packed.getvalue(), mtime=epoch or 0))
    return made.name


def _files() -> list[str]:
    """Return the names of all files that git knows; without git, of all that are not hidden caches or build results."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if (ROOT / ".git").exists() and not listed.returncode:
        names = listed.stdout.decode().split("\0")[:-1]
        return sorted(name for name in names if (ROOT / name).is_file())
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    found = (path for path in ROOT.rglob("*") if path.is_file() and path.name != "PKG-INFO")
    return sorted(
        path.relative_to(ROOT).as_posix() for path in found if not any(_matches(path, pattern) for pattern in ignored)
    )


def _matches(path: Path, pattern: str) -> bool:
    """Return whether a file, or a folder that it is in, matches a pattern of .gitignore."""
    inner = path.relative_to(ROOT)
    if "/" in pattern.rstrip("/"):
        return any(each.match(pattern.rstrip("/")) for each in [inner, *inner.parents])
    return any(Path(part).match(pattern.rstrip("/")) for part in inner.parts)
