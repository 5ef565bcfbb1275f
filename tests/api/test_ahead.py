"""`pyjitc build`: the packages that it builds run where only NumPy is installed, with the results of the
interpreter."""
import importlib.util
import marshal
import pathlib
import shutil
import subprocess
import sys
import venv
import zipfile

import numpy as np
import pytest

from pyjitc.api import ahead
from pyjitc.api.cli import main
from pyjitc.base import relocated
from pyjitc.pipeline import shipped

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "docs" / "examples" / "ahead_of_time"
needs = pytest.mark.skipif(not shipped.flags_here().issuperset(shipped.FLAGS["x86-64-v2"]),
                           reason="the processor is older than x86-64-v2")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A function that runs Python in an environment where NumPy is the only package."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    (folder / "numpy_alone").mkdir()
    place = pathlib.Path(np.__file__).resolve().parents[1]
    for name in ("numpy", "numpy.libs"):
        if (place / name).exists():
            (folder / "numpy_alone" / name).symlink_to(place / name)
    site, = (folder / "env").glob("lib/python*/site-packages")
    (site / "numpy_alone.pth").write_text(f"{folder / 'numpy_alone'}\n")

    def run(*arguments, cwd, code=0):
        done = subprocess.run([folder / "env" / "bin" / "python", *arguments], cwd=cwd, capture_output=True, text=True,
                              env={"PYTHONPATH": str(cwd)}, timeout=120)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    run.site = site
    assert "No module named 'llvmlite'" in run("-c", "import llvmlite", cwd=folder, code=1)
    return run


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A folder with ahead_sample, built."""
    folder = tmp_path_factory.mktemp("sample")
    (folder / "use.py").write_text("import ahead_sample\nahead_sample.use()\n")
    made, found = ahead.make(HERE / "ahead_sample.py", ["x86-64-v2"], ["halved(int64)"],
                             [str(folder / "use.py")], folder / "out", False, "1", "any")
    assert made == folder / "out" and not found["refused"]
    assert ("ahead_sample", "halved", "(int) -> float") in found["rows"]
    shutil.copy(HERE / "ahead_uses.py", made)
    return made


@needs
def test_as_interpreted(sample, bare):
    assert bare("ahead_uses.py", cwd=sample) == "all as in the interpreter\n"


@needs
def test_only_the_import_changes(sample):
    old, new = ((folder / "ahead_sample.py").read_text().splitlines() for folder in (HERE, sample))
    assert [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]] == [
        ("from pyjitc import float64, int64, njit, prange",
         "from _ahead_sample_pyjitc import float64, int64, njit, prange")]


@needs
def test_no_code_for_this_processor(sample, bare, tmp_path):
    shutil.copytree(sample, tmp_path / "copy")
    for path in (tmp_path / "copy" / "_ahead_sample_pyjitc" / "code").glob("ahead_sample.*"):
        path.unlink()
    shown = bare("-c", "import ahead_sample as s; print(s.total(s.A, 3), s.twice('ab'))", cwd=tmp_path / "copy")
    assert shown.startswith("7.5 abab\n")
    assert ("RuntimeWarning: pyjitc runs everything in the interpreter: ahead_sample was compiled ahead of time for "
            "other processors or for another Python") in shown


@needs
def test_a_module_without_code_is_interpreted_without_a_warning(bare, tmp_path, capsys):
    package = tmp_path / "two"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text("from pyjitc import njit\n@njit\ndef scale(x):\n    return x * 3\n")
    (package / "main.py").write_text("from pyjitc import njit\nfrom .helper import scale\n@njit('float64(float64)')\n"
                                     "def more(x):\n    return scale(x) + 1\n")
    assert main(["build", str(package), "--cpu", "x86-64-v2", "--output", str(tmp_path / "built")]) == 0
    assert "two.helper.scale has no signature" in capsys.readouterr().out
    assert bare("-W", "error", "-c", "from two import helper, main; print(main.more(2.0), helper.scale(2.0))",
                cwd=tmp_path / "built") == "7.0 6.0\n"


@needs
def test_what_shows_how_a_function_is_compiled_says_that_there_is_no_compiler(sample, bare):
    for shown in ("report()", "inspect_llvm()", "report('float64(float64[:], int64)')"):
        assert "a package that was built ahead of time has no compiler" in bare(
            "-c", f"import ahead_sample as s\ns.total(s.A, 3)\ntry: s.total.{shown}\n"
            "except Exception as error: print(error)", cwd=sample)


@needs
def test_a_source_that_was_changed_is_interpreted(sample, bare, tmp_path):
    shutil.copytree(sample, tmp_path / "copy")
    path = tmp_path / "copy" / "ahead_sample.py"
    path.write_text(path.read_text().replace("return x + x", "return x + x + 1"))
    shown = bare("-c", "import ahead_sample as s; print(s.twice(2), s.total(s.A, 3))", cwd=tmp_path / "copy")
    assert shown.startswith("5 7.5\n") and shown.count("Warning") == 1
    assert ("the interpreter runs twice(): its source is not that which was compiled when its package was built, or "
            "Python runs with -O") in shown


@needs
def test_a_wheel_passes_the_tests_of_its_package(bare, tmp_path, capsys):
    shutil.copytree(EXAMPLE, tmp_path / "waves")
    assert main(["build", str(tmp_path / "waves" / "waves"), "--wheel", "--version", "1.0", "--cpu", "x86-64-v2",
                 "--output", str(tmp_path / "dist")]) == 0
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    wheel = tmp_path / "dist" / f"waves-1.0-{tag}-{tag}-linux_x86_64.whl"
    assert capsys.readouterr().out == (
        "waves.strings.pluck(int, float) -> float64[::1]\n"
        "waves.strings.step(float64[::1], float64[::1], int) -> None\n"
        "waves.strings.energy(float64[::1], float64[::1]) -> float64\n"
        "waves.strings.curvature has no signature: the interpreter runs its calls from Python (give --types, or "
        "--run)\n"
        f"{wheel}: x86-64-v2\n")
    with zipfile.ZipFile(wheel) as archive:  # an installation does no more than this
        archive.extractall(bare.site)
    assert "OK" in bare("-m", "unittest", "test_waves", cwd=tmp_path / "waves" / "tests")
    assert bare("-c", "import waves; print(waves.energy.nopython_signatures, waves.__file__)", cwd=tmp_path) == (
        f"['(float64[::1], float64[::1])'] {bare.site}/waves/__init__.py\n")


@needs
def test_a_wheel_of_source_becomes_one_with_code(tmp_path):
    source = tmp_path / "waves-1.0-py3-none-any.whl"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("waves/__init__.py", "from pyjitc import njit\n@njit('int64(int64)')\ndef f(x): return x\n")
        archive.writestr("waves/data.txt", "kept")
        archive.writestr("waves-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: waves\nVersion: 1.0\n"
                         "Requires-Dist: pyjitc\nRequires-Dist: numpy>=2.1\nRequires-Dist: pyjitc ; extra == 'x'\n\n"
                         "Text\n")
        archive.writestr("waves-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("waves-1.0.dist-info/entry_points.txt", "[console_scripts]\nwaves = waves:step\n")
    made, _ = ahead.make(source, ["x86-64-v2"], [], [], tmp_path, False, "0", "manylinux_2_17_x86_64")
    with zipfile.ZipFile(made) as archive:
        assert archive.read("waves/data.txt") == b"kept"
        assert archive.read("waves-1.0.dist-info/entry_points.txt").startswith(b"[console")
        assert archive.read("waves-1.0.dist-info/METADATA").decode() == (
            "Metadata-Version: 2.1\nName: waves\nVersion: 1.0\nRequires-Dist: numpy>=2.1\n"
            "Requires-Dist: pyjitc ; extra == 'x'\n\nText\n")
        names = set(archive.namelist())
        listed = {line.split(",")[0] for line in archive.read("waves-1.0.dist-info/RECORD").decode().splitlines()}
    assert listed == names
    assert not any("codegen" in name or "infer" in name or name.endswith("stages.pyc") for name in names)


def test_levels(monkeypatch, tmp_path):
    """The best level that the processor has."""
    for level in shipped.FLAGS:
        needs_, variants = (["new"], {}) if level == "native" else ([], {})
        (tmp_path / shipped.file_name("m", level)).write_bytes(marshal.dumps((needs_, {"f x": level}, variants)))
    monkeypatch.setattr(shipped, "FOLDER", str(tmp_path))
    flags: set[str] = set()
    found = []
    for more in ((), *(shipped.FLAGS[level] for level in reversed(shipped.FLAGS)), ("new",)):
        flags.update(more)
        monkeypatch.setattr(shipped, "flags_here", lambda: frozenset(flags))
        found.append(shipped._load("m"))
    assert found == [None, *({"f x": level} for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4",
                                                          "native"))]


def test_file_names_are_filled_in(monkeypatch):
    name = relocated.placeholder("pkg/m.py")
    data = b"\1\1x" + name.encode() + b"\0rest"
    monkeypatch.setattr(relocated, "ROOTS", ["/where/it/is/"])
    filled = relocated.filled(data)
    assert len(filled) == len(data) and filled.endswith(b"\0rest")
    assert filled.startswith(b"\1\1x/where/it/is/pkg/m.py\0")
    assert relocated.relative("/where/it/is/pkg/m.py") == relocated.relative(name) == "pkg/m.py"
    monkeypatch.setattr(relocated, "ROOTS", [f"/{'x' * 2000}/"])
    assert relocated.filled(data).startswith(b"\1\1xpkg/m.py\0")


WRONG = {
    "import math\n": "nothing in m imports pyjitc, so there is nothing to compile",
    "from pyjitc import njit\n@njit\ndef f(x): return x\n":
        "no function has a signature to be compiled for: write one in its decorator",
    "from pyjitc import njit, grad\n": "m.py:1 imports grad from pyjitc, which needs the compiler at run time",
    "x = 1\nfrom pyjitc.numba import njit\n": "m.py:2 imports from pyjitc.numba, which a package",
    "import numpy, pyjitc.cuda\n": "m.py:1 imports pyjitc.cuda, which a package",
    "from pyjitc import njit\n@njit('int64(int64)')\ndef f(x): return x.y\n": "at m.py:3 in f",
    "from pyjitc import njit\nraise ValueError(7)\n": "ValueError: 7",
}


@needs
@pytest.mark.parametrize("source", WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_built(source, tmp_path, capsys):
    (tmp_path / "m.py").write_text(source)
    assert main(["build", str(tmp_path / "m.py"), "--cpu", "x86-64-v2", "--output", str(tmp_path / "out")]) == 1
    assert WRONG[source] in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@needs
def test_what_is_asked_for_wrongly(tmp_path, capsys):
    (tmp_path / "m.py").write_text("from pyjitc import njit\n@njit\ndef f(x): return (i for i in range(x))\n")
    for arguments, message in (
            (["--types", "g(int64)"], "no module that is built has a compiled function 'g'"),
            (["--types", "f"], "'f': write a function and the types of its arguments"),
            (["--types", "f(int65)"], "'f(int65)': unknown type 'int65'"),
            (["--types", "f(int64)"], "m.f cannot be built ahead of time: it returns an iterator")):
        assert main(["build", str(tmp_path / "m.py"), "--cpu", "x86-64-v2", *arguments]) == 1
        assert message in capsys.readouterr().err
    assert main(["build", str(tmp_path / "m.py"), "--cpu", "x86-64-v5"]) == 2
    assert "there is no level 'x86-64-v5'; did you mean x86-64-v4" in capsys.readouterr().err
    assert main(["build", str(tmp_path / "n.py")]) == 2
    assert "there is no file" in capsys.readouterr().err
    (tmp_path / "folder").mkdir()
    assert main(["build", str(tmp_path / "folder")]) == 1
    assert "is no package, it has no __init__.py, and no project" in capsys.readouterr().err


def test_the_example_runs_uncompiled(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    spec = importlib.util.find_spec("waves")
    assert spec is not None and spec.origin == str(EXAMPLE / "waves" / "__init__.py")
