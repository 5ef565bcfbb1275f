"""Helpers in an image of their own: made once, called by every module, found by the next process on disk."""
import re
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.codegen import helpers, link, shared
from pyjitc.runtime import loader


@pytest.fixture
def texts(monkeypatch):
    """(text, level) of every object that is made."""
    found = []
    to_object = link.to_object

    def watched(text, target, *level):
        found.append((text, *level))
        return to_object(text, target, *level)

    monkeypatch.setattr(link, "to_object", watched)
    return found


def defined(text):
    return set(re.findall(r"^define .*?@([\w.]+)\(", text, re.MULTILINE))


def helpers_of(text):
    return [name for name in defined(text) if name in helpers.TEXT]


def test_no_module_has_them(texts, monkeypatch):
    monkeypatch.setattr(shared, "_made", [])

    @njit
    def first(n):
        return np.zeros(n)

    @njit
    def second(n):
        return np.ones(n)

    assert first(3).tolist() == [0.0] * 3 and second(2).tolist() == [1.0] * 2
    made = [set(filter(shared.is_shared, helpers_of(text))) for text, *level in texts if level]
    assert {"pyj_new", "pyj_new_1", "pyj_box_array", "pyj_release_header"} <= made[0]
    assert sum(map(len, made)) == len(set().union(*made))  # each once
    for text, *level in texts:
        if not level:
            assert not any(map(shared.is_shared, helpers_of(text)))


def test_more_are_made_when_they_are_needed(monkeypatch):
    monkeypatch.setattr(shared, "_made", [])
    target = link.host_target()
    few = shared.objects_for(["pyj_new_1"], target)
    more = shared.objects_for(["pyj_new_2", "pyj_box_array"], target)
    assert len(few) == 1 and len(more) == 2 and more[0] == few[0]  # pyj_new is in the first
    assert shared.objects_for(["pyj_new_2"], target) == more and shared.objects_for([], target) == ()


@pytest.mark.parametrize("name", sorted(filter(shared.is_shared, {*helpers.TEXT, *helpers.NEEDS})))
def test_each_stands_alone(name, monkeypatch):
    """With those that it calls, each is a module that LLVM takes, and an image that loads."""
    monkeypatch.setattr(shared, "_made", [])
    (made,) = shared.objects_for([name], link.host_target())
    assert name in loader.load(made).symbols


def test_without_the_lock_they_are_the_modules_own(texts):
    @njit(nogil=True)
    def f(n):
        return np.zeros(n)

    assert f(2).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="negative dimensions"):
        f(-1)
    assert "pyj_new" in set().union(*(defined(text) for text, *_ in texts))


PROGRAM = """
import sys
import numpy as np
from pyjitc import njit
@njit(cache=True)
def f(n):
    if n > 5:
        raise ValueError(f"{n} is too many")
    return np.zeros((n, 2)) + 1.0
print(f(2).tolist())
for n in -1, 9:
    try:
        f(n)
    except ValueError as error:
        print(error)
print("pyjitc.codegen.llvm" in sys.modules)
"""


def test_the_next_process_finds_them(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    said = [subprocess.run([sys.executable, script], env={"PYJITC_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path)},
                           capture_output=True, text=True, check=True).stdout.splitlines() for _ in range(2)]
    assert said[0][:-1] == said[1][:-1] == ["[[1.0, 1.0], [1.0, 1.0]]", "negative dimensions are not allowed", "9 is too many"]
    assert (said[0][-1], said[1][-1]) == ("True", "False")


def test_two_threads_provide_one(monkeypatch):
    """What the first thread has loaded stays: its addresses may be in use."""
    *before, data = shared.objects_for(["pyj_new_1"], link.host_target())  # it may call what another test has had made
    monkeypatch.setattr(loader, "_provided", {})
    monkeypatch.setattr(loader, "_known", {})
    loader.provide(tuple(before))
    load, inner = loader.load, []

    def interrupted(given):
        image = load(given)
        if not inner:  # the other thread runs here, to its end
            inner.append(None)
            loader.provide((given,))
        return image

    monkeypatch.setattr(loader, "load", interrupted)
    loader.provide((data,))
    assert {name: loader._known[name] for name in loader._provided[data].symbols} == loader._provided[data].symbols
