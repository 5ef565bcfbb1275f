"""The rewritten PTX of codegen/ptxtext.py computes the same addresses: its integer instructions are run for a few
threads before and after."""
import re

import pytest

from pyjitc.codegen import link, ptxtext

from .kernels import CASES
from .test_ptx import compiled

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def memory_accesses(ptx, place, parameters, steps=3000):
    """The addresses that a thread reads and writes, in order. Floats and loaded values count as 3; shared arrays are
    above 1 << 40."""
    body = ptx[ptx.rindex(".visible .entry"):]
    lines = [line.strip() for line in body[body.index("\n{") + 2:body.index("\n}")].split("\n")]
    labels = {line[:-1]: k for k, line in enumerate(lines) if line.startswith("$")}
    values, seen, k = {}, [], 0

    def value(x, bits=64):
        if x.startswith("%") and "." in x:
            return place[x]
        if x.startswith("%"):
            return values.get(x, 3)
        if x.startswith("0"):
            return int(x) if x == "0" else 3
        return int(x) & (1 << bits) - 1 if re.fullmatch(r"-?\d+", x) else (1 << 40) + 65536 * sum(map(ord, x))

    for _ in range(steps):
        if k == len(lines):
            break
        line = lines[k]
        k += 1
        branch = re.match(r"(?:@(!?)(%p\d+) )?bra\S*\s+(\$\w+);", line)
        if branch:
            if branch[2] is None or bool(values.get(branch[2], 0)) != bool(branch[1]):
                k = labels[branch[3]]
            continue
        if line.startswith("ret"):
            break
        access = re.match(r"((?:ld|st|atom|red)\.(?:global|shared|const)\S*)\s+(?:([^\[]*), "
                          r")?\[(%\w+|\w+)(?:\+(-?\d+))?\]", line)
        if access:
            seen.append((access[1], (value(access[3]) + int(access[4] or 0)) & M64))
            for name in re.findall(r"%\w+", access[2] or "") if access[1].startswith("ld") else ():
                values[name] = 3
            continue
        found = re.match(r"([a-z][\w.]*)\s+(%\w+), (.*);", line)
        if not found:
            continue
        op, result, operands = found[1], found[2], found[3].split(", ")
        kind, _, rest = op.partition(".")
        bits = int(re.findall(r"\d+", op)[-1]) if re.search(r"\d", op) else 64
        mask = (1 << bits) - 1
        if kind == "ld":  # a parameter
            values[result] = parameters[int(operands[0].rpartition("_")[2].rstrip("]"))]
        elif re.search(r"\.f\d|\.ftz|rn|approx", op) and kind != "cvt" or kind not in _MEANING:
            values[result] = 3
        else:
            values[result] = _MEANING[kind](rest, bits, mask, *[value(x, bits) for x in operands])
    return seen


def _signed(x, bits):
    return x - (1 << bits) if x >> bits - 1 else x


def _compare(rest, bits, mask, x, y):
    how, _, kind = rest.partition(".")
    if kind.startswith("s"):
        x, y = _signed(x & mask, bits), _signed(y & mask, bits)
    return {"lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y, "eq": x == y, "ne": x != y}[how]


def _product(rest, bits, mask, x, y, z=0):
    if rest.startswith("wide"):
        x, y = (_signed(v & mask, bits) if ".s" in rest else v & mask for v in (x, y))
        return (x * y + z) & M64
    return (x * y + z) & mask


def _convert(rest, bits, mask, x):
    to, _, source = rest.rpartition(".")
    width = int(source[1:])
    x &= (1 << width) - 1
    return (_signed(x, width) if source[0] == "s" else x) & M64


_MEANING = {
    "add": lambda r, b, m, x, y: x + y & m, "sub": lambda r, b, m, x, y: x - y & m, "mul": _product, "mad": _product,
    "shl": lambda r, b, m, x, y: x << y & m, "shr": lambda r, b, m, x,
    y: (_signed(x & m, b) if "s" in r else x & m) >> y & m, "and": lambda r, b, m, x, y: x & y, "or": lambda r, b, m, x,
    y: x | y, "xor": lambda r, b, m, x, y: x ^ y, "not": lambda r, b, m, x: ~x & m, "mov": lambda r, b, m, x: x,
    "cvta": lambda r, b, m, x: x, "cvt": _convert, "setp": _compare, "selp": lambda r, b, m, x, y, c: x if c else y,
    "min": lambda r, b, m, x, y: min(x, y), "max": lambda r, b, m, x, y: max(x, y),
}


def test_the_evaluator_sees_addresses():
    text = (".visible .entry f(\n)\n{\n\tld.param.b64 \t%rd1, [f_param_0];\n\tmov.u32 \t%r1, %tid.x;\n\tmul.wide.u32 "
            "\t%rd2, %r1, 4;\n"
            "\tadd.s64 \t%rd3, %rd1, %rd2;\n\tst.global.b32 \t[%rd3+8], %r1;\n\tret;\n}\n")
    assert memory_accesses(text, {"%tid.x": 5}, [1000]) == [("st.global.b32", 1028)]


@pytest.mark.parametrize("name", CASES)
def test_same_addresses(name, monkeypatch):
    texts = []
    to_assembly = link.to_assembly
    monkeypatch.setattr(link, "to_assembly", lambda *args: texts.append(to_assembly(*args)) or texts[-1])
    monkeypatch.setattr(ptxtext, "FAR", 8)  # rewrite more
    kernel = compiled(CASES[name], "sm_80")
    assert kernel.ptx != texts[0] or name not in ("transpose", "black_scholes", "tiled_matmul")
    for tid, ctaid in ((0, 0), (3, 1), (31, 2)):
        place = {f"%{what}.{axis}": n for what, n in (("tid", tid), ("ctaid", ctaid), ("ntid", 32), ("nctaid", 4))
                 for axis in "xyz"}
        parameters = [(k + 1) << 20 if t == "ptr" else 90 + k for k, t in enumerate(kernel.parameters)]
        before, after = (memory_accesses(text, place, parameters) for text in (texts[0], kernel.ptx))
        assert before == after


def one(body):
    return "{\n" + "".join(f"\t{line}\n" for line in body) + "}"


def test_indices_are_added_first():
    text = one(["ld.param.b64 \t%rd1, [p];", "mul.lo.s64 \t%rd2, %rd8, %rd9;", "shl.b64 \t%rd3, %rd2, 2;",
                "add.s64 \t%rd4, %rd1, %rd3;", "cvt.u64.u32 \t%rd8, %r1;", "cvt.u64.u32 \t%rd9, %r1;",
                "shl.b64 \t%rd5, %rd8, 2;", "add.s64 \t%rd6, %rd4, %rd5;", "st.global.b32 \t[%rd6], %r2;"])
    assert ptxtext.shorten(text).count("shl.b64") == 1
    read_twice = text.replace("%r2;", "%rd4;")
    assert ptxtext.shorten(read_twice) == read_twice
    other_sizes = text.replace("%rd8, 2;", "%rd8, 3;")
    assert ptxtext.shorten(other_sizes) == other_sizes
    in_a_phi = text.replace("st.global", "mov.b64 \t%rd4, %rd9;\n\tst.global")
    assert ptxtext.shorten(in_a_phi) == in_a_phi


def test_what_is_far_is_computed_again():
    far = ["fma.rn.f32 \t%r5, %r5, %r5, %r5;"] * ptxtext.FAR
    body = ["mov.u32 \t%r1, %tid.x;", "cvt.u64.u32 \t%rd1, %r1;", "@%p1 bra \t$L__BB0_2;", *far]
    use = ["$L__BB0_2:", "st.global.b32 \t[%rd1], %r5;"]
    text = one(body + use).replace("\t$L__BB0_2:", "$L__BB0_2:")
    assert "st.global.b32 \t[%wd1], %r5;" in ptxtext.shorten(text)
    near = one(body[:3] + use).replace("\t$L__BB0_2:", "$L__BB0_2:")
    assert ptxtext.shorten(near) == near
    loaded = text.replace("mov.u32 \t%r1, %tid.x;", "ld.global.b32 \t%r1, [%rd2];")
    assert ptxtext.shorten(loaded) == loaded
    in_a_loop = text.replace("%r5;\n}", "%r5;\n\t@%p2 bra \t$L__BB0_2;\n}")
    assert ptxtext.shorten(in_a_loop) == in_a_loop
