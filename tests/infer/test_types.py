"""Inference of whole functions: result types, the functions that are specialised, and errors with their positions.

The types of Python constants beside NumPy numbers are not tested here."""
import numpy as np
import pytest
from tests.ir.stages import typed

from pyjitc import TypingError
from pyjitc.ops.control import CONST, INVOKE
from pyjitc.ops.structure import UNION_GET, UNION_IS

A = np.arange(3.0)


def result(function, *args) -> str:
    return str(typed(function, args).functions[0].result)


def count(function, args, op) -> int:
    return sum(inst.op is op for block in typed(function, args).functions[0].blocks for inst in block.insts)


def names(function, *args) -> list[str]:
    return sorted(fn.name.partition(".")[2] for fn in typed(function, args).functions if not fn.library)


# ---------------------------------------------------------------- joins


def either(t, x, y):
    return x if t else y


@pytest.mark.parametrize("x, y, expected", [
    (1, 2, "int"), (1, 2.5, "float | int"), (1, True, "bool | int"), (1, None, "None | int"),
    (1.5, 1j, "complex | float"), ((1, 2), (3, 4.5), "(int, float | int)"),
    ((1, 2), (1, 2, 3), "(int, int) | (int, int, int)"), ("a", "b", "str"), ("a", 1, "int | str"),
    (A, A[::2], "float64[:]"), (A, np.ones((2, 2)), "float64[:, ::1] | float64[::1]"),
    (np.ones((2, 2)), np.ones((2, 2)).T, "float64[:, :]"), (A, A.astype("f4"), "float32[::1] | float64[::1]"),
    (A, None, "None | float64[::1]"), (np.int8(1), np.int64(2), "int64 | int8"),
    (np.float32(1), np.float64(2), "float32 | float64")])
def test_two_values_meet(x, y, expected):
    assert result(either, True, x, y) == result(either, True, y, x) == expected


def test_a_variable_that_changes_its_type_in_a_loop():
    def halves(n, x):
        while n > 0:
            x, n = x / 2, n - 1
        return x

    assert result(halves, 3, 8) == "float | int" and result(halves, 3, 8.0) == "float"


def test_what_handlers_and_ends_bring_meets():
    def tried(x):
        try:
            y = 1 // x
        except ZeroDivisionError:
            y = None
        return y

    assert result(tried, 2) == "None | int"


# ---------------------------------------------------------------- narrowing


def test_tests_of_unions_narrow():
    def one(t, x):
        y = x if t else None
        return 0 if y is None else y + x

    def other(t, x):
        y = x if t else "text"
        if isinstance(y, str):
            return len(y)
        return y + x

    def early(t, x):
        y = x if t else None
        if y is None:
            return x
        return y

    for function in (one, other, early):
        assert result(function, True, 3) == "int"
        assert count(function, (True, 3), UNION_IS) == 1


def test_a_value_is_the_same_member_wherever_it_is_read():
    def doubled(t, x, z):
        y = x if t else z
        return y + y

    assert result(doubled, True, 1, 2.5) == "float | int"
    assert count(doubled, (True, 1, 2.5), UNION_IS) == 1 and count(doubled, (True, 1, 2.5), UNION_GET) == 4


def test_without_a_union_nothing_is_tested():
    def one(x):
        return 0 if x is None else x

    assert count(one, (3,), UNION_IS) == 0 and result(one, None) == result(one, 3) == "int"


# ---------------------------------------------------------------- constants and reachability


def test_constants_are_known():
    def computed():
        return 2 * 3 + len("abc") - 7 % 10

    fn = typed(computed, ()).functions[0]
    last = fn.blocks[-1].insts
    assert last[-2].op is CONST and last[-2].attrs["value"] == 2


def test_what_types_decide_is_not_looked_at():
    def columns(a):
        if a.ndim == 2:
            return a.shape[1]
        return a.nothing

    assert result(columns, np.ones((2, 3))) == "int"
    with pytest.raises(TypingError, match="no attribute 'nothing'"):
        typed(columns, (A,))


def test_what_follows_a_return_is_not_looked_at():
    def returned(x):
        return x
        return "text"

    def raised(x):
        raise ValueError("no")
        return x

    assert result(returned, 1) == "int" and result(raised, 1) == "None"


def test_a_branch_on_a_constant_of_the_program():
    flag = False

    def chosen(x):
        return x.nothing if flag else x

    assert result(chosen, 1) == "int"


# ---------------------------------------------------------------- specialisation and recursion


def test_functions_are_specialised_by_types():
    def pair(x, y):
        def twice(a):
            return a + a

        return twice(x), twice(y)

    assert result(pair, 1, 2.5) == "(int, float)" and names(pair, 1, 2.5) == ["pair", "pair.twice", "pair.twice"]
    assert result(pair, 1, 2) == "(int, int)" and names(pair, 1, 2) == ["pair", "pair.twice"]


def test_recursion_finds_its_result():
    def factorial(n):
        return n if n < 2 else n * factorial(n - 1)

    def grows(n, x):
        return x if n == 0 else grows(n - 1, x / 2)

    assert result(factorial, 5) == "int" and count(factorial, (5,), INVOKE) == 1
    assert result(grows, 5, 1) == "float | int"


def test_functions_that_call_each_other():
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    assert result(even, 5) == "bool" and names(even, 5) == ["even", "odd"]


def test_a_recursion_that_never_returns_has_no_value():
    def never(n):
        return never(n + 1)

    assert result(never, 5) == "None"


def test_cells_hold_what_is_assigned_anywhere():
    def total(n, x):
        s = n

        def add(k):
            nonlocal s
            s += k

        add(n)
        add(x)
        return s

    assert result(total, 1, 2) == "int" and result(total, 1, 2.5) == "float | int"


# ---------------------------------------------------------------- errors


def failing(x):
    return inner(x)


def inner(x):
    return x[0]


def test_an_error_names_its_place_and_how_it_got_there():
    with pytest.raises(TypingError) as caught:
        typed(failing, (1,))
    found = caught.value.diagnostic
    assert (found.message == "'int' object is not subscriptable" and found.function == "inner"
            and found.types == (("x", "int"),))
    assert found.line == inner.__code__.co_firstlineno + 1
    assert len(found.notes) == 1 and "in failing" in found.notes[0]


@pytest.mark.parametrize("source, args, message", [
    ("x.nothing", (1,), "'int' object has no attribute 'nothing'"),
    ("x + 'a'", (1,), "unsupported operand type(s) for +: 'int' and 'str'"),
    ("x()", (1,), "'int' object is not callable"), ("len(x)", (1,), "object of type 'int' has no len()"),
    ("x[0, 0]", (A,), "too many indices for array: array is 1-dimensional, but 2 were indexed"),
    ("-x", ("a",), "bad operand type for unary -: 'str'"),
    ("[*x]", (1,), "Value after * must be an iterable, not int")])
def test_errors_are_those_of_python(source, args, message):
    space: dict = {"np": np}
    exec(f"def f(x): return {source}", space)
    with pytest.raises(TypingError) as caught:
        typed(space["f"], args)
    assert caught.value.diagnostic.message == message


def test_types_without_end_are_told():
    def grows(n):
        a = np.zeros(1)
        for _ in range(n):
            a = a[None]
        return a

    with pytest.raises(TypingError, match="one value here may have any of 9 types"):
        typed(grows, (5,))
