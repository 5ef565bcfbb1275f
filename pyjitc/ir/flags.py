"""Flags by which stages of the compiler pass on facts about a function: one field for each fact.

The printer writes the fields that differ from their defaults after a function's parameters, as in `fn f(x: int)
{noinline, optnone} -> int:`, and the parser reads them.
"""
from __future__ import annotations

from typing import Literal

from ..base.named import Named

__all__ = ["FunctionFlags", "Template"]

Template = Literal["", "map", "store", "fold", "fold axes", "rows", "columns"]


class FunctionFlags(Named):
    """The flags of an ir.Function, which a stage replaces by `fn.flags._replace(...)`. The first ten come from the
    decorators of lib/build.py, by way of infer/emit.py."""

    __slots__ = ()

    noinline: bool = False
    """Calls of this library function stay calls. Read by passes/inline.py, and by codegen for LLVM's `noinline`."""

    novectorize: bool = False
    """LLVM is not to vectorise loops of this function. passes/polling.py leaves each as one loop; codegen/module.py
    compiles the function by the short pipeline of LLVM's passes, which has none over loops."""

    optnone: bool = False
    """LLVM does not optimise this function at all: it runs rarely, or the functions that it calls take nearly all of
    the time. Read by passes/polling.py and codegen/function.py."""

    selects_by_mask: bool = False
    """The function is `masked(a, mask)`: it copies out the elements that a mask selects. passes/fusion.py makes a nest
    read `a` under the mask instead (see operands.gathers)."""

    template: Template = ""
    """What nests with this function as their template compute (see ops/nest.py): "map", an array of all elements;
    "store", elements that are written into an array; "fold", a number of all elements; "fold axes", an array of numbers
    of elements; "rows" and "columns", the sums of the rows or columns of a matrix in any order; "" where no transform
    asks. Read by passes/derivatives and passes/batches.py."""

    unpolled: bool = False
    """Loops of this library function run to their ends without handling signals, as those of CPython's own functions in
    C: a handler could change what the function works on. infer/emit.py marks the terminators, since the function may be
    inlined; passes/polling.py adds no poll to loops whose header has the mark."""

    returns: Literal["", "new", "copy", "last"] = ""
    """Which array this library function, which writes into none of its arguments, returns: "new", one to which nothing
    else refers; "copy", a new one with the elements of its only argument; "last", its last argument or a new one; ""
    where that is not known. Read by passes/derivatives, as the next two."""

    only_checks: bool = False
    """This library function writes into none of its arguments, and computes nothing that has a derivative."""

    raises: bool = False
    """This library function, which a pass calls in the place of an operation of the program, raises the exceptions of
    that operation. Other exceptions in it, such as a MemoryError, reach no handler of the program."""

    vmap: Literal["", "parts", "part", "example", "threads"] = ""
    """The part that this function of lib/transforms.py has in `vmap`: "parts", it divides a batch into parts; "part",
    it runs the examples of a part; "example", it runs one; "threads", it divides a batch among threads (`pmap`). Read
    by passes/batches.py and passes/pipeline.py."""

    inline: bool = False
    """passes/inline.py inlines the function although it is not a library function. Set there for a leaf and for
    the function of a ufunc, and by passes/grid.py for the functions that a kernel calls."""

    part: bool = False
    """The function is a part of another one, whose frame tracebacks show for its failures: codegen/function.py adds no
    entry for the call. Set by passes/outline.py for checked_copies.py and parts.py; passes/pipeline.py runs the
    passes after these over the function."""

    frameless: bool = False
    """No traceback can show a frame of the function, since nothing in it fails: where it is inlined, its instructions
    take the position of the call. Set and read by passes/inline.py."""

    simplified: bool = False
    """The library function was simplified in this process, so passes/inline.py does not do it once more."""

    skips_loop_passes: bool = False
    """LLVM's passes over loops would find nothing to do in the function. Set by passes/polling.py; codegen/module.py
    takes the short pipeline where all functions of a module have this flag."""

    elementwise: bool = False
    """All loops that LLVM might vectorise have the hint `vectors` (ops/control.py). Set by passes/polling.py;
    codegen/module.py takes the short pipeline, and the loops in vectors (codegen/wide.py), where all functions of a
    module have this flag or the one above."""

    packs: bool = False
    """Loops store several elements of an array in each iteration, which may be contiguous, or add several to sums of
    their own: LLVM is to combine these to vectors. Set by passes/polling.py and passes/joined_sums.py;
    codegen/module.py sets the option for the module."""

    steps: bool = False
    """LLVM computes addresses in loops from those of the iteration before (loop strength reduction), as it does where a
    loop is unrolled. Set by passes/joined_sums.py and passes/polling.py; codegen/module.py sets the option for the
    module, and codegen/llvm.py leaves it out where the module is large."""

    narrow: bool = False
    """LLVM prefers vectors of 256 bits in the function, also on a processor that has longer ones: the lengths of its
    loops down columns change. Set by passes/polling.py; read by codegen/function.py."""

    alias_groups: int = 0
    """The number of groups of arrays that share no memory (see array_load). passes/versioning.py and
    passes/inspector.py take the numbers of new groups from it."""

    recursive: bool = False
    """The function may call itself, directly or through others. Set by codegen/compile.py; read by codegen/function.py
    and codegen/inlining.py."""

    asks_inline: bool = False
    """The program asks with `inline="always"` that calls of the function are inlined. Set by infer/emit.py; read by
    codegen/inlining.py."""

    llvm_inline: str = ""
    """"always" or "never": whether LLVM inlines the function; "" where that is for LLVM to decide. Set by
    codegen/inlining.py; read by codegen/function.py and codegen/nvptx.py."""

    restart: bool = False
    """An instruction of the module may request that the call is restarted in other code. Set by passes/restarts.py;
    read by codegen/wrapper.py."""

    looks: int = 0
    """How many items of each list the stub checks before a call; -1: all, 0: a few, which cost little time. Set by
    passes/restarts.py; read by codegen/wrapper.py."""

    parallel: bool = False
    """Loops that are marked as independent are shared among threads: the option `parallel` of the function, or of one
    that calls it. Set by infer/emit.py; read by passes/independent.py, passes/nests.py and passes/pipeline.py."""

    def __str__(self) -> str:
        """The fields that differ from their defaults, as the printer writes them."""
        found = []
        for name, value in zip(self._fields, self):
            if value != self._field_defaults[name]:
                found.append(name if value is True else f"{name}: {value!r}")
        return ", ".join(found)
