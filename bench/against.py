"""`--against FOLDER`: the programs of some suites, compiled by the pyjitc of this source tree and by that of another
one, in turns.

A file of figures is from another day, and perhaps from another machine. Here both compilers are measured in one run:
each has a process of its own with the programs of this tree, and they take turns program by program and round by round.
A first call is CPU time in a new process, which follows one that has left bytecode and typed library functions. What is
slower is measured again, each time in new processes, because the code of some programs takes one of two times,
depending on where in memory a process has its code and data.
"""
from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np

from .c import SETS
from .measure import child, progress, runs
from .peers import load
from .results import REPEATS, WrongFile
from .worker import ONE_THREAD, Failed

__all__ = ["SUITES", "check_tree", "compare", "first", "serve"]

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# suite -> the file with its programs; the kernels of npbench have a folder
SUITES = {"loops": "programs", "small": "small_programs", "c": "c_programs", "containers": "container_programs",
          "npbench": ""}
TOLERANCE = 0.05  # the share by which a time may be longer
ROUNDS, FIRSTS = 5, 3  # turns of a program, and first calls of it
OLD, NEW = "old", "new"


class Times(NamedTuple):
    """The shortest seconds of a call under both compilers; ratio: the median of those of their turns, new over old."""

    old: float
    new: float
    ratio: float

    @classmethod
    def of(cls, turns: dict[str, list[float]]) -> Times:
        return cls(min(turns[OLD]), min(turns[NEW]), statistics.median(
            [new / old for old, new in zip(turns[OLD], turns[NEW])]))

    @property
    def slower(self) -> bool:
        return self.new > self.old * (1 + TOLERANCE) and self.ratio > 1 + TOLERANCE / 2


def check_tree(folder: str) -> None:
    """Raise WrongFile if a folder is no source tree of pyjitc."""
    if not os.path.isfile(os.path.join(folder, "pyjitc", "__init__.py")):
        raise WrongFile(f"{folder} is no source tree: it has no folder pyjitc")


def compare(folder: str, suites, *, quick: bool, only: str) -> int:
    """Measure, and print what is slower; returns 1 if anything is, or fails, else 0. suites: names, none for all."""
    trees = {OLD: os.path.abspath(folder), NEW: HERE}
    print("\n".join(f"{side:<5} {_state(tree)}" for side, tree in trees.items()))
    worse: list[str] = []
    found = False
    for suite in suites or SUITES:
        names = [name for name in _names(suite) if only in name]
        if not names:
            continue
        found = True
        worse += _compared(suite, "a call", names, _Turns(trees, 1 if quick else ROUNDS))
        worse += _compared(suite, "first calls", names, _Firsts(trees, 1 if quick else FIRSTS))
    if not found:
        raise WrongFile(f"no program of {', '.join(suites or SUITES)} has {only!r} in its name")
    print(f"\n{len(worse)} are slower by more than {TOLERANCE:.0%} in {1 + REPEATS} measurements, or fail")
    for line in worse:
        print(f"  slower: {line}")
    return 1 if worse else 0


def _compared(suite: str, what: str, names: list[str], way) -> list[str]:
    """The lines about what is slower, or fails, in all measurements. way: `_Turns` or `_Firsts`."""
    times: dict[str, Times] = {}
    worse = []
    with way:
        for name in names:
            progress(f"{suite}: {name}, {what}")
            try:
                times[name] = way(suite, name)
            except Failed as error:
                worse.append(f"{suite}: {name}, {what}: {error}")
    for name, found in times.items():
        try:
            measured = [found]
            while measured[-1].slower and len(measured) <= REPEATS:
                progress(f"{suite}: {name}, {what}, again")
                with way:
                    measured.append(way(suite, name))
            if measured[-1].slower:
                shown = [f"{t.old * 1e6:,.1f} -> {t.new * 1e6:,.1f} us ({t.new / t.old:.2f}x)" for t in measured]
                worse.append(f"{suite}: {name}, {what}: {', '.join(shown)}")
        except Failed as error:
            worse.append(f"{suite}: {name}, {what}: {error}")
    progress("")
    if times:
        mean = math.exp(statistics.fmean([math.log(t.new / t.old) for t in times.values()]))
        print(f"{suite}, {what}: new over old {mean:.3f}x in the geometric mean of {len(times)}", flush=True)
    return worse


class _Turns:
    """Times of calls: a process for each compiler, which compiles each program once. It is none of worker.py: those
    import the module that was started, and with it this tree's compiler."""

    def __init__(self, trees: dict[str, str], rounds: int):
        self.trees, self.rounds = trees, rounds
        self.sides: dict[str, subprocess.Popen] = {}

    def __enter__(self):
        self.sides = {side: _process(f"from bench.against import serve; serve({tree!r})")
                      for side, tree in self.trees.items()}
        return self

    def __exit__(self, *exception):
        for process in self.sides.values():
            process.kill()
            process.communicate()

    def __call__(self, suite: str, name: str) -> Times:
        turns: dict[str, list[float]] = {side: [] for side in self.sides}
        for k in range(self.rounds):
            for side in (OLD, NEW) if k % 2 else (NEW, OLD):
                turns[side].append(self.ask(side, suite, name))
        return Times.of(turns)

    def ask(self, side: str, suite: str, name: str) -> float:
        process = self.sides[side]
        try:
            print(json.dumps([suite, name]), file=process.stdin, flush=True)
            line = _answer(process)
        except BrokenPipeError:
            line = ""
        if not line:
            self.__exit__()
            self.__enter__()
            raise Failed(f"the process of the {side} compiler died")
        found = json.loads(line)
        if isinstance(found, str):
            raise Failed(f"under the {side} compiler: {found}")
        return found


class _Firsts:
    """Times of first calls, each in a process of its own."""

    def __init__(self, trees: dict[str, str], count: int):
        self.trees, self.count = trees, count

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def __call__(self, suite: str, name: str) -> Times:
        turns: dict[str, list[float]] = {side: [] for side in self.trees}
        for k in range(-1, self.count):  # the first round leaves bytecode and typed functions
            for side in (OLD, NEW) if k % 2 else (NEW, OLD):
                try:
                    seconds = child("from bench.against import first\n"
                                    f"answer(first({self.trees[side]!r}, {suite!r}, {name!r}))", environment=ONE_THREAD)
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    raise Failed(f"under the {side} compiler: {str(error).strip().splitlines()[-1]}") from None
                if k >= 0:
                    turns[side].append(seconds)
        return Times.of(turns)


def _process(source: str) -> subprocess.Popen:
    given = {**os.environ, **ONE_THREAD}
    given.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.Popen([sys.executable, "-c", f"import sys; sys.path.insert(0, {HERE!r}); {source}"], env=given,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def _answer(process: subprocess.Popen) -> str:
    """The next answer of a process, without the lines that programs print; "" at its end."""
    for line in process.stdout or ():
        if line.startswith("ANSWER "):
            return line.removeprefix("ANSWER ")
    return ""


def _state(tree: str) -> str:
    done = subprocess.run(["git", "-C", tree, "log", "-1", "--format=%h %cs %s"], capture_output=True, text=True)
    return f"{tree}: {done.stdout.strip()}" if done.returncode == 0 else tree


def _names(suite: str) -> list[str]:
    if suite == "npbench":
        from .npbench.cases import NAMES

        return list(NAMES)
    return list(load(_path(suite), "cpython")["CASES"])


def _path(suite: str) -> str:
    return os.path.join(HERE, "bench", f"{SUITES[suite]}.py")


# -- in the processes


def serve(tree: str) -> None:
    """The loop of a process: it reads lines with a suite and a program, and prints the seconds of a call, or an
    error."""
    _use(tree)
    known: dict = {}
    for line in sys.stdin:
        suite, name = json.loads(line)
        try:
            if (suite, name) not in known:
                known[suite, name] = _program(suite, name)
            answer: float | str = known[suite, name]()
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"[:200]
        print(f"\nANSWER {json.dumps(answer)}", flush=True)


def first(tree: str, suite: str, name: str) -> float:
    """The CPU seconds of a first call, in which the compiler is loaded."""
    _use(tree)
    function, arguments = _prepared(suite, name)
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def _prepared(suite: str, name: str) -> tuple:
    """(a compiled program, small arguments for it)."""
    if suite == "npbench":
        from .npbench.cases import compiled, kernel

        case = kernel(name)
        return compiled(name, "pyjitc"), case.arguments(**case.tiny)
    function, prepare = load(_path(suite), "pyjitc")["CASES"][name]
    return function, prepare(np.random.default_rng(0))


def _use(tree: str) -> None:
    """Let `import pyjitc` find that of a source tree."""
    sys.path.insert(0, tree)
    import pyjitc

    assert os.path.dirname(os.path.dirname(os.path.abspath(pyjitc.__file__))) == tree, pyjitc.__file__


def _program(suite: str, name: str):
    """A function that returns the seconds of a call of a program: the best of a few windows."""
    if suite == "npbench":
        from .npbench.cases import compiled, kernel, prepared

        function, (_, _, clock) = compiled(name, "pyjitc"), prepared(kernel(name))
        clock(function)
        return lambda: min(clock(function) for _ in range(5))
    if suite not in _loaded:
        _loaded[suite] = load(_path(suite), "pyjitc")["CASES"]
    function, prepare = _loaded[suite][name]
    if suite == "containers":  # these programs change lists and dicts, which nothing restores
        from .containers import runs as runs_with_new_arguments

        return lambda: runs_with_new_arguments({"": (function, prepare)}, 3)[""][-1]
    seeds = range(1, SETS) if suite == "c" else ()
    return lambda: min(runs({"": function}, lambda: prepare(np.random.default_rng(0)), 3, others=[
        prepare(np.random.default_rng(seed)) for seed in seeds])[""])  # anew: programs change them


_loaded: dict[str, dict] = {}
