"""Changes between two calls take effect in the second: functions that get other code or other defaults, as from
IPython's autoreload, and values on which a failed compile depended."""
import collections
import math
import os
import random
import subprocess
import sys
import time
import types
from unittest import mock

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import same


class Thing:
    @staticmethod
    def static(x):
        return x + 1

    @classmethod
    def of_class(cls, x):
        return x + 1


def helper(x, k=1, *, m=0):
    return x + k + m


@pytest.fixture
def parts():
    """Restores what the tests change."""
    functions = helper, Thing.static, Thing.of_class.__func__
    before = [(f.__code__, f.__defaults__, f.__kwdefaults__) for f in functions]
    yield
    for f, (f.__code__, f.__defaults__, f.__kwdefaults__) in zip(functions, before):
        pass


def calls(x):
    return helper(x)


def test_called_function(parts):
    compiled = njit(calls)

    def agrees():
        assert compiled(1) == calls(1)
        return compiled(1)

    assert agrees() == 2
    helper.__code__ = (lambda x, k=1, *, m=0: x + 10 * k + m).__code__
    assert agrees() == 11
    helper.__defaults__ = (2,)
    assert agrees() == 21
    helper.__kwdefaults__ = {"m": 5}
    assert agrees() == 26
    helper.__kwdefaults__["m"] = 6
    assert agrees() == 27
    helper.__defaults__ = None
    for f in compiled, calls:
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'k'"):
            f(1)


def test_unchanged_code_compiles_once(parts):
    compiled = njit(calls)
    assert compiled(1) == 2
    before = compiled.stats["compiled"]
    helper.__code__ = helper.__code__.replace()
    assert compiled(1) == 2 and compiled.stats["compiled"] == before


def test_methods_of_classes(parts):
    @njit
    def f(x):
        return Thing.static(x) * 100 + Thing.of_class(x)

    assert f(1) == 202
    Thing.static.__code__ = (lambda x: x + 2).__code__
    assert f(1) == 302
    Thing.of_class.__func__.__code__ = (lambda cls, x: x + 3).__code__
    assert f(1) == 304


def test_function_that_is_an_argument():
    def add(x):
        return x + 1

    apply = njit(lambda f, x: f(x))
    assert apply(add, 1) == 2
    add.__code__ = (lambda x: x + 50).__code__
    assert apply(add, 1) == 51 and apply(lambda x: x + 1, 1) == 2


@pytest.mark.parametrize("through", ["dispatcher", "function"])
def test_compiled_function_itself(through):
    @njit
    def f(x, k=1):
        return x + k

    @njit
    def caller(x):
        return f(x)

    changed = f if through == "dispatcher" else f.py_func
    assert f(1) == caller(1) == 2
    changed.__defaults__ = (10,)
    assert f(1) == caller(1) == 11
    changed.__code__ = (lambda x, k=1: x * k).__code__
    assert f(3) == caller(3) == 30 and f.signatures == [(f.signatures[0][0],) * 2]
    changed.__code__ = (lambda x, y, z: x + y + z).__code__
    changed.__defaults__ = (2, 3)
    assert f(1) == f(1, 2) == f(1, 2, 3) == caller(1) == 6
    changed.__code__ = (lambda *x, m: len(x) + m).__code__
    changed.__defaults__, changed.__kwdefaults__ = None, {"m": 7}
    assert f(0, 0) == 9 and f(0, m=1) == 2 and caller(0) == 8


def test_still_kept_on_disk(tmp_path):
    """Functions whose code and defaults are compared are still found in another process."""
    (tmp_path / "program.py").write_text("""
from pyjitc import njit
class Thing:
    @staticmethod
    def static(x): return x + 1
    @classmethod
    def of_class(cls, x, k=2, *, m=3): return x + k + m
def make(k):
    def inner(x): return x + k
    return inner
inner, pair = make(1), (make(2), make(3))
@njit
def callee(x, f=inner, *, k=4): return f(x) + k
@njit(cache=True)
def entry(x, f):
    return Thing.static(x) + Thing.of_class(x) + inner(x) + pair[0](x) + callee(x) + f(x)
print(entry(1, callee), entry.stats["compiled"], entry.stats["written"], entry.stats["disk"])
""")
    run = [subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, timeout=60,
                          check=True, env={"PATH": "", "PYTHONPATH": ":".join(sys.path),
                                           "PYJITC_CACHE_DIR": str(tmp_path / "kept")}).stdout for _ in range(2)]
    assert run == ["25 1 1 0\n", "25 0 0 1\n"]


def test_arrays_and_generators_of_a_changed_function():
    def step(a):
        for x in a:
            yield x

    @njit
    def total(a):
        s = 0.0
        for x in step(a):
            s += x
        return s

    a = np.arange(4.0)
    assert total(a) == 6.0

    def other(a):
        for x in a:
            yield 2 * x

    step.__code__ = other.__code__
    assert total(a) == total.py_func(a) == 12.0


# Compiles that failed

module = types.ModuleType("module_of_a_program")
table: dict = {}


def test_module_attribute_that_failed():
    @njit
    def f(x):
        return module.value + x

    for _ in range(2):
        with pytest.raises(TypeError, match="no attribute 'value'"):
            f(1)
    module.value = None
    for _ in range(2):
        with pytest.raises(TypeError, match="NoneType"):
            f(1)
    before = f.stats["compiled"]
    module.value = 5
    assert f(1) == 6 and f.stats["compiled"] == before + 1
    del module.value


@pytest.mark.parametrize("module, name, other, function", [
    (time, "time", lambda: 5.0, lambda: time.time()),
    (random, "random", lambda: 0.25, lambda: random.random()),
    (math, "sin", lambda x: 9.0, lambda: math.sin(1.0)),
    (math, "pi", 3, lambda: math.pi),
    (np, "sum", lambda a: 7, lambda: np.sum(np.ones(2))),
    (np.random, "rand", lambda: 0.125, lambda: np.random.rand()),
    (os, "getpid", lambda: 7, lambda: os.getpid()),
    (time, "time", mock.Mock(return_value=4.0), lambda: time.time()),
])
def test_functions_of_libraries_that_tests_patch(module, name, other, function, monkeypatch):
    """Also where the function is compiled while something is patched: the code is not used afterwards."""
    before, during = njit(function), njit(lambda: function())
    unpatched = type(before())
    with monkeypatch.context() as patches:
        patches.setattr(module, name, other)
        assert same(before(), function()) and same(during(), function())
        assert type(other) is not mock.Mock or other.call_count == 4
    for f in before, during, function:
        assert type(f()) is unpatched and f() not in (4.0, 5.0, 7, 9.0, 0.25, 0.125, 3)


def test_code_that_reads_functions_of_libraries_is_kept_on_disk(tmp_path):
    """That made with a patched function too, but it is found by that function alone."""
    (tmp_path / "program.py").write_text("""if True:
        import random, sys
        import numpy as np
        from pyjitc import njit

        @njit(cache=True)
        def f(n):
            random.seed(1)
            np.random.seed(1)
            return [random.random(), random.gauss(0.0, 1.0), np.random.normal(), float(np.sin(n))]

        usual, expected = np.sin, f.py_func(2)
        if "patched" in sys.argv:
            np.sin = lambda x: 3.0
            assert f(2) == [*expected[:3], 3.0]
            np.sin = usual
        assert f(2) == expected
        print(f.stats["compiled"], f.stats["disk"])
    """)
    found = [subprocess.run([sys.executable, "program.py", *args], cwd=tmp_path, capture_output=True, text=True,
                            check=True, env={**os.environ, "PYJITC_CACHE_DIR": str(tmp_path / "cache")}).stdout.split()
             for args in ((), ("patched",), ("patched",), ())]
    assert found == [["1", "0"], ["1", "1"], ["0", "2"], ["0", "1"]]


def test_called_function_that_failed(parts):
    def wrong(x):
        return x.nothing

    @njit
    def f(x):
        return wrong(x)

    for _ in range(2):
        with pytest.raises(TypeError, match="no attribute 'nothing'"):
            f(1)
    wrong.__code__ = (lambda x: x + 1).__code__
    assert f(1) == 2


def test_result_that_could_not_leave():
    def factory(n):
        def more():
            nonlocal n
            n += 1
            return n

        more()
        return super(more)

    @njit
    def f():
        return factory(1)

    for _ in range(2):
        with pytest.raises(TypeError, match="super"):
            f()
    factory.__code__ = (lambda n: n).__code__
    assert f() == 1


@pytest.mark.parametrize("key", ["key", 1])
def test_key_that_was_not_there(key):
    f = njit((lambda: table["key"]) if key == "key" else (lambda: table[1]))
    for _ in range(2):
        with pytest.raises(KeyError):
            f()
    table[key] = 3
    assert f() == 3
    del table[key]
    with pytest.raises(KeyError):
        f()


def test_name_that_was_not_defined():
    f = njit(lambda: defined_later + 1)  # noqa: F821
    space = f.__globals__
    for _ in range(2):
        for _ in range(2):
            with pytest.raises(NameError, match="name 'defined_later' is not defined"):
                f()
        space["defined_later"] = 2
        assert f() == 3
        del space["defined_later"]


def test_variable_of_an_outer_function_that_was_not_set():
    @njit
    def f():
        return later() + 1

    with pytest.raises(NameError, match="free variable 'later'"):
        f()

    def later():
        return 2

    assert f() == 3


def test_global_that_was_too_large():
    f = njit(lambda: large + 1)  # noqa: F821
    space = f.__globals__
    space["large"] = 2**70
    with pytest.raises(TypeError, match="does not fit in 64 bits"):
        f()
    space["large"] = 3
    assert f() == 4
    del space["large"]


def test_default_that_was_not_there():
    def called(x, *, k):
        return x + k

    @njit
    def f(x):
        return called(x)

    for _ in range(2):
        with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'k'"):
            f(1)
    called.__kwdefaults__ = {"k": 2}
    assert f(1) == 3
    called.__kwdefaults__ = None
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'k'"):
        f(1)


def test_static_arguments_of_other_code():
    def f(x, n=2):
        return x * n

    def g(x, n=7, m=1):
        return x + n + m

    compiled = njit(f, static_argnames="n")
    assert compiled(3.0) == 6 and compiled(3.0, 5) == 15
    f.__code__, f.__defaults__ = g.__code__, g.__defaults__
    assert compiled(3.0) == 11 and compiled(3.0, 5) == 9 and compiled(3.0, 5, 2) == 10


def test_defaults_come_change_and_go():
    @njit
    def f(x, y):
        return x + y

    @njit
    def g(x, *, k):
        return x + k

    assert f(1, 2) == 3 and g(1, k=2) == 3  # it was compiled without defaults
    f.__defaults__, g.__kwdefaults__ = (10,), {"k": 5}
    assert f(1) == 11 and g(1) == 6
    f.__defaults__ = (20,)
    g.__kwdefaults__["k"] = 7
    assert f(1) == 21 and f(1, 2) == 3 and g(1) == 8
    f.__defaults__ = g.__kwdefaults__ = None
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        f(1)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'k'"):
        g(1)


def test_a_tuple_with_arrays_and_lists():
    """Its items are read at run time; another tuple of the same types is another value."""
    Pair = collections.namedtuple("Pair", "row more")
    table = (np.arange(4.0), [1.0], Pair(np.ones(2), (2, np.zeros(2))))

    def read(i):
        rows, numbers, pair = table
        table[0][i] = 7
        numbers.append(2.5)
        return rows[0] + table[1][-1] + pair.row[1] + table[2].more[1][0], len(table), table[2]

    def check(compiled, again):
        nonlocal table
        table = expected = again()
        answer = read(0)
        table = again()
        assert same((compiled(0), table), (answer, expected)) and table[0][0] == 7 and len(table[1]) == 2

    compiled = njit(read)
    for again in (lambda: (np.arange(4.0), [1.0], Pair(np.ones(2), (2, np.zeros(2)))),
                  lambda: (np.ones(3), [5.0], Pair(np.ones(2) * 3, (2, np.ones(2)))),
                  lambda: (np.ones(3), [5], Pair(np.ones(2, int), (2, np.ones(2))))):
        check(compiled, again)
    check(njit(read), again)
