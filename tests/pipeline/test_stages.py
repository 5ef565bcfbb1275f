"""The stages of the compiler as functions: their arguments and results, and front ends other than bytecode."""
import numpy as np
import pytest

from pyjitc import njit
from pyjitc.base.errors import CompileError
from pyjitc.base.options import Options
from pyjitc.codegen import link
from pyjitc.codegen.compile import module_text
from pyjitc.codegen.declarations import declared
from pyjitc.cuda.blockcode import LIBRARY as IN_BLOCKS
from pyjitc.front.functions import carrier
from pyjitc.ir.parse import parse
from pyjitc.lib.cuda.names import threadIdx
from pyjitc.ops.table import GENERIC
from pyjitc.pipeline import stages
from pyjitc.types.kinds import Array, Float, Int, NoneType, float64
from pyjitc.types.typeof import typeof

FACTOR = 3


def scaled(x):
    return x * FACTOR


def first_thread(a):
    a[threadIdx.x] = 1.0


def endless(n):
    raise ValueError(n)


def same(x):
    return x


def test_inference_gives_the_result_and_what_it_depends_on():
    typed = stages.infer(scaled, (Float,), Options())
    assert typed.result is Float and typed.functions[0] is typed.spec.typed
    assert (globals(), "FACTOR", FACTOR) in [tuple(guard[:3]) for guard in typed.guards]
    assert stages.infer(endless, (Int,), Options()).result is None


def test_what_has_no_meaning_says_what_that_depends_on():
    with pytest.raises(CompileError) as caught:
        stages.infer(scaled, (NoneType,), Options())
    assert [guard.key for guard in caught.value.guards if guard.container is globals()] == ["FACTOR"]


def test_the_library_is_an_argument():
    types = (Array(float64, 1, "C", True, True),)
    assert stages.infer(first_thread, types, Options(), IN_BLOCKS).result is NoneType
    with pytest.raises(CompileError, match="kernels"):
        stages.compile_signature(first_thread, types, Options())


def test_stages_one_by_one_are_the_whole():
    options = Options()
    typed = stages.infer(scaled, (Float,), options)
    stubs = []
    text, objects, guards, *_ = module_text(stages.optimise(typed.functions, options), stages.calling(scaled, typed),
                                            link.host_target(), options, stubs=stubs)
    whole = stages.compile_signature(scaled, (Float,), options)
    assert tuple(link.to_object(declared(one), link.host_target()) for one in (text, *stubs)) == whole.object
    assert tuple(objects) == tuple(whole.objects) and guards == tuple(guard.symbol for guard in whole.guards)


def test_a_front_end_that_makes_generic_ir_has_the_rest():
    fn = parse("""fn f(a, b):
  entry(a, b):
    x = binary a, b {op: '*'}
    y = binary x, a {op: '+'}
    return y
""", GENERIC)
    compiled = njit(carrier(fn, ["a", "b"], same))
    a, b = np.arange(4.0), np.arange(4.0)[::-1].copy()
    np.testing.assert_array_equal(compiled(a, b), a * b + a)
    assert compiled(2, b=3) == 8 and type(compiled(2, 3)) is int
    assert compiled.__name__ == "same" and stages.generic(compiled.py_func) is fn
    assert stages.infer(compiled.py_func, (typeof(a), Int), Options()).result.dtype is float64


def test_kernels_are_dumped_as_functions_are(monkeypatch, capfd):
    monkeypatch.setenv("PYJITC_DUMP", "typed,grid")
    typed = stages.infer(first_thread, (Array(float64, 1, "C", True, True),), Options(), IN_BLOCKS)
    stages.optimise_block(typed.functions, Options())
    shown = capfd.readouterr().err
    assert "# typed: first_thread" in shown and "# grid: first_thread" in shown


@pytest.mark.parametrize("value, expected", [("1", "all"), ("last", "last"), ("off", "none")])
def test_verification(monkeypatch, value, expected):
    seen = []
    monkeypatch.setenv("PYJITC_VERIFY", value.replace("off", "0"))
    monkeypatch.setattr(stages.verify, "verify_module", lambda functions, stage="": seen.append(stage))
    add = len(value)  # equal functions are compiled once
    function = eval(f"lambda n: [k * n + {add} for k in range(n)]")
    assert njit(function)(3) == [add, 3 + add, 6 + add]
    passes = {"inline", "simplify", "gvn", "dce", "refcount"}
    assert passes & set(seen) == {"all": passes, "last": {"refcount"}, "none": set()}[expected]
    assert ("inference" in seen) is (expected != "none")
