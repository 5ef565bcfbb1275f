"""Python objects inside compiled code: operations that the interpreter does with objects, through its C API."""
from __future__ import annotations

import operator
from typing import Any, Callable

from ..base.lazy import lazy
from ..ir.core import (
    ALLOCATES, BOXES, COUNTS, ELEMENTS, HOST, MAKES_TEXT, NEW_OBJECT, OBJECTS, PURE, RAISES, READS, WRITES, Op, reads,
    writes,
)
from ..types.kinds import Array, Bool, Complex, Float, Int, NoneType, Object, Str, Tuple
from .control import CONST
from .effects import NO_RULE, NONDIFF
from .memory import count_references, hold, opened, owned

native_iterators = lazy("pyjitc.runtime.native_iterators")  # only programs whose iterators leave compiled code load it

__all__ = ["PYOBJECT_OPS"]

_EFFECTS = RAISES | ALLOCATES | HOST
_CONVERSIONS: dict[str, Callable] = {"": lambda x: x, "s": str, "r": repr, "a": ascii}


_IMMUTABLE = frozenset((Bool, Complex, Float, Int, NoneType, Str))


def is_object(v) -> bool:
    """Whether a value is a constant that is an object of the interpreter, or a tuple of such."""
    return v.inst is not None and v.inst.op is CONST and _is_immutable(v.type)


def _is_immutable(t) -> bool:
    return t in _IMMUTABLE or type(t) is Tuple and t.cls is None and all(map(_is_immutable, t.elements))


def _box_lower(e, inst, x):
    if type(inst.args[0].type) is Tuple and is_object(inst.args[0]):
        constant = e.object(inst.args[0].inst.attrs["value"])
        e.line(f"call void {e.helper('pyj_retain_object')}(ptr {constant})")
        return [constant]
    return [e.box(inst.args[0].type, x, inst)]


def _unbox_lower(e, inst, x):
    """The components of an object of a known type; TypeError where the type has changed since compilation."""
    if inst.attrs.get("any_order") and not e.any_order:
        e.any_order = True
        found = _unbox_lower(e, inst, x)
        e.any_order = False
        return found
    if "otherwise" not in inst.attrs and (inst.args[0].inst is None or inst.args[0].inst.op is not CONST):
        return opened(e, inst, inst.attrs["type"], x[0], inst.attrs.get("what", "what the interpreter gave"))
    wrong, done = e.label("wrong"), e.label("opened")
    source = inst.args[0].inst
    if source is not None and source.op is CONST and isinstance(inst.attrs["type"], Array):
        e.array_class = type(source.attrs["value"])  # a recarray or a memmap is read as it is
    values = e.unbox(inst.attrs["type"], x[0], wrong)
    e.jump(done)
    e.array_class = None
    e.start(wrong)
    cls, message = inst.attrs.get("otherwise") or ("TypeError", f"a captured value is no longer a {inst.attrs['type']}")
    e.error(inst, cls, message)
    e.start(done)
    made = inst.args[0].inst
    if made is None or made.op is not CONST:
        return owned(e, inst.attrs["type"], values)
    count_references(e, inst.attrs["type"], values, "retain")  # the object's own reference stays with the object
    return values


def _call_lower(e, inst, callee, *operands):
    args = [x[0] for x in operands]
    for x in args:
        e.line(f"call void {e.helper('pyj_retain_object')}(ptr {x})")
    return [e.python_call(inst, callee[0], args, inst.attrs.get("kwnames") or ())]


def _format_lower(e, inst, x, spec=()):
    """The str of one part of an f-string: first the conversion, then format(value, spec)."""
    convert = {"": None, "s": "PyObject_Str", "r": "PyObject_Repr",
               "a": "PyObject_ASCII"}[inst.attrs.get("conversion") or ""]
    value = x[0]
    if convert:
        value = e.assign(f"call ptr @{convert}(ptr {value})")
        e.check_null(value, inst)
    text = e.assign(f"call ptr @PyObject_Format(ptr {value}, ptr {spec[0] if spec else 'null'})")
    if convert:
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {value})")
    e.check_null(text, inst)
    return [text]


def _join_lower(e, inst, *parts):
    n = len(parts)
    if n == 0:
        e.line(f"call void {e.helper('pyj_retain_object')}(ptr {e.object('')})")
        return [e.object("")]
    table = e.alloca("ptr", n)
    for i, x in enumerate(parts):
        where = e.assign(f"getelementptr ptr, ptr {table}, i64 {i}")
        e.line(f"store ptr {x[0]}, ptr {where}")
    text = e.assign(f"call ptr {e.helper('pyj_str_join')}(ptr {table}, i64 {n})")
    e.check_null(text, inst)
    return [text]


def _getattr_lower(e, inst, x):
    value = e.assign(f"call ptr @PyObject_GetAttr(ptr {x[0]}, ptr {e.object(inst.attrs['name'])})")
    e.check_null(value, inst)
    return [value]


# ---------------------------------------------------------------- the C API

# Function of the C API -> (its Python meaning, the operands that follow in a call of it).
_NOTHING = ", ptr @_Py_NoneStruct"
API: dict[str, tuple[Callable, str]] = {
    "PyNumber_Add": (operator.add, ""), "PyNumber_Subtract": (operator.sub, ""),
    "PyNumber_Multiply": (operator.mul, ""), "PyNumber_TrueDivide": (operator.truediv, ""),
    "PyNumber_FloorDivide": (operator.floordiv, ""), "PyNumber_Remainder": (operator.mod, ""),
    "PyNumber_Power": (operator.pow, _NOTHING), "PyNumber_MatrixMultiply": (operator.matmul, ""),
    "PyNumber_Lshift": (operator.lshift, ""), "PyNumber_Rshift": (operator.rshift, ""),
    "PyNumber_And": (operator.and_, ""), "PyNumber_Or": (operator.or_, ""), "PyNumber_Xor": (operator.xor, ""),
    "PyNumber_InPlaceAdd": (operator.iadd, ""), "PyNumber_InPlaceSubtract": (operator.isub, ""),
    "PyNumber_InPlaceMultiply": (operator.imul, ""), "PyNumber_InPlaceTrueDivide": (operator.itruediv, ""),
    "PyNumber_InPlaceFloorDivide": (operator.ifloordiv, ""), "PyNumber_InPlaceRemainder": (operator.imod, ""),
    "PyNumber_InPlacePower": (operator.ipow, _NOTHING), "PyNumber_InPlaceMatrixMultiply": (operator.imatmul, ""),
    "PyNumber_InPlaceLshift": (operator.ilshift, ""), "PyNumber_InPlaceRshift": (operator.irshift, ""),
    "PyNumber_InPlaceAnd": (operator.iand, ""), "PyNumber_InPlaceOr": (operator.ior, ""),
    "PyNumber_InPlaceXor": (operator.ixor, ""),
    "PyNumber_Negative": (operator.neg, ""), "PyNumber_Positive": (operator.pos, ""),
    "PyNumber_Invert": (operator.invert, ""),
    **{f"PyObject_RichCompare {op}": (function, f", i32 {number}") for number, (op, function) in enumerate((
        ("<", operator.lt), ("<=", operator.le), ("==", operator.eq), ("!=", operator.ne), (">", operator.gt),
        (">=", operator.ge)))},
    "PyObject_GetItem": (operator.getitem, ""), "PyObject_GetAttr": (getattr, ""), "PyObject_GetIter": (iter, ""),
    "PyObject_Str": (str, ""), "PyObject_Repr": (repr, ""), "PySequence_List": (list, ""),
}
# The same for functions that return a number, -1 on failure: also its LLVM type and the type of the result.
TESTS: dict[str, tuple[Callable, str, Any]] = {
    "PyObject_IsTrue": (bool, "i32", Bool), "PySequence_Contains": (operator.contains, "i32", Bool),
    "PyObject_IsInstance": (isinstance, "i32", Bool), "PyObject_IsSubclass": (issubclass, "i32", Bool),
    "PyObject_Size": (len, "i64", Int), "PyObject_Hash": (hash, "i64", Int),
    "PyObject_SetItem": (operator.setitem, "i32", NoneType), "PyObject_DelItem": (operator.delitem, "i32", NoneType),
    "PyObject_SetAttr": (setattr, "i32", NoneType), "PyDict_SetItem": (operator.setitem, "i32", NoneType),
    "PyCell_Set": (lambda cell, value: setattr(cell, "cell_contents", value), "i32", NoneType),
}
# Function of the C API -> its Python meaning.
MEANINGS: dict[str, Callable] = {**{name: function for name, (function, _, _) in TESTS.items()},
                                 **{name: function for name, (function, _) in API.items()}}


def _api_lower(e, inst, *operands):
    name = inst.attrs["function"].partition(" ")[0]
    more = API[inst.attrs["function"]][1]
    if "@" in more:
        e.external(more.partition("@")[2])
    result = e.assign(f"call ptr @{name}({', '.join(f'ptr {x[0]}' for x in operands)}{more})")
    e.check_null(result, inst)
    return [result]


def _test_lower(e, inst, *operands):
    name = inst.attrs["function"]
    _, kind, result = TESTS[name]
    found = e.assign(f"call {kind} @{name}({', '.join(f'ptr {x[0]}' for x in operands)})")
    fine, good = e.assign(f"icmp ne {kind} {found}, -1"), e.label("answered")
    e.branch(fine, good, e.fail(inst), likely=True)
    e.start(good)
    return [] if result is NoneType else [e.assign(f"icmp ne i32 {found}, 0")] if result is Bool else [found]


def _variable_lower(e, inst, container):
    key, x = inst.attrs["key"], container[0]
    if key is None:
        value = e.assign(f"call ptr @PyCell_Get(ptr {x})")
    else:
        value = e.assign(f"call ptr @PyDict_GetItem(ptr {x}, ptr {e.object(key)})")
    e.raise_unless(e.assign(f"icmp ne ptr {value}, null"), inst, inst.attrs["cls"], inst.attrs["message"])
    if key is not None:
        e.line(f"call void {e.helper('pyj_retain_object')}(ptr {value})")
    return [value]


def _variable(x, *, key, cls, message):
    try:
        return x.cell_contents if key is None else x[key]
    except (KeyError, ValueError):
        raise cls(message) from None


def _hand_out_lower(e, inst, x):
    t = inst.args[0].type
    args = [e.object(inst.attrs.get("token") or t), e.object(inst.attrs["options"])]
    for one in args:
        e.line(f"call void {e.helper('pyj_retain_object')}(ptr {one})")
    made = e.python_call(inst, e.object(native_iterators.make), args, ())
    count_references(e, t, x, "retain")
    hold(e, t, x[0])
    where = e.assign(f"getelementptr i8, ptr {made}, i64 {native_iterators.CELL}")
    e.line(f"store ptr {x[0]}, ptr {where}, align 8")
    return [made]


def _delattr_lower(e, inst, x):
    e.check_status(e.assign(f"call i32 @PyObject_SetAttr(ptr {x[0]}, ptr {e.object(inst.attrs['name'])}, ptr null)"),
                   inst)
    return []


def _next_lower(e, inst, x):
    """(whether there is an item, the item or a null reference)"""
    item = e.assign(f"call ptr @PyIter_Next(ptr {x[0]})")
    has = e.assign(f"icmp ne ptr {item}, null")
    ended, done = e.label("ended"), e.label("stepped")
    e.branch(has, done, ended, likely=True)
    e.start(ended)
    error = e.assign("call ptr @PyErr_Occurred()")
    fine = e.assign(f"icmp eq ptr {error}, null")
    e.branch(fine, done, e.fail(inst), likely=True)
    e.start(done)
    return [has, item]


def _send_lower(e, inst, x):
    """(whether there is an item, the item or the return value of the iterator)"""
    place = e.alloca("ptr", 1)
    status = e.assign(f"call i32 @PyIter_Send(ptr {x[0]}, ptr {e.object(None)}, ptr {place})")
    stepped = e.label("stepped")
    e.branch(e.assign(f"icmp sge i32 {status}, 0"), stepped, e.fail(inst), likely=True)
    e.start(stepped)
    return [e.assign(f"icmp ne i32 {status}, 0"), e.assign(f"load ptr, ptr {place}")]


def _send(it):
    try:
        return True, next(it)
    except StopIteration as end:
        return False, end.value


def _next(it):
    for item in it:
        return True, item
    return False, None


PY_API = Op("py_api", lambda types, attrs: Object, _EFFECTS | READS | WRITES, lower=_api_lower, partials=NO_RULE,
            eval=lambda *args, function: API[function][0](*args), eval_attrs=True,
            doc="call {function} of the C API with Python objects")
PY_TEST = Op("py_test", lambda types, attrs: TESTS[attrs["function"]][2], RAISES | HOST | READS | WRITES,
             lower=_test_lower, partials=NO_RULE, eval=lambda *args, function: TESTS[function][0](*args),
             eval_attrs=True, doc="call {function} of the C API, which returns a number or a status, with Python "
                                  "objects")
PY_DELATTR = Op("py_delattr", lambda types, attrs: NoneType, RAISES | HOST | READS | WRITES, lower=_delattr_lower,
                partials=NONDIFF, eval=lambda x, *, name: delattr(x, name), eval_attrs=True,
                doc="delete attribute {name} of a Python object")
PY_VARIABLE = Op("py_variable", lambda types, attrs: Object, RAISES | ALLOCATES | reads(OBJECTS) | HOST,
                 lower=_variable_lower, partials=NO_RULE, eval=_variable, eval_attrs=True,
                 doc="the value of {key} in a dict of globals, or the content of a closure cell (key None); {cls, "
                     "message}: of the error where there is none")
HAND_OUT = Op("hand_out", lambda types, attrs: Object, _EFFECTS, lower=_hand_out_lower, partials=NO_RULE,
              eval=lambda it, *, options, token=None: it, eval_attrs=True,
              doc="a Python object for an iterator of compiled code; {options}: those with which its steps are "
                  "compiled; {token}: its type, with the types of the attributes of objects in it")
PY_NEXT = Op("py_next", lambda types, attrs: Tuple((Bool, Object)), _EFFECTS | READS | WRITES, lower=_next_lower,
             partials=NO_RULE, eval=_next, doc="the next item of a Python iterator: (whether there is one, the item)")
PY_SEND = Op("py_send", lambda types, attrs: Tuple((Bool, Object)), _EFFECTS | READS | WRITES, lower=_send_lower,
             partials=NO_RULE, eval=_send, doc="the next item of a Python iterator: (whether there is one, the item "
                                               "or the return value)")
PY_IS = Op("py_is", lambda types, attrs: Bool, PURE, eval=operator.is_, partials=NONDIFF,
           lower=lambda e, inst, x, y: [e.assign(f"icmp eq ptr {x[0]}, {y[0]}")], doc="`x is y` of Python objects")
PY_BOX = Op("py_box", lambda types, attrs: Object, _EFFECTS, lower=_box_lower, eval=lambda x: x, partials=NO_RULE,
            doc="the Python object of a value", traits=BOXES)
PY_UNBOX = Op("py_unbox", lambda types, attrs: attrs["type"], RAISES | ALLOCATES | reads(OBJECTS) | HOST,
              lower=_unbox_lower, partials=NO_RULE,
              eval=lambda x, *, type, restart=False, otherwise=None, any_order=False, what="": x, eval_attrs=True,
              doc="the value of {type} in a Python object; {restart}: as in list_get; {otherwise}: (class, message) "
                  "of the error where the object is of another type; {any_order}: a type without an order accepts "
                  "arrays of every order; {what}: the description of the object in that message",
              traits=NEW_OBJECT)
PY_CALL = Op("py_call", lambda types, attrs: Object, _EFFECTS | READS | WRITES, lower=_call_lower, partials=NO_RULE,
             eval=lambda f, *args,
             kwnames=(): f(*args[:len(args) - len(kwnames)], **dict(zip(kwnames, args[len(args) - len(kwnames):]))),
             eval_attrs=True, doc="call a Python object; the last operands are the keywords {kwnames}")
PY_GETATTR = Op("py_getattr", lambda types, attrs: Object, _EFFECTS | READS | WRITES, lower=_getattr_lower,
                partials=NO_RULE, eval=lambda x, *, name: getattr(x, name), eval_attrs=True,
                doc="attribute {name} of a Python object")
PY_FORMAT = Op("py_format", lambda types, attrs: Str, _EFFECTS | READS | WRITES, lower=_format_lower, partials=NONDIFF,
               eval=lambda x, spec, *,
               conversion="": format(_CONVERSIONS[conversion](x), spec or ""),
               eval_attrs=True,
               doc="one part of an f-string: format(convert(x), spec), {conversion} '', 's', 'r' or 'a'",
               traits=MAKES_TEXT)
PY_JOIN = Op("py_join", lambda types, attrs: Str, _EFFECTS, lower=_join_lower, eval=lambda *parts: "".join(parts),
             partials=NONDIFF, doc="the concatenation of strings")
KEEP = Op("keep", lambda types, attrs: None, writes(COUNTS, ELEMENTS), lower=lambda e, inst, x: [],
          eval=lambda x: None, partials=NONDIFF,
          doc="keep the object alive until here, since an array that was opened from it lies in its memory")

PYOBJECT_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
