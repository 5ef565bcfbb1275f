"""Format the message of an exception where it is raised, in one call, if it consists of ints and strings.

Runs first, and once over each library function: an f-string is a dozen calls with references to Python objects, all of
them on paths that are almost never taken, which later passes would have to process.
Before:  b = py_box i ; t = py_format b, None ; s = py_join 'no ', t ; e = exc_new {cls} (s) ; exc_throw e
After:   throw {cls, message: 'no %s'} (i)
Needs: SSA, references not yet counted.  Keeps: control flow, the exception, its message and its unwind edge.
"""
from __future__ import annotations

import builtins
from collections import Counter
from typing import Any

import numpy as np

from ..ir.core import Function, Inst, Value
from ..ops.control import CONST
from ..ops.exceptions import EXC_NEW, EXC_THROW, THROW
from ..ops.pyobject import PY_BOX, PY_FORMAT, PY_JOIN
from ..types.kinds import Int, NoneType, NpInt, Str

__all__ = ["run"]


def run(fn: Function, options: Any = None) -> None:
    throws = [b for b in fn.blocks if b.insts[-1].op is EXC_THROW and len(b.insts[-1].args) == 1]
    if not throws:
        return
    uses = Counter(a for b in fn.blocks for i in b.insts for a in i.uses())
    gone: set[Inst] = set()
    for block in throws:
        throw = block.insts[-1]
        new = throw.args[0].inst
        if new is None or new.op is not EXC_NEW or not _takes_one_text(new.attrs["cls"]) or len(new.args) != 1 \
                or "names" in new.attrs:
            continue
        parts: list[str | Value] = []
        used: list[Inst] = [new]
        if not _message(new.args[0], parts, used) or any(uses[i.result] != 1 for i in used):
            continue
        operands = [p for p in parts if not isinstance(p, str)]
        message = "".join(("%s" if not isinstance(p, str) else p.replace("%", "%%") if operands else p) for p in parts)
        throw.op, throw.args, throw.attrs = THROW, operands, {**throw.attrs, "cls": new.attrs["cls"],
                                                              "message": message}
        gone.update(used)
    if gone:
        for block in fn.blocks:
            block.insts = [i for i in block.insts if i not in gone]


def _takes_one_text(cls: type) -> bool:
    """Whether a class is a builtin exception whose instances are made of one text (those of UnicodeError are not), or
    the one of NumPy's linear algebra."""
    return (getattr(builtins, cls.__name__, None) is cls and not issubclass(cls, UnicodeError)
            or cls is np.linalg.LinAlgError)


def _message(value: Value, parts: list, used: list) -> bool:
    """Append the constants and operands that make the text `value`; used: the instructions that become unnecessary."""
    inst = value.inst
    if inst is None:
        return False
    if inst.op is CONST:  # it may have other uses, and is not added to `used`
        text = inst.attrs["value"]
        parts.append(text)
        return value.type is Str and text.isascii() and "\0" not in text
    if inst.op is PY_JOIN:
        used.append(inst)
        return all(_message(a, parts, used) for a in inst.args)
    if inst.op is PY_FORMAT:
        box = inst.args[0].inst
        if (inst.attrs["conversion"] not in ("", "s") or inst.args[1].type is not NoneType or box is None
            or box.op is not PY_BOX):
            return False
        shown = box.args[0].type
        if shown is Int or isinstance(shown, NpInt):
            used += (inst, box)
            parts.append(box.args[0])
            return True
    return False
