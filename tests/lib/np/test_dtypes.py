"""Questions about dtypes in compiled code, conversions by dtype."""
import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit
from pyjitc.base.errors import TypingError


def test_questions():
    def f(x, s):
        return (np.can_cast(np.int8, x.dtype), np.can_cast("f8", "f4"), np.can_cast(np.float64, np.int32, "unsafe"),
                np.can_cast(x.dtype, np.int8, casting="same_kind"), np.result_type(x, np.float32),
                np.result_type(s, 2.0), np.result_type(x, 1j), np.promote_types(x.dtype, np.int16),
                np.promote_types("f4", "i8"), np.issubdtype(x.dtype, np.floating), np.issubdtype(np.int8, np.number),
                np.dtype("f4"), np.dtype(np.int8), np.dtype(float), np.dtype(x.dtype), np.common_type(x, x),
                np.min_scalar_type(300), np.min_scalar_type(x), np.iscomplexobj(x), np.isrealobj(s))

    for dtype in ("float64", "float32", "complex64"):
        agree(f, np.ones(3, dtype), np.float32(1))

    def g(x):
        return (np.isdtype(x.dtype, "real floating"), np.isdtype(x.dtype, (np.float64, "integral")),
                np.isdtype(np.dtype("i8"), np.int64))

    if hasattr(np, "isdtype"):
        agree(g, np.ones(2, np.float32))


def test_dtypes_decide():
    def f(x):
        t = np.result_type(x, np.float32)
        y = np.zeros(len(x), t)
        if np.issubdtype(x.dtype, np.integer):
            return y + np.iinfo(x.dtype).max
        if x.dtype in (np.float32, np.float64):
            return y + np.finfo(x.dtype).eps
        return y + x.dtype.type(2)

    for dtype in ("int8", "int64", "float32", "float64", "complex64", "bool"):
        agree(f, np.ones(3, dtype))


def test_finfo_and_iinfo():
    def f(x, n):
        f, i = np.finfo(x.dtype), np.iinfo(n)
        total = 0
        for k in range(3):
            total += np.iinfo(np.int8).max
        return (f.eps, f.max, f.min, f.tiny, f.bits, f.dtype, f.resolution, f.smallest_normal, i.min, i.max, i.bits,
                np.finfo(np.float32).eps, total)

    agree(f, np.ones(2), np.int16(3))
    agree(f, np.ones(2, np.float32), np.uint8(3))
    with pytest.raises(TypingError, match="'finfo' object has no attribute 'nosuch'"):
        njit(lambda x: np.finfo(x.dtype).nosuch)(np.ones(2))


def test_attributes():
    def f(x):
        t = x.dtype
        return (t.itemsize, t.alignment, t.kind, t.char, t.name, t.str, t.byteorder, t.num, t.isnative, t.isbuiltin,
                t.hasobject, t.names, t.fields, t.shape, t.base, t.ndim, np.add.nin, np.divmod.nout, np.add.identity,
                np.maximum.identity, np.matmul.signature, t == "f8", t != np.int8)

    agree(f, np.ones(2))
    agree(f, np.ones(2, np.int8))


def test_fields():
    record = np.zeros(2, [("x", "f4"), ("y", "i8"), ("v", "u1", (3,))])

    def f(a):
        t = a.dtype
        return (t["x"], t["y"].itemsize, t[0], t[-1], t["v"], len(t), t["x"] == a["x"].dtype, t["x"].type(1.5),
                np.zeros(2, t["y"]), len(a["x"].dtype))

    agree(f, record)
    for wrong in lambda a: a.dtype["z"], lambda a: a.dtype[5], lambda a: a["x"].dtype["x"], lambda a: a["x"].dtype[0]:
        agree(wrong, record)
    with pytest.raises(TypingError, match="the name or place of a field in a dtype must be known at compile time"):
        njit(lambda a, n: a.dtype[n])(record, 1)


def test_astype():
    def f(x):
        return (x.astype(np.int8, casting="unsafe"), x.astype(np.complex128, casting="safe"),
                x.astype(np.float32, "F").strides, x.astype(np.float32, order="C").strides,
                x.astype(np.float64, subok=False), np.float32(x), np.int64(x[0, 1:]), np.float64(x[0, 0]),
                np.float32([1, 2]), np.float64(((1, 2), (3, 4))))

    x = np.arange(6.0).reshape(2, 3)
    agree(f, x)
    agree(f, np.asfortranarray(x))
    agree(lambda x: (np.float32(x), np.bool_(x)), np.array(2.5))
    with pytest.raises(TypingError, match="Cannot cast array data from dtype..float64.. to dtype..int8.. according to "
                                          "the rule 'safe'"):
        njit(lambda x: x.astype(np.int8, casting="safe"))(x)


def test_what_is_only_known_at_run_time_is_named():
    with pytest.raises(TypingError, match="np.min_scalar_type of a number is compiled for constants"):
        njit(lambda n: np.min_scalar_type(n))(5)
