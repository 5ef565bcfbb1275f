"""Our decoder against the `bytecode` package, over the code of the standard library: instructions, jumps, exception
ranges, positions."""
import dis
import importlib
import types

import bytecode
import pytest

from pyjitc import njit
from pyjitc.front.bytecode import decode, exception_ranges

MODULES = ("ast", "argparse", "asyncio.tasks", "contextlib", "copy", "dataclasses", "_pydecimal", "difflib", "doctest",
           "enum", "fractions", "functools", "inspect", "json.decoder", "logging", "posixpath", "pickle", "random",
           "re", "shutil", "statistics", "string", "subprocess", "tarfile", "textwrap", "threading", "tokenize",
           "traceback", "typing", "unittest.mock", "urllib.parse", "zipfile")


def every_code(module):
    """The code objects of a module and of everything in it."""
    work = [importlib.import_module(module).__spec__.loader.get_code(module)]
    while work:
        code = work.pop()
        yield code
        work += [c for c in code.co_consts if isinstance(c, types.CodeType)]


def decoded(code):
    """(offset of the first unit, instruction) for each instruction, as decoded by the package."""
    found = []
    offset, start = 0, None
    for instruction in bytecode.ConcreteBytecode.from_code(code, extended_arg=True):
        at, offset = offset, offset + instruction.size
        if instruction.name == "CACHE":
            continue
        start = at if start is None else start
        if instruction.name != "EXTENDED_ARG":
            found.append((start, instruction))
            start = None
    return found


@pytest.mark.parametrize("module", MODULES)
def test_instructions(module):
    count = 0
    for code in every_code(module):
        ours = decode(code)
        plain = [i for i in bytecode.ConcreteBytecode.from_code(code) if i.name != "CACHE"]
        assert [x.name for x in ours] == [i.name for i in plain], code
        for x, i in zip(ours, plain):
            assert x.arg == (i.arg if isinstance(i.arg, int) else 0) or not i.require_arg(), (code, x)
        assert [x.offset for x in ours] == [start for start, _ in decoded(code)], code
        count += len(ours)
    assert count > 50


@pytest.mark.parametrize("module", MODULES)
def test_jumps(module):
    for code in every_code(module):
        ours = decode(code)
        places, jumps = {}, []
        at = 0
        for i in bytecode.Bytecode.from_code(code):
            if isinstance(i, bytecode.Label):
                places[i] = ours[at].offset
            elif isinstance(i, bytecode.Instr):
                if isinstance(i.arg, bytecode.Label):
                    jumps.append((ours[at], i))
                at += 1
        for x, i in jumps:
            assert x.name == i.name and x.target == places[i.arg], (code, x)
        assert [x for x in ours if x.target >= 0] == [x for x, _ in jumps], code


@pytest.mark.parametrize("module", MODULES)
def test_exception_ranges(module):
    for code in every_code(module):
        theirs = [(2 * e.start_offset, 2 * e.stop_offset + 2, 2 * e.target, e.stack_depth, bool(e.push_lasti))
                  for e in bytecode.ConcreteBytecode.from_code(code).exception_table]
        ours = exception_ranges(code)
        assert ours == theirs, code


@pytest.mark.parametrize("module", MODULES[:8])
def test_lines(module):
    for code in every_code(module):
        plain = [i for i in bytecode.ConcreteBytecode.from_code(code) if i.name != "CACHE"]
        for x, i in zip(decode(code), plain):
            # our decoder gives the position of the iterated expression
            if isinstance(i.lineno, int) and x.name != "GET_ITER":
                assert x.loc.line == i.lineno, (code, x)


def test_instructions_that_a_tool_adds_have_a_position():
    """line_profiler adds instructions to the end, and leaves the table of positions as it is."""
    def f(n):
        return n * 2

    code = f.__code__
    f.__code__ = code.replace(co_code=code.co_code + bytes([dis.opmap["NOP"], 0]) * 3)
    assert [x.name for x in decode(f.__code__)] == [x.name for x in decode(code)] + ["NOP"] * 3
    assert njit(f)(4) == 8
