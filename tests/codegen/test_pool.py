"""How a parallel loop is divided: the code of the pool computes what the operation means in Python."""
import itertools

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
