"""Builds the body of one LLVM function: the emitter that lowerings write with.

Every value is a list of LLVM scalars, its components (codegen/leaves.py). The methods for lowerings in `ops/` are
documented in ops/emitter.py, the protocol that this class implements; the others are for this package only.
"""
from __future__ import annotations

from contextlib import contextmanager

from ..base.lazy import lazy
from ..ir import core as ir
from ..runtime.dispatcher import Anew
from ..types.kinds import Composite, Type
from . import box
from .leaves import LEAVES, components
from .module import Module

__all__ = ["Emitter", "memory_type", "native_result"]

forms = lazy(f"{__package__}.forms")  # only functions that call one of its forms need it

_ZERO = {"ptr": "null", "double": "0.0", "float": "0.0", "half": "0.0", "i1": "false"}


def memory_type(llvm: str) -> str:
    return "i8" if llvm == "i1" else llvm


def native_result(fn: ir.Function) -> tuple[str, bool]:
    """(LLVM type that a native function returns, whether its result goes through a first pointer parameter): up to two
    components come back in registers beside the status."""
    types = components(fn.result) if fn.result is not None else ()
    if 0 < len(types) <= 2:
        return f"{{ i32, {', '.join(types)} }}", False
    return "i32", bool(types)

class Emitter:
    """Implements the protocol of ops/emitter.py, which documents the methods."""

    indefinite = True

    def __init__(self, module: Module):
        self.module = module
        self.flags = module.flags
        self.lines: list[str] = []
        self.entry: list[str] = []  # allocas
        self.cold: list[str] = []
        self.count = 0
        self.current = "entry"
        self._fuel = None
        self.tables: dict[int, str] = {}  # number of arguments -> memory for those of a call of a Python object
        self.borrowed: list[str] = []  # objects that are attributes of others, where the program may replace them
        self.looks = 0  # how many items of a list are checked when it is unboxed; -1: all
        self.computed: dict[tuple[str, str], list[str]] = {}
        self.any_order = bool(module.options.declared)  # whether declared types accept arrays of stricter types
        self.any_layout = False  # whether a type without an order accepts arrays in C or Fortran order
        self.array_class: type | None = None  # the class of the array that is unboxed; None: ndarray
        self.leaving = False  # whether the code is on a path that leaves the function after a failure
        self.crowded = False  # whether the function releases so many arrays that each release is a call

    # -- text

    def assign(self, rhs: str) -> str:
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {rhs}")
        return name

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def label(self, hint: str) -> str:
        self.count += 1
        return f"{hint}.{self.count}"

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.current = label

    def jump(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")

    def branch(self, condition: str, yes: str, no: str, likely: bool | None = None) -> None:
        weight = "" if likely is None else ", !prof !0" if likely else ", !prof !1"
        self.lines.append(f"  br i1 {condition}, label %{yes}, label %{no}{weight}")

    @contextmanager
    def when(self, condition: str, hint: str, likely: bool | None = None):
        inside, done = self.label(hint), self.label("done")
        self.branch(condition, inside, done, likely)
        self.start(inside)
        yield
        self.jump(done)
        self.start(done)

    @contextmanager
    def unless(self, condition: str, hint: str, likely: bool | None = None):
        inside, done = self.label(hint), self.label("done")
        self.branch(condition, done, inside, None if likely is None else not likely)
        self.start(inside)
        yield
        self.jump(done)
        self.start(done)

    def phi(self, t: str, arms) -> str:
        return self.assign(f"phi {t} " + ", ".join(f"[ {v}, %{b} ]" for v, b in arms))

    def hidden(self, value: str) -> str:
        return self.assign(f'call i64 asm "", "=r,0"(i64 {value}) nounwind memory(none)')

    def alloca(self, t: str, n: int = 1) -> str:
        self.count += 1
        name = f"%a{self.count}"
        self.entry.append(f"  {name} = alloca {t}, i64 {n}" if n != 1 else f"  {name} = alloca {t}")
        return name

    def memory_of(self, size: int) -> str:
        self.count += 1
        name = f"%a{self.count}"
        self.entry.append(f"  {name} = alloca [{size} x i8], align 16")
        return name

    def at_entry(self, text: str) -> None:
        self.entry.append("  " + text)

    def clear(self, pointer: str, size: int) -> None:
        self.line(f"call void @llvm.memset.p0.i64(ptr align 16 {pointer}, i8 0, i64 {size}, i1 false)")

    # -- module level

    def declare(self, text: str) -> None:
        self.module.declarations[text] = None

    def external(self, name: str) -> str:
        return "@" + name

    def string(self, text: str) -> str:
        return self.module.string(text)

    def object(self, value) -> str:
        return self.module.object(value)

    def helper(self, name: str) -> str:
        return self.module.helper(name)

    def lasting_helper(self, name: str) -> str:
        return self.module.lasting_helper(name)

    def scopes(self, *scopes: tuple[int, int]) -> str:
        return f"!{self.module.metadata.scope_list((self, *scope) for scope in scopes)}"

    def memory_kind(self, name: str) -> str:
        return f", !tbaa !{self.module.metadata.kind(name)}"

    def rare(self, symbol: str, values, t: str) -> str:
        entry = len(values), t
        assert self.module.rare.setdefault(symbol, entry) == entry, symbol
        return forms.rare(symbol, values, t)

    def lookup(self, table, t: str, index_type: str, index: str) -> str:
        number = self.module.tables.setdefault((t, index_type, table), len(self.module.tables))
        return self.assign("call " + forms.lookup(number, t, index_type, index))

    def constants(self, t: str, values) -> str | None:
        return self.module.array_of(t, tuple(values))

    # -- types

    components = staticmethod(components)

    def scalar(self, t: Type) -> str:
        (one,) = components(t)
        return one

    def memory(self, t: Type) -> str:
        parts = components(t)
        return memory_type(parts[0]) if len(parts) == 1 else f"[2 x {parts[0]}]"

    def zeros(self, t: Type) -> list[str]:
        return [_ZERO.get(c, "0") for c in components(t)]

    def constant(self, t: Type, value) -> list[str]:
        if not components(t):
            return []
        if isinstance(t, Composite):
            return [c for part, x in zip(t.parts, t.open(value)) for c in self.constant(part, x)]
        texts = LEAVES[type(t)].constant
        return [self.object(value)] if texts is None else texts(t, value)

    # -- components in memory: 8 bytes each, after the 16-byte head of a box

    def store_components(self, t: Type, box_pointer: str, values, head: int = 16) -> None:
        for i, (c, v) in enumerate(zip(components(t), values)):
            where = self.assign(f"getelementptr i8, ptr {box_pointer}, i64 {head + 8 * i}")
            self.line(f"store {c} {v}, ptr {where}, align 8")

    def load_components(self, t: Type, box_pointer: str, head: int = 16) -> list[str]:
        values = []
        for i, c in enumerate(components(t)):
            where = self.assign(f"getelementptr i8, ptr {box_pointer}, i64 {head + 8 * i}")
            values.append(self.assign(f"load {c}, ptr {where}, align 8"))
        return values

    # -- calls

    def native_call(self, fn: ir.Function, args: list[str]):
        """Call a native function; returns (status, a function that returns the components of the result)."""
        returned, in_memory = native_result(fn)
        types = components(fn.result) if fn.result is not None else ()
        args = [*args, *self.module.context]
        slot = None
        if in_memory:
            slot = self.alloca("i64", len(types))
            args = [f"ptr {slot}", *args]
        status = whole = self.assign(f"call {returned} {self.module.symbol(fn)}({', '.join(args)})")
        if returned != "i32":
            status = self.assign(f"extractvalue {returned} {whole}, 0")

        def result() -> list[str]:
            if not in_memory:
                return [self.assign(f"extractvalue {returned} {whole}, {i + 1}") for i in range(len(types))]
            values = []
            for i, c in enumerate(types):
                where = slot if i == 0 else self.assign(f"getelementptr i8, ptr {slot}, i64 {8 * i}")
                values.append(self.assign(f"load {c}, ptr {where}, align 8"))
            return values

        return status, result

    # -- failure

    def fail(self, inst) -> str:
        raise NotImplementedError

    def raise_unless(self, condition: str, inst, cls: str, message: str, *args: str) -> None:
        self.fail_unless(condition, lambda: self._format_error(inst, cls, message, args))

    def fail_unless(self, condition: str, fail) -> None:
        good, bad = self.label("fine"), self.label("bad")
        self.branch(condition, good, bad, likely=True)
        here, self.lines = self.lines, []
        self.start(bad)
        fail()
        self.cold += self.lines
        self.lines = here
        self.start(good)

    def error(self, inst, cls, message: str, *args: str) -> None:
        self._format_error(inst, cls, message, args)

    def lock(self) -> str | None:
        """Take the interpreter lock if it is not held; the result is for `unlock`."""
        if not self.module.nogil:
            return None
        return self.assign("call i32 @PyGILState_Ensure() cold")

    def unlock(self, state: str | None) -> None:
        if state is not None:
            self.line(f"call void @PyGILState_Release(i32 {state})")

    def release_lock(self) -> str | None:
        """Release the interpreter lock if it is held; the result is for `take_lock`."""
        if self.module.nogil:
            return None
        return self.assign("call ptr @PyEval_SaveThread()")

    def take_lock(self, thread: str | None) -> None:
        if thread is not None:
            self.line(f"call void @PyEval_RestoreThread(ptr {thread})")

    def _exception_class(self, cls) -> str:
        if isinstance(cls, str) or getattr(__builtins__, cls.__name__, None) is cls or \
                isinstance(__builtins__, dict) and __builtins__.get(cls.__name__) is cls:
            name = cls if isinstance(cls, str) else cls.__name__
            return self.assign(f"load ptr, ptr {self.external(f'PyExc_{name}')}, align 8")
        if cls.__module__ in ("numpy.linalg", "numpy.exceptions"):  # a name, so that code need not hold the object
            return self.external(f"pyjitc_class_{cls.__module__}.{cls.__name__}")
        return self.object(cls)

    def warn(self, inst, cls, message: str) -> None:
        state = self.lock()
        status = self.assign(f"call i32 @PyErr_WarnEx(ptr {self._exception_class(cls)}, ptr {self.string(message)}, "
                             f"i64 1) cold")
        self.unlock(state)
        self.check_status(status, inst)

    def _format_error(self, inst, cls, message, args):
        if cls in ("OverflowError", OverflowError) and inst is not None and inst.attrs.get("redo"):
            cls, message, args = Anew, "", ()
        state = self.lock()
        kind = self._exception_class(cls)
        if not args:
            message = message.replace("%%", "%")
        if not args and not (message.isascii() and "\0" not in message):
            self.line(f"call void @PyErr_SetObject(ptr {kind}, ptr {self.object(message)}) cold")
        elif args:
            self.line(f"call ptr (ptr, ptr, ...) @PyErr_Format(ptr {kind}, ptr {self.string(message)}, "
                      f"{', '.join(args)}) cold")
        else:
            self.line(f"call void @PyErr_SetString(ptr {kind}, ptr {self.string(message)}) cold")
        self.unlock(state)
        self.jump(self.fail(inst))

    def check_status(self, status: str, inst) -> None:
        fine = self.assign(f"icmp eq i32 {status}, 0")
        good = self.label("went")
        if inst is not None and inst.attrs.get("redo") and not self.module.nogil:
            self.fail_unless(fine, lambda: self._ask_anew(inst))
            return
        self.branch(fine, good, self.fail(inst), likely=True)
        self.start(good)

    def _ask_anew(self, inst) -> None:
        """After a helper has failed with OverflowError, request that the interpreter repeats the call
        (passes/restarts.py)."""
        wide = self.label("wide")
        error = self.assign(f"call i32 @PyErr_ExceptionMatches(ptr {self._exception_class('OverflowError')}) cold")
        self.branch(self.assign(f"icmp eq i32 {error}, 0"), self.fail(inst), wide)
        self.start(wide)
        self.line(f"call void @PyErr_SetNone(ptr {self.object(Anew)}) cold")
        self.jump(self.fail(inst))

    def check_null(self, pointer: str, inst) -> None:
        fine = self.assign(f"icmp ne ptr {pointer}, null")
        good = self.label("got")
        self.branch(fine, good, self.fail(inst), likely=True)
        self.start(good)

    # -- Python objects

    def box(self, t: Type, values, inst) -> str:
        return box.box(self, t, values, inst)

    def unbox(self, t: Type, pointer: str, wrong: str) -> list[str]:
        before, self.any_layout = self.any_layout, True
        found = box.unbox(self, t, pointer, wrong)
        self.any_layout = before
        return found

    def python_call(self, inst, callee: str, args: list[str], kwnames: tuple[str, ...]) -> str:
        n = len(args)
        table = self.tables.get(n)
        if table is None:
            table = self.tables[n] = self.alloca("ptr", n + 1)
        for i, x in enumerate(args):
            where = self.assign(f"getelementptr ptr, ptr {table}, i64 {i + 1}")
            self.line(f"store ptr {x}, ptr {where}")
        first = self.assign(f"getelementptr ptr, ptr {table}, i64 1")
        names = self.object(kwnames) if kwnames else "null"
        flagged = (n - len(kwnames)) - (1 << 63)
        result = self.assign(f"call ptr @PyObject_Vectorcall(ptr {callee}, ptr {first}, i64 {flagged}, ptr {names})")
        for x in args:
            self.line(f"call void {self.helper('pyj_release_object')}(ptr {x})")
        self.check_null(result, inst)
        return result
