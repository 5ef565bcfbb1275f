"""The command line: each command works, each mistake is one clear line and exit code 2."""
import os
import subprocess
import sys

import pytest

from pyjitc.api.cli import STAGES, main

PROGRAM = '''\
import sys
from pyjitc import njit

@njit
def total(a, limit):
    s = 0.0
    for i in range(len(a)):
        if a[i] > limit:
            s += a[i]
    return s

def plain(x):
    return x + 1

class Holder:
    def method(self, x):
        return x

number = 3

if __name__ == "__main__":
    print(plain(1), sys.argv[1:], __name__)
    if "fail" in sys.argv:
        raise ValueError("asked to")
'''


@pytest.fixture
def program(tmp_path, monkeypatch):
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["pyjitc"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "program.py"
    sys.modules.pop("program", None)


@pytest.mark.parametrize("stage, expected", [
    ("bytecode", "RETURN_VALUE"), ("cfg", "digraph"), ("ir", "return"), ("typed", "float64"), ("opt", "float64"),
    ("llvm", "define"), ("asm", "ret")])
def test_inspect(program, capsys, stage, expected):
    assert main(["inspect", f"{program}::total", "--stage", stage, "--types", "float64[::1], float"]) == 0
    assert expected in capsys.readouterr().out


def test_every_stage_is_tested():
    assert set(STAGES) == {"bytecode", "cfg", "ir", "typed", "opt", "llvm", "asm"}


@pytest.mark.parametrize("arguments, message", [
    (["inspect", "progam.py::total"], "there is no file progam.py; did you mean program.py?"),
    (["inspect", "program.py"], "write FILE::FUNCTION"),
    (["inspect", "program.py::totl"], "has no function totl; did you mean total?"),
    (["inspect", "program.py::number"], "number in program.py is of class int"),
    (["inspect", "program.py::total", "--stage", "lvm"], "there is no stage 'lvm'; did you mean llvm?"),
    (["inspect", "program.py::total", "--stage", "asm"], "total takes 2 arguments (a, limit), none is given"),
    (["inspect", "program.py::total", "--stage", "asm", "--types", "int"], "takes 2 arguments (a, limit), 1 is given"),
    (["inspect", "program.py::total", "--stage", "llvm", "--types", "flaot64[:], int"], "did you mean float64?"),
    (["inspect", "program.py::total", "--stage", "llvm", "--types", "float64[,], int"], "--types: expected"),
    (["run", "nosuch.py"], "there is no file nosuch.py"),
    (["run", "."], "is a folder"),
    (["run", "--dump", "tyepd:total", "program.py"], "there is no stage 'tyepd' to dump; did you mean typed?"),
])
def test_mistakes_are_one_line(program, capsys, arguments, message):
    assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert message in errors and errors.count("\n") == 1 and "\x1b" not in errors


@pytest.mark.parametrize("arguments", [[], ["nosuch"], ["cache"], ["cache", "nosuch"], ["inspect"], ["run"]])
def test_usage_errors(arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


def test_compile_error_is_shown(program, capsys):
    assert main(["inspect", "program.py::Holder.method", "--stage", "ir"]) == 0
    capsys.readouterr()
    assert main(["inspect", "program.py::total", "--stage", "typed", "--types", "int, int"]) == 1
    errors = capsys.readouterr().err
    assert "len" in errors and "Traceback" not in errors and len(errors.splitlines()) <= 8


def test_info(capsys):
    assert main(["info"]) == 0
    shown = capsys.readouterr().out
    for word in ("pyjitc", "Python", "numpy", "llvmlite", "processor", "GPU", "cache"):
        assert word in shown


def test_cache(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path))
    (tmp_path / "mine.txt").write_text("stays")
    folder = tmp_path / "ab"
    folder.mkdir()
    (folder / ("0" * 30)).write_bytes(b"x" * 1000)
    (folder / "notes").write_text("stays")
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out.endswith(": 1 file, 1 kB of 256,000 kB\n")
    assert main(["cache", "clear"]) == 0
    assert "1 file removed" in capsys.readouterr().out
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["ab", "mine.txt", "notes"]


@pytest.mark.parametrize("folder", ["/dev/null", "/dev/null/sub", "/proc/nosuch/sub"])
def test_info_says_where_nothing_can_be_kept(folder, monkeypatch, capsys):
    monkeypatch.setenv("PYJITC_CACHE_DIR", folder)
    monkeypatch.setattr(os, "access", lambda path, mode: str(path).startswith("/dev"))  # root may write everywhere
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out == f"{folder}: 0 files, 0 kB of 256,000 kB, and nothing can be kept there\n"


def test_info_says_that_a_folder_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o777)
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out.endswith(" kB, and nothing is kept there: it may be written by others\n")


def test_clear_fails_where_files_stay(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path))
    (tmp_path / "ab" / ("0" * 30)).mkdir(parents=True)  # cannot be unlinked, not even by root
    assert main(["cache", "clear"]) == 1
    shown = capsys.readouterr()
    assert "stays: " in shown.err and shown.out.startswith("0 files removed")


def command(*arguments, **options):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return subprocess.run([sys.executable, "-m", "pyjitc", *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": paths}, **options)


def test_run(program):
    done = command("run", "program.py", "--one", "two")
    assert (done.returncode, done.stdout) == (0, "2 ['--one', 'two'] __main__\n"), done.stderr


def test_run_shows_the_scripts_own_traceback(program):
    done = command("run", "program.py", "fail")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ValueError: asked to"
    assert "runpy" not in done.stderr and "cli.py" not in done.stderr


@pytest.mark.parametrize("stage, shown",
                         [("generic", "binary"), ("typed", "-> int"), ("refcount", "return"), ("asm:doubled", "ret")])
def test_run_dumps_stages(tmp_path, stage, shown):
    (tmp_path / "small.py").write_text("from pyjitc import njit\n\n@njit\ndef doubled(x):\n    return x * "
                                       "2\n\nprint(doubled(3))\n")
    done = command("run", "--dump", stage, "small.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "6\n")
    assert done.stderr.startswith(f"# {stage.partition(':')[0]}: doubled\n") and shown in done.stderr


def test_a_file_that_fails_is_shown_with_its_line(tmp_path):
    (tmp_path / "broken.py").write_text("x = 1\nimport no_such_module\n")
    done = command("inspect", "broken.py::f", cwd=tmp_path)
    assert done.returncode == 2 and "line 2" in done.stderr
    assert done.stderr.splitlines()[-1] == "pyjitc: broken.py could not be loaded"


def test_only_what_is_required_is_asked_for(capsys):
    for arguments in (["run"], ["contrast"]):
        with pytest.raises(SystemExit):
            main(arguments)
        assert "required: " in (error := capsys.readouterr().err) and "ARGUMENT\n" not in error.partition("required")[2]


def test_examples_have_their_own_options():
    done = command("examples", "--help")
    assert done.returncode == 0 and "nbody" in done.stdout
    done = command("examples", "nosuch")
    assert done.returncode == 2 and "nbody" in done.stderr


def test_bench_has_its_own_options():
    done = command("bench", "--help")
    assert done.returncode == 0 and "--peers" in done.stdout
    assert command("bench", "nosuch").returncode == 2
