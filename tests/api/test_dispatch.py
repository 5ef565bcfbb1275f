"""The dispatcher: specialisation, guards, binding, sharing, failures; with the fake compiler of fake_compiler.py."""
import contextlib
import copy
import ctypes
import functools
import gc
import inspect
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
import types
import warnings
import weakref


import numpy as np
import pytest

import pyjitc
from tests.api.fake_compiler import FakeCompiler
from pyjitc import float64, int64, jit, njit, trace
from pyjitc.ir import core as ir
from pyjitc.pipeline import specialisation
from pyjitc.pipeline.portable import Guard
from pyjitc.base import forks
from pyjitc.runtime.platform import ABIError
from pyjitc.types.kinds import Array, Float, Int

SCALE = 100


@njit
def module_level(x):
    return float(x)


def test_compiles_once_for_each_signature(fake):
    @njit(cache=False)
    def f(x, y):
        return 0.0

    assert f(1.5, 2.5) == 4.0 and f(1.0, 1.0) == 2.0
    assert f(1, 2) == 3.0 and f(5, 5) == 10.0 and f(1, 2.0) == 3.0 and f(1.5, 2.5) == 4.0
    assert [t for _, t in fake.compiles] == [(Float, Float), (Int, Int), (Int, Float)]
    assert f.signatures == [(Float, Float), (Int, Int), (Int, Float)]
    assert f.nopython_signatures[0] == "(float, float) -> float" and f.overloads[Int, Int] == "float"
    assert f.stats == {"compiled": 3, "memory": 0, "disk": 0, "missed": 0, "written": 0}


def test_wrong_calls_raise_as_the_interpreter_does(fake):
    def plain(a, b, /, c, d=1, *, e, g=2):
        return 0.0

    f = njit(plain)
    for args, kwargs in [((), {}), ((1, 2), {}), ((1, 2, 3), {}), ((1, 2, 3, 4, 5), {"e": 1}),
                         ((1, 2, 3), {"e": 1, "x": 2}), ((1,), {"b": 2, "c": 3, "e": 4}),
                         ((1, 2, 3), {"c": 3, "e": 1})]:
        with pytest.raises(TypeError) as expected:
            plain(*args, **kwargs)
        with pytest.raises(TypeError) as found:
            f(*args, **kwargs)
        assert str(found.value) == str(expected.value)
    assert not fake.compiles


def test_keywords_and_defaults(fake):
    @njit
    def f(x, y=10, *, z=100):
        return 0.0

    assert f(1) == 111.0 and f(1, 2) == 103.0 and f(1, z=3) == 14.0 and f(y=1, x=2, z=3) == 6.0
    assert len(fake.compiles) == 1
    f.py_func.__defaults__ = (20,)
    assert f(1) == 121.0

    @njit
    def g(x, y=10):
        return 0.0

    assert g(1) == 11.0 and g(1, 2) == 3.0 and g(y=1, x=2) == 3.0 and g(1, y=5) == 6.0


def test_refused_arguments(fake):
    @njit
    def f(first, second):
        return 0.0

    with pytest.raises(TypeError, match=r"f\(\) argument 'second' is an object"):
        f(1, object())
    with pytest.raises(OverflowError, match=r"f\(\) argument 'first' cannot be passed: the int"):
        f(2**70, 1)
    assert not fake.compiles


def test_global_guards(fake):
    global SCALE
    SCALE = 100

    def f(x):
        return x + SCALE

    f = njit(f)
    assert f(1.0) == 101.0
    SCALE = 200
    assert f(1.0) == 201.0 and len(fake.compiles) == 2
    SCALE = 100
    assert f(1.0) == 101.0 and len(fake.compiles) <= 3
    SCALE = int("1000") + int("12345")
    count = len(fake.compiles)
    assert f(1.0) == 13346.0
    assert len(fake.compiles) == count + 1
    SCALE = int("1000") + int("12345")  # an equal number, another object: no compile
    assert f(1.0) == 13346.0 and len(fake.compiles) == count + 1
    assert len(f.signatures) == 1
    SCALE = 100


def test_cells(fake):
    def make(k):
        def f(x):
            return x + k

        def change(value):
            nonlocal k
            k = value

        return njit(f), change

    f, change = make(1000)
    assert f(1.0) == 1001.0
    change(2000)
    assert f(1.0) == 2001.0 and len(fake.compiles) == 2
    g, change_g = make(2000)  # another closure, equal value: the same code
    assert g(1.0) == 2001.0 and len(fake.compiles) == 2
    change_g(3000)
    assert g(1.0) == 3001.0 and f(1.0) == 2001.0 and len(fake.compiles) == 3


def test_values_that_stubs_cannot_compare(fake, monkeypatch):
    """A guard without a data word for stubs: every call compares the value first."""
    plain = fake.compile_signature

    def compile_signature(function, types, options, form=None):
        made = plain(function, types, options)
        return made._replace(guards=tuple(g._replace(symbol=None) if g.key == "SCALE" else g for g in made.guards))

    def stub(types, guards, constant):
        return FakeCompiler.stub(fake, types, [g for g in guards if g.key != "SCALE"], constant)

    monkeypatch.setattr(fake, "compile_signature", compile_signature)
    monkeypatch.setattr(fake, "stub", stub)
    global SCALE
    f = njit(lambda x: x + SCALE)
    assert f(1.0) == 101.0 and f(1.0) == 101.0 and len(fake.compiles) == 1
    SCALE = 200
    assert f(1.0) == 201.0 and len(fake.compiles) == 2
    SCALE = 100


def test_lambda_in_a_loop_compiles_once(fake):
    keep = []
    for i in range(20):
        f = njit(lambda x: x)
        assert f(float(i)) == float(i)
        if i % 2:
            keep.append(f)
        del f
    assert len(fake.compiles) == 1


def test_variants_of_one_code_are_bounded(fake):
    def make(k):
        return njit(lambda x: x + k)

    for k in range(40):
        assert make(k)(1.0) == k + 1.0
    alive = [r() for known in specialisation._table.values() for refs in known.entries.values() for r in refs]
    assert len({id(entry) for entry in alive if entry is not None}) == 16
    assert make(39)(1.0) == 40.0 and len(fake.compiles) == 40


def test_functions_as_arguments(fake):
    @njit
    def apply(fn, x):
        return 0.0

    for k in (1, 2):
        for _ in range(5):
            assert apply(lambda y: y + k, 1.0) == 1.0 + k
    assert len(fake.compiles) == 2


def test_two_functions_with_other_globals_do_not_share(fake):
    made = []
    for value in (1.0, 2.0):
        space = {"K": value}
        exec("def f(x): return x + K", space)
        made.append(njit(space["f"]))
    assert [f(1.0) for f in made] == [2.0, 3.0] and len(fake.compiles) == 2


def test_no_python_frame_between_caller_and_native_code(fake):
    f = njit(lambda x: 0.0)
    seen = []

    class Tell:
        def __del__(self):
            seen.append([frame.name for frame in traceback.extract_stack()])

    f(1.0)
    assert type(f(1.0)) is float and not seen


@pytest.mark.parametrize("decorator", [njit, jit])
@pytest.mark.parametrize("function", [lambda given: given.nothing(3), lambda given: given[0].x])
def test_a_compile_keeps_no_arguments(decorator, function):
    """Nor do errors inside the compiler keep them, here for None, which is one of the list's items."""
    class Thing:
        def __init__(self):
            self.x = 1

    f = decorator(function)
    gc.disable()
    try:
        for _ in range(2):
            given = [Thing(), None]
            last = weakref.ref(given[0])
            with contextlib.suppress(TypeError, AttributeError):
                f(given)
            given = None
            assert last() is None
    finally:
        gc.enable()


def test_failures_are_remembered_until_a_global_changes(fake):
    global SCALE

    @njit
    def f(x):
        return SCALE

    fake.error = ValueError("cannot compile")
    fake.error.diagnostic = "where"
    fake.error.guards = (Guard(globals(), "SCALE", SCALE),)
    for _ in range(3):
        with pytest.raises(ValueError, match="cannot compile") as caught:
            f(1.0)
        assert [entry.name for entry in caught.traceback][1:] == []
    assert len(fake.compiles) == 1
    fake.error = KeyError("an internal error")
    for n in (2, 3):  # tried again each time, with all frames
        with pytest.raises(KeyError) as caught:
            f(1)
        assert caught.traceback[-1].name == "compile_signature" and len(fake.compiles) == n
    fake.error = None
    SCALE = 101
    assert f(1.0) == 102.0
    SCALE = 100


def test_stub_that_takes_nothing_falls_back_with_a_warning(fake):
    stub = fake.stub
    fake.stub = lambda types, guards, constant: stub((Int,), guards, constant)
    f = njit(lambda x: ("interpreted", x))
    with pytest.warns(RuntimeWarning, match="refused its own argument types"):
        assert f(1.5) == ("interpreted", 1.5)


def test_declared_signatures(fake):
    @njit("float64(float64, int64)")
    def f(x, n):
        return 0.0

    assert len(fake.compiles) == 1 and f.signatures == [(Float, Int)]
    assert f(1.0, 2) == 3.0 and f(1, 2) == 3.0 and f(np.float32(1), np.int8(2)) == 3.0 and f(True, True) == 2.0
    with pytest.raises(TypeError, match=r"f\(\) has no signature for \(float, float\); declared: float\(float, int\)"):
        f(1.0, 2.0)
    assert len(fake.compiles) == 1
    with pytest.raises(TypeError, match="takes 1"):
        njit("(int64, int64)")(lambda x: 0.0)
    with pytest.raises(TypeError, match="declares the result int"):
        njit("int64(int64)")(lambda x: 0.0)
    g = njit([float64(int64), "(float64[:],)"])(lambda x: 0.0)
    assert g(3) == 3.0 and g(np.array([4.0, 5.0])) == 4.0 and g(np.array([4.0, 5.0])[::-1]) == 5.0
    assert g.signatures == [(Int,), (Array(pyjitc.float64.type, 1, "A"),)]


def test_decorator_forms(fake):
    def f(x):
        "doc of f"
        return 0.0

    for d in (njit(f), njit()(f), njit(cache=False)(f), njit(None)(f), pyjitc.jit(f)):
        assert d(1.0) == 1.0 and d.py_func is f and d.__wrapped__ is f and d.__doc__ == "doc of f"
    d = njit(f)
    assert njit(d) is d and njit(d, fastmath=True) is not d and njit(fastmath=True)(d).options.fastmath
    assert d.__name__ == "f" and d.__module__ == __name__ and d.__qualname__.endswith("f") and d.__code__ is f.__code__
    assert d.__defaults__ is None and repr(d).startswith("<pyjitc function test_decorator_forms")
    for wrong in (3, len, int, print):
        with pytest.raises(TypeError):
            njit(wrong)
    with pytest.raises(TypeError, match="did you mean 'fastmath'"):
        njit(fast_math=True)

    async def coroutine():
        pass

    with pytest.raises(TypeError, match="asynchronous"):
        njit(coroutine)
    with pytest.raises(TypeError, match="not <property"):
        njit()(property(f))
    assert "fastmath" in pyjitc.compile_options()


def test_methods(fake):
    class K:
        @njit
        def m(self, x):
            return x

        @staticmethod
        @njit
        def s(x):
            return 0.0

        t = njit(staticmethod(lambda x: 0.0))

    assert type(K().m).__name__ == "method" and K.s(1.0) == K().s(1.0) == K.t(1.0) == K().t(1.0) == 1.0
    assert K().m.__func__ is vars(K)["m"]


def test_is_an_ordinary_function(fake):
    def f(x, y: int = 2):
        return 0.0

    f.note = "kept"
    d = njit(f)
    assert str(inspect.signature(d)) == "(x, y: int = 2)" and d.note == "kept"
    assert (copy.copy(d) is d and copy.deepcopy([d])[0] is d and weakref.ref(d)() is d and {d: 1}[d] == 1
            and d != njit(f))
    assert d.__call__(1.0, 1.0) == 2.0 and list(map(d, [1.0], [2.0])) == [3.0]
    assert inspect.getsource(d).strip().startswith("def f")
    assert d.inspect_llvm((Float, Float)).startswith("llvm of") and list(d.inspect_ir()) == d.signatures
    d.recompile()
    assert d(1.0, 1.0) == 2.0 and len(fake.compiles) == 2


def test_pickles(fake):
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    k = 5.0
    d = njit(fastmath=True)(lambda x, y=1.0: x + k + SCALE)
    e = pickle.loads(pickle.dumps(d))
    assert e is not d and e.options == d.options and e(1.0) == d(1.0) == 107.0 and len(fake.compiles) == 1

    def even(n):
        return k if n == 0.0 else odd(n - 1.0)

    def odd(n):
        return 0.0 if n == 0.0 else even(n - 1.0)

    even, odd = njit(even), njit(odd)  # their cells refer to each other
    e, o = pickle.loads(pickle.dumps((even, odd)))
    assert [c.cell_contents for c in e.__closure__] == [k, o] and o.__closure__[0].cell_contents is e
    # it can be compiled once its cells are filled
    d = pickle.loads(pickle.dumps(njit("(int64, float64)")(lambda x, y: x + y + k)))
    assert d.signatures == [] and d(1, 2) == 8.0 and d.signatures == [(Int, Float)]
    program = """
import pickle, sys, math
from pyjitc import njit
K = 3
@njit
def named(x): return x + K
d = njit(lambda x: math.floor(x) + K)
assert pickle.loads(pickle.dumps(named)) is named
sys.stdout.buffer.write(pickle.dumps(d))
"""
    data = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    assert pickle.loads(data).py_func(4.5) == 7


def test_threads_compile_a_signature_once(fake):
    f = njit(lambda x, y: 0.0)
    results = []
    barrier = threading.Barrier(6)

    def work():
        barrier.wait()
        results.extend(f(1.0, float(i)) == 1.0 + i and f(1, i) == 1.0 + i for i in range(300))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 1800 and all(results) and len(fake.compiles) == 2


def test_a_fork_waits_for_a_compile_and_the_child_can_compile(fake):
    f = njit(lambda x: 0.0)
    held, done = threading.Event(), []

    def hold():
        with forks.COMPILE:
            held.set()
            time.sleep(0.2)
            done.append(True)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a warning about forks with threads
        child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if done and f(1.0) == 1.0 else 1)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_replaced_code_is_freed_when_nobody_is_inside(fake):
    global SCALE

    @njit
    def f(x):
        return SCALE

    f(1.0)
    word = f._natives[Float,].active
    image = weakref.ref(f._natives[Float,].image)
    ctypes.c_int64.from_address(word).value = 1  # as if a call were running in the code
    SCALE = 7.5
    assert f(1.0) == 8.5 and image() is not None
    ctypes.c_int64.from_address(word).value = 0
    SCALE = 8.5
    assert f(1.0) == 9.5 and image() is None and not f._retired
    fake.active = False
    SCALE = 9.5
    f(1.0)
    SCALE = 10.5
    f(1.0)
    assert len(f._retired) == 1  # it cannot be known: kept as long as the function
    SCALE = 100


def test_memory_stays_flat(fake):
    def pages():
        gc.collect()
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1])

    def use(n):
        space = {}
        exec(f"def f(x): return x + {n}", space)
        njit(space["f"])(1.0)

    for n in range(100):
        use(n)
    before = pages()
    for n in range(300):
        use(n)
    assert pages() - before < 400 and not specialisation._table
    assert len(fake.compiles) == 400


def test_typed_code_is_freed_with_its_function():
    """Some types are identified by places in one function, such as the types of its lists. The table of these types is
    keyed by the places, which refer to the code object."""
    def instructions():
        gc.collect()
        return sum(type(o) is ir.Inst for o in gc.get_objects())

    def use(n):
        def lists(count):
            rows = [[n] * count for _ in range(count)]
            found = {k: [] for k in range(3)}
            found[1].append(rows)

            def last():
                return rows[-1]

            return len(found[1]), last()

        assert njit(lists)(3) == (1, [n] * 3)

    use(0)
    before = instructions()
    use(1)
    assert instructions() == before


def test_disabled(monkeypatch):
    monkeypatch.setenv("PYJITC_DISABLE", "1")

    def f(x):
        return x

    assert njit(f) is f and f.py_func is f and njit("float64(float64)")(f) is f


def test_disabled_functions_have_what_compiled_ones_have(monkeypatch, capsys):
    made = {"njit": lambda f: njit(f), "declared": njit("int64(int64)"), "trace": trace,
            "partial": lambda f: njit(functools.partial(f)), "static": njit(static_argnames="x")}
    names = {how: {n for n in dir(decorate(lambda x: x)) if not n.startswith("_")} for how, decorate in made.items()}
    monkeypatch.setenv("PYJITC_DISABLE", "1")
    for how, decorate in made.items():
        function = decorate(lambda x: [x])
        assert function(3) == [3] and names[how] <= {*dir(function)}, how
    f = njit(fastmath=True)(lambda x: x + 1)
    assert type(f) is types.FunctionType and f(1) == 2
    assert f.signatures == [] == f.nopython_signatures and f.overloads == {}
    assert set(f.stats.values()) == {0} and f.options.fastmath is True and f.py_func is f
    f.compile("int64(int64)")
    f.recompile()
    f.disable_compile()
    assert f(1.5) == 2.5 and f.signatures == [] and f.inspect_llvm() == {} and "ret" in f.inspect_llvm("int64(int64)")
    f.inspect_types(signature="(int64,)")
    assert "iadd" in capsys.readouterr().out
    with pytest.raises(TypeError, match="has 2 arguments"):
        f.compile("int64(int64, int64)")
    with pytest.raises(TypeError, match="has 2 arguments"):
        njit("int64(int64, int64)")(lambda x: x)
    assert njit(module_disabled) is pickle.loads(pickle.dumps(module_disabled)) is module_disabled
    assert pickle.loads(pickle.dumps(module_disabled.signatures)) == []
    traced = trace(lambda x: x * 2)
    assert traced(3) == 6 and traced.programs == [] and "binary" in str(traced.record(3))


def module_disabled(x):
    return x


def test_statistics_are_of_one_function(fake):
    def made(k):
        return njit(cache=False)(lambda x: x + k)

    f, g = made(2.5), njit(cache=False)(lambda x: x - 1.0)
    f(1.0), g(1.0), g(1)
    assert f.stats["compiled"] == 1 and g.stats["compiled"] == 2
    again = made(2.5)
    again(1.0)
    assert again.stats == {**f.stats, "compiled": 0, "memory": 1} and f.stats["memory"] == 0


def test_without_native_code():
    program = """
import os, sys, warnings, numpy
class Uname:
    machine = "arm64"
os.uname = lambda: Uname
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from pyjitc import njit
assert "64-bit x86 Linux" in str(caught[0].message)
class K:
    @njit
    def m(self, x=1): return x
assert K().m() == 1 and K.m(K(), 2) == 2
assert njit("int64(int64)")(lambda x: [x])(3) == [3]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_unexpected_layout_runs_in_the_interpreter(fake, monkeypatch):
    monkeypatch.setattr("pyjitc.runtime.platform._checked", [ABIError("layout")])
    monkeypatch.setattr("pyjitc.api.dispatch._warned", [])
    f = njit(lambda x: ("interpreted", x))
    with pytest.warns(RuntimeWarning, match="in the interpreter: layout"):
        assert f(1.0) == ("interpreted", 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(2.0) == ("interpreted", 2.0)


def test_import_is_light():
    program = ("import sys, numpy; import pyjitc; print([m for m in ('llvmlite', 'bytecode', 'pyjitc.pipeline.stages', "
               "'pyjitc.infer') if m in sys.modules])")
    assert (subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout.strip()
            == "[]")


def test_closures_that_come_and_go_do_not_stay(monkeypatch):
    from pyjitc.api import dispatch

    def adding(k):
        return lambda x: x + k

    def apply(function, x):
        return function(x)

    monkeypatch.setattr(dispatch, "_MOST_PASSING", 4)
    before = len(dispatch._functions)
    compiled, seen = njit(apply), []
    for k in range(12):
        closure = adding(k)
        seen.append(weakref.ref(closure))
        assert compiled(closure, 1) == 1 + k
        del closure
    gc.collect()
    assert len(compiled.signatures) == 4 and len(dispatch._functions) == before + 4
    assert [r() is not None for r in seen] == [False] * 8 + [True] * 4
    assert compiled(adding(0), 1) == 1 and compiled(adding(11), 1) == 12  # one is made again, one is still there
    del compiled
    gc.collect()
    assert len(dispatch._functions) == before


@pytest.mark.parametrize("function, args, kwargs", [
    (lambda *args: args[0] + args[1], (1, 2.5), {}),
    (lambda x, *rest: x - rest[0], (1.5, 2), {}),
    (lambda x, *, k=1: x * k, (3,), {"k": 2.5}),
    (lambda x, **options: x * options["k"], (3,), {"k": 4})])
def test_later_calls_of_functions_with_args_and_keywords_do_not_ask_for_types(monkeypatch, function, args, kwargs):
    compiled = njit(function)
    assert compiled(*args, **kwargs) == function(*args, **kwargs)
    with monkeypatch.context() as patch:
        patch.setattr(type(compiled), "_types", None)
        assert compiled(*args, **kwargs) == function(*args, **kwargs)
    with pytest.raises((TypeError, IndexError)) as wanted:
        function(**kwargs)
    with pytest.raises(type(wanted.value)) as found:
        compiled(**kwargs)
    assert str(found.value) == str(wanted.value)
    function.__code__ = (lambda *args, **kwargs: len(args) + 100).__code__
    assert compiled(*args, **kwargs) == len(args) + 100


def test_later_calls_with_records_do_not_ask_for_types(monkeypatch):
    rows = np.array([(1, 2.5), (3, 4.5)], dtype=[("x", int), ("y", float)])
    compiled = njit(lambda row, k: row["x"] * k + row["y"])
    assert compiled(rows[0], 2) == 4.5
    monkeypatch.setattr(type(compiled), "_types", None)
    assert compiled(rows[1], 3) == 13.5
