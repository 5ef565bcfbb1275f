"""Requests of inference to passes/derivatives: functions whose bodies are derivatives of other functions."""
from __future__ import annotations

from typing import Any

from ..base.named import Named
from ..ir.core import Block, Function, Inst, Value
from ..types.kinds import Type
from .control import UNREACHABLE

__all__ = ["Request", "Ruled", "request_of", "requested"]


class Request(Named):
    """primal: the typed function to be differentiated; mode: see infer/meaning.py, Derived; wrt: the positions of the
    parameters with respect to which it is differentiated; has_aux: only the first item of its result is
    differentiated; memory: the bytes that reverse mode may keep for a loop, 0 where there is no limit; measured: the
    result has a last item, the bytes that it has kept for loops."""

    __slots__ = ()
    primal: Function
    mode: str
    wrt: tuple[int, ...]
    has_aux: bool
    memory: int = 0
    measured: bool = False


class Ruled(Named):
    """The derivatives of a function that is not inlined while derivatives are made: each a typed function, or a
    function of the library in the compiled subset.

    tangent(*args, *tangents) -> the tangent of the result; None where there is no such rule. forward(*args) ->
    (result, values that `backward` needs); None where it needs none: then the function itself is called.
    backward(*args, result or values from `forward`, cotangent of the result) -> the tuple of the cotangents of the
    arguments. Arguments of one-value types, such as functions, are left out. The tangent or cotangent of an argument
    that cannot vary is None. rereads: the positions of the arguments whose elements `backward` reads; None for all
    arguments. fixed: the positions of the items of the last argument, a tuple, that must not vary. repeats: `backward`
    runs the function again, which must then compute the same. of_complex: whether functions of the library are right
    for complex numbers, too; cotangents are then dL/dRe - i dL/dIm, as callers pass them."""

    __slots__ = ()
    tangent: Any
    forward: Any
    backward: Any
    fixed: tuple[int, ...] = ()
    rereads: tuple[int, ...] | None = None
    repeats: bool = False
    of_complex: bool = False

    def with_functions(self, typed) -> Ruled:
        """The same rules with typed functions for specialisations. typed: specialisation -> typed function."""
        return self._replace(**{name: x and typed(x) for name, x in zip(self._fields[:3], self)})

    @property
    def writes(self) -> tuple[int, ...]:
        return ()


def requested(request: Request, types: list[Type], result: Type) -> Function:
    """A function with these parameters that has no body yet, for a request."""
    primal = request.primal
    fn = Function(f"{primal.name}.{request.mode}", primal.qualname, primal.filename, primal.firstlineno)
    fn.result = result
    fn.blocks = [Block("entry", [Value(t) for t in types])]
    fn.blocks[0].insts.append(Inst(UNREACHABLE))
    fn.memo["derivative"] = request
    return fn


def request_of(fn: Function) -> Request | None:
    """The request for the body of a function; None for a function that has one."""
    return fn.memo.get("derivative")
