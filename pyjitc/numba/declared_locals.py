"""`jit(locals={"x": float32})`: a value that is assigned to a local variable is converted to the declared type of the
variable.

The assignments are rewritten when the function is decorated: `x = y` becomes `x = to_x(y)`.
"""
from __future__ import annotations

import ast
from types import CellType

from ..infer.constants import constant
from ..infer.meaning import Call, CallValue, Mismatch
from ..lib import extended
from ..lib.build import cast
from ..lib.py.ofclasses import of_number
from ..types import kinds
from . import types
from .conversion import converted

__all__ = ["declare"]


class _Conversion:
    """The function that converts the values which are assigned to one variable."""

    __pyjitc_constant__ = True

    def __init__(self, name: str, declared: types.Type):
        self.name, self.declared = name, declared
        extended.FUNCTIONS[id(self)] = self.rule

    @property
    def base(self) -> kinds.Type:
        """The type of the variable in compiled code, where integers of up to 32 bits are Python's ints."""
        t = types.value_type(self.declared)
        return kinds.Int if isinstance(t, kinds.NpInt) and t is not kinds.uint64 else t

    def __call__(self, value):
        return converted(f"the local variable {self.name}", value, self.base, self.declared)

    def rule(self, args, kwargs):
        value, = args
        if not isinstance(self.declared, (types.Number, types.Boolean)):
            return value
        if isinstance(value.type, kinds.Union) and all(map(kinds.is_number, value.type.members)):
            cls = {kinds.Bool: bool, kinds.Int: int, kinds.Float: float}.get(self.base, complex)
            return CallValue(constant(self), Call(of_number, value, constant(cls)))
        if not kinds.is_number(value.type) and not isinstance(value.type, kinds.Dual):
            raise Mismatch(f"the local variable '{self.name}' is declared as {self.declared}, and cannot hold a value "
                           f"of type {value.type}", "store a number, or leave the declaration out")
        return cast(cast(value, self.declared.type), self.base)


def declare(tree: ast.FunctionDef, declared: dict[str, types.Type]) -> dict[str, CellType]:
    """Rewrite the assignments in a function. Returns the cells of the variables that the new code reads."""
    known = {name: types.signature(t) if isinstance(t, str) else t for name, t in declared.items()}
    _Rewritten(known).function(tree)
    return {_named(name): CellType(_Conversion(name, t)) for name, t in known.items()}


def _named(name: str) -> str:
    return f"__to_{name}"


def _call(name: str, value: ast.expr) -> ast.expr:
    called = ast.Call(ast.Name(_named(name), ast.Load()), [value], [])
    return ast.fix_missing_locations(ast.copy_location(called, value))


class _Rewritten(ast.NodeTransformer):
    def __init__(self, known):
        self.known = known

    def function(self, tree: ast.FunctionDef) -> None:
        parameters = [one.arg for one in ast.walk(tree.args) if isinstance(one, ast.arg)]
        first = [self.again(name, tree) for name in parameters if name in self.known]
        tree.body = first + self.statements(tree.body)

    def again(self, name: str, place) -> ast.stmt:
        """name = to_name(name)"""
        made = ast.Assign([ast.Name(name, ast.Store())], _call(name, ast.copy_location(
            ast.Name(name, ast.Load()), place)))
        return ast.fix_missing_locations(ast.copy_location(made, place))

    def stored(self, *targets) -> list[ast.stmt]:
        """The conversions of the variables that the targets of an assignment store."""
        names = {one.id: one for target in targets if target is not None for one in ast.walk(target)
                 if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and one.id in self.known}
        return [self.again(name, place) for name, place in names.items()]

    def statements(self, body) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for one in body:
            made = self.visit(one)
            found += made if isinstance(made, list) else [made]
        return found

    def visit_FunctionDef(self, node):
        return node  # it has variables of its own

    visit_Lambda = visit_ClassDef = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = (
        visit_FunctionDef)

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Name):
            if target.id in self.known:
                node.value = _call(target.id, node.value)
            return node
        return [node, *self.stored(*node.targets)]

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        return [node, *self.stored(node.target)]

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        return node if node.value is None else [node, *self.stored(node.target)]

    def visit_NamedExpr(self, node):
        self.generic_visit(node)
        if node.target.id in self.known:
            node.value = _call(node.target.id, node.value)
        return node

    def visit_For(self, node):
        self.generic_visit(node)
        node.body = self.stored(node.target) + node.body
        return node

    def visit_With(self, node):
        self.generic_visit(node)
        node.body = self.stored(*(item.optional_vars for item in node.items)) + node.body
        return node
