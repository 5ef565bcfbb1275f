"""One program under CPython and compiled: the same value, type, dtype, exception and mutation of arguments.

What docs/semantics.md declares different is excluded here, and nowhere else (`excused`, and programs whose ints leave
64 bits). The answer is (status, text): ok; wrong; refused (does not compile); skipped."""
import ast
import linecache
import warnings

from tests.oracle import difference, outcome

from pyjitc import njit
from pyjitc.base.errors import CompileError

__all__ = ["check", "explain"]

_LIMIT = 200_000  # instructions of the IR interpreter


class TooBig(BaseException):
    """An int of the program left 64 bits, which is a documented deviation."""


class _Watched(ast.NodeTransformer):
    """Every int that an operation makes goes through `watch_`."""

    def visit_expression(self, node):
        self.generic_visit(node)
        return ast.copy_location(ast.Call(ast.Name("watch_", ast.Load()), [node], []), node)

    visit_BinOp = visit_UnaryOp = visit_Call = visit_expression

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        check = ast.Expr(ast.Call(ast.Name("watch_", ast.Load()), [ast.Name(node.target.id, ast.Load())], []))
        return [node, ast.copy_location(check, node)]


def _watched(source):
    """The program with `watch_`, which notes in `seen` that an int grew too big and stops it."""
    seen = []

    def watch(x):
        if type(x) is int and not -2 ** 63 <= x < 2 ** 63:
            seen.append(x)
            raise TooBig
        return x

    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            _Watched().generic_visit(node)
            node.decorator_list = []
    space = {"watch_": watch}
    exec(compile(ast.fix_missing_locations(tree), "<watched>", "exec"), space)
    return space["f"], seen


def _loaded(source, decorator, name):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"njit": decorator, "__name__": "generated"}
    exec(compile(source, name, "exec"), space)
    return space


def excused(expected, actual) -> bool:
    """Whether the table of deviations covers the difference."""
    if actual[0] == "raises" and type(actual[1]) is OverflowError and str(actual[1]).startswith("integer overflow"):
        return True
    return any(end[0] == "raises" and isinstance(end[1], RecursionError) for end in (expected, actual))


def check(source: str) -> tuple[str, str]:
    try:
        plain = _loaded(source, lambda function: function, "<plain>")
        watched, seen = _watched(source)
    except (Exception, TooBig) as error:
        return "skipped", f"not a program: {error!r}"
    compiled = None
    ran = 0
    for number, args in enumerate(plain["CALLS"]):
        if any(isinstance(x, list) for x in args):
            return "skipped", "an argument is a list"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                outcome(watched, args)
            except TooBig:
                pass
        if seen:
            seen.clear()
            continue
        expected = outcome(plain["f"], args)
        try:
            if compiled is None:
                compiled = _loaded(source, njit, "<compiled>")["f"]
            actual = outcome(compiled, args)
        except TypeError as error:  # a default that has no type
            return "refused", str(error)
        if actual[0] == "raises" and isinstance(actual[1], CompileError):
            if "does not fit in 64 bits" in actual[1].diagnostic.message:  # a literal beyond the bounds, where no call goes
                return "skipped", "ints beyond 64 bits"
            return "refused", f"{actual[1].diagnostic.message}\n{actual[1]}"
        wrong = difference(expected, actual)
        if wrong and not excused(expected, actual):
            return "wrong", f"call {number}: {wrong}"
        ran += 1
    return ("ok", "") if ran else ("skipped", "ints beyond 64 bits")


def explain(source: str) -> str:
    """Which stage of the compile first differs from CPython, by the IR interpreter."""
    from tests.ir.stages import optimised, typed

    from pyjitc.ir import interp

    found = []
    plain = _loaded(source, lambda function: function, "<plain>")
    for name, stage in (("typed", typed), ("optimised", optimised)):
        for number, args in enumerate(plain["CALLS"]):
            function = _loaded(source, njit, "<compiled>")["f"].py_func
            try:
                made = stage(function, args)

                def run(*args):
                    return interp.run(made.functions, [x for x, passed in zip(args, made.passed) if passed], _LIMIT)

                wrong = difference(outcome(plain["f"], args), outcome(run, args))
            except BaseException as error:
                wrong = repr(error)
            if wrong:
                found.append(f"{name} IR, call {number}: {wrong}")
                break
        else:
            found.append(f"{name} IR is right")
    return "\n".join(found)


