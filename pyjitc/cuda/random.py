"""Random numbers in kernels: xoroshiro128+ with a state for each thread, and Philox, which has no state.

The functions are called in kernels (they also run in the interpreter). States are rows of a uint64 array, made by
`create_xoroshiro128p_states`; names and streams are Numba's. A Philox number is a function of a seed, the index of a
stream and the position in it: any thread can compute any of them.
Sources: Blackman, Vigna: Scrambled Linear Pseudorandom Number Generators (2018; the constants of 2016: 55, 14, 36);
Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (2014); Salmon, Moraes, Dror, Shaw: Parallel Random
Numbers: As Easy as 1, 2, 3 (2011).
"""
from __future__ import annotations

import math

import numpy as np

from .arrays import to_device

__all__ = [
    "create_xoroshiro128p_states", "init_xoroshiro128p_states", "init_xoroshiro128p_state", "xoroshiro128p_jump",
    "xoroshiro128p_next", "xoroshiro128p_uniform_float32", "xoroshiro128p_uniform_float64",
    "xoroshiro128p_normal_float32", "xoroshiro128p_normal_float64", "philox4x32", "philox_bits",
    "philox_uniform_float32", "philox_uniform_float64", "philox_normal_float32", "philox_normal_float64",
]

_MASK = (1 << 64) - 1
U9, U11, U14, U27, U28, U30, U31, U32, U33, U36, U55 = map(np.uint64, (9, 11, 14, 27, 28, 30, 31, 32, 33, 36, 55))
GOLDEN, MIX1, MIX2, JUMP1, JUMP2 = map(np.uint64, (
    0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xBEAC0467EBA5FACB, 0xD86B048B86AA9922))
UNIT = 2.0**-53
TAU = 2 * math.pi

# ---------------------------------------------------------------- xoroshiro128+, on the host


def _seeded(seed: int) -> tuple[int, int]:
    """The state for a seed: one step of SplitMix64, in both words."""
    z = (seed + int(GOLDEN)) & _MASK
    z = ((z ^ z >> 30) * int(MIX1)) & _MASK
    z = ((z ^ z >> 27) * int(MIX2)) & _MASK
    z ^= z >> 31
    return z, z


def _step(s0: int, s1: int) -> tuple[int, int]:
    s1 ^= s0
    return ((s0 << 55 | s0 >> 9) & _MASK) ^ s1 ^ (s1 << 14 & _MASK), (s1 << 36 | s1 >> 28) & _MASK


def _jumped(s0: int, s1: int) -> tuple[int, int]:
    """The state 2**64 steps later."""
    a = b = 0
    for word in map(int, (JUMP1, JUMP2)):
        for k in range(64):
            if word >> k & 1:
                a, b = a ^ s0, b ^ s1
            s0, s1 = _step(s0, s1)
    return a, b


def _check(states) -> None:
    if tuple(states.shape[1:]) != (2,) or states.dtype != np.uint64:
        raise TypeError("states of xoroshiro128p are a uint64 array of shape (n, 2); create_xoroshiro128p_states "
                        "makes one")


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream=0):
    """A device array with the states of `n` generators, whose streams are 2**64 numbers apart."""
    states = np.empty((n, 2), np.uint64)
    _fill(states, seed, subsequence_start)
    return to_device(states, stream)


def init_xoroshiro128p_states(states, seed: int, subsequence_start: int = 0, stream=0) -> None:
    """Initialise the states in a device array."""
    _check(states)
    host = np.empty(states.shape, np.uint64)
    _fill(host, seed, subsequence_start)
    states.copy_to_device(host, stream)


def _fill(states: np.ndarray, seed: int, start: int) -> None:
    state = _seeded(seed)
    for _ in range(start):
        state = _jumped(*state)
    for k in range(len(states)):
        if k:
            state = _jumped(*state)
        states[k] = state


# ---------------------------------------------------------------- in kernels


def xoroshiro128p_next(states, index):
    """The next 64 random bits, a uint64; advances the state."""
    s0, s1 = states[index, 0], states[index, 1]
    result = s0 + s1
    s1 ^= s0
    states[index, 0] = ((s0 << U55) | (s0 >> U9)) ^ s1 ^ (s1 << U14)
    states[index, 1] = (s1 << U36) | (s1 >> U28)
    return result


def init_xoroshiro128p_state(states, index, seed):
    """Seed one state, as create_xoroshiro128p_states seeds the first."""
    z = np.uint64(seed) + GOLDEN
    z = (z ^ (z >> U30)) * MIX1
    z = (z ^ (z >> U27)) * MIX2
    z = z ^ (z >> U31)
    states[index, 0] = z
    states[index, 1] = z


def xoroshiro128p_jump(states, index):
    """Advance the state by 2**64 numbers."""
    a, b = np.uint64(0), np.uint64(0)
    for half in range(2):
        word = JUMP1 if half == 0 else JUMP2
        for k in range(64):
            if (word >> np.uint64(k)) & np.uint64(1):
                a ^= states[index, 0]
                b ^= states[index, 1]
            xoroshiro128p_next(states, index)
    states[index, 0] = a
    states[index, 1] = b


def xoroshiro128p_uniform_float64(states, index):
    """The next float64, uniform in [0, 1)."""
    return np.float64(xoroshiro128p_next(states, index) >> U11) * UNIT


def xoroshiro128p_uniform_float32(states, index):
    """The next float32, uniform in [0, 1]: rounded from double."""
    return np.float32(xoroshiro128p_uniform_float64(states, index))


def xoroshiro128p_normal_float64(states, index):
    """The next float64, normal with mean 0 and variance 1, by the method of Box and Muller."""
    u1, u2 = xoroshiro128p_uniform_float64(states, index), xoroshiro128p_uniform_float64(states, index)
    return np.sqrt(-2.0 * np.log(u1)) * np.cos(TAU * u2)


def xoroshiro128p_normal_float32(states, index):
    u1, u2 = xoroshiro128p_uniform_float32(states, index), xoroshiro128p_uniform_float32(states, index)
    return np.sqrt(np.float32(-2) * np.log(u1)) * np.cos(np.float32(TAU) * u2)


def philox4x32(c0, c1, c2, c3, k0, k1):
    """Four words of 32 random bits, as uint64, from a counter of four words and a key of two: ten rounds."""
    low = np.uint64(0xFFFFFFFF)
    a, b, c, d = np.uint64(c0), np.uint64(c1), np.uint64(c2), np.uint64(c3)
    k, j = np.uint64(k0), np.uint64(k1)
    for _ in range(10):
        x = np.uint64(0xD2511F53) * a
        y = np.uint64(0xCD9E8D57) * c
        a, b, c, d = (y >> U32) ^ b ^ k, y & low, (x >> U32) ^ d ^ j, x & low
        k = (k + np.uint64(0x9E3779B9)) & low
        j = (j + np.uint64(0xBB67AE85)) & low
    return a, b, c, d


def philox_bits(seed, index, position):
    """64 random bits, a uint64: number `position` of stream `index` of a seed."""
    low = np.uint64(0xFFFFFFFF)
    s, i, n = np.uint64(seed), np.uint64(index), np.uint64(position)
    a, b, c, d = philox4x32((n >> np.uint64(1)) & low, n >> U33, i & low, i >> U32, s & low, s >> U32)
    return (d << U32) | c if n & np.uint64(1) else (b << U32) | a


def philox_uniform_float64(seed, index, position):
    """A float64, uniform in [0, 1): number `position` of stream `index` of a seed."""
    return np.float64(philox_bits(seed, index, position) >> U11) * UNIT


def philox_uniform_float32(seed, index, position):
    """A float32, uniform in [0, 1): number `position` of stream `index` of a seed."""
    return np.float32(philox_bits(seed, index, position) >> np.uint64(40)) * np.float32(2.0**-24)


def philox_normal_float64(seed, index, position):
    """A float64, normal with mean 0 and variance 1, from positions 2 * position and the next one, by the method of Box
    and Muller."""
    u1 = 1.0 - philox_uniform_float64(seed, index, 2 * position)
    u2 = philox_uniform_float64(seed, index, 2 * position + 1)
    return np.sqrt(-2.0 * np.log(u1)) * np.cos(TAU * u2)


def philox_normal_float32(seed, index, position):
    u1 = np.float32(1) - philox_uniform_float32(seed, index, 2 * position)
    u2 = philox_uniform_float32(seed, index, 2 * position + 1)
    return np.sqrt(np.float32(-2) * np.log(u1)) * np.cos(np.float32(TAU) * u2)
