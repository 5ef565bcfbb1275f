"""What inference asks of passes/derivatives: functions whose bodies are derivatives of other functions."""
from __future__ import annotations

from ..base.named import Named
from ..ir.core import Block, Function, Inst, Value
from ..types.kinds import Type
from .control import UNREACHABLE

__all__ = ["Request", "request_of", "requested"]


class Request(Named):
    """primal: the typed function to be differentiated; mode: see infer/meaning.py, Derived; wrt: the positions of its
    parameters that vary; has_aux: only the first item of its result is differentiated."""

    __slots__ = ()
    primal: Function
    mode: str
    wrt: tuple[int, ...]
    has_aux: bool


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
