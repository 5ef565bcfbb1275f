"""Python objects inside compiled code: what print, f-strings and exceptions need."""
from __future__ import annotations

from typing import Callable

from ..ir.core import ALLOCATES, COUNTS, ELEMENTS, HOST, OBJECTS, RAISES, READS, WRITES, Op, reads, writes
from ..types.kinds import Object, Str
from .control import CONST
from .effects import NO_RULE, NONDIFF
from .memory import count_references, opened

__all__ = ["PYOBJECT_OPS"]

_EFFECTS = RAISES | ALLOCATES | HOST
_CONVERSIONS: dict[str, Callable] = {"": lambda x: x, "s": str, "r": repr, "a": ascii}


def _box_lower(e, inst, x):
    return [e.box(inst.args[0].type, x, inst)]


def _unbox_lower(e, inst, x):
    """Components of an object of a known type; TypeError when it has changed its type since."""
    if inst.args[0].inst is None or inst.args[0].inst.op is not CONST:
        return opened(e, inst, inst.attrs["type"], x[0], "what the interpreter gave")
    wrong, done = e.label("wrong"), e.label("opened")
    values = e.unbox(inst.attrs["type"], x[0], wrong)
    e.jump(done)
    e.start(wrong)
    e.error(inst, "TypeError", f"a captured value is no longer a {inst.attrs['type']}")
    e.start(done)
    count_references(e, inst.attrs["type"], values, "retain")  # the object's own reference stays with the object
    return values


def _call_lower(e, inst, callee, *operands):
    args = [x[0] for x in operands]
    for x in args:
        e.line(f"call void {e.helper('pyj_retain_object')}(ptr {x})")
    return [e.python_call(inst, callee[0], args, inst.attrs.get("kwnames") or ())]


def _format_lower(e, inst, x, spec=()):
    """str of one part of an f-string: conversion first, then format(value, spec)."""
    convert = {"": None, "s": "PyObject_Str", "r": "PyObject_Repr",
               "a": "PyObject_ASCII"}[inst.attrs.get("conversion") or ""]
    value = x[0]
    if convert:
        e.declare(f"declare ptr @{convert}(ptr)")
        value = e.assign(f"call ptr @{convert}(ptr {value})")
        e.check_null(value, inst)
    e.declare("declare ptr @PyObject_Format(ptr, ptr)")
    text = e.assign(f"call ptr @PyObject_Format(ptr {value}, ptr {spec[0] if spec else 'null'})")
    if convert:
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {value})")
    e.check_null(text, inst)
    return [text]


def _join_lower(e, inst, *parts):
    n = len(parts)
    table = e.alloca("ptr", max(n, 1))
    for i, x in enumerate(parts):
        where = e.assign(f"getelementptr ptr, ptr {table}, i64 {i}")
        e.line(f"store ptr {x[0]}, ptr {where}")
    e.declare("declare ptr @_PyUnicode_JoinArray(ptr, ptr, i64)")
    text = e.assign(f"call ptr @_PyUnicode_JoinArray(ptr {e.object('')}, ptr {table}, i64 {n})")
    e.check_null(text, inst)
    return [text]


def _getattr_lower(e, inst, x):
    e.declare("declare ptr @PyObject_GetAttr(ptr, ptr)")
    value = e.assign(f"call ptr @PyObject_GetAttr(ptr {x[0]}, ptr {e.object(inst.attrs['name'])})")
    e.check_null(value, inst)
    return [value]


PY_BOX = Op("py_box", lambda types, attrs: Object, _EFFECTS, lower=_box_lower, eval=lambda x: x, partials=NO_RULE,
            doc="the Python object of a value")
PY_UNBOX = Op("py_unbox", lambda types, attrs: attrs["type"], RAISES | ALLOCATES | reads(OBJECTS) | HOST,
              lower=_unbox_lower,
              eval=lambda x, *, type, anew=False: x, eval_attrs=True, partials=NO_RULE,
              doc="the value of {type} in a Python object; {anew}: as of list_get")
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
               doc="one part of an f-string: format(convert(x), spec), {conversion} '', 's', 'r' or 'a'")
PY_JOIN = Op("py_join", lambda types, attrs: Str, _EFFECTS, lower=_join_lower, eval=lambda *parts: "".join(parts),
             partials=NONDIFF, doc="the strings one after the other")
KEEP = Op("keep", lambda types, attrs: None, writes(COUNTS, ELEMENTS), lower=lambda e, inst, x: [],
          eval=lambda x: None, partials=NONDIFF,
          doc="the object lives until here: an array opened from it lies in its memory")

PYOBJECT_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
