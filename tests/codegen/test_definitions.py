"""The notation of the helpers in LLVM text: operands that are instructions, and blocks that go on to the next one."""
import pytest

from pyjitc.codegen import helpers, link, llvm
from pyjitc.codegen.declarations import declared
from pyjitc.codegen.definitions import expanded
from pyjitc.ir.cfg import closure

HOMES = ("decimals", "errors", "list_items", "localtables", "memory", "mersenne", "natives", "objects", "owned",
         "sorting", "strings", "tables")


@pytest.mark.parametrize("line, instructions", [
    ("  br i1 (icmp ult i64 (sub i64 %n, 1), 8), label %a, label %b",
     ["sub i64 %n, 1", "icmp ult i64 %.0, 8", "br i1 %.1, label %a, label %b"]),
    ("  %x = add i64 (call i64 @f(ptr %p)), (call i64 @g(i64 (load i64, ptr %q)))",
     ["call i64 @f(ptr %p)", "load i64, ptr %q", "call i64 @g(i64 %.1)", "add i64 %.0, %.2"]),
    ("  store i8 (trunc i64 %n to i8), ptr (getelementptr i8, ptr %p, i64 4), align 1",
     ["trunc i64 %n to i8", "getelementptr i8, ptr %p, i64 4", "store i8 %.0, ptr %.1, align 1"]),
    ("  %x = call ptr (i64, ...) @f(i64 1, ptr (load ptr, ptr %p))",
     ["load ptr, ptr %p", "call ptr (i64, ...) @f(i64 1, ptr %.0)"]),
])
def test_operands_are_computed_from_left_to_right_before_the_instruction(line, instructions):
    assert [one.strip().partition(" = ")[2] or one.strip() for one in expanded(line).split("\n")] == instructions


@pytest.mark.parametrize("line", [
    "  ret ptr inttoptr (i64 1 to ptr)", "  %x = call ptr (i64, ...) @f(i64 1, ptr %p)",
    "  %x = xor <2 x i1> %y, splat (i1 true)", "  %x = call i64 @f(ptr getelementptr (i8, ptr @g, i64 8))"])
def test_constant_expressions_and_types_stay(line):
    assert expanded(line) == line


def test_a_block_without_a_jump_goes_on_to_the_next_one():
    text = """define i64 @f(i64 %n) {
start:
  %x = add i64 %n, 1

next:
  switch i64 %x, label %last [ i64 1, label %last
                               i64 2, label %last ]
last:
  ret i64 %x
}"""
    assert expanded(text).split("\n") == [
        *text.split("\n")[:4], "  br label %next", *text.split("\n")[4:]]


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("ways", [{}, {"nogil": True}, {"pooled": True}], ids=["plain", "nogil", "pooled"])
def test_every_helper_is_valid(home, ways):
    names = closure(list(getattr(helpers, home).TEXT), helpers.needed)
    weights = '!0 = !{!"branch_weights", i32 2000, i32 1}'  # of a module (codegen/module.py)
    target = link.host_target()
    text = "\n".join([f'target triple = "{target.triple}"', f'target datalayout = "{target.layout}"',
                      expanded(helpers.text(names, **ways)), weights])
    module = llvm.Module(declared(text))
    try:
        module.verify()
    finally:
        module.dispose()
