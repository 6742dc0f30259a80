"""Small faults in a Python source, which a mutation run plants one at a time."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult},
    **{ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Pow: ast.Mult},
    **{ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.BitXor: ast.BitOr},
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "argmax": "argmin", "argmin": "argmax"}


@dataclass(frozen=True)
class Mutant:
    """One fault: bytes `start` to `end` of `file`, which are `before`, become `after`."""

    file: str
    function: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    end: int
    occurrence: int = 0

    @property
    def key(self) -> str:
        """The key that distinguishes the mutant from all others, wherever its lines move."""
        number = f" #{self.occurrence}" if self.occurrence else ""
        return f"{self.file} {self.function}: {self.before} → {self.after}{number}"

    def applied(self, source: bytes) -> bytes:
        """Return the source with the fault in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants(file: str, source: str) -> list[Mutant]:
    """Return every fault that can be planted in a source, in the order of their places."""
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    data = source.encode()
    found, seen = [], Counter[str]()
    for function, node, kind, after in _variants(ast.parse(source), ()):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start, end = lines[node.lineno - 1] + node.col_offset, lines[node.end_lineno - 1] + node.end_col_offset
        before = data[start:end].decode()
        one = Mutant(file, function, node.lineno, kind, before, after, start, end)
        found.append(replace(one, occurrence=seen[one.key]))
        seen[one.key] += 1
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.after))


def _variants(
    node: ast.AST, path: tuple[str, ...], is_test: bool = False
) -> Iterator[tuple[str, ast.stmt | ast.expr, str, str]]:
    """Yield (function, node, kind, source of the mutant) for a node and all below it."""
    # Types, decorators and words are not tested; and in 3.11 parts of f-strings have no place.
    if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)) or _is_only_for_types(node):
        return
    if path and isinstance(node, (ast.stmt, ast.expr)):
        for kind, after in _faults(node, is_test):
            yield ".".join(path), node, kind, after
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        path = (*path, node.name)
        if node.name in ("__repr__", "__hash__"):
            return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list", "bases", "type_comment"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _variants(child, path, name == "test" and isinstance(node, (ast.If, ast.While)))


def _is_only_for_types(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        return any(isinstance(each, ast.Name) and each.id == "overload" for each in node.decorator_list)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "cast"
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _faults(node: ast.stmt | ast.expr, is_test: bool) -> Iterator[tuple[str, str]]:
    if is_test and not isinstance(node, (ast.Compare, ast.UnaryOp)):
        yield "negation", f"(not ({ast.unparse(node)}))"
    for kind, mutated in _mutated(node):
        text = ast.unparse(ast.fix_missing_locations(mutated))
        yield kind, f"({text})" if isinstance(mutated, ast.expr) and not isinstance(mutated, _CLOSED) else text


_CLOSED = (ast.Constant, ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.ListComp, ast.SetComp, ast.DictComp,
           ast.Slice)  # fmt: skip


def _mutated(node: ast.stmt | ast.expr) -> Iterator[tuple[str, ast.AST]]:
    """Yield copies of a node with one fault each; the nodes below it have their own."""

    def changed(**fields: object) -> ast.AST:
        other = copy.copy(node)
        for name, value in fields.items():
            setattr(other, name, value)
        return other

    match node:
        case ast.Compare(ops=ops):
            for index, op in enumerate(ops):
                yield "comparison", changed(ops=[*ops[:index], COMPARISONS[type(op)](), *ops[index + 1 :]])
        case ast.BinOp(op=op) if type(op) in OPERATIONS:
            yield "arithmetic", changed(op=OPERATIONS[type(op)]())
        case ast.AugAssign(op=op):
            if type(op) in OPERATIONS:
                yield "arithmetic", changed(op=OPERATIONS[type(op)]())
            yield "deleted", ast.Pass()
        case ast.BoolOp(op=op, values=values):
            yield "boolean", changed(op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for index in range(len(values)):
                rest = [*values[:index], *values[index + 1 :]]
                yield "boolean", rest[0] if len(rest) == 1 else changed(values=rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "negation", operand
        case ast.IfExp(body=body, orelse=orelse):
            yield "negation", changed(body=orelse, orelse=body)
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield "constant", ast.Constant(value + 1)
            yield "constant", ast.Constant(value - 1)
        case ast.Call(args=[first, second, *rest]):
            if not (isinstance(first, ast.Starred) or isinstance(second, ast.Starred)) and _differ(first, second):
                yield "swapped", changed(args=[second, first, *rest])
        case ast.Slice(lower=lower, upper=upper):
            if lower is not None:
                yield "slice", changed(lower=None)
            if upper is not None:
                yield "slice", changed(upper=None)
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield "name", changed(id=NAMES[name])
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
            yield "name", changed(attr=NAMES[name])
        case ast.ListComp(generators=generators) | ast.SetComp(generators=generators):
            for index, each in enumerate(generators):
                if each.ifs:
                    bare = ast.comprehension(each.target, each.iter, [], each.is_async)
                    yield "filter", changed(generators=[*generators[:index], bare, *generators[index + 1 :]])
        case ast.Return(value=value) if value is not None and not _is_nothing(value):
            yield "returned", ast.Return(ast.Constant(None))
        case ast.Continue():
            yield "jump", ast.Break()
        case ast.Break():
            yield "jump", ast.Continue()
        case ast.Raise():
            yield "deleted", ast.Pass()
        case ast.Expr(value=ast.Call()):
            yield "deleted", ast.Pass()
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "deleted", ast.Pass()


def _is_nothing(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _differ(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) != ast.dump(other)
