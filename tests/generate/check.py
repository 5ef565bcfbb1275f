"""One program under CPython and compiled: the same value, type, dtype, exception and mutation of arguments.

The differences that docs/semantics.md lists are excluded here, and nowhere else (`excused`, and programs whose ints
leave 64 bits). The answer is (status, text): ok; wrong; refused (does not compile); skipped."""
import ast
import gc
import linecache
import re
import signal
import sys
import threading
import warnings
from collections import Counter, defaultdict, deque

from tests.oracle import difference, outcome

from pyjitc import jit, njit, parallel_chunksize
from pyjitc.base.errors import CompileError
from pyjitc.types.typeof import typeof

__all__ = ["check", "containers", "forgiving", "stages", "passes"]

_LIMIT = 200_000  # instructions of the IR interpreter
_CALLS = 20  # calls after which no more memory may be in use than before


class TooBig(BaseException):
    """Raised where an int of the program leaves 64 bits, which is a documented deviation."""


class _Watched(ast.NodeTransformer):
    """A transformation of the program that passes every int made by an operation to `watch_`."""

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
    """The program with calls of `watch_`, which records in `seen` that an int is too big and stops the program."""
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


def _calls(source):
    """The program's calls whose ints stay within 64 bits: (number, arguments, outcome in CPython). ValueError: no
    program."""
    try:
        plain = _loaded(source, lambda function: function, "<plain>")
        watched, seen = _watched(source)
    except (Exception, TooBig) as error:
        raise ValueError(f"not a program: {error!r}") from None
    for number, args in enumerate(plain["CALLS"]):
        if any(isinstance(x, list) for x in args):
            raise ValueError("an argument is a list")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                outcome(watched, args)
            except TooBig:
                pass
        if not seen:
            yield number, args, outcome(plain["f"], args)
        seen.clear()


def check(source: str) -> tuple[str, str]:
    compiled = None
    ran = 0
    try:
        for number, args, expected in _calls(source):
            try:
                if compiled is None:
                    compiled = _loaded(source, njit, "<compiled>")["f"]
                actual = outcome(compiled, args)
            except TypeError as error:  # a default value without a type
                return "refused", str(error)
            if actual[0] == "raises" and isinstance(actual[1], CompileError):
                # a literal beyond the bounds, in code that no call reaches
                if "does not fit in 64 bits" in actual[1].diagnostic.message:
                    return "skipped", "ints beyond 64 bits"
                return "refused", f"{actual[1].diagnostic.message}\n{actual[1]}"
            wrong = difference(expected, actual)
            if wrong and not excused(expected, actual):
                return "wrong", f"call {number}: {wrong}"
            ran += 1
    except ValueError as error:
        return "skipped", str(error)
    return ("ok", "") if ran else ("skipped", "ints beyond 64 bits")


def stages(source: str) -> tuple[str, str]:
    """(status, text) of the same program's IR, before and after the passes, run by the IR interpreter: which stage
    first differs from CPython."""
    from tests.ir.stages import optimised, typed

    function = _loaded(source, njit, "<compiled>")["f"].py_func
    found = []
    for name, stage in (("typed", typed), ("optimised", optimised)):
        made = {}
        for number, args, expected in _calls(source):
            try:
                types = tuple(map(typeof, args))
                if types not in made:
                    made[types] = stage(function, args)
                wrong = _wrong(made[types].functions, made[types].passed, args, expected)
            except BaseException as error:
                wrong = repr(error)
            if wrong:
                found.append(f"{name} IR, call {number}: {wrong}")
                break
    return ("wrong", "\n".join(found)) if found else ("ok", "typed and optimised IR are right")


def _wrong(functions, passed, args, expected) -> str:
    """The difference between the IR interpreter's outcome of a call and CPython's, or ''."""
    from pyjitc.ir import interp

    try:
        actual = outcome(lambda *args: interp.run(functions, [x for x, p in zip(args, passed) if p], _LIMIT), args)
    except interp.StepLimit:
        return ""
    except BaseException as error:
        return repr(error)
    wrong = difference(expected, actual)
    return "" if wrong and excused(expected, actual) else wrong


def passes(source: str) -> tuple[str, str]:
    """(status, text) of the program's IR after each pass, run by the IR interpreter: the first pass that makes a
    difference."""
    from tests.ir.stages import typed

    from pyjitc.base.options import Options
    from pyjitc.ir.verify import verify_module
    from pyjitc.pipeline.stages import optimise

    function = _loaded(source, njit, "<compiled>")["f"].py_func
    calls: dict = {}
    for number, args, expected in _calls(source):
        calls.setdefault(tuple(map(typeof, args)), []).append((number, args, expected))

    class Found(BaseException):
        """Raised by the first pass that makes a difference."""

    for given in calls.values():
        stage = typed(function, given[0][1])
        module = stage.functions

        def look(functions, name):
            nonlocal module
            verify_module(functions, name)
            module = functions if name in ("inline", "nests") else module
            for number, args, expected in given:
                wrong = _wrong(module, stage.passed, args, expected)
                if wrong:
                    raise Found(f"after {name}, call {number}: {wrong}")

        try:
            look(module, "inference")
            optimise(module, Options(), look)
        except Found as found:
            return "wrong", str(found)
    return "ok", "the IR is right after each pass"


# ---------------------------------------------------------------- programs about containers


class _Slow(BaseException):
    """Raised if the interpreter takes too long for the program."""


def _too_slow(*_):
    raise _Slow


def described(value, known=None):
    """A description of the value and everything in it: types, texts, order, and which mutable objects are identical."""
    known = {} if known is None else known
    cls = type(value)
    if cls is tuple:
        return "tuple", [described(x, known) for x in value]
    if value is None or cls in (int, float, bool, str, bytes, type, range):
        return cls.__name__, _without_addresses(repr(value))
    if isinstance(value, BaseException):
        return cls.__name__, [described(x, known) for x in value.args]
    if id(value) in known:
        return "the same", known[id(value)]
    known[id(value)] = len(known)
    if cls in (set, frozenset):
        return cls.__name__, list(map(repr, value))
    if cls is list or cls is deque:
        return cls.__name__, getattr(value, "maxlen", None), [described(x, known) for x in value]
    if cls in (dict, defaultdict, Counter):
        return (cls.__name__, str(getattr(value, "default_factory", None)),
                [(described(k, known), described(x, known)) for k, x in value.items()])
    if hasattr(value, "__dict__"):
        return cls.__name__, [(k, described(x, known)) for k, x in vars(value).items()]
    return cls.__name__, _without_addresses(repr(value))


def _without_addresses(text) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def _called(function, make):
    """(how the call ended, its result or exception, the arguments afterwards)."""
    args = make()
    try:
        how, what = "returns", function(*args)
    except Exception as error:
        how, what = "raises", error
    return how, what, args


def _grown(function, make, calls=_CALLS) -> int:
    """The number of memory blocks by which the interpreter has grown after some calls."""
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(calls):
        _called(function, make)
    gc.collect()
    return sys.getallocatedblocks() - before


def _leak(plain, compiled, number) -> str:
    """A text about memory that calls leave behind, or ''."""
    function, make = compiled["f"], compiled["CALLS"][number]
    if _grown(function, make) < _CALLS // 2 or _grown(function, make) < _CALLS // 2:
        return ""
    many = 100 * _CALLS  # free lists and the interpreter's own caches are full after fewer calls
    left = _grown(function, make, many)
    if left < many // 2 or _grown(plain["f"], plain["CALLS"][number], many) >= many // 2:
        return ""
    return f"call {number}: {many} calls leave {left} blocks behind"


def _in_threads(compiled) -> str:
    """The difference between calls from two threads at a time and calls from one, or ''."""
    calls = [(compiled["f"], make) for make in compiled["CALLS"]]
    expected = [described(_called(*call)) for call in calls]
    wrong = []

    def work():
        for _ in range(3):
            found = [described(_called(*call)) for call in calls]
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"in one thread {expected}\nin two {wrong[0]}" if wrong else ""


def parallel(source: str) -> tuple[str, str]:
    """As `loops`, under parallel=True, with few iterations for each chunk."""
    with parallel_chunksize(3):
        return loops(source, njit(parallel=True))


def loops(source: str, decorator=njit) -> tuple[str, str]:
    """As `check`, of a program whose CALLS are functions that make arguments, arrays that may share memory: it compares
    all memory of which they are views."""
    compiled, ran = None, 0
    try:
        plain = _loaded(source, lambda function: function, "<plain>")
    except Exception as error:
        return "skipped", f"not a program: {error!r}"
    signal.signal(signal.SIGALRM, _too_slow)
    for number, make in enumerate(plain["CALLS"]):
        signal.setitimer(signal.ITIMER_REAL, 5.0)
        try:
            expected = _with_memory(plain["f"], make)
        except (_Slow, MemoryError):
            return "skipped", "too slow"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if compiled is None:
            compiled = _loaded(source, decorator, "<compiled>")["f"]
        actual = _with_memory(compiled, make)
        if actual[0] == "raises" and isinstance(actual[1], CompileError):
            return "refused", f"{actual[1].diagnostic.message}\n{actual[1]}"
        if (wrong := difference(expected, actual)) and not excused(expected, actual):
            return "wrong", f"call {number}: {wrong}"
        ran += 1
    return ("ok", "") if ran else ("skipped", "no call")


def _with_memory(function, make):
    """The outcome of a call (see the oracle), with the arrays that own the memory of the arguments."""
    args = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        how, what, after = _called(function, lambda: args)
    return how, what, tuple([x if getattr(x, "base", None) is None else x.base for x in after]), ""


def forgiving(source: str) -> tuple[str, str]:
    """As `containers`, under `jit`."""
    return containers(source, jit)


def containers(source: str, decorator=njit) -> tuple[str, str]:
    """As `check`, of a program whose CALLS are functions that make arguments: it compares the result, the objects that
    it shares with the arguments, and the arguments afterwards, and checks that calls leave no memory behind and do the
    same from several threads."""
    compiled, ran = None, 0
    gc.freeze()
    signal.signal(signal.SIGALRM, _too_slow)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = _loaded(source, lambda function: function, "<plain>")
        except Exception as error:
            return "skipped", f"not a program: {error!r}"
        for number, make in enumerate(plain["CALLS"]):
            signal.setitimer(signal.ITIMER_REAL, 1.0)
            try:
                expected = _called(plain["f"], make)
                known = described(expected[1:])
            except (_Slow, MemoryError):
                return "skipped", "too slow"
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if compiled is None:
                compiled = _loaded(source, decorator, "<compiled>")
            actual = _called(compiled["f"], compiled["CALLS"][number])
            if actual[0] == "raises" and isinstance(actual[1], CompileError):
                if "does not fit in 64 bits" in actual[1].diagnostic.message:
                    return "skipped", "ints beyond 64 bits"
                return "refused", f"{actual[1].diagnostic.message}\n{actual[1]}"
            if (expected[0], known) != (actual[0], described(actual[1:])) and not excused(expected, actual):
                return "wrong", (f"call {number}: the interpreter {expected[0]} {expected[1]!r}, compiled code "
                                 f"{actual[0]} {actual[1]!r}\nafter it {expected[2]!r}\nand      {actual[2]!r}")
            expected = actual = None
            if leak := _leak(plain, compiled, number):
                return "wrong", leak
            ran += 1
        if ran and (wrong := _in_threads(compiled)):
            return "wrong", wrong
    return ("ok", "") if ran else ("skipped", "no call")
