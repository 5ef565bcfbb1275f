"""The native entry of one signature: a vectorcall stub that checks and unboxes arguments, calls, and boxes the result.

    ptr pyjitc_entry(ptr self, ptr args, i64 nargsf, ptr kwnames)

A call that does not match this signature jumps to the next stub, whose address the dispatcher stores in `pyjitc_next`.
Omitted arguments come from the defaults of `self`, keywords are matched by the identity of their names: `bind` of
runtime/thunks.py. Values for which the code was specialised are compared before the call: the dispatcher stores the
expected ones in `pyjitc_guard_<i>`. A dictionary is searched again only when its version tag has changed.
`pyjitc_active` counts the calls that are running, so that code in use is not unmapped.
"""
from __future__ import annotations

from types import CellType, FunctionType

import numpy as np

from ..base.lazy import lazy
from ..base.named import Named
from ..ir import core as ir
from ..runtime import platform
from ..runtime.dispatcher import Anew
from ..types.kinds import Bool, Complex, Float, Int, NoneType, Object, Str, float32, uint64
from . import box, scalars
from .emitter import Emitter
from .leaves import components, load, require
from .module import Module

foreign_values = lazy("pyjitc.runtime.foreign")  # only functions that accept any object load it

__all__ = ["Spec", "ENTRY", "NEXT", "add_stub", "add_native"]

_TYPES = frozenset((Int, Float, Bool, Str, NoneType, Object))  # the types of variables that a stub tests
# type of a parameter -> the characters of NumPy's types that may have the same bits
_SAME_BITS = {Float: "d", Int: "lq", Complex: "D"}
QUICK = 8  # items of a list that a call checks where the function checks the items that it loads
ENTRY, NEXT, ACTIVE = "pyjitc_entry", "pyjitc_next", "pyjitc_active"


class Spec(Named, fields="names types passed positional_only simple guards", defaults=(0, True, ())):
    """How a function is called from Python.

    names, types: its parameters, in the order of the code's locals; passed: whether the native function has a parameter
    for it (types with a single value have none); positional_only: how many parameters cannot be given by keyword;
    simple: there are no keyword-only or variadic parameters, so that the stub may match keywords and fill in defaults;
    guards: (container, key or None, value) of all values that the program may change: dictionary items and the contents
    of cells.
    """

    __slots__ = ()


class _Stub(Emitter):
    """Emits the stub; all failures leave through one block."""

    def __init__(self, module: Module, looks: int = 0):
        super().__init__(module)
        self.looks = looks or QUICK
        self.failed = "failed"
        self.fails = False

    def fail(self, inst) -> str:
        self.fails = True
        return self.failed


def add_stub(module: Module, fn: ir.Function, spec: Spec, nogil: bool = False) -> tuple[str | None, ...]:
    """Add the stub of `fn` to `module`; returns the symbols of the guard words (None for a guard that is not compared
    in native code)."""
    e = _Stub(module, fn.flags.looks)
    n = len(spec.types)
    for word in (f"@{NEXT} = global ptr null", f"@{ACTIVE} = global i64 0"):
        e.declare(word)
    e.start("enter")
    given = e.assign(f"and i64 %nargsf, {(1 << 63) - 1}")
    counted = e.assign(f"icmp eq i64 {given}, {n}")
    unnamed = e.assign("icmp eq ptr %kw, null")
    direct = e.assign(f"and i1 {counted}, {unnamed}")
    if spec.simple and n:
        e.branch(direct, "open", "bind", likely=True)
        e.start("bind")
        slots = e.alloca("ptr", n)
        _declare_bind(module, spec.names)
        bound = e.assign(f"call i1 @pyjitc_bind(ptr %self, ptr %args, i64 {given}, ptr %kw, ptr {slots}, i64 {n}, "
                         f"i64 {spec.positional_only}, ptr @pyjitc_names)")
        e.branch(bound, "open", "miss")
        e.start("open")
        values = e.phi("ptr", [("%args", "enter"), (slots, "bind")])
    else:
        e.branch(direct, "open", "miss", likely=True)
        e.start("open")
        values = "%args"
    passed: list[str] = []
    holders: list[tuple] = []
    for i, (t, keep) in enumerate(zip(spec.types, spec.passed, strict=True)):
        where = values if i == 0 else e.assign(f"getelementptr ptr, ptr {values}, i64 {i}")
        pointer = e.assign(f"load ptr, ptr {where}, align 8")
        if t is Object:
            _require_foreign(e, i, pointer)
        opened = _open_declared(e, t, pointer) if e.any_order else box.unbox(e, t, pointer, "miss")
        if t.holder:
            _require_others(e, t, pointer, holders)
        if keep:
            passed += [f"{c} {v}" for c, v in zip(components(t), opened, strict=True)]
    symbols = _guards(e, spec.guards)
    _count_borrowed(e, "retain")
    _call(e, fn, passed, nogil)
    # To optimise the stub gains nothing that can be measured in a call, and would take a third of the time.
    lines = [f"define ptr @{ENTRY}(ptr %self, ptr %args, i64 %nargsf, ptr %kw) nounwind noinline optnone {{", "start:",
             *e.entry, "  br label %enter", *e.lines, *e.cold]
    if e.fails:
        e.lines = []
        _count_borrowed(e, "release")
        e.lines += _leave(e)
        if fn.flags.restart:
            _make_anew(e)
        lines += [f"{e.failed}:", *e.lines, "  ret ptr null"]
    lines += ["miss:", f"  %next = load ptr, ptr @{NEXT}, align 8",
              "  %other = musttail call ptr %next(ptr %self, ptr %args, i64 %nargsf, ptr %kw)", "  ret ptr %other", "}"]
    module.bodies.append("\n".join(lines))
    return symbols


def _open_declared(e: _Stub, t, pointer: str) -> list[str]:
    """Unbox a number for a parameter that is declared with type t. For one of 64 bits, or a complex number of 128, a
    NumPy number is accepted like a Python one, since it has the same bits; under the only signature Python's numbers of
    other types are converted, too, and NumPy's. What such a conversion would change, or refuse, is left to the slow
    path; under Numba's name digits and fractions may be lost."""
    only, parts = e.module.options.declared == "only", components(t)
    by_numba = only and bool(e.module.options.numba)
    ways: list[tuple] = []  # (classes, the function that unboxes an object of one of them)
    if t in _SAME_BITS:
        same = [np.dtype(c).type for c in _SAME_BITS[t] if np.dtype(c).itemsize == 8 * len(parts)]
        ways.append((list(map(e.object, dict.fromkeys(same))), lambda: [
            load(e, kind, pointer, platform.SCALAR_VALUE + 8 * k) for k, kind in enumerate(parts)]))
    if only:
        if t is Bool:
            ways.append(([e.object(np.bool_)], lambda: [e.assign(
                f"icmp ne i8 {load(e, 'i8', pointer, platform.SCALAR_VALUE, 1)}, 0")]))
        if t is Bool and by_numba:
            ways.append(([e.external("PyLong_Type")], lambda: [e.assign(
                f"icmp ne i64 {box.unbox(e, Int, pointer, 'miss')[0]}, 0")]))
        if t in (Float, Complex, float32):
            ways.append(([e.external("PyLong_Type")], lambda: _of_real(e, t, e.assign(
                f"sitofp i64 {box.unbox(e, Int, pointer, 'miss')[0]} to double"))))
        if t is float32:
            ways.append(([e.external("PyFloat_Type")],
                         lambda: _of_real(e, t, load(e, "double", pointer, platform.FLOAT_VALUE))))
        if t is Complex:
            ways.append(([e.object(np.complex64)], lambda: [e.assign(
                f"fpext float {load(e, 'float', pointer, platform.SCALAR_VALUE + 4 * k, 4)} to double")
                for k in range(2)]))
        if t is uint64:
            ways.append(([e.external("PyLong_Type")], lambda: [_open_natural(e, pointer)]))
    if not ways:
        return box.unbox(e, t, pointer, "miss")
    found, done, arms = load(e, "ptr", pointer, platform.OB_TYPE), e.label("opened"), []
    for classes, opened in ways:
        same = None
        for cls in classes:
            one = e.assign(f"icmp eq ptr {found}, {cls}")
            same = one if same is None else e.assign(f"or i1 {same}, {one}")
        this, other = e.label("number"), e.label("other")
        e.branch(same, this, other)
        e.start(this)
        arms.append((opened(), e.current))
        e.jump(done)
        e.start(other)
    converts = only and t in (Int, Float, Complex) or by_numba and t in (Bool, uint64, float32)
    others = e.label("others") if converts else "miss"
    arms.append((box.unbox(e, t, pointer, others), e.current))
    e.jump(done)
    if converts:
        e.start(others)
        arms.append((_converted(e, t, pointer, by_numba), e.current))
        e.jump(done)
    e.start(done)
    return [e.phi(kind, [(values[k], block) for values, block in arms]) for k, kind in enumerate(parts)]


def _converted(e: _Stub, t, pointer: str, by_numba: bool) -> list[str]:
    """Convert a float or bool of Python, or a NumPy number, to t. by_numba: whether a fraction is cut off."""
    slot = e.alloca("i64")
    code = e.assign(f"call i64 {e.helper('pyj_scalar_read')}(ptr {pointer}, ptr {slot})")
    if t is Int and not by_numba:
        return _of_whole(e, t, code, slot)
    real, integer, made = e.label("real"), e.label("integer"), e.label("made")
    e.branch(e.assign(f"icmp eq i64 {code}, {scalars.REAL}"), real, integer)
    e.start(real)
    arms = [(_of_real(e, t, e.assign(f"load double, ptr {slot}, align 8")), e.current)]
    e.jump(made)
    e.start(integer)
    arms.append((_of_whole(e, t, code, slot), e.current))
    e.jump(made)
    e.start(made)
    return [e.phi(kind, [(values[k], block) for values, block in arms]) for k, kind in enumerate(components(t))]


def _of_whole(e: _Stub, t, code: str, slot: str) -> list[str]:
    """The integer in `slot` as a value of t. code: what it is (scalars.py)."""
    whole = e.assign(f"load i64, ptr {slot}, align 8")
    if t in (Int, uint64):  # int64 and uint64 have the numbers in common in which the highest bit is 0
        exact = e.assign(f"icmp eq i64 {code}, {scalars.SIGNED if t is Int else scalars.NATURAL}")
        either = e.assign(f"icmp ult i64 {e.assign(f'sub i64 {code}, 1')}, 2")
        small = e.assign(f"and i1 {either}, {e.assign(f'icmp sge i64 {whole}, 0')}")
        require(e, e.assign(f"or i1 {exact}, {small}"), "miss")
        return [whole]
    require(e, e.assign(f"icmp ne i64 {code}, 0"), "miss")
    if t is Bool:
        return [e.assign(f"icmp ne i64 {whole}, 0")]
    kind = components(t)[0]
    natural = e.assign(f"icmp eq i64 {code}, {scalars.NATURAL}")
    numbers = [e.assign(f"{how} i64 {whole} to {kind}") for how in ("uitofp", "sitofp")]
    return [e.assign(f"select i1 {natural}, {kind} {numbers[0]}, {kind} {numbers[1]}"), *["0.0"] * (t is Complex)]


def _of_real(e: _Stub, t, value: str) -> list[str]:
    """A double as a value of t."""
    if t is Bool:
        return [e.assign(f"fcmp une double {value}, 0.0")]
    if t in (Int, uint64):  # without its fraction; NaN and what is out of range are left to the slow path
        least = "oge double {}, -9223372036854775808.0" if t is Int else "ogt double {}, -1.0"
        require(e, e.assign(f"fcmp {least.format(value)}"), "miss")
        require(e, e.assign(f"fcmp olt double {value}, 9223372036854775808.0"), "miss")
        return [e.assign(f"fptosi double {value} to i64")]
    return [_narrowed(e, value)] if t is float32 else [value, *["0.0"] * (t is Complex)]


def _narrowed(e: _Stub, value: str) -> str:
    """A double as a float. A finite number that is too large for float32 makes NumPy warn, and so is refused."""
    narrow = e.assign(f"fptrunc double {value} to float")
    sizes = [e.assign(f"call {kind} @llvm.fabs.{name}({kind} {x})") for kind, name, x in (
        ("double", "f64", value), ("float", "f32", narrow))]
    infinite = e.assign(f"fcmp oeq float {sizes[1]}, 0x7FF0000000000000")
    finite = e.assign(f"fcmp one double {sizes[0]}, 0x7FF0000000000000")
    require(e, e.assign(f"xor i1 {e.assign(f'and i1 {infinite}, {finite}')}, true"), "miss")
    return narrow


def _open_natural(e: _Stub, pointer: str) -> str:
    """Unbox a Python int from 0 to 2**64 - 1."""
    value = e.assign(f"call i64 @PyLong_AsUnsignedLongLong(ptr {pointer})")
    wrong, good = e.label("wrong"), e.label("natural")
    ask = e.label("ask")
    e.branch(e.assign(f"icmp eq i64 {value}, -1"), ask, good)
    e.start(ask)
    error = e.assign("call ptr @PyErr_Occurred()")
    e.branch(e.assign(f"icmp eq ptr {error}, null"), good, wrong)
    e.start(wrong)
    e.line("call void @PyErr_Clear()")
    e.jump("miss")
    e.start(good)
    return value


def _require_others(e: _Stub, t, pointer: str, holders: list[tuple]) -> None:
    """Check that an argument is not the same object as an earlier argument with another container type. An empty
    container fits several types, and items that the code stores in it by one type would not fit the other. holders:
    (type, pointer) of the earlier arguments."""
    for other, earlier in holders:
        if other.python_class is t.python_class and other is not t and other != t:
            require(e, e.assign(f"icmp ne ptr {pointer}, {earlier}"), "miss")
    holders.append((t, pointer))


def _require_foreign(e: _Stub, i: int, pointer: str) -> None:
    """Check that an argument that is passed as any object has no native type: otherwise the call needs another
    signature, which may not have been compiled yet. The class of the last object without a native type is cached."""
    known = f"@pyjitc_foreign_{i}"
    e.declare(f"{known} = internal global ptr null")
    cls = load(e, "ptr", pointer, platform.OB_TYPE)
    last = e.assign(f"load ptr, ptr {known}, align 8")
    ask, good = e.label("ask"), e.label("foreign")
    e.branch(e.assign(f"icmp eq ptr {cls}, {last}"), good, ask, likely=True)
    e.start(ask)
    answer = e.assign(f"call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr {e.object(foreign_values.is_foreign)}, "
                      f"ptr {pointer}, ptr null)")
    e.check_null(answer, None)
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {answer})")  # None, True and False are never freed
    foreign, always = e.label("accepted"), e.label("always")
    no = e.assign(f"icmp eq ptr {answer}, {e.external('_Py_FalseStruct')}")
    e.branch(no, "miss", foreign)
    e.start(foreign)
    e.branch(e.assign(f"icmp eq ptr {answer}, {e.external('_Py_TrueStruct')}"), always, good)
    e.start(always)
    e.line(f"store ptr {cls}, ptr {known}, align 8")
    e.jump(good)
    e.start(good)


def _call(e: _Stub, fn: ir.Function, passed: list[str], nogil: bool) -> None:
    before = e.assign(f"load i64, ptr @{ACTIVE}, align 8")
    e.line(f"store i64 {e.assign(f'add i64 {before}, 1')}, ptr @{ACTIVE}, align 8")
    if nogil:
        thread = e.assign("call ptr @PyEval_SaveThread()")
    status, result_values = e.native_call(fn, passed)
    if nogil:
        e.line(f"call void @PyEval_RestoreThread(ptr {thread})")
    if fn.result is None:  # the function never returns
        e.jump(e.fail(None))
        return
    e.check_status(status, None)
    result = box.box(e, fn.result, result_values(), None, take=True)
    _count_borrowed(e, "release")
    e.lines += _leave(e)
    e.line(f"ret ptr {result}")


def _count_borrowed(e: _Stub, what: str) -> None:
    """Retain or release the objects that are attributes of arguments, so that they live until the call ends."""
    for pointer in e.borrowed:
        e.line(f"call void {e.helper(f'pyj_{what}_object')}(ptr {pointer})")


def _make_anew(e: _Stub) -> None:
    """Restart the call if the failure is only a request for other code (passes/restarts.py)."""
    asked = e.assign(f"call i32 @PyErr_ExceptionMatches(ptr {e.object(Anew)})")
    e.branch(e.assign(f"icmp eq i32 {asked}, 0"), "raised", "restart", likely=True)
    e.start("restart")
    e.line("call void @PyErr_Clear()")
    e.jump("miss")
    e.start("raised")


def _leave(e: _Stub) -> list[str]:
    e.count += 1
    return [f"  %in{e.count} = load i64, ptr @{ACTIVE}, align 8", f"  %out{e.count} = add i64 %in{e.count}, -1",
            f"  store i64 %out{e.count}, ptr @{ACTIVE}, align 8"]


def _guards(e: _Stub, guards) -> tuple[str | None, ...]:
    """Compare every guarded value with the expected one; on a difference the call needs other code."""
    symbols: list[str | None] = []
    items: dict[int, list] = {}  # id of a dictionary -> its guards
    same = ""  # whether all guards of cells and functions hold
    for i, (container, key, value) in enumerate(guards):
        t = None
        if type(key) is tuple:  # a variable that the program assigns: code depends on the type of its value alone
            key, t = key[1], value
        native = (type(container) in (CellType, FunctionType) or type(container) is dict and type(key) is str) and (
            t is None or t in _TYPES)
        symbol = f"pyjitc_guard_{i}" if native else None
        symbols.append(symbol)
        if symbol is None:
            continue
        e.declare(f"@{symbol} = global ptr null")
        if type(container) is not dict:
            offset = platform.CELL_CONTENT if type(container) is CellType else platform.FUNCTION[key.strip("_")]
            where = e.assign(f"getelementptr i8, ptr {e.object(container)}, i64 {offset}")
            found = e.assign(f"load ptr, ptr {where}, align 8")
            if t is not None:
                _require_type(e, found, t)
                continue
            equal = _is_expected(e, found, symbol)
            same = e.assign(f"and i1 {same}, {equal}") if same else equal
        else:
            items.setdefault(id(container), []).append((container, key, symbol, t))
    if same:
        _go_on(e, same)
    for k, group in enumerate(items.values()):
        space = e.object(group[0][0])
        same = e.label("same")
        if platform.DICT_VERSION is not None:
            known = f"@pyjitc_version_{k}"
            e.declare(f"{known} = internal global i64 0")
            where = e.assign(f"getelementptr i8, ptr {space}, i64 {platform.DICT_VERSION}")
            version = e.assign(f"load i64, ptr {where}, align 8")
            before = e.assign(f"load i64, ptr {known}, align 8")
            changed = e.label("changed")
            e.branch(e.assign(f"icmp eq i64 {version}, {before}"), same, changed, likely=True)
            e.start(changed)
        for _, key, symbol, t in group:
            found = e.assign(f"call ptr @PyDict_GetItem(ptr {space}, ptr {e.object(key)})")
            if t is None:
                _go_on(e, _is_expected(e, found, symbol))
            else:
                _require_type(e, found, t)
        if platform.DICT_VERSION is not None:
            e.line(f"store i64 {version}, ptr {known}, align 8")
        e.jump(same)
        e.start(same)
    return tuple(symbols)


def _is_expected(e: _Stub, value: str, symbol: str) -> str:
    expected = e.assign(f"load ptr, ptr @{symbol}, align 8")
    return e.assign(f"icmp eq ptr {value}, {expected}")


def _require_type(e: _Stub, pointer: str, t) -> None:
    """Go on where a variable has a value of type t."""
    _go_on(e, e.assign(f"icmp ne ptr {pointer}, null"))
    if t is not Object:
        box.unbox(e, t, pointer, "miss")


def _go_on(e: _Stub, condition: str) -> None:
    good = e.label("expected")
    e.branch(condition, good, "miss", likely=True)
    e.start(good)


def _declare_bind(module: Module, names: tuple[str, ...]) -> None:
    known = ", ".join(f"ptr {module.object(name)}" for name in names)
    module.declarations[f"@pyjitc_names = internal constant [{len(names)} x ptr] [{known}]"] = None


def add_native(module: Module, fn: ir.Function, name: str) -> None:
    """Export `fn` as `name` with C's calling convention, for tests: i32 name(result pointer if there is a result,
    components...)."""
    e = _Stub(module)
    types = components(fn.result) if fn.result is not None else ()
    params = [f"{c} %p{i}.{j}" for i, p in enumerate(fn.params) for j, c in enumerate(components(p.type))]
    status, result = e.native_call(fn, params)
    for i, (c, v) in enumerate(zip(types, result())):
        e.line(f"store {c} {v}, ptr {e.assign(f'getelementptr i8, ptr %ret, i64 {8 * i}')}, align 8")
    module.bodies.append("\n".join([f"define i32 @{name}({', '.join((['ptr %ret'] if types else []) + params)}) "
                                    f"nounwind {{", *e.entry,
                                    *e.lines, f"  ret i32 {status}", "}"]))
