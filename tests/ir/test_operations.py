"""The table of operations is complete: each has a meaning in the IR interpreter, and its `eval` takes what it
declares."""
import inspect

import pytest

from pyjitc.ir import interp, interp_kernel
from pyjitc.ir.core import GENERIC
from pyjitc.ops.table import OPS

TYPED = [op for op in OPS.values() if not op.effects & GENERIC]


@pytest.mark.parametrize("op", TYPED, ids=lambda op: op.name)
def test_has_a_meaning(op):
    assert op.eval is not None or hasattr(interp_kernel._KernelMachine, "do_" + op.name)


@pytest.mark.parametrize("op", [op for op in TYPED if op.eval_attrs], ids=lambda op: op.name)
def test_eval_takes_the_attributes(op):
    taken = inspect.signature(op.eval).parameters.values()
    assert (any(p.kind is p.VAR_KEYWORD for p in taken)
            or op.attrs <= {p.name for p in taken if p.kind is p.KEYWORD_ONLY})


def test_the_interpreter_means_nothing_else():
    methods = {name[3:] for cls in (interp._Machine, interp_kernel._KernelMachine) for name in vars(cls)
               if name.startswith("do_")}
    assert methods <= OPS.keys()
