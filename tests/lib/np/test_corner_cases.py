"""Corner cases of NumPy's functions, which random calls and programs found to differ: each row is an expression and its
arguments, and has to do the same compiled, including which results share memory with which arguments."""
import math

import numpy as np
import pytest

from pyjitc import TypingError, njit
from tests.oracle import agree, difference, outcome, plain

A0, A1, A2 = np.array(3), np.arange(5), np.arange(12.0).reshape(3, 4)
INF = np.array([[complex(np.inf, 7.25)], [1 + 1j]], np.complex64)
BIG = np.full(3, 2 ** 63, np.uint64)
SMALL = np.ones(3, np.int8)


def function_of(text):
    lines = text.split("; ")
    space = {"np": np}
    exec("def f(x, y=None):\n" + "".join(f"    {line}\n" for line in [*lines[:-1], "return " + lines[-1]]), space)
    return space["f"]


def shared(result, args):
    parts = result if isinstance(result, tuple) else (result,)
    return [[np.shares_memory(part, x) for x in args if isinstance(x, np.ndarray)] for part in parts
            if isinstance(part, np.ndarray)]


def refused(expected, actual):
    """Whether a type error was raised when the function was compiled."""
    return (expected[0] == actual[0] == "raises" and isinstance(actual[1], TypingError)
            and isinstance(expected[1], TypeError))


def agrees(text, *calls):
    compiled = njit(function_of(text))
    for args in calls:
        expected, actual = outcome(plain(compiled), args), outcome(compiled, args)
        if refused(expected, actual):
            continue
        wrong = difference(expected, actual)
        assert not wrong, f"{text} {args}: {wrong}"
        if expected[0] == "returns":
            assert shared(expected[1], expected[2]) == shared(actual[1], actual[2]), f"{text} {args}: views"


# NumPy's own pow for AVX-512 (2.2 to 2.5 at least) gives the power of the first and the last element when it reduces
# floats.
POWER_REDUCE_IS_WRONG = np.power.reduce(np.array([4.0, 5.0, 6.0])) != 4.0**30


def test_powers_in_turn():
    x = np.array([[2.0, 3.0, 2.0], [4.0, 5.0, 6.0]])
    assert (njit(lambda x: np.power.reduce(x, axis=1))(x).tolist() == [64.0, 4.0**30]
            == np.power.accumulate(x, axis=1)[:, -1].tolist())


@pytest.mark.parametrize("text", ["x += y; x", "x **= y; x", "x |= 5; x"])
def test_in_place_operators_on_arrays_of_no_axes(text):
    agrees(text, (A0, 2), (A0, np.array(2)), (A0.astype(np.uint8), True))


def test_indices_and_operands_of_other_kinds():
    agrees("pow(x, x), pow(x, 2), pow(2.0, x)", (A1,), (A2,))
    agrees("np.flipud((1, 2)), np.fliplr([(1, 2), (3, x)])", (5,))
    agrees("x.take(y)", (A1, None), (A1, A1[:2]))
    agrees("np.insert(x, y, x)", (A1, A1.astype(float)), (A1, np.array([1.0])), (A1, A1[:1]))


@pytest.mark.parametrize("text", [
    "np.cumprod(x, axis=-1)", "np.cumprod(x, axis=1)", "np.argmax(x, keepdims=True)", "np.power.reduce(x, axis=(0, 1))",
    "np.power.reduce(x, axis=-1, keepdims=True)", "np.add.reduce(x, axis=0, keepdims=True)", "np.sum(x, where=False)",
    "np.var(x, where=False)", "np.take(x, 0, axis=0)", "np.repeat(x, 2, axis=0)",
    "np.take(x, np.array([0, 0]), axis=-1)", "np.take(x, np.array([0]), axis=1)",
    "np.compress(np.array([True]), x, axis=0)", "np.average(x, axis=1)", "np.nanvar(x, axis=(0, 1))",
    "np.roll(x, (1, 2), axis=(0, 1))",
])
def test_axes_of_few_axes(text):
    agrees(text, (A0,), (A1,), (A2.astype(int) if "power.reduce" in text and POWER_REDUCE_IS_WRONG else A2,))


def test_numbers_of_arrays_of_no_axes():
    agrees("float(x), int(x), complex(x), bool(x)", (A0,), (A0 * 1.5,))


def test_infinite_complex_numbers_are_multiplied_once():
    agrees("np.multiply.reduce(x, axis=1), np.prod(x, axis=1), np.cumprod(x), np.prod(x[0])", (INF,))


def test_negative_zero():
    agrees("np.sum(x), np.cumsum(np.atleast_1d(x))", (np.array(-0.0),), (np.array([-0.0]),), (np.zeros(0),))


@pytest.mark.parametrize("text", ["np.ravel(x)", "x.ravel('K')", "np.ravel(x, 'F')", "np.take(x, 0, axis=0)",
                                  "r = np.ravel(x); r[0] = 9; x"])
def test_copies_and_views(text):
    agrees(text, (np.arange(6),), (np.arange(6)[::2],), (np.arange(6)[::-1],), (np.arange(12).reshape(3, 4),),
           (np.arange(12).reshape(3, 4)[::-1, ::-1],))


@pytest.mark.parametrize("value", [200, 1.5, np.array([1.5]), np.array([2]), np.int16(3), True, 2 ** 40])
def test_at_has_no_weak_numbers(value):
    agrees("np.add.at(x, np.array([0, 0, -1]), y); x", (SMALL, value), (BIG, value), (np.ones(3, np.float32), value))


def test_at_keeps_its_operands():
    agrees("np.add.at(x, x, 1); x", (np.array([2, 0, 1, 1]),))
    agrees("np.add.at(x, np.array([0, 0, 1, 3]), x[::-1]); x", (np.array([2, 0, 1, 1]),))
    agrees("np.add.at(x, np.array([9]), 1); x", (np.array([2, 0, 1, 1]),))


@pytest.mark.parametrize("text", ["np.putmask(x, np.array([True, False, True]), y); x",
                                  "np.place(x, np.array([True, False, True]), y); x", "np.ediff1d(x, y, y)",
                                  "np.insert(x, 1, y)", "np.insert(x, [0, 2], y)"])
@pytest.mark.parametrize("value", [300, 1.5, 1j, np.array([2])])
def test_values_are_converted_or_refused(text, value):
    compiled = njit(function_of(text))
    for x in (SMALL, np.ones(3, np.uint64), np.ones(3, np.float32)):
        expected, actual = outcome(plain(compiled), (x, value)), outcome(compiled, (x, value))
        if not refused(expected, actual):
            assert not difference(expected, actual), (text, x, value)


@pytest.mark.parametrize("text", ["np.concatenate(x, y)", "np.concatenate((x, x), y)", "np.stack((x, x), y)",
                                  "np.append(x, x, y)", "np.sum(x, y)", "np.max(x, y)"])
@pytest.mark.parametrize("axis", [A1, 0.0, np.float32(1), (0,)], ids=str)
def test_what_is_no_axis(text, axis):
    compiled = njit(function_of(text))
    expected, actual = outcome(plain(compiled), (A1, axis)), outcome(compiled, (A1, axis))
    if expected[0] == "raises" or actual[0] == "raises":  # (0,) are axes of a reduction, where they are constants
        assert (actual[0] == "raises" and isinstance(actual[1], TypingError)
                and (expected[0] == "returns" or isinstance(expected[1], TypeError)))
    if isinstance(axis, np.ndarray):
        assert expected[1].args == actual[1].args and "np.concatenate((a, b))" in str(actual[1])


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_sequences_are_compared_by_the_array(op):
    for text in (f"y {op} x", f"x {op} y", f"[y[0], 2] {op} x"):
        agrees(text, (np.array([1, 5]), (3, 2)), (A2, (3, 2)), (np.array([1.5, np.nan]), (1, 2.5)),
               (np.array([200, 3], np.uint8), (-1, 3)))


@pytest.mark.parametrize("text", ["np.nonzero(x)", "np.where(x)", "x.nonzero()", "np.flatnonzero(x)", "np.argwhere(x)"])
def test_places_in_arrays_of_no_axes(text):
    agrees(text, (np.array(True),), (np.array(False),), (np.array(2.5),), (A0,), (np.array([True, False]),))


@pytest.mark.parametrize("text", ["np.copyto(x, 5, where=y); x", "np.put(x, y, 7); x"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint64, np.float32, complex])
def test_masks_and_places_are_not_converted(text, dtype):
    agrees(text, (SMALL, np.ones(3, dtype)), (SMALL, dtype(1)))


@pytest.mark.parametrize("text", ["np.mean(x, out=y)", "np.std(x, out=y)"])
def test_results_have_the_dtype_of_out_all_along(text):
    for out in (np.zeros((), np.int8), np.zeros((), np.float32)):
        x = np.array([0, 40, 80, 120, 160, 200])
        compiled = njit(function_of(text))
        expected, actual = outcome(plain(compiled), (x, out)), outcome(compiled, (x, out))
        assert refused(expected, actual) or not difference(expected, actual)


def test_rule_equiv_beside_numbers_of_python():
    """For these calls NumPy 2.4 itself reads from a null pointer."""
    compiled = njit(lambda x: np.add(x, 1, casting="equiv"))
    assert np.array_equal(compiled(np.arange(3, dtype=np.int8)), [1, 2, 3])


def test_contiguous_differences():
    agrees("np.diff(x)", (A2,))
    assert njit(lambda x: np.diff(x))(A2).flags.c_contiguous


def test_sums_of_complex_numbers_add_in_the_order_of_numpy():
    f = njit(lambda a: (np.sum(a), np.mean(a), np.sum(a, axis=-1), np.mean(a, axis=0)))
    r = np.random.default_rng(1)
    for dtype in (np.complex64, np.complex128):
        for shape in ((3,), (7,), (12,), (64,), (65,), (129,), (1000,), (7, 9)):
            a = (r.normal(size=shape) + 1j * r.normal(size=shape)).astype(dtype)
            assert all(np.array_equal(x, y) for x, y in zip(f.py_func(a), f(a))), (dtype, shape)


def test_extremes_of_complex_numbers_with_nan():
    nan, inf = np.nan, np.inf
    for values in ([1, 2, complex(nan, 1), 5], [complex(1, nan), 2, 0], [complex(inf, 1), complex(inf, -1), 3],
                   [1 + 1j, 1 - 1j, 1 + 2j], [complex(inf, nan), 2]):
        agrees("np.argmin(x), np.argmax(x)", (np.array(values, np.complex128),))


def test_message_of_a_shape_that_begins_with_an_unknown_length():
    agrees("x.reshape(-1, 2)", (np.arange(3),))
    agrees("x.reshape(2, -1, 2)", (np.arange(3),))
    agrees("x.reshape(-1, 2, -1)", (np.arange(3),))


@pytest.mark.parametrize("name", ["nanmin", "max", "sum", "prod", "any", "argmax", "ptp", "nanmean", "nanstd"])
def test_reductions_cast_to_any_out(name):
    f = njit(function_of(f"np.{name}(x, axis=0, out=y)"))
    x = np.array([[1.7, -2.2, 300], [0.5, 0.5, 0.5]])
    for out in (np.zeros(3, np.int64), np.zeros(3, np.float32)):
        expected, actual = outcome(plain(f), (x, out)), outcome(f, (x, out))
        assert refused(expected, actual) or not difference(expected, actual), (name, out.dtype)


@pytest.mark.parametrize("text", ["np.where(x > 1, x, -1)", "np.where(x > 1, 300, x)", "np.where(x > 1, y, x)",
                                  "np.where(x > 1, x, 2)"])
def test_where_and_ints_that_do_not_fit(text):
    """NumPy 2.5 refuses them, also if no element is chosen; earlier versions wrapped them."""
    for x in (np.arange(3, dtype=np.uint64), np.arange(3, dtype=np.int8), np.array(5, np.uint8), np.zeros(0, np.int8)):
        agrees(text, (x, -7), (x, 300), (x, 7))


def test_messages_of_shapes_that_do_not_fit():
    pairs = [(np.ones(3), np.ones(4)), (np.ones(1), np.ones(3)), (np.ones((3, 1)), np.ones(4)),
             (np.ones((3, 4)), np.ones((3, 5)))]
    agrees("x += y; x", *pairs)
    agrees("np.add(y, 2.0, out=x)", *pairs)
    agrees("np.sin(2.5, out=x, where=y > 0)", *pairs)
    agrees("x *= x * y; x", *pairs)


@pytest.mark.parametrize("text", ["x + 300", "x ** -1", "300 // x", "x == 300"])
def test_ints_out_of_bounds_beside_no_elements(text):
    agrees(text, (np.zeros(0, np.uint8),), (np.arange(3, dtype=np.uint8),), (np.zeros(2, np.float32),))


def test_squeezed_to_no_axes():
    agrees("np.squeeze(x, axis=0), np.squeeze(x, axis=-1), np.ravel(x), np.roll(x, 1)", (np.array(3),),
           (np.float32(2),), (5,), (np.ones(1),))
    agrees("np.squeeze(x, axis=(0, 1))", (np.ones((1, 1)),), (np.ones((1, 1, 2)),))
    agrees("np.squeeze(x)", (np.array(3),), (np.float32(2),), (5,))


def test_places_are_columns():
    agrees("r = np.argwhere(x); r.ravel()[:1] = 9; r", (np.arange(12).reshape(3, 4) % 3,), (np.arange(3),),
           (np.zeros((2, 2)),))


def test_place_reads_what_it_has_written_where_elements_follow_each_other():
    def same(a, step):
        b = a[::step]
        np.place(b, b, b)
        return a

    def reversed_values(a, step):
        np.place(a, a > 0, a[::step])
        return a

    a = np.array([0, 1, 2, 3, 4, 5, 0, 7, 8, 9, 1, 2])
    for f in (same, reversed_values):
        for step in (1, 2, -1, -2):
            for dtype in (np.int64, np.bool_, np.float32):
                agree(f, a.astype(dtype), step)


@pytest.mark.filterwarnings("ignore")
def test_isclose_of_short_numbers_beside_python_floats():
    for x in (np.complex64(0), np.complex64(1e38), np.complex128(0), np.float32(0), np.array([0], np.complex64)):
        for y in (-1e308, 1e39, 3e38, np.inf, np.nan):
            agree(lambda x, y: (np.isclose(x, y), np.isclose(y, x)), x, y)


@pytest.mark.filterwarnings("ignore")
def test_round_to_digits_that_no_float_has():
    for x in (np.float64(1.5), np.float32(-2.5), 1e300, np.float64(123456.789), np.float64(5e-324)):
        for n in (22, 23, 64, 308, 309, 400, -22, -23, -64, -309, -400, 1 << 40, -1 << 40):
            agree(lambda x, n: round(x, n), x, n)
            agree(lambda x, n: np.round(x, n), x, n)


def test_floor_of_numpy_integers_goes_by_way_of_a_float():
    for n in (2**53 + 1, -2**53 - 1, 2**62 + 1, 5, -2**63):
        agree(lambda n: (math.floor(n), math.ceil(n)), np.int64(n))
        agree(lambda n: (math.floor(n), math.ceil(n)), np.uint64(abs(n) // 4 + 1))


def test_angle_of_short_integers():
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.float16, np.float32):
        for x in (dtype(3), dtype(0), np.array(-3).astype(dtype)[()], np.array([-3, 0, 3]).astype(dtype)):
            for degrees in (False, True):
                agree(lambda x, degrees: np.angle(x, degrees), x, degrees)


def test_integers_beside_empty_indices():
    empty, none = np.zeros(0, int), np.zeros((0, 2), int)
    for shape in ((0, 3), (2, 3), (3, 0), (2, 3, 2)):
        for i in (empty, none):
            for n in (0, 5, -4):
                for f in (lambda a, i, n: a[n, i], lambda a, i, n: a[i, n]):
                    agree(f, np.zeros(shape), i, n)

    def put(a, i, n):
        a[n, i] = 1.0

    for n in (0, 5):
        agree(put, np.zeros((2, 3)), empty, n)
        agree(put, np.zeros((0, 3)), none, n)


def test_nothing_is_stored_whatever_its_shape():
    def one(a, i, v):
        a[i] = v

    def two(a, i, v):
        a[i, i] = v

    shapes = [(0,), (1,), (3,), (0, 2), (2, 0), (5, 0), (0, 0), (0, 1), (1, 1), (0, 0, 1), (0, 1, 0), (0, 1, 1),
              (2, 0, 1), (3, 2, 0)]
    for i in (np.zeros(0, int), np.zeros((0, 2), int), np.zeros((2, 0), int), np.array([0, 0])):
        for shape in shapes:
            agree(one, np.zeros(3), i, np.zeros(shape))
            agree(two, np.zeros((3, 2)), i, np.zeros(shape))


@pytest.mark.filterwarnings("ignore")
def test_functions_of_complex64_are_those_of_the_c_library():
    rng = np.random.default_rng(3)
    z = (rng.normal(size=300) + 1j * rng.normal(size=300)).astype(np.complex64)
    w = (3 * rng.normal(size=300) + 3j * rng.normal(size=300)).astype(np.complex64)
    for name in "sqrt log sin cos tan sinh cosh tanh log2 log10".split():
        function = getattr(np, name)
        agree(lambda z: function(z), z)
        agree(lambda z: function(z), z[0])
    # older wheels of NumPy have their own implementations of these
    for name in "arcsin arccos arctan arcsinh arccosh arctanh".split():
        function = getattr(np, name)
        assert np.allclose(njit(lambda z: function(z))(z), function(z), rtol=1e-6, atol=1e-6)
    agree(lambda z, w: (z ** w)[0], z, w)
    for n in range(0, 300, 10):
        agree(lambda x, y: x ** y, z[n], w[n])


def test_a_new_last_axis_beside_an_array_that_has_one():
    """The elements of both arrays are contiguous, and one of the arrays has no index for the axis."""
    def f(a, w):
        y = a[:, :, None]
        return y * w, np.sum(y * w), np.max(w - y), y * 2.0, np.sum(a[:, None, :, None] * w)

    agree(f, A2, np.linspace(0.5, 1.5, 12).reshape(3, 4, 1))
