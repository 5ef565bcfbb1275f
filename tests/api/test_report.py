"""`f.report()` and `pyjitc report`: the costs of each line, as data and as a page."""
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from pyjitc import jit, njit, prange, value_and_grad
from pyjitc.api import sampling
from pyjitc.api.cli import main
from pyjitc.api.dispatch import Dispatcher
from pyjitc.base.options import Options
from pyjitc.codegen.located import LocatedEmitter
from pyjitc.pipeline import stages
from pyjitc.types.kinds import Array, Int, float64

pytest.importorskip("jinja2", reason="jinja2 is not installed")


def work(a, idx, n):
    out = np.zeros(len(a))
    for i in range(n):
        out[i] = a[i] * 2.0  # vectorised
    s = 0
    for i in range(len(idx)):
        s += n
        out[idx[i]] += 1.0  # gathered
    for i in range(1, n):
        out[i] = out[i - 1] + 1  # recurrence
    print(s)
    small = np.zeros(4)
    small[n & 3] = 1.0
    return out, small[1]


@njit
def helper(a, i):
    return a[i] + 1  # in the helper


def calls(a):
    s = 0.0
    for i in range(len(a)):
        s += helper(a, i)
    return s


def found(function, args, number=0):
    """Text of a line -> its Line, of the `number`-th function of the report."""
    compiled = njit(function)
    compiled(*args)
    made, = compiled.report().values()
    return {line.source.strip(): line for line in made.functions[number].lines}


def facts(line):
    return [(fact.kind, fact.good) for fact in line.facts]


@pytest.fixture(scope="module")
def lines():
    return found(work, (np.ones(10), np.arange(10), 10))


def test_types(lines):
    assert lines["def work(a, idx, n):"].types == {"a": "float64[::1]", "idx": "int64[::1]", "n": "int"}
    assert lines["out = np.zeros(len(a))"].types == {"out": "float64[::1]"}
    assert lines["for i in range(1, n):"].types == {"i": "int"}


def test_memory(lines):
    assert facts(lines["out = np.zeros(len(a))"]) == [("memory", False)]
    assert facts(lines["small = np.zeros(4)"]) == [("memory", True)]


def test_loops(lines):
    fact, = lines["for i in range(n):"].facts
    assert fact.kind == "loop" and fact.good and re.match(r"vectorised: \d+ elements at once", fact.text)
    fact, = (fact for fact in lines["for i in range(1, n):"].facts if fact.kind == "loop")
    assert not fact.good and fact.text.startswith(
        "not vectorised: an iteration reads what an earlier one has written (the other access is in line ")


def test_the_loop_of_an_array_statement_is_told_in_its_own_line():
    def in_a_loop(a, b, names):
        seen = []
        for k in range(3):
            seen.append(names[k])
            a += 2.0 * b
        return seen

    made = found(in_a_loop, (np.ones(5), np.ones(5), ["x", "y", "z"]))
    loop, = made["a += 2.0 * b"].facts
    assert loop.good and loop.text.startswith("vectorised: ") and not made["for k in range(3):"].facts
    assert [fact.text for fact in made["seen = []"].facts] == ["a new list[str] with these items"]


def test_checks(lines):
    assert ("check", True) in facts(lines["out[i] = a[i] * 2.0  # vectorised"])
    kept = [fact.text for fact in lines["out[idx[i]] += 1.0  # gathered"].facts if fact.kind == "check"]
    assert "the index is compared with the length: it is read from an array, whose elements may have any value" in kept


def test_python_objects(lines):
    assert facts(lines["print(s)"]) == [("boxed", False), ("python", False)]
    assert lines["print(s)"].weight == 2 and lines["s = 0"].weight == 0


def test_functions_that_are_called():
    made = found(calls, (np.ones(5),), 1)
    assert made["def helper(a, i):"].types["a"] == "float64[::1]"
    check, loop = made["return a[i] + 1  # in the helper"].facts  # LLVM inlines the helper in the loop
    assert check.text == ("the index is compared with the length: nothing is known of a value that is given, or that "
                          "goes round a loop")
    assert loop.text == ("not vectorised: for each element it calls a function or the interpreter, or checks an index "
                         "that may be negative")


def test_a_derivative_shows_what_is_active_and_what_its_loops_keep():
    def loss(w, x):
        t = 0.0
        k = 0
        while t < 10.0:
            t += np.sum(np.tanh(w * x)) ** 2
            k += 1
        return t

    made = value_and_grad(njit(loss))
    made(np.ones(3), np.ones(3))
    (told,) = made.report().values()
    (function,) = told.functions  # the derivative and the function have one source, which is shown once
    lines = {line.source.strip(): line for line in function.lines}
    of = {source: [fact.text for fact in line.facts if fact.kind == "derivative"] for source, line in lines.items()}
    assert of["def loss(w, x):"] == ["active: w, t"]
    assert of["t += np.sum(np.tanh(w * x)) ** 2"] == ["active: t"] and not of["k += 1"]
    (kept,) = of["while t < 10.0:"]
    assert kept.startswith("the loop keeps 24 bytes for each visit, in an array that grows: a number that has no name")
    assert lines["k += 1"].types == {"k": "int"} and "found" not in lines["def loss(w, x):"].types


def test_text_stays_and_the_page_comes_with_it():
    @jit
    def mixed(x):
        return complex(format(x))

    mixed(1.5)
    made = mixed.report()
    (types, text), = made.items()
    assert isinstance(text, str) and text == mixed.report(types)
    assert ("native" in text) or ("interpreter" in text)
    html = made._repr_html_()
    assert "mixed(float)" in html and "<script" not in html and html.count("<table>") == 1


def test_the_page_quotes_what_is_in_the_source():
    @njit
    def quoted(a, b):
        return "<b>" if a < b else "</td>"

    quoted(1, 2)
    html = quoted.report()._repr_html_()
    assert "&#34;&lt;b&gt;&#34; if a &lt; b else" in html and "<b>" not in html


def test_remarks_leave_the_standard_error_output_as_it_was():
    program = ("import sys, numpy as np\nfrom pyjitc import njit\n@njit\ndef f(a):\n    s = 0\n    for x in a: s += 1\n"
               "    return s\nf(np.ones(3))\nf.report()\n@njit\ndef g(a):\n    for i in range(len(a)): a[i] = 1\n"
               "g(np.ones(3))\nprint('told', file=sys.stderr)")
    place = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.dirname(__file__)))}
    ran = subprocess.run([sys.executable, "-c", program], env=place, capture_output=True, text=True, timeout=100)
    assert (ran.stderr, ran.stdout, ran.returncode) == ("told\n", "", 0)


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text("import numpy as np\nA = np.ones(4)\ndef total(a, n=2):\n    s = 0.0\n"
                                         "    for x in a:\n        s += x * n\n    return s\n")
    assert main(["report", "program.py::total", "A", "3"]) == 0
    assert capsys.readouterr().out == "all of total is native\nreport.html\n"
    html = (tmp_path / "report.html").read_text()
    assert html.startswith("<!doctype html>") and "total(float64[::1], int)" in html
    assert main(["report", "program.py::total", "--types", "float64[:], int", "--output", "other.html"]) == 0
    assert "total(float64[:], int)" in (tmp_path / "other.html").read_text()
    capsys.readouterr()
    assert main(["report", "program.py::total", "--types", "float64[:]"]) == 2
    assert "--types: total takes 2 arguments (a, n), 1 is given" in capsys.readouterr().err
    assert main(["report", "program.py::total", "B"]) == 2
    assert "NameError: name 'B' is not defined" in capsys.readouterr().err


def test_a_page_of_a_call_binds_its_arguments_as_the_interpreter_does(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bound.py").write_text(
        "import numpy as np\nclass C:\n    def __init__(self, v):\n        self.v = v\n    def more(self, x):\n"
        "        return self.v + x\ndef scaled(a, n=2):\n    return a * n\ndef count(*a):\n    return len(a)\n")
    for target, *given in (("scaled", "1.5"), ("count", "1", "2.0"), ("C.more", "C(1)", "2.5")):
        assert main(["report", f"bound.py::{target}", *given]) == 0
        assert f"all of {target} is native" in capsys.readouterr().out
    assert main(["report", "bound.py::scaled", "np.ma.ones(2)"]) == 2
    assert "bound.py::scaled: scaled() argument 'a' is a masked array" in capsys.readouterr().err


def unequal(a, n):
    s = 0.0
    for i in range(n):
        s += a[i]  # cheap
    for _ in range(50):
        for i in range(n):
            s += np.sin(a[i]) / (1.0 + s)  # dear
    return s


def unequal_in_parallel(a, n):
    s = 0.0
    for i in prange(n):
        s += a[i]  # cheap
        for k in range(50):
            s += np.sin(a[i] + k)  # dear
    return s


def lines_with(comment, function=unequal):
    source, first = inspect.getsourcelines(function)
    return [first + n for n, line in enumerate(source) if comment in line]


@pytest.mark.parametrize("function", [unequal, unequal_in_parallel])
def test_samples_fall_on_the_lines_that_take_long(function):
    before = signal.getsignal(signal.SIGPROF)
    args = np.ones(2000), 2000
    options = Options(parallel=function is unequal_in_parallel)
    for seconds in (0.4, 8.0):  # samples are taken in CPU time, of which a loaded machine gives less
        made = sampling.profile(function, (Array(float64, 1, "C"), Int), options, args, seconds)
        assert signal.getsignal(signal.SIGPROF) == before
        if made.total >= 10:
            break
    assert made.calls > 1 and made.total >= 10
    assert {file for file, _ in made.lines} == {__file__}
    dear, = lines_with("# dear", function)
    # Its loop is one line above: some processors take samples at the jump behind a sum that is not there yet. The other
    # samples are of threads that wait for work.
    assert made.lines[__file__, dear] + made.lines[__file__, dear - 1] > sum(made.lines.values()) / 2
    first, last = lines_with("def unequal", function)[0], lines_with("return s", function)[0]
    assert all(first <= line <= last for _, line in made.lines)
    shown = sampling.speedscope("unequal", made)
    frames, (profile,) = shown["shared"]["frames"], shown["profiles"]
    assert {"name": f"line {dear}", "file": __file__, "line": dear} in frames
    assert len(profile["samples"]) == len(profile["weights"]) and abs(sum(profile["weights"]) - made.seconds) < 1e-6


def calling(a, words):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    counts = {}
    for word in words:
        counts[word.upper()] = counts.get(word.upper(), 0) + 1  # interpreter
    ordered = np.sort(a)  # library
    return s, len(counts), ordered[0]


def nested(n):
    if n == 0:
        return [""]
    return [str(n), *nested(n - 1)]  # itself


def calls_itself(n):
    count = 0
    for _ in range(n):
        count += len(nested(40))  # outside
    return count


@pytest.mark.parametrize("function, args, within, comment, share", [
    (calling, (np.arange(50.0)[::-1].copy(), [chr(97 + k % 26) for k in range(2000)]), calling, "# interpreter", 0.5),
    (calling, (np.random.default_rng(0).random(30_000), ["a"]), calling, "# library", 0.5),
    (calls_itself, (20,), nested, "# itself", 0.5)])
@pytest.mark.parametrize("in_thread", [False, True])
def test_what_a_line_calls_counts_as_its_time(function, args, within, comment, share, in_thread, capfd):
    def profiled(seconds):
        if not in_thread:
            return sampling.profile(function, types, Options(), args, seconds)
        found = []
        thread = threading.Thread(target=lambda: found.append(
            sampling.profile(function, types, Options(), args, seconds)))
        thread.start()
        thread.join()
        return found[0]

    _, types = Dispatcher(function, Options())._types(args)
    for seconds in (0.3, 8.0):
        made = profiled(seconds)
        if made.total >= 10:
            break
    assert made.total >= 10
    line, = lines_with(comment, within)
    assert made.lines[__file__, line] > share * made.total
    assert {file for file, _ in made.lines} == {__file__}  # none in the library
    assert made.called > made.total / 4 and made.elsewhere < made.total / 4
    assert capfd.readouterr().err == ""  # LLVM found the lines of all parts of the module


def test_the_table_of_lines():
    compiled = stages.compile_signature(unequal, (Array(float64, 1, "C"), Int), Options(), None, LocatedEmitter)
    base, size, rows = sampling.lines_of(compiled.object[0], 0x5000, compiled.entry)
    assert base <= 0x5000 < base + size and all(0 <= at <= size for at in rows)
    lines = {row[1] for row in rows.values() if row is not None and row[1]}
    assert {*lines_with("# cheap"), *lines_with("# dear")} <= lines
    plain = stages.compile_signature(unequal, (Array(float64, 1, "C"), Int), Options())
    assert not any(b".debug_line" in one for one in plain.object) and plain.guards == compiled.guards


def test_a_profile_in_the_page(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text("import numpy as np\n" + inspect.getsource(unequal))
    assert main(["report", "program.py::unequal", "np.ones(1000)", "1000", "--profile", "0.2", "--speedscope",
                 "out.json"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert re.match(r"\d+ calls, .* ms each; \d+ samples, \d+% of them in functions that its lines call", shown[0])
    assert "program.py:8: s += np.sin(a[i]) / (1.0 + s)  # dear" in shown[1]
    assert 'class="bar"' in (tmp_path / "report.html").read_text()
    assert json.loads((tmp_path / "out.json").read_text())["profiles"][0]["type"] == "sampled"
    assert main(["report", "program.py::unequal", "--types", "float64[:], int", "--profile"]) == 2
    assert "--profile calls the function: give it arguments, not --types" in capsys.readouterr().err


def test_functions_of_several_types_and_files():
    """One function compiled for two types of arguments, and one that is inlined from the library."""
    def both(a, b):
        return helper(a, 0) + helper(b, 0) + np.median(a)

    made = found(both, (np.ones(5), np.ones(5, np.float32)), 1)
    assert made["def helper(a, i):"].types == {"a": "float32[::1] | float64[::1]", "i": "int"}


def test_loops_that_touch_what_another_trip_wrote():
    def prefix(a):
        for i in range(1, len(a)):
            a[i] += a[i - 1]  # from before

    fact, = (fact for fact in found(prefix, (np.ones(5),))["for i in range(1, len(a)):"].facts if fact.kind == "loop")
    line, = lines_with("# from before", prefix)
    assert fact.text.endswith(
        f"an iteration reads what an earlier one has written (the other access is in line {line})")


def test_the_page_says_what_its_words_mean_and_counts_the_lines():
    def ordered(a):
        s = 0.0
        for i in range(len(a)):
            s += a[i]
        return s

    made = njit(ordered).report(("float64[::1]",))
    text = made._repr_html_()
    assert made.functions[0].summary == {"loop": 1} and "fastmath=" in text
    assert "<dt>check</dt>" in text and "Lines with room for more speed" in text
    assert "Nothing in it costs more than it must." in njit(lambda x: x * 2.0).report((float,))._repr_html_()


def test_without_jinja2_there_is_the_text(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    made = njit(unequal)
    made(np.ones(3), 3)
    assert made.report()._repr_html_() is None
    text, = made.report().values()
    assert text == "all of unequal is native" and text._repr_html_() is None
