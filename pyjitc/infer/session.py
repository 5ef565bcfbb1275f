"""One compilation: the specialisations it needs, what they depend on, and the fixpoint over calls.

A `Spec` is a function with argument types (library functions: and constants). Analysing one may ask for others;
recursion sees the result known so far and is revisited when that grows.
"""
from __future__ import annotations

import sys
import types as pytypes
from typing import Any, Callable

from ..ir import core as ir
from ..ops.control import UNBOUND
from ..runtime.dispatcher import Callable_
from ..runtime.objects import type_of, with_attributes, with_parts
from ..types.classes import DECLARED_TYPES, FIXED_MODULES
from ..types.kinds import (
    Array, Cell, Content, Ellipsis_, Function, Iterator, NoneType, Object, ObjectOf, Singleton, Type, Unbound,
    Undefined, all_parts, any_part, closed, is_plain_tuple, opened,
)
from ..types.typeof import is_readable, typeof, variable_type
from .displays import is_display
from .join import AV, join_types
from .meaning import UNKNOWN, Mismatch, NeedsList, Restart

__all__ = ["Session", "Spec", "Dependency", "Findings", "Variable"]

_KEY_CONSTANTS = (int, bool, str, float, type(None), tuple, slice, type(Ellipsis), complex, bytes)


_MAX_DEPTH = 30
_MAX_SPECS = 200
_MAX_NESTED_DISPLAYS = 3  # calls of a recursive function inside each other, each with another list that is written out
_MAX_LIBRARY_SPECS = 1200  # a tuple of 1000 items is walked by that many


class Dependency:
    """A value that was read while compiling and that the program may change: `container[key]` of a dict (globals,
    a config dict), the contents of a closure cell (`key` None), or an attribute of a function. `value`: what it was
    (UNKNOWN: it did not exist)."""

    __slots__ = ("container", "key", "value")

    def __init__(self, container, key, value):
        self.container = container
        self.key = key
        self.value = value


class Findings:
    """What inference has found out that it has to know from its beginning: where it finds something new, it begins
    again, with a new Session and these findings."""

    __slots__ = ("asks", "cells", "changed", "constant", "every", "functions", "generators", "left", "lists", "sums")

    def __init__(self, asks=False):
        self.asks = asks  # whether the interpreter runs what Python's library has and no native form (infer/asking.py)
        # the instructions that write out a list which is one, not a value of a type that says what it holds
        self.lists: set[ir.Inst] = set()
        self.every = False  # whether all that write out lists are like that
        self.cells: set[ir.Inst] = set()  # the instructions that make cells of the interpreter
        self.functions: set[pytypes.CodeType] = set()  # code of the functions that are objects of the interpreter
        self.sums: set[ir.Inst] = set()  # the instructions that add two tuples up to one of any length
        self.left: dict[pytypes.CodeType, Mismatch] = {}  # code of functions that `jit` leaves to the interpreter
        self.generators = False  # whether generators that are kept are those of the interpreter, under `jit`
        # dicts of the program by id: those with items that were taken as constants, and those that the program does
        # something else with
        self.constant: dict[int, object] = {}
        self.changed: dict[int, object] = {}


class Variable:
    """A variable of the interpreter that the program assigns while compiled code runs: `container[key]` of a module's
    globals, or the contents of a closure cell (`key` None). It is read where the program reads it.

    content: the type of its values, of the one when the function was compiled and of those that compiled code stores;
    readers: (analysis, block) that are to be looked at again when it grows."""

    __slots__ = ("container", "key", "name", "content", "readers")

    def __init__(self, container, key, name: str, content: Type | None):
        self.container, self.key, self.name, self.content = container, key, name, content
        self.readers: dict = {}


class Spec:
    """A function specialised on argument types. args: tuple of AV; closure: AV of the function value or None.

    result: AV of what it returns (None: no return reached yet); raises: an exception may leave it; error: the first
    located error; typed: the typed ir.Function, filled by emission; caller: (analysis, instruction) of the first
    call; rules: the specialisations of its derivatives, where the program gives them (infer/derivatives.py)."""

    __slots__ = ("proto", "args", "closure", "result", "raises", "error", "typed", "analysis", "dependents", "key",
                 "function", "caller", "accepts", "remarks", "rules")

    def __init__(self, proto, args, closure, function):
        self.proto = proto
        self.args = args
        self.closure = closure
        self.function = function
        self.result: AV | None = None
        self.raises = False
        self.error = None
        self.typed: ir.Function | None = None
        self.analysis = None
        self.dependents: dict | None = {}  # (analysis, block) that calls it
        self.caller = None
        self.rules: Any = None
        self.key = None
        self.accepts: tuple[Type, ...] = ()  # of the entry: types of what a call may pass
        self.remarks: list = []  # of the entry: what the interpreter does (infer/forgiving.py)


class Session:
    """State of one compilation. library: rules (lib.table.Library); program_library: those of the program's own
    operations; build: Prototype -> generic ir.Function;
    prototype: Python function -> Prototype; nested: (Prototype, inner code, qualname) -> Prototype; analysis: the
    Analysis class (handed down, to break the cycle)."""

    def __init__(self, library, program_library, build: Callable, prototype: Callable, nested: Callable,
                 analysis: Callable, options, findings=None):
        self.library = library
        self.program_library = program_library
        self.build = build
        self.prototype = prototype
        self.nested = nested
        self.analysis_class = analysis
        self.options = options
        self.specs: dict[Any, Spec] = {}
        self.order: list[Spec] = []
        self.dependencies: dict[tuple, Dependency] = {}
        self.pending: list = []  # analyses with dirty blocks
        # (specialisation, instruction) -> the cell or the containers that are made there
        self.sites: dict = {}
        self.first_sites: dict = {}  # the same, by the way to the specialisation
        self.arguments: dict = {}  # types of containers among the arguments -> the same with variables
        self.caches: dict[int, dict] = {}  # id of what functools.lru_cache made -> the same for the dict that it keeps
        self.findings = findings
        self.variables = 0
        self.attributes: dict[tuple[type, str], Content] = {}
        self.read: set[tuple[type, str]] = set()  # those of them that the code reads
        self.exposed: set[type] = set()  # classes of which the interpreter gets objects that it may change, under `jit`
        self.looked: dict[int, Any] = {}  # objects that the code refers to
        self.outer: dict[tuple, Variable] = {}  # (id of the container, key) -> Variable
        self.readers: dict[tuple, dict] = {}  # the same -> (analysis, block) that took its value for a constant
        # whether the interpreter does something that is refused (infer/forgiving.py, infer/asking.py)
        self.asks = options.objects or self.findings.asks
        self.self_made: set[pytypes.CodeType] = set()  # code of generators that make generators of the same code
        self.interprets = False  # whether the interpreter runs anything for the program, which may assign globals
        self.depth = 0
        self.counts: dict = {}  # specialisations of each function
        self.doubtful: dict = {}  # (analysis, instruction) where a name has no value and another was probably meant
        self.parallel: set = set()  # code of functions whose loops are shared among threads, whatever the options say
        self.hashed: dict[int, tuple] = {}  # id of a tuple -> the tuple, and what stands for it in keys

    def variable(self, content=None) -> Content:
        """A new variable for what containers hold."""
        self.variables += 1
        return Content(str(self.variables), content)

    def opened(self, t: Type, known: dict) -> Type:
        """t with variables for the types in its containers. known: those of types that were opened before."""
        return opened(t, known, self.variable)

    def site(self, spec: Spec, inst, kind, make: Callable):
        """The variables of what is made at an instruction. In what a recursive function calls, itself among it, those
        of its first call serve again: else each call would be one of other types than the last."""
        found = self.sites.get((spec, inst, kind))
        if found is None:
            path, recursive = self._path(spec)
            key = path, inst, kind
            found = self.first_sites.get(key) if recursive else None
            if found is None:
                found = make()
                self.first_sites.setdefault(key, found)
            self.sites[spec, inst, kind] = found
        return found

    def need_objects(self, t: Type) -> None:
        """What functions are in a value of type t, and the variables that they share, are to be objects of the
        interpreter's: inference begins again."""
        found, findings = all_parts(t), self.findings
        findings.functions |= {part.proto.code for part in found if isinstance(part, Function)}
        sites = [part.site.root for part in found if isinstance(part, Cell)]
        findings.cells |= {inst for (_, inst, kind), site in self.sites.items()
                           if kind is Cell and site.root in sites}
        raise Restart

    @staticmethod
    def callers(caller):
        """The specialisations that the program is in where `caller` calls."""
        seen = set()
        while caller is not None and caller[0] not in seen:
            seen.add(caller[0])
            yield caller[0].spec
            caller = caller[0].spec.caller

    def _nested(self, proto, caller) -> int:
        """How many calls of a function the program is in where `caller` calls it."""
        return sum([spec.proto is proto for spec in self.callers(caller)])

    def is_longer(self, proto, operands, caller) -> bool:
        """Whether a tuple is longer with every call of a function that calls itself."""
        lengths = [[len(x.type.parts or ())] if is_plain_tuple(x.type) else [] for x in operands]
        for spec in self.callers(caller):
            if spec.proto is proto:
                for found, av in zip(lengths, spec.args):
                    found += [len(av[0].parts or ())] if is_plain_tuple(av[0]) else []
        return any([len(found) > 2 and found[0] > found[1] > found[2] for found in lengths])

    @staticmethod
    def _path(spec: Spec) -> tuple[tuple, bool]:
        """How the program comes to a specialisation: (function, the call of the next one) from the entry on, where a
        function that is called again goes on from its first call; and whether one was."""
        calls, seen = [(spec.proto, None)], {spec}
        while spec.caller is not None and spec.caller[0].spec not in seen:
            analysis, inst = spec.caller
            spec = analysis.spec
            seen.add(spec)
            calls.append((spec.proto, inst))
        path: list[tuple] = []
        recursive = False
        for proto, inst in reversed(calls):
            for n, (earlier, _) in enumerate(path):
                if earlier is proto:
                    del path[n:]
                    recursive = True
                    break
            path.append((proto, inst))
        return tuple(path), recursive

    def spec(self, proto, args: tuple[AV, ...], closure: AV | None = None, function=None,
             constants: bool = False, caller=None) -> Spec:
        """The specialisation for these arguments, analysed as far as is possible now. caller: (analysis, instruction)
        that asks for it."""
        if constants:
            args = tuple((t, v if isinstance(v, _KEY_CONSTANTS) and not _holds_object(t) else UNKNOWN)
                         for t, v in args)
        else:
            args = tuple((t, only_value(t)) for t, _ in args)
        # Under `parallel` a library function that folds a whole array calls another template (Evaluator.nest).
        key = (proto, tuple((t, self._hashed(v)) for t, v in args), closure and closure[0],
               id(function) if function and function.__closure__ else None, self.options.parallel)
        spec = self.specs.get(key) or self.library.memo.get(key)
        if spec is None:
            count = self.counts[proto] = self.counts.get(proto, 0) + 1
            most = _MAX_LIBRARY_SPECS if proto.library else _MAX_SPECS
            if count > _MAX_NESTED_DISPLAYS and not proto.library and any([is_display(t) for t, _ in args]) \
                    and self._nested(proto, caller) > _MAX_NESTED_DISPLAYS:
                raise NeedsList  # each call of a recursion writes a longer list out
            if count > most:
                raise Mismatch(f"{proto.qualname} is called with more than {most} combinations of argument types",
                               "make the recursion end on a run-time value, or keep the argument types the same")
            spec = Spec(proto, args, closure, function)
            spec.caller = caller
            spec.key = key
            spec.analysis = self.analysis_class(self, spec)  # where that fails the next call must not find `spec`
            self.specs[key] = spec
            self.order.append(spec)
            # else it stays pending, and its callers are looked at again when it has a result
            if self.depth < _MAX_DEPTH:
                self.depth += 1
                try:
                    spec.analysis.run()
                finally:
                    self.depth -= 1
        return spec

    def attribute(self, cls: type, name: str) -> Content:
        """The one variable of a compile for an attribute that objects of a class store."""
        found = self.attributes.get((cls, name))
        if found is None:
            found = self.attributes[cls, name] = self.variable()
            declared = vars(cls).get(DECLARED_TYPES)
            t = None if declared is None else declared.get(name)
            # Arrays of any strides are what code for a signature takes; else they are those that are stored.
            if t is not None and (self.options.declared or not any_part(
                    t, lambda part: isinstance(part, Array) and part.layout == "A")):
                found.grow(self.opened(t, self.arguments))
        return found

    def note(self, cls: type, name: str, t: Type) -> None:
        """Objects of a class have been found to hold a `t` as an attribute."""
        self.attribute(cls, name).grow(self.opened(t, self.arguments))

    def argument(self, t: Type) -> Type:
        """The type in code of an argument of type `t`."""
        return self.opened(with_attributes(t, self.note) if t.passing else t, self.arguments)

    def look(self, value) -> None:
        """Take in what an object stores that the code refers to."""
        if id(value) not in self.looked:
            self.looked[id(value)] = value
            self.argument(type_of(value, typeof, self._of_function))

    def _of_function(self, value) -> Type | None:
        return Singleton(value) if self.function_of(value) is not None else None

    def accepted(self, t: Type) -> Type:
        """What a call may pass as an argument of type `t`: of objects, which attributes the code reads, and what each
        may be; Undefined for one that no object has."""
        if isinstance(t, Iterator):
            return t  # the object that holds it refers to this very type
        if isinstance(t, ObjectOf):
            return ObjectOf(t.cls, [(name, closed(self.attributes[t.cls, name].content or Undefined))
                                    for cls, name in sorted(self.read, key=lambda one: one[1]) if cls is t.cls])
        return with_parts(t, self.accepted)

    def described(self, t: Type, above: tuple[type, ...] = ()) -> Type:
        """A type of code with what is known of the attributes of the objects in it, as the types of arguments have
        them; where a class is met again inside itself, without them."""
        if not isinstance(t, ObjectOf):
            return with_parts(t, lambda part: self.described(part, above))
        if t.cls in above:
            return t
        inner = (*above, t.cls)
        return ObjectOf(t.cls, [(name, self.described(closed(content.content), inner))
                                for (cls, name), content in sorted(self.attributes.items(), key=lambda one: one[0][1])
                                if cls is t.cls and content.content is not None])

    def _hashed(self, value):
        """The stand-in for a constant in keys; of a tuple, which the library may walk through with a specialisation
        for each item, it is made once."""
        if type(value) is not tuple:
            return _hashed(value)
        found = self.hashed.get(id(value))
        if found is None:
            found = self.hashed[id(value)] = value, _hashed(value)
        return found[1]

    def note_options(self, target: Any) -> None:
        """Remember of a compiled function that is called what it keeps of its own options: that its loops are shared
        among threads."""
        options = getattr(target, "options", None) if isinstance(target, Callable_) else None
        if options is not None and options.parallel:
            self.parallel.add(target.py_func.__code__)

    @staticmethod
    def function_of(target):
        """The Python function behind a callable known at compile time, or None."""
        if type(target) is pytypes.FunctionType:
            # Their Python code is not written for the compiler: NumPy's functions have rules, or are not there yet.
            home = str(target.__module__).split(".")
            return None if home[0] in ("numpy", "jax", "numba") and home[1:2] != ["tests"] else target
        return target.py_func if isinstance(target, Callable_) else None

    @staticmethod
    def unbound_error(name: str, free: bool) -> tuple[type, str]:
        """(class, message) as the running interpreter raises for an empty variable."""
        if free:
            old = f"free variable '{name}' referenced before assignment in enclosing scope"
            new = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
            return NameError, old if sys.version_info < (3, 11) else new
        old = f"local variable '{name}' referenced before assignment"
        new = f"cannot access local variable '{name}' where it is not associated with a value"
        return UnboundLocalError, old if sys.version_info < (3, 11) else new

    def settle(self) -> None:
        """Run every analysis whose inputs changed, until nothing does."""
        while self.pending:
            self.pending.pop().run()
        for spec in self.order[1:]:  # what the library's functions mean does not depend on the caller: keep it
            if (spec.proto.library and spec.error is None and spec.closure is None
                and not any(t.passing for t, _ in spec.args)
                and not (spec.result is not None and spec.result[0].varying)):
                spec.dependents = spec.caller = None
                self.library.memo[spec.key] = spec

    def grew(self, spec: Spec) -> None:
        """The result of `spec` changed: look again at the calls of it."""
        for analysis, block in spec.dependents or ():
            analysis.touch(block)

    def depend(self, container, key, value) -> None:
        self.dependencies.setdefault((id(container), key), Dependency(container, key, value))

    def outer_variable(self, container, key, name: str) -> Variable:
        """The variable, which is no constant from now on."""
        place = id(container), key
        found = self.outer.get(place)
        if found is None:
            content = variable_type(container, key)
            found = self.outer[place] = Variable(container, key, name, content)
            self.dependencies.pop(place, None)
            self.depend(container, ("type", key), UNKNOWN if content is None else content)
            for analysis, block in self.readers.pop(place, ()):
                analysis.touch(block)
        return found

    def grow(self, variable: Variable, content: Type) -> None:
        """The program stores a value of this type."""
        merged = content if variable.content is None else join_types(variable.content, content)
        merged = merged if is_readable(merged) else Object
        if merged is not variable.content:
            variable.content = merged
            for analysis, block in variable.readers:
                analysis.touch(block)

    def depend_on_function(self, function: pytypes.FunctionType) -> None:
        """A program may give a function that it has other code: IPython's autoreload does."""
        if str(function.__globals__.get("__name__")).partition(".")[0] in FIXED_MODULES:
            return
        code = function.__code__  # defaults of parameters that there are not have no meaning
        for name, counts in (("__code__", True), ("__defaults__", code.co_argcount),
                             ("__kwdefaults__", code.co_kwonlyargcount)):
            if counts:
                value = getattr(function, name)
                self.depend(function, name, UNKNOWN if value is None else value)
        if function.__kwdefaults__:
            for name, value in function.__kwdefaults__.items():
                self.depend(function.__kwdefaults__, name, value)


def _holds_object(t: Type) -> bool:
    """Whether constants of the type are objects, of which no text tells one from another."""
    return t is Object or t.parts is not None and any(map(_holds_object, t.parts))


def value_of_member(x, member: Type):
    """The value of an operand of a union where it has the type `member`, if that is known; else UNKNOWN."""
    return x.members[member] if x.members and member in x.members else only_value(member)


def only_value(t: Type):
    """The value of a type that has just one, else UNKNOWN."""
    if t is NoneType:
        return None
    if isinstance(t, Singleton):
        return t.value
    if t is Unbound:
        return UNBOUND
    return ... if t is Ellipsis_ else UNKNOWN


def _hashed(value):
    """A hashable stand-in that tells 0, 0.0, False and -0.0 apart."""
    if value is UNKNOWN:
        return UNKNOWN
    if isinstance(value, tuple):
        return (tuple, tuple(map(_hashed, value)))
    return (type(value), repr(value))
