"""The meaning of one generic instruction for the operand types found so far.

Most operations ask the library; a union operand splits the question into one per member. Calls of Python functions
become specialisations of their own.
"""
from __future__ import annotations

import functools
import operator
import types as pytypes
from collections.abc import Mapping

from ..base.errors import suggest
from ..front.generators import acts_on_close, returns_value, step_of
from ..front.recursion import SELF, Recursive
from ..ir import core as ir
from ..ops import control, exceptions, generic, memory, pyobject, structure
from ..types.kinds import (
    Array, Bool, Cell, DType, Exception_, Function, Generator, Instance, Iterator, Method, NoneType, Object, Range, Singleton, Site, Str, Struct, Tuple, Type,
    Unbound, Undefined, Union, is_numpy_scalar, is_python_number, union_of,
)
from ..types.lattice import dtype_of, numpy_counterpart
from .bind import bind
from .constants import FIXED_MODULES, constant, plain_int, plain_ints
from .join import AV, join
from .meaning import UNKNOWN, Apply, Call, CallValue, Const, Expr, Mismatch, Nest, Operand, Share, Step, Throw
from .session import only_value

__all__ = ["Evaluator", "Split", "UserCall", "VOID"]

ENDED = Struct("empty_iterator", (("0", Tuple(())),))
_ITERATORS = (enumerate, zip, map, filter, reversed)
VOID: AV = (NoneType, None)
_GENERATOR = 0x20  # inspect.CO_GENERATOR


class Split:
    """One meaning per member of a union operand: cases = [(member type, meaning, AV or None)]."""

    __slots__ = ("index", "cases")

    def __init__(self, index: int, cases: list):
        self.index = index
        self.cases = cases


class UserCall(Expr):
    """A call of a specialisation. operands: one per parameter; closure: the function value when it carries captures."""

    __slots__ = ("spec", "operands", "closure")

    def __init__(self, spec, operands, closure=None):
        self.spec = spec
        self.operands = operands
        self.closure = closure
        self.type, self.value = spec.result or (None, UNKNOWN)


# Operations that take a union whole: they move values, or box them.
_SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)  # `case int(n)` captures the int
_UNSPLIT = {generic.TUPLE, generic.LIST, generic.MAKE_CELL, generic.CELL_SET, generic.CALL, generic.CALL_STAR, generic.MAKE_FUNCTION,
            generic.FORMAT, generic.STRING, generic.EXC_ENTER, generic.EXC_LEAVE, generic.LIST_EXTEND, generic.UNSUPPORTED,
            generic.CATCH, generic.YIELD, generic.GENERATOR_STATE}


class Evaluator:
    def __init__(self, analysis):
        self.analysis = analysis
        self.session = analysis.session
        self.library = analysis.session.library
        self.cells: dict[ir.Inst, Type] = {}

    def evaluate(self, inst: ir.Inst, block: ir.Block) -> AV | None:
        """The abstract value of the result; VOID for an instruction without one; None when control does not get past
        it (yet). Raises Mismatch when the operands have no such operation."""
        analysis = self.analysis
        self.inst, self.block = inst, block
        operands = []
        for i, arg in enumerate(inst.args):
            av = analysis.lookup(arg, block)
            if av is None:
                return None
            operands.append(Operand(i, av[0], av[1]))
        whole = inst.op in _UNSPLIT or inst.op is generic.SLICE and all(
            type(x.type) is not Union or self.library.is_power(x.type) for x in operands)
        meaning, av = self.split(inst, operands, len(operands) if whole else 0)
        analysis.meaning[inst] = meaning
        if inst.op.effects & ir.RAISES and may_raise(meaning):
            analysis.raising.add(inst)
        self.record_verdict(inst, meaning, av)
        return av

    def split(self, inst, operands, start):
        for k in range(start, len(operands)):
            if type(operands[k].type) is Union:
                break
        else:
            meaning = _HANDLERS[inst.op](self, inst, operands)
            return self.settle(meaning)
        cases, total, mismatch = [], None, None
        for member in operands[k].type.members:
            narrowed = list(operands)
            narrowed[k] = Operand(k, member, only_value(member))
            try:
                meaning, av = self.split(inst, narrowed, k + 1)
            except Mismatch as error:
                mismatch = error
                meaning, av = Throw(error.exception, error.message), None
            cases.append((member, meaning, av))
            if av is not None:
                total = av if total is None else join(total, av)
        if mismatch is not None and all(type(m) is Throw for _, m, _ in cases) and not any(
                m is Unbound for m, _, _ in cases):
            raise mismatch
        return Split(k, cases), total

    def record_verdict(self, inst, meaning, av):
        verdicts = self.analysis.verdicts
        if inst.result is None or av is None or av[0] is not Bool:
            return
        if inst.op is generic.TRUTH or inst.op is generic.UNARY and inst.attrs["op"] == "not":
            found = verdicts.get(inst.args[0])
            if found is not None:
                flip = inst.op is generic.UNARY
                verdicts[inst.result] = (found[0], {m: (not t) if flip and t in (True, False) and t is not UNKNOWN else t
                                                    for m, t in found[1].items()})
                return
        if type(meaning) is Split:
            truths = {m: None if a is None else a[1] for m, _, a in meaning.cases}
        elif isinstance(meaning, Expr) and inst.op is generic.CALL and len(inst.args) > 1:
            return
        else:
            return
        verdicts[inst.result] = (inst.args[meaning.index], truths)

    # -- expressions

    def settle(self, meaning):
        """Resolve the calls inside an expression; gives (meaning, its abstract value or None)."""
        kind = type(meaning)
        if kind is Split:
            return meaning, meaning_av(meaning)
        if kind is Throw:
            return meaning, None
        if kind is CallValue:
            given = [*meaning.operands, *meaning.keywords.values()]
            for i, x in enumerate(given):
                if x.type is None:
                    given[i], av = self.settle(x)
                    if av is None:
                        return given[i], None
            n = len(meaning.operands)
            return self.settle(self.call(meaning.callee, given[:n], dict(zip(meaning.keywords, given[n:]))))
        if kind is Step:
            return self.settle(self.generator_step(meaning.state))
        if kind is Share:
            state, av = self.settle(meaning.state) if meaning.state.type is None else (meaning.state, meaning.state)
            return (state, None) if av is None else self.settle(self.shared(state))
        if kind is Call:
            if meaning.resolved is None:
                operands = []
                for x in meaning.operands:
                    x, av = self.settle(x) if x.type is None else (x, x)
                    if av is None:
                        return x, None
                    operands.append(x)
                found = self.call(Const(Singleton(meaning.function), meaning.function), operands, {})
                resolved, av = self.settle(found)
                meaning.resolved = resolved
            else:
                resolved, av = self.settle(meaning.resolved)
            if av is None:
                return resolved, None
            meaning.type, meaning.value = av
            return meaning, av
        if kind is UserCall:
            spec = meaning.spec
            if spec.error is not None and spec.proto.library:
                raise spec.error
            for x in meaning.operands:
                if x.type is None:
                    x, av = self.settle(x)
                    if av is None:
                        return x, None
            meaning.type, meaning.value = spec.result or (None, UNKNOWN)
            return meaning, spec.result
        if kind is Nest:
            return self.nest(meaning)
        if kind is Apply and meaning.type is None:
            operands = []
            for x in meaning.operands:
                x, av = self.settle(x) if x.type is None else (x, x)
                if av is None:
                    return x, None
                operands.append(x)
            meaning.operands = tuple(operands)
            meaning.type_now()
            if meaning.type is None:
                return meaning, VOID
        return meaning, (meaning.type or NoneType, meaning.value)

    def nest(self, nest):
        for parts in (nest.arguments, nest.operands):
            for i, x in enumerate(parts):
                if x.type is None:
                    parts[i], av = self.settle(x)
                    if av is None:
                        return parts[i], None
        elements = [Operand(-1, x.type.dtype) if isinstance(x.type, Array) else x for x in nest.operands]
        kernel = self.user_call(self.session.prototype(nest.kernel), [*nest.fixed, *elements], None, nest.kernel)
        if self.settle(kernel)[1] is None:
            return nest, None
        t = nest.dtype or (numpy_counterpart(kernel.type) if is_python_number(kernel.type) else kernel.type)
        if not is_numpy_scalar(t):
            raise Mismatch(f"an array of {describe(t)} is not compiled")
        # the shape is passed as it comes, also where lengths are constants: a template is compiled once for a rank
        arguments = [Operand(-1, nest.arguments[0].type), *nest.arguments[1:]]
        template = self.user_call(self.session.prototype(nest.template), [*arguments, Const(DType(t), dtype_of(t))], None, nest.template)
        if self.settle(template)[1] is None:
            return nest, None
        nest.calls = template, kernel
        nest.type = template.type
        return nest, (nest.type, UNKNOWN)

    def generator_step(self, state):
        callee, *rest = (Apply(structure.STRUCT_GET, state, field=name) for name, _ in state.type.members)
        closure = callee if isinstance(callee.type, Function) else None
        function = callee.type.value if isinstance(callee.type, Singleton) else None
        return self.user_call(state.type.step, [callee, *rest], closure, function)

    def generator(self, proto, callee, operands):
        """The state before the first step. It is a value: what may be read twice becomes an iterator object."""
        if acts_on_close(self.session.build(proto)):
            raise Mismatch("a generator that yields inside try/finally is not compiled yet",
                           "do what the `finally` does where the generator is used")
        state = self.generator_state(step_of(proto, 0), [callee, *operands])
        if self.consumed_once():
            return state
        if returns_value(self.session.build(proto)):
            raise Mismatch("a generator that returns a value is not compiled as an object", "iterate over the call itself")
        return Share(state)

    def consumed_once(self):
        """Whether the result of this instruction is read by one loop or one call that uses it up, and that once."""
        analysis = self.analysis
        if analysis.spec.proto.library:
            return True
        reader, block = analysis.shape.only_reader(self.inst, self.block)
        if reader is None:
            return False
        if reader.op is generic.CALL:
            av = analysis.lookup(reader.args[0], block)
            target = av[0].value if av is not None and isinstance(av[0], Singleton) else None
            return self.library.rule_for(target) is not None and target is not next
        return reader.op in (generic.ITER, generic.UNPACK)

    def shared(self, state):
        if isinstance(state.type, Iterator):
            return state
        content = state.type
        for _ in range(20):
            total = content
            for member in content.members if type(content) is Union else (content,):
                _, av = self.settle(self.library.next(Operand(-1, member)))
                if av is not None and av[0].elements[2] is not Undefined:
                    total = join((total, UNKNOWN), (av[0].elements[2], UNKNOWN))[0]
            if total is content:
                break
            content = total
        else:
            raise Mismatch("the state of this generator has too many types", "keep the type of each variable the same")
        if not _has_generator(content):
            return Apply(memory.ITERATOR_NEW, state)
        content = union_of((content, ENDED))
        return Apply(memory.ITERATOR_NEW, Apply(
            structure.UNION_MAKE if type(state.type) is not Union else structure.UNION_CAST, state, type=content))

    def generator_state(self, step, parts):
        members = tuple((str(i), x.type) for i, x in enumerate(parts))
        return Apply(structure.STRUCT_MAKE, *parts, type=Generator(str(step), members, step))

    def state(self, inst, operands):
        return self.generator_state(inst.attrs["step"], operands)

    def user_call(self, proto, operands, closure, function):
        avs = tuple((x.type, x.value) for x in operands)
        spec = self.session.spec(proto, avs, (closure.type, UNKNOWN) if closure is not None else None, function,
                                 constants=proto.library)
        if spec.dependents is not None:
            spec.dependents.add((self.analysis, self.block))
            if spec.caller is None:
                spec.caller = self.analysis, self.inst
        return UserCall(spec, operands, closure)

    def call(self, callee: Expr, args: list[Expr], kwargs: dict[str, Expr]):
        t = callee.type
        if isinstance(t, Singleton):
            target = t.value
            if isinstance(target, ir.Op):
                return Apply(target, *args, **{k: _static(v, k) for k, v in kwargs.items()})
            rule = self.library.rule_for(target)
            if rule is not None:
                try:
                    return rule(args, kwargs)
                except AttributeError as error:  # a rule for arrays that got something else
                    if error.obj is None or isinstance(error.obj, Type):
                        raise Mismatch(f"{getattr(target, '__name__', target)}() of {', '.join(describe(x.type) for x in args)} "
                                       "is not compiled yet") from None
                    raise
                except Mismatch:
                    plain = [plain_int(x) for x in args]
                    if all(map(operator.is_, plain, args)):
                        raise
                    return rule(plain, kwargs)
            if type(target) is functools.partial:
                fixed = {k: constant(v) for k, v in target.keywords.items()}
                return self.call(constant(target.func), [*map(constant, target.args), *args], {**fixed, **kwargs})
            function = self.session.function_of(target)
            if function is not None:
                proto = self.session.prototype(function)
                operands = bind(proto, args, kwargs, *_defaults(function))
                if proto.code.co_flags & _GENERATOR:
                    return self.generator(proto, Const(Singleton(function), function), operands)
                return self.user_call(proto, operands, None, function)
            if isinstance(target, type) and issubclass(target, BaseException):
                if kwargs:
                    raise Mismatch(f"{target.__name__}() takes no keyword arguments")
                return Apply(exceptions.EXC_NEW, *args, cls=target)
            return self.library.call(target, args, kwargs)
        if isinstance(t, Function):
            parts = {role: Apply(structure.CAPTURE_GET, callee, index=i) for i, role in enumerate(t.roles)}
            defaults = _elements(parts.get("defaults"))
            names = parts.get("kwdefaults")
            kwdefaults = _members(names) if names is not None else {}
            operands = bind(t.proto, args, kwargs, defaults, kwdefaults)
            if t.proto.code.co_flags & _GENERATOR:
                return self.generator(t.proto, callee, operands)
            return self.user_call(t.proto, operands, callee, None)
        if isinstance(t, Method):
            return self.library.method(Apply(structure.METHOD_SELF, callee), t.name, args, kwargs)
        raise Mismatch(f"{describe(t)} object is not callable")

    # -- one handler per generic operation

    def const(self, inst, operands):
        return constant(inst.attrs["value"])

    def global_(self, inst, operands):
        name = inst.attrs["name"]
        proto = self.analysis.spec.proto
        space = proto.globals
        if name in space:
            value = space[name]
            container = space
        else:
            builtins = space.get("__builtins__", __builtins__)
            container = builtins if isinstance(builtins, dict) else vars(builtins)
            if name not in container:
                return Throw(NameError, f"name '{name}' is not defined")
            value = container[name]
            if not proto.library:
                self.session.depend(space, name, UNKNOWN)
        found = constant(value)
        if not proto.library and container is space:
            self.session.depend(container, name, value, found.known)
        return found

    def freevar(self, inst, operands):
        name = inst.attrs["name"]
        spec = self.analysis.spec
        index = spec.proto.code.co_freevars.index(name)
        if spec.closure is not None:
            role = spec.closure[0].roles.index("closure")
            return self.captured(spec.closure[0], role, index)
        cell = spec.function.__closure__[index]
        try:
            value = cell.cell_contents
        except ValueError:
            return Throw(*self.session.unbound_error(name, True))
        self.session.depend(cell, None, value)
        if value is spec.function:  # a local function that calls itself
            return Const(Singleton(value), value)
        return constant(value)

    def captured(self, function, role, index):
        t = function.captures[role].elements[index]
        if isinstance(t, Singleton) and type(t.value) is Recursive:
            return self.recursive(t.value, function, role)
        return Captured(t, role, index)

    def recursive(self, made, function, role):
        """A function that was not made yet when the running one was: the running one itself, or built from its closure."""
        if made.own:
            return OwnFunction(function)
        parts = [OwnFunction(function) if p is SELF else self.captured(function, role, p) if type(p) is int else
                 self.recursive(p, function, role) if p in _markers(function, role) else Const(Singleton(p), p) for p in made.parts]
        closure = Apply(structure.TUPLE_MAKE, *parts, cls=None)
        proto = self.session.nested(self.analysis.spec.proto, made.code, made.qualname)
        return Apply(structure.FUNCTION_MAKE, closure, type=Function(proto, (closure.type,), ("closure",)))

    def make_cell(self, inst, operands):
        site = self.session.sites.get((self.analysis.spec, inst))
        if site is None:
            site = self.session.sites[self.analysis.spec, inst] = Site(inst.attrs.get("name", "cell"))
        self.refine(site, operands[0].type)
        return MakeCell(operands[0], Cell(site))

    def refine(self, site, content):
        if _holds(content, site):
            raise Mismatch(f"the variable '{site.name}' holds a function that refers to the variable",
                           "define the function once, before anything uses it")
        merged = content if site.content is None else join((site.content, UNKNOWN), (content, UNKNOWN))[0]
        if merged is not site.content:
            site.content = merged
            for analysis, block in self.session.cell_users.get(site, ()):
                analysis.touch(block)

    def cell_get(self, inst, operands):
        cell = operands[0]
        unbound = cell.type is Unbound
        if isinstance(cell.type, Cell):
            self.session.cell_users.setdefault(cell.type.site, set()).add((self.analysis, self.block))
            unbound = cell.type.content is Unbound
        if unbound:
            return Throw(*self.session.unbound_error(inst.attrs["name"], inst.attrs.get("free", False)))
        if not isinstance(cell.type, Cell):
            return cell  # captured by value: it is never rebound
        return CellGet(cell, cell.type.content, inst.attrs["name"], inst.attrs.get("free", False))

    def cell_set(self, inst, operands):
        self.refine(operands[0].type.site, operands[1].type)
        return CellSet(operands[0], operands[1])

    def binary(self, inst, operands):
        operands = plain_ints(operands)
        return self.library.binary(inst.attrs["op"], *operands, inplace=inst.op is generic.INPLACE)

    def unary(self, inst, operands):
        if inst.attrs['op'] != 'not':
            operands = plain_ints(operands)
        return self.library.unary(inst.attrs["op"], operands[0])

    def compare(self, inst, operands):
        if inst.attrs['op'] not in ('is', 'is not'):
            operands = plain_ints(operands)
        return self.library.compare(inst.attrs["op"], *operands)

    def truth(self, inst, operands):
        return self.library.truth(operands[0])

    def getattr_(self, inst, operands):
        return self.attribute(operands[0], inst.attrs["name"])

    def attribute(self, x: Expr, name: str):
        if isinstance(x.type, Singleton):
            found = self.library.static_attribute(x, name)
            if found is not None:
                return found
            holder = x.type.value
            if isinstance(holder, pytypes.ModuleType):
                try:
                    value = getattr(holder, name)
                except AttributeError as error:
                    near = suggest(name, dir(holder))
                    raise Mismatch(str(error), f"did you mean '{near}'?" if near else "", AttributeError) from None
                if holder.__name__.split(".")[0] not in FIXED_MODULES and name in vars(holder):
                    self.session.depend(vars(holder), name, value)
                return constant(value)
            if isinstance(holder, type):
                value = holder.__dict__.get(name, UNKNOWN)
                for base in holder.__mro__:
                    if name in base.__dict__:
                        value = base.__dict__[name]
                        break
                if value is UNKNOWN:
                    raise Mismatch(f"type object '{holder.__name__}' has no attribute '{name}'", "", AttributeError)
                if isinstance(value, (staticmethod, classmethod, property)) or hasattr(type(value), "__set__"):
                    value = getattr(holder, name)
                return constant(value)
        return self.library.getattr(x, name)

    def setattr_(self, inst, operands):
        return self.library.setattr(operands[0], inst.attrs["name"], operands[1])

    def getitem(self, inst, operands):
        x, i = operands
        if isinstance(x.type, Singleton) and type(x.type.value) is dict and i.known:
            config = x.type.value
            if i.value not in config:
                return key_error(i)
            self.session.depend(config, i.value, config[i.value])
            return constant(config[i.value])
        return self.library.getitem(x, plain_int(i))

    def setitem(self, inst, operands):
        return self.library.setitem(*plain_ints(operands))

    def delitem(self, inst, operands):
        raise Mismatch(f"{describe(operands[0].type)} object doesn't support item deletion")

    def slice_(self, inst, operands):
        return Apply(structure.SLICE_MAKE, *(self.library.slice_bound(x) if type(x.type) is Union else x for x in operands))

    def call_inst(self, inst, operands):
        names = inst.attrs.get("kwnames") or ()
        count = len(operands) - len(names)
        callee = operands[0]
        meaning = self.whole_call(inst, callee, operands[1:count], dict(zip(names, operands[count:])))
        if isinstance(callee.type, Singleton) and callee.type.value in _ITERATORS and not self.consumed_once():
            if type(meaning) is Split:
                raise Mismatch(f"{callee.type.value.__name__}() of a value of several types cannot be kept in a variable",
                               "iterate over the call itself")
            return Share(meaning)
        return meaning

    def whole_call(self, inst, callee, args, kwargs):
        """A call whose operands may be unions: Python functions and boxing calls take them whole, rules of the library split."""
        if type(callee.type) is Union:
            return self.split_call(callee, callee, args, kwargs)
        t = callee.type
        if not isinstance(t, Function):
            target = t.value if isinstance(t, Singleton) else None
            function = self.session.function_of(target) if target is not None else None
            whole = function is not None and self.library.rule_for(target) is None or self.library.takes_unions(target)
            if not whole:
                for x in [*args, *kwargs.values()]:
                    if type(x.type) is Union:
                        return self.split_call(x, callee, args, kwargs)
        return self.call(callee, args, kwargs)

    def split_call(self, on, callee, args, kwargs):
        cases, mismatch = [], None
        for member in on.type.members:
            narrow = Operand(on.index, member, only_value(member))
            given = [narrow if x is on else x for x in (callee, *args, *kwargs.values())]
            try:
                meaning = self.whole_call(self.inst, given[0], given[1:len(args) + 1],
                                          dict(zip(kwargs, given[len(args) + 1:])))
                if type(meaning) is Split:
                    av = meaning_av(meaning)
                else:
                    meaning, av = self.settle(meaning)
            except Mismatch as error:
                mismatch = error
                meaning, av = Throw(error.exception, error.message), None
            cases.append((member, meaning, av))
        if mismatch is not None and all(type(m) is Throw for _, m, _ in cases):
            raise mismatch
        return Split(on.index, cases)

    def call_star(self, inst, operands):
        args = _elements(operands[1])
        kwargs = {}
        if inst.attrs.get("kwargs"):
            kwargs = _members(operands[2])
        return self.whole_call(inst, operands[0], args, kwargs)

    def tuple_(self, inst, operands):
        return Apply(structure.TUPLE_MAKE, *operands, cls=None)

    def list_(self, inst, operands):
        members = tuple((str(i), x.type) for i, x in enumerate(operands))
        return Apply(structure.STRUCT_MAKE, *operands, type=Struct("list", members))

    def list_extend(self, inst, operands):
        parts = _elements(operands[0]) + _elements(operands[1])
        members = tuple((str(i), x.type) for i, x in enumerate(parts))
        return Apply(structure.STRUCT_MAKE, *parts, type=Struct("list", members))

    def list_to_tuple(self, inst, operands):
        return Apply(structure.TUPLE_MAKE, *_elements(operands[0]), cls=None)

    def dict_(self, inst, operands):
        members, parts = [], []
        for key, value in zip(operands[::2], operands[1::2]):
            if not key.known or key.type is not Str:
                raise Mismatch("dicts are not compiled yet", "use arrays or tuples inside compiled functions")
            members.append((key.value, value.type))
            parts.append(value)
        return Apply(structure.STRUCT_MAKE, *parts, type=Struct("dict", tuple(members)))

    def dict_merge(self, inst, operands):
        before, more = _members(operands[0]), _members(operands[1])
        if inst.attrs["unique"]:
            for name in more:
                if name in before:
                    raise Mismatch(f"got multiple values for keyword argument '{name}'")
        parts = {**before, **more}
        return Apply(structure.STRUCT_MAKE, *parts.values(), type=Struct("dict", tuple((k, x.type) for k, x in parts.items())))

    def format_(self, inst, operands):
        value, spec = operands
        if value.type is Str and spec.type is NoneType and inst.attrs.get("conversion", "") in ("", "s"):
            return value
        boxed = value if value.type is Object else Apply(pyobject.PY_BOX, value)
        return Apply(pyobject.PY_FORMAT, boxed, spec if spec.type is NoneType else Apply(pyobject.PY_BOX, spec),
                     conversion=inst.attrs.get("conversion", ""))

    def string(self, inst, operands):
        return Apply(pyobject.PY_JOIN, *operands)

    def unpack(self, inst, operands):
        return self.library.unpack(operands[0], inst.attrs["count"])

    def unpack_ex(self, inst, operands):
        parts = _elements(operands[0])
        before, after = inst.attrs["before"], inst.attrs["after"]
        if len(parts) < before + after:
            return Throw(ValueError, f"not enough values to unpack (expected at least {before + after}, got {len(parts)})")
        middle = parts[before:len(parts) - after]
        rest = Apply(structure.STRUCT_MAKE, *middle, type=Struct("list", tuple((str(i), x.type) for i, x in enumerate(middle))))
        return Apply(structure.TUPLE_MAKE, *parts[:before], rest, *(parts[len(parts) - after:] if after else ()), cls=None)

    def iter_(self, inst, operands):
        return self.library.iter(operands[0])

    def next_(self, inst, operands):
        return self.library.next(operands[0])

    def element(self, inst, operands):
        return Apply(structure.TUPLE_GET, operands[0], index=inst.attrs["index"])

    def make_function(self, inst, operands):
        has = inst.attrs.get("has", ())
        roles = tuple(role for role in ("defaults", "kwdefaults", "annotations", "closure") if role in has)
        kept = [(role, x) for role, x in zip(roles, operands) if role != "annotations"]
        proto = self.session.nested(self.analysis.spec.proto, inst.attrs["code"], inst.attrs["qualname"])
        t = Function(proto, tuple(x.type for _, x in kept), tuple(role for role, _ in kept))
        return Apply(structure.FUNCTION_MAKE, *(x for _, x in kept), type=t)

    def check_bound(self, inst, operands):
        x = operands[0]
        if x.type is Unbound:
            return Throw(*self.session.unbound_error(inst.attrs["name"], False))
        return x

    def import_(self, inst, operands):
        name, level, fromlist = inst.attrs["name"], inst.attrs.get("level", 0), inst.attrs.get("fromlist")
        try:
            value = __import__(name, self.analysis.spec.proto.globals, None, fromlist or (), level or 0)
        except ImportError as error:
            return Throw(type(error), str(error))
        return constant(value)

    def import_from(self, inst, operands):
        return self.attribute(operands[0], inst.attrs["name"])

    def catch(self, inst, operands):
        return Apply(exceptions.EXC_FETCH)

    def exc_match(self, inst, operands):
        exc, classes = operands
        if isinstance(classes.type, Singleton):
            wanted = (classes.type.value,)
        elif classes.known and isinstance(classes.value, tuple):
            wanted = classes.value
        elif isinstance(classes.type, Tuple) and all(isinstance(e, Singleton) for e in classes.type.elements):
            wanted = tuple(e.value for e in classes.type.elements)
        else:
            raise Mismatch("the class in `except` must be known at compile time")
        for cls in wanted:
            if not (isinstance(cls, type) and issubclass(cls, BaseException)):
                return Throw(TypeError, "catching classes that do not inherit from BaseException is not allowed")
        if isinstance(exc.type, Exception_) and all(issubclass(exc.type.cls, c) for c in wanted[:1]):
            return Const(Bool, True)
        return Apply(exceptions.EXC_MATCH, exc, classes=tuple(wanted))

    def exc_enter(self, inst, operands):
        return Apply(exceptions.EXC_PUSH, operands[0])

    def exc_leave(self, inst, operands):
        return Apply(exceptions.EXC_POP, operands[0])

    def raise_(self, inst, operands):
        exc = operands[0]
        made = [self.exception_value(exc)]
        if len(operands) > 1:
            cause = operands[1]
            made.append(cause if cause.type is NoneType else self.exception_value(cause, "exception causes must derive from BaseException"))
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
        return Raise(operands, again=True)

    def match_sequence(self, inst, operands):
        t = operands[0].type
        return Const(Bool, isinstance(t, Tuple) or isinstance(t, Struct) and t.name == "list" or t is Range)

    def match_class(self, inst, operands):
        subject, cls = operands
        count, names = inst.attrs["count"], inst.attrs["kwnames"]
        if not (isinstance(cls.type, Singleton) and isinstance(cls.type.value, type)):
            raise Mismatch("called match pattern must be a class")
        wanted = cls.type.value
        fits = self.library.rule_for(isinstance)([subject, cls], {})
        if not fits.known:
            raise Mismatch("a class pattern for an exception is not compiled yet", "use isinstance")
        if not fits.value:
            return Const(NoneType, None)
        parts = []
        if count and wanted in _SELF_MATCHING and "__match_args__" not in vars(wanted):
            if count > 1:
                return Throw(TypeError, f"{wanted.__name__}() accepts 1 positional sub-pattern ({count} given)")
            parts.append(subject)
        elif count:
            fields = getattr(wanted, "__match_args__", ())
            if count > len(fields):
                return Throw(TypeError, f"{wanted.__name__}() accepts {len(fields)} positional sub-pattern"
                             f"{'' if len(fields) == 1 else 's'} ({count} given)")
            names = (*fields[:count], *names)
        for name in names:
            try:
                parts.append(self.attribute(subject, name))
            except Mismatch as error:
                if error.exception is AttributeError:
                    return Const(NoneType, None)
                raise
        return Apply(structure.TUPLE_MAKE, *parts, cls=None)

    def match_mapping(self, inst, operands):
        t = operands[0].type
        if isinstance(t, Struct) and t.name == "dict" or isinstance(t, Singleton) and isinstance(t.value, Mapping):
            raise Mismatch("a mapping pattern for a dict is not compiled yet", "match a tuple of its values, or test them with if")
        return Const(Bool, False)

    def length(self, inst, operands):
        return self.library.length(operands[0])

    def builtin(self, inst, operands):
        import_name = inst.attrs["name"]
        value = getattr(__import__("builtins"), import_name)
        return Const(Singleton(value), value)

    def unsupported(self, inst, operands):
        raise Mismatch(f"{inst.attrs['construct']} is not supported in compiled functions", inst.attrs.get("hint", ""))

    def poll(self, inst, operands):
        return Apply(memory.POLL, cost=4)

    def no_list(self, inst, operands):
        raise Mismatch("lists are not compiled yet", "use an array (np.empty, np.zeros) or a tuple")

    def no_set(self, inst, operands):
        raise Mismatch("sets are not compiled yet", "use an array (np.empty, np.zeros) or a tuple")

    def no_dict(self, inst, operands):
        raise Mismatch("dicts are not compiled yet", "use arrays or tuples inside compiled functions")

    def no_yield(self, inst, operands):
        raise Mismatch("a generator cannot be handed to the interpreter yet", "iterate over it inside a compiled function")


def key_error(key):
    """KeyError(key)."""
    return Raise([Apply(exceptions.EXC_NEW, key, cls=KeyError)])


class Raise(Expr):
    """raise: operands are the exception value and, where given, the cause (an exception or None)."""

    __slots__ = ("operands", "again")

    def __init__(self, operands, again=False):
        self.operands, self.again = operands, again
        self.type, self.value = None, UNKNOWN


class Captured(Expr):
    """Element `index` of the closure tuple in capture `role` of the running function's own value."""

    __slots__ = ("role", "index")

    def __init__(self, type, role, index):
        self.type, self.role, self.index, self.value = type, role, index, UNKNOWN


class OwnFunction(Expr):
    """The function value that runs."""

    __slots__ = ()

    def __init__(self, type):
        self.type, self.value = type, UNKNOWN


def _markers(function, role):
    return [t.value for t in function.captures[role].elements if isinstance(t, Singleton)]


class MakeCell(Expr):
    __slots__ = ("content",)

    def __init__(self, content, type):
        self.content, self.type, self.value = content, type, UNKNOWN


class CellGet(Expr):
    """Content of a cell, checked for Unbound."""

    __slots__ = ("cell", "name", "free")

    def __init__(self, cell, content, name, free):
        self.cell, self.name, self.free, self.value = cell, name, free, UNKNOWN
        if type(content) is Union and Unbound in content.members:
            from_members = [m for m in content.members if m is not Unbound]
            content = _union(from_members)
        self.type = content


class CellSet(Expr):
    __slots__ = ("cell", "content")

    def __init__(self, cell, content):
        self.cell, self.content = cell, content
        self.type, self.value = NoneType, None


def _union(members):
    total = (members[0], UNKNOWN)
    for m in members[1:]:
        total = join(total, (m, UNKNOWN))
    return total[0]


def _holds(t: Type, site) -> bool:
    """Whether a value of type `t` refers to the cell of `site`."""
    if isinstance(t, Cell):
        return t.site is site or t.site.content is not None and _holds(t.site.content, site)
    if isinstance(t, Tuple):
        return any(_holds(e, site) for e in t.elements)
    if isinstance(t, Function):
        return any(_holds(e, site) for e in t.captures)
    if isinstance(t, Union):
        return any(_holds(e, site) for e in t.members)
    return isinstance(t, Struct) and any(_holds(e, site) for _, e in t.members)


def _has_generator(t: Type) -> bool:
    if isinstance(t, (Tuple, Union)):
        return any(map(_has_generator, t.elements if isinstance(t, Tuple) else t.members))
    return isinstance(t, Generator) or isinstance(t, Struct) and any(_has_generator(m) for _, m in t.members)


def meaning_av(meaning):
    if type(meaning) is Split:
        total = None
        for _, _, av in meaning.cases:
            if av is not None:
                total = av if total is None else join(total, av)
        return total
    return None if meaning.type is None else (meaning.type, meaning.value)


def may_raise(meaning) -> bool:
    kind = type(meaning)
    if kind is Split:
        return any(may_raise(m) for _, m, _ in meaning.cases)
    if kind is Apply:
        if meaning.op is pyobject.PY_UNBOX and type(meaning.operands[0]) is Const:
            return False
        return bool(meaning.op.effects & ir.RAISES) or any(map(may_raise, meaning.operands))
    if kind is Call:
        return may_raise(meaning.resolved)
    if kind is UserCall:
        return meaning.spec.raises or meaning.spec.result is None or any(map(may_raise, meaning.operands))
    if kind is CellGet:
        content = meaning.cell.type.content
        return content is Unbound or type(content) is Union and Unbound in content.members
    return kind is Throw or kind is Raise or kind is Nest


def describe(t: Type) -> str:
    """How CPython names the type of a value of type `t`, in quotes."""
    return f"'{_NAMES.get(t) or _class_name(t)}'"


_NAMES = {NoneType: "NoneType", Str: "str"}


def _class_name(t):
    if isinstance(t, Tuple):
        return t.cls.__name__ if t.cls else "tuple"
    if isinstance(t, Singleton):
        return type(t.value).__name__
    if isinstance(t, Function):
        return "function"
    if isinstance(t, Method):
        return "builtin_function_or_method"
    if isinstance(t, (Exception_, Instance)):
        return t.cls.__name__
    if isinstance(t, Iterator):
        return "generator" if _has_generator(t.state) else "iterator"
    if isinstance(t, Generator):
        return "generator"
    if type(t).__name__ == "Array":
        return "numpy.ndarray"
    if type(t).__name__ == "Slice":
        return "slice"
    if isinstance(t, Struct):
        return t.name
    text = str(t)
    return f"numpy.{text}" if type(t).__name__.startswith("Np") else text


def _elements(x):
    """The elements of a tuple (or of a list written out) as expressions."""
    if x is None:
        return []
    if isinstance(x.type, Tuple):
        if x.known:
            return [constant(v) for v in x.value]
        return [Apply(structure.TUPLE_GET, x, index=i) for i in range(len(x.type.elements))]
    if isinstance(x.type, Struct) and x.type.name == "list":
        return [Apply(structure.STRUCT_GET, x, field=name) for name, _ in x.type.members]
    raise Mismatch(f"the length of this {describe(x.type)} must be known at compile time to be unpacked with *", "pass a tuple")


def _members(x):
    if isinstance(x.type, Struct) and x.type.name == "dict":
        return {name: Apply(structure.STRUCT_GET, x, field=name) for name, _ in x.type.members}
    raise Mismatch("keyword arguments in ** must be known at compile time", "name the keywords in the call")


def _static(x, name):
    if isinstance(x.type, DType):
        return x.type.scalar
    if not x.known and not isinstance(x.type, Singleton):
        raise Mismatch(f"attribute {name} of an operation must be a constant")
    return x.type.value if isinstance(x.type, Singleton) else x.value


def _defaults(function):
    return [constant(v) for v in function.__defaults__ or ()], {k: constant(v) for k, v in (function.__kwdefaults__ or {}).items()}


E = Evaluator
_HANDLERS = {
    control.CONST: E.const, generic.GLOBAL: E.global_, generic.FREEVAR: E.freevar, generic.BINARY: E.binary,
    generic.INPLACE: E.binary, generic.UNARY: E.unary, generic.COMPARE: E.compare, generic.TRUTH: E.truth,
    generic.GETATTR: E.getattr_, generic.SETATTR: E.setattr_, generic.GETITEM: E.getitem, generic.SETITEM: E.setitem,
    generic.DELITEM: E.delitem, generic.DELATTR: E.delitem, generic.SLICE: E.slice_, generic.CALL: E.call_inst,
    generic.CALL_STAR: E.call_star, generic.TUPLE: E.tuple_, generic.LIST: E.list_, generic.SET: E.no_set,
    generic.DICT: E.dict_, generic.STRING: E.string, generic.LIST_EXTEND: E.list_extend,
    generic.LIST_TO_TUPLE: E.list_to_tuple, generic.LIST_APPEND: E.no_list, generic.SET_ADD: E.no_set,
    generic.DICT_SET: E.no_dict, generic.DICT_MERGE: E.dict_merge, generic.FORMAT: E.format_, generic.UNPACK: E.unpack,
    generic.UNPACK_EX: E.unpack_ex, generic.ITER: E.iter_, generic.NEXT: E.next_, generic.ELEMENT: E.element,
    generic.MAKE_FUNCTION: E.make_function, generic.MAKE_CELL: E.make_cell, generic.CELL_GET: E.cell_get,
    generic.CELL_SET: E.cell_set, generic.CHECK_BOUND: E.check_bound, generic.IMPORT: E.import_,
    generic.IMPORT_FROM: E.import_from, generic.CATCH: E.catch, generic.EXC_MATCH: E.exc_match,
    generic.EXC_ENTER: E.exc_enter, generic.EXC_LEAVE: E.exc_leave, generic.MATCH_SEQUENCE: E.match_sequence,
    generic.MATCH_MAPPING: E.match_mapping, generic.MATCH_KEYS: E.no_dict, generic.MATCH_CLASS: E.match_class,
    generic.LENGTH: E.length, generic.GENERATOR_STATE: E.state, generic.POLL: E.poll, generic.YIELD: E.no_yield, generic.WITH_ENTER: E.unsupported,
    generic.BUILTIN: E.builtin, generic.UNSUPPORTED: E.unsupported, control.RAISE: E.raise_, control.RERAISE: E.reraise,
}
del E
