"""The compiler's view of functions: code, globals, and whether the function belongs to the library."""
from __future__ import annotations

import itertools
import sys
import weakref
from types import CodeType, FunctionType

from ..base.lazy import lazy
from ..types.kinds import Singleton

__all__ = ["Prototype", "REBUILDING", "Recursive", "SELF", "TRANSFORMED", "prototype_of", "nested", "carrier",
           "is_marker", "passing", "placed"]

_inspect = lazy("inspect")

# code of functions that api/derivatives.py makes: their bodies have a meaning for inference only, so the interpreter
# calls the compiled functions instead
TRANSFORMED: weakref.WeakSet = weakref.WeakSet()
# those of them that return trees which they have built, so that no list in these has other references
REBUILDING: weakref.WeakSet = weakref.WeakSet()


class Prototype:
    """A function's code and its globals. Interned: a lambda that a loop makes again has the same Prototype, because
    equal code objects compare equal; it lives as long as it is used. `library`: a function of pyjitc.lib, hidden from
    tracebacks; `absorbs`: a constant in it takes the type of the value that it meets, see infer/join.py."""

    __slots__ = ("code", "globals", "qualname", "library", "absorbs", "built", "built_with", "steps", "__weakref__")

    def __init__(self, code: CodeType, space: dict, qualname: str):
        self.code = code
        self.globals = space
        self.qualname = qualname
        self.built = None  # its generic IR, once it was built
        self.built_with: dict = {}  # the same for some choices of `as_objects`, see build.py
        self.steps: dict = {}  # of a generator function: step number -> StepPrototype
        self.library = str(space.get("__name__", "")).startswith("pyjitc.lib")
        self.absorbs = self.library and not space.get("KEEPS_CONSTANTS", False)

    @property
    def hands_constants(self) -> bool:
        """Whether constants that this function passes to other functions are compile-time constants in those."""
        return "HANDS_CONSTANTS" in self.globals

    @property
    def takes_constants(self) -> bool:
        """Whether constant arguments are compile-time constants in this function: in library functions, and in those
        that request it by the function `literally`."""
        return self.library or "literally" in self.code.co_names

    def __repr__(self):
        return self.qualname


SELF = "self"  # among the parts of a Recursive


class Recursive:
    """A placeholder in a closure for a function that is made later (recursion.py). parts: one entry for each item of
    that function's closure: a Recursive, SELF (the running function) or the index of an item of the closure that
    contains this placeholder."""

    def __init__(self, name: str):
        self.name = name
        self.code = None
        self.qualname = ""
        self.own = False  # whether it is the function whose closure contains it
        self.parts: tuple = ()

    def __repr__(self):
        return f"recursive {self.name}"


def is_marker(t) -> bool:
    """Whether a type is a placeholder in a closure for a function other than the one that has the closure."""
    return isinstance(t, Singleton) and type(t.value) is Recursive and not t.value.own


_interned: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def _intern(code: CodeType, space: dict, qualname: str) -> Prototype:
    # equal code in two files has different tracebacks, and messages name wrappers by the functions that they wrap
    key = (code, code.co_filename, id(space), qualname)
    found = _interned.get(key)
    return found if found is not None else _interned.setdefault(key, Prototype(code, space, qualname))


def prototype_of(function: FunctionType) -> Prototype:
    return _intern(function.__code__, function.__globals__, function.__qualname__)


_count = itertools.count()


def placed(code: CodeType, name: str, filename: str, line: int) -> CodeType:
    """The code of a function that `exec` made, with another name and all of it at one line of a file. It has no column
    positions: those of its own text would point at wrong places of that line. Source of the format: CPython,
    Objects/locations.md."""
    units = len(code.co_code) // 2
    at_line = (bytes((254, 0)) * (units // 127) + bytes((units % 127 * 2, 0)) if sys.version_info < (3, 11) else
               b"".join([bytes((0x80 | 13 << 3 | min(units - k, 8) - 1, 0)) for k in range(0, units, 8)]))
    return code.replace(co_name=name, co_filename=filename, co_firstlineno=line, co_linetable=at_line)


def carrier(fn, names, like: FunctionType) -> FunctionType:
    """A Python function with the parameters `names` whose generic IR is `fn`, in place of the IR of its bytecode: the
    interface for front ends that make IR themselves. It has the name and the source location of the function `like`."""
    space: dict = {"__name__": like.__module__}
    exec(f"def carrier({', '.join(names)}): return {next(_count)}, {like.__name__!r}", space)
    made, code = space["carrier"], like.__code__
    made.__code__ = placed(made.__code__, code.co_name, code.co_filename, code.co_firstlineno)
    made.__name__, made.__qualname__ = like.__name__, like.__qualname__
    made.__pyjitc_prototype__ = prototype_of(made)  # it is interned, so it must be kept alive
    made.__pyjitc_prototype__.built = fn
    return made


def nested(outer: Prototype, code: CodeType, qualname: str) -> Prototype:
    """The Prototype of a function whose code is a constant in the code of `outer`."""
    return _intern(code, outer.globals, qualname)


def passing(function: FunctionType, forms: dict[int, str], names: dict = {}) -> FunctionType:
    """A function with the same parameters that calls `function`. forms: number of a parameter -> the expression that is
    passed for it, as in "int({})"."""
    parameters = list(_inspect.signature(function).parameters.values())
    given, passed, last = [], [], _inspect.Parameter.POSITIONAL_ONLY
    for k, parameter in enumerate(parameters):
        if parameter.kind is parameter.KEYWORD_ONLY and last not in (parameter.VAR_POSITIONAL, parameter.KEYWORD_ONLY):
            given.append("*")
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        value = forms.get(k, "{}").format(parameter.name)
        given.append(stars + parameter.name)
        passed.append(f"{parameter.name}={value}" if parameter.kind is parameter.KEYWORD_ONLY else stars + value)
        last = parameter.kind
    space = {"__called__": function, **names}
    exec(f"def make(__called__):\n    def taken({', '.join(given)}):\n        return __called__({', '.join(passed)})\n"
         f"    return taken\n", space)
    made = space["make"](function)
    code = function.__code__
    made.__code__ = made.__code__.replace(co_name=code.co_name, co_filename=code.co_filename,
                                          co_firstlineno=code.co_firstlineno)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__"):
        setattr(made, name, getattr(function, name))
    return made
