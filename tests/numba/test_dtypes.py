"""Numba's types as dtypes, and as values of compiled code."""
import pickle

import numpy as np
import pytest

from pyjitc import numba as nb
from pyjitc.numba import njit, types
from tests.oracle import same

A = np.array([1.0, 2.5, 300.0])


@pytest.mark.parametrize("function, wanted", [
    (lambda a: np.empty(len(a), dtype=nb.uint32), np.uint32),
    (lambda a: np.zeros((2, 3), types.float32), np.float32),
    (lambda a: np.ones_like(a, dtype=nb.types.int8), np.int8),
    (lambda a: np.full(3, 2, dtype=nb.complex64), np.complex64),
    (lambda a: np.array([1, 2], dtype=nb.int16), np.int16),
    (lambda a: np.zeros(3, dtype=nb.boolean), np.bool_),
    (lambda a: np.arange(3, dtype=nb.float64), np.float64),
    (lambda a: a.astype(nb.uint16), np.uint16),
    (lambda a: a.view(nb.uint64), np.uint64),
    (lambda a: np.asarray(a, dtype=nb.float32), np.float32),
    (lambda a: a.sum(dtype=nb.float32), np.float32),
])
def test_types_are_dtypes(function, wanted):
    assert njit(function)(A).dtype == wanted


def test_a_record_type_is_a_dtype():
    dtype = np.dtype([("x", np.int32), ("y", np.float64)])
    record = nb.from_dtype(dtype)
    assert njit(lambda: np.zeros(3, dtype=record))().dtype == dtype


def test_types_of_classes_of_numbers():
    assert nb.typeof(np.float32) == nb.typeof(nb.float32) == types.NumberClass(types.float32)
    assert nb.typeof(np.float32).instance_type is types.float32
    assert nb.typeof(types.float64[:]) == types.TypeRef(types.float64[:])


def test_pickled_ufuncs_have_the_loops_of_the_original():
    @nb.guvectorize("()->()", identity=1)
    def double(x, out):
        out[:] = x * 2

    @nb.vectorize
    def triple(x):
        return x * 3

    if not hasattr(double, "__dict__"):
        pytest.skip("NumPy 2.2")
    double(0.5, out=np.zeros(1))
    triple(np.arange(3.0))
    for made, call in ((double, lambda f, x: f(x, out=np.zeros_like(x))), (triple, lambda f, x: f(x))):
        cloned = pickle.loads(pickle.dumps(made))
        assert cloned.gufunc_builder._sigs == made.gufunc_builder._sigs == [(nb.float64, nb.float64)]
        assert cloned._frozen is made._frozen is False and cloned.identity == made.identity
        cloned.disable_compile()
        assert cloned._frozen is True and same(call(cloned, np.arange(3.0)), call(made, np.arange(3.0)))
        with pytest.raises(TypeError):
            call(cloned, np.arange(3, dtype=np.int16))
        assert pickle.loads(pickle.dumps(cloned)).gufunc_builder._sigs == made.gufunc_builder._sigs


def test_ufuncs_compile_for_types_of_arguments():
    @nb.vectorize
    def added(x, y):
        return x + y

    if not hasattr(added, "__dict__"):
        pytest.skip("NumPy 2.2")
    added._compile_for_argtys((types.uint32, types.uint32))
    assert added.types == ["II->I"] and added.build_ufunc() is added
    assert added._frozen is False
    added.disable_compile()
    assert added._frozen is True
    with pytest.raises(TypeError, match="compiles no further loops"):
        added(A, A)

    @nb.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def total(a, out):
        out[0] = a.sum()

    assert total(A) == A.sum() and (not hasattr(total, "__dict__") or total.build_ufunc() is total)


def test_ufuncs_of_functions_with_keywords_or_without_operands():
    @nb.vectorize
    def added(x, y=2, **others):
        return x + y

    @nb.vectorize(["float64(float64)"])
    def doubled(x, **others):
        return 2 * x

    assert added(A, 1).tolist() == (A + 1).tolist() and doubled(A).tolist() == (2 * A).tolist()
    assert nb.vectorize(lambda: 3).nin == 0


def test_unknown_options_of_vectorize():
    with pytest.raises(KeyError, match="nonexistent"):
        nb.vectorize(nonexistent=2)
    with pytest.raises(KeyError, match="nonexistent"):
        nb.vectorize(["float64(float64)"], nonexistent=2)


def test_array_types_are_made_in_compiled_code():
    @njit
    def lists(n):
        rows = nb.typed.List.empty_list(nb.int32[::1])
        named = nb.typed.Dict.empty(key_type=types.int64, value_type=nb.float64[:, :])
        rows.append(np.zeros(n, np.int32))
        named[1] = np.ones((n, 2))
        return rows, named

    rows, named = lists(2)
    assert rows[0].dtype == np.int32 and named[1].shape == (2, 2)


def test_prange_to_a_uint64():
    @njit(parallel=True)
    def total(n):
        found = 0
        for i in nb.prange(n):
            found += i
        for i in nb.prange(1, n):
            found += i
        return found

    assert total(np.uint64(5)) == total(np.int8(5)) == 20


@pytest.mark.parametrize("t, text, shown", [
    (types.int64[:], "array(int64, 1d, A)", "Array(int64, 1, 'A', False, aligned=True)"),
    (types.Array(types.float32, 2, "C", readonly=True), "readonly array(float32, 2d, C)",
     "Array(float32, 2, 'C', True, aligned=True)"),
    (types.NestedArray(types.float32, (2, 3)), "nestedarray(float32, (2, 3))", "NestedArray(float32, (2, 3))"),
    (types.UniTuple(types.int64, 2), "UniTuple(int64 x 2)", "UniTuple(int64, 2)"),
    (types.Tuple((types.int64, types.float32)), "Tuple(int64, float32)", "Tuple((int64, float32))"),
    (types.Tuple(()), "Tuple()", "Tuple(())"),
    (types.ListType(types.int64), "ListType[int64]", "ListType(int64)"),
    (types.DictType(types.int64, types.float32), "DictType[int64,float32]<iv=None>", "DictType(int64, float32)"),
    (types.UnicodeCharSeq(4), "[unichr x 4]", "UnicodeCharSeq(4)"),
    (types.FunctionType(types.int64(types.int64, types.float64)), "FunctionType[int64(int64, float64)]",
     "FunctionType[int64(int64, float64)]"),
])
def test_the_texts_of_types(t, text, shown):
    """They are those of Numba."""
    assert (str(t), repr(t)) == (text, shown)


def test_the_text_of_a_record():
    given = np.dtype([("a", np.int32), ("b", np.float64, (2,))])
    assert str(nb.from_dtype(given)) == (
        "Record(a[type=int32;offset=0],b[type=nestedarray(float64, (2,));offset=4];20;False)")


def test_fields_of_records():
    dtype = np.dtype([("a", "i2"), ("b", "f8")], align=True)
    record = nb.from_dtype(dtype)
    assert record.fields == {"a": (nb.int16, 0, None, None), "b": (nb.float64, 8, None, None)}
    assert record.fields["b"].type is nb.float64 and record.offset("b") == 8 and record.alignof("b") == 8
    fields = [("a", {"type": nb.int16, "offset": 0}), ("b", {"type": nb.float64, "offset": 8, "title": "beta"})]
    made = types.Record(fields, 16, True)
    assert made.dtype == np.dtype([("a", "i2"), (("beta", "b"), "f8")], align=True) and not made.is_title("b")
    assert made != record and types.Record(record.fields.items(), 16, True) == record
    assert str(record) == "Record(a[type=int16;offset=0],b[type=float64;offset=8];16;True)"


def test_titles_are_fields():
    dtype = np.dtype([(("beta", "b"), "f8"), ("c", "f8")])
    record = nb.from_dtype(dtype)
    assert [*record.fields] == ["b", "beta", "c"] and record.is_title("beta") and not record.is_title("b")
    assert record.dtype == dtype and record.members == [("b", nb.float64), ("c", nb.float64)]


def test_axes_of_nested_arrays_are_the_last_ones():
    nested = nb.from_dtype(np.dtype((np.dtype((float, (5, 2))), (3, 6))))
    assert nested == types.NestedArray(nb.float64, (3, 6, 5, 2)) and nb.as_dtype(nested).shape == (3, 6, 5, 2)
    assert types.Array(nested, 3, "C") == types.Array(nb.float64, 7, "C")


def test_units_of_time_have_codes():
    assert [nb.from_dtype(np.dtype(f"m8{unit}")).unit_code for unit in ("[Y]", "[D]", "[ns]", "")] == [0, 4, 10, 14]


def test_dtypes_without_a_type():
    assert nb.from_dtype(np.dtype(object)) is types.pyobject and nb.as_dtype(types.pyobject) == np.dtype(object)
    with pytest.raises(nb.errors.NumbaNotImplementedError, match="has no native form"):
        nb.from_dtype(np.dtype(">i4"))


def test_types_of_one_kind_have_an_order():
    assert types.int8 < types.int16 <= types.int64 and types.float64 > types.float32 >= types.float32
    assert not types.uint64 < types.uint8 and hash(types.int8) == hash(nb.int8)
    for a, b in ((types.int8, types.uint32), (types.int8, types.float32), (types.float64, types.complex128)):
        with pytest.raises(TypeError):
            a <= b


def test_brackets_of_types():
    assert types.DType(nb.int32)[:, ::1] == nb.int32[:, ::1] and types.List(nb.int64)[0] is nb.int64
    for wrong in (lambda: nb.int32[0], lambda: nb.int32[:, 4], lambda: list(nb.int32)):
        with pytest.raises(KeyError, match="slices with no start or stop"):
            wrong()
    for wrong in (lambda: types.Tuple(nb.uint32), lambda: types.NamedTuple(nb.uint32, "p")):
        with pytest.raises(nb.TypingError, match="is not iterable"):
            wrong()


def test_types_of_parts_are_equal_by_their_keys():
    class Named(types.Dummy):
        def __init__(self, param):
            self.param = param
            super().__init__("Named")

        @property
        def key(self):
            return self.param

    for of in (types.TypeRef, types.ListType, lambda t: types.DictType(nb.int64, t)):
        assert of(Named(1)) == of(Named(1)) and of(Named(1)) != of(Named(2))
