"""Compiled functions on a Dask cluster of this machine: arrays by blocks, generalised ufuncs, delayed calls, futures.

    python docs/examples/dask/local_cluster.py [WORKERS]

Needs the extra `dask`. Functions of this script travel by value; each is compiled by the worker that comes first, and
the others find it on disk. Results are compared with those of this process.
"""
import sys

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from pyjitc import guvectorize, njit, vectorize
from pyjitc.pipeline import specialisation

ROUNDS = 80


@njit
def escape(block):
    """Rounds until each point of the plane leaves the Mandelbrot set."""
    found = np.empty(block.shape, np.int64)
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            z = 0j
            n = 0
            while n < ROUNDS and z.real * z.real + z.imag * z.imag < 4.0:
                z = z * z + block[i, j]
                n += 1
            found[i, j] = n
    return found


@vectorize
def bright(n):
    return np.log1p(n) / np.log1p(ROUNDS)


@guvectorize("(n),(m)->(n)")
def smoothed(row, weights, out):
    half = len(weights) // 2
    for i in range(len(row)):
        total = weight = 0.0
        for k in range(len(weights)):
            j = i + k - half
            if 0 <= j < len(row):
                total += weights[k] * row[j]
                weight += weights[k]
        out[i] = total / weight


@njit
def inside(block):
    return (block == ROUNDS).sum()


def plane(points):
    return np.linspace(-2.0, 0.6, points) + 1j * np.linspace(-1.2, 1.2, points)[:, np.newaxis]


def compiles():
    """How often the process that runs this has compiled."""
    return specialisation.statistics["compiled"]


def same(name, found, expected):
    print(f"{name}: {'as in one process' if np.array_equal(found, expected) else 'DIFFERENT'}")


def main(workers=2, points=120):
    whole = plane(points)
    weights = np.array([1.0, 2.0, 1.0])
    here = escape(whole)
    blocks = da.from_array(whole, chunks=(points // 4, points))
    with LocalCluster(workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            rounds = blocks.map_blocks(escape, dtype=np.int64).persist()
            same("map_blocks", rounds.compute(), here)
            same("a ufunc", bright(rounds).compute(), bright(here))
            rows = da.apply_gufunc(smoothed, "(n),(m)->(n)", bright(rounds), weights, output_dtypes=float)
            same("a gufunc", rows.compute(), smoothed(bright(here), weights))
            counts = dask.compute(*(dask.delayed(inside)(block) for block in rounds.to_delayed().ravel()))
            same("delayed", sum(counts), inside(here))
            same("futures", client.gather(client.map(inside, [here, here[::2]])), [inside(here), inside(here[::2])])
            compiled = client.run(compiles)
            print(f"compiled by {len(compiled)} workers: {sum(compiled.values())}, and here: {compiles()}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
