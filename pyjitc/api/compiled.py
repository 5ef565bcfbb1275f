"""What the compiler hands to the dispatcher. Loads without the compiler: the disk cache makes these too."""
from __future__ import annotations

from collections import namedtuple

__all__ = ["ABSENT", "Guard", "Compiled"]


class _Absent:
    __slots__ = ()

    def __repr__(self):
        return "ABSENT"


ABSENT = _Absent()  # the value of a name that is not defined, of a cell that is empty


class Guard(namedtuple("Guard", "container key value symbol", defaults=(None,))):
    """A value the code was compiled for: `container[key]` of a dict, the contents of a cell (key None), or an attribute
    of a function.

    symbol: name of an 8-byte data word of the object; the dispatcher stores there the address of the value that the
    code expects (0 for ABSENT), and the stub compares. None: not compared natively."""

    __slots__ = ()


class Compiled(namedtuple("Compiled", "object runtime entry next objects result guards")):
    """Native code of one function for one tuple of argument types.

    object: relocatable ELF object; runtime: those of the helpers that it calls, loaded before it; entry: symbol of the
    stub; next: symbol of the data word that gets the address of the next stub; objects: symbol -> Python object that
    must lie at it; result: result type (or its text); guards: everything the program may change that the code depends
    on.

    Where the object also defines the 8-byte word `pyjitc_active`, counted up by the stub on entry to the kernel and
    down on leaving, replaced code is unmapped as soon as nobody is inside; without it, with the dispatcher.
    """

    __slots__ = ()
