"""What LLVM is told about processors."""
import re

import pytest

from pyjitc.codegen import llvm

INDEXED = """
define void @f(ptr noalias %to, ptr noalias %from, ptr noalias %indices) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %index = getelementptr i64, ptr %indices, i64 %i
  %n = load i64, ptr %index
  %where = getelementptr double, ptr %from, i64 %n
  %x = load double, ptr %where
  %y = fadd double %x, 1.0
  %out = getelementptr double, ptr %to, i64 %i
  store double %y, ptr %out
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 1024
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


@pytest.mark.parametrize("name, gathers", [("znver4", False), ("znver5", False), ("icelake-server", True)])
def test_elements_are_loaded_one_by_one_on_processors_with_slow_gathers(name, gathers):
    triple = llvm.host()[0]
    machine = llvm.Machine(triple, name, ",".join(["+avx512f", "+avx512vl", "+avx512dq", *llvm.scalar_loads(name)]))
    module = llvm.Module(f'target triple = "{triple}"\ntarget datalayout = "{machine.layout}"\n{INDEXED}')
    llvm.optimise(module, machine, 2)
    assert bool(re.search("gather", machine.emit(module, False).decode())) is gathers
