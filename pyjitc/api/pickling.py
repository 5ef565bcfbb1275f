"""Dispatchers and kernels in pickles: by name where the name leads back to the object, else by code and captured values."""
from __future__ import annotations

import builtins
import marshal
import sys
from types import CellType, CodeType, FunctionType, ModuleType

from .compiled import ABSENT
from .jit import dispatcher as make_dispatcher
from .portable import lookup

__all__ = ["Pickled", "reduce", "rebuild_function", "fill_cells"]


class Pickled:
    """What stands for a function, `py_func`: `_parts()` are what makes its like, as in `make(function, *rest)`. Copies are the object."""

    __slots__ = ()

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _reduced(self, *self._parts())

    def __setstate__(self, cells) -> None:
        fill_cells(self, cells)


def reduce(dispatcher):
    """What `__reduce__` of a dispatcher answers."""
    return _reduced(dispatcher, make_dispatcher, tuple(dispatcher.options), tuple((s.args, s.result) for s in dispatcher._declared))


def _reduced(one, make, *parts):
    function = one.py_func
    found = sys.modules.get(one.__module__)
    for part in one.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is one:
        return one.__qualname__
    cells = tuple(_value(lookup(cell, None)) for cell in function.__closure__ or ())
    names = sorted(_global_names(function.__code__))
    values = {n: _value(function.__globals__[n]) for n in names if function.__globals__.get(n, one) is not one}
    return rebuild_function, (
        marshal.dumps(function.__code__), one.__module__, function.__name__, function.__qualname__, function.__doc__,
        function.__defaults__, function.__kwdefaults__, len(cells), values if _needs_globals(one.__module__) else {}, make, *parts), cells


def _needs_globals(module: str) -> bool:
    """Whether another process cannot find the globals by importing the module."""
    return module == "__main__" or module not in sys.modules


def _global_names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is CodeType:
            names |= _global_names(constant)
    return names


class _Module:
    """A module, by name."""

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


def rebuild_function(code, module, name, qualname, doc, defaults, kwdefaults, free, values, make, *parts):
    code = marshal.loads(code)
    if values:
        space = {"__builtins__": builtins, "__name__": module}
        space |= {n: _restored(v) for n, v in values.items()}
    else:
        try:
            space = vars(__import__(module, fromlist=["*"]))
        except ImportError:
            space = {"__builtins__": builtins, "__name__": module}
    closure = tuple(CellType() for _ in range(free))
    function = FunctionType(code, space, name, defaults, closure)
    function.__qualname__, function.__doc__, function.__kwdefaults__, function.__module__ = qualname, doc, kwdefaults, module
    return make(function, *parts)


def fill_cells(one, cells) -> None:
    """Once the object is known to the unpickler: a cell may lead back to it."""
    for cell, value in zip(one.py_func.__closure__ or (), cells):
        if type(value) is not _Empty:
            cell.cell_contents = _restored(value)
