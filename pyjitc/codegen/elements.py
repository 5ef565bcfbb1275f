"""Loops over the elements of arrays as vectorised LLVM text, which takes less compile time than LLVM's vectoriser."""
from __future__ import annotations

from ..ops.memory import ROWS

__all__ = ["copy", "dot", "eights", "product", "rows", "strided"]


def _dot_chunk(t: str, name: str, at: str, total: str, backwards: bool) -> str:
    """Add the product of `lanes` elements, from index `at` on, to a sum."""
    size = 4 if t == "float" else 8
    lanes = 32 // size
    v = f"<{lanes} x {t}>"
    mask = ", ".join(f"i32 {k}" for k in reversed(range(lanes)))
    index = at if not backwards else f"%{name}.place"
    back = f"  %{name}.place = sub i64 {1 - lanes}, {at}\n" if backwards else ""
    turned = f"%{name}.turned" if backwards else f"%{name}.x"
    turn = (f"  %{name}.turned = shufflevector {v} %{name}.x, {v} poison, <{lanes} x i32> <{mask}>\n" if backwards
            else "")
    return f"""{back}  %{name}.a = getelementptr {t}, ptr %p, i64 {index}
  %{name}.b = getelementptr {t}, ptr %q, i64 {at}
  %{name}.x = load {v}, ptr %{name}.a, align {size}
{turn}  %{name}.y = load {v}, ptr %{name}.b, align {size}
  %{name} = call {v} @llvm.fmuladd.v{lanes}f{8 * size}({v} {turned}, {v} %{name}.y, {v} {total})
"""


def _dot_of_contiguous(t: str, way: str, backwards: bool) -> str:
    """The loops over contiguous elements; backwards: the first vector is in reverse order."""
    size = 4 if t == "float" else 8
    lanes = 32 // size
    v = f"<{lanes} x {t}>"
    phis = "".join(f"  %{way}.s{j} = phi {v} [ zeroinitializer, %{way} ], [ %{way}.t{j}, %{way}.more ]\n"
                   for j in range(4))
    ats = "".join(f"  %{way}.k{j} = add i64 %{way}.k0, {j * lanes}\n" for j in range(1, 4))
    chunks = "".join(_dot_chunk(t, f"{way}.t{j}", f"%{way}.k{j}", f"%{way}.s{j}", backwards) for j in range(4))
    return f"""{way}:
  br label %{way}.loop
{way}.loop:
  %{way}.k0 = phi i64 [ 0, %{way} ], [ %{way}.next, %{way}.more ]
{phis}  %{way}.left = icmp ult i64 %{way}.k0, %most
  br i1 %{way}.left, label %{way}.more, label %{way}.few
{way}.more:
{ats}{chunks}  %{way}.next = add i64 %{way}.k0, {4 * lanes}
  br label %{way}.loop
{way}.few:
  %{way}.sum = fadd {v} (fadd {v} %{way}.s0, %{way}.s1), (fadd {v} %{way}.s2, %{way}.s3)
{way}.one:
  %{way}.i = phi i64 [ %{way}.k0, %{way}.few ], [ %{way}.after, %{way}.again ]
  %{way}.r = phi {v} [ %{way}.sum, %{way}.few ], [ %{way}.z, %{way}.again ]
  br i1 (icmp ult i64 %{way}.i, %some), label %{way}.again, label %{way}.done
{way}.again:
{_dot_chunk(t, f"{way}.z", f"%{way}.i", f"%{way}.r", backwards)}  %{way}.after = add i64 %{way}.i, {lanes}
  br label %{way}.one
{way}.done:
  %{way}.total = call reassoc {t} @llvm.vector.reduce.fadd.v{lanes}f{8 * size}({t} -0.0, {v} %{way}.r)
  br label %last
"""


def dot(t: str) -> str:
    """The dot product of vectors of float32 or float64 with steps in bytes. Most are short, so that a call of BLAS,
    which takes all arguments by address and checks them, costs more than the product. Contiguous elements, also in
    reverse order in the first vector, are loaded as vectors and added to four running sums; others are loaded one by
    one, also with four sums, since an addition waits for the one before it. Remaining elements are added last."""
    size = 4 if t == "float" else 8
    lanes = 32 // size
    steps = "".join(f"""  %x{j}.a = getelementptr i8, ptr %u, i64 {f"%dp{j}" if j else 0}
  %x{j} = load {t}, ptr %x{j}.a, align {size}
  %y{j} = load {t}, ptr (getelementptr i8, ptr %w, i64 {f"%dq{j}" if j else 0}), align {size}
  %e{j} = call {t} @llvm.fmuladd.f{8 * size}({t} %x{j}, {t} %y{j}, {t} %c{j})
""" for j in range(4))
    sums = "".join(f"  %c{j} = phi {t} [ 0.0, %apart ], [ %e{j}, %more ]\n" for j in range(4))
    reach = "".join(f"  %d{v}{j} = mul i64 %d{v}, {j}\n" for v in "pq" for j in (1, 2, 3, 4))
    return f"""
define internal {t} @pyj_dot_{t}(ptr %a, i64 %da, ptr %b, i64 %db,
        i64 %n) nounwind willreturn memory(argmem: read) noinline {{
  %swap = icmp eq i64 %db, -{size}
  %p = select i1 %swap, ptr %b, ptr %a
  %q = select i1 %swap, ptr %a, ptr %b
  %dp = select i1 %swap, i64 %db, i64 %da
  %dq = select i1 %swap, i64 %da, i64 %db
  %most = and i64 %n, -{4 * lanes}
  %some = and i64 %n, -{lanes}
  %fours = and i64 %n, -4
  br i1 (icmp eq i64 %dq, {size}), label %beside, label %apart
beside:
  br i1 (icmp eq i64 %dp, {size}), label %on, label %other
other:
  br i1 (icmp eq i64 %dp, -{size}), label %back, label %apart
{_dot_of_contiguous(t, "on", False)}{_dot_of_contiguous(t, "back", True)}apart:
{reach}  br label %four
four:
  %k = phi i64 [ 0, %apart ], [ %next, %more ]
  %u = phi ptr [ %p, %apart ], [ %u.next, %more ]
  %w = phi ptr [ %q, %apart ], [ %w.next, %more ]
{sums}  %left = icmp ult i64 %k, %fours
  br i1 %left, label %more, label %end
more:
{steps}  %u.next = getelementptr i8, ptr %u, i64 %dp4
  %w.next = getelementptr i8, ptr %w, i64 %dq4
  %next = add i64 %k, 4
  br label %four
end:
  %f2 = fadd {t} (fadd {t} %c0, %c1), (fadd {t} %c2, %c3)
last:
  %i = phi i64 [ %on.i, %on.done ], [ %back.i, %back.done ], [ %k, %end ], [ %i.next, %each ]
  %r = phi {t} [ %on.total, %on.done ], [ %back.total, %back.done ], [ %f2, %end ], [ %r.next, %each ]
  br i1 (icmp ult i64 %i, %n), label %each, label %done
each:
  %y.a = getelementptr i8, ptr %q, i64 (mul i64 %i, %dq)
  %x = load {t}, ptr (getelementptr i8, ptr %p, i64 (mul i64 %i, %dp)), align {size}
  %r.next = call {t} @llvm.fmuladd.f{8 * size}({t} %x, {t} (load {t}, ptr %y.a, align {size}), {t} %r)
  %i.next = add i64 %i, 1
  br label %last
done:
  ret {t} %r
}}"""


def rows(t: str, sums: int) -> str:
    """Add ROWS rows of contiguous elements, each times a number, to an array of n contiguous elements; several arrays
    (`sums`) with their own numbers share the loads of the rows. Unless `ahead` is 0, elements `ahead` bytes further on,
    which need not exist, are prefetched: of all rows if there is one sum, else of two rows, since prefetches slow the
    loads that are needed now."""
    size = 4 if t == "float" else 8
    lanes = 64 // size
    v = f"<{lanes} x {t}>"
    places = "".join(f"  %u{r} = mul i64 %da, {r}\n  %p{r} = getelementptr i8, ptr %a, i64 %u{r}\n"
                     for r in range(ROWS))
    numbers = "".join(f"""  %o{k}.{r} = mul i64 %dx{k}, {r}
  %one{k}.{r} = load {t}, ptr (getelementptr i8, ptr %x{k}, i64 %o{k}.{r}), align {size}
  %i{k}.{r} = insertelement {v} poison, {t} %one{k}.{r}, i64 0
  %all{k}.{r} = shufflevector {v} %i{k}.{r}, {v} poison, <{lanes} x i32> zeroinitializer
""" for k in range(sums) for r in range(ROWS))

    def loop(name, kind, first, last, ahead=False):
        """The loop over elements of type `kind` from the index `first` on, while the index is less than `last`."""
        factor, step, suffix = (("all", lanes, f"v{lanes}f{8 * size}") if kind == v else ("one", 1, f"f{8 * size}"))
        lines = f"""{name}.from:
  br label %{name}
{name}:
  %{name}.j = phi i64 [ {first}, %{name}.from ], [ %{name}.next, %{name}.more ]
  br i1 (icmp ult i64 %{name}.j, {last}), label %{name}.more, label %{name}.done
{name}.more:
"""
        for r in range(ROWS):
            lines += f"""  %{name}.p{r} = getelementptr {t}, ptr %p{r}, i64 %{name}.j
  %{name}.l{r} = load {kind}, ptr %{name}.p{r}, align {size}
"""
            if ahead and r < (ROWS if sums == 1 else 2):
                lines += f"""  %{name}.n{r} = getelementptr i8, ptr %{name}.p{r}, i64 %ahead
  call void @llvm.prefetch.p0(ptr %{name}.n{r}, i32 0, i32 3, i32 1)
"""
        for k in range(sums):
            of = f"%{name}.{k}"
            lines += f"  {of}.0 = fmul {kind} %{name}.l0, %{factor}{k}.0\n"
            for r in range(1, ROWS):
                lines += (f"  {of}.{r} = call {kind} @llvm.fmuladd.{suffix}({kind} %{name}.l{r}, "
                          f"{kind} %{factor}{k}.{r}, {kind} {of}.{r - 1})\n")
            lines += f"""  {of}.y = getelementptr {t}, ptr %y{k}, i64 %{name}.j
  {of}.old = load {kind}, ptr {of}.y, align {size}
  {of}.new = fadd {kind} {of}.old, {of}.{ROWS - 1}
  store {kind} {of}.new, ptr {of}.y, align {size}
"""
        return lines + f"  %{name}.next = add i64 %{name}.j, {step}\n  br label %{name}\n"

    given = "".join(f", ptr noalias %y{k}, ptr noalias %x{k}, i64 %dx{k}" for k in range(sums))
    return f"""
define internal void @pyj_rows_{t}_{sums}(i64 %n, ptr noalias %a, i64 %da, i64 %ahead{given}) nounwind willreturn {{
  %most = and i64 %n, -{lanes}
{places}{numbers}  %here = icmp eq i64 %ahead, 0
  br i1 %here, label %wide.from, label %both.from
{loop("both", v, 0, "%most", True)}both.done:
  br label %each.from
{loop("wide", v, 0, "%most")}wide.done:
  br label %each.from
{loop("each", t, "%most", "%n")}each.done:
  ret void
}}"""


def _product_columns(t: str, name: str, lanes: int) -> str:
    """The loops for the columns from index %{name}.j on, as many as there are lanes."""
    size = 4 if t == "float" else 8
    each = range(4)
    v = t if lanes == 1 else f"<{lanes} x {t}>"
    suffix = f"{'' if lanes == 1 else f'v{lanes}'}f{8 * size}"
    zero = "0.0" if lanes == 1 else "zeroinitializer"
    rows = "".join(f"""  %{name}.o{r} = add i64 %{name}.i, {r}
  %{name}.r{r} = select i1 (icmp slt i64 %{name}.o{r}, %last), i64 %{name}.o{r}, i64 %last
  %{name}.a{r} = mul i64 %{name}.r{r}, %da
  %{name}.c{r} = mul i64 %{name}.r{r}, %dc
""" for r in each)
    places = "".join(f"  %{name}.{to}{r} = getelementptr i8, ptr %{name}.{of}, i64 %{name}.{of}{r}\n"
                     for of, to in (("a", "from"), ("c", "to")) for r in each)
    sums = "".join(f"  %{name}.s{r} = phi {v} [ {zero}, %{name}.begin ], [ %{name}.t{r}, %{name}.term ]\n"
                   for r in each)
    terms = ""
    for r in each:
        terms += f"""  %{name}.u{r} = getelementptr i8, ptr %{name}.from{r}, i64 %{name}.x
  %{name}.x{r} = load {t}, ptr %{name}.u{r}, align {size}
"""
        factor = f"%{name}.x{r}"
        if lanes > 1:
            terms += f"""  %{name}.v{r} = insertelement {v} poison, {t} {factor}, i64 0
  %{name}.w{r} = shufflevector {v} %{name}.v{r}, {v} poison, <{lanes} x i32> zeroinitializer
"""
            factor = f"%{name}.w{r}"
        terms += (f"  %{name}.t{r} = call {v} @llvm.fmuladd.{suffix}({v} {factor}, {v} %{name}.y, {v} %{name}.s{r})\n")
    stores = "".join(f"  store {v} %{name}.s{r}, ptr %{name}.to{r}, align {size}\n" for r in each)
    return f"""{name}:
  %{name}.first = getelementptr {t}, ptr %c, i64 %{name}.j
  %{name}.begins = getelementptr {t}, ptr %b, i64 %{name}.j
{name}.four:
  %{name}.i = phi i64 [ 0, %{name} ], [ %{name}.below, %{name}.end ]
  br i1 (icmp slt i64 %{name}.i, %m), label %{name}.rows, label %{name}.done
{name}.rows:
{rows}  br label %{name}.each
{name}.each:
  %{name}.q = phi i64 [ 0, %{name}.rows ], [ %{name}.q.next, %{name}.put ]
  %{name}.a = phi ptr [ %a, %{name}.rows ], [ %{name}.a.next, %{name}.put ]
  %{name}.b = phi ptr [ %{name}.begins, %{name}.rows ], [ %{name}.b.next, %{name}.put ]
  %{name}.c = phi ptr [ %{name}.first, %{name}.rows ], [ %{name}.c.next, %{name}.put ]
  br i1 (icmp slt i64 %{name}.q, %count), label %{name}.begin, label %{name}.end
{name}.begin:
{places}  br label %{name}.sum
{name}.sum:
  %{name}.p = phi i64 [ 0, %{name}.begin ], [ %{name}.next, %{name}.term ]
  %{name}.x = phi i64 [ 0, %{name}.begin ], [ %{name}.x.next, %{name}.term ]
  %{name}.z = phi ptr [ %{name}.b, %{name}.begin ], [ %{name}.z.next, %{name}.term ]
{sums}  %{name}.more = icmp slt i64 %{name}.p, %k
  br i1 %{name}.more, label %{name}.term, label %{name}.put
{name}.term:
  %{name}.y = load {v}, ptr %{name}.z, align {size}
{terms}  %{name}.next = add i64 %{name}.p, 1
  %{name}.x.next = add i64 %{name}.x, %ea
  %{name}.z.next = getelementptr i8, ptr %{name}.z, i64 %db
  br label %{name}.sum
{name}.put:
{stores}  %{name}.q.next = add i64 %{name}.q, 1
  %{name}.a.next = getelementptr i8, ptr %{name}.a, i64 %qa
  %{name}.b.next = getelementptr i8, ptr %{name}.b, i64 %qb
  %{name}.c.next = getelementptr i8, ptr %{name}.c, i64 %qc
  br label %{name}.each
{name}.end:
  %{name}.below = add i64 %{name}.i, 4
  br label %{name}.four
"""


def product(t: str) -> str:
    """The products of pairs of small matrices: c[q] = a[q] @ b[q]. Steps are in bytes: those of q first, then of rows
    and of the elements of a row, which lie side by side in b and c. Four rows by four columns of c are computed in
    registers, for one q after the other, each element in the order of its terms; the last columns are two and one.
    Where fewer than four rows remain, the last one is computed several times, which takes no longer."""
    return f"""
define internal void @pyj_product_{t}(ptr noalias %c, i64 %qc, i64 %dc, ptr %a, i64 %qa, i64 %da, i64 %ea, ptr %b,
        i64 %qb, i64 %db, i64 %count, i64 %m, i64 %n, i64 %k) nounwind willreturn {{
  %last = sub i64 %m, 1
  %most = and i64 %n, -4
  %twos = and i64 %n, 2
  %ones = and i64 %n, 1
columns:
  %wide.j = phi i64 [ 0, %0 ], [ %wide.right, %wide.done ]
  br i1 (icmp slt i64 %wide.j, %most), label %wide, label %rest
{_product_columns(t, "wide", 4)}wide.done:
  %wide.right = add i64 %wide.j, 4
  br label %columns
rest:
  %pair.j = add i64 %wide.j, 0
  br i1 (icmp ne i64 %twos, 0), label %pair, label %odd
{_product_columns(t, "pair", 2)}pair.done:
odd:
  %one.j = add i64 %wide.j, %twos
  br i1 (icmp ne i64 %ones, 0), label %one, label %end
{_product_columns(t, "one", 1)}one.done:
end:
  ret void
}}"""


def eights(t: str) -> str:
    """Add n numbers, a multiple of 8 and not 0, in eight running sums, as NumPy does (lib/np/reductions/folds.py)."""
    v = f"<8 x {t}>"
    halves = [f"  %l{w} = shufflevector <{2 * w} x {t}> %s{2 * w}, <{2 * w} x {t}> poison, <{w} x i32> "
              f"<{', '.join(f'i32 {2 * k}' for k in range(w))}>\n"
              f"  %h{w} = shufflevector <{2 * w} x {t}> %s{2 * w}, <{2 * w} x {t}> poison, <{w} x i32> "
              f"<{', '.join(f'i32 {2 * k + 1}' for k in range(w))}>\n"
              f"  %s{w} = fadd <{w} x {t}> %l{w}, %h{w}" for w in (4, 2, 1)]
    return f"""
define internal {t} @pyj_eights_{t}(ptr %a, i64 %n) nounwind {{
  %first = load {v}, ptr %a, align {4 if t == "float" else 8}
  br label %test
test:
  %k = phi i64 [ 8, %0 ], [ %next, %more ]
  %s8 = phi {v} [ %first, %0 ], [ %sum, %more ]
  br i1 (icmp ult i64 %k, %n), label %more, label %done
more:
  %at = getelementptr {t}, ptr %a, i64 %k
  %sum = fadd {v} %s8, (load {v}, ptr %at, align {4 if t == "float" else 8})
  %next = add i64 %k, 8
  br label %test
done:
{chr(10).join(halves)}
  %result = extractelement <1 x {t}> %s1, i64 0
  ret {t} %result
}}"""


def strided(t: str) -> str:
    """As `eights`, for numbers that are `step` bytes apart. The running sums are no vector: a vector would have to be
    put together."""
    def lines(form: str) -> str:
        return "\n".join(form.format(k=k) for k in range(8))

    def added(step: int) -> str:
        return "\n".join(f"  %r{j}.{2 * step} = fadd {t} %r{j}.{step}, %r{j + step}.{step}"
                         for j in range(0, 8, 2 * step))

    return f"""
define internal {t} @pyj_strided_{t}(ptr %a, i64 %n, i64 %step) nounwind {{
  %group = shl i64 %step, 3
{lines("  %d{k} = mul i64 %step, {k}")}
{lines("  %p{k} = getelementptr i8, ptr %a, i64 %d{k}")}
{lines(f"  %f{{k}} = load {t}, ptr %p{{k}}")}
  br label %test
test:
  %k = phi i64 [ 8, %0 ], [ %next, %more ]
  %at = phi ptr [ %a, %0 ], [ %on, %more ]
{lines(f"  %r{{k}}.1 = phi {t} [ %f{{k}}, %0 ], [ %s{{k}}, %more ]")}
  br i1 (icmp ult i64 %k, %n), label %more, label %done
more:
  %on = getelementptr i8, ptr %at, i64 %group
{lines("  %q{k} = getelementptr i8, ptr %on, i64 %d{k}")}
{lines(f"  %x{{k}} = load {t}, ptr %q{{k}}")}
{lines(f"  %s{{k}} = fadd {t} %r{{k}}.1, %x{{k}}")}
  %next = add i64 %k, 8
  br label %test
done:
{added(1)}
{added(2)}
{added(4)}
  ret {t} %r0.8
}}"""


def copy(t: str, size: int) -> str:
    """Make a header with a copy, in C order, of n0 * n1 * n2 elements with these strides in bytes."""
    return f"""
define internal ptr @pyj_copy_{t}(ptr %a, i64 %n0, i64 %s0, i64 %n1, i64 %s1, i64 %n2,
        i64 %s2) nounwind noinline optsize minsize {{
  %count = mul i64 (mul i64 %n0, %n1), %n2
  %header = call ptr @pyj_new(i64 (mul i64 %count, {size}), i1 false)
  br i1 (or i1 (icmp eq ptr %header, null), (icmp eq i64 %count, 0)), label %done, label %begin
begin:
  %data = load ptr, ptr (getelementptr i8, ptr %header, i64 8)
one:
  %i = phi i64 [ 0, %begin ], [ %i.next, %one.next ]
  %p = phi ptr [ %a, %begin ], [ %p.next, %one.next ]
  %t = phi ptr [ %data, %begin ], [ %t2.next, %one.next ]
  br label %two
two:
  %j = phi i64 [ 0, %one ], [ %j.next, %two.next ]
  %q = phi ptr [ %p, %one ], [ %q.next, %two.next ]
  %t1 = phi ptr [ %t, %one ], [ %t2.next, %two.next ]
  br label %three
three:
  %k = phi i64 [ 0, %two ], [ %k.next, %three ]
  %r = phi ptr [ %q, %two ], [ %r.next, %three ]
  %t2 = phi ptr [ %t1, %two ], [ %t2.next, %three ]
  store {t} (load {t}, ptr %r, align 1), ptr %t2, align 1
  %k.next = add i64 %k, 1
  %r.next = getelementptr i8, ptr %r, i64 %s2
  %t2.next = getelementptr i8, ptr %t2, i64 {size}
  br i1 (icmp ult i64 %k.next, %n2), label %three, label %two.next
two.next:
  %j.next = add i64 %j, 1
  %q.next = getelementptr i8, ptr %q, i64 %s1
  br i1 (icmp ult i64 %j.next, %n1), label %two, label %one.next
one.next:
  %i.next = add i64 %i, 1
  %p.next = getelementptr i8, ptr %p, i64 %s0
  br i1 (icmp ult i64 %i.next, %n0), label %one, label %done
done:
  ret ptr %header
}}"""
