"""What a first call loads and does besides compiling: in a new process every module of the compiler takes time."""
import os
import subprocess
import sys

import pytest

PROGRAM = """\
import re, sys
import numpy as np
import pyjitc

@pyjitc.njit
def scalar(x, y):
    if x > y:
        return x * x - y
    return 3.0 * y - x

@pyjitc.njit
def loop(a, limit):
    total = 0.0
    for i in range(len(a)):
        if a[i] > limit:
            total += a[i]
    return total

@pyjitc.njit
def counted(a, n):
    total = 0.0
    for i in range(n):
        total += a[i]
    return total

@pyjitc.njit
def iterated(a):
    total = 0.0
    for x in a:
        total += x
    return total

@pyjitc.njit
def expression(a, b):
    return np.exp(a) * 2.0 + b

@pyjitc.njit
def operators(a, b):
    return a * 2.0 + b

@pyjitc.njit
def stored(a, b):
    for i in range(len(a)):
        a[i] = b[i] * 2.0
    return a

@pyjitc.njit
def summed(a, b):
    for i in range(len(a)):
        a[0] += b[i]
    return a

a = np.linspace(0.0, 1.0, 10)
patterns = set(re._cache)
{call}
assert set(re._cache) == patterns, set(re._cache) - patterns
print(*sys.modules)
"""
# Signatures, calls of the interpreter, layouts that no process has compared yet, ufuncs of the program, messages of
# exceptions, and options that turn checks off: none of the programs has any.
NOWHERE = {"pyjitc.api.signature", "pyjitc.codegen.entries", "pyjitc.infer.boxed", "pyjitc.passes.messages",
           "pyjitc.passes.relax", "pyjitc.runtime.layouts", "pyjitc.runtime.ufuncs", "pyjitc.types.text"}
# References, functions that call themselves, NumPy's functions, guards of indices, and threads: neither the scalar
# function nor the loops have any.
UNUSED = {"pyjitc.front.rare_opcodes", "pyjitc.front.recursion", "pyjitc.lib.np.index", "pyjitc.ops.guards",
          "pyjitc.ops.parallel", "pyjitc.passes.refcount", "pyjitc.runtime.pool"}
CALLS = {"pyjitc.infer.bind", "pyjitc.lib.py.index", "pyjitc.lib.py.items", "pyjitc.lib.rule"}
LOOPS = {f"pyjitc.passes.{name}" for name in ("counted", "flags", "hints", "polling", "ranges")}
NESTS = {f"pyjitc.passes.{name}" for name in ("accumulators", "jam", "joined_sums", "vectorise")}
LIBRARY = {"pyjitc.lib.np.arrays.creation", "pyjitc.lib.np.elementwise.numbers", "pyjitc.lib.np.shapes.views",
           "pyjitc.lib.py.builtins", "pyjitc.lib.py.numbers"}


def loaded(call):
    """The modules that a process has loaded after a first call."""
    environment = {**os.environ, "PYJITC_CACHE": "0", "PYJITC_VERIFY": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # typed library functions are stored as modules are
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(call=call)], env=environment, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("call, without", [
    ("scalar(1.5, 2.5)", LOOPS | LIBRARY | UNUSED | CALLS | {"pyjitc.passes.alias"}),
    ("loop(a, 0.5)", LIBRARY | UNUSED | NESTS | {"pyjitc.passes.inequalities", "pyjitc.passes.repair"}),
    ("counted(a, 10)", LIBRARY | UNUSED | NESTS | {"pyjitc.passes.alias", "pyjitc.passes.versioning"}),
    ("iterated(a)", LIBRARY | UNUSED | NESTS | {"pyjitc.passes.ranges", "pyjitc.passes.versioning"}),
    ("stored(a, a)", LIBRARY | {"pyjitc.lib.py.conversions"}),
    ("expression(a, a)", LIBRARY | {
        "pyjitc.lib.py.conversions", "pyjitc.lib.py.operators", "pyjitc.passes.accumulators", "pyjitc.passes.repair"}),
    ("operators(a, a)", LIBRARY | {"pyjitc.lib.np.elementwise.functions", "pyjitc.ops.math"})],
                         ids=["scalar", "loop", "counted", "iterated", "stored", "expression", "operators"])
def test_a_first_call_loads_no_module_that_it_does_not_need(call, without):
    loaded(call)  # this process stores the typed library functions that the next one reads
    found = loaded(call)
    assert "pyjitc.passes.simplify" in found
    assert not found & (without | NOWHERE)


def test_a_loop_that_sums_in_an_element_loads_the_pass_for_it():
    assert "pyjitc.passes.accumulators" in loaded("summed(a, a.copy())")
