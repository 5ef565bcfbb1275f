"""How the helpers in LLVM text are written.

An operand of an instruction may be another instruction, in parentheses, so that only values that need a name get one:

    br i1 (icmp ult i64 (sub i64 %n, 1), 8), label %short, label %long

`expanded` writes each of these as a line in front of the one that uses it. A block that ends without a jump goes on to
the next one.
"""
from __future__ import annotations

from typing import Callable

__all__ = ["borrowed", "definer", "expanded", "load", "retaining", "store"]

# The texts that may follow the parenthesis before an operand that is an instruction.
_OPERATIONS = (
    "add ", "and ", "ashr ", "bitcast ", "call ", "fadd ", "fcmp ", "fdiv ", "fmul ", "fneg ", "fpext ", "fptosi ",
    "fptoui ", "fsub ", "getelementptr ", "icmp ", "inttoptr ", "load ", "lshr ", "mul ", "or ", "ptrtoint ", "sdiv ",
    "select ", "sext ", "shl ", "sitofp ", "sub ", "trunc ", "udiv ", "uitofp ", "urem ", "xor ", "zext ")


# The beginnings of the last lines of blocks: jumps, and the further lines of long ones.
_ENDS = "  br ", "  ret ", "  switch ", "  unreachable", "   "


def expanded(text: str) -> str:
    """LLVM text in which no operand is an instruction, and every block ends with a jump."""
    lines: list[str] = []
    last = "{"
    for line in text.split("\n"):
        if " (" in line:
            line = _expanded_line(line, lines)
        elif line[-1:] == ":" and last[-1] != "{" and not last.startswith(_ENDS):
            lines.append(f"  br label %{line[:-1]}")
        lines.append(line)
        last = line or last
    return "\n".join(lines)


def _expanded_line(line: str, lines: list[str]) -> str:
    """A line with names in place of the instructions in it, which are added to `lines` in the order of evaluation."""
    at = line.find(" (")
    while at >= 0:
        at += 2
        if line.startswith(_OPERATIONS, at):
            end, depth = at - 1, 1
            while depth:
                start, end = end + 1, line.index(")", end + 1)
                depth += line.count("(", start, end) - 1
            inner = _expanded_line(line[at:end], lines)
            name = f"%.{len(lines)}"
            lines.append(f"  {name} = {inner}")
            line = f"{line[:at - 1]}{name}{line[end + 1:]}"
        at = line.find(" (", at)
    return line


def definer(texts: dict[str, str], inlined: str = "") -> Callable[..., None]:
    """The function that adds a definition to `texts`. inlined: the attribute of helpers that are not shared."""
    def define(head: str, body: str, shared: bool = False) -> None:
        """head: result and name with parameters. shared: whether other modules call the helper; else it is in the
        image of its callers."""
        name = head.partition("@")[2].partition("(")[0]
        attribute = "noinline" if shared else inlined
        texts[name] = f"\ndefine internal {head} nounwind {attribute} {{\n{body.strip(chr(10))}\n}}"

    return define


def load(name: str, kind: str, pointer: str, offset) -> str:
    """Instructions that load `name` from an offset in bytes."""
    return f"  %{name}.p = getelementptr i8, ptr {pointer}, i64 {offset}\n  %{name} = load {kind}, ptr %{name}.p\n"


def store(name: str, kind: str, value: str, pointer: str, offset) -> str:
    """Instructions that store a value at an offset in bytes, of which `name` is the address."""
    return f"  %{name} = getelementptr i8, ptr {pointer}, i64 {offset}\n  store {kind} {value}, ptr %{name}\n"


def retaining(name: str, atomic: bool = False) -> str:
    """The definition of the helper `name`, which counts a reference to what has its count in its first word. The
    pointer may be null. atomic: other threads may count references to the same thing."""
    count = "%old = atomicrmw add ptr %x, i64 1 monotonic, align 8" if atomic else """%old = load i64, ptr %x, align 8
  %new = add i64 %old, 1
  store i64 %new, ptr %x, align 8"""
    return f"""
define internal void @{name}(ptr %x) nounwind alwaysinline {{
  br i1 (icmp eq ptr %x, null), label %done, label %some
some:
  {count}
done:
  ret void
}}"""


def borrowed(call: str) -> str:
    """Instructions that return the attribute for which they make a call, as a borrowed reference; null where there is
    no such attribute, or where nothing else refers to it."""
    return f"""  %found = {call}
  br i1 (icmp eq ptr %found, null), label %missing, label %have
missing:
  call void @PyErr_Clear()
  ret ptr null
have:
  %new = icmp eq i64 (load i64, ptr %found, align 8), 1
  call void @Py_DecRef(ptr %found)
  ret ptr (select i1 %new, ptr null, ptr %found)"""
