"""Leaf kinds: their native representation, boxing and unboxing.

`LEAVES` is the one table of them, keyed by the class of the type. Composite kinds (types/kinds.py) follow from their
parts: see codegen/box.py.
"""
from __future__ import annotations

import struct
import weakref
from typing import Any, Callable

import numpy as np

from ..base.lazy import lazy
from ..runtime import platform
from ..types import kinds as k
from ..types.kinds import Int, NoneType, NpBool, NpTime, Record, TIME_UNITS, Type
from ..types.lattice import dtype_of

native_iterators = lazy("pyjitc.runtime.native_iterators")
objects = lazy("pyjitc.ops.objects")  # only programs with objects of classes load it

__all__ = ["LEAVES", "NotBoxable", "components", "exact", "kept", "load", "new_object", "require"]


class NotBoxable(Exception):
    """A value of this type has no Python object. `type`: the Type."""

    def __init__(self, type):
        super().__init__(f"a value of type {type} cannot leave compiled code")
        self.type = type


# ---------------------------------------------------------------- components

_FLOATS = {16: "half", 32: "float", 64: "double"}
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
    """Find the components of a type after those of its parts, without recursion: functions may be nested hundreds of
    levels deep."""
    work = [t]
    while work:
        one = work[-1]
        found: tuple[str, ...] | None = None
        if one.parts is None:
            found = LEAVES[type(one)].scalars
            if callable(found):
                found = tuple(found(one))
        else:
            known = [_passing_components.get(p) if p.passing else _components.get(p) for p in one.parts]
            if None in known:
                work += [p for p, c in zip(one.parts, known) if c is None]
            else:
                found = tuple(c for part in known for c in part)
        if found is not None:
            (_passing_components if one.passing else _components)[one] = found
            work.pop()
    return found


# ---------------------------------------------------------------- constants


def float_text(value: float, kind: str) -> str:
    if kind == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
    if kind == "float" and value == value:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _complex_text(t, value):
    kind = components(t)[0]
    return [float_text(float(value.real), kind), float_text(float(value.imag), kind)]


# ---------------------------------------------------------------- Python objects


def new_object(e, inst, symbol, *args) -> str:
    """Call a function of the C API that makes an object, or fails."""
    result = e.assign(f"call ptr @{symbol}({', '.join(args)})")
    e.check_null(result, inst)
    return result


def kept(e, pointer: str) -> str:
    e.line(f"call void {e.helper('pyj_retain_object')}(ptr {pointer})")
    return pointer


def _pointer(e, t, values, inst, take):
    return values[0] if take else kept(e, values[0])


def _one_object(name: str) -> tuple[Callable, Callable]:
    """The functions that box and unbox the only value of a type, which the interpreter exports under `name`."""

    def box(e, t, values, inst, take):
        return kept(e, e.external(name))

    def unbox(e, t, pointer, wrong):
        require(e, e.assign(f"icmp eq ptr {pointer}, {e.external(name)}"), wrong)
        return []

    return box, unbox


def _known_object(value: Callable[[Type], object]) -> tuple[Callable, Callable]:
    """The functions that box and unbox the only value of a type, which is the object value(type)."""

    def box(e, t, values, inst, take):
        return kept(e, e.object(value(t)))

    def unbox(e, t, pointer, wrong):
        require(e, e.assign(f"icmp eq ptr {pointer}, {e.object(value(t))}"), wrong)
        return []

    return box, unbox


def _box_bool(e, t, values, inst, take):
    yes, no = e.external("_Py_TrueStruct"), e.external("_Py_FalseStruct")
    return kept(e, e.assign(f"select i1 {values[0]}, ptr {yes}, ptr {no}"))


def _numpy_scalar(e, t, values, inst, take):
    parts = e.components(t)
    slot = e.alloca("i64", 2)
    size = 8 if len(parts) == 1 else t.bits // 16
    for i, (c, v) in enumerate(zip(parts, values)):
        where = slot if i == 0 else e.assign(f"getelementptr i8, ptr {slot}, i64 {size}")
        if c == "i1":
            c, v = "i8", e.assign(f"zext i1 {v} to i8")
        e.line(f"store {c} {v}, ptr {where}, align 4")
    symbol = f"pyjitc_numpy_api_{platform.NUMPY_API['PyArray_Scalar']}"
    result = e.assign(f"call ptr @{symbol}(ptr {slot}, ptr {e.object(dtype_of(t))}, ptr null)")
    e.check_null(result, inst)
    return result


def _array(e, t, values, inst, take):
    count = t.ndim if t.layout != "A" else 2 * t.ndim  # NumPy computes the strides of the other layouts
    dims = e.alloca("i64", max(1, count))
    for i, v in enumerate(values[2:2 + count]):
        where = dims if i == 0 else e.assign(f"getelementptr i64, ptr {dims}, i64 {i}")
        e.line(f"store i64 {v}, ptr {where}")
    strides = e.assign(f"getelementptr i64, ptr {dims}, i64 {t.ndim}") if t.layout == "A" else "null"
    bits = platform.ARRAY_FLAGS
    flags = bits["WRITEABLE"] * t.writable | bits["ALIGNED"] * t.aligned | bits["F"] * (t.layout == "F")
    size = str(dtype_of(t.dtype).itemsize)
    for n in values[2:2 + t.ndim]:
        size = e.assign(f"mul i64 {size}, {n}")
    result = e.assign(f"call ptr {e.helper('pyj_box_array')}(ptr {values[0]}, ptr {values[1]}, i32 {t.ndim}, ptr "
                      f"{dims}, ptr {strides}, "
                      f"ptr {e.object(dtype_of(t.dtype))}, i64 {size}, i32 {flags}, i1 {'true' if take else 'false'})")
    e.check_null(result, inst)
    return result


def load(e, kind, pointer, offset, align=8):
    where = e.assign(f"getelementptr i8, ptr {pointer}, i64 {offset}")
    return e.assign(f"load {kind}, ptr {where}, align {align}")


def require(e, condition, wrong):
    good = e.label("is")
    e.branch(condition, good, wrong, likely=True)
    e.start(good)


def exact(e, pointer, cls, wrong):
    found = load(e, "ptr", pointer, platform.OB_TYPE)
    require(e, e.assign(f"icmp eq ptr {found}, {cls}"), wrong)


def _of_class(symbol: Callable[[Type], str]) -> Callable:
    """The function that unboxes a reference to an object of exactly the class with this symbol."""

    def unbox(e, t, pointer, wrong):
        exact(e, pointer, e.external(symbol(t)), wrong)
        return [pointer]

    return unbox


def _open_memoryview(e, t, pointer, wrong):
    exact(e, pointer, e.external("PyMemoryView_Type"), wrong)
    one = e.assign(f"icmp eq i32 {load(e, 'i32', pointer, platform.MEMORYVIEW['ndim'])}, 1")
    text = load(e, "ptr", pointer, platform.MEMORYVIEW["format"])
    letters = e.assign(f"load i16, ptr {text}, align 1")
    of_bytes = e.assign(f"icmp eq i16 {letters}, {ord('B')}")  # the letter, and the zero byte that ends the text
    require(e, e.assign(f"and i1 {one}, {of_bytes}"), wrong)
    return [pointer]


def _open_bool(e, t, pointer, wrong):
    yes = e.assign(f"icmp eq ptr {pointer}, {e.external('_Py_TrueStruct')}")
    no = e.assign(f"icmp eq ptr {pointer}, {e.external('_Py_FalseStruct')}")
    require(e, e.assign(f"or i1 {yes}, {no}"), wrong)
    return [yes]


def _open_float(e, t, pointer, wrong):
    exact(e, pointer, e.external("PyFloat_Type"), wrong)
    return [load(e, "double", pointer, platform.FLOAT_VALUE)]


def _open_complex(e, t, pointer, wrong):
    exact(e, pointer, e.external("PyComplex_Type"), wrong)
    return [load(e, "double", pointer, platform.COMPLEX_VALUE), load(e, "double", pointer, platform.COMPLEX_VALUE + 8)]


def _open_int(e, t, pointer, wrong):
    """Unbox an exact Python int of 64 bits: one digit inline, more through the C API."""
    exact(e, pointer, e.external("PyLong_Type"), wrong)
    tag = load(e, "i64", pointer, platform.LONG_TAG)
    digit = e.assign(f"zext i32 {load(e, 'i32', pointer, platform.LONG_DIGITS, 4)} to i64")
    if platform.LONG_TAGGED:
        small = e.assign(f"icmp ult i64 {tag}, 16")
        low = e.assign(f"and i64 {tag}, 3")
        sign = e.assign(f"sub i64 1, {low}")
    else:
        shifted = e.assign(f"add i64 {tag}, 1")
        small = e.assign(f"icmp ult i64 {shifted}, 3")
        sign = tag
    quick, slow, done = e.label("digit"), e.label("digits"), e.label("int")
    e.branch(small, quick, slow, likely=True)
    e.start(quick)
    value = e.assign(f"mul nsw i64 {sign}, {digit}")
    e.jump(done)
    e.start(slow)
    flag = e.alloca("i32")
    wide = e.assign(f"call i64 @PyLong_AsLongLongAndOverflow(ptr {pointer}, ptr {flag})")
    over = e.assign(f"load i32, ptr {flag}")
    fits = e.assign(f"icmp eq i32 {over}, 0")
    require(e, fits, wrong)
    here = e.current
    e.jump(done)
    e.start(done)
    return [e.phi("i64", [(value, quick), (wide, here)])]


def _open_scalar(e, t, pointer, wrong):
    dtype = dtype_of(t)
    other = next((np.dtype(c).type for c in "lqLQ" if np.dtype(c) == dtype and np.dtype(c).type is not dtype.type),
                 None)
    if other is None:
        exact(e, pointer, e.object(dtype.type), wrong)
    else:
        found = load(e, "ptr", pointer, platform.OB_TYPE)
        one, two = (e.assign(f"icmp eq ptr {found}, {e.object(cls)}") for cls in (dtype.type, other))
        require(e, e.assign(f"or i1 {one}, {two}"), wrong)
    if t is NpBool:
        return [e.assign(f"icmp ne i8 {load(e, 'i8', pointer, platform.SCALAR_VALUE, 1)}, 0")]
    if isinstance(t, NpTime):
        require(e, _is_unit(e, t, pointer, platform.SCALAR_VALUE + 8), wrong)
    parts = e.components(t)
    size = t.bits // 8 // len(parts)
    return [load(e, c, pointer, platform.SCALAR_VALUE + i * size, size) for i, c in enumerate(parts)]


def _open_array(e, t, pointer, wrong):
    plain = e.array_class in (None, np.ndarray)
    exact(e, pointer, e.external("pyjitc_ndarray_type") if plain else e.object(e.array_class), wrong)
    descr = load(e, "ptr", pointer, platform.ARRAY["descr"])
    dtype = dtype_of(t.dtype)
    if isinstance(t.dtype, Record):
        require(e, _same_record(e, descr, dtype), wrong)
    number = load(e, "i32", descr, platform.DESCR["type_num"], 4)
    same = None
    for n in sorted({dtype.num} | {np.dtype(c).num for c in "lqLQ" if np.dtype(c) == dtype}):
        one = e.assign(f"icmp eq i32 {number}, {n}")
        same = one if same is None else e.assign(f"or i1 {same}, {one}")
    ndim = load(e, "i32", pointer, platform.ARRAY["ndim"], 4)
    tests = [same, e.assign(f"icmp eq i32 {ndim}, {t.ndim}")]
    if dtype.itemsize > 1 and not isinstance(t.dtype, Record):
        order = load(e, "i8", descr, platform.DESCR["byteorder"], 1)
        tests.append(e.assign(f"icmp eq i8 {order}, {ord('=')}"))
    bits = platform.ARRAY_FLAGS
    if e.any_layout:  # an array with the type float64[:] may be contiguous where its length is one
        orders = bits.get(t.layout, 0)
    else:
        orders = 0 if t.layout == "A" and e.any_order else bits["C"] | (bits["F"] if t.layout != "C" else 0)
    # Where a signature declares the type, writable arrays may be read, and aligned ones read as unaligned ones, too.
    writable = 0 if e.any_order and not t.writable else bits["WRITEABLE"]
    aligned = 0 if e.any_order and not t.aligned else bits["ALIGNED"]
    mask = orders | aligned | writable
    value = bits["ALIGNED"] * t.aligned | bits["WRITEABLE"] * t.writable | bits.get(t.layout, 0)
    flags = load(e, "i32", pointer, platform.ARRAY["flags"], 4)
    kept = e.assign(f"and i32 {flags}, {mask}")
    tests.append(e.assign(f"icmp eq i32 {kept}, {value}"))
    while len(tests) > 1:  # one branch for all tests: there is less to compile
        tests = [e.assign(f"and i1 {tests[0]}, {tests[1]}"), *tests[2:]]
    require(e, tests[0], wrong)
    if isinstance(t.dtype, NpTime):
        _require_unit(e, t.dtype, descr, wrong)
    data = load(e, "ptr", pointer, platform.ARRAY["data"])
    owner = e.assign(f"getelementptr i8, ptr {pointer}, i64 1")
    result = [data, owner]
    if t.ndim:
        for field in ("shape", "strides"):
            table = load(e, "ptr", pointer, platform.ARRAY[field])
            for k in range(t.ndim):
                known = ", !range !2" if field == "shape" else ""
                result.append(load(e, "i64", table, 8 * k, f"8{known}"))
    return result


def _require_unit(e, t, descr, wrong):
    require(e, _is_unit(e, t, load(e, "ptr", descr, platform.DESCR["time"]), platform.TIME_UNIT), wrong)


def _is_unit(e, t, pointer, offset):
    """i1: whether the unit of dates at `pointer` is that of t."""
    return e.assign(f"icmp eq i64 {load(e, 'i64', pointer, offset)}, {TIME_UNITS.index(t.unit) | t.count << 32}")


def _same_record(e, descr, dtype):
    symbol = f"pyjitc_numpy_api_{platform.NUMPY_API['PyArray_EquivTypes']}"
    alike = e.assign(f"call i8 @{symbol}(ptr {descr}, ptr {e.object(dtype)})")
    return e.assign(f"icmp ne i8 {alike}, 0")


_box_dtype, _is_dtype = _known_object(lambda t: dtype_of(t.scalar))


def _open_dtype(e, t, pointer, wrong):
    if not isinstance(t.scalar, NpTime):
        return _is_dtype(e, t, pointer, wrong)
    # each np.dtype("datetime64[D]") is a different object
    exact(e, pointer, e.object(type(dtype_of(t.scalar))), wrong)
    _require_unit(e, t.scalar, pointer, wrong)
    return []


def _open_object_cell(e, t, pointer, wrong):
    exact(e, pointer, e.external("PyCell_Type"), wrong)
    return [pointer]


def _open_function_object(e, t, pointer, wrong):
    e.unbox(t.function, pointer, wrong)
    return [pointer]


def _open_iterator(e, t, pointer, wrong):
    """Unbox an iterator that was passed to the interpreter."""
    exact(e, pointer, e.object(native_iterators.NativeIterator), wrong)
    token = load(e, "ptr", pointer, native_iterators.TOKEN)
    require(e, e.assign(f"icmp eq ptr {token}, {e.object(t)}"), wrong)
    cell = load(e, "ptr", pointer, native_iterators.CELL)
    require(e, e.assign(f"icmp ne ptr {cell}, null"), wrong)
    return [cell]


def _open_object(e, t, pointer, wrong):
    """Unbox an object of exactly the class; the types of its attributes are checked here, and again where compiled code
    reads them."""
    exact(e, pointer, e.object(t.cls), wrong)
    for name, part in t.attributes:
        found = objects.look(e, t.cls, name, pointer)
        if part is k.Undefined:
            require(e, e.assign(f"icmp eq ptr {found}, null"), wrong)
            continue
        with e.when(e.assign(f"icmp ne ptr {found}, null"), "check", likely=True):
            e.unbox(part, found, wrong)
    return [pointer]


class Leaf:
    """scalars: the LLVM types of a value, or a function that gives those of a type. box(e, type, values, instruction,
    take), unbox(e, type, pointer, label): as in box.py; None for a kind without Python objects. constant(type, value):
    the components of a Python constant; None where that is a reference to the object."""

    __slots__ = ("scalars", "box", "unbox", "constant")

    def __init__(self, scalars: tuple[str, ...] | Callable[[Any], Any], box: Callable | None = None,
                 unbox: Callable | None = None, constant: Callable[[Type, Any], list[str]] | None = None):
        self.scalars, self.box, self.unbox, self.constant = scalars, box, unbox, constant


def _nothing(name: str) -> Leaf:
    return Leaf((), *_one_object(name))


def _integer(t, value):
    return [str(int(value))]


def _truth(t, value):
    return ["true" if value else "false"]


def _float(t, value):
    return [float_text(float(value), components(t)[0])]


_REFERENCE = "ptr",


# Containers whose class the interpreter exports; for others the loader provides the class as an object.
_CLASSES = {list: "PyList_Type", tuple: "PyTuple_Type", dict: "PyDict_Type", set: "PySet_Type",
            frozenset: "PyFrozenSet_Type"}


def _open_container(e, t, pointer, wrong):
    """Unbox a reference to a container. A stub checks the types of some of its items, or of all: see
    passes/restarts.py."""
    cls = t.python_class
    exact(e, pointer, e.external(_CLASSES[cls]) if cls in _CLASSES else e.object(cls), wrong)
    if e.looks:
        _look(e, t, pointer, wrong)
    return [pointer]


_CONTAINER = Leaf(_REFERENCE, _pointer, _open_container)
# the offset of the number of items in a container
_SIZES = {k.Dict: platform.DICT["used"], k.Set: platform.SET["used"], k.FrozenSet: platform.SET["used"]}


def _look(e, t, pointer, wrong):
    """Jump to `wrong` where one of the items of a container that are checked does not have the type of the container's
    items."""
    if t.item is k.Undefined:
        kind = k.Dict if isinstance(t, k.Dict) else type(t)
        size = load(e, "i64", pointer, _SIZES.get(kind, platform.OB_SIZE))
        require(e, e.assign(f"icmp eq i64 {size}, 0"), wrong)
        return
    if all([held is k.Object for held in t.parameters]):
        return
    if isinstance(t, k.List) and type(t.item) in _LOOKED_AT:
        test, cls = _LOOKED_AT[type(t.item)]
        fits = e.assign(f"call i1 {e.helper(test)}(ptr {pointer}, i64 {e.looks}, ptr {e.external(cls)})")
        require(e, fits, wrong)
        return
    looks = e.looks
    if 0 < looks < _MANY:
        e.looks = min(looks, 2)  # for containers that are items of the container
    count, place = e.alloca("i64"), e.alloca("i64")
    e.line(f"store i64 0, ptr {count}")
    e.line(f"store i64 0, ptr {place}")
    again, done = e.label("look"), e.label("looked")
    e.jump(again)
    e.start(again)
    if looks > 0:
        n = e.assign(f"load i64, ptr {count}")
        more = e.label("more")
        e.branch(e.assign(f"icmp slt i64 {n}, {looks}"), more, done)
        e.start(more)
        e.line(f"store i64 {e.assign(f'add i64 {n}, 1')}, ptr {count}")
    body = e.label("item")
    there, found = _following(e, t, pointer, place)
    e.branch(there, body, done)
    e.start(body)
    borrowed = len(e.borrowed)
    for held, where in zip(t.parameters, found()):
        if held is not k.Object:
            e.unbox(held, where, wrong)
    del e.borrowed[borrowed:]
    e.jump(again)
    e.start(done)
    e.looks = looks


def _following(e, t, pointer, place):
    """Emit code that advances to the next item of a container. Returns (i1 whether there is one, a function that emits
    the pointers to it, to be called for code that runs only where there is one). place: a word in the frame, initially
    0."""
    if isinstance(t, k.Dict):
        keyp, valuep = e.alloca("ptr"), e.alloca("ptr")
        status = e.assign(f"call i32 @PyDict_Next(ptr {pointer}, ptr {place}, ptr {keyp}, ptr {valuep})")
        return e.assign(f"icmp ne i32 {status}, 0"), lambda: [e.assign(f"load ptr, ptr {p}") for p in (keyp, valuep)]
    if isinstance(t, (k.Set, k.FrozenSet)):
        keyp, hashp = e.alloca("ptr"), e.alloca("i64")
        status = e.assign(f"call i32 @_PySet_NextEntry(ptr {pointer}, ptr {place}, ptr {keyp}, ptr {hashp})")
        return e.assign(f"icmp ne i32 {status}, 0"), lambda: [e.assign(f"load ptr, ptr {keyp}")]
    i = e.assign(f"load i64, ptr {place}")
    e.line(f"store i64 {e.assign(f'add i64 {i}, 1')}, ptr {place}")
    size = load(e, "i64", pointer, platform.OB_SIZE)

    def item():
        if isinstance(t, (k.List, k.TupleOf)):
            table = (load(e, "ptr", pointer, platform.LIST_ITEMS) if isinstance(t, k.List) else
                     e.assign(f"getelementptr i8, ptr {pointer}, i64 {platform.TUPLE_ITEMS}"))
            return [e.assign(f"load ptr, ptr {e.assign(f'getelementptr ptr, ptr {table}, i64 {i}')}, align 8")]
        found = e.assign(f"call ptr @PySequence_GetItem(ptr {pointer}, i64 {i})")
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {found})")  # the deque has a reference
        return [found]

    return e.assign(f"icmp slt i64 {i}, {size}"), item


_MANY = 100
# kind of items whose class a helper checks -> (the helper, the class)
_LOOKED_AT = {type(Int): ("pyj_holds_int", "PyLong_Type"), type(k.Float): ("pyj_holds_class", "PyFloat_Type"),
              type(k.Str): ("pyj_holds_class", "PyUnicode_Type")}


LEAVES: dict[type, Leaf] = {
    type(Int): Leaf(("i64",), lambda e, t, values, inst, take: new_object(
        e, inst, "PyLong_FromLongLong", f"i64 {values[0]}"), _open_int, _integer),
    type(k.Float): Leaf(("double",), lambda e, t, values, inst, take: new_object(
        e, inst, "PyFloat_FromDouble", f"double {values[0]}"), _open_float, _float),
    type(k.Bool): Leaf(("i1",), _box_bool, _open_bool, _truth),
    type(k.Complex): Leaf(("double", "double"), lambda e, t, values, inst, take: new_object(
        e, inst, "PyComplex_FromDoubles", f"double {values[0]}", f"double {values[1]}"), _open_complex, _complex_text),
    type(NoneType): _nothing("_Py_NoneStruct"),
    type(k.Ellipsis_): _nothing("_Py_EllipsisObject"),
    type(k.Undefined): _nothing("_Py_NoneStruct"),
    type(k.Unbound): Leaf(()),
    type(k.Tag): Leaf(("i16",)),
    k.Singleton: Leaf((), *_known_object(lambda t: t.value)),
    k.DType: Leaf((), _box_dtype, _open_dtype),
    type(k.Str): Leaf(_REFERENCE, _pointer, _of_class(lambda t: "PyUnicode_Type")),
    type(k.Bytes): Leaf(_REFERENCE, _pointer, _of_class(lambda t: "PyBytes_Type")),
    type(k.ByteArray): Leaf(_REFERENCE, _pointer, _of_class(lambda t: "PyByteArray_Type")),
    type(k.MemoryView): Leaf(_REFERENCE, _pointer, _open_memoryview),
    type(k.Object): Leaf(_REFERENCE, _pointer, lambda e, t, pointer, wrong: [pointer]),
    k.Exception_: Leaf(_REFERENCE, _pointer),
    k.Instance: Leaf(_REFERENCE, _pointer, _of_class(lambda t: f"pyjitc_random_{t.cls.__name__}")),
    k.PythonRandomType: Leaf(_REFERENCE, _pointer, _of_class(lambda t: "pyjitc_random_Python")),
    **dict.fromkeys((*k.CONTAINERS.values(), k.TupleOf), _CONTAINER),
    k.ObjectOf: Leaf(_REFERENCE, _pointer, _open_object),
    k.FunctionObject: Leaf(_REFERENCE, _pointer, _open_function_object), k.Cell: Leaf(_REFERENCE),
    k.ObjectCell: Leaf(_REFERENCE, _pointer, _open_object_cell),
    **dict.fromkeys((k.NativeList, k.NativeObject, k.NativeTable, k.Within), Leaf(_REFERENCE)),
    k.Iterator: Leaf(_REFERENCE, None, _open_iterator),
    k.Vector: Leaf(lambda t: (f"<{t.count} x {components(t.lane)[0]}>",)),
    type(NpBool): Leaf(("i1",), _numpy_scalar, _open_scalar, _truth),
    k.NpInt: Leaf(lambda t: (f"i{t.bits}",), _numpy_scalar, _open_scalar, _integer),
    k.NpTime: Leaf(("i64",), _numpy_scalar, _open_scalar, lambda t, value: [str(int(value.astype("int64")))]),
    k.NpFloat: Leaf(lambda t: (_FLOATS[t.bits],), _numpy_scalar, _open_scalar, _float),
    k.NpComplex: Leaf(lambda t: (_FLOATS[t.bits // 2],) * 2, _numpy_scalar, _open_scalar, _complex_text),
    k.Array: Leaf(lambda t: ("ptr", "ptr", *["i64"] * (2 * t.ndim)), _array, _open_array),
}
