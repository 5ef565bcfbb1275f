"""Freed blocks that are held back for the next array: contents, bounds, threads."""
import ctypes
import threading

import numpy as np

from pyjitc import njit
from pyjitc.runtime import thunks


@njit
def ones(n):
    return np.ones(n)


@njit
def zeros(n):
    return np.zeros(n)


@njit(nogil=True)
def rounds(n, count):
    total = 0.0
    for k in range(count):
        a = np.full(n, float(k))
        b = np.zeros(n)
        total += a[0] + a[-1] + b[0] + b[n // 2]
    return total


def kept() -> int:
    thunks.store()
    return thunks._made["store"].kept


def test_a_freed_block_is_used_again():
    a = ones(20_000)
    address = a.ctypes.data
    del a
    before = kept()
    assert before >= 160_000
    b = ones(19_900)
    assert b.ctypes.data == address and kept() < before
    b.resize(30_000, refcheck=False)  # it is malloc's
    assert (b[:19_900] == 1).all()


def test_zeros_are_zeros():
    for n in (9_000, 100_000, 1_000_000):
        a = ones(n)
        del a
        assert not zeros(n).any()


def test_what_is_held_back_is_bounded():
    arrays = [ones(n) for n in range(100_000, 4_000_000, 150_000)]
    del arrays
    assert kept() <= 64 << 20
    large = ones(10_000_000)
    before = kept()
    del large
    assert kept() == before
    sizes = [thunks._made["store"].slots[2 * k + 1] for k in range(16) if thunks._made["store"].slots[2 * k]]
    assert sum(sizes) == kept()


def test_threads_do_without_a_busy_store():
    expected = rounds(20_000, 50)
    results = []
    threads = [threading.Thread(target=lambda: results.append(rounds(20_000, 50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4
    store = thunks._made["store"]
    store.lock = ctypes.c_int(1).value
    try:
        before = kept()
        assert ones(20_000).sum() == 20_000 and kept() == before
    finally:
        store.lock = 0
