"""What inference asks of passes/derivatives: functions whose bodies are derivatives of other functions."""
from __future__ import annotations

from typing import Any

from ..base.named import Named
from ..ir.core import Block, Function, Inst, Value
from ..types.kinds import Type
from .control import UNREACHABLE

__all__ = ["Request", "Ruled", "request_of", "requested"]


class Request(Named):
    """primal: the typed function to be differentiated; mode: see infer/meaning.py, Derived; wrt: the positions of its
    parameters that vary; has_aux: only the first item of its result is differentiated."""

    __slots__ = ()
    primal: Function
    mode: str
    wrt: tuple[int, ...]
    has_aux: bool


class Ruled(Named):
    """The derivatives of a function that stays a call while derivatives are made: each a typed function, or a function
    of the library in the compiled subset.

    tangent(*args, *tangents) -> the tangent of the result; None where there is none.  forward(*args) -> (result, what
    `backward` needs of the way); None where it needs nothing: the function itself is called then.
    backward(*args, result or what `forward` kept, cotangent of the result) -> the cotangents of the arguments, a tuple.
    Arguments that have one value alone, as functions, count for nothing here. A tangent or a cotangent of what cannot
    vary is None. rereads: the positions of the arguments whose elements
    `backward` reads; None where of all. fixed: the items of the last argument, a tuple, that may not vary."""

    __slots__ = ()
    tangent: Any
    forward: Any
    backward: Any
    fixed: tuple[int, ...] = ()
    rereads: tuple[int, ...] | None = None

    def with_functions(self, typed) -> Ruled:
        """The same with typed functions for specialisations. typed: gives one."""
        return self._replace(**{name: x and typed(x) for name, x in zip(self._fields[:3], self)})

    @property
    def writes(self) -> tuple[int, ...]:
        return ()


def requested(request: Request, types: list[Type], result: Type) -> Function:
    """A function of these parameters that has no body yet."""
    primal = request.primal
    fn = Function(f"{primal.name}.{request.mode}", primal.qualname, primal.filename, primal.firstlineno)
    fn.result = result
    fn.blocks = [Block("entry", [Value(t) for t in types])]
    fn.blocks[0].insts.append(Inst(UNREACHABLE))
    fn.memo["derivative"] = request
    return fn


def request_of(fn: Function) -> Request | None:
    """What a function without a body is to be; None of others."""
    return fn.memo.get("derivative")
