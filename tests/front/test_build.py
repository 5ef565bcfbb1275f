"""The front end alone: generic IR of the language corpus, run on Python objects, does what CPython does; every function
of some large modules of the standard library gets well-formed IR."""
import importlib
import types

import pytest

from pyjitc.front.build import build
from pyjitc.front.functions import nested, prototype_of
from pyjitc.front.generators import build_step, step_of
from pyjitc.ir.verify import verify
from pyjitc.ops import generic
from tests.front.executor import run
from tests.language.corpus import corpus, each
from tests.oracle import agree

MODULES = ("test_control_flow", "test_matching", "test_functions", "test_values", "test_iteration", "test_exceptions",
           "test_text", "test_mixtures")
ROWS = [row for name in MODULES for row in importlib.import_module(f"tests.language.{name}").CASES]
case, CASES = corpus()


# Functions that the compiler refuses, but that the front end has to translate: containers, comprehensions.

@case((4,))
def comprehensions(n):
    k = 10
    return ([i * k for i in range(n)], [(i, j) for i in range(n) for j in range(i) if j % 2 == 0],
            {i % 3 for i in range(n)}, {i: i * k for i in range(n) if i}, [[j for j in range(i)] for i in range(n)])


@case((4,))
def comprehension_keeps_names(n):
    i = "kept"
    a = [i for i in range(n)]
    return i, a, [i for i in a if i], i


@case((4,))
def comprehension_with_closure(n):
    return [f() for f in [lambda: i * n for i in range(n)]]


@case((0,), (4,))
def comprehension_unbound(n):
    if n:
        x = n
    return [x for _ in range(n)], x


@case((4,))
def displays(n):
    a = [*range(n), n, *(1, 2)]
    d = {**{"x": 1}, "y": n, **{"x": n}}
    return a, d, (*a, *d), [a, *a][1:]


@case((4,), (0,))
def long_displays(n):
    """Displays of more than 30 items, which bytecode makes item by item."""
    first = [n, n, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12, n + 13,
             n + 14, n + 15, n + 16, n + 17, n + 18, n + 19, n + 20, n + 21, n + 22, n + 23, n + 24, n + 25, n + 26,
             n + 27, n + 28, n + 29, n + 30, n + 31, n + 32]
    second = (n, n, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12, n + 13,
              n + 14, n + 15, n + 16, n + 17, n + 18, n + 19, n + 20, n + 21, n + 22, n + 23, n + 24, n + 25, n + 26,
              n + 27, n + 28, n + 29, n + 30, n + 31, n + 32, 1 if n else 2, [i for i in range(n)], n, *first, n)
    second[-2 - len(first)].bit_length()
    return (first, second,
            [n, n, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12, n + 13,
             n + 14, n + 15, n + 16, n + 17, n + 18, n + 19, n + 20, n + 21, n + 22, n + 23, n + 24, n + 25, n + 26,
             n + 27, n + 28, n + 29, n + 30, n + 31, n + 32, n // n])


@case((4,))
def containers(n):
    a = [0] * n
    a[1] = 5
    a[0], *a[2:] = 7, 8, 9
    del a[1]
    a += [n]
    d = {"a": 1}
    d["b"] = a
    d["a"] += 10
    a[1:2] = [1, 2, 3]
    return a, d, a[::2], a[1:], a[:-1]


@case(({"x": 1, "y": 2},), ({"x": 5},), ({},), ([1, 2],))
def mappings(d):
    match d:
        case {"x": 1, "y": y}:
            return y
        case {"x": x}:
            return x
        case {}:
            return "mapping"
        case _:
            return "other"


@each(ROWS + CASES)
def test_does_what_the_interpreter_does(function, calls):
    executed = run(function)
    for args in calls:
        agree(function, *args, compiled=executed)


LIBRARY = ("textwrap", "statistics", "fractions", "argparse", "difflib", "inspect", "ast", "dataclasses", "typing",
           "_pydecimal", "collections", "tarfile", "asyncio.base_events", "unittest.case")


@pytest.mark.parametrize("name", LIBRARY)
def test_every_function_of_a_module(name):
    module = importlib.import_module(name)
    work = [prototype_of(f) for f in functions_of(module)]
    assert work
    while work:
        proto = work.pop()
        code = proto.code
        work += [nested(proto, c, c.co_name) for c in code.co_consts if isinstance(c, types.CodeType)
                 and c.co_flags & 2]
        fn = build(proto)
        verify(fn, generic=True)
        if code.co_flags & 0x20 and not code.co_flags & 0x280:
            count = sum(i.op is generic.YIELD for b in fn.blocks for i in b.insts)
            for k in range(count + 1):
                verify(build_step(step_of(proto, k), build), generic=True)


def functions_of(module):
    for value in list(vars(module).values()):
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, types.FunctionType):
            yield value
        elif isinstance(value, type):
            for part in vars(value).values():
                part = getattr(part, "__func__", part)
                part = getattr(part, "fget", part)
                if isinstance(part, types.FunctionType):
                    yield part
