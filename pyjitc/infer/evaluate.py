"""The meaning of one generic instruction for the operand types found so far.

Most operations are looked up in the library; a union operand is split into one case per member. Calls of Python
functions become specialisations of their own.
"""
from __future__ import annotations

import builtins
import functools
import gc
import operator
from types import MethodType

from ..base.errors import with_article
from ..base.lazy import lazy
from ..front.functions import TRANSFORMED
from ..ir import core as ir
from ..ops import exceptions, generic, memory, pyobject, structure
from ..runtime.dispatcher import ByCount, Callable_
from ..types.classes import OWN_MODULES, is_fixed
from ..types.kinds import (
    Array, Bool, Bytes, Content, Dict, DictDisplay, DType, Dual, Ended, Exception_, Function, FunctionObject, Generator,
    Int, Iterator, ListDisplay, Method, NoneType, Object, ObjectOf, RangeType, Singleton, Str, Struct, Super, Tuple,
    TupleOf, Type, Unbound, Undefined, Union, any_part, closed, is_numpy_scalar, is_plain_tuple, is_python_number,
    members_of as types_of, numbered, union_of,
)
from ..types.lattice import dtype_of, numpy_counterpart
from .constants import constant, plain_value
from .join import AV, join
from .expressions import (
    Raise, Split, UserCall, captured_defaults, defaults_of, may_raise, meaning_av, members_of, opened,
)
from .meaning import (
    UNKNOWN, Apply, Call, CallValue, ClassAttribute, Const, Derived, Expr, FieldGet, FieldSet, Fresh, Local, Mismatch,
    NeedsList, Nest, NotConverted, NotNative, Operand, RecursiveGenerator, Restart, Ruled, Share, Step, Throw, thrown,
)
from .names import describe, has_generator, is_of_python, storable, with_object
from .operations import HANDLERS, Operations, static_value
from .session import value_of_member

binding = lazy(f"{__package__}.bind")  # only functions that call others load it
boxed = lazy(f"{__package__}.boxed")  # only programs that need the interpreter load it
displays = lazy(f"{__package__}.displays")
duals = lazy(f"{__package__}.duals")  # only functions with variables of two types load it
derivatives = lazy(f"{__package__}.derivatives")  # only programs that ask for derivatives load it
localclasses = lazy(f"{__package__}.localclasses")  # only functions with class statements load it
named_attributes = lazy(f"{__package__}.named_attributes")  # only programs that call getattr() or hasattr() load it
generators = lazy("pyjitc.front.generators")  # only programs with `yield` load it

__all__ = ["Evaluator"]

ENDED = Ended.of(numbered([Tuple(())]))
VOID: AV = (NoneType, None)
_GENERATOR = 0x20  # inspect.CO_GENERATOR
_MOST_LENGTHS = 4  # types of tuples that one attribute may have before they are tuples of any length
_MOST_WITHIN = 4  # generators of the same code that a generator may hold, one in the other
_STARS = 4  # inspect.CO_VARARGS
_KEYWORDS = 8  # inspect.CO_VARKEYWORDS
# modules with functions that make or change classes
_OF_CLASSES = frozenset({"dataclasses", "functools", "enum", "typing", "abc", "collections"})
_WITH_KEYWORDS = (ImportError, NameError, AttributeError)  # builtin exceptions with keyword arguments

# Operations that take a union without splitting it: they move values, or box them.
_UNSPLIT = {generic.TUPLE, generic.LIST, generic.DICT, generic.DICT_SET, generic.SET, generic.SET_ADD,
            generic.SET_UPDATE, generic.MAKE_CELL, generic.CELL_SET, generic.CALL, generic.CALL_STAR,
            generic.MAKE_FUNCTION, generic.DICT_MERGE, generic.FORMAT, generic.STRING, generic.EXC_ENTER,
            generic.EXC_LEAVE, generic.LIST_EXTEND, generic.LIST_APPEND, generic.STORE_GLOBAL,
            generic.UNSUPPORTED, generic.CATCH, generic.YIELD, generic.GENERATOR_STATE}

_HELD_NOTHING = "a container has an item, but was empty when this code was compiled"


def _merges_displays(inst, operands) -> bool:
    """Whether an instruction merges dicts that are dict displays of several types."""
    return inst.op is generic.DICT_MERGE and any([type(x.type) is Union and all(
        [type(m) is DictDisplay for m in x.type.members]) for x in operands])


class Evaluator(Operations):
    def __init__(self, analysis):
        self.analysis = analysis
        self.session = analysis.session
        self.library = self.session.library if analysis.spec.proto.library else self.session.program_library
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
            if av[0].varying:
                watch(av[0], analysis, block)
        if any([type(x.type) is Dual for x in operands]):
            if inst.op is generic.TUPLE or inst.op is generic.LIST:
                operands = duals.displayed(operands, self.reader_of_display(inst))
            found = duals.as_one(inst, operands, lambda given: HANDLERS[inst.op](self, inst, given))
            if found is not None:
                return self.noted(inst, *self.settle(found))
            if inst.op is generic.CALL:
                found = duals.extreme(inst, operands, self.library)
                if found is not None:
                    return self.noted(inst, *self.settle(found))
            if not duals.keeps(inst, operands, self.is_program_function):
                operands = list(map(duals.as_union, operands))
        whole = inst.op in _UNSPLIT and not _merges_displays(inst, operands) or inst.op is generic.SLICE and all(
            type(x.type) is not Union or self.library.is_power(x.type) for x in operands)
        return self.noted(inst, *self.split(inst, operands, len(operands) if whole else 0))

    def met(self, x: AV, y: AV, error: Mismatch) -> AV:
        """The abstract value for a place where two values meet whose types do not join. This class raises `error`."""
        raise error

    def noted(self, inst, meaning, av) -> AV | None:
        """Record the meaning of an instruction, and return its abstract value."""
        analysis = self.analysis
        analysis.meaning[inst] = meaning
        if av is not None and av[0].sealed:  # a container that the interpreter made
            known = self.session.site(analysis.spec, inst, None, dict)
            if type(meaning) is Apply and meaning.op is pyobject.PY_UNBOX and type(meaning.operands[0]) is Const:
                known = self.session.arguments  # an object of the program, which may also be an argument
            av = self.session.opened(av[0], known), av[1]
        if type(meaning) is Throw and meaning.hint and not analysis.spec.proto.library:
            self.session.doubtful[analysis, inst] = None
        if inst.op.effects & ir.RAISES and may_raise(meaning):
            analysis.raising.add(inst)
        self.record_verdict(inst, meaning, av)
        return av

    def reader_of_display(self, inst):
        """The only instruction that reads a tuple or list display, possibly inside other displays: (its operation, the
        position of the operand that is the display, the types of all operands as far as they are known); or
        (None, 0, ())."""
        analysis, block = self.analysis, self.block
        while True:
            reader, block = analysis.shape.only_reader(inst, block)
            if reader is None:
                return None, 0, ()
            if reader.op is not generic.TUPLE and reader.op is not generic.LIST:
                avs = [analysis.lookup(arg, block) for arg in reader.args]
                return reader.op, list(reader.args).index(inst.result), [None if av is None else av[0] for av in avs]
            inst = reader

    def is_program_function(self, target) -> bool:
        return self.session.function_of(target) is not None and self.library.rule_for(target) is None

    def split(self, inst, operands, start, outermost=True):
        """The meaning of `inst` for each combination of members of the unions among its operands; operands that are the
        same value have the same member."""
        for k in range(start, len(operands)):
            if type(operands[k].type) is Union:
                break
        else:
            return self.handled(inst, operands)
        cases, total, mismatch = [], None, None
        for member in operands[k].type.members:
            narrowed = [x if arg is not inst.args[k] else Operand(i, member, value_of_member(operands[k], member))
                        for i, (x, arg) in enumerate(zip(operands, inst.args))]
            try:
                meaning, av = self.split(inst, narrowed, k + 1, False)
            except Mismatch as error:
                # its traceback has this frame, which would make a reference cycle with the error
                mismatch = error.with_traceback(None)
                meaning, av = thrown(error), None
            cases.append((member, meaning, av))
            if av is not None:
                total = av if total is None else join(total, av)
        if (mismatch is not None and all(_only_throws(m) for _, m, _ in cases)
                and not any(m is Unbound for m, _, _ in cases)):
            messages = {(m.exception, m.message) if type(m) is Throw else None for _, m, _ in cases}
            if outermost or len(messages) == 1 and None not in messages:
                raise mismatch
        return Split(k, cases), total

    def handled(self, inst, operands):
        """(meaning, abstract value) for operands of one type each, or for an operation that takes unions whole."""
        try:
            return self.settle(HANDLERS[inst.op](self, inst, operands))
        except Mismatch as error:
            if type(error) is NotConverted and error.operand in operands and error.is_defined():
                made, av = self.settle(self.call(constant(error.function), [error.operand], {}))
                if av is None:
                    return made, None
                # an operation by itself, since a meaning may drop a known number or use it twice; the method is called
                number = Apply(structure.RETYPE, made, type=made.type)
                return self.handled(inst, [number if x is error.operand else x for x in operands])
            if self.analysis.spec.proto.library or not any([x.type is Undefined for x in operands]):
                raise
            # an item of a container in which nothing was stored: there is none
            return Throw(TypeError, _HELD_NOTHING), None

    def record_verdict(self, inst, meaning, av):
        verdicts = self.analysis.verdicts
        if inst.result is None or av is None or av[0] is not Bool:
            return
        if inst.op is generic.TRUTH or inst.op is generic.UNARY and inst.attrs["op"] == "not":
            found = verdicts.get(inst.args[0])
            if found is not None:
                flip = inst.op is generic.UNARY
                verdicts[inst.result] = (found[0],
                                         {m: (not t) if flip and t in (True, False) and t is not UNKNOWN else t
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
        """Resolve the calls inside an expression; returns (meaning, its abstract value or None)."""
        rule = _RULES.get(type(meaning))
        return (meaning, (meaning.type or NoneType, meaning.value)) if rule is None else getattr(self, rule)(meaning)

    def settle_split(self, meaning):
        return meaning, meaning_av(meaning)

    def settle_throw(self, meaning):
        return meaning, None

    def settle_class_attribute(self, meaning):
        return self.settle(constant(self.class_attribute(meaning.cls, meaning.name)))

    def settle_call_value(self, meaning):
        callee = meaning.callee if meaning.callee.type is not None else self.settle(meaning.callee)[0]
        given = [*meaning.operands, *meaning.keywords.values()]
        for i, x in enumerate(given):
            given[i], av = self.settled(x)
            if av is None:
                return given[i], None
        n = len(meaning.operands)
        return self.settle(self.call(callee, given[:n], dict(zip(meaning.keywords, given[n:]))))

    def settle_local(self, meaning):
        av = self.analysis.lookup(meaning.local, self.block)
        if av is not None:
            meaning.type, meaning.value = av
        return meaning, av

    def settle_step(self, meaning):
        return self.settle(self.generator_step(meaning.state))

    def settle_share(self, meaning):
        state, av = self.settle(meaning.state) if meaning.state.type is None else (meaning.state, meaning.state)
        return (state, None) if av is None else self.settle(self.shared(state))

    def settle_call(self, meaning):
        if meaning.resolved is None:
            operands = []
            for x in meaning.operands:
                x, av = self.settled(x)
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

    def settle_user_call(self, meaning):
        spec = meaning.spec
        if spec.error is not None and (spec.proto.library or self.session.asks and is_of_python(spec.proto)):
            spec.error.obj = None  # a value of the callee
            raise spec.error
        for x in meaning.operands:
            x, av = self.settled(x)
            if av is None:
                return x, None
        meaning.type, meaning.value = spec.result or (None, UNKNOWN)
        return meaning, spec.result

    def settle_derived(self, meaning):
        return derivatives.settle(self, meaning)

    def settle_ruled(self, meaning):
        return derivatives.settle_ruled(self, meaning)

    def settle_apply(self, meaning):
        if meaning.type is None:
            operands = []
            for x in meaning.operands:
                x, av = self.settle(x) if x.type is None else (x, x)
                if av is None:
                    return x, None
                operands.append(x)
            meaning.operands = tuple(operands)
            meaning.type_now()
        if meaning.holds and not self.stored(meaning):
            return meaning, None
        if meaning.type is None:
            return meaning, VOID
        if meaning.op is pyobject.PY_UNBOX and isinstance(meaning.type, ObjectOf):
            if type(meaning.operands[0]) is Const:
                self.session.look(meaning.operands[0].value)
        return meaning, (meaning.type, meaning.value)

    def settled(self, x):
        """As `settle`, for an operand of a call, which nothing else settles: a store to a container inside it widens
        the container's type. The second item of the result is None only if the operand has no value yet."""
        return self.settle(x) if x.type is None or type(x) is Apply and x.holds else (x, x)

    def settle_all(self, *lists):
        """Settle the expressions in lists, in place. Returns the first that has no value yet, or None."""
        for parts in lists:
            for i, x in enumerate(parts):
                if x.type is None:
                    parts[i], av = self.settle(x)
                    if av is None:
                        return parts[i]
        return None

    def fresh(self, made):
        """A container that this instruction makes: its type has its own type variables."""
        make = self.session.variable
        t = self.session.site(self.analysis.spec, self.inst, made.kind, lambda: made.kind(*[make() for _ in made.held]))
        for n, held in enumerate(made.held):
            if held.sealed:
                held = self.session.opened(held, self.session.site(self.analysis.spec, self.inst, None, dict))
            storable(held)
            t.store(n, held)
        watch(t, self.analysis, self.block)
        return self.settle(made.make(t))

    def stored(self, applied) -> bool:
        """Widen the types of containers by the stores in an expression. False where it loads an item from a container
        in which nothing was stored so far."""
        for x in applied.operands:
            if type(x) is Apply and x.holds and not self.stored(x):
                return False
        op = applied.op
        if op.stores is not None:
            for container, n, t in op.stores(tuple([x.type for x in applied.operands]), applied.attrs):
                storable(t)
                container.store(n, t)
        return not (applied.type is Undefined and ir.regions_read(op.effects) & ir.OBJECTS)

    def field(self, meaning):
        """The attribute that an object stores, in the type that reads and stores have found so far."""
        x, av = self.settle(meaning.x) if meaning.x.type is None else (meaning.x, meaning.x)
        if av is None:
            return x, None
        meaning.x = x
        session = self.session
        self.analysis.spec.bound = True
        variable = session.attribute(x.type.cls, meaning.name)
        if type(meaning) is FieldGet:
            session.read.add((x.type.cls, meaning.name))
            variable.used(self.analysis, self.block)
            if meaning.otherwise is not UNKNOWN:
                variable.grow(constant(meaning.otherwise).type)
            meaning.type = variable.content
            return meaning, None if meaning.type is None else (meaning.type, UNKNOWN)
        content, av = (self.settle(meaning.content) if meaning.content.type is None
                       else (meaning.content, meaning.content))
        if av is None:
            return content, None
        attribute = x.type.cls, meaning.name
        if attribute in session.findings.lengths and is_plain_tuple(content.type):
            content = self.settle(self.library.tuple_of(content))[0]
        meaning.content = content
        meaning.stored = union_of((with_object(content).type,))
        if any_part(meaning.stored, lambda part: isinstance(part, ListDisplay)):
            raise NeedsList
        if any_part(meaning.stored, _cannot_be_read_again):
            raise NotNative(f"an attribute that holds {with_article(describe(content.type)[1:-1])} is not compiled",
                            "store a number, an array, a tuple or an object of a class")
        variable.grow(meaning.stored)
        if attribute not in session.findings.lengths and _mixes_lengths(variable.content):
            session.findings.lengths.add(attribute)
            raise Restart
        meaning.type, meaning.value = NoneType, None
        return meaning, VOID

    def nest(self, nest):
        missing = self.settle_all(nest.arguments, nest.operands)
        if missing is not None:
            return missing, None
        elements = [Operand(-1, x.type.dtype) if isinstance(x.type, Array) else x for x in nest.operands]
        proto = self.session.prototype(nest.kernel)
        if proto.code.co_flags & (_STARS | _KEYWORDS):  # a hole of a template passes the elements one by one
            raise AssertionError(f"the element function {proto.qualname}() has * or ** parameters")
        kernel = self.user_call(proto, [*nest.fixed, *elements], None, nest.kernel)
        if self.settle(kernel)[1] is None:
            return nest, None
        t = nest.dtype or (numpy_counterpart(kernel.type) if is_python_number(kernel.type) else kernel.type)
        if not is_numpy_scalar(t):
            raise NotNative(f"an array of {describe(t)} is not compiled")
        # the lengths of the shape are not specialised: a template is compiled once for a rank
        arguments = [Operand(-1, nest.arguments[0].type), *nest.arguments[1:]]
        of = self.in_parts(nest.template)
        template = self.user_call(self.session.prototype(of), [*arguments, Const(DType(t), dtype_of(t))], None, of)
        if self.settle(template)[1] is None:
            return nest, None
        other = (nest.instead
                 and self.user_call(self.session.prototype(nest.instead), [*nest.arguments[1:], *nest.operands]
                                    if nest.into else nest.operands, None, nest.instead))
        if other is not None and self.settle(other)[1] is None:
            return nest, None
        two = None
        products = self.analysis.products
        if nest.instead is not None and not nest.into and self.inst not in products:
            products[self.inst] = self.block
            if len(products) == 2:
                self.analysis.touch(next(iter(products.values())))  # now it has another product next to it
        if nest.beside is not None and len(products) > 1:
            column, matrix = nest.operands
            vector = Array(matrix.type.dtype, 1, "A")
            given = [Operand(-1, t) for t in (matrix.type, vector, column.type, Int, Bool, Array(matrix.type.dtype, 1))]
            two = self.user_call(self.session.prototype(nest.beside), given, None, nest.beside)
            if self.settle(two)[1] is None:
                return nest, None
        nest.calls = template, kernel, other, two
        nest.type = template.type
        return nest, (nest.type, UNKNOWN)

    def generator_step(self, state):
        callee, *rest = (Apply(structure.STRUCT_GET, state, field=name) for name, _ in state.type.members)
        closure = callee if isinstance(callee.type, Function) else None
        function = callee.type.value if isinstance(callee.type, Singleton) else None
        return self.user_call(state.type.step, [callee, *rest], closure, function)

    def generator(self, proto, callee, operands):
        """The state of a generator before its first step. It is a value: where it may be read twice, it becomes an
        iterator object."""
        if proto.code in self.session.findings.left:
            raise self.session.findings.left[proto.code]
        if generators.acts_on_close(self.session.build(proto)):
            raise NotNative("a generator that yields inside try/finally is not compiled yet",
                            "do what the `finally` does where the generator is used")
        if not proto.library and any([spec.proto.code is proto.code and spec.proto is not proto
                                      for spec in self.session.callers((self.analysis, self.inst))]):
            self.session.self_made.add(proto.code)
        state = self.generator_state(generators.step_of(proto, 0), [callee, *operands])
        if self.consumed_once():
            return state
        if generators.returns_value(self.session.build(proto)):
            raise NotNative("a generator that returns a value is not compiled as an object",
                            "iterate over the call itself")
        return Share(state)

    def consumed_once(self):
        """Whether the result of this instruction has only one reader, a loop or a call that consumes it, which reads it
        once."""
        analysis = self.analysis
        if analysis.spec.proto.library:
            return True
        reader, block = analysis.shape.only_reader(self.inst, self.block)
        if reader is None:
            return False
        if reader.op is generic.CALL:
            av = analysis.lookup(reader.args[0], block)
            if av is not None and isinstance(av[0], Method) and av[0].receiver in (Str, Bytes):  # join
                return True
            target = av[0].value if av is not None and isinstance(av[0], Singleton) else None
            return self.library.rule_for(target) is not None and target is not next
        return reader.op in (generic.ITER, generic.UNPACK)

    def shared(self, state):
        if isinstance(state.type, Iterator):
            return state
        content = state.type
        steps = self.analysis.steps.setdefault(self.inst, {})
        for _ in range(20):
            total = content
            for member in content.members if type(content) is Union else (content,):
                steps[member], av = self.settle(self.library.next(Operand(-1, member)))
                if av is not None and av[0].elements[2] is not Undefined:
                    total = join((total, UNKNOWN), (av[0].elements[2], UNKNOWN))[0]
            if total is content:
                break
            content = total
        else:
            raise NotNative("the state of this generator has too many types", "keep the type of each variable the same")
        if not has_generator(content):
            return Apply(memory.ITERATOR_NEW, state)
        content = union_of((content, ENDED))
        return Apply(memory.ITERATOR_NEW, Apply(
            structure.UNION_MAKE if type(state.type) is not Union else structure.UNION_CAST, state, type=content))

    def generator_state(self, step, parts):
        if self.analysis.spec.proto.code is step.code:
            most = 0 if step.code in self.session.self_made else _MOST_WITHIN
            if any([_deepest(x.type, step.code) > most for x in parts]):
                raise RecursiveGenerator(step.code)
        members = tuple((str(i), x.type) for i, x in enumerate(parts))
        return Apply(structure.STRUCT_MAKE, *parts, type=Generator(str(step), members, step))

    def super_(self, args, kwargs):
        """The value of super(cls, x) or super(): attributes of classes after `cls` in the method resolution order."""
        if not args and not kwargs:
            code, entry = self.analysis.spec.proto.code, self.analysis.fn.entry
            if "__class__" not in code.co_freevars or not entry.params:
                return Throw(RuntimeError, "super(): no arguments" if not code.co_argcount
                             else "super(): __class__ cell not found")
            args = [self.freevar(None, (), "__class__"), Local(entry.params[0])]
        args = [self.settle(x)[0] if x.type is None else x for x in args]
        if len(args) != 2 or kwargs or args[1].type is None:
            raise NotNative("super() is compiled without arguments, or with a class and an object",
                            "call the method of the other class by its name")
        cls, x = args
        holder = cls.type.value if isinstance(cls.type, Singleton) else None
        if isinstance(x.type, ObjectOf) and isinstance(holder, type):
            if not issubclass(x.type.cls, holder):
                return Throw(TypeError, "super(type, obj): obj must be an instance or subtype of type")
            return Apply(structure.STRUCT_MAKE, x, type=Super(holder, x.type))
        raise NotNative(f"super() of {with_article(describe(x.type)[1:-1])} is not compiled",
                        "call the method of the other class by its name")

    def unsealed(self, x):
        """A container of the program, or one that the interpreter has made, with type variables for its items."""
        return Apply(structure.RETYPE, x, type=self.session.opened(x.type, self.session.arguments))

    def in_parts(self, function):
        """The version of a library function for several threads, if it has one and `parallel=True` holds; else the
        function. For few elements the version for several threads calls the function itself."""
        here = self.analysis.spec.proto.code
        if self.session.options.parallel or here in self.session.parallel:
            found = getattr(function, "in_parts", None)
            if found is not None and found.__code__ is not here:
                return found
        return function

    def user_call(self, proto, operands, closure, function):
        operands = [self.unsealed(x) if x.type.sealed else x for x in operands]
        if self.session.findings.returned and proto.code in TRANSFORMED:
            operands = self.library.with_dicts_written_out(self, operands)
        avs = tuple((x.type, x.value) for x in operands)
        if not proto.library and any([is_plain_tuple(x.type) and len(x.type.elements) > 1 for x in operands]) and (
                self.session.is_longer(proto, operands, (self.analysis, self.inst))):
            self.analysis.need_lengths()
        spec = self.session.spec(proto, avs, (closure.type, UNKNOWN) if closure is not None else None, function,
                                 constants=proto.takes_constants or self.analysis.spec.proto.hands_constants
                                 or self.session.hands_constants,
                                 caller=(self.analysis, self.inst))
        if spec.dependents is not None:
            spec.dependents[self.analysis, self.block] = None
        return UserCall(spec, operands, closure)

    def called_as_declared(self, target, proto, operands, function):
        """The call of the function behind `target`, with the conversions of arguments and result that its declared
        signatures ask for in a call from the interpreter. A function that calls itself converts nothing."""
        of_result = None
        if isinstance(target, Callable_) and proto.code is not self.analysis.spec.proto.code:
            operands, of_result = target.conversions(operands)
            unknown = self.settle_all(operands)
            if unknown is not None:
                return unknown
        call = self.user_call(proto, operands, None, function)
        if of_result is None:
            return call
        called, av = self.settle(call)
        return called if av is None or called.type is None else of_result(called)

    def bound(self, proto, args, kwargs, defaults, kwdefaults) -> list[Expr]:
        """One expression for each parameter. `**rest` becomes a dict if the function does more with it than pass it
        on."""
        operands = binding.bind(proto, args, kwargs, defaults, kwdefaults)
        if proto.code.co_flags & _KEYWORDS and not proto.library:
            if not displays.hands_on_keywords(self.session.build(proto)):
                items = members_of(operands[-1]).items()
                operands[-1] = self.settle(self.library.new_dict(
                    [x for name, value in items for x in (constant(name), value)]))[0]
        return operands

    def call(self, callee: Expr, args: list[Expr], kwargs: dict[str, Expr]):
        t = callee.type
        if isinstance(t, Singleton):
            return self.call_object(callee, t.value, args, kwargs)
        if isinstance(t, FunctionObject):
            return self.call(opened(callee), args, kwargs)
        if isinstance(t, Function):
            _, defaults = captured_defaults(self, callee)
            operands = self.bound(t.proto, args, kwargs, *defaults)
            if t.proto.code.co_flags & _GENERATOR:
                return self.generator(t.proto, callee, operands)
            return self.user_call(t.proto, operands, callee, None)
        if isinstance(t, Method):
            return self.library.method(self.receiver(callee), t.name, args, kwargs)
        return self.library.call(callee, args, kwargs)

    def call_object(self, callee: Expr, target, args: list[Expr], kwargs: dict[str, Expr]):
        """The call of an object that is known."""
        if isinstance(target, ir.Op):
            return Apply(target, *args, **{k: static_value(v, k) for k, v in kwargs.items()})
        if target in (setattr, object.__setattr__) and len(args) == 3 and args[0].type is Object:
            self.session.store_in_any(args[1].value if args[1].known else None, args[2].type)
        if target is super:
            return self.super_(args, kwargs)
        if target is getattr or target is hasattr:
            return named_attributes.attribute_by_name(self, target, args, kwargs)
        rule = self.library.rule_of_kinds(target, args) or self.library.rule_for(target)
        if rule is not None:
            return self.call_by_rule(rule, target, args, kwargs)
        if type(target) is functools.partial:
            if str(getattr(target.func, "__module__", "")).partition(".")[0] not in OWN_MODULES:
                for name, held in target.keywords.items():
                    self.session.depend(target.keywords, name, held)
            fixed = {k: self.held_constant(v) for k, v in target.keywords.items()}
            return self.call(constant(target.func), [*map(self.held_constant, target.args), *args],
                             {**fixed, **kwargs})
        if type(target) is MethodType and self.session.function_of(target.__func__) is not None:
            return self.call(constant(target.__func__), [constant(target.__self__), *args], kwargs)
        if type(target) is functools._lru_cache_wrapper:
            return self.cached_call(target, args, kwargs)
        if isinstance(target, ByCount) and not kwargs:
            return self.call(constant(target.for_count(len(args))), args, kwargs)
        function = self.session.function_of(target)
        if function is not None:
            return self.call_function(target, function, args, kwargs)
        if isinstance(target, type) and issubclass(target, BaseException):
            builtin = target.__module__ == "builtins" and is_fixed(target)
            if kwargs and builtin and not issubclass(target, _WITH_KEYWORDS):
                raise Mismatch(f"{target.__name__}() takes no keyword arguments")
            named = {"names": tuple(kwargs)} if kwargs else {}
            return Apply(exceptions.EXC_NEW, *args, *kwargs.values(), cls=target, **named)
        if target is builtins.__build_class__:
            return localclasses.build(self, args, kwargs)
        return self.library.call(callee, args, kwargs)

    def call_by_rule(self, rule, target, args: list[Expr], kwargs: dict[str, Expr]):
        """The call of an object whose meaning is a rule. Where the rule refuses members of enumerations, it is called
        with their values."""
        try:
            return rule(args, kwargs)
        except AttributeError as error:  # a rule for arrays got another operand
            if error.obj is None or isinstance(error.obj, Type):
                raise NotNative(f"{getattr(target, '__name__', target)}() of "
                                f"{', '.join(describe(x.type) for x in args)} is not compiled yet") from None
            raise
        except Mismatch as refused:
            plain = [plain_value(x) for x in args]
            if all(map(operator.is_, plain, args)):
                raise
            try:
                return rule(plain, kwargs)
            except Mismatch:
                raise refused from None

    def call_function(self, target, function, args: list[Expr], kwargs: dict[str, Expr]):
        """The call of an object that is a function of the program or of the library, or has one behind it."""
        if function.__module__ in _OF_CLASSES and localclasses.is_maker(self.session, function, args, kwargs):
            return localclasses.called_once(self, function, args, kwargs)
        self.session.note_options(target)
        self.session.depend_on_function(function)
        proto = self.session.prototype(function)
        if proto.library:
            function = self.in_parts(function)
            proto = self.session.prototype(function)
        operands = self.bound(proto, args, kwargs, *defaults_of(function, self.held_constant))
        if proto.code.co_flags & _GENERATOR:
            return self.generator(proto, Const(Singleton(function), function), operands)
        return self.called_as_declared(target, proto, operands, function)

    def cached_call(self, target, args, kwargs):
        """A call of a function wrapped by functools.cache or lru_cache. Without a limit, results are looked up and
        stored in the dict that the interpreter uses; otherwise the wrapper is called, and with it the function in the
        interpreter."""
        function = constant(target.__wrapped__)
        limits = target.cache_parameters()
        if limits["maxsize"] is None and not limits["typed"] and not kwargs:
            kept = next(x for x in gc.get_referents(target) if type(x) is dict and x is not target.__dict__)
            found = constant(kept).type
            if isinstance(found, Dict):
                t = self.session.opened(found, self.session.caches.setdefault(id(target), {}))
                key = args[0] if len(args) == 1 and args[0].type in (Int, Str) else Apply(
                    structure.TUPLE_MAKE, *args, cls=None)
                return self.library.cached(Apply(pyobject.PY_UNBOX, Const(Object, kept), type=t), key, function, args)
        meaning, av = self.settle(self.call(function, args, kwargs))
        if av is None:
            return meaning
        return Apply(pyobject.PY_UNBOX, boxed.call(constant(target), args, kwargs), type=av[0], otherwise=(
            "TypeError", f"what {target.__name__}() has kept of a call is not of type {closed(av[0])}"))

    def receiver(self, callee):
        """The object to which a method is bound; a constant text remains a constant."""
        if callee.type.receiver in (Str, Bytes) and type(callee) is Operand and callee.index >= 0:
            made = self.analysis.shape.definitions.get(self.inst.args[callee.index])
            if made is not None and made.op is generic.GETATTR:
                av = self.analysis.lookup(made.args[0], self.block)
                if av is not None and av[0] is callee.type.receiver and av[1] is not UNKNOWN:
                    return Const(*av)
        return Apply(structure.METHOD_SELF, callee)


# Expressions whose abstract value is not that of their own type and value -> the method that finds it.
_RULES = {
    Split: "settle_split", Throw: "settle_throw", Raise: "settle_throw", ClassAttribute: "settle_class_attribute",
    CallValue: "settle_call_value", FieldGet: "field", FieldSet: "field", Local: "settle_local", Step: "settle_step",
    Share: "settle_share", Call: "settle_call", UserCall: "settle_user_call", Nest: "nest", Fresh: "fresh",
    Derived: "settle_derived", Ruled: "settle_ruled", Apply: "settle_apply",
}


def watch(t: Type, analysis, block) -> None:
    """Visit a block again when the types of items in values of type t change."""
    seen: set = set()
    work: list = [t]
    while work:
        t = work.pop()
        if not t.varying or t in seen:
            continue
        seen.add(t)
        if isinstance(t, Iterator):
            work.append(t.state)
        elif t.parts is not None:
            work += t.parts
        else:  # a container or a cell
            for x in t.key[1:]:
                if type(x) is Content:
                    x.used(analysis, block)
                    x = x.content
                if x is not None:
                    work.append(x)


def _mixes_lengths(t: Type) -> bool:
    """Whether a value of type t may be a tuple of any length, or one of some numbers or objects; or a tuple of one of
    many lengths."""
    fixed = [m for m in types_of(t) if is_plain_tuple(m)]
    most = 0 if any([isinstance(m, TupleOf) for m in types_of(t)]) else _MOST_LENGTHS
    return len(fixed) > most and not any([any_part(m, lambda part: part.inner) for m in fixed])


def _deepest(t: Type, code) -> int:
    """The depth to which generators that `code` makes are nested in a value of type t."""
    below = max([_deepest(part, code) for part in t.parts], default=0) if t.parts else 0
    return below + (isinstance(t, Generator) and t.step.code is code)


def _cannot_be_read_again(t: Type) -> bool:
    return t.inner or isinstance(t, (Struct, Exception_, RangeType))


def _only_throws(meaning) -> bool:
    return type(meaning) is Throw or type(meaning) is Split and all(_only_throws(m) for _, m, _ in meaning.cases)
