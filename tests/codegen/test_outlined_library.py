"""Library functions that stay calls are images of their own: made once, found by the next program and process."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.codegen import library, link, shared

ROOT = re.compile(r"pyjitc_library_([0-9a-f]{32})\.(\w+)")
M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])


@pytest.fixture
def texts(monkeypatch, tmp_path):
    """The text of every object that is made; none of them exists before."""
    found = []
    to_object = link.to_object

    def watched(text, target, *level):
        found.append(text)
        return to_object(text, target, *level)

    monkeypatch.setattr(link, "to_object", watched)
    monkeypatch.setattr(shared, "_made", [])
    monkeypatch.setattr(library, "_made", {})
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setenv("PYJITC_CACHE", "0")
    return found


def defined(texts):
    """The names of the library functions that these texts define for others."""
    return [found[2] for text in texts for line in text.splitlines() if line.startswith("define ")
            and (found := ROOT.search(line.partition("(")[0]))]


def test_the_second_program_has_it_from_the_first(texts):
    def both(a, x):
        return (a @ x) @ a

    def other(a, x):
        return (a @ x) @ a + 1.0

    np.testing.assert_allclose(njit(both)(M, M[0]), both(M, M[0]), rtol=1e-14)
    first = defined(texts)
    assert "matvec_pair" in first and len(first) == len(set(first))
    texts.clear()
    np.testing.assert_allclose(njit(other)(M, M[0]), other(M, M[0]), rtol=1e-14)
    assert defined(texts) == [] and len(texts) == 1
    assert "matvec_pair" in {name for _, name in ROOT.findall(texts[0])}


def test_the_next_process_finds_it(texts, tmp_path):
    np.testing.assert_allclose(njit(lambda a: np.fft.fft(a))(M[0]), np.fft.fft(M[0]), rtol=1e-14)
    assert defined(texts)
    program = """
import numpy as np
from pyjitc import njit
from pyjitc.codegen import link
made = []
to_object = link.to_object
link.to_object = lambda text, *more: made.append(text) or to_object(text, *more)
f = njit(lambda a: np.fft.fft(a))
f(np.array([4.0, 1.0, 0.5]))
print(len(made))
"""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                         env=env | {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONPATH": ":".join(sys.path)})
    assert run.stdout == "1\n", run.stderr


def test_what_belongs_to_the_program_stays_in_its_module(texts):
    def scaled(row):
        return row.sum() * len(row)

    def f(a):
        return np.apply_along_axis(scaled, 1, a), np.sort(a.ravel())

    for x, y in zip(njit(f)(M), f(M)):
        np.testing.assert_allclose(x, y, rtol=1e-14)
    for text in texts:
        if ROOT.search(text) and "@pyjitc_body." not in text:
            assert "pyjitc_object_" not in text and "@pyjitc_traceback" not in text


@pytest.mark.parametrize("f, a", [
    (lambda a: np.linalg.solve(a, a[0]), np.zeros((3, 3))), (lambda a: np.linalg.cholesky(a), -M),
    (lambda a: np.linalg.inv(a), np.zeros((3, 2))), (lambda a: np.linalg.eigh(a), np.zeros((2, 3))),
    (lambda a: a @ a[:2, 0], M)])
def test_its_errors_are_those_of_numpy(f, a):
    with pytest.raises(Exception) as expected:
        f(a)
    with pytest.raises(type(expected.value)) as caught:
        njit(f)(a)
    assert type(caught.value) is type(expected.value) and str(caught.value) == str(expected.value)
    assert [entry.name for entry in caught.traceback][-1] == "<lambda>"


def test_an_error_of_linear_algebra_is_handled_in_the_function():
    def f(a):
        try:
            return np.linalg.inv(a)[0, 0]
        except np.linalg.LinAlgError as error:
            return float(len(str(error)))
        except ValueError:
            return -1.0

    compiled = njit(f)
    assert [compiled(a) for a in (M, np.zeros((2, 2)), np.zeros((2, 3)))] == [
        f(a) for a in (M, np.zeros((2, 2)), np.zeros((2, 3)))]


def test_a_dispatcher_without_the_interpreter_lock_has_its_own(texts):
    def f(a, x):
        return a @ x

    np.testing.assert_allclose(njit(nogil=True)(f)(M, M[0]), f(M, M[0]), rtol=1e-14)
    assert defined(texts) == []
