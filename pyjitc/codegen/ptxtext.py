"""Rewrite LLVM's PTX so that it needs fewer registers.

`ptxas` allocates registers, but leaves values alive for as long as the text does:
- The address of an element is (data + (y * columns << 2)) + (x << 2), since LLVM splits sums of indices. Where all of
  these instructions are in one block, the indices are added first, which saves an instruction and a register.
- The address of shared memory is loaded before all blocks that use it. It is a constant, so each block loads it itself.
- A value that is computed from the thread's position and the kernel's parameters stays in a register from the start of
  the kernel to its last use. Where that is far away, the value is computed again there.
Only registers with one definition in a known form are changed; all other lines remain.
"""
from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["shorten"]

FAR = 64  # lines over which a value is live before it is recomputed
COST = 8  # the most lines for recomputing it

_BODY = re.compile(r"^\{\n.*?^\}", re.M | re.S)
_INSTRUCTION = re.compile(r"\t([a-z][\w.]*) *\t(%[a-z]+\d+), (.*);$")
_REGISTER = re.compile(r"%[a-z]+\d+\b")
_BRANCH = re.compile(r"\t(?:@!?%p\d+ )?bra(?:\.uni)? *\t(\$\w+);")
_CHEAP = re.compile(r"(?:add|sub|mul\.lo|mul\.wide|mad\.lo|mad\.wide|shl|shr|and|or)\.[bsu](?:32|64)"
                    r"|cvta?\.[bsu.\w]*[bsu](?:32|64)|ld\.param\.[bu](?:32|64)")
_CONSTANT = re.compile(r"[A-Za-z_]\w*|-?\d+")
_PLACE = re.compile(r"%n?(?:tid|ctaid)\.[xyz]")
_READING = ("\tst.", "\tred.", "\t@", "\tbar")  # prefixes of lines that define no register
_SPACES = {"%r": ("%w", "b32"), "%rd": ("%wd", "b64")}  # registers -> those of the copies


def shorten(ptx: str) -> str:
    return _BODY.sub(lambda body: "\n".join(_nearer(_add_indices(body.group().split("\n")))), ptx)


class _Line(NamedTuple):
    """An instruction with a result: its operation, result and operands; the number of its line, and of its block."""

    op: str
    result: str
    operands: list[str]
    at: int
    block: int


class _Text:
    """An analysis of the text of a function. made: register -> the one instruction that defines it; uses: register ->
    lines that read it; block: line -> block; loops: the lines of loops."""

    def __init__(self, lines: list[str]):
        self.made: dict[str, _Line] = {}
        self.uses: dict[str, list[int]] = {}
        self.block: list[int] = []
        self.loops: set[int] = set()
        unknown, labels, block = set(), {}, 0
        for at, line in enumerate(lines):
            if line.startswith("$"):
                block += 1
                labels[line.partition(":")[0]] = at
            self.block.append(block)
            names, found = _REGISTER.findall(line), _INSTRUCTION.match(line)
            if found:
                unknown.update(names[:1] if names[0] in self.made else ())
                self.made[names.pop(0)] = _Line(found[1], found[2], found[3].split(", "), at, block)
            elif not line.startswith(_READING):  # vectors, calls, inline assembly
                unknown.update(names)
            for name in names:
                self.uses.setdefault(name, []).append(at)
            branch = _BRANCH.match(line)
            if branch:
                block += 1
                if branch[1] in labels:
                    self.loops.update(range(labels[branch[1]], at + 1))
        for name in unknown:
            self.made.pop(name, None)

    def once(self, name: str, op: str, block: int) -> _Line | None:
        """The instruction that defines a register, if its operation is `op`, it is in the block, and the register is
        read once."""
        found = self.made.get(name)
        return (found if found and found.op == op and found.block == block and len(self.uses.get(name, ())) == 1
                else None)

    def cheap(self, name: str) -> list[_Line] | None:
        """The few lines that compute a register from the thread's position and parameters; None where they are too
        many."""
        lines: dict[str, _Line] = {}

        def add(name: str) -> bool:
            if name in lines:
                return True
            line = self.made.get(name)
            if line is None or name.rstrip("0123456789") not in _SPACES or len(lines) > COST:
                return False
            fine = line.op.startswith("mov.") and (_PLACE.fullmatch(line.operands[0])
                                                   or _CONSTANT.fullmatch(line.operands[0])) or \
                _CHEAP.fullmatch(line.op) and all(add(x) for x in line.operands if x.startswith("%"))
            if fine:
                lines[name] = line
            return bool(fine)

        return list(lines.values()) if add(name) and len(lines) <= COST else None


def _add_indices(lines: list[str]) -> list[str]:
    """Replace (p + (i << n)) + (j << n) by p + ((i + j) << n), wherever this pattern occurs."""
    text = _Text(lines)
    new: dict[int, list[str]] = {}  # line -> its replacement
    for last in text.made.values():
        if last.op != "add.s64":
            continue
        for row, column in (last.operands, last.operands[::-1]):
            inner, second = text.once(row, "add.s64", last.block), text.once(column, "shl.b64", last.block)
            if inner is None or second is None:
                continue
            p, scaled = inner.operands
            if text.once(scaled, "shl.b64", last.block) is None:
                p, scaled = scaled, p
            first, (j, places) = text.once(scaled, "shl.b64", last.block), second.operands
            if first is None or first.operands[1] != places or not all(x in text.made
                                                                       for x in (p, first.operands[0], j)) or \
                    any(x.at in new for x in (first, second, inner, last)):
                continue
            new.update({first.at: [], inner.at: [], second.at: [], last.at: [
                f"\tadd.s64 \t{scaled}, {first.operands[0]}, {j};", f"\tshl.b64 \t{column}, {scaled}, {places};",
                f"\tadd.s64 \t{last.result}, {p}, {column};"]})
            break
    if not new:
        return lines
    return _add_indices([part for at, line in enumerate(lines) for part in new.get(at, (line,))])


def _nearer(lines: list[str]) -> list[str]:
    """Move constant addresses into each block, and recompute cheap values that are used far from their definition."""
    text = _Text(lines)
    copies: dict[tuple[int, str], str] = {}  # (register, block) -> register of the copy
    seen: dict[str, int] = {}  # register -> line of its last use
    count = 0
    out: list[str] = []
    for at, line in enumerate(lines):
        block = text.block[at]
        for name in dict.fromkeys(_REGISTER.findall(line)):
            source = text.made.get(name)
            if source is None or source.block == block or source.at > at:
                continue
            last, seen[name] = seen.get(name, source.at), at
            if (block, name) not in copies:
                far = at - last >= FAR and at not in text.loops
                chain = text.cheap(name) if far or source.op.startswith("mov.") else None
                if chain is None or not far and not _CONSTANT.fullmatch(source.operands[0]):
                    continue
                for one in chain:
                    if (block, one.result) not in copies:
                        operands = [copies.get((block, x), x) for x in one.operands]
                        copies[block, one.result] = f"{_SPACES[one.result.rstrip('0123456789')][0]}{count}"
                        count += 1
                        out.append(f"\t{one.op} \t{copies[block, one.result]}, {', '.join(operands)};")
            line = re.sub(re.escape(name) + r"\b", copies[block, name], line)
        out.append(line)
    if count:
        out[1:1] = [f"\t.reg .{kind} \t{name}<{count}>;" for name, kind in _SPACES.values()]
    return out
