"""The build backend: setuptools', with the kernels compiled first (PEP 517, PEP 660)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compile import BuildError, build, compiler_of_this_machine  # type: ignore[import-not-found]
from setuptools import build_meta
from setuptools.build_meta import build_sdist, get_requires_for_build_sdist, prepare_metadata_for_build_wheel
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

ZIG = "ziglang>=0.13,<0.18"


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


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Compile, and build a wheel for this platform and every Python."""
    from setuptools.command.bdist_wheel import get_platform

    _compile()
    settings = dict(config_settings or {})
    options = settings.get("--build-option", [])
    options = options.split() if isinstance(options, str) else list(options)
    settings["--build-option"] = [f"--plat-name={get_platform(None)}", *options]
    name: str = build_meta.build_wheel(wheel_directory, settings, metadata_directory)
    return name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Compile into the source tree, and install it as it is."""
    _compile()
    name: str = build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    return name
