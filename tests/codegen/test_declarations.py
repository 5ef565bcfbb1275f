"""What LLVM text uses and does not define is declared as its first use says."""
import pytest

from pyjitc.codegen.declarations import declared


def added(text, *more):
    return declared(text, *more).split("\n")[text.count("\n") + 1:]


@pytest.mark.parametrize("line, declaration", [
    ("  call void @f()", "declare void @f()"),
    ("  %v = call ptr @f(ptr null, i64 %n)", "declare ptr @f(ptr, i64)"),
    ("  %v = call fast double @f(double %x)", "declare double @f(double)"),
    ("  %v = tail call {i64, i1} @f({ i32, ptr } %x, <4 x i1> %y)", "declare {i64, i1} @f({ i32, ptr }, <4 x i1>)"),
    ("  %v = call ptr (ptr, ptr, ...) @f(ptr %x, ptr @text, i64 3)", "declare ptr @f(ptr, ptr, ...)"),
    ("  %v = call preserve_mostcc i32 @f()", "declare preserve_mostcc i32 @f()"),
    ("  call void @f(ptr getelementptr (i8, ptr @g, i64 8),\n        i8 signext %c)", "declare void @f(ptr, i8)"),
    ("  call void @f(ptr addrspace(3) %p, metadata !3)", "declare void @f(ptr addrspace(3), metadata)"),
    ("  %v = call ptr @malloc(i64 8)", "declare noalias ptr @malloc(i64)"),
    ("  %v = load ptr, ptr @f, align 8", "@f = external global i8"),
])
def test_the_first_use_says_what_a_symbol_is(line, declaration):
    assert declaration in added(f"@g = global i8 0\n@text = global i8 0\n{line}")


def test_what_is_known_is_not_declared():
    text = "@g = global i8 0\ndeclare void @h(ptr) nounwind\ndefine void @f() {\n  call void @h(ptr @g)\n  ret void\n}"
    assert added(text) == []
    assert added(text + "\n  call void @other()", "define void @other() {\n  call void @last()\n}") == [
        "declare void @last()"]


def test_each_is_declared_once_in_the_order_of_the_uses():
    assert added("  call void @b(i8 0)\n  call void @a()\n  call void @b(i8 1)") == [
        "declare void @b(i8)", "declare void @a()"]
