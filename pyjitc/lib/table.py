"""The library as inference uses it: the rule or library function that gives a call its meaning. The meaning of kinds of
values is in their protocols (protocol.py), which operations.py calls.
"""
from __future__ import annotations

import builtins
import itertools
import types as pytypes
from functools import partial
from typing import Any, Callable

import numpy as np

from ..base.lazy import lazy
from ..infer.constants import constant
from ..infer.join import link_alike
from ..infer.meaning import Apply, Call, CallValue, Const, Throw
from ..ops import arith, exceptions, memory, pyobject, structure
from ..types.classes import OPERATORS
from ..types.kinds import Bool, Float, Method, Object, ObjectOf, Singleton, Union
from . import intrinsics, kinds, operations
from .build import BATCHED, DERIVATIVES, FLAGS
from . import extended
from .protocol import boxed, protocol_of, rule_of_kinds

__all__ = ["Library"]

# Imported when a function needs them: most functions need few (docs/performance.md).
elementwise, reductions = lazy("pyjitc.lib.np.elementwise.elementwise"), lazy("pyjitc.lib.np.reductions.reductions")
subscripts, views = lazy("pyjitc.lib.np.indexing.subscripts"), lazy("pyjitc.lib.np.shapes.views")
conversions, iteration, py_builtins = (lazy("pyjitc.lib.py.conversions"), lazy("pyjitc.lib.py.iteration"),
                                       lazy("pyjitc.lib.py.builtins"))
index, py_index = lazy("pyjitc.lib.np.index"), lazy("pyjitc.lib.py.index")
cuda_rules = lazy("pyjitc.lib.cuda.rules")
any_length, caches = lazy("pyjitc.lib.py.any_length"), lazy("pyjitc.lib.py.caches")
ofclasses = lazy("pyjitc.lib.py.ofclasses")
iterators = lazy("pyjitc.lib.py.iterators")
special_methods = lazy("pyjitc.lib.py.special_methods")
lists, containers = lazy("pyjitc.lib.py.lists"), lazy("pyjitc.ops.containers")
dicts, sets = lazy("pyjitc.lib.py.dicts"), lazy("pyjitc.lib.py.sets")
parallel, dictarguments = lazy("pyjitc.lib.py.parallel"), lazy("pyjitc.lib.dictarguments")
refusals, suggestions = lazy("pyjitc.lib.refusals"), lazy("pyjitc.lib.suggestions")
_KERNEL_NAMES = f"{__package__}.cuda.names"
_OURS = __package__.partition(".")[0] + "."
_VECTORS = f"{__package__}.cuda.vectors"
_POOL = "pyjitc.runtime.pool"


def _print(args, kwargs):
    return Apply(structure.DISCARD, Apply(
        pyobject.PY_CALL, Const(Object, builtins.print), *map(boxed, [*args, *kwargs.values()]),
        kwnames=tuple(kwargs)))


def _fail(args, kwargs):
    return Throw(args[0].type.value, args[1].value)


def _warn(args, kwargs):
    return Apply(exceptions.WARN, message=args[0].value, cls=args[1].type.value if len(args) > 1 else RuntimeWarning)


def _following(args, kwargs):
    state = args[0]
    holder, at, *distance, left = [Apply(structure.STRUCT_GET, state, field=name) for name, _ in state.type.members]
    one = constant(1)
    moved = Apply(arith.IADD, at, *distance, flags="nsw") if distance else Apply(arith.IADD, at, one, flags="nuw nsw")
    left = Apply(arith.ISUB, left, one, flags="nuw nsw")
    return Apply(structure.PACK, holder, moved, *distance, left, name=state.type.name)


def _put_state(args, kwargs):
    it, state = args
    link_alike(it.type.state, state.type)  # the state types of an iterator that was passed on are fixed already
    return Apply(memory.CELL_STORE, it, Apply(structure.UNION_MAKE, state, type=it.type.state))


def _as_type(args, kwargs):
    """The operand itself where it has the type, as most elements do, so that the conversions need not be loaded."""
    x, t = args[0], args[1].type.scalar
    return x if x.type is t else conversions.to_scalar(x, t)


# Callable -> rule (args, kwargs) -> Expr: for callables that the interpreter runs, and functions of this package
# without a body.
# py/index.py and np/index.py say where other rules are. Library functions need no rule.
RULES = {
    print: _print, intrinsics.fail: _fail, intrinsics.warn: _warn,
    intrinsics.iterate: lambda args, kwargs: protocol_of(args[0].type).iterate(args[0]),
    intrinsics.advance: lambda args, kwargs: protocol_of(args[0].type).step(args[0]),
    intrinsics.same: lambda args, kwargs: operations.same_item(*args),
    intrinsics.following: _following,
    intrinsics.put_state: _put_state,
    **{name: (lambda args, kwargs, name=name: reductions.RULES[name](args, kwargs)) for name in (
        intrinsics.fold, intrinsics.combine_with, intrinsics.mean_type, intrinsics.insert_axes, intrinsics.nan_identity,
        intrinsics.identity)},
    intrinsics.chosen: lambda args, kwargs: elementwise.chosen(*args),
    intrinsics.store_all: lambda args, kwargs: elementwise.assign(*args),
    intrinsics.as_element: lambda args, kwargs: conversions.element(args[0], args[1].type.scalar),
    intrinsics.as_type: _as_type,
    intrinsics.strided: lambda args, kwargs: views.strided(args[0]),
    intrinsics.is_python_float: lambda args, kwargs: Const(Bool, args[0].type is Float),
}


_FUNCTION = type(np.transpose)
_OF_AXES = {"transpose", "tensordot", "moveaxis", "flip", "roll", "rot90", "expand_dims"}



# Operators -> names in module operator, under which a program may register their meaning.
_NAMED = {"and": "and_", "or": "or_"}
_UNARY = {"-": "neg", "+": "pos", "~": "invert"}
_COMPARED = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "in": "contains"}


def _may_be_of_numpy(target) -> bool:
    """Whether a callable may be one of NumPy's, for which the index of their rules is loaded."""
    home = getattr(target, "__module__", None)
    return type(target) is not pytypes.ModuleType and (home is None or home.startswith("numpy"))


class Library:
    """The library's interface for inference. `memo`: specialisations of library functions, for the whole process;
    `store`: library -> those on disk (pipeline/images.py), which a first compile may not need;
    `flags`: code of library functions that are not inlined -> flags of their typed forms; `derivatives`: code of some
    of them -> their derivatives; `batched`: code of library functions -> their forms for batches."""

    flags = FLAGS
    derivatives = DERIVATIVES
    batched = BATCHED

    def __init__(self):
        self.memo: dict = {}
        self.store: Callable | None = None
        self._images: Any = None
        self.calls = {id(f): rule for f, rule in RULES.items()}

    @property
    def images(self):
        """The functions of this library on disk, None where it has none."""
        if self._images is None and self.store is not None:
            self._images = self.store(self)
        return self._images

    def finish(self, stored: bool = True) -> None:
        """A compile is at its end: see pipeline/images.py."""
        if self._images is not None:
            self._images.finish(stored)

    def declare(self, fn, code, args) -> None:
        """Note the derivatives, and the form for batches, of a typed function. code: that of the library function;
        args: the types and constants of its specialisation."""
        if code in self.derivatives:
            fn.memo["rules"] = self.derivatives[code]
        if code in self.batched:
            fn.memo["batched"] = self.batched[code], tuple([v for _, v in args])

    def replace(self, rules) -> None:
        """Replace rules on the target of this library: function -> rule."""
        self.calls.update({id(function): rule for function, rule in rules.items()})

    def rule_for(self, target, own: bool = False):
        """The rule that gives a call of `target` its meaning, or None. own: ignore meanings that a program has
        registered."""
        if not own and (added := extended.FUNCTIONS.get(id(target))) is not None:
            return partial(self._added, added, target)
        rule = self.calls.get(id(target))
        if rule is None and (module := py_index.module_of(target)) is not None:
            rule = module.CALLS.get(target)
            # a class method is a new object at each access
            if rule is not None and not isinstance(getattr(target, "__self__", None), type):
                self.calls[id(target)] = rule
        if rule is None and _may_be_of_numpy(target) and (rule := index.rule_of(target)) is not None:
            self.calls[id(target)] = rule
        if rule is None and type(target) in (pytypes.FunctionType, type) and target.__module__ == _POOL:
            rule = parallel.CALLS.get(target)
        elif rule is None and type(target) is pytypes.FunctionType and (target.__module__ or "").startswith(_OURS):
            rule = cuda_rules.CALLS.get(target) if target.__module__ == _KERNEL_NAMES else getattr(target, "rule", None)
        elif rule is None and type(target) is type and target.__module__ == _VECTORS:
            rule = cuda_rules.CALLS.get(target)
        return rule

    def _added(self, added, target, args, kwargs):
        """The expression of a call by the meaning that a program has registered, or else by the library's."""
        found = added(args, kwargs)
        return Library.rule_for(self, target, own=True)(args, kwargs) if found is None else found

    def rule_of_kinds(self, target, args):
        """The rule of a function for which the kind of an argument has a meaning of its own, or None."""
        return rule_of_kinds(target, args)

    def takes_lists(self, t) -> int | None:
        """The first argument for which a callable of type t takes a list of constants, such as axes, as it takes a
        tuple; None where it takes no such list."""
        if isinstance(t, Method):
            return 0 if t.name == "transpose" else None
        if not isinstance(t, Singleton):
            return None
        if id(t.value) in extended.OF_CONSTANTS:
            return 0
        return 1 if type(t.value) is _FUNCTION and t.value.__name__ in _OF_AXES else None  # after the array

    def with_dicts_written_out(self, evaluator, operands) -> list:
        """The operands of a call of a derivative or of a batch, with dicts as displays where their keys are known."""
        return dictarguments.written_out(evaluator, operands)

    def takes_unions(self, target) -> bool:
        if type(target) is pytypes.FunctionType and target.__module__ == _KERNEL_NAMES:
            return target in cuda_rules.WAITING
        return target is print or isinstance(target, type) and issubclass(target, BaseException)

    def makes_iterator(self, target) -> bool:
        """Whether a call of `target` returns an iteration state, which becomes an object if it is used more than
        once."""
        return isinstance(target, type) and (target in _ITERATORS or target.__module__ == "itertools") or (
            type(target) is pytypes.BuiltinFunctionType and target == itertools.chain.from_iterable)

    # -- operations

    def binary(self, op, x, y, inplace=False):
        if extended.OPERATORS:
            name = OPERATORS[op]
            found = extended.operation("i" + name, x, y) if inplace else None
            found = extended.operation(_NAMED.get(name, name), x, y) if found is None else found
            if found is not None:
                return found
        return operations.binary(op, x, y, inplace)

    def unary(self, op, x):
        found = extended.operation(_UNARY[op], x) if extended.OPERATORS and op in _UNARY else None
        return operations.unary(op, x) if found is None else found

    def compare(self, op, x, y):
        if extended.OPERATORS and op in _COMPARED:
            found = extended.operation("contains", y, x) if op == "in" else extended.operation(_COMPARED[op], x, y)
            if found is not None:
                return found
        return operations.compare(op, x, y)

    def truth(self, x):
        found = extended.operation("truth", x) if extended.OPERATORS else None
        return operations.truth(x) if found is None else found

    def length(self, x):
        found = extended.operation("len", x) if extended.OPERATORS else None
        return protocol_of(x.type).length(x) if found is None else found

    def getitem(self, x, i):
        found = extended.operation("getitem", x, i) if extended.OPERATORS else None
        return protocol_of(x.type).getitem(x, i) if found is None else found

    def setitem(self, x, i, v, asks):
        found = extended.operation("setitem", x, i, v) if extended.OPERATORS else None
        return protocol_of(x.type).setitem(x, i, v, asks) if found is None else found

    def delitem(self, x, i):
        found = extended.operation("delitem", x, i) if extended.OPERATORS and i is not None else None
        return protocol_of(x.type).delitem(x, i) if found is None else found

    def delete_attribute(self, x, name):
        return protocol_of(x.type).delete_attribute(x, name)

    def elements(self, x):
        """The items, where their number is part of the type; else None."""
        return protocol_of(x.type).elements(x)

    def is_iterable(self, x):
        return protocol_of(x.type).is_iterable(x)

    def extended(self, made, items):
        """A list after all items of an iterable were appended."""
        return lists.extended(made, items)

    def unpack_rest(self, x, before, after):
        """`before` items, a list of those between, `after` items: a tuple."""
        return lists.unpack_rest(x, before, after)

    def new_dict(self, items):
        return dicts.made_of(map(dicts.kept, items))

    def dict_merged(self, made, more):
        """A dict into which all items of a mapping were put."""
        return dicts.merged(made, more)

    def match_keys(self, subject, keys):
        """The values of the keys in a mapping pattern, as a tuple; None where one is missing."""
        return dicts.match_keys(subject, keys)

    def match_rest(self, subject, keys):
        """A dict of the items with other keys than these."""
        return dicts.match_rest(subject, keys)

    def new_set(self, items):
        return sets.made_of(items)

    def set_extended(self, made, more):
        return sets.extended(made, more)

    def set_added(self, made, item):
        return protocol_of(made.type).method(made, "add", [item], {})

    def appended(self, made, item):
        return Apply(containers.LIST_APPEND, made, item)

    def iter(self, x):
        return protocol_of(x.type).iterate(x)

    def next(self, state, delegates=False):
        protocol = protocol_of(state.type)
        return protocol.last_step(state) if delegates else protocol.step(state)

    def tuple_of(self, x):
        """The tuple of all items of x."""
        return any_length.tuple_of(x)

    def joined_tuple(self, x, y):
        return any_length.joined(x, y)

    def cached(self, store, key, function, args):
        return Call(caches.cached, store, key, function, *args)

    def bound(self, binder, items, keywords, more, defaults):
        """The tuple of arguments that `binder(*items, **keywords)` returns: items, values of the dict, and defaults of
        the types `more` for those left out. defaults: None, or what to give the binder (any_length.py)."""
        return any_length.bound(binder, items, keywords, more, defaults)

    def bound_by_name(self, binder, items, keywords, names, places, left_out):
        """As `bound`, for the parameters `names`, of which the first `places` may be positional. left_out: the defaults
        by name."""
        return any_length.bound_by_name(binder, items, keywords, names, places, left_out)

    def items_from(self, items, first):
        """tuple(items[first:]) of a list or of a tuple of any length."""
        return any_length.items_from(items, first)

    def after(self, first, second):
        """`second`, evaluated after `first`."""
        return Call(any_length.after, first, second)

    def called(self, callee, args, kwargs):
        """`callee(*args, **kwargs)` where an argument with a union type is not an operand of the instruction."""
        return any_length.called(callee, args, kwargs)

    def other_keywords(self, keywords, names):
        """The dict of the keywords that are not names of parameters."""
        return any_length.other_keywords(keywords, names)

    def new_object(self, cls):
        """An object of a class of the program that `__init__` has not seen yet; None where the class makes its objects
        itself."""
        return ofclasses.new_object(cls)

    def initialised(self, result, made):
        """An object after the call of its `__init__`, which has returned `result`."""
        return Call(ofclasses.checked, result, made)

    def keywords(self, named, more):
        """The dict of `f(name=x, **more)`."""
        return any_length.keywords(named, more)

    def call_with(self, callee, function, items, kwargs):
        """`callee(*function, *items, **kwargs)` where the number of items is known only at run time. function: the
        first argument of map(), or nothing."""
        return any_length.call_with(callee, function, items, kwargs)

    def unpack(self, x, count):
        return operations.unpack(x, count)

    def known_attribute(self, x, name):
        """An attribute of a compile-time object that has a rule, else None (it is then read from the object)."""
        if type(x.type.value) is pytypes.ModuleType and name != "laneid":
            return None  # most objects are modules, whose attributes need no protocol
        return protocol_of(x.type).known_attribute(x, name)

    def getattr(self, x, name):
        if name == "__class__" and not isinstance(x.type, ObjectOf) and x.type is not Object:
            return CallValue(constant(type), x)
        if name[:2] == "__" and special_methods.is_known(x.type, name):
            return Apply(structure.METHOD_MAKE, x, name=name)
        added = name in extended.ATTRIBUTES
        # The protocol of objects of a program's classes finds any name, so registered attributes come first.
        found = extended.attribute(x, name) if added and isinstance(x.type, ObjectOf) else None
        if found is None:
            found = protocol_of(x.type).attribute(x, name)
        if found is None and name in ("__enter__", "__exit__"):
            raise refusals.no_with(x)
        if found is None and added:
            found = extended.attribute(x, name)
        if found is None:
            raise suggestions.attribute(x, name)
        return found

    def attribute_or(self, x, name, default):
        """getattr(x, name, default) of an object"""
        return Call(ofclasses.attribute_or, x, name, default)

    def absent(self, found, name):
        """hasattr(x, name) of an object that has no such attribute as far as is known. found: whether it has."""
        return Call(ofclasses.absent, found, name)

    def attribute_named(self, x, name, default, start=None):
        """getattr(x, name) or getattr(x, name, *default) of an object, where the name is computed. start: what it
        begins with where the result is called, and may be a method."""
        return ofclasses.attribute_named(x, name, default, start)

    def setattr(self, x, name, value):
        return protocol_of(x.type).set_attribute(x, name, value)

    def method(self, receiver, name, args, kwargs):
        if name in extended.METHODS:
            found = extended.method(receiver, name, args, kwargs)
            if found is not None:
                return found
        if name[:2] == "__" and special_methods.is_known(receiver.type, name):
            return special_methods.called(receiver, name, args, kwargs)
        return protocol_of(receiver.type).method(receiver, name, args, kwargs)

    def call(self, callee, args, kwargs):
        """The expression of a call of a value that is no Python function and has no rule, by the protocol of its kind.
        Raises Mismatch if the protocol defines no call."""
        found = protocol_of(callee.type).call(callee, args, kwargs)
        if found is None:
            raise suggestions.call(callee.type.value)
        return found

    def class_of(self, t):
        """The Python class of values of type t, or None."""
        return t.python_class

    def is_power(self, t):
        return isinstance(t, Union) and subscripts.is_power(t)

    def slice_bound(self, x):
        """A power of integers as a bound of a slice: an int, or the error that indexing with the slice would raise."""
        return Call(subscripts.integral, x, Const(Bool, True))

    # -- errors for programs without meaning: refusals.py, suggestions.py

    def of_python(self, function, module, error):
        return suggestions.of_python(function, module, error)

    def other_attribute(self, x, name):
        return suggestions.other_attribute(x, name)

    def advice_of_call(self, callee, args, kwargs, message):
        return suggestions.advice_of_call(callee, args, kwargs, message)


kinds.declare_all()
_ITERATORS = frozenset((enumerate, zip, map, filter, reversed, np.ndindex, np.ndenumerate))
