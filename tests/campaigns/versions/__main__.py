"""The tests with the lowest and the newest versions of tokdfa's requirements: ``python -m tests.campaigns.versions``.

``lowest`` has each requirement of pyproject.toml at its lower bound, with test dependencies that still go with them;
``newest`` has the newest releases, pre-releases too. Other arguments go to pytest. Needs uv (``pip install uv``).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
# The newest releases of these need a newer numpy or other libraries of the tests.
OF_LOWEST = ["pyarrow<20"]
# Warnings of old releases with a Python that is newer than they are.
WARNINGS = ["-W", "ignore::DeprecationWarning", "-W", "ignore::ImportWarning"]


def lower_bounds() -> list[str]:
    """Return the requirements of the package, each at its lower bound."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        required = tomllib.load(file)["project"]["dependencies"]
    return [requirement.replace(">=", "==") for requirement in required]


def environment(name: str, python: str) -> Path:
    """Make a virtual environment with the package as it is, and return its Python."""
    folder = ROOT / "build" / "versions" / name
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", "--clear", "--python", python, str(folder)], check=True)
    bin_folder = "Scripts" if sys.platform == "win32" else "bin"
    made = folder / bin_folder / ("python.exe" if sys.platform == "win32" else "python")
    more = [*lower_bounds(), *OF_LOWEST] if name == "lowest" else ["--upgrade", "--prerelease=allow"]
    command = [*uv, "pip", "install", "--quiet", "--python", str(made), "-e", f"{ROOT}[test]", *more]
    subprocess.run(command, check=True)
    return made


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", choices=["lowest", "newest"])
    parser.add_argument("--python", default=sys.executable, help="the Python of the environment; by default this one")
    options, arguments = parser.parse_known_args()
    python = environment(options.name, options.python)
    warnings = WARNINGS if options.name == "lowest" else []
    # In a process of its own, without this one's paths.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(python), "-m", "pytest", "-q", *warnings, *arguments]
    return subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
