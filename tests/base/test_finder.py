"""The package's own module finder gives the same as that of the import system."""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import importlib, pkgutil, sys
from pyjitc.base.finder import find_quickly
sys.path.insert(0, sys.argv[1])
import parent
find_quickly("parent", parent.__path__[0])
import parent.module, parent.below.deeper, inspect
print(parent.module.VALUE, parent.below.deeper.VALUE)
print(sorted(m.name for m in pkgutil.walk_packages(parent.__path__, "parent.")))
file = parent.module.__file__
print(file == inspect.getsourcefile(parent.module), parent.module.__cached__ == importlib.util.cache_from_source(file))
print(inspect.getsource(parent.module).strip(), type(parent.module.__spec__.loader).__name__, parent.module.__package__)
try:
    import parent.missing
except ModuleNotFoundError as error:
    print(error)
parent.module.__path__ = []
try:
    from parent.module import missing
except ImportError as error:
    print(str(error).split(" (")[0])
print(importlib.reload(parent.module).VALUE)
"""


@pytest.fixture
def package(tmp_path):
    (tmp_path / "parent" / "below").mkdir(parents=True)
    for name, text in {"__init__": "", "module": "VALUE = 1\n", "below/__init__": "",
                       "below/deeper": "VALUE = 2\n"}.items():
        (tmp_path / "parent" / f"{name}.py").write_text(text)
    return tmp_path


def run(package, **variables):
    env = {key: value for key, value in os.environ.items()
           if key not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")}
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(package)],
                          env=env | {"PYTHONPATH": ":".join(sys.path)} | variables, capture_output=True, text=True,
                          check=True)
    return done.stdout.splitlines()


EXPECTED = ["1 2", "['parent.below', 'parent.below.deeper', 'parent.module']", "True True", "VALUE = 1 _Loader parent",
            "No module named 'parent.missing'", "cannot import name 'missing' from 'parent.module'", "1"]


def cached(package):
    (found,) = (package / "parent" / "__pycache__").glob("module.*")
    return found


def test_modules_are_what_they_are(package):
    assert run(package) == EXPECTED
    before = cached(package).stat().st_mtime_ns
    assert run(package) == EXPECTED  # this time from the compiled code
    assert cached(package).stat().st_mtime_ns == before


def test_changed_source_is_compiled(package):
    run(package)
    source = package / "parent" / "module.py"
    source.write_text("VALUE = 3\n")
    os.utime(source, (1, 1))
    assert run(package)[0] == "3 2"
    source.write_text("VALUE = 12\n")
    os.utime(source, (1, 1))  # the size differs
    assert run(package)[0] == "12 2"


def test_code_of_another_python_is_compiled_anew(package):
    run(package)
    cached(package).write_bytes(b"\0" * 100)
    assert run(package) == EXPECTED
    cached(package).write_bytes(b"")
    assert run(package) == EXPECTED


def test_moved_package(package):
    """Compiled files contain the path of their source when they were made; tracebacks must show the present path."""
    run(package)
    other = package / "elsewhere"
    other.mkdir()
    (package / "parent").rename(other / "parent")
    assert run(other)[2] == "True True"
    code = subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import parent; "
                           "from pyjitc.base.finder import find_quickly; "
                           "find_quickly('parent', parent.__path__[0]); import parent.module; "
                           "print(parent.module.__spec__.loader.get_code('parent.module').co_filename)", str(other)],
                          env=os.environ | {"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True,
                          check=True).stdout.strip()
    assert code == str(other / "parent" / "module.py")


def test_elsewhere_for_compiled_code(package, tmp_path):
    assert run(package, PYTHONPYCACHEPREFIX=str(tmp_path / "prefix")) == EXPECTED
    assert list((tmp_path / "prefix").rglob("module.*.pyc"))


def test_optimised_code_is_apart(package):
    run(package)
    assert run(package, PYTHONOPTIMIZE="1") == EXPECTED
    assert len(list((package / "parent" / "__pycache__").glob("module.*"))) == 2
