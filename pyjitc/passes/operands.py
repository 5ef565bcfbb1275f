"""The array operands of a loop nest: their strides, their addresses, and whether they share memory.

Answers come from the instructions that define a value; where those do not decide, `Builder` adds instructions that test
it at run time.
"""
from __future__ import annotations

import numpy as np

from ..base.lazy import lazy
from ..ir.core import Value
from ..ops import arith as a
from ..ops import memory as m
from ..ops import structure as s
from ..ops.control import CONST
from ..ops.nest import BROADCAST, NEST
from ..types.kinds import Array, Bool, Float, Int, NpComplex, uint64
from ..types.lattice import dtype_of
from .rewrite import Builder

__all__ = ["Operand", "Overlap", "constant_of", "is_const", "same", "stride_key", "retyped", "stepping",
           "is_settled", "is_reversed", "step_of", "is_made_here", "stepped", "strided", "settled"]

_NO_DISTANCE = 2**63 - 1  # larger than any distance between two arrays
_MOST = np.uint64(2**64 - 1)
gpu = lazy("pyjitc.ops.gpu")  # only programs with kernels need it


def is_const(value: Value, what) -> bool:
    """Whether a value is a constant that equals `what`."""
    made = value.inst
    return made is not None and made.op is CONST and made.attrs["value"] == what


def same(x: Value, y: Value) -> bool:
    """Whether two lengths are known to be equal."""
    return x is y or length_key(x) == length_key(y)


def length_key(value: Value):
    """A key of a length, which other lengths that are known to be equal have, too."""
    made = value.inst
    if made is not None and made.op is m.ARRAY_DIM:
        array, axis = made.args[0], made.attrs["axis"]
        source = array.inst
        if source is not None and (source.op is m.ARRAY_VIEW or source.op is m.ARRAY_NEW):
            return length_key(source.args[axis + 2 * (source.op is m.ARRAY_VIEW)])
        return array, axis
    # a length of the array that is written
    if made is not None and made.op is BROADCAST and made.attrs.get("into") is not None:
        return length_key(made.args[made.attrs["ndims"][0] - 1 - made.attrs["axis"]])
    return made.attrs["value"] if made is not None and made.op is CONST else value


def constant_of(t, value):
    """The constant of a scalar type; -1 has all bits set in an unsigned one."""
    return {Int: int, Float: float, Bool: bool}[t](value) if t in (Int, Float, Bool) else \
        np.array(value).astype(dtype_of(t))[()]


class Operand:
    """An array operand inside a nest: its lengths and its strides."""

    def __init__(self, b: Builder, value: Value):
        self.value = value
        t = self.type = value.type
        self.dims = [b.int(m.ARRAY_DIM, value, axis=k) for k in range(t.ndim)]
        made = value.inst
        if made is not None and made.op is m.ARRAY_VIEW:
            self.dims = list(made.args[2:2 + t.ndim])
        elif made is not None and made.op is m.ARRAY_NEW:
            self.dims = list(made.args)
        elif made is not None and made.op is NEST and made.attrs["shape"] is not None:
            shape = made.args[made.attrs["shape"]].inst
            if shape is not None and shape.op is s.TUPLE_MAKE:
                self.dims = list(shape.args)
        elif made is not None and "shape" in made.attrs and made.op in gpu.MEMORIES:
            self.dims = [b.const(Int, n) for n in made.attrs["shape"]]


def _reach(b, array, dims):
    """How many bytes before and behind its first element the elements of an array start and end; any numbers for an
    empty array."""
    low, high = b.const(Int, 0), b.const(Int, m.item_bytes(array.type.dtype))
    zero, one = low, b.const(Int, 1)
    for axis, n in enumerate(dims):
        stride = b.int(m.ARRAY_STRIDE, array, axis=axis)
        reach = b.int(a.IMUL, b.int(a.ISUB, n, one), stride)
        # elements in the order of their addresses
        if array.type.layout == "C" or isinstance(stride_key(b, array, axis), int):
            high = b.int(a.IADD, high, reach)
            continue
        negative = b.test(a.ILT, reach, zero)
        low = b.int(a.IADD, low, b.int(s.SELECT, negative, reach, zero))
        high = b.int(a.IADD, high, b.int(s.SELECT, negative, zero, reach))
    return low, high


class Overlap:
    """The test whether one of several arrays may share memory with an array x.

    An array whose first element is `distance` bytes behind that of x shares none with it unless the distance is between
    two limits. The distance is counted from the lower limit as an unsigned number, so that one comparison with the
    upper limit is enough; of arrays with the same lengths and strides, which have the same limits, only the least of
    these numbers is compared. LLVM takes many times as long for comparisons that are joined by `and` and `or`. A single
    array that may be new is compared by addresses: from a difference of addresses LLVM would not see that a new array
    shares no memory with others.
    """

    def __init__(self, b, x, dims):
        self.b, self.x, self.dims, self.start = b, x, dims, b.int(m.ARRAY_DATA, x)
        self.groups: dict = {}  # key of lengths and strides -> [(array, its lengths, whether it may be x itself)]
        self.tests: list[Value] = []  # of arrays that begin at the address of x

    def add(self, y, lengths, apart_from_itself=False) -> None:
        """Let the test include an array y of these lengths. apart_from_itself: y counts as apart where it is x, element
        for element."""
        b, t = self.b, y.type
        equal = apart_from_itself and t.ndim == self.x.type.ndim
        if equal and start_of(b, y) is start_of(b, self.x):
            self.tests += self._differences(y, lengths)
            return
        key = (equal, m.item_bytes(t.dtype), *map(length_key, lengths), *(stride_key(b, y, k) for k in range(t.ndim)))
        self.groups.setdefault(key, []).append((y, lengths, equal))

    def _by_addresses(self, y, lengths, equal) -> Value:
        b, start = self.b, self._start(y)
        (low, high), (low2, high2) = _reach(b, self.x, self.dims), _reach(b, y, lengths)
        low, high = (b.int(a.IADD, self.start, v) for v in (low, high))
        low2, high2 = (b.int(a.IADD, start, v) for v in (low2, high2))
        meet = b.test(a.BAND, b.test(a.ILT, low, high2), b.test(a.ILT, low2, high))
        if equal:
            differ = b.any([b.test(a.INE, start, self.start), *self._differences(y, lengths)])
            meet = b.test(a.BAND, meet, differ)
        return meet

    def _by_distances(self, group) -> Value:
        b, (y, lengths, equal) = self.b, group[0]
        (low, high), (low2, high2) = _reach(b, self.x, self.dims), _reach(b, y, lengths)
        first = b.int(a.ISUB, low, b.int(a.ISUB, high2, b.const(Int, 1)))
        width = b.int(a.ISUB, b.int(a.ISUB, high, low2), first)
        if equal:
            itself, differ = b.const(Int, 0), self._differences(y, lengths)
            if differ:
                itself = b.int(s.SELECT, b.any(differ), b.const(Int, _NO_DISTANCE), itself)
        least = None
        for y, _, _ in group:
            distance = b.int(a.ISUB, self._start(y), self.start)
            number = b.cast(b.int(a.ISUB, distance, first), uint64)
            if equal:
                number = b.op(s.SELECT, b.test(a.IEQ, distance, itself), b.const(uint64, _MOST), number, type=uint64)
            least = number if least is None else b.op(s.SELECT, b.test(a.ILT, number, least), number, least,
                                                      type=uint64)
        return b.test(a.ILT, least, b.cast(width, uint64))

    def _start(self, y) -> Value:
        return self.b.int(m.ARRAY_DATA, y)

    def _differences(self, y, lengths) -> list[Value]:
        """The tests whether lengths and strides differ from those of x, where that is not known."""
        b, found = self.b, []
        for k, (n, length) in enumerate(zip(self.dims, lengths)):
            if stride_key(b, self.x, k) != stride_key(b, y, k):
                strides = (b.int(m.ARRAY_STRIDE, v, axis=k) for v in (self.x, y))
                found.append(b.test(a.INE, *strides))
            if not same(n, length):
                found.append(b.test(a.INE, n, length))
        return found

    def is_certain(self) -> bool:
        """Whether it is known without a test that no array shares memory with x."""
        return not self.tests and not self.groups

    def found(self) -> Value:
        """The result of the test."""
        return self.b.any([*self.tests, *(
            self._by_addresses(*group[0]) if len(group) == 1 and _may_be_new(group[0][0]) else
            self._by_distances(group) for group in self.groups.values())])


def _may_be_new(v: Value) -> bool:
    """Whether an array is the result of a call, or of an operation other than a view."""
    return v.inst is not None and v.inst.op is not m.ARRAY_VIEW


def start_of(b, v: Value) -> Value:
    """An array that starts at the same address as `v`."""
    while (made := v.inst) is not None and (made.op is s.RETYPE or made.op is m.ARRAY_VIEW
                                                   and is_const(made.args[1], 0)):
        v = made.args[0]
    return v


def stride_key(b, v: Value, axis: int):
    """A key of a stride: its number of bytes where that is known and positive, else the value that defines it."""
    made = v.inst
    if v.type.layout == "C" and axis == v.type.ndim - 1:
        return m.item_bytes(v.type.dtype)
    if made is not None and made.op is m.ARRAY_VIEW:
        stride = made.args[2 + v.type.ndim + axis]
        known = stride.inst
        if known is not None and known.op is m.ARRAY_STRIDE:
            return stride_key(b, known.args[0], known.attrs["axis"])
        if known is not None and known.op is CONST and known.attrs["value"] > 0:
            return known.attrs["value"]
        return stride
    return v, axis


def retyped(b, v: Value, t) -> Value:
    return v if v.type is t else b.make(s.RETYPE, t, v, type=t)


def stepping(t: Array) -> bool:
    """Whether strides are always multiples of the element size."""
    return t.aligned and not isinstance(t.dtype, NpComplex)


def is_settled(b, v: Value) -> bool:
    """Whether the elements along the last axis are known to be contiguous."""
    made = v.inst
    return (v.type.layout == "C" or made is not None and made.op is m.ARRAY_VIEW
            and is_const(made.args[-1], m.item_bytes(v.type.dtype)))


def is_reversed(b, v: Value) -> bool:
    """Whether the elements along the last axis are known to be contiguous in reverse order."""
    made = v.inst
    stride = made.args[-1].inst if made is not None and made.op is m.ARRAY_VIEW and v.type.ndim else None
    if stride is None or stride.op is not a.IMUL or not is_const(stride.args[0], -1):
        return False
    whole = stride.args[1].inst
    if whole is None or whole.op is not m.ARRAY_STRIDE:
        return is_const(stride.args[1], m.item_bytes(v.type.dtype))
    source = whole.args[0].type
    return source.layout == "C" and whole.attrs["axis"] == source.ndim - 1 and source.dtype is v.type.dtype


def step_of(b, v: Value, dim: Value, length: Value) -> Value:
    """The number of elements from one to the next along the last axis of `v`, which has length `dim`, in an index space
    of length `length`; 0 where it is broadcast."""
    size = m.item_bytes(v.type.dtype)
    known = _known_step(v) if same(dim, length) else None
    if known is not None:
        return b.const(Int, known)
    stride = b.const(Int, size) if is_settled(b, v) else b.int(m.ARRAY_STRIDE, v, axis=v.type.ndim - 1)
    return b.int(m.ARRAY_STEP, dim, length, stride, size=size)


def is_made_here(v: Value) -> bool:
    made = v.inst
    return made is not None and (made.op is m.ARRAY_VIEW or made.op is m.ARRAY_NEW)


def _known_step(v: Value) -> int | None:
    """The step where `v` is a slice of a C-ordered array with a small constant step, such as a[::-1] or a[::2]; else
    None."""
    made = v.inst
    stride = made.args[-1].inst if made is not None and made.op is m.ARRAY_VIEW else None
    if stride is None or stride.op is not a.IMUL:
        return None
    factor, unit = (x.inst for x in stride.args)
    if factor is None or unit is None or factor.op is not CONST or unit.op is not m.ARRAY_STRIDE:
        return None
    source = unit.args[0].type
    if source.layout != "C" or unit.attrs["axis"] != source.ndim - 1 or source.dtype is not v.type.dtype:
        return None
    return factor.attrs["value"] if abs(factor.attrs["value"]) <= 4 else None


def stepped(b, index: list, step: Value | None) -> list:
    return index if step is None else [*index[:-1], b.int(a.IMUL, index[-1], step)]


def strided(v: Value) -> bool:
    """Whether the last axis runs over another axis of a C-ordered array, as in a column. Its elements are contiguous
    only where rows have one element."""
    made = v.inst
    if made is None or made.op is not m.ARRAY_VIEW or not v.type.ndim:
        return False
    stride = made.args[-1].inst
    return (stride is not None and stride.op is m.ARRAY_STRIDE and stride.args[0].type.layout == "C"
            and stride.attrs["axis"] < stride.args[0].type.ndim - 1)


def settled(b: Builder, v: Value, always=False) -> Value:
    """The same array with its last stride as a constant where a C-ordered array implies it. (An axis of length 1 may
    have any stride there, so the array that the program sees is not changed.)"""
    t = v.type
    if not isinstance(t, Array) or not t.ndim:
        return v
    made = v.inst
    if t.layout == "C":
        if not always:
            return v
        dims = [b.int(m.ARRAY_DIM, v, axis=k) for k in range(t.ndim)]
        args = [v, b.const(Int, 0), *dims, *(b.int(m.ARRAY_STRIDE, v, axis=k) for k in range(t.ndim - 1))]
    elif made is not None and made.op is m.ARRAY_VIEW:
        stride = made.args[-1].inst
        if stride is None or stride.op is not m.ARRAY_STRIDE:
            return v
        source = stride.args[0].type
        if source.layout != "C" or stride.attrs["axis"] != source.ndim - 1 or source.dtype is not t.dtype:
            return v
        args = made.args[:-1]
    else:
        return v
    return b.make(m.ARRAY_VIEW, t, *args, b.const(Int, m.item_bytes(t.dtype)), type=t)
