"""The pool: how a parallel loop is divided, for which its code computes what the operation means in Python, and when
threads that sleep are woken."""
import itertools
import os
import pathlib
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies

from pyjitc.ops.parallel import DIVIDE
from pyjitc.types.kinds import Int

from .build import Builder, compiled, through

FLAGS = [dict(zip(("known", "even", "stored"), flags)) for flags in itertools.product((False, True), repeat=3)]
WORK = (1, 3, 25, 32, 33, 1000, 1 << 14, 1 << 17, 1 << 40)
sizes = strategies.one_of(strategies.integers(0, 600), strategies.integers(0, (1 << 31) - 1),
                          strategies.integers(0, (1 << 62) - 1))


def of_constant_work(work, flags):
    b = Builder((Int, Int), None)
    found = b.op(DIVIDE, b.params[0], b.int(work), b.params[1], b.int(0), **flags)
    b.fn.result = found.type
    b.ret(found)
    return compiled(b)


@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: "-".join(name for name in flags if flags[name]))
def test_loops_are_divided_as_the_operation_says(flags):
    divide = through(DIVIDE, (Int,) * 4, **flags)
    fixed = {work: of_constant_work(work, flags) for work in WORK}

    @settings(max_examples=200, deadline=None)
    @given(sizes, strategies.one_of(strategies.sampled_from(WORK), strategies.integers(1, 1 << 40)),
           strategies.one_of(strategies.just(0), strategies.integers(0, 1 << 50)),
           strategies.one_of(strategies.just(0), strategies.integers(0, (1 << 63) - 1)))
    def check(trips, work, copied, asked):
        assert divide(trips, work, copied, asked) == DIVIDE.eval(trips, work, copied, asked, **flags)
        if work in fixed:
            assert fixed[work](trips, copied) == DIVIDE.eval(trips, work, copied, 0, **flags)

    check()


WAKES = """
import os, time
import numpy as np
from pyjitc import njit, prange

@njit(parallel=True)
def sums(out, ends):
    for i in prange(len(out)):
        s = 0.0
        for j in range(ends[i], ends[i + 1]):
            s += float(j)
        out[i] = s

def woken(ends):
    \"\"\"How often a thread of the pool went to sleep again during twenty calls with pauses.\"\"\"
    def slept():
        return sum(int(line.split()[1]) for thread in os.listdir("/proc/self/task") if int(thread) not in others
                   for line in open(f"/proc/self/task/{thread}/status") if line.startswith("voluntary_ctxt"))

    sums(np.zeros(4), ends)
    time.sleep(0.02)
    before = slept()
    for _ in range(20):
        sums(np.zeros(4), ends)
        time.sleep(0.005)
    return slept() - before

others = set(map(int, os.listdir("/proc/self/task")))
print(woken(np.arange(5) * 5), woken(np.arange(5) * 500_000))
"""


def test_few_iterations_of_unknown_work_wake_threads_where_they_took_long_before():
    root = pathlib.Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", WAKES], cwd=root, capture_output=True, text=True, timeout=120,
                         env={**os.environ, "PYJITC_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"})
    assert not run.returncode, run.stderr
    little, much = map(int, run.stdout.split())
    assert little < 10 <= much
