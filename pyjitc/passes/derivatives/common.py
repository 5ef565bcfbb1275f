"""The parts that forward and reverse mode share: arguments, results, and products with partial derivatives."""
from __future__ import annotations

from ...ir.cfg import reverse_postorder
from ...ir.core import SINGULAR, Function, Inst, Value
from ...ops import arith as a
from ...ops import control as c
from ...ops import structure as s
from ...types import kinds as k
from ...types.tangents import is_varying, varies
from ..rewrite import resolve, substitute
from .activity import Classes
from .builder import Builder
from .targets import paths_of_arrays, written_parameters, written_places

__all__ = ["check_disjoint", "copied", "copied_like", "entry_of", "guarded_factors", "guarded_term", "own_type",
           "plain_value", "replace_arguments", "tuples_beside", "with_copies", "zeros"]


def guarded_term(b: Builder, inst, d: Value, g: Value) -> Value:
    """d * g, and 0 where g is 0, although d may be infinite or NaN there."""
    return b.guarded_product(d, g) if inst.op.traits & SINGULAR else b.fmul(d, g)


def guarded_factors(inst: Inst) -> list[Value]:
    """[x, y] where an instruction with the attribute `guard` chooses between 0 and the product x * y of floats, whose
    derivative is guarded as well:
        y == 0 ? 0 : x * y          has the change (y_ == 0 ? 0 : x * y_) + (y == 0 ? 0 : x_ * y)
    Empty for products of other forms, such as complex ones: the derivative is that of the third operand."""
    test, _, product = (x.inst for x in inst.args)
    if test is None or product is None or test.op is not a.FEQ or product.op is not a.FMUL:
        return []
    y = test.args[0]
    return [product.args[0], y] if y is product.args[1] else [product.args[1], y] if y is product.args[0] else []


def plain_value(b: Builder, y: Value) -> Value:
    """Convert a result to the form that callers get: a dual becomes a number of its wider type."""
    if type(y.type) is k.Dual:
        return b.op(s.DUAL_WIDE, y)
    if type(y.type) is k.Tuple and k.any_part(y.type, lambda t: type(t) is k.Dual):
        parts = [plain_value(b, b.op(s.TUPLE_GET, y, index=n)) for n in range(len(y.type.elements))]
        return b.op(s.TUPLE_MAKE, *parts, cls=y.type.cls)
    return y


def copied(b: Builder, helpers, x: Value) -> Value:
    """A copy of an array argument: in Fortran order where its type says so, else in C order."""
    t = x.type
    found = b.call(helpers(_COPIED[t.layout], (t,)), x)
    return found if found.type is t else b.op(s.RETYPE, found, type=t)


_COPIED = {"A": "copied", "C": "copied_flat", "F": "copied_by_columns"}  # layout -> the function that copies


def with_copies(b: Builder, helpers, x: Value) -> Value:
    """An argument with copies of its arrays: a copy of an array, or a tuple with copies of the arrays in it."""
    if type(x.type) is k.Array:
        return copied(b, helpers, x)
    if type(x.type) is not k.Tuple:
        return x
    parts = [with_copies(b, helpers, b.op(s.TUPLE_GET, x, index=n)) for n in range(len(x.type.elements))]
    return b.op(s.TUPLE_MAKE, *parts, cls=x.type.cls)


def put_in_place(fn: Function, copies: dict[Value, Value]) -> None:
    """Let all other instructions use copies of arrays, which take their place."""
    given: dict[Inst, list[Value]] = {}
    for x in copies.values():
        made = x.inst if x.inst is not None and x.inst.op is c.INVOKE else x.inst and x.inst.args[0].inst
        assert made is not None
        given[made] = list(made.args)
    substitute(fn.blocks, copies)
    for inst, args in given.items():
        inst.args = args


def own_type(t: k.Array) -> k.Array:
    """The type of the array of tangents or adjoints of an array of type t: it is writable."""
    return k.Array(t.dtype, t.ndim, t.layout)


def zeros(b: Builder, helpers, x: Value) -> Value:
    """An array of zeros with the shape of x: in Fortran order where its type says so, else in C order."""
    t = x.type
    found = b.call(helpers("zeros_by_columns" if t.layout == "F" else "zeros_like", (t,)), x)
    return found if found.type is own_type(t) else b.op(s.RETYPE, found, type=own_type(t))


def copied_like(b: Builder, helpers, x: Value, given: Value) -> Value:
    """A copy of `given`, a tangent or cotangent of x: in Fortran order where the type of x says so, else in C order."""
    t = x.type
    name = "copied_like_by_columns" if t.layout == "F" else "copied_like"
    found = b.call(helpers(name, (t, given.type)), x, given)
    return found if found.type is own_type(t) else b.op(s.RETYPE, found, type=own_type(t))


def entry_of(b: Builder, fn: Function, wrt, seeds, helpers) -> list[tuple[Value, Value]]:
    """(part of an argument, part of its seed) for all floats and arrays of floats among the arguments with respect to
    which the function is differentiated.

    Those arrays are copied, so that the caller's are not changed, and their seeds are copied into the same layout,
    except for arrays in C order that are only read. The instructions that unpack tuples and copy arrays are added to
    `b`, for the start of the function."""
    leaves: list[tuple[Value, Value]] = []
    replace: dict[Value, Value] = {}
    read, written = _only_read(fn), written_parameters(fn)

    def open_up(x, seed, keep):
        t = x.type
        if type(t) is k.Tuple:
            parts = []
            for n, part in enumerate(t.elements):
                taken = b.op(s.TUPLE_GET, x, index=n)
                if varies(part):
                    parts.append(open_up(taken, b.op(s.TUPLE_GET, seed, index=n), keep))
                else:
                    parts.append(taken if keep else with_copies(b, helpers, taken))
            return b.op(s.TUPLE_MAKE, *parts, cls=t.cls)
        if x in read and t.layout == "C" and seed.type.layout == "C":
            b.call(helpers("check_shape", (t, seed.type)), x, seed)
            seed = seed if seed.type is own_type(t) else b.op(s.RETYPE, seed, type=own_type(t))
        elif type(t) is k.Array and is_varying(t):
            x = copied(b, helpers, x)
            seed = copied_like(b, helpers, x, seed)
        if is_varying(t):
            leaves.append((x, seed))
        return x

    for p, seed in zip(wrt, seeds):
        new = open_up(p, seed, p not in written)
        if new is not p:
            replace[p] = new
    check_disjoint(b, fn, helpers)
    for p in fn.params:
        if p in written and replace.get(p, p) is p:
            replace[p] = with_copies(b, helpers, p)
    replace_arguments(fn, replace)
    return leaves


def _only_read(fn: Function) -> set[Value]:
    """The parameters that are arrays of numbers that vary, are not written into, and are no part of what the function
    returns or passes to other functions of the program."""
    classes = Classes(fn)
    lost = {classes.of(p) for p in written_parameters(fn)}
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op is c.RETURN or inst.op is s.TUPLE_MAKE or inst.op is c.INVOKE and not (
                    inst.attrs["callee"].library):
                lost.update(map(classes.of, inst.args))
    return {p for p in fn.params if type(p.type) is k.Array and is_varying(p.type) and classes.of(p) not in lost}


def check_disjoint(b: Builder, fn: Function, helpers) -> list[Value]:
    """Add checks that raise where an array argument, or an array in a tuple, that is written into shares memory with
    another one: the derivative works on copies, which do not. Returns the items of tuples that are taken for it."""
    written = written_places(fn)
    taken: list[Value] = []
    if not written:
        return taken

    def item(x, path):
        for n in path:
            x = b.op(s.TUPLE_GET, x, index=n)
            taken.append(x)
        return x

    places = [(p, path) for p in fn.params for path in paths_of_arrays(p.type)]
    for n, one in enumerate(places):
        for other in places[:n]:
            if one in written or other in written:
                x, y = item(*one), item(*other)
                b.call(helpers("check_disjoint", (x.type, y.type)), x, y)
    return taken


def replace_arguments(fn: Function, replace: dict[Value, Value]) -> None:
    """Replace arguments by other values. An item that is taken from a tuple which is made in this function is replaced
    by that item."""
    if not replace:
        return
    replace = dict(replace)
    for block in reverse_postorder(fn):
        kept = []
        for inst in block.insts:
            inst.args = [resolve(replace, v) for v in inst.args]
            made = inst.args[0].inst if inst.op is s.TUPLE_GET else None
            if made is not None and made.op is s.TUPLE_MAKE:
                replace[inst.result] = made.args[inst.attrs["index"]]
            else:
                kept.append(inst)
        block.insts = kept
    substitute(fn.blocks, replace)


def tuples_beside(fn: Function) -> list[Inst]:
    """Make the tuple that `tuple_at` indexes directly before that instruction, so that its items are read there.
    Returns the instructions that were added."""
    added: list[Inst] = []
    for block in fn.blocks:
        for inst in [inst for inst in block.insts if inst.op is s.TUPLE_AT]:
            made = inst.args[0].inst
            if made is not None and made.op is s.TUPLE_MAKE:
                b = Builder([], inst)
                inst.args[0] = b.op(s.TUPLE_MAKE, *made.args, cls=None)
                at = block.insts.index(inst)
                block.insts[at:at] = b.insts
                added += b.insts
    return added
