"""The declared effects of operations are true: an operation whose code raises, or reads or writes memory, declares
that."""
import re

import pytest
from tests.api.compile_many import OWN
from tests.ir.functions import FUNCTIONS

from pyjitc.base.options import Options
from pyjitc.codegen import link
from pyjitc.codegen.compile import module_text
from pyjitc.codegen.function import FunctionEmitter
from pyjitc.ir.core import (
    ALLOCATES, HOST, RAISES, READS, REGIONS, TERMINATOR, WRITES, regions_read, regions_written,
)
from pyjitc.ops.control import INVOKE
from pyjitc.ops.memory import ARRAY_LOAD, ARRAY_STORE, CELL_LOAD, CELL_STORE, CHECK_INDEX
from pyjitc.pipeline import stages
from pyjitc.types.kinds import Array, Cell, Instance, Iterator
from pyjitc.types.typeof import typeof

_ACCESS = re.compile(r"(?:(store) [^\n]*?|= (load) [^\n]*?|\b(memcpy|memset)[^\n]*?)\bptr (%[\w.]+|@[\w.]+)")
_SAME_MEMORY = re.compile(r"(%[\w.]+) = getelementptr [^\n]*?ptr (%[\w.]+)")


def accesses(lines, regions):
    """The kinds of access, with the region where it is known, to memory other than the function's own variables (%a1,
    ...) and constant tables. regions: pointer -> the region to which it points; pointers computed from these are
    added."""
    own = set()
    for line in lines:
        same = _SAME_MEMORY.search(line)
        if same and (same[2] in own or re.fullmatch(r"%a\d+", same[2])):
            own.add(same[1])
        elif same and same[2] in regions:
            regions[same[1]] = regions[same[2]]
    found = set()
    for line in lines:
        access = _ACCESS.search(line)
        if access and access[4] not in own and not re.fullmatch(r"%a\d+|@.*", access[4]):
            found.add(("reads" if access[2] else "writes", regions.get(access[4])))
    return found


def regions_of(operands):
    """Pointer -> the region to which it points: the data of an array, the box of a cell (after its count), the object
    of a random number generator."""
    found = {}
    for t, x in operands:
        if isinstance(t, (Array, Cell, Iterator)) or isinstance(t, Instance) and t.cls.__module__.startswith("numpy"):
            found[x[0]] = "elements" if isinstance(t, Array) else "random" if isinstance(t, Instance) else "cells"
    return found


@pytest.fixture
def seen(monkeypatch):
    """Operation -> the effects of its code, for all functions that the test compiles."""
    found: dict = {}
    regions: dict = {}  # emitter -> pointer -> region: an address that was computed before is not computed again
    instruction, fail = FunctionEmitter.instruction, FunctionEmitter.fail
    now = []

    def watched(self, inst):
        lines, cold = self.lines, self.cold
        first, start = len(lines), len(cold)
        regions.setdefault(self, {}).update(regions_of((v.type, self.values[v]) for v in inst.args))
        now.append(does := found.setdefault(inst.op, set()))
        instruction(self, inst)
        now.pop()
        if self.lines is lines and self.cold is cold:
            does |= accesses([*lines[first:], *cold[start:]], regions[self])

    def failing(self, inst):
        if now:
            now[-1].add(("raises", None))
        return fail(self, inst)

    monkeypatch.setattr(FunctionEmitter, "instruction", watched)
    monkeypatch.setattr(FunctionEmitter, "fail", failing)
    return found


def test_what_code_does_is_declared(seen):
    for function, args in [*((function, calls[0]) for function, calls in FUNCTIONS), *OWN]:
        types, options = tuple(map(typeof, args)), Options()
        typed = stages.infer(function, types, options)
        module_text(stages.optimise(typed.functions, options), stages.calling(function, typed), link.host_target(),
                    options)
    allowed = {"raises": RAISES, "writes": WRITES | ALLOCATES, "reads": READS | WRITES | ALLOCATES | RAISES | HOST}
    assert len(seen) > 90 and sum(("raises", None) in does for does in seen.values()) > 15
    assert seen[ARRAY_STORE] == {("writes", "elements")} and seen[ARRAY_LOAD] == {("reads", "elements")}
    assert ("reads", "cells") in seen[CELL_LOAD] and ("writes", "cells") in seen[CELL_STORE]
    assert seen[CHECK_INDEX] == {("raises", None)}
    for op, does in seen.items():
        if not op.effects & TERMINATOR and op is not INVOKE:
            assert all(op.effects & allowed[what] for what, _ in does), (op, does)
            for what, region in does:
                if region:  # the region of an operand: an access to it has to be declared with the region
                    named = regions_written(op.effects) | (regions_read(op.effects) if what == "reads" else 0)
                    assert named & REGIONS[region], (op, does)
