"""Compile time is linear in the size of the program: the work for a program of twice the size is counted, not timed."""
import cProfile
import linecache
import re
import sys
import traceback

import numpy as np
import pytest

import pyjitc
import pyjitc.cuda
from pyjitc.codegen import link
from pyjitc.codegen.partition import FEW_PASSES
from pyjitc.passes import nests

VECTOR = np.arange(1.0, 9.0)


def loops(n):
    body = "".join(f"    for i in range(k):\n        s += a[i] * {j}.5\n" for j in range(n))
    return f"def f(a, k):\n    s = 0.0\n{body}    return s\n", (VECTOR, 5)


def numbers(n):
    """Loops of numbers alone, with branches between them."""
    body = "".join(f"    if s > {j}.0:\n        s -= {j}.25 * y\n    for i in range(n + {j % 7}):\n        s += i * "
                   f"{j % 13}.125\n" for j in range(n))
    return f"def f(x, y, n):\n    s = x\n{body}    return s\n", (1.5, 2.5, 3)


def many_loops(n):
    """Loops of four kinds, scalar and over arrays, in turns."""
    kinds = ("    i = {0}\n    while i < k:\n        s += i\n        i += 1\n",
             "    for i in range(k):\n        b[i] = a[i] * {0}.0 + s\n",
             "    for i in range(k):\n        for j in range(i):\n            if a[j] > {0}.5:\n"
             "                s += a[j]\n",
             "    b[:] = a * {0} + b\n")
    body = "".join(kinds[j % 4].format(j) for j in range(n))
    return f"def f(a, b, k):\n    s = 0.0\n    i = 0\n{body}    return s, i\n", (VECTOR, np.ones(8), 8)


def rounds(n):
    """The same in a loop."""
    source, (a, b, k) = many_loops(n)
    head, start, other, *body = source.splitlines(True)
    inside = [f"    {line}" for line in body[:-1]]
    return "".join([head, start, other, "    for r in range(2):\n", *inside, body[-1]]), (a, b, k)


def searches(n):
    body = "".join(f"    i = 0\n    while i < k:\n        i += 1\n        if i == {j}:\n            break\n        s "
                   f"+= i\n" for j in range(n))
    return f"def f(a, k):\n    s = 0.0\n{body}    return s\n", (VECTOR, 5)


def halvings(n):
    body = "".join(f"    while x > {j}:\n        x -= y\n" for j in range(n))
    return f"def f(x, y):\n{body}    return x\n", (3, 1)


def branches(n):
    body = "".join(f"    elif x == {j}:\n        y = {j * 7 % 13}\n" for j in range(1, n))
    return f"def f(x):\n    y = -1\n    if x == 0:\n        y = 1\n{body}    return y\n", (n // 2,)


def statements(n):
    return f"def f(x, y):\n{''.join(f'    x = x * {j % 7} + y + 1{chr(10)}' for j in range(n))}    return x\n", (1, 0)


def array_statements(n):
    return (f"def f(a):\n    b = a\n{''.join(f'    b = a * {j}.5 + b{chr(10)}' for j in range(n))}    return b\n",
            (VECTOR,))


def array_display(n):
    return f"def f(x):\n    return np.array([{', '.join(f'x * {j}' for j in range(n))}])\n", (3.5,)


def arrays_in_a_list(n):
    return f"def f(a):\n    return [{', '.join(f'a + {j}' for j in range(n))}]\n", (VECTOR,)


def arrays_in_a_dict(n):
    items = ", ".join(f"'k{j}': a + {j}" for j in range(n))
    return f"def f(a):\n    return {{{items}}}\n", (VECTOR,)


def inner_functions(n):
    body = "".join(f"    def g{j}(v):\n        return v * {j} + x\n" for j in range(n))
    return f"def f(x):\n{body}    return {' + '.join(f'g{j}(x)' for j in range(n))}\n", (1.5,)


def handlers(n):
    body = "".join(f"    try:\n        s += a[k + {j % 9}]\n    except IndexError:\n        s -= {j}\n"
                   for j in range(n))
    return f"def f(a, k):\n    s = 0.0\n{body}    return s\n", (VECTOR, 3)


def calls(n):
    body = "".join(f"    s += h(a, {j})\n" for j in range(n))
    return ("def h(a, x):\n    s = 0.0\n    for i in range(len(a)):\n        if a[i] > x:\n            s += a[i] * "
            "x\n    return s\n"
            f"def f(a):\n    s = 0.0\n{body}    return s\n", (VECTOR,))


def chain(n):
    """Functions, each of which calls the previous one twice."""
    body = "".join(f"def g{j}(x):\n    return g{j - 1}(x) + g{j - 1}(x * 2)\n" for j in range(1, n))
    return f"def g0(x):\n    return x + 1\n{body}def f(x):\n    return g{n - 1}(x)\n", (1,)


def list_display(n):
    return f"def f(x):\n    d = [{', '.join(map(str, range(n)))}]\n    d.append(x)\n    return d[x]\n", (1,)


def dict_display(n):
    items = ", ".join(f"{j}: {j}.5" for j in range(n))
    return f"def f(x):\n    d = {{{items}}}\n    d[-1] = 2.5\n    return d[x]\n", (1,)


def dict_of_texts(n):
    """It returns the dict, and some of its values are computed."""
    items = ", ".join(f"'k{j}': {j if j % 50 else 'x'}" for j in range(n))
    return f"def f(x):\n    return {{{items}}}\n", (1,)


def constants(n):
    return f"def f(x):\n    return ({', '.join(f'{j}.5' for j in range(n))})[x]\n", (1,)


def short_loops(n):
    """A nest of loops of two iterations, each of which is written out where it stays small."""
    body = "".join(f"{'    ' * (j + 1)}for i{j} in range(2):\n" for j in range(n))
    return (f"def f(x):\n    s = 0\n{body}{'    ' * (n + 1)}s += x + {' + '.join(f'i{j}' for j in range(n))}\n"
            "    return s\n", (1,))


def made(program, n):
    """(the function, its arguments) for a program of size n."""
    source, args = program(n)
    name = f"<{program.__name__} {n}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"], args


class Stop(BaseException):
    pass


def work(program, n, monkeypatch, counts=True):
    """The work for a program before LLVM's: (calls of Python functions in the compiler, characters of LLVM text)."""
    function, args = made(program, n)
    compiled = pyjitc.njit(function)
    profile, text = cProfile.Profile(), ""  # counts in C: a function of Python's takes longer than what it counts
    original = link.to_object

    def take(given, target, level=1):
        nonlocal text
        if "@pyjitc_entry(" in given:  # what Python calls is an object of its own, and may be there already
            return original(given, target, level)
        profile.disable()
        text = given
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(link, "to_object", take)
        if counts:
            profile.enable()
        try:
            compiled(*args)
        except Stop:
            pass
        finally:
            profile.disable()
    return sum(entry.callcount for entry in profile.getstats()), len(text)


@pytest.mark.parametrize("program, n", [
    (loops, 24), (loops, 140), (many_loops, 80), (searches, 20), (halvings, 24), (branches, 100), (statements, 200),
    (array_statements, 60), (array_display, 130), (inner_functions, 40), (handlers, 30), (calls, 60), (chain, 40),
    (dict_display, 400), (dict_of_texts, 150)],
                         ids=lambda x: getattr(x, "__name__", None))
def test_twice_as_much_takes_twice_the_work(program, n, monkeypatch, tmp_path):
    monkeypatch.setenv("PYJITC_VERIFY", "0")
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path))
    for size in (3, 2 * n):  # the library's functions are inferred once, and which there are
        work(program, size, monkeypatch, counts=False)
    once, twice = work(program, n, monkeypatch), work(program, 2 * n, monkeypatch)
    assert twice[0] < 2.4 * once[0] and twice[1] < 2.4 * once[1], (once, twice)


@pytest.mark.parametrize("program, n", [
    (list_display, 1000), (dict_display, 1000), (constants, 1000), (short_loops, 7)],
                         ids=lambda x: getattr(x, "__name__", None))
def test_the_code_is_no_larger_than_the_program(program, n, monkeypatch):
    """Counts branches: LLVM takes time quadratic in the cases of a switch, and in the branches of a function."""
    found = []
    original = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, target, *more: found.append(text)
                        or original(text, target, *more))
    sizes = []
    for size in (n, 2 * n):
        function, args = made(program, size)
        assert pyjitc.njit(function)(*args) == function(*args)
        sizes.append(found[-1].count("  br "))
    assert sizes[1] <= max(1.2 * sizes[0], 1_000), sizes


@pytest.mark.parametrize("program", [arrays_in_a_list, arrays_in_a_dict])
def test_equal_nests_are_found_without_a_comparison_of_all(program, monkeypatch):
    compared = 0
    same = nests._same

    def counting(*pair):
        nonlocal compared
        compared += 1
        return same(*pair)

    def stop(*args):
        raise Stop

    monkeypatch.setattr(nests, "_same", counting)
    monkeypatch.setattr(link, "to_object", stop)
    function, args = made(program, 150)
    with pytest.raises(Stop):
        pyjitc.njit(function)(*args)
    assert compared <= 150


def functions_of(text):
    """Of each function in LLVM text: how many branches it has."""
    return [body.count("  br ") for body in text.split("\ndefine ")[1:]]


@pytest.mark.parametrize("program", [many_loops, rounds])
@pytest.mark.parametrize("n", [80, 160])
def test_no_function_for_llvm_has_many_loops(program, n, monkeypatch):
    """LLVM takes time quadratic in the loops of a function."""
    found = []
    original = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, target, *more: found.append(text)
                        or original(text, target, *more))
    function, (a, b, k) = made(program, n)
    c, d = b.copy(), b.copy()
    assert pyjitc.njit(function)(a, c, k) == function(a, d, k)
    np.testing.assert_array_equal(c, d)
    sizes = sorted(functions_of(found[-1]))
    assert len(sizes) > n  # each loop is a function
    assert sizes[-2] < 60 and sizes[-1] < 8 * n, sizes[-4:]


@pytest.mark.parametrize("much", [False, True])
def test_loops_of_a_large_function_are_functions(much, monkeypatch):
    """Fewer loops are enough for that where there is much beside them."""
    loops = "".join(f"    for i in range(len(a)):\n        s += a[i] * {n}.5\n        b[i] = s\n" for n in range(30))
    beside = "".join(f"    t = (t * s + {n}.5) / (2.0 + t * t) - s * {n}.25\n" for n in range(500 if much else 5))
    names = {}
    exec(f"def f(a, b):\n    s = t = 0.5\n{loops}{beside}    return s, t", names)
    found, original = [], link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, target, *more: found.append(text)
                        or original(text, target, *more))
    a, b, c = np.arange(5.0) / 8.0, np.zeros(5), np.zeros(5)
    assert pyjitc.njit(names["f"])(a, b) == names["f"](a, c)
    np.testing.assert_array_equal(b, c)
    assert (len(re.findall(r"(?m)^define .*\.part", found[-1])) >= 30) == much


@pytest.mark.parametrize("n", [40, 240])
def test_sums_in_order_get_the_short_pipeline_however_many(n, monkeypatch):
    """LLVM's default pipeline takes five times as long. A loop that is a function of its own is unrolled no more than
    it was among the others."""
    found = []
    original = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, target, *more: found.append(text)
                        or original(text, target, *more))
    function, args = made(numbers, n)
    assert pyjitc.njit(function)(*args) == function(*args)
    assert found[-1].endswith(FEW_PASSES) and "unroll" not in found[-1]
    assert (len(functions_of(found[-1])) > n) == (n > 128)


def test_a_failure_in_a_loop_of_many(monkeypatch):
    """The traceback has one entry for the function, at the line of the loop."""
    source, args = many_loops(100)
    source = source.replace("    return s, i", "    for i in range(k + 1):\n        s += a[i]\n    return s, i")
    function, args = made(lambda n: (source, args), 100)

    def failed(f):
        with pytest.raises(IndexError) as caught:
            f(*[np.copy(x) if isinstance(x, np.ndarray) else x for x in args])
        return str(caught.value), [(e.name, e.lineno) for e in traceback.extract_tb(caught.value.__traceback__)[1:]
                                   if e.name == "f"]

    assert failed(pyjitc.njit(function)) == failed(function)


def test_a_chain_of_calls_is_no_larger_for_llvm(monkeypatch):
    found = []
    original = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, target, *more: found.append((text, target))
                        or original(text, target, *more))
    sizes = []
    for n in (7, 14):
        function, args = made(chain, n)
        assert pyjitc.njit(function)(*args) == function(*args)
        sizes.append(len(link.to_text(*found[-1])))
    assert sizes[1] < 4 * sizes[0]  # inlining at every level would make 128 times as many copies of g0


def test_a_small_function_takes_the_place_of_its_calls(monkeypatch):
    def add(x, y):
        return x * y + 1

    def f(x):
        return add(x, 2.0) + add(x, 3.0)

    found = []
    original = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, target, *more: found.append((text, target))
                        or original(text, target, *more))
    assert pyjitc.njit(f)(1.5) == f(1.5)
    text = link.to_text(*found[-1])
    assert text.count("define") == 1  # `f`: its stub is an object of its own


# ---------------------------------------------------------------- nesting


def test_many_inner_functions_that_hold_each_other():
    body = "".join(f"    def g{j}(v):\n        return v * {j} + {f'g{j - 1}(x)' if j else 'x'}\n" for j in range(200))
    function, args = made(lambda n: (f"def f(x):\n{body}    return g199(x)\n", (1.5,)), 200)
    assert pyjitc.njit(function)(*args) == function(*args)


@pytest.mark.parametrize("statement", ["a = a * 0.5 + 1", "a = np.where(a > 2, a * 0.5, a)"])
def test_a_long_chain_of_array_expressions(statement):
    function, args = made(lambda n: (f"def f(a):\n{f'    {statement}{chr(10)}' * n}    return a\n", (VECTOR,)), 300)
    np.testing.assert_array_equal(pyjitc.njit(function)(*args), function(*args))


def call(function, args):
    pyjitc.njit(function)(*args)


def inspect(function, args):
    pyjitc.njit(function).inspect_llvm("(int,)")


def launch(function, args):
    compiled = pyjitc.njit(function)

    @pyjitc.cuda.jit
    def kernel(out, x):
        out[0] = compiled(x)

    kernel[1, 1](np.zeros(1, np.int64), *args)


@pytest.mark.parametrize("use", [call, inspect, launch])
def test_what_is_nested_too_deeply_is_told_at_its_line(use):
    function, args = made(chain, 60)
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 120)
    try:
        with pytest.raises(pyjitc.CompileError, match="nested too deeply") as caught:
            use(function, args)
    finally:
        sys.setrecursionlimit(limit)
    assert caught.value.diagnostic.filename == "<chain 60>" and caught.value.diagnostic.line > 0


def test_a_function_may_be_compiled_deep_in_a_recursion():
    @pyjitc.njit
    def f(x):
        return sum(i * x for i in range(3)) + max(x, 2.5)

    def down(n):
        return down(n - 1) if n else f(3.0)

    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    assert down(sys.getrecursionlimit() - depth - 60) == f.py_func(3.0)


# ---------------------------------------------------------------- types that grow


def doubled(x, n):
    if n == 0:
        return 0
    return doubled((x, x), n - 1)


def either(x, n):
    if n == 0:
        return 0
    y = (x, 1) if n % 2 else (1.5, x)
    return either(y, n - 1)


def looped(x, n):
    for _ in range(n):
        x = (x, x)
    return 0


def written(x, n):
    def add():
        nonlocal x
        x = (x, x)

    for _ in range(n):
        add()
    return 0


@pytest.mark.parametrize("function", [doubled, either, looped, written])
def test_types_that_grow_without_end_are_refused(function):
    with pytest.raises(pyjitc.TypingError, match="more than 16384 parts") as caught:
        pyjitc.njit(function)((1, 2), 3)
    assert "array" in caught.value.diagnostic.hint


def longer(t, n):
    if n == 0:
        return t
    return longer(t + t, n - 1)


@pytest.mark.parametrize("n", [0, 1, 3, 15])
def test_a_tuple_may_grow_in_a_recursion(n):
    found, expected = pyjitc.njit(longer)((1, 2.5), n), longer((1, 2.5), n)
    assert found == expected and [type(x) for x in found[:9]] == [type(x) for x in expected[:9]]


def test_an_argument_of_a_type_that_is_too_large():
    t = 1
    for _ in range(16):  # 65,536 parts: four times the limit
        t = (t, t)
    assert pyjitc.njit(lambda t: len(t))(t) == 2  # a tuple of any length
