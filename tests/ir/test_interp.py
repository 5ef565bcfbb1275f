"""The IR interpreter against CPython: after inference, and after the passes."""
from types import SimpleNamespace

import numpy as np
import pytest
from tests.ir.functions import FUNCTIONS
from tests.ir.stages import optimised, typed
from tests.oracle import agree

from pyjitc.ir import interp
from pyjitc.ir.parse import parse
from pyjitc.ops.table import OPS


def grows(args):
    return type(args[0]) is int and (args[0] >= 2 ** 62 or args == (25,))


@pytest.mark.parametrize("stage", [typed, optimised])
@pytest.mark.parametrize("function, calls", FUNCTIONS, ids=[function.__name__ for function, _ in FUNCTIONS])
def test_same_as_the_interpreter(function, calls, stage):
    for args in calls:
        made = stage(function, args)

        def run(*args):
            return interp.run(made.functions, [x for x, passed in zip(args, made.passed) if passed])

        if grows(args):
            with pytest.raises(OverflowError, match="integer overflow"):
                run(*args)
        else:
            agree(function, *args, compiled=run)


LOOP = """
fn f(n: int) -> int:
  entry(n: int):
    zero = const 0 : int
    one = const 1 : int
    jump head(zero, zero)
  head(i: int, s: int):
    go = ilt i, n : bool
    branch go -> body(), done()
  body():
    s.1 = iadd_ck s, i : int
    i.1 = iadd i, one : int
    jump head(i.1, s.1)
  done():
    return s
"""


def test_written_program():
    assert interp.run([parse(LOOP, OPS)], [5]) == 10


def test_steps_are_limited():
    with pytest.raises(interp.StepLimit):
        interp.run([parse(LOOP, OPS)], [10 ** 9], limit=1000)


def test_block_parameters_change_at_once():
    text = """
fn f(a: int, b: int, n: int) -> (int, int):
  entry(a: int, b: int, n: int):
    jump head(a, b, n)
  head(x: int, y: int, k: int):
    zero = const 0 : int
    one = const 1 : int
    go = igt k, zero : bool
    k.1 = isub k, one : int
    branch go -> head(y, x, k.1), done()
  done():
    t = tuple_make x, y {cls: None} : (int, int)
    return t
"""
    assert interp.run([parse(text, OPS)], [1, 2, 3]) == (2, 1)


def test_unions_keep_their_tag():
    text = """
fn f(x: int) -> float | int:
  entry(x: int):
    u = union_make x {type: float | int} : float | int
    is = union_is u {type: float} : bool
    branch is -> yes(), no()
  yes():
    g = union_get u {type: float} : float
    w = union_make g {type: float | int} : float | int
    return w
  no():
    return u
"""
    result = interp.run([parse(text, OPS)], [7])
    assert result == 7 and type(result) is int


def test_an_element_outside_of_the_memory_of_an_array_is_an_error():
    inst, whole = SimpleNamespace(attrs={}), np.arange(12).reshape(3, 4)
    for a, indices, value in ((whole, (0, 9), 9), (whole[1:], (-1, 2), 2), (whole[2, 3:], (-2,), 9),
                              (whole.T, (7, 0), 7)):
        found, at = interp._element(inst, a, indices)
        assert found[at] == value
    for a, indices in ((whole, (2, 4)), (whole, (-9, 0)), (np.frombuffer(b"abc", np.uint8), (3,))):
        with pytest.raises(IndexError, match="outside of its memory"):
            interp._element(inst, a, indices)
