"""Generator functions as step functions: generic IR to generic IR.

A generator with n yields becomes n + 1 functions. Step 0 takes the arguments, step k the values that are live at yield
k; each runs to the next yield and returns (True, item, state) or (False, nothing, nothing), with the returned value as
a fourth item where that is not None. The state's type names the step
that continues from there, so that inference, which splits unions, turns a generator into a state machine with unboxed
live variables. First every value that is live into a block becomes a parameter of it, so that a function can begin at
any block.
Before:  ... y = yield v ; rest           After (step 0):  ... s = generator_state {step: 1} (f, live...) ; return
(True, v, s)
"""
from __future__ import annotations

from types import CodeType

from ..ir import core as ir
from ..ir.cfg import reverse_postorder
from ..ops import control, generic
from ..types.kinds import Undefined

__all__ = ["StartPrototype", "StepPrototype", "start_of", "step_of", "build_step", "acts_on_close", "is_talked_to",
           "returns_value"]


# code that may raise StopIteration uses one of these names
_STOPPING = frozenset(("next", "StopIteration", "__next__"))


class StepPrototype:
    """Step `step` of the generator function `base`; it is used like a Prototype. Interned by `step_of`."""

    __slots__ = ("base", "step", "code", "globals", "qualname", "library", "absorbs", "takes_constants", "built")
    hands_constants = False

    def __init__(self, base, step):
        self.base = base
        self.step = step
        self.code = base.code
        self.globals = base.globals
        self.qualname = base.qualname
        self.library = base.library
        self.absorbs = base.absorbs
        self.takes_constants = base.library
        self.built = None

    def __repr__(self):
        return f"{self.qualname}:{self.step}"


class StartPrototype(StepPrototype):
    """A function that calls the generator function `base`, for the interpreter."""

    __slots__ = ()

    def __init__(self, base):
        super().__init__(base, -1)


def start_of(proto, function) -> StartPrototype:
    """The prototype of `return function(parameters...)`, made once."""
    found = proto.steps.get(-1)
    if found is not None and found.built.memo["function"] is function:
        return found
    start = StartPrototype(proto)
    code = proto.code
    count, only = code.co_argcount, code.co_kwonlyargcount
    loc = ir.Loc(code.co_firstlineno, 0, -1, -1)
    names = code.co_varnames[:count + only + bool(code.co_flags & 4) + bool(code.co_flags & 8)]
    params = [ir.Value(None, name) for name in names]
    entry = ir.Block("entry", params)
    callee, result = ir.Value(), ir.Value()
    entry.insts.append(ir.Inst(control.CONST, (), {"value": function}, callee, loc))
    if code.co_flags & 12:
        entry.insts.append(ir.Inst(generic.UNSUPPORTED, (), {
            "construct": "a generator function with * or ** parameters, called by the interpreter",
            "hint": "give it parameters of their own"}, None, loc))
    entry.insts += [ir.Inst(generic.CALL, (callee, *params[:count + only]), {"kwnames": names[count:count + only]},
                            result, loc),
                    ir.Inst(control.RETURN, (result,), {}, None, loc)]
    fn = ir.Function(proto.qualname, code.co_name, code.co_filename, code.co_firstlineno, proto.library)
    fn.blocks = [entry]
    fn.memo["function"] = function
    start.built = fn
    proto.steps[-1] = start
    return start


def step_of(proto, step: int) -> StepPrototype:
    return proto.steps.get(step) or proto.steps.setdefault(step, StepPrototype(proto, step))


def build_step(proto: StepPrototype, build) -> ir.Function:
    """The generic function of one step, made once. build: Prototype -> ir.Function of the generator's code."""
    if proto.built is not None:
        return proto.built
    source = build(proto.base)
    resumes = source.memo.get("resumes")
    if resumes is None:
        resumes = source.memo["resumes"] = _split(source, proto.base)
    target = resumes[proto.step]
    entry = ir.Block("entry", [ir.Value(None, p.name) for p in target.params])
    entry.insts.append(ir.Inst(control.JUMP, targets=[ir.Edge(target, entry.params)]))
    fn = ir.Function(f"{source.name}.step{proto.step}", source.qualname, source.filename, source.firstlineno,
                     source.library)
    fn.blocks = [entry]
    fn.blocks = reverse_postorder(fn)
    proto.built = fn
    return fn


def _may_stop(code, space, seen) -> bool:
    """Whether a StopIteration may be raised by code, or by functions in the same namespace that it names."""
    if code in seen:
        return False
    seen.add(code)
    if not _STOPPING.isdisjoint(code.co_names):
        return True
    named = [getattr(space.get(name), "__code__", None) for name in code.co_names]
    return any([isinstance(one, CodeType) and _may_stop(one, space, seen) for one in (*code.co_consts, *named)])


def _converting(blocks, loc) -> list[ir.Block]:
    """The handler around a generator that replaces a StopIteration which leaves it by a RuntimeError (PEP 479)."""
    stopped, convert, leave, again = map(ir.Block, ("stopped", "convert", "leave", "again"))
    for block in blocks:
        for inst in block.insts:
            if inst.unwind is None and inst.op.effects & ir.RAISES and inst.op is not generic.YIELD:
                inst.unwind = ir.Edge(stopped, ())
    exc, cls, matches, true, before, made, text, error, raised = (ir.Value() for _ in range(9))
    stopped.insts = [
        ir.Inst(generic.CATCH, (), {}, exc, loc),
        ir.Inst(control.CONST, (), {"value": StopIteration}, cls, loc),
        ir.Inst(generic.EXC_MATCH, (exc, cls), {}, matches, loc), ir.Inst(generic.TRUTH, (matches,), {}, true, loc),
        ir.Inst(control.BRANCH, (true,), {}, None, loc, [ir.Edge(convert, ()), ir.Edge(again, ())])]
    again.insts = [ir.Inst(control.RERAISE, (exc,), {}, None, loc)]
    convert.insts = [
        ir.Inst(generic.EXC_ENTER, (exc,), {}, before, loc),
        ir.Inst(control.CONST, (), {"value": RuntimeError}, made, loc),
        ir.Inst(control.CONST, (), {"value": "generator raised StopIteration"}, text, loc),
        ir.Inst(generic.CALL, (made, text), {"kwnames": ()}, error, loc, (), ir.Edge(leave, ())),
        ir.Inst(control.RAISE, (error, exc), {}, None, loc, (), ir.Edge(leave, ()))]
    leave.insts = [
        ir.Inst(generic.CATCH, (), {}, raised, loc), ir.Inst(generic.EXC_LEAVE, (before,), {}, None, loc),
        ir.Inst(control.RERAISE, (raised,), {}, None, loc)]
    return [stopped, convert, leave, again]


def _split(source: ir.Function, proto) -> list[ir.Block]:
    """The blocks at which steps 0, 1, ... begin, in closed form: every block has the values that it reads as
    parameters."""
    callee, returns = ir.Value(None, "generator"), returns_value(source)
    blocks, resumes, yields = _cut(source, callee, returns)
    if not proto.library and _may_stop(proto.code, proto.globals, set()):
        blocks += _converting(blocks, ir.Loc(source.firstlineno, 0, -1, -1))
    live = _live_in(blocks, {current: following for current, _, following in yields}, callee)
    made: dict[ir.Value, int] = {callee: 0}
    for block in blocks:
        for value in block.values():
            made.setdefault(value, len(made))
    order = {block: sorted(live[block].difference(block.params), key=made.__getitem__) for block in blocks}
    order[resumes[0]] = []
    renames = {}
    for block in blocks:
        rename = renames[block] = {v: ir.Value(None, v.name) for v in order[block]}
        block.params = [*block.params, *rename.values()]
    for step, (current, inst, following) in enumerate(yields, 1):
        kept = order[following] = [callee, *(v for v in order[following] if v is not callee)]
        by_name = renames[following]
        following.params = [by_name.setdefault(v, ir.Value(None, v.name)) for v in kept]
        assert current.insts[-1] is inst
        current.insts[-1:] = _yielded(inst, kept, step_of(proto, step), returns)
    for block in blocks:
        rename = renames[block]
        for inst in block.insts:
            inst.args = [rename.get(v, v) for v in inst.args]
            for edge in inst.edges():
                edge.args = [rename.get(v, v) for v in [*edge.args, *order[edge.block]]]
    return resumes


def _cut(source: ir.Function, callee, returns: bool):
    """Copies of the blocks of a generator, cut after each yield: (all of them, those at which steps begin, [(block
    that ends with a yield, the yield, the block after it)]). A return is a step that yields no item."""
    copies = {block: ir.Block(block.name, block.params) for block in source.blocks}
    first = copies[source.entry]
    first.params = [callee, *first.params]
    blocks, resumes, yields = [], [first], []
    for block in source.blocks:
        current = copies[block]
        blocks.append(current)
        for inst in block.insts:
            copy = ir.Inst(inst.op, inst.args, inst.attrs, inst.result, inst.loc,
                           [ir.Edge(copies[e.block], e.args) for e in inst.targets],
                           inst.unwind and ir.Edge(copies[inst.unwind.block], inst.unwind.args))
            if inst.op is control.RETURN:
                current.insts += _ended(inst, returns)
                continue
            current.insts.append(copy)
            if inst.op is generic.YIELD:
                following = ir.Block(f"resume{len(resumes)}")
                yields.append((current, copy, following))
                resumes.append(following)
                blocks.append(following)
                current = following
                if inst.result is not None:
                    current.insts.append(ir.Inst(control.CONST, (), {"value": None}, inst.result, inst.loc))
    return blocks, resumes, yields


def _ended(inst: ir.Inst, returns: bool) -> list[ir.Inst]:
    """The last step in place of a `return`: (False, no item, no state[, what the generator returns])."""
    no, none, none2, answer = (ir.Value() for _ in range(4))
    return [ir.Inst(control.CONST, (), {"value": False}, no, inst.loc),
            ir.Inst(control.CONST, (), {"value": Undefined}, none, inst.loc),
            ir.Inst(control.CONST, (), {"value": Undefined}, none2, inst.loc),
            ir.Inst(generic.TUPLE, (no, none, none2, *inst.args[:returns]), {}, answer, inst.loc),
            ir.Inst(control.RETURN, (answer,), {}, None, inst.loc)]


def _yielded(inst: ir.Inst, kept, step, returns: bool) -> list[ir.Inst]:
    """A step in place of a `yield`: (True, the item, the state from which `step` continues[, nothing])."""
    state, yes, nothing, answer = (ir.Value() for _ in range(4))
    return [ir.Inst(generic.GENERATOR_STATE, kept, {"step": step}, state, inst.loc),
            ir.Inst(control.CONST, (), {"value": True}, yes, inst.loc),
            *([ir.Inst(control.CONST, (), {"value": Undefined}, nothing, inst.loc)] if returns else []),
            ir.Inst(generic.TUPLE, (yes, inst.args[0], state, *([nothing] if returns else [])), {}, answer, inst.loc),
            ir.Inst(control.RETURN, (answer,), {}, None, inst.loc)]


def _live_in(blocks, yields, callee):
    """The values that are live into each block; `yields`: block -> the block that continues after its final yield."""
    uses, defines = {}, {}
    for block in blocks:
        defined = set(block.params)
        needed = set()
        for inst in block.insts:
            needed.update(v for v in inst.args if v not in defined)
            for edge in inst.edges():
                needed.update(v for v in edge.args if v not in defined)
            if inst.result is not None:
                defined.add(inst.result)
        if block in yields and callee not in defined:
            needed.add(callee)
        uses[block], defines[block] = needed, defined
    live = {block: set(uses[block]) for block in blocks}
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out = set()
            for edge in block.edges():
                out |= live[edge.block] - set(edge.block.params)
            if block in yields:
                out |= live[yields[block]]
            new = uses[block] | (out - defines[block])
            if not new <= live[block]:
                live[block] |= new
                changed = True
    return live


def acts_on_close(source: ir.Function) -> bool:
    """Whether the generator has an effect when it is closed at a yield: a `finally`, or a handler that catches
    GeneratorExit. Dropping a state has no effect."""
    found = source.memo.get("acts_on_close")
    if found is None:
        found = source.memo["acts_on_close"] = any(
            inst.op is generic.YIELD and inst.unwind is not None and not _raises_again(inst.unwind.block, at_exit=True)
            for block in source.blocks for inst in block.insts)
    return found


def takes_values(source: ir.Function) -> bool:
    """Whether the generator reads the values that are sent to it."""
    results = {inst.result for block in source.blocks for inst in block.insts if inst.op is generic.YIELD}
    return any(not results.isdisjoint(inst.args) for block in source.blocks for inst in block.insts)


def is_talked_to(source: ir.Function) -> bool:
    """Whether the generator may react to values or exceptions that are sent or thrown into it."""
    found = source.memo.get("is_talked_to")
    if found is None:
        found = source.memo["is_talked_to"] = takes_values(source) or any(
            inst.op is generic.YIELD and inst.unwind is not None and not _raises_again(inst.unwind.block, at_exit=False)
            for block in source.blocks for inst in block.insts)
    return found


def returns_value(source: ir.Function) -> bool:
    """Whether the generator may return something other than None, which only callers of next() can see."""
    nones = {inst.result for block in source.blocks for inst in block.insts if inst.op is control.CONST
             and inst.attrs["value"] is None}
    return any(inst.op is control.RETURN and inst.args[0] not in nones for block in source.blocks
               for inst in block.insts)


# Operations of a handler that raises every exception again, and of one that raises GeneratorExit again, which its tests
# for other classes do not match.
_QUIET = frozenset({generic.CATCH, generic.EXC_ENTER, generic.EXC_LEAVE, control.CONST})
_QUIET_AT_EXIT = _QUIET | {generic.EXC_MATCH, generic.TUPLE, generic.GETATTR, generic.FREEVAR}


def _raises_again(block, at_exit: bool) -> bool:
    """Whether a handler raises every exception again without doing anything; at_exit: whether it does so with
    GeneratorExit."""
    for _ in range(100):
        for inst in block.insts:
            if inst.op is control.RERAISE:
                return inst.unwind is None or _raises_again(inst.unwind.block, at_exit)
            if inst.op is control.JUMP:
                block = inst.targets[0].block
            elif (at_exit and inst.op is control.BRANCH
                  and any(i.op is generic.EXC_MATCH and i.result is inst.args[0] for i in block.insts)):
                block = inst.targets[1].block
            elif at_exit and inst.op is generic.GLOBAL:
                if inst.attrs["name"] in ("BaseException", "GeneratorExit"):
                    return False
            elif inst.op not in (_QUIET_AT_EXIT if at_exit else _QUIET):
                return False
    return False
