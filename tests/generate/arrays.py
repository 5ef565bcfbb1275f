"""Random programs of whole-array statements, CPython with NumPy against compiled code.

    python -m tests.generate.arrays --seconds 60 --seed 1
"""
import argparse
import random
import sys
import time
import warnings

import numpy as np

from pyjitc import njit
from pyjitc.base.errors import CompileError

DTYPES = ("float64", "float64", "float32", "int64", "int32", "uint8", "bool", "complex128")
UNARY = ("-{}", "abs({})", "np.sqrt({})", "np.exp({})", "np.square({})", "np.floor({})", "({})[::-1]", "({})[1:]",
         "({}).T", "({}).copy()", "np.cumsum({})", "np.ravel({})", "np.sin({})", "np.isnan({})", "np.flip({})",
         "({})[:, ::2]", "({})[0]", "({})[..., None]", "np.sum({}, axis=0)", "np.max({}, axis=-1)",
         "np.mean({}, axis=0, keepdims=True)", "np.tanh({})")
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} > {}", "{} <= {}", "np.maximum({}, {})",
          "np.where({} > 1, {}, 2)", "{} ** 2 + {}", "np.hypot({}, {})", "np.minimum({}, {})", "{} == {}")
SCALARS = ("2", "1.5", "k", "x", "-1", "0")


class Writer:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = ["a", "b", "c"]

    def expression(self, depth):
        r = self.r
        if depth == 0 or r.random() < .25:
            return r.choice(self.names) if r.random() < .8 else r.choice(SCALARS)
        if r.random() < .4:
            return r.choice(UNARY).format(f"({self.expression(depth - 1)})" if r.random() < .5
                                          else r.choice(self.names))
        return "(" + r.choice(BINARY).format(self.expression(depth - 1), self.expression(depth - 1)) + ")"

    def program(self):
        r = self.r
        lines = []
        for n in range(r.randint(1, 5)):
            choice = r.random()
            if choice < .5:
                lines.append(f"t{n} = {self.expression(3)}")
                self.names.append(f"t{n}")
            elif choice < .7:
                lines.append(f"{r.choice('abc')} {r.choice(('+', '-', '*'))}= {self.expression(2)}")
            elif choice < .85:
                lines.append(f"{r.choice('abc')}[{r.choice(('...', '1:', ':-1', '::2', '0', '::-1'))}] = "
                             f"{self.expression(2)}")
            else:
                lines.append(f"{r.choice('abc')}[{r.choice('abc')} > 1] = {r.choice(('0', '1.5', 'k'))}")
        back = f"return {', '.join(r.sample(self.names, min(3, len(self.names))))}, {self.expression(3)}"
        return "def f(a, b, c, k, x):\n" + "".join(f"    {line}\n" for line in [*lines, back])


def arrays(seed):
    r = np.random.default_rng(seed)
    shape = tuple(r.integers(0, 5, r.integers(1, 3)) + (r.random() < .9))
    made = []
    for _ in range(3):
        own = tuple(1 if r.random() < .15 else n for n in shape)[r.integers(0, 2) if r.random() < .2 and len(shape) > 1
                                                                 else 0:]
        values = r.uniform(-3, 5, tuple(2 * n for n in own)).astype(DTYPES[r.integers(len(DTYPES))])
        way = r.integers(4)
        view = values[tuple(slice(0, n)
                            for n in own)].copy() if way < 2 else values[tuple(slice(None, None, 2)
                                                                               for _ in own)] if way == 2 \
            else values.T[tuple(slice(0, n) for n in own[::-1])].T
        made.append(view)
    if r.random() < .1:
        made[1] = made[0]
    return [*made, int(r.integers(-3, 4)), float(r.uniform(-2, 2))]


def run(function, args):
    memo = {}
    args = [memo.setdefault(id(x), x.copy(order="K")) if isinstance(x, np.ndarray) else x for x in args]
    try:
        with np.errstate(all="ignore"):
            return "returns", function(*args), args
    except Exception as error:
        return "raises", error, args


def coarsest(args) -> float:
    """The largest machine epsilon among the arguments, which is the error that elementary functions of them may
    have."""
    return max(float(np.finfo(x.dtype).eps) if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else 0.0
               for x in args)


def same(x, y, least=0.0):
    """least: the epsilon for the comparison of results whose own epsilon is smaller."""
    if isinstance(x, tuple):
        return isinstance(y, tuple) and len(x) == len(y) and all(same(a, b, least) for a, b in zip(x, y))
    if type(x) is not type(y):
        return False
    if isinstance(x, np.ndarray) and (x.dtype != y.dtype or x.shape != y.shape):
        return False
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind in "fc":
        eps = max(float(np.finfo(x.dtype).eps), least)
        with np.errstate(all="ignore"):
            return bool(np.all(np.isclose(x, y, rtol=2000 * eps, atol=200 * eps, equal_nan=True) | (x == y)
                               | ~np.isfinite(x)))
    return bool(np.array_equal(x, y))


def check(seed):
    """(status, text): ok, skipped (NumPy refuses, or not compiled yet), wrong."""
    source = Writer(seed).program()
    space = {"np": np}
    exec(source, space)
    plain = space["f"]
    compiled = njit(plain)
    ran = False
    for call in range(3):
        args = arrays(seed * 7 + call)
        expected = run(plain, args)
        actual = run(compiled, args)
        if actual[0] == "raises" and isinstance(actual[1], CompileError):
            if expected[0] == "returns" and "yet" not in str(actual[1]):
                return "refused", f"{actual[1]}\n{source}\n{[getattr(x, 'dtype', x) for x in args]}"
            continue
        ran = True
        if (expected[0] != actual[0] or expected[0] == "raises" and type(expected[1]) is not type(actual[1])
                or expected[0] == "returns" and not (same(expected[1], actual[1], coarsest(args))
                                                     and same(tuple(expected[2]), tuple(actual[2]), coarsest(args)))):
            given = [(getattr(x, "dtype", x), getattr(x, "shape", "")) for x in args]
            return "wrong", f"seed {seed} call {call}\n{source}\n{given}\n{expected[:2]}\n{actual[:2]}"
    return ("ok", "") if ran else ("skipped", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, seed, stop = {}, options.seed, time.monotonic() + options.seconds
    while time.monotonic() < stop:
        status, text = check(seed)
        counts[status] = counts.get(status, 0) + 1
        if text:
            print(f"--- {status}\n{text}\n", flush=True)
        seed += 1
    print(counts)
    return "wrong" in counts


if __name__ == "__main__":
    sys.exit(main())
