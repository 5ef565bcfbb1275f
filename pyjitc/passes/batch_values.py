"""Which values of a function for one example of a `vmap` depend on the example, and whether the function can process a
batch of examples at once: `batches.py` then gives each of these values one more axis.

It cannot where it changes anything else than elements of its own new arrays, or where examples take different branches.
It should not where it processes elements one by one in a loop, for which a loop over examples is the better form.
"""
from __future__ import annotations

from ..ir.cfg import reverse_postorder
from ..ir.core import COUNTS, ELEMENTS, ERRORS, SAME_MEMORY, Block, Function, Inst, Value
from ..ops import arith as a
from ..ops import control as c
from ..ops import exceptions as exc
from ..ops import memory as mem
from ..ops import structure as s
from ..ops.nest import NEST, NEST_INTO, NESTS, kernels
from ..types import kinds as k
from .derivatives.activity import Classes
from .derivatives.targets import writes_only

__all__ = ["BatchValues", "Refused"]

_OF_SHAPE = frozenset((mem.ARRAY_DIM, mem.ARRAY_STRIDE))  # the shapes of all examples are the same
_MAKING = frozenset((mem.ARRAY_NEW, NEST, c.INVOKE))
_RAISING = frozenset((exc.EXC_NEW, exc.EXC_THROW, exc.THROW))


class Refused(Exception):
    """The function for one example stays a call for each."""


class BatchValues:
    """The part of a batch (batches.py) that analyses the function for one example."""

    fn: Function  # the function for one example, with its calls inlined
    inside: bool  # whether it is called for each example of another batch

    def find(self):
        """Find the values that depend on the example. Refuses a function that cannot process a batch at once, or that
        gains nothing by that."""
        fn = self.fn
        self.index = fn.params[-1]
        self.classes = classes = Classes(fn)
        key = classes.of
        self.order = reverse_postorder(fn)
        insts = [inst for block in self.order for inst in block.insts]
        for inst in insts:
            if inst.unwind is not None or not _is_local(inst):
                raise Refused
        self.written = {key(x) for inst in insts for x in _written(inst)}
        made = {inst.result for inst in insts if inst.op in _MAKING or inst.op.traits & SAME_MEMORY}
        made.update(p for block in self.order[1:] for p in block.params)
        if any(key(v) in self.written and v not in made and type(v.type) is k.Array for v in fn.values()):
            raise Refused  # code outside would see the stores
        for inst in insts:
            if inst.op is c.INVOKE and any(key(x) in self.written for x in (inst.result, *inst.args)) and (
                    _gives_argument(inst.attrs["callee"])):
                raise Refused
        self.affine = self.places(insts)
        self.batched = batched = dict.fromkeys(self.affine)
        members: dict[Value, list[Value]] = {}  # of the classes of arrays into which the function writes
        for v in fn.values():
            if key(v) in self.written:
                members.setdefault(key(v), []).append(v)
        count = -1
        while len(batched) > count:
            count = len(batched)
            for inst in insts:
                found = []
                if any(x in batched for x in inst.args):
                    found = _written(inst)
                    if inst.result is not None and inst.op not in _OF_SHAPE:
                        found.append(inst.result)
                found += [p for e in inst.edges() for p, x in zip(e.block.params, e.args) if x in batched]
                for v in found:
                    if v not in batched:
                        batched.update(dict.fromkeys(members.get(key(v), (v,))))
        if any(inst.op in (c.BRANCH, c.SWITCH) and inst.args[0] in self for inst in insts):
            raise Refused
        looping = self.looping()
        self.in_place = self.results(looping)
        if self.in_loop(looping) or not self.inside and not any(
                x in self and self.is_whole(inst) for inst in insts for x in inst.args):
            raise Refused

    def places(self, insts) -> dict[Value, tuple]:
        """The values that are computed from the number of the example: value -> (factor or None for 1, summand or
        None). They are used only to find the element of an example in an array."""
        found: dict[Value, tuple] = {self.index: (None, None)}
        for inst in insts:
            own = [x for x in inst.args if x in found]
            factor, more = found[own[0]] if own else (None, None)
            others = [x for x in inst.args if x not in found]
            if inst.op is a.IMUL and own == [self.index] and others:
                found[inst.result] = others[0], None
            elif inst.op is a.IADD and own and others and factor is not None and more is None:
                found[inst.result] = factor, others[0]
            elif own and not (inst.op is mem.ARRAY_VIEW and inst.args[1:2] == own and factor is not None
                              or inst.op is mem.ARRAY_LOAD and inst.args[1:] == own == [self.index]):
                raise Refused
            elif any(x in found for e in inst.edges() for x in e.args):
                raise Refused
        return found

    def results(self, looping: set[Block]) -> dict[Value, tuple[int, ...]]:
        """The new arrays that are made once for each example and returned: value -> where it is in the result. Each is
        a part of the array of all results."""
        returned = [inst.args[0] for block in self.order for inst in block.insts if inst.op is c.RETURN]
        if len(returned) != 1:
            return {}
        found: dict[Value, tuple[int, ...]] = {}
        own = {inst.result for block in self.order if block not in looping for inst in block.insts
               if inst.op is mem.ARRAY_NEW and not inst.attrs.get("zero")}
        rest: list[tuple[Value, tuple[int, ...]]] = [(returned[0], ())]
        for x, place in rest:  # appended to during the iteration
            if x in own and x in self:
                found.setdefault(x, place)
            elif x.inst is not None and x.inst.op is s.TUPLE_MAKE:
                rest += [(part, (*place, n)) for n, part in enumerate(x.inst.args)]
        return found

    def is_whole(self, inst: Inst) -> bool:
        """Whether an instruction processes whole arrays."""
        return inst.op in NESTS or inst.op is mem.DOT or inst.op is c.INVOKE

    def looping(self) -> set[Block]:
        """The blocks of loops of the function."""
        number = {block: n for n, block in enumerate(self.order)}
        found: set[Block] = set()
        for n, block in enumerate(self.order):
            for e in block.insts[-1].targets:
                if number[e.block] <= n:
                    found.update(self.order[number[e.block]:n + 1])
        return found

    def in_loop(self, looping: set[Block]) -> bool:
        """Whether a loop of the function processes elements one by one, which a loop over examples does better."""
        return any(inst.op in (mem.ARRAY_LOAD, mem.ARRAY_STORE) and any(x in self for x in inst.args)
                   for block in looping for inst in block.insts)

    def __contains__(self, v: Value) -> bool:
        return v in self.batched


def _is_local(inst: Inst) -> bool:
    """Whether an instruction changes nothing but elements of arrays, and raises exceptions."""
    if inst.op is c.INVOKE:
        functions = [inst.attrs["callee"]]
    elif inst.op in NESTS:
        functions = list(kernels(inst.attrs["tree"]))
    else:
        return inst.op in _RAISING or writes_only(inst, ELEMENTS | COUNTS | ERRORS)
    for fn in functions:
        if "local" not in fn.memo:
            fn.memo["local"] = True  # for a call of itself
            fn.memo["local"] = all(_is_local(one) for block in fn.blocks for one in block.insts)
        if not fn.memo["local"]:
            return False
    return True


def _written(inst: Inst) -> list[Value]:
    """The arrays among the operands into which an instruction may write."""
    if inst.op is mem.ARRAY_STORE or inst.op is mem.ROW_COPY:
        return inst.args[:1]
    if inst.op is NEST_INTO:
        return inst.args[1:2]
    if inst.op is c.INVOKE:
        callee = inst.attrs["callee"]
        return [x for x, p in zip(inst.args, callee.params, strict=True) if p in _written_parameters(callee)]
    if inst.op is NEST:
        return []
    if not writes_only(inst, COUNTS | ERRORS):
        return [x for x in inst.args if type(x.type) is k.Array]
    return []


def _gives_argument(fn: Function) -> bool:
    """Whether a function may return an array that shares memory with one of its arguments."""
    if "gives" not in fn.memo:
        fn.memo["gives"] = True  # for a call of itself
        classes = Classes(fn)
        insts = [inst for block in fn.blocks for inst in block.insts]
        for inst in insts:
            if inst.op is c.INVOKE and inst.result is not None and _gives_argument(inst.attrs["callee"]):
                for x in inst.args:
                    classes.join(x, inst.result)
        made = {inst.result for inst in insts if inst.op in _MAKING or inst.op.traits & SAME_MEMORY}
        made.update(p for block in fn.blocks for p in block.params if block is not fn.entry)
        given = {classes.of(v) for v in fn.values() if v not in made and k.any_part(
            v.type, lambda part: type(part) is k.Array)}
        given -= {classes.of(inst.result) for inst in insts if inst.op is s.TUPLE_MAKE}
        returned = [x for inst in insts if inst.op is c.RETURN for x in inst.args]
        for x in returned:  # appended to during the iteration
            if x.inst is not None and x.inst.op is s.TUPLE_MAKE:
                returned += x.inst.args
        fn.memo["gives"] = any(classes.of(x) in given for x in returned)
    return fn.memo["gives"]


def _written_parameters(fn: Function) -> set[Value]:
    """The parameters of a function into whose elements it may write."""
    found = fn.memo.get("written")
    if found is None:
        fn.memo["written"] = set(fn.params)  # for a call of itself
        rules = fn.memo.get("rules")
        arrays = {p for p in fn.params if not k.is_scalar(p.type)}
        if rules is not None and hasattr(rules, "writes") and fn.library:
            found = {fn.params[n] for n in rules.writes}
        else:
            classes = Classes(fn)
            of = {classes.of(x) for block in fn.blocks for inst in block.insts for x in _written(inst)}
            found = {p for p in arrays if classes.of(p) in of}
            if any(not writes_only(inst, COUNTS | ERRORS) and not _written(inst) and inst.op not in (c.INVOKE, *NESTS)
                   for block in fn.blocks for inst in block.insts):
                found = arrays
        fn.memo["written"] = found
    return found
