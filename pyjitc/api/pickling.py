"""Dispatchers in pickles: by name where the name leads back to the object, else by code and captured values."""
from __future__ import annotations

import builtins
import marshal
import sys
from types import CellType, CodeType, FunctionType, ModuleType

from .compiled import ABSENT
from .jit import dispatcher as make_dispatcher
from .portable import lookup

__all__ = ["reduce", "rebuild_function", "fill_cells"]


def reduce(dispatcher):
    """What `__reduce__` of a dispatcher answers."""
    function = dispatcher.py_func
    found = sys.modules.get(dispatcher.__module__)
    for part in dispatcher.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is dispatcher:
        return dispatcher.__qualname__
    cells = tuple(_value(lookup(cell, None)) for cell in function.__closure__ or ())
    names = sorted(_global_names(function.__code__))
    values = {n: _value(function.__globals__[n]) for n in names if function.__globals__.get(n, dispatcher) is not dispatcher}
    return rebuild_function, (
        marshal.dumps(function.__code__), dispatcher.__module__, function.__name__, function.__qualname__, function.__doc__,
        function.__defaults__, function.__kwdefaults__, len(cells), values if _needs_globals(dispatcher.__module__) else {},
        tuple(dispatcher.options), tuple((s.args, s.result) for s in dispatcher._declared)), cells


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


def rebuild_function(code, module, name, qualname, doc, defaults, kwdefaults, free, values, options, declared):
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
    return make_dispatcher(function, options, declared)


def fill_cells(dispatcher, cells) -> None:
    """Once the dispatcher is known to the unpickler: a cell may lead back to it."""
    for cell, value in zip(dispatcher.py_func.__closure__ or (), cells):
        if type(value) is not _Empty:
            cell.cell_contents = _restored(value)
