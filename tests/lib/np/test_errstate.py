"""np.errstate: the floating-point errors of NumPy's operations, and their handling."""
import itertools
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit
from pyjitc.base.errors import TypingError

UNDERFLOW = 4
FLOATS = (np.float64, np.float32, np.float16)


def met(f, *args):
    """(result or exception, errors that np.errstate's function got, the arguments afterwards)."""
    told = []
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with warnings.catch_warnings(), np.errstate(all="call", under="ignore", call=lambda text,
                                                flags: told.append((text, flags & ~UNDERFLOW))):
        warnings.simplefilter("ignore")  # np.mean has warnings of its own
        try:
            result = f(*args)
        except Exception as error:
            result = type(error), error.args
    return result, told, args


def same(f, *args, compiled=None):
    compiled = compiled or njit(errstate=True)(f)
    one, two = met(f, *args), met(compiled, *args)
    assert two[1] == one[1], (args, one[0])
    assert type(two[0]) is type(one[0])
    for x, y in zip((two[0], *two[2]), (one[0], *one[2])):  # last bits are for other tests
        if isinstance(y, tuple) and y and isinstance(y[0], type):
            assert x == y
        else:
            np.testing.assert_allclose(np.array(x, complex), np.array(y, complex), 4e-3
                                       if np.asarray(y).dtype == np.float16 else 1e-6)
    return compiled


def warned(f, *args):
    """(result or exception, texts of the warnings, the files that they name)."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = f(*args)
        except Exception as error:
            result = type(error), error.args
    return result, [(w.category, str(w.message)) for w in found], {w.filename for w in found}


def values(dtype):
    info = np.finfo(dtype)
    return np.array([0.0, -0.0, 1, -1, 0.5, 2, -3, 7.25, -0.75, info.max, -info.max, info.tiny, np.inf, -np.inf, np.nan,
                     1000], dtype)


def short(a):
    with np.errstate(over="ignore"):
        return a.astype(np.float32)


UNARY = ("sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh "
         "arccosh arctanh square "
         "reciprocal negative absolute fabs sign rint floor degrees radians signbit isnan frexp modf").split()
BINARY = ("add subtract multiply divide remainder fmod power float_power arctan2 hypot copysign maximum fmin "
          "heaviside equal less").split()


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_operand(name):
    function = getattr(np, name)
    compiled = njit(errstate=True)(lambda x: function(x))
    for dtype in FLOATS:
        for x in values(dtype):
            if name == "reciprocal" and 0 < abs(x) < 2 * np.finfo(dtype).tiny:
                continue
            same(compiled.py_func, np.full(9, x), compiled=compiled)
            same(compiled.py_func, x, compiled=compiled)
        same(compiled.py_func, values(dtype), compiled=compiled)
        same(compiled.py_func, values(dtype)[:0], compiled=compiled)
        if dtype is np.float64:
            same(compiled.py_func, values(dtype).reshape(4, 4).T[::-1], compiled=compiled)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_operands(name):
    function = getattr(np, name)
    compiled = njit(errstate=True)(lambda x, y: function(x, y))
    for dtype in FLOATS:
        for x, y in itertools.product(values(dtype), repeat=2):
            if name in ("power", "float_power") and (np.isinf(y) or y == 0.5 and np.isneginf(x)):
                # NumPy reports an overflow for exact infinities; the other difference is a row of docs/semantics.md
                continue
            same(compiled.py_func, np.full(3, x), np.full(3, y), compiled=compiled)
            if dtype is np.float64:
                same(compiled.py_func, x, y, compiled=compiled)


OPERATORS = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y, "divide": lambda x,
    y: x / y, "floor_divide": lambda x, y: x // y, "remainder": lambda x, y: x % y, "power": lambda x, y: x ** y,
    "divmod": lambda x, y: np.divmod(x, y), "fmod": lambda x, y: np.fmod(x, y),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint64, np.uint8])
def test_integers(name, dtype):
    info = np.iinfo(dtype)
    compiled = njit(errstate=True)(OPERATORS[name])
    for x, y in itertools.product(np.array([0, 1, 3, info.max, info.min, info.max // 2 + 1, info.max - 1], dtype),
                                  repeat=2):
        if name == "power" and y > 3:
            continue
        same(compiled.py_func, x, y, compiled=compiled)
        same(compiled.py_func, np.array([x, 5]), np.array([y, 7], dtype), compiled=compiled)
    if info.min:
        for x in np.array([info.min, 5], dtype):
            same(compiled.py_func, x, dtype(-1) if name != "power" else dtype(1), compiled=compiled)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_floats(name):
    compiled = njit(errstate=True)(OPERATORS[name])
    for dtype in FLOATS:
        for x, y in itertools.product(np.array([0, -0.0, 1, -2.5, np.finfo(dtype).max, np.inf, np.nan], dtype),
                                      repeat=2):
            if name in ("power", "fmod") and np.isinf(y):
                continue
            # NumPy computes both functions for either of them
            if dtype is not np.float16 or name not in ("floor_divide", "remainder"):
                same(compiled.py_func, x, y, compiled=compiled)
            same(compiled.py_func, np.array([x, 1]), np.array([y, 1]), compiled=compiled)
            same(compiled.py_func, np.array([x, 1]), float(y), compiled=compiled)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
def test_complex_numbers(name):
    compiled = njit(errstate=True)(OPERATORS[name])
    parts = [0.0, 1.0, -2.0, 1.5e308, np.inf, np.nan]
    numbers = [complex(a, b) for a in parts for b in parts]
    for x, y in itertools.product(numbers, repeat=2):
        if name == "multiply" and not (np.isfinite(x) and np.isfinite(y) and (x.real == 0 or x.imag == 0)):
            continue  # NumPy's fused multiply-add has other infinities, and does not report the underflow of a product
        same(compiled.py_func, np.array([x]), np.array([y]), compiled=compiled)


def test_signs_of_numbers():
    compiled = njit(errstate=True)(lambda x: -x)
    for x in (np.int8(-128), np.int8(5), np.int64(-2 ** 63), np.uint8(0), np.uint8(3), np.float32(3),
              np.array([-128], np.int8)):
        same(compiled.py_func, x, compiled=compiled)


@pytest.mark.parametrize("f", [
    lambda a, b: np.divide(a, b, out=a), lambda a, b: np.divide(a, b, a), lambda a,
    b: np.divide(a, b, where=b != 0, out=a), lambda a, b: np.divide(a, b, where=a != 0, out=np.zeros(a.shape)),
    lambda a, b: np.divide(a, b, dtype=np.float64), lambda a, b: np.divide(a[0], b), lambda a, b: a / 0, lambda a,
    b: 1 / b, lambda a, b: a ** -1, lambda a, b: a ** 2.0, lambda a, b: a ** 0.5, lambda a,
    b: a[:, ::-1] / b.T[:, :a.shape[1]], lambda a, b: np.log(a * b), lambda a, b: (a * b).sum(axis=0)[2:], lambda a,
    b: np.exp(a * 1000.0) + b, lambda a, b: np.divmod(a, b, out=(a, b)), lambda a, b: np.where(b == 0, 0, a / b),
    lambda a, b: np.divide(a, np.zeros(3)),
])
def test_forms_of_calls(f):
    compiled = njit(errstate=True)(f)
    a = np.array([[1.0, 0.0, -2.0], [np.nan, np.inf, 4.0], [0.0, -1.0, 1e300]])
    b = np.array([[2.0, 0.0, 0.0], [1.0, 0.0, -0.0], [1e300, np.nan, np.inf]])
    for x, y in ((a, b), (a, a + 1), (short(a), short(b)), (np.asfortranarray(a), b), (a[:0], b[:0])):
        same(f, x, y, compiled=compiled)


def test_in_place():
    def divided(a, b):
        a /= b
        return a

    def shifted(a, b):
        a[:, 0] -= b[0]
        a[1] *= a[0]
        return a

    compiled = [njit(errstate=True)(g) for g in (divided, shifted)]
    a = np.array([[1.0, 0.0, np.inf], [3.0, 1e308, 2.0], [0.0, 5.0, 6.0]])
    for x, y in ((a, np.zeros((3, 3))), (a, np.array([[np.inf], [1.0], [0.0]]).T), (a, a + 1), (a, np.zeros((2, 3))),
                 (a, np.zeros(2))):
        for one in compiled:
            same(one.py_func, x, y, compiled=one)


@pytest.mark.parametrize("f", [
    lambda a: a.sum(), lambda a: np.sum(a, axis=-1), lambda a: a.prod(), lambda a: np.prod(a, axis=0),
    lambda a: a.mean(), lambda a: np.cumsum(a), lambda a: a.cumprod(axis=0), lambda a: np.add.reduce(a, axis=-1),
    lambda a: np.multiply.accumulate(a), lambda a: a.sum(axis=0, keepdims=True),
])
def test_sums_and_products(f):
    compiled = njit(errstate=True)(f)
    for a in ([1.0, 2.0, 3.0], [1e308, 1e308, 1e308], [np.inf, -np.inf, 1.0], [np.inf, 1.0, 1.0], [np.nan, 1.0, 2.0],
              [0.0, 5.0, np.inf]):
        same(f, np.array(a), compiled=compiled)
        same(f, np.array([a, [1.0, 2.0, 3.0]]), compiled=compiled)


@pytest.mark.parametrize("f", [lambda a, b: a @ b, lambda a, b: np.dot(a, b), lambda a, b: np.matmul(a, b), lambda a,
                               b: a.dot(b)])
def test_products_of_matrices(f):
    compiled = njit(errstate=True)(f)
    for a, b in (([1e200, 1.0], [1e200, 1.0]), ([1.0, 2.0], [3.0, 4.0]), ([np.inf, 1.0], [1.0, 2.0]),
                 ([np.nan, 1.0], [1.0, 2.0]), ([np.inf, 1.0], [0.0, 2.0])):
        same(f, np.array(a), np.array(b), compiled=compiled)


@pytest.mark.parametrize("source, target", [(np.float64, np.float32), (np.float64, np.float16),
                                            (np.float32, np.float16), (np.float64, np.int32), (np.float64, np.int64),
                                            (np.float32, np.int64), (np.float64, np.float64), (np.float32, np.float64)])
def test_conversions(source, target):
    def cast(a):
        return a.astype(target)

    def stored(a):
        out = np.zeros(a.shape, target)
        out[:] = a
        return out

    compiled = [njit(errstate=True)(f) for f in (cast, stored)]
    for x in (1.5, -1.0, 0.0, np.nan, np.inf, 3e4, 7e4, 2.0 ** 31 - 1, 2.0 ** 31, -2.0 ** 31, -2.0 ** 31 - 0.5,
              -2.0 ** 31 - 1, 2.0 ** 63, -2.0 ** 63, 1e38, 1e39):
        with np.errstate(over="ignore"):
            a = np.full(5, x, source)
        for one in compiled:
            same(one.py_func, a, compiled=one)


def test_modes():
    def f(a, b, mode):
        with np.errstate(divide=mode, invalid="raise"):
            c = a / b
        return c + 1

    compiled = njit(f)
    a = np.array([1.0, 2.0])
    for b in (np.zeros(2), np.ones(2)):
        for mode in ("ignore", "warn", "raise"):
            one, two = warned(f, a, b, mode), warned(compiled, a, b, mode)
            assert two[1:] == one[1:]
            np.testing.assert_equal(two[0], one[0])
    assert warned(compiled, a, a, "nosuch")[0] == warned(f, a, a, "nosuch")[0]
    assert warned(compiled, a * 0, a * 0, "ignore")[0] == (FloatingPointError, ("invalid value encountered in divide",))


def test_print_and_log(capfd):
    class Log:
        def __init__(self):
            self.lines = []

        def write(self, line):
            self.lines.append(line)

    @njit(errstate=True)
    def f(a):
        return np.log(a)

    log, told = Log(), []
    with np.errstate(all="log", call=log):
        f(np.array([0.0, -1.0]))
    assert log.lines == ["Warning: divide by zero encountered in log\n", "Warning: invalid value encountered in log\n"]
    with np.errstate(all="print"):
        f(np.array([0.0, 1.0]))
    assert capfd.readouterr().err == "Warning: divide by zero encountered in log\n"
    for mode in ("call", "log"):
        with np.errstate(all=mode, call=None):
            assert met_name_error(f, 0.0) == met_name_error(f.py_func, 0.0)
    with np.errstate(all="call", call=lambda text, flags: told.append(text) or 1 / 0), pytest.raises(ZeroDivisionError):
        f(np.zeros(1))
    assert told == ["divide by zero"]


def met_name_error(f, x):
    with pytest.raises(NameError) as error:
        f(np.array([x]))
    return str(error.value)


def note(text, flags):
    NOTED.append((text, flags))


NOTED = []


def test_a_function_to_call():
    def f(a):
        with np.errstate(all="call", call=note):
            return np.sqrt(a) / 0

    NOTED.clear()
    f(np.array([-1.0, 1.0]))
    wanted = list(NOTED)
    NOTED.clear()
    njit(f)(np.array([-1.0, 1.0]))
    assert NOTED == wanted and len(wanted) == 2


def test_what_is_caught_and_what_is_left():
    """The old state is restored on every way out of the block."""
    def f(a, n):
        total = 0.0
        for i in range(3):
            try:
                with np.errstate(all="raise", under="ignore"):
                    if n == i:
                        return total
                    if n == 7:
                        raise ValueError("seven")
                    with np.errstate(divide="ignore"):
                        total += (1.0 / a)[0]
                    if n == 8:
                        continue
                    total += np.log(a)[0]
            except FloatingPointError as error:
                total += len(str(error))
        return total

    compiled = njit(f)
    before = np.geterr()
    for a, n in itertools.product((np.ones(1), np.zeros(1), -np.ones(1)), (0, 1, 2, 5, 7, 8)):
        one, two = warned(f, a, n), warned(compiled, a, n)
        assert two[:2] == one[:2]
        assert np.geterr() == before
    assert compiled(np.zeros(1), 5) == np.inf


def test_functions_that_are_called_are_looked_at():
    @njit
    def quotient(a):
        return 1.0 / a

    def f(a):
        with np.errstate(divide="raise"):
            return quotient(a)

    with pytest.raises(FloatingPointError, match="^divide by zero encountered in divide$"):
        njit(f)(np.zeros(2))
    assert quotient(np.zeros(2))[0] == np.inf


def test_python_numbers_are_pythons():
    @njit(errstate=True)
    def f(x, y):
        return x * y

    with np.errstate(all="raise"):
        assert f(1e308, 10.0) == np.inf
        with pytest.raises(OverflowError):
            f(2 ** 62, 4)


def test_to_only_ignore_costs_nothing():
    def f(x, n):
        t = 0
        for i in range(3):
            with np.errstate(divide="ignore", invalid="ignore"):
                if n == i:
                    return x / 0, t
                t += 1
                with np.errstate(all="ignore") as state:
                    if n == 7 and state is None:
                        raise ValueError("seven")
        try:
            with np.errstate():
                x[n]
        except IndexError:
            return x, -1
        return x * 2, t

    compiled = agree(f, np.arange(3.0), 0)
    for n in (1, 2, 5, 7, -1):
        agree(f, np.arange(3.0), n, compiled=compiled)
    plain = njit(lambda x: x / 0)
    ignoring = njit(f)
    plain(np.ones(3)), ignoring(np.ones(3), 0)
    for one in (plain, ignoring):
        assert "PyObject_Vectorcall" not in one.inspect_llvm(one.signatures[0])


@pytest.mark.parametrize("state, text", [
    (lambda: np.errstate(over="nosuch"), "invalid error mode 'nosuch'"),
    (lambda: np.errstate(nosuch="ignore"), "unexpected keyword argument 'nosuch'"),
    (lambda: np.errstate(under="raise"),
     r"np.errstate\(under=\) is compiled with 'ignore' only: compiled code does not look for underflow"),
    (lambda: np.errstate(over=3), r"np.errstate\(over=\) must be a text"),
])
def test_what_errstate_cannot_do_is_said(state, text):
    def f(x):
        with state():
            return 1 / x

    with pytest.raises(TypingError, match=text):
        njit(f)(np.ones(2))


def test_other_context_managers_are_named():
    def f(x):
        with x:
            return x

    message = "__enter__" if sys.version_info < (3, 11) else "'int' object does not support the context manager"
    with pytest.raises(TypingError, match=message):
        njit(f)(1)


def test_what_is_not_looked_at():
    """Operations whose errors are not detected: rows of docs/semantics.md."""
    @njit(errstate=True)
    def quiet(a):
        return a * 1e-300, np.var(a * 1e300), np.multiply.outer(a, a * 1e308), (a - np.inf).sum()

    a = np.array([1e-300, 1.0, np.nan])
    with np.errstate(all="raise"):
        quiet(a)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        quiet.py_func(a[:2] * 1e200)


CACHED = """
import numpy as np
from pyjitc import njit

@njit(cache=True)
def f(a):
    with np.errstate(divide="raise"):
        return 1.0 / a

try:
    f(np.zeros(2))
except FloatingPointError as error:
    print(error, f.stats["compiled"], f.stats["disk"])
"""


def test_a_second_process_finds_the_code(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(CACHED)
    environment = {**os.environ, "PYJITC_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    printed = [subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True).stdout
               for _ in range(2)]
    assert printed == ["divide by zero encountered in divide 1 0\n", "divide by zero encountered in divide 0 1\n"]
