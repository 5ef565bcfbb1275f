"""Fusion of loop nests with other statements between them: the remaining temporaries and loops, and the results."""
import itertools
import re

import numpy as np
import pytest
from tests.ir.stages import optimised
from tests.oracle import agree

from pyjitc import njit
from pyjitc.ops.control import INVOKE
from pyjitc.ops.memory import ARRAY_NEW, ARRAY_STEP, ARRAY_STORE, CHECK_INDEX


def count(function, args, op):
    """Instructions of an operation in the optimised entry function."""
    return sum(inst.op is op for block in optimised(function, args).functions[0].blocks for inst in block.insts)


def test_a_producer_in_an_earlier_block_is_kept_when_its_reader_fuses():
    def f(p, x):
        p[1:-1] = (p[1:-1] + p[:-2]) * x ** 2  # the power raises where it overflows: a block of its own

    def g(p, x):
        for _ in range(2):
            q = p.copy()
            p[1:-1] = (q[1:-1] + q[:-2]) * x ** 2 / (2 * (x ** 2 + x ** 2))
            p[-1, :] = 0

    a = np.arange(25.0).reshape(5, 5)
    for function in (f, g):
        compiled = agree(function, a, 2.0)
        agree(function, a, 1e200, compiled=compiled)


def test_a_producer_moves_past_branches():
    def f(p, q, x, y):
        p[1:-1] = ((q[1:-1] + q[:-2]) * x ** 2 + (q[2:] - q[:-2]) * y ** 2) / (2 * (x ** 2 + y ** 2))

    p, q = np.arange(25.0).reshape(5, 5), np.arange(25.0).reshape(5, 5) % 7
    assert count(f, (p, q, 2.0, 3.0), ARRAY_NEW) == 0
    assert count(f, (p, q, 2.0, 3.0), ARRAY_STORE) == 1
    compiled = agree(f, p, q, 2.0, 3.0)
    agree(f, p, q, 2.0, 1e200, compiled=compiled)
    agree(f, p, q, 0.0, 0.0, compiled=compiled)


def test_a_producer_stays_where_moving_it_would_show():
    def written(a, x):
        b = a + 1
        if x > 0:
            a[0] = 100.0
        return b * 2

    def repeated(a, n):
        b = a + 1
        total = 0.0
        for _ in range(n):
            total += np.sum(b * 2)
            a[0] += 1
        return total

    def leaving(a, n):
        b = a
        for k in range(n):
            b = a + k
            if k == 2:
                break
        return b * 2

    def either(a, x):
        if x > 0:
            b = a + 1
        else:
            b = a - 1
        return b * 2

    def failing(a, b, n):
        c = a ** b  # it raises before the division
        return c + 1 // n

    a = np.arange(6.0)
    for function, last in ((written, 1.0), (written, -1.0), (repeated, 3), (leaving, 5), (leaving, 0), (either, 1.0),
                           (either, -1.0)):
        agree(function, a, last)
    whole = np.arange(4)
    agree(failing, whole, -whole, 0)
    agree(failing, whole, whole, 0)


def test_an_element_counted_from_the_end_needs_no_check_in_the_loop():
    def f(p, rounds):
        for _ in range(rounds):
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]

    for n in (5, 2, 1):
        agree(f, np.arange(n * n, dtype=float).reshape(n, n), 3)
    loops = [block for block in optimised(f, (np.ones((3, 3)), 3)).functions[0].blocks
             if any(inst.op is ARRAY_STORE for inst in block.insts)]
    assert len(loops) == 4  # with and without checks
    assert count(f, (np.ones((3, 3)), 3), CHECK_INDEX) == 4


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_the_guard_of_a_place_from_the_end(n):
    def f(a, rounds):
        total = 0.0
        for k in range(rounds):
            total += a[-2] + a[-1] * k
        return total

    agree(f, np.arange(n, dtype=float), 4)


def test_columns_beside_rows():
    """Operands whose last axis has one element where another operand's has many, in every position of the
    expression."""
    def scaled(x, c, d):
        return (x - c) / d

    def written(out, x, c):
        out[...] = c * x + 1

    first, second = njit(scaled), njit(written)
    rng = np.random.default_rng(0)
    for n, m in ((3, 5), (1, 1), (4, 1), (1, 4), (0, 3), (3, 0), (20, 33)):
        x = rng.random((n, m))
        for c in (rng.random((n, 1)), rng.random((1, m)), rng.random((n, m)), rng.random((1, 1)),
                  rng.random((n, 2))[:, :1], rng.random((n, 1))[::-1]):
            for d in (rng.random((n, 1)), rng.random((n, m))):
                assert np.array_equal(first(x, c, d), scaled(x, c, d))
                assert np.array_equal(first(c, x, d), scaled(c, x, d))
            out, wanted = np.zeros((n, m)), np.zeros((n, m))
            second(out, x, c)
            written(wanted, x, c)
            assert np.array_equal(out, wanted)


def test_a_matrix_that_is_computed_on_the_way_to_a_vector_is_not_kept():
    def f(alpha, A, x):
        return alpha * A @ x

    rng = np.random.default_rng(1)
    for dtype in (np.float64, np.float32):
        for shape in ((3, 4), (33, 70), (0, 3), (3, 0), (1, 1)):
            A, x = rng.random(shape).astype(dtype), rng.random(shape[1]).astype(dtype)
            compiled = njit(f)
            for matrix in (A, np.asfortranarray(A), A[::-1, ::-1]):
                got, expected = compiled(dtype(1.5), matrix, x), f(dtype(1.5), matrix, x)
                assert got.dtype == dtype
                np.testing.assert_allclose(got, expected, rtol=1e-5 if dtype is np.float32 else 1e-13)
            assert count(f, (dtype(1.5), A, x), ARRAY_NEW) == 1
    agree(f, 2.0, np.ones((2, 3)), np.ones(4))


def test_elements_in_reverse_have_a_known_step():
    def f(a, b):
        a[:] = b[::-1] * 2
        a += a[::-1]

    for n in (0, 1, 2, 7, 40):
        agree(f, np.arange(n, dtype=float), np.arange(n, dtype=float) ** 2)

    def g(a):
        a += a[::-1] * 2

    assert count(g, (np.ones(3),), ARRAY_STEP) == 0


def test_dots_of_reversed_vectors():
    def f(a, b):
        return np.dot(a[::-1], b), np.dot(a, b[::-1]), np.dot(np.flip(a), np.flip(b))

    for n in (0, 1, 15, 16, 17, 100):
        a, b = np.arange(n, dtype=float), np.arange(n, dtype=float) % 7 + 1
        agree(f, a, b)  # whole numbers: exact in any order
        agree(f, a.astype(np.float32), b.astype(np.float32))


def calls_of(function, args):
    return [inst.attrs["callee"].name for block in optimised(function, args).functions[0].blocks
            for inst in block.insts if inst.op is INVOKE]


def test_two_products_with_one_matrix_read_it_once():
    def both(A, x, r):
        return r @ A, A @ x

    def turned(A, x, r):
        y = A @ x
        return y, r @ A

    def chained(A, x, r):
        return (A @ x) @ A

    def used(A, x, r):
        y = A @ x
        return y + 1, y @ A, y

    def written(A, x, r):
        y = A @ x
        A[:1] = 7.0
        return y @ A

    rng = np.random.default_rng(2)
    for f in (both, turned, chained, used, written):
        compiled = njit(f)
        for shape in ((3, 4), (130, 70), (1, 5000), (700, 110), (0, 3), (3, 0)):
            for dtype in (np.float64, np.float32) if shape == (130, 70) else (np.float64,):
                A, x, r = (rng.random(n).astype(dtype) for n in (shape, shape[1], shape[0]))
                for matrix in (A, np.asfortranarray(A), A[::-1]) if f is both else (A,):
                    got, expected = compiled(matrix.copy("K"), x, r), f(matrix.copy("K"), x, r)
                    for one, other in zip(*((v if isinstance(v, tuple) else (v,)) for v in (got, expected))):
                        assert one.dtype == dtype and one.shape == other.shape
                        np.testing.assert_allclose(one, other, rtol=1e-5 if dtype is np.float32 else 1e-12)
        names = [name.partition(".")[0] for name in calls_of(f, (np.ones((3, 4)), np.ones(4), np.ones(3)))]
        assert names.count("matvec_pair") == (f in (both, turned, chained))
    agree(both, np.ones((2, 3)), np.ones(3), np.ones(3))
    agree(both, np.ones((2, 3)), np.ones(4), np.ones(2))


def test_two_products_with_a_write_between():
    """Both are computed in one nest if the written array is not an operand of the second, which is tested at run time.
    With shapes that do not fit, or shared memory, the statements run in their order."""
    def f(x, z, y, r, A):
        x += A @ y
        z += r @ A

    compiled = njit(f)
    rng = np.random.default_rng(4)
    for m, n in ((3, 4), (130, 70), (90, 90), (0, 3), (3, 0)):
        for which in range(5 if m == n else 1):
            A, x, z, y, r = (np.round(rng.random(k) * 8) for k in ((m, n), m, n, n, m))
            a, b = ([v.copy() for v in (x, z, y, r, A)] for _ in range(2))
            for args in (a, b):
                if which == 1:
                    args[0] = args[3]  # x is r
                elif which == 2:
                    args[0] = args[4][1]  # x is a row of A
                elif which == 3:
                    args[0] = args[4][:, 2]
                elif which == 4:
                    args[0], args[3] = args[2], args[2]  # x and r are y
            f(*a)
            compiled(*b)
            for v, w in zip(a, b):
                np.testing.assert_allclose(w, v, rtol=1e-12)
    square = np.ones((3, 3))
    agree(f, np.ones(3), np.ones(3), np.ones(3), np.ones(4), square, compiled=compiled)
    agree(f, np.ones(3), np.ones(3), np.ones(4), np.ones(3), square, compiled=compiled)
    names = [name.partition(".")[0] for name in calls_of(f, (np.ones(3), np.ones(3), np.ones(3), np.ones(3), square))]
    assert names.count("matvec_pair") == 1

    def apart(y, r, A):
        t = A @ y
        t[0] = 5.0
        for k in range(2):
            A[k] = 1.0
        return t, r @ A

    agree(apart, np.arange(3.0), np.arange(3.0), np.arange(9.0).reshape(3, 3))


def test_what_is_not_needed_is_not_compiled():
    def itself(a, b):
        a[:] = a * 2.0 + 1.0

    def shifted(a, b):
        a[1:] = a[:-1] * 2.0

    def product(a, b):
        return a @ b @ a

    a = np.arange(20.0).reshape(4, 5)
    # the operand is the target: nothing to compare, no copy to make
    assert "room" not in [name.partition(".")[0] for name in calls_of(itself, (a.copy(), a))]
    assert "room" in [name.partition(".")[0] for name in calls_of(shifted, (a.copy(), a))]
    square = np.ones((4, 4))
    assert [name.partition(".")[0] for name in calls_of(product, (square, square))].count("matmat") == 2
    compiled = njit(product)
    compiled(square, square)
    text = compiled.inspect_llvm(compiled.signatures[0])
    group = re.search(r"^define internal .*\.packed(?:\.\d+)?\(.*(#\d+) \{$", text, re.M).group(1)
    assert "optnone" in re.search(rf"^attributes {group} = .*$", text, re.M).group()  # it hardly ever runs


@pytest.mark.parametrize(
    "shape", [(3,), (1,), (3, 1), (1, 3), (1, 1), (3, 3), (2, 1, 3), (2, 3, 1), (1, 3, 1), (1, 1, 3)], ids=str)
def test_an_operand_of_constant_shape_meets_every_shape(shape):
    """Axes whose type says that their length is one broadcast against axes of every length, including one."""
    size = int(np.prod(shape))
    space = {}
    exec(f"def f(z):\n    x = (np.arange({size}) * 1.5 + 1).reshape({shape})\n"
         "    return z - x, (z - x).sum(), np.sum(x * z + z)\n", {"np": np}, space)
    compiled = njit(space["f"])
    for ndim in range(len(shape) + 1):
        for other in itertools.product((1, 2, 3), repeat=ndim):
            z = np.arange(float(np.prod(other))).reshape(other) ** 2
            try:
                expected = space["f"](z)
            except ValueError:
                continue
            for form in (z, np.repeat(z, 2, axis=-1)[..., ::2]) if ndim == len(shape) == 2 else (z,):
                result = compiled(form)
                np.testing.assert_array_equal(result[0], expected[0])
                assert result[1:] == pytest.approx(expected[1:], rel=1e-14)


def filled(a, values, chosen):
    for i in range(len(a)):
        if chosen[i]:
            a[i] = values[i]


def filled_with_a_constant(a, values, chosen):
    for i in range(len(a)):
        if chosen[i]:
            a[i] = 300 if chosen[i - 1] else 3
    return values[0]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u2", "c8", "?"])
@pytest.mark.parametrize("given", ["f8", "i8", "u1"])
@pytest.mark.parametrize("program", [filled, filled_with_a_constant], ids=lambda f: f.__name__)
def test_rows_of_a_few_elements_are_filled(program, dtype, given):
    compiled = njit(program)
    for columns in range(7):
        for high in (3, 200):
            values = (np.arange(8) * high / 7).astype(given)
            for chosen in (np.arange(8) % 3 != 1, np.arange(8) % 3 == 1, np.zeros(8, bool)):
                agree(program, np.ones((8, columns), dtype), values, chosen, compiled=compiled)
                agree(program, np.ones((8, 2 * columns), dtype)[:, ::2], values, chosen, compiled=compiled)


def test_a_view_that_is_updated_in_place_is_not_assigned_to_itself():
    def column(a, b, j):
        a[:, j] -= b

    def rows(a, b, j):
        a[1:j] *= b
        a[0] += a[j]

    def mirrored(a, b, j):
        a[::-1, j] += b
        a[:, j] = a[::-1, j]  # another view of the same elements

    a, b = np.arange(20.0).reshape(5, 4), np.arange(5.0)
    assert count(column, (a, b, 1), ARRAY_STORE) == 1
    locked = a.copy()
    locked.flags.writeable = False
    for function, given in ((column, b), (rows, b[:4]), (mirrored, b)):
        compiled = agree(function, a, given, 2)
        agree(function, a[::2, ::-1], given[:3] if function is not rows else given, 1, compiled=compiled)
        agree(function, locked, given, 2)
        agree(function, a, given[:2], 2, compiled=compiled)
