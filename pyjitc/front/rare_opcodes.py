"""The opcodes, as in opcodes.py, of cells and closures, generators, displays beyond tuples and lists of values, texts,
attributes that are set, exceptions, classes, imports and patterns. Loaded by the first function that has one."""
from __future__ import annotations

from ..ir import core as ir
from ..ops import control, generic
from ..ops.control import UNBOUND
from . import quirks
from .bytecode import VERSION

__all__ = ["HANDLERS"]


def load_fast_and_clear(frame, x):
    name = quirks.local_name(frame.code, x.arg)
    value = frame.locals.get(name)
    frame.push(value if value is not None else frame.constant(UNBOUND))
    frame.locals[name] = frame.constant(UNBOUND)
    frame.bound.discard(name)


def delete_fast(frame, x):
    name = quirks.local_name(frame.code, x.arg)
    frame.load_local(name)
    frame.locals[name] = frame.constant(UNBOUND)
    frame.bound.discard(name)


def store_global(frame, x):
    frame.do(generic.STORE_GLOBAL, (frame.stack.pop(),), name=frame.code.co_names[x.arg])


def delete_global(frame, x):
    frame.unsupported("deleting a global variable", "assign None to it")


def store_deref(frame, x):
    name = quirks.cell_name(frame.code, x.arg)
    value = frame.stack.pop()
    if name in frame.plain:
        frame.store_local(name, value)
    else:
        frame.do(generic.CELL_SET, (frame.cell(name), value), name=name)


def delete_deref(frame, x):
    name = quirks.cell_name(frame.code, x.arg)
    frame.load_cell(name)
    frame.do(generic.CELL_SET, (frame.cell(name), frame.constant(UNBOUND)), name=name)


def make_cell(frame, x):
    name = quirks.cell_name(frame.code, x.arg)
    if name in frame.moved and x.offset > frame.start:
        frame.locals[name] = frame.emit(generic.MAKE_CELL, (frame.locals[name],), name=name)


def load_closure(frame, x):
    frame.push(frame.cell(quirks.cell_name(frame.code, x.arg)))


def delete_subscript(frame, x):
    frame.do(generic.DELITEM, frame.pops(2))


# jumps


def send(frame, x):
    """Run a step of `yield from`: continue after it with the item, or at its end with the iterator's return value."""
    following, target = frame.region_.targets
    *rest, state, _ = frame.stack
    step = frame.emit(generic.NEXT, (state,), delegates=True)
    has = frame.truth_of(generic.ELEMENT, (step,), index=0)
    body, ended = ir.Block("item", ()), ir.Block("ended", ())
    frame.fresh += [body, ended]
    frame.terminate(control.BRANCH, (has,), [ir.Edge(body), ir.Edge(ended)])
    frame.block = ended
    result = frame.emit(generic.RETURNED, (step,))
    frame.stack = [*rest, frame.constant(None), result] if VERSION >= (3, 12) else [*rest, result]
    frame.terminate(control.JUMP, (), [frame.edge(target)])
    frame.block = body
    item = frame.emit(generic.ELEMENT, (step,), index=1)
    frame.stack = [*rest, frame.emit(generic.ELEMENT, (step,), index=2), item]
    frame.terminate(control.JUMP, (), [frame.edge(following)])


def end_send(frame, x):
    result = frame.stack.pop()
    frame.stack[-1] = result


def yield_from(frame, x):
    """The whole of `yield from` in 3.10, where it is one opcode."""
    *rest, first, _ = frame.stack
    state = ir.Value()
    header, body, ended = ir.Block("yield_from", [state]), ir.Block("item", ()), ir.Block("ended", ())
    frame.fresh += [header, body, ended]
    frame.terminate(control.JUMP, (), [ir.Edge(header, [first])])
    frame.block = header
    frame.stack = [*rest, state]
    step = frame.emit(generic.NEXT, (state,), delegates=True)
    has = frame.truth_of(generic.ELEMENT, (step,), index=0)
    frame.terminate(control.BRANCH, (has,), [ir.Edge(body), ir.Edge(ended)])
    frame.block = body
    item = frame.emit(generic.ELEMENT, (step,), index=1)
    following = frame.emit(generic.ELEMENT, (step,), index=2)
    frame.stack = [*rest, following, item]
    frame.emit(generic.YIELD, (item,))
    frame.terminate(control.JUMP, (), [ir.Edge(header, [following])])
    frame.block = ended
    frame.stack = [*rest, frame.emit(generic.RETURNED, (step,))]


def cleanup_throw(frame, x):
    """An exception that is thrown into the generator at a `yield from` leaves it."""
    frame.terminate(control.RERAISE, (frame.stack[-1],), ())


# building


def build_map(frame, x):
    frame.push(_dict_display(frame, [], frame.pops(2 * x.arg)))


def build_const_key_map(frame, x):
    keys = frame.constants[frame.stack.pop()]
    values = frame.pops(x.arg)
    frame.push(_dict_display(frame, [], [v for k, value in zip(keys, values) for v in (frame.constant(k), value)]))


def _dict_display(frame, earlier, items):
    """A display with the items of an earlier one, whose keys are constants, and further items. It may be extended
    again while its keys are constants: computing their hashes runs no code of the program, so that an item may be
    stored after the next one has been computed."""
    display = frame.emit(generic.DICT, ())
    display.inst.args = earlier
    earlier += items
    if all([key in frame.constants for key in items[::2]]):
        frame.extensible.add(display)
    return display


def list_extend(frame, x):
    value = frame.stack.pop()
    frame.stack[-x.arg] = frame.emit(generic.LIST_EXTEND, (frame.stack[-x.arg], value))


def _unused_display(frame, value, op=generic.LIST):
    """The list or dict display of this block that made `value`, if it has no use yet; it is removed from the block,
    since it is made again with one more item. Otherwise compiling a long display would take quadratic time."""
    insts = frame.block.insts
    for k in range(len(insts) - 1, -1, -1):
        if insts[k].result is value:
            return insts.pop(k) if insts[k].op is op else None
        if any(value in user.args for user in (insts[k], *insts[k].edges())):
            return None
    return None


def list_append(frame, x):
    value = frame.stack.pop()
    # `[*a, b]`, or a display of more than 30 items; in a comprehension the iterator is above the list on the stack
    if x.arg == 1:
        display = _unused_display(frame, frame.stack[-1])
        if display is not None:
            frame.stack[-1] = frame.emit(generic.LIST, (*display.args, value))
            return
        value = frame.emit(generic.TUPLE, (value,))
        frame.stack[-1] = frame.emit(generic.LIST_EXTEND, (frame.stack[-1], value))
        return
    frame.do(generic.LIST_APPEND, (frame.stack[-x.arg], value))


def set_add(frame, x):
    value = frame.stack.pop()
    frame.do(generic.SET_ADD, (frame.stack[-x.arg], value))


def set_update(frame, x):
    value = frame.stack.pop()
    frame.stack[-x.arg] = frame.emit(generic.SET_UPDATE, (frame.stack[-x.arg], value))


def map_add(frame, x):
    """Add an item of a comprehension, or of a display, which is made with all its items at the end: the keywords of a
    call that has many of them are such a display."""
    key, value = frame.pops(2)
    before = frame.stack[-x.arg]
    made = before in frame.extensible and key in frame.constants and _unused_display(frame, before, generic.DICT)
    if made:
        frame.stack[-x.arg] = _dict_display(frame, made.args, (key, value))
    else:
        frame.do(generic.DICT_SET, (before, key, value))


def dict_merge(frame, x):
    """Add the items of a dict. Items of a display that nothing else refers to may become some of the display before."""
    value, before = frame.stack.pop(), frame.stack[-x.arg]
    if x.name == "DICT_UPDATE" and {value, before} <= frame.extensible and value not in frame.locals.values():
        part = _unused_display(frame, value, generic.DICT)
        made = part and _unused_display(frame, before, generic.DICT)
        if made:
            frame.stack[-x.arg] = _dict_display(frame, made.args, part.args)
            return
        if part:
            frame.block.insts.append(part)
    frame.stack[-x.arg] = frame.emit(generic.DICT_MERGE, (before, value), unique=x.name == "DICT_MERGE")


def list_to_tuple(frame, x):
    frame.push(frame.emit(generic.LIST_TO_TUPLE, (frame.stack.pop(),)))


def intrinsic_1(frame, x):
    if x.arg == 6:
        list_to_tuple(frame, x)
    elif x.arg == 5:
        frame.push(frame.emit(generic.UNARY, (frame.stack.pop(),), op="+"))
    elif x.arg != 3:  # 3 is the StopIteration that leaves a generator
        frame.unsupported("this construct")


def format_value(frame, x):
    spec = frame.stack.pop() if x.arg & 4 else frame.constant(None)
    value = frame.stack.pop()
    frame.push(frame.emit(generic.FORMAT, (value, spec), conversion=("", "s", "r", "a")[x.arg & 3]))


def convert_value(frame, x):
    frame.push(frame.emit(generic.FORMAT, (frame.stack.pop(), frame.constant(None)),
                          conversion=("", "s", "r", "a")[x.arg]))


def format_simple(frame, x):
    frame.push(frame.emit(generic.FORMAT, (frame.stack.pop(), frame.constant(None)), conversion=""))


def format_with_spec(frame, x):
    value, spec = frame.pops(2)
    frame.push(frame.emit(generic.FORMAT, (value, spec), conversion=""))


def unpack_ex(frame, x):
    before, after = x.arg & 255, x.arg >> 8
    parts = frame.emit(generic.UNPACK_EX, (frame.stack.pop(),), before=before, after=after)
    for k in range(before + after, -1, -1):
        frame.push(frame.emit(generic.ELEMENT, (parts,), index=k))


# attributes and calls


def load_super_attr(frame, x):
    """Load super().name or super(cls, x).name."""
    made = frame.emit(generic.CALL, frame.pops(3), kwnames=())
    value = frame.emit(generic.GETATTR, (made,), name=frame.code.co_names[x.arg >> 2])
    quirks.push_callable(frame, value, x.arg & 1)


def store_attr(frame, x):
    value, holder = frame.pops(2)
    frame.do(generic.SETATTR, (holder, value), name=frame.code.co_names[x.arg])


def delete_attr(frame, x):
    frame.do(generic.DELATTR, (frame.stack.pop(),), name=frame.code.co_names[x.arg])


def call_function_ex(frame, x):
    kwargs = [frame.stack.pop()] if x.arg & 1 else []
    args = frame.stack.pop()
    if VERSION >= (3, 13):
        frame.stack.pop()
    callee = frame.stack.pop()
    if (3, 11) <= VERSION < (3, 13):
        frame.stack.pop()
    first = written_before(frame, args)
    frame.push(frame.emit(generic.CALL_STAR, (callee, args, *kwargs, *first), kwargs=bool(kwargs)))


def written_before(frame, args):
    """The arguments of `f(x, y, *items)` before the first one with a star, which are taken out of the list that becomes
    the tuple `args`: each keeps its own type where the number of items is not known."""
    made = {inst.result: inst for inst in frame.block.insts}
    inst = made.get(args)
    if inst is None or inst.op is not generic.LIST_TO_TUPLE:
        return ()
    while inst is not None and inst.op in (generic.LIST_TO_TUPLE, generic.LIST_EXTEND, generic.LIST_APPEND):
        inst = made.get(inst.args[0])
    if inst is None or inst.op is not generic.LIST:
        return ()
    first = tuple(inst.args)
    inst.args[:] = ()
    return first


def make_function(frame, x):
    if VERSION < (3, 11):
        qualname = frame.constants[frame.stack.pop()]
    code = frame.constants[frame.stack.pop()]
    if VERSION >= (3, 11):
        qualname = code.co_qualname
    roles = {}
    if VERSION < (3, 13):
        for bit, role in ((8, "closure"), (4, "annotations"), (2, "kwdefaults"), (1, "defaults")):
            if x.arg & bit:
                roles[role] = frame.stack.pop()
    frame.push(function_of(frame, code, qualname, roles))


def function_of(frame, code, qualname, roles):
    layout = frame.recursive.get(id(code))
    if layout is not None and "closure" in roles:
        roles["closure"] = frame.closure(layout)
    order = tuple(r for r in ("defaults", "kwdefaults", "annotations", "closure") if r in roles)
    value = frame.emit(generic.MAKE_FUNCTION, [roles[r] for r in order], code=code, qualname=qualname, has=order)
    frame.made[value] = (code, qualname, roles)
    return value


def set_function_attribute(frame, x):
    part, function = frame.pops(2)
    code, qualname, roles = frame.made.pop(function)
    insts = frame.block.insts
    # the function is made again with all its parts
    del insts[next(n for n, inst in enumerate(insts) if inst.result is function)]
    role = {1: "defaults", 2: "kwdefaults", 4: "annotations", 8: "closure"}[x.arg]
    frame.push(function_of(frame, code, qualname, {**roles, role: part}))


def yield_value(frame, x):
    frame.push(frame.emit(generic.YIELD, (frame.stack.pop(),)))


def return_generator(frame, x):
    if VERSION >= (3, 11):
        frame.push(frame.constant(None))


# exceptions


def raise_varargs(frame, x):
    if x.arg == 0:
        frame.terminate(control.RERAISE, (), ())
    else:
        frame.terminate(control.RAISE, frame.pops(x.arg), ())


def reraise(frame, x):
    if VERSION < (3, 11):
        exc = frame.pops(3)[1]
    else:
        exc = frame.stack.pop()
    frame.terminate(control.RERAISE, (exc,), ())


def push_exc_info(frame, x):
    exc = frame.stack.pop()
    frame.stack += [frame.emit(generic.EXC_ENTER, (exc,)), exc]


def before_with(frame, x):
    manager = frame.stack.pop()
    leave = frame.emit(generic.GETATTR, (manager,), name="__exit__", managed=True)
    enter = frame.emit(generic.GETATTR, (manager,), name="__enter__")
    frame.stack.append(leave)
    frame.push(frame.emit(generic.CALL, (enter,), kwnames=()))


def with_except_start(frame, x):
    leave, exc = (frame.stack[-7], frame.stack[-2]) if VERSION < (3, 11) else (frame.stack[-4], frame.stack[-1])
    frame.push(frame.emit(generic.WITH_LEAVE, (leave, exc)))


def pop_except(frame, x):
    previous = frame.pops(3)[0] if VERSION < (3, 11) else frame.stack.pop()
    frame.do(generic.EXC_LEAVE, (previous,))


def check_exc_match(frame, x):
    cls = frame.stack.pop()
    frame.push(frame.truth_of(generic.EXC_MATCH, (frame.stack[-1], cls)))


def jump_if_not_exc_match(frame, x):
    following, target = frame.region_.targets
    exc, cls = frame.pops(2)
    frame.branch(frame.truth_of(generic.EXC_MATCH, (exc, cls)), following, target)


def check_group_match(frame, x):
    """Make the part of the exception that `except* classes` catches the handled one."""
    found = frame.emit(generic.GROUP_MATCH, frame.pops(2))
    rest, caught, handled = (frame.emit(generic.ELEMENT, (found,), index=k) for k in range(3))
    frame.emit(generic.EXC_ENTER, (handled,))
    frame.stack += [rest, caught]


def prepare_reraise(frame, x):
    """After the last `except*`: the exception that leaves the statement, or None."""
    frame.push(frame.emit(generic.GROUP_LEFT, frame.pops(2)))


def intrinsic_2(frame, x):
    if x.arg == 1:
        prepare_reraise(frame, x)
    else:
        frame.unsupported("this construct")


def load_assertion_error(frame, x):
    frame.push(frame.emit(generic.BUILTIN, (), name="AssertionError"))


def load_build_class(frame, x):
    frame.push(frame.emit(generic.BUILTIN, (), name="__build_class__"))


def import_name(frame, x):
    level, names = frame.pops(2)
    frame.push(frame.emit(generic.IMPORT, (), name=frame.code.co_names[x.arg], level=frame.constants.get(level, 0),
                        fromlist=frame.constants.get(names)))


def import_from(frame, x):
    frame.push(frame.emit(generic.IMPORT_FROM, (frame.stack[-1],), name=frame.code.co_names[x.arg]))


# match


def get_len(frame, x):
    frame.push(frame.emit(generic.LENGTH, (frame.stack[-1],)))


def match_sequence(frame, x):
    frame.push(frame.truth_of(generic.MATCH_SEQUENCE, (frame.stack[-1],)))


def match_mapping(frame, x):
    frame.push(frame.truth_of(generic.MATCH_MAPPING, (frame.stack[-1],)))


def match_keys(frame, x):
    found = frame.emit(generic.MATCH_KEYS, frame.stack[-2:])
    frame.push(found)
    if VERSION < (3, 11):
        frame.push(frame.truth_of(generic.COMPARE, (found, frame.constant(None)), op="is not"))


def copy_dict_without_keys(frame, x):
    """The rest of a mapping pattern in 3.10; later versions compile it to other opcodes."""
    frame.stack[-1] = frame.emit(generic.MATCH_REST, frame.stack[-2:])


def match_class(frame, x):
    subject, cls, names = frame.pops(3)
    found = frame.emit(generic.MATCH_CLASS, (subject, cls), count=x.arg, kwnames=frame.constants[names])
    frame.push(found)
    if VERSION < (3, 11):
        frame.push(frame.truth_of(generic.COMPARE, (found, frame.constant(None)), op="is not"))


HANDLERS = {
    "LOAD_FAST_AND_CLEAR": load_fast_and_clear, "DELETE_FAST": delete_fast, "STORE_GLOBAL": store_global,
    "DELETE_GLOBAL": delete_global, "STORE_DEREF": store_deref, "DELETE_DEREF": delete_deref, "MAKE_CELL": make_cell,
    "LOAD_CLOSURE": load_closure, "DELETE_SUBSCR": delete_subscript, "SEND": send, "END_SEND": end_send,
    "YIELD_FROM": yield_from, "CLEANUP_THROW": cleanup_throw, "BUILD_MAP": build_map,
    "BUILD_CONST_KEY_MAP": build_const_key_map, "LIST_EXTEND": list_extend, "LIST_APPEND": list_append,
    "SET_ADD": set_add, "SET_UPDATE": set_update, "MAP_ADD": map_add, "DICT_MERGE": dict_merge,
    "DICT_UPDATE": dict_merge, "LIST_TO_TUPLE": list_to_tuple, "CALL_INTRINSIC_1": intrinsic_1,
    "FORMAT_VALUE": format_value, "CONVERT_VALUE": convert_value, "FORMAT_SIMPLE": format_simple,
    "FORMAT_WITH_SPEC": format_with_spec, "UNPACK_EX": unpack_ex, "LOAD_SUPER_ATTR": load_super_attr,
    "STORE_ATTR": store_attr, "DELETE_ATTR": delete_attr, "CALL_FUNCTION_EX": call_function_ex,
    "MAKE_FUNCTION": make_function, "SET_FUNCTION_ATTRIBUTE": set_function_attribute, "YIELD_VALUE": yield_value,
    "RETURN_GENERATOR": return_generator, "RAISE_VARARGS": raise_varargs, "RERAISE": reraise,
    "PUSH_EXC_INFO": push_exc_info, "POP_EXCEPT": pop_except, "BEFORE_WITH": before_with, "SETUP_WITH": before_with,
    "WITH_EXCEPT_START": with_except_start, "CHECK_EXC_MATCH": check_exc_match, "CHECK_EG_MATCH": check_group_match,
    "PREP_RERAISE_STAR": prepare_reraise, "CALL_INTRINSIC_2": intrinsic_2,
    "JUMP_IF_NOT_EXC_MATCH": jump_if_not_exc_match, "LOAD_ASSERTION_ERROR": load_assertion_error,
    "LOAD_BUILD_CLASS": load_build_class, "IMPORT_NAME": import_name, "IMPORT_FROM": import_from, "GET_LEN": get_len,
    "MATCH_SEQUENCE": match_sequence, "MATCH_MAPPING": match_mapping, "MATCH_KEYS": match_keys,
    "COPY_DICT_WITHOUT_KEYS": copy_dict_without_keys, "MATCH_CLASS": match_class,
}
