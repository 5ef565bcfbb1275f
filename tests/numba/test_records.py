"""Records, and arrays of them, in functions that are written for Numba."""
import numpy as np
import pytest

import pyjitc
from pyjitc import njit as own
from pyjitc import numba as nb
from pyjitc.numba import types
from pyjitc.numba.extending import overload
from tests.oracle import same

PART = np.dtype([("x", np.float64), ("k", np.int32), ("v", np.float32, (3,))], align=True)


def parts():
    made = np.zeros(4, PART)
    made["x"], made["k"] = [1, 2, 3, 4], [4, 3, 2, 1]
    return made


def moved(p, q, by=2.0, *, scale=1.0):
    p["x"] += q["x"] * by * scale
    p["v"][1] = 7
    return p["x"], p["k"], p["v"].sum()


@pytest.mark.parametrize("how", [lambda f, a: f(a[0], a[1]), lambda f, a: f(a[2], q=a[0], scale=0.5),
                                 lambda f, a: f(q=a[::2][1], p=a[0], by=3), lambda f, a: f(a[3], a[3])])
def test_records_as_arguments(how):
    """Records refer to the memory of their array."""
    expected, found = parts(), parts()
    for _ in range(2):
        assert how(moved, expected) == how(nb.njit(moved), found)
        assert found.tobytes() == expected.tobytes()


def test_declared_records():
    a = parts()
    f = nb.njit((nb.from_dtype(PART), nb.int64))(lambda p, n: p.x + n + p.v.size)
    assert f(a[1], 2) == 7.0 and nb.njit("float64(float64)")(lambda x: x)(a[1]["x"]) == 2.0


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("layout", [(slice(None),), (slice(None, None, 1),)])
def test_declared_arrays_of_records(align, layout):
    a = np.zeros(3, np.dtype([("x", np.float64), ("k", np.int16)], align=align))
    a["x"] = [1.5, 2.5, 3.5]
    declared = nb.from_dtype(a.dtype)[layout[0]]
    f = nb.njit((declared, types.intp))(lambda a, i: a[i].x + a.k[i])
    for given in (a, a.view(np.recarray)):
        assert f(given, 1) == 2.5
    assert f.signatures == [(declared, types.intp)]


def test_arrays_declared_as_unaligned():
    f = nb.njit((types.Array(types.float64, 1, "A", aligned=False),))(lambda a: a.sum())
    unaligned = np.zeros(17, np.uint8)[1:].view(np.float64)
    unaligned[:] = [1.0, 2.0]
    assert (f(unaligned), f(np.ones(3)), f(np.ones(6)[::2])) == (3.0, 3.0, 3.0)


def test_records_beside_others():
    a = parts()
    f = nb.njit(lambda p, rows, *rest: p["k"] + rows["k"].sum() + len(rest) + rows[1].x)
    assert f(a[0], a, 1, 2) == 4 + 10 + 2 + 2.0 and f(a[0], a) == 16.0
    assert nb.njit(lambda r: r.x + r.k)(a.view(np.recarray)[2]) == 5.0
    assert nb.njit(lambda r: r["x"])(np.zeros((), PART)[()]) == 0.0
    with pytest.raises(TypeError, match="missing"):
        nb.njit(moved)(a[0])


def test_a_record_is_returned_as_the_memory_of_its_array():
    a = parts()
    given = nb.njit(lambda r: r)(a[1])
    assert type(given) is np.void and given == a[1] and np.shares_memory(np.frombuffer(given, PART), a)
    kept = nb.njit(lambda r: r)(parts()[1])  # no other object refers to its memory
    assert kept["x"] == 2.0 and kept["k"] == 3


def test_a_record_that_is_read_only():
    a = parts()
    a.flags.writeable = False
    assert nb.njit(lambda r: r.x)(a[0]) == 1.0
    with pytest.raises(ValueError, match="read-only"):
        nb.njit(moved)(a[0], a[1])


def test_fields_of_arrays_as_attributes():
    def total(a):
        a.k[1:] = 9
        return a.x.sum() + a.k.max(), a.size, a.v.shape
    a = parts()
    assert nb.njit(total)(a) == (19.0, 4, (4, 3)) and a["k"].tolist() == [4, 9, 9, 9]
    with pytest.raises(TypeError, match="has no attribute 'x'"):
        own(lambda a: a.x[:1])(a)


def _read_text(a, records, wanted):
    counts = {}
    for word in a:
        counts[word] = counts.get(word, 0) + 1
    records[0].s = a[1]
    records[1]["s"] = b"abcdef"
    records.s[2] = "q"
    return (counts, a[0], len(a[1]), a[1:], a == wanted, a[0] == a[2], [records[i].s for i in range(3)],
            records.x.sum(), records[0]["s"] + b"!")


def test_arrays_of_text():
    words = np.array(["ab", "c", "ab"])
    records = np.zeros(3, [("x", "f8"), ("s", "S3")]).view(np.recarray)
    compiled, interpreted = records.copy(), records.copy()
    same(nb.njit(_read_text)(words, np.asarray(compiled), "ab"), (
        {"ab": 2, "c": 1}, "ab", 1, words[1:], words == "ab", True, [b"c", b"abc", b"q"], np.float64(0), b"c!"))
    _read_text(words, interpreted, "ab")
    same(np.asarray(compiled), np.asarray(interpreted))
    assert str(nb.typeof(words)) == "array([unichr x 2], 1d, C)"
    by_signature = nb.njit(types.int64(types.UnicodeCharSeq(2)[::1]))(lambda a: len(a[0]))
    assert by_signature(words) == 2
    with pytest.raises(TypeError, match="an element of an array of strings is not compiled"):
        pyjitc.njit(lambda a: list(a))(words)


@pytest.mark.parametrize("call", [
    lambda x: x.zfill(1.1), lambda x: x.find("a", 1.5), lambda x: x.split("a", None, 3), lambda x: x.strip(1),
    lambda x: x.ljust(3, 1), lambda x: x.startswith(1.5), lambda x: x.split(sep=1)])
def test_methods_of_text_that_refuse_a_type_raise_typing_errors(call):
    with pytest.raises(TypeError) as wanted:
        call("abc")
    with pytest.raises(nb.TypingError) as found:
        nb.njit(call)("abc")
    assert str(found.value) == str(wanted.value)
    with pytest.raises(TypeError) as found:
        pyjitc.njit(call)("abc")
    assert type(found.value) is TypeError and str(found.value) == str(wanted.value)


NAMES = ("x", "y")


def test_names_of_fields_from_a_tuple():
    dtype = np.dtype([("x", np.int32), ("y", np.float64)])
    a = np.array([(1, 0.5), (2, 1.5)], dtype)

    def summed(record):
        total = 0
        for name in nb.literal_unroll(("x", "y")):
            total += record[name]
        return total

    def filled(record, a):
        for name in nb.literal_unroll(NAMES):
            record[name] = 10
            a[name][0] = 4
        return record, a

    def chosen(a, n):
        total = 0.0
        for k in range(n):
            name = "x" if k % 2 else "y"
            total += a[name].sum() + a[k][name]
        return total

    assert same(summed(a[1]), nb.njit(summed)(a[1]))
    assert same(filled(a[0].copy(), a.copy()), nb.njit(filled)(a[0].copy(), a.copy()))
    assert same(chosen(a, 2), nb.njit(chosen)(a, 2))
    with pytest.raises(ValueError, match="no field of name q"):
        nb.njit(lambda a, k: a["xq"[k]][0])(a, 1)


def test_overloads_get_the_type_of_one_record():
    def end(x):
        raise NotImplementedError

    @overload(end)
    def _(x):
        if "end" in x.dtype.fields:
            return lambda x: x["end"]
        return lambda x: x["start"] + 1

    function = nb.njit(lambda x: (end(x[0]), end(x)))
    for fields in ([("start", "i8"), ("end", "i8")], [("start", "i8")]):
        given = np.ones(2, fields)
        one, several = function(given)
        expected = given["end"] if "end" in given.dtype.fields else given["start"] + 1
        assert one == expected[0] and list(several) == list(expected)


def _with_titles(a):
    a[0]["x"] += 1
    a["y"][1] = 7
    a[1].s0 = 3
    a[0].y = 9
    return a["s0"].sum(), a[0].x


def test_titles_name_fields():
    dtype = np.dtype([(("x", "s0"), "i4"), (("y", "s1"), "i4")])
    compiled, interpreted = np.zeros(2, dtype), np.zeros(2, dtype).view(np.recarray)
    same(nb.njit(_with_titles)(compiled), _with_titles(interpreted))
    same(compiled, np.asarray(interpreted))


def test_disabled_compilation_of_records():
    a, other = parts(), np.zeros(2, [("x", np.int64)])
    f = nb.njit(lambda p: p["x"])
    assert f(a[0]) == 1.0
    f.disable_compile()
    assert f(a[1]) == 2.0
    with pytest.raises(TypeError, match="No matching definition"):
        f(other[0])
    f.disable_compile(False)
    assert f(other[0]) == 0
    f = nb.njit(lambda p: p)
    assert f(3) == 3
    f.disable_compile()
    with pytest.raises(TypeError, match="takes a record; disable_compile"):
        f(a[0])
