"""Compiled functions in debuggers, profilers and other tools: each does what docs/debugging.md says."""
import copy
import doctest
import functools
import importlib.util
import inspect
import os
import pathlib
import pydoc
import re
import subprocess
import sys
import textwrap
import typing
from unittest import mock

import pytest

from pyjitc import njit

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = '''
"""A module with compiled functions.

>>> total(3)
3
"""
from pyjitc import njit


@njit
def total(n: int, step: "int" = 1) -> int:
    """The sum of numbers below n.

    >>> total(5)
    10
    >>> total(4, step=2)
    3
    """
    s = 0
    for i in range(0, n, step):
        s += i
    return s


@njit
def item(a, i):
    return a[i] + 1.0


class Shape:
    @njit
    def area(self, x):
        """Of a square.

        >>> Shape.area(None, 2)
        4
        """
        return x * x
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tried.py").write_text(MODULE)
    return tmp_path


@pytest.fixture
def tried(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    import tried
    yield tried
    del sys.modules["tried"]


def run(folder, *command, given="", **variables):
    place = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run([sys.executable, *command], cwd=folder, env=place, input=given, capture_output=True,
                          text=True, timeout=120)


def needs(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


# -- inspection and wrappers

def test_doctest_finds_the_examples(tried):
    done = doctest.testmod(tried)
    assert (done.failed, done.attempted) == (1, 4)  # the doctest of total(4, step=2) is wrong


def test_inspection(tried):
    f = tried.total
    assert str(inspect.signature(f)) == "(n: int, step: 'int' = 1) -> int"
    assert typing.get_type_hints(f) == {"n": int, "step": int, "return": int}
    assert inspect.getdoc(f).startswith("The sum") and inspect.getsource(f).startswith("@njit\ndef total")
    assert inspect.getmodule(f) is tried and inspect.unwrap(f) is f.py_func
    assert inspect.getfullargspec(f).args == ["n", "step"]
    assert "The sum of numbers below n." in pydoc.render_doc(f, renderer=pydoc.plaintext)
    assert "total(n: int, step: 'int' = 1) -> int" in pydoc.render_doc(tried, renderer=pydoc.plaintext)
    assert "area(self, x)" in pydoc.render_doc(tried.Shape, renderer=pydoc.plaintext)
    assert f.__code__ is f.py_func.__code__ and copy.deepcopy({"f": f})["f"] is f


def test_wrappers(tried):
    f = tried.total

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    assert wrapper(5) == 10 and wrapper.__wrapped__ is f and inspect.signature(wrapper) == inspect.signature(f)
    cached = functools.lru_cache(maxsize=2)(f)
    assert [cached(5), cached(5)] == [10, 10] and cached.cache_info().hits == 1
    assert functools.partial(f, step=2)(5) == 6 and functools.reduce(njit(lambda a, b: a * b), range(1, 5)) == 24
    generic = functools.singledispatch(f)
    generic.register(str, lambda n: "text")
    assert generic("x") == "text" and generic(4) == 6
    with mock.patch.object(tried, "total", autospec=True) as stands_in:
        stands_in.return_value = 7
        assert tried.total(3) == 7
    assert tried.total(3) == 3


def test_static_functions_say_what_they_are():
    @njit(static_argnames="n")
    def power(x, n):
        return x ** n

    assert repr(power).startswith(f"<pyjitc function {power.__qualname__} with static n at 0x")


# -- debuggers

def test_post_mortem(folder):
    (folder / "program.py").write_text(
        "import numpy as np, pdb\nimport tried\ndef caller(x):\n    return tried.item(np.zeros(2), x)\n"
        "try:\n    caller(3)\nexcept IndexError:\n    pdb.post_mortem()\n")
    done = run(folder, "program.py", given="p a\nll\nup\np x\nq\n")
    assert "tried.py(27)item()" in done.stdout and "->\t    return a[i] + 1.0" in done.stdout, done
    assert "*** NameError: no value of 'a' is known here: compiled functions keep their locals" in done.stdout
    assert "(Pdb) 3\n" in done.stdout


@pytest.mark.parametrize("stop", ["breakpoint()", "import pdb; pdb.set_trace()"])
def test_breakpoints_in_the_source(stop, folder):
    (folder / "program.py").write_text(
        f"from pyjitc import njit\n@njit\ndef f(x):\n    y = x + 1\n    {stop}\n    return y\nprint(f(3))\n")
    done = run(folder, "program.py")
    assert "TypingError" in done.stderr and "PYJITC_DISABLE=1, and the interpreter stops here" in done.stderr
    done = run(folder, "program.py", given="p y\nc\n", PYJITC_DISABLE="1")
    assert done.stdout.count("4\n") == 2, done


def test_breakpoints_of_a_debugger(folder):
    (folder / "program.py").write_text("import tried\nprint(tried.total(3))\n")
    steps = "import tried\nb tried.total\nc\np n\nc\nq\n"
    assert "(Pdb) 3\n" in run(folder, "-m", "pdb", "program.py", given=steps, PYJITC_DISABLE="1").stdout


# -- profilers and coverage

def test_profile_counts_native_time_for_the_caller(folder):
    (folder / "program.py").write_text("import cProfile, tried\ntried.total(3)\ndef main():\n    for k in range(100):\n"
                                       "        tried.total(1000 + k)\ncProfile.run('main()')\n")
    done = run(folder, "program.py")
    assert "(main)" in done.stdout and "total" not in done.stdout.replace("tottime", ""), done
    assert re.search(r"100 .*\(total\)", run(folder, "program.py", PYJITC_DISABLE="1").stdout)


def test_coverage(folder):
    needs("coverage")
    (folder / "program.py").write_text("import tried\ntried.total(3)\n")

    def missing(**variables):
        assert run(folder, "-m", "coverage", "run", "--include=tried.py", "program.py", **variables).returncode == 0
        return run(folder, "-m", "coverage", "report", "-m").stdout.splitlines()[2].partition("%")[2].strip()

    assert missing() == "19-22, 27, 38"
    assert missing(PYJITC_DISABLE="1") == "27, 38"


# -- notebooks

def test_autoreload(folder):
    needs("IPython")
    source = ("from pyjitc import njit\nK = {k}\n@njit\ndef f(x):\n    return x + K\n"
              "@njit\ndef g(x):\n    return f(x) * 2\n")
    (folder / "again.py").write_text(source.format(k=1))
    (folder / "program.py").write_text(textwrap.dedent(f"""
        import pathlib, time
        from IPython.testing.globalipapp import start_ipython
        ip = start_ipython()
        ip.run_cell("%load_ext autoreload\\n%autoreload 2\\nimport again\\nfrom again import f, g")
        values = "f(1), g(1), again.f(1), again.g(1)"
        first = ip.run_cell(values).result
        time.sleep(1.1)  # files are told apart by the second
        pathlib.Path("again.py").write_text({source.format(k=5)!r})
        second = ip.run_cell(values).result
        assert (first, second) == ((2, 4, 2, 4), (6, 12, 6, 12)), (first, second)
        time.sleep(1.1)
        pathlib.Path("again.py").write_text({source.format(k=7).replace("@njit", "", 1)!r})
        third = ip.run_cell(values).result  # `f` has no decorator any more
        assert third == (8, 16, 8, 16) and "f at" in repr(ip.user_ns["f"]), third
        assert ip.run_cell("%timeit -o -q -n 10 -r 1 f(1)").result.loops == 10
    """))
    done = run(folder, "program.py", IPYTHONDIR=str(folder))
    assert done.returncode == 0, (done.stdout, done.stderr)


# -- Dask

def test_dask(folder):
    needs("dask")
    (folder / "program.py").write_text(textwrap.dedent("""
        import dask
        import numpy as np
        from dask.base import tokenize
        from pyjitc import njit

        @njit
        def scale(x):
            return x * 2.0 + 1

        @njit
        def other(x):
            return x * 2.0

        if __name__ == "__main__":
            token = tokenize(scale)
            scale(1.0), scale(np.ones(3))
            assert tokenize(scale) == token != tokenize(other)
            for scheduler in ("processes", "threads", "sync"):
                made = dask.delayed(other)(dask.delayed(scale)(3.0))
                assert made.compute(scheduler=scheduler) == 14.0
    """))
    done = run(folder, "program.py")
    assert done.returncode == 0, done.stderr
