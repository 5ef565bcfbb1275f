"""Launches on the CPU grid: checks before the launch, exceptions of failing threads, specialisation."""
import copy
import enum
import os
import pickle
import signal
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import pyjitc
from pyjitc import CompileError, cuda, njit
from pyjitc.api.dispatch import CompiledFunction
from pyjitc.cuda import blockcode, hostgrid

from .kernels import fail


def line_of(function, text):
    lines = open(function.__code__.co_filename).read().splitlines()
    start = function.__code__.co_firstlineno
    return next(k for k in range(start, len(lines) + 1) if text in lines[k - 1])


@cuda.jit
def put(x, n):
    i = cuda.grid(1)
    x[i + n] = 1  # out of bounds


def test_an_index_error_says_where():
    x = np.zeros(100)
    with pytest.raises(IndexError) as error:
        put[4, 32](x, 0)
    assert str(error.value).startswith("index 100 is out of bounds for axis 0 with size 100\n")
    assert error.value.block == (3, 0, 0) and error.value.thread == (4, 0, 0)
    assert error.value.line == line_of(put.py_func, "# out of bounds")
    assert (x == 1).all()  # the values that earlier threads wrote stay
    put[1, 32](x, -32)  # negative indices count from the end


@pytest.mark.parametrize("how, cls, text", [
    (0, ValueError, "bad thing"), (1, AssertionError, "too far"),
    (2, ZeroDivisionError, "integer division or modulo by zero"), (3, OverflowError, "integer overflow"),
    (4, KeyError, "k")])
def test_exceptions_of_threads(how, cls, text):
    with pytest.raises(cls) as error:
        fail[4, 32](np.zeros(1), how)
    assert text in str(error.value) and error.value.block == (2, 0, 0) and error.value.thread == (6, 0, 0)


def test_the_first_block_decides():
    x = np.zeros(1000)
    for _ in range(5):
        with pytest.raises(IndexError) as error:
            put[1000, 64](x, 0)
        assert error.value.block == (15, 0, 0) and error.value.thread == (40, 0, 0)


def test_positions_in_three_dimensions():
    @cuda.jit
    def far(x):
        if cuda.threadIdx.z == 1 and cuda.threadIdx.y == 2 and cuda.threadIdx.x == 3 and cuda.blockIdx.y == 1:
            x[7] = 0

    with pytest.raises(IndexError) as error:
        far[(1, 2, 3), (4, 3, 2)](np.zeros(2))
    assert error.value.block == (0, 1, 0) and error.value.thread == (3, 2, 1)


def test_an_error_in_a_device_function_has_its_line():
    @cuda.jit(device=True)
    def get(x, i):
        return x[i]  # in the device function

    @cuda.jit
    def kernel(x):
        x[0] = get(x, 5)

    with pytest.raises(IndexError) as error:
        kernel[1, 1](np.zeros(5))
    assert error.value.line == line_of(get.py_func, "# in the device function") and " get()" in str(error.value)


@pytest.mark.parametrize("value, text", [(0, "fixed text"), (1, "of 1")])
def test_what_a_device_function_raises_has_its_place(value, text):
    @cuda.jit(device=True)
    def get(x):
        if x == 0:
            raise ValueError("fixed text")
        if x == 1:
            raise ValueError(f"of {x}")
        return x

    @cuda.jit
    def kernel(x):
        x[0] = get(x[0])

    with pytest.raises(ValueError, match=text) as error:
        kernel[1, 1](np.array([value]))
    assert "get() at " in str(error.value)


def test_divergent_barriers():
    @cuda.jit
    def diverge(x):
        t = cuda.threadIdx.x
        if t < 7:
            x[t] = 1
            cuda.syncthreads()  # first
        else:
            x[t] = 2
            cuda.syncthreads()  # second

    with pytest.raises(RuntimeError) as error:
        diverge[1, (8, 2)](np.zeros(8))
    first, second = (line_of(diverge.py_func, f"syncthreads()  # {which}") for which in ("first", "second"))
    assert f"thread (0, 0, 0) waits at line {first}, thread (7, 1, 0) at line {second}" in str(error.value)


@pytest.mark.parametrize("configuration, cls, text", [
    ((0, 32), ValueError, "the grid has a size of 0"), ((1, (1, -1)), ValueError, "the block has a size of -1"),
    ((1, 2048), ValueError, "2048 threads: a block has at most 1024"),
    ((1, (1, 1, 65)), ValueError, "65 along z: at most 64"),
    ((1.5, 32), TypeError, "an int or a tuple of ints, not 1.5"),
    (((1, 1, 1, 1), 1), ValueError, "one to three sizes, not 4"), (((1, 70000), 1), ValueError, "70000 along y"),
    ((1,), ValueError, "got 1 parts"), ((1, 1, 0, -5), ValueError, "negative"),
    ((1, 1, 0, "x"), TypeError, "an int, not 'x'"), ((1, 1, "stream"), TypeError, "no stream"),
    ((1, 1, 0, 1 << 20), ValueError, "1048576 more")])
def test_sizes_are_checked(configuration, cls, text):
    with pytest.raises(cls, match=text):
        put[configuration](np.zeros(5), 0)


def test_arguments_are_checked():
    x = np.zeros(5)
    with pytest.raises(TypeError, match="launch it as put"):
        put(x, 0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        put[1, 1](x)
    with pytest.raises(TypeError, match="argument 'x': a list.* cannot be passed to a kernel"):
        put[1, 1]([1, 2], 0)
    with pytest.raises(ValueError, match="read-only"):
        put[1, 1](np.broadcast_to(1.0, (10,)), 0)
    put[1, 5](n=0, x=x)
    assert x.all()


def test_signatures_have_the_arguments_of_the_kernel():
    for ask in (cuda.jit(put.py_func).compile, put.inspect_ptx, put.inspect_llvm,
                lambda s: put.inspect_types(signature=s), lambda s: cuda.compile_ptx(put, s)):
        with pytest.raises(TypeError, match=r"^signature .* has 1 arguments, put\(\) takes 2$"):
            ask("void(float64[:])")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        put.specialize(np.zeros(3))


class Place(enum.IntEnum):
    FIRST = 1
    SECOND = 2


def test_ranges_slices_and_members_of_enums():
    @cuda.jit
    def kernel(x, r, s, t, c):
        for i in r:
            x[i] = i
        x[s] += 10
        x[t[0]] += t[1]
        x[0] = 100 * c + (5 if c == Place.SECOND else 0)

    for r, s, t, c in ((range(1, 4), slice(2, None), (slice(None, None, 2), Place.FIRST), Place.SECOND),
                       (range(5, 0, -2), slice(None, np.int8(3)), (slice(-2, None), 7), Place.FIRST)):
        x, wanted = np.zeros(6), np.zeros(6)
        kernel[1, 1](x, r, s, t, c)
        kernel.py_func(wanted, r, s, t, c)
        assert x.tolist() == wanted.tolist()
    for given in ("text", b"bytes", (1, "text")):
        with pytest.raises(TypeError, match="argument 's': a .* cannot be passed to a kernel"):
            kernel[1, 1](x, range(2), given, t, c)


def test_what_has_no_meaning_in_a_kernel_is_said():
    def returns(x):
        return x[0]

    def allocates(x):
        x[0] = np.zeros(x.size)[0]

    def catches(x):
        try:
            x[9] = 1
        except IndexError:
            x[0] = 5

    def prints(x):
        print(x)

    def recursive(x):
        x[0] = factorial(5)

    def shape(x):
        cuda.shared.array(x.size, np.float32)[0] = 1

    def big(x):
        cuda.shared.array(1 << 20, np.float32)[0] = 1

    def complex_max(x):
        cuda.atomic.max(cuda.local.array(1, np.complex64), 0, 1j)

    for function, text in ((returns, "a kernel returns nothing"), (allocates, "allocate arrays"),
                           (catches, "catch exceptions"), (prints, "a kernel does not print a float64"),
                           (recursive, "recursively"), (shape, "must be known at compile time"),
                           (big, "is larger than"), (complex_max, "no atomic max of complex64")):
        with pytest.raises(CompileError, match=text):
            cuda.jit(function)[1, 1](np.zeros(3))


THERE = cuda.to_device(np.arange(3.0))


def test_what_is_missing_says_what_to_write_instead():
    def on_device(x):
        x[0] = THERE[1]

    def libdevice(x):
        x[0] = cuda.libdevice.sin(x[0])

    for function, text, hint in ((on_device, "a DeviceArray is no constant", "as an argument"),
                                 (libdevice, "call math's functions", "")):
        with pytest.raises(CompileError, match=text) as error:
            cuda.jit(function)[1, 1](np.zeros(3))
        assert bool(hint) == bool(error.value.diagnostic.hint) and hint in (error.value.diagnostic.hint or "")
    with pytest.raises(TypeError, match=r"declared: void\(float32\[::1\]\)$"):
        cuda.jit("void(float32[::1])")(lambda x: None)[1, 1](np.zeros(3))


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def test_names_outside_of_kernels():
    for call in (lambda: cuda.grid(1), lambda: cuda.threadIdx.x, lambda: cuda.shared.array(3, "f4"),
                 lambda: cuda.syncthreads(), lambda: cuda.atomic.add(np.zeros(3), 0, 1), lambda: int(cuda.laneid)):
        with pytest.raises(RuntimeError, match="only for kernels"):
            call()
    with pytest.raises(CompileError, match="in kernels only"):
        njit(lambda: cuda.grid(1))()


def test_options():
    with pytest.raises(TypeError, match="did you mean 'fastmath'"):
        cuda.jit(fastmth=True)
    kernel = cuda.jit(fastmath=True, max_registers=32, opt=True, lineinfo=True, debug=False, inline=True,
                      launch_bounds=(64, 2))(put.py_func)
    assert kernel.bounds[:3] == (64, 2, 32) and kernel.options.fastmath
    with pytest.raises(ValueError, match="launch_bounds=64"):
        kernel[1, 65](np.zeros(100), 0)
    with pytest.raises(TypeError):
        cuda.jit(3)
    with pytest.raises(TypeError, match=r"no \*args"):
        cuda.jit(lambda *args: None)


def test_signatures():
    kernel = cuda.jit("void(float32[:], int32)")(put.py_func)
    x = np.zeros(4, np.float32)
    kernel[1, 2](x[::2], 0)
    assert x.tolist() == [1, 0, 1, 0] and len(kernel.signatures) == 1
    with pytest.raises(TypeError, match="has no signature for"):
        kernel[1, 2](np.zeros(4), 0)
    with pytest.raises(TypeError, match="2 arguments|takes 2"):
        cuda.jit("void(float32[:])")(put.py_func)


def test_specialisation_by_types_and_globals():
    values = {"x": 3}

    def make(n, f):
        @cuda.jit
        def kernel(x, t):
            def inner(v):
                return f(v) + n

            x[0] = inner(t[0]) + t[1][0] * FACTOR
        return kernel

    x = np.zeros(1)
    make(values["x"], lambda v: v * 2)[1, 1](x, (1, (5.5, 2)))
    assert x[0] == 10.5
    global FACTOR
    FACTOR = 2
    kernel = make(0, abs)
    kernel[1, 1](x, (-1, (5.5, 2)))
    assert x[0] == 12.0
    FACTOR = 3
    kernel[1, 1](x, (-1, (5.5, 2)))
    assert x[0] == 17.5
    FACTOR = 1


FACTOR = 1


def test_all_scalar_types_arrive():
    @cuda.jit
    def store(out, v):
        out[0] = v

    for dtype in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                  "float32", "float64", "complex64", "complex128"):
        v = (np.dtype(dtype).type(1.5 if dtype[0] in "fc" else 1) if dtype[0] != "u"
             else np.dtype(dtype).type(np.iinfo(dtype).max))
        out = np.zeros(1, dtype)
        store[1, 1](out, v)
        assert out[0] == v
    for v in (True, -3, 2.5, 1 + 2j):
        out = np.zeros(1, complex)
        store[1, 1](out, v)
        assert out[0] == v


def test_layouts():
    @cuda.jit
    def double(a, out):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            out[i, j] = 2 * a[i, j]

    a = np.arange(12.0).reshape(3, 4)
    for given in (a, np.asfortranarray(a), a[::-1, ::-1], a[:, ::2], a.T):
        out = np.zeros_like(given)
        double[(1, 1), (4, 4)](given, out)
        np.testing.assert_array_equal(out, 2 * given)


def test_forall():
    x = np.zeros(300)
    kernel = cuda.jit(guarded)
    kernel.forall(300)(x)
    kernel.forall(0)(x)
    kernel.forall(100, tpb=32)(x)
    assert x[:128].tolist() == [2.0] * 128 and x[128:].tolist() == [1.0] * 172
    with pytest.raises(ValueError):
        kernel.forall(-1)


def guarded(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def test_a_kernel_is_a_device_function_in_another():
    inner = cuda.jit(guarded)

    @cuda.jit
    def outer(x):
        inner(x)
        inner(x)

    x = np.zeros(10)
    outer[1, 16](x)
    assert (x == 2).all()
    assert cuda.jit(device=True)(lambda v: v + 1)(2) == 3  # a device function called by the interpreter


@pytest.mark.parametrize("given, text", [
    ({"launch_bounds": "a"}, "option launch_bounds: the threads of a block are an int, not 'a'"),
    ({"launch_bounds": 1.5}, "not 1.5"), ({"launch_bounds": -3}, "threads of a block are 1 to 1024, not -3"),
    ({"launch_bounds": 5000}, "1 to 1024"), ({"launch_bounds": (64, 100)}, "blocks of a multiprocessor are 1 to 32"),
    ({"launch_bounds": (1, 2, 3, 4)}, "must be the most threads"),
    ({"max_registers": -5}, "option max_registers: the registers of a thread are 16 to 255, not -5"),
    ({"max_registers": "f"}, "an int, not 'f'"), ({"max_registers": 2.5}, "an int"),
    ({"max_registers": 10**12}, "16 to 255")], ids=str)
def test_bounds_that_cannot_be(given, text):
    with pytest.raises((TypeError, ValueError), match=text):
        cuda.jit(**given)


def test_code_is_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path))
    compiled = []
    watched = SimpleNamespace(compile_block=lambda *args: compiled.append(args) or blockcode.compile_block(*args))
    monkeypatch.setattr(hostgrid, "blockcode", watched)

    def launch():
        x = np.zeros(100)
        kernel = cuda.jit(cache=True)(put.py_func)
        with pytest.raises(IndexError) as error:
            kernel[4, 32](x, 0)
        assert error.value.thread == (4, 0, 0) and (x == 1).all()

    launch()
    launch()
    assert len(compiled) == 1
    for path in tmp_path.rglob("*"):
        if path.is_file():
            path.write_bytes(b"damaged")
    launch()
    assert len(compiled) == 2


def test_kept_code_has_the_elements_of_arrays(tmp_path, monkeypatch):
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path))

    def made(value):
        table = np.array([value])

        def kernel(x):
            x[0] = table[0]
            x[1] = cuda.const.array_like(table)[0]

        return cuda.jit(cache=True)(kernel)

    for value in (1.0, 2.0, 1.0):
        x = np.zeros(2)
        made(value)[1, 1](x)
        assert x.tolist() == [value, value]

    def field(dtype):
        table = np.array([1.5], np.float32).view([("a", dtype)])

        def kernel(x):
            x[0] = table[0]["a"]

        return cuda.jit(cache=True)(kernel)

    for dtype, value in (("f4", 1.5), ("i4", 0x3FC00000), ("f4", 1.5)):  # of the same bytes
        field(dtype)[1, 1](x)
        assert x[0] == value
    assert len({made(value).inspect_ptx("void(float64[::1])", "sm_90") for value in (1.0, 2.0, 1.0)}) == 2


@pytest.mark.parametrize("cache", [False, True])
def test_a_device_function_that_is_defined_again(tmp_path, monkeypatch, cache):
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path))

    def define(factor):
        @cuda.jit(device=True)
        def scaled(x):
            return factor * x

        return scaled

    scaled = define(2)

    @cuda.jit(cache=cache)
    def kernel(x):
        x[0] = scaled(x[0])

    x = np.ones(1)
    kernel[1, 1](x)
    scaled = define(5)
    kernel[1, 1](x)
    scaled = cuda.jit(device=True)(lambda x: x + 1)
    kernel[1, 1](x)
    assert x[0] == 11 and ".target sm_90" in kernel.inspect_ptx("void(float64[::1])", "sm_90")


def test_an_interrupt_ends_a_launch():
    @cuda.jit
    def forever(x):
        while x[0] == 0:
            x[1] += 1

    @cuda.jit
    def waits(x):
        while x[0] == 0:
            cuda.syncthreads()

    for kernel, sizes in ((forever, (1, 1)), (forever, (100, 128)), (waits, (64, 128))):
        # it is compiled before, because an interrupt during the compile may be lost in a callback
        kernel[sizes](np.ones(2))
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            kernel[sizes](np.zeros(2))


class Refusal(Exception):
    pass


@cuda.jit
def refuses(x):
    if cuda.grid(1) == 3:
        raise Refusal("not this one")
    if cuda.grid(1) == 2:
        raise Refusal


@cuda.elementwise
def shifted(x):
    return x + 1


def test_kernels_have_what_compiled_functions_have(monkeypatch):
    monkeypatch.setenv("PYJITC_DISABLE", "1")  # kernels are compiled nevertheless

    @cuda.jit
    def fill(x):
        x[cuda.grid(1)] = scaled(cuda.grid(1))

    @njit
    def scaled(i):
        return 2 * i

    of_functions = {n for n in dir(CompiledFunction) if not n.startswith("_")} - {"inspect_tape"}  # of derivatives
    assert of_functions <= {*dir(fill)}
    assert fill.signatures == [] == fill.nopython_signatures
    assert fill.inspect_ir() == {} and fill.stats == {"compiled": 0}
    x = cuda.device_array(4)
    fill[1, 4](x)
    fill[1, 4](x)
    assert x.copy_to_host().tolist() == [0, 2, 4, 6] and fill.stats == {"compiled": 1}
    assert fill.nopython_signatures == ["(float64[::1]) -> none"]
    (types,) = fill.signatures
    assert ".fill(x: float64[::1]) -> None:" in fill.inspect_ir(types)
    assert fill.inspect_cfg()[types].startswith("digraph")
    fill.recompile()
    assert fill.stats == {"compiled": 2} and fill.signatures == [types]
    fill.disable_compile()
    with pytest.raises(TypeError, match="has no signature for"):
        fill[1, 4](cuda.device_array(4, np.int8))
    fill.disable_compile(False)
    fill[1, 4](cuda.device_array(4, np.int8))


def test_pickles():
    for one in (put, shifted):
        assert pickle.loads(pickle.dumps(one)) is one and copy.deepcopy(one) is one and copy.copy(one) is one
    table, scale = np.arange(4.0), 3

    @cuda.jit(device=True)
    def scaled(x):
        return scale * x

    @cuda.jit("void(float64[:])", debug=True, strict=True, max_registers=32)
    def kernel(x):
        x[cuda.grid(1)] = scaled(table[cuda.grid(1)])

    again, total = pickle.loads(pickle.dumps((kernel, cuda.reduce(lambda a, b: a + scale * b))))
    assert again is not kernel and (again.options, again.bounds, again.strict) == (kernel.options, kernel.bounds, True)
    x = cuda.device_array(4)
    again[1, 4](x)
    assert x.copy_to_host().tolist() == [0, 3, 6, 9] and total(np.ones(2), init=1) == 13
    with pytest.raises(TypeError, match="has no signature for"):
        again[1, 4](cuda.device_array(4, np.int8))


def test_exceptions_of_classes_of_the_program():
    """The exception on the host names the class."""
    with pytest.raises(cuda.KernelError, match=r"^Refusal\n  in refuses\(\) at .* thread \(2, 0, 0\)"):
        refuses[1, 4](np.zeros(4))
    with pytest.raises(cuda.KernelError,
                       match=r"^Refusal: not this one\n  in refuses_last\(\) at .* thread \(1, 0, 0\)"):
        refuses_last[2, 2](np.zeros(4))


@cuda.jit
def refuses_last(x):
    if cuda.grid(1) == 3:
        raise Refusal("not this one")


def test_other_code_and_defaults():
    """A program may assign them to a function, as IPython's autoreload does."""
    def add(x, s=2):
        x[cuda.grid(1)] += 10 * s

    def given(x, s, t):
        x[cuda.grid(1)] += s + t

    kernel, x = cuda.jit(add), np.zeros(4)
    kernel[1, 4](x)
    add.__defaults__ = (100,)
    kernel[1, 4](x)
    assert x.tolist() == [1020] * 4
    add.__code__, add.__defaults__ = given.__code__, None
    kernel[1, 4](x, 1, 2)
    assert x.tolist() == [1023] * 4
    with pytest.raises(TypeError, match="missing 1 required positional argument: 't'"):
        kernel[1, 4](x, 1)


def test_numbers_that_do_not_fit_are_errors_on_the_grid():
    @cuda.jit
    def store(a, b):
        i = cuda.grid(1)
        if i < a.size:
            b[i] = a[i]

    b = np.zeros(8, np.int8)
    store[2, 4](np.arange(8), b)
    assert b.tolist() == list(range(8))
    for x, error, text in ((300, OverflowError, "Python integer 300 out of bounds for int8"),
                           (np.nan, ValueError, "cannot convert float NaN to integer")):
        with pytest.raises(error, match=text):
            store[2, 4](np.full(8, x), b)


@pytest.mark.parametrize("launch", [lambda k, a: k[1, 32](a), lambda k, a: k.forall(4)(a)])
def test_compiled_functions_launch_no_kernels(launch):
    @cuda.jit
    def doubled(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] *= 2.0

    def total(a):
        launch(doubled, a)
        return np.sum(a)

    for made in (njit(total), pyjitc.grad(total)):
        with pytest.raises(CompileError, match="kernels of pyjitc.cuda are launched from Python") as caught:
            made(np.ones(4))
        assert "help: launch it outside of the compiled function" in str(caught.value)
    assert pyjitc.jit(total)(np.ones(4)) == 8.0


def test_recarrays_and_memmaps_are_arrays_as_under_njit(tmp_path):
    @cuda.jit
    def move(r, x):
        i = cuda.grid(1)
        if i < r.size:
            r[i]["x"] += x[i]

    records = np.rec.array(np.zeros(5, [("x", "f4"), ("n", "i8")]))
    mapped = np.memmap(tmp_path / "x", np.float32, "w+", shape=5)
    mapped[:] = np.arange(5)
    move[1, 8](records, mapped)
    assert records.x.tolist() == [0, 1, 2, 3, 4]


def test_a_checked_index_has_64_bits_on_a_gpu():
    def put(a, places):
        i = cuda.grid(1)
        if i < len(places):
            a[places[i]] = 1.0

    text = cuda.jit(put, debug=True).inspect_ptx("void(float64[::1], int64[::1])", "sm_80")
    assert "cvt.u32.u64" not in text
