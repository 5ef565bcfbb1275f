"""The effects of operations are honest: code that leaves with an exception, writes or reads memory is of an operation
that says so."""
import re

import pytest
from tests.api.compile_many import OWN
from tests.ir.functions import FUNCTIONS

from pyjitc.base.options import Options
from pyjitc.codegen import link
from pyjitc.codegen.compile import module_text
from pyjitc.codegen.function import FunctionEmitter
from pyjitc.ir.core import ALLOCATES, HOST, RAISES, READS, TERMINATOR, WRITES
from pyjitc.ops.control import INVOKE
from pyjitc.ops.memory import ARRAY_LOAD, ARRAY_STORE, CHECK_INDEX
from pyjitc.pipeline import stages
from pyjitc.types.typeof import typeof

_ACCESS = re.compile(r"(?:(store) [^\n]*?|= (load) [^\n]*?|\b(memcpy|memset)[^\n]*?)\bptr (%\w+|@[\w.]+)")
_SAME_MEMORY = re.compile(r"(%\w+) = getelementptr [^\n]*?ptr (%\w+)")


def accesses(lines):
    """Kinds of access to memory that is not a variable of the function's own (%a1, ...) and no constant table."""
    own = set()
    for line in lines:
        same = _SAME_MEMORY.search(line)
        if same and (same[2] in own or re.fullmatch(r"%a\d+", same[2])):
            own.add(same[1])
    found = set()
    for line in lines:
        access = _ACCESS.search(line)
        if access and access[4] not in own and not re.fullmatch(r"%a\d+|@.*", access[4]):
            found.add("reads" if access[2] else "writes")
    return found


@pytest.fixture
def seen(monkeypatch):
    """Operation -> what its code does, for all that is compiled in the test."""
    found: dict = {}
    instruction, fail = FunctionEmitter.instruction, FunctionEmitter.fail
    now = []

    def watched(self, inst):
        lines, cold = self.lines, self.cold
        first, start = len(lines), len(cold)
        now.append(does := found.setdefault(inst.op, set()))
        instruction(self, inst)
        now.pop()
        if self.lines is lines and self.cold is cold:
            does |= accesses([*lines[first:], *cold[start:]])

    def failing(self, inst):
        if now:
            now[-1].add("raises")
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
    assert len(seen) > 90 and sum("raises" in does for does in seen.values()) > 15
    assert "writes" in seen[ARRAY_STORE] and "reads" in seen[ARRAY_LOAD] and seen[CHECK_INDEX] == {"raises"}
    for op, does in seen.items():
        if not op.effects & TERMINATOR and op is not INVOKE:
            assert all(op.effects & allowed[what] for what in does), (op, does)
