"""`with objmode(y="float64[:]")`: a part of a compiled function that the interpreter runs.

The part becomes a Python function, which takes the variables that the part reads and returns those that `objmode`
names, converted to the declared types. The source of the function is rewritten when it is decorated; types are
evaluated when it is compiled.
"""
from __future__ import annotations

import ast
import inspect
from types import CellType, CodeType, FunctionType

from ..base.errors import with_article
from ..base.lazy import lazy
from ..infer.meaning import Apply, Const, Mismatch
from ..lib import extended
from ..lib.protocol import boxed
from ..ops.pyobject import PY_CALL, PY_UNBOX
from ..types import kinds
from . import errors, types
from .conversion import converted

__all__ = ["without_regions"]

_locals = lazy("pyjitc.numba.declared_locals")


class Region:
    """A part of a function that the interpreter runs. names: the variables that it returns, in order; declared: their
    types, as a text or as code that is evaluated with the function's names; problem: why it cannot be compiled."""

    __pyjitc_constant__ = True

    def __init__(self, function: FunctionType, names: tuple[str, ...], declared: tuple, scope: FunctionType,
                 problem: tuple[str, str] | None):
        self.function, self.names, self.declared, self.scope, self.problem = function, names, declared, scope, problem
        self.known: list[types.Type] | None = None
        extended.FUNCTIONS[id(self)] = self.rule

    def types(self) -> list[types.Type]:
        """The declared types."""
        if self.known is None:
            self.known = [_declared_type(name, code, self.scope) for name, code in zip(self.names, self.declared)]
        return self.known

    def __call__(self, *args):
        """The result of the part in the interpreter: one value, or a tuple of several."""
        found = self.function(*args)
        given = tuple(converted(f"the variable {name} of objmode", value, types.value_type(t), t)
                      for name, value, t in zip(self.names, found, self.types()))
        return given[0] if len(given) == 1 else given

    def rule(self, args, kwargs):
        """The expression of a call in compiled code."""
        if self.problem is not None:
            raise Mismatch(*self.problem)
        declared = [types.value_type(t) for t in self.types()]
        called = Apply(PY_CALL, Const(kinds.Object, self), *map(boxed, args), kwnames=())
        return Apply(PY_UNBOX, called, type=declared[0] if len(declared) == 1 else kinds.Tuple(declared),
                     any_order=True)


def _declared_type(name: str, declared, scope: FunctionType) -> types.Type:
    text = ast.unparse(declared)
    try:
        if isinstance(declared, ast.Constant) and isinstance(declared.value, str):
            found = types.signature(declared.value)
        else:
            code = compile(ast.Expression(declared), scope.__code__.co_filename, "eval")
            found = eval(code, scope.__globals__, _variables(scope))
    except (NameError, AttributeError, SyntaxError) as error:
        raise Mismatch(f"objmode cannot find the type {text} of '{name}': {error}",
                       "name a type that is there when the function is compiled") from None
    if not isinstance(found, types.Type):
        raise Mismatch(f"objmode takes types, and {text} of '{name}' is {with_article(type(found).__name__)}",
                       f"declare it as a type: objmode({name}='float64[:]')")
    return found


def _variables(function: FunctionType) -> dict:
    """The variables of enclosing functions to which this one refers, if they have values."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            pass
    return found


def without_regions(function: FunctionType, objmode, declared: dict) -> FunctionType:
    """A function that may use objmode, with its `with objmode` statements replaced by calls, and with the values of
    local variables converted to their types. declared: the types of local variables."""
    tree = _tree(function)
    if tree is None:
        raise errors.UnsupportedError(f"{function.__qualname__}() uses {'locals=' if declared else 'objmode'}, and its "
                                      f"source cannot be read; define the function in a file")
    outlined = _Outlined(function, objmode, tree, _locals.declare(tree, declared) if declared else {})
    outlined.visit_body(tree)
    return outlined.function() if outlined.regions or declared else function


def _tree(function: FunctionType) -> ast.FunctionDef | None:
    """The statement that defines the function, with its lines and columns."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse("if 1:\n" + "".join(lines) if lines[0][:1].isspace() else "".join(lines))
    except (OSError, TypeError, SyntaxError):
        return None
    ast.increment_lineno(tree, first - 1 - lines[0][:1].isspace())
    return next((node for node in ast.walk(tree)
                 if isinstance(node, ast.FunctionDef) and node.name == function.__name__), None)


class _Outlined:
    """A function whose parts are being replaced."""

    def __init__(self, scope: FunctionType, objmode, tree: ast.FunctionDef, cells: dict[str, CellType]):
        self.scope, self.objmode, self.tree = scope, objmode, tree
        self.cells = {**dict(zip(scope.__code__.co_freevars, scope.__closure__ or ())), **cells}
        self.locals = {*scope.__code__.co_varnames, *scope.__code__.co_cellvars}
        self.known = {**scope.__globals__, **_variables(scope)}
        # name -> (statement, the variables that it reads and returns, types, problem)
        self.regions: dict[str, tuple] = {}

    def visit_body(self, node) -> None:
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], (ast.stmt, ast.ExceptHandler)):
                setattr(node, field, [self.replaced(one) for one in value])

    def replaced(self, node):
        if isinstance(node, ast.With) and len(node.items) == 1 and (given := self.given(node.items[0])) is not None:
            return self.called(node, given)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.visit_body(node)
        return node

    def given(self, item: ast.withitem) -> list[ast.keyword] | None:
        """The keyword arguments of objmode; None for a statement with another context manager."""
        context = item.context_expr
        target = context.func if isinstance(context, ast.Call) else context
        if self.value(target) is not self.objmode:
            return None
        return [one for one in context.keywords if one.arg is not None] if isinstance(context, ast.Call) else []

    def value(self, node):
        if isinstance(node, ast.Name):
            return self.known.get(node.id)
        return getattr(self.value(node.value), node.attr, None) if isinstance(node, ast.Attribute) else None

    def called(self, node: ast.With, given: list[ast.keyword]) -> ast.stmt:
        """The statement that calls the function of a part."""
        inside, outside = _Names(node.body), _Names(self.tree.body, but=node)
        names = tuple(one.arg for one in given)
        problem = self.problem(node, names, inside)
        arguments = {arg.arg for arg in ast.walk(self.tree.args) if isinstance(arg, ast.arg)}
        reads = tuple(sorted((inside.loaded | {*names} - inside.stored) & self.locals & (outside.stored | arguments)))
        region = f"__region_{len(self.regions)}"
        self.regions[region] = node, reads, names, tuple(one.value for one in given), problem
        call = ast.Call(ast.Name(region, ast.Load()), [ast.Name(name, ast.Load()) for name in reads], [])
        targets = [ast.Name(name, ast.Store()) for name in names]
        made = ast.Expr(call) if not targets else ast.Assign(
            [targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())], call)
        return ast.fix_missing_locations(ast.copy_location(made, node.items[0].context_expr))

    def read_after(self, node: ast.With) -> set[str]:
        """The names that are read after a part, or before it in a loop around it. Reads inside other parts that assign
        the name first do not count."""
        loops = [one for one in ast.walk(self.tree) if isinstance(one, (ast.For, ast.While))
                 and any(inner is node for inner in ast.walk(one))]
        first = min((loop.lineno for loop in loops), default=node.end_lineno + 1)
        last = max((loop.end_lineno for loop in loops), default=0)
        found: set[str] = set()
        waiting = list(self.tree.body)
        while waiting:
            one = waiting.pop()
            if one is node:
                continue
            if isinstance(one, ast.With) and self.given(one.items[0]) is not None:
                names = _Names([one])
                found |= names.loaded - names.stored
                continue
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and (
                    one.lineno > node.end_lineno or first <= one.lineno <= last):
                found.add(one.id)
            waiting.extend(ast.iter_child_nodes(one))
        return found

    def problem(self, node: ast.With, names: tuple[str, ...], inside: _Names) -> tuple[str, str] | None:
        """The reason why the part cannot be a Python function, and what to write instead."""
        context = node.items[0].context_expr
        if isinstance(context, ast.Call) and (context.args or len(context.keywords) != len(names)):
            return "objmode takes the variables that it gives as keywords", "write objmode(y='float64[:]')"
        if any(isinstance(inner, (ast.Return, ast.Yield, ast.YieldFrom)) for inner in _inner(node.body)):
            return "a part in objmode cannot return or yield", "assign to a variable, and return that after the part"
        for name in sorted((inside.stored - {*names}) & self.locals & self.read_after(node)):
            return (f"objmode assigns to '{name}', which is read after it, and says no type for it",
                    f"write objmode({name}='TYPE')")
        for name in sorted({*names} - self.locals):
            return f"objmode says a type for '{name}', to which nothing is assigned", "leave it out"
        return None

    def function(self) -> FunctionType:
        """The function with the calls."""
        cells, variables = dict(self.cells), tuple(self.cells)
        for name, (node, reads, names, declared, problem) in self.regions.items():
            result = ast.Return(ast.Tuple([ast.Name(one, ast.Load()) for one in names], ast.Load()))
            body = ast.FunctionDef(name, _arguments(reads), [*node.body, result], [], type_params=[])
            code = self.code(body, node, variables)
            made = FunctionType(code, self.scope.__globals__, f"objmode of {self.scope.__name__}", None,
                                tuple(cells[one] for one in code.co_freevars))
            cells[name] = CellType(Region(made, names, declared, self.scope, problem))
        self.tree.decorator_list = []
        code = self.code(self.tree, self.tree, cells)
        made = FunctionType(code, self.scope.__globals__, self.scope.__name__, self.scope.__defaults__,
                            tuple(cells[one] for one in code.co_freevars))
        made.__kwdefaults__, made.__qualname__, made.__module__, made.__doc__ = (
            self.scope.__kwdefaults__, self.scope.__qualname__, self.scope.__module__, self.scope.__doc__)
        made.__dict__.update(self.scope.__dict__)
        return made

    def code(self, definition: ast.FunctionDef, place, variables) -> CodeType:
        """The code of a function, compiled in a scope with these variables."""
        names = [] if definition.name in variables else [ast.Global([definition.name])]  # where it calls itself
        around = ast.FunctionDef("around", _arguments(variables), [*names, definition], [], type_params=[])
        module = ast.Module([ast.fix_missing_locations(ast.copy_location(around, place))], [])
        found = compile(module, self.scope.__code__.co_filename, "exec", dont_inherit=True)
        outer = next(one for one in found.co_consts if isinstance(one, CodeType))
        return next(one for one in outer.co_consts if isinstance(one, CodeType))


def _arguments(names) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _inner(body):
    """All nodes of these statements, except those inside functions and classes."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


class _Names:
    """The names that statements read and assign. but: a statement among them that is skipped."""

    def __init__(self, body, but=None):
        self.loaded: set[str] = set()
        self.stored: set[str] = set()
        self.but = but
        for node in body:
            self.note(node)

    def note(self, node) -> None:
        if node is self.but:
            return
        if isinstance(node, ast.Name):
            (self.loaded if isinstance(node.ctx, ast.Load) else self.stored).add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self.loaded.add(node.target.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.stored.add(node.name)
        elif isinstance(node, ast.alias):
            self.stored.add((node.asname or node.name).partition(".")[0])
        for inner in ast.iter_child_nodes(node):
            self.note(inner)
