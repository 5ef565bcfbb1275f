"""Rules: functions of the compiler that say, from the types and constants of a call's arguments, which expression the
call means.

A rule is the third way to give a meaning, after the operation record and the library function in the compiled subset;
docs/meaning.md says when each is right. It is declared with the signature that its callable has in Python, and this
module is the only place that binds arguments to it:

    @rule("np.swapaxes")
    def _swapaxes(a, axis1, axis2):
        ...

A parameter receives an expression. One whose default is None (or np._NoValue) receives None where the call leaves it
out or passes None. One that is annotated `Constant` receives the value itself; a call must give a compile-time constant
for it. One that is annotated `ArrayLike` (`NumberOrArray`) receives an array (or a number): where the call gives a
list, a tuple or a number, the call is made again with an array in its place. Any other default arrives as a constant
expression. Where the arguments do not fit, the error message is that of the callable itself, which is called with as
many arguments of the same names.
"""
from __future__ import annotations

import builtins
import collections

import numpy as np

from ..base.lazy import lazy
from ..infer.bind import slots_of
from ..infer.constants import constant
from ..infer.meaning import Apply, CallValue, Expr, Mismatch, NotConstant, NotNative
from ..ops.structure import METHOD_MAKE
from ..types.kinds import Array, NoneType, Singleton, Str, is_scalar
from .build import a_type, is_sequence, list_item

inspect = lazy("inspect")
options = lazy("pyjitc.lib.options")  # only for texts that are chosen at run time

__all__ = ["ArrayLike", "Constant", "NONE", "NumberOrArray", "Rule", "call", "chosen", "expression", "intrinsic",
           "library", "methods", "rule", "target_of"]

NONE = constant(None)  # the expression of None, for calls of library functions
# owner of methods -> an object to call them on
_RECEIVERS = {"list.": lambda: [], "dict.": dict, "set.": set, "frozenset.": frozenset,
              **{f"collections.{cls.__name__}.": cls for cls in (
                  collections.Counter, collections.OrderedDict, collections.defaultdict, collections.deque)},
              "np.ndarray.": lambda: np.empty(0), "np.generic.": lambda: np.float64(1),
              "np.float64.": lambda: np.float64(1), "np.ufunc.": lambda: np.add,
              "np.random.Generator.": lambda: np.random.default_rng(),  # np.random is imported at its first use
              "np.random.RandomState.": lambda: np.random.RandomState()}
_ROOTS = {"np": np, "collections": collections,
          **{name: lazy(name) for name in ("math", "cmath", "operator", "heapq", "bisect")}}


class Constant:
    """The annotation of a parameter whose argument must be a compile-time constant: the rule receives its value."""


class ArrayLike:
    """The annotation of a parameter that is an array; a list, a tuple or a number is converted to one."""


class NumberOrArray:
    """The annotation of a parameter that is a number or an array; a list or a tuple is converted to an array."""


class Rule:
    """A rule as inference calls it: with lists of expressions, rule(args, kwargs).

    path: where Python has the callable ("np.linalg.solve", "hash", "np.ndarray.sort"), for messages; signature: where
    `function` takes its operands by position under other names, the text of the parameters, or a function that has
    them."""

    __slots__ = ("function", "path", "signature", "_plan")

    def __init__(self, function, path, signature=None):
        self.function = function
        self.path = path
        self.signature = signature
        self._plan = None

    def __call__(self, args, kwargs):
        code, names, absent, defaults, kinds = self._plan or self._prepare()
        try:
            slots, extra, surplus = slots_of(code, self._name(), args, kwargs, defaults)
        except Mismatch as wrong:
            if self.path.startswith("cuda."):
                wrong.hint = wrong.hint or f"{self.path}{self.parameters()}"
            raise _of_the_callable(self.path, args, kwargs, wrong) from None
        for name, x in slots.items():
            if (x.type is Str and not x.known and self.path.startswith("np.")
                    and options.is_option(self.path, name, x)):
                return options.at_run_time(self.path, name, x, *self._called(args), kwargs)
            if name in absent and (x.type is NoneType or type(x.type) is Singleton and x.type.value is np._NoValue):
                slots[name] = None
            elif name in kinds:
                kind = kinds[name]
                if kind == "Constant":
                    slots[name] = self._value(name, x)
                elif type(x.type) is not Array:
                    if (is_sequence(x.type) or list_item(x.type) is not None
                            or kind == "ArrayLike" and is_scalar(x.type)):
                        return self._with_arrays(names, kinds, args, kwargs)
                    if kind == "ArrayLike":
                        raise NotNative(f"{self.path} of {a_type(x.type)} is not compiled", "make an array of it")
        values = [slots[name] if name in slots else defaults[name] for name in names]
        if code.co_kwonlyargcount and self.signature is None:
            last = code.co_argcount
            return self.function(*values[:last], *extra, **dict(zip(names[last:], values[last:])), **surplus)
        return self.function(*values, *extra, **surplus)

    def parameters(self) -> inspect.Signature:
        """The declared signature."""
        return inspect.signature(self._declared())

    def named(self, path: str) -> "Rule":
        """The same rule for another callable, such as an array's method for the function of its name."""
        return Rule(self.function, path, self.signature)

    def _name(self):
        """The name that Python gives the callable in messages."""
        return self.path if self.path.startswith("cuda.") else self.path.rpartition(".")[2]

    def _declared(self):
        if self.signature is None:
            return self.function
        if callable(self.signature):
            return self.signature
        made = {"np": np, "Constant": Constant, "ArrayLike": ArrayLike, "NumberOrArray": NumberOrArray}
        exec(f"def declared({self.signature}): pass", made)
        return made["declared"]

    def _prepare(self):
        declared = self._declared()
        code = declared.__code__
        names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
        given = declared.__defaults__ or ()
        every = dict(zip(code.co_varnames[code.co_argcount - len(given):code.co_argcount], given))
        every.update(declared.__kwdefaults__ or {})
        absent = {name for name, value in every.items() if value is None or value is np._NoValue}
        kinds = {name: kind if type(kind) is str else kind.__name__ for name, kind in declared.__annotations__.items()}
        kinds = {name: kind for name, kind in kinds.items() if kind in ("Constant", "ArrayLike", "NumberOrArray")}
        defaults = {name: None if name in absent else value if kinds.get(name) == "Constant" else constant(value)
                    for name, value in every.items()}
        self._plan = code, names, absent, defaults, kinds
        return self._plan

    def _with_arrays(self, names, kinds, args, kwargs):
        """The same call with lists and tuples converted to arrays (and numbers, where the parameter must be an
        array)."""
        def converted(name, x):
            plain = (is_sequence(x.type) or list_item(x.type) is not None
                     or kinds.get(name) == "ArrayLike" and is_scalar(x.type))
            return CallValue(constant(np.asarray), x) if plain and kinds.get(name, "Constant") != "Constant" else x

        named = [converted(*pair) for pair in zip(names, args)]
        keywords = {name: converted(name, x) for name, x in kwargs.items()}
        callee, rest = self._called([*named, *args[len(named):]])
        return CallValue(callee, *rest, keywords=keywords)

    def _called(self, args) -> tuple[Expr, list[Expr]]:
        """(what the program calls, its arguments): a method does not have the object among them."""
        if self.path.startswith(tuple(_RECEIVERS)):
            return Apply(METHOD_MAKE, args[0], name=self.path.rpartition(".")[2]), args[1:]
        return constant(target_of(self.path)), args

    def _value(self, name, x):
        if x.known:
            return x.value
        if type(x.type) is Singleton:
            return x.type.value
        raise NotConstant(f"{name}= of {self.path} must be a constant", chosen(name, x))


def chosen(name, x) -> str:
    """The hint where an argument must be a constant, and is not."""
    each = f", in one call for each {name} that may occur, under `if {name} == ...:`" if x.type is Str else ""
    return f"write the value out in the call{each}"


def rule(path, signature=None):
    """Decorator that makes a rule of a function: of the callable at `path`, with the function's own signature or with
    another one (a text, or a function that has it)."""
    return lambda function: Rule(function, path, signature)


def expression(x):
    """The argument that a rule received as an expression again: None and constants are converted."""
    return x if isinstance(x, Expr) else constant(x)


def call(function, *values):
    """The call of a library function with the arguments that its rule received, in the order of its parameters."""
    code, operands = function.__code__, list(map(expression, values))
    last = code.co_argcount
    return CallValue(constant(function), *operands[:last],
                     keywords=dict(zip(code.co_varnames[last:last + code.co_kwonlyargcount], operands[last:])))


def library(path, function):
    """The rule of a library function with annotated parameters; for those without annotations there is `compiled` in
    build.py."""
    return Rule(lambda *values: call(function, *values), path, function)


def methods(**rules):
    """The rules of array methods; a rule that is also that of a function gets the method's name in messages."""
    return {name: found.named(f"np.ndarray.{name}") if type(found) is Rule else found for name, found in rules.items()}


def intrinsic(function):
    """Decorator of a function that library code calls and that inference runs: it takes and returns expressions."""
    function.rule = Rule(function, f"{function.__module__}.{function.__name__}")
    return function


def target_of(path: str):
    """The callable at `path`, or None where this Python or NumPy has none."""
    root, *rest = path.split(".")
    found = _ROOTS.get(root) or getattr(builtins, root, None)
    for name in rest:
        found = getattr(found, name, None)
    return found


class _Dummy:
    """A dummy argument for a call that is made only for its error message. It is an empty iterable, since some
    callables iterate over an argument before they check the number of arguments."""

    def __iter__(self):
        return iter(())


def _of_the_callable(path, args, kwargs, wrong):
    """The Mismatch for arguments that do not fit the signature of a rule, with the message of the callable, which is
    called with as many dummy arguments. `wrong`: the message of a Python function with the rule's signature."""
    target = target_of(path)
    if target is None:
        return wrong
    receiver = [make() for home, make in _RECEIVERS.items() if path.startswith(home)]
    given = [*receiver, *(_Dummy() for _ in args[len(receiver):])], {key: _Dummy() for key in kwargs}
    try:
        takes = inspect.signature(target)
        takes.bind(*given[0], **given[1])
        takes = not any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in takes.parameters.values())
    except (TypeError, ValueError):  # ValueError: a builtin callable without a signature
        takes = False
    if takes:
        name = next((key for key in kwargs if f"'{key}'" in wrong.message), None)
        return NotNative(f"{path} with {name}= is not compiled" if name else f"{path} with {len(args)} positional "
                         f"arguments is not compiled", wrong.hint)
    try:
        target(*given[0], **given[1])
    except TypeError as error:
        text = str(error)
        if _Dummy.__name__ in text:
            return wrong
        return Mismatch(text, "" if "Did you mean" in text else wrong.hint)
    except Exception:
        pass
    return wrong
