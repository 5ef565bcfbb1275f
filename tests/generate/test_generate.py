"""The generator is reproducible, covers the language, and finds nothing in a small batch; programs on which it found
bugs."""
import ast
import re
from pathlib import Path

import numpy
import pytest
from tests.generate import check as check_module
from tests.generate import containers, data, loops, mixed, objects, parallel, vocabulary
from tests.generate.check import check, described, passes, stages
from tests.generate.check import containers as check_containers
from tests.generate.check import loops as check_loops
from tests.generate.check import parallel as check_parallel
from tests.generate.programs import program
from tests.generate.shrink import shrink
from tests.generate.worker import Worker

from pyjitc.passes.pipeline import PASSES

CASES = sorted((Path(__file__).parent / "cases").glob("*.py"))


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_what_was_found(path):
    assert check(path.read_text()) == ("ok", "")


@pytest.mark.parametrize("seed", range(60))
def test_programs(seed):
    status, text = check(program(seed))
    assert status in ("ok", "skipped"), f"{text}\n{program(seed)}"
    if seed % 3 == 0 and status == "ok":
        assert stages(program(seed))[0] == "ok", program(seed)
    if seed % 5 == 1 and status == "ok":
        assert passes(program(seed)) == ("ok", "the IR is right after each pass"), program(seed)


@pytest.mark.parametrize("seed", range(24))
def test_programs_about_containers(seed):
    status, text = check_containers(containers.program(seed))
    assert status in ("ok", "skipped", "refused"), f"{text}\n{containers.program(seed)}"


@pytest.mark.parametrize("seed", range(16))
def test_programs_about_objects(seed):
    status, text = check_containers(objects.program(seed))
    assert status in ("ok", "skipped", "refused"), f"{text}\n{objects.program(seed)}"


@pytest.mark.parametrize("seed", range(6))
def test_programs_about_data_of_many_kinds(seed):
    status, text = check_containers(data.program(seed))
    assert status == "ok", f"{text}\n{data.program(seed)}"


@pytest.mark.parametrize("seed", range(40))
def test_loops(seed):
    status, text = check_loops(loops.program(seed))
    assert status in ("ok", "skipped", "refused"), f"{text}\n{loops.program(seed)}"


@pytest.mark.parametrize("seed", range(24))
def test_loops_over_arrays_of_different_dtypes(seed):
    status, text = check_loops(mixed.program(seed))
    assert status in ("ok", "skipped", "refused"), f"{text}\n{mixed.program(seed)}"


@pytest.mark.parametrize("seed", range(8))
def test_parallel_loops(seed):
    status, text = check_parallel(parallel.program(seed))
    assert status in ("ok", "skipped", "refused"), f"{text}\n{parallel.program(seed)}"


def test_passes_over_loops_change_the_programs(monkeypatch):
    changed = set()
    names = {"columns", "extremes", "inspector", "jam", "retests", "speculate", "vectorise"}
    for one in [one for one in PASSES if one.__name__.rpartition(".")[2] in names]:
        def run(fn, *args, run=one.run, name=one.__name__.rpartition(".")[2]):
            before = [block.insts[:] for block in fn.blocks]
            run(fn, *args)
            if [block.insts for block in fn.blocks] != before:
                changed.add(name)
        monkeypatch.setattr(one, "run", run)
    for seed in (72, 77, 81, 93, 98, 101):
        assert check_loops(loops.program(seed))[0] == "ok"
    assert changed == names


SHARED = """
import numpy as np


@njit
def f(a):
    a[-1] = 0


def arguments():
    memory = np.arange(5.0)
    return memory[1:3],


CALLS = [arguments]
"""


def test_memory_around_an_argument_is_compared(monkeypatch):
    assert check_loops(SHARED) == ("ok", "")
    monkeypatch.setattr(check_module, "_with_memory", lambda function, make, known=check_module._with_memory: (
        known(function, lambda: (numpy.arange(3.0 + hasattr(function, "py_func"))[:2],))))
    assert check_loops(SHARED)[0] == "wrong"


def test_same_seed_same_program():
    assert program(7) == program(7) != program(8)
    assert loops.program(7) == loops.program(7) != loops.program(8)
    assert containers.program(7) == containers.program(7) != containers.program(8)
    assert data.program(7) == data.program(7) != data.program(8)


def test_descriptions_tell_what_is_the_same_object():
    one = [1]
    assert described(([one, one], 1)) != described(([one, [1]], 1))
    assert described([1]) != described([1.0]) != described([True])
    assert described({1: one, 2: 3}) != described({2: 3, 1: one})


def test_operations_on_containers_occur():
    text = "".join(containers.program(seed) for seed in range(300))
    for word in (".append(", ".insert(", ".pop(", ".sort(key=", "heapq.heappush(", ".popleft(", ".setdefault(", "{**",
                 ".items()", "popitem()", "[::-1]", " is ", " in ", "*v", "except KeyError", "defaultdict(list", " |= ",
                 "Counter(", "Point(", "Base(", "lambda", "for v", "isinstance(", ".split(", "del p0[", ".encode()"):
        assert word in text, word


def test_each_statement_about_data_occurs():
    assert all(word in text for text in ["".join(data.program(seed) for seed in range(400))] for word in (
        "def do1(self", "nonlocal", "yield i, ", "def h1(", "match ", "heapq.heappush(events", "Mode[", "stack.push(",
        "with Restored(", ".send(", "trie.insert(", "Account.of(", "except Full", "spots[Vector(", "frozenset("))
    for text in vocabulary.STATEMENTS:
        ast.parse(re.sub(r"\{(int|str|list|cond)0?\}", "x", text).replace("{{", "{").replace("}}", "}"))


def test_constructs_occur():
    seen = {type(node) for seed in range(300) for node in ast.walk(ast.parse(program(seed)))}
    assert not {ast.For, ast.While, ast.If, ast.Try, ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Assert,
                ast.Delete, ast.Tuple, ast.Lambda, ast.Nonlocal, ast.FunctionDef, ast.AugAssign, ast.Subscript,
                ast.Slice, ast.IfExp, ast.BoolOp, ast.Compare, ast.GeneratorExp, ast.Call, ast.keyword,
                ast.Attribute} - seen


WRONG = """
@njit
def f(x, y):
    z = x + 1
    if x > y:
        for k in range(3):
            y += helper(k)
    return z


def helper(k):
    return k


CALLS = [(5, 3), (1, 2)]
"""


def test_shrinking_keeps_the_failure():
    text = shrink(WRONG, lambda text: "helper(" in text.partition("CALLS")[0].partition("def helper")[0])
    assert len(text) < len(WRONG) / 2 and "helper(" in text and "range" not in text


def test_difference_is_seen():
    source = "import time\n\n\ndef f(x):\n    return time.perf_counter_ns()\n\n\nCALLS = [(1,)]\n"
    assert check(source)[0] == "wrong"  # two calls never have equal results
    assert check("def f(x):\n    return x * 2 ** 62\n\n\nCALLS = [(5,)]\n") == ("skipped", "ints beyond 64 bits")
    assert check("@njit\ndef f(x):\n    return [].sort\n\n\nCALLS = [(5,)]\n")[0] == "refused"


def test_crash_and_hang_are_answers():
    worker = Worker(seconds=8.0)
    try:
        assert worker.ask("import os\n\n\ndef f(x):\n    os.abort()\n\n\nCALLS = [(1,)]\n")[0] == "crash"
        assert worker.ask("def f(x):\n    return x\n\n\nCALLS = [(1,)]\n") == ("ok", "")
        worker.seconds = 1.0
        assert worker.ask("def f(x):\n    while x:\n        pass\n\n\nCALLS = [(1,)]\n")[0] == "hang"
    finally:
        worker.stop()


def test_a_wrong_pass_is_named(monkeypatch):
    from pyjitc.ops.arith import IADD_CK, ISUB_CK
    from pyjitc.passes import simplify

    def wrong(fn, options=None):
        for block in fn.blocks:
            for inst in block.insts:
                inst.op = ISUB_CK if inst.op is IADD_CK else inst.op

    source = "@njit\ndef f(x, y):\n    return x * y + y\n\n\nCALLS = [(5, 3)]\n"
    assert passes(source)[0] == "ok"
    monkeypatch.setattr(simplify, "run", wrong)
    status, text = passes(source)
    assert status == "wrong" and text.startswith("after simplify, call 0: ")
