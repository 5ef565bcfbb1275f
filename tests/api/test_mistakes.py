"""Messages about common mistakes: they say what is wrong, where, with which types, and what to write instead."""
import functools
import math
import subprocess
import sys

import numpy as np
import pytest

import pyjitc
from pyjitc import CompileError, TypingError, jit, njit

ITEMS = [1.0, object()]  # compiled code takes no objects such as this one
TABLE = {"a": object()}


class Thing:
    x = 2.0

    def __init__(self):
        self.y = 3.0


thing = Thing()


class Frame:
    """A class like those of data frames and columns."""

    def to_numpy(self):
        return np.zeros(2)

    __array__ = to_numpy


def message(function, *args):
    """The parts of the error of a first call: message, marked text, types, hint."""
    with pytest.raises(CompileError) as caught:
        njit(function)(*args)
    d = caught.value.diagnostic
    assert len(str(caught.value).splitlines()) <= 8
    lines = str(caught.value).splitlines()
    carets = next((n for n, line in enumerate(lines) if line.strip() and not line.strip().strip("^")), None)
    marked = None if carets is None else lines[carets - 1][lines[carets].index("^"):len(lines[carets])]
    assert marked is not None or sys.version_info < (3, 11)
    return d.message, marked, dict(d.types), d.hint


def expected(text):
    """The text that the message marks, or None in Python 3.10, which has no columns."""
    return text if sys.version_info >= (3, 11) else None


def test_containers_of_the_interpreter():
    def item(k):
        return ITEMS[k]

    def length(k):
        return len(ITEMS) + k

    def loop(k):
        for v in ITEMS:
            k += v
        return k

    def contains(k):
        return k in TABLE

    def lookup(k):
        return TABLE[k]

    def append(k):
        ITEMS.append(k)

    def assign(k):
        ITEMS[0] = k

    for function, what, marked in ((item, "an item", "ITEMS[k]"), (length, "len()", "len(ITEMS)"),
                                   (loop, "iteration", "ITEMS")):
        assert message(function, 1)[:2] == (f"{what} of a list of the interpreter is not compiled", expected(marked))
        assert "make it an array" in message(function, 1)[3]
    for function, what in ((contains, "`in`"), (lookup, "an item")):
        assert message(function, 1)[0] == f"{what} of a dict of the interpreter is not compiled"
        assert "constant key" in message(function, 1)[3]
    for function, what in ((append, ".append()"), (assign, "item assignment")):
        assert message(function, 1.0)[0] == f"{what} of a list of the interpreter is not compiled"
        assert "change it outside" in message(function, 1.0)[3]
    assert len(ITEMS) == 2 and ITEMS[0] == 1.0


def test_attributes_of_objects():
    def attribute(k):
        return thing.y * k

    captured = thing

    def of_captured(k):
        return captured.y * k

    assert njit(attribute)(3) == njit(of_captured)(3) == thing.y * 3

    def missing(k):
        return thing.z * k

    with pytest.raises(AttributeError, match="'Thing' object has no attribute 'z'"):
        njit(missing)(1)


def test_operands_without_a_name_are_shown_as_written():
    def halves(a, i):
        return a[i / 2]

    def nothing(x):
        x + 1

    def forgotten(x):
        return nothing(x) * 2

    _, marked, types, hint = message(halves, np.zeros(3), 2)
    assert marked == expected("a[i / 2]") and "//" in hint
    assert types == {"a": "float64[::1]", **({"i / 2": "float"} if expected("") == "" else {})}
    types = message(forgotten, 1)[2]
    assert types == ({"nothing(x)": "None"} if expected("") == "" else {})


def test_floats_where_integers_belong():
    def shape(n):
        return np.zeros(n / 2)

    def count(n):
        for _ in range(n):
            pass

    def index(a, x):
        return a[x]

    for function, args in ((shape, (4,)), (count, (4.0,)), (index, (np.zeros(2), 1.0))):
        assert "//" in message(function, *args)[3]


def test_names_of_fields_that_an_array_has_not():
    def read(a):
        return a["x"]

    def write(a):
        a["x"] = 1

    for function in (read, write):
        for a in (np.zeros(2), np.zeros((2, 2), np.int8), np.array(["a"])):
            with pytest.raises(IndexError) as caught:
                function(a)
            found = message(function, a)
            assert found[0] == str(caught.value) and "structured array" in found[3]


def test_text_into_an_array():
    def put(a):
        a[0] = "x"

    assert message(put, np.zeros(2))[0] == "a str is not converted to float64 in compiled code"


@pytest.mark.parametrize("value, instead", [
    (Frame(), "pass x.to_numpy()"), (np.longdouble(0.5), "pass float(x)"),
])
def test_arguments_without_native_form(value, instead):
    with pytest.raises(TypeError, match=instead.replace("(", r"\(").replace(")", r"\)")):
        njit(lambda x: x)(value)


def test_keywords_of_a_call_from_outside():
    @njit
    def f(x, **rest):
        return x, rest

    assert f(1, k=2) == (1, {"k": 2})


def test_a_function_of_another_package_keeps_its_name():
    special = pytest.importorskip("scipy.special")

    def error_function(x):
        return special.erf(x)

    assert message(error_function, 0.5)[0] == "scipy.special.erf is not compiled yet"


def test_iteration_over_a_number():
    def loop(n):
        for i in n: pass  # noqa: E701

    assert message(loop, 3)[1] == expected("n")
    assert message(loop, 3)[3] == "range(n) has the ints below n"
    assert message(loop, 3.0)[3] == ""


def test_typing_error_is_a_type_error():
    with pytest.raises(TypeError) as caught:
        njit(lambda x: x.nothing)(1)
    assert type(caught.value) is TypingError


def test_signatures_have_as_many_types_as_the_function_has_parameters():
    f = njit(lambda x: x)
    for ask in (f.inspect_ir, f.inspect_asm, f.compile):
        with pytest.raises(TypeError, match=r"signature \(int, int\) has 2 arguments, .* takes 1"):
            ask("(int, int)")


def test_text_and_numbers():
    def label(n):
        return "n is " + n

    for value in (2, 2.5, None, (1,)):
        with pytest.raises(TypeError) as plain:
            label(value)
        text, marked, _, hint = message(label, value)
        assert text == str(plain.value) and marked == expected('"n is " + n') and "f-string" in hint


def outside(a):
    return pyjitc.objmode(a)


@pytest.mark.parametrize("name", ["generated_jit", "objmode", "literal_unroll", "overload",
                                  "typeof"])
def test_names_of_numba(name):
    with pytest.raises(AttributeError, match=f"^pyjitc has no '{name}': .{{10,}}"):
        getattr(pyjitc, name)


def test_submodules_are_loaded_on_first_use():
    program = ("import sys, pyjitc; assert not {'pyjitc.cuda', 'pyjitc.numba', 'pyjitc.typed'} & sys.modules.keys(); "
               "print([one.__name__ for one in (pyjitc.cuda, pyjitc.numba, pyjitc.typed)])")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "['pyjitc.cuda', 'pyjitc.numba', 'pyjitc.typed']\n"


def test_names_of_types():
    text = "^pyjitc.types has no 'float64': names of types are in pyjitc itself: pyjitc.float64$"
    with pytest.raises(AttributeError, match=text):
        pyjitc.types.float64
    with pytest.raises(ImportError, match=text):
        from pyjitc.types import float64  # noqa: F401
    with pytest.raises(AttributeError, match="has no attribute 'nosuch'"):
        pyjitc.types.nosuch


def test_names_of_other_compilers():
    text = ("^pyjitc has no 'objmode': put jit above the function for njit: what has no native form is done by the "
            "interpreter$")
    with pytest.raises(ImportError, match=text):
        from pyjitc import objmode  # noqa: F401
    with pytest.raises(AttributeError, match=text):
        pyjitc.objmode
    assert not hasattr(pyjitc, "objmode") and not hasattr(pyjitc, "nosuch")
    what, marked, *_ = message(outside, np.ones(3))
    assert what == text[1:-1] and marked in ("pyjitc.objmode", None)  # Python 3.10 keeps no columns
    with pytest.raises(ImportError, match="cannot import name 'njjit'"):
        from pyjitc import njjit  # noqa: F401


def _another_compiler(function):
    def call(*args):
        raise AssertionError("this is what is called from compiled code")

    return functools.update_wrapper(_Wrapper(call), function)


class _Wrapper:
    def __init__(self, call):
        self.call = call

    def __call__(self, *args):
        return self.call(*args)


@_another_compiler
def wrapped(x):
    return x + 1


@functools.lru_cache
def cached(x):
    return x + 1


def test_functions_of_other_packages():
    def of_another_compiler(x):
        return wrapped(x) + 1

    def of_a_cache(x):
        return cached(x) + 1

    with pytest.raises(AssertionError, match="this is what is called"):  # an object with a method __call__
        njit(of_another_compiler)(1)
    assert njit(of_a_cache)(1) == of_a_cache(1) == 3
    assert njit(cached.__wrapped__)(1) == 2


def test_functions_of_numba_and_jax():
    numba, lax = pytest.importorskip("numba"), pytest.importorskip("jax.lax")

    def literal(n):
        return numba.literally(n)

    def loop(n):
        return lax.fori_loop(0, n, lambda i, y: y + 1, 0)

    assert message(literal, 1)[1::2] == (
        expected("numba.literally(n)"),
        "write what there is for it here: pyjitc.prange for prange, an array or a tuple for a typed list")
    assert message(loop, 1)[1::2] == (expected("lax.fori_loop(0, n, lambda i, y: y + 1, 0)"),
                                      "write NumPy's function for it; loops and branches of Python for those of "
                                      "jax.lax")


def test_decorators_below_njit():
    for other in wrapped, cached:
        with pytest.raises(TypeError, match="^njit compiles Python functions, not .*; put njit alone above the "
                                            "function, or compile .* its __wrapped__$"):
            njit(other)
        assert njit(other.__wrapped__)(1) == 2


def test_shapes_that_do_not_say_how_many_axes():
    def reshaped(x, shape):
        return x.reshape(shape)

    why = "the type of a shape says how many axes there are: lists and arrays of lengths do not"
    for shape in ([2, 3], np.array([2, 3])):
        what, marked, _, hint = message(reshaped, np.arange(6.0), shape)
        assert (what, marked, hint) == (why, expected("x.reshape(shape)"), "pass a tuple, such as (2, 3)")


def test_a_gradient_that_is_none_shows_the_function_without_columns():
    """The code that computes a gradient was made from another source text, so its columns would mark the wrong
    words."""
    with pytest.raises(CompileError) as caught:
        pyjitc.grad(lambda x: np.linalg.eig(np.ones((2, 2)) * x)[0][0])(1.0)
    d = caught.value.diagnostic
    assert (d.col, d.types) == (-1, ()) and "^" not in str(caught.value)


def test_methods_that_other_classes_have():
    for function, given, hint in (
            (lambda x: x.push(3), [1, 2], "write l.append(x)"), (lambda d: d.has_key(1), {1: 2}, "write key in d"),
            (lambda s: s.append("c"), "ab", "write s + x"), (lambda s: s.append(3), {1}, "write s.add(x)"),
            (lambda a: a.append(3.0), np.zeros(2), "write np.append(a, x), which makes a new array, or use a list"),
            (lambda a: a.length, np.zeros(2), "write len(a)"), (lambda a: a.lenght, np.zeros(2), "write len(a)"),
            (lambda a: a.copy.sum(), np.zeros(2), "write copy() with parentheses")):
        assert message(function, given)[3] == hint


def test_calls_of_values():
    for function, hint in ((lambda a: a(1), "an element is taken with brackets, as in a[i]"),
                           (lambda a: a.shape(0), "an element is taken with brackets, as in a[i]"),
                           (lambda a: a.size(), "leave the parentheses out: this is a value, not a method"),
                           (lambda a: a.shape(), "leave the parentheses out: this is a value, not a method"),
                           (lambda a: np.pi(), "leave the parentheses out: this is a value, not a method")):
        assert message(function, np.zeros(2))[3] == hint


@pytest.mark.parametrize("function", [
    lambda a: np.sort(a), lambda a: a.argsort(), lambda a: np.unique(a), lambda a: np.isin(a, a),
    lambda a: np.lexsort((a,)), lambda a: np.union1d(a, a), lambda a: -a, lambda a: a in a])
def test_arrays_of_records_and_texts(function):
    assert message(function, np.zeros(2, [("x", "i4")]))[3] == "use their fields: a['x']"
    assert message(function, np.array(["b", "a"]))[3] == "pass lists of strings: x.tolist()"


def test_deletion_of_elements():
    def delete(a):
        del a[0]

    found = message(delete, np.zeros(2))
    assert found[0] == "cannot delete array elements" and "np.delete" in found[3]


def test_attributes_of_modules():
    def assign(x):
        math.tau = x

    def assign_new(x):
        np.something = x

    def delete(x):
        del np.pi

    for function, instead in ((assign, "assign"), (assign_new, "assign"), (delete, "delete it")):
        found = message(function, 4)
        assert "is not compiled" in found[0] and found[3] == f"{instead} outside the compiled function"
    assert "math.tau" in message(assign, 4)[0] and math.tau > 6
    jit(assign_new)(4)  # the interpreter assigns it
    assert vars(np).pop("something") == 4


def test_what_there_is_in_place_of_a_function():
    for function, hint in ((lambda a: np.loadtxt("x"), "read and write files outside"),
                           (lambda a: np.ma.array(a), "mask"), (lambda a: np.array(["a", "b"]), "use a list of texts")):
        assert hint in message(function, np.zeros(2))[3]


def test_a_long_line_is_shown_around_the_place():
    f = njit(lambda a: (a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9, a.nosuch, a + 1, a + 1, a + 1, a + 1, a + 1, a + 1, a + 2))  # noqa: E501
    with pytest.raises(TypingError) as caught:
        f(1)
    source, carets = str(caught.value).splitlines()[2:4] if expected("") == "" else (None, None)
    if source is not None:
        assert len(source) <= 130 and source.startswith("    ...") and source.endswith("...")
        assert source[carets.index("^"):len(carets)] == "a.nosuch"


def test_no_object_is_shown_by_its_address():
    for given in (np.sum, print, object(), iter([])):
        with pytest.raises(TypeError) as caught:
            njit(given)
        assert "0x" not in str(caught.value)
    with pytest.raises(TypeError, match="the function .* is not a signature"):
        pyjitc.cfunc(lambda x: x)


def test_the_function_of_guvectorize_returns_nothing():
    @pyjitc.guvectorize("(n)->()")
    def total(a, out):
        return a.sum()

    with pytest.raises(TypingError, match="returns a numpy.float64, and its results are its last arguments"):
        total(np.ones(3))
