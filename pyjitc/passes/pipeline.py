"""The passes over typed IR, in order."""
from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Collection, Iterable

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import is_straight, predecessors
from ..ops import arith, memory
from ..ops.control import BRANCH, CONST, INVOKE
from ..ops.derivative import request_of
from ..ops.elementary import is_ours
from ..ops.exceptions import EXC_THROW
from ..ops.nest import NESTS
from ..types.kinds import (
    Bool, Dict, Float, Int, NpBool, Set, Tuple, any_part, is_complex, is_float, is_refcounted,
)
from . import dce, gvn, inline, simplify

__all__ = ["run", "run_device", "run_to_regions", "PASSES"]

# loaded only by programs that ask for derivatives
derivatives = lazy(f"{__package__}.derivatives.make")
merged = lazy(f"{__package__}.derivatives.merged")

batches = lazy(f"{__package__}.batches")
counted = lazy(f"{__package__}.counted")
device = lazy(f"{__package__}.device")
nans = lazy(f"{__package__}.nans")
nests = lazy(f"{__package__}.nests")
relax = lazy(f"{__package__}.relax")  # only for options that turn checks off
restarts = lazy(f"{__package__}.restarts")

# Passes that are imported only where a function has loops, or one of the operations that they look for: importing a
# module makes a first call slower.
accumulators = lazy(f"{__package__}.accumulators")
checked_copies = lazy(f"{__package__}.checked_copies")
choices = lazy(f"{__package__}.choices")
columns = lazy(f"{__package__}.columns")
elementary = lazy(f"{__package__}.elementary")
extremes = lazy(f"{__package__}.extremes")
first_order = lazy(f"{__package__}.first_order")
flags = lazy(f"{__package__}.flags")
frame = lazy(f"{__package__}.frame")
hints = lazy(f"{__package__}.hints")
hoisted_calls = lazy(f"{__package__}.hoisted_calls")
independent = lazy(f"{__package__}.independent")
inspector = lazy(f"{__package__}.inspector")
jam = lazy(f"{__package__}.jam")
keys = lazy(f"{__package__}.keys")
joined_sums = lazy(f"{__package__}.joined_sums")
latches = lazy(f"{__package__}.latches")
localtables = lazy(f"{__package__}.localtables")
messages = lazy(f"{__package__}.messages")
narrowing = lazy(f"{__package__}.narrowing")
natives = lazy(f"{__package__}.natives")
parallel = lazy(f"{__package__}.parallel")
parts = lazy(f"{__package__}.parts")
polling = lazy(f"{__package__}.polling")
ranges = lazy(f"{__package__}.ranges")
reboxing = lazy(f"{__package__}.reboxing")
recurrences = lazy(f"{__package__}.recurrences")
refcount = lazy(f"{__package__}.refcount")
registers = lazy(f"{__package__}.registers")
reload = lazy(f"{__package__}.reload")
remainders = lazy(f"{__package__}.remainders")
retests = lazy(f"{__package__}.retests")
sharedtables = lazy(f"{__package__}.sharedtables")
slots = lazy(f"{__package__}.slots")
speculate = lazy(f"{__package__}.speculate")
texts = lazy(f"{__package__}.texts")
unboxed = lazy(f"{__package__}.unboxed")
unroll = lazy(f"{__package__}.unroll")
vectorise = lazy(f"{__package__}.vectorise")
versioning = lazy(f"{__package__}.versioning")

_IN_LOOPS = {accumulators, checked_copies, choices, columns, extremes, first_order, flags, hoisted_calls, inspector,
             jam, joined_sums, latches, narrowing, parallel, parts, polling, recurrences, registers, reload, remainders,
             retests, speculate, unboxed, unroll, vectorise, versioning}
_SHIFTS = (arith.ISHL, arith.ISHR)
_LOOK_FOR = {  # the operations, see also _ASK
    accumulators: {memory.ARRAY_STORE}.__contains__,
    elementary: lambda op: op.traits & ir.ELEMENTARY,
    independent: lambda op: op.traits & ir.MARK,
    inspector: arith.CONVERSIONS.__contains__,
    jam: {memory.ARRAY_STORE}.__contains__,
    joined_sums: {memory.ARRAY_LOAD}.__contains__,
    keys: lambda op: op.effects & ir.HOST,
    localtables: lambda op: op.traits & ir.NEW_OBJECT,
    messages: {EXC_THROW}.__contains__,
    hoisted_calls: lambda op: op.cost >= ir.CALL and op.effects == ir.PURE,
    extremes: {arith.FLT, arith.FLE, arith.FGT, arith.FGE}.__contains__,
    frame: {memory.ARRAY_NEW}.__contains__,
    narrowing: {memory.ARRAY_LOAD}.__contains__,
    ranges: lambda op: (op in arith.RANGED or op is memory.CHECK_INDEX or op is arith.IAND
                        or op.bounds and op is not memory.ARRAY_DIM),
    reboxing: lambda op: op.traits & ir.BOXES,
    recurrences: {memory.ARRAY_STORE}.__contains__,
    registers: {arith.IXOR}.__contains__,
    reload: {memory.ARRAY_LOAD}.__contains__,
    remainders: {arith.IMOD, arith.IFLOORDIV}.__contains__,
    slots: lambda op: ir.regions_written(op.effects) == ir.TABLES,
    speculate: lambda op: op.wrapping or op in (arith.IAND, arith.ISHR, arith.IFLOORDIV),
    texts: lambda op: op.traits & ir.MAKES_TEXT,
    unboxed: lambda op: op.traits & ir.LOAD_OF_NUMBERS,
}

# Passes over one function. The docstring of each says why it runs at its place.
PASSES: list[Any] = [
    messages, relax, simplify, latches, independent, localtables, gvn, retests, texts, ranges, gvn, unboxed, slots,
    reload, dce, parallel, remainders, hoisted_calls, elementary, versioning, checked_copies, parts, choices, inspector,
    flags, first_order, speculate, registers, recurrences, accumulators, joined_sums, jam, vectorise, extremes, unroll,
    narrowing, columns, polling, dce, frame, reboxing, keys, refcount,
]
_AFTER = PASSES.index(parts) + 1  # the first pass that runs over functions made by `checked_copies` or `parts`
# The most loops of a function that `parts` leaves as it is (versioning makes two of one), and the most loops times
# instructions.
MOST_LOOPS, MOST_LOOPS_TIMES_SIZE = 128, 200_000
_FIRST = PASSES[:3]  # after these, `natives` processes all functions of a module together


def _loops(functions: list[ir.Function], options, check) -> list[ir.Function]:
    """The module with library functions inlined and nests expanded into loops; the modules for nests are imported only
    where there is one."""
    module = inline.run(functions, options)
    if check:
        check(module, "inline")
    if any(inst.op in NESTS for fn in module for block in fn.blocks for inst in block.insts):
        module = nests.run(module, options)
        if check:
            check(module, "nests")
    return module


def run(functions: list[ir.Function], options, body, helpers, check=None) -> list[ir.Function]:
    """Run all passes over a module (the entry first); returns the functions that can still be reached.
    body: the code of elementary functions, see `elementary.run`; helpers: see `derivatives.make.run`; check: called
    with a list of functions and the name of the pass that left them, or None."""
    differentiates = any(request_of(fn) for fn in functions)
    if differentiates:
        made = derivatives.run(functions, options, helpers)
        for fn in functions:
            inline.absorb(fn, made)
        if check:
            check(made, "derivatives")
    if any([fn.flags.vmap for fn in functions]):
        made = batches.run(functions, options, helpers)
        if check:
            check(made, "batches")
    if options.debug:
        nans.run(functions)
    module = _loops(functions, options, check)
    if differentiates:
        module = merged.run(module)
        if check:
            check(module, "merged")
    kept, own = module[:1], {fn: fn for fn in module}
    begun = _begun(kept, own, options, helpers, check)
    for fn in kept:  # appended to during the iteration; a call in dead code needs no callee
        for one in _wanted(fn, options, _AFTER if fn.flags.part else len(_FIRST) if fn in begun else 0):
            if one is elementary:
                one.run(fn, body, own)
            else:
                one.run(fn, options)
            if check:
                check([fn], one.__name__.rpartition(".")[2])
        if check and one is not refcount:  # there are no references, and this is the last form of the function
            check([fn], "refcount")
        kept += dict.fromkeys(callee for callee in inline.callees(fn) if callee not in kept)
    redo = options.objects and options.overflow == "raise" and not kept[0].library
    if redo or any([_asks(inst) for fn in kept for block in fn.blocks for inst in block.insts]):
        restarts.run(kept, redo)
        if check:
            check(kept, "restarts")
    return kept


def _makes_lists(module: Iterable[ir.Function]) -> bool:
    """Whether a module may get native lists or objects."""
    return any([inst.op.traits & ir.NEW_OBJECT and inst.result.type.natively
                for fn in module for block in fn.blocks for inst in block.insts])


def _makes_table(inst: ir.Inst) -> bool:
    """Whether the result of an instruction is a dict or a set that may become a local table."""
    return bool(inst.op.traits & ir.NEW_OBJECT) and isinstance(inst.result.type, (Dict, Set))


def _may_share_tables(module: Collection[ir.Function]) -> bool:
    """Whether functions of a module may share dicts or sets that the module makes, or make them in parallel loops.
    (`parallel` tests whether a callee works on Python objects before the passes have run over the callee.)"""
    return any([(len(module) > 1 or fn.flags.parallel) and _makes_table(inst)
                for fn in module for block in fn.blocks for inst in block.insts])


def _begun(kept, own, options, helpers, check) -> list[ir.Function]:
    """Run the first passes and `natives` over a module that makes lists, and `localtables` where there are parallel
    loops; returns the functions over which they have run. own: the functions of the module."""
    if not _makes_lists(own) and not _may_share_tables(own):
        return []
    found = kept[:]
    for fn in found:  # appended to during the iteration
        for one in (*_FIRST, latches, independent) if fn.flags.parallel else _FIRST:
            one.run(fn, options)
            if check:
                check([fn], one.__name__.rpartition(".")[2])
        found += dict.fromkeys(callee for callee in inline.callees(fn) if callee not in found)
    if _may_share_tables(found) and sharedtables.may_share(found):
        sharedtables.run(found)
        if check:
            check(found, "sharedtables")
    natives.run(found, helpers, own)
    if check:
        check(found, "natives")
    if any([fn.flags.parallel for fn in found]) and _may_share_tables(found):
        for fn in found:
            localtables.run(fn)
        if check:
            check(found, "localtables")
    return found


def run_to_regions(functions: list[ir.Function], options, helpers) -> list[ir.Function]:
    """Run the passes up to `parallel`, for an interpreter of the IR; returns the functions that can still be reached.
    helpers: as of `run`."""
    module = _loops(functions, options, None)
    kept, own = module[:1], {fn: fn for fn in module}
    begun = _begun(kept, own, options, helpers, None)
    for fn in kept:  # appended to during the iteration
        for one in _wanted(fn, options, len(_FIRST) if fn in begun else 0):
            if PASSES.index(one) > PASSES.index(parallel):
                break
            one.run(fn, options)
        kept += dict.fromkeys(callee for callee in inline.callees(fn) if callee not in kept)
    return kept


def _asks(inst: ir.Inst) -> bool:
    """Whether an instruction loads from an object that may change, so that at run time it may find an object of another
    class than the code was compiled for."""
    op = inst.op
    return bool(op.effects & ir.HOST) and "restart" in op.attrs and (
        inst.args[0].inst is None or inst.args[0].inst.op is not CONST)


def _is_small_number(v: ir.Value) -> bool:
    """Whether a value may be the number of iterations of a loop that `unroll` unrolls."""
    inst = v.inst
    return (inst is not None and inst.op is CONST and v.type is Int
            and 0 < inst.attrs["value"] <= counted.MOST_UNROLLED)


def _loads_from_list(inst: ir.Inst) -> bool:
    """Whether an instruction loads a number from a list of the interpreter."""
    return bool(inst.op.traits & ir.LOAD_OF_NUMBERS) and inst.result.type in (Float, Int)


def _is_in_column(inst: ir.Inst) -> bool:
    """Whether an instruction reads or writes a column with a constant number of an array of several axes."""
    if inst.op is not memory.ARRAY_LOAD and inst.op is not memory.ARRAY_STORE:
        return False
    n = inst.args[0].type.ndim
    last = inst.args[n].inst
    return n > 1 and last is not None and last.op is CONST


def _wanted(fn: ir.Function, options, first: int = 0):
    """Iterate over the passes, from index `first` on, that have something to do in the function. Each is decided when
    its turn comes."""
    straight = None  # whether the function has no loops; None while unknown
    found: set[ir.Op] = set()  # the operations that the function has; empty while unknown
    for one in PASSES[first:]:
        if one in _IN_LOOPS:
            if straight is None:
                straight = is_straight(fn)
            if straight:
                if one is polling:
                    fn.flags = fn.flags._replace(skips_loop_passes=True)  # polling would set the same flag
                continue
        if one in _LOOK_FOR:
            found = found or {inst.op for block in fn.blocks for inst in block.insts}
            if not any(map(_LOOK_FOR[one], found)):
                continue
        if one in _ASK and not _ASK[one](fn) or one in _ASK_OPTIONS and not _ASK_OPTIONS[one](fn, options):
            continue
        yield one
        found = set()
        if one is elementary:
            # an expanded elementary function may contain loops; no other pass adds loops to a function without any
            straight = None


def _has(fn: ir.Function, test: Callable) -> bool:
    """Whether a test holds for an instruction of a function."""
    return any([test(inst) for block in fn.blocks for inst in block.insts])


def _has_object(inst: ir.Inst) -> bool:
    """Whether an instruction reads a number from an object."""
    return "restart" in inst.op.attrs and any_part(inst.result.type, lambda part: part is Int or part is Float)


def _has_boxed_key(inst: ir.Inst) -> bool:
    """Whether an instruction may make the object of a key of a dict or a set."""
    return (bool(inst.op.effects & ir.HOST) and len(inst.args) > 1 and isinstance(inst.args[0].type, (Dict, Set))
            and (inst.args[1].type is Float or isinstance(inst.args[1].type, Tuple)))


def _puts_constant(inst: ir.Inst) -> bool:
    """Whether an instruction may put a number from before all loops in a container."""
    return bool(inst.op.traits & ir.BOXES) and any([
        (v.type is Int or v.type is Float) and (v.inst is None or v.inst.op is CONST) for v in inst.args])


def _carries_floats(fn: ir.Function) -> bool:
    """Whether a loop may carry a float from trip to trip."""
    return any([is_float(p.type) for block in fn.blocks if block is not fn.entry for p in block.params])


def _compares_carried(fn: ir.Function) -> bool:
    """Whether a comparison of floats, as `extremes` looks for, has an operand that a loop may carry."""
    carried = {p for block in fn.blocks if block is not fn.entry for p in block.params}
    return any([not carried.isdisjoint(inst.args) for block in fn.blocks for inst in block.insts
                if _LOOK_FOR[extremes](inst.op)])


def _uses_array_again(fn: ir.Function) -> bool:
    """Whether several instructions load or store elements of one array, so that `reload` may share them."""
    arrays = [inst.args[0] for block in fn.blocks for inst in block.insts
              if inst.op is memory.ARRAY_LOAD or inst.op is memory.ARRAY_STORE]
    return len({*arrays}) < len(arrays)


def _has_references(fn: ir.Function) -> bool:
    """Whether a function returns a reference, or computes values that may hold one; those in its arguments belong to
    the caller."""
    types = {inst.result.type for block in fn.blocks for inst in block.insts if inst.result is not None}
    types.update([p.type for block in fn.blocks[1:] for p in block.params])
    return any(map(is_refcounted, (fn.result, *types)))


def _stores_where_it_loads(fn: ir.Function) -> bool:
    """Whether an element of an array is loaded and stored at the same indices, as where a loop keeps a sum in it."""
    stored = {tuple(inst.args[:-1]) for block in fn.blocks for inst in block.insts if inst.op is memory.ARRAY_STORE}
    return bool(stored) and any([tuple(inst.args) in stored for block in fn.blocks for inst in block.insts
                                 if inst.op is memory.ARRAY_LOAD])


def _guards(fn: ir.Function) -> bool:
    """Whether there is something that the guards of `versioning` may test: a check, a shift by what is no constant, or
    branches of a loop on several conditions that are known on entry, such as those on the length of all rows that the
    loop unpacks."""
    if _has(fn, lambda inst: inst.op.wrapping or inst.op is arith.CHECK_NONNEG or inst.op is memory.CHECK_INDEX or (
            inst.op in _SHIFTS and (inst.args[1].inst or inst).op is not CONST)):
        return True
    known = {inst.result for inst in fn.entry.insts}
    conditions = {block: block.insts[-1].args[0] for block in fn.blocks if block.insts[-1].op is BRANCH}
    if len(known.intersection(conditions.values())) < 2:
        return False
    return any([len(known.intersection([conditions.get(block) for block in inside])) > 1 for inside in _bodies(fn)])


def _compares_again(fn: ir.Function) -> bool:
    """Whether so many branches compare elements of one array that one may repeat another: three, since the test of a
    loop stands before it and at its end, or two where several edges enter the block of one."""
    compared: dict[ir.Value, list[ir.Block]] = {}
    for block in fn.blocks:
        last = block.insts[-1]
        made = last.args[0].inst if last.op is BRANCH else None
        if made is not None and made.op.swapped is not None:
            for v in made.args:
                read = v.inst.args[0].inst if v.inst is not None and v.inst.op is arith.CAST else v.inst
                if read is not None and read.op is memory.ARRAY_LOAD:
                    compared.setdefault(read.args[0], []).append(block)
                    break
    found = {block for blocks in compared.values() if len(blocks) > 1 for block in blocks}
    return bool(found) and (any([len(blocks) > 2 for blocks in compared.values()]) or any(
        [count > 1 for count in Counter(
            [e.block for block in fn.blocks for e in block.edges() if e.block in found]).values()]))


def _keeps_checks(fn: ir.Function) -> bool:
    """Whether `versioning` has copied so much that the copies which keep their checks may be functions."""
    return (any(["novectorize" in block.insts[-1].attrs for block in fn.blocks])
            and sum([len(block.insts) for block in fn.blocks]) > 2 * versioning.LEAST)


def _accesses_in_arms(fn: ir.Function) -> bool:
    """Whether a branch inside a loop decides on an access to an array that is loaded and stored."""
    headers, arms = _headers(fn), set()
    for block in fn.blocks:
        if block.insts[-1].op is BRANCH and block not in headers:
            arms.update([edge.block for edge in block.insts[-1].targets])
    of: dict[Any, set[ir.Value]] = {memory.ARRAY_LOAD: set(), memory.ARRAY_STORE: set(), None: set()}
    for block in fn.blocks if headers and arms else ():
        for inst in block.insts:
            if inst.op in of:
                of[inst.op].add(inst.args[0])
                if block in arms:
                    of[None].add(inst.args[0])
    return bool(set.intersection(*of.values()))


def _chooses_calls(fn: ir.Function) -> bool:
    """Whether a function has calls, and branches on a condition of what its entry has computed."""
    if not any([inst.op is INVOKE for block in fn.blocks for inst in block.insts]):
        return False
    first = fn.blocks[0]
    known = {*first.params, *[inst.result for inst in first.insts]}
    conditions = [block.insts[-1].args[0] for block in fn.blocks[1:] if block.insts[-1].op is BRANCH]
    return any([v in known or v.inst is not None and known.issuperset(v.inst.args) for v in conditions])


def _count_loops(fn: ir.Function) -> int:
    """How many loops a function has, which may be inside one another if there are several."""
    return len(_headers(fn))


def _has_much_for_loop_passes(fn: ir.Function) -> bool:
    """Whether a function has so many loops, or so many for its size, that LLVM's passes over loops take long."""
    count = _count_loops(fn)
    return count > MOST_LOOPS or count * sum([len(block.insts) for block in fn.blocks]) > MOST_LOOPS_TIMES_SIZE


def _has_nest(fn: ir.Function) -> bool:
    """Whether a loop of a function is inside another one."""
    headers = _headers(fn)
    return len(headers) > 1 and any([len(headers & inside) > 1 for inside in _bodies(fn)])


def _bodies(fn: ir.Function):
    """Iterate over the loops of a function, each the set of its blocks."""
    number, before = {block: n for n, block in enumerate(fn.blocks)}, predecessors(fn.blocks)
    for header in _headers(fn):
        inside = {header}
        work = [block for block in before[header] if number[block] >= number[header]]
        while work:
            block = work.pop()
            if block not in inside:
                inside.add(block)
                work += before[block]
        yield inside


def _headers(fn: ir.Function) -> set[ir.Block]:
    """The blocks to which loops jump back."""
    number = {block: n for n, block in enumerate(fn.blocks)}
    return {edge.block for block in fn.blocks for edge in block.insts[-1].targets
            if number.get(edge.block, -1) <= number[block]}


# Passes whose need depends on more than the set of operations of a function.
_ASK: dict[Any, Callable[[ir.Function], bool]] = {
    accumulators: _stores_where_it_loads,
    checked_copies: _keeps_checks,
    choices: lambda fn: _count_loops(fn) > 2 or _chooses_calls(fn),  # versioning makes two loops of one
    columns: lambda fn: _has(fn, _is_in_column),
    elementary: lambda fn: _has(fn, is_ours),
    extremes: _compares_carried,
    first_order: lambda fn: any([p.type in (Bool, NpBool) for header in _headers(fn) for p in header.params]),
    flags: lambda fn: any([p.type is Bool for block in fn.blocks for p in block.params]),
    jam: lambda fn: _has_nest(fn),
    keys: lambda fn: _has(fn, _has_boxed_key),
    joined_sums: lambda fn: _carries_floats(fn) and _has_nest(fn),
    localtables: lambda fn: _has(fn, _makes_table),
    narrowing: lambda fn: _has(fn, counted.widens),
    parts: _has_much_for_loop_passes,
    reboxing: lambda fn: _has(fn, _has_object) or _has(fn, _puts_constant),
    reload: _uses_array_again,
    recurrences: _accesses_in_arms,
    refcount: _has_references,
    retests: _compares_again,
    unboxed: lambda fn: _count_loops(fn) > 1 and _has(fn, _loads_from_list),
    unroll: lambda fn: any([_is_small_number(v) for block in fn.blocks for inst in block.insts
                            for edge in inst.targets for v in edge.args]),
    vectorise: lambda fn: (_carries_floats(fn) or any([
        is_complex(p.type) for block in fn.blocks for p in block.params])) and _has_nest(fn),
    versioning: _guards,
}

# Passes whose need depends on the options, or on what the function was compiled for. They are asked last.
_ASK_OPTIONS: dict[Any, Callable[[ir.Function, Any], bool]] = {
    parallel: lambda fn, options: fn.flags.parallel,
    relax: lambda fn, options: options.overflow == "wrap" or not options.boundscheck or options.error_model == "numpy",
    # guards save no time where all loops wait for sums
    versioning: lambda fn, options: not all([hints.waits_for_sum(header, options) for header in _headers(fn)]),
}

# Without versioning of loops, which is for CPUs, polls for signals, and reference counts.
DEVICE_PASSES: list[Any] = [messages, relax, simplify, latches, independent, gvn, ranges, elementary, simplify, gvn,
                            dce]


def run_device(functions: list[ir.Function], options, body, recursive, check=None) -> list[ir.Function]:
    """Run the passes for a GPU; raises UnsupportedError for what it cannot do. body: as in `run`, or None where
    elementary functions stay operations; recursive: a module -> the recursive functions in it."""
    module = _loops(functions, options, check)
    device.lower(module)
    if check:
        check(module, "device")
    own = {fn: fn for fn in module}
    for fn in module:  # appended to during the iteration
        for one in DEVICE_PASSES:
            if one is not elementary:
                one.run(fn, options)
            elif body is not None:
                one.run(fn, body, own)
                module += [callee for callee in inline.callees(fn) if callee not in module]
            if check:
                check([fn], one.__name__.rpartition(".")[2])
        device.keep_small(fn)
        if check:
            check([fn], "keep_small")
    device.check(module, recursive(module))
    return module
