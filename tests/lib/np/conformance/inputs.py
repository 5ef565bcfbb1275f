"""The variables of the calls in calls.py, for a dtype and a layout. One *point* has several sets of values that all
have the same types, so that one compiled function takes them all."""
import numpy as np

__all__ = ["DTYPES", "LAYOUTS", "VARIED", "NAMES", "values"]

DTYPES = ["float64", "int64", "bool", "float32", "complex128", "int8", "uint8", "int32", "uint64", "float16",
          "complex64", "int16", "uint16", "uint32"]
LAYOUTS = ["F", "strided", "read-only", "0-d", "1-d", "3-d"]  # beside C, 2-d
VARIED = {"a", "b", "v", "w", "m", "h", "s", "a3", "c3", "d3", "v3", "s3"}
NAMES = VARIED | {"mask", "mask1", "i", "i2", "n", "x", "t1", "t2", "p", "q", "hd", "o", "t"}


def array(dtype, shape, seed):
    r = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(r.random(shape) > 0.5)
    if kind in "iu":
        return np.asarray(r.integers(0 if kind == "u" else -5, 8, shape)).astype(dtype)
    if kind == "c":
        return np.asarray(r.normal(0, 2, shape) + 1j * r.normal(0, 2, shape)).astype(dtype)
    return np.asarray(r.normal(0, 2, shape)).astype(dtype)


def special(dtype, shape, seed):
    """Values at the ends of the type, zeros of both signs, infinities, nan."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return array(dtype, shape, seed)
    if kind in "iu":
        info = np.iinfo(dtype)
        pool = np.array([info.min, info.max, 0, 1, info.max // 2, 7, info.min + 1, 2], dtype)
    else:
        info = np.finfo(dtype)
        pool = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, info.max, info.tiny, 0.5, 2.0, -3.0],
                        info.dtype)
    r = np.random.default_rng(seed)
    found = r.choice(pool, shape)
    if kind == "c":
        found = np.asarray(found + 0j)
        found.imag = r.choice(pool, shape)
    return np.asarray(found).astype(dtype)


def laid(x, layout):
    if layout == "F":
        return np.asfortranarray(x)
    if layout == "strided" and x.ndim:
        base = np.zeros([2 * n for n in x.shape], x.dtype)
        place = base[tuple([slice(None, None, -2 if k % 2 else 2) for k in range(x.ndim)])]
        place[...] = x
        return place
    x = np.ascontiguousarray(x) if x.ndim else x
    if layout == "read-only":
        x.flags.writeable = False
    return x


def values(dtype, layout, with_special=False):
    """Dicts variable -> value: usual, empty, of one element and, for some, at the ends of the type."""
    ndim = {"0-d": 0, "1-d": 1, "3-d": 3}.get(layout, 2)
    shapes = {0: [()], 1: [(5,), (0,), (1,)], 2: [(3, 4), (0, 4), (1, 1)], 3: [(2, 3, 4), (2, 0, 3)]}[ndim]
    sets = [(shape, array) for shape in shapes] + [(shapes[0], special)] * with_special
    for shape, make in sets:
        size = 5 if shape in ((3, 4), (2, 3, 4), (), (5,)) else 0 if 0 in shape else 1
        side = {5: 3}.get(size, size)
        m = make(dtype, (side, side), 5)
        wide = m.astype(np.result_type(dtype, np.float32))
        h = (wide @ wide.conj().T + 3 * np.eye(side)).astype(dtype) if make is array else m
        a, v = make(dtype, shape, 1), make(dtype, (size,), 3)
        r = np.random.default_rng(9)
        found = {
            "a": a, "b": make(dtype, shape, 2), "v": v, "w": make(dtype, (size,), 4), "m": m, "h": h,
            "a3": make(dtype, (2, 3, 4) if size == 5 else (2, size, 1), 6), "c3": make(dtype, (4, 3), 7),
            "d3": make(dtype, (4, 3), 8), "v3": make(dtype, (side,), 9), "s3": np.stack([h, h + np.asarray(1, dtype)])
            if size != 0 else np.zeros((0, 2, 2), dtype),
        }
        found = {name: laid(x, layout) for name, x in found.items()}
        found.update(
            s=make(dtype, (), 10)[()], mask=np.asarray(r.random(shape) > 0.4), mask1=r.random(size) > 0.4,
            i=np.array([0, -1, 0]) if size < 5 else np.array([2, 0, 1]),
            i2=np.zeros((shape[0] if shape else 1, 2), np.int64), n=4, x=0.5, t1=np.array([-2.0, -0.5, 0.25, 1.0, 3.0]),
            t2=np.array([0.5, 0.75, 1.5, 4.0, 4.5]), p=np.array([1, 0, 3, 1, 4])[:max(size, 1)],
            q=np.array([0.5, 1.0, 0.25, 1.0, 3.0])[:max(size, 1)], hd=np.eye(side) * 2.0 + 0.5)
        yield found
