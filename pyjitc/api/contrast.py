"""One function compiled twice, by tracing and from its bytecode: both programs side by side, with their results and
times."""
from __future__ import annotations

import copy
import shutil
import statistics
import time
from typing import Any, NamedTuple

import numpy as np

from ..base.errors import CompileError
from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest
from ..ir.show import show
from ..ops import control
from ..pipeline import stages
from .jit import njit
from .tracing import Traced

__all__ = ["Side", "contrast", "sides"]


class Side(NamedTuple):
    """program: text; fn: its generic IR; result: of the first call; first: CPU ms of the first call; steady: us of a
    later one; error: the exception instead of a result."""

    name: str
    program: str
    fn: ir.Function | None = None
    result: Any = None
    first: float | None = None
    steady: float | None = None
    error: BaseException | None = None

    @property
    def counts(self) -> dict[str, int]:
        fn = self.fn
        branches = sum(inst.op in (control.BRANCH, control.SWITCH) for block in fn.blocks for inst in block.insts)
        return {"blocks": len(fn.blocks), "branches": branches, "loops": len(LoopNest(fn).loops),
                "instructions": sum(len(block.insts) for block in fn.blocks)}


def sides(function, args) -> list[Side]:
    """The function traced, and compiled as it is, called with copies of the arguments."""
    # with another option, so that no specialisation is found again: this loads the modules that the compiler needs
    try:
        njit(error_model="numpy")(function)(*copy.deepcopy(args))
    except Exception:
        pass
    traced, compiled = Traced(function, Options()), njit(function)

    return [_side("traced", traced, lambda: traced.record(*copy.deepcopy(args)).ir, args),
            _side("njit", compiled, lambda: stages.generic(function), args)]


def _side(name, callee, program, args) -> Side:
    fn, given = None, copy.deepcopy(args)
    start = time.process_time()
    try:
        fn = program()
        result = callee(*given)
    except Exception as error:  # exceptions of the function itself, too
        return Side(name, "" if fn is None else show(fn), fn, error=error)
    first = (time.process_time() - start) * 1e3
    return Side(name, show(fn), fn, copy.deepcopy(result), first, _steady(callee, given) * 1e6)


def _steady(callee, args) -> float:
    """The median time of a call in seconds, measured over about a tenth of a second."""
    times, end = [], time.perf_counter() + 0.1
    while len(times) < 3 or time.perf_counter() < end and len(times) < 1000:
        start = time.perf_counter()
        callee(*args)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def contrast(function, args, width: int | None = None) -> str:
    """The text of `pyjitc contrast`."""
    left, right = sides(function, args)
    half = ((width or shutil.get_terminal_size((120, 40)).columns) - 3) // 2
    lines = _beside(["TRACED: what one run did", ""] + _shown(left, half),
                    ["NJIT: what the function says", ""] + _shown(right, half), half)
    lines += ["", *_table(left, right, function, args)]
    return "\n".join(line.rstrip() for line in lines)


def _shown(side: Side, width: int) -> list[str]:
    error = "" if side.error is None else f"{type(side.error).__name__}: {side.error}"
    compiled = not isinstance(side.error, CompileError)  # otherwise the text of the program is only shown for the error
    text = "\n\n".join(part for part in (side.program.rstrip("\n") if compiled else "", error) if part)
    found = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        while len(line) > width:
            at = line.rfind(" ", len(indent), width + 1)
            at = at if at > 0 else width
            found.append(line[:at])
            line = indent + line[at:].lstrip()
        found.append(line)
    return found


def _beside(left: list[str], right: list[str], width: int) -> list[str]:
    rows = max(len(left), len(right))
    padded = [one + [""] * (rows - len(one)) for one in (left, right)]
    return [f"{x:<{width}} | {y}" for x, y in zip(*padded)]


def _table(left: Side, right: Side, function, args) -> list[str]:
    rows = [("", left.name, right.name)]
    if left.fn is not None or right.fn is not None:
        for key in ("blocks", "branches", "loops", "instructions"):
            rows.append((key, *(str(side.counts[key]) if side.fn is not None else "-" for side in (left, right))))
    rows.append(("a new program for", "each type and shape", "each type"))
    rows.append(("first call, CPU ms", *(_number(side.first) for side in (left, right))))
    rows.append(("a call after it, us", *(_number(side.steady) for side in (left, right))))
    try:
        expected, raised = function(*copy.deepcopy(args)), None
    except Exception as error:
        expected, raised = None, error
    rows.append(("as the interpreter", *(_agrees(side, expected, raised) for side in (left, right))))
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(f"{cell:<{w}}" if k == 0 else f"{cell:>{w}}" for k, (cell, w) in enumerate(zip(row, widths)))
            for row in rows]


def _number(value) -> str:
    return "-" if value is None else f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def _agrees(side: Side, expected, raised) -> str:
    if side.error is not None or raised is not None:
        if isinstance(side.error, CompileError):
            return "not compiled"
        return "yes" if type(side.error) is type(raised) else f"no: {type(side.error or side.result).__name__}"
    return "yes" if same(side.result, expected) else "no"


def same(x, y) -> bool:
    """Whether two results have the same type and, up to the rounding of sums in another order, the same value."""
    if type(x) is not type(y):
        return False
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, (np.ndarray, np.generic, float, complex)):
        x, y = np.asarray(x), np.asarray(y)
        exact = x.dtype.kind not in "fc"
        return x.dtype == y.dtype and x.shape == y.shape and bool(
            np.array_equal(x, y) if exact
            else np.allclose(x, y, rtol=64 * np.finfo(x.dtype).eps, atol=0, equal_nan=True))
    return x == y
