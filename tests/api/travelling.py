"""A script whose functions travel to other processes: `python travelling.py HOW`. Prints the wrong results.

HOW is joblib, distributed, cloudpickle, or spawn, fork, forkserver (multiprocessing) or executor (concurrent.futures).
"""
import math
import os
import sys

import numpy as np

from pyjitc import cuda, njit

SCALE = 3
TABLE = np.arange(5.0)


def plain(x):
    """A helper that no decorator compiles."""
    return x * SCALE


@njit
def compiled(x):
    return plain(x) + 1


@njit(fastmath=True, error_model="numpy")
def with_options(x, /, y=2, *, z=5):
    return x / y + z


@njit("float64(float64, int64)")
def declared(x, n):
    return x * n + SCALE


@njit
def calls_others(x):
    return compiled(x) + defined_later(x) + math.floor(TABLE[int(x)])


@njit
def defined_later(x):
    return 100 * x + shared.factor


@njit
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@njit
def even(n):
    return True if n == 0 else odd(n - 1)


@njit
def odd(n):
    return False if n == 0 else even(n - 1)


def adder(k):
    @njit
    def add(x):
        return x + k + SCALE

    return add


def counter():
    @njit
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    return down


def undecorated(x):
    return x + SCALE


by_call = njit(undecorated)
a_lambda = njit(lambda x: plain(x) + 0.5)
space = {"SCALE": 7, "__name__": "nowhere"}
exec("def executed(x):\n    return x * SCALE", space)
executed = njit(space["executed"])


class shared:
    factor = 4

    @staticmethod
    @njit
    def method(x):
        return plain(x) - 1


@njit(static_argnames="n")
def with_static(x, n):
    return x ** n


@cuda.jit(device=True)
def on_device(x):
    return x * SCALE


@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += on_device(i) + TABLE[1]


@cuda.elementwise
def relu(x):
    return x * SCALE if x > 0 else x * 0.0


def launched(n):
    """Launches a kernel of __main__ and calls a compiled function of it."""
    x = np.zeros(n)
    kernel[1, 8](x)
    return x.tolist(), relu(np.array([-1.0, 2.0])).tolist()


CASES = {
    "a helper": (compiled, (2,), 7), "options": (with_options, (1,), 5.5),
    "a declared signature": (declared, (2, 3), 9.0),
    "calls of others": (calls_others, (2.0,), 213.0), "recursion": (factorial, (10,), 3628800),
    "mutual recursion": (even, (10,), True),
    "a closure": (adder(4), (1,), 8), "a closure of itself": (counter(), (5,), 5), "njit(f)": (by_call, (1,), 4),
    "a lambda": (a_lambda, (1,), 3.5), "exec": (executed, (2,), 14), "a method": (shared.method, (2,), 5),
    "static arguments": (with_static, (3, 2), 9), "a kernel": (launched, (3,), ([1.0, 4.0, 7.0], [0.0, 6.0])),
}


def said(function, args):
    """The answer of a worker: (whether it is another process, the result, facts about the function)."""
    names = "__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__"
    about = [getattr(function, name, None) for name in names]
    options, count = tuple(getattr(function, "options", ())), len(getattr(function, "_declared", ()))
    return os.getpid(), function(*args), about, options, count


def check(name, answer):
    function, args, expected = CASES[name]
    pid, result, about, options, count = answer
    _, own, own_about, own_options, own_count = said(function, args)
    # the name that multiprocessing gives __main__
    own_about[2] = about[2] if about[2] == "__mp_main__" else own_about[2]
    if HOW != "cloudpickle" and pid == os.getpid():
        print(name, "ran in the same process")
    given, right = (result, own, about, options, count), (expected, expected, own_about, own_options, own_count)
    if type(result) is not type(expected) or given != right:
        print(name, "gives", result, about, options, count, "not", expected, own_about, own_options, own_count)


def every(run):
    for name, (function, args, _) in CASES.items():
        try:
            check(name, run(said, function, args))
        except Exception as error:
            print(name, "ends in", repr(error)[:500])


def main():
    if HOW == "joblib":
        import joblib

        with joblib.parallel_config(backend="loky", n_jobs=2):
            results = joblib.Parallel()(joblib.delayed(said)(function, args) for function, args, _ in CASES.values())
            for name, answer in zip(CASES, results):
                check(name, answer)
            assert joblib.Parallel()(joblib.delayed(compiled)(x) for x in range(4)) == [1, 4, 7, 10]
    elif HOW == "distributed":
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                every(lambda said, *args: client.submit(said, *args, pure=False).result(timeout=60))
                assert client.gather(client.map(compiled, range(4))) == [1, 4, 7, 10]
    elif HOW == "cloudpickle":
        import cloudpickle

        every(lambda said, *args: (lambda said, args: said(*args))(*cloudpickle.loads(cloudpickle.dumps((said, args)))))
        again = cloudpickle.loads(cloudpickle.dumps(compiled))
        assert again is not compiled and again.py_func is not compiled.py_func and again(2) == 7
        one, other = cloudpickle.loads(cloudpickle.dumps((even, odd)))
        assert one.__globals__["odd"] is other and other.__globals__["even"] is one
        assert other.__globals__ is one.__globals__
    elif HOW == "executor":
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(1) as pool:
            every(lambda said, *args: pool.submit(said, *args).result())
    else:
        import multiprocessing

        with multiprocessing.get_context(HOW).Pool(1) as pool:
            every(lambda said, *args: pool.apply(said, args))
            assert pool.map(compiled, range(4)) == [1, 4, 7, 10]
    print("done")


if __name__ == "__main__":
    HOW = sys.argv[1]
    main()
