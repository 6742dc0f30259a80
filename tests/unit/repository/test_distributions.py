"""Published files: wheels, source distributions and editable installations, as the build backend makes them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
REPOSITORY = "https://example.org/owner/tokdfa"

COMPILER = """#!{python}
import sys
open(sys.argv[sys.argv.index("-o") + 1], "wb").write(b"something")
"""


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode or not (ROOT / ".git").exists():
        pytest.skip("this is not a checkout of git")
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def checkout(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout without git, with leftovers."""
    if int(version("setuptools").partition(".")[0]) < 77:
        pytest.skip("the backend needs setuptools 77")
    if sys.platform == "win32":
        pytest.skip("there is no script that stands in for a compiler here")
    folder = tmp_path_factory.mktemp("checkout")
    for name in tracked:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    for name in ("tokdfa/kernels/_kernels.dylib", "tokdfa/__pycache__/x.pyc", ".venv/x.py", "build/lib/x.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"left over")
    return folder


def _build(checkout: Path, kind: str, folder: Path) -> Path:
    """Let the backend make a distribution with a compiler that makes something of everything, at once."""
    folder.mkdir(parents=True)
    compiler = folder / "cc"
    compiler.write_text(COMPILER.format(python=sys.executable), encoding="utf-8")
    compiler.chmod(0o755)
    backend = checkout / "tokdfa" / "kernels" / "backend"
    code = f"import sys; import build_backend as backend; print(backend.build_{kind}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(folder)],
        cwd=checkout,
        capture_output=True,
        text=True,
        env=os.environ
        | {"CC": str(compiler), "SOURCE_DATE_EPOCH": "1700000000", "PYTHONPATH": str(backend)}
        | {"TOKDFA_REPOSITORY": "" if kind == "editable" else REPOSITORY},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def distributions(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: _build(checkout, kind, tmp_path_factory.mktemp(kind) / "one") for kind in ("sdist", "wheel")}


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_source_distribution_holds_all_files_and_nothing_that_was_compiled(
    distributions: dict[str, Path], tracked: list[str], tmp_path: Path
) -> None:
    made = distributions["sdist"]
    with tarfile.open(made) as archive:
        stem = made.name.removesuffix(".tar.gz")
        assert archive.getnames() == [f"{stem}/{name}" for name in [*sorted(tracked), "PKG-INFO"]]
        archive.extractall(tmp_path / "unpacked", filter="data")
    # Its files suffice to build it again, and its hash is the same on any day.
    assert _hash(_build(tmp_path / "unpacked" / stem, "sdist", tmp_path / "two")) == _hash(made)


def test_a_wheel_holds_compiled_kernels_and_no_sources_in_c(
    checkout: Path, distributions: dict[str, Path], tmp_path: Path
) -> None:
    made = distributions["wheel"]
    assert _hash(_build(checkout, "wheel", tmp_path / "two")) == _hash(made)
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
    assert {"tokdfa/kernels/_kernels.so", "tokdfa/kernels/_ffi.py", "tokdfa/py.typed"} <= {*names}
    assert not [name for name in names if name.endswith((".c", ".h")) or "kernels/backend" in name or "tests/" in name]
    # Without the library, which takes some 350,000 bytes more.
    assert made.stat().st_size < 1_900_000


def test_links_on_the_page_of_an_index_are_absolute_and_lead_to_files(distributions: dict[str, Path]) -> None:
    for kind, made in distributions.items():
        if kind == "wheel":
            with zipfile.ZipFile(made) as archive:
                (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
                text = archive.read(name).decode()
        else:
            with tarfile.open(made) as archive:
                (member,) = (each for each in archive.getmembers() if each.name.endswith("PKG-INFO"))
                text = archive.extractfile(member).read().decode()  # type: ignore[union-attr]
        version = re.findall(r"^Version: (.*)$", text, re.MULTILINE)[0]
        links = re.findall(r"(!?)\[[^\]]*\]\(([^)]*)\)", text)
        assert len(links) > 20
        for picture, link in links:
            address = f"{REPOSITORY}/{'raw' if picture else 'blob'}/v{version}/"
            if link.startswith(address):
                assert (ROOT / link.removeprefix(address).partition("#")[0]).is_file(), link
            else:
                assert link.startswith(("https://", "#")), link
        assert sum(link.startswith(REPOSITORY) for _, link in links) > 20


def test_the_recipe_for_conda_requires_what_the_package_requires() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    required = {
        f"python {project['requires-python']}",
        *(re.sub("(?=>)", " ", each) for each in project["dependencies"]),
    }
    text = (ROOT / ".github" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    listed = re.findall(r"^    - (.*)$", text[text.index("  run:") : text.index("tests:")], re.MULTILINE)
    assert {each.removeprefix("python-") for each in listed} == required


def test_an_editable_installation_is_found_from_the_folder_above_the_checkout(checkout: Path, tmp_path: Path) -> None:
    made = _build(checkout, "editable", tmp_path / "made")
    with zipfile.ZipFile(made) as archive:
        archive.extractall(tmp_path / "site")
    assert [path.read_text().strip() for path in (tmp_path / "site").glob("*.pth")] == [str(checkout)]
    # A folder of the package's name, as a checkout often has, in the working directory.
    (tmp_path / "above" / "tokdfa").mkdir(parents=True)
    done = subprocess.run(
        [
            sys.executable,
            "-S",  # Without what is installed here, which may be another checkout.
            "-c",
            f"import site; site.addsitedir({str(tmp_path / 'site')!r})\n"
            "from importlib.util import find_spec; print(find_spec('tokdfa').origin)",
        ],
        cwd=tmp_path / "above",
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        check=False,
    )
    assert done.stdout.strip() == str(checkout / "tokdfa" / "__init__.py"), done.stderr
