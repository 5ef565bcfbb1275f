"""Sparse conditional type and constant propagation over one function's generic IR.

Types, constants and reachability are found together: a block is visited when an edge reaches it, a branch on a known
condition follows one edge, and an instruction is evaluated on the abstract values that its operands have so far.
Source: Wegman and Zadeck, "Constant propagation with conditional branches" (1991), with types as the lattice.
A test of a union (`x is None`, `isinstance(x, C)`) narrows its type on the branch's edges.
"""
from __future__ import annotations

from functools import reduce

from ..base.errors import PyjitcError, defect
from ..base.lazy import lazy
from ..ir import core as ir
from ..ops import control, generic
from ..types.kinds import (
    MAX_SIZE, Dual, Function, FunctionObject, Generator, TooLarge, Tuple, Type, Union, all_parts, any_part, is_display,
    is_plain_tuple, members_of, union_of,
)
from .evaluate import Evaluator
from .join import AV, join, same_constant
from .meaning import (
    UNKNOWN, Again, Mismatch, NotConstant, NotNative, NeedsDisplays, NeedsList, NeedsObjects, Operand,
    RecursiveGenerator, Restart,
)
from .names import has_generator, is_of_python

forgiving = lazy(f"{__package__}.forgiving")  # only functions under `jit` load it
interpreted_library = lazy(f"{__package__}.interpreted_library")  # for code without native form
leaving = lazy(f"{__package__}.leaving")  # only functions that return functions or iterators load it

displays = lazy(f"{__package__}.displays")

__all__ = ["Analysis"]

_MAX_CHANGES = 60
_MAX_LENGTHS = 2  # the maximum number of lengths of tuples for one variable of a loop
_MAX_HELD = 4  # the same for an operand of an operation on tuples
_MANY_ITEMS = 1000  # of a display: one with more is large in the source, and does not grow
# The number of changes of the type of a block parameter after which it keeps its type, joined with each new one: a call
# that puts the list of the round before into a new list returns a type with a new type variable in each round.
_MAX_RENEWED = 8
_MAX_NESTED = 8  # changes of the type of a value that contains list displays


def _is_same_error(error: Mismatch | None, old: Mismatch | None) -> bool:
    """Whether an error says the same as the one that was found before; None: there is none."""
    return error is old or type(error) is type(old) and str(error) == str(old)


def _defect(error: Exception) -> Mismatch:
    """An error that no rule raised on purpose, converted to an error at the line that caused it."""
    found = NotNative(*defect(error))
    found.__cause__ = error
    return found


def _too_large(inst: ir.Inst) -> Mismatch:
    value = inst.attrs.get("value")
    items = len(value) if isinstance(value, tuple) else len(inst.args)
    if items > _MANY_ITEMS:
        return NotNative(f"this has {items} items, and its type one part or more for each: at most {MAX_SIZE} are "
                         f"possible",
                         "make an array of them outside of the function, as a global: NUMBERS = np.array([...])")
    name = inst.result.name if inst.result is not None else ""
    return NotNative(f"the type of {repr(name) if name else 'this value'} would have more than {MAX_SIZE} parts: it "
                     f"grows with every call or round",
                     "keep the type of a variable or argument the same: an array, or one level of a tuple, where "
                     f"tuples or functions would nest{_FOR_TREES}")


_FOR_TREES = "; for the nodes of a tree a class whose attributes are its children, or None"


class Analysis:
    """The state of the propagation for one Spec."""

    def __init__(self, session, spec):
        self.session = session
        self.spec = spec
        self.fn: ir.Function = session.build(spec.proto)
        shape = self.fn.memo.get("shape")
        if shape is None:
            shape = self.fn.memo["shape"] = _Shape(self.fn)
        self.shape: _Shape = shape
        self.av: dict[ir.Value, AV] = {}
        self.meaning: dict[ir.Inst, object] = {}
        self.errors: dict[ir.Inst, Mismatch] = {}
        # what continues the generator of which an instruction makes an iterator object, by the type of the state
        self.steps: dict[ir.Inst, dict] = {}
        self.incoming: dict[ir.Block, dict[ir.Edge, list]] = {}
        self.narrowed: dict[ir.Block, dict[ir.Value, AV]] = {}
        self.verdicts: dict[ir.Value, tuple] = {}  # condition -> (union value, {member: truth or UNKNOWN})
        self.changes: dict[ir.Value, int] = {}
        self.raising: set[ir.Inst] = set()
        self.products: dict[ir.Inst, ir.Block] = {}  # nests that become one call if no other one is fused into them
        self.returns: dict[ir.Inst, AV] = {}
        self.returned: AV | None = None  # the join of all of these
        self.dirty: list[int] = []
        self.queued: set[int] = set()
        self.absorbs = spec.proto.absorbs
        self.running = False
        self.waiting = False
        self.forgiving = session.asks and not is_of_python(spec.proto)
        kind = Evaluator if not self.forgiving else (
            forgiving.Forgiving if session.options.objects else interpreted_library.InterpretedLibrary)
        self.evaluator = kind(self)
        entry = self.fn.entry
        self.incoming[entry] = {}
        for param, av in zip(entry.params, spec.args, strict=True):
            self.av[param] = av
        self.touch(entry)

    # -- worklist

    def touch(self, block: ir.Block) -> None:
        n = self.shape.index[block]
        if n not in self.queued:
            self.queued.add(n)
            self.dirty.append(-n)
            self.dirty.sort()  # the first block is last in the list, which is short
        if not self.running and not self.waiting:
            self.waiting = True
            self.session.pending.append(self)

    def run(self) -> None:
        if self.running:
            return
        self.running = True
        try:
            while self.dirty:
                n = -self.dirty.pop()
                self.queued.discard(n)
                self.visit(self.fn.blocks[n])
            error = next(iter(self.errors.values()), None)
            if not _is_same_error(error, self.spec.error):  # each visit makes another one
                self.spec.error = error
                self.session.grew(self.spec)
        finally:
            self.running = False
            self.waiting = False

    # -- lattice access

    def lookup(self, value: ir.Value, block: ir.Block) -> AV | None:
        """The abstract value of `value` at `block`, narrowed by the tests that dominate the block."""
        av = self.av.get(value)
        if av is None or type(av[0]) not in (Union, Dual) or not self.narrowed:
            return av
        idom = self.shape.idom
        at = block
        while at is not None:
            found = self.narrowed.get(at)
            if found is not None and value in found:
                return found[value]
            at = idom.get(at)
        return av

    def update(self, value: ir.Value, av: AV) -> None:
        old = self.av.get(value)
        if old is not None and _is_same(old, av):
            return
        count = self.changes[value] = self.changes.get(value, 0) + 1
        if count > _MAX_NESTED and not self.spec.proto.library and is_display(av[0]):
            raise NeedsList  # each iteration of a loop nests the previous display in another one
        if count > _MAX_CHANGES and has_generator(av[0]):
            raise RecursiveGenerator(_nested_in_itself(av[0]))
        if count > _MAX_CHANGES:
            raise NotNative(f"the type of {value.name or 'a value'} grows in every round of a loop",
                            "give the variable one type before the loop and keep it: an array, where a tuple would "
                            f"grow{_FOR_TREES}")
        self.av[value] = av
        for user in self.shape.users.get(value, ()):
            if user in self.incoming:
                self.touch(user)

    # -- one block

    def visit(self, block: ir.Block) -> None:
        for inst in block.insts:
            try:
                if inst.op.effects & ir.TERMINATOR:
                    self.terminate(block, inst)
                    return
                av = self.evaluator.evaluate(inst, block)
                self.errors.pop(inst, None)
                if inst in self.raising:
                    self.unwind(block, inst)
                if av is None:  # no value yet, or certain to raise: later instructions are not reached
                    return
                if inst.result is not None:
                    self.update(inst.result, av)
            except Mismatch as error:
                findings = self.session.findings
                if type(error) is RecursiveGenerator and self.session.asks and error.code not in findings.left:
                    findings.left[error.code] = error.with_traceback(None)  # `jit` leaves this code to the interpreter
                    raise Restart from None
                if type(error) is NeedsDisplays and not findings.returned:
                    findings.returned = True
                    findings.lists.clear()  # what was found about lists inside such dicts may no longer hold
                    raise Restart from None
                if isinstance(error, NotConstant) and not self.spec.proto.library:
                    self.session.ask_for_constants(self.spec)
                self.refuse(block, inst, error)
                return
            except TooLarge:
                self.refuse(block, inst, _too_large(inst))
                return
            except RecursionError as error:
                if not self.spec.proto.library and not hasattr(error, "place"):
                    error.place = self.spec.proto, inst  # type: ignore[attr-defined]  # see pipeline/stages.py
                raise
            except NeedsList:
                try:
                    displays.mark(self, block, inst)
                except NotNative as refusal:
                    self.refuse(block, inst, refusal)
                    return
                except AssertionError as error:  # leaving by this exception would leave the function half analysed
                    self.refuse(block, inst, _defect(error))
                    return
            except NeedsObjects as error:
                try:
                    self.session.need_objects(error.type)
                except NotNative as refusal:
                    self.refuse(block, inst, refusal)
                    return
            except (PyjitcError, Again, Restart, MemoryError):
                raise
            except Exception as error:
                self.refuse(block, inst, _defect(error))
                return

    def refuse(self, block: ir.Block, inst: ir.Inst, error: Mismatch) -> None:
        # without its frames, which would keep their arguments alive
        self.errors[inst] = error.with_traceback(None)
        if not inst.op.effects & ir.TERMINATOR:
            self.set_aside(block, inst)

    def set_aside(self, block: ir.Block, inst: ir.Inst) -> None:
        """Reach only the handler of exceptions around an instruction that has no meaning, or none yet."""
        self.meaning.pop(inst, None)
        try:
            self.unwind(block, inst)
        except Mismatch:  # joining types at the handler failed: the error of the instruction is enough
            pass

    def unwind(self, block: ir.Block, inst: ir.Inst) -> None:
        if inst.unwind is not None:
            self.flow(block, inst.unwind, None)
        elif not self.spec.raises:
            self.spec.raises = True
            self.session.grew(self.spec)

    def terminate(self, block: ir.Block, inst: ir.Inst) -> None:
        op = inst.op
        if op is control.JUMP:
            self.flow(block, inst.targets[0], None)
        elif op is control.BRANCH:
            av = self.lookup(inst.args[0], block)
            if av is None:
                return
            if av[1] is UNKNOWN:
                yes, no = self.narrowing(block, inst.args[0])
                if yes is not False:
                    self.flow(block, inst.targets[0], yes)
                if no is not False:
                    self.flow(block, inst.targets[1], no)
            else:
                self.flow(block, inst.targets[0 if av[1] else 1], None)
        elif op is control.RETURN:
            av = self.lookup(inst.args[0], block)
            if av is None:
                return
            if self.spec is self.session.order[0] and is_display(av[0]) and displays.may_repeat(
                    self, inst.args[0]):
                displays.mark(self, block, inst)
            if self.spec is self.session.order[0] and any_part(
                    av[0], lambda part: part.inner or isinstance(part, (Function, FunctionObject))):
                av = self.leave(inst, block, av)
                if av is None:
                    return
            before, total = self.returns.get(inst), self.returned
            self.returns[inst] = av
            self.returned = None  # in case that the types cannot be joined
            if total is None or before is not None and not _is_same(before, av):
                total = reduce(lambda x, y: self.joined(x, y, False), self.returns.values())
            elif before is None:
                total = self.joined(total, av, False)
            self.returned = total
            old = self.spec.result
            if old is None or not _is_same(old, total):
                self.spec.result = total
                self.session.grew(self.spec)
        elif op is control.RAISE or op is control.RERAISE:
            try:
                self.evaluator.evaluate(inst, block)
                self.errors.pop(inst, None)
            except Mismatch as error:
                self.errors[inst] = error.with_traceback(None)
            self.unwind(block, inst)
        elif op is not control.UNREACHABLE:
            raise AssertionError(f"unexpected terminator {op}")

    def leave(self, inst: ir.Inst, block: ir.Block, av: AV) -> AV | None:
        """The value that the entry returns: functions and iterators of compiled code become Python objects."""
        self.meaning.pop(inst, None)
        x = Operand(0, *av)
        self.evaluator.inst, self.evaluator.block = inst, block
        found = leaving.leaving(self.evaluator, x)
        if found is x:
            return av
        meaning, av = self.evaluator.settle(found)
        self.meaning[inst] = meaning
        return av

    def narrowing(self, block, condition):
        """The implications of a branch on `condition` for the union that it tests, an item for each of the two edges:
        {tested value: its narrowed AV}; None if nothing is known; False if no member of the union takes the edge."""
        verdict = self.verdicts.get(condition)
        if verdict is None:
            return None, None
        value, truths = verdict
        av = self.lookup(value, block)
        if av is None or type(av[0]) not in (Union, Dual):
            return None, None
        sides = []
        for side in (True, False):
            members = [m for m in members_of(av[0]) if truths.get(m, UNKNOWN) is UNKNOWN or truths[m] is side]
            sides.append({value: (union_of(members), UNKNOWN)} if members else False)
        return sides

    def flow(self, block: ir.Block, edge: ir.Edge, narrowed) -> None:
        """Join the arguments of an edge that control may take into the parameters of its target."""
        target = edge.block
        fresh = target not in self.incoming
        edges = self.incoming.setdefault(target, {})
        avs = []
        for arg in edge.args:
            av = narrowed.get(arg) if narrowed else None
            avs.append(av or self.lookup(arg, block))
        edges[edge] = avs
        if narrowed and self.shape.predecessors[target] == 1:
            old = self.narrowed.get(target)
            if old is None or any(old.get(v, (None,))[0] is not av[0] for v, av in narrowed.items()):
                self.narrowed[target] = narrowed
                for value in narrowed:
                    for user in self.shape.users.get(value, ()):
                        if user in self.incoming:
                            self.touch(user)
        header = target in self.shape.headers
        for i, param in enumerate(target.params):
            total = None
            for incoming in edges.values():
                av = incoming[i]
                if av is not None:
                    total = av if total is None else self.joined(total, av, header)
            if total is not None:
                self.update_param(param, total, target)
        if fresh:
            self.touch(target)

    def joined(self, x: AV, y: AV, header: bool) -> AV:
        if header and not self.spec.proto.library and _lengths(x[0], y[0]) > _MAX_LENGTHS:
            self.need_lengths()
        try:
            return join(x, y, self.absorbs, header)
        except Mismatch as error:  # too many types
            return self.evaluator.met(x, y, error)

    def note_lengths(self, inst: ir.Inst, block: ir.Block) -> None:
        """Handle an operation on tuples with an operand of so many lengths that it may come from a container which
        keeps such results."""
        found = [self.lookup(arg, block) for arg in inst.args]
        if not self.spec.proto.library and any([av and _lengths(av[0], av[0]) > _MAX_HELD for av in found]):
            self.need_lengths()

    def need_lengths(self) -> None:
        """Handle a tuple that grows in every iteration of a loop or in every recursive call: from now on the results of
        `+` of tuples in this function are tuples of any length. Inference restarts."""
        sums = {inst for block in self.incoming for inst in block.insts
                if inst.op in (generic.BINARY, generic.INPLACE) and inst.attrs["op"] == "+"
                and any([is_plain_tuple(m) for av in [self.av.get(inst.result)] if av for m in members_of(av[0])])}
        if not sums <= self.session.findings.sums:
            self.session.findings.sums |= sums
            raise Restart

    def update_param(self, param, av, block):
        old = self.av.get(param)
        if old is not None and self.changes[param] > _MAX_RENEWED:
            av = self.joined(old, av, False)
        self.update(param, av)
        if self.av.get(param) is not old:
            self.touch(block)


def _is_same(x: AV, y: AV) -> bool:
    return x[0] is y[0] and (x[1] is y[1] or same_constant(x[1], y[1]))


def _nested_in_itself(t: Type):
    """The code of a generator in a value of type t that holds another generator of the same code. If there is no such
    generator: the code of the outermost generator in the value."""
    found = [part for part in all_parts(t) if isinstance(part, Generator)]
    for one in reversed(found):
        if any([part.step.code is one.step.code for part in found if part is not one]):
            return one.step.code
    return found[0].step.code


def _lengths(x: Type, y: Type) -> int:
    """The number of different lengths of the tuples in two types."""
    if not (isinstance(x, (Tuple, Union)) and isinstance(y, (Tuple, Union))):
        return 0
    return len({len(t.parts or ()) for t in (*members_of(x), *members_of(y)) if is_plain_tuple(t)})


class _Shape:
    """Properties of a generic function's graph that the propagation needs; computed once and kept with the function."""

    def __init__(self, fn: ir.Function):
        self.index = {block: i for i, block in enumerate(fn.blocks)}
        self.users: dict[ir.Value, list[ir.Block]] = {}
        self.predecessors: dict[ir.Block, int] = dict.fromkeys(fn.blocks, 0)
        preds: dict[ir.Block, list[ir.Block]] = {block: [] for block in fn.blocks}
        self.headers: set[ir.Block] = set()
        self.definitions: dict[ir.Value, ir.Inst] = {}
        for block in fn.blocks:
            used: dict[ir.Value, None] = {}
            for inst in block.insts:
                used.update(dict.fromkeys(inst.args))
                if inst.result is not None:
                    self.definitions[inst.result] = inst
            for edge in block.edges():
                used.update(dict.fromkeys(edge.args))
                self.predecessors[edge.block] += 1
                preds[edge.block].append(block)
                if self.index[edge.block] <= self.index[block]:
                    self.headers.add(edge.block)
            for value in used:
                self.users.setdefault(value, []).append(block)
        self.idom = _dominators(fn.blocks, self.index, preds)
        self.fn = fn

    def only_reader(self, inst: ir.Inst, home: ir.Block):
        """(instruction, its block) of the only reader of the result of `inst`, an instruction of block `home`. The
        reader must read each result exactly once. (None, None) if there is no such reader."""
        readers = []
        for block in self.users.get(inst.result, ()):
            for other in block.insts:
                readers += [(other, block)] * list(other.args).count(inst.result)
            if any(inst.result in edge.args for edge in block.edges()):
                return None, None
        if len(readers) != 1:
            return None, None
        reader, block = readers[0]
        work, seen = [block], {home}
        while work and block is not home:  # is there a path from the definition around a loop to the reader?
            for edge in work.pop().edges():
                if edge.block is block:
                    return None, None
                if edge.block not in seen:
                    seen.add(edge.block)
                    work.append(edge.block)
        return reader, block


def _dominators(blocks, index, preds):
    """Immediate dominators over reverse post-order. Source: Cooper, Harvey, Kennedy, "A simple, fast dominance
    algorithm"."""
    idom: dict[ir.Block, ir.Block | None] = {blocks[0]: None}
    changed = True
    while changed:
        changed = False
        for block in blocks[1:]:
            new = None
            for pred in preds[block]:
                if pred in idom:
                    if new is None:
                        new = pred
                    else:
                        a, b = new, pred
                        while a is not b:
                            while index[a] > index[b]:
                                a = idom[a]
                            while index[b] > index[a]:
                                b = idom[b]
                        new = a
            if new is not None and idom.get(block, False) is not new:
                idom[block] = new
                changed = True
    return idom
