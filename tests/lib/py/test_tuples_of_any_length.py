"""Tuples whose length is known at run time only, compared with the interpreter."""
import itertools

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.types import kinds
from pyjitc.types.text import parse
from tests.oracle import agree


def rest(*args):
    return len(args), args


def some(a, b=5, *rest, scale=1):
    return a * scale, b, rest


def two(a, b):
    return a - b


def closures(x):
    def inner(a, *more):
        return a + len(x), more

    return inner(*x), (lambda a, b: a * b)(*x[:2])


def unpacked(x):
    a, b, c = tuple(x)
    d, *e = tuple(x)
    return a, b, c, d, e


def columns(rows):
    out = []
    for a, b in zip(*rows):
        out.append(a * b)
    return out, [list(r) for r in zip(*rows)][::-1], [sum(column) for column in zip(*rows)]


def lengths_compared(rows):
    seen = []
    try:
        for row in zip(*rows, strict=True):
            seen.append(list(row))
    except ValueError as error:
        return seen, str(error)
    return seen, [row for row in zip(*rows, strict=False)]


def printed(x):
    print(*x)
    print(*x, sep="-", end="!")
    print("first", *x)


ITEMS = [1, 2, 3], [], [(1, "a"), (3, "b")], [None, 1.5]


@pytest.mark.parametrize("function", [
    lambda x: tuple(x), lambda x: tuple(e for e in x), lambda x: (*x, 0), lambda x: (0, *x, *x), lambda x: tuple(x)[1:],
    lambda x: tuple(x)[0], lambda x: tuple(x)[-1], lambda x: tuple(x)[7], lambda x: len(tuple(x)),
    lambda x: tuple(x) * 2, lambda x: 3 * tuple(x), lambda x: tuple(x) + (1,), lambda x: (1,) + tuple(x),
    lambda x: tuple(x) == (1, 2, 3), lambda x: (1, 2, 3) == tuple(x), lambda x: tuple(x) != tuple(x[1:]),
    lambda x: {tuple(x): 1}, lambda x: {tuple(x)}, lambda x: hash(tuple(x)) == hash(tuple(x)), lambda x: 2 in tuple(x),
    lambda x: tuple(x).index(2), lambda x: tuple(x).count(1), lambda x: tuple(reversed(x)), lambda x: list(tuple(x)),
    lambda x: str(tuple(x)), lambda x: isinstance(tuple(x), tuple), lambda x: [e for e in tuple(x)],
    lambda x: bool(tuple(x)), lambda x: rest(*x), lambda x: rest(1, *x), lambda x: some(*x),
    lambda x: some(*x, scale=2), lambda x: two(*x), lambda x: tuple(x) is tuple(x), lambda x: f"{tuple(x)}", unpacked,
    printed, closures,
])
def test_is_as_in_the_interpreter(function):
    compiled = njit(function)
    for x in ITEMS:
        try:
            agree(function, x, compiled=compiled)
        except AssertionError as error:  # types that do not fit are refused when the function is compiled
            assert "the interpreter raises TypeError" in str(error) and "TypingError" in str(error), error


@pytest.mark.parametrize("rows", [
    [[1, 2], [3, 4]], [[1, 2], [3]], [[1], [3, 4]], [[1, 2], [3, 4], [5]], [[1.5, 2], [3, 4], [5, 6, 7]], [], [[]],
    ["ab", "cd"], [(1, 2), (3, 4, 5)], ((1, 2), (3, 4)), ((1, 2), (3, 4), (5,))])
def test_zip_that_compares_lengths(rows):
    agree(lengths_compared, rows)
    agree(lambda rows: list(zip(*rows, strict=True)), rows)


def test_options_beside_items_are_constants():
    agree(lambda a: np.concatenate(*((a, a),), axis=1), np.ones((2, 3)))
    agree(lambda a: np.sum(*(a,), axis=0, keepdims=True), np.ones((2, 3)))


@pytest.mark.parametrize("function, arguments", [
    (lambda n: (n, 2.5) * n, (3,)), (lambda n: n * (n,), (0,)), (columns, ([[1, 2, 3], [4, 5, 6]],)),
    (columns, ([[1.5], [2.0]],)), (lambda x: x[3] + x[-1] + len(x), (tuple(range(200)),)),
    (lambda x: sum([e for e in x]), (tuple(range(200)),)), (lambda x: x == tuple(range(200)), (tuple(range(200)),)),
    (lambda w: tuple(sorted(w)), (["b", "a"],)), (lambda w: "".join(tuple(w)), (["b", "a"],)),
    (lambda w: max(tuple(w)), ([3, 4],)), (lambda rows: [tuple(r) for r in rows], ([[1], [2, 3]],)),
    (lambda x: tuple(x) < (2, 0), ([1],)), (lambda n: sum(tuple(i * i for i in range(n))), (10,)),
    (lambda x: np.asarray(tuple(x), np.int32), ([1, 2],)), (lambda x: np.array(tuple(x)) * 2, ([1.5, 2],)),
    (lambda x: np.asarray(tuple(x)), ([True, False, True],)), (lambda x: np.array(tuple(x)), ([(1, 2), (3, 4)],)),
])
def test_programs(function, arguments):
    agree(function, *arguments)


def test_long_tuples_are_arguments():
    compiled = njit(lambda x: x[0])
    long = tuple(range(1000))
    assert compiled(long) == 0 and compiled(tuple(map(float, long))) == 0.0
    assert [t[0] for t in compiled.signatures] == [kinds.TupleOf(kinds.Int), kinds.TupleOf(kinds.Float)]


def test_the_type_has_a_text():
    t = kinds.TupleOf(kinds.List(kinds.Int))
    assert str(t) == "tuple[list[int], ...]" and parse(str(t)) is t


def test_a_call_that_cannot_be_compiled_says_so():
    with pytest.raises(TypeError, match=r"unpacked with \*"):
        njit(lambda x: round(*x))([1, 2])


def quicksort(values):
    if len(values) <= 1:
        return values
    pivot = values[len(values) // 2]
    return (quicksort([x for x in values if x < pivot]) + [x for x in values if x == pivot]
            + quicksort([x for x in values if x > pivot]))


def test_lists_of_a_recursive_function_have_the_types_of_its_first_call():
    compiled = agree(quicksort, [3, 1, 2, 9, 7, 5, 5])
    agree(quicksort, [], compiled=compiled)
    agree(quicksort, [2.5, 1.5])


def test_starred_values_of_several_lengths():
    def inorder(n):
        def walk(i):
            if i == 0:
                return []
            return [*walk(i - 1), i, *walk(i - 1)]

        return walk(n)

    def subsets(xs, n):
        found = [[] for _ in range(n + 1)]
        found[0].append(())
        for i in range(1, len(xs) + 1):
            for j in range(n, 0, -1):
                for before in found[j - 1]:
                    found[j].append((*before, xs[i - 1]))
        return found[n]

    def either(a, b, first):
        rest = a if first else b
        return [0, *rest], {*rest}, (*rest, 1)

    agree(inorder, 4)
    agree(subsets, [10, 20, 30], 2)
    agree(either, [1, 2], (3, 2.5, 4), False)
    agree(either, [1, 2], (3, 2.5, 4), True)


class Poly:
    def __init__(self, *coefficients, scale=1):
        self.coefficients, self.scale = coefficients, scale

    def at(self, i, j=5, *more, **named):
        return self.coefficients[i] + j, more, sorted(named.items())

    @classmethod
    def of(cls, a, b=2):
        return cls(a, b)

    @staticmethod
    def minus(a, b):
        return a - b


class Named(Poly):
    def __init__(self, name, *coefficients, **more):
        super().__init__(*coefficients, **more)
        self.name = name

    def at(self, *args, **named):
        return super().at(*args, **named), self.name


class Alone:
    def __init__(self, a, /, b, *, c=3):
        self.fields = a, b, c


def everything(a, b=2, *rest, **named):
    return a, b, rest, named


def both(a, b):
    yield a
    yield b


def handed_on(*args, **named):
    return everything(*args, **named)


@pytest.mark.parametrize("function", [
    lambda x, d: (Poly(*x).coefficients, Poly(*x, scale=2.5).scale, everything(*(e * 2 for e in x)),
                  Named("n", *x).coefficients, everything(*map(str, x)), everything(*reversed(x))),
    lambda x, d: (everything(1, **d), everything(1, 2.5, 3, 4, **d)),
    lambda x, d: Named("n", 1, 2, 3).at(*x, **d), lambda x, d: Poly.of(*x).coefficients, lambda x, d: Poly.minus(*x),
    lambda x, d: Alone(*x, **d).fields, lambda x, d: Alone(*x, b=1).fields, lambda x, d: handed_on(*x, **d),
    lambda x, d: list(both(*x)), lambda x, d: sum(both(**d)),
])
def test_a_call_binds_what_is_counted_and_named_at_run_time(function):
    compiled = njit(function)
    for x in [[1, 2], [2], [1, 0, 3, 4]]:
        for d in ({"b": 2}, {"a": 3, "b": 2}, {"i": 0, "z": 2}, {"c": 1}):
            agree(function, x, d, compiled=compiled)


def test_values_of_several_types_are_unpacked():
    agree(lambda rows: [list(map(float, r)) for r in rows] + [list(map(max, r, r[::-1])) for r in rows],
          [[1, 2.5], [3]])


class Rectangle:
    def __init__(self, width, height=2):
        self.width, self.height = width, height

    def area(self):
        return self.width * self.height


class Square(Rectangle):
    def __init__(self, side):
        super().__init__(side, side)


def reduced(a, b, c=1):
    return a - b * c


CLASSES = {"rectangle": Rectangle, "square": Square}


def one_of_several(rows, items):
    made = [CLASSES[kind](*sides).area() for kind, sides in rows]
    return made, [(reduced if len(rows) > k else everything)(*items) for k in range(2)]


def test_one_of_several_functions_gets_unpacked_items():
    compiled = njit(one_of_several)
    for rows in ([("rectangle", [2, 3]), ("square", [4])], [("square", [2, 3])], [("circle", [1])]):
        for items in ([1, 2], [3, 4, 5], [1]):
            agree(one_of_several, rows, items, compiled=compiled)
    agree(lambda rows: [CLASSES[kind](*sides).area() for kind, *sides in rows],
          [("rectangle", 2, 3), ("square", 4)])


def with_defaults(flag, n, args, named):
    def f(x, y=n, *rest, w=2.5, **more):
        return x + y * w + len(rest) + len(more)

    def g(x, y=n * 2, *, w=n):
        return x * 100 + y * 10 + w

    return (f if flag else g)(*args, **named)


def test_closures_with_defaults_get_what_is_counted_and_named_at_run_time():
    compiled = njit(with_defaults)
    for flag in True, False:
        for args, named in (([1], {}), ([1, 2], {"w": 7}), ([1], {"y": 4}), ([], {"x": 3}), ([1, 2, 3], {}),
                            ([1], {"q": 4})):
            agree(with_defaults, flag, 5, args, named, compiled=compiled)


def only_named(a, b=None, *, k=2.5):
    return a, b, k


def by_position(a, b="x", /, c=0):
    return a, b, c


def three(a, b, c=0):
    return a, b, c


def with_rest(a, b=2, *rest, k=0.5):
    return a, b, rest, k


def total_and_kept(items):
    """What `*args` holds stays as it was when the list changes."""
    kept = rest(*items)
    items.append(4)
    items[0] = 9
    return kept, rest(*items), sum([rest(*items)[0] for _ in range(3)])


BOUND = {
    "the rest": lambda items, named: with_rest(*items),
    "the rest, after others": lambda items, named: (with_rest(7, *items), with_rest(7, 8, *items),
                                                    with_rest(7, 8, 9, *items)),
    "the rest, a known name": lambda items, named: with_rest(*items, k=3),
    "the rest, a name that is taken": lambda items, named: with_rest(*items, b=3),
    "the rest and names": lambda items, named: with_rest(*items, **named),
    "the rest of a tuple": lambda items, named: with_rest(*tuple(items)),
    "items": lambda items, named: three(*items),
    "names": lambda items, named: three(**named),
    "items and names": lambda items, named: three(*items, **named),
    "after others": lambda items, named: (three(0, *items), only_named("p", **named)),
    "with known names": lambda items, named: three(*items, c=9),
    "a known name between": lambda items, named: three(*items, b=9),
    "names alone": lambda items, named: only_named(*items, **named),
    "positions alone": lambda items, named: by_position(*items),
    "positions and names": lambda items, named: by_position(*items, **named),
    "a class": lambda items, named: Rectangle(*items, **named).area(),
    "a tuple": lambda items, named: three(*tuple(items), **named),
}


@pytest.mark.parametrize("name", BOUND)
def test_items_and_names_are_bound_as_by_the_interpreter(name):
    for items in ([], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4]):
        for named in ({}, {"c": 5}, {"a": 1, "b": 2}, {"k": 1}, {"b": 2, "z": 3}, {"width": 3}):
            agree(BOUND[name], items, named)


def test_the_rest_is_a_tuple_of_its_own():
    for items in ([1, 2, 3], ["a"], [], [[1], [2]], [1.5, 2.5] * 40):
        agree(lambda xs: (rest(*xs), rest(*xs, 0), with_rest(*xs, *xs)), items)
    for items in ([1, 2, 3], [1]):
        agree(total_and_kept, items)


def test_values_and_defaults_of_several_types_are_bound():
    for named in ({"b": 1}, {"b": 1, "k": 2}, {}):
        agree(lambda named: only_named("p", **named), named)
    for items in (["a"], ["a", "b"], [1.5], [[1], [2]]):
        agree(lambda items: only_named(*items), items)


def before_others(name, x, items):
    return (everything(name, *items), everything(name, 2.5, *items, x, *items), max(x, *items), min(2.5, x, *items),
            everything(x, *items, d=x), rest(*items, x), set().union({x}, *[{i} for i in items]))


def test_arguments_before_a_star_keep_their_types():
    compiled = njit(before_others)
    for items in [2, 3], [2], []:
        agree(before_others, "ab", 1, items, compiled=compiled)


def mapped(rows, function):
    return list(map(max, *rows)), list(map(function, *rows)), list(map(lambda *row: row, *rows))


def mapped_with_names(rows):
    return list(map(lambda name, *row: (name, len(row)), ["a", "b"], *rows))


@pytest.mark.parametrize("rows", [[[1, 5], [3, 2]], [[1, 2], [3, 4], [5]], [[1, 2]], [[]], []])
def test_map_of_any_number_of_lists(rows):
    agree(mapped, rows, lambda a, b, c=1: a * b - c)
    agree(mapped_with_names, rows)


def growing(rows):
    def add(a, b):
        if len(rows[0]) < 5:
            rows[0].append(a)
            rows[1].append(b)
        return a - b

    return list(map(add, *rows))


def test_map_reads_its_lists_when_it_needs_their_items():
    agree(growing, [[1, 2], [3, 4]])


class Counted(Exception):
    def __init__(self, *names):
        super().__init__(*names)
        self.count = len(names)


class Plain(Exception):
    pass


def raised(names):
    try:
        raise Plain(*names)
    except Plain as e:
        first = e.args, str(e), repr(e)
    try:
        raise Counted(*names)
    except Counted as e:
        return first, e.count, e.args


@pytest.mark.parametrize("names", [[], [1], ["a", "b"]])
def test_exceptions_of_any_number_of_arguments(names):
    agree(raised, names)


@pytest.mark.parametrize("given", [[], [3], [7, 2], [1, 9, 3], [1, 2, 3, 4]])
def test_builtins_of_any_number_of_arguments(given):
    agree(lambda xs: list(range(*xs)), given)
    agree(lambda xs: divmod(*xs), given)
    agree(lambda xs: pow(*xs), given)
    agree(lambda xs: complex(*xs), given)


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4])
def test_ufuncs_of_two_operands_of_any_number(rows):
    a = np.arange(rows * 3.0).reshape(rows, 3)
    agree(lambda a: np.hypot(*a), a)  # a third row is overwritten
    agree(lambda a: np.hypot(*a.T), a.T)
    agree(lambda a: np.add(*a[:, 0]), a)
    agree(lambda xs: np.subtract(*xs), list(range(rows)))


@pytest.mark.parametrize("i, j", [(0, 2), (-1, 5), (3, 0)])
def test_slices_of_tuples_that_are_written_out(i, j):
    agree(lambda t, i, j: (t[i:j], t[::j or 1], (1, "a", 2.5)[i:]), (1, 2, 3), i, j)
    agree(lambda t, i, j: (t[i:j], [x for x in t[j:]]), (1, None, "b"), i, j)
    agree(lambda i, j: [1, 2.5, "a", None][i:j], i, j)


class Vector:
    """A class whose attribute is a tuple: of its arguments, or of items whose number is known only at run time."""

    def __init__(self, *parts):
        self.parts = parts

    def __add__(self, other):
        return Vector(*[a + b for a, b in zip(self.parts, other.parts)])

    def __mul__(self, other):
        found = [0] * (len(self.parts) + len(other.parts) - 1)
        for i, a in enumerate(self.parts):
            for j, b in enumerate(other.parts):
                found[i + j] += a * b
        return Vector(*found)

    def padded(self, other):
        return Vector(*(a + b for a, b in itertools.zip_longest(self.parts, other.parts, fillvalue=0)))

    def longer(self, x):
        return Vector(*self.parts, x)

    def __iter__(self):
        return iter(self.parts)

    def __len__(self):
        return len(self.parts)

    def __repr__(self):
        return f"Vector{self.parts}"


def combined(p, q):
    return (repr(p + q), repr(p * q), repr(p.padded(q)), len(q * q), [x for x in p], sum(a * b for a, b in zip(p, q)),
            p.parts == q.parts, max(p + q), repr(q.longer(5)))


def made_and_combined(x):
    grown = Vector()
    for k in range(4):
        grown = grown.longer(k)
    return combined(Vector(1, 2), Vector(1, 2, x)), repr(grown), max(grown), list(enumerate(grown))


def test_attributes_that_are_tuples_of_several_lengths():
    agree(made_and_combined, 7)
    compiled = njit(combined)
    for given in ((Vector(1, 2), Vector(1, 2, 3)), (Vector(4), Vector(5, 6, 7)), (Vector(1.5), Vector(2, 3)),
                  (Vector(*range(12)), Vector(*range(20)))):
        assert compiled(*given) == combined(*given)
    with pytest.raises(TypeError, match="can't multiply sequence|unsupported operand"):
        compiled(Vector("a"), Vector("b"))
