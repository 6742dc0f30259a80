"""Compiling the kernels: a failure is one line; and the kernels run with all accesses checked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
COMPILE = ROOT / "tokdfa" / "kernels" / "backend" / "compile.py"

FAKE_COMPILER = """#!{python}
import sys
open(sys.argv[sys.argv.index("-o") + 1], "wb").write(b"something")
"""


def _compile(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(COMPILE), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "CC"} | environment,
        check=False,
    )


def _put_in_place_of_zig(folder: Path) -> None:
    """Make a package ziglang that does not work."""
    (folder / "ziglang").mkdir()
    (folder / "ziglang" / "__init__.py").touch()
    (folder / "ziglang" / "__main__.py").write_text("raise SystemExit(1)", encoding="utf-8")


@pytest.fixture
def fake_compiler(tmp_path: Path) -> str:
    """A compiler that makes something of everything, at once."""
    if sys.platform == "win32":
        pytest.skip("there is no script that stands in for a compiler here: CC is not asked on Windows")
    place = tmp_path / "cc"
    place.write_text(FAKE_COMPILER.format(python=sys.executable), encoding="utf-8")
    place.chmod(0o755)
    return str(place)


def test_without_a_compiler_it_is_said_what_to_install(tmp_path: Path) -> None:
    _put_in_place_of_zig(tmp_path)
    done = _compile("-o", tmp_path / "out", PATH=str(tmp_path), PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
    assert done.stderr.startswith("error: no C compiler was found")
    assert "install gcc or clang, or let pip reach ziglang" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("compiler", ["no-such-compiler", f"{sys.executable} -c 1/0"])
def test_a_named_compiler_that_does_not_work(compiler: str, tmp_path: Path) -> None:
    done = _compile("-o", tmp_path / "out", CC=compiler)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
    assert "CC names a compiler that does not work" in done.stderr
    assert "correct it, or unset it" in done.stderr


def test_what_is_compiled_is_written(fake_compiler: str, tmp_path: Path) -> None:
    done = _compile("-o", tmp_path / "out", CC=fake_compiler)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).read_bytes() == b"something"
    assert f"LIBRARY = '{Path(done.stdout.strip()).name}'" in (tmp_path / "out" / "_ffi.py").read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written(fake_compiler: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    read_only = tmp_path / "read only"
    read_only.mkdir()
    read_only.chmod(0o555)
    # For root all folders can be written, but none in a file.
    folders = [tmp_path / "file" / "out", *([] if os.access(read_only, os.W_OK) else [read_only])]
    for folder in folders:
        done = _compile("-o", folder, CC=fake_compiler)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
        assert f"error: {folder} cannot be written" in done.stderr
        assert "build from a copy of the sources in a folder that can" in done.stderr


def _library_of_gcc(name: str) -> str:
    done = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    place = done.stdout.strip()
    if not Path(place).is_absolute():
        pytest.skip(f"gcc has no {name}: the kernels cannot run with their accesses checked")
    return place


@pytest.mark.slow
def test_no_kernel_reads_or_writes_what_is_not_its_own(tmp_path: Path) -> None:
    if not sys.platform.startswith("linux") or not shutil.which("gcc"):
        pytest.skip("there is no gcc on Linux here: the kernels cannot run with their accesses checked")
    preloaded = " ".join(_library_of_gcc(name) for name in ("libasan.so", "libstdc++.so"))
    ignored = shutil.ignore_patterns("__pycache__", "_kernels.*", "_ffi.py")
    for name in ("tokdfa", "tests/campaigns/evidence", "tests/support", "tests/unit/kernels"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in ("pyproject.toml", "tests/conftest.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    compile_py = tmp_path / COMPILE.relative_to(ROOT)
    subprocess.run([sys.executable, str(compile_py), "--sanitize"], check=True, env=os.environ | {"CC": "gcc"})
    # These two start processes of their own.
    left_out = [f"--ignore=tests/unit/kernels/{name}" for name in ("test_library.py", "backend/test_compile.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *left_out, "tests/unit/kernels"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"LD_PRELOAD": preloaded, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
    assert " passed" in done.stdout


def test_other_systems_need_zig(tmp_path: Path) -> None:
    _put_in_place_of_zig(tmp_path)
    done = _compile("--cross", tmp_path / "out", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
    assert "the package ziglang, which brings one, is not installed" in done.stderr
