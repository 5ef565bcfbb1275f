"""Helpers in an image of their own: made once, called by every module, found by the next process on disk."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.codegen import errors, helpers, link, memory, mersenne, pool, shared, strings, tables
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


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A new folder and empty tables, as in the first process after an installation."""
    monkeypatch.setattr(shared, "_made", [])
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def defined(text):
    return set(re.findall(r"^define .*?@([\w.]+)\(", text, re.MULTILINE))


def helpers_of(text):
    return [name for name in defined(text) if name in helpers.TEXT]


def test_no_module_has_them(texts, folder):
    @njit
    def first(n):
        return np.zeros(n)

    @njit
    def second(n):
        return np.ones(n)

    assert first(3).tolist() == [0.0] * 3 and second(2).tolist() == [1.0] * 2
    made = [set(filter(shared.is_shared, helpers_of(text))) for text, *level in texts if level]
    assert {"pyj_new", "pyj_new_1", "pyj_box_array", "pyj_release_header"} <= made[0]
    assert sum(map(len, made)) == len(set().union(*made))  # each of them once
    for text, *level in texts:
        if not level:
            assert not any(map(shared.is_shared, helpers_of(text)))


def test_more_are_made_when_they_are_needed(folder):
    target = link.host_target()
    (common,) = shared.objects_for(["pyj_new_1"], target)
    assert (shared.objects_for(["pyj_new_2", "pyj_box_array"], target) == (common,)
            and shared.objects_for([], target) == ())
    more = shared.objects_for(["pyj_new_4"], target)
    assert len(more) == 2 and more[0] == common  # pyj_new is in the first


@pytest.mark.parametrize("name", sorted(filter(shared.is_shared, {
    *helpers.TEXT, *memory.TEXT, *errors.TEXT, *mersenne.TEXT, *(f"pyj_new_{count}" for count in range(1, 5)),
    *(f"pyj_copy_i{8 << n}" for n in range(5)), "pyj_drop_all_CnELoELnECnELoELnE"})))
def test_each_stands_alone(name, folder):
    """Each helper, together with those that it calls, is a valid LLVM module and an image that can be loaded."""
    *before, made = shared.objects_for([name], link.host_target())
    loader.provide(tuple(before))
    assert name in loader.load(made).symbols
    assert all(name in helpers.TEXT for name in shared.COMMON)


def test_they_are_kept_beside_the_bytecode(folder, texts, monkeypatch):
    target = link.host_target()
    made = shared.objects_for(["pyj_new_1"], target)
    (path,) = folder.rglob("*.o")
    assert path.parent == pathlib.Path(importlib.util.cache_from_source(shared.__file__)).parent and len(texts) == 1

    def again():
        monkeypatch.setattr(shared, "_made", [])
        return shared.objects_for(["pyj_new_1"], target)

    assert again() == made and len(texts) == 1
    for damage in (b"", path.read_bytes()[:-1], b"x" + path.read_bytes()[1:]):
        path.write_bytes(damage)
        count = len(texts)
        assert again() == made == again() and len(texts) == count + 1
    path.unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert again() == made and not list(folder.rglob("*.o"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", "/proc/nowhere")  # cannot be written, not even by root
    assert again() == made
    monkeypatch.setattr(sys, "pycache_prefix", str(folder))
    for n in range(shared._MAX_FILES + 16):
        (path.parent / f"old{n}.o").write_bytes(b"")
        os.utime(path.parent / f"old{n}.o", (n, n))
    assert (again() == made and len(list(folder.rglob("*.o"))) == shared._MAX_FILES * 3 // 4 and path.exists()
            and not list(folder.rglob("*.o.*")))


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
    said = [subprocess.run([sys.executable, script],
                           env={"PYJITC_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path)},
                           capture_output=True, text=True, check=True).stdout.splitlines() for _ in range(2)]
    assert said[0][:-1] == said[1][:-1] == ["[[1.0, 1.0], [1.0, 1.0]]", "negative dimensions are not allowed",
                                            "9 is too many"]
    assert (said[0][-1], said[1][-1]) == ("True", "False")


def test_two_threads_provide_one(monkeypatch):
    """The helpers that the first thread has loaded stay, because their addresses may be in use."""
    # it may call helpers that another test has made
    *before, data = shared.objects_for(["pyj_new_1"], link.host_target())
    monkeypatch.setattr(loader, "_provided", {})
    monkeypatch.setattr(loader, "_known", {})
    loader.provide(tuple(before))
    load, inner = loader.load, []

    def interrupted(given):
        image = load(given)
        if not inner:  # the other thread runs from start to end here
            inner.append(None)
            loader.provide((given,))
        return image

    monkeypatch.setattr(loader, "load", interrupted)
    loader.provide((data,))
    assert {name: loader._known[name] for name in loader._provided[data].symbols} == loader._provided[data].symbols


def test_the_pool_is_made_after_the_helpers_of_dicts_and_texts(folder, monkeypatch):
    """Then their declarations exist already, and each symbol may be declared only once."""
    monkeypatch.setattr(pool, "_made", {})
    for home in tables, strings:
        assert all(helpers.TEXT[name] for name in home.TEXT if name.startswith(("pyj_dict_", "pyj_str_char")))
    assert pool.object_for(link.host_target())


@pytest.mark.parametrize("what, call", [
    ("s.split()[-1]", "'a b'"), ("[x for x in (s, s, s)].pop()", "'a'"), ("{s: 1}[s]", "'a'"), ("int(s)", "'1'"),
    ("float(s)", "'1'"), ("{s[0:1]: 1}['a']", "'ab'")])
def test_each_image_is_whole_in_a_process_that_loads_no_other(what, call):
    program = f"from pyjitc import njit\nf = njit(lambda s: {what})\nassert f({call}) == f.py_func({call})"
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "PYJITC_CACHE": "0"})


@pytest.mark.parametrize("module", (
    "decimals", "errors", "list_items", "localtables", "memory", "mersenne", "natives", "objects", "owned", "sorting",
    "strings", "tables"))
def test_each_is_found_by_its_name(module):
    """Whatever helper a process uses first."""
    for name in getattr(helpers, module).TEXT:
        assert name in helpers._Texts()[name]
