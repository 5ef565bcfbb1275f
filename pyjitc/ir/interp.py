"""A reference interpreter of typed IR: it runs a module on Python values. Tests compare it with CPython and native
code.

Scalars are Python's and NumPy's own, arrays are NumPy arrays, composite values are tuples of their parts (but ranges
and slices themselves), a union is a value with its member type (`Tagged`), cells and iterators are boxes. Reference
counts and polls do nothing. Operations are computed by `Op.eval`; those without it (control, memory, aggregates) are
methods here, called by name. Operations of kernels are in interp_kernel.py.
"""
from __future__ import annotations

import warnings
from types import GeneratorType
from typing import Any, Literal, NamedTuple, Sequence

import numpy as np

from ..types import kinds as k
from ..types.lattice import dtype_of
from .core import RAISES, TERMINATOR, Edge, Function, Inst

__all__ = ["address", "place", "run", "StepLimit", "Tagged", "Wait"]


class StepLimit(BaseException):
    """Raised where the program runs for more instructions than allowed."""


class Tagged(NamedTuple):
    """A value of union type: its member type, and the value."""

    type: k.Type
    value: Any


class Wait:
    """The item that a thread of a kernel yields when it waits at the instruction `inst`, with these operands. At an
    instruction of a warp it waits for the lanes, and continues with `value` as the result. Other instructions wait for
    the block or the grid, or only let other threads run."""

    __slots__ = ("inst", "args", "lanes", "turn", "value")

    def __init__(self, inst: Inst, args, lanes: bool = False, turn: bool = False, value=None):
        self.inst, self.args, self.lanes, self.turn, self.value = inst, args, lanes, turn, value


class _Box:
    """The heap box of a cell or an iterator."""

    __slots__ = ("content",)

    def __init__(self, content):
        self.content = content


def run(functions: list[Function], args, limit: int = 1_000_000):
    """Call functions[0] with Python values. Exceptions of the program are raised; StepLimit after `limit`
    instructions."""
    entry = functions[0]
    given = [enter(x, p.type) for x, p in zip(args, entry.params, strict=True)]
    return leave(_Machine(limit).call(entry, given), entry.result)


# ---------------------------------------------------------------- values


def _scalar(t: k.Type):
    """NumPy's class for a scalar type."""
    return dtype_of(t).type


def fits(value, t: k.Type) -> bool:
    """Whether a Python value may be passed as type `t`."""
    if isinstance(t, k.Composite):
        if t.python_class is None or type(value) is not t.python_class:
            return t.python_class is None
        parts = t.open(value)
        return len(parts) == len(t.parts) and all(map(fits, parts, t.parts))
    if isinstance(t, k.Array):
        if not isinstance(value, np.ndarray) or value.ndim != t.ndim or value.dtype != dtype_of(t.dtype):
            return False
        return (t.layout == "A" or value.flags.c_contiguous and t.layout == "C" or value.flags.f_contiguous
                and t.layout == "F")
    if isinstance(t, k.Exception_):
        return isinstance(value, t.cls)
    if isinstance(t, k.Singleton):
        return value is t.value
    return t.python_class is None or type(value) is t.python_class and (
        not k.is_time(t) or value.dtype == dtype_of(t))


def enter(value, t: k.Type):
    """The interpreter's form of a Python value of type `t`."""
    if isinstance(t, k.Union):
        for member in t.members:
            if fits(value, member):
                return Tagged(member, enter(value, member))
        raise TypeError(f"{value!r} is no {t}")
    if k.is_scalar(t):
        return t.python_class(value)
    if isinstance(t, k.Composite):
        return _composed(t, map(enter, t.open(value), t.parts))
    return value


def leave(value, t: k.Type):
    """The Python value for the caller."""
    if isinstance(t, k.Union):
        return leave(value.value, value.type)
    if isinstance(t, k.Dual):
        wide, narrow = value
        return enter(wide if k.is_complex(t.narrow) else wide.real, t.narrow) if narrow else leave(wide, t.wide)
    if isinstance(t, k.Composite):
        return t.build(map(leave, parts_of(value, t), t.parts))
    return value


def _composed(t: k.Composite, parts):
    """A composite value: tuples, ranges and slices as Python objects; others as tuples of their parts."""
    return t.build(parts) if type(t) in (k.Tuple, k.RangeType, k.Slice) else tuple(parts)


def parts_of(value, t: k.Composite) -> tuple:
    return value if isinstance(value, tuple) else t.open(value)


def _convert(value, source: Any, target: Any):
    """The value after RETYPE, which changes only the type, or after UNION_CAST, which makes it a value of another
    union, or of a type with another union in it."""
    if isinstance(target, k.Union):
        value, source = (value.value, value.type) if isinstance(source, k.Union) else (value, source)
        member = k.member_for(target, source)
        assert member is not None
        return Tagged(member, _convert(value, source, member))
    if isinstance(target, k.Composite):
        return _composed(target, map(_convert, parts_of(value, source), source.parts, target.parts))
    if k.is_number(target) and source is not target:
        return enter(value, target)
    return value


def place(inst: Inst, a: np.ndarray, indices) -> tuple:
    """The indices of the element that a load or store accesses."""
    axis = inst.attrs.get("walk")
    if axis is not None:
        *first, offset = indices
        if a.strides[axis]:  # otherwise all elements along the axis are one
            first[axis] += offset // a.strides[axis]
        indices = first
    return tuple(indices)


def _undefined(t: k.Type):
    """The value of an UNDEF, which no computation uses: zero, where the type has one."""
    if k.is_number(t):
        return enter(0, t)
    if isinstance(t, k.Composite):
        return tuple(map(_undefined, t.parts))
    return Tagged(t.members[0], _undefined(t.members[0])) if isinstance(t, k.Union) else None


class _Window:
    """A view of the memory of another array with a new shape. The NumPy array made of it keeps `owner` alive."""

    def __init__(self, owner, address, dtype, shape, strides, writable):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, not writable), "typestr": np.dtype(dtype).str,
                                    "shape": tuple(shape), "strides": tuple(strides)}


def address(a: np.ndarray, indices) -> int:
    """The address of an element."""
    return a.__array_interface__["data"][0] + sum(int(i) * stride for i, stride in zip(indices, a.strides))


def _element(inst: Inst, a: np.ndarray, indices) -> tuple:
    """(an array, the index) of the element that a load or store accesses. In loops over whole arrays (passes/nests.py)
    the index may be below 0, where elements are in the opposite order, or beyond the end of a row, where all rows are
    one. Raises IndexError outside of the memory of the array."""
    at = place(inst, a, indices)
    if all(0 <= i < n for i, n in zip(at, a.shape)):
        return a, at
    whole: Any = a
    while isinstance(base := whole.owner if isinstance(whole, _Window) else whole.base, (np.ndarray, _Window)):
        whole = base
    low, high = np.lib.array_utils.byte_bounds(whole)
    for at in (at, tuple([i + n if i < 0 else i for i, n in zip(at, a.shape)])):  # the program may count from the end
        first = address(a, at)
        if low <= first <= high - a.itemsize:
            return np.asarray(_Window(a, first, a.dtype, (1,), (a.itemsize,), a.flags.writeable)), 0
    raise IndexError(f"element {at} of an array of shape {a.shape} is outside of its memory")


class _Nest(NamedTuple):
    """A running loop nest: its tree of element functions, and the operands of that tree."""

    tree: Any
    operands: Sequence


# ---------------------------------------------------------------- execution


class _Machine:
    def __init__(self, limit: int):
        self.left = limit
        self.pending: BaseException | None = None  # Python's error indicator
        self.handled: BaseException | None = None  # sys.exc_info()
        self.nests: list[_Nest] = []  # the running ones, the innermost last

    def call(self, fn: Function, args):
        """Run `fn`, in which no thread waits for others, and return its value."""
        try:
            wait = next(self.steps(fn, args))
        except StopIteration as end:
            return end.value
        raise AssertionError(f"{wait.inst.op.name} outside of a kernel")

    def steps(self, fn: Function, args):
        """A generator that runs `fn`: yields a Wait where it waits for others, and is sent its result."""
        values = dict(zip(fn.params, args, strict=True))
        block = fn.entry
        while True:
            for inst in block.insts:
                self.left -= 1
                if self.left < 0:
                    raise StepLimit
                try:
                    edge = self.step(inst, values)
                    if isinstance(edge, Wait):
                        values[inst.result] = yield edge
                        edge = None
                    elif isinstance(edge, GeneratorType):
                        values[inst.result] = yield from edge
                        edge = None
                except Exception as error:
                    if not inst.op.effects & (RAISES | TERMINATOR):
                        raise AssertionError(f"{inst.op.name} raised {error!r} in {fn.name}") from error
                    if error.__context__ is None and error is not self.handled:
                        error.__context__ = self.handled
                    if inst.unwind is None:
                        raise
                    self.pending = error
                    edge = inst.unwind
                if edge is not None:
                    break
            if not isinstance(edge, Edge):
                return edge[0]
            arrived = [values[v] for v in edge.args]
            block = edge.block
            values.update(zip(block.params, arrived))

    def step(self, inst: Inst, values):
        """Run one instruction: returns the edge to take, a list with the returned value, or None to continue."""
        args = [values[v] for v in inst.args]
        special = getattr(self, "do_" + inst.op.name, None)
        if special is not None:
            result = special(inst, *args)
        elif inst.op.eval is None:
            raise AssertionError(f"operation {inst.op.name} has no meaning here")
        elif inst.op.eval_attrs:
            attrs = inst.attrs if inst.attrs.keys() <= inst.op.attrs else {key: x for key,
                x in inst.attrs.items() if key in inst.op.attrs}
            result = inst.op.eval(*args, **attrs)
        else:
            result = inst.op.eval(*args)
        if inst.op.effects & TERMINATOR or type(result) is Wait or type(result) is GeneratorType:
            return result
        if inst.result is not None:
            values[inst.result] = result
        return None

    # -- control

    def do_nest(self, inst, *args):
        count = inst.attrs["count"]
        # a nest is recognised by the instruction that makes its operand
        if "instead" in inst.attrs and inst.op.name == "nest_into":
            return self.call(inst.attrs["instead"], [*args[1:3], args[-1]])
        self.nests.append(_Nest(inst.attrs["tree"], args[count:]))
        try:
            return self.call(inst.attrs["template"], args[:count])
        finally:
            self.nests.pop()

    do_nest_into = do_nest

    def do_element(self, inst, *index):
        tree, operands = self.nests[-1]

        def value(node):
            parts = getattr(node, "parts", None)
            if parts is not None:
                return self.call(node.kernel, list(map(value, parts)))
            x = operands[node.index]
            if not isinstance(x, np.ndarray):
                return x
            own = index[len(index) - x.ndim:]
            return x[tuple(0 if n == 1 else i for i, n in zip(own, x.shape))]

        return enter(value(tree), inst.result.type)

    do_element_unit = do_element_stretched = do_element

    def do_put(self, inst, target, fresh, overlapping, *rest):
        (fresh if overlapping else target)[rest[:-1]] = rest[-1]

    do_put_unit = do_put

    def do_unit(self, inst, *shape):
        return True

    def do_repeated(self, inst):
        return False

    def do_flat(self, inst, *shape):
        return False

    do_stretched = do_flat

    def do_is_array(self, inst, *index):
        return self.row(index, inst.attrs["type"], inst.attrs["unit"]) is not None

    def do_row(self, inst, *index):
        return self.row(index, inst.attrs["type"], inst.attrs["unit"])

    def row(self, index, t, unit):
        """The elements of a row from an index on, where the tree is an array; else None. unit: they must follow each
        other."""
        tree, operands = self.nests[-1]
        x = None if hasattr(tree, "parts") else operands[tree.index]
        if (not isinstance(x, np.ndarray) or not x.ndim or x.dtype != dtype_of(t) or x.shape[-1] == 1
                or unit and x.strides[-1] != x.itemsize):
            return None
        *own, first = index[len(index) - x.ndim:]
        return x[tuple(0 if n == 1 else i for i, n in zip(own, x.shape))][first:]

    def do_save(self, inst, target):
        return None

    def do_overlaps(self, inst, target):
        return any(isinstance(x, np.ndarray) and np.may_share_memory(x, target) for x in self.nests[-1].operands)

    def do_const(self, inst):
        return enter(inst.attrs["value"], inst.result.type)

    def do_jump(self, inst):
        return inst.targets[0]

    def do_branch(self, inst, condition):
        return inst.targets[0 if condition else 1]

    def do_switch(self, inst, x):
        cases = inst.attrs["cases"]
        return inst.targets[cases.index(x) + 1 if x in cases else 0]

    def do_return(self, inst, value=None):
        return [value]

    def do_unreachable(self, inst):
        raise AssertionError("unreachable code was reached")

    def do_invoke(self, inst, *args):
        if "chunks" in inst.attrs:
            for chunk in range(args[0]):
                self.call(inst.attrs["callee"], (chunk, *args[1:]))
            return None
        return self.call(inst.attrs["callee"], args)

    def do_independent(self, inst, n):
        return n

    def do_get_thread_id(self, inst):
        return 0

    def do_get_num_threads(self, inst):
        return 1

    def do_set_num_threads(self, inst, n):
        return None

    def do_get_chunk_size(self, inst):
        return 0

    def do_set_chunk_size(self, inst, n):
        return 0

    # -- exceptions

    def do_throw(self, inst, *operands):
        message = inst.attrs["message"]
        raise inst.attrs["cls"](message % operands if operands else message)

    def do_warn(self, inst):
        warnings.warn(inst.attrs["message"], inst.attrs["cls"], stacklevel=2)

    def do_nan_check(self, inst, result, *operands):
        if result != result and all(x == x for x in operands):
            raise FloatingPointError(f"invalid value encountered in {inst.attrs['what']}")

    def do_exc_new(self, inst, *args):
        return inst.op.eval(*(leave(x, v.type) for x, v in zip(args, inst.args)), **inst.attrs)

    def do_exc_throw(self, inst, exc, *cause):
        if cause:
            exc.__cause__ = cause[0]
        raise exc

    def do_reraise(self, inst, *exc):
        error = exc[0] if exc else self.handled
        assert error is not None
        raise error

    def do_exc_fetch(self, inst):
        return self.pending

    def do_exc_push(self, inst, exc):
        previous, self.handled = self.handled, exc
        return previous

    def do_exc_pop(self, inst, previous):
        self.handled = previous

    # -- Python objects

    def do_py_box(self, inst, x):
        return leave(x, inst.args[0].type)

    def do_py_unbox(self, inst, x):
        return enter(x, inst.attrs["type"])

    # -- aggregates

    def do_tuple_at(self, inst, x, i):
        element = inst.args[0].type.elements[i]
        union = isinstance(inst.result.type, k.Union) and not isinstance(element, k.Union)
        return Tagged(element, x[i]) if union else x[i]

    def do_struct_make(self, inst, *members):
        return members

    do_pack = do_struct_make

    def do_struct_get(self, inst, x):
        return x[inst.args[0].type.place(inst.attrs["field"])]

    do_dual_make = do_function_make = do_method_make = do_struct_make

    def do_dual_wide(self, inst, x):
        return x[0]

    def do_dual_is_narrow(self, inst, x):
        return x[1]

    def do_union_make(self, inst, x):
        return Tagged(inst.args[0].type, x)

    def do_union_is(self, inst, x):
        return x.type is inst.attrs["type"]

    def do_union_get(self, inst, x):
        return x.value if x.type is inst.attrs["type"] else _undefined(inst.attrs["type"])

    def do_union_cast(self, inst, x):
        return _convert(x, inst.args[0].type, inst.attrs["type"])

    def do_capture_get(self, inst, function):
        return function[inst.attrs["index"]]

    def do_method_self(self, inst, method):
        return method[0]

    def do_retype(self, inst, x):
        return _convert(x, inst.args[0].type, inst.attrs["type"])

    def do_undef(self, inst):
        return _undefined(inst.attrs["type"])

    # -- memory

    def do_array_load(self, inst, a, *indices):
        found, at = _element(inst, a, indices)
        return found[at]

    def do_array_store(self, inst, a, *rest):
        found, at = _element(inst, a, rest[:-1])
        found[at] = rest[-1]

    def do_row_copy(self, inst, a, b, *rest):
        row = (*rest[:-1], slice(rest[-1]))
        a[row] = b[row]

    def do_hidden(self, inst, x):
        return x

    def do_array_copy(self, inst, wanted, a):
        return a.copy() if wanted else np.empty([0] * a.ndim, a.dtype)

    def do_sum_eights(self, inst, a, n):
        lanes = a[:n].reshape(-1, 8)
        sums = lanes[0].copy()
        for more in lanes[1:]:
            sums += more
        while sums.size > 1:
            sums = sums[::2] + sums[1::2]
        return sums[0]

    def do_dot(self, inst, a, b):
        return a.dtype.type(np.dot(a, b))

    def do_array_dim(self, inst, a):
        return a.shape[inst.attrs["axis"]]

    def do_array_stride(self, inst, a):
        return a.strides[inst.attrs["axis"]]

    def do_array_data(self, inst, a):
        return a.__array_interface__["data"][0]

    def do_array_view(self, inst, a, offset, *rest):
        t = inst.attrs["type"]
        return np.asarray(_Window(a, a.__array_interface__["data"][0] + offset, _scalar(t.dtype), rest[:t.ndim],
                                  rest[t.ndim:], t.writable))

    def do_array_new(self, inst, *shape):
        t = inst.attrs["type"]
        order: Literal["F", "C"] = "F" if t.layout == "F" else "C"
        if inst.attrs.get("zero"):
            return np.zeros(shape, _scalar(t.dtype), order)
        # a conspicuous value, so that reads of uninitialised elements show
        return np.full(shape, 77, _scalar(t.dtype), order)

    do_frame_array = do_array_new

    def do_array_same(self, inst, x, y):
        return x is y

    def do_cell_new(self, inst, x):
        return _Box(x)

    do_iterator_new = do_cell_new

    def do_cell_load(self, inst, box):
        return box.content

    def do_cell_store(self, inst, box, x):
        box.content = x

    def do_retain(self, inst, x):
        pass

    do_release = do_retain

    def do_poll(self, inst, *cost):
        pass
