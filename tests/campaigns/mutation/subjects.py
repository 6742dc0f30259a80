"""The modules that a mutation run is about, and the tests of each."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[3]

# Tests that are about a module and quick. A fault that they do not catch meets the whole suite.
SUBJECTS: dict[str, list[str]] = {
    "tokdfa/automata/fold.py": ["tests/unit/automata/test_fold*.py", "tests/paper/test_dfa_*.py"],
    "tokdfa/automata/compact.py": ["tests/unit/automata/test_compact.py", "tests/paper/test_dfa_definitions.py"],
    "tokdfa/automata/locality.py": ["tests/unit/automata/test_locality.py", "tests/paper/test_dfa_complexity.py"],
    "tokdfa/automata/transducers/*.py": ["tests/unit/automata/transducers", "tests/paper/test_dfa_transducers.py"],
    "tokdfa/training/*.py": ["tests/unit/training", "tests/paper/test_[bfs]*_*.py"],
    "tokdfa/tokenizers/models/wordpiece/*.py": ["tests/unit/tokenizers/models/wordpiece"],
    "tokdfa/jobs/validation/*.py": ["tests/unit/jobs/validation"],
    "tokdfa/jobs/validation/engines/*.py": ["tests/unit/jobs/validation"],
}


def files() -> list[str]:
    """Return the modules, as paths in the repository."""
    return [str(path.relative_to(ROOT)) for pattern in SUBJECTS for path in sorted(ROOT.glob(pattern))]


def tests_of(file: str) -> list[str]:
    """Return the tests of a module: first by its own name, then by its subject."""
    name = f"test_{Path(file).name}"
    patterns = next(tests for pattern, tests in SUBJECTS.items() if Path(file).match(pattern))
    return _found([f"{pattern}/{name}" for pattern in patterns] + patterns)


def _found(patterns: list[str]) -> list[str]:
    found: dict[str, None] = {}
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            each = [path] if path.is_file() else sorted(path.rglob("test_*.py"))
            found |= {str(file.relative_to(ROOT)): None for file in each}
    return list(found)
