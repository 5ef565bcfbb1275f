"""Arrays of Dask and of xarray, delayed calls, and a cluster on this machine. (Pickles are in test_travelling.py.)"""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import guvectorize, njit, vectorize

dask = pytest.importorskip("dask", reason="Dask is not installed")
da = pytest.importorskip("dask.array", reason="Dask's arrays are not installed")
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "dask" / "local_cluster.py"
A = np.arange(24.0).reshape(6, 4)


@njit
def running(block):
    out = np.empty_like(block)
    total = 0.0
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            total += block[i, j]
            out[i, j] = total
    return out


@njit
def located(block, block_id=None):
    return block + block_id[0] * 100 + block_id[1]


@vectorize
def squared(x):
    return x * x


@guvectorize("(n),(n)->()")
def dot(x, y, out):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y[i]
    out[0] = s


@guvectorize("(n)->(n)")
def reversed_(x, out):
    for i in range(len(x)):
        out[i] = x[len(x) - 1 - i]


@pytest.fixture(autouse=True)
def here():
    with dask.config.set(scheduler="synchronous"):
        yield


def same(found, expected):
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


def blocks(rows=2, columns=4):
    return da.from_array(A, chunks=(rows, columns))


def test_blocks():
    x = blocks(3, 2)
    same(x.map_blocks(running).compute(), x.map_blocks(running.py_func).compute())
    same(x.map_blocks(located, dtype=float).compute(), x.map_blocks(located.py_func, dtype=float).compute())
    same(da.map_overlap(running, x, depth=1, boundary="reflect").compute(),
         da.map_overlap(running.py_func, x, depth=1, boundary="reflect").compute())
    same(da.blockwise(running, "ij", x, "ij", dtype=float).compute(), x.map_blocks(running.py_func).compute())


def test_elements():
    y = squared(blocks())
    assert isinstance(y, da.Array) and y.dtype == np.float64
    same(y.compute(), A * A)
    same(squared(blocks().astype(np.int32)).compute(), (A * A).astype(np.int32))


def test_generalised_ufuncs():
    x = blocks()
    expected = (A * A).sum(-1)
    same(dot(x, x).compute(), expected)  # by __array_ufunc__
    same(da.apply_gufunc(dot, "(n),(n)->()", x, x, output_dtypes=float).compute(), expected)
    same(da.as_gufunc("(n),(n)->()", output_dtypes=float)(dot)(x, x).compute(), expected)
    same(reversed_(x).compute(), A[:, ::-1])
    with pytest.raises(ValueError, match="consists of multiple chunks"):
        dot(blocks(2, 2), blocks(2, 2))


def test_delayed_calls_and_tokens():
    assert dask.delayed(running)(A).sum().compute() == running(A).sum()
    assert dask.compute(*(dask.delayed(dot)(row, row) for row in A)) == tuple(dot(A, A))
    for function in (running, squared, dot):
        assert dask.base.tokenize(function) == dask.base.tokenize(function)
    assert dask.base.tokenize(running) != dask.base.tokenize(located)
    assert dask.delayed(running, pure=True)(A).key == dask.delayed(running, pure=True)(A).key


def test_xarray():
    xr = pytest.importorskip("xarray", reason="xarray is not installed")
    x = xr.DataArray(A, dims=("time", "place"), coords={"place": list("abcd")})
    assert squared(x).dims == ("time", "place") and list(squared(x).place.values) == list("abcd")
    for given in (x, x.chunk({"time": 2})):
        found = xr.apply_ufunc(dot, given, given, input_core_dims=[["place"], ["place"]], dask="parallelized",
                               output_dtypes=[float])
        assert found.dims == ("time",)
        same(found.values, (A * A).sum(-1))


def test_the_example_on_a_cluster(tmp_path):
    pytest.importorskip("distributed", reason="distributed is not installed")
    place = {**os.environ, "PYTHONPATH": str(EXAMPLE.parents[3]), "PYJITC_CACHE_DIR": str(tmp_path / "cache"),
             "PYJITC_VERIFY": "0"}
    ran = subprocess.run([sys.executable, str(EXAMPLE)], env=place, capture_output=True, text=True, timeout=300)
    *told, last = ran.stdout.splitlines()
    assert told == [f"{name}: as in one process" for name in ("map_blocks", "a ufunc", "a gufunc", "delayed", "futures")
                    ], ran.stderr
    counts = re.fullmatch(r"compiled by 2 workers: (\d+), and here: (\d+)", last)
    # A block that travels between workers is read-only, so that the number of types depends on the schedule. But no
    # form of a function is compiled twice: each compile has left a file of its own in the cache.
    assert counts and sum(map(int, counts.groups())) <= sum(one.is_file() for one in (tmp_path / "cache").rglob("*")
                                                            ), ran.stdout + ran.stderr
