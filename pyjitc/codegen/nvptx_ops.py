"""Lowerings of the operations of ops/gpu.py for NVIDIA GPUs, in a table for the emitter of codegen/nvptx.py."""
from __future__ import annotations

from ..ops import gpu as g
from ..ops.arith import FDIV
from ..ops.math import POLYNOMIAL
from ..ops.memory import item_bytes
from ..types.kinds import Array
from .kernel_ops import (
    WIDTHS, as_bits, atomic, call, compare_and_swap, find_first_set, from_bits, is_signed, reverse_bits,
)

__all__ = ["LOWERINGS", "coordinate", "grid_barrier_text"]

_RANGES = {  # special register -> (lowest, one above the highest) on x, y, z
    "tid": ((0, 1024), (0, 1024), (0, 64)), "ntid": ((1, 1025), (1, 1025), (1, 65)),
    "ctaid": ((0, 2**31 - 1), (0, 65535), (0, 65535)), "nctaid": ((1, -2**31), (1, 65536), (1, 65536)),
}


def coordinate(declare, register: str, axis: int) -> str:
    """Declare the intrinsic that reads a special register, and return its name."""
    low, high = _RANGES[register][axis]
    name = f"llvm.nvvm.read.ptx.sreg.{register}.{'xyz'[axis]}"
    declare(f"declare noundef range(i32 {low}, {high}) i32 @{name}()")
    return name


def _read(register: str):
    def lower(e, inst):
        name = coordinate(e.declare, register, inst.attrs["axis"])
        return [e.assign(f"zext i32 {e.assign(f'call i32 @{name}()')} to i64")]

    return lower


def _asm(e, text: str) -> str:
    return e.assign(f'call i32 asm sideeffect "{text}", "=r"() convergent')


def _short(e, x: str) -> str:
    """A mask or lane number, a Python int, in 32 bits."""
    return e.assign(f"trunc i64 {x} to i32")


def _long(e, x: str) -> str:
    return e.assign(f"zext i32 {x} to i64")


# ---------------------------------------------------------------- barriers


def _barrier(e, inst):
    call(e, "void", "llvm.nvvm.barrier.cta.sync.aligned.all", "i32 0")


def _barrier_reduce(e, inst, p):
    how = inst.attrs["how"]
    name = f"llvm.nvvm.barrier.cta.red.{'popc' if how == 'count' else how}.aligned.all"
    if how == "count":
        return [_long(e, call(e, "i32", name, "i32 0", f"i1 {p[0]}"))]
    return [e.assign(f"zext i1 {call(e, 'i1', name, 'i32 0', f'i1 {p[0]}')} to i64")]


def _grid_barrier(e, inst):
    e.module.cooperative = True
    e.line("call void @pyjitc_grid_barrier()")


def grid_barrier_text(declare) -> str:
    """@pyjitc_grid_barrier: when the threads of a block have arrived, one of them adds to a counter: 1, or in the first
    block the number that makes the sum over all blocks 2**31. Then it waits for the highest bit to change. Afterwards
    the counter is as before, except for that bit.
    Source: grid_group::sync of CUDA's cooperative_groups.h."""
    lines = ["define internal void @pyjitc_grid_barrier() noinline convergent nounwind {", "start:"]
    names = {}
    for register, prefix in (("tid", "t"), ("ctaid", "b"), ("nctaid", "n")):
        for axis in range(3):
            names[prefix, axis] = f"%{prefix}{axis}"
            lines.append(f"  %{prefix}{axis} = call i32 @{coordinate(declare, register, axis)}()")
    barrier = "llvm.nvvm.barrier.cta.sync.aligned.all"
    declare(f"declare void @{barrier}(i32) convergent nounwind")
    declare("declare void @llvm.nvvm.membar.gl() convergent nounwind")
    declare("@pyjitc_arrived = internal addrspace(1) global i32 0, align 4")
    lines += [
        f"  call void @{barrier}(i32 0)", "  %t01 = or i32 %t0, %t1", "  %t = or i32 %t01, %t2",
        "  %one = icmp eq i32 %t, 0", "  br i1 %one, label %arrive, label %done", "arrive:",
        "  call void @llvm.nvvm.membar.gl()", "  %b01 = or i32 %b0, %b1", "  %b = or i32 %b01, %b2",
        # the first block adds 2**31 - (n - 1), where n is the number of blocks
        "  %first = icmp eq i32 %b, 0", "  %n01 = mul i32 %n0, %n1", "  %n = mul i32 %n01, %n2",
        "  %rest = sub i32 -2147483647, %n", "  %step = select i1 %first, i32 %rest, i32 1",
        "  %old = atomicrmw volatile add ptr addrspace(1) @pyjitc_arrived, i32 %step " + _ORDER, "  br label %look",
        "look:", "  %now = load volatile i32, ptr addrspace(1) @pyjitc_arrived, align 4",
        "  %changed = xor i32 %old, %now", "  %over = icmp slt i32 %changed, 0",
        "  br i1 %over, label %through, label %look", "through:", "  call void @llvm.nvvm.membar.gl()",
        "  br label %done", "done:", f"  call void @{barrier}(i32 0)", "  ret void", "}"]
    return "\n".join(lines)


def _warp_barrier(e, inst, mask):
    call(e, "void", "llvm.nvvm.bar.warp.sync", f"i32 {_short(e, mask[0])}")


def _fence(e, inst):
    call(e, "void", "llvm.nvvm.membar." + {"block": "cta", "device": "gl", "system": "sys"}[inst.attrs["scope"]])


def _nanosleep(e, inst, ns):
    call(e, "void", "llvm.nvvm.nanosleep", f"i32 {_short(e, ns[0])}")


# ---------------------------------------------------------------- memory


def _array(e, t: Array, pointer: str, shape) -> list[str]:
    strides, step = [], item_bytes(t.dtype)
    for n in shape if t.layout == "F" else reversed(shape):
        strides.append(str(step))
        step *= n
    return [pointer, "null", *map(str, shape), *(strides if t.layout == "F" else strides[::-1])]


def _shared_array(e, inst):
    t, shape = inst.attrs["type"], inst.attrs["shape"]
    return _array(e, t, e.module.static_shared(max(g.shape_bytes(t, shape), 1), g.ALIGNMENT), shape)


def _dynamic_shared(e, inst):
    t = inst.attrs["type"]
    item = item_bytes(t.dtype)
    size = _long(e, _asm(e, "mov.u32 $0, %dynamic_smem_size;"))
    return [e.module.dynamic_shared(), "null", e.assign(f"udiv i64 {size}, {item}"), str(item)]


def _local_array(e, inst):
    t, shape = inst.attrs["type"], inst.attrs["shape"]
    e.count += 1
    name = f"%a{e.count}"
    e.entry.append(f"  {name} = alloca [{max(g.shape_bytes(t, shape), 1)} x i8], align {g.ALIGNMENT}")
    return _array(e, t, name, shape)


def _constant_array(e, inst):
    t, shape = inst.attrs["type"], inst.attrs["shape"]
    return _array(e, t, e.module.constant_data(bytes.fromhex(inst.attrs["data"]) or b"\0", g.ALIGNMENT), shape)


# ---------------------------------------------------------------- atomics

_ORDER = 'syncscope("device") monotonic'

# ---------------------------------------------------------------- warps


def _each_word(e, t: str, x: str, function) -> str:
    """A function of 32-bit words, applied to a scalar of any width."""
    width, bits = as_bits(e, t, x)
    if width == "i64":
        low = function(e.assign(f"trunc i64 {bits} to i32"))
        high = function(e.assign(f"trunc i64 {e.assign(f'lshr i64 {bits}, 32')} to i32"))
        upper = e.assign(f"shl i64 {_long(e, high)}, 32")
        return from_bits(e, t, e.assign(f"or i64 {upper}, {_long(e, low)}"))
    if width == "i32":
        return from_bits(e, t, function(bits))
    wide = function(e.assign(f"zext {width} {bits} to i32"))
    return from_bits(e, t, e.assign(f"trunc i32 {wide} to {width}"))


def _shuffled(e, mask: str, t: str, x: str, lane: str, how: str, width: int = g.WARP_SIZE) -> str:
    clamp = (g.WARP_SIZE - width) << 8 | (0 if how == "up" else 31)
    name = f"llvm.nvvm.shfl.sync.{'bfly' if how == 'xor' else how}.i32"
    return _each_word(e, t, x,
                      lambda word: call(e, "i32", name, f"i32 {mask}", f"i32 {word}", f"i32 {lane}", f"i32 {clamp}"))


def _shuffle(e, inst, mask, value, lane):
    mask, lane = _short(e, mask[0]), _short(e, lane[0])
    return [_shuffled(e, mask, t, x, lane, inst.attrs["how"], inst.attrs.get("width", g.WARP_SIZE))
            for t, x in zip(e.components(inst.args[1].type), value)]


def _vote(e, inst, mask, p):
    name = {"all": "all", "any": "any", "eq": "uni"}[inst.attrs["how"]]
    return [call(e, "i1", f"llvm.nvvm.vote.{name}.sync", f"i32 {_short(e, mask[0])}", f"i1 {p[0]}")]


def _ballot(e, inst, mask, p):
    return [_long(e, call(e, "i32", "llvm.nvvm.vote.ballot.sync", f"i32 {_short(e, mask[0])}", f"i1 {p[0]}"))]


def _match(how: str):
    def lower(e, inst, mask, value):
        mask = _short(e, mask[0])
        found = None
        for t, x in zip(e.components(inst.args[1].type), value):
            width, bits = as_bits(e, t, x)
            if width in ("i8", "i16"):
                width, bits = "i32", e.assign(f"zext {width} {bits} to i32")
            if how == "any":
                one = call(e, "i32", f"llvm.nvvm.match.any.sync.{width}", f"i32 {mask}", f"{width} {bits}")
            else:
                pair = call(e, "{i32, i1}", f"llvm.nvvm.match.all.sync.{width}p", f"i32 {mask}", f"{width} {bits}")
                one = e.assign(f"extractvalue {{i32, i1}} {pair}, 0")
            found = one if found is None else e.assign(f"and i32 {found}, {one}")
        return [_long(e, found)]

    return lower


def _combine(e, t, kind: str, how: str, x: str, y: str) -> str:
    """One step of a reduction."""
    if kind in WIDTHS:
        if how == "add":
            return e.assign(f"fadd {e.flags}{kind} {x}, {y}")
        name = f"llvm.{how}imum.f{int(WIDTHS[kind][1:])}"
        return call(e, kind, name, f"{kind} {x}", f"{kind} {y}")
    if how in ("min", "max"):
        if kind == "i1":
            return e.assign(f"{'and' if how == 'min' else 'or'} i1 {x}, {y}")
        return call(e, kind, f"llvm.{'s' if is_signed(t) else 'u'}{how}.{kind}", f"{kind} {x}", f"{kind} {y}")
    return e.assign(f"{'or' if kind == 'i1' and how == 'add' else how} {kind} {x}, {y}")


def _warp_reduce(e, inst, mask, value):
    t, how = inst.args[1].type, inst.attrs["how"]
    kinds = e.components(t)
    short = _short(e, mask[0])
    if kinds == ("i32",) and int(e.module.arch[3:]) >= 80:
        name = f"llvm.nvvm.redux.sync.{'u' if how in ('min', 'max') and not is_signed(t) else ''}{how}"
        return [call(e, "i32", name, f"i32 {value[0]}", f"i32 {short}")]
    if mask[0] == str(g.FULL_MASK):
        values = list(value)
        for step in (16, 8, 4, 2, 1):
            values = [_combine(e, t, k, how, x, _shuffled(e, short, k, x, str(step), "xor"))
                      for k, x in zip(kinds, values)]
        return values
    return _over_lanes(e, t, kinds, how, short, value)


def _over_lanes(e, t, kinds, how: str, mask: str, value) -> list[str]:
    """The values of the lanes in the mask, combined one after the other."""
    def lane_of(left):
        return call(e, "i32", "llvm.cttz.i32", f"i32 {left}", "i1 true")

    lane = lane_of(mask)
    first = [_shuffled(e, mask, k, x, lane, "idx") for k, x in zip(kinds, value)]
    rest = e.assign(f"and i32 {mask}, {e.assign(f'sub i32 {mask}, 1')}")
    here, test, body, done = e.current, e.label("lanes"), e.label("lane"), e.label("reduced")
    e.jump(test)
    e.start(test)
    at = len(e.lines)
    names = []
    for _ in range(1 + len(kinds)):
        e.count += 1
        names.append(f"%v{e.count}")
    left, *totals = names
    e.branch(e.assign(f"icmp eq i32 {left}, 0"), done, body)
    e.start(body)
    lane = lane_of(left)
    new = [_combine(e, t, k, how, total, _shuffled(e, mask, k, x, lane, "idx"))
           for k, total, x in zip(kinds, totals, value)]
    less = e.assign(f"and i32 {left}, {e.assign(f'sub i32 {left}, 1')}")
    there = e.current
    e.jump(test)
    phis = [f"  {left} = phi i32 [ {rest}, %{here} ], [ {less}, %{there} ]"]
    phis += (f"  {total} = phi {k} [ {x}, %{here} ], [ {y}, %{there} ]"
             for k, total, x, y in zip(kinds, totals, first, new))
    e.lines[at:at] = phis
    e.start(done)
    return totals


def _active_mask(e, inst):
    return [_long(e, _asm(e, "activemask.b32 $0;"))]


# ---------------------------------------------------------------- bits


def _rsqrt(e, inst, x):
    """The instruction of single precision is right to 2 ulp, as CUDA's own rsqrtf."""
    kind = e.scalar(inst.args[0].type)
    if kind == "float":
        return [call(e, "float", "llvm.nvvm.rsqrt.approx.f", f"float {x[0]}")]
    wide = x[0] if kind == "double" else e.assign(f"fpext half {x[0]} to float")
    of = "double" if kind == "double" else "float"
    root = call(e, of, f"llvm.sqrt.f{64 if of == 'double' else 32}", f"{of} {wide}")
    found = e.assign(f"fdiv {e.flags}{of} 1.0, {root}")
    return [found if of == kind else e.assign(f"fptrunc float {found} to half")]


def _fma(e, kind, x, y, z):
    return call(e, kind, f"llvm.fma.f{ {'double': 64, 'float': 32, 'half': 16}[kind]}", f"{kind} {x}", f"{kind} {y}",
                 f"{kind} {z}")


def _polynomial(e, inst, x):
    """Horner's scheme, each step a fused multiply-add of the one before: it takes fewer registers than Estrin's, and
    other threads fill the time. It has no fast-math flags: rounding is part of a function's accuracy."""
    kind = e.scalar(inst.args[0].type)
    *rest, found = [e.constant(inst.args[0].type, c)[0] for c in inst.attrs["coefficients"]]
    for c in reversed(rest):
        found = _fma(e, kind, found, x[0], c)
    return [found]


def _reciprocal(e, inst, x):
    """The double precision instruction gives 20 bits; with its error h = 1 - x y the reciprocal is y (1 + h + h**2
    ...)."""
    kind, x = e.scalar(inst.args[0].type), x[0]
    if kind == "float":
        return [call(e, kind, "llvm.nvvm.rcp.approx.ftz.f", f"float {x}")]
    y = call(e, kind, "llvm.nvvm.rcp.approx.ftz.d", f"double {x}")
    h = _fma(e, kind, e.assign(f"fneg double {x}"), y, "1.0")
    return [_fma(e, kind, _fma(e, kind, h, h, h), y, y)]


def _quotient(e, inst, x, y):
    """x / y within 1 ulp where it is marked `normal`: a division in full is a call of 30 instructions."""
    if "normal" not in inst.attrs:
        return FDIV.lower(e, inst, x, y)
    kind, x, y = e.scalar(inst.args[0].type), x[0], y[0]
    r = _reciprocal(e, inst, [y])[0]
    q = e.assign(f"fmul {kind} {x}, {r}")
    return [_fma(e, kind, _fma(e, kind, e.assign(f"fneg {kind} {q}"), y, x), r, q)]


_PRINTED = {"float": "%.9g", "double": "%.17g", "half": "%.5g"}


def _print(e, inst, *operands):
    """print by the device's own vprintf(format, arguments), whose output the driver shows at the next synchronisation.
    Each argument takes 8 bytes."""
    form, words = "", []
    forms = inst.attrs.get("forms") or ("",) * len(operands)
    for text, value, x, said in zip(inst.attrs["texts"], operands, inst.args, forms):
        kind = e.components(x.type)[0]
        if kind == "i1":
            yes, no = (e.module.constant_data(word + b"\0", 1) for word in (b"True", b"False"))
            words.append(("ptr", e.assign(f"select i1 {value[0]}, ptr {yes}, ptr {no}")))
            spec = "%s"
        elif kind in _PRINTED:
            words.append(("double", value[0] if kind == "double" else e.assign(f"fpext {kind} {value[0]} to double")))
            spec = f"%{said}" if said else _PRINTED[kind]
        else:
            signed = getattr(x.type, "signed", True)
            words.append(("i64", value[0] if kind == "i64"
                          else e.assign(f"{'sext' if signed else 'zext'} {kind} {value[0]} to i64")))
            spec = f"%{said.rstrip('d')}ll{'d' if signed else 'u'}"
        form += text.replace("%", "%%") + spec
    form += inst.attrs["texts"][-1].replace("%", "%%")
    buffer = "null"
    if words:
        e.count += 1
        buffer = f"%a{e.count}"
        e.entry.append(f"  {buffer} = alloca [{len(words)} x i64], align 8")
    for k, (kind, value) in enumerate(words):
        e.line(f"store {kind} {value}, ptr {e.assign(f'getelementptr i64, ptr {buffer}, i64 {k}')}, align 8")
    e.assign(f"call i32 @vprintf(ptr {e.module.constant_data(form.encode() + bytes(1), 1)}, ptr {buffer})")


LOWERINGS = {
    g.THREAD_ID: _read("tid"), g.BLOCK_ID: _read("ctaid"), g.BLOCK_DIM: _read("ntid"), g.GRID_DIM: _read("nctaid"),
    g.LANE_ID: lambda e, inst: [_long(e, _lane(e))],
    g.BARRIER: _barrier, g.GRID_BARRIER: _grid_barrier, g.BARRIER_REDUCE: _barrier_reduce,
    g.WARP_BARRIER: _warp_barrier, g.FENCE: _fence, g.NANOSLEEP: _nanosleep, g.SHARED_ARRAY: _shared_array,
    g.DYNAMIC_SHARED: _dynamic_shared, g.LOCAL_ARRAY: _local_array, g.CONSTANT_ARRAY: _constant_array,
    g.ATOMIC: atomic(_ORDER), g.ATOMIC_CAS: compare_and_swap(_ORDER), g.SHUFFLE: _shuffle, g.VOTE: _vote,
    g.BALLOT: _ballot, g.MATCH_ANY: _match("any"), g.MATCH_ALL: _match("all"), g.WARP_REDUCE: _warp_reduce,
    g.ACTIVE_MASK: _active_mask, g.FFS: find_first_set, g.BREV: reverse_bits,
    g.RSQRT: _rsqrt, g.PRINT: _print, POLYNOMIAL: _polynomial, FDIV: _quotient, g.RECIPROCAL: _reciprocal,
}


def _lane(e) -> str:
    name = "llvm.nvvm.read.ptx.sreg.laneid"
    e.declare(f"declare noundef range(i32 0, 32) i32 @{name}()")
    return e.assign(f"call i32 @{name}()")
