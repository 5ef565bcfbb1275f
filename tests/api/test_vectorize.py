"""Ufuncs made of functions of numbers, against the same functions in loops and NumPy's own ufuncs."""
import gc
import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import TypingError, cfunc, float64, int32, njit, numba, vectorize
from pyjitc.base.options import Options
from pyjitc.codegen import link
from pyjitc.codegen.partition import FEW_PASSES, LINE
from pyjitc.pipeline import portable, stages
from pyjitc.runtime import ufuncs
from tests.oracle import same

CODES = "?bBhHiIlLefdFD"


def plus(x, y):
    return x + y


def gap(x, y):
    """The distance of two numbers."""
    if x > y:
        return x - y
    return y - x


def scaled(x):
    return x * 2


def rooted(x):
    return np.sqrt(x) + 1


add = vectorize(plus)
gaps = vectorize(gap)


def values(code, n=7):
    if code == "?":
        return np.arange(n) % 2 == 0
    return (np.arange(n) + (0.5 if code in "efdFD" else 0)).astype(code)


def looped(function, *arrays):
    """The results of the elements, computed one by one, as an array."""
    spread = np.broadcast_arrays(*arrays)
    found = [function(*(a[i] for a in spread)) for i in np.ndindex(spread[0].shape)]
    return np.array(found).reshape(spread[0].shape)


@pytest.mark.parametrize("code", CODES)
def test_a_loop_for_each_dtype(code):
    a = values(code)
    made = vectorize(plus)
    assert same(made(a, a), np.add(a, a))
    assert same(made(a, a)[()], np.add(a, a)[()])
    assert made.types == [np.dtype(code).char * 2 + "->" + np.add(a, a).dtype.char]
    assert same(made(a[3], a[4]), np.add(a[3], a[4]))


@pytest.mark.parametrize("x, y", [(x, y) for x in "bHidF" for y in "?Ilfe"])
def test_mixed_dtypes(x, y):
    a, b = values(x), values(y)
    with np.errstate(all="ignore"):
        assert same(add(a, b), np.add(a, b))


@pytest.mark.parametrize("code", "bBhiIlefdFD")
@pytest.mark.parametrize("number", [2, 2.5, 1j])
def test_numbers_of_python_are_weak(code, number):
    """They are weak only beside numbers of their kind: an int beside floats is an integer in the function."""
    a = values(code)
    as_operand = np.int64(number) if type(number) is int and a.dtype.kind in "fc" else number
    assert same(add(a, number), np.add(a, as_operand))
    assert same(add(number, a), np.add(as_operand, a))


@pytest.mark.parametrize("layout", ["C", "every second", "reversed", "transposed", "broadcast", "swapped", "unaligned"])
def test_layouts(layout):
    a, b = np.arange(24.0).reshape(4, 6), np.arange(24.0)[::-1].reshape(4, 6).copy()
    a, b = {"C": (a, b), "every second": (a[::2, ::3], b[1::2, ::3]), "reversed": (a[::-1], b[:, ::-1]),
            "transposed": (a.T, b.T), "broadcast": (a, b[:, :1]), "swapped": (a.astype(">f8"), b),
            "unaligned": (np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(np.float64).reshape(4, 6), b)}[layout]
    assert same(gaps(a, b), looped(gap, a.astype(float), b))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (2, 1, 3), (100_000,)])
def test_shapes(shape):
    a = np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)
    assert same(gaps(a, 2.0), np.abs(a - 2.0))


def test_out_where_and_casting():
    a = np.arange(6.0)
    out = np.full(6, -1.0)
    assert add(a, a, out=out, where=a > 2) is out
    assert same(out, np.add(a, a, out=np.full(6, -1.0), where=a > 2))
    short = np.zeros(6, np.float32)
    assert same(add(a, 1.0, out=short, casting="same_kind"), np.add(a, 1.0, out=np.zeros(6, np.float32)))
    with pytest.raises(TypeError, match="Cannot cast"):
        add(a, a, out=np.zeros(6, np.int64))
    assert same(add(np.arange(3), np.arange(3), dtype=np.float32), np.add(np.arange(3), np.arange(3), dtype=np.float32))
    assert same(add(a[:-1], a[:-1], out=a[1:]), np.add(*[np.arange(6.0)[:-1]] * 2))  # overlapping operands are copied


@pytest.mark.parametrize("code", "bilfdD")
def test_methods(code):
    a = values(code).reshape(7, 1) + values(code)[:4]
    made = vectorize([f"{t}({t}, {t})" for t in ("int8", "int32", "int64", "float32", "float64", "complex128")],
                     identity=0)(plus)
    for axis in (0, 1, (0, 1), None, ()):
        got, expected = made.reduce(a, axis=axis), np.add.reduce(a, axis=axis, dtype=a.dtype)
        assert np.allclose(got, expected) and np.asarray(got).dtype == a.dtype
    assert np.allclose(made.reduce(a, axis=1, keepdims=True), a.sum(1, keepdims=True))
    assert same(made.reduce(a[:0]), np.zeros(4, a.dtype))
    assert np.allclose(made.reduce(a, initial=3, where=a > 2), a.sum(0, initial=3, where=a > 2))
    assert np.allclose(made.accumulate(a, axis=1), np.add.accumulate(a, axis=1, dtype=a.dtype))
    assert same(made.outer(a[0], a[:, 0]), np.add.outer(a[0], a[:, 0]))
    assert np.allclose(made.reduceat(a[:, 0], [0, 3, 2]), np.add.reduceat(a[:, 0], [0, 3, 2], dtype=a.dtype))
    left, right = a[:, 0].copy(), a[:, 0].copy()
    made.at(left, [1, 1, 5], a[0, 1])
    np.add.at(right, [1, 1, 5], a[0, 1])
    assert same(left, right)


def test_reductions_without_signatures():
    a = np.arange(12.0).reshape(3, 4)
    assert same(add.reduce(a), a.sum(0))
    assert same(gaps.accumulate(a, axis=1), np.frompyfunc(gap, 2, 1).accumulate(a, axis=1).astype(float))
    with pytest.raises(ValueError, match="no identity"):
        add.reduce(a[:0])
    with pytest.raises(ValueError, match="not reorderable"):
        add.reduce(a, axis=(0, 1))
    assert same(vectorize(plus, identity="reorderable").reduce(a, axis=(0, 1)), a.sum())
    assert same(vectorize(plus, identity=5).reduce(a[:0]), np.full(4, 5.0))
    made = vectorize(plus)
    assert same(made.reduce(a, axis=1, dtype=np.float32), np.add.reduce(a, axis=1, dtype=np.float32))
    assert same(made.reduce(a.astype(int), dtype=np.int8), np.add.reduce(a.astype(int), dtype=np.int8))
    assert same(made.accumulate(a.astype(int), dtype=float), np.add.accumulate(a))
    assert same(made.reduceat(a.astype(int), [0, 1, 0], dtype=float), np.add.reduceat(a, [0, 1, 0]))


def test_signatures_are_the_loops():
    made = vectorize(["int32(int32)", float64(float64)])(scaled)
    assert made.types == ["i->i", "d->d"] and made.ntypes == 2
    assert same(made(np.arange(3, dtype=np.int8)), np.arange(0, 6, 2, dtype=np.int32))
    assert same(made(np.arange(3)), np.arange(0, 6, 2.0))
    with pytest.raises(TypeError, match="did not contain a loop|not supported for the input types"):
        made(np.array([1j]))
    assert vectorize("float32(int64)")(scaled)(np.arange(3)).dtype == np.float32
    assert vectorize((float64, float64))(plus).types == ["dd->d"]
    assert vectorize([int32(int32, int32)])(plus).types == ["ii->i"]


def test_results_of_several_types():
    def mixed(x):
        return 0 if x < 0 else x / 2

    made = vectorize(mixed)
    a = np.array([-1.0, 3.0])
    assert same(made(a), np.array([0.0, 1.5]))
    assert same(vectorize(lambda x: x > 1)(a), np.array([False, True]))


def test_integers_wrap_and_divisions_by_zero_do_not_raise():
    assert same(add(np.int8([100]), np.int8([100])), np.int8([-56]))
    assert same(vectorize(lambda x: 1.0 / x)(np.array([0.0, 2.0])), np.array([np.inf, 0.5]))


TABLE = np.arange(10, 20)


def looked_up(i):
    if i == 3:
        return 0
    return TABLE[i] + TABLE[i - 1]


def test_captured_arrays_are_unboxed_once(capsys, monkeypatch):
    monkeypatch.setenv("PYJITC_DUMP", "llvm")
    made = vectorize(["int64(int64)"], cache=False)(looked_up)
    text = capsys.readouterr().err
    loop = text[text.index("define internal i32 @f0.looked_up("):]
    entry, _, rest = loop[:loop.index("\n}\n")].partition(" phi ")
    assert "declare preserve_mostcc i32 @pyj_signals()" in text  # loops that run without the lock share the poll, too
    assert entry.count("@pyjitc_ndarray_type") == 1 and "@pyjitc_ndarray_type" not in rest
    assert same(made(np.arange(5)), np.array([29, 21, 23, 0, 27]))
    with pytest.raises(IndexError) as raised:
        made(np.array([1, 12]))
    assert [entry.name for entry in raised.traceback][1:] == ["looked_up"]


def test_exceptions():
    @vectorize
    def checked(x):
        if x < 0:
            raise ValueError("a negative number", 3)
        return x

    with pytest.raises(ValueError) as raised:
        checked(np.array([1.0, -1.0]))
    assert raised.value.args == ("a negative number", 3)
    assert raised.traceback[-1].name == "checked"
    with pytest.raises(ValueError):
        checked(np.full(100_000, -1.0))  # a loop without the interpreter lock
    assert checked(2.0) == 2.0


def test_what_works_on_objects_holds_the_interpreter_lock(capsys):
    @vectorize
    def shown(x):
        print("element", x)
        return x

    shown(np.arange(2.0))
    assert capsys.readouterr().out == "element 0.0\nelement 1.0\n"
    assert shown(np.ones(5000)).sum() == 5000


def test_attributes():
    assert isinstance(gaps, np.ufunc) and (gaps.nin, gaps.nout, gaps.nargs, gaps.identity) == (2, 1, 3, None)
    assert gaps.__name__ == "gap" and "The distance of two numbers." in gaps.__doc__
    if hasattr(gaps, "__dict__"):
        assert gaps.py_func is gap and gaps.__module__ == __name__
        made = vectorize(["float64(float64)"])(scaled)
        made.add("int64(int64)")
        assert made.types == ["d->d", "l->l"]


def test_it_overrides_as_a_ufunc_does():
    class Mine(np.lib.mixins.NDArrayOperatorsMixin):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return ufunc, method, len(inputs)

    assert add(Mine(), 1) == (add, "__call__", 2)
    assert add.reduce(Mine()) == (add, "reduce", 1)


class Sub(np.ndarray):
    pass


def test_subclasses_of_arrays():
    a = np.arange(3.0).view(Sub)
    assert type(add(a, a)) is Sub
    assert np.ma.isMaskedArray(scaled_(np.ma.array([1.0, 2.0], mask=[0, 1])))


scaled_ = vectorize(scaled)
nothing_ = vectorize(lambda x: None)


@pytest.mark.parametrize("made, error, text", [
    (lambda: vectorize(3), TypeError, "is not a signature"),
    (lambda: vectorize(["float64(float64)"])(plus), TypeError, "has 1 arguments, plus() takes 2"),
    (lambda: vectorize(["float64(float64[:])"])(scaled), TypeError, "the operands of a ufunc are numbers"),
    (lambda: vectorize([(numba.types.NPTimedelta("s"),)])(scaled), TypeError, "the operands of a ufunc are numbers"),
    (lambda: vectorize(lambda x: np.datetime64("2020-01-01", "D") + np.timedelta64(int(x), "D"))(1), TypeError,
     "returns a number"),
    (lambda: njit(lambda x: nothing_(x))(np.arange(3)), TypingError, "nothing; the function of a ufunc returns"),
    (lambda: vectorize(lambda *xs: xs), TypeError, "positional"),
    (lambda: vectorize(lambda: 1), TypeError, "takes no operand"),
    (lambda: vectorize(plus, identity="x"), ValueError, "identity='x'"),
    (lambda: vectorize(target="gpu"), ValueError, "target='gpu'"),
    (lambda: vectorize(target="cuda"), ValueError, "for GPUs pyjitc.cuda has vectorize"),
    (lambda: vectorize(lambda x: (x, x))(1.0), TypeError, "returns a number"),
    (lambda: vectorize(lambda x: None)(1.0), TypeError, "returns a number"),
    (lambda: scaled_(np.array(["a"])), TypeError, "not compiled for arrays of texts"),
    (lambda: scaled_(np.array([object()])), TypeError, "not compiled for arrays of Python objects"),
    (lambda: scaled_(np.array([1], "M8[s]")), TypeError, "not compiled for arrays of dates"),
    (lambda: scaled_(1.0, 2.0, 3.0), TypeError, "takes from 1 to 2 positional arguments"),
    (lambda: vectorize(lambda x: x.nothing)(1.0), TypingError, "nothing")])
def test_mistakes(made, error, text):
    with pytest.raises(error) as raised:
        made()
    assert text in str(raised.value)


# -- in compiled code


@pytest.mark.parametrize("function", [plus, lambda x, y: x < y, lambda x, y: x if x > y else y,
                                      lambda x, y: (x - y) / np.timedelta64(1, "h")],
                         ids=["sum", "comparison", "choice", "number"])
def test_elements_are_dates_and_durations_in_compiled_code(function):
    ufunc, dates = vectorize(function), np.array(["2020-01-01", "2020-02-01", "NaT"], "M8[D]")
    for x, y in ((np.arange(3).astype("m8[D]"), np.array([9, 1, 5], "m8[s]")), (dates, dates[::-1])):
        if function is plus and x is dates:
            y = np.arange(3).astype("m8[D]")
        found, wanted = njit(lambda x, y: ufunc(x, y))(x, y), [function(*one) for one in zip(x, y)]
        np.testing.assert_array_equal(found, np.array(wanted))
        assert found.dtype == np.array(wanted).dtype


def expressions(a, b):
    return gaps(a, b), gaps(a, 2) * 3 + add(b, b), gaps(1.5, 2), add(1, 2), gaps(a, b).sum()


def methods(a, b):
    out = np.zeros_like(a)
    add(a, b, out=out)
    gaps(a, 1, out, where=a > b)
    return out, add.outer(a, b), add.reduce(a), gaps.accumulate(b), gaps.reduce(b)


@vectorize
def four(a, b, c, d):
    return a * b + c * d


@vectorize(["float64(float64, float64)"])
def as_doubles(x, y):
    return x + y


@pytest.mark.parametrize("code", "bilfd")
@pytest.mark.parametrize("function", [expressions, methods, lambda a, b: four(a, b, 2, a[::-1]),
                                      lambda a, b: (as_doubles(a, b), as_doubles(1, 2))])
def test_calls_in_compiled_code(function, code):
    a, b = values(code), values(code)[::-1].copy()
    assert same(njit(function)(a, b), function(a, b))


def test_it_fuses_in_compiled_code():
    @njit
    def both(a, b):
        return gaps(a, b) * 2.0 + add(a, b)

    a = np.ones(10)
    assert same(both(a, a), np.full(10, 2.0))
    text = stages.inspect(both.py_func, both.signatures[0], Options(), "opt")
    assert text.count("array_new ") == 1 and "invoke" not in text


def test_a_changed_ufunc_is_seen():
    space = {"made": vectorize(lambda x: x + 1)}
    exec("def use(a): return made(a)", space)
    use = njit(space["use"])
    a = np.arange(3.0)
    assert same(use(a), a + 1)
    space["made"] = vectorize(lambda x: x * 5)
    assert same(use(a), a * 5)


# -- lifetimes


def test_pickles():
    assert pickle.loads(pickle.dumps(four)) is four
    if hasattr(four, "__dict__"):  # NumPy 2.2
        cloudpickle = pytest.importorskip("cloudpickle")
        assert cloudpickle.loads(cloudpickle.dumps(four)) is four
    for one in (vectorize(lambda x: x + 1), scaled_):
        assert same(pickle.loads(pickle.dumps(one))(np.arange(3.0)), one(np.arange(3.0)))
    assert pickle.loads(pickle.dumps(np.add)) is np.add


def test_dask_and_xarray_take_it():
    da = pytest.importorskip("dask.array")
    a = np.arange(10.0)
    assert same(gaps(da.from_array(a, chunks=3), 4.0).compute(), gaps(a, 4.0))


def test_a_ufunc_is_freed():

    before = len(ufuncs._records)
    for n in range(50):
        made = vectorize(lambda x: x + 1)
        made(np.arange(3.0))
    del made
    gc.collect()
    assert len(ufuncs._records) <= before + 1


def test_it_is_loaded_when_it_is_used():
    code = ("import sys, pyjitc; from pyjitc import njit; assert not any('vectorize' in m or 'ufuncs' in m for m in "
            "sys.modules); pyjitc.vectorize")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_code_is_kept_on_disk(tmp_path):
    (tmp_path / "program.py").write_text(
        "import numpy as np, sys\nfrom pyjitc import vectorize\n"
        "@vectorize(['float64(float64)'])\ndef f(x): return x * 2\n"
        "@vectorize\ndef g(x): return x + 1\n"
        "print(f(2.0), g(np.arange(2.0)), 'pyjitc.codegen.emitter' in sys.modules)\n")
    runs = [subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True, capture_output=True, text=True,
                           env={**os.environ, "PYJITC_CACHE_DIR": str(tmp_path / "cache"), "PYJITC_CACHE": "1"}).stdout
            for _ in range(2)]
    assert runs == ["4.0 [1. 2.] True\n", "4.0 [1. 2.] False\n"]


def test_what_is_wrong_with_the_call_is_an_error():
    """The loop that calls the function is not the user's, but its errors are ordinary errors."""
    def made(x):
        return x

    made.__module__ = "numpy.made"  # whose functions are not compiled
    with pytest.raises(TypingError, match="not compiled"):
        vectorize(["float64(float64)"])(made)


def test_globals_of_loops_are_those_of_their_compile():
    space = {}
    exec("scale = 2.0\ndef scaled(x): return x * scale", space)
    made = vectorize(["float64(float64)"])(space["scaled"])
    space["scale"] = 5.0
    assert made(1.0) == 2.0
    assert vectorize(["float64(float64)"])(space["scaled"])(1.0) == 5.0


def test_no_loop_is_kept_where_the_environment_says_so(monkeypatch):
    for switch in ("", "0", "1"):
        monkeypatch.setenv("PYJITC_CACHE", switch)
        made = vectorize(lambda x: x + 1)
        assert portable.made_ufunc(made).options.cache is (switch != "0")
        assert cfunc("float64(float64)")(lambda x: x + 2).ctypes(1.0) == 3.0


@pytest.mark.parametrize("function", [
    lambda x, y: x * 2 + y, lambda x, y: math.gamma(x + 1) + math.erf(y), lambda x, y: np.sin(x) * np.arctan2(x, y),
    lambda x, y: np.exp(x) / y if x > y else np.log1p(y)], ids=["sum", "gamma", "sine", "branch"])
def test_the_loop_over_elements_apart_has_the_results_of_that_over_contiguous_ones(function):
    made = vectorize(function)
    a, b = np.random.default_rng(0).uniform(0.1, 3, (2, 2000))
    wanted = made(a, b)[::2]
    out = np.zeros(3000)[::3]
    made(a[::2], b[::2], out)
    for found in (made(a[::2], b[::2]), out, made(a[::-1], b[::-1])[::-1][::2]):
        np.testing.assert_allclose(found, wanted, rtol=1e-15)
    np.testing.assert_allclose(made(a, 0.5), made(a, np.full(2000, 0.5)), rtol=1e-15)


def test_the_loop_over_elements_apart_is_compiled_with_a_few_passes(monkeypatch):
    texts = []
    compiled = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *rest: texts.append(text) or compiled(text, *rest))
    assert vectorize(cache=False)(lambda x: x * 2 + 1 if x > 1 else x)(np.arange(3.0)).tolist() == [0, 1, 5]
    assert "strided(" in texts[-1].partition(LINE)[2] and texts[-1].count("fmul") == 2


def test_a_loop_in_vectors_serves_elements_apart_as_well(monkeypatch):
    texts = []
    compiled = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *rest: texts.append(text) or compiled(text, *rest))
    made = vectorize(cache=False)(lambda x: x * 2 + 1)
    assert made(np.arange(3.0)).tolist() == [1, 3, 5] and made(np.arange(6.0)[::2]).tolist() == [1, 5, 9]
    assert texts[-1].endswith(FEW_PASSES) and "strided(" not in texts[-1]


def test_scans_into_arrays_of_another_dtype_with_the_dtype_of_the_loop():
    ufunc, a = vectorize(plus), np.arange(5)
    out, parts = np.zeros(5), np.zeros(2)
    assert ufunc.accumulate(a, dtype=float, out=out) is out and out.tolist() == [0, 1, 3, 6, 10]
    assert ufunc.reduceat(a, [0, 3], dtype=float, out=parts) is parts and parts.tolist() == [3, 7]
    assert ufunc.reduce(a, out=np.array(0.0)) == 10
