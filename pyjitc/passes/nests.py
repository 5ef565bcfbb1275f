"""Fuse loop nests over array elements (fusion.py), and write them out as loops.

Runs after inlining and before the loop passes. A nest whose result only another nest reads becomes part of that nest's
tree, which removes the temporary array and its loop; then each nest is replaced by its template, whose holes are
filled.
Before:  t = nest {map, add} (a, b) ; s = nest {sum, square} (t)     After:  loop: s += square(add(a[i], b[i]))
Needs: templates and kernels in their final form (see ops/nest.py).  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from typing import Callable

from ..ir.cfg import LoopNest, in_edges
from ..ir.core import INEXACT, TERMINATOR, Block, Edge, Function, Inst, Value
from ..ops import arith as a
from ..ops import memory as m
from ..ops import structure as s
from ..ops.control import BRANCH, CONST, INVOKE, JUMP, RETURN
from ..ops.nest import (
    BROADCAST, ELEMENT, ELEMENT_STRETCHED, ELEMENT_UNIT, FLAT, NEST_INTO, NESTS, OVERLAPS, IS_ARRAY, PUT, PUT_UNIT,
    REPEATED,
    ROW, SAVE, STRETCHED, UNIT, Leaf, aligned,
)
from ..types.kinds import Array, Bool, Int, is_complex
from . import counted, dce, gvn, inline, simplify
from .alias import Aliases
from .fusion import Fusion, call_instead, direct, number_of, size_of
from .operands import (
    Operand, Overlap, is_const, is_made_here, is_reversed, is_settled, retyped, same, settled, step_of, stepped,
    stepping, strided,
)
from .rewrite import Builder, clone_blocks, copy_of, resolve, substitute

__all__ = ["run", "write_out"]

FEW = 4  # the longest row that is copied or filled without a loop
_CONVERSION = 4  # the most instructions of a kernel that converts a number
# The most instructions of templates and elements that one function contains itself: LLVM takes time quadratic in the
# branches of a function.
MANY = 4_000
_HOLES = frozenset((ELEMENT, ELEMENT_UNIT, ELEMENT_STRETCHED, STRETCHED, UNIT, FLAT, IS_ARRAY, REPEATED, ROW, OVERLAPS,
                    SAVE, PUT, PUT_UNIT))
_ELEMENTS = frozenset((ELEMENT, ELEMENT_UNIT))


def run(functions: list[Function], options=None, copies=False) -> list[Function]:
    """Expand the nests of the functions of a module, the entry first, into loops; returns the functions that can then
    be reached. copies: whether an assignment whose target may share memory with what is read always copies, without a
    test at run time: reverse mode does not take arrays that a test chooses between and a loop writes into."""
    own = {fn: fn for fn in functions}
    return inline.reachable(functions[:1], own, lambda fn: _write_out(fn, copies))


def _write_out(fn: Function, copies: bool) -> None:
    if not any(inst.op in NESTS for block in fn.blocks for inst in block.insts):
        return
    before = {inst.attrs["callee"] for block in fn.blocks for inst in block.insts if inst.op is INVOKE}
    simplify.run(fn)
    gvn.run(fn)
    simplify.run(fn)
    dce.run(fn)  # removes arrays that only a later trip of a loop reads, before they become loops
    _remove_copies(fn)
    Fusion(fn).run()
    _outline(fn)
    _expand(fn, copies=copies)
    inline.put_in_kernels(fn, before)


def _remove_copies(fn: Function) -> None:
    """Remove assignments of an array to itself: `a[i] += b` adds to a view and then assigns the view to `a[i]`."""
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op is NEST_INTO:
                tree = direct(inst.attrs["tree"])
                if type(tree) is Leaf and inst.args[inst.attrs["count"] + tree.index] is inst.args[1]:
                    inst.op, inst.args, inst.attrs, inst.unwind = CONST, [], {"value": None}, None


def write_out(fn: Function, wanted: Callable[[Inst], bool], copies=False) -> None:
    """Expand those nests of a function for which `wanted` is true, without fusing them. copies: as in `run`. Needs: as
    `run`; callees are inlined."""
    before = {inst.attrs["callee"] for block in fn.blocks for inst in block.insts if inst.op is INVOKE}
    for inst in (inst for block in fn.blocks for inst in block.insts if inst.op is NEST_INTO):
        if "instead" in inst.attrs and wanted(inst):
            call_instead(inst)
    _expand(fn, wanted, copies)
    inline.put_in_kernels(fn, before)


def _outline(fn: Function) -> None:
    """Move each nest beyond the first `MANY` instructions to a function of its own, whose parameters are its operands.
    Equal nests share one function; the very first nest is not moved."""
    size = None
    made: dict = {}
    numbers: dict = {}
    for block in fn.blocks:
        for k, inst in enumerate(block.insts):
            if inst.op not in NESTS:
                continue
            template, tree = inst.attrs["template"], inst.attrs["tree"]
            first, size = size is None, (size or 0) + sum(len(b.insts) for b in template.blocks) + size_of(tree)
            if first or size <= MANY:
                continue
            like = made.setdefault((inst.op, template, number_of(tree, numbers), inst.result.type,
                                    *(v.type for v in inst.args)), [])
            own = next((own for nest, own in like if _same(nest, inst)), None)
            if own is None:
                own = _function_of(f"{fn.name}.nest{len(made)}.{len(like)}", inst)
                own.flags = own.flags._replace(noinline=True, parallel=fn.flags.parallel)
                like.append((own.blocks[0].insts[0], own))
            block.insts[k] = Inst(INVOKE, inst.args, {"callee": own}, inst.result, inst.loc, (), inst.unwind)


def _same(nest: Inst, other: Inst) -> bool:
    """Whether two nests with the same template, trees and operands also have the same attributes, and so compute the
    same."""
    return {**nest.attrs, "tree": None} == {**other.attrs, "tree": None}


def _function_of(name: str, nest: Inst) -> Function:
    """A function that consists of a nest; its parameters are the nest's arguments."""
    entry = Block("entry", [Value(v.type, v.name) for v in nest.args])
    result = Value(nest.result.type, nest.result.name)
    entry.insts = [Inst(nest.op, entry.params, nest.attrs, result, nest.loc), Inst(RETURN, [result], loc=nest.loc)]
    found = Function(name, library=True)
    found.blocks, found.result = [entry], result.type
    return found


class _Expansion:
    def __init__(self, fn, aliases, inst, here, repeated, copies):
        self.inst, self.fn, self.repeated, self.copies = inst, fn, repeated, copies
        self.before = Builder(here, inst.loc, inst.unwind)
        self.aliases = aliases
        inst.attrs = {**inst.attrs, "tree": direct(inst.attrs["tree"])}
        count = inst.attrs["count"]
        self.operands = [settled(self.before, v) for v in inst.args[count:]]
        if inst.op is NEST_INTO:
            inst.args[1] = settled(self.before, inst.args[1], always=True)
        self.saved = (self.save(inst.args[1])
                      if any(x.op is SAVE for block in inst.attrs["template"].blocks for x in block.insts) else set())
        self.arrays = {k: Operand(self.before, v) for k, v in enumerate(self.operands) if isinstance(v.type, Array)}
        self.views: dict = {}
        self.lengths: tuple | None = None

    def save(self, target) -> set[int]:
        """Add copies of operands with fewer elements than the target where they share memory with it, and return their
        positions. Otherwise the whole result would be computed into a copy."""
        b, found = self.before, set()
        for k, v in enumerate(self.operands):
            t = v.type
            if not isinstance(t, Array) or not 0 < t.ndim <= 3 or self.aliases.distinct(v, target):
                continue
            operand = Operand(b, v)
            if t.ndim == target.type.ndim and not any(is_const(n, 1) for n in operand.dims):
                continue
            if self.copies:
                meet = b.const(Bool, True)
            else:
                overlap = Overlap(b, target, _lengths(b, target))
                overlap.add(v, operand.dims)
                meet = overlap.found()
            made = Array(t.dtype, t.ndim, "A", t.writable, t.aligned)
            copy = b.op(m.ARRAY_COPY, meet, v, type=Array(t.dtype, t.ndim))
            chosen = retyped(b, copy, made) if self.copies else (
                b.op(s.SELECT, meet, retyped(b, copy, made), retyped(b, v, made), type=made))
            strides = [b.int(m.ARRAY_STRIDE, chosen, axis=j) for j in range(t.ndim)]
            if is_settled(b, v):
                strides[-1] = b.const(Int, m.item_bytes(t.dtype))
            self.operands[k] = b.op(m.ARRAY_VIEW, chosen, b.const(Int, 0), *operand.dims, *strides, type=made)
            b.insts[-1].attrs["type"] = made
            found.add(k)
        return found

    def space(self):
        """The lengths of the index space, where the first argument of the template is their tuple."""
        if self.lengths is None:
            made = self.inst.args[0].inst if self.inst.args else None
            self.lengths = ()
            if made is not None and made.op is s.TUPLE_MAKE:
                self.lengths = tuple(made.args)
            elif made is not None and made.op is CONST:
                self.lengths = tuple(self.before.const(Int, n) for n in made.attrs["value"])
        return self.lengths or None

    def view(self, k, n, unit):
        """(array to load from, the axes of the index that it uses, step along the last axis or None) for operand k in a
        space of n axes."""
        key = (k, unit)
        if key in self.views:
            return self.views[key]
        if unit == "stretched":
            return self.stretched_view(k, n)
        b, operand = self.before, self.arrays[k]
        t, dims = operand.type, operand.dims
        space = self.space()
        first = n - t.ndim
        full = space is not None and all(map(same, dims, space[first:]))
        kept = [axis for axis in range(t.ndim) if not is_const(dims[axis], 1) or space is not None
                and same(dims[axis], space[first + axis])]
        if t.layout == "C" and full:
            found: tuple = (operand.value, range(first, n), None)
        else:
            strides, step = [], None
            for axis in kept:
                whole = space is not None and same(dims[axis], space[first + axis])
                if unit and axis == t.ndim - 1:
                    strides.append(b.const(Int, m.item_bytes(t.dtype)))
                    if space is not None and not (whole and is_settled(b, operand.value)) and stepping(t):
                        step = (b.const(Int, -1) if whole and is_reversed(b, operand.value)
                                else step_of(b, operand.value, dims[axis], space[-1]))
                    continue
                stride = b.int(m.ARRAY_STRIDE, operand.value, axis=axis)
                if axis == t.ndim - 1 and t.layout == "C":
                    stride = b.const(Int, m.item_bytes(t.dtype))
                if not whole:
                    one = b.test(a.IEQ, dims[axis], b.const(Int, 1))
                    stride = b.int(s.SELECT, one, b.const(Int, 0), stride)
                strides.append(stride)
            made = Array(t.dtype, len(kept), "A" if kept else "C", t.writable, t.aligned)
            array = b.op(m.ARRAY_VIEW, operand.value, b.const(Int, 0), *(dims[axis] for axis in kept), *strides,
                         type=made) \
                if kept else b.op(m.ARRAY_VIEW, operand.value, b.const(Int, 0), type=made)
            b.insts[-1].attrs["type"] = made
            found = array, [first + axis for axis in kept], step
        self.views[key] = found
        return found

    def loose(self, n):
        """The positions of operands of several axes that are arguments or loaded, and therefore may have a single
        column that is broadcast in a space of n axes. Slices and new arrays hardly ever have a single column, and each
        copy of the loops costs compile time."""
        return [k for k, operand in self.arrays.items() if operand.type.ndim > 1
                and (step := self.view(k, n, True)[2]) is not None
                and step.inst.op is m.ARRAY_STEP and not is_made_here(operand.value)]

    def is_stretched(self, b, n):
        first, *others = self.loose(n) or [None]
        if not others or len(others) > 2:
            yield b.const(Bool, False)
            return
        yield b.test(a.IEQ, self.view(first, n, True)[2], b.const(Int, 1))
        for k in others:
            yield b.test(a.IEQ, self.view(k, n, True)[2], b.const(Int, 0))

    def stretched_view(self, k, n):
        array, axes, step = self.view(k, n, True)
        loose = self.loose(n)
        return array, axes, step if k not in loose else None if k == loose[0] else self.zero

    def prepare(self, n):
        self.zero = self.before.const(Int, 0)
        for k in self.arrays:
            self.view(k, n, True)
            self.view(k, n, False)

    def moves_elements(self) -> bool:
        """Whether the elements are copied, or all are one number, so that nothing is computed for each."""
        tree = self.inst.attrs["tree"]
        return type(tree) is Leaf or not self.arrays and size_of(tree) <= _CONVERSION

    def fill(self, b: Builder, hole: Inst, replace):
        """The instructions for a hole of the template."""
        op, args = hole.op, [resolve(replace, v) for v in hole.args]
        if op is ELEMENT or op is ELEMENT_UNIT:
            return self.element(b, args, op is ELEMENT_UNIT, hole.attrs["type"])
        if op is ELEMENT_STRETCHED:
            return self.element(b, args, "stretched", hole.attrs["type"])
        if op is STRETCHED:
            return b.all(self.is_stretched(b, len(args)))
        if op is PUT or op is PUT_UNIT:
            return self.put(b, args, op is PUT_UNIT)
        if op is SAVE:
            return None
        if op is UNIT:
            return b.all(self.unit(b, args))
        if op is FLAT:
            return b.all(self.flat(b, args))
        if op is IS_ARRAY:
            return b.const(Bool, self.is_array(args, hole.attrs["type"], hole.attrs["unit"]))
        if op is REPEATED:
            return b.const(Bool, self.repeated and size_of(self.inst.attrs["tree"]) <= hole.attrs["most"])
        if op is ROW:
            return self.row(b, args, Array(hole.attrs["type"], 1, "C" if hole.attrs["unit"] else "A"))
        return self.overlaps(b, args[0])

    def is_array(self, index, t, unit: bool) -> bool:
        tree = self.inst.attrs["tree"]
        if type(tree) is not Leaf or tree.index not in self.arrays:
            return False
        array, axes, step = self.view(tree.index, len(index), unit)
        return (step is None and array.type.dtype is t and array.type.aligned and len(index) - 1 in axes
                and (not unit or is_settled(self.before, array)))

    def row(self, b, index, t):
        unit = t.layout == "C"
        if not self.is_array(index, t.dtype, unit):
            b.op(s.UNDEF, type=t)
            b.insts[-1].attrs["type"] = t
            return b.insts[-1].result
        array, axes, _ = self.view(self.inst.attrs["tree"].index, len(index), unit)
        offset = step = b.const(Int, 0)
        for axis, k in enumerate(axes):
            step = (b.const(Int, m.item_bytes(t.dtype)) if unit and k == len(index) - 1
                    else b.int(m.ARRAY_STRIDE, array, axis=axis))
            offset = b.int(a.IADD, offset, b.int(a.IMUL, index[k], step))
        found = b.op(m.ARRAY_VIEW, array, offset, b.const(Int, 1), step, type=t)
        b.insts[-1].attrs["type"] = t
        return found

    def element(self, b, index, unit, t):
        memo: dict = {}

        def value(node):
            found = memo.get(node)
            if found is not None:
                return found
            if type(node) is Leaf:
                found = self.operands[node.index]
                if node.index in self.arrays:
                    array, axes, step = self.view(node.index, len(index), unit)
                    found = b.op(m.ARRAY_LOAD, array, *stepped(b, [index[k] for k in axes], step),
                                 type=array.type.dtype, parallel=True)
                    if not unit and array.type.layout == "A":
                        b.insts[-1].attrs["strided"] = True
            else:
                found = b.op(INVOKE, *map(value, node.parts), type=node.kernel.result, callee=node.kernel)
            memo[node] = found
            return found

        found = value(self.inst.attrs["tree"])
        if found.type is not t:
            found = b.op(s.RETYPE, found, type=t)
            b.insts[-1].attrs["type"] = t
        return found

    def put(self, b, args, unit):
        target, fresh, overlapping, *index, value = args
        array, t = target, target.type
        if not is_const(overlapping, False):
            if t.layout != "C":
                t = Array(t.dtype, t.ndim, "A", t.writable, t.aligned)
            array = b.op(s.SELECT, overlapping, retyped(b, fresh, t), retyped(b, target, t), type=t)
        if unit and t.layout != "C":
            dims = [b.int(m.ARRAY_DIM, array, axis=k) for k in range(t.ndim)]
            strides = [b.int(m.ARRAY_STRIDE, array, axis=k) for k in range(t.ndim - 1)]
            step = step_of(b, array, dims[-1], dims[-1]) if not is_settled(b, target) and stepping(t) else None
            # the strides of the result are no longer those of Fortran order
            made = Array(t.dtype, t.ndim, "A", t.writable, t.aligned)
            array = b.op(m.ARRAY_VIEW, array, b.const(Int, 0), *dims, *strides, b.const(Int, m.item_bytes(t.dtype)),
                         type=made)
            b.insts[-1].attrs["type"] = made
            index = stepped(b, index, step)
        b.op(m.ARRAY_STORE, array, *index, value, parallel=True)

    def unit(self, b, space):
        arrays = [operand.value for operand in self.arrays.values()]
        if self.inst.op is NEST_INTO:
            arrays.append(self.inst.args[1])
        if any(strided(v) for v in arrays):
            yield b.const(Bool, False)
            return
        given = self.space()
        for operand in self.arrays.values():
            t = operand.type
            if t.ndim and not is_const(operand.dims[-1], 1) and (
                    given is None or not stepping(t) and not same(operand.dims[-1], given[-1])):
                yield b.test(a.IEQ, operand.dims[-1], space[-1])
        for v in arrays:
            if v.type.ndim and not is_settled(b, v) and (given is None or not stepping(v.type)):
                stride = b.int(m.ARRAY_STRIDE, v, axis=v.type.ndim - 1)
                yield b.test(a.IEQ, stride, b.const(Int, m.item_bytes(v.type.dtype)))

    def flat(self, b, space):
        given = self.space()
        for operand in self.arrays.values():
            t = operand.type
            # An operand whose type has one column is read once for each row where the result may have more columns: it
            # has no last axis along which one row of all elements could run.
            one_column = t.ndim and is_const(operand.dims[-1], 1) and (
                given is None or not same(operand.dims[-1], given[-1]))
            if t.ndim == len(space) and t.layout == "C" and not one_column:
                for k in range(t.ndim):
                    if given is None or not same(operand.dims[k], given[k]):
                        yield b.test(a.IEQ, operand.dims[k], space[k])
            else:
                yield b.const(Bool, False)

    def overlaps(self, b, target):
        """Add the test whether an operand shares memory with the target but is not the same array, element for
        element."""
        overlap = Overlap(b, target, _lengths(b, target))
        for k, operand in self.arrays.items():
            if k not in self.saved and not self.aliases.distinct(operand.value, target):
                overlap.add(operand.value, operand.dims, apart_from_itself=True)
        return b.const(Bool, not overlap.is_certain()) if self.copies else overlap.found()


def _lengths(b, v: Value) -> list[Value]:
    return [b.int(m.ARRAY_DIM, v, axis=k) for k in range(v.type.ndim)]


def _expand(fn: Function, wanted: Callable[[Inst], bool] = lambda nest: True, copies=False) -> None:
    aliases = Aliases(fn)
    blocks: list[Block] = []
    replace: dict[Value, Value] = {}
    loops = LoopNest(fn).loops if any(inst.op in NESTS for block in fn.blocks for inst in block.insts) else ()
    for block in fn.blocks:
        blocks.append(block)
        if not any(inst.op in NESTS for inst in block.insts):
            continue
        aliases.look_at(fn, block)
        insts, block.insts = block.insts, []
        here: list[Inst] | None = block.insts
        for inst in insts:
            if here is None:
                break
            if inst.op not in NESTS or not wanted(inst):
                here.append(inst)
                continue
            expansion = _Expansion(fn, aliases, inst, here, _moves(inst, block, loops), copies)
            template = inst.attrs["template"]
            if expansion.repeated and inst.attrs["ndim"] == 1 and expansion.moves_elements():
                template = _with_few_unrolled(template)
            if fn.flags.parallel:
                template = _independent(template)
            expansion.prepare(inst.attrs["ndim"])
            result = None
            if inst.result is not None:  # later nests still look up the instruction that defines an operand
                result = replace[inst.result] = Value(inst.result.type, inst.result.name)
            call = Inst(INVOKE, inst.args[:inst.attrs["count"]], {"callee": template}, result, inst.loc, (),
                        inst.unwind)
            start, first, own = len(here), len(blocks), here
            here = inline.splice(call, here, blocks, replace)
            _fill(own, start, expansion, replace)
            for new in blocks[first:]:
                _fill(new.insts, 0, expansion, replace)
    fn.blocks = blocks
    substitute(fn.blocks, replace)
    _tell_lengths(fn)


def _with_few_unrolled(template: Function) -> Function:
    """A copy of a template in which up to four contiguous elements are written without a loop, where the overhead of
    the loop would be larger than the work."""
    found = template.memo.get("few unrolled")
    if found is None:
        found = template.memo["few unrolled"] = copy_of(template)
        edges, defs = in_edges(found.blocks), counted.Definitions(found)
        for loop in LoopNest(found).loops:
            plain = counted.find(loop, defs, edges) if loop.parent is None and not loop.inner else None
            if plain is not None and any(inst.op is PUT_UNIT for block in loop.blocks for inst in block.insts):
                _unroll_few(found, plain)
    return found


def _independent(template: Function) -> Function:
    """A copy of a template whose loops are marked as independent, so that they may run on several threads: loops that
    store each element at a place of its own, and folds whose result does not depend on their order."""
    found = template.memo.get("independent")
    if found is None:
        found = template.memo["independent"] = copy_of(template)
        edges, defs = in_edges(found.blocks), counted.Definitions(found)
        for loop in LoopNest(found).loops:
            plain = counted.find(loop, defs, edges)
            insts = [inst for block in loop.blocks for inst in block.insts]
            puts = [inst for inst in insts if inst.op is PUT or inst.op is PUT_UNIT]
            if (plain is not None and puts and all(p in plain.steps for p in loop.header.params)
                and not any(inst.op in (m.ARRAY_LOAD, m.ARRAY_STORE, m.ROW_COPY, INVOKE) for inst in insts)
                and all(any(v in plain.steps and v is not plain.left for v in inst.args) for inst in puts)):
                branch = loop.header.terminator
                branch.attrs = {**branch.attrs, "independent": "nest"}
            elif (plain is not None and not puts and any(inst.op in _ELEMENTS for inst in insts)
                  and not any(inst.op.traits & INEXACT or inst.op.effects & ~TERMINATOR and inst.op not in _ELEMENTS
                              for inst in insts)
                  and not any(is_complex(p.type) for p in loop.header.params)):
                branch = loop.header.terminator
                branch.attrs = {**branch.attrs, "independent": "nest"}
    return found


def _unroll_few(fn: Function, loop) -> None:
    """Bypass a counted loop that makes few trips by that many copies of its body."""
    header, entry = loop.loop.header, loop.entry
    copies = [clone_blocks(loop.loop.blocks, {}) for _ in range(FEW)]
    last: dict[Value, Value] = {}
    end = clone_blocks([header], last)[header]
    end.insts = [Inst(JUMP, targets=[Edge(loop.exit.block, [last.get(v, v) for v in loop.exit.args])])]
    nexts = [copy[header] for copy in copies[1:]] + [end]
    for copy, after in zip(copies, nexts):
        for block in loop.loop.latches:
            for edge in copy[block].edges():
                if edge.block is copy[header]:
                    edge.block = after
        fn.blocks += copy.values()
    fn.blocks.append(end)
    here, loc = loop.entry_block.insts, loop.entry_inst.loc
    b = Builder(here, loc, None)
    jump = here.pop()
    few = b.test(a.ILE, loop.start[loop.left], b.const(Int, FEW))
    here.append(Inst(BRANCH, [few], loc=jump.loc, targets=[Edge(copies[0][header], entry.args), entry]))


def _moves(nest: Inst, block: Block, loops) -> bool:
    """Whether a nest is in a loop whose iterations use different arrays, such as `a[i]`, which may be a short row."""
    counted = {p for loop in loops if block in loop.blocks for one in loop.blocks for p in one.params}
    if not counted:
        return False
    known: dict[Value, bool] = {}

    def varies(v):
        found = known.get(v)
        if found is None:
            known[v] = False
            made = v.inst
            found = known[v] = v in counted or made is not None and any(map(varies, made.args))
        return found

    return any(varies(v) for v in nest.args if isinstance(v.type, Array))


def _tell_lengths(fn: Function) -> None:
    """Where a broadcast shape was checked against the target's shape, replace its lengths by those of the target, or by
    a constant length other than 1 where there is one."""
    replace: dict[Value, Value] = {}
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op is BROADCAST and inst.attrs.get("into") is not None:
                lengths = aligned(inst.args, inst.attrs["ndims"], inst.attrs["axis"])
                made = [(v, v.inst) for v in lengths]
                known = [v for v, one in made if one is not None and one.op is CONST and one.attrs["value"] != 1]
                replace[inst.result] = known[0] if known else lengths[0]
    substitute(fn.blocks, replace)


def _fill(insts: list[Inst], start: int, expansion: _Expansion, replace) -> None:
    if not any(inst.op in _HOLES for inst in insts[start:]):
        return
    old = insts[start:]
    del insts[start:]
    b = Builder(insts, expansion.inst.loc, expansion.inst.unwind)
    for inst in old:
        if inst.op in _HOLES:
            found = expansion.fill(b, inst, replace)
            if inst.result is not None:
                replace[inst.result] = found
        else:
            insts.append(inst)
