"""Runs typed IR and detects races: two iterations of a parallel loop that access the same element of an array, which
one of them writes. For `njit(parallel=True, debug="races")`.

Each iteration is a chunk of its own. Arrays that iterations allocate live until the loop ends, so that no two have the
same memory.
"""
from __future__ import annotations

from typing import Any

from ..base.errors import RaceError
from .core import Function, Inst
from .interp import _Machine, address, enter, leave, place

__all__ = ["run"]

_NO_LIMIT = 1 << 62


def run(functions: list[Function], args) -> Any:
    """Call functions[0], whose parallel regions have chunks of one iteration, with Python values. Raises RaceError
    where two iterations race."""
    entry = functions[0]
    given = [enter(x, p.type) for x, p in zip(args, entry.params, strict=True)]
    try:
        return leave(_Watching(_NO_LIMIT).call(entry, given), entry.result)
    except AssertionError as error:  # an error of the machine: loads and stores raise nothing
        if isinstance(error.__cause__, RaceError):
            raise error.__cause__ from None
        raise


class _Watching(_Machine):
    """written, read: address of an element -> (iteration, instruction, indices) of its last access; for reads, those of
    two different iterations."""

    def __init__(self, limit: int):
        super().__init__(limit)
        self.iteration: int | None = None
        self.written: dict[int, tuple] = {}
        self.read: dict[int, list[tuple]] = {}
        self.kept: list = []

    def do_invoke(self, inst: Inst, *args):
        if "chunks" not in inst.attrs or self.iteration is not None:  # an inner region belongs to the chunk around it
            return super().do_invoke(inst, *args)
        try:
            for self.iteration in range(args[0]):
                self.call(inst.attrs["callee"], (self.iteration, *args[1:]))
        finally:
            self.iteration = None
            self.written, self.read, self.kept = {}, {}, []
        return None

    def do_array_new(self, inst, *shape):
        made = super().do_array_new(inst, *shape)
        self.kept.append(made)
        return made

    do_frame_array = do_array_new

    def do_array_load(self, inst, a, *indices):
        if self.iteration is not None:
            at = place(inst, a, indices)
            element = address(a, at)
            self.meet(inst, self.written.get(element), "reads", "writes", at)
            known = self.read.setdefault(element, [])
            if len(known) < 2 and all(one[0] != self.iteration for one in known):
                known.append((self.iteration, inst, at))
        return super().do_array_load(inst, a, *indices)

    def do_array_store(self, inst, a, *rest):
        if self.iteration is not None:
            at = place(inst, a, rest[:-1])
            element = address(a, at)
            self.meet(inst, self.written.get(element), "writes", "writes", at)
            for one in self.read.get(element, ()):
                self.meet(inst, one, "writes", "reads", at)
            self.written[element] = self.iteration, inst, at
        return super().do_array_store(inst, a, *rest)

    def meet(self, inst: Inst, other, what: str, before: str, indices) -> None:
        if other is None or other[0] == self.iteration:
            return
        names = [made.args[0].name or "an array" for made in (other[1], inst)]
        raise RaceError(
            f"iteration {other[0]} {before} {names[0]}{list(map(int, other[2]))} at line {other[1].loc.line}, and "
            f"iteration {self.iteration} {what} {names[1]}{list(map(int, indices))} at line {inst.loc.line}: the same "
            "element")
