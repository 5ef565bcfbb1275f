"""Calls: parameters of every kind, closures, recursion, functions as values."""
import functools
import math
import operator
import random

import numpy as np
import pytest

from pyjitc import njit
from tests.language.corpus import check, corpus, each
from tests.oracle import agree, same

case, CASES = corpus()


# Parameters

def plain(a, b):
    return a * 10 + b


def defaults(a, b=2, c=3.5):
    return a * 100 + b * 10 + c


def keyword_only(a, *, k, m=4):
    return a * 100 + k * 10 + m


def positional_only(a, b, /, c=5):
    return a * 100 + b * 10 + c


def variadic(*args):
    return len(args), args


def first_and_rest(a, *rest, k=1):
    return a, rest, k


def keywords(**kwargs):
    return len(kwargs), kwargs["x"]


def options(**kwargs):
    return kwargs["x"] if "x" in kwargs else 10 if "y" not in kwargs else -kwargs["y"]


def everything(a, b=2, /, c=3, *args, d, e=5, **kwargs):
    return a, b, c, args, d, e, len(kwargs)


def none_default(a, b=None):
    if b is None:
        b = a * 2
    return a + b


@case((1, 2), (1.5, 2))
def calls_plain(a, b):
    return plain(a, b), plain(b=a, a=b), plain(a, b=b)


@case((1,))
def calls_defaults(a):
    return defaults(a), defaults(a, 7), defaults(a, 7, 8), defaults(a, c=1), defaults(c=a, a=2), defaults(a, b=1.5)


@case((1,))
def calls_keyword_only(a):
    return keyword_only(a, k=2), keyword_only(a, k=2, m=9), keyword_only(k=a, a=3)


@case((1,))
def calls_positional_only(a):
    return positional_only(a, 2), positional_only(a, 2, 3), positional_only(a, 2, c=a)


@case((1, 2.5))
def calls_variadic(a, b):
    return variadic(), variadic(a), variadic(a, b, (a, b))


@case((1, 2.5))
def calls_first_and_rest(a, b):
    return first_and_rest(a), first_and_rest(a, b, b), first_and_rest(a, b, k=a)


@case((1, 2.5))
def calls_keywords(a, b):
    return keywords(x=a), keywords(y=a, x=b), keywords(**{"x": a, "z": 1}), options(x=a), options(y=b), options()


@case((1, 2.5))
def calls_everything(a, b):
    return everything(a, d=b), everything(a, b, 1, 2, 3, d=4, z=5, y=6), everything(a, d=1, e=b)


@case((1,), (2.5,))
def calls_none_default(a):
    return none_default(a), none_default(a, 3), none_default(a, b=None)


@case(((1, 2),), ((1.5, 2),))
def star_call(t):
    return plain(*t), defaults(*t), defaults(*t, 9), defaults(*t, c=8), plain(*(t[1], t[0]))


@case(((1, 2),))
def star_several(t):
    return variadic(*t, *t), variadic(0, *t, 9, *(5,)), plain(*t[:1], *t[1:])


@case(([[1, 2, 3], [3, 2, 50]],), ([[-7, 3], [3, -7]],), ([],))
def star_calls_of_any_length(rows):
    more = {1, 2, 3, 50}
    return (["{}-{}".format(*row) for row in rows], set().union(*rows), {9}.union(*rows), more.intersection(*rows),
            more.difference(*rows), sum(max(*map(abs, row)) for row in rows), more)


@case(([1, 2.5],), ([3, True],))
def star_calls_with_items_of_several_types(items):
    return list(map(float, items)), list(map(float, *[items])), [float(*[x]) for x in items], max(*items)


@case(([[1, 2, 3], [3, 2, 50]],), ([],))
def star_calls_of_a_class(rows):
    return set.intersection(*[set(row) for row in rows]), set.union(*map(set, rows))


@case((1, 2))
def double_star_call(a, b):
    return plain(**{"a": a, "b": b}), defaults(a, **{"c": b}), plain(*(a,), **{"b": b})


@case((1,))
def star_and_keyword(a):
    t = (a, 2)
    return defaults(*t, c=2), everything(*t, 3, d=4), keyword_only(*(a,), k=2)


@case((1, 2))
def forwards(a, b):
    def outer(*args, **kwargs):
        return defaults(*args, **kwargs)

    return outer(a), outer(a, b), outer(a, c=b), outer(a=b)


@case((1, 2))
def keywords_used(a, b):
    def take(**kw):
        return kw["p"] * 10 + kw["q"], len(kw)

    return take(p=a, q=b), take(q=a, p=b, r=1)


@case((4,), (4, 7), (4, 7, 9.5))
def own_default(a, b=10, c=0.5):
    return a + b * c


@case((4,), (4, 1), (4, 1, 2, 3.5))
def own_star(a, *rest):
    total = a
    for x in rest:
        total += x
    return total, len(rest)


@case((3,))
def default_evaluated_at_definition(n):
    k = n

    def f(x=k):
        return x

    k = 100
    return f(), f(k)


@case((3,))
def kwdefault_captured(n):
    def f(*, x=n * 2, y=1.5):
        return x + y

    return f(), f(x=1), f(y=n)


# Lambdas, closures

@case((3,))
def lambdas(n):
    square = lambda v: v * v  # noqa: E731
    add = lambda a, b=2, *rest, k=1: a + b + k + len(rest)  # noqa: E731
    return square(n), add(n), add(n, 5), add(n, 5, 6, 7, k=10), (lambda: n + 1)(), (lambda *a: a)(n, 2)


@case((3,))
def late_binding(n):
    f = lambda: n  # noqa: E731
    n = n + 10
    return f()


@case((4,))
def captures_loop_variable_late(n):
    f = lambda: -1  # noqa: E731
    for i in range(n):
        if i == 1:
            f = lambda: i * 10  # noqa: E731
    return f()


@case((4,))
def captures_loop_variable_early(n):
    total = 0
    for i in range(n):
        total += (lambda i=i: i * i)()
    return total


@case((4,))
def closure_called_in_loop(n):
    total = 0
    for i in range(n):
        f = lambda x: x + i  # noqa: E731
        total += f(10)
    return total


@case((4,))
def nonlocal_counter(n):
    count = 0

    def bump():
        nonlocal count
        count += 1
        return count

    for _ in range(n):
        bump()
    return bump(), count


@case((4,))
def two_closures_share(n):
    x = 0

    def up(k):
        nonlocal x
        x += k

    def get():
        return x

    up(n)
    a = get()
    up(1)
    return a, get(), x


@case((4,))
def two_levels(n):
    x = n

    def outer(a):
        y = a + x

        def inner(b):
            nonlocal y
            y += b
            return x + y + b

        return inner(1) + inner(2) + y

    return outer(10)


@case((4,))
def nonlocal_two_levels(n):
    x = 0

    def outer():
        def inner():
            nonlocal x
            x += n
            return x

        return inner() + inner()

    return outer(), x


@case((4,))
def parameter_is_a_cell(n):
    def grow():
        nonlocal n
        n *= 2
        return n

    grow()
    grow()
    return n


@case((4,))
def cell_changes_type(n):
    x = n

    def change():
        nonlocal x
        x = 2.5

    before = x
    change()
    return before, x


@case((0,), (1,))
def cell_unbound(n):
    def read():
        return x

    if n:
        x = n + 0.5
    return read()


@case((0,), (1,))
def cell_deleted(n):
    x = n

    def read():
        return x

    a = read()
    if n:
        del x
    return a, read()


@case((0,), (1,))
def own_cell_unbound(n):
    if n:
        x = 5

    def read():
        return x

    return x + read()


@case((5,))
def closure_made_by_closure(n):
    def adder(k):
        def add(x):
            return x + k

        return add

    return adder(n)(1), adder(0.5)(1)


@case((5,), (-5,))
def choose_function(n):
    if n > 0:
        f = lambda x: x + 1  # noqa: E731
    else:
        f = lambda x: x * 2.0  # noqa: E731
    return f(n)


@case((5, 2), (-5, 2))
def choose_closure(n, k):
    if n > 0:
        def f(x):
            return x + k
    else:
        def f(x):
            return x * n
    return f(n)


@case((0, 2.0), (1, 2.0), (2, 2.0), (-1, 2.0), (3, 2.0))
def tuple_of_functions(i, x):
    fs = (math.sin, math.cos, math.sqrt)
    return fs[i](x)


@case((0, 4), (1, 4), (2, 4))
def tuple_of_lambdas(i, x):
    fs = (lambda v: v + x, lambda v: v * x, lambda v: -v)
    return fs[i](10)


@case((4,))
def loop_over_functions(x):
    total = 0.0
    for f in (math.sin, abs, lambda v: v * 2, float):
        total += f(x)
    return total


def apply(f, *args):
    return f(*args)


def apply_twice(f, x):
    return f(f(x))


def compose(f, g):
    return lambda x: f(g(x))


@case((2.0,))
def functions_as_arguments(x):
    k = x * 3
    return (apply(math.sin, x), apply(lambda a, b: a - b, x, 1), apply(plain, x, 2), apply_twice(lambda v: v * k, x),
            apply(max, 1, x), apply(float, 3), apply(operator.add, x, 1))


@case((2.0,))
def composed(x):
    return compose(math.exp, math.log)(x), compose(lambda v: v + 1, lambda v: v * x)(3)


@case((5,))
def function_in_tuple(n):
    pair = (n, lambda v: v + n)
    k, f = pair
    return f(k), pair[1](1)


@case((5,))
def keyword_function(n):
    def integrate(f, a, b, *, steps=4):
        h = (b - a) / steps
        total = 0.0
        for i in range(steps):
            total += f(a + i * h)
        return total * h

    return integrate(lambda x: x * x, 0.0, n), integrate(math.sin, 0.0, 1.0, steps=n)


# Recursion

def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def power(x, n, result=1):
    if n == 0:
        return result
    return power(x, n - 1, result * x)


def hanoi(n, a, b, c):
    if n == 0:
        return 0
    return hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)


def mixed(n):
    return 0.5 if n <= 0 else n + mixed(n - 1)


def float_later(n):
    if n > 0:
        return float_later(n - 1)
    return n if n == 0 else 0.5


@case((5,), (15,), (0,))
def recursions(n):
    return (factorial(n), fibonacci(n), is_even(n), is_odd(n), hanoi(n % 8, 1, 2, 3), mixed(n), power(2, n),
            power(1.5, n))


@case((2, 3))
def recursion_two_arguments(m, n):
    return ackermann(m, n)


@case((3,))
def recursion_result_union(n):
    return float_later(n)


@case((6,))
def recursive_inner(n):
    def fact(k):
        return 1 if k < 2 else k * fact(k - 1)

    return fact(n)


@case((6,))
def recursive_inner_with_capture(n):
    step = n // 3

    def down(k):
        return 0 if k <= 0 else k + down(k - step)

    return down(n)


@case((7,))
def mutual_inner(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return even(n), odd(n)


@case((5,))
def recursive_lambda(n):
    f = lambda k: 1 if k == 0 else k * f(k - 1)  # noqa: E731
    return f(n)


@case((np.array([5, 3, 8, 1, 9, 2, 7, 7, 0]),), (np.array([2.5, 1.5]),))
def quicksort(a):
    def sort(lo, hi):
        if lo >= hi:
            return
        pivot = a[(lo + hi) // 2]
        i, j = lo, hi
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        sort(lo, j)
        sort(i, hi)

    sort(0, len(a) - 1)


@case((4,))
def recursion_builds_tuple(n):
    def pair(k):
        return (0, 0.5) if k == 0 else (pair(k - 1)[0] + k, pair(k - 1)[1] * 2)

    return pair(n)


@case((7,))
def three_mutual(n):
    step = n // 4
    base = 2.5

    def a(k):
        return b(k - step) if k > 0 else base

    def b(k):
        return c(k - 1) + a(k - 2) if k > 0 else 0.0

    def c(k):
        return a(k - 1) + b(k - 2) + c(k - 3) if k > 0 else 1.0

    return a(n), b(n), c(n)


@case((0,), (3,))
def three_in_a_circle(n):
    def a(k):
        return c(k - 1)

    def b(k):
        return a(k)

    def c(k):
        return b(k) + 1 if k > 0 else 1

    return c(n)


@case((0,), (4,))
def three_in_a_circle_one_with_a_default(n):
    def a(k):
        return b(k - 2) + n

    def b(k, d=3):
        return b(k - 3) + c(k - 2) if k > 0 else d

    def c(k):
        return a(k - 3) + c(k - 1) if k > 0 else 2

    return a(n), b(n), c(n)


@case((0,), (4,))
def three_in_a_circle_with_a_statement_between(n):
    def a(k):
        return b(k - 2) if k > 0 else n

    more = n + 1

    def b(k):
        return c(k - 2) + a(k - 2) if k > 0 else more

    def c(k):
        return a(k - 1) + c(k - 3) if k > 0 else 0.5

    return a(n), b(n), c(n)


@case(("3+4*(2-5)*f;",), ("((7));",), ("-(2+3)*2;",), ("3+;",), ("(1",))
def parser_by_recursive_descent(text):
    at = 0

    def take():
        nonlocal at
        at += 1
        return text[at - 1]

    def atom():
        c = take()
        if c == "(":
            value = expression()
            if take() != ")":
                raise SyntaxError("expected )")
            return value
        if c == "-":
            return -atom()
        return 2.5 if c == "f" else int(c)

    def term():
        value = atom()
        while text[at] in "*/":
            value = value * atom() if take() == "*" else value / atom()
        return value

    def expression():
        value = term()
        while text[at] in "+-":
            value = value + term() if take() == "+" else value - term()
        return value

    return expression()


@case((5,))
def recursive_with_defaults(n):
    k = n * 2

    def f(x, total=0, *, scale=1):
        if x == 0:
            return total * scale + k
        return f(x - 1, total + x, scale=scale)

    return f(n), f(n, 10), f(n, scale=3)


@case((5,))
def recursive_passed_on(n):
    def f(k):
        return 0 if k == 0 else apply(f, k - 1) + k

    return apply(f, n), apply_twice(f, 3)


@case((4,))
def recursive_changes_a_variable(n):
    count = 0

    def visit(k):
        nonlocal count
        count += 1
        if k > 0:
            visit(k - 1)
            visit(k - 1)

    visit(n)
    return count


@case((3,))
def recursive_two_levels(n):
    def outer(k):
        def inner(j):
            return 1 if j == 0 else inner(j - 1) + (outer(k - 1) if k > 0 else 0)

        return inner(k)

    return outer(n)


@case((3,))
def used_before_it_is_made(n):
    def a():
        return b() + 1

    x = 0
    if n > 5:
        x = a()

    def b():
        return n

    return a() + x


# Decorated functions and other callables

@njit
def compiled_inner(x, *, k=2):
    return x * k


@case((3,), (2.5,))
def calls_compiled(x):
    return compiled_inner(x), compiled_inner(x, k=5)


GLOBAL_LAMBDA = lambda x, k=3: x * k  # noqa: E731


@case((3,))
def calls_global_lambda(x):
    return GLOBAL_LAMBDA(x), GLOBAL_LAMBDA(x, 0.5)


def make_adder(k):
    def add(x):
        return x + k

    return add


ADD_FIVE = make_adder(5)
ADD_HALF = make_adder(0.5)


@case((3,))
def calls_global_closures(x):
    return ADD_FIVE(x), ADD_HALF(x)


def outer_function():
    scale = 3

    def inner(x):
        return x * scale

    return inner


check_inner = outer_function()
case((2,), (2.5,))(check_inner)


@case((2,))
def operators_as_functions(x):
    return operator.add(x, 1), operator.mul(x, 2.5), operator.neg(x), operator.lt(x, 3), operator.truediv(x, 4)


@case((3,))
def partial_function(x):
    return PARTIAL(x)


PARTIAL = functools.partial(plain, 7)


@case((3, 4))
def returns_nothing(a, b):
    a + b


@case((3,))
def returns_in_middle(n):
    if n > 2:
        return
    return n


@case((3,))
def docstring(n):
    """Only a text."""
    return n


@case((3,))
def nested_calls(n):
    return plain(plain(n, 1), plain(plain(n, 2), abs(-n)))


@case((2,))
def function_redefined(n):
    def f(x):
        return x + 1

    a = f(n)

    def f(x):  # noqa: F811
        return x * 10

    return a, f(n)


@case((0,), (1,))
def function_defined_in_branch(n):
    if n:
        def f(x):
            return x + n
    return f(2)


@case((3,))
def shadowed_builtin(n):
    abs = lambda v: v + 100  # noqa: E731, A001
    return abs(n)


@case((3,))
def identity_of_functions(n):
    f = lambda: n  # noqa: E731
    g = f
    return f is not None, g is not math.sin, callable_twice(math.sin)


def callable_twice(f):
    return f is math.sin


@case(({"x": 3, "y": 4},), ({"x": "a"},))
def keywords_of_a_dict_for_methods(d):
    merged = {"z": 1}
    merged.update(**d)
    return ("{x}".format(**d), "{} {x:>3}".format("a", **d), "{0}{x}{1}".format(*[1, 2], **d), merged,
            "{x}{y!r}".format(**d))


@each(CASES)
def test_agrees(function, calls):
    check(function, calls)


def test_functions_of_no_module_and_with_names_of_any_script():
    names = {}
    exec("def größe(x): return x + 1\ndef doppelt(x): return größe(x) * 2", names)
    assert names["größe"].__module__ is None
    assert njit(names["doppelt"])(3) == 8


class Ratio:
    """The powers of its numbers have either of two types for the compiler: a method that refuses floats is called for
    both."""

    def __init__(self, n, d=1):
        common = math.gcd(n, d)
        self.n, self.d = n // common, d // common

    def __pow__(self, k):
        return Ratio(self.n ** k, self.d ** k) if k >= 0 else Ratio(self.d ** -k, self.n ** -k)


def halved(x):
    return x // 2 + 1


def of_two_types(d, key):
    return halved(d.get(key))


def in_a_list(values):
    return [halved(x) for x in values]


def test_a_function_that_refuses_one_of_several_types_raises_at_run_time():
    agree(lambda a, k: (Ratio(a, 6) ** k).d, 4, 3)
    agree(lambda a, k: (Ratio(a, 6) ** k).d, 4, -3)
    compiled = agree(of_two_types, {"a": 4}, "a")
    agree(of_two_types, {"a": 4}, "b", compiled=compiled)
    compiled = agree(in_a_list, [1, None])
    agree(in_a_list, [2.5, 1], compiled=compiled)


# CPython makes a dict of the keywords of a call with many of them, item by item.
_NAMES = [f"a{k}" for k in range(22)]
_VALUES = ["1", "2.5", "None", "'t'", "(x, 2)"]
_MANY: dict = {}
exec(f"""
def taken(x, {', '.join(f'{name}=0' for name in _NAMES)}):
    return x, {', '.join(_NAMES)}

def mixed(x):
    return taken(x, {', '.join(f'{name}={_VALUES[k % 5]}' for k, name in enumerate(_NAMES))})

def beside_others(x):
    return taken(x, **{{'a1': 2.5}}, {', '.join(f'{name}={_VALUES[k % 5]}' for k, name in enumerate(_NAMES) if k != 1)})

def handled(x):
    try:
        return taken(x, {', '.join(f'{name}={k} // x' for k, name in enumerate(_NAMES))})
    except ZeroDivisionError:
        return None

def displayed(x):
    return {{{', '.join(f'{name!r}: x + {k}' for k, name in enumerate(_NAMES))}, 'a0': 7}}

def comprehensions(x):
    return {{'a': k for k in range(x)}}, {{str(k): k for k in range(x)}}

def collected(x):
    def counted(**given):
        return len(given), given['a3']
    return counted({', '.join(f'{name}=x' for name in _NAMES)})
""", _MANY)


@pytest.mark.parametrize("name", ["mixed", "beside_others", "handled", "displayed", "comprehensions", "collected"])
@pytest.mark.parametrize("x", [0, 3])
def test_many_keywords(name, x):
    same(njit(_MANY[name])(x), _MANY[name](x))


def _functions_that_call_each_other(seed):
    """The source of a function with two to six local functions, each of which calls some of them."""
    draw = random.Random(seed)
    n = draw.randint(2, 6)
    lines = ["def f(x, y):", "    base = x * 3", "    count = 0"]
    for i in draw.sample(range(n), n):
        default = f", d={i}" if draw.random() < 0.15 else ""
        calls = " + ".join(f"g{draw.randrange(n)}(k - {draw.randint(1, 3)})" for _ in range(draw.randint(1, 3)))
        lines += [f"    def g{i}(k{default}):",
                  *(["        nonlocal count", "        count += 1"] if draw.random() < 0.2 else []),
                  f"        return {calls} if k > 0 else {draw.choice(['base', str(i)])}",
                  *(["    more = base + 1"] if draw.random() < 0.1 else [])]
    return "\n".join([*lines, f"    return g{draw.randrange(n)}(y), g{draw.randrange(n)}(y), count"])


@pytest.mark.parametrize("seed", range(25))
def test_local_functions_that_call_each_other(seed):
    source = _functions_that_call_each_other(seed)
    found = {}
    exec(source, found)
    assert same(njit(found["f"])(2, 4), found["f"](2, 4)), source
