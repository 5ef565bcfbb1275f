"""Generated loops against the interpreter: constant columns, elements apart, inner loops that fall, conversions."""
import linecache
import random
import re

import numpy as np
import pytest

from tests.oracle import agree, agree_on

DTYPES = ("float64", "float32", "int64", "int16", "uint8")


def made(name, lines):
    source = f"def {name}(a, b, n):\n" + "\n".join(f"    {line}" for line in lines) + "\n"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    namespace = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    return namespace[name]


def columns(r):
    """A loop over the rows of an array with constant columns; the array may have more of them, or too few."""
    k = r.randint(2, 4)
    dims, at = r.choice([("{n}, {k}", "i"), ("3, {n}, {k}", "2, i"), ("3, {n}, {k}", "j, i")])
    terms = [f"a[{at}, {c}]" for c in r.sample(range(k), r.randint(2, k))] + [f"a[{at}, {k - 1}]"]
    value = terms[0]
    for term in terms[1:]:
        value = f"{value} {r.choice('+*-')} {term}"
    body = [f"x = {value}", r.choice(["b[i, 0] = x", "b[i, 1] = a[{0}, 0]".format(at), "if x > 2: b[i, 2] = x"])]
    if r.random() < 0.4:
        body += ["b[i, 0] += 1", "b[i, 2] = x"]
    if r.random() < 0.3:
        body.append(r.choice(["count += 1", "if x > 5: count += i", "last = x"]))
    start, stop, step = r.choice([("0", "n", "1"), ("1", "n - 1", "2"), ("n - 1", "-1", "-1")])
    lines = ["count, last = 0, a.flat[0]", f"for i in range({start}, {stop}, {step}):", *(f"    {s}" for s in body)]
    if "j" in at:
        lines[1:] = ["for j in range(3):", *(f"    {s}" for s in lines[1:])]
    lines.append("return count, last")
    t = r.choice(DTYPES[:3]), r.choice(DTYPES[:3])

    def arguments(n, k):
        shape = tuple(int(x) for x in dims.format(n=n, k=k).split(","))
        a = np.arange(np.prod(shape)).reshape(shape) % 7
        return a.astype(t[0]), np.zeros((n, 3), t[1]), n

    return lines, [arguments(n, k + more) for n in (1, 3, 40) for more in (0, 1, -1)] + [
        (lambda a, b, n: (a[..., ::-1], b, n))(*arguments(9, k))]


def apart(r):
    """A search or a sum in order along an axis whose elements are not neighbours, left early by some."""
    element = r.choice(["v[i]", "v[i] + v[i + 1]", "v[n - 1 - i]", "a[i, 1] + a[i, 2]", "a[i + 1, k]"])
    update = r.choice(["if not x < 5: return i, total", "if x != x: break", "if x > best: best = x; at = i",
                       "if x == 3: continue", "total += x / 3", "v[i] = x"])
    start, stop, step = r.choice([("0", "n", "1"), ("0", "n", "3"), ("n - 1", "0", "-2"), ("0", "n - 1", "1")])
    view = r.choice(["a[:, k]", "a[::2, k]", "a[::-1, k]", "a[:, 1::3][:, 0]", "a.T[k, 1:]"])
    lines = ["best, at, total = -1.0, 0, 0.0", "for k in range(3):", f"    v = {view}",
             f"    for i in range({start}, {stop}, {step}):", f"        x = {element}", f"        {update}",
             "        total += x", "    b[k] = total", "return best, at, total"]
    t = r.choice(DTYPES[:2])
    return lines, [(a.astype(t), np.zeros(3), n) for n in (1, 2, 24)
                   for a in (np.arange(3 * 26).reshape(26, 3) % 9, (np.arange(4 * 26) * 5 % 11).reshape(26, 4)[::-1])]


def falling(r):
    """An inner loop that goes down while a condition holds, as insertion sort, in rows or in one array."""
    down = r.choice(["1", "1", "2"])
    least, start = r.choice([("k > 0", "j"), ("k >= 1", "j"), ("k > 0", "j + 1"), ("k >= 2", "j"), ("k > 0", "n")])
    other = r.choice(["b[i, k - 1] > x", "b[i, k - 1] >= x", "b[i, k - 1] + a[i, j] < 7", "a[i, k - 1] > b[i, k]"])
    moved = r.choice(["b[i, k] = b[i, k - 1]", "b[i, k] = a[i, k - 1]; total += k", "b[i, k] += 1"])
    after = r.choice(["b[i, k] = x", "b[i, k] = k", "if k: b[i, k - 1] = x"])
    lines = ["total = 0", "for i in range(len(a)):", "    for j in range(n):", "        x = a[i, j]",
             f"        k = {start}", f"        while {least} and {other}:", f"            {moved}",
             f"            k -= {down}", f"        {after}", "return total"]
    if r.random() < 0.4:  # one array
        lines = [line.replace("[i, ", "[") for line in lines if "for i" not in line]
        lines = [lines[0], *(line[4:] for line in lines[1:-1]), lines[-1]]
    one = "i, j" not in "".join(lines)
    t = r.choice(DTYPES)

    def arguments(n, wide, width):
        a = (np.arange(5 * wide) * 7 % 13).reshape(5, wide).astype(t)
        b = np.zeros((5, width), t)
        return (a[0], b[0], n) if one else (a, b, n)

    return lines, [arguments(*sizes) for sizes in ((0, 4, 4), (1, 4, 4), (9, 9, 9), (9, 9, 8), (9, 7, 9), (20, 20, 21))]


def converted(r):
    """Short integers that are multiplied, added to and limited, and converted to an integer that may be too short."""
    made_of = ["a[i, j]", "a[i, j] * f", "f * a[i, j] + g", "a[i, j] * f - a[i, 0] * g", "(a[i, j] - g) * f",
               "g - a[i, j]"]
    limits = ["if x > 255.0: x = 255.0", "if x < 0.0: x = 0.0",
              "if x < 0.0: x = 0.0\n            elif x > 255: x = 255.0",
              "if x > g: x = g", "if not x > -100: x = -100.0", "x = min(max(x, 0.0), 255.0)", "x = x * g"]
    lines = ["f, g = n", "for i in range(len(a)):", "    for j in range(a.shape[1]):",
             f"        x = {r.choice(made_of)}",
             *(f"        {s}" for s in r.sample(limits, r.randint(0, 2))),
             "        b[i, j] = " + r.choice(["int(x)", "int(x) + 1", "x", "np.uint8(int(x))"])]
    t = r.choice(["uint8", "int8", "int16", "uint16", "int32"])
    to = r.choice(["uint8", "int8", "int16", "uint32", "int64"])
    of = r.choice([float, float, np.float32])
    with np.errstate(all="ignore"):
        factors = [(of(f), of(g)) for f, g in [
            (1.3, 2.0), (0.3, 0.0), (0.0, -0.4), (-0.7, 255.0), (1.0, -1.0), (np.nan, 1.0), (1.0, np.nan),
            (np.inf, 0.0), (0.0, np.inf), (1e6, 1e3), (2.0**33, 30.0)]]
    image = (np.arange(2 * 33) * 37 % 256).reshape(2, 33).astype(t)
    return lines, [(a, np.zeros(a.shape, to), n) for n in factors for a in (image, image[:, :3].copy(), image * 0)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", [columns, apart, falling, converted])
def test_generated_loop(kind, seed):
    r = random.Random(f"{kind.__name__} {seed}")
    lines, calls = kind(r)
    plain = made(f"{kind.__name__}_{seed}", lines)
    agree_on(plain, *calls)


def rows_sorted(a, b):
    for i in range(len(a)):
        for j in range(a.shape[1]):
            k = j
            while k > 0 and b[i, k - 1] > a[i, j]:
                b[i, k] = b[i, k - 1]
                k -= 1
            b[i, k] = a[i, j]


def column_firsts(a, b):
    for k in range(a.shape[1]):
        column = a[:, k]
        if len(column) == 0:
            raise ValueError
        for i in range(len(column)):
            if column[i] > 3:
                b[k] = i
                break


def optimised(function, *args) -> str:
    compiled = agree(function, *args)
    return compiled._inspect("opt", compiled.signatures[0])


def test_an_inner_loop_that_falls_has_no_poll_and_no_check_in_the_fast_copy():
    text = optimised(rows_sorted, np.arange(12.0).reshape(3, 4)[::-1].copy(), np.zeros((3, 4)))
    fast = text[text.index("noalias"):]
    assert "no_poll" in fast and "check_index" not in fast


def test_a_column_is_searched_by_steps_of_its_stride():
    text = optimised(column_firsts, np.arange(12.0).reshape(3, 4), np.zeros(4))
    assert "{walk: 0}" in text


def test_an_invariant_test_that_raises_is_made_before_the_loop():
    text = optimised(column_firsts, np.arange(12.0).reshape(3, 4), np.zeros(4))
    assert re.search(r"guard\(\):\n(    .*\n)*    .* = ieq ", text)
