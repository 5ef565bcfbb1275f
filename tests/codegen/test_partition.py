"""The partition of a module's text into two halves: the contents of each, and that the result is one object."""
import re
import sys

import numpy as np
import pytest

from pyjitc import cuda, njit
from pyjitc.codegen import library, link, partition

FIRST = """define internal i64 @helper(i64 %x) nounwind noinline {
  ret i64 %x
}
declare i32 @puts(ptr)
declare i32 @getpid()
@.s0 = private unnamed_addr constant [2 x i8] c"a\\00"
define i64 @entry(i64 %x) nounwind {
  %y = call i64 @f1.plain(i64 %x)
  ret i64 %y
}
!0 = !{!"branch_weights", i32 2000, i32 1}"""
PLAIN = """define internal i64 @f1.plain(i64 %x) nounwind noinline {
  %s = call i32 @puts(ptr @.s0)
  %y = call i64 @helper(i64 %x)
  ret i64 %y
}"""


def test_each_half_declares_what_it_uses_of_the_other():
    head, other, forms = partition.parted(partition.joined(FIRST, [PLAIN]))
    assert not forms
    assert "define hidden i64 @helper(i64 %x)" in head  # stays unchanged, so that the other half can call it
    assert "declare i64 @f1.plain(i64 %x)" in head and "define hidden i64 @f1.plain" in other
    assert "declare i64 @helper(i64 %x)" in other and "declare i32 @puts(ptr)" in other and "@.s0 = private" in other
    assert "getpid" not in other and "@entry" not in other
    assert partition.parted(FIRST) == (FIRST, "", "")
    assert partition.parted(partition.with_forms(partition.joined(FIRST, [PLAIN]), "forms")) == (head, other, "forms")


def test_a_half_has_what_its_constants_refer_to():
    text = FIRST.replace("!0 =", "@place = internal global { ptr } { ptr @.s1 }\n"
                         "@.s1 = private constant [1 x i8] c\"b\"\n"
                         "define internal i64 @wide(i64 %x,\n        i64 %y) nounwind {\n  ret i64 %x\n}\n!0 =")
    part = PLAIN.replace("  ret", "  %p = load ptr, ptr @place\n  %z = call i64 @wide(i64 %y, i64 %y)\n  ret")
    head, other, _ = partition.parted(partition.joined(text, [part]))
    assert "@place = internal" in other and "@.s1 = private" in other
    assert "define hidden i64 @wide(i64 %x,\n        i64 %y) nounwind {" in head
    assert "declare i64 @wide(i64 %x,\n        i64 %y) nounwind\n" in other


def test_the_halves_become_one_object(monkeypatch):
    monkeypatch.setenv("PYJITC_VERIFY", "1")
    target = link.host_target()
    text = link.to_text(partition.joined(FIRST, [PLAIN]), target)
    assert re.findall(r"^define (internal )?.*@([\w.]+)\(", text, re.MULTILINE) == [
        ("internal ", "helper"), ("", "entry"), ("internal ", "f1.plain")]


@pytest.fixture
def texts(monkeypatch, tmp_path):
    """The texts that LLVM gets. No library function is there from other programs."""
    monkeypatch.setattr(library, "_made", {})
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    found = []
    to_object = link.to_object
    monkeypatch.setattr(link, "to_object", lambda text, *more: found.append(text) or to_object(text, *more))
    return found


def halves(text):
    """Names of the functions in both halves of a text, and the second half."""
    head, other, _ = partition.parted(text)
    return (*({name.partition(".")[2] or name for name in re.findall(r"^define .*?@([\w.]+)\(", half, re.MULTILINE)}
              for half in (head, other)), other)


def test_what_sorts_and_selects_is_not_vectorised(texts):
    f = njit(lambda a: np.median(np.sort(a)))
    f(np.array([3.0, 1.0, 2.0] * 20))
    heads, others, parts = zip(*map(halves, texts))
    head, other = set().union(*heads), set().union(*others)
    assert {"sort_keys", "radix_sort", "inserted", "median_row", "select_key"} == other
    assert not other & head and "extent" in head  # `extent` is vectorised
    assert any("!llvm.loop" in part for part in parts)  # marked, so that LLVM does not vectorise the loops
    a = np.arange(40.0)[::-1].copy()
    assert f(a) == np.median(a)


def test_what_calls_lapack_is_not_vectorised(texts):
    f = njit(lambda a, b: np.linalg.solve(a, b))
    for b, name in (np.ones(3), "solve_vector"), (np.ones((3, 2)), "solve_matrix"):
        texts.clear()
        f(np.eye(3), b)
        heads, others, _ = zip(*map(halves, texts))
        assert set().union(*others) == {name} and name not in set().union(*heads)


def added(a, limit):
    total = 0.0
    for i in range(len(a)):
        if a[i] > limit:
            total += a[i]
    return total


def scaled(a, limit):  # in vectors already (codegen/wide.py)
    for i in range(len(a)):
        a[i] = a[i] * limit
    return limit


def cut(a, limit):
    for i in range(len(a)):
        if a[i] > limit:
            a[i] = limit
    return limit


def with_the_same_each_time(a, limit):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * a[0]
    return total


def in_a_nest(a, limit):
    total = 0.0
    for _ in range(3):
        for i in range(len(a)):
            total += a[i]
    return total


def one_of_two(a, limit):
    if limit > 1.0:
        return limit * 2.0 - a[0]
    return limit


def called(a, limit):
    return called(a, limit - 1.0) if limit > 1.0 else limit


@pytest.mark.parametrize("f, plain",
                         [(added, True), (one_of_two, True), (scaled, True), (cut, False),
                          (with_the_same_each_time, False), (in_a_nest, False), (called, False)])
def test_what_has_nothing_to_vectorise_hoist_or_inline_gets_a_few_passes(texts, f, plain):
    x, y = np.linspace(0.0, 3.0, 50), np.linspace(0.0, 3.0, 50)
    assert njit(f)(x, 1.5) == f(y, 1.5)
    np.testing.assert_array_equal(x, y)
    assert texts[-1].endswith(partition.FEW_PASSES) == plain


def added_above(a, limit):
    total = 0.0
    for i in range(len(a)):
        if a[i] > limit:
            total += a[i]
    return total


def halved(a, limit):
    return limit / 2.0


def blended(a, limit):
    return limit * 0.5 + limit


@pytest.mark.parametrize("f, options, combined", [(added_above, {}, False), (halved, {}, True), (blended, {}, False),
                                                  (blended, {"fastmath": True}, True)])
def test_instructions_are_not_combined_where_the_code_generator_does_that(texts, f, options, combined):
    """A division by a power of two is one that only LLVM's pass makes a product."""
    x = np.linspace(0.0, 3.0, 50)
    assert njit(f, **options)(x, 1.5) == f(x, 1.5)
    assert texts[-1].endswith(partition.FEW_PASSES) and texts[-1].endswith(partition.FEWEST) != combined


def first_not_above(a, limit):
    n = 0
    for x in a:
        below = not x > limit
        if below:
            return n
        n += 1
    return -1


def signs(x, y):
    return [not x < y, not x <= y, not x > y, not x >= y, not x == y, not x != y]


def test_the_negation_of_a_comparison_of_floats_is_another_comparison(texts):
    """Where an operand is NaN, the negation holds, and no order."""
    for f, operands in ((first_not_above, (np.array([2.0, 3.0, np.nan, 1.0]), 1.5)),
                        *((signs, (x, y)) for x in (1.0, np.nan) for y in (1.0, 2.0, np.nan))):
        assert njit(f)(*operands) == f(*operands)
    assert "fcmp ule" in "".join(texts)


def described(name, n):
    return f"{name}: {n}"


def joined(names, n):
    text = ""
    for name in names:
        text += name
    return text


@pytest.mark.parametrize("f, argument, plain", [(described, "ab", True), (joined, ["a", "b"], False)])
def test_helpers_are_inlined_by_a_few_passes_where_no_loop_repeats_them(texts, f, argument, plain):
    assert njit(f)(argument, 3) == f(argument, 3)
    assert "alwaysinline" in texts[-1]
    assert texts[-1].endswith(partition.FEW_PASSES) == plain


def test_kernels_get_the_whole_pipeline(texts):
    """The threads of a grid are run as loops, which LLVM vectorises."""
    x = np.ones(5)
    cuda.jit(doubled)[1, 8](x)
    assert x.tolist() == [2.0] * 5
    kernels = [text for text in texts if "doubled" in text]
    assert kernels and not any(text.endswith(partition.FEW_PASSES) for text in kernels)


def doubled(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2.0


def test_a_comparison_that_chooses_a_sum_is_no_jump():
    """As with LLVM's whole pipeline, the element is read once, and the sum is a select instruction."""
    f = njit(added)
    f(np.ones(3), 0.5)
    body = f.inspect_llvm(f.signatures[0])
    body = body[body.index("@f0.added(", body.index("define internal")):]
    assert body.count("load double") == 1 and "select i1" in body
