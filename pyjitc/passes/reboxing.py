"""Reuse the object of a number, where one is read from a container of the interpreter and put into another.

Runs after containers that do not escape have become native, and before references are counted: a reference costs less
than boxing the number and freeing the box. The object is loaded where the number is read, if it is put in the same
loop, so that it is seldom loaded in vain, or where the number leaves the loop that looked for it; where a number comes
to a block from several places, so does its object. An operation gets objects for all its numbers or for none, since a
dict changes a number in place where nothing else refers to it. Items of a tuple that is put count as numbers, and so do
numbers that may be None. A number from before all loops that a loop puts is boxed once.
Before:  x = list_get l, i ; list_append m, x    After:  x = list_get l, i ; o = list_object l, i ; list_append m, o
Needs: SSA, references not yet counted.  Keeps: control flow.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, predecessors
from ..ir.uses import passed
from ..ops import containers as c
from ..ops import tables as t
from ..ops.control import BRANCH, CONST
from ..ops.pyobject import PY_BOX, PY_UNBOX
from ..ops.structure import TUPLE_GET, TUPLE_MAKE, UNION_MAKE
from ..types.kinds import Float, Int, NoneType, Object, Tuple, Union
from .rewrite import split_edge

__all__ = ["run"]

_NUMBERS = (Int, Float)
# Operations that may return objects instead of numbers, which `py_unbox` then opens -> the descriptions of these
# objects.
_OPENING = {t.DICT_GET: ("a value of a dict",), t.DICT_NEXT: ("a key of a dict", "a value of a dict"),
            t.ITER_NEXT: ("an item",), t.SET_NEXT: ("an item of a set",)}


def run(fn: ir.Function, options=None) -> None:
    puts = [(block, inst) for block in fn.blocks for inst in block.insts
            if inst.op.traits & ir.BOXES and any([_number_in(v) for v in inst.args])]
    if puts:
        _Objects(fn).run(puts)


def _number_in(v: ir.Value) -> bool:
    return _is_number(v) or any(map(_is_number, _items(v)))


def _items(v: ir.Value) -> list[ir.Value]:
    """The items of a tuple that is made of values; none of any other value."""
    made = v.inst
    is_tuple = made is not None and made.op is TUPLE_MAKE and type(v.type) is Tuple and v.type.cls is None
    return made.args if made is not None and is_tuple else []


def _is_number(v: ir.Value) -> bool:
    """Whether a value is a number or may be one, or a tuple as it was read from a list."""
    return v.type in _NUMBERS or _may_be_number(v.type) or (
        type(v.type) is Tuple and v.inst is not None and v.inst.op is c.LIST_GET)


def _may_be_number(t) -> bool:
    return isinstance(t, Union) and all([member in _NUMBERS or member is NoneType for member in t.members])


def _may_change_lists(inst: ir.Inst) -> bool:
    """Whether an instruction may change a list, also by a finalizer that runs when an object is allocated."""
    reads_number = inst.op is c.LIST_GET and inst.result.type in _NUMBERS
    return bool(inst.op.effects & (ir.WRITES | ir.ALLOCATES)) and not reads_number


def _is_item(v: ir.Value) -> bool:
    """Whether a value is an item of a tuple as it was read from a list."""
    return v.inst is not None and v.inst.op is TUPLE_GET and _is_number(v.inst.args[0])


class _Objects:
    """The objects of the numbers of a function that come from containers."""

    def __init__(self, fn: ir.Function):
        self.fn = fn
        self.loops = LoopNest(fn)
        self.block_of: dict[ir.Value, ir.Block] = {}
        self.passed = passed(fn.blocks)
        for block in fn.blocks:
            self.block_of.update(dict.fromkeys(block.values(), block))
        self.preds = predecessors(fn.blocks)
        self.objects: dict[ir.Value, ir.Value] = {}
        self.steps = self.find_steps()
        self.step_of = {get.result: step for step, gets in self.steps.items() for get in gets}
        self.boxed: set[ir.Value] = set()  # numbers from before all loops that are boxed
        self.leaving: dict[ir.Value, ir.Edge] = {}  # number -> the edge by which it leaves the loop that reads it
        self.opening: set[ir.Inst] = set()  # instructions that are changed to return objects

    def find_steps(self) -> dict[ir.Inst, list[ir.Inst]]:
        """Step over a container -> the instructions that read its items. Only steps whose items are all read one by
        one, and only where there is an item."""
        steps: dict[ir.Inst, list[ir.Inst]] = {}
        for block in self.fn.blocks:
            for inst in block.insts:
                if inst.op in _OPENING and inst.op is not t.DICT_GET and inst.unwind is None:
                    steps[inst] = []
        if not steps:
            return steps
        within = {step.result: step for step in steps}  # the result of a step, and the pairs in it -> the step
        preds = predecessors(self.fn.blocks)
        for block in self.loops.dom.order:
            for inst in block.insts:
                for v in inst.uses():
                    step = within.get(v)
                    if step is None or inst.op is TUPLE_GET and v is step.result and inst.attrs["index"] != 1:
                        continue
                    last = self.block_of[step.result].terminator
                    has = last.args[0].inst if last.op is BRANCH else None
                    there = last.targets[0].block
                    if (inst.op is not TUPLE_GET or has is None or has.op is not TUPLE_GET or has.args[0] is not
                            step.result or has.attrs["index"] != 0 or len(preds[there]) > 1
                            or not self.loops.dom.dominates(there, block)):
                        steps.pop(step, None)
                    elif type(inst.result.type) is Tuple and step.op is t.DICT_NEXT and v is step.result and (
                            step.attrs["what"] == "items"):
                        within[inst.result] = step
                    elif step in steps:
                        steps[step].append(inst)
        return steps

    def run(self, puts: list[tuple[ir.Block, ir.Inst]]) -> None:
        made: dict[ir.Inst, list[ir.Inst]] = {}  # instruction -> the instructions to insert before it
        replaced: dict[ir.Value, ir.Value] = {}
        for block, inst in puts:
            loop = self.loops.of.get(block)
            numbers = [x for v in inst.args for x in (v, *_items(v)) if _is_number(x)]
            found = [self.sources(x, loop, inst.op is not PY_BOX) for x in numbers]
            if not any(found) if any(map(_items, inst.args)) else not all(found):
                continue
            ready = {x for x, one in zip(numbers, found) if one}
            for one in found:
                self.make(one or ())
            if inst.op is PY_BOX and inst.args[0] in ready:
                replaced[inst.result] = self.objects[inst.args[0]]
                continue
            for n, v in enumerate(inst.args):
                if v in ready:
                    inst.args[n] = self.objects[v]
                elif not ready.isdisjoint(_items(v)):
                    items = [self.objects[x] if x in ready else x for x in _items(v)]
                    both = ir.Value(Tuple(tuple([x.type for x in items])))
                    made.setdefault(inst, []).append(ir.Inst(TUPLE_MAKE, items, {"cls": None}, both, inst.loc))
                    inst.args[n] = both
        self.insert(made)
        if replaced:
            self.replace(replaced)

    def sources(self, v: ir.Value, loop, may_box: bool) -> set[ir.Value] | None:
        """A number, and the parameters and loads from which it comes, if all of them have objects; else None. may_box:
        numbers from before all loops have objects, too."""
        def is_ready(x):
            return may_box and loop is not None and self.loops.of.get(self.block_of[x]) is None and (
                x in self.block_of and not (x.inst is None and x in self.passed))

        if v not in self.block_of or self.loops.of.get(self.block_of[v]) is not loop and not (
                is_ready(v) or self.leaves(v, loop)):
            return None
        found, work = {v}, [v]
        while work:
            x = work.pop()
            made = x.inst
            outer = self.loops.of.get(self.block_of[x])
            if made is None and x in self.passed or made is not None and made.op is UNION_MAKE:
                if not self.contains(outer, loop):
                    return None
                before = self.passed[x] if made is None else made.args
                work += [y for y in before if y not in found]
                found.update(before)
            elif self.has_object(x):
                inside = outer is loop if _is_item(x) else self.contains(outer, loop)
                if x in self.leaving if inside else not self.leaves(x, loop):
                    return None
            elif not is_ready(x):
                return None
        return found

    def leaves(self, x: ir.Value, loop) -> bool:
        """Whether a number that an inner loop reads from a list reaches `loop` by a single edge, before anything could
        change the list: the object is loaded there."""
        inner, made = self.loops.of.get(self.block_of[x]), x.inst
        if x in self.objects or inner is None or made is None or made.op is not c.LIST_GET:
            return x in self.leaving
        block = self.block_of[x]
        work = [(block, block.insts[block.insts.index(made) + 1:])]
        found = []
        for block, insts in work:
            if any([_may_change_lists(inst) for inst in insts]):
                continue
            for edge in insts[-1].targets:
                alone = len(self.preds[edge.block]) == 1
                if edge.block not in inner.blocks and (alone or x in edge.args):
                    found.append(edge)
                elif alone and edge.block in inner.blocks:
                    work.append((edge.block, edge.block.insts))
        found = [edge for edge in found if self.is_only_way(x, edge, inner)]
        if len(found) != 1 or not self.contains(self.loops.of.get(found[0].block), loop):
            return False
        self.leaving[x] = found[0]
        return True

    def is_only_way(self, x: ir.Value, way: ir.Edge, inner) -> bool:
        """Whether all uses outside the loop `inner` of a value that it defines come after the edge `way`."""
        behind = way.block if len(self.preds[way.block]) == 1 else None
        for block in self.fn.blocks:
            if block in inner.blocks:
                if any([x in edge.args and edge.block not in inner.blocks and edge is not way
                        for edge in block.edges()]):
                    return False
            elif any([x in inst.uses() for inst in block.insts]) and (
                    behind is None or not self.loops.dom.dominates(behind, block)):
                return False
        return True

    def has_object(self, v: ir.Value) -> bool:
        made = v.inst
        if _may_be_number(v.type):
            return made is not None and made.op is c.LIST_GET
        return _is_item(v) or v in self.step_of or made is not None and (
            made.op is c.LIST_GET or made.op is t.DICT_GET and made.unwind is None
            or made.op is PY_UNBOX and "otherwise" not in made.attrs)

    @staticmethod
    def contains(outer, loop) -> bool:
        while loop is not None and loop is not outer:
            loop = loop.parent
        return loop is outer

    def make(self, values) -> None:
        for v in values:
            if v not in self.objects and v.inst is not None and v.inst.op is UNION_MAKE:
                self.make(v.inst.args)
                self.objects[v] = self.objects[v.inst.args[0]]
            elif v not in self.objects:
                unboxed = v.inst is not None and v.inst.op is PY_UNBOX
                self.objects[v] = v.inst.args[0] if unboxed else ir.Value(Object)
                if v.inst is None and v in self.passed:
                    continue
                if not self.has_object(v):
                    self.boxed.add(v)
                elif _is_item(v):
                    self.make(v.inst.args)
                elif v in self.step_of:
                    self.opening.add(self.step_of[v])
                elif v.inst is not None and v.inst.op is t.DICT_GET:
                    self.opening.add(v.inst)

    def insert(self, made: dict[ir.Inst, list[ir.Inst]]) -> None:
        """Load the objects where their numbers are loaded, and pass them to blocks with these."""
        for x, edge in self.leaving.items():
            if x in self.objects and x.inst is not None:
                middle = split_edge(edge)
                middle.insts.insert(0, ir.Inst(c.LIST_OBJECT, x.inst.args, None, self.objects[x], x.inst.loc))
                self.fn.blocks.append(middle)
        for block in self.fn.blocks:
            kept = [self.box(p, block.insts[0].loc) for p in block.params if p in self.boxed]
            for inst in block.insts:
                kept += made.get(inst, [])
                kept += self.opened(inst)
                o = self.objects.get(inst.result)
                if inst.result in self.boxed:
                    kept.append(self.box(inst.result, inst.loc))
                elif o is not None and inst.op is c.LIST_GET and inst.result not in self.leaving:
                    kept.append(ir.Inst(c.LIST_OBJECT, inst.args, None, o, inst.loc))
                elif o is not None and _is_item(inst.result):
                    place = ir.Inst(CONST, (), {"value": inst.attrs["index"]}, ir.Value(Int), inst.loc)
                    kept += [place, ir.Inst(
                        c.LIST_OBJECT, (self.objects[inst.args[0]], place.result), None, o, inst.loc)]
                for edge in inst.edges():
                    edge.args = [*edge.args, *[self.objects[x] for p, x in zip(edge.block.params, edge.args)
                                               if p in self.objects]]
            block.insts = kept
        for block in self.fn.blocks:
            block.params = [*block.params, *[self.objects[p] for p in block.params if p in self.objects
                                             and p not in self.boxed]]

    def box(self, v: ir.Value, loc) -> ir.Inst:
        return ir.Inst(PY_BOX, (v,), None, self.objects[v], loc)

    def opened(self, inst: ir.Inst) -> list[ir.Inst]:
        """The instructions that replace `inst`: itself, or where it is to return an object, also the `py_unbox` that
        opens the object."""
        v, step = inst.result, self.step_of.get(inst.result)
        if inst in self.opening:
            kind, rule = "type" if inst.op is t.ITER_NEXT else "objects", inst.op.rule
            inst.attrs = {**inst.attrs, kind: Object if kind == "type" else True}
            if rule is not None and inst.op is not t.DICT_GET:
                v.type = rule([x.type for x in inst.args], inst.attrs)
                return [inst]
            step = inst
        elif step not in self.opening:
            if inst.op is TUPLE_GET and inst.args[0].inst in self.opening and type(v.type) is Tuple:
                v.type = inst.args[0].type.elements[inst.attrs["index"]]
            return [inst]
        what = _OPENING[step.op][0 if inst.args[0] is step.result or inst is step else inst.attrs["index"]]
        if step.op is t.DICT_NEXT and step.attrs["what"] == "values":
            what = _OPENING[step.op][1]
        o = self.objects.get(v) or ir.Value(Object)
        opened = ir.Inst(PY_UNBOX, (o,), {"type": v.type, "what": what}, v, inst.loc)
        return [ir.Inst(inst.op, inst.args, inst.attrs, o, inst.loc), opened]

    def replace(self, replaced: dict[ir.Value, ir.Value]) -> None:
        """Remove the operations that box a value which already has an object, and use that object."""
        for v, o in replaced.items():
            while o in replaced:
                o = replaced[o]
            replaced[v] = o
        for block in self.fn.blocks:
            block.insts = [inst for inst in block.insts if inst.result not in replaced]
            for inst in block.insts:
                inst.args = [replaced.get(x, x) for x in inst.args]
                for edge in inst.edges():
                    edge.args = [replaced.get(x, x) for x in edge.args]
