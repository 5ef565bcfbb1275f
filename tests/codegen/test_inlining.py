"""Which functions LLVM may inline: none that runs once for each call of its caller, since it would optimise the body a
second time."""
import re

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.codegen import link
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


@pytest.mark.parametrize("program, stays", [(once, True), (twice, True), (in_a_loop, False), (below_a_loop, False)],
                         ids=lambda x: getattr(x, "__name__", ""))
def test_a_function_that_runs_once_stays_a_call(program, stays, monkeypatch):
    texts = []
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: texts.append(text) or to_object(text, *more))
    compiled = njit(program, cache=False)
    assert compiled(np.arange(5.0), 3) == program(np.arange(5.0), 3)
    head = re.search(r"(?m)^define internal .*@f\d+\.work\(.*$", texts[-1])[0]
    assert ("noinline" in head) == stays


def test_calls_of_what_stays_apart_need_no_further_passes(monkeypatch):
    texts = []
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: texts.append(text) or to_object(text, *more))
    compiled = njit(lambda a, x: a @ x, cache=False)
    a, x = np.arange(6.0).reshape(2, 3), np.ones(3)
    assert (compiled(a, x) == compiled.py_func(a, x)).all()
    assert texts[-1].endswith(FEW_PASSES)
