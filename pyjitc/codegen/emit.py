"""Typed IR to LLVM text. Every value is a list of LLVM scalars, its components; each operation's own lowering does the
rest.

A native function returns an i32 status, 0 for success, with up to two components of its result beside it; larger
results go through a first pointer parameter. Where an
instruction may raise, its failure leaves through a cold block: a traceback entry, the releases in `cleanup`, then the
handler or the return of 1. The text names every external symbol, so that the object is relocatable.
"""
from __future__ import annotations

import struct
import weakref

from ..ir import core as ir
from ..ir.cfg import reverse_postorder
from ..ops import control
from ..ops.memory import POLL, count_references
from ..runtime.thunks import PLACE, PLACES, position_table
from ..types.kinds import (
    Array, Bool, Bytes, Cell, Complex, DType, Dual, Ellipsis_, Exception_, Float, Function, Instance, Int, Iterator,
    Method, NoneType, NpBool,
    NpComplex, NpFloat, NpInt, NpTime, Object, Range, Singleton, Slice, Str, Struct, Tuple, Type, Unbound, Undefined,
    Union,
)
from . import apart, box, forms, helpers, shared

__all__ = ["Module", "FunctionEmitter", "components", "stays_call"]

_FLOATS = {16: "half", 32: "float", 64: "double"}
_EMPTY = (NoneType, Unbound, Undefined, Ellipsis_)
_POINTERS = (Str, Bytes, Object)
_components: dict[Type | None, tuple[str, ...]] = {None: ()}  # None: the result of a function that never returns
_passing_components: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def components(t: Type) -> tuple[str, ...]:
    """LLVM types of the scalars that represent a value of type `t`."""
    found = _components.get(t)
    if found is None:
        found = _passing_components.get(t)
        if found is None:
            found = _find(t)
    return found


def _find(t: Type) -> tuple[str, ...]:
    """Parts before what they are parts of, without recursion: functions may be nested in each other hundreds of levels
    deep."""
    work = [t]
    while work:
        one = work[-1]
        parts = _parts(one)
        found: tuple[str, ...] | None = None
        if parts is None:
            found = _scalars(one)
        else:
            known = [_passing_components.get(p) if p.passing else _components.get(p) for p in parts]
            if None in known:
                work += [p for p, c in zip(parts, known) if c is None]
            else:
                found = tuple(c for part in known for c in part)
                if isinstance(one, Union):
                    found = ("i16", *found)
        if found is not None:
            (_passing_components if one.passing else _components)[one] = found
            work.pop()
    return found


def _parts(t: Type) -> tuple[Type, ...] | None:
    """The types of an aggregate; None of what is represented by itself."""
    if isinstance(t, Function):
        return t.captures
    if isinstance(t, Tuple):
        return t.elements
    if isinstance(t, Slice):
        return t.start, t.stop, t.step
    if isinstance(t, Struct):
        return tuple(m for _, m in t.members)
    if isinstance(t, Method):
        return t.receiver,
    if isinstance(t, Dual):
        return t.wide, Bool
    return t.members if isinstance(t, Union) else None


def _scalars(t: Type) -> tuple[str, ...]:
    if t is Int or isinstance(t, NpTime):
        return "i64",
    if t is Float:
        return "double",
    if t is Bool or t is NpBool:
        return "i1",
    if t is Complex:
        return "double", "double"
    if t in _EMPTY or isinstance(t, (Singleton, DType)):
        return ()
    if t in _POINTERS or isinstance(t, (Exception_, Instance, Cell, Iterator)):
        return "ptr",
    if isinstance(t, NpInt):
        return f"i{t.bits}",
    if isinstance(t, NpFloat):
        return _FLOATS[t.bits],
    if isinstance(t, NpComplex):
        return (_FLOATS[t.bits // 2],) * 2
    if isinstance(t, Array):
        return "ptr", "ptr", *["i64"] * (2 * t.ndim)
    if t is Range:
        return "i64", "i64", "i64"
    raise AssertionError(f"no representation for {t}")


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


def stays_call(fn: ir.Function) -> bool:
    """Whether an entry is not inlined into its stub, to be optimised there a second time: it is large, or calls a
    library function that stays one."""
    return not fn.attrs.get("recursive") and (sum(len(b.insts) for b in fn.blocks) > 20 or
                                              any(i.op is control.INVOKE and "outlined" in i.attrs["callee"].attrs
                                                  for b in fn.blocks for i in b.insts))


class Module:
    """The LLVM text of one compilation: functions, runtime helpers, declarations, strings, per-object constants."""

    inlined: tuple[str, ...] = ()  # helpers that are no calls on this target

    def __init__(self, options, nogil: bool = False, shares: bool = False):
        self.options = options
        # helpers that are in an image of their own, where there is one
        self.elsewhere: dict[str, None] | None = {} if shares else None
        self.nogil = nogil  # functions run without the interpreter lock: whatever sets an error takes it
        self.declarations: dict[str, None] = {}
        self.helpers: dict[str, None] = {}
        self.strings: dict[str, str] = {}
        self.objects: list[tuple[str, object]] = []
        self._object_index: dict = {}
        self.bodies: list[str] = []
        self.apart: list[str] = []  # those of functions that LLVM gets apart
        self.plain: list[bool] = []  # whether each function is as good after a few passes (passes/polling.py)
        # functions of the C library that are called rarely: number and type of operands
        self.rare: dict[str, tuple[int, str]] = {}
        # those that are looked up in: (types of elements and indices, elements) -> number
        self.tables: dict[tuple, int] = {}
        self.slow_loops = 0
        self.independent_loops: list[int] = []  # how far each is to be interleaved, 0: as LLVM finds
        self.unrolled_loops: list[bool] = []  # whether each is unrolled to its end
        self.scopes: dict[tuple, int] = {}  # (function, group of arrays, number in it) -> number of LLVM's scope
        self.scope_lists: dict[tuple[int, ...], int] = {}
        self.added = False  # whether a function was: the first is the one that the stub calls
        self.symbols: dict[ir.Function, str] = {}
        self.context: tuple[str, ...] = ()  # parameters that every function has beside its own, and hands on
        fast = options.fastmath
        self.flags = "fast " if fast is True else "".join(f"{f} " for f in fast) if fast else ""

    def slow_loop(self) -> int:
        """Number of new loop metadata: no vectorising, no interleaving, no unrolling."""
        n = 10 + self.slow_loops
        self.slow_loops += 1
        return n

    def independent_loop(self, interleave: int) -> int:
        """Number of new loop metadata: no iteration touches what another writes."""
        self.independent_loops.append(interleave)
        return 10_000 + len(self.independent_loops)

    def scope_list(self, scopes) -> int:
        """Number of the metadata of a list of alias scopes; they are made when they are first asked for."""
        numbers = tuple(self.scopes.setdefault(scope, 50_001 + len(self.scopes)) for scope in scopes)
        return self.scope_lists.setdefault(numbers, 60_001 + len(self.scope_lists))

    def unrolled_loop(self, full: bool = False) -> int:
        """Number of new loop metadata: four steps at once, or all."""
        self.unrolled_loops.append(full)
        return 20_000 + len(self.unrolled_loops)

    def symbol(self, fn: ir.Function) -> str:
        found = self.symbols.get(fn)
        if found is None:
            base = "".join(c if c.isascii() and c.isalnum() or c in "_." else "_" for c in fn.name)
            found = self.symbols[fn] = f"@f{len(self.symbols)}.{base}"
        return found

    def string(self, text: str) -> str:
        found = self.strings.get(text)
        if found is None:
            found = self.strings[text] = f"@.s{len(self.strings)}"
        return found

    def object(self, value) -> str:
        """Symbol of a Python object that the code needs; the loader gives it the object's address."""
        key = (type(value), value) if type(value) in (str, bytes, int, bool) else id(value)
        found = self._object_index.get(key)
        if found is None:
            name = f"pyjitc_object_{len(self.objects)}"
            self.objects.append((name, value))
            found = self._object_index[key] = "@" + name
        return found

    def helper(self, name: str) -> str:
        if self.elsewhere is not None and shared.is_shared(name):
            if name not in self.elsewhere:
                self.elsewhere[name] = None
                self.declarations[shared.declaration(name)] = None
        elif name not in self.helpers:
            self.helpers[name] = None
            for needed in helpers.NEEDS.get(name, ()):
                self.helper(needed)
        return "@" + name

    def add(self, fn: ir.Function) -> None:
        body = FunctionEmitter(self, fn).run()
        formed = forms.PREFIX in body
        self.plain.append("plain" in fn.attrs and not formed
                          and not any(i.op is control.INVOKE for block in fn.blocks for i in block.insts))
        (self.apart if fn.attrs.get("outlined") == "unvectorised" and not formed else self.bodies).append(body)

    def text(self, target) -> str:
        parts = [helpers.text(self.helpers, self.declarations, self.nogil, self.inlined)]
        parts += self.declarations
        parts += (f"@{name} = external global i8" for name, _ in self.objects)
        for text, name in self.strings.items():
            data = text.encode() + b"\0"
            escaped = "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}" for b in data)
            parts.append(f'{name} = private unnamed_addr constant [{len(data)} x i8] c"{escaped}"')
        parts += self.bodies
        if self.rare or self.tables:
            parts.append(forms.declarations(self.rare, self.tables))
        parts.append('!0 = !{!"branch_weights", i32 2000, i32 1}\n!1 = !{!"branch_weights", i32 1, i32 2000}\n'
                     f"!2 = !{{i64 0, i64 {1 << 60}}}\n!5 = distinct !{{}}")
        if self.slow_loops:
            parts.append('!3 = !{!"llvm.loop.vectorize.enable", i1 false}\n!4 = !{!"llvm.loop.unroll.disable"}')
            parts += (f"!{n} = distinct !{{!{n}, !3, !4}}" for n in range(10, 10 + self.slow_loops))
        if self.independent_loops:
            counts = {1: "!7", 2: "!8", 4: "!9"}
            parts.append('!6 = !{!"llvm.loop.parallel_accesses", !5}')
            parts += (f'{name} = !{{!"llvm.loop.interleave.count", i32 {count}}}' for count, name in counts.items())
            parts += (f'!{n} = distinct !{{!{n}, !6{", " + counts[count] if count else ""}}}'
                      for n, count in enumerate(self.independent_loops, 10_001))
        if self.unrolled_loops:
            ways = {True: '"llvm.loop.unroll.full"', False: '"llvm.loop.unroll.count", i32 4'}
            parts += (f"!{30_000 + full} = !{{!{ways[full]}}}" for full in dict.fromkeys(self.unrolled_loops))
            parts += (f"!{n} = distinct !{{!{n}, !{30_000 + full}}}"
                      for n, full in enumerate(self.unrolled_loops, 20_001))
        if self.scopes:
            parts.append("!50000 = distinct !{!50000}")
            parts += (f"!{n} = distinct !{{!{n}, !50000}}" for n in self.scopes.values())
            parts += (f"!{n} = !{{{', '.join(f'!{k}' for k in scopes)}}}" for scopes, n in self.scope_lists.items())
        text = "\n".join(parts)
        if self.plain and all(self.plain) and not self.apart and all(helpers.stays_call(name) for name in self.helpers):
            return text + apart.PLAIN
        if self.apart:
            text = apart.joined(text, self.apart)
        return (apart.with_forms(text, forms.definitions(self.rare, self.tables, target)) if self.rare or self.tables
                else text)


class Emitter:
    """Builds the body of one LLVM function; what lowerings see (see the contract in ops/lowering.py)."""

    def __init__(self, module: Module):
        self.module = module
        self.flags = module.flags
        self.lines: list[str] = []
        self.entry: list[str] = []  # allocas
        self.cold: list[str] = []
        self.count = 0
        self.current = "entry"
        self._fuel = None
        self.tables: dict[int, str] = {}  # number of arguments -> where those of a call of a Python object lie
        self.leaving = False  # whether the code is of a way out of a function that fails

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

    def branch(self, condition: str, yes: str, no: str, likely=None) -> None:
        weight = "" if likely is None else ", !prof !0" if likely else ", !prof !1"
        self.lines.append(f"  br i1 {condition}, label %{yes}, label %{no}{weight}")

    def phi(self, t: str, arms) -> str:
        return self.assign(f"phi {t} " + ", ".join(f"[ {v}, %{b} ]" for v, b in arms))

    def alloca(self, t: str, n: int = 1) -> str:
        self.count += 1
        name = f"%a{self.count}"
        self.entry.append(f"  {name} = alloca {t}, i64 {n}" if n != 1 else f"  {name} = alloca {t}")
        return name

    def memory_of(self, size: int) -> str:
        """Bytes in the frame for the elements of an array."""
        self.count += 1
        name = f"%a{self.count}"
        self.entry.append(f"  {name} = alloca [{size} x i8], align 16")
        return name

    def clear(self, pointer: str, size: int) -> None:
        self.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        self.line(f"call void @llvm.memset.p0.i64(ptr align 16 {pointer}, i8 0, i64 {size}, i1 false)")

    # -- module level

    def declare(self, text: str) -> None:
        self.module.declarations[text] = None

    def external(self, name: str) -> str:
        self.module.declarations[f"@{name} = external global i8"] = None
        return "@" + name

    def string(self, text: str) -> str:
        return self.module.string(text)

    def object(self, value) -> str:
        return self.module.object(value)

    def helper(self, name: str) -> str:
        return self.module.helper(name)

    def scope(self, group: int, own: int, *others: int) -> str:
        """Metadata of an access: to array `own` of a group, which shares no memory with `others` of it."""
        own, others = [self.module.scope_list((self, group, n) for n in part) for part in ((own,), others)]
        return f", !alias.scope !{own}, !noalias !{others}"

    def rare(self, symbol: str, values, t: str) -> str:
        """The rest of a call of a libm function of numbers of type `t` that few elements need."""
        entry = len(values), t
        assert self.module.rare.setdefault(symbol, entry) == entry, symbol
        return forms.rare(symbol, values, t)

    def lookup(self, table, t: str, index_type: str, index: str) -> str:
        """The number of type `t` in a table of a power of two of them, at the lowest bits of the index."""
        number = self.module.tables.setdefault((t, index_type, table), len(self.module.tables))
        return self.assign("call " + forms.lookup(number, t, index_type, index))

    # -- types

    components = staticmethod(components)

    def scalar(self, t: Type) -> str:
        (one,) = components(t)
        return one

    def memory(self, t: Type) -> str:
        """LLVM type of an array element of NumPy type `t`."""
        parts = components(t)
        return memory_type(parts[0]) if len(parts) == 1 else f"[2 x {parts[0]}]"

    def zeros(self, t: Type) -> list[str]:
        return [_ZERO.get(c, "0") for c in components(t)]

    def constant(self, t: Type, value) -> list[str]:
        """Components of the Python constant `value` as type `t`."""
        if not components(t):
            return []
        if t is Bool or t is NpBool:
            return ["true" if value else "false"]
        if t is Int or isinstance(t, NpInt):
            return [str(int(value))]
        if isinstance(t, NpTime):
            return [str(int(value.astype("int64")))]
        if t is Float or isinstance(t, NpFloat):
            return [float_text(float(value), components(t)[0])]
        if t is Complex or isinstance(t, NpComplex):
            kind = components(t)[0]
            return [float_text(float(value.real), kind), float_text(float(value.imag), kind)]
        if isinstance(t, Tuple):
            return [c for e, v in zip(t.elements, value) for c in self.constant(e, v)]
        if isinstance(t, Slice):
            parts = ((t.start, value.start), (t.stop, value.stop), (t.step, value.step))
            return [c for e, v in parts for c in self.constant(e, v)]
        if t is Range:
            return [str(value.start), str(value.stop), str(value.step)]
        return [self.object(value)]

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
        """Call a native function: (status, a function that gives the components of the result)."""
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
        """fail: writes the code, in a place apart, that raises one of several errors."""
        good, bad = self.label("fine"), self.label("bad")
        self.branch(condition, good, bad, likely=True)
        here, self.lines = self.lines, []
        self.start(bad)
        fail()
        self.cold += self.lines
        self.lines = here
        self.start(good)

    def error(self, inst, cls, message: str, *args: str) -> None:
        """Terminates the block: raises cls(message), a format for `args` in which `%%` stands for `%`."""
        self._format_error(inst, cls, message, args)

    def lock(self) -> str | None:
        """Take the interpreter lock where it is not held; for `unlock`."""
        if not self.module.nogil:
            return None
        self.declare("declare i32 @PyGILState_Ensure()")
        return self.assign("call i32 @PyGILState_Ensure() cold")

    def unlock(self, state: str | None) -> None:
        if state is not None:
            self.declare("declare void @PyGILState_Release(i32)")
            self.line(f"call void @PyGILState_Release(i32 {state})")

    def _exception_class(self, cls) -> str:
        if isinstance(cls, str) or getattr(__builtins__, cls.__name__, None) is cls or \
                isinstance(__builtins__, dict) and __builtins__.get(cls.__name__) is cls:
            name = cls if isinstance(cls, str) else cls.__name__
            return self.assign(f"load ptr, ptr {self.external(f'PyExc_{name}')}, align 8")
        return self.object(cls)

    def warn(self, inst, cls, message: str) -> None:
        """Warn where the compiled function is called, as the interpreter's functions in C do."""
        state = self.lock()
        self.declare("declare i32 @PyErr_WarnEx(ptr, ptr, i64)")
        status = self.assign(f"call i32 @PyErr_WarnEx(ptr {self._exception_class(cls)}, ptr {self.string(message)}, "
                             f"i64 1) cold")
        self.unlock(state)
        self.check_status(status, inst)

    def _format_error(self, inst, cls, message, args):
        state = self.lock()
        kind = self._exception_class(cls)
        if not args:
            message = message.replace("%%", "%")
        if not args and not (message.isascii() and "\0" not in message):
            self.declare("declare void @PyErr_SetObject(ptr, ptr)")
            self.line(f"call void @PyErr_SetObject(ptr {kind}, ptr {self.object(message)}) cold")
        elif args:
            self.declare("declare ptr @PyErr_Format(ptr, ptr, ...)")
            self.line(f"call ptr (ptr, ptr, ...) @PyErr_Format(ptr {kind}, ptr {self.string(message)}, "
                      f"{', '.join(args)}) cold")
        else:
            self.declare("declare void @PyErr_SetString(ptr, ptr)")
            self.line(f"call void @PyErr_SetString(ptr {kind}, ptr {self.string(message)}) cold")
        self.unlock(state)
        self.jump(self.fail(inst))

    def check_status(self, status: str, inst) -> None:
        fine = self.assign(f"icmp eq i32 {status}, 0")
        good = self.label("went")
        self.branch(fine, good, self.fail(inst), likely=True)
        self.start(good)

    def check_null(self, pointer: str, inst) -> None:
        fine = self.assign(f"icmp ne ptr {pointer}, null")
        good = self.label("got")
        self.branch(fine, good, self.fail(inst), likely=True)
        self.start(good)

    # -- Python objects

    def box(self, t: Type, values, inst) -> str:
        """A new reference to the Python object of a value; fails through `inst`."""
        return box.box(self, t, values, inst)

    def unbox(self, t: Type, pointer: str, wrong: str) -> list[str]:
        """Components of the object, or control goes to label `wrong`."""
        return box.unbox(self, t, pointer, wrong)

    def python_call(self, inst, callee: str, args: list[str], kwnames: tuple[str, ...]) -> str:
        """Call a Python object; takes over the references in `args`."""
        n = len(args)
        table = self.tables.get(n)
        if table is None:
            table = self.tables[n] = self.alloca("ptr", n + 1)
        for i, x in enumerate(args):
            where = self.assign(f"getelementptr ptr, ptr {table}, i64 {i + 1}")
            self.line(f"store ptr {x}, ptr {where}")
        first = self.assign(f"getelementptr ptr, ptr {table}, i64 1")
        names = self.object(kwnames) if kwnames else "null"
        self.declare("declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)")
        flagged = (n - len(kwnames)) - (1 << 63)
        result = self.assign(f"call ptr @PyObject_Vectorcall(ptr {callee}, ptr {first}, i64 {flagged}, ptr {names})")
        for x in args:
            self.line(f"call void {self.helper('pyj_release_object')}(ptr {x})")
        self.check_null(result, inst)
        return result


def float_text(value: float, kind: str) -> str:
    if kind == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
    if kind == "float" and value == value:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class FunctionEmitter(Emitter):
    """One typed function."""

    traced = True  # whether failures have an entry in tracebacks for the frame that they leave

    def __init__(self, module: Module, fn: ir.Function):
        super().__init__(module)
        self.entry_point = not module.added
        module.added = True
        self.fn = fn
        self.values: dict[ir.Value, list[str]] = {}
        self.phis: dict[ir.Block, list] = {}
        self.names: dict[ir.Block, str] = {}
        self.fails: dict[tuple, str] = {}
        self.places: dict[ir.Loc, int] = {}  # where tracebacks begin
        self.arrivals: dict[ir.Block, list] = {}
        self.polled = False

    def run(self) -> str:
        fn, module = self.fn, self.module
        self.returned, in_memory = native_result(fn)
        params = ["ptr noalias %ret"] if in_memory else []
        for i, p in enumerate(fn.params):
            names = []
            for j, c in enumerate(components(p.type)):
                name = f"%p{i}.{j}"
                names.append(name)
                extent = isinstance(p.type, Array) and 2 <= j < 2 + p.type.ndim
                params.append(f"{c} range(i64 0, {1 << 60}) {name}" if extent else f"{c} {name}")
            self.values[p] = names
        params += module.context
        blocks = reverse_postorder(fn)
        first = blocks[0]
        looped = any(edge.block is first for block in blocks for edge in block.edges())
        for n, block in enumerate(blocks):
            self.names[block] = f"b{n}"
            self.arrivals[block] = []
            if n == 0 and looped:
                self.arrive(ir.Edge(first, first.params), "enter")
            if n or looped:
                for p in block.params:
                    self.count += 1
                    self.values[p] = [f"%q{self.count}.{j}" for j in range(len(components(p.type)))]
        bodies = []
        for n, block in enumerate(blocks):
            self.lines, self.polled = [], False
            self.current = self.names[block]
            for inst in block.insts:
                self.instruction(inst)
            bodies.append(self.lines)
        self._keep_fuel(bodies)
        out = [f"define internal {self.returned} {module.symbol(fn)}({', '.join(params)}) {self.attributes()} {{",
               "start:"]
        out += self.entry
        body = "enter" if looped else self.names[first]
        out.append(f"  br label %{body}")
        if looped:
            out += ["enter:", f"  br label %{self.names[first]}"]
        for block, body in zip(blocks, bodies):
            out.append(f"{self.names[block]}:")
            if block is not first or looped:
                for k, p in enumerate(block.params):
                    for j, c in enumerate(components(p.type)):
                        arms = ", ".join(f"[ {values[k][j]}, %{origin} ]" for origin, values in self.arrivals[block])
                        out.append(f"  {self.values[p][j]} = phi {c} {arms}")
            out += body
        out += self.cold
        out.append("}")
        if self.places:
            self.declare(self._places())
        return "\n".join(out)

    def fuel(self) -> str:
        """A counter that stays from call to call: a loop of many short calls lets signals in as well. LLVM keeps it in
        a register while the function runs, unless the function may call itself: then it is one of four, by the place of
        the frame on the stack.
        A processor waits for a word in memory that it has just written; those of caller and callee differ."""
        if self._fuel is None:
            word = self._fuel_word()
            if self.fn.attrs.get("recursive"):
                self.entry += ["  %frame = alloca i64", "  %place = ptrtoint ptr %frame to i64",
                               "  %slot = and i64 %place, 96", f"  %counter = getelementptr i8, ptr {word}, i64 %slot"]
                self._fuel = "%counter"
            else:
                self._fuel = self.alloca("i64")
                self.entry += [f"  %fuel = load i64, ptr {word}", f"  store i64 %fuel, ptr {self._fuel}"]
        return self._fuel

    def _fuel_word(self) -> str:
        word = f"@fuel.{self.module.symbol(self.fn)[1:]}"
        content = "[16 x i64] zeroinitializer, align 128" if self.counters > 1 else "i64 0"
        self.declare(f"{word} = internal global {content}")
        return word

    @property
    def counters(self) -> int:
        """How many words share the cost that may run up between two polls."""
        return 4 if self.fn.attrs.get("recursive") else 1

    def _keep_fuel(self, bodies: list[list[str]]) -> None:
        if self._fuel is None or self.fn.attrs.get("recursive"):
            return
        for n, body in enumerate(bodies):
            if body[-1].startswith("  ret "):
                body[-1:] = [f"  %fuel.{n} = load i64, ptr {self._fuel}",
                             f"  store i64 %fuel.{n}, ptr {self._fuel_word()}", body[-1]]

    def attributes(self) -> str:
        if self.fn.attrs.get("recursive"):
            return "nounwind"
        if self.fn.attrs.get("outlined") == "unhurried" or _only_raises(self.names):
            return "nounwind noinline optnone cold"
        if self.entry_point and stays_call(self.fn) or "outlined" in self.fn.attrs:
            return "nounwind noinline"
        return {"always": "nounwind alwaysinline", "never": "nounwind noinline"}.get(self.fn.attrs.get("inlining"),
                                                                                     "nounwind")

    def arrive(self, edge: ir.Edge, origin: str) -> None:
        self.arrivals[edge.block].append((origin, [self.values[a] for a in edge.args]))

    def instruction(self, inst: ir.Inst) -> None:
        op = inst.op
        if op.lower is not None:
            values = op.lower(self, inst, *[self.values[a] for a in inst.args])
            if inst.result is not None:
                self.values[inst.result] = values or []
        else:
            _CONTROL[op](self, inst)

    # -- control

    def const(self, inst):
        self.values[inst.result] = self.constant(inst.result.type, inst.attrs["value"])

    def jump_to(self, inst):
        edge = inst.targets[0]
        self.arrive(edge, self.current)
        self.jump(self.names[edge.block])
        self.note_loop(inst)

    def note_loop(self, inst):
        """What LLVM is told: the slow copy of a versioned loop is not worth vectorising."""
        if inst.attrs.get("slow_loop"):
            self.lines[-1] += f", !llvm.loop !{self.module.slow_loop()}"
        elif inst.attrs.get("unroll_full"):
            self.lines[-1] += f", !llvm.loop !{self.module.unrolled_loop(full=True)}"
        elif inst.attrs.get("parallel"):
            self.lines[-1] += f", !llvm.loop !{self.module.independent_loop(inst.attrs.get('interleave', 0))}"
        elif inst.attrs.get("unroll"):
            self.lines[-1] += f", !llvm.loop !{self.module.unrolled_loop()}"

    def branch_to(self, inst):
        yes, no = inst.targets
        labels = []
        for edge in (yes, no):
            if yes.block is no.block and edge.block.params:  # two edges to one block: give each an origin of its own
                step = self.label("edge")
                self.cold.append(f"{step}:")
                self.cold.append(f"  br label %{self.names[edge.block]}")
                self.arrive(edge, step)
                labels.append(step)
            else:
                self.arrive(edge, self.current)
                labels.append(self.names[edge.block])
        likely = inst.attrs.get("likely")
        if labels[0] == labels[1]:
            self.jump(labels[0])
            self.arrivals[yes.block].pop()
        else:
            self.branch(self.values[inst.args[0]][0], labels[0], labels[1], likely)
        self.note_loop(inst)

    def switch_to(self, inst):
        t = self.scalar(inst.args[0].type)
        cases = []
        labels = []
        for edge in inst.targets:
            step = self.label("case")
            self.cold.append(f"{step}:")
            self.cold.append(f"  br label %{self.names[edge.block]}")
            self.arrive(edge, step)
            labels.append(step)
        for value, label in zip(inst.attrs["cases"], labels[1:]):
            cases.append(f"{t} {value}, label %{label}")
        self.line(f"switch {t} {self.values[inst.args[0]][0]}, label %{labels[0]} [{' '.join(cases)}]")

    def return_(self, inst):
        types = components(self.fn.result)
        whole = "0"
        if self.returned != "i32":
            whole = f"{{ i32 0, {', '.join(f'{c} poison' for c in types)} }}"
            for i, (c, v) in enumerate(zip(types, self.values[inst.args[0]]), 1):
                whole = self.assign(f"insertvalue {self.returned} {whole}, {c} {v}, {i}")
        elif types:
            for i, (c, v) in enumerate(zip(types, self.values[inst.args[0]])):
                where = "%ret" if i == 0 else self.assign(f"getelementptr i8, ptr %ret, i64 {8 * i}")
                self.line(f"store {c} {v}, ptr {where}, align 8")
        self.line(f"ret {self.returned} {whole}")

    def failed(self) -> str:
        """The return that says that the error indicator is set."""
        if self.returned == "i32":
            return "ret i32 1"
        return f"ret {self.returned} {{ i32 1, {', '.join(f'{c} poison' for c in components(self.fn.result))} }}"

    def unreachable(self, inst):
        self.line("unreachable")

    def reraise(self, inst):
        if inst.args:
            self.line(f"call void {self.helper('pyj_rethrow')}(ptr {self.values[inst.args[0]][0]})")
        else:
            self.line(f"call void {self.helper('pyj_reraise')}()")
        self.jump(self.fail(inst))

    def invoke(self, inst):
        callee = inst.attrs["callee"]
        args = []
        for p, a in zip(callee.params, inst.args, strict=True):
            args += [f"{c} {v}" for c, v in zip(components(p.type), self.values[a], strict=True)]
        if callee.attrs.get("recursive") and self.fn.attrs.get("recursive") and not self.polled:
            self.polled = True  # once for all calls of a block; a recursion takes as long as a loop
            self.stack_check(inst)
            POLL.lower(self, inst)
        status, result = self.native_call(callee, args)
        self.check_status(status, inst)
        values = result()
        if inst.result is not None:
            self.values[inst.result] = values

    # -- failure

    def fail(self, inst: ir.Inst) -> str:
        """The cold exit of an instruction: an entry for the traceback where the frame has none yet, then what is
        common to all that leave in the same way. Library frames are hidden, and what is raised again has its entry."""
        away = self._exit(inst.cleanup, inst.unwind)
        if self.fn.library or inst.op is control.RERAISE or not self.traced:
            return away
        loc = inst.loc if inst.loc.line else ir.Loc(self.fn.firstlineno, 0, -1, -1)
        label = self.fails.get((loc, away))
        if label is None:
            label = self.fails[loc, away] = self.label("fail")
            saved, self.lines = self.lines, []
            self.lines.append(f"{label}:")
            self.traceback(loc)
            self.jump(away)
            self.cold += self.lines
            self.lines = saved
        return label

    def _exit(self, cleanup, unwind: ir.Edge | None) -> str:
        """The block that gives up what is held and goes to the handler or the caller."""
        key = (cleanup, unwind and (unwind.block, tuple(unwind.args)))
        label = self.fails.get(key)
        if label is not None:
            return label
        label = self.fails[key] = self.label("leave")
        rest = self._exit((), None) if cleanup and unwind is None else None
        saved, self.lines, here = self.lines, [], self.current
        self.start(label)
        self.leaving = True
        for value in cleanup:
            count_references(self, value.type, self.values[value], "release")
        self.leaving = False
        if rest is not None:
            self.jump(rest)
        elif unwind is not None:
            self.arrive(unwind, self.current)
            self.jump(self.names[unwind.block])
        else:
            self.line(self.failed())
        self.cold += self.lines
        self.lines, self.current = saved, here
        return label

    def traceback(self, loc: ir.Loc) -> None:
        """An entry for the frame that is left."""
        state = self.lock()
        self.declare("declare void @pyjitc_traceback(ptr, i32)")
        number = self.places.setdefault(loc, len(self.places))
        where = PLACES + PLACE * number
        self.line(f"call void @pyjitc_traceback(ptr {self._places_symbol()}, i32 {where}) nomerge cold")
        self.unlock(state)

    def _places_symbol(self) -> str:
        return f"@places.{self.module.symbol(self.fn)[1:]}"

    def _places(self) -> str:
        """What tracebacks show of the function, and of the places in it where they begin; see runtime/thunks.py."""
        fn = self.fn
        qualname, filename = self.string(fn.qualname), self.string(fn.filename)
        name = len(fn.qualname[:fn.qualname.rfind(".") + 1].encode())
        kind, places = "{ ptr, i32, i32, i64, i64 }", []
        for loc in self.places:
            table = position_table(fn.firstlineno, *loc)
            low, high = (int.from_bytes(part, "little") for part in (table[:8], table[8:]))
            places.append(f"{kind} {{ ptr null, i32 {loc.line}, i32 {len(table)}, i64 {low}, i64 {high} }}")
        n = len(places)
        return (f"{self._places_symbol()} = internal global {{ ptr, ptr, ptr, i32, [{n} x {kind}] }} {{ "
                f"ptr getelementptr (i8, ptr {qualname}, i64 {name}), ptr {qualname}, ptr {filename}, "
                f"i32 {fn.firstlineno}, [{n} x {kind}] [{', '.join(places)}] }}")

    def stack_check(self, inst) -> None:
        """RecursionError where the stack of this thread is nearly used up."""
        for word in ("low", "span"):  # the stack seen last; another thread's looks like none
            self.declare(f"@pyjitc_stack_{word} = internal global i64 0")
        at = self.assign(f"ptrtoint ptr {self.alloca('i8')} to i64")
        low, span = (self.assign(f"load i64, ptr @pyjitc_stack_{word}") for word in ("low", "span"))
        room = self.assign(f"icmp ult i64 {self.assign(f'sub i64 {at}, {low}')}, {span}")
        deep, enough = self.label("deep"), self.label("room")
        self.branch(room, enough, deep, likely=True)
        self.start(deep)
        self.check_status(self.assign(f"call i32 {self.helper('pyj_stack')}(i64 {at})"), inst)
        self.jump(enough)
        self.start(enough)


def _only_raises(blocks) -> bool:
    """Whether a function of these blocks, in reverse post-order, never returns, nor goes round: it writes a message."""
    at = {block: n for n, block in enumerate(blocks)}
    return not any(b.terminator.op is control.RETURN or any(at[edge.block] <= at[b] for edge in b.edges())
                   for b in blocks)


_F = FunctionEmitter
_CONTROL = {
    control.CONST: _F.const, control.JUMP: _F.jump_to, control.BRANCH: _F.branch_to, control.SWITCH: _F.switch_to,
    control.RETURN: _F.return_, control.UNREACHABLE: _F.unreachable, control.RERAISE: _F.reraise,
    control.INVOKE: _F.invoke,
}
