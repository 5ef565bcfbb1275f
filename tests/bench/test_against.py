"""The comparison of two source trees in turns: what it calls slower, what it prints, what it refuses."""
import pathlib

import pytest

from bench import against
from bench.__main__ import main
from bench.against import Failed, Times

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Measured:
    """A way to measure whose times are given: the next ones of a program at each call."""

    def __init__(self, **times):
        self.times = {name: iter(given) for name, given in times.items()}
        self.entered = 0

    def __enter__(self):
        self.entered += 1

    def __exit__(self, *exception):
        pass

    def __call__(self, suite, name):
        found = next(self.times[name])
        if isinstance(found, Exception):
            raise found
        return found


@pytest.mark.parametrize("old, new, ratio, slower", [
    (1.0, 1.0, 1.0, False), (1.0, 1.04, 1.04, False), (1.0, 1.06, 1.06, True), (1.0, 0.5, 0.5, False),
    (1.0, 1.2, 1.01, False),  # one turn of the old one was lucky
    (1.0, 1.01, 1.2, False)])
def test_what_is_slower(old, new, ratio, slower):
    assert Times(old, new, ratio).slower is slower


def test_what_is_slower_is_measured_again(capsys):
    bad, good = Times(1e-3, 2e-3, 2.0), Times(1e-3, 1e-3, 1.0)
    error = Failed("under the new compiler: x")
    way = Measured(always=[bad, bad, bad], once=[bad, good], never=[good], broken=[error], then=[bad, error])
    worse = against._compared("loops", "a call", list(way.times), way)
    assert worse == ["loops: broken, a call: under the new compiler: x",
                     "loops: always, a call: " + ", ".join(["1,000.0 -> 2,000.0 us (2.00x)"] * 3),
                     "loops: then, a call: under the new compiler: x"]
    assert way.entered == 1 + 2 + 1 + 1  # all programs, then each measurement of one again in new processes
    assert "loops, a call: new over old 1.682x in the geometric mean of 4" in capsys.readouterr().out


def test_a_tree_against_itself(capsys):
    code = main(["--against", str(ROOT), "loops", "--only", "gcd", "--quick"])
    printed = capsys.readouterr().out
    assert "loops, a call: new over old" in printed and "loops, first calls: new over old" in printed
    assert printed.startswith(f"old   {ROOT}") and f"new   {ROOT}" in printed
    assert code == ("\n0 are slower" not in printed)


@pytest.mark.parametrize("suite, name", [("c", "gemm"), ("containers", "two sum"), ("npbench", "crc16")])
def test_programs_of_each_form_are_measured(suite, name):
    assert name in against._names(suite)
    assert 0 < against._program(suite, name)() < 1


def test_a_program_that_fails_is_named(tmp_path, capsys):
    (tmp_path / "pyjitc").mkdir()
    (tmp_path / "pyjitc" / "__init__.py").write_text("def njit(**options):\n    raise ValueError('of this state')\n")
    assert main(["--against", str(tmp_path), "loops", "--only", "gcd", "--quick"]) == 1
    printed = capsys.readouterr().out
    assert "slower: loops: gcd_sum, a call: under the old compiler: ValueError: of this state" in printed
    assert "slower: loops: gcd_sum, first calls: under the old compiler: ValueError: of this state" in printed


def test_a_process_that_dies_is_started_again(tmp_path):
    (tmp_path / "pyjitc").mkdir()
    (tmp_path / "pyjitc" / "__init__.py").write_text("def njit(**options):\n    import os\n    os._exit(3)\n")
    with against._Turns({"old": str(ROOT), "new": str(tmp_path)}, 1) as way:
        for _ in range(2):
            with pytest.raises(Failed, match="the process of the new compiler died"):
                way("loops", "gcd_sum")


def test_the_help_says_what_it_does(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0 and "when one takes 5% longer in 3" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("arguments, message", [
    (["--against", "/nosuch"], "/nosuch is no source tree: it has no folder pyjitc"),
    (["--against", str(ROOT), "math"], "--against has no programs of the suite math; it has those of loops"),
    (["--against", str(ROOT), "loops", "--only", "nosuch"], "no program of loops has 'nosuch' in its name"),
    (["--against", str(ROOT), "--json", "x.json"], "--against prints what is slower, and writes and reads no figures")])
def test_wrong_command_lines(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2 and message in capsys.readouterr().err
