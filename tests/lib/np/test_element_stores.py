"""Stores of single numbers: NumPy scalars are stored in signed integers through a Python int, which must fit; elements
of arrays are cast."""

import re

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree, difference, outcome

pytestmark = pytest.mark.filterwarnings("ignore")

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
NUMBERS = [np.bool_, *INTEGERS, np.float16, np.float32, np.float64, np.complex64, np.complex128]
WHOLE = [
    0,
    1,
    -1,
    127,
    128,
    -128,
    -129,
    255,
    256,
    300,
    32767,
    32768,
    -32769,
    65535,
    2**31 - 1,
    2**31,
    -(2**31) - 1,
    2**32,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64 - 1,
]
PARTS = [
    0.0,
    -0.0,
    1.5,
    -1.5,
    127.9,
    128.0,
    255.9,
    256.0,
    -128.9,
    -129.0,
    32767.5,
    32768.0,
    -32768.5,
    -32769.0,
    2.0**31,
    -(2.0**31) - 0.5,
    -(2.0**31) - 1,
    2.0**32,
    2.0**63,
    2.0**64,
    -(2.0**63),
    1e30,
    1e300,
    np.inf,
    -np.inf,
    np.nan,
]


def values(cls):
    if cls is np.bool_:
        return [np.False_, np.True_]
    if cls in INTEGERS:
        return [cls(n) for n in WHOLE if np.iinfo(cls).min <= n <= np.iinfo(cls).max]
    with np.errstate(all="ignore"):
        return [cls(x) if not issubclass(cls, np.complexfloating) else cls(complex(x, 1)) for x in PARTS]


def item(a, x):
    a[0] = x
    return a[0]


@pytest.mark.parametrize("target", NUMBERS, ids=lambda t: t.__name__)
def test_all_pairs_of_dtypes(target):
    compiled = njit(item)
    wrong = []
    for source in NUMBERS:
        for x in values(source):
            found = difference(outcome(item, (np.zeros(2, target), x)), outcome(compiled, (np.zeros(2, target), x)))
            wrong += [f"{x!r} of {source.__name__}: {found}"] * bool(found)
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("target", INTEGERS, ids=lambda t: t.__name__)
def test_floats_of_python(target):
    compiled = njit(item)
    for x in [*PARTS, 1e19, -1e19, 2.0**64 - 4096, -(2.0**63) - 2048, -(2.0**64), 300.7, -0.5]:
        found = difference(outcome(item, (np.zeros(2, target), float(x))),
                           outcome(compiled, (np.zeros(2, target), float(x))))
        assert not found, x


def items(a, x, n):
    for i in range(n):
        a[i] = x + i
    return a


@pytest.mark.parametrize("target", INTEGERS, ids=lambda t: t.__name__)
def test_floats_of_python_in_a_loop(target):
    compiled = njit(items)
    for x in (1.5, 120.5, -1.5, 2.0**63, 2.0**64 - 8192, 1e19, -1e19):
        assert not difference(outcome(items, (np.zeros(9, target), x, 9)),
                              outcome(compiled, (np.zeros(9, target), x, 9))), x


def place(a, x):
    a[0, 1] = x


def row(a, x):
    a[1] = x


def column(a, x):
    a[:, -1] = x


def everything(a, x):
    a[...] = x


def nothing(a, x):
    a[:0] = x


def outside(a, x):
    a[7, 0] = x


def filled(a, x):
    a.fill(x)


def flat_item(a, x):
    a.flat[2] = x


def flat_part(a, x):
    a.flat[1:3] = x


def flat_all(a, x):
    a.flat = x


def real(a, x):
    a.real = x


def real_item(a, x):
    a.real[0, 0] = x


def added(a, x):
    a[0, 0] += x


def chosen(a, x):
    a[[0, 1]] = x


def chosen_list(a, x):
    a[[0, 1]] = [x, x]


def masked(a, x):
    a[a == a] = x


def tupled(a, x):
    a[0] = (x, 1)


def number_of_array(a, x):
    a[0, 0] = np.array(x)


def row_of_array(a, x):
    a[0] = np.array([x, x])


def copied(a, x):
    np.copyto(a, x, casting="unsafe")


def put(a, x):
    np.put(a, 0, x)


def diagonal(a, x):
    np.fill_diagonal(a, x)


def along(a, x):
    np.put_along_axis(a, np.array([[0]]), x, 1)


def full(a, x):
    return np.full(3, x, a.dtype), np.full_like(a, x), np.array(x, a.dtype), np.asarray(x, a.dtype)


def array(a, x):
    return np.array([x, x], a.dtype)


def iterated(a, x):
    return np.fromiter((x + n for n in range(3)), a.dtype)


def loop(a, x):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = x


def caught(a, x):
    try:
        a[0, 0] = x
    except (OverflowError, ValueError) as error:
        a[1, 1] = 1
        return str(error)
    return "no"


FORMS = [
    place,
    row,
    column,
    everything,
    nothing,
    outside,
    filled,
    flat_item,
    flat_part,
    flat_all,
    real,
    real_item,
    added,
    chosen,
    chosen_list,
    masked,
    tupled,
    number_of_array,
    row_of_array,
    copied,
    put,
    diagonal,
    along,
    full,
    array,
    iterated,
    loop,
    caught,
]
SOME = [
    np.int64(300),
    np.int64(-129),
    np.int64(100),
    np.float64(300.5),
    np.float64(np.nan),
    np.float32(-np.inf),
    np.uint64(2**64 - 1),
    np.float32(1e30),
    np.complex64(300 + 1j),
    300,
    300.0,
    np.nan,
]


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
def test_forms_of_assignment(form):
    """Each form stores all values in one type of array, and a third of them in each of the two others; the forms take
    turns."""
    compiled, turn = njit(form), FORMS.index(form)
    for k, target in enumerate((np.int8, np.int32, np.uint8)):
        for x in SOME if (turn + k) % 3 == 0 else SOME[(turn + k) // 3 % 3::3]:
            agree(form, np.zeros((2, 2), target), x, compiled=compiled)


RECORD = [("x", "i1"), ("y", "i2", (2,)), ("z", [("u", "i4"), ("w", "f4")])]


def field_of_record(r, x):
    r[0]["x"] = x


def item_of_field(r, x):
    r["x"][1] = x


def whole_field(r, x):
    r["x"] = x


def number_for_record(r, x):
    r[0] = x


def tuple_for_record(r, x):
    r[0] = (1, x, (2, 3.0))


def tuple_for_all(r, x):
    r[:] = (x, 1, (2, 3.0))


def array_field(r, x):
    r["y"] = x


def inner_record(r, x):
    r[0]["z"] = (x, 2.0)


def item_of_array_field(r, x):
    r[0]["y"][1] = x


@pytest.mark.parametrize(
    "form",
    [
        field_of_record,
        item_of_field,
        whole_field,
        number_for_record,
        tuple_for_record,
        tuple_for_all,
        array_field,
        inner_record,
        item_of_array_field,
    ],
    ids=lambda f: f.__name__,
)
def test_fields_of_records(form):
    compiled = njit(form)
    for x in (*SOME[:-4], 100):
        agree(form, np.zeros(2, RECORD), x, compiled=compiled)


def test_elements_before_the_one_that_does_not_fit_are_stored():
    def f(a, b):
        for i in range(len(a)):
            b[i] = a[i]

    compiled = njit(f)
    for n in (3, 40, 700, 5000):
        for bad in {0, 1, n // 2, n - 1}:
            for source, x in ((np.int64, 300), (np.float64, np.nan), (np.uint64, 2**64 - 1)):
                a = (np.arange(n) % 100).astype(source)
                a[bad] = x
                agree(f, a, np.zeros(n, np.int8), compiled=compiled)
                agree(f, a, np.zeros(2 * n, np.int16)[::2], compiled=compiled)


def test_overflow_wrap_leaves_the_check_out():
    for x in (np.int64(300), np.float64(1e30), np.float64(np.nan), np.uint64(2**64 - 1)):
        with np.errstate(all="ignore"):
            assert njit(overflow="wrap")(item)(np.zeros(1, np.int8), x) == x.astype(np.int8)


def test_what_is_known_to_fit_is_not_asked():
    def remainders(a, b):
        for i in range(len(a)):
            b[i] = a[i] % 100

    def shifted(a, b):
        for i in range(len(a)):
            b[i] = a[i] >> 57

    def low_bits(a, b):
        for i in range(len(a)):
            b[i] = a[i] & 127

    def wide(a, b):
        for i in range(len(a)):
            b[i] = a[i]

    for f, asked in ((remainders, False), (shifted, False), (low_bits, False), (wide, True)):
        compiled = agree(f, np.arange(-300, 300) if f is not wide else np.arange(-100, 100), np.zeros(600, np.int8))
        assert ("PyExc_OverflowError" in compiled.inspect_llvm(compiled.signatures[0])) == asked, f.__name__


def test_loops_that_ask_first_are_vectorised():
    def f(a, b):
        for i in range(len(a)):
            b[i] = a[i] * 3

    for source in (np.int64, np.float64):
        compiled = agree(f, np.arange(40).astype(source), np.zeros(40, np.int8))
        assert re.search(r"store <\d+ x i8>", compiled.inspect_llvm(compiled.signatures[0]))


def test_what_a_loop_asks_about_may_be_what_it_writes():
    def through_view(a, shift):
        b = a.view(np.int16)
        for i in range(len(a)):
            b[i] = a[i] + shift

    def in_place(a, b):
        for i in range(len(a)):
            a[i] = a[i] + b[i]

    def from_before(a, b):
        for i in range(1, len(a)):
            a[i] = a[i - 1] + b[i]

    def total(a, b):
        s = b[0]
        for i in range(len(a)):
            s += b[i]
            a[i] = s
        return s

    def every_other(a, b):
        for i in range(len(a)):
            if b[i] > 50:
                a[i] = b[i]
        return i

    for n in (3, 20, 300, 1000):
        agree(through_view, np.arange(n), np.int64(2))
        agree(through_view, np.full(n, 1 << 20), np.int64(2))
        for most in (1, 90, 200):
            numbers = np.arange(n) % most
            for f in (in_place, from_before, total, every_other):
                agree(f, np.zeros(n, np.int8), numbers)


def test_row_of_which_an_item_does_not_fit():
    def f(a, x):
        a[0] = (1, x)

    for x in (300, np.int64(300)):
        first, second = np.zeros((2, 2), np.int8), np.zeros((2, 2), np.int8)
        for function, a in ((f, first), (njit(f), second)):
            with pytest.raises(OverflowError, match="Python integer 300 out of bounds for int8"):
                function(a, x)
        assert first.tolist() == [[1, 0], [0, 0]] and second.tolist() == [[0, 0], [0, 0]]


def put(a, x):
    np.put(a, [0, 1], [x, 1])


def place(a, x):
    np.place(a, a > 0, [x])


def placed_tuple(a, x):
    np.place(a, a > 0, (1, x))


def putmask(a, x):
    np.putmask(a, a > 0, [1, x])


def copyto_list(a, x):
    np.copyto(a, [x] * 4)


def pad(a, x):
    return np.pad(a, 1, constant_values=x), np.pad(a, (1, 0), constant_values=(1, x))


def initial(a, x):
    return np.max(a, initial=x), np.sum(a, initial=x), np.minimum.reduce(a, initial=x), np.add.reduce(a, initial=x)


def clip_above(a, x):
    return np.clip(a, 0, x), a.clip(None, x), np.clip(a, 0, 300), np.clip(a[1], 0, 300)


def clip_below(a, x):
    return np.clip(a, x, 3), a.clip(x), np.clip(a, -300, 3), np.clip(a[1], -300, None)


FUNCTIONS = [put, place, placed_tuple, putmask, pad, initial, clip_above, clip_below]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float16])
def test_functions_that_store_numbers_convert_each_as_an_assignment_does(function, dtype):
    compiled = njit(function)
    for x in (2, 300, -2, 2.5, np.int64(300), np.float64(2.5), np.uint8(200)):
        agree(function, np.array([1, 2, 0, 3], dtype), x, compiled=compiled)


def add_at(a, indices, values):
    np.add.at(a, indices, values)


def test_indices_of_ufunc_at_are_integers():
    compiled = njit(add_at)
    agree(add_at, np.zeros(3), [1, 0, 1], [1.0, 2.0, 3.0], compiled=compiled)
    agree(add_at, np.zeros(2), [True, False], 2, compiled=compiled)
    for indices in ([1.5, 0.0], np.array([1.5, 0.0])):
        with pytest.raises(TypeError, match="arrays used as indices must be of integer"):
            compiled(np.zeros(3), indices, 1)


def test_a_list_of_another_kind_is_not_copied():
    for dtype, x in ((np.int8, 2.5), (np.uint8, 2), (np.float16, 1j)):
        with pytest.raises(TypeError, match="according to the rule 'same_kind'"):
            njit(copyto_list)(np.zeros(4, dtype), x)
    agree(copyto_list, np.zeros(4, np.int8), 3)


def lists(a, values):
    np.put(a, [0, 1], values)
    np.place(a, a > 0, values)
    np.putmask(a, a > 2, values)
    return a


def test_items_of_lists_are_converted_one_by_one():
    compiled = njit(lists)
    for values in ([1, 2], [2.5, 1.0], [300, 1], [-1, 300]):
        for dtype in (np.int8, np.uint8, np.float32):
            agree(lists, np.array([1, 2, 0, 3], dtype), values, compiled=compiled)


def stored_and_read(a, b):
    for i in range(len(a)):
        b[i] = a[i]
        a[i] = b[i] * 2


def counted_up(a, b, c):
    for i in range(len(a)):
        a[i] += 1
        b[i] += a[i]
        c[i] = b[i] - a[i]


def read_behind_a_branch(a, b):
    for i in range(len(a)):
        if a[i] > 20:
            b[i] = a[i]
        a[i] = b[i] + 1


def stored_twice(a, b):
    for i in range(len(a)):
        b[i] = a[i] * 0.5
        b[i] += 1
        a[i] = b[i]
        b[i] = a[i]


@pytest.mark.parametrize("dtype", (np.int8, np.int64, np.float16))
@pytest.mark.parametrize("other", (np.float16, np.float64))
def test_elements_that_a_trip_reads_after_it_has_stored_them(dtype, other):
    """The loops are long enough to run in blocks, which look whether all elements fit before they store any."""
    for n in (5, 40, 300):
        a = np.random.default_rng(n).integers(0, 50, n).astype(dtype)
        b = np.full(n, 3, other)
        agree(stored_and_read, a, b)
        agree(counted_up, a, b, np.zeros(n, dtype))
        agree(read_behind_a_branch, a, b)
        agree(stored_twice, a, b)


def test_a_source_of_another_dtype_in_the_same_memory():
    @njit
    def stored(a, b):
        a[:] = b

    for wide in (np.int16, np.int64):
        memory = np.arange(64, dtype=np.uint8)
        b = memory[:8]
        expected = b.astype(wide)
        a = memory[:expected.nbytes].view(wide)
        stored(a, b)
        assert (a == expected).all()
