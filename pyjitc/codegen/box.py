"""Values to Python objects and back, by the fixed layouts of runtime/platform.py.

`box` makes a new reference; `unbox` checks the exact type and loads the components, or jumps to a label. Neither reads
memory of an object before its type was checked. Leaf kinds are in leaves.py. A composite kind that has a Python class
is boxed by calling the class with the boxed parts, and unboxed by reading its attributes; kinds with a layout of the
interpreter, and unions, are in `_COMPOSITES`.
"""
from __future__ import annotations

from types import MemberDescriptorType

from ..base.lazy import lazy
from ..front.functions import Recursive, is_marker
from ..ir.core import Inst, Value
from ..ops.arith import CAST
from ..runtime import platform
from ..types import kinds as k
from ..types.classes import is_fixed, stands_for
from .leaves import LEAVES, Leaf, NotBoxable, exact, kept, load, new_object, require

interpreted = lazy("pyjitc.runtime.interpreted")  # only functions that leave compiled code load it

__all__ = ["box", "unbox", "NotBoxable"]


def box(e, t, values, inst, take: bool = False) -> str:
    """A new reference to the object of a value. inst: the instruction whose failure edge is taken on an error. take:
    the value's own references are transferred."""
    own = LEAVES.get(type(t)) or _COMPOSITES.get(type(t))
    if own is not None and own.box is not None:
        return own.box(e, t, values, inst, take)
    if t.inner or not isinstance(t, k.Attributes):
        raise NotBoxable(t)
    return e.python_call(inst, e.object(t.python_class), _boxed_parts(e, t, values, inst, take), ())


def unbox(e, t, pointer: str, wrong: str) -> list[str]:
    """Components of the object at `pointer` as exactly type `t`; otherwise control goes to label `wrong`. References
    are borrowed."""
    own = LEAVES.get(type(t)) or _COMPOSITES.get(type(t))
    if own is not None and own.unbox is not None:
        return own.unbox(e, t, pointer, wrong)
    if not isinstance(t, k.Attributes):
        raise NotBoxable(t)
    exact(e, pointer, e.object(t.python_class), wrong)
    return [c for part, name in zip(t.parts, t.names)
            for c in unbox(e, part, _attribute(e, t.python_class, name, part.refcounted, pointer, wrong), wrong)]


def _attribute(e, cls: type, name: str, counted: bool, pointer: str, wrong: str) -> str:
    """The object that an object of class `cls` stores as an attribute. Where its components refer to it, the emitter is
    told to keep it alive, since the program may store another one while the code runs."""
    member = vars(cls).get(name)
    if type(member) is MemberDescriptorType and is_fixed(cls):
        return load(e, "ptr", pointer, platform.member_offset(member))
    found = e.assign(f"call ptr {e.helper('pyj_attribute')}(ptr {pointer}, ptr {e.object(name)})")
    require(e, e.assign(f"icmp ne ptr {found}, null"), wrong)
    if counted:
        e.borrowed.append(found)
    return found


def _parts_in_turn(e, t, values, inst, take):
    at = 0
    for part in t.parts:
        n = len(e.components(part))
        yield box(e, part, values[at:at + n], inst, take)
        at += n


def _boxed_parts(e, t, values, inst, take):
    return list(_parts_in_turn(e, t, values, inst, take))


def _filled(e, where: str, items) -> None:
    """Store the items of a new tuple or list, which is still empty. Each may be boxed when its turn comes: LLVM takes
    quadratic time where many objects are at hand."""
    for i, item in enumerate(items):
        e.line(f"store ptr {item}, ptr {e.assign(f'getelementptr ptr, ptr {where}, i64 {i}')}, align 8")


def _box_tuple(e, t, values, inst, take):
    # a class such as time.struct_time, which is not made from its items
    if t.cls is not None and not hasattr(t.cls, "_make"):
        raise NotBoxable(t)
    if t.cls is not None:
        return e.python_call(inst, e.object(stands_for(t.cls)), _boxed_parts(e, t, values, inst, take), ())
    result = new_object(e, inst, "PyTuple_New", f"i64 {len(t.parts)}")
    _filled(e, e.assign(f"getelementptr i8, ptr {result}, i64 {platform.TUPLE_ITEMS}"),
            _parts_in_turn(e, t, values, inst, take))
    if t.parts and all([part in _ATOMS or k.is_number(part) for part in t.parts]):
        # It can be in no cycle; CPython finds that out when it collects garbage, which costs more.
        e.line(f"call void @PyObject_GC_UnTrack(ptr {result})")
    return result


_ATOMS = (k.Str, k.Bytes, k.NoneType)


def _box_slice(e, t, values, inst, take):
    parts = _boxed_parts(e, t, values, inst, take)
    result = e.assign(f"call ptr @PySlice_New({', '.join(f'ptr {part}' for part in parts)})")
    for part in parts:
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {part})")
    e.check_null(result, inst)
    return result


def _box_list(e, t, values, inst, take):
    result = new_object(e, inst, "PyList_New", f"i64 {len(t.parts)}")
    if t.parts:
        _filled(e, load(e, "ptr", result, platform.LIST_ITEMS), _parts_in_turn(e, t, values, inst, take))
    return result


def _box_record(e, t, values, inst, take):
    """A NumPy scalar that refers to the array, as NumPy's a[i] does."""
    return new_object(e, inst, f"pyjitc_numpy_api_{platform.NUMPY_API['PyArray_Return']}",
                      f"ptr {box(e, t.parts[0], values, inst, take)}")


def _box_union(e, t, values, inst, take):
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
        arms.append((box(e, member, part, inst, take), e.current))
        e.jump(done)
        if i + 1 < len(t.members):
            e.start(rest)
    e.start(done)
    return e.phi("ptr", arms)


def _box_dual(e, t, values, inst, take):
    """Box a dual as an object of its narrow or of its wide type, which its flag distinguishes."""
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


def _box_view(e, t, values, inst, take):
    (d,) = t.parts
    method = getattr(d.python_class, t.name.removeprefix("dict_"))
    return e.python_call(inst, e.object(method), _boxed_parts(e, t, values, inst, take), ())


def _open_tuple(e, t, pointer, wrong):
    exact(e, pointer, e.external("PyTuple_Type") if t.cls is None else e.object(t.cls), wrong)
    size = load(e, "i64", pointer, platform.OB_SIZE)
    require(e, e.assign(f"icmp eq i64 {size}, {len(t.parts)}"), wrong)
    result = []
    for i, part in enumerate(t.parts):
        result += unbox(e, part, load(e, "ptr", pointer, platform.TUPLE_ITEMS + 8 * i), wrong)
    return result


def _box_function(e, t, values, inst, take):
    """A new Python function that has captured the values of this function value."""
    parts, own, at = dict.fromkeys(_ROLES, "null"), "null", 0
    for role, part in zip(t.roles, t.captures):
        n = len(e.components(part))
        if role == "closure":
            parts[role], own = _box_closure(e, part, values[at:at + n], inst, take)
        else:
            parts[role] = box(e, part, values[at:at + n], inst, take)
        at += n
    known = [f"ptr {e.object(x)}" for x in (t.proto.code, t.proto.globals, t.proto.qualname)]
    given = ", ".join([*known, *(f"ptr {parts[role]}" for role in _ROLES), f"ptr {own}"])
    result = e.assign(f"call ptr {e.helper('pyj_function')}({given})")
    e.check_null(result, inst)
    return result


def _box_method(e, t, values, inst, take):
    if t.inner:
        raise NotBoxable(t)
    receiver = box(e, t.receiver, values, inst, take)
    result = e.assign(f"call ptr @PyObject_GetAttr(ptr {receiver}, ptr {e.object(t.name)})")
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {receiver})")
    e.check_null(result, inst)
    return result


def _open_method(e, t, pointer, wrong):
    """Unbox a bound method of that function, whose object is of the right class."""
    if t.inner:
        raise NotBoxable(t)
    exact(e, pointer, e.external("PyMethod_Type"), wrong)
    function = load(e, "ptr", pointer, platform.METHOD["function"])
    require(e, e.assign(f"icmp eq ptr {function}, {e.object(t.function)}"), wrong)
    return unbox(e, t.receiver, load(e, "ptr", pointer, platform.METHOD["self"]), wrong)


def _box_closure(e, t, values, inst, take):
    """(the tuple of cells for captured values; a reference to the cell for the function itself, or null)."""
    if any(map(is_marker, t.parts)):
        raise NotBoxable(t)
    cells, own, at = [], "null", 0
    for part in t.parts:
        n = len(e.components(part))
        if isinstance(part, k.Singleton) and type(part.value) is Recursive:
            own = new_object(e, inst, "PyCell_New", "ptr null") if own == "null" else own
            cells.append(kept(e, own))
        elif isinstance(part, k.ObjectCell):
            cells.append(box(e, part, values[at:at + n], inst, take))
        else:
            content = box(e, part, values[at:at + n], inst, take)
            cells.append(new_object(e, inst, "PyCell_New", f"ptr {content}"))
            e.line(f"call void {e.helper('pyj_release_object')}(ptr {content})")
        at += n
    result = new_object(e, inst, "PyTuple_New", f"i64 {len(cells)}")
    _filled(e, e.assign(f"getelementptr i8, ptr {result}, i64 {platform.TUPLE_ITEMS}"), cells)
    return result, own


def _box_dict(e, t, values, inst, take):
    items = _boxed_parts(e, t, values, inst, take)
    names = [kept(e, e.object(name)) for name in t.names]
    return e.python_call(inst, e.object(interpreted.dict_of), [x for pair in zip(names, items) for x in pair], ())


def _open_dict(e, t, pointer, wrong):
    exact(e, pointer, e.external("PyDict_Type"), wrong)
    size = load(e, "i64", pointer, platform.DICT["used"])
    require(e, e.assign(f"icmp eq i64 {size}, {len(t.parts)}"), wrong)
    result = []
    for name, part in t.members:
        value = e.assign(f"call ptr @PyDict_GetItem(ptr {pointer}, ptr {e.object(name)})")
        require(e, e.assign(f"icmp ne ptr {value}, null"), wrong)
        if part.refcounted:
            e.borrowed.append(value)
        result += unbox(e, part, value, wrong)
    return result


def _open_function(e, t, pointer, wrong):
    """Unbox a function with that code and those globals, whose captured values have the right types."""
    exact(e, pointer, e.external("PyFunction_Type"), wrong)
    code = load(e, "ptr", pointer, platform.FUNCTION["code"])
    require(e, e.assign(f"icmp eq ptr {code}, {e.object(t.proto.code)}"), wrong)
    space = load(e, "ptr", pointer, platform.FUNCTION["globals"])
    require(e, e.assign(f"icmp eq ptr {space}, {e.object(t.proto.globals)}"), wrong)
    found = {}
    for name in _ROLES:
        part = load(e, "ptr", pointer, platform.FUNCTION[name])
        has = name in t.roles
        require(e, e.assign(f"icmp {'ne' if has else 'eq'} ptr {part}, null"), wrong)
        if has:
            captured = t.captures[t.roles.index(name)]
            found[name] = (_open_closure(e, captured, part, wrong, pointer) if name == "closure" else
                           unbox(e, captured, part, wrong))
    return [c for role in t.roles for c in found[role]]


def _open_closure(e, t, pointer, wrong, function):
    """Unbox the contents of the cells in the closure of a function, which is a tuple."""
    size = load(e, "i64", pointer, platform.OB_SIZE)
    require(e, e.assign(f"icmp eq i64 {size}, {len(t.parts)}"), wrong)
    result = []
    for i, part in enumerate(t.parts):
        cell = load(e, "ptr", pointer, platform.TUPLE_ITEMS + 8 * i)
        if isinstance(part, k.ObjectCell):
            result += unbox(e, part, cell, wrong)
            continue
        content = load(e, "ptr", cell, platform.CELL_CONTENT)
        require(e, e.assign(f"icmp ne ptr {content}, null"), wrong)
        if isinstance(part, k.Singleton) and type(part.value) is Recursive:
            require(e, e.assign(f"icmp eq ptr {content}, {function}"), wrong)
            continue
        if part.refcounted:
            e.borrowed.append(content)
        result += unbox(e, part, content, wrong)
    return result


def _open_union(e, t, pointer, wrong):
    """Unbox as the first member of the union to which the object belongs."""
    arms, borrowed, done = [], [], e.label("member")
    for i, member in enumerate(t.members):
        last = i + 1 == len(t.members)
        other = wrong if last else e.label("other")
        before = [z for one in t.members[:i] for z in e.zeros(one)]
        after = [z for one in t.members[i + 1:] for z in e.zeros(one)]
        known = len(e.borrowed)
        values = [str(i), *before, *unbox(e, member, pointer, other), *after]
        borrowed.append((e.borrowed[known:], e.current))
        del e.borrowed[known:]
        arms.append((values, e.current))
        e.jump(done)
        if not last:
            e.start(other)
    e.start(done)
    for names, block in borrowed:
        e.borrowed += [e.phi("ptr", [(name if there == block else "null", there) for _, there in borrowed])
                       for name in names]
    return [e.phi(c, [(values[n], block) for values, block in arms]) for n, c in enumerate(e.components(t))]


_ROLES = "defaults", "kwdefaults", "closure"
_COMPOSITES: dict[type, Leaf] = {
    k.Tuple: Leaf((), _box_tuple, _open_tuple), k.ListDisplay: Leaf((), _box_list), k.RecordView: Leaf((), _box_record),
    **dict.fromkeys((k.DictKeys, k.DictValues, k.DictItems), Leaf((), _box_view)),
    k.Slice: Leaf((), _box_slice), k.DictDisplay: Leaf((), _box_dict, _open_dict),
    k.Function: Leaf((), _box_function, _open_function), k.Method: Leaf((), _box_method, _open_method),
    k.Union: Leaf((), _box_union, _open_union), k.Dual: Leaf((), _box_dual),
}
