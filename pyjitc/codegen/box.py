"""Values to Python objects and back, by the fixed layouts of runtime/platform.py.

`box` makes a new reference; `unbox` checks the exact type and opens the object, or goes to a label. Neither ever
looks at a value without having checked what it is.
"""
from __future__ import annotations

import numpy as np

from ..ir.core import Inst, Value
from ..ops.arith import CAST
from ..runtime import platform
from ..types.kinds import (
    Array, Bool, Bytes, Complex, DType, Dual, Ellipsis_, Exception_, Float, Function, Instance, Int, NoneType, NpBool,
    NpComplex, NpFloat,
    NpInt, NpTime, Object, Range, Record, Singleton, Slice, Str, Struct, TIME_UNITS, Tuple, Undefined, Union,
)
from ..types.lattice import dtype_of

__all__ = ["box", "unbox", "NotBoxable"]


class NotBoxable(Exception):
    """A value of this type has no Python object. `type`: the Type."""

    def __init__(self, type):
        super().__init__(f"a value of type {type} cannot leave compiled code")
        self.type = type


def box(e, t, values, inst, take: bool = False) -> str:
    """New reference to the object of a value. inst: fails through it. take: the value's own references are handed
    over."""
    if t is Int:
        return _made(e, inst, "PyLong_FromLongLong", f"i64 {values[0]}")
    if t is Float:
        return _made(e, inst, "PyFloat_FromDouble", f"double {values[0]}")
    if t is Bool:
        yes, no = e.external("_Py_TrueStruct"), e.external("_Py_FalseStruct")
        return _kept(e, e.assign(f"select i1 {values[0]}, ptr {yes}, ptr {no}"))
    if t is NoneType or t is Undefined:
        return _kept(e, e.external("_Py_NoneStruct"))
    if t is Ellipsis_:
        return _kept(e, e.external("_Py_EllipsisObject"))
    if t is Complex:
        return _made(e, inst, "PyComplex_FromDoubles", f"double {values[0]}", f"double {values[1]}")
    if t is Str or t is Bytes or t is Object or isinstance(t, (Exception_, Instance)):
        return values[0] if take else _kept(e, values[0])
    if t is NpBool or isinstance(t, (NpInt, NpFloat, NpComplex, NpTime)):
        return _numpy_scalar(e, t, values, inst)
    if isinstance(t, Array):
        return _array(e, t, values, inst, take)
    if isinstance(t, Singleton):
        return _kept(e, e.object(t.value))
    if isinstance(t, DType):
        return _kept(e, e.object(dtype_of(t.scalar)))
    # others than named tuples are not made from items
    if isinstance(t, Tuple) and (t.cls is None or hasattr(t.cls, "_make")):
        items = _boxed_parts(e, t.elements, values, inst, take)
        if t.cls is not None:
            return e.python_call(inst, e.object(t.cls), items, ())
        return _sequence(e, inst, "PyTuple_New", "PyTuple_SetItem", items)
    if isinstance(t, Slice):
        parts = _boxed_parts(e, (t.start, t.stop, t.step), values, inst, take)
        made = _made(e, inst, "PySlice_New", *(f"ptr {p}" for p in parts))
        for p in parts:
            e.line(f"call void {e.helper('pyj_release_object')}(ptr {p})")
        return made
    if t is Range:
        return e.python_call(inst, e.object(range), _boxed_parts(e, (Int, Int, Int), values, inst, take), ())
    if isinstance(t, Struct) and t.name == "list":
        return _sequence(e, inst, "PyList_New", "PyList_SetItem",
                         _boxed_parts(e, [m for _, m in t.members], values, inst, take))
    if isinstance(t, Struct) and t.name == "record":  # a scalar that looks into the array, as NumPy's a[i]
        return _made(e, inst, f"pyjitc_numpy_api_{platform.NUMPY_API['PyArray_Return']}",
                     f"ptr {_array(e, t.members[0][1], values, inst, take)}")
    if isinstance(t, Union):
        return _union(e, t, values, inst, take)
    if isinstance(t, Dual):
        return _dual(e, t, values, inst, take)
    raise NotBoxable(t)


def _made(e, inst, symbol, *args) -> str:
    e.declare(f"declare ptr @{symbol}({', '.join(a.split()[0] for a in args)})")
    result = e.assign(f"call ptr @{symbol}({', '.join(args)})")
    e.check_null(result, inst)
    return result


def _kept(e, pointer: str) -> str:
    e.line(f"call void {e.helper('pyj_retain_object')}(ptr {pointer})")
    return pointer


def _numpy_scalar(e, t, values, inst):
    parts = e.components(t)
    slot = e.alloca("i64", 2)
    size = 8 if len(parts) == 1 else t.bits // 16
    for i, (c, v) in enumerate(zip(parts, values)):
        where = slot if i == 0 else e.assign(f"getelementptr i8, ptr {slot}, i64 {size}")
        if c == "i1":
            c, v = "i8", e.assign(f"zext i1 {v} to i8")
        e.line(f"store {c} {v}, ptr {where}, align 4")
    symbol = f"pyjitc_numpy_api_{platform.NUMPY_API['PyArray_Scalar']}"
    e.declare(f"declare ptr @{symbol}(ptr, ptr, ptr)")
    result = e.assign(f"call ptr @{symbol}(ptr {slot}, ptr {e.object(dtype_of(t))}, ptr null)")
    e.check_null(result, inst)
    return result


def _array(e, t, values, inst, take):
    count = t.ndim if t.layout != "A" else 2 * t.ndim  # NumPy finds the strides of the other layouts
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


def _boxed_parts(e, types, values, inst, take):
    items, at = [], 0
    for part in types:
        n = len(e.components(part))
        items.append(box(e, part, values[at:at + n], inst, take))
        at += n
    return items


def _sequence(e, inst, make, put, items):
    result = _made(e, inst, make, f"i64 {len(items)}")
    e.declare(f"declare i32 @{put}(ptr, i64, ptr)")
    for i, item in enumerate(items):
        e.line(f"call i32 @{put}(ptr {result}, i64 {i}, ptr {item})")
    return result


def _union(e, t, values, inst, take):
    done = e.label("boxed")
    arms, at = [], 1
    for i, member in enumerate(t.members):
        n = len(e.components(member))
        part = values[at:at + n]
        at += n
        if i + 1 < len(t.members):
            test = e.assign(f"icmp eq i16 {values[0]}, {i}")
            this, rest = e.label("member"), e.label("other")
            e.branch(test, this, rest)
            e.start(this)
        made = box(e, member, part, inst, take)
        arms.append((made, e.current))
        e.jump(done)
        if i + 1 < len(t.members):
            e.start(rest)
    e.start(done)
    return e.phi("ptr", arms)


def _dual(e, t, values, inst, take):
    """The object of the type that the number has."""
    narrow, wide, done = e.label("narrow"), e.label("wide"), e.label("boxed")
    *number, is_narrow = values
    e.branch(is_narrow, narrow, wide)
    e.start(narrow)
    cast = Inst(CAST, [Value(t.wide)], {"type": t.narrow}, Value(t.narrow))
    arms = [(box(e, t.narrow, CAST.lower(e, cast, number), inst, take), e.current)]
    e.jump(done)
    e.start(wide)
    arms.append((box(e, t.wide, number, inst, take), e.current))
    e.jump(done)
    e.start(done)
    return e.phi("ptr", arms)


# ---------------------------------------------------------------- Python objects to values


def unbox(e, t, pointer: str, wrong: str) -> list[str]:
    """Components of the object at `pointer` as exactly type `t`; otherwise control goes to label `wrong`. References
    are borrowed."""
    if t is Object:
        return [pointer]
    if t is Int:
        return [_int(e, pointer, wrong)]
    if t is Float:
        _exact(e, pointer, e.external("PyFloat_Type"), wrong)
        return [_load(e, "double", pointer, platform.FLOAT_VALUE)]
    if t is Bool:
        yes = e.assign(f"icmp eq ptr {pointer}, {e.external('_Py_TrueStruct')}")
        no = e.assign(f"icmp eq ptr {pointer}, {e.external('_Py_FalseStruct')}")
        _require(e, e.assign(f"or i1 {yes}, {no}"), wrong)
        return [yes]
    if t is Complex:
        _exact(e, pointer, e.external("PyComplex_Type"), wrong)
        return [_load(e, "double", pointer, platform.COMPLEX_VALUE),
                _load(e, "double", pointer, platform.COMPLEX_VALUE + 8)]
    if t is NoneType or t is Ellipsis_:
        one = e.external("_Py_NoneStruct" if t is NoneType else "_Py_EllipsisObject")
        _require(e, e.assign(f"icmp eq ptr {pointer}, {one}"), wrong)
        return []
    if t is Str or t is Bytes:
        _exact(e, pointer, e.external("PyUnicode_Type" if t is Str else "PyBytes_Type"), wrong)
        return [pointer]
    if isinstance(t, Instance):
        _exact(e, pointer, e.external(f"pyjitc_random_{t.cls.__name__}"), wrong)
        return [pointer]
    if t is NpBool or isinstance(t, (NpInt, NpFloat, NpComplex, NpTime)):
        return _open_scalar(e, t, pointer, wrong)
    if isinstance(t, Array):
        return _open_array(e, t, pointer, wrong)
    if isinstance(t, Tuple):
        return _open_tuple(e, t, pointer, wrong)
    if t is Range:
        _exact(e, pointer, e.external("PyRange_Type"), wrong)
        return [_int(e, _load(e, "ptr", pointer, 16 + 8 * i), wrong) for i in range(3)]
    if isinstance(t, Slice):
        _exact(e, pointer, e.external("PySlice_Type"), wrong)
        return [c for i, part in enumerate((t.start, t.stop, t.step))
                for c in unbox(e, part, _load(e, "ptr", pointer, 16 + 8 * i), wrong)]
    if isinstance(t, Singleton):
        _require(e, e.assign(f"icmp eq ptr {pointer}, {e.object(t.value)}"), wrong)
        return []
    if isinstance(t, DType) and isinstance(t.scalar, NpTime):  # each np.dtype("datetime64[D]") is an object of its own
        _exact(e, pointer, e.object(type(dtype_of(t.scalar))), wrong)
        _require_unit(e, t.scalar, pointer, wrong)
        return []
    if isinstance(t, DType):
        _require(e, e.assign(f"icmp eq ptr {pointer}, {e.object(dtype_of(t.scalar))}"), wrong)
        return []
    if isinstance(t, Function) and not t.captures:
        _exact(e, pointer, e.external("PyFunction_Type"), wrong)
        code = _load(e, "ptr", pointer, platform.FUNCTION["code"])
        _require(e, e.assign(f"icmp eq ptr {code}, {e.object(t.proto.code)}"), wrong)
        space = _load(e, "ptr", pointer, platform.FUNCTION["globals"])
        _require(e, e.assign(f"icmp eq ptr {space}, {e.object(t.proto.globals)}"), wrong)
        for name in ("defaults", "kwdefaults", "closure"):
            part = _load(e, "ptr", pointer, platform.FUNCTION[name])
            _require(e, e.assign(f"icmp eq ptr {part}, null"), wrong)
        return []
    if isinstance(t, Union):
        return _open_union(e, t, pointer, wrong)
    raise NotBoxable(t)


def _open_union(e, t, pointer, wrong):
    """The first member that the object is one of."""
    arms, done = [], e.label("member")
    for i, member in enumerate(t.members):
        last = i + 1 == len(t.members)
        other = wrong if last else e.label("other")
        before = [z for one in t.members[:i] for z in e.zeros(one)]
        after = [z for one in t.members[i + 1:] for z in e.zeros(one)]
        values = [str(i), *before, *unbox(e, member, pointer, other), *after]
        arms.append((values, e.current))
        e.jump(done)
        if not last:
            e.start(other)
    e.start(done)
    return [e.phi(c, [(values[k], block) for values, block in arms]) for k, c in enumerate(e.components(t))]


def _load(e, kind, pointer, offset, align=8):
    where = e.assign(f"getelementptr i8, ptr {pointer}, i64 {offset}")
    return e.assign(f"load {kind}, ptr {where}, align {align}")


def _require(e, condition, wrong):
    good = e.label("is")
    e.branch(condition, good, wrong, likely=True)
    e.start(good)


def _exact(e, pointer, cls, wrong):
    found = _load(e, "ptr", pointer, platform.OB_TYPE)
    _require(e, e.assign(f"icmp eq ptr {found}, {cls}"), wrong)


def _int(e, pointer, wrong):
    """An exact Python int of 64 bits: one digit inline, more through the C API."""
    _exact(e, pointer, e.external("PyLong_Type"), wrong)
    tag = _load(e, "i64", pointer, platform.LONG_TAG)
    digit = e.assign(f"zext i32 {_load(e, 'i32', pointer, platform.LONG_DIGITS, 4)} to i64")
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
    e.declare("declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)")
    wide = e.assign(f"call i64 @PyLong_AsLongLongAndOverflow(ptr {pointer}, ptr {flag})")
    over = e.assign(f"load i32, ptr {flag}")
    fits = e.assign(f"icmp eq i32 {over}, 0")
    _require(e, fits, wrong)
    here = e.current
    e.jump(done)
    e.start(done)
    return e.phi("i64", [(value, quick), (wide, here)])


def _open_scalar(e, t, pointer, wrong):
    dtype = dtype_of(t)
    other = next((np.dtype(c).type for c in "lqLQ" if np.dtype(c) == dtype and np.dtype(c).type is not dtype.type),
                 None)
    if other is None:
        _exact(e, pointer, e.object(dtype.type), wrong)
    else:
        found = _load(e, "ptr", pointer, platform.OB_TYPE)
        one, two = (e.assign(f"icmp eq ptr {found}, {e.object(cls)}") for cls in (dtype.type, other))
        _require(e, e.assign(f"or i1 {one}, {two}"), wrong)
    if t is NpBool:
        return [e.assign(f"icmp ne i8 {_load(e, 'i8', pointer, platform.SCALAR_VALUE, 1)}, 0")]
    if isinstance(t, NpTime):
        _require(e, _is_unit(e, t, pointer, platform.SCALAR_VALUE + 8), wrong)
    parts = e.components(t)
    size = t.bits // 8 // len(parts)
    return [_load(e, c, pointer, platform.SCALAR_VALUE + i * size, size) for i, c in enumerate(parts)]


def _open_array(e, t, pointer, wrong):
    _exact(e, pointer, e.external("pyjitc_ndarray_type"), wrong)
    descr = _load(e, "ptr", pointer, platform.ARRAY["descr"])
    dtype = dtype_of(t.dtype)
    if isinstance(t.dtype, Record):
        _require(e, _same_record(e, descr, dtype), wrong)
    number = _load(e, "i32", descr, platform.DESCR["type_num"], 4)
    same = None
    for n in sorted({dtype.num} | {np.dtype(c).num for c in "lqLQ" if np.dtype(c) == dtype}):
        one = e.assign(f"icmp eq i32 {number}, {n}")
        same = one if same is None else e.assign(f"or i1 {same}, {one}")
    ndim = _load(e, "i32", pointer, platform.ARRAY["ndim"], 4)
    tests = [same, e.assign(f"icmp eq i32 {ndim}, {t.ndim}")]
    if dtype.itemsize > 1 and not isinstance(t.dtype, Record):
        order = _load(e, "i8", descr, platform.DESCR["byteorder"], 1)
        tests.append(e.assign(f"icmp eq i8 {order}, {ord('=')}"))
    bits = platform.ARRAY_FLAGS
    orders = 0 if t.layout == "A" and e.module.options.declared else bits["C"] | (bits["F"] if t.layout != "C" else 0)
    mask = orders | bits["ALIGNED"] | bits["WRITEABLE"]
    value = bits["ALIGNED"] * t.aligned | bits["WRITEABLE"] * t.writable | bits.get(t.layout, 0)
    flags = _load(e, "i32", pointer, platform.ARRAY["flags"], 4)
    kept = e.assign(f"and i32 {flags}, {mask}")
    tests.append(e.assign(f"icmp eq i32 {kept}, {value}"))
    while len(tests) > 1:  # one branch for all: there is less to compile
        tests = [e.assign(f"and i1 {tests[0]}, {tests[1]}"), *tests[2:]]
    _require(e, tests[0], wrong)
    if isinstance(t.dtype, NpTime):
        _require_unit(e, t.dtype, descr, wrong)
    data = _load(e, "ptr", pointer, platform.ARRAY["data"])
    owner = e.assign(f"getelementptr i8, ptr {pointer}, i64 1")
    result = [data, owner]
    if t.ndim:
        for field in ("shape", "strides"):
            table = _load(e, "ptr", pointer, platform.ARRAY[field])
            for k in range(t.ndim):
                known = ", !range !2" if field == "shape" else ""
                result.append(_load(e, "i64", table, 8 * k, f"8{known}"))
    return result


def _require_unit(e, t, descr, wrong):
    _require(e, _is_unit(e, t, _load(e, "ptr", descr, platform.DESCR["time"]), platform.TIME_UNIT), wrong)


def _is_unit(e, t, pointer, offset):
    """i1: the unit of dates at `pointer` is that of t."""
    return e.assign(f"icmp eq i64 {_load(e, 'i64', pointer, offset)}, {TIME_UNITS.index(t.unit) | t.count << 32}")


def _same_record(e, descr, dtype):
    symbol = f"pyjitc_numpy_api_{platform.NUMPY_API['PyArray_EquivTypes']}"
    e.declare(f"declare i8 @{symbol}(ptr, ptr)")
    alike = e.assign(f"call i8 @{symbol}(ptr {descr}, ptr {e.object(dtype)})")
    return e.assign(f"icmp ne i8 {alike}, 0")


def _open_tuple(e, t, pointer, wrong):
    _exact(e, pointer, e.external("PyTuple_Type") if t.cls is None else e.object(t.cls), wrong)
    size = _load(e, "i64", pointer, platform.OB_SIZE)
    _require(e, e.assign(f"icmp eq i64 {size}, {len(t.elements)}"), wrong)
    result = []
    for i, part in enumerate(t.elements):
        result += unbox(e, part, _load(e, "ptr", pointer, platform.TUPLE_ITEMS + 8 * i), wrong)
    return result
