"""The C of the kernels stays readable: short functions, few parameters, one meaning a name, references that exist."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import tokdfa

KERNELS = Path(tokdfa.__file__).parent / "kernels"
SOURCES = sorted([*KERNELS.glob("*/*.c"), *KERNELS.glob("*/*.h")])
MOST_LINES = 59
MOST_PARAMETERS = 8

# Still to be mended: functions that are too long, or have too many parameters.
LONG = {
    "unigram/accept.c:accept",
    "unigram/segment.h:segment",
    "unigram/texts.wide.c:encode_words",
    "wordpiece/end_to_end.wide.c:encode",
}
WIDE = {
    "encode/piece_cache.h:add_piece",
    "encode/one_pass.h:tokenize",
    "encode/pieces.h:encode_unknown",
    "encode/pieces.h:look_up_known",
    "unigram/segment.h:segment",
    "walk/walk.c:test_pairs",
    "wordpiece/end_to_end.wide.c:encode",
}
# Subjects with constants of several values, and static functions that share a name with one of another file.
UNSETTLED = {"encode", "unigram", "walk", "wordpiece"}


class Function(NamedTuple):
    """A function that is defined in a C file."""

    file: str
    name: str
    lines: int
    parameters: int
    is_static: bool

    @property
    def key(self) -> str:
        return f"{self.file}:{self.name}"


def functions(text: str, file: str = "") -> list[Function]:
    """Return the functions of a C file; each begins at the first column and ends with a brace there."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment.group().count("\n"), text, flags=re.DOTALL)
    found = []
    kind, name, parameters = (
        r"((?!typedef|enum)[A-Za-z_][\w\s*]*?)",
        r"(VARIANT\(\w+\)|\w+)",
        r"((?:[^(){};]|\([^(){};]*\))*)",
    )
    pattern = rf"^{kind}\b{name}\({parameters}\)\s*\{{\n(.*?)^\}}"
    for match in re.finditer(pattern, text, re.MULTILINE | re.DOTALL):
        kind, name, parameters, _ = match.groups()
        n_parameters = 0 if parameters.strip() in ("", "void") else parameters.count(",") + 1
        is_static = "static" in kind or "INLINE" in kind
        found.append(Function(file, name, match.group().count("\n") + 1, n_parameters, is_static))
    return found


def constants(text: str) -> list[tuple[str, str]]:
    """Return the constants of a C file, by enumerations and definitions, with their values as they are written."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = [(name, value.strip()) for name, value in re.findall(r"^#define (\w+) (\S[^\\\n]*)$", text, re.MULTILINE)]
    for inside in re.findall(r"\benum(?: \w+)? \{(.*?)\}", text, re.DOTALL):
        for index, part in enumerate(part for part in inside.split(",") if part.strip()):
            name, _, value = part.partition("=")
            found.append((name.strip(), value.strip() or f"the entry {index} of {inside.split(',')[0].strip()}"))
    return found


ALL = [found for path in SOURCES for found in functions(path.read_text("utf-8"), path.relative_to(KERNELS).as_posix())]


def test_the_functions_are_found() -> None:
    made = functions(
        "/* int old(int a) {\n}\n*/\nstatic int one(int a, int (*f)(int, int)) {\n    return a;\n}\n\n"
        "ALWAYS_INLINE int64_t *VARIANT(two)(void) {\n    if (1) {\n    }\n    return 0;\n}\nint three(int a);\n"
    )
    assert [(found.name, found.lines, found.is_static) for found in made] == [
        ("one", 3, True),
        ("VARIANT(two)", 5, True),
    ]
    assert made[1].parameters == 0
    assert len(ALL) > 600


def test_functions_are_short() -> None:
    assert {found.key for found in ALL if found.lines > MOST_LINES} <= LONG


def test_functions_have_few_parameters() -> None:
    assert {found.key for found in ALL if found.parameters > MOST_PARAMETERS} <= WIDE


def subject(file: str) -> str:
    return file.partition("/")[0]


def test_a_constant_has_one_value() -> None:
    values: defaultdict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in SOURCES:
        for name, value in constants(path.read_text("utf-8")):
            values[name][re.sub(r"[()\s]", "", value)].add(path.parent.name)
    assert len(values) > 300
    # Two variants of a compilation, or of a system.
    both = {"VARIANT", "CHOOSE", "TOKDFA_API", "TOKDFA_SOURCES"}
    several = {name: set().union(*each.values()) for name, each in values.items() if len(each) > 1 and name not in both}
    assert not {name for name, subjects in several.items() if subjects - UNSETTLED}


def test_a_static_function_has_its_own_name() -> None:
    files: defaultdict[str, set[str]] = defaultdict(set)
    for found in ALL:
        if found.is_static:
            files[found.name].add(found.file)
    shared = {name: {subject(file) for file in each} for name, each in files.items() if len(each) > 1}
    assert not {name for name, subjects in shared.items() if subjects - UNSETTLED}


def test_files_that_comments_name_exist() -> None:
    names = {path.name for path in KERNELS.rglob("*") if path.is_file()}
    missing = []
    for path in [*SOURCES, *KERNELS.rglob("*.py")]:
        text = path.read_text("utf-8")
        comments = re.findall(r"/\*.*?\*/", text, re.DOTALL) if path.suffix != ".py" else [text]
        for comment in comments if path.name != "_ffi.py" else []:
            missing += [
                f"{path.relative_to(KERNELS)}: {name}"
                for name in re.findall(r"(?<![\w.*/<-])((?:\w+\.)+(?:h|c|py))(?![\w(])", comment)
                if name not in names | {"X.wide.c", "probe.c"}
            ]
    assert not missing


def test_an_exported_function_is_declared_once() -> None:
    declared = [
        name
        for path in SOURCES
        for name in re.findall(r"^\w[\w ]*[ *](tokdfa_\w+)\([^{}]*?\);", path.read_text("utf-8"), re.M)
    ]
    assert len(declared) > 100
    assert len(declared) == len(set(declared))


def test_a_struct_that_c_reads_has_a_name() -> None:
    """``f().pointer`` in a call of C would not keep the arrays of the struct alive, if another thread replaces it."""
    nameless = re.compile(r"\)\.pointer\b")
    assert nameless.search("lib.tokdfa_walk(walker().pointer)")
    assert not [path for path in KERNELS.parent.rglob("*.py") if nameless.search(path.read_text("utf-8"))]
