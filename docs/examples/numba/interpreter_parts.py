"""Parts that the interpreter runs inside of compiled functions, and functions that only it can run."""
import numpy as np
from numba import jit, njit, objmode, types

LOG = []


def noted(name, value):
    LOG.append((name, value))
    return len(LOG)


@njit
def with_log(a):
    total = 0.0
    for i in range(a.size):
        total += a[i]
        if a[i] > 1:
            with objmode(count="intp"):
                count = noted("large", float(a[i]))
            total += 100 * count
    return total


@njit
def with_text(x):
    with objmode(text=types.unicode_type, digits="int64"):
        text = "{:.3f}".format(x)
        digits = len([c for c in text if c.isdigit()])
    return text + "!", digits


@njit
def with_array(n):
    with objmode(out="float64[:]"):
        out = np.sort(np.fromiter(map(float, range(n)), dtype=float))
    return out.sum(), out[-1]


@jit(forceobj=True)
def any_python(text):
    return {word: len(word) for word in text.split()}, eval("1 + 1")


def main():
    assert with_log(np.array([0.5, 2.0, 3.0])) == 5.5 + 100 + 200
    assert LOG == [("large", 2.0), ("large", 3.0)]
    assert with_text(3.14159) == ("3.142!", 4)
    assert with_array(5) == (10.0, 4.0)
    assert any_python("a few words") == ({"a": 1, "few": 3, "words": 5}, 2)


if __name__ == "__main__":
    main()
