"""Functions that keep the values of globals, and of variables of the functions around.

In Numba, code that is compiled at the decorator keeps them, and programs rely on that: they make several functions of
one, and set its globals before each.
"""
from __future__ import annotations

from opcode import opmap
from types import CellType, CodeType, FunctionType
from weakref import WeakKeyDictionary

__all__ = ["copied", "frozen", "refresh"]

_CELL_STORES = frozenset(opmap[name] for name in ("STORE_DEREF", "DELETE_DEREF"))
_sources: WeakKeyDictionary = WeakKeyDictionary()  # function -> the function of which it keeps the values


def _assigns_cells(code: CodeType) -> bool:
    """Whether a function, or one inside it, assigns variables that functions share."""
    return not _CELL_STORES.isdisjoint(code.co_code[::2]) or any(
        _assigns_cells(x) for x in code.co_consts if type(x) is CodeType)


def _kept(cell: CellType) -> CellType:
    """A cell with the present value; the cell itself where it has none yet, as that of a function that calls itself."""
    try:
        return CellType(cell.cell_contents)
    except ValueError:
        return cell


def copied(function: FunctionType, scope: dict, cells: tuple | None) -> FunctionType:
    """Another function with the code of this one."""
    made = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__, made.__qualname__, made.__module__, made.__doc__ = (
        function.__kwdefaults__, function.__qualname__, function.__module__, function.__doc__)
    made.__dict__.update(function.__dict__)
    return made


def frozen(function, scope: dict | None = None):
    """The function with a copy of the variables that it reads of the functions around, and of its globals; or with the
    globals `scope`."""
    if type(function) is not FunctionType:
        return function
    cells = function.__closure__
    if cells and not _assigns_cells(function.__code__):
        cells = tuple(map(_kept, cells))
    made = copied(function, dict(function.__globals__) if scope is None else scope, cells)
    if scope is None and function.__name__ in function.__code__.co_names:  # it calls itself, and is not defined yet
        made.__globals__.setdefault(function.__name__, made)
    _sources[made] = function
    return made


def refresh(function) -> None:
    """Copy the present values into a function that `frozen` made; other functions read them anyway."""
    source = _sources.get(function)
    if source is None:
        return
    function.__globals__.update(source.__globals__)
    for cell, present in zip(function.__closure__ or (), source.__closure__ or ()):
        if cell is not present:
            cell.cell_contents = present.cell_contents
