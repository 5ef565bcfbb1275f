"""The meaning of each generic operation: one method per operation, in a mixin of the evaluator of evaluate.py."""
from __future__ import annotations

import operator
from typing import Callable

from ..base.lazy import lazy
from ..ops import control, exceptions, generic, memory, pyobject, structure
from ..types.classes import defines
from ..types.kinds import (
    Array, Bool, Container, Dict, DictDisplay, DType, Exception_, Function, FunctionObject, List, ListDisplay, Method,
    NoneType, Object, ObjectOf, Singleton, Str, Struct, Super, Tuple, Type, Undefined, Union, any_part, is_display,
    is_integer, is_plain_tuple, is_scalar, members_of as types_of,
)
from .attributes import OfAttributes
from .constants import constant, is_wide, plain_value, plain_values, too_wide, unsigned
from .expressions import Raise, Split, dict_of, key_error, list_of, meaning_av, members_of, new_list
from .meaning import (
    UNKNOWN, Apply, Const, Expr, Mismatch, NeedsList, NotConstant, NotConverted, NotNative, Operand, Restart, Share,
    Throw, thrown,
)
from .names import describe, needs_objects, with_object
from .session import value_of_member

interpreted = lazy("pyjitc.runtime.interpreted")
boxed = lazy(f"{__package__}.boxed")  # only programs that need the interpreter load it
displays = lazy(f"{__package__}.displays")  # only programs with list displays load it
matching = lazy(f"{__package__}.matching")  # only programs with `match` load it
starred = lazy(f"{__package__}.starred")  # only programs that call functions with * or ** of any length load it

__all__ = ["HANDLERS", "Operations", "static_value"]

_VARARGS, _KEYWORDS, _GENERATOR = 0x04, 0x08, 0x20  # inspect.CO_VARARGS, CO_VARKEYWORDS, CO_GENERATOR


class Operations(OfAttributes):
    """The meaning of each generic operation: the methods of HANDLERS. evaluate.Evaluator, the subclass, has the
    attributes below and those of `OfAttributes`, and provides the abstract values of operands."""

    settle: Callable
    call: Callable
    user_call: Callable
    consumed_once: Callable
    generator_state: Callable

    def const(self, inst, operands):
        return self.constant_of(inst, inst.attrs["value"])

    def constant_of(self, inst, value):
        """The constant `value`. An int from 2**63 to 2**64 is accepted if only calls and operators use it, since these
        may take it as a np.uint64; with the option `numba` it is one elsewhere."""
        if type(value) is int and 1 << 63 <= value < 1 << 64:
            fits = (generic.CALL, generic.BINARY, generic.COMPARE, generic.LIST, generic.SETITEM)
            if all(other.op in fits or inst.result not in other.args for block in self.analysis.fn.blocks
                   for other in block.insts) and not any(
                    inst.result in edge.args for block in self.analysis.fn.blocks for edge in block.edges()):
                return Const(Singleton(value), value)
            if self.session.options.numba:
                return unsigned(Const(Singleton(value), value))
        return self.held_constant(value)

    def held_constant(self, value):
        """A constant. The items of a container are read at run time; the container may be the same object as an
        argument."""
        if type(value) is dict and self.reads_constants(self.inst, value):
            return Const(Singleton(value), value)
        return self.opened_containers(constant(value))

    def opened_containers(self, found):
        """The constant with variables for the types of the items of its containers."""
        if type(found) is not Apply:
            return found
        if found.op is structure.TUPLE_MAKE:
            return Apply(structure.TUPLE_MAKE, *map(self.opened_containers, found.operands), **found.attrs)
        if isinstance(found.type, Container):
            if found.type.passing:  # it holds objects
                self.session.look(found.operands[0].value)
            t = self.session.opened(found.type, self.session.arguments)
            return Apply(pyobject.PY_UNBOX, *found.operands, type=t)
        return found

    def reads_constants(self, inst, value) -> bool:
        """Whether an instruction loads a dict of the program only to read items by constant keys, and nothing in the
        program uses the dict otherwise: then these items are constants."""
        findings = self.session.findings
        known = displays.reads_constants(self.analysis.fn, inst)
        if known and id(value) not in findings.changed:
            findings.constant[id(value)] = value
            return True
        if id(value) in findings.constant and id(value) not in findings.changed:
            findings.changed[id(value)] = value
            raise Restart
        findings.changed[id(value)] = value
        return False

    def binary(self, inst, operands):
        operands = plain_values(operands, inst.attrs["op"], inst.op is generic.INPLACE)
        if all([is_plain_tuple(x.type) for x in operands]):
            if inst in self.session.findings.sums:
                return self.library.joined_tuple(*operands)
            self.analysis.note_lengths(inst, self.block)
        return self.library.binary(inst.attrs["op"], *operands, inplace=inst.op is generic.INPLACE)

    def unary(self, inst, operands):
        if inst.attrs['op'] != 'not':
            operands = plain_values(operands, inst.attrs['op'])
        return self.library.unary(inst.attrs["op"], operands[0])

    def compare(self, inst, operands):
        if inst.attrs['op'] not in ('is', 'is not'):
            operands = plain_values(operands, inst.attrs['op'])
        elif inst.args[0] is inst.args[1]:  # one value, whether its kind has an identity or not
            return constant(inst.attrs['op'] == 'is')
        return self.library.compare(inst.attrs["op"], *operands)

    def truth(self, inst, operands):
        return self.library.truth(operands[0])

    def getitem(self, inst, operands):
        x, i = operands
        if isinstance(x.type, Singleton) and type(x.type.value) is dict and i.known:
            config = x.type.value
            value = config.get(i.value, UNKNOWN)
            self.session.depend(config, i.value, value)
            return key_error(i) if value is UNKNOWN else self.held_constant(value)
        return self.library.getitem(plain_value(x), self.as_index(x, i))

    def setitem(self, inst, operands):
        x, i, value = operands
        return self.library.setitem(x, self.as_index(x, i), _as_element(x, value), not self.analysis.spec.proto.library)

    def delitem(self, inst, operands):
        x, i = operands
        return self.library.delitem(x, self.as_index(x, i))

    def as_index(self, x: Expr, i: Expr) -> Expr:
        """The index of an item of `x`. A member of an IntEnum is its int where it is a position, and an array without
        axes is its integer; a key stays as it is."""
        t = x.type
        if isinstance(t, (Dict, DictDisplay, ObjectOf)) or t is Object or isinstance(t, Singleton) and isinstance(
                t.value, dict):
            return i
        i = plain_value(i)
        if isinstance(t, Array) and isinstance(i.type, Tuple) and any(map(_has_index, i.type.elements)):
            items: list[Expr] = [Apply(structure.TUPLE_GET, i, index=k) for k in range(len(i.type.elements))]
            items = [self.by_index(x) if _has_index(x.type) else x for x in items]
            return Apply(structure.TUPLE_MAKE, *items, cls=None)
        return i if isinstance(t, Array) and isinstance(i.type, Array) else self.as_position(i)

    def as_position(self, i: Expr) -> Expr:
        """An integer array without axes as its integer; any other value unchanged. Objects of the program are converted
        by their `__index__`."""
        if _has_index(i.type):
            raise NotConverted("", "", i, operator.index)
        whole = isinstance(i.type, Array) and not i.type.ndim and is_integer(i.type.dtype)
        return self.library.getitem(i, constant(())) if whole else i

    def by_index(self, x: Expr) -> Expr:
        """The int that the method `__index__` of an object returns."""
        made, av = self.settle(self.call(constant(operator.index), [x], {}))
        if av is None:
            raise NotNative("an index whose __index__ always raises is not compiled", "call operator.index() before")
        return Apply(structure.RETYPE, made, type=made.type)

    def slice_(self, inst, operands):
        return Apply(structure.SLICE_MAKE, *(self.library.slice_bound(x) if type(x.type) is Union else
                                             self.as_position(x) for x in operands))

    def call_inst(self, inst, operands):
        names = inst.attrs.get("kwnames") or ()
        count = len(operands) - len(names)
        callee = operands[0]
        if callee.value is dict and self.session.findings.returned and inst in displays.read_only(
                self.analysis.fn, True):
            if count == 1 or isinstance(operands[1].type, DictDisplay):  # dict(a=x), as {"a": x}, or dict(p, a=x)
                given = members_of(operands[1]) if count == 2 else {}
                return dict_of({**given, **dict(zip(names, operands[count:]))}.items())
        meaning = self.whole_call(inst, callee, operands[1:count], dict(zip(names, operands[count:])))
        made = isinstance(callee.type, Singleton) and self.library.makes_iterator(callee.type.value)
        if made and not self.consumed_once():
            if type(meaning) is Split:
                raise NotNative(f"{callee.type.value.__name__}() of a value of several types cannot be kept in a "
                                f"variable",
                                "iterate over the call itself")
            return Share(meaning)
        return meaning

    def whole_call(self, inst, callee, args, kwargs):
        """A call whose operands may be unions: Python functions and boxing calls take unions; for rules of the library
        they are split."""
        if type(callee.type) is Union:
            return self.split_call(callee, callee, args, kwargs)
        t = callee.type
        if t is Object:
            return self.call(callee, args, kwargs)
        if not isinstance(t, (Function, FunctionObject)) and not (
                isinstance(t, Method) and isinstance(t.receiver, (ObjectOf, Super))):
            target = t.value if isinstance(t, Singleton) else None
            function = self.session.function_of(target) if target is not None else None
            whole = function is not None and self.library.rule_for(target) is None or self.library.takes_unions(target)
            if not whole:
                for x in [*args, *kwargs.values()]:
                    if type(x.type) is Union:
                        return self.split_call(x, callee, args, kwargs)
        first = self.library.takes_lists(t)
        if first is not None:
            args, kwargs = [*args[:first], *map(self.as_tuple, args[first:])], {name: self.as_tuple(x)
                                                                                for name, x in kwargs.items()}
        try:
            return self.call(callee, args, kwargs)
        except Mismatch as error:
            if self.session.options.numba and any(map(is_wide, [*args, *kwargs.values()])):
                return self.call(callee, list(map(unsigned, args)), {name: unsigned(x) for name, x in kwargs.items()})
            for x in [*args, *kwargs.values()]:
                if is_wide(x):  # this explains the error better than the other message
                    raise too_wide(x.type.value) from error
            error.hint = error.hint or self.library.advice_of_call(callee, args, kwargs, error.message)
            raise

    def as_tuple(self, x):
        """An argument of a function that takes lists of constants as tuples: a display of constants becomes a constant
        tuple; any other argument is unchanged."""
        if type(x) is Operand and x.index >= 0 and not x.known and isinstance(x.type, (Struct, Tuple)):
            value = self.written(self.inst.args[x.index])
            if value is not UNKNOWN:
                return constant(value)
        return x

    def written(self, value):
        """The Python value of a constant, or of a display of constants with tuples in place of lists; UNKNOWN for
        anything else."""
        inst = self.analysis.shape.definitions.get(value)
        if inst is None or inst.op not in (control.CONST, generic.LIST, generic.TUPLE, generic.LIST_EXTEND):
            return UNKNOWN
        if inst.op is control.CONST:
            return inst.attrs["value"]
        parts = [self.written(part) for part in inst.args]
        if any(part is UNKNOWN for part in parts):
            return UNKNOWN
        return parts[0] + parts[1] if inst.op is generic.LIST_EXTEND else tuple(parts)

    def split_call(self, on, callee, args, kwargs):
        if type(on) is not Operand or on.index < 0:
            return self.library.called(callee, args, kwargs)

        def call(narrow):
            given = [narrow if x is on else x for x in (callee, *args, *kwargs.values())]
            return self.whole_call(self.inst, given[0], given[1:len(args) + 1],
                                   dict(zip(kwargs, given[len(args) + 1:])))

        return self.cases(on, call)

    def cases(self, on, call):
        """The results of `call` for each member of the union that is the type of operand `on`."""
        cases, mismatch = [], None
        for member in on.type.members:
            try:
                meaning = call(Operand(on.index, member, value_of_member(on, member)))
                if type(meaning) is Split:
                    av = meaning_av(meaning)
                else:
                    meaning, av = self.settle(meaning)
            except Mismatch as error:
                if isinstance(error, NotNative) and self.session.options.objects:
                    raise  # the interpreter does the whole operation
                mismatch = error
                meaning, av = thrown(error), None
            cases.append((member, meaning, av))
        if mismatch is not None and all(type(m) is Throw for _, m, _ in cases):
            raise mismatch
        return Split(on.index, cases)

    def call_star(self, inst, operands):
        callee, items, *first = operands
        by_name = first.pop(0) if inst.attrs["kwargs"] else dict_of(())
        for one in (items, callee):
            if type(one.type) is Union and type(one) is Operand and one.index >= 0 and (
                    one is items or self.library.elements(items) is None or isinstance(by_name.type, Dict)):
                return self.cases(one, lambda narrow: self.call_star(
                    inst, [narrow if x is one else x for x in operands]))
        args = self.library.elements(items)
        if args is None and (isinstance(items.type, Container) or self.library.is_iterable(items)):
            if not isinstance(items.type, Container):
                items = self.settle(self.library.tuple_of(items))[0]
            return starred.call_starred(self, callee, first, items, by_name, self.named(inst, by_name))
        if args is None and not first and (items.type is NoneType or is_scalar(items.type)):
            raise Mismatch(f"{_shown(callee)} argument after * must be an iterable, not {describe(items.type)[1:-1]}")
        args = [*first, *self.elements(items)]
        if isinstance(by_name.type, Dict):
            return starred.call_starred(self, callee, args, None, by_name, {})
        return self.whole_call(inst, callee, args, self.named(inst, by_name))

    def named(self, inst, by_name):
        """The keywords of a call with `*` by their names. Those that the call names itself keep the values of
        constants. Empty where the names are known only at run time."""
        if isinstance(by_name.type, Dict):
            return {}
        found = members_of(by_name)
        made = inst.args[2].inst if inst.attrs["kwargs"] else None
        if made is not None and made.op is generic.DICT and len(made.args) == 2 * len(found):
            for name, value in zip(found, made.args[1::2]):
                av = self.analysis.lookup(value, self.block)
                if av is not None and av[1] is not UNKNOWN:
                    found[name] = Const(*av)
        return found

    def tuple_(self, inst, operands):
        return Apply(structure.TUPLE_MAKE, *operands, cls=None)

    def list_(self, inst, operands):
        if self.is_list(inst):
            return new_list(map(self.kept, operands))
        return list_of(operands)

    def list_extend(self, inst, operands):
        made, more = operands
        items = self.library.elements(more)
        if not isinstance(made.type, List):
            if items is not None and not self.is_list(inst):
                return list_of(self.elements(made) + items)
            if any_part(more.type, lambda part: isinstance(part, ListDisplay)) and type(more.type) is Union:
                raise NeedsList
            if items is None and not all([self.library.is_iterable(Operand(1, t, UNKNOWN))
                                          for t in types_of(more.type)]):
                self.elements(more)  # raises the right error
            self.session.findings.lists.add(inst)
            made, _ = self.settle(new_list(map(self.kept, self.elements(made))))
        return self.library.extended(made, more)

    def list_append(self, inst, operands):
        made, item = operands
        if not isinstance(made.type, List):
            raise NeedsList
        return self.library.appended(made, self.kept(item))

    def kept(self, x):
        """`x` as an item of a container: a list display must become a list."""
        if any_part(x.type, lambda part: isinstance(part, ListDisplay)):
            raise NeedsList
        return x

    def is_list(self, inst) -> bool:
        """Whether a list display must be a list, and cannot be a value whose type has the types of its items."""
        findings = self.session.findings
        return (findings.every and not self.analysis.spec.proto.library or inst in findings.lists
                or inst in displays.changed(self.analysis.fn, self.analysis.shape))

    def list_to_tuple(self, inst, operands):
        if isinstance(operands[0].type, List):
            return self.library.tuple_of(operands[0])
        return Apply(structure.TUPLE_MAKE, *self.elements(operands[0]), cls=None)

    def set_(self, inst, operands):
        return self.library.new_set(operands)

    def set_add(self, inst, operands):
        return self.library.set_added(*operands)

    def set_update(self, inst, operands):
        return self.library.set_extended(*operands)

    def dict_set(self, inst, operands):
        return self.library.setitem(*operands, True)

    def dict_(self, inst, operands):
        if not self.analysis.spec.proto.library and inst not in displays.read_only(
                self.analysis.fn, self.session.findings.returned):
            return self.library.new_dict(operands)
        return dict_of([(key.value, value) for key, value in zip(operands[::2], operands[1::2])])

    def dict_merge(self, inst, operands):
        if isinstance(operands[0].type, Dict):
            return self.library.dict_merged(*operands)
        before = members_of(operands[0])
        if "anew" in inst.attrs and not isinstance(operands[1].type, (Dict, DictDisplay)):
            raise NotNative(f"the items of this {describe(operands[1].type)[1:-1]} are put into a dict in a function "
                            "that is differentiated or batched, where the keys of a dict must be known at compile time",
                            "write the keys out: d.update({'a': x}) or d['a'] = x")
        if inst.attrs["unique"] and isinstance(operands[1].type, Dict):  # the keywords of a call
            return self.library.keywords(before, operands[1]) if before else operands[1]
        if isinstance(operands[1].type, Dict):
            items = [x for name, value in before.items() for x in (constant(name), value)]
            return self.library.dict_merged(self.library.new_dict(items), operands[1])
        more = members_of(operands[1])
        if inst.attrs["unique"]:
            for name in more:
                if name in before:
                    raise Mismatch(f"got multiple values for keyword argument '{name}'")
        return dict_of({**before, **more}.items())

    def dict_without(self, inst, operands):
        items = members_of(operands[0])
        key = operands[1].value
        if key not in items and not inst.attrs["may_miss"]:
            return key_error(operands[1])
        return dict_of([item for item in items.items() if item[0] != key])

    def format_(self, inst, operands):
        value, spec = operands
        if value.type is Str and spec.type is NoneType and inst.attrs.get("conversion", "") in ("", "s"):
            return value
        text = value if value.type is Object else Apply(pyobject.PY_BOX, with_object(value))
        return Apply(pyobject.PY_FORMAT, text, spec if spec.type is NoneType else Apply(pyobject.PY_BOX, spec),
                     conversion=inst.attrs.get("conversion", ""))

    def string(self, inst, operands):
        return Apply(pyobject.PY_JOIN, *operands)

    def elements(self, x):
        """The items of a starred value."""
        items = self.library.elements(x)
        if items is None and (x.type is NoneType or is_scalar(x.type)):
            raise Mismatch(f"Value after * must be an iterable, not {describe(x.type)[1:-1]}")
        if items is None:
            raise NotConstant(f"the length of this {describe(x.type)} must be known at compile time to be unpacked "
                              "with *", "pass a tuple")
        return items

    def unpack(self, inst, operands):
        return self.library.unpack(operands[0], inst.attrs["count"])

    def unpack_ex(self, inst, operands):
        before, after = inst.attrs["before"], inst.attrs["after"]
        parts = self.library.elements(operands[0])
        if parts is None:
            return self.library.unpack_rest(operands[0], before, after)
        if len(parts) < before + after:
            return Throw(ValueError,
                         f"not enough values to unpack (expected at least {before + after}, got {len(parts)})")
        middle = parts[before:len(parts) - after]
        rest = new_list(map(self.kept, middle)) if self.is_list(inst) else list_of(middle)
        return Apply(structure.TUPLE_MAKE, *parts[:before], rest, *(parts[len(parts) - after:] if after else ()),
                     cls=None)

    def iter_(self, inst, operands):
        return self.library.iter(plain_value(operands[0]))

    def next_(self, inst, operands):
        return self.library.next(operands[0], inst.attrs.get("delegates", False))

    def returned(self, inst, operands):
        t = operands[0].type
        if not isinstance(t, Tuple) or len(t.elements) < 4:
            return constant(None)
        if t.elements[3] is Undefined:  # no `return` was reached so far
            return Throw(RuntimeError, "a generator without an end has ended")
        return Apply(structure.TUPLE_GET, operands[0], index=3)

    def element(self, inst, operands):
        """A part of the result of a step of an iterator: whether there is an item, the item, or the next state."""
        if inst.attrs["index"] == 1 and operands[0].type.elements[1] is Undefined:
            return Throw(TypeError, "an iterator has an item, but was known to be empty when this code was compiled")
        return Apply(structure.TUPLE_GET, operands[0], index=inst.attrs["index"])

    def make_function(self, inst, operands):
        has = inst.attrs.get("has", ())
        roles = tuple(role for role in ("defaults", "kwdefaults", "annotations", "closure") if role in has)
        kept = [(role, x) for role, x in zip(roles, operands) if role != "annotations"]
        proto = self.session.nested(self.analysis.spec.proto, inst.attrs["code"], inst.attrs["qualname"])
        t = Function(proto, tuple(x.type for _, x in kept), tuple(role for role, _ in kept))
        made = Apply(structure.FUNCTION_MAKE, *(x for _, x in kept), type=t)
        if proto.code not in self.session.findings.functions:
            return made
        for _, x in kept:
            needs_objects(x.type)
            if is_display(x.type):
                raise NeedsList
        return Apply(structure.RETYPE, Apply(pyobject.PY_BOX, made), type=FunctionObject(t))

    def import_(self, inst, operands):
        name, level, fromlist = inst.attrs["name"], inst.attrs.get("level", 0), inst.attrs.get("fromlist")
        try:
            value = __import__(name, self.analysis.spec.proto.globals, None, fromlist or (), level or 0)
        except ImportError as error:
            return Throw(type(error), str(error))
        return constant(value)

    def import_from(self, inst, operands):
        module, name = operands[0], inst.attrs["name"]
        try:
            return self.attribute(module, name)
        except Mismatch as error:
            if error.exception is not AttributeError or not isinstance(module.type, Singleton):
                raise
            origin = getattr(module.type.value, "__file__", None) or "unknown location"
            raise Mismatch(f"cannot import name {name!r} from {module.type.value.__name__!r} ({origin})", error.hint,
                           ImportError) from None

    def catch(self, inst, operands):
        return Apply(exceptions.EXC_FETCH)

    def exc_match(self, inst, operands):
        exc, classes = operands
        wanted: tuple
        if isinstance(classes.type, Singleton):
            wanted = (classes.type.value,)
        elif classes.known and isinstance(classes.value, tuple):
            wanted = classes.value
        else:
            given = classes.type.elements if isinstance(classes.type, Tuple) else ()
            wanted = tuple(e.value for e in given if isinstance(e, Singleton))
            if not isinstance(classes.type, Tuple) or len(wanted) != len(given):
                raise NotConstant("the class in `except` must be known at compile time")
        for cls in wanted:
            if not (isinstance(cls, type) and issubclass(cls, BaseException)):
                return Throw(TypeError, "catching classes that do not inherit from BaseException is not allowed")
        if isinstance(exc.type, Exception_) and all(issubclass(exc.type.cls, c) for c in wanted[:1]):
            return Const(Bool, True)
        return Apply(exceptions.EXC_MATCH, exc, classes=tuple(wanted))

    def group_match(self, inst, operands):
        return boxed.parts_of(boxed.by_python(interpreted.group_match, *operands), 3)

    def group_left(self, inst, operands):
        return boxed.by_python(interpreted.group_left, *operands)

    def exc_enter(self, inst, operands):
        return Apply(exceptions.EXC_PUSH, operands[0])

    def exc_leave(self, inst, operands):
        return Apply(exceptions.EXC_POP, operands[0])

    def raise_(self, inst, operands):
        exc = operands[0]
        made = [self.exception_value(exc)]
        if len(operands) > 1:
            cause = operands[1]
            made.append(cause if cause.type is NoneType
                        else self.exception_value(cause, "exception causes must derive from BaseException"))
        return Raise(made)

    def exception_value(self, x, message="exceptions must derive from BaseException"):
        if isinstance(x.type, Exception_):
            return x
        if isinstance(x.type, Singleton):
            target = x.type.value
            if isinstance(target, type) and issubclass(target, BaseException):
                return Apply(exceptions.EXC_NEW, cls=target)
            if isinstance(target, BaseException):
                return Apply(structure.RETYPE, Const(Object, target), type=Exception_(type(target)))
        raise Mismatch(message)

    def reraise(self, inst, operands):
        return Raise([boxed.exception(x) if x.type is Object else x for x in operands], again=True)

    def match(self, inst, operands):
        return matching.HANDLERS[inst.op](self, inst, operands)

    def with_leave(self, inst, operands):
        leave, exc = operands
        if leave.type is Object:
            return boxed.by_python(interpreted.leave, leave, exc)
        cls = trace = constant(None)
        if not isinstance(leave.type, Singleton):  # np.errstate ignores the exception
            cls, trace = boxed.get_attribute(exc, "__class__"), boxed.get_attribute(exc, "__traceback__")
        return self.whole_call(inst, leave, [cls, exc, trace], {})

    def length(self, inst, operands):
        return self.library.length(operands[0])

    def builtin(self, inst, operands):
        import_name = inst.attrs["name"]
        value = getattr(__import__("builtins"), import_name)
        return Const(Singleton(value), value)

    def unsupported(self, inst, operands):
        raise NotNative(f"{inst.attrs['construct']} is not supported in compiled functions", inst.attrs.get("hint", ""))

    def state(self, inst, operands):
        return self.generator_state(inst.attrs["step"], operands)

    def poll(self, inst, operands):
        return Apply(memory.POLL, cost=4)

    def no_yield(self, inst, operands):
        raise NotNative("a generator cannot be handed to the interpreter yet",
                        "iterate over it inside a compiled function")


def _has_index(t: Type) -> bool:
    """Whether the class of an object is one of the program that defines `__index__`."""
    return isinstance(t, ObjectOf) and defines(t.cls, "__index__")


def _as_element(x: Expr, value: Expr) -> Expr:
    """A value that is stored in `x`: a member of an IntEnum is its int in arrays and the like; others keep objects."""
    holds = isinstance(x.type, (Container, ListDisplay, DictDisplay, ObjectOf, Singleton)) or x.type is Object
    return value if holds else plain_value(value)


def _shown(callee) -> str:
    """How CPython names a callable in errors of calls with `*`."""
    t = callee.type
    function = t.value if isinstance(t, Singleton) else None
    name = getattr(function, "__qualname__", None) or describe(t)[1:-1]
    module = getattr(function, "__module__", None)
    return f"{module}.{name}()" if module not in (None, "builtins") else f"{name}()"


def static_value(x, name):
    if isinstance(x.type, DType):
        return x.type.scalar
    if not x.known and not isinstance(x.type, Singleton):
        raise NotConstant(f"attribute {name} of an operation must be a constant")
    return x.type.value if isinstance(x.type, Singleton) else x.value


E = Operations
HANDLERS = {
    control.CONST: E.const, generic.GLOBAL: E.global_, generic.STORE_GLOBAL: E.store_global,
    generic.FREEVAR: E.freevar, generic.BINARY: E.binary,
    generic.INPLACE: E.binary, generic.UNARY: E.unary, generic.COMPARE: E.compare, generic.TRUTH: E.truth,
    generic.GETATTR: E.getattr_, generic.SETATTR: E.setattr_, generic.GETITEM: E.getitem, generic.SETITEM: E.setitem,
    generic.DELITEM: E.delitem, generic.DELATTR: E.delattr_, generic.SLICE: E.slice_, generic.CALL: E.call_inst,
    generic.CALL_STAR: E.call_star, generic.TUPLE: E.tuple_, generic.LIST: E.list_, generic.SET: E.set_,
    generic.DICT: E.dict_, generic.STRING: E.string, generic.LIST_EXTEND: E.list_extend,
    generic.LIST_TO_TUPLE: E.list_to_tuple, generic.LIST_APPEND: E.list_append, generic.SET_ADD: E.set_add,
    generic.SET_UPDATE: E.set_update,
    generic.DICT_SET: E.dict_set, generic.DICT_MERGE: E.dict_merge, generic.DICT_WITHOUT: E.dict_without,
    generic.FORMAT: E.format_, generic.UNPACK: E.unpack,
    generic.UNPACK_EX: E.unpack_ex, generic.ITER: E.iter_, generic.NEXT: E.next_, generic.ELEMENT: E.element,
    generic.RETURNED: E.returned,
    generic.MAKE_FUNCTION: E.make_function, generic.MAKE_CELL: E.make_cell, generic.CELL_GET: E.cell_get,
    generic.CELL_SET: E.cell_set, generic.CHECK_BOUND: E.check_bound, generic.IMPORT: E.import_,
    generic.IMPORT_FROM: E.import_from, generic.CATCH: E.catch, generic.EXC_MATCH: E.exc_match,
    generic.GROUP_MATCH: E.group_match, generic.GROUP_LEFT: E.group_left,
    generic.EXC_ENTER: E.exc_enter, generic.EXC_LEAVE: E.exc_leave, generic.WITH_LEAVE: E.with_leave,
    **dict.fromkeys((generic.MATCH_SEQUENCE, generic.MATCH_MAPPING, generic.MATCH_KEYS, generic.MATCH_REST,
                     generic.MATCH_CLASS), E.match), generic.LENGTH: E.length, generic.GENERATOR_STATE: E.state,
    generic.POLL: E.poll, generic.YIELD: E.no_yield, generic.BUILTIN: E.builtin, generic.UNSUPPORTED: E.unsupported,
    control.RAISE: E.raise_, control.RERAISE: E.reraise,
}
del E
