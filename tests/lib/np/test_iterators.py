"""ndindex, ndenumerate, nditer and np.broadcast against NumPy."""
import numpy as np
import pytest
from tests.oracle import agree, agree_on

from pyjitc import TypingError, njit

V, A, A3 = np.arange(4.0), np.arange(12.0).reshape(3, 4), np.arange(24.0).reshape(2, 3, 4)
LAID = [(A,), (A.T,), (A[:, ::-1],), (A[::-1, ::2],), (V,), (V[::-2],), (A3,), (A3.transpose(1, 2, 0),),
        (A3[:, ::-1].T,), (np.array(2.5),), (A3[:, :1],), (A3.transpose(2, 0, 1)[::-1],)]
# the order in which several arrays are visited: of memory, where they agree
ORDERS = [A3, np.asfortranarray(A3), A3.transpose(2, 0, 1).copy().transpose(1, 2, 0), A3[:, ::-1], A3[::-1, ::-1, ::-1],
          A3[0].T.copy().T, np.asfortranarray(A3)[:, :1], np.broadcast_to(A3[0, 0], A3.shape), np.array(3.0)]


def indices(n, m):
    total = 0
    for i, j in np.ndindex(n, m):
        total = total * 3 + i * m + j
    for at in np.ndindex((n,)):
        total += at[0]
    for _ in np.ndindex():
        total += 1
    it = np.ndindex(2, 2)
    next(it)
    return total, next(it)


def enumerated(a):
    total = 0.0
    for at, x in np.ndenumerate(a):
        total = total / 2 + x
        for i in at:
            total = total * 1.5 + i
    return total


def written(a):
    for at, x in np.ndenumerate(a):
        a[at] = 2 * x + 1
    return a


def visited(a):
    total = np.float64(0.0)
    for x in np.nditer(a):
        total = total / 2 + x
    return total


def visited_in(a):
    total = np.float64(0.0)
    for x in np.nditer(a, order="C"):
        total = total / 2 + x
    for x in np.nditer(a, order="F"):
        total = total / 2 + x
    return total


def cells(a):
    last = np.array(0.0)
    for x in np.nditer(a):
        last = x
    return last + 0, last.ndim, last.flags.writeable


def changed(a):
    for x in np.nditer(a, op_flags=("readwrite",)):
        x[...] = 2 * x
    return a


def several(a, b):
    total = np.float64(0.0)
    for x, y in np.nditer([a, b]):
        total = total / 2 + x * y
    return total


def several_changed(a, b):
    for x, y in np.nditer((a, b), None, (("readonly",), ("writeonly",)), order="C"):
        y[...] = x + 1
    return b


def together(a, b):
    both = np.broadcast(a, b)
    total = np.float64(0.0)
    for x, y in both:
        total = total / 2 + x * y
    return total, both.shape, both.size, both.nd, both.ndim, both.numiter


CASES = {
    indices: [(2, 3), (0, 2), (1, 1), (2, -1)], enumerated: LAID, written: [(A,), (A[:, ::-2],), (V,)],
    visited: [*LAID, (A[:0],)], visited_in: LAID, cells: LAID[:3], changed: LAID,
    several: [(A, V), (A, A), (V[:1], A), (A, V[:3]), (A, 2.0), *[(x, y) for x in ORDERS for y in ORDERS]],
    several_changed: [(A, A3[0].T.copy().T), (V, A.T.copy().T)],
    together: [(A, V), (A[:, :1], V), (A, A.T[:, ::-1].T), (V, 2.0), (A, V[:3])],
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_same_as_numpy(function):
    agree_on(function, *CASES[function])


def test_broadcast_starts_again():
    def f(a):
        both = np.broadcast(a, 1)
        n = 0
        for _ in both:
            n += 1
        for _ in both:
            n += 1
        return n

    assert f(V) == 4
    assert njit(f)(V) == 8


def with_index(a):
    for x in np.nditer(a, flags=("multi_index",)):
        pass


def with_list(a):
    for x in np.nditer(a, op_flags=["readwrite"]):
        x[...] = 1


@pytest.mark.parametrize("function, text",
                         [(with_index, "ndenumerate"), (with_list, "write a tuple"),
                          (lambda a: np.ndindex(0.5), "takes integers")], ids=lambda x: getattr(x, "__name__", None))
def test_what_is_refused(function, text):
    with pytest.raises(TypingError, match=text):
        njit(function)(A)


# states that count indices: shared, empty, endless, of any layout

def kept(a):
    it = np.ndenumerate(a)
    first = next(it)
    total = np.float64(0.0)
    for at, x in it:
        total = total / 2 + x * (at[0] + 1)
    return first, total


def places_kept(n):
    it = np.ndindex(n, 2)
    total = 0
    for i, j in it:
        total = total * 3 + i - j
        if i == 1:
            break
    for i, j in it:
        total = total * 5 + i + j
    return total


def without_end(n):
    for i, j, k in np.ndindex(n, n, n):
        if k == 3:
            return i, j, k
    return -1, -1, -1


def no_places(n, m):
    count = 0
    for _ in np.ndindex(n, m, 2):
        count += 1
    return count


def flat_items(a):
    total = np.float64(0.0)
    for x in a.flat:
        total = total / 2 + x
    for i, x in enumerate(a.flat):
        total = total / 3 + i * x
    return total


def flat_changed(a):
    for i, x in enumerate(a.flat):
        a.flat[(i + 1) % a.size] = x + 1
    return a


def numbered_changed(a):
    for at, x in np.ndenumerate(a):
        if at[-1] + 1 < a.shape[-1]:
            a[at[:-1] + (at[-1] + 1,)] += x
    return a


@pytest.mark.parametrize("args", [args for args in LAID if args[0].ndim], ids=lambda args: f"{args[0].shape}")
def test_counted_indices(args):
    for f in (kept, flat_items, flat_changed, numbered_changed):
        agree(f, *args)


def test_counted_places():
    compiled = agree(places_kept, 3)
    for n in (1, 2, 5):
        agree(places_kept, n, compiled=compiled)
    compiled = agree(no_places, 2, 3)
    for n, m in ((0, 3), (3, 0), (0, 0), (1, 1), (-1, 2)):
        agree(no_places, n, m, compiled=compiled)
    agree(flat_items, np.zeros((0, 3)))
    agree(flat_items, np.zeros((3, 0)).T)


def test_more_places_than_64_bits_count():
    assert njit(without_end)(1 << 40) == (0, 0, 3)
