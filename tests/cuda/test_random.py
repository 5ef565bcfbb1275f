"""Random numbers in kernels: known answers, the same numbers as in the interpreter, their distributions."""
import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.cuda import random


@pytest.mark.parametrize("counter, key, wanted", [  # of Random123's kat_vectors
    ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
     (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1))])
def test_philox_known_answers(counter, key, wanted):
    assert tuple(map(int, random.philox4x32(*counter, *key))) == wanted

    @cuda.jit
    def kernel(out, counter, key):
        a, b, c, d = random.philox4x32(counter[0], counter[1], counter[2], counter[3], key[0], key[1])
        out[0], out[1], out[2], out[3] = a, b, c, d

    out = np.zeros(4, np.uint64)
    kernel[1, 1](out, counter, key)
    assert tuple(map(int, out)) == wanted


@cuda.jit
def draw(out, states, seed):
    i = cuda.grid(1)
    if i < out.shape[1]:
        out[0, i] = random.xoroshiro128p_uniform_float64(states, i)
        out[1, i] = random.xoroshiro128p_uniform_float32(states, i)
        out[2, i] = random.xoroshiro128p_normal_float64(states, i)
        out[3, i] = random.xoroshiro128p_normal_float32(states, i)
        out[4, i] = random.philox_uniform_float64(seed, i, 3)
        out[5, i] = random.philox_uniform_float32(seed, i, 4)
        out[6, i] = random.philox_normal_float64(seed, i, 5)
        out[7, i] = random.philox_normal_float32(seed, i, 6)


def test_the_interpreter_draws_the_same():
    states = random.create_xoroshiro128p_states(50, 42)
    out = np.zeros((8, 50))
    draw[1, 64](out, states, 7)
    host = random.create_xoroshiro128p_states(50, 42).copy_to_host()
    wanted = np.zeros((8, 50))
    with np.errstate(over="ignore"):
        for i in range(50):
            wanted[:, i] = (
                random.xoroshiro128p_uniform_float64(host, i), random.xoroshiro128p_uniform_float32(host, i),
                random.xoroshiro128p_normal_float64(host, i), random.xoroshiro128p_normal_float32(host, i),
                random.philox_uniform_float64(7, i, 3), random.philox_uniform_float32(7, i, 4),
                random.philox_normal_float64(7, i, 5), random.philox_normal_float32(7, i, 6))
    np.testing.assert_array_equal(out[[0, 1, 4, 5]], wanted[[0, 1, 4, 5]])
    np.testing.assert_allclose(out, wanted, 2e-6, 2e-6)  # log and cos in single precision
    np.testing.assert_array_equal(states.copy_to_host(), host)


def test_distributions():
    out = np.zeros((8, 4000))
    draw[16, 256](out, random.create_xoroshiro128p_states(4000, 1), 2)
    for row in (0, 1, 4, 5):
        assert (0 <= out[row].min() and out[row].max() <= 1 and abs(out[row].mean() - 0.5) < 0.02
                and abs(out[row].std() - 12**-0.5) < 0.01)
    for row in (2, 3, 6, 7):
        assert abs(out[row].mean()) < 0.06 and abs(out[row].std() - 1) < 0.05


def test_states():
    states = random.create_xoroshiro128p_states(5, 9)
    later = random.create_xoroshiro128p_states(2, 9, subsequence_start=3)
    np.testing.assert_array_equal(states.copy_to_host()[3:], later.copy_to_host())

    @cuda.jit
    def jump(states):
        random.init_xoroshiro128p_state(states, 0, 9)
        random.xoroshiro128p_jump(states, 0)

    fresh = random.create_xoroshiro128p_states(1, 0)
    jump[1, 1](fresh)
    np.testing.assert_array_equal(fresh.copy_to_host()[0], states.copy_to_host()[1])
    random.init_xoroshiro128p_states(fresh, 9)
    np.testing.assert_array_equal(fresh.copy_to_host()[0], states.copy_to_host()[0])
    with pytest.raises(TypeError, match="uint64 array of shape"):
        random.init_xoroshiro128p_states(cuda.device_array(3), 1)
