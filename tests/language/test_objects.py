"""Python objects of any class in functions under `jit`: the interpreter runs the operations on them, and the rest is
native. Every program is compared with the interpreter."""
import dataclasses
import contextlib
import gc
import math
import operator
import sys
import types
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from pyjitc import CompileError, jit, njit
from pyjitc.types.kinds import Float, Int, Object
from tests.oracle import agree


# its behaviour is not defined by class statements alone, so it has no type of its own
class Point(types.SimpleNamespace):
    """A class with many special methods."""

    unit = "cm"

    def __init__(self, x=0, y=2):
        self.x, self.y = x, y
        self.log = []

    def __eq__(self, other):
        return type(other) is Point and repr(vars(self)) == repr(vars(other))

    def __repr__(self):
        return f"Point({self.x})"

    def __add__(self, other):
        return Point(self.x + (other.x if isinstance(other, Point) else other), self.y)

    def __radd__(self, other):
        return Point(other + self.x, "r")

    def __iadd__(self, other):
        self.log.append(other)
        return self

    def __lt__(self, other):
        return self.x < (other.x if isinstance(other, Point) else other)

    def __gt__(self, other):
        return f"gt {other}"

    def __bool__(self):
        return self.x != 0

    def __len__(self):
        return 3

    def __getitem__(self, i):
        if isinstance(i, slice):
            return i.start, i.stop, i.step
        if isinstance(i, int) and i > 2:
            raise IndexError("out")
        return self.log[i] if isinstance(i, str) else (self.x, self.y, 7)[i]

    def __setitem__(self, i, value):
        self.log.append((i, value))

    def __delitem__(self, i):
        self.log.append(("del", i))

    def __contains__(self, item):
        return item == self.x

    def __call__(self, *args, **kwargs):
        return args, kwargs, self.x

    def __float__(self):
        return self.x + 0.5

    def __int__(self):
        return self.x + 1

    def __index__(self):
        return self.x

    def __hash__(self):
        return 77

    def __format__(self, spec):
        return f"<{spec}>"

    def __enter__(self):
        self.log.append("enter")
        return self.x

    def __exit__(self, cls, error, trace):
        self.log.append(("exit", None if cls is None else cls.__name__, str(error), trace is None))
        return self.y == "quiet"

    def area(self, k=1, *, more=0):
        return self.x * k + more

    @property
    def doubled(self):
        return self.x * 2

    @staticmethod
    def of(x):
        return Point(x)


class Bad(types.SimpleNamespace):
    def __eq__(self, other):
        return type(other) is Bad

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise ValueError(f"no {name}")

    def __bool__(self):
        raise ZeroDivisionError("truth")

    def __len__(self):
        return -1

    def __iter__(self):
        yield 1
        raise KeyError("end")

    def __add__(self, other):
        raise RuntimeError("add")


def forgiven(function, *args):
    """Assert that it agrees with the interpreter, and that the code is native, with arguments of type Object."""
    compiled = agree(function, *args, compiled=jit(function))
    assert compiled.signatures and not compiled._failures, compiled.report()
    return compiled


def arithmetic(x, y):
    return (x + y, x - y, x * y, x / y, x // y, x % y, x ** 2, -x, +x, x + 1, 1 + x, 2.5 * float(x), x - 1, 3 / x,
            7 // x, 7 % x, 2 ** 3)


@pytest.mark.parametrize("args", [(Fraction(7, 3), Fraction(1, 2)), (Decimal("2.5"), Decimal("0.3")), (10**30, 7),
                                  (7, 10**25)])
def test_arithmetic(args):
    forgiven(arithmetic, *args)


def bits(x, n):
    x |= n
    x ^= 5
    x &= ~3
    x <<= 2
    x >>= 1
    return x, x << 3, x >> 2, x & n, x | n, x ^ n, ~x


def test_bits():
    forgiven(bits, 10**30, 77)


def reflected(p, a):
    return p + 1, 1 + p, 2.5 + p, a + p, p < 3, 3 > p, p > 4, 4 < p, p == 5, 5 == p, p != p, p <= 1


def test_reflected_operators_and_comparison():
    with pytest.raises(TypeError, match="'<=' not supported between instances of 'Point' and 'int'"):
        jit(reflected)(Point(4), 3)
    forgiven(reflected, Point(4), 3)


@dataclasses.dataclass
class Node:
    value: int
    neighbors: "list[Node] | None" = None

    def __post_init__(self):
        self.neighbors = self.neighbors or []

    def __hash__(self):
        return id(self)


def appends_to_a_list_or_any_object(node):
    found = Node(node.value)
    if not found.neighbors:
        found.neighbors = []
    found.neighbors.append(node)
    return found.value, len(found.neighbors)


def best_of(k, depth=0):
    if depth > 2:
        return 10 - depth, None
    best = None
    for m in range(k):
        score, _ = best_of(k, depth + 1)
        if best is None or score > best[0]:
            best = score, m
    return best


def tuples_of_any_object(k, x):
    r = (1, 2)
    if k:
        r = (x, None)
    if k > 1:
        r = None
    t = 0, r
    if k > 2:
        t = x, (2.5, "s")
    return t, r


def test_parts_of_tuples_are_objects_where_tuples_meet():
    agree(best_of, 2, compiled=jit(best_of))
    compiled = jit(tuples_of_any_object)
    for k in range(4):
        agree(tuples_of_any_object, k, Fraction(1, 3), compiled=compiled)


def test_a_method_of_a_list_or_of_any_object():
    assert jit(appends_to_a_list_or_any_object)(Node(1, [Node(2)])) == (1, 1)


def in_place(p, n):
    q = p
    for i in range(n):
        p += i
    return p, q is p, q is not p


def test_in_place_operators_change_the_object():
    forgiven(in_place, Point(1), 4)


def matrix(m):
    m @= m
    return (m @ m).tolist()


def test_matrix_products_of_objects():
    compiled = jit(matrix)
    given = np.array([[Fraction(1, 2), 2], [3, 4]], dtype=object)
    assert compiled(given.copy()) == matrix(given) and compiled.signatures == [(Object,)]



def truth(p):
    return (1 if p else 2), not p, p and 3, p or 4, (5 if not p else 6), bool(p)


def test_truth():
    forgiven(truth, Point(0))
    forgiven(truth, Point(2))
    forgiven(truth, Bad())


def items(p, i):
    p[i] = 3
    p["k"] = 2.5
    p[1:i] = "s"
    del p[i]
    return p[0], p[1], p[i], p[1:2], p[::i], 4 in p, 5 not in p, len(p), p[-1]


def test_items():
    forgiven(items, Point(4), 2)
    forgiven(items, Point(4), 5)
    forgiven(items, Bad(), 1)


def attributes(p):
    p.z = p.x + 1
    p.x += 5
    del p.y
    return p.x, p.z, p.unit, p.doubled, hasattr(p, "y"), getattr(p, "q", 3), getattr(p, "x")


def test_attributes():
    forgiven(attributes, Point(4))
    forgiven(attributes, Bad())


def test_missing_attributes_are_errors():
    def missing(p):
        try:
            return p.nothing
        except AttributeError as error:
            return str(error)

    forgiven(missing, Point(1))
    forgiven(lambda p: p.nothing, Point(1))
    forgiven(missing, Bad())


def calls(p, k):
    t = (1, 2)
    d = {"a": 3, "b": k}
    return (p(), p(1, k), p(1, a=k), p(*t), p(*t, 3, **d), p(k, *t, z=1, **d), p.area(), p.area(k), p.area(k=2, more=k),
            p.of(k).x, p.area(*(5,), **{"more": 7}))


def test_calls():
    forgiven(calls, Point(4), 9)
    forgiven(calls, Point(2.5), "k")


@pytest.mark.parametrize("wrong", [lambda p: p.area(1, 2, 3), lambda p: p.x(), lambda p: p.area(bad=1),
                                   lambda p: p(*3), lambda p: p.of()])
def test_wrong_calls(wrong):
    forgiven(wrong, Point(4))


def iterated(p, n):
    total, seen = 0, 0
    for v in p:
        total += v
        seen += 1
        if seen == n:
            break
    else:
        total += 100
    return total, seen


def test_iteration():
    for given in ([1, 2.5, 3], {1: 2, 3: 4}, Bad(), 10**30):
        forgiven(iterated, given, 9)
    assert jit(iterated)((x * x for x in range(4)), 9) == (114, 4) and jit(iterated)(iter([7, 8]), 1) == (7, 1)
    forgiven(iterated, Point(3), 2)  # by __getitem__
    forgiven(iterated, Point(3), 9)


def unpacked(p):
    a, b, c = p
    (d, e), *f = (p[:2], p)
    g, *h = p
    *i, j = p
    return a, b, c, d, e, f, g, h, i, j


def test_unpacking():
    forgiven(unpacked, [1, 2, 3])
    for wrong in ([1, 2], [1, 2, 3, 4], Bad(), 10**30):
        forgiven(unpacked, wrong)
    forgiven(lambda p: [*p, 1], [1])
    forgiven(lambda p: (*p, 1, *p), [1])
    forgiven(lambda p, q: {**p, "z": 1, **q}, {"a": 1}, {"z": 2})


def builtins_of(p, xs):
    return (len(xs), sum(xs), max(xs), min(xs), sorted(xs), any(xs), all(xs), list(xs), tuple(xs), set(xs), str(p),
            repr(p), int(p), float(p), bool(p), hash(p), isinstance(p, Point), isinstance(p, (int, str)), type(p),
            callable(p), abs(xs[0]), divmod(xs[1], 2), pow(xs[1], 2), round(xs[2]), [i * x for i, x in enumerate(xs)],
            [a + b for a, b in zip(xs, range(9))], list(reversed(xs)), next(iter(xs)), complex(p), operator.index(p))


def test_builtins():
    forgiven(builtins_of, Point(4), [-1, 5, 2.5, 0])


def texts(p, w):
    print(p, w, sep="-", end="!\n")
    return f"{p} {p!r} {p!s:>20} {p:x} {p:{w}} {p.x:5}", "%s %r" % (p, p.x), "{} {:z}".format(p, p), str(p) + "a"


def test_texts():
    forgiven(texts, Point(4), 3)


def managed(p, fail):
    total = 0
    with p as x, contextlib.suppress(KeyError):
        total += x
        if fail == 1:
            raise ValueError("inside")
        if fail == 2:
            raise KeyError("inner")
        if fail == 3:
            return total, "early"
    return total, p.log


@pytest.mark.parametrize("fail", range(4))
@pytest.mark.parametrize("y", ["quiet", "loud"])
def test_context_managers(fail, y):
    forgiven(managed, Point(4, y), fail)


def caught(p, which):
    try:
        if which == 0:
            p.missing
        elif which == 1:
            p[which:](1)
        elif which == 2:
            raise p.log[0]
        else:
            raise p.log[0] from p.log[1]
    except (AttributeError, TypeError) as error:
        return "caught", str(error), type(error).__name__
    except p.y as error:
        return "own", error.args
    finally:
        p.seen = which
    return "none"


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("y", [KeyError, (ValueError, KeyError), 3])
def test_exceptions(which, y):
    def prepared():
        p = Point(1, y)
        p.log = [KeyError("k"), ValueError("v")]
        return p

    expected, found = [], []
    for function, out in ((caught, expected), (jit(caught), found)):
        try:
            out.append(function(prepared(), which))
        except Exception as error:
            out += [type(error), str(error), type(error.__cause__), type(error.__context__)]
    assert found == expected


def test_what_is_raised_must_be_an_exception():
    def raising(p):
        raise p

    forgiven(raising, Point(1))
    forgiven(raising, 10**30)


def numpy_functions(p, a):
    b = np.asarray(p)
    return np.sum(p), np.sort(p), b.mean(), a + b, a.dot(p), np.concatenate((a, p)), a[1] + b[0], b


def test_numpy_functions_take_objects():
    forgiven(numpy_functions, [1.0, 5.0, 2.0], np.arange(3.0))
    forgiven(numpy_functions, ["x", 5.0, 2.0], np.arange(3.0))


def arrays_change(p, a):
    p.x = a
    p.x[1] = 7.5
    a[0] += p.x[1]
    np.multiply(a, 2, out=p.x)
    return a, p.x is a


def test_an_array_and_its_object_are_one():
    forgiven(arrays_change, Point(1), np.arange(3.0))


def matched(p):
    match p:
        case Point(x=0):
            return "origin"
        case Point(x=x, y=[a, *rest]):
            return x, a, rest
        case {"k": value, **more}:
            return value, more
        case [1, second]:
            return second
        case str() | bytes():
            return "text"
        case _:
            return "none"


def test_match():
    for given in (Point(0), Point(3, [1, 2, 3]), {"k": 3, "l": 4}, [1, 2], [2, 3], {"z": 3}, 10**30, Point(3)):
        forgiven(matched, given)


def joined(p, which):
    x = 1 if which == 0 else 2.5 if which == 1 else p if which == 2 else None if which == 3 else "s"
    if x is None:
        return "none"
    return x, str(x), x == 1


@pytest.mark.parametrize("which", range(5))
def test_a_variable_that_is_an_object_on_some_paths(which):
    forgiven(joined, Point(1), which)


def mixed(p, a, n):
    """Loops over numbers remain native between calls of objects."""
    total = 0.0
    for i in range(n):
        for j in range(len(a)):
            total += a[j] * i
        p.note(total)
    return total


class Notes(types.SimpleNamespace):
    def __init__(self):
        self.noted = []

    def __eq__(self, other):
        return self.noted == other.noted

    def note(self, x):
        self.noted.append(x)


def test_typed_parts_stay_native():
    compiled = forgiven(mixed, Notes(), np.arange(4.0), 5)
    ir = compiled.inspect_ir(compiled.signatures[0])
    assert "array_load" in ir and ir.count("py_call") == 1
    report = compiled.report(compiled.signatures[0])
    assert "p.note(total)" in report and "total += a" not in report


def test_a_native_argument_is_not_taken_by_code_for_objects():
    @jit
    def twice(x):
        return x + x

    assert twice(Fraction(1, 2)) == 1 and twice(10**20) == 2 * 10**20
    assert type(twice(2)) is int and type(twice(2.5)) is float
    assert twice.signatures == [(Object,), (Int,), (Float,)]
    assert twice(10**20) == 2 * 10**20 and twice(Decimal(2)) == 4 and twice([1]) == [1, 1]
    assert all(len(x) == 1 for x in twice.signatures)


class Price(int):
    pass


def test_njit_refuses_what_it_refused():
    with pytest.raises(TypeError, match="is a Price, a subclass of int; pass int"):
        njit(lambda x: x + 1)(Price(3))
    with pytest.raises(CompileError, match="eval is not compiled yet"):
        njit(lambda x: eval("x"))(1)


def test_the_report_has_lines_and_reasons():
    def f(x):
        y = x + 1
        s = Decimal(y)
        return s

    compiled = jit(f)
    assert compiled(1) == Decimal(2)
    (text,) = compiled.report().values()
    assert "s = Decimal(y)" in text and "decimal.Decimal is not compiled yet" in text and "y = x + 1" not in text
    assert jit(iterated).report("int64(int64[:], int64)") == "all of iterated is native"


def test_what_cannot_be_compiled_at_all_is_interpreted():
    def f(x):
        async def local():
            return x
        try:
            local().send(None)
        except StopIteration as result:
            return result.value

    compiled = jit(f)
    assert compiled(3) == 3 and compiled(3) == 3 and not compiled.signatures
    (text,) = compiled.report().values()
    assert "the interpreter runs all of" in text and "async" in text


def test_displays_are_objects_where_they_change():
    def f(n):
        xs, d, s = [], {}, set()
        for i in range(n):
            xs.append(i)
            d[i % 3] = d.get(i % 3, 0) + i
            s.add(i * i % 7)
        ys = xs
        ys.append(-1)
        nested = [[0] * 3 for _ in range(2)]
        nested[0][1] = 5
        t = ([1], 2)
        t[0].append(3)
        del d[0]
        return xs, xs is ys, d, s, nested, t, [k for k, v in d.items() if v > 2], {k: v for k, v in d.items()}

    forgiven(f, 10)


def test_references_are_released():
    class Thing(types.SimpleNamespace):
        alive = 0

        def __init__(self):
            Thing.alive += 1

        def __del__(self):
            Thing.alive -= 1

        def __call__(self, x):
            return self

    @jit
    def f(p, n, fail):
        kept = p
        for i in range(n):
            q = p(i)
            a, *b = [q, q, kept]
            try:
                q.missing
            except AttributeError:
                kept = b[0]
            if fail and i == 3:
                q.nothing()
        return kept

    thing = Thing()
    before = sys.getrefcount(thing)
    for fail in (0, 1):
        for _ in range(50):
            try:
                f(thing, 5, fail)
            except AttributeError:
                pass
    gc.collect()
    assert sys.getrefcount(thing) == before
    del thing
    gc.collect()
    assert Thing.alive == 0


def test_functions_that_look_at_the_frame_that_calls_them():
    def f(n):
        m = n + 1
        return eval("m * 2"), sorted(locals())

    assert jit(f)(3) == f(3) == (8, ["m", "n"])


def test_exceptions_of_a_function_that_the_interpreter_runs_have_no_context():
    def f(x):
        async def local():
            return x

        raise KeyError(x, local)

    with pytest.raises(KeyError) as caught:
        jit(f)(1)
    assert caught.value.__context__ is None


class Item:
    def __init__(self, value, rest=None):
        self.value, self.rest = value, rest


class Items:
    def __init__(self):
        self.first = None
        self.count = 0

    def append(self, value):
        if self.first is None:
            self.first = Item(value)
        else:
            last = self.first
            while last.rest is not None:
                last = last.rest
            last.rest = Item(value)
        self.count += 1


def linked(values):
    items = Items()
    for v in values:
        items.append(v)
    total, item = 0, items.first
    while item is not None:
        total += item.value
        item = item.rest
    return total, items.count


def a_case_that_never_comes(a, k):
    def part(n):
        return math.gcd(n, 6)

    return part(a ** k) if k >= 0 else part(a ** -k)


def test_types_that_become_known_later_leave_no_line_to_the_interpreter():
    for function, args in ((linked, ([3, 1, 2],)), (a_case_that_never_comes, (4, -2))):
        compiled = agree(function, *args, compiled=jit(function))
        assert list(compiled.report().values()) == [f"all of {function.__name__} is native"]
