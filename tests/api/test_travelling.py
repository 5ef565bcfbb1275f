"""Compiled functions in other processes: through pickle, cloudpickle, joblib, Dask, process pools."""
import copy
import gc
import importlib.util
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

from pyjitc import njit, trace
from pyjitc.pipeline.specialisation import statistics

SCRIPT = pathlib.Path(__file__).with_name("travelling.py")
OFFSET = 5


@pytest.mark.parametrize("how, needs", [
    ("cloudpickle", "cloudpickle"), ("joblib", "joblib"), ("distributed", "distributed"), ("spawn", ""), ("fork", ""),
    ("forkserver", ""), ("executor", "")])
def test_functions_of_a_script(how, needs):
    if needs and importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    place = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])}
    ran = subprocess.run([sys.executable, str(SCRIPT), how], env=place, capture_output=True, text=True, timeout=300)
    assert (ran.stdout, ran.returncode) == ("done\n", 0), ran.stderr


@njit(static_argnames="n")
def with_static(x, n):
    return x ** n + OFFSET


@trace
def traced(x):
    return x + OFFSET


@njit("int64(int64)")
def declared(x):
    return x + OFFSET


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("function", [with_static, traced, declared])
def test_what_a_name_leads_to_is_found_by_it(function, protocol):
    assert pickle.loads(pickle.dumps(function, protocol)) is function
    assert copy.copy(function) is function and copy.deepcopy([function])[0] is function


def test_modules_that_cloudpickle_takes_by_value(tmp_path, monkeypatch):
    """The functions work in a process that does not have the module."""
    cloudpickle = pytest.importorskip("cloudpickle")
    (tmp_path / "only_here.py").write_text(
        "from pyjitc import njit\nN = 3\ndef helper(x):\n    return x * N\n\n"
        "@njit\ndef f(x):\n    return helper(x) + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    reading = ("import sys, pickle; f = pickle.load(sys.stdin.buffer)\n"
               "print(f(2), f.__name__, f.__module__, f.__qualname__)")
    place = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])}
    cloudpickle.register_pickle_by_value(only_here)
    try:
        data = cloudpickle.dumps(only_here.f)
    finally:
        cloudpickle.unregister_pickle_by_value(only_here)
    ran = subprocess.run([sys.executable, "-c", reading], input=data, env=place, capture_output=True)
    assert ran.stdout == b"7 f only_here f\n", ran.stderr
    assert cloudpickle.loads(cloudpickle.dumps(only_here.f)) is only_here.f
    monkeypatch.delitem(sys.modules, "only_here")


def test_what_was_assigned_since_travels():
    cloudpickle = pytest.importorskip("cloudpickle")
    space = {"__name__": "__main__", "njit": njit}
    exec("@njit\ndef assigned(x, y=1):\n    return x + y", space)
    main = sys.modules["__main__"]
    main.assigned = function = space["assigned"]
    try:
        assert cloudpickle.loads(cloudpickle.dumps(function))(1) == 2
        function.__defaults__ = (10,)
        function.py_func.note = "kept"
        again = cloudpickle.loads(cloudpickle.dumps(function))
        assert again is not function and again(1) == 11 and vars(again.py_func) == {"note": "kept"}
        assert pickle.loads(pickle.dumps(function)) is function
    finally:
        del main.assigned


def test_namesakes_of_attributes_are_left_behind():
    """Only globals that the code reads are pickled: `total.real` needs no global `real`."""
    space = {"__name__": "nowhere", "real": open(os.devnull), "njit": njit}
    exec("f = njit(lambda total: total.real + 1)", space)
    with space["real"]:
        assert pickle.loads(pickle.dumps(space["f"]))(2) == 3


def test_functions_without_a_name_that_refer_to_each_other():
    space = {"__name__": "nowhere", "njit": njit}
    exec("@njit\ndef even(n):\n    return True if n == 0 else odd(n - 1)\n\n"
         "@njit\ndef odd(n):\n    return False if n == 0 else even(n - 1)", space)
    one, other = pickle.loads(pickle.dumps((space["even"], space["odd"])))
    assert one.__globals__["odd"] is other and other.__globals__["even"] is one and one.__globals__ is other.__globals__
    assert one(10) is True and other(10) is False


def test_workers_that_get_a_function_with_each_task_compile_it_once():
    cloudpickle = pytest.importorskip("cloudpickle")

    def made(rate):
        space = {"__name__": "__main__", "njit": njit, "rate": rate}
        exec("def helper(x):\n    return x * rate\n\n@njit\ndef f(x):\n    return helper(x) + 0.25", space)
        return space["f"]

    def answers(data, times):
        before = statistics["compiled"]
        results = [cloudpickle.loads(data)(2) for _ in range(times)]
        gc.collect()
        return results, statistics["compiled"] - before

    assert answers(cloudpickle.dumps(made(3)), 4) == ([6.25] * 4, 1)
    assert answers(cloudpickle.dumps(made(5)), 3) == ([10.25] * 3, 1)  # the same code with another global
    assert answers(cloudpickle.dumps(made(3)), 2) == ([6.25] * 2, 0)
