"""Releases that instructions share where they fail."""
import re
from types import SimpleNamespace

import numpy as np
import pytest

import pyjitc
from pyjitc.codegen import link
from pyjitc.codegen.exits import Exits
from pyjitc.ir import core as ir
from pyjitc.types.kinds import Array, NpFloat, Object

X, Y, Z, V, W = (ir.Value(Array(NpFloat(64), 1, "C"), name) for name in "xyzvw")
P, Q, R = (ir.Value(Object, name) for name in "pqr")


def released(*cleanups):
    """For each cleanup the values in the order in which they are released, and the number of releases in the code."""
    exits = Exits(SimpleNamespace(blocks=[SimpleNamespace(
        insts=[SimpleNamespace(cleanup=cleanup, unwind=None) for cleanup in cleanups])]))
    ways, blocks = [], {}
    for cleanup in cleanups:
        node, way = exits.node[cleanup], []
        while node:
            values, after = exits.step(node)
            blocks[node] = len(values)
            way += values
            node = after
        ways.append(way)
    return ways, sum(blocks.values())


@pytest.mark.parametrize("cleanups, most", [
    ([()], 0),
    ([(X,), (X, Y), (X, Y, Z)], 3),
    ([(X, Y, Z), (Y, Z), (Z,)], 3),
    ([(X, Y, Z), (X, Z), (X,)], 4),
    ([(X, Y), (Z, Y), (Y,)], 3),
    ([(P, Q, R), (Q, R), (R,)], 3),
    ([(P, X, Q), (P, Q), (Y, P, Q)], 4),
    ([(X, Y), (Y, Z, V), (X, Y, Z, V, W)], 6),  # the last one goes on where the second begins
    ([(X, P), (X, Q), (P, X, Q)], 5),  # at the second, not at the first: P is released before Q
    ([(P, Q), (P, Q, R)], 5),
])
def test_each_value_is_released_once_and_objects_in_order(cleanups, most):
    ways, count = released(*cleanups)
    for cleanup, way in zip(cleanups, ways):
        assert set(way) == set(cleanup) and len(way) == len(cleanup)
        assert [v for v in way if v.type is Object] == [v for v in cleanup if v.type is Object]
    assert count <= most


def steps(n):
    """A function that holds n arrays until its end, and may fail at each step."""
    lines = [f"    a{k} = np.concatenate((a{k - 1}, x[:{k}]))" for k in range(1, n)]
    names = {"np": np}
    exec("\n".join(["def f(x, fails):", "    a0 = x + 1.0", *lines, "    s = 0.0",
                    *[f"    if fails == {k}:\n        raise ValueError({k})\n    s += a{k}.sum()" for k in range(n)],
                    *[f"    s += a{k}[0]" for k in range(n)], "    return s"]), names)
    return names["f"]


def test_releases_are_in_proportion_to_the_arrays(monkeypatch):
    found, original = [], link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: found.append(text) or original(text, *more))
    counts, everywhere = [], []
    for n in (10, 40):
        f = steps(n)
        compiled, x = pyjitc.njit(cache=False)(f), np.arange(50.0)
        assert compiled(x, -1) == f(x, -1)
        for k in range(n):
            with pytest.raises(ValueError, match=f"^{k}$"):
                compiled(x, k)
        counts.append(max(text.count("@pyj_let_go(ptr %") for text in found))
        everywhere.append(max(len(re.findall(r"@pyj_(?:let_go|give_back|release)\(ptr %", text)) for text in found))
        found.clear()
    assert 0 < counts[1] < 6 * counts[0], counts
    assert 0 < everywhere[1] < 6 * everywhere[0], everywhere  # also on the edges to what raises
