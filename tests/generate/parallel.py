"""Random loops over prange and array statements under parallel=True: the text of a module with a function `f`, and
CALLS, functions that make arguments.

Iterations write elements of their own, or the same elements for certain, or add to them; they do so themselves, in
functions that they call, in closures, through views and tuples of arrays. Some arguments share memory, where iterations
do not add to elements of them. Numbers are such that sums are exact in any order. The same seed gives the same text."""
import random

HEADER = '''import numpy as np

from pyjitc import prange


def arrays(way, n, dtype, seed):
    """Two arrays of n elements, an array of n rows, and a permutation of n numbers."""
    r = np.random.default_rng(seed)
    memory = r.integers(0, 40, 2 * n + 8).astype(dtype)
    o, a = memory[:n], memory[n:2 * n]
    if way == "same":
        a = o
    elif way == "after":
        a = memory[1:n + 1]
    elif way == "reversed":
        a = o[::-1]
    elif way == "columns":
        o, a = memory[:2 * n].reshape(n, 2).T
    return o, a, r.integers(0, 40, (n, 5)).astype(dtype), r.permutation(n)
'''
PLACES = ("i", "i", "i", "n - 1 - i", "-1 - i", "p[i]", "i % k", "i // 2", "i & 3", "min(i, k)", "max(i - k, 0)",
          "abs(i - k)", "(i + k) % n", "i ^ 0", "i - i % 2")


def program(seed) -> str:
    """The text of one program."""
    r = random.Random(seed)
    helpers, body, captured = [], [], []
    reduced = r.choice(("s += {}", "s = max(s, {})", "s = min(s, {})", "s |= int({})", "s &= int({})", "s ^= int({})"))
    for number in range(r.randint(1, 3)):
        line = statement(r, reduced)
        if r.random() < .15:
            line = under_condition(r, line, statement(r, reduced))
        way = r.random()
        if any(one.lstrip().startswith("s ") for one in line.split("\n")) or way < .5:
            body += line.split("\n")
        elif way < .8:
            helpers += ["@njit", f"def h{number}(o, a, t, p, n, k, i):",
                        *("    " + one for one in line.split("\n")), "", ""]
            body.append(f"h{number}(o, a, t, p, n, k, i)")
        else:
            captured += [f"def c{number}(i):", *("    " + one for one in line.split("\n"))]
            body.append(f"c{number}(i)")
    before = r.choice(([], [], ["o, a = a, o"], ["both = o, a", "o = both[k % 2]"], ["o = o[::-1]"],
                       ["a = o if k > 2 else a"], ["t = t[::-1]"], ["o = (o, a[::-1], p)[k % 3]"],
                       ["a = None if k > 20 else a", "o = None if k > 30 else o"],
                       ["both = a[::-1], o", "a = both[k % 2]"],
                       ["t[:, 1:] += t[:, :-1] * 2"], ["o[1:] = o[:-1] + a[:-1]"], ["a[:] = o * 2 + p"]))
    after = r.choice(([], [], ["s += int(t.sum())"], ["o += a"], ["s += int((o * 2 - a).max()) if n else 0"]))
    lines = ["s = 1", *before, *captured, f"for i in prange({r.choice(('n', 'n', 'n', 'len(p)', 'n // 2'))}):",
             *("    " + one for one in body), *after, "return s"]
    adds = any("] +=" in line or "] -=" in line for line in (*helpers, *body, *captured))
    if adds:  # sums of iterations are lost where one of them raises
        helpers, lines = ([line.replace("abs(i - k)]", "abs(i - k) % n]") for line in some]
                          for some in (helpers, lines))
    ways = ("apart",) if adds else ("apart", "apart", "same", "after", "reversed", "columns")
    calls = [f"    lambda: (*arrays({r.choice(ways)!r}, {n}, "
             f"{r.choice(('int64', 'int64', 'float64', 'int32'))!r}, {r.randint(0, 999)}), {n}, {r.randint(1, 9)}),"
             for n in r.choices((0, 1, 2, 5, 16, 40, 100, 333), k=5)]
    return "\n".join([HEADER, "", *helpers, "@njit", "def f(o, a, t, p, n, k):", *("    " + one for one in lines),
                      "", "", "CALLS = [", *calls, "]", ""])


def statement(r, reduced) -> str:
    value = r.choice(("i", "k + i", "a[i] + 1", "a[p[i]] * 2", "a[n - 1 - i]", "t[i, k % 5]", "t[i].sum()", "p[i]",
                      "a[i - 1]"))
    way = r.random()
    if way < .35:
        return f"o[{r.choice(PLACES)}] = {value}"
    if way < .5:
        return f"o[{r.choice(PLACES)}] {r.choice(('+=', '+=', '-='))} {value}"
    if way < .6:
        return f"for j in {r.choice(('range(5)', 'range(k % 5)', 'prange(5)'))}:\n    t[i, j] = t[i, 4 - j] + j"
    if way < .62:
        return f"for j in range(i * 4, min(len(o), i * 4 + {r.choice((4, 4, 5, 'k'))})):\n    o[j] = {value} + j"
    if way < .63:
        return f"for j in range(i, min(len(o), i + p[i] % {r.choice((2, 2, 3))})):\n    o[j] = {value} + j"
    if way < .64:
        c = r.randint(1, 4)
        end = r.choice((f"{c} * i + {c}", f"{c} * (i + 1)", f"{c} * i + {c + 1}", f"{c} * i + k"))
        return f"o[{c} * i:{end}] = {value}"
    if way < .65:
        return (f"both = o, {r.choice(('a', 'a[::-1]', 'p'))}\n"
                f"both[{r.choice(('k', 'i'))} % 2][{r.choice(PLACES)}] = {value}")
    if way < .66:
        return f"x = {value}\nfor j in range(300):\n    x = x * 3 % 1009\no[{r.choice(PLACES)}] = x"
    if way < .7:
        return f"t[{r.choice(('i', 'i', 'n - 1 - i'))}{r.choice(('', ', 1:', ', ::2'))}] = {value}"
    if way < .8:
        return f"row = t[i]\nrow[{r.choice(('0', 'i % 5', ':'))}] += {value}"
    return reduced.format(value)


def under_condition(r, line, other) -> str:
    """A statement that some iterations make, and others may make another one instead."""
    test = r.choice(("i == 0", "i == n - 1", "i == k", "i > 0", "i < n - 1", "i % 2", "p[i] > k", "a[i] > 20",
                     "i > k and p[i] < n - k", "k > 4"))
    text = f"if {test}:\n" + indented(line)
    return text + ("\nelse:\n" + indented(other) if r.random() < .5 else "")


def indented(text) -> str:
    return "\n".join("    " + line for line in text.split("\n"))
