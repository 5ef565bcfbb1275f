"""Checksums and shift registers, whose steps become look-ups in tables."""
import warnings

import numpy as np
import pytest
from tests.oracle import same

from pyjitc import njit


def compiled(text):
    """A function of `data` and `crc` and its compiled form."""
    names = {"np": np}
    exec(f"def f(data, crc):\n{text}    return crc\n", names)
    return names["f"], njit(names["f"])


REFLECTED = """
    for b in data:
        crc ^= int(b)
        for _ in range({trips}):
            if crc & 1:
                crc = (crc >> 1) ^ {poly}
            else:
                crc >>= 1
"""
UPWARDS = """
    for b in data:
        crc ^= int(b) << {bits} - 8
        for _ in range({trips}):
            if crc & 1 << {bits} - 1:
                crc = ((crc << 1) ^ {poly}) & (1 << {bits}) - 1
            else:
                crc = (crc << 1) & (1 << {bits}) - 1
"""
NUMPY = """
    one = np.{type}(1)
    for b in data:
        crc ^= np.{type}(b)
        for _ in range({trips}):
            crc = (crc >> one) ^ (np.{type}({poly}) if crc & one else np.{type}(0))
"""
PRODUCT = """
    for b in data:
        crc ^= int(b)
        for _ in range({trips}):
            crc = (crc >> 1) ^ {poly} * (crc & 1)
"""
MASK = """
    for b in data:
        crc ^= int(b)
        for _ in range({trips}):
            crc = (crc >> 1) ^ ({poly} & -(crc & 1))
"""
INPUT = """
    for b in data:
        byte = int(b)
        for _ in range({trips}):
            if (crc ^ byte) & 1:
                crc = (crc >> 1) ^ {poly}
            else:
                crc >>= 1
            byte >>= 1
"""
TAPS = """
    for b in data:
        for k in range({trips}):
            bit = (crc ^ (crc >> 2) ^ (crc >> 3) ^ (crc >> 5)) & 1
            crc = (crc >> 1) | (bit << 15)
        crc ^= int(b)
"""
DATA = np.random.default_rng(3).integers(0, 256, 40).astype(np.uint8)


@pytest.mark.parametrize("trips", [1, 3, 4, 7, 8, 9, 16, 20])
@pytest.mark.parametrize("text", [REFLECTED, PRODUCT, MASK, INPUT])
def test_to_the_right(text, trips):
    """Numbers of either sign, and polynomials of any width, as in the interpreter."""
    for poly in (0xEDB88320, 0x8408, 0xC96C5795D7870F42 - (1 << 64), (1 << 62) + 1, 1):
        f, fast = compiled(text.format(trips=trips, poly=poly if text is not PRODUCT else poly & 0xFFFFFFFF))
        for start in (0, 0xFFFFFFFF, -1, -(1 << 63), (1 << 63) - 1, 12345):
            assert same(fast(DATA, start), f(DATA, start))


@pytest.mark.parametrize("trips", [2, 4, 8, 11, 16])
@pytest.mark.parametrize("bits, poly", [(8, 0x07), (12, 0x80F), (16, 0x1021), (32, 0x04C11DB7), (40, 0x0004820009)])
def test_to_the_left(bits, poly, trips):
    f, fast = compiled(UPWARDS.format(bits=bits, poly=poly, trips=trips))
    for start in (0, (1 << bits) - 1, 0xA5):
        assert same(fast(DATA, start), f(DATA, start))


@pytest.mark.parametrize("type", ["uint8", "uint16", "uint32", "uint64", "int16", "int32", "int64"])
def test_numbers_of_numpy(type):
    """The sign moves to the right with signed ones."""
    for trips in (4, 8, 13):
        f, fast = compiled(NUMPY.format(type=type, trips=trips, poly=0x5A if type == "uint8" else 0x3408))
        for start in (0, 1, 77, -5):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                first = np.array(start).astype(type)[()]
                assert same(fast(DATA, first), f(DATA, first))


def test_taps_that_mix_more_bits_than_a_table_has():
    for trips in (4, 8, 16):
        f, fast = compiled(TAPS.format(trips=trips))
        for start in (0, 0xACE1, 1):
            assert same(fast(DATA, start), f(DATA, start))


def test_numbers_that_are_read_after_the_loop():
    """The counter and a number of the last trip are those of the loop."""
    def f(x):
        low = k = -1
        for k in range(8):
            low = x & 1
            x = (x >> 1) ^ (0x8408 if low else 0)
        return x, low, k

    fast = njit(f)
    for x in (0, 1, 0x1234, -77):
        assert same(fast(x), f(x))


def test_overflow_is_raised():
    """A step that may leave 64 bits is no step of a register."""
    def f(x):
        for _ in range(8):
            if x & 1 << 62:
                x = (x << 1) ^ 5
            else:
                x <<= 1
        return x

    fast = njit(f)
    assert same(fast(3), f(3))
    with pytest.raises(OverflowError):
        fast((1 << 62) + 1)
