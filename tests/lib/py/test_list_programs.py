"""Generated functions of lists do in compiled code what they do in the interpreter."""
import pytest

from pyjitc import CompileError, njit

from ...oracle import difference, outcome
from .list_programs import ARGUMENTS, source


def check(seed):
    """'' or a text about a difference."""
    space = {}
    exec(compile(source(seed), f"<list program {seed}>", "exec"), space)
    f = space["f"]
    compiled = njit(cache=False)(f)
    for args in ARGUMENTS:
        expected, found = outcome(f, args), outcome(compiled, args)
        if found[0] == "raises" and isinstance(found[1], CompileError):
            if "in the compiler" in str(found[1]):
                return f"{found[1]}"
            continue  # a type error on some path, which the compiler raises before the program runs
        wrong = difference(expected, found)
        if wrong:
            return f"{args}: {wrong}"
    return ""


@pytest.mark.parametrize("seed", range(40))
def test_program(seed):
    assert check(seed) == "", source(seed)
