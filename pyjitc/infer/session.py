"""One compilation: the specialisations it needs, what they depend on, and the fixpoint over calls.

A `Spec` is a function with argument types (library functions: and constants). Analysing one may request others; a
recursive call uses the result known so far and is visited again when that grows.
"""
from __future__ import annotations

import sys
import types as pytypes
from typing import Any, Callable

from ..base.lazy import lazy
from ..front.functions import Recursive
from ..ir import core as ir
from ..ops.control import UNBOUND
from ..runtime.dispatcher import Callable_
from ..runtime.objects import type_of, with_attributes, with_parts
from ..types.classes import DECLARED_TYPES, FIXED_MODULES, is_compiled
from ..types.kinds import (
    Array, Cell, Content, Ellipsis_, Function, Iterator, NoneType, Object, ObjectOf, Singleton, TupleOf, Type, Unbound,
    Undefined, all_parts, any_part, closed, is_display, is_plain_tuple, members_of, opened, union_of,
)
from ..types.typeof import is_readable, typeof, variable_type
from .join import AV, join_types
from .meaning import UNKNOWN, Mismatch, NeedsList, NotNative, Restart

changed_dicts = lazy(f"{__package__}.changed_dicts")  # only functions with derivatives load it

__all__ = ["Session", "Spec", "Dependency", "Findings", "Variable"]

_KEY_CONSTANTS = (int, bool, str, float, type(None), tuple, slice, type(Ellipsis), complex, bytes)


_MAX_DEPTH = 30
_MAX_SPECS = 200
_MAX_NESTED_DISPLAYS = 3  # recursive calls inside each other, each with another list display
_MAX_DEEPER = 12  # levels by which types of arguments may grow within a recursion
_TO_END = "make the recursion end on a run-time value, or keep the argument types the same"
_MAX_LIBRARY_SPECS = 1200  # walking a tuple of 1000 items takes that many


class Dependency:
    """A value that was read while compiling and that the program may change: `container[key]` of a dict (globals,
    a config dict), the contents of a closure cell (`key` None), or an attribute of a function. `value`: its value at
    compile time (UNKNOWN: it did not exist)."""

    __slots__ = ("container", "key", "value")

    def __init__(self, container, key, value):
        self.container = container
        self.key = key
        self.value = value


class Findings:
    """Facts found by inference that it needs from its start: where it finds a new one, it restarts with a new Session
    and these findings."""

    __slots__ = ("as_objects", "asks", "captured", "cells", "changed", "classes", "constant", "constants", "decorated",
                 "every", "functions", "generators", "left", "lengths", "lists", "returned", "sums")

    def __init__(self, asks=False):
        # whether the interpreter runs functions of Python's library without native form (interpreted_library.py)
        self.asks = asks
        # list displays that must be lists
        self.lists: set[ir.Inst] = set()
        self.every = False  # whether all list displays must be lists
        self.cells: set[ir.Inst] = set()  # instructions that make Python cells
        self.functions: set[pytypes.CodeType] = set()  # code of functions that must be Python function objects
        # code of such functions whose variables are cells, since they and others call each other
        self.as_objects: frozenset[pytypes.CodeType] = frozenset()
        self.sums: set[ir.Inst] = set()  # sums of two tuples that are tuples of any length
        self.lengths: set[tuple[type, str]] = set()  # attributes whose tuples are tuples of any length
        self.left: dict[pytypes.CodeType, Mismatch] = {}  # code of functions that `jit` leaves to the interpreter
        self.returned = False  # whether dict displays that are returned are no dicts (NeedsDisplays)
        self.generators = False  # whether stored generators are those of the interpreter, under `jit`
        self.constants: set[pytypes.CodeType] = set()  # code of functions in which constant arguments are constants
        # dicts of the program by id: those whose items were taken as constants, and those that have other uses
        self.constant: dict[int, object] = {}
        self.changed: dict[int, object] = {}
        # localclasses.py: the classes that the program defines inside functions, the results of their decorators, and
        # the functions that their methods read
        self.classes: dict[tuple, Any] = {}
        self.decorated: dict[tuple, Any] = {}
        self.captured: dict[Any, pytypes.FunctionType] = {}


class Variable:
    """A variable of the interpreter that the program assigns while compiled code runs: `container[key]` of a module's
    globals, or the contents of a closure cell (`key` None). Compiled code reads it at run time.

    content: the type of its values: of the one at compile time and of those that compiled code stores; readers:
    (analysis, block) to visit again when it grows."""

    __slots__ = ("container", "key", "name", "content", "readers")

    def __init__(self, container, key, name: str, content: Type | None):
        self.container, self.key, self.name, self.content = container, key, name, content
        self.readers: dict = {}


class Spec:
    """A function specialised on argument types. args: tuple of AV; closure: AV of the function value or None.

    result: AV of the returned value (None: no return reached yet); raises: an exception may leave it; error: the first
    located error; typed: the typed ir.Function, filled by emission; caller: (analysis, instruction) of the first call;
    rules: the specialisations of its derivatives, where the program gives them (infer/derivatives.py); image: of a
    library function, its hash in pipeline/images.py; bound: whether no other compile may use it, since it leads to
    functions outside the library, which passes change in place, or to attributes, whose types each compile finds."""

    __slots__ = ("proto", "args", "closure", "result", "raises", "error", "typed", "analysis", "dependents", "key",
                 "function", "caller", "accepts", "remarks", "rules", "image", "bound")

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
        self.dependents: dict | None = {}  # (analysis, block) of its calls
        self.caller = None
        self.rules: Any = None
        self.key = None
        self.accepts: tuple[Type, ...] = ()  # for the entry: types of arguments that a call may pass
        self.image: bytes | None = None
        self.bound = False
        self.remarks: list = []  # for the entry: what the interpreter does (infer/forgiving.py)


def _depth(t: Type) -> int:
    return 1 + max([_depth(part) for part in t.parts or ()], default=0)


class Session:
    """State of one compilation. library: rules (lib.table.Library); program_library: those of the program's own
    operations; build: (Prototype, Findings.as_objects) -> generic ir.Function;
    prototype: Python function -> Prototype; nested: (Prototype, inner code, qualname) -> Prototype; analysis: the
    Analysis class (handed down, to break the cycle)."""

    def __init__(self, library, program_library, build: Callable, prototype: Callable, nested: Callable,
                 analysis: Callable, options, findings=None):
        self.library = library
        self.program_library = program_library
        self.build_form = build
        self.prototype = prototype
        self.nested = nested
        self.analysis_class = analysis
        self.options = options
        self.hands_constants = options.numba == "constants"
        self.withheld: set[pytypes.CodeType] = set()  # code of functions in which constant arguments are no constants
        self.specs: dict[Any, Spec] = {}
        self.order: list[Spec] = []
        self.dependencies: dict[tuple, Dependency] = {}
        self.pending: list = []  # analyses with blocks to visit
        # (specialisation, instruction) -> the cell, or the type variables of the containers, that is made there
        self.sites: dict = {}
        self.first_sites: dict = {}  # the same, with the call path to the specialisation as key
        self.arguments: dict = {}  # types of containers among the arguments -> these types with type variables
        # id of a wrapper of functools.lru_cache -> the same for the dict with its results
        self.caches: dict[int, dict] = {}
        self.findings = findings
        self.variables: list[Content] = []
        self.attributes: dict[tuple[type, str], Content] = {}
        self.stored_in_any: list[tuple[str | None, Type]] = []  # see store_in_any
        self.read: set[tuple[type, str]] = set()  # those attributes that the code reads
        self.exposed: set[type] = set()  # classes whose objects the interpreter gets and may change, under `jit`
        self.looked: dict[int, Any] = {}  # objects to which the code refers
        self.outer: dict[tuple, Variable] = {}  # (id of the container, key) -> Variable
        # (id of the container, key) -> (analysis, block) that took its value for a constant
        self.readers: dict[tuple, dict] = {}
        # whether the interpreter executes what is refused otherwise (infer/forgiving.py, infer/interpreted_library.py)
        self.asks = options.objects or self.findings.asks
        self.self_made: set[pytypes.CodeType] = set()  # code of generators that make generators of the same code
        # (analysis, instruction) -> block, of instructions that are refused for the types known so far (forgiving.py)
        self.waiting: dict[tuple, ir.Block] = {}
        self.interprets = False  # whether the interpreter runs code for the program, which may assign globals
        self.depth = 0
        self.counts: dict = {}  # number of specialisations of each function
        self.growing: set = set()  # functions that call themselves with types nested ever more deeply
        self.doubtful: dict = {}  # (analysis, instruction) where a name has no value and another was probably meant
        self.parallel: set = set()  # code of functions with parallel loops, whatever the options say
        self.inlined: set = set()  # code of functions that are called, and have the option inline="always"
        self.hashed: dict[int, tuple] = {}  # id of a tuple -> (the tuple, its key)

    def variable(self, content=None, name: str | None = None) -> Content:
        """A new type variable for the contents of containers, or of a cell with a name."""
        made = Content(str(len(self.variables) + 1) if name is None else name, content)
        self.variables.append(made)
        return made

    def close(self) -> None:
        """End inference: no type variable grows any more. (The table of types refers to the variables in them,
        and would keep alive everything to which the variables refer.)"""
        for variable in self.variables:
            variable.close()

    def opened(self, t: Type, known: dict) -> Type:
        """The type t with type variables in its containers. known: containers whose variables exist already."""
        return opened(t, known, self.variable)

    def site(self, spec: Spec, inst, kind, make: Callable):
        """The type variables of the object that an instruction makes. Recursive functions and their callees use those
        of their first call again: otherwise each call would have other argument types than the last."""
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
        """Record that the functions in a value of type t, and the variables that they share, must be Python objects,
        and restart inference. Raises NotNative if this is recorded already, so that a restart would not help."""
        found, findings = all_parts(t), self.findings
        functions = {part.proto.code for part in found if isinstance(part, Function)}
        sites = [part.site.root for part in found if isinstance(part, Cell)]
        cells = {inst for (_, inst, kind), site in self.sites.items() if kind is Cell and site.root in sites}
        recursive = {part.value.code for part in found
                     if isinstance(part, Singleton) and type(part.value) is Recursive}
        if functions <= findings.functions and cells <= findings.cells and recursive <= findings.as_objects:
            names = ", ".join(sorted({part.proto.qualname for part in found if isinstance(part, Function)}))
            raise NotNative(f"{names or 'a variable that functions share'} cannot be handed to the interpreter here",
                            "write the loop out, in place of the generator or the function")
        findings.functions |= functions
        findings.cells |= cells
        findings.as_objects |= recursive
        raise Restart

    def build(self, proto) -> ir.Function:
        """Generic IR of a Prototype, which must not be changed."""
        fn = self.build_form(proto, self.findings.as_objects)
        return changed_dicts.written_anew(fn) if self.findings.returned and not proto.library else fn

    @staticmethod
    def callers(caller):
        """Iterate over the specialisations on the call path to `caller`."""
        seen = set()
        while caller is not None and caller[0] not in seen:
            seen.add(caller[0])
            yield caller[0].spec
            caller = caller[0].spec.caller

    def _nested(self, proto, caller) -> int:
        """The number of calls of a function on the call path to `caller`."""
        return sum([spec.proto is proto for spec in self.callers(caller)])

    def _grows(self, proto, args, caller) -> bool:
        """Whether types of arguments are nested more and more deeply in each recursive call of a function, such as
        functions that hold those of the call before. Once that is found, the function is refused for all other types:
        one that calls itself twice would be analysed for a tree of them."""
        if proto in self.growing:
            return True
        depths = [max([_depth(t) for t, _ in found], default=0) for found in (
            args, *[spec.args for spec in self.callers(caller) if spec.proto is proto])]
        if depths[0] > min(depths) + _MAX_DEEPER:
            self.growing.add(proto)
        return proto in self.growing

    def is_longer(self, proto, operands, caller) -> bool:
        """Whether a tuple argument is longer in every recursive call of a function."""
        lengths = [[len(x.type.parts or ())] if is_plain_tuple(x.type) else [] for x in operands]
        for spec in self.callers(caller):
            if spec.proto is proto:
                for found, av in zip(lengths, spec.args):
                    found += [len(av[0].parts or ())] if is_plain_tuple(av[0]) else []
        return any([len(found) > 2 and found[0] > found[1] > found[2] for found in lengths])

    @staticmethod
    def _path(spec: Spec) -> tuple[tuple, bool]:
        """(path, whether a function on it is recursive). path: the calls that lead from the entry to a specialisation,
        each as (function, its call of the next function); a recursive function continues from its first call."""
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
        """The specialisation for these arguments, analysed as far as possible now. caller: (analysis, instruction) of
        the request."""
        if constants:
            args = tuple((t, v if isinstance(v, _KEY_CONSTANTS) and not _holds_object(t) else UNKNOWN)
                         for t, v in args)
        else:
            given = proto.code in self.findings.constants
            if not given and not proto.library and any([_is_choice(v) for _, v in args]):
                self.withheld.add(proto.code)
            args = tuple((t, v if given and _is_choice(v) else only_value(t)) for t, v in args)
        # Under `parallel` a library function that folds a whole array calls another template (Evaluator.nest); under
        # `numba` some operations have another meaning.
        key = (proto, tuple((t, self._hashed(v)) for t, v in args), closure and closure[0],
               id(function) if function and function.__closure__ else None, self.options.parallel, self.options.numba)
        spec = self.specs.get(key) or self.library.memo.get(key)
        images, of_program = None, caller is not None and not caller[0].spec.proto.library
        if spec is None and caller is not None and proto.library and closure is None and key[3] is None:
            images = self.library.images  # the entry is emitted in each compile, and has none
            spec = images.find(key, proto, args, of_program) if images is not None else None
            if spec is not None:
                (self.specs if any([t.passing for t, _ in args]) else self.library.memo)[key] = spec
        if spec is None:
            count = self.counts[proto] = self.counts.get(proto, 0) + 1
            most = _MAX_LIBRARY_SPECS if proto.library else _MAX_SPECS
            if count > _MAX_NESTED_DISPLAYS and not proto.library and any([is_display(t) for t, _ in args]) \
                    and self._nested(proto, caller) > _MAX_NESTED_DISPLAYS:
                raise NeedsList  # each recursive call has a longer display
            if count > _MAX_DEEPER and not proto.library and self._grows(proto, args, caller):
                raise NotNative(f"{proto.qualname} calls itself with arguments whose types grow without an end",
                                _TO_END)
            if count > most:
                what = "argument types and constants" if proto.code in self.findings.constants else "argument types"
                raise NotNative(f"{proto.qualname} is called with more than {most} combinations of {what}", _TO_END)
            spec = Spec(proto, args, closure, function)
            spec.caller = caller
            spec.key, spec.bound = key, not proto.library
            spec.analysis = self.analysis_class(self, spec)  # if that raises, the next call must not find `spec`
            self.specs[key] = spec
            self.order.append(spec)
            if images is not None:
                images.note(spec, of_program)
            # otherwise it remains pending, and its callers are visited again once it has a result
            if self.depth < _MAX_DEPTH:
                self.depth += 1
                try:
                    spec.analysis.run()
                finally:
                    self.depth -= 1
        return spec

    def ask_for_constants(self, spec: Spec) -> None:
        """Handle an error in `spec`, that a value must be a constant. Where functions that lead there are
        called with constants, these are constants in them from now on; inference restarts."""
        reached = [spec]
        for one in reached:  # appended to during the iteration
            calls = [analysis for analysis, _ in (*(one.dependents or ()), one.caller or (None, None))]
            reached += {analysis.spec for analysis in calls if analysis is not None}.difference(reached)
        codes = {one.proto.code for one in reached if not one.proto.library} - self.findings.constants
        if not codes.isdisjoint(self.withheld):
            self.findings.constants |= codes
            raise Restart

    def attribute(self, cls: type, name: str) -> Content:
        """The one type variable of a compile for an attribute that objects of a class store."""
        found = self.attributes.get((cls, name))
        if found is None:
            found = self.attributes[cls, name] = self.variable()
            declared = vars(cls).get(DECLARED_TYPES)
            t = None if declared is None else declared.get(name)
            # Code for a declared signature accepts arrays of any strides; otherwise the types are those of the stored
            # arrays.
            if t is not None and (self.options.declared or not any_part(
                    t, lambda part: isinstance(part, Array) and part.layout == "A")):
                found.grow(self.opened(t, self.arguments))
            for stored, t in self.stored_in_any:
                if stored is None or stored == name:
                    found.grow(self.opened(t, self.arguments))
        return found

    def store_in_any(self, name: str | None, t: Type) -> None:
        """Record that a `t` is stored as an attribute of an object whose class is not known: of this name, or of any.
        Attributes about which nothing is known keep the types that are checked when they are read."""
        if t is Object or (name, t) in self.stored_in_any:
            return
        self.stored_in_any.append((name, t))
        for cls, other in list(self.attributes):
            if name is None or name == other:
                self.note(cls, other, t)

    def note(self, cls: type, name: str, t: Type) -> None:
        """Record that objects of a class store a `t` as an attribute."""
        if (cls, name) in self.findings.lengths:
            t = union_of([TupleOf(union_of(m.parts or (Undefined,))) if is_plain_tuple(m) else m
                          for m in members_of(t)])
        self.attribute(cls, name).grow(self.opened(t, self.arguments))

    def argument(self, t: Type) -> Type:
        """The type that an argument of type `t` has in the code."""
        return self.opened(with_attributes(t, self.note) if t.passing else t, self.arguments)

    def look(self, value) -> None:
        """Record the attributes of an object to which the code refers."""
        if id(value) not in self.looked:
            self.looked[id(value)] = value
            self.argument(type_of(value, typeof, self._of_function))

    def _of_function(self, value) -> Type | None:
        return Singleton(value) if self.function_of(value) is not None else None

    def accepted(self, t: Type) -> Type:
        """The type of values that a call may pass as an argument of type `t`: for objects, the attributes that the code
        reads, each with its possible types; Undefined for an attribute that no object has."""
        if isinstance(t, Iterator):
            return t  # the object refers to an object of the same type
        if isinstance(t, ObjectOf):
            return ObjectOf(t.cls, [(name, closed(self.attributes[t.cls, name].content or Undefined))
                                    for cls, name in sorted(self.read, key=lambda one: one[1]) if cls is t.cls])
        return with_parts(t, self.accepted)

    def described(self, t: Type, above: tuple[type, ...] = ()) -> Type:
        """The type t with the known types of the attributes of objects in it, in the form of argument types. A class
        that occurs again inside itself (`above`) is described without attributes."""
        if not isinstance(t, ObjectOf):
            return with_parts(t, lambda part: self.described(part, above))
        if t.cls in above:
            return t
        inner = (*above, t.cls)
        return ObjectOf(t.cls, [(name, self.described(closed(content.content), inner))
                                for (cls, name), content in sorted(self.attributes.items(), key=lambda one: one[0][1])
                                if cls is t.cls and content.content is not None])

    def _hashed(self, value):
        """A hashable key of a constant. For a tuple, which the library may walk through with a specialisation for each
        item, it is computed once."""
        if type(value) is not tuple:
            return _hashed(value)
        found = self.hashed.get(id(value))
        if found is None:
            found = self.hashed[id(value)] = value, _hashed(value)
        return found[1]

    def note_options(self, target: Any) -> None:
        """Record options of a compiled function that is called which also hold in its callers: that its loops are
        parallel, and that its calls are inlined."""
        options = getattr(target, "options", None) if isinstance(target, Callable_) else None
        if options is not None and options.parallel:
            self.parallel.add(target.py_func.__code__)
        if options is not None and options.inline == "always":
            self.inlined.add(target.py_func.__code__)

    @staticmethod
    def function_of(target):
        """The Python function behind a callable known at compile time, or None."""
        if type(target) is pytypes.FunctionType:
            return target if is_compiled(target.__module__) else None
        return target.py_func if isinstance(target, Callable_) else None

    @staticmethod
    def unbound_error(name: str, free: bool) -> tuple[type, str]:
        """(class, message) of the error that the running interpreter raises for an unbound variable."""
        if free:
            old = f"free variable '{name}' referenced before assignment in enclosing scope"
            new = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
            return NameError, old if sys.version_info < (3, 11) else new
        old = f"local variable '{name}' referenced before assignment"
        new = f"cannot access local variable '{name}' where it is not associated with a value"
        return UnboundLocalError, old if sys.version_info < (3, 11) else new

    def settle(self) -> None:
        """Run every analysis whose inputs have changed, until none remains."""
        while self.pending or self.waiting:
            if not self.pending:
                (analysis, inst), block = next(iter(self.waiting.items()))
                analysis.evaluator.forced.add(inst)
                analysis.touch(block)
            self.pending.pop().run()
        bound = [spec for spec in self.order if spec.bound]
        for spec in bound:  # appended to during the iteration
            for analysis, _ in spec.dependents or ():
                if not analysis.spec.bound:
                    analysis.spec.bound = True
                    bound.append(analysis.spec)
        # the meaning of the other library functions does not depend on the caller: keep their specialisations
        for spec in self.order[1:]:
            if (not spec.bound and spec.error is None and spec.closure is None
                and not any(t.passing for t, _ in spec.args)
                and not (spec.result is not None and spec.result[0].varying)):
                spec.dependents = spec.caller = None
                self.library.memo[spec.key] = spec

    def grew(self, spec: Spec) -> None:
        """Visit the calls of `spec` again, since its result has changed."""
        for analysis, block in spec.dependents or ():
            analysis.touch(block)

    def depend(self, container, key, value) -> None:
        self.dependencies.setdefault((id(container), key), Dependency(container, key, value))

    def outer_variable(self, container, key, name: str) -> Variable:
        """The Variable of this name, whose value is no constant from now on; revisits blocks that took it for one."""
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
        """Record that the program stores a value of this type in a variable."""
        merged = content if variable.content is None else join_types(variable.content, content)
        merged = merged if is_readable(merged) else Object
        if merged is not variable.content:
            variable.content = merged
            for analysis, block in variable.readers:
                analysis.touch(block)

    def depend_on_function(self, function: pytypes.FunctionType) -> None:
        """Record that code of a function was read: a program may assign other code, as IPython's autoreload does."""
        if str(function.__globals__.get("__name__")).partition(".")[0] in FIXED_MODULES:
            return
        code = function.__code__  # defaults of parameters that do not exist have no effect
        for name, counts in (("__code__", True), ("__defaults__", code.co_argcount),
                             ("__kwdefaults__", code.co_kwonlyargcount)):
            if counts:
                value = getattr(function, name)
                self.depend(function, name, UNKNOWN if value is None else value)
        if function.__kwdefaults__:
            for name, value in function.__kwdefaults__.items():
                self.depend(function.__kwdefaults__, name, value)


def _holds_object(t: Type) -> bool:
    """Whether constants of a type are objects that cannot be distinguished by a text."""
    return t is Object or t.parts is not None and any(map(_holds_object, t.parts))


def value_of_member(x, member: Type):
    """The value of an operand of a union where it has the type `member`, if that is known; else UNKNOWN."""
    return x.members[member] if x.members and member in x.members else only_value(member)


def only_value(t: Type):
    """The value of a type that has only one, else UNKNOWN."""
    if t is NoneType:
        return None
    if isinstance(t, Singleton):
        return t.value
    if t is Unbound:
        return UNBOUND
    return ... if t is Ellipsis_ else UNKNOWN


def _is_choice(value) -> bool:
    """Whether a constant is of a kind that chooses code: an axis, a shape, a mode, a name."""
    return type(value) in (int, bool, str) or type(value) is tuple and all(map(_is_choice, value))


def _hashed(value):
    """A hashable key that distinguishes 0, 0.0, False and -0.0."""
    if value is UNKNOWN:
        return UNKNOWN
    if isinstance(value, tuple):
        return (tuple, tuple(map(_hashed, value)))
    return (type(value), repr(value))
