"""Local functions that call themselves or each other, without a cell and the reference cycle that it would make.

`def f(): ... f()` inside a function makes a closure before the variable has a value. Such a variable is assigned once,
directly after the function was made; so the cell is not needed: inside the function, the name means the running
function itself, or one that is built from the values that it has captured.
Before:  cell odd; even = function[odd's cell]; odd = function[even's cell]
After:   even = function[marker: odd is function[me]]; odd = function[even]
"""
from __future__ import annotations

from .bytecode import VERSION
from .functions import SELF, Recursive

__all__ = ["find"]

_MAKING = frozenset({"LOAD_CLOSURE", "LOAD_FAST", "BUILD_TUPLE", "LOAD_CONST", "MAKE_FUNCTION",
                     "SET_FUNCTION_ATTRIBUTE", "STORE_DEREF", "STORE_FAST", "NOP", "EXTENDED_ARG"})


class _Made:
    """A local function that is the only value of a variable. first, store: offsets of the first and last instruction
    that make it; names: the names in its closure."""

    __slots__ = ("name", "first", "store", "code", "qualname", "plain", "names", "early")

    def __init__(self, name, first, store, code, qualname, plain):
        self.name, self.first, self.store = name, first, store
        self.code, self.qualname, self.plain = code, qualname, plain
        self.names = list(code.co_freevars)
        self.early: dict[str, Recursive] = {}


def find(code, instrs, stores, takes, fixed, cell_name, as_objects):
    """(names that need no cell, {code of a function: [(name, Recursive or None), ...] for its closure}).

    stores, takes: offsets per cell variable; fixed: cell variables that are not rebound by inner functions, not
    assigned in a loop and no parameters, in one place or in the copies that the compiler makes of a `finally`;
    cell_name: argument -> name; as_objects: code of functions that become objects of the interpreter, which captures
    their cells."""
    places: dict[str, list] = {}
    for i, x in enumerate(instrs):
        if x.name == "STORE_DEREF" and (name := cell_name(code, x.arg)) in fixed:
            places.setdefault(name, []).append(_making(code, instrs, i, name))
    made = {}
    for name, sites in places.items():
        if None in sites or any(m.code is not sites[0].code or m.code in as_objects for m in sites):
            continue
        if len(sites) > 1 and not all(any(m.first <= at < m.store for m in sites) for at in takes.get(name, ())):
            continue  # each copy of a `finally` makes the function
        made[name] = sites[0]
    while True:  # only these functions may capture one before it is assigned, while only functions are made
        bad = {m.name for m in made.values() for at in takes.get(m.name, ())
               if at < m.store and not any(o.first <= at < o.store for o in made.values())
               or at < m.first and not (m.plain and _only_making(instrs, at, m.store))}
        for m in made.values():
            m.names = list(m.code.co_freevars)
        bad = bad or _complete(made, stores)
        if not bad:
            break
        for name in bad:
            del made[name]
    names = {m.name for m in made.values() if any(at < m.store for at in takes.get(m.name, ()))}
    layouts = {}
    for m in made.values():
        m.early = {n: Recursive(n) for n in m.names if n in made and made[n].store > m.first}
    for m in made.values():
        for name, marker in m.early.items():
            target = made[name]
            marker.code, marker.qualname, marker.own = target.code, target.qualname, target is m
            if not marker.own:
                marker.parts = tuple(
                    target.early[n] if n in target.early else SELF if n == m.name else m.early[n] if n in m.early
                    else m.names.index(n)
                    for n in target.names)
        if m.early:
            layouts[id(m.code)] = [(n, m.early.get(n)) for n in m.names]
    return names, layouts


def _making(code, instrs, i, name):
    k = i - 1
    plain = True
    while instrs[k].name == "SET_FUNCTION_ATTRIBUTE":
        plain = plain and not instrs[k].arg & 3
        k -= 1
    if instrs[k].name != "MAKE_FUNCTION":
        return None
    if VERSION < (3, 13):
        plain = not instrs[k].arg & 3
    qualname = code.co_consts[instrs[k - 1].arg] if VERSION < (3, 11) else None
    k -= 2 if VERSION < (3, 11) else 1
    inner = code.co_consts[instrs[k].arg]
    if not hasattr(inner, "co_freevars"):
        return None
    first = k - 1 - len(inner.co_freevars)
    if not inner.co_freevars or first < 0 or instrs[k - 1].name != "BUILD_TUPLE":
        return None
    return _Made(name, instrs[first].offset, instrs[i].offset, inner, qualname or inner.co_qualname, plain)


def _only_making(instrs, start, end):
    """Whether the instructions from `start` to `end` only make functions."""
    for k, x in enumerate(instrs):
        if start <= x.offset <= end:
            if x.name not in _MAKING:
                return False
            if x.name.startswith("STORE_") and instrs[k - 1].name not in ("MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE"):
                return False
    return True


def _complete(made, stores):
    """Add to each closure the items that later functions need; returns the names for which that is not possible."""
    changed = True
    while changed:
        changed = False
        for m in made.values():
            for name in list(m.names):
                target = made.get(name)
                if target is None or target is m or target.store < m.first:
                    continue
                for n in target.names:
                    if n == m.name or n in m.names or n == name:
                        continue
                    if not (n in made and made[n].plain) and any(at > m.first for at in stores.get(n, ())):
                        return {name}
                    m.names.append(n)
                    changed = True
    return set()
