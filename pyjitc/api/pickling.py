"""Compiled functions and kernels in pickles: they are pickled as the plain function would be.

Picklers differ: pickle writes a function's name, which the other process looks up; cloudpickle, which joblib, Dask and
Ray use, writes the code and the globals of functions of `__main__` and of modules registered for it. A `__reduce__`
cannot see the pickler, so it returns plain functions, which the pickler treats like all others:

- where the name of the object leads back to it, two *stand-ins*, which are found under its name as well.
  `f._pickled_name` has no contents: where the pickler writes its name, unpickling finds it, and with it the `f` that is
  there; where it comes by value there is no such `f`, and a new one is made. `f._pickled_function` is the function with
  its contents; it is the state of the new one, so that functions may refer to each other and to themselves;
- where the name leads to the Python function (`g = njit(f)`), that function;
- else (closures, lambdas) pickle could not write the function: its code and captured values are written here.
"""
from __future__ import annotations

import builtins
import dis
import marshal
import sys
import weakref
from types import CellType, CodeType, FunctionType, ModuleType

from ..pipeline.portable import ABSENT, lookup

__all__ = ["reduce", "fill", "stand_in", "stand_ins", "revived", "Space", "found_under", "written", "remade"]

_PARTS = "__pyjitc_parts__"  # key in the dict of a stand-in


def reduce(one, protocol: int):
    """The result of `__reduce_ex__`."""
    found = found_under(one.__module__, one.__qualname__)
    if found is one:
        if protocol < 4:  # older protocols cannot write the dotted names of the stand-ins
            return one.__qualname__
        name, contents = stand_ins(one)
        return revived, (name, one.__qualname__, *one._blank()), contents
    if found is one.py_func:
        return revived, (None, one.__qualname__, *one._blank()), (found, one._parts())
    return revived, (None, one.__qualname__, *one._blank()), (written(one), one._parts())


def revived(name: FunctionType | None, qualname: str, make, *arguments):
    """The object to which the stand-in `name` refers, or a new empty one."""
    found = found_under(name.__module__, qualname) if name is not None else None
    return found if found is not None and getattr(found, "_pickled_name", None) is name else make(*arguments)


def fill(one, state) -> None:
    """Fill an empty object; an object that exists in this process keeps its own contents."""
    if hasattr(one, "py_func"):
        return
    if isinstance(state, FunctionType):
        state.__qualname__, *parts = vars(state).pop(_PARTS)
    else:
        state, parts = state
        if not isinstance(state, FunctionType):
            state = remade(*state)
    _keep(state)
    one._fill(state, *parts)


# code of the functions that were unpickled last, the latest at the end
_kept: dict[tuple[CodeType, str], CodeType] = {}
_MOST = 200


def _keep(function: FunctionType) -> None:
    """Give the function the code object of an equal one that was unpickled before. Compiled code lives as long as the
    code object, and workers of a pool get a new function with each task."""
    key = function.__code__, function.__code__.co_filename
    function.__code__ = _kept[key] = _kept.pop(key, key[0])
    if len(_kept) > _MOST:
        del _kept[next(iter(_kept))]


def found_under(module: str, qualname: str):
    found = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def _nothing():
    """The stand-in that is pickled by name."""


def stand_in(one, name: str, function: FunctionType) -> FunctionType:
    """A function that a pickler finds under the name of attribute `name` of `one`."""
    function.__module__, function.__qualname__ = one.__module__, f"{one.__qualname__}.{name}"
    return function


def stand_ins(one) -> tuple[FunctionType, FunctionType]:
    """(the stand-in for the name, the one for the function): the same objects each time, since picklers check that a
    name leads to the object that they write."""
    function = one.py_func
    made = getattr(one, "_stand_ins", None)
    if made is None:
        made = one._stand_ins = (stand_in(one, "_pickled_name", FunctionType(_nothing.__code__, {})),
                                 stand_in(one, "_pickled_function", FunctionType(
                                     function.__code__, function.__globals__, function.__name__, None,
                                     function.__closure__)))
    contents = made[1]
    for name in ("__code__", "__defaults__", "__kwdefaults__", "__annotations__", "__doc__", "__type_params__"):
        if hasattr(function, name):
            setattr(contents, name, getattr(function, name))
    vars(contents).clear()
    vars(contents).update({**vars(function), _PARTS: (function.__qualname__, *one._parts())})
    return made


# -- by value

class Space:
    """The globals of functions that are pickled by value: functions that shared one dict share one after unpickling,
    within a pickle."""

    def __init__(self, module: str):
        self.module = module
        self.names = {"__builtins__": builtins, "__name__": module}

    def __reduce__(self):
        return Space, (self.module,)


_spaces: weakref.WeakValueDictionary = weakref.WeakValueDictionary()  # by id of the dict that it represents


def written(one) -> tuple:
    """The arguments of `remade` for the function of `one`, where it has no name."""
    function, module = one.py_func, one.__module__
    space, names = None, {}
    if module == "__main__" or module not in sys.modules:  # another process cannot import it
        space = _spaces.get(id(function.__globals__))
        if space is None:
            space = _spaces[id(function.__globals__)] = Space(module)
        for name in sorted(_global_names(function.__code__)):
            if name in function.__globals__:
                names[name] = _value(function.__globals__[name])
    cells = tuple(_value(lookup(cell, None)) for cell in function.__closure__ or ())
    return (marshal.dumps(function.__code__), module, function.__name__, function.__qualname__, function.__doc__,
            function.__defaults__, function.__kwdefaults__, space, names, cells)


def _global_names(code: CodeType) -> set[str]:
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if type(constant) is CodeType:
            names |= _global_names(constant)
    return names


class _Module:
    """A module, pickled by name."""

    def __init__(self, name: str):
        self.name = name


class _Empty:
    """An empty cell."""


def _value(value):
    if type(value) is ModuleType:
        return _Module(value.__name__)
    return _Empty() if value is ABSENT else value


def _restored(value):
    return __import__(value.name, fromlist=["*"]) if type(value) is _Module else value


def remade(code, module, name, qualname, doc, defaults, kwdefaults, space, names, cells) -> FunctionType:
    if space is not None:
        globals_ = space.names
        globals_.update((n, _restored(v)) for n, v in names.items())
    else:
        try:
            globals_ = vars(__import__(module, fromlist=["*"]))
        except ImportError:
            globals_ = Space(module).names
    closure = tuple(CellType() if type(value) is _Empty else CellType(_restored(value)) for value in cells)
    function = FunctionType(marshal.loads(code), globals_, name, defaults, closure)
    function.__qualname__, function.__doc__, function.__module__ = qualname, doc, module
    function.__kwdefaults__ = kwdefaults
    return function
