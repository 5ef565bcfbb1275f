"""debug=True on the CPU grid: correct kernels pass, races and unwritten shared memory are found, with both threads."""
import numpy as np
import pytest

from pyjitc import cuda

from .kernels import CASES


@pytest.mark.parametrize("name", ["transpose", "block_sums", "histogram", "warp_sums", "grid_sum", "bitonic_sort",
                                  "compact", "last_block_sum", "reverse_blocks", "early_exit", "exclusive_scan",
                                  "critical_section"])
def test_correct_kernels_pass(name):
    case = CASES[name]
    case._replace(kernel=cuda.jit(debug=True)(case.kernel.py_func)).check()


def line_of(function, text):
    lines = open(function.__code__.co_filename).read().splitlines()
    return next(k for k in range(function.__code__.co_firstlineno, len(lines) + 1) if text in lines[k - 1])


def missing_barrier(x):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = x[t]  # write
    x[t] = s[max(t - 1, 0)]  # read


def reads_then_writes(x):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    v = s[(t + 1) % 64]  # read
    s[t] = v  # write


def all_write(x):
    s = cuda.shared.array(1, np.int32)
    s[0] = cuda.threadIdx.x  # write
    cuda.syncthreads()
    x[0] = s[0]


def plain_beside_atomic(x):
    s = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0  # write
    cuda.atomic.add(s, 0, 1)  # atomic
    cuda.syncthreads()
    x[0] = s[0]


def across_warps(x):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = x[t]  # write
    cuda.syncwarp()
    x[t] = s[t ^ 32]  # read


def within_warps(x):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    x[t] = s[t ^ 1]


def unwritten(x):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    if t < 10:
        s[t] = 0
    cuda.syncthreads()
    x[t] = s[t]  # read


def unwritten_dynamic(x):
    s = cuda.shared.array(0, np.float64)
    x[0] = s[3]  # read


@pytest.mark.parametrize("function, text, first, second", [
    (missing_barrier, "thread (1, 0, 0) reads what thread (0, 0, 0) wrote", "# read", "# write"),
    (reads_then_writes, "thread (1, 0, 0) writes what thread (0, 0, 0) read", "# write", "# read"),
    (all_write, "thread (1, 0, 0) writes what thread (0, 0, 0) wrote", "# write", "# write"),
    (plain_beside_atomic, "thread (1, 0, 0) writes what thread (0, 0, 0) wrote", "# atomic", "# write"),
    (across_warps, "thread (0, 0, 0) reads what thread (32, 0, 0) wrote", "# read", "# write")])
def test_races(function, text, first, second):
    with pytest.raises(RuntimeError) as error:
        cuda.jit(debug=True)(function)[2, 64](np.zeros(64))
    assert text in str(error.value) and f"at line {line_of(function, second)}," in str(error.value)
    assert error.value.line == line_of(function, first) and error.value.block == (0, 0, 0)


def waits_for_some(x):
    if cuda.threadIdx.x < 3:  # passes
        cuda.syncthreads()  # waits


def waits_in_turns(x):
    for k in range(cuda.threadIdx.x):  # passes
        x[0] = 1
        cuda.syncthreads()  # waits


def returns_early(x):
    t = cuda.threadIdx.x
    if t >= 3: return  # noqa: E701
    cuda.syncthreads()
    if t == 1:
        return
    cuda.syncthreads()
    x[t] = 1


@pytest.mark.parametrize("function, waiting, ended",
                         [(waits_for_some, (0, 0, 0), (7, 0, 0)), (waits_in_turns, (1, 0, 0), (0, 0, 0))])
def test_barriers_that_some_threads_pass_by(function, waiting, ended):
    with pytest.raises(RuntimeError, match="divergent barrier") as error:
        cuda.jit(debug=True)(function)[2, 8](np.zeros(8))
    assert (f"thread {waiting} waits at line {line_of(function, '# waits')}, thread {ended} went from line "
            f"{line_of(function, '# passes')} " in str(error.value))


def test_threads_may_return_before_a_barrier():
    x = np.zeros(8)
    cuda.jit(debug=True)(returns_early)[1, 8](x)
    assert x.tolist() == [1, 0, 1, 0, 0, 0, 0, 0]


def test_warps_wait_for_each_other():
    x = np.arange(64.0)
    cuda.jit(debug=True)(within_warps)[1, 64](x)
    assert x.tolist() == [float(t ^ 1) for t in range(64)]


def test_threads_may_write_the_same_value():
    @cuda.jit(debug=True)
    def kernel(x, z):
        found = cuda.shared.array(1, np.bool_)
        factor = cuda.shared.array(1, np.complex64)
        t = cuda.threadIdx.x
        factor[0] = z
        if t == 0:
            found[0] = False
        cuda.syncthreads()
        if x[t] > 5:
            found[0] = True
        cuda.syncthreads()
        x[t] = factor[0].real if found[0] else -1

    for x, value in ((np.arange(40.0), 3), (np.zeros(40), -1)):
        kernel[1, 40](x, 3 + 1j)
        assert (x == value).all()


def test_elements_are_read_in_parts():
    @cuda.jit(debug=True)
    def kernel(x):
        s = cuda.shared.array(8, np.complex128)
        words = cuda.shared.array(8, np.int64)
        t = cuda.threadIdx.x
        s[t] = complex(t, -t)
        words[t] = t << 32
        cuda.syncthreads()
        x[t] = s.imag[7 - t] + words.view(np.int32)[2 * t + 1]

    x = np.zeros(8)
    kernel[1, 8](x)
    assert x.tolist() == [2 * t - 7 for t in range(8)]


def test_a_part_of_an_element_that_nobody_wrote():
    @cuda.jit(debug=True)
    def kernel(x):
        s = cuda.shared.array(8, np.int16)
        s[cuda.threadIdx.x] = 1
        cuda.syncthreads()
        x[0] = s.view(np.int64)[1]  # seven are written

    with pytest.raises(RuntimeError, match="shared memory is read that no thread") as error:
        kernel[1, 7](np.zeros(1, np.int64))
    assert error.value.line == line_of(kernel.py_func, "# seven are written")


@pytest.mark.parametrize("function, thread", [(unwritten, (10, 0, 0)), (unwritten_dynamic, (0, 0, 0))])
def test_reads_of_unwritten_memory(function, thread):
    with pytest.raises(RuntimeError,
                       match="shared memory is read that no thread of the block has written so far") as error:
        cuda.jit(debug=True)(function)[1, 64, 0, 256](np.zeros(64))
    assert error.value.thread == thread and error.value.line == line_of(function, "# read")


def test_lanes_of_the_mask_that_are_elsewhere():
    @cuda.jit(debug=True)
    def kernel(x):
        t = cuda.threadIdx.x
        if t < 8:
            x[t] = cuda.shfl_sync(0xFFFFFFFF, t, 0)  # eight lanes
        else:
            x[t] = 1
        cuda.syncthreads()

    with pytest.raises(RuntimeError, match="lane 31 is in the mask of a warp operation, but waits elsewhere") as error:
        kernel[1, 32](np.zeros(32))
    assert error.value.line == line_of(kernel.py_func, "# eight lanes")


@pytest.mark.parametrize("operation", [lambda: cuda.shfl_sync(0x0F, 1, 0), lambda: cuda.any_sync(0x0F, True)],
                         ids=["shuffle", "vote"])
def test_masks_without_the_lane_that_calls(operation):
    operation = cuda.jit(device=True)(operation)

    @cuda.jit(debug=True)
    def kernel(x):
        x[cuda.threadIdx.x] = operation()

    with pytest.raises(RuntimeError, match="lane 4 calls a warp operation whose mask leaves it out") as error:
        kernel[1, 32](np.zeros(32))
    assert error.value.thread == (4, 0, 0)
