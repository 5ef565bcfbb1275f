"""Inference under `jit`: an operation without a compiled meaning for its operands is done by the interpreter.

`Forgiving` evaluates as `Evaluator` does. An instruction that it would refuse becomes a call of the interpreter's C API
on boxed operands, whose result is an Object; inference continues from there, and typed values remain unboxed. Each such
instruction is recorded with its reason, for the report.

A refusal may come from types of which inference does not yet know all: `node.next` while `node` is only known to be
None. Such an instruction waits (`waits`) until nothing else can be inferred; then the session lets the interpreter do
the first one that waits, and goes on (session.py: `settle`).

Code in the interpreter may change globals: they are read at run time, not at compile time, unless they are functions,
classes or modules. A list display that is passed to the interpreter must be a list (displays.py).
"""
from __future__ import annotations

import operator
import os
import sys
from enum import EnumMeta
from types import BuiltinFunctionType, FunctionType, ModuleType

from ..base.errors import with_article
from ..base.lazy import lazy
from ..front.functions import TRANSFORMED
from ..ir import core as ir
from ..ops import control, generic, pyobject, structure
from ..runtime import interpreted
from ..runtime.dispatcher import Callable_
from ..types.classes import FIXED_MODULES, namespace, stored_fields
from ..types.kinds import (
    Attributes, Bool, Container, DictDisplay, Exception_, Function, FunctionObject, Generator, Iterator, ListDisplay,
    Method, NoneType, Object, ObjectOf, Singleton, Struct, TooLarge, Tuple, Union, all_parts, any_part, members_of,
)
from . import boxed as by
from .boxed import by_python
from .evaluate import Evaluator, UserCall
from .expressions import Raise, Split, is_one_case, meaning_av
from .join import AV, with_objects
from .meaning import (
    UNKNOWN, Apply, Call, Const, Expr, Mismatch, NeedsDisplays, NeedsList, Nest, NotNative, Operand, RecursiveGenerator,
    Restart, Share, Throw, thrown,
)
from .names import describe, is_kept_as_object, is_of_python
from .session import value_of_member

leaving = lazy(f"{__package__}.leaving")
generators = lazy("pyjitc.front.generators")

__all__ = ["INSTALLED", "Forgiving", "Remark", "is_iterator", "refused", "remarks"]

_OURS = __name__.partition(".")[0]
# refusals that hold whatever else is found out about types
_NOT_COMPILED = NotNative, NeedsDisplays, TooLarge
# nobody assigns another value to these while a call runs
_FIXED = (FunctionType, BuiltinFunctionType, ModuleType, type, Callable_)


class Forgiving(Evaluator):
    def __init__(self, analysis):
        super().__init__(analysis)
        self.asked: dict[ir.Inst, Mismatch] = {}  # instruction that the interpreter does -> the reason
        self.forced: set[ir.Inst] = set()  # instructions that have waited
        self.given_up: set = set()  # specialisations that are not called any more
        if not self.session.interprets and any(t is Object for t, _ in analysis.spec.args):
            self.interpret()

    def evaluate(self, inst, block):
        self.asked.pop(inst, None)
        self.session.waiting.pop((self.analysis, inst), None)
        try:
            return super().evaluate(inst, block)
        except (Mismatch, TooLarge) as error:
            operands = [Operand(i, *self.analysis.lookup(arg, block)) for i, arg in enumerate(inst.args)]
            if self.waits(inst, operands, error):
                self.session.waiting[self.analysis, inst] = block
                self.analysis.set_aside(block, inst)
                return None
            if isinstance(error, Mismatch) and self.raises(inst, operands, error):
                return self.noted(inst, thrown(error), None)  # a value of the type that is refused may never come here
            return self.noted(inst, *self.instead(inst, operands, error))

    def handled(self, inst, operands):
        try:
            if self.session.interprets and inst.op in (generic.GLOBAL, generic.FREEVAR):
                self.find_variable(inst)
            if self.session.interprets and inst.op is generic.GETATTR:
                self.find_attribute(operands[0].type, inst.attrs["name"])
            if inst.op is generic.CALL and self.adds_objects(operands):
                return Forgiving.instead(self, inst, operands, NotNative("sum() adds Python objects"))
            return super().handled(inst, operands)
        except (Mismatch, TooLarge) as error:
            if self.waits(inst, operands, error) or self.raises(inst, operands, error):
                raise
            return self.instead(inst, operands, error)

    def waits(self, inst, operands, error) -> bool:
        """Whether a refusal may not hold any more when more is known about types. Operations on Python objects do not
        wait, nor those for which compiled code has no form, or has one only for displays."""
        return not (isinstance(error, _NOT_COMPILED) or inst in self.forced
                    or inst.op.effects & ir.TERMINATOR or any([any_part(x.type, _is_object) for x in operands])
                    or _is_installed(self.analysis.spec.proto))

    def raises(self, inst, operands, error) -> bool:
        """Whether an instruction that has waited is compiled to raise the interpreter's exception: in a function that
        is compiled for one of several types of an argument."""
        return (inst in self.forced and isinstance(error, Mismatch) and not isinstance(error, NotNative)
                and not any([any_part(x.type, _is_object) for x in operands]) and is_one_case(self.analysis.spec))

    def met(self, x: AV, y: AV, error: Mismatch) -> AV:
        """The abstract value for a place where values of too many types meet: the types without a boxed form, and
        Object in place of all others."""
        return with_objects((*members_of(x[0]), *members_of(y[0]))), UNKNOWN

    def adds_objects(self, operands) -> bool:
        """Whether a call is one of sum() that adds Python objects: which of them are floats, whose lost digits count
        from Python 3.12 on, only the interpreter's sum() knows."""
        if operands[0].type is not _SUM or len(operands) < 2 or operands[1].type is Object:
            return False
        t = operands[1].type.state if isinstance(operands[1].type, Iterator) else operands[1].type
        if not isinstance(t, Generator) and any_part(t, lambda part: isinstance(part, (Function, FunctionObject))):
            return False  # map() of a function that compiled code made cannot be handed to the interpreter
        if any([x.type is Object for x in operands[2:]]):
            return True
        if sys.version_info < (3, 12):
            return False
        try:
            state, av = self.settle(self.library.iter(operands[1]))
            av = av and self.settle(self.library.next(Operand(-1, state.type)))[1]
        except Mismatch:
            return False
        return av is not None and Object in members_of(av[0].elements[1])

    def instead(self, inst, operands, error):
        """The expression by which the interpreter does a refused operation; raises the error where it cannot."""
        self.leave(inst, error)
        if self.analysis.spec.proto.code in TRANSFORMED:  # a derivative means nothing to the interpreter
            raise error
        stored = self.stored_as_objects(inst, operands)
        if stored is not None:
            return stored
        findings = self.session.findings
        if inst.op is generic.GETATTR and isinstance(operands[0].type, Iterator) and not findings.generators:
            findings.generators = True  # send() and close() are compiled only for the interpreter's generators
            raise Restart
        if inst.op is not generic.CALL_STAR and any([any_part(x.type, lambda t: isinstance(t, ListDisplay))
                                                     for x in operands]):
            raise NeedsList
        operands = list(map(self.as_object, operands))
        try:
            found = self.settle(_MEANINGS[inst.op](self, inst, operands))
        except (KeyError, Mismatch):
            raise error from None
        runs = inst.op in _STORES or inst.op in _CALLS and not _is_of_c(operands[0].type)
        for x in operands:
            self.expose(x.type, runs)
        self.asked[inst] = error.with_traceback(None) if isinstance(error, Mismatch) else Mismatch(str(error))
        return found

    def stored_as_objects(self, inst, operands):
        """The meaning of an operation that stores iterators of compiled code, or methods of built-in types, in a
        container: it stores Python objects in their place; the steps of iterators are compiled. None for any other
        operation."""
        is_method = inst.op is generic.CALL and isinstance(operands[0].type, Method) and isinstance(
            operands[0].type.receiver, Container)
        first = _STORES.get(inst.op, 1)
        if not (is_method or inst.op in _STORES) or not any([any_part(x.type, is_kept_as_object)
                                                             for x in operands[first:]]):
            return None
        for x in operands[first:]:
            if type(x.type) is Union and any_part(x.type, is_iterator):
                return self.settle(self.cases(x, lambda one: self.stored_as_asked(inst, [
                    one if y is x else y for y in operands])))
        try:
            return Evaluator.handled(self, inst, [*operands[:first], *map(self.as_object, operands[first:])])
        except Mismatch:
            return None

    def stored_as_asked(self, inst, operands):
        return (self.stored_as_objects(inst, operands) or Evaluator.handled(self, inst, operands))[0]

    def as_object(self, x):
        if isinstance(x.type, Method) and is_kept_as_object(x.type):
            return by.boxed(x)
        if isinstance(x.type, Generator) or isinstance(x.type, Struct) and x.type.is_state:
            x = self.settle(Share(x))[0]
        return leaving.leaving(self, x) if isinstance(x.type, (Iterator, Tuple)) and any_part(
            x.type, is_iterator) else x

    def expose(self, t, runs):
        """Record that the interpreter gets a value of type t. It may store anything in the attributes of objects that
        it can reach, and also in containers if it runs a Python function (`runs`). Compiled code must then expect any
        object in these attributes and containers."""
        for part in all_parts(t):
            if runs and isinstance(part, Container) and part.python_class not in (tuple, frozenset):
                for n in range(len(part.parameters)):
                    part.store(n, Object)
            if isinstance(part, ObjectOf) and part.cls not in self.session.exposed:
                self.session.exposed.add(part.cls)
                for (cls, _), variable in list(self.session.attributes.items()):
                    if cls is part.cls:
                        self.let_change(variable)

    def let_change(self, variable):
        if variable.content is not None:
            self.expose(variable.content, True)
        variable.grow(Object)

    def field(self, meaning):
        found = super().field(meaning)
        t = meaning.x.type
        if isinstance(t, ObjectOf) and t.cls in self.session.exposed:
            variable = self.session.attribute(t.cls, meaning.name)
            if variable.content is not Object:
                self.let_change(variable)
                return super().field(meaning)
        return found

    def leave(self, inst, error):
        """Leave a whole function of an installed package to the interpreter where the interpreter would do a part of
        it, together with the functions of packages that call it. Otherwise compiled code would continue with objects,
        and might compile much of a large package. A derivative is left as a whole, too: the interpreter calls the
        compiled derivative, which is made for the trees that it gets. Raises Restart if there is such a function."""
        specs = list(self.session.callers((self.analysis, inst)))
        own = _package(specs[-1].proto)
        found = None
        for spec in specs[:-1]:
            if spec.proto.code in TRANSFORMED:
                found = spec.proto.code
                break
            if not _is_installed(spec.proto) or _package(spec.proto) == own:
                break
            found = spec.proto.code
        if found is not None and found not in self.session.findings.left:
            self.session.findings.left[found] = error if isinstance(error, Mismatch) else Mismatch(str(error))
            raise Restart

    def noted(self, inst, meaning, av):
        if not self.session.interprets and (inst in self.asked or av is not None and av[0] is Object):
            self.interpret()
        return super().noted(inst, meaning, av)

    def interpret(self):
        """Record that the interpreter runs code of the program, and visit again blocks that took variables for
        constants."""
        self.session.interprets = True
        for readers in self.session.readers.values():
            for analysis, block in readers:
                analysis.touch(block)

    def find_variable(self, inst):
        """Treat a variable as one that the interpreter may assign while compiled code runs."""
        spec, name = self.analysis.spec, inst.attrs["name"]
        container, key = spec.proto.globals, name
        if inst.op is generic.FREEVAR:
            if spec.closure is not None:
                return
            container, key = spec.function.__closure__[spec.proto.code.co_freevars.index(name)], None
        elif key not in container:
            return
        try:
            value = container.cell_contents if key is None else container[key]
        except ValueError:
            return
        if not isinstance(value, _FIXED):
            self.session.outer_variable(container, key, name)

    def find_attribute(self, t, name):
        """Treat an attribute of a module or class as one that the interpreter may assign while compiled code runs."""
        holder = t.cls if isinstance(t, ObjectOf) else t.value if isinstance(t, Singleton) else None
        places = [(holder, vars(holder))] if isinstance(holder, ModuleType) else [
            (cls, vars(cls)) for cls in holder.__mro__] if isinstance(holder, type) else []
        for owner, space in places:
            if name in space:
                value, module = space[name], str(getattr(owner, "__module__", owner.__name__)).partition(".")[0]
                if not (module in FIXED_MODULES or isinstance(value, _FIXED) or hasattr(type(value), "__get__")
                        or isinstance(owner, EnumMeta) or name[:2] == name[-2:] == "__"
                        or isinstance(t, ObjectOf) and name in stored_fields(t.cls)):
                    self.session.outer_variable(namespace(owner) if isinstance(owner, type) else space, name, name)
                return

    def split_call(self, on, callee, args, kwargs):
        cases, mismatch = [], None
        for member in on.type.members:
            narrow = Operand(on.index, member, value_of_member(on, member))
            callee_, *rest = [narrow if x is on else x for x in (callee, *args, *kwargs.values())]
            given = rest[:len(args)], dict(zip(kwargs, rest[len(args):]))
            try:
                meaning = self.whole_call(self.inst, callee_, *given)
                if type(meaning) is Split:
                    av = meaning_av(meaning)
                else:
                    meaning, av = self.settle(meaning)
            except Mismatch as error:
                if isinstance(error, _NOT_COMPILED) or self.inst in self.forced:
                    try:
                        meaning, av = self.settle(by.call(callee_, *given))
                    except Mismatch:
                        raise error from None
                    self.asked[self.inst] = error
                else:
                    mismatch = error
                    meaning, av = thrown(error), None
            cases.append((member, meaning, av))
        if mismatch is not None and all([type(meaning) is Throw for _, meaning, _ in cases]):
            raise mismatch
        return Split(on.index, cases)

    def settle(self, meaning):
        if type(meaning) is UserCall:
            spec = meaning.spec
            if spec in self.given_up or spec.error is not None and spec.function is not None:
                self.given_up.add(spec)
                raise _final(spec.error) if spec.error else NotNative(f"{spec.proto.qualname} is not compiled")
        return super().settle(meaning)

    def generator(self, proto, callee, operands):
        if not self.consumed_once() and (self.session.findings.generators or generators.is_talked_to(
                self.session.build(proto))):
            raise NotNative("a generator that is kept, and takes values or handles exceptions that are thrown into it, "
                            "is not compiled")
        return super().generator(proto, callee, operands)

    def user_call(self, proto, operands, closure, function):
        if is_of_python(proto) and not proto.library and any(x.type is Object for x in operands):
            raise NotNative(f"{proto.qualname} of a Python object is not compiled")
        reason = self.session.findings.left.get(proto.code)
        if reason is not None:
            if type(reason) is RecursiveGenerator:
                raise reason
            raise NotNative(f"{proto.qualname} of {_package(proto)} is not compiled: {reason.message}")
        return super().user_call(proto, operands, closure, function)

    def constant_of(self, inst, value):
        if type(value) is int and not -(1 << 63) <= value < 1 << 64:
            raise NotNative("an int beyond 64 bits")
        return super().constant_of(inst, value)


_HOMES = os.path.dirname(os.__file__) + os.sep, "<frozen "
INSTALLED = f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"


def _is_installed(proto) -> bool:
    """Whether a function belongs to Python's library or an installed package other than this one."""
    path = proto.code.co_filename
    return not proto.library and _package(proto) != _OURS and (
        path.startswith(_HOMES) or any([part in path for part in INSTALLED]))


def _package(proto) -> str:
    return str(proto.globals.get("__name__")).partition(".")[0]


_SUM = Singleton(sum)
_CALLS = generic.CALL, generic.CALL_STAR
# operation -> the place of the first operand that it stores
_STORES = {generic.SETATTR: 1, generic.SETITEM: 1, generic.LIST: 0, generic.LIST_APPEND: 1, generic.SET: 0,
           generic.SET_ADD: 1, generic.DICT: 0, generic.DICT_SET: 1}


def _is_object(t) -> bool:
    return t is Object


def _final(error: Mismatch) -> Mismatch:
    """The error as one that holds whatever else becomes known about types."""
    return error if isinstance(error, NotNative) else NotNative(error.message, error.hint)


def is_iterator(t) -> bool:
    return isinstance(t, (Generator, Iterator))


_STORING = "_heapq", "_bisect", "_operator"  # modules of C functions that store their arguments in each other


def _is_of_c(t) -> bool:
    """Whether a callable is a C function, or a class whose objects it makes, that stores nothing in its arguments."""
    callee = t.value if isinstance(t, Singleton) else None
    if isinstance(callee, BuiltinFunctionType):
        return callee.__module__ not in _STORING
    return isinstance(callee, type) and not any(
        isinstance(getattr(callee, name), FunctionType) for name in ("__new__", "__init__"))


# Functions that inspect the frame of their caller, which compiled code does not have: the interpreter must run the
# whole caller.
_OF_FRAMES = (eval, exec, locals, globals, vars, dir, super, breakpoint, sys._getframe)


def _call(self, inst, operands):
    if isinstance(operands[0].type, Singleton) and any(operands[0].type.value is one for one in _OF_FRAMES) and not (
            operands[0].type.value is vars and len(operands) == 2):
        raise Mismatch("it inspects the frame of its caller")
    if isinstance(operands[0].type, Singleton) and operands[0].type.value in (operator.is_, operator.is_not):
        raise Mismatch("values without identity are passed")
    names = inst.attrs.get("kwnames") or ()
    count = len(operands) - len(names)
    return by.call(operands[0], operands[1:count], dict(zip(names, operands[count:])))


def _call_star(self, inst, operands):
    callee, arguments, *first = operands
    keywords = first.pop(0) if inst.attrs["kwargs"] else Const(Object, {})
    if isinstance(arguments.type, ListDisplay):
        arguments = Apply(structure.TUPLE_MAKE, *self.elements(arguments), cls=None)
    return by_python(interpreted.call_star, callee, arguments, keywords, *first)


def _own(x):
    """The receiver of a change. Raises NotNative if it is a value that is passed unboxed, since that has no object
    which could be changed."""
    if isinstance(x.type, (ListDisplay, DictDisplay, Attributes)) and not x.known:
        raise NotNative(f"{with_article(describe(x.type)[1:-1])} of compiled code is passed by value")
    return x


def _set_attribute(self, inst, operands):
    x, value = operands
    if isinstance(x.type, Singleton) and isinstance(x.type.value, (type, ModuleType)):
        raise NotNative("what the code was compiled from would change")  # the interpreter runs the whole function
    return by.set_attribute(_own(x), inst.attrs["name"], value)


def _global(self, inst, operands):
    space = self.analysis.spec.proto.globals
    name = inst.attrs["name"]
    return Const(Object, space[name])


def _exc_match(self, inst, operands):
    return by_python(interpreted.matches, *operands, type=Bool)


def _raise(self, inst, operands):
    texts = "exceptions must derive from BaseException", "exception causes must derive from BaseException"
    made: list[Expr] = []
    for x, message in zip(operands, texts):
        if isinstance(x.type, Exception_) or made and x.type is NoneType:
            made.append(x)
        else:
            made.append(by.exception(by_python(interpreted.as_exception, x, Const(Object, message))))
    return Raise(made)


def _unpack(self, inst, operands):
    return self.library.unpack(Apply(pyobject.PY_BOX, operands[0]), inst.attrs["count"])


def _unpack_star(self, inst, operands):
    before, after = inst.attrs["before"], inst.attrs["after"]
    found = by_python(interpreted.unpack_star, operands[0], Const(Object, before), Const(Object, after))
    return by.parts_of(found, before + after + 1)


def _wide_constant(self, inst, operands):
    return Const(Object, inst.attrs["value"])


def _listed(self, inst, operands):
    return by_python(interpreted.extended, operands[0], operands[1])


def _dict(self, inst, operands):
    return by_python(interpreted.dict_of, *operands)


def _compare(self, inst, operands):
    op = inst.attrs["op"]
    if op in ("is", "is not") and Object not in (operands[0].type, operands[1].type):
        raise Mismatch("values without identity are passed")  # boxing makes new objects: the interpreter runs all
    if op in ("not in", "is not"):
        return self.library.unary("not", by.compare(op.replace("not", "").strip(), *operands))
    return by.compare(op, *operands)


def _unary(self, inst, operands):
    if inst.attrs["op"] == "not":
        return self.library.unary("not", by.truth(operands[0]))
    return by.unary(inst.attrs["op"], operands[0])


_MEANINGS = {
    control.CONST: _wide_constant, generic.GLOBAL: _global,
    generic.BINARY: lambda self, inst, xs: by.binary(inst.attrs["op"], xs[0], xs[1]),
    generic.INPLACE: lambda self, inst, xs: by.binary(inst.attrs["op"], xs[0], xs[1], True),
    generic.UNARY: _unary, generic.COMPARE: _compare, generic.TRUTH: lambda self, inst, xs: by.truth(xs[0]),
    generic.GETATTR: lambda self, inst, xs: (by_python(interpreted.leave_of, xs[0]) if "managed" in inst.attrs else
                                             by.get_attribute(xs[0], inst.attrs["name"])),
    generic.SETATTR: _set_attribute,
    generic.DELATTR: lambda self, inst, xs: by.delete_attribute(_own(xs[0]), inst.attrs["name"]),
    generic.GETITEM: lambda self, inst, xs: by.get_item(*xs),
    generic.SETITEM: lambda self, inst, xs: by.set_item(_own(xs[0]), *xs[1:]),
    generic.DELITEM: lambda self, inst, xs: by.delete_item(_own(xs[0]), xs[1]),
    generic.SLICE: lambda self, inst, xs: by_python(slice, *xs),
    generic.CALL: _call, generic.CALL_STAR: _call_star,
    generic.TUPLE: lambda self, inst, xs: by_python(tuple, by_python(interpreted.list_of, *xs)),
    generic.LIST: lambda self, inst, xs: by_python(interpreted.list_of, *xs),
    generic.SET: lambda self, inst, xs: by_python(interpreted.set_of, *xs), generic.DICT: _dict,
    generic.LIST_EXTEND: _listed, generic.LIST_TO_TUPLE: lambda self, inst, xs: by_python(tuple, xs[0]),
    generic.LIST_APPEND: lambda self, inst, xs: by_python(list.append, _own(xs[0]), xs[1], type=NoneType),
    generic.SET_ADD: lambda self, inst, xs: by_python(set.add, _own(xs[0]), xs[1], type=NoneType),
    generic.DICT_SET: lambda self, inst, xs: by.set_item(_own(xs[0]), xs[1], xs[2]),
    generic.DICT_MERGE: lambda self, inst, xs: by_python(interpreted.merged, *xs, Const(Object, inst.attrs["unique"])),
    generic.DICT_WITHOUT: lambda self, inst, xs: by_python(interpreted.without, *xs, Const(
        Object, inst.attrs["may_miss"])),
    generic.UNPACK: _unpack, generic.UNPACK_EX: _unpack_star,
    generic.ITER: lambda self, inst, xs: by.iterate(xs[0]), generic.LENGTH: lambda self, inst, xs: by.length(xs[0]),
    generic.IMPORT_FROM: lambda self, inst, xs: by.get_attribute(xs[0], inst.attrs["name"]),
    generic.EXC_MATCH: _exc_match, control.RAISE: _raise,
    generic.MATCH_KEYS: lambda self, inst, xs: by_python(interpreted.keys_of, *xs),
    generic.MATCH_CLASS: lambda self, inst, xs: by_python(
        interpreted.pattern_of_class, *xs, Const(Object, inst.attrs["count"]), Const(Object, inst.attrs["kwnames"])),
    generic.WITH_LEAVE: lambda self, inst, xs: by_python(interpreted.leave, *xs),
}


def refused(entry):
    """A specialisation with an error that compiled code would call, the entry itself or another one; or None."""
    work, seen = [entry], {entry}
    while work:
        spec = work.pop()
        if spec.analysis is None:  # emitted in an earlier compile
            continue
        if spec.analysis.errors:
            return spec
        for meaning in spec.analysis.meaning.values():
            for called in _called(meaning):
                if called not in seen:
                    seen.add(called)
                    work.append(called)
    return None


def _called(meaning):
    """The specialisations that an expression calls."""
    work = [meaning]
    while work:
        e = work.pop()
        if type(e) is UserCall:
            yield e.spec
        if type(e) is Split:
            work += [case for _, case, _ in e.cases]
        elif type(e) is Call:
            work.append(e.resolved)
        elif type(e) is Nest:
            work += [*(e.calls or ()), *e.arguments, *e.fixed, *e.operands]
        elif e is not None:
            work += [*getattr(e, "operands", ()), *(getattr(e, name, None) for name in ("closure", "content", "cell"))]


# ---------------------------------------------------------------- the report


class Remark:
    """An instruction that the interpreter does. proto: the function; reason: a text."""

    __slots__ = ("proto", "loc", "reason", "hint")

    def __init__(self, proto, loc, reason, hint):
        self.proto, self.loc, self.reason, self.hint = proto, loc, reason, hint


_MOVES = {generic.TUPLE, generic.LIST, generic.ELEMENT, generic.MAKE_CELL, generic.CELL_GET, generic.CELL_SET,
          generic.MAKE_FUNCTION, generic.CHECK_BOUND, generic.EXC_ENTER, generic.EXC_LEAVE, generic.CATCH,
          control.RETURN, control.JUMP, control.BRANCH}


def remarks(session) -> list[Remark]:
    """The instructions that the interpreter does in the functions of a session, in the order of their lines."""
    found = []
    for spec in session.order:
        analysis = spec.analysis
        if analysis is None or not analysis.forgiving:
            continue
        for block in analysis.fn.blocks:
            if block not in analysis.incoming:
                continue
            for inst in block.insts:
                error = analysis.evaluator.asked.get(inst)
                if error is not None and inst in analysis.meaning:
                    found.append(Remark(spec.proto, inst.loc, error.message, error.hint))
                elif inst.op not in _MOVES and inst in analysis.meaning:
                    x = next((arg for arg in inst.args if Object in members_of(analysis.av.get(arg, (NoneType,))[0])),
                             None)
                    if x is not None:
                        found.append(Remark(spec.proto, inst.loc, f"{repr(x.name) if x.name else 'an operand'} is "
                                                                  f"a Python object", ""))
    return sorted(found, key=lambda one: (one.proto.code.co_filename, one.loc.line, one.loc.col))
