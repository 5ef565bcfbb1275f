"""The bench command: the arguments that it refuses, the files that it writes, its comparisons, and that the pages
contain the figures of the files."""
import io
import json
import math
import os
import pathlib
import platform
import re
import shutil
import sys
import time

import numpy as np
import pytest

from bench import c, machine, page, readme, small
from bench.__main__ import SUITES, main
from bench.loops import outcome, same
from bench.machine import describe
from bench.measure import Sample, runs
from bench.peers import load as load_programs
from bench.results import Results, WrongFile, load, regressions
from bench.table import Row
from bench.worker import Failed, Workers

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MACHINE = {"date": "2026-01-02 03:04 UTC", "processor": "a processor", "cores": "2", "Python": "3.11.7",
           "numpy": "2.4.0", "numba": "0.68.1", "jax": "0.10.2"}


def figure(value, spread=0.01, n=9):
    return Sample(value, value * (1 - spread), value * (1 + spread), n)


def results(**changed):
    rows = [Row("contrast", "repeat-mul, n = 5", "ns", figure(30.0),
                {"jax": figure(40_000.0), "cpython": figure(210.0)}, 200.0, 190.0,
                ratios={"jax": figure(1333.0), "cpython": figure(7.0)}),
            Row("loops", "fib", "x", figure(1.2), {"time": "1 ms"}, 0.9, at_least=True, ratios={"numba": figure(1.2)}),
            Row("loops", "gcd", "x", figure(0.8), {}, 0.9, at_least=True, note="slow", ratios={"numba": figure(0.8)}),
            Row("budgets", "fails", "ms", None, budget=3.0, note="ValueError")]
    for row in rows:
        if row.name in changed:
            row.figure = changed[row.name]
    return Results(dict(MACHINE), False, rows)


# the command line

@pytest.mark.parametrize("arguments, message", [
    (["lops"], "there is no suite lops; did you mean loops?"),
    (["--peers", "nunba"], "there is no peer nunba; did you mean numba?"),
    (["--json", "/nosuch/folder/x.json"], "there is no folder /nosuch/folder"),
    (["--json", str(ROOT)], "is a folder"),
    (["--compare", "/nosuch.json"], "/nosuch.json: No such file"),
    (["--compare", str(ROOT / "README.md")], "is not a file that --json wrote"),
    (["--readme", "README.md"], "--readme goes with --json or --use"),
    (["--nosuch"], "unrecognized arguments"),
    (["loops", "--quick", "--only", "nosuch"], "no row of loops has 'nosuch' in its name"),
])
def test_wrong_command_lines(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_suites_are_there():
    suites = {"contrast", "budgets", "loops", "small", "c", "containers", "npbench", "math", "accuracy", "gpu",
              "registers", "opening", "parallel", "grad", "vmap", "numba"}
    assert suites == set(SUITES)


def test_figures_of_a_file(tmp_path, capsys):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    results().save(str(old))
    results(fib=figure(0.5)).save(str(new))
    assert main(["--use", str(old), "loops"]) == 1
    out = capsys.readouterr().out
    assert "1 of 2 budgets hold" in out and "missed: loops: gcd" in out and "repeat-mul" not in out
    assert main(["--use", str(old), "contrast", "--compare", str(new)]) == 0
    assert main(["--use", str(new), "--compare", str(old)]) == 1
    assert "worse: loops: fib: 1.2 -> 0.5 x" in capsys.readouterr().out


# files

def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "all.json"
    results().save(str(path))
    again = load(str(path))
    assert again == results()
    assert os.listdir(tmp_path) == ["all.json"]
    assert json.loads(path.read_text())["rows"][2]["passed"] is False


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "all.json"
    results().save(str(path))
    before = path.read_text()
    broken = results()
    broken.rows[0].cells["jax"] = object()
    with pytest.raises(TypeError):
        broken.save(str(path))
    assert path.read_text() == before and os.listdir(tmp_path) == ["all.json"]


def test_the_machine_names_kernels_of_blas_that_the_environment_chooses(monkeypatch):
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    assert "OpenBLAS kernels" not in describe([])
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert describe([])["OpenBLAS kernels"].startswith("Haswell")


@pytest.mark.skipif(not os.path.exists("/proc/cpuinfo"), reason="the system has no /proc/cpuinfo")
def test_processor_with_generation(monkeypatch):
    """Clouds give processors of several generations one name; times of another generation are not compared."""
    text = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: A: B\n\nprocessor\t: 1\nmodel\t\t: 99\n"
    monkeypatch.setattr("builtins.open", lambda *args, **kwargs: io.StringIO(text))
    assert machine._processor() == "A: B (family 25, model 17)"
    monkeypatch.setattr("builtins.open", lambda *args, **kwargs: io.StringIO("Processor\t: an Arm\n"))
    assert machine._processor() == platform.machine()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"machine": {}, "quick": false, "rows": [{"suite": 1}]}'])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(WrongFile, match="not a file that --json wrote"):
        load(str(path))


# comparison

def test_what_is_worse():
    def worse(**changed):
        return regressions(results(), results(**changed))[0]

    assert worse() == []
    assert worse(fib=figure(1.15)) == []  # by less than the tolerance
    assert worse(fib=figure(1.0, spread=0.5)) == []  # within the spread
    assert worse(fib=figure(2.0)) == []
    assert worse(fib=figure(1.0)) == ["loops: fib: 1.2 -> 1 x"]
    assert worse(**{"repeat-mul, n = 5": figure(40.0)}) == ["contrast: repeat-mul, n = 5: 30 -> 40 ns"]
    assert worse(fib=None) == ["loops: fib: fails now: "]
    other = results(**{"repeat-mul, n = 5": figure(40.0)}, fib=figure(1.0))
    other.machine["processor"] = "another"
    found, remarks = regressions(results(), other)
    assert found == ["loops: fib: 1.2 -> 1 x"] and "only ratios" in remarks[0]
    fewer = results()
    del fewer.rows[2]
    assert regressions(results(), fewer)[1] == ["not measured this time: loops: gcd"]


@pytest.mark.parametrize("figures, worse, remark", [
    ([1.0, 1.01], ["loops: fib: 1.2 -> 0.9, 1, 1.01 x"], []),
    ([1.0, 1.19], [], ["not worse when it is measured again: loops: fib: 1.2 -> 0.9, 1, 1.19 x"]),
    ([1.25], [], ["not worse when it is measured again: loops: fib: 1.2 -> 0.9, 1.25 x"]),
    ([None], ["loops: fib: 1.2 -> 0.9 x"], []),
])
def test_what_is_worse_is_measured_again(figures, worse, remark):
    rest = list(figures)

    def again(row):
        assert (row.suite, row.name) == ("loops", "fib")
        value = rest.pop(0)
        return None if value is None else results(fib=figure(value)).rows[1]

    assert regressions(results(), results(fib=figure(0.9)), again) == (worse, remark)
    assert not rest


def test_comparison_on_the_command_line(tmp_path, capsys):
    old = tmp_path / "old.json"
    assert main(["loops", "--only", "fib", "--peers", "none", "--quick", "--json", str(old)]) == 0
    capsys.readouterr()
    found = load(str(old))
    found.rows[0].figure, found.rows[0].at_least = figure(99.0), True
    found.save(str(old))
    assert main(["loops", "--only", "fib", "--peers", "none", "--quick", "--compare", str(old)]) == 1
    assert re.search(r"1 figures got worse since .*\n  worse: loops: fib: 99 -> 1, 1, 1 x\n", capsys.readouterr().out)


def test_stopped_in_the_middle(tmp_path, capsys, monkeypatch):
    class Suite:
        PEERS = ()

        @staticmethod
        def measure(peers, quick, only):
            if Suite.last:
                raise KeyboardInterrupt
            Suite.last = True
            return results().rows[:1]

    Suite.last = False
    monkeypatch.setattr("bench.__main__.importlib.import_module", lambda name: Suite)
    path = tmp_path / "all.json"
    with pytest.raises(SystemExit) as caught:
        main(["contrast", "loops", "--peers", "none", "--json", str(path)])
    assert caught.value.code == 130
    assert f"stopped; {path} has the suites that were measured to the end" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["all.json"] and [row.suite for row in load(str(path)).rows] == ["contrast"]


# workers

def test_workers():
    with Workers(["one", "other"]) as workers:
        assert workers["one"].ask(math.sqrt, 9.0) == 3.0
        assert workers["one"].ask(os.getpid) != workers["other"].ask(os.getpid) != os.getpid()
        with pytest.raises(Failed, match=r"^ValueError: math domain error \(worker.py:\d+\)$"):
            workers["one"].ask(math.sqrt, -1.0)
        assert workers["one"].ask(math.sqrt, 4.0) == 2.0
        with pytest.raises(Failed, match="exit code 3"):
            workers["one"].ask(os._exit, 3)
        with pytest.raises(Failed, match="no answer after"):
            workers["one"].ask(time.sleep, 60, timeout=0.2)
        assert workers["one"].ask(os.getenv, "OMP_NUM_THREADS") == "1"


# pages

def test_page_with_charts(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "page.html"
    page.write(results(), str(path))
    text = path.read_text()
    assert text.count("<svg") == 2 and "2026-01-02" in text and "a processor" in text and "1 of 4" not in text
    assert ("2 of 4 budgets hold" in text and text.count("class=missed") == 2
            and "http://" not in re.sub(r"http://www.w3.org\S*", "", text))
    assert page.chart("loops", results().rows, "png").startswith(b"\x89PNG")
    page.charts(results(), str(tmp_path))
    assert {p.name for p in tmp_path.glob("*.svg")} == {"contrast.svg", "loops.svg"}


def test_table_of_a_page(tmp_path):
    data, text = tmp_path / "all.json", tmp_path / "page.md"
    results().save(str(data))
    (tmp_path / "loops.svg").write_text("<svg/>")
    text.write_text("# Title\n\n<!-- bench:  -->\n<!-- /bench -->\n\n<!-- bench:  loops -->\nold\n<!-- /bench "
                    "-->\n\nend\n")
    readme.update(str(text), load(str(data)), str(data))
    written = text.read_text()
    assert ("<!-- bench: all.json -->\n| | pyjitc | Numba | JAX | CPython |\n" in written
            and written.endswith("<!-- /bench -->\n\nend\n"))
    assert "| call of a function with a 5-trip `while` | 30.0 ns |  | 40.0 us (1,300x) | 210 ns (7.0x) |" in written
    assert ("geometric mean of 2 | 1x | 0.98x |" in written and "[all.json](all.json)" in written
            and "2026-01-02" in written)
    assert ("<!-- bench: all.json loops -->\n![loops: the peers' times over pyjitc's](loops.svg)\n\n| loops | pyjitc "
            "| time | budget |  |\n|---|---:|---:|---:|---:|\n| fib | 1.20±0.01x | 1 ms |" in written)
    assert "old" not in written
    found = readme.written(str(text))
    assert len(found) == 2 and all(between == expected for between, expected in found)
    readme.update(str(text), load(str(data)), str(data))
    assert text.read_text() == written
    other = results()
    other.rows = [row for row in other.rows if row.suite == "loops"]
    more = tmp_path / "more.json"
    other.save(str(more))
    readme.update(str(text), load(str(more)), str(more))  # only the suites that this file has
    assert "<!-- bench: all.json -->" in text.read_text() and "<!-- bench: more.json loops -->" in text.read_text()
    assert all(between == expected for between, expected in readme.written(str(text)))
    with pytest.raises(WrongFile, match="no marks"):
        readme.update(str(ROOT / "LICENSE"), load(str(data)), str(data))


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_figures_in_pages_are_those_of_the_file(path):
    for between, expected in readme.written(str(path)):
        again = f"python -m bench --use FILE.json --readme {path.name}"
        assert between == expected, f"{path.name}: write it anew with {again}"


def test_suites_that_need_a_tool_say_so(capsys, monkeypatch):
    monkeypatch.setattr("bench.registers.ptxas.find", lambda tool: None)
    monkeypatch.setitem(sys.modules, "mpmath", None)
    assert main(["registers", "accuracy", "--peers", "none"]) == 0
    out = capsys.readouterr().out
    assert ("registers    is left out: nvcc is not installed" in out
            and "accuracy     is left out: it needs mpmath" in out)


def test_a_suite_runs(capsys):
    assert main(["contrast", "--quick", "--peers", "none", "--only", "jit-in-loop"]) == 0
    assert "1 of 1 budgets hold" in capsys.readouterr().out


SMALL = load_programs(small.PROGRAMS, "cpython")
COMPILED = load_programs(small.PROGRAMS, "pyjitc")["CASES"]


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashes, in the interpreter
@pytest.mark.parametrize("name", SMALL["CASES"])
def test_small_programs_agree(name):
    function, prepare = SMALL["CASES"][name]
    compiled = COMPILED[name][0]
    expected, actual = (outcome(f, prepare(np.random.default_rng(0))) for f in (function, compiled))
    assert same(expected, actual, exact=name not in SMALL["LAST_BITS"]) == ""


# ---------------------------------------------------------------- loops beside C


def test_the_programs_in_c_are_those_in_python():
    names = {function.__name__ for function, _ in load_programs(c.PROGRAMS, "cpython")["CASES"].values()}
    with open(c.SOURCE) as file:
        assert set(re.findall(r"^(?:void|f64|i64|u64) (\w+)\(", file.read(), re.MULTILINE)) == names
    assert len(names) >= 60


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_program_beside_c():
    rows = {row.name: row for row in c.measure((), quick=True, only="fnv1a")}
    assert rows["fnv1a"].note == "" and rows["fnv1a"].ratios.keys() == {"C"}
    assert rows.keys() == {"fnv1a", "geometric mean over C", "worst over C"}


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_each_set_of_data_reaches_a_program_in_c(tmp_path):
    function, prepare = load_programs(c.PROGRAMS, "cpython")["CASES"]["fnv1a"]
    in_c, sets = c.compiled(str(tmp_path))["fnv1a"], [prepare(np.random.default_rng(seed)) for seed in range(3)]
    with np.errstate(over="ignore"):
        expected = [function(*args) for args in sets]
    assert [[in_c(*args) for args in sets] for _ in range(2)] == [expected, expected] and len(set(expected)) == 3


def test_calls_take_turns_with_all_sets_of_data():
    a, b, called = np.zeros(2), np.ones(2), []

    def f(x):
        called.append((x is a, x[0]))
        x += 5
        time.sleep(1e-4)

    times = runs({"f": f}, lambda: (a,), 2, others=[(b,)])
    assert len(times["f"]) == 2 and min(times["f"]) >= 1e-4
    turns = called[2:]  # after those that look how long a call takes
    assert len(turns) % 4 == 0 and turns == [(True, 0.0), (False, 1.0)] * (len(turns) // 2)


def test_without_a_compiler_of_c(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    rows = {row.name: row for row in c.measure((), quick=True, only="fnv1a")}
    assert rows.keys() == {"fnv1a", "C"}
    assert rows["C"].note == "not compared with C: there is no C compiler (cc)"


def test_a_wrong_result_of_c_is_not_timed(monkeypatch):
    monkeypatch.setattr(c, "compiled", lambda folder: {"fnv1a": lambda data: 0})
    monkeypatch.setattr(c, "load", lambda path, peer: {"CASES": {
        "fnv1a": load_programs(path, peer)["CASES"]["fnv1a"]}})
    row, *_ = c.measure((), quick=True, only="fnv1a")
    assert row.figure is None and row.note.startswith("C: result differs")
