"""Objects of classes of the program: Python objects whose attributes compiled code reads and writes in their memory.

An attribute that is a slot has a fixed offset. Others are among the values that the object stores inline, at an index
that is in a table of the class and never changes: code caches it in a word, which the first access fills. An object
that was copied or unpickled, or whose `__dict__` was read, has a dict instead, where a helper finds the value. In all
other cases (the attribute was deleted, Python 3.10) the interpreter is called, which handles all cases and raises the
errors. The type of a value is always checked: a program may store anything.
"""
from __future__ import annotations

from ..ir.core import (ALLOCATES, CHEAP, HOST, LOAD, MODERATE, NEW_OBJECT, OBJECTS, PURE, RAISES, READS, WRITES,
                       WRITES_FIRST, Op, reads)
from ..runtime import platform
from ..runtime.dispatcher import Anew
from ..runtime.objects import slots_of
from ..types.kinds import Bool, Float, Int, ObjectOf, Undefined, members_of
from .effects import NO_RULE, NONDIFF
from .memory import owned

__all__ = ["OBJECT_OPS", "look"]


def _load(e, t, pointer, offset):
    return e.assign(f"load {t}, ptr {e.assign(f'getelementptr i8, ptr {pointer}, i64 {offset}')}, align 8")


def _place(e, cls, name: str) -> str:
    """The symbol of two words that cache, for the inline values of objects of a class: the index of an attribute, -1
    while it is unknown; the number of names in the class's table when this name was last found missing in it."""
    word = f"@place.{e.object(cls)[1:]}.{e.object(name)[1:]}"
    e.declare(f"{word} = internal global [2 x i64] [i64 -1, i64 -1], align 8")
    return word


def has_inline_values(cls: type) -> bool:
    return platform.INLINE_VALUES is not None and bool(cls.__flags__ & platform.INLINE_FLAG)


def _values(e, cls: type, x: str) -> tuple[str, str]:
    """(whether an object has inline values, their address)."""
    assert platform.INLINE_VALUES is not None
    if platform.PYTHON < (3, 12):
        values = _load(e, "ptr", x, platform.INLINE_VALUES)
        return e.assign(f"icmp ne ptr {values}, null"), values
    if platform.PYTHON < (3, 13):
        word = _load(e, "i64", x, platform.INLINE_VALUES)
        there = e.assign(f"icmp ne i64 {e.assign(f'and i64 {word}, 1')}, 0")
        return there, e.assign(f"inttoptr i64 {e.assign(f'add i64 {word}, 1')} to ptr")
    end = cls.__basicsize__
    valid = e.assign(f"load i8, ptr {e.assign(f'getelementptr i8, ptr {x}, i64 {end + platform.INLINE_VALID}')}")
    return (e.assign(f"icmp ne i8 {valid}, 0"),
            e.assign(f"getelementptr i8, ptr {x}, i64 {end + platform.INLINE_VALUES}"))


def _of_class(e, cls: type, name: str, x: str, other: str) -> None:
    """Continue where an object whose attribute was not found inline stores none, so that the attribute of its class
    counts; jump to the label `other` where that is not known."""
    place = _place(e, cls, name)
    there, _ = _values(e, cls, x)
    known = e.assign(f"icmp sge i64 {e.assign(f'load i64, ptr {place}, align 8')}, 0")
    keys = _load(e, "ptr", e.object(cls), platform.TYPE_CACHED_KEYS)
    # until the class's table gets another name, no object of the class stores this attribute
    same = e.assign(f"icmp eq i64 {_load(e, 'i64', keys, platform.KEYS['count'])}, {_load(e, 'i64', place, 8)}")
    good = e.label("of_class")
    e.branch(e.assign(f"and i1 {there}, {e.assign(f'or i1 {known}, {same}')}"), good, other, likely=True)
    e.start(good)


def _dict_of(e, x: str) -> str:
    """The dict that an object without inline values has, or null."""
    if platform.PYTHON != (3, 12):
        return _load(e, "ptr", x, platform.MANAGED_DICT)
    word = _load(e, "i64", x, platform.INLINE_VALUES)  # the same word, whose lowest bit is set for inline values
    inline = e.assign(f"icmp ne i64 {e.assign(f'and i64 {word}, 1')}, 0")
    return e.assign(f"inttoptr i64 {e.assign(f'select i1 {inline}, i64 0, i64 {word}')} to ptr")


def _slot(e, cls: type, name: str, x: str, other: str, write: bool = False) -> tuple[str, str, str] | None:
    """(address of an attribute, address of the inline values, index of the attribute among them). The code jumps to the
    label `other` where the address is not known. Returns None if it is never known."""
    offset = slots_of(cls).get(name)
    if offset is not None:
        return e.assign(f"getelementptr i8, ptr {x}, i64 {offset}"), x, str(offset)
    if not has_inline_values(cls):
        return None
    at = e.assign(f"load i64, ptr {_place(e, cls, name)}, align 8")
    known = e.assign(f"icmp sge i64 {at}, 0")
    there, values = _values(e, cls, x)
    if write and platform.PYTHON >= (3, 13):  # the dict of an object has a count of its entries, which must change
        free = e.assign(f"icmp eq ptr {_load(e, 'ptr', x, platform.MANAGED_DICT)}, null")
        there = e.assign(f"and i1 {there}, {free}")
    good = e.label("inline")
    e.branch(e.assign(f"and i1 {known}, {there}"), good, other, likely=True)
    e.start(good)
    return e.assign(f"getelementptr i8, ptr {values}, i64 {at}"), values, at


def peek(e, cls: type, name: str, x: str, other: str) -> str | None:
    """The object of an attribute, a borrowed reference. The code jumps to the label `other` where the attribute's
    address is not known. Returns None if it is never known."""
    in_dict, good = e.label("in_dict"), e.label("stored")
    slot = _slot(e, cls, name, x, in_dict)
    if slot is None:
        return None
    arms = [(e.assign(f"load ptr, ptr {slot[0]}, align 8"), e.current)]
    e.branch(e.assign(f"icmp ne ptr {arms[0][0]}, null"), good, other, likely=True)
    if slot[1] != x:  # not the slot of a class
        e.start(in_dict)
        at = e.assign(f"load i64, ptr {_place(e, cls, name)}, align 8")
        arms.append((e.assign(f"call ptr {e.helper('pyj_in_dict')}(ptr {_dict_of(e, x)}, ptr {e.object(name)}, "
                              f"i64 {at})"), e.current))
        e.branch(e.assign(f"icmp ne ptr {arms[1][0]}, null"), good, other, likely=True)
    e.start(good)
    return e.phi("ptr", arms)


def look(e, cls: type, name: str, x: str) -> str:
    """The object of an attribute, a borrowed reference, or null where an object has none."""
    ask, done = e.label("ask"), e.label("seen")
    arms = []
    found = peek(e, cls, name, x, ask)
    if found is not None:
        arms.append((found, e.current))
        e.jump(done)
        e.start(ask)
    place = _place(e, cls, name) if has_inline_values(cls) else "null"
    arms.append((e.assign(f"call ptr {e.helper('pyj_look')}(ptr {x}, ptr {e.object(name)}, ptr {e.object(cls)}, "
                          f"ptr {place})"), e.current))
    e.jump(done)
    e.start(done)
    return e.phi("ptr", arms)


def _ask(e, inst, cls, name, x):
    """The object of an attribute as the interpreter finds it: a new reference."""
    if not has_inline_values(cls) or name in slots_of(cls):
        found = e.assign(f"call ptr @PyObject_GetAttr(ptr {x}, ptr {e.object(name)})")
    else:
        found = e.assign(f"call ptr {e.helper('pyj_field')}(ptr {x}, ptr {e.object(name)}, ptr {e.object(cls)}, "
                         f"ptr {_place(e, cls, name)})")
    e.check_null(found, inst)
    return found


def _get_lower(e, inst, x):
    cls, name, t = inst.args[0].type.cls, inst.attrs["name"], inst.attrs["type"]
    ask, wrong, done = e.label("ask"), e.label("wrong"), e.label("found")
    arms = []
    constant = "otherwise" in inst.attrs and has_inline_values(cls)
    missing = e.label("missing") if constant else ask
    found = peek(e, cls, name, x[0], missing)
    if found is not None:
        values = e.unbox(t, found, ask) if t is not Undefined else None
        if values is None:
            e.jump(ask)
        else:
            values = owned(e, t, values)
            arms.append((values, e.current))
            e.jump(done)
        if constant:
            e.start(missing)
            _of_class(e, cls, name, x[0], ask)
            arms.append((e.constant(t, inst.attrs["otherwise"]), e.current))
            e.jump(done)
        e.start(ask)
    found = _ask(e, inst, cls, name, x[0])
    if t is Undefined:
        e.jump(wrong)
    else:
        values = owned(e, t, e.unbox(t, found, wrong))
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {found})")
        arms.append((values, e.current))
        e.jump(done)
    e.start(wrong)
    _refuse(e, inst, cls, name, t, found)
    e.start(done)
    if not arms:
        e.line("unreachable")
        e.start(e.label("never"))
        return []
    return [e.phi(c, [(values[n], block) for values, block in arms]) for n, c in enumerate(e.components(t))]


def _peek_lower(e, inst, x):
    """`field_get` that returns zeros instead of raising where there is no value."""
    t = inst.attrs["type"]
    cls, name = inst.args[0].type.cls, inst.attrs["name"]
    check, none, done = e.label("check"), e.label("none"), e.label("seen")
    found = look(e, cls, name, x[0])
    e.branch(e.assign(f"icmp ne ptr {found}, null"), check, none, likely=True)
    e.start(check)
    values = owned(e, t, e.unbox(t, found, none))
    here = e.current
    e.jump(done)
    e.start(none)
    e.jump(done)
    e.start(done)
    return [e.phi(c, [(v, here), (zero, none)]) for c, v, zero in zip(e.components(t), values, e.zeros(t))]


def _check_lower(e, inst, x, found):
    def fail():
        cls, name = inst.args[0].type.cls, inst.attrs["name"]
        _refuse(e, inst, cls, name, inst.args[1].type, _ask(e, inst, cls, name, x[0]))

    e.fail_unless(e.assign(f"icmp ne ptr {found[1]}, null"), fail)
    return []


def _refuse(e, inst, cls, name, t, found):
    """Raise for an attribute whose class is not one for which the code was compiled. `found`: its object, which is
    released."""
    given_up = f"call void {e.helper('pyj_release_object')}(ptr {found})"
    if inst.attrs.get("restart"):
        e.line(given_up)
        e.line(f"call void @PyErr_SetNone(ptr {e.object(Anew)}) cold")
        e.jump(e.fail(inst))
        return
    what = f"attribute '{name}' of '{cls.__name__}' object is"
    wanted = ("the code was compiled when no object had it" if t is Undefined else
              f"the code was compiled for {t}: pass an object that holds one of these to the function itself")
    kind = _load(e, "ptr", found, platform.OB_TYPE)
    ways = [("TypeError", f"{what} a %.200s here, and {wanted}", _load(e, "ptr", kind, platform.TYPE_NAME))]
    if Int in members_of(t):
        ways.append(("OverflowError", f"{what} the int %S, which does not fit in 64 bits", found))
        wide, other = e.label("wide"), e.label("other")
        e.branch(_is_exact(e, found, "PyLong_Type"), wide, other)
        e.start(wide)
    while ways:
        error, text, given = ways.pop()
        error = e.assign(f"load ptr, ptr {e.external(f'PyExc_{error}')}, align 8")
        e.line(f"call ptr (ptr, ptr, ...) @PyErr_Format(ptr {error}, ptr {e.string(text)}, ptr {given}) cold")
        e.line(given_up)
        e.jump(e.fail(inst))
        if ways:
            e.start(other)


def _is_exact(e, pointer: str, cls: str) -> str:
    found = _load(e, "ptr", pointer, platform.OB_TYPE)
    return e.assign(f"icmp eq ptr {found}, {e.external(cls)}")


def _overwrite(e, t, old: str, value: str, other: str) -> None:
    """Write a number into an object to which only the attribute refers, which is unobservable. Jumps to `other` where
    the object has other references."""
    alone = e.assign(f"icmp eq i64 {e.assign(f'load i64, ptr {old}, align 8')}, 1")
    fits = e.assign(f"and i1 {alone}, {_is_exact(e, old, 'PyFloat_Type' if t is Float else 'PyLong_Type')}")
    if t is Int:  # ints of one digit, except the small ones, of which there is one object each
        tag = _load(e, "i64", old, platform.LONG_TAG)
        if platform.LONG_TAGGED:
            single = e.assign(f"icmp eq i64 {e.assign(f'lshr i64 {tag}, 3')}, 1")
        else:
            single = e.assign(f"icmp ult i64 {e.assign(f'add i64 {tag}, 1')}, 3")
        fits = e.assign(f"and i1 {fits}, {single}")
        size = e.assign(f"call i64 @llvm.abs.i64(i64 {value}, i1 false)")
        middle = e.assign(f"icmp ult i64 {e.assign(f'sub i64 {size}, 257')}, {(1 << 30) - 257}")
        fits = e.assign(f"and i1 {fits}, {middle}")
    good = e.label("alone")
    e.branch(fits, good, other, likely=True)
    e.start(good)
    if t is Float:
        e.line(f"store double {value}, ptr {e.assign(f'getelementptr i8, ptr {old}, i64 {platform.FLOAT_VALUE}')}")
        return
    negative = e.assign(f"icmp slt i64 {value}, 0")
    yes, no = (8 + 2, 8) if platform.LONG_TAGGED else (-1, 1)
    tag = e.assign(f"select i1 {negative}, i64 {yes}, i64 {no}")
    e.line(f"store i64 {tag}, ptr {e.assign(f'getelementptr i8, ptr {old}, i64 {platform.LONG_TAG}')}, align 8")
    digit = e.assign(f"trunc i64 {size} to i32")
    e.line(f"store i32 {digit}, ptr {e.assign(f'getelementptr i8, ptr {old}, i64 {platform.LONG_DIGITS}')}, align 4")


def _set_lower(e, inst, x, value):
    cls, name, t = inst.args[0].type.cls, inst.attrs["name"], inst.args[1].type
    box, done = e.label("box"), e.label("set")
    if t is Float or t is Int:
        old = peek(e, cls, name, x[0], box)
        if old is not None:
            _overwrite(e, t, old, value[0], box)
            e.jump(done)
            e.start(box)
    new = e.box(t, value, inst)
    offset = slots_of(cls).get(name)
    if offset is not None:
        slot = e.assign(f"getelementptr i8, ptr {x[0]}, i64 {offset}")
        e.line(f"call void {e.helper('pyj_put')}(ptr {slot}, ptr {new})")
    elif has_inline_values(cls):
        there, after = e.label("there"), e.label("put")
        found = _slot(e, cls, name, x[0], there, write=True)
        assert found is not None
        slot, values, at = found
        e.line(f"call void {e.helper('pyj_put_value')}(ptr {slot}, ptr {values}, i64 {at}, ptr {new})")
        e.jump(after)
        e.start(there)
        status = e.assign(f"call i32 {e.helper('pyj_set_field')}(ptr {x[0]}, ptr {e.object(name)}, ptr {new}, "
                          f"ptr {e.object(cls)}, ptr {_place(e, cls, name)})")
        e.check_status(status, inst)
        e.jump(after)
        e.start(after)
    else:
        status = e.assign(f"call i32 {e.helper('pyj_set_attribute')}(ptr {x[0]}, ptr {e.object(name)}, ptr {new})")
        e.check_status(status, inst)
    if e.current != done:
        e.jump(done)
        e.start(done)
    return []


def _new_lower(e, inst):
    """The lowering of object.__new__(cls)."""
    make = _load(e, "ptr", e.external("PyBaseObject_Type"), platform.TYPE_NEW)
    made = e.assign(f"call ptr {make}(ptr {e.object(inst.attrs['cls'])}, ptr {e.object(())}, ptr null)")
    e.check_null(made, inst)
    return [made]


def _same_lower(e, inst, x, y):
    return [e.assign(f"icmp eq ptr {x[0]}, {y[0]}")]


_EFFECTS = RAISES | HOST | READS | WRITES
OBJECT_NEW = Op("object_new", lambda types, attrs: ObjectOf(attrs["cls"]), RAISES | HOST | ALLOCATES, lower=_new_lower,
                eval=lambda *, cls: object.__new__(cls), eval_attrs=True, partials=NO_RULE,
                doc="a new object of {cls} without attributes", traits=NEW_OBJECT)
FIELD_GET = Op("field_get", lambda types, attrs: attrs["type"], RAISES | HOST | ALLOCATES | reads(OBJECTS),
               lower=_get_lower, eval=lambda x, *, name, type, restart=False, otherwise=None: getattr(x, name),
               eval_attrs=True,
               partials=NO_RULE,
               doc="attribute {name} that an object stores, of {type}; AttributeError where it has none, TypeError "
                   "where the value has another class; {restart}: as in list_get; {otherwise}: the value of the class "
                   "for objects that store none", traits=LOAD)
FIELD_SET = Op("field_set", lambda types, attrs: None, _EFFECTS, lower=_set_lower,
               eval=lambda x, value, *, name: object.__setattr__(x, name, value), eval_attrs=True, partials=NO_RULE,
               doc="store attribute {name} of an object, as object.__setattr__ does", traits=WRITES_FIRST)
FIELD_PEEK = Op("field_peek", lambda types, attrs: attrs["type"], HOST | ALLOCATES | reads(OBJECTS),
                lower=_peek_lower, eval=lambda x, *, name, type: getattr(x, name, None), eval_attrs=True,
                partials=NO_RULE, doc="attribute {name} that an object stores, an array of {type}; a null array where "
                                      "it has none")
FIELD_CHECK = Op("field_check", lambda types, attrs: None, RAISES | HOST | reads(OBJECTS), lower=_check_lower,
                 eval=lambda x, found, *, name: None if found is not None else getattr(x, name), eval_attrs=True,
                 partials=NONDIFF, doc="check that an object stores attribute {name}; raises what field_get raises, "
                                       "where field_peek found no array",
                 cost=CHEAP)
OBJECT_SAME = Op("object_same", lambda types, attrs: Bool, PURE, lower=_same_lower, eval=lambda x, y: x is y,
                 partials=NONDIFF, doc="`x is y` of references to objects", cost=MODERATE)

OBJECT_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
