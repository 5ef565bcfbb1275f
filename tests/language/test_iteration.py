"""Generators, generator expressions, and the builtins that make and take iterators."""
import collections
import itertools
import math

import numpy as np
import pytest

from pyjitc import jit, njit
from tests.language.corpus import check, corpus, each
from tests.oracle import agree

case, CASES = corpus()


# Builtins

@case((np.arange(3.0), 2),)
def enumerates(a, start):
    out = 0.0
    for i, x in enumerate(a):
        out += i * x
    for i, x in enumerate(a, start):
        out = out * 10 + i * x
    for i, x in enumerate((1, 2.5), start=start):
        out = out * 10 + i * x
    for i, (j, x) in enumerate(enumerate(range(4))):
        out += i * j * x
    return out


@case((np.arange(3.0), 5),)
def zips(a, n):
    out = 0.0
    for x, i in zip(a, range(n)):
        out = out * 10 + x * i
    for x, y, z in zip(range(n), (1, 2, 3), a):
        out += x * y * z
    for (x,) in zip(range(n)):
        out += x
    for x, (i, y) in zip(range(n), enumerate(a)):
        out += x * i * y
    for _ in zip():
        out = -1.0
    return out


@case((2,), (3,), (4,))
def zip_strict(n):
    out = 0
    for a, b in zip(range(3), range(n), strict=True):
        out += a * b
    return out


@case((4,))
def maps(n):
    out = 0.0
    for x in map(lambda v: v * n, range(n)):
        out = out * 10 + x
    for x in map(math.sqrt, (1.0, 4.0)):
        out += x
    for x in map(lambda a, b: a - b, range(n), (5, 6, 7)):
        out += x
    return out


@case((4,))
def filters(n):
    out = 0
    for x in filter(lambda v: v % 2, range(n)):
        out = out * 10 + x
    for x in filter(None, (0, 1, 0, 5)):
        out = out * 10 + x
    return out


@case((4,))
def reverses(n):
    out = 0
    for x in reversed((1, 2, n)):
        out = out * 10 + x
    for x in reversed(range(n)):
        out = out * 10 + x
    return out


@case((4,), (0,))
def iter_next(n):
    it = iter(range(n))
    a = next(it, -1)
    total = 0
    for x in it:
        total = total * 10 + x
    return a, total, next(it, None)


@case((4,), (1,), (0,))
def next_runs_out(n):
    it = iter(range(n))
    a = next(it)
    b = next(it)
    return a, b


@case(((1, 2.5, 3),))
def iter_of_tuple(t):
    it = iter(t)
    a = next(it)
    for x in it:
        a += x
    return a


@case((5,))
def iterator_passed(n):
    def take(it):
        return next(it) + next(it)

    it = iter(range(n))
    a = take(it)
    return a, take(it), next(it)


@case((6,))
def pairs_of_one_iterator(n):
    it = iter(range(n))
    out = 0
    for a in it:
        b = next(it)
        out = out * 100 + a * 10 + b
    return out


@case((np.array([3.0, 1.0, 2.0]),))
def folds(a):
    return min(a), max(a), sum(a), any(a), all(a), sum(a, 1.5), len(a)


@case((5,))
def folds_of_ranges(n):
    return sum(range(n)), max(range(n)), min(range(1, n)), any(range(1)), all(range(1, n)), sum(range(0))


@case((0,))
def empty_min(n):
    return min(range(n))


@case((0,))
def empty_max(n):
    return max(x for x in range(n))


# Generator expressions

@case((5,), (1,))
def sum_of_generator(n):
    return sum(i * i for i in range(n)), sum(i for i in range(n) if i % 2), sum(i * 0.5 for i in range(n))


@case((5,), (2,))
def any_all_of_generator(n):
    return any(i > 3 for i in range(n)), all(i < 3 for i in range(n)), any(i for i in ()), all(i for i in ())


@case((5,))
def extremes_of_generator(n):
    return max(i * (4 - i) for i in range(n)), min(i * i - 3 * i for i in range(n))


@case((4,))
def generator_nested_loops(n):
    return sum(i * j for i in range(n) for j in range(i) if (i + j) % 2)


@case((4,))
def generator_in_generator(n):
    return sum(sum(i * j for j in range(i)) for i in range(n))


@case((4,))
def generator_captures(n):
    k = n * 2
    a = sum(i * k for i in range(n))
    k = 0.5
    return a, sum(i * k for i in range(n))


@case((4,))
def generator_in_for(n):
    out = 0
    for x in (i * 3 for i in range(n)):
        out = out * 100 + x
        if x > 5:
            break
    return out


@case((np.arange(4.0),))
def generator_over_array(a):
    return sum(x * x for x in a), max(-x for x in a), sum(x * y for x, y in zip(a, a))


@case((3,))
def unpack_generator(n):
    a, b, c = (i * i for i in range(3))
    return a, b, c


@case((3,), (2,), (4,))
def unpack_generator_count(n):
    a, b, c = (i * i for i in range(n))
    return a, b, c


@case((4,))
def generator_walrus(n):
    total = sum((last := i) for i in range(n))
    return total, last


@case((4,))
def zip_of_generators(n):
    out = 0
    for a, b in zip((i for i in range(n)), (i * i for i in range(1, n))):
        out = out * 10 + a * b
    return out


@case((4,))
def map_over_generator(n):
    return sum(map(lambda v: v + 1, (i * i for i in range(n)))), sum(filter(lambda v: v > 1, (i for i in range(n))))


@case((4,))
def enumerate_generator(n):
    return sum(i * x for i, x in enumerate(j + 10 for j in range(n)))


# Generator functions

def count_to(n):
    i = 0
    while i < n:
        yield i
        i += 1


def squares(n):
    for i in range(n):
        yield i * i


def fibonacci(limit):
    a, b = 0, 1
    while a < limit:
        yield a
        a, b = b, a + b


def two_kinds(n):
    yield n
    yield n + 0.5
    for i in range(n):
        yield i


def early(n):
    for i in range(100):
        if i == n:
            return
        yield i


def pairs(n):
    for i in range(n):
        for j in range(i):
            yield i, j


def nothing():
    return
    yield


def raises_after(n):
    for i in range(n):
        yield i
    raise ValueError("generator failed", n)


def with_except(n):
    for i in range(-2, n):
        try:
            yield 10 // i
        except ZeroDivisionError:
            yield -1


def with_default(n, step=2, *, start=1):
    while start < n:
        yield start
        start += step


@case((5,), (0,))
def generator_functions(n):
    out = 0
    for x in count_to(n):
        out = out * 10 + x
    for x in squares(n):
        out = out + x
    for x in fibonacci(n * 10):
        out += x
    for i, j in pairs(n):
        out += i * j
    for _ in nothing():
        out = -1
    for x in early(n):
        out += x
    return out


@case((3,))
def generator_of_two_kinds(n):
    total = 0.0
    for x in two_kinds(n):
        total += x
    return total


@case((5,))
def generators_folded(n):
    return (sum(squares(n)), max(fibonacci(50)), any(count_to(n)), sum(with_default(10)),
            sum(with_default(10, 3, start=n)))


@case((5,))
def generators_zipped(n):
    return sum(a * b for a, b in zip(count_to(n), squares(n)))


@case((3,))
def generator_raises(n):
    total = 0
    for x in raises_after(n):
        total += x
    return total


@case((3,))
def generator_raises_caught(n):
    total = 0
    try:
        for x in raises_after(n):
            total += x
    except ValueError as e:
        return total, e.args
    return -1


@case((3,))
def generator_except(n):
    out = 0
    for x in with_except(n):
        out = out * 20 + x
    return out


@case((4,))
def generator_in_variable(n):
    g = squares(n)
    total = 0
    for x in g:
        total += x
    return total


@case((4,))
def generator_next(n):
    g = squares(n)
    a = next(g)
    b = next(g)
    return a, b, sum(g), next(g, -1)


@case((4,))
def generator_expression_in_variable(n):
    g = (i * 2 for i in range(n))
    return next(g), next(g), sum(g)


@case((2,))
def generator_passed(n):
    def take(it):
        return next(it) * 10 + next(it)

    g = count_to(9)
    return take(g), take(g), sum(g)


@case((4,))
def generator_twice(n):
    g = count_to(n)
    return sum(g), sum(g)


@case((4,))
def inner_generator(n):
    k = 3

    def gen(m):
        for i in range(m):
            yield i * k

    return sum(gen(n)), max(gen(n))


@case((3,))
def generator_chooses(n):
    def gen():
        if n > 2:
            yield 1
        else:
            yield 2.5
        yield n

    total = 0
    for x in gen():
        total += x
    return total


@case((5,))
def loop_breaks_generator(n):
    for x in count_to(n):
        if x == 3:
            break
    else:
        return -1
    return x


@case((5,))
def nested_generator_calls(n):
    def doubled(it):
        for x in it:
            yield x * 2

    return sum(doubled(count_to(n))), sum(doubled(doubled(range(n))))


@case((5,))
def iterators_in_variables(n):
    z = zip(range(n), range(1, n))
    first = 0
    for a, b in z:
        first += a * b
        if a == 1:
            break
    rest = 0
    for a, b in z:
        rest += a * b
    e = enumerate(range(n))
    m = map(lambda v: v * 2, range(n))
    f = filter(None, range(n))
    return (first, rest, next(e), next(e), next(m), sum(m), sum(m), next(f), next(reversed(range(n))),
            next(zip((1, 2), (3, 4))))


@case((5,))
def generator_used_in_a_loop(n):
    g = count_to(n)
    out = 0
    for i in range(3):
        for x in g:
            out = out * 10 + x
            if x % 2:
                break
    return out


@case((5,))
def generator_made_in_a_loop(n):
    out = 0
    for i in range(3):
        g = count_to(n)
        for x in g:
            out += x * i
    return out


@case((5,))
def generator_passed_twice(n):
    def both(it):
        a = 0
        for x in it:
            a += x
            if x == 2:
                break
        b = 0
        for x in it:
            b += x
        return a, b

    return both(count_to(n)), both(range(n)), both(map(abs, range(-n, 0))), both(i * i for i in range(n))


@case((3,))
def generator_raises_then_ended(n):
    g = raises_after(n)
    total = 0
    try:
        for x in g:
            total += x
    except ValueError:
        total += 100
    return total, next(g, "ended")


@case((4,))
def zip_of_generator_objects(n):
    g = count_to(n)
    out = 0
    for a, b in zip(g, g):
        out = out * 100 + a * 10 + b
    z = zip(squares(n), count_to(n + 1))
    a = next(z)
    return out, a, sum(x * y for x, y in z), next(z, None)


@case((6,))
def generator_states_of_many_types(n):
    def gen():
        yield 1
        x = 2.5
        yield x
        y = (n, x)
        yield y[0]
        z = None
        yield n
        if z is None:
            yield y[1] * 2
        yield n

    g = gen()
    return next(g), next(g), next(g), next(g), next(g), next(g), next(g, None)


@case((5,))
def generator_holds_an_iterator(n):
    def skip(it, k):
        for x in it:
            if x % k:
                yield x

    g = count_to(n)
    first = next(g)
    h = skip(g, 2)
    return first, next(h), next(h), next(g, -1)


@case((5, np.arange(5.0)))
def generator_holds_an_array(n, a):
    g = (a[i:] for i in range(n))
    first = next(g)
    total = 0.0
    for v in g:
        total += v[0]
    return first[1], total


@case((np.array([1.0, -3.0, 2.0, 3.0]), 7), (np.array([1, -3, 2, 3], np.int8), -2.5),
      (np.zeros(2, np.uint8), np.int8(7)))
def greatest_by_a_key(a, k):
    far = max(range(len(a)), key=lambda i: a[i])
    return (max(a, key=abs), min(a, key=lambda x: (x - 2) ** 2), far, min(enumerate(a), key=lambda p: p[1]),
            max(zip(a, range(5)), key=lambda p: p[0])[1], max(1, -5, k, key=abs),
            min((1, 2.5), (0, 3), key=lambda t: t[1]), max(a, key=None))


@case((np.array([1.0, -3.0, 2.0]), 1), (np.array([1, 2, 3], np.uint8), 5), (np.zeros(0), 0))
def greatest_or_a_default(a, k):
    return (max((x for x in a if x > k), default=None), min((x for x in a if x > k), default=(k, a)),
            max((), default=k), min((k,), default=None), max((x for x in a if x > k), key=lambda x: -x, default="none"))


@case((np.zeros(0),), (np.array([1.0, 2.0]),))
def greatest_of_nothing_by_a_key(a):
    return max(a, key=lambda x: 1 // int(x - 2))


@case((5,))
def generator_chosen(n):
    g = count_to(n) if n > 3 else squares(n)
    return sum(g)


@case((10, slice(2, 5)), (10, slice(None, None, -1)), (10, slice(-3, None)), (7, slice(1, 100, 3)), (0, slice(5)),
      (5, slice(0, 4, 0)))
def slices_of_ranges(n, part):
    found = range(n)[part]
    return found, list(found), len(range(1, n, 2)[part]), range(n)[1:-1], range(n)[::-2]


@case(([],), ([1, 2],))
def iterators_of_nothing(xs):
    halves = []
    for x in iter(xs):
        halves.append(x // 2)
    return halves, list(map(lambda x: x * 2, iter(xs)))


class Dice:
    def __init__(self):
        self.thrown = 0

    def __call__(self):
        self.thrown = (self.thrown * 3 + 1) % 7
        return self.thrown


@case(([3, 5, 1, 2, 7],))
def calls_until_a_sentinel(xs):
    at = 0

    def following():
        nonlocal at
        at += 1
        return xs[at - 1] if at <= len(xs) else None

    total = sum(iter(following, None))
    popped = iter(xs.pop, 5)
    first, second = next(popped), next(popped, -1)
    dice = Dice()
    return total, first, second, list(popped), list(iter(lambda: xs.pop(), 3)), xs, list(iter(dice, 6)), dice.thrown


@case(([3],), (Dice,), (2.5,), (None,), (np.arange(2),), (len,))
def callables(x):
    return callable(x), callable(len), callable([].append), callable(Dice())


@each(CASES)
def test_agrees(function, calls):
    check(function, calls)


def asked_again(d, s, b):
    own, made, text = {1: 2}, {n for n in (1, 2)}, bytearray(b"ab")
    iterators = iter(d), iter(d.values()), iter(d.items()), iter(s), iter(b), iter(own), iter(made), iter(text)
    found = ([x for x in iterators[0]], [x for x in iterators[1]], [x for x in iterators[2]],
             len([x for x in iterators[3]]), [x for x in iterators[4]], [x for x in iterators[5]],
             [x for x in iterators[6]], [x for x in iterators[7]])
    d[99] = own[99] = 1
    s.add(99)
    made.add(99)
    b.append(99)
    text.append(99)
    return (found, next(iterators[0], -1), next(iterators[1], -1), next(iterators[2], (-1, -1)),
            next(iterators[3], -1), next(iterators[4], -1), next(iterators[5], -1), next(iterators[6], -1),
            next(iterators[7], -1), [x for x in iterators[2]])


def test_iterators_that_have_come_to_their_end_stay_there():
    agree(asked_again, {1: 2, 3: 4}, {1, 2}, bytearray(b"xy"))


def test_ends_of_slices():
    def ends(s, n):
        return s.indices(n)

    compiled = njit(ends)
    for step in (None, -2, 1, 3, 0):
        for s in (slice(None, None, step), slice(-3, 9, step), slice(7, -7, step), slice(0, None, step)):
            for n in (5, 0, -1):
                agree(ends, s, n, compiled=compiled)
    for s in (slice(True), slice(np.int64(-2), True), slice(None, None, True), slice(1, 4, np.int8(2))):
        agree(ends, s, 5, compiled=compiled)


def test_a_stop_iteration_that_leaves_a_generator_is_a_runtime_error():
    def pairs(it):
        while True:
            yield next(it), next(it)

    def first(x):
        if not x:
            raise StopIteration(5)
        yield x[0]

    def taken(x, n):
        try:
            return [pair for pair in pairs(iter(x))] if n else [v for v in first(x)]
        except RuntimeError as e:
            return str(e), repr(e.__cause__), e.__context__ is e.__cause__

    def caught(it):
        try:
            yield next(it)
        except StopIteration:
            yield -1

    def escapes(x):
        for pair in pairs(iter(x)):
            x = x[1:]
        return x

    compiled = njit(taken)
    for x in ([], [1], [1, 2, 3]):
        for n in range(2):
            agree(taken, x, n, compiled=compiled)
    agree(lambda x: list(caught(iter(x))), [])
    agree(escapes, [1, 2, 3])


def is_next(it, values, keys, wanted):
    for v in it:
        values[0] = v
        keys[0] = v
        return wanted == v
    keys.clear()
    return False


def one_group(it, values, keys, wanted):
    if values:
        yield values[0]
        while values and is_next(it, values, keys, wanted):
            yield values[0]


def groups(xs):
    it = iter(xs)
    keys = []
    for v in it:
        values = list(())
        values.append(v)
        keys.append(v)
        while keys:
            wanted = keys[0]
            yield wanted, iter(one_group(it, values, keys, wanted))
            if keys and keys[0] == wanted:
                while is_next(it, values, keys, wanted):
                    pass
            following = list(())
            following.append(values[0])
            values.clear()
            values = following


def test_iterators_whose_types_differ_in_type_variables_alone():
    agree(lambda text: [(c, len(list(g))) for c, g in groups(text)], "aabbc")
    agree(lambda text: [c for c, g in groups(text)], "aabbc")


def passed_groups(xs):
    kept, firsts = [], []
    for key, group in itertools.groupby(xs, key=lambda x: x // 10):
        kept.append(group)
        if key % 2:
            firsts.append(next(group))
    return firsts, [len(list(group)) for group in kept]


def test_a_group_that_groupby_has_left_is_empty():
    agree(passed_groups, [1, 2, 11, 12, 13, 3, 4, 15, 21, 22])
    agree(passed_groups, [])


def test_one_iterator_several_times_beside_displays_that_are_lists():
    def f(n):
        x = [iter("abcdef")] * 2
        return list(zip(*x)), list(zip(*[iter(range(n))] * 3)), list(itertools.permutations([1, 2, n], 2))

    def g(n):
        return list(zip(*[iter("abcdef")] * 2)), sum([[1], [n]], [])

    for compiler in (njit, jit):
        agree(f, 7, compiled=compiler(f))
        agree(g, 7, compiled=compiler(g))


def captured_iterator(xs):
    xs = iter([*xs, None])

    def following():
        return next(xs)

    total = 0
    while True:
        x = following()
        if x is None:
            return total
        total += x


def tokens(xs):
    xs = iter([*xs, -1])
    token = next(xs)

    def advance():
        nonlocal token
        token = next(xs)

    found = []
    while token != -1:
        found.append(token)
        advance()
    return found


def rest_of_an_iterator(xs):
    xs = iter(xs)

    def following():
        return next(xs, None)

    return following(), following(), [*xs], list(xs), tuple(xs)


@pytest.mark.parametrize("function", [captured_iterator, tokens, rest_of_an_iterator])
@pytest.mark.parametrize("xs", [[1, 2, 3, 4], [1], []], ids=str)
def test_a_captured_parameter_that_becomes_an_iterator(function, xs):
    agree(function, xs, compiled=njit(function))


@pytest.mark.parametrize("k", range(3))
def test_a_list_grows_by_one_of_several_iterables(k):
    def f(xs, k):
        found = [0]
        found += xs if k else (4, 5)
        found.extend(xs if k > 1 else (i for i in range(3)))
        return found

    agree(f, [1, 2], k, compiled=njit(f))


def test_enumerate_starts_at_an_int():
    def f(xs, start):
        return list(enumerate(xs, start))

    for start in (np.int8(3), True, -2):
        agree(f, (1.5, 2.5), start)
    for start in (2.5, np.float32(1), "a"):
        with pytest.raises(TypeError) as expected:
            f((1.5, 2.5), start)
        with pytest.raises(TypeError) as found:
            njit(f)((1.5, 2.5), start)
        assert str(expected.value) == str(found.value).splitlines()[0]
        with pytest.raises(TypeError, match=str(expected.value)):
            jit(f)((1.5, 2.5), start)


def test_an_iterator_over_one_of_several_iterables_is_kept():
    def rotated(items, full):
        return itertools.chain(items[2:] if full else (), items[:2])

    def f(items, full):
        found = rotated(items, full)
        return next(found), list(found), list(rotated(items, not full))

    for full in (True, False):
        agree(f, [1, None, 3, 4], full)


def roundrobin(*iterables):
    active = collections.deque(iter(one) for one in iterables)
    while active:
        it = active.popleft()
        try:
            yield next(it)
        except StopIteration:
            continue
        active.append(it)


def subsets(items):
    kept = list(items)
    return itertools.chain.from_iterable(itertools.combinations(kept, n) for n in range(len(kept) + 1))


def test_iterators_of_several_types_are_kept_in_one_container():
    def turns(xs):
        return "".join(map(str, roundrobin("abc", xs, "z"))), list(subsets(xs))

    def in_lists(xs):
        some = [iter(xs) if k else None for k in (0, 1)]
        made = [map(str, xs) if k else (2 * x for x in xs) for k in (0, 1)]
        held = {}
        for k in range(2):
            held[k] = it = iter(xs) if k else iter("ab")
            next(it)
        return [it and next(it) for it in some], [list(it) for it in made], list(held[0]), list(held[1])

    for xs in ([3, 1, 2], [4]):
        agree(turns, xs)
        agree(in_lists, xs)


def test_an_iterator_of_several_types_is_returned():
    def one(xs, k):
        return iter(xs) if k else iter("ab")

    def several(xs, k):
        return (iter(xs) if n else [k] for n in (0, 1, 2))

    for k in (0, 1):
        assert list(njit(one)([1, 2], k)) == list(one([1, 2], k))
    assert list(map(list, njit(several)([1, 2], 5))) == [[5], [1, 2], [1, 2]]


def test_groups_are_kept_in_a_list():
    def f(xs):
        groups = list(itertools.groupby(xs))
        return len(groups), [key for key, _ in groups], [(key, list(group)) for key, group in groups]

    agree(f, [1, 1, 2, 3, 3])
    agree(f, [])
