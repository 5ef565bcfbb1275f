"""Mixtures: exceptions, closures, generators, unions and matching in one function."""
import collections
import math

import numpy as np
import pytest
from pyjitc import TypingError, njit

from tests.language.corpus import check, corpus, each
from tests.oracle import agree_on

case, CASES = corpus()
P = collections.namedtuple("P", "x y")


@case((0,), (1,), (2,), (3,))
def fin_all(k):
    out = 0
    for i in range(4):
        try:
            try:
                if i == k:
                    if k == 0:
                        break
                    if k == 1:
                        continue
                    if k == 2:
                        return out
                    raise KeyError(i)
                out += 1
            except KeyError as e:
                out += 1000
                raise ValueError(out) from e
            else:
                out += 10
            finally:
                out += 100
                for j in range(2):
                    try:
                        out += j // (1 - j)
                    except ZeroDivisionError:
                        continue
        except ValueError as v:
            out += v.args[0]
        finally:
            out += 10000
    else:
        out = -out
    return out


@case((3,))
def union_cell(n):
    best = None

    def visit(i):
        nonlocal best
        if best is None or i > best:
            best = i
    for i in range(n):
        visit(i * 7 % 5)
    return best


@case((3,), (0,))
def str_union(n):
    s = None
    for i in range(n):
        s = f"{i}" if s is None else f"{s},{i}"
    return s


@case((5,))
def exc_value_union(n):
    last = None
    for i in range(n):
        try:
            if i % 2:
                raise ValueError(i)
            if i % 3 == 2:
                raise KeyError(i)
        except Exception as e:
            last = e
    if last is None:
        return 0
    return (last.args, repr(last))


@case((np.arange(4.0), 2), (np.arange(4.0), 9))
def arr_union(a, i):
    b = a[1:] if i < 3 else None
    if b is not None:
        b[0] = 7.0
        return b
    return a


@case((3,), (4,))
def tuple_of_union(n):
    x = n if n > 3 else None
    t = (x, n)
    y, z = t
    if y is None:
        return z
    return (y + z, t)


@case((3,), (4,), (5,))
def tuple_of_unions_at_run_time(n):
    x = n if n > 3 else None
    y = n if n > 4 else "small"
    found = 0
    for z in (x, y, x):
        found = found * 10 + (1 if z is None else 2 if isinstance(z, str) else z)
    return found, (x, y)[n % 2]


@case((3,), (4,), (5,))
def tuple_of_one_union(n):
    x = n if n > 3 else None
    for y in (x,):
        pass
    return y, sum(1 for _ in (x, x) if x is None)


@case((3,), (4,))
def nested_union_tuple(n):
    t = (n, None) if n > 3 else (None, n)
    a, b = t
    return (a, b, t[0] is None)


@case((10,))
def sieve(n):
    a = np.ones(n, np.bool_)
    out = 0
    for i in range(2, n):
        if a[i]:
            out = out * 10 + i
            for j in range(i * i, n, i):
                a[j] = False
    return out


@case((3,))
def ret_in_loop_else(n):
    for i in range(n):
        for j in range(n):
            if i * j == 99:
                break
        else:
            continue
        break
    else:
        return "no"
    return "yes"


@case((6,))
def gen_in_gen(n):

    def evens(m):
        for i in range(m):
            if i % 2 == 0:
                yield i

    def pairs(m):
        for a in evens(m):
            for b in evens(a):
                yield (a, b)
    return (sum((a * b for a, b in pairs(n))), max((b for _, b in pairs(n))))


@case((4,))
def rec_gen_sum(n):

    def tri(k):
        return 0 if k == 0 else sum((i for i in range(k))) + tri(k - 1)
    return tri(n)


@case((2,), (0,))
def deep_closure_union(n):
    f = None
    if n:
        f = lambda x: x + n
    if f is not None:
        return f(1)
    return -1


@case((3,))
def lambda_default_capture(n):
    fs = (lambda x, k=n: x * k, lambda x, k=n * 2: x * k)
    return (fs[0](2), fs[1](2), fs[0](2, k=9))


@case((1, 2.5, None), (None, 2.5, 1))
def sorted_out(a, b, c):
    total = 0
    for v in (a, b, c):
        match v:
            case None:
                total += 100
            case int(k):
                total += k
            case float(k):
                total += k * 10
    return total


@case((P(1, 2),), (P(2, 1),))
def match_namedtuple(p):
    match p:
        case P(x=1, y=b):
            return b
        case P(a, b) if a > b:
            return a * 100 + b
    return 0


@case((3,), (0,))
def while_with_try_break(n):
    i = 0
    while True:
        try:
            i += 1
            if i > n:
                break
            x = 10 // (i - 2)
        except ZeroDivisionError as e:
            x = len(e.args)
        else:
            x += 1
        finally:
            i += 1
    return i


@case((4,))
def mutual_exc(n):

    def a(k):
        if k == 0:
            raise ValueError("bottom")
        try:
            return b(k - 1)
        except KeyError:
            return -1

    def b(k):
        try:
            return a(k)
        except ValueError as e:
            if k < 2:
                raise
            raise KeyError(k) from e
    return a(n)


@case((3,))
def global_math(n):
    from math import sqrt as s, pi
    return (s(n) * pi, math.floor(2.5), math.gcd(12, n))


@case((3,))
def walrus_loop(n):
    i = 0
    while (i := (i + 1)) < n and (k := (i * 2)):
        pass
    return (i, k)


@case((True, 3), (False, 3))
def bool_arith(b, n):
    return (b + n, b * 2.5, -b, ~n, b == 1, b < n, n if b else -n, int(b), b & True, b | n, (1, 2)[b])


@case((5,))
def big_sum(n):
    return (sum(range(n), start=0.5), sum((1, 2.5, n)), sum((i for i in range(n)), 10))


@case((5,))
def minmax(n):
    return (min(n, 3, 7), max(n, 2.5), min((3, 1, 2)), max(n, n), min(2.5, n, 1))


@case((3,))
def print_gen(n):
    for i, x in enumerate((x * x for x in range(n))):
        print(i, x, sep=":", end=";")
    print(*(1, n, 2.5), sep="-")


@case((7, -2), (7, 0))
def divmods(a, b):
    try:
        q, r = divmod(a, b)
    except ZeroDivisionError as e:
        return str(e)
    return (q, r, a // b, a % b)


@case((3,))
def deltwice(n):
    for i in range(n):
        x = i
        if i == 1:
            del x
        else:
            continue
    return x


@case((2,), (1,))
def del_in_try(n):
    try:
        x = 1 // (n - 1)
        del x
        return x
    except UnboundLocalError as e:
        return ("unbound", len(e.args))
    except ZeroDivisionError:
        return "zero"


@case((0,), (1,))
def name_err(n):
    if n:
        return not_there
    return 0


@case((3,))
def cmp_chain_union(n):
    x = None if n > 5 else n
    return x is not None and 1 < x < 10


@case((2,))
def complex_flow(n):
    z = 1j
    for i in range(n):
        z = z * z + (0.1 + 0.2j)
        if abs(z) > 2:
            break
    else:
        return (z.real, z.imag, z.conjugate())
    return z


@case((3,))
def nested_func_default_mut(n):

    def f(a, *, b=n, c=(1, 2)):
        return a + b + c[1]
    return (f(1), f(1, b=2), f(a=1, c=(5, 6)))


@case((3,))
def staticlist(n):
    t = (1, 2, 3)
    return (n in t, t.index(n), t[n - 1], t[-n], 4 not in t, t + (n,), t[:2] + t[2:])


@case((1,), (3,))
def index_err(n):
    try:
        return (1, 2, 3)[n]
    except IndexError as e:
        return e.args


@case((1.0,), (0.0,))
def float_zero(x):
    try:
        return 1 / x
    except ZeroDivisionError as e:
        return str(e)


@case((3,))
def sum_of_products(n):
    return sum((a * b for a, b in zip(range(n), range(n, 0, -1)) if a != b))


@case((3,))
def unpack_enumerate(n):
    (i, x), (j, y) = enumerate((n, 2.5))
    return (i, x, j, y)


@case((3,))
def star_enumerate(n):
    a, b, c = map(lambda v: v * n, (1, 2, 3))
    d, e = zip((1, 2), (3, n))
    return (a, b, c, d, e)


@case((3,))
def reversed_enum(n):
    out = 0
    for i, (a, b) in enumerate(zip(reversed(range(n)), (5, 6, 7)), 1):
        out = out * 10 + i * a + b
    return out


@case((5,))
def inner_shadow(n):
    x = 1

    def f():
        x = 2

        def g():
            nonlocal x
            x += n
            return x
        g()
        return x
    return (f(), x)


@case((4,))
def funcs_in_loop(n):
    total = 0
    for f in (lambda x: x, lambda x: x * x, math.floor):
        for i in range(n):
            total += f(i)
    return total


@case((5,), (-1,))
def early_raise_else(n):

    def check(v):
        if v < 0:
            raise ValueError(f"negative: {v}")
        return v
    try:
        r = check(n)
    except ValueError as e:
        msg = str(e)
        return msg
    else:
        r += 1
    finally:
        n += 1
    return (r, n)


@case((1, 1, False, 3), (0, 1, True, 0), (0, 0, True, 4), (1, 0, True, 0))
def a_union_inside_a_tuple_of_a_union(p0, p1, p2, p3):
    v1 = (1, p2)
    if p3:
        v1 = True
    if p1:
        return (p3, v1)
    return v1


@case(*((a, b, 7) for a in (0, 1) for b in (0, 1)))
def tuples_that_differ_inside(a, b, x):
    v = (x, (1, x))
    if a:
        v = None
    elif b:
        return ((1.5, (v, x)), v)
    return v


@case(*((a, b, np.float32(7)) for a in (0, 1) for b in (0, 3, 5)))
def pairs_of_unions(a, b, x):
    v = 1
    if a:
        v = (x, 2.5)
    if b > 2:
        v = (x, None)
    w = (v, v)
    if b > 4:
        w = (None, x)
    return w


@case((0,), (1,), (2,), (3,))
def a_function_that_calls_itself_made_in_finally(k):
    try:
        if k == 2:
            return k
        if k == 3:
            raise KeyError(k)
    finally:
        def h(n, v):
            return h(n - 1, v + 1) if n else v
        k = h(k, k)
    return k, h(2, 0)


@case(*((np.array([3, 1]), flag, n) for flag in (True, False) for n in (2, 3, 4, 6, 8)))
def types_of_numbers_and_none(a, flag, n):
    x = None
    if flag:
        x = a[0]
    s = 0
    for i in range(n):
        if x is not None:
            s += x
        else:
            x = i
        if i == 3:
            s = s / 2
        if i == 5:
            s = s * 1j
    if n > 7:
        t = s
    return t if n > 7 else None


@case(*((x, np.arange(3.0), k) for x in (1, 2.5, None) for k in (0, 1, 3)))
def tuples_of_one_length_in_a_union(x, a, k):
    best = None
    for v in (x, (x, 2), (x, a), (1, x)):
        if isinstance(v, tuple):
            print(v[0], v[1])
            best = v if k else best
            k -= 1
        match v:
            case (u, np.ndarray() as b):
                print(u, b[0])
            case (1, y):
                print(y)
    return best


@case((3, True), (3, False))
def same_twice_or_none(x, t):
    y = x if t else None
    return y + y


@case((3, True, True), (3, True, False), (3, False, True), (3, False, False))
def two_or_none(x, t, s):
    y, z = x if t else None, x if s else None
    return y - z


@case((0,), (3,))
def the_best_or_a_tuple_of_other_types(n):
    best = None
    for i in range(n):
        if best is None or i > best[0]:
            best = (i, i)
    return best or (0, None)


@case((1,), (2,), (3,))
def one_of_two_tuples_or_another(n):
    p = (1, 2) if n == 1 else (1.5, "a") if n == 2 else None
    return p or (None, None)


@case((1,), (2,), (3,))
def a_tuple_that_meets_others_twice(n):
    p = (1, "x") if n == 1 else None
    q = p or ("y", None)
    r = q if n != 3 else (2.5, 3)
    return r, r[0], r[1]


@case((1,), (5,))
def nested_tuples_or_others(n):
    x = (n, (n, n)) if n > 2 else None
    y = x or (0, (None, "a"))
    return y, y[1][0]


@case((1,), (5,))
def named_tuples_or_others(n):
    p = P(1, n) if n > 2 else None
    q = p or P(None, 2.5)
    return q, q.x


@case((np.arange(6.0), 1), (np.arange(6.0), 3), (np.arange(6.0), 4))
def arrays_of_several_layouts_or_another(a, n):
    whole = a if n > 2 else None
    stepped = a[::2] if n > 3 else None
    found = whole if n % 2 else stepped
    return np.zeros(6)[::3] if found is None else found


@each(CASES)
def test_agrees(function, calls):
    check(function, calls)


def ten_types(k, a):
    if k == 0:
        t = 1
    elif k == 1:
        t = 1.5
    elif k == 2:
        t = 1j
    elif k == 3:
        t = a[0]
    elif k == 4:
        t = True
    elif k == 5:
        t = np.float64(3)
    elif k == 6:
        t = np.int8(3)
    elif k == 7:
        t = np.uint8(3)
    elif k == 8:
        t = np.float32(3)
    elif k == 9:
        t = np.complex64(3)
    return t


def ten_results(k, a):
    return (1 if k == 0 else 1.5 if k == 1 else 1j if k == 2 else a[0] if k == 3 else True if k == 4 else np.float64(3)
            if k == 5 else
            "text" if k == 6 else a if k == 7 else a > 1 if k == 8 else np.int8(3))


def test_too_many_types_where_paths_meet():
    for function in (ten_types, ten_results):
        with pytest.raises(TypingError, match=r"one value here may have any of (9|10) types: "):
            njit(function)(0, np.ones(3, int))


def one_of_three(o, a, p, k):
    return (o, a[::-1], p)[k]


def rebound_and_captured(o, a, p, k):
    o = (o, a[::-1], p)[k]

    def change(i):
        o[i] = k + 1

    change(0)


def rebound_in_a_loop(o, a, p, k):
    x = (o, a[::-1], p)[k]
    y = x
    for i in range(3):
        if i == 1:
            y = a[::-1]
        y[i] += k + 1
        y = x
    return y


def carried_from_trip_to_trip(o, a, p, k):
    x = a[::-1]
    for _ in range(3):
        x[0] += 1
        x = (o, x, p)[k]
    return x


def generated(o, a, p, k):
    def both():
        yield a[::-1]
        yield (o, a[::-1], p)[k]

    total = 0
    for x in both():
        x[0] += 4
        total += len(x)
    return total


def set_by_a_closure(o, a, p, k):
    x = a[::-1]

    def change(new):
        nonlocal x
        x = new

    change((o, a[::-1], p)[k])
    x[0] = 8
    return x


def in_a_list(o, a, p, k):
    x = [a[::-1]]
    x.append((o, a[::-1], p)[k])
    x[1][0] = 5
    return x


@pytest.mark.parametrize("function", [
    one_of_three, rebound_and_captured, rebound_in_a_loop, carried_from_trip_to_trip, generated, set_by_a_closure,
    in_a_list])
def test_an_item_of_a_tuple_of_arrays_of_several_layouts(function):
    """The item may be contiguous or not, and so may the variable that takes it."""
    rows = np.arange(9).reshape(3, 3)
    agree_on(function, *((*rows.copy(), k) for k in (0, 1, 2)))
