"""Typed IR to PTX, for NVIDIA GPUs.

The emitter of the CPU with another implementation of failures: there is no status and no interpreter. Checks of
indices, overflow and division are emitted only with the option `debug`; a `raise` always is. A thread that fails writes
its position and the reason to the record `pyjitc_error`, if it is the first one, and exits; the host raises the
exception after the launch.

A kernel's parameters are the components of its arguments, without owners, and without the strides that follow from the
shape; `parameters` says which, for the host that packs them. LLVM infers the address spaces in inlined functions.
The intrinsics that exist on GPUs are listed: LLVM aborts the process for others.
"""
from __future__ import annotations

import re
import struct
from typing import NamedTuple

from ..base.errors import Diagnostic, UnsupportedError
from ..base.launch_bounds import Bounds
from ..base.options import Options
from ..base.trace import dump, timed
from ..ir import core as ir
from ..ops import math
from ..ops.arith import CAST, FIT
from ..ops.memory import CHECK_INDEX, item_bytes
from ..passes.device import calls_in, in_program
from ..types.kinds import Array, Bytes, Object, Str, Type
from . import inlining, link, ptxtext
from .leaves import components
from .function import CheckingEmitter
from .link import Target
from .module import Module
from .nvptx_ops import LOWERINGS, coordinate, grid_barrier_text
from .sites import Site

__all__ = ["ARCHITECTURES", "ERROR_BYTES", "HELPERS", "Kernel", "Site", "compile_kernel", "device_target",
           "in_libdevice", "is_approximated", "kernel_text", "parameters"]

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_100", "sm_101", "sm_103", "sm_110",
                 "sm_120", "sm_121")
_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

# The record of the first failure: i32 site (0: none), block x y z, thread x y z, i32 unused, then four i64 values.
ERROR_BYTES = 64
_MAX_VALUES = 4
_MAX_CONSTANT = 60 << 10
_ANY = 1 << 60
_INLINED = 20_000  # the most instructions of a device function with all its callees inlined


class Kernel(NamedTuple):
    """Code of one kernel. name: its symbol; parameters: LLVM types in order; sites: places that may fail, site n is [n
    - 1];
    shared: bytes of shared memory it always takes; cooperative: whether blocks wait for each other."""

    ptx: str
    name: str
    arch: str
    parameters: tuple[str, ...]
    sites: tuple[Site, ...]
    shared: int
    bounds: Bounds
    cooperative: bool


def device_target(arch: str) -> Target:
    if arch not in ARCHITECTURES:
        raise ValueError(f"there is no target {arch!r}; targets are {', '.join(ARCHITECTURES)}")
    return Target("nvptx64-nvidia-cuda", arch, "", _LAYOUT)


# ---------------------------------------------------------------- parameters of kernels


def parameters(t: Type) -> list[tuple[int, str]]:
    """(component, LLVM type) of the parameters for a value of type `t`."""
    if isinstance(t, Array):
        last = 2 + t.ndim * (2 if t.layout == "A" else 1)
        return [(0, "ptr")] + [(k, "i64") for k in range(2, last)]
    if t.parts is not None:
        found, at = [], 0
        for part in t.parts:
            found += [(at + k, c) for k, c in parameters(part)]
            at += len(components(part))
        return found
    return list(enumerate("i8" if c == "i1" else c for c in components(t)))


def _strides(e, t: Array, shape: list[str]) -> list[str]:
    strides = [""] * t.ndim
    step = str(item_bytes(t.dtype))
    for k in range(t.ndim) if t.layout == "F" else range(t.ndim - 1, -1, -1):
        strides[k] = step
        step = e.assign(f"mul i64 {step}, {shape[k]}")
    return strides


def _rebuild(e, t: Type, given: list[str]) -> list[str]:
    """The components of an argument from its parameters, which are taken from the front of `given`."""
    if isinstance(t, Array):
        data, shape = given.pop(0), [given.pop(0) for _ in range(t.ndim)]
        strides = [given.pop(0) for _ in range(t.ndim)] if t.layout == "A" else _strides(e, t, shape)
        return [data, "null", *shape, *strides]
    if t.parts is not None:
        return [c for part in t.parts for c in _rebuild(e, part, given)]
    return [e.assign(f"icmp ne i8 {given.pop(0)}, 0") if c == "i1" else given.pop(0) for c in components(t)]


# ---------------------------------------------------------------- emission

_CALLED = re.compile(r"call [^@]*@([\w.]+)")
_AVAILABLE = re.compile(r"(f[0-9]|pyj|__nv_|vprintf$)|llvm\.(nvvm\..*|(sqrt|fabs|minimum|maximum|floor|ceil|trunc|"
                        r"roundeven|rint|round|copysign|fma|minnum|maxnum|abs|smin|smax|umin|umax|ctpop|ctlz|cttz|"
                        r"bitreverse|bswap|fshl|fshr|[su](add|sub|mul)\.with\.overflow|assume|memcpy|memset|trap)\..*|"
                        r"assume|trap)$")
HELPERS = ("pyj_view_owner", "pyj_int_truediv", "pyj_step")
_LIBDEVICE = {op: op.name for op in (
    math.SIN, math.COS, math.TAN, math.ASIN, math.ACOS, math.ATAN, math.ATAN2, math.SINH, math.COSH, math.TANH,
    math.ASINH, math.ACOSH, math.ATANH, math.EXP, math.EXP2, math.EXPM1, math.LOG, math.LOG2, math.LOG10, math.LOG1P,
    math.CBRT, math.ERF, math.ERFC, math.POW, math.HYPOT, math.NEXTAFTER, math.REMAINDER)}
_LOG2E, _LN2, _LOG10_2 = "0x3FF7154760000000", "0x3FE62E4300000000", "0x3FD3441360000000"  # constants as floats


def _approximate(name: str, before: str | None = None, after: str | None = None):
    """The lowering by a hardware approximation in single precision, with its operand or its result multiplied by a
    constant."""

    def lower(e, x):
        full = f"llvm.nvvm.{name}"
        if before:
            x = e.assign(f"fmul {e.flags}float {x}, {before}")
        y = e.assign(f"call float @{full}(float {x})")
        return e.assign(f"fmul {e.flags}float {y}, {after}") if after else y

    return lower


_FAST = {math.SIN: _approximate("sin.approx.f"), math.COS: _approximate("cos.approx.f"),
         math.EXP2: _approximate("ex2.approx.f"), math.EXP: _approximate("ex2.approx.f", before=_LOG2E),
         math.LOG2: _approximate("lg2.approx.f"), math.LOG: _approximate("lg2.approx.f", after=_LN2),
         math.LOG10: _approximate("lg2.approx.f", after=_LOG10_2), math.SQRT: _approximate("sqrt.approx.f")}
_FAST2 = {math.POW: lambda e, x, y: _FAST[math.EXP2](e, e.assign(f"fmul {e.flags}float {y}, {_FAST[math.LOG2](e, x)}")),
          math.TAN: lambda e, x: e.assign(f"fdiv {e.flags}float {_FAST[math.SIN](e, x)}, {_FAST[math.COS](e, x)}")}


def is_approximated(op: ir.Op, t: Type, options: Options) -> bool:
    """Whether a hardware approximation replaces `op`: under fastmath (or its flag afn), for float32."""
    fast = (options.fastmath is True or bool(options.fastmath)
            and ("afn" in options.fastmath or "fast" in options.fastmath))
    return fast and components(t) == ("float",) and (op in _FAST or op in _FAST2)


def in_libdevice(op: ir.Op) -> bool:
    return op in _LIBDEVICE


class DeviceModule(Module):
    """The functions of one kernel. shared: bytes of static shared memory."""

    inlined = ("pyj_step",)  # it is opaque for the vectoriser's sake, which does not run here

    def __init__(self, options: Options, arch: str, libdevice: bool):
        super().__init__(options)
        self.arch = arch
        self.calls: dict = {}  # calls of functions, for messages
        self.libdevice = libdevice
        self.sites: dict[Site, int] = {}
        self.shared = 0
        self.constants: dict[tuple[bytes, int], str] = {}  # (data, alignment) -> pointer
        self.variables = 0
        self.cooperative = False

    def helper(self, name: str) -> str:
        assert name in HELPERS, name
        return super().helper(name)

    def static_shared(self, size: int, align: int) -> str:
        """Pointer to new shared memory of a block; it is not initialised."""
        self.shared = (self.shared + align - 1) // align * align + size
        return self._variable("shared", 3, f"[{size} x i8] undef", align)

    def constant_data(self, data: bytes, align: int) -> str:
        """A pointer to data in constant memory, or in global memory once the 64 KB of constant memory are used up."""
        found = self.constants.get((data, align))
        if found is None:
            text = "".join(f"\\{b:02X}" for b in data)
            space = 4 if sum(len(other) for other, _ in self.constants) + len(data) <= _MAX_CONSTANT else 1
            found = self.constants[data, align] = self._variable("constant", space, f'[{len(data)} x i8] c"{text}"',
                                                                 align)
        return found

    def dynamic_shared(self) -> str:
        """Pointer to the shared memory that the launch gives."""
        self.declarations["@pyjitc_dynamic = external addrspace(3) global [0 x i8], align 16"] = None
        return "addrspacecast (ptr addrspace(3) @pyjitc_dynamic to ptr)"

    def _variable(self, hint: str, space: int, content: str, align: int) -> str:
        self.variables += 1
        name = f"@pyjitc_{hint}_{self.variables}"
        kind = "constant" if hint == "constant" else "global"
        self.declarations[f"{name} = internal addrspace({space}) {kind} {content}, align {align}"] = None
        return f"addrspacecast (ptr addrspace({space}) {name} to ptr)"

    def text(self, target) -> str:
        if self.sites:
            self.declarations[f"@pyjitc_error = addrspace(1) global [{ERROR_BYTES // 8} x i64] zeroinitializer, align "
                              f"16"] = None
            self.bodies.append(_fail_text())
            for register, axis in _COORDINATES:
                coordinate(lambda text: self.declarations.setdefault(text), register, axis)
            self.declarations["declare void @llvm.nvvm.exit() noreturn"] = None
        if self.cooperative:
            self.bodies.append(grid_barrier_text(lambda text: self.declarations.setdefault(text)))
        return super().text(target)


_COORDINATES = tuple((register, axis) for register in ("ctaid", "tid") for axis in range(3))


def _fail_text() -> str:
    """@pyjitc_fail(site, values): the first thread that fails writes the record; all that fail end."""
    values = ", ".join(f"i64 %a{k}" for k in range(_MAX_VALUES))
    lines = [f"define internal void @pyjitc_fail(i32 %site, {values}) noinline noreturn cold nounwind {{",
             "  %pair = cmpxchg ptr addrspace(1) @pyjitc_error, i32 0, i32 %site monotonic monotonic",
             "  %first = extractvalue {i32, i1} %pair, 1", "  br i1 %first, label %write, label %end", "write:"]
    for k, (register, axis) in enumerate(_COORDINATES):
        name = coordinate(lambda text: None, register, axis)
        lines += [f"  %c{k} = call i32 @{name}()",
                  f"  %p{k} = getelementptr i32, ptr addrspace(1) @pyjitc_error, i64 {k + 1}",
                  f"  store i32 %c{k}, ptr addrspace(1) %p{k}"]
    for k in range(_MAX_VALUES):
        lines += [f"  %q{k} = getelementptr i64, ptr addrspace(1) @pyjitc_error, i64 {k + 4}",
                  f"  store i64 %a{k}, ptr addrspace(1) %q{k}"]
    return "\n".join([*lines, "  br label %end", "end:", "  call void @llvm.nvvm.exit()", "  unreachable", "}"])


class _DeviceEmitter(CheckingEmitter):
    """Emits one device function."""

    indefinite = False

    def hidden(self, value: str) -> str:
        return value

    def attributes(self) -> str:
        stays = self.fn.flags.noinline or self.fn.flags.llvm_inline == "never"
        return f"nounwind convergent {'noinline' if stays else 'alwaysinline'}"

    def instruction(self, inst: ir.Inst) -> None:
        self.inst = inst
        if inst.op is CHECK_INDEX and not self.module.options.debug:  # the meaning of negative indices remains
            if inst.attrs.get("nonnegative"):
                self.values[inst.result] = self.values[inst.args[0]]
                return
            inst.attrs["unchecked"] = True
        elif inst.op is FIT and not self.module.options.debug:
            inst.op, inst.attrs = CAST, {"type": inst.result.type}
        elif inst.op is math.MULADD:  # all GPUs have a fused instruction
            inst.op = math.FMA
        lower = LOWERINGS.get(inst.op)
        if lower is None and inst.op in _LIBDEVICE or inst.op is math.SQRT:
            lower = self.elementary(inst)
        if lower is None:
            super().instruction(inst)
            return
        values = lower(self, inst, *[self.values[a] for a in inst.args])
        if inst.result is not None:
            self.values[inst.result] = values or []

    def elementary(self, inst: ir.Inst):
        """The lowering of an elementary function that is still an operation: an approximation, or a function of
        libdevice."""
        if is_approximated(inst.op, inst.args[0].type, self.module.options):
            fast = _FAST.get(inst.op) or _FAST2[inst.op]
            return lambda e, inst, *operands: [fast(e, *(x[0] for x in operands))]
        if inst.op is math.SQRT:
            return None
        if not self.module.libdevice:
            raise self.unsupported(f"{inst.op.name} of {inst.args[0].type}", "compute in float32 or float64")
        return _libdevice_call("__nv_" + _LIBDEVICE[inst.op])

    def const(self, inst):
        t = inst.result.type
        if t is Str or t is Bytes or t is Object:  # a use of it was refused, or it is the message of an exception
            self.values[inst.result] = ["null"]
        else:
            super().const(inst)

    def check(self, text: str) -> None:
        """Refuse a call of a function that a GPU does not have."""
        called = _CALLED.match(text)
        if called and not _AVAILABLE.match(called[1]):
            raise self.unsupported(f"the function {called[1]}")

    def unsupported(self, what: str, hint: str = "") -> UnsupportedError:
        fn, inst = in_program(self.fn, self.inst, self.module.calls)
        loc = inst.loc
        return UnsupportedError(Diagnostic(f"a GPU has no code for {what}", fn.filename, loc.line or fn.firstlineno,
                                           loc.end_line, loc.col, loc.end_col, fn.qualname, hint=hint))

    def object(self, value) -> str:
        raise self.unsupported("Python objects", "pass numbers, arrays and tuples")

    def external(self, name: str) -> str:
        raise self.unsupported(f"{name} of the Python runtime")

    def box(self, t, values, inst):
        raise self.unsupported("Python objects", "pass numbers, arrays and tuples")

    def python_call(self, inst, callee, args, kwnames):
        raise self.unsupported("calls of Python objects")

    def lookup(self, table, t: str, index_type: str, index: str) -> str:
        data = b"".join(struct.pack("<d" if t == "double" else "<f", x) for x in table)
        low = self.assign(f"and {index_type} {index}, {len(table) - 1}")
        where = self.assign(f"getelementptr {t}, ptr {self.module.constant_data(data, 8)}, {index_type} {low}")
        return self.assign(f"load {t}, ptr {where}")

    def constants(self, t: str, values) -> None:
        return None

    # -- failure

    def fail_unless(self, condition: str, fail) -> None:
        if self.module.options.debug:
            super().fail_unless(condition, fail)

    def check_status(self, status: str, inst) -> None:
        """Nothing to check: a function that failed does not return."""

    def check_null(self, pointer: str, inst) -> None:
        raise self.unsupported("allocating memory")

    def _format_error(self, inst, cls, message, args):
        name = cls if isinstance(cls, str) else cls.__name__
        kinds = tuple(a.partition(" ")[0] for a in args[:_MAX_VALUES])
        site = Site(name, message, kinds, self.fn.filename, inst.loc.line or self.fn.firstlineno, self.fn.qualname)
        number = self.module.sites.setdefault(site, len(self.module.sites) + 1)
        words = []
        for kind, arg in zip(kinds, args):
            value = arg.partition(" ")[2]
            words.append(f"i64 {value if kind == 'i64' else self.assign(f'sext {kind} {value} to i64')}")
        words += ["i64 0"] * (_MAX_VALUES - len(words))
        self.line(f"call void @pyjitc_fail(i32 {number}, {', '.join(words)}) cold")
        self.line("unreachable")


def _libdevice_call(name: str):
    def lower(e, inst, *operands):
        t = e.scalar(inst.args[0].type)
        wide = "float" if t == "half" else t
        symbol = name if wide == "double" else name + "f"
        values = [x[0] if wide == t else e.assign(f"fpext {t} {x[0]} to {wide}") for x in operands]
        e.declare(f"declare {wide} @{symbol}({', '.join([wide] * len(values))}) nounwind willreturn memory(none)")
        result = e.assign(f"call {wide} @{symbol}({', '.join(f'{wide} {v}' for v in values)})")
        return [result if wide == t else e.assign(f"fptrunc {wide} {result} to {t}")]

    return lower


# ---------------------------------------------------------------- the interface


def kernel_text(functions: list[ir.Function], target: Target, options: Options, bounds: Bounds):
    """(LLVM text, symbol, LLVM types of the parameters, the DeviceModule) of a kernel; the entry of `functions`
    first."""
    entry = functions[0]
    module = DeviceModule(options, target.cpu, bounds.libdevice)
    module.calls = calls_in(functions)
    inlining.decide(functions, _ANY, _INLINED, _ANY)
    for fn in functions:
        module.bodies.append(_DeviceEmitter(module, fn).run())
    name = ("".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in entry.qualname.rpartition(".")[2])
            or "kernel")
    types = [c for p in entry.params for _, c in parameters(p.type)]
    e = _DeviceEmitter(module, entry)
    given = [f"%p{k}" for k in range(len(types))]
    left = list(given)
    args = [f"{c} {v}" for p in entry.params
            for c, v in zip(components(p.type), _rebuild(e, p.type, left), strict=True)]
    limits = (("maxntid", bounds.threads), ("minctasm", bounds.blocks), ("maxnreg", bounds.registers))
    notes = [f'"nvvm.{name}"="{limit}"' for name, limit in limits if limit]
    body = [f"define ptx_kernel void @{name}({', '.join(f'{c} {v}' for c, v in zip(types, given))}) convergent "
            f"nounwind {' '.join(notes)} {{",
            *e.lines, f"  call i32 {module.symbol(entry)}({', '.join(args)})", "  ret void", "}"]
    module.bodies.append("\n".join(body))
    head = f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n'
    return head + module.text(target), name, tuple(types), module


def compile_kernel(functions: list[ir.Function], target: Target, options: Options = Options(),
                   bounds: Bounds = Bounds(), library: bytes | None = None) -> Kernel:
    """The PTX of a kernel. library: the bitcode of libdevice, for the functions that the kernel uses."""
    with timed("emit"):
        text, name, types, module = kernel_text(functions, target, options, bounds)
    dump("llvm", functions[0].qualname, lambda: text)
    with timed("llvm"):
        ptx = ptxtext.shorten(link.to_assembly(text, target, 3, library if "@__nv_" in text else None))
    dump("asm", functions[0].qualname, lambda: ptx)
    return Kernel(ptx, name, target.cpu, types, tuple(module.sites), module.shared, bounds, module.cooperative)
