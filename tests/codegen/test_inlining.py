"""Which functions LLVM may inline: none that is large or that runs once for each call of its caller, since it would
optimise the body a second time."""
import re

import numpy as np
import pytest

from pyjitc import njit, prange
from pyjitc.codegen import compile, link
from pyjitc.codegen.declarations import declared
from pyjitc.codegen.partition import FEW_PASSES


@njit(cache=False)
def work(a, x):
    for i in range(len(a)):
        a[i] = a[i] * x + i
        if a[i] > 3.0:
            a[i] = a[i] * 0.5 - x
        while a[i] > 2.0:
            a[i] = a[i] / 2.0 - x * x
    return a.sum() + x


@njit(cache=False)
def chosen(a, k):
    return work(a, k) / 2.0 if k > 0.5 else work(a, k + 1.0) * 2.0


def once(a, n):
    return work(a, 0.25) + n


def twice(a, n):
    return chosen(a, 0.25) + n


def in_a_loop(a, n):
    total = 0.0
    for k in range(n):
        total += work(a, k * 0.5)
    return total


def below_a_loop(a, n):
    total = 0.0
    while total < n:
        total += abs(chosen(a, total * 0.5)) + 1.0
    return total


def between_loops(a, n):
    for k in range(n):
        if a[k] > 1.0:
            a[k] = a[k] / 3.0
    total = work(a, 0.5)
    for k in range(n):
        while a[k] > 0.5:
            a[k] = a[k] / 2.0
        total += a[k]
    return total


def head_of(name, program, texts):
    """The line of LLVM text that begins a function in the module of a program."""
    text = next(text for text in texts if f".{program}(" in text)
    return re.search(rf"(?m)^define internal .*@f\d+\.{name}\(.*$", text)[0]


@pytest.mark.parametrize("program, stays", [(once, True), (twice, True), (between_loops, True), (in_a_loop, False),
                                            (below_a_loop, False)], ids=lambda x: getattr(x, "__name__", ""))
def test_a_function_that_runs_once_stays_a_call(program, stays, monkeypatch):
    texts = []
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: texts.append(text) or to_object(text, *more))
    compiled = njit(program, cache=False)
    assert compiled(np.arange(5.0), 3) == program(np.arange(5.0), 3)
    assert ("noinline" in head_of("work", program.__name__, texts)) == stays


asked = njit(inline="always")(work.py_func)


def once_as_asked(a, n):
    return asked(a, n)


def test_a_function_with_inline_always_is_inlined_although_it_runs_once(monkeypatch):
    texts = []
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: texts.append(text) or to_object(text, *more))
    assert njit(once_as_asked, cache=False)(np.arange(5.0), 3) == work.py_func(np.arange(5.0), 3)
    assert "alwaysinline" in head_of("work", "once_as_asked", texts)


def test_copies_of_functions_with_inline_always_are_limited(monkeypatch):
    """Each function calls the one before it twice."""
    texts, names = [], {"njit": njit}
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: texts.append(text) or to_object(text, *more))
    steps = "".join(f"    x = x * {k} % 1000 + y // {k}\n" for k in range(3, 9))
    exec("".join(f"@njit(inline='always')\ndef g{n}(x, y):\n{steps}    return " + (
        f"g{n - 1}(x, y) + g{n - 1}(y, x)\n" if n else "x + y\n") for n in range(16))
        + "def f(x, y):\n    return g15(x, y)\n", names)
    compiled = njit(names["f"], cache=False)
    assert compiled(3, 4) == compiled.py_func(3, 4)
    text = next(text for text in texts if ".g15(" in text)
    heads = [re.search(rf"(?m)^define internal .*\.g{n}\(.*$", text) for n in range(16)]
    inlined = [f"g{n}" for n, head in enumerate(heads) if head is None or "alwaysinline" in head[0]]
    assert 3 <= len(inlined) <= 13, inlined



def doubled(a, b):
    for i in prange(len(a)):
        b[i] = a[i] * 2
    return b[0]


@pytest.mark.parametrize("program, args", [
    (lambda x, y: x * y + 1.0, (2.0, 3.0)), (lambda a: a[0], (np.ones(3),)),
    (doubled, (np.ones(3), np.ones(3)))], ids=["scalars", "array", "parallel"])
def test_the_function_of_a_stub_stays_a_call_and_the_stub_is_not_optimised(program, args, monkeypatch):
    texts = []
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: texts.append(text) or to_object(text, *more))
    monkeypatch.setattr(compile, "_stub", lambda text, target: link.to_object(declared(text), target))  # always made
    njit(program, cache=False, parallel=program is doubled)(*args)
    text = next(text for text in texts if "@pyjitc_entry(" in text)
    assert re.search(r"(?m)^define ptr @pyjitc_entry\(.* noinline optnone \{$", text)
    assert re.search(r"(?m)^define (hidden .*@pyjitc_body|internal .*@f0)\..*\) nounwind noinline.*\{$", texts[-1])


def test_a_large_function_stays_a_call_in_a_loop(monkeypatch):
    texts = []
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: texts.append(text) or to_object(text, *more))
    lines = "".join(f"    if a[{k} % len(a)] > x:\n        a[{k} % len(a)] = x / (a[{k} % len(a)] + {k}.5)\n"
                    for k in range(24))
    namespace = {}
    exec(f"def large(a, x):\n{lines}    return a.sum()", namespace)
    work = njit(namespace["large"], cache=False)

    def program(a, n):
        total = 0.0
        for k in range(n):
            total += work(a, k * 0.5)
        return total

    assert njit(program, cache=False)(np.arange(5.0), 3) == program(np.arange(5.0), 3)
    assert "noinline" in head_of("large", "program", texts)


@pytest.mark.parametrize("n, calls", [(2, False), (48, True)])
def test_each_of_many_releases_is_a_call(n, calls, monkeypatch):
    texts = []
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: texts.append(text) or to_object(text, *more))
    lines = "".join(f"    if x > {k}:\n        b = np.sort(a + {k})\n        x += b[0] + b[1]\n" for k in range(n))
    namespace = {"np": np}
    exec(f"def program(a, x):\n{lines}    return x", namespace)
    compiled = njit(namespace["program"], cache=False)
    for x in (-1.0, 1.5, 100.0):
        assert compiled(np.arange(3.0), x) == compiled.py_func(np.arange(3.0), x)
    assert ("call void @pyj_give_back(" in texts[-1]) == calls


def test_calls_of_what_stays_apart_need_no_further_passes(monkeypatch):
    texts = []
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: texts.append(text) or to_object(text, *more))
    compiled = njit(lambda a, x: a @ x, cache=False)
    a, x = np.arange(6.0).reshape(2, 3), np.ones(3)
    assert (compiled(a, x) == compiled.py_func(a, x)).all()
    assert texts[-1].endswith(FEW_PASSES)


@njit(inline="always")
def pair_of(x, y):
    made = np.empty(2)
    made[0], made[1] = x, y
    return made


@njit(inline="always")
def copied_rows(a, b):
    for i in range(len(b)):
        b[i] = a[i]


def turned(points, out):
    for i in range(len(points)):
        p, q = pair_of(points[i, 1], points[i, 0]), pair_of(0.0, 0.0)
        copied_rows(p, q)
        out[i, 0], out[i, 1] = q[0], q[1]
    return out


def test_arrays_of_functions_with_inline_always_are_in_the_frame(monkeypatch):
    """The passes see the array and where it is used: no call that allocates remains."""
    texts = []
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: texts.append(text) or to_object(text, *more))
    points = np.random.default_rng(1).random((5, 2))
    found = njit(turned, cache=False)(points, np.zeros((5, 2)))
    assert found.tolist() == points[:, ::-1].tolist()
    text = next(text for text in texts if ".turned(" in text)
    body = text[text.index(".turned("):]
    assert "pyj_new" not in body[:body.index("\n}")] and ".pair_of(" not in text and ".copied_rows(" not in text
