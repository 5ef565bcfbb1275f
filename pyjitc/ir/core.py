"""The intermediate representation: functions of blocks of instructions, in SSA form with block parameters.

One representation serves two stages. *Generic* IR comes from the front end: its operations are Python's own
(`binary`, `getattr`, `call`) and its values have no type. *Typed* IR comes from inference: every value has a
type and every operation is a leaf with a lowering. A block ends in one terminator. An instruction that may
raise carries `unwind`, the edge to its handler, or None where the exception leaves the function.
"""
from __future__ import annotations

from typing import Any, Callable

from ..base.named import Named
from ..types.kinds import Type
from .flags import FunctionFlags

__all__ = ["Loc", "Op", "Value", "Edge", "Inst", "Block", "Function", "NOWHERE", "NOTES",
           "PURE", "RAISES", "READS", "WRITES", "CONSUMES", "ALLOCATES", "HOST", "TERMINATOR", "GENERIC",
           "FREE", "CHEAP", "MODERATE", "EXPENSIVE", "CALL",
           "BOXES", "CHECKS_FIRST", "ELEMENTARY", "INEXACT", "KEEPS_NONE", "LOAD", "LOAD_OF_NUMBERS", "MAKES_TEXT",
           "MARK", "NEVER_NEGATIVE", "NEW_MEMORY", "NEW_OBJECT", "ONE_FOR_ALL", "ONLY_MEMORY_ERROR", "PACKS", "ROUNDS",
           "SAME_MEMORY", "SAME_VALUE", "SELECTS", "SINGULAR", "STORES_ITEM", "UNPACKS", "VIEW", "WRITES_FIRST",
           "WRITES_OPERANDS",
           "ELEMENTS", "CELLS", "COUNTS", "RANDOM", "SLOTS", "ERRORS", "OBJECTS", "LISTS", "ITEMS", "TABLES", "REGIONS",
           "reads", "writes", "regions_read", "regions_written"]

# Effects of an operation, or-ed together. Pure operations may be folded, shared, moved and dropped.
PURE = 0
RAISES = 1  # it may set a Python exception and leave through `unwind`
CONSUMES = 2  # it consumes a reference to its first operand, also where it fails
ALLOCATES = 8  # its result is a fresh reference; it may be removed when unused
HOST = 16  # needs the Python runtime (forbidden on a GPU)
TERMINATOR = 32  # ends a block
GENERIC = 64  # only in generic IR: it has no lowering

# Cost class of an operation: the approximate number of simple machine instructions.
FREE = 0  # none: it packs or unpacks an aggregate, or is a constant
CHEAP = 1  # an operation on integers or bools, a comparison, a select, a conversion
MODERATE = 2  # an operation on floats that is pipelined, or a few cheap ones
EXPENSIVE = 8  # a division, a square root, or many cheap ones
CALL = 100  # a call or a loop; also the default

# Traits of an operation: further facts that passes ask for, or-ed together. A list of the operations that one pass
# can change is no trait, and belongs to the pass.
LOAD = 1  # its result depends on its operands and on what it reads, so that equal ones can be merged
LOAD_OF_NUMBERS = 2  # the same where its result has no references
KEEPS_NONE = 4  # neither its result nor memory refers to an array among its operands afterwards
NEW_MEMORY = 8  # its result is an array in memory that no other array has
ONLY_MEMORY_ERROR = 16  # it raises nothing but MemoryError, and need not be kept to raise it
WRITES_FIRST = 32  # it changes nothing but its first operand
WRITES_OPERANDS = 64  # the elements that it writes are those of arrays among its operands
CHECKS_FIRST = 128  # its result is its first operand, which it checks
SINGULAR = 256  # its derivative is infinite or nan at some points
ELEMENTARY = 512  # a late pass replaces it by a function of lib/elementary, on a CPU only for NumPy numbers
ROUNDS = 1024  # its result is its operand rounded to a whole number
ONE_FOR_ALL = 2048  # its result is the same object each time, so that it is moved out of loops
NEW_OBJECT = 4096  # its result may be an object of the interpreter to which nothing else refers
STORES_ITEM = 8192  # it changes only items of lists among the interpreter's objects, and no attribute
MAKES_TEXT = 16384  # it makes a text or takes one apart, which may be possible without an object of the interpreter
NEVER_NEGATIVE = 32768  # its result, a float, is NaN or not below 0; it may be -0.0
BOXES = 65536  # it makes objects of the interpreter from numbers among its operands
SAME_VALUE = 131072  # its result is its first operand, perhaps under another type
VIEW = 262144  # an array that it returns is in the memory of its first operand
SELECTS = 524288  # its result is one of the operands after the first
PACKS = 1048576  # its result is an aggregate of its operands, which may be of any types
UNPACKS = 2097152  # its result is a part, which may be of any type, of the aggregate that is its operand
MARK = 4194304  # its result is its operand, which it marks for a later pass
INEXACT = 8388608  # its result is a float that it rounds, so that the order of a chain of such operations counts
SAME_MEMORY = VIEW | SELECTS  # as a mask: an array that it returns is in the memory of an operand

# Regions of memory, which never overlap. An operation declares those that it reads and those that it writes:
# `reads(ELEMENTS) | writes(CELLS)`. One that may access any memory has READS or WRITES, which are all regions.
ELEMENTS = 1  # elements of arrays
CELLS = 2  # contents of closure cells and iterators
COUNTS = 4  # reference counts; the lifetime of objects
RANDOM = 8  # the states of random number generators
SLOTS = 16  # slots and states of the threads of a block (passes/grid.py)
ERRORS = 32  # the error indicator, the handled exception, warnings, pending signals
OBJECTS = 64  # Python objects
LISTS = 128  # lengths of native lists (ops/natives.py)
ITEMS = 256  # items of native lists
TABLES = 512  # local tables: dicts and sets that do not escape (ops/localtables.py)
REGIONS = {"elements": ELEMENTS, "cells": CELLS, "counts": COUNTS, "random": RANDOM, "slots": SLOTS, "errors": ERRORS,
           "objects": OBJECTS, "lists": LISTS, "items": ITEMS, "tables": TABLES}
_EVERY = sum(REGIONS.values())
_READ, _WRITTEN = 8, 24  # the lowest bits of the regions


def reads(*regions: int) -> int:
    """The effects of an operation that reads these regions only."""
    return sum(regions) << _READ


def writes(*regions: int) -> int:
    """The effects of an operation that writes these regions only, or must not be removed or moved as if it did."""
    return sum(regions) << _WRITTEN


def regions_read(effects: int) -> int:
    return effects >> _READ & _EVERY


def regions_written(effects: int) -> int:
    return effects >> _WRITTEN & _EVERY


READS = reads(_EVERY)  # may read any memory; as a mask: whether some region is read
WRITES = writes(_EVERY)  # may write any memory; as a mask: whether some region is written


class Loc(Named):
    """Position in the source: 1-based lines, 0-based columns in UTF-8 bytes as CPython counts them; 0 or -1:
    unknown."""

    __slots__ = ()
    line: int
    end_line: int
    col: int
    end_col: int


NOWHERE = Loc(0, 0, -1, -1)


_OF_NAMES = "abcdefghijklmnopqrstuvwxyz_"
_attributes: dict[Op, frozenset[str]] = {}  # filled at the first use
# attributes of any instruction. origin: (qualname, filename) of the function from which it was inlined; outer:
# (position, origin) of the calls through which it was inlined, the innermost first, which tracebacks show; redo: where
# an int exceeds 64 bits, the interpreter repeats the call (passes/restarts.py)
NOTES = frozenset(("origin", "outer", "redo"))


class Op:
    """The record of one operation, with everything about it, which is not changed after its module was loaded. Compared
    by identity, callable in library code.

    name: str, as printed; attrs: names of the attributes that an instruction of it may have; rule: (operand types,
    attrs) -> result Type or None for no result, raises TypeError;
    effects: the flags above; eval: the Python meaning, called with operand values (and attrs as keywords when
    `eval_attrs`), for folding and the IR interpreter, None where it has none; lower: see ops/lowering.py;
    stores: for an operation that stores values in containers, (operand types, attrs) -> (type of the container, which
    of its parameters, type of the stored value) for each; inference widens the types of the containers by it;
    partials: derivative, see ops/effects.py; bounds: (least, most) of an int result;
    cost: cost class, FREE to CALL; wrapping: for checked integer arithmetic the operation that wraps instead; swapped:
    for a comparison the one with the same result for exchanged operands; negated: the one with the opposite result,
    None where there is none (x < y and x >= y are both false for a NaN);
    traits: further facts, see above;
    doc: its description. An attribute is declared by naming it there in braces, alone or with others, followed by a
    colon and its possible values.
    """

    __slots__ = ("name", "rule", "effects", "eval", "lower", "partials", "doc", "eval_attrs", "bounds",
                 "cost", "wrapping", "stores", "swapped", "negated", "traits")
    name: str
    rule: Callable | None
    effects: int
    eval: Callable | None
    lower: Any
    partials: Any
    doc: str
    eval_attrs: bool
    bounds: tuple[int, int] | None
    cost: int
    wrapping: Op | None
    stores: Callable | None
    swapped: Op | None
    negated: Op | None
    traits: int

    def __init__(self, name: str, rule: Callable | None, effects: int, *, eval: Callable | None = None,
                 lower: Any = None, partials: Any = None, doc: str = "", eval_attrs: bool = False,
                 bounds: tuple[int, int] | None = None, cost: int = CALL, wrapping: Op | None = None,
                 stores: Callable | None = None, traits: int = 0):
        self.name = name
        self.rule = rule
        self.effects = effects
        self.eval = eval
        self.lower = lower
        self.partials = partials
        self.doc = doc
        self.eval_attrs = eval_attrs
        self.bounds = bounds
        self.cost = cost
        self.wrapping = wrapping
        self.stores = stores
        self.swapped = None
        self.negated = None
        self.traits = traits

    def relate(self, swapped: Op, negated: Op | None) -> None:
        """Set the related comparisons of this one: they refer to each other, so this is called once all exist."""
        if self.swapped is not None:
            raise AttributeError("an operation is related once")
        self.swapped, self.negated = swapped, negated

    @property
    def attrs(self) -> frozenset[str]:
        found = _attributes.get(self)
        if found is None:
            found = _attributes[self] = frozenset(_in_braces(self.doc)) if "{" in self.doc else frozenset()
        return found

    def __call__(self, *args, **attrs):
        """Run the Python meaning: library functions that use the operation also run under plain CPython."""
        if self.eval is None:
            raise TypeError(f"operation {self.name} has no Python meaning")
        return self.eval(*args, **attrs) if self.eval_attrs else self.eval(*args)

    def __repr__(self):
        return f"<op {self.name}>"

    def __reduce__(self):
        raise TypeError("operations are not pickled; refer to them by name")


def _in_braces(doc: str) -> list[str]:
    """The names in "{width, flags: ...}", outside of quotes. (Compiling a regular expression takes longer.)"""
    pieces = doc.split("'")
    outside = pieces[::2] if len(pieces) % 2 else [*pieces[::2], pieces[-1]]  # a last quote may be an apostrophe
    braces = [piece.partition("}")[0] for piece in "".join(outside).split("{")[1:] if "}" in piece]
    items = [item.lstrip(" ") for item in ",".join(braces).split(",")]
    return [name for item in items if (name := item[:len(item) - len(item.lstrip(_OF_NAMES))])]


class Value:
    """An SSA value: a block parameter or the result of an instruction. `type` is None in generic IR;
    `name` is a hint for printing (the local variable it came from) or ''; `inst`: the instruction that defines it, None
    for a parameter."""

    __slots__ = ("type", "name", "inst")

    def __init__(self, type: Type | None = None, name: str = ""):
        self.type: Any = type  # Any: a type checker cannot distinguish typed IR, where it is a Type, from generic IR
        self.name = name
        self.inst: Inst | None = None

    def __repr__(self):
        return f"<{self.name or 'value'}: {self.type}>"


class Edge:
    """A control-flow edge: target block and one value per parameter of it."""

    __slots__ = ("block", "args")

    def __init__(self, block: "Block", args=()):
        self.block = block
        self.args: list[Value] = list(args)


class Inst:
    """One instruction. args: operand values; attrs: dict of compile-time attributes; result: Value or None;
    targets: edges of a terminator; unwind: edge taken on an exception, or None; cleanup: owned values released
    when the exception leaves this instruction (filled by the refcount pass)."""

    __slots__ = ("op", "args", "attrs", "result", "loc", "targets", "unwind", "cleanup")

    def __init__(self, op: Op, args=(), attrs: dict | None = None, result: Value | None = None, loc: Loc = NOWHERE,
                 targets=(), unwind: Edge | None = None):
        self.op = op
        self.args: list[Value] = list(args)
        self.attrs: dict[str, Any] = attrs or {}
        self.result: Any = result  # Any: the operation determines whether there is one
        if result is not None:
            result.inst = self
        self.loc = loc
        self.targets: list[Edge] = list(targets)
        self.unwind = unwind
        self.cleanup: tuple[Value, ...] = ()

    def edges(self):
        """The outgoing edges: terminator targets, then the unwind edge."""
        return self.targets if self.unwind is None else [*self.targets, self.unwind]

    def uses(self) -> list[Value]:
        """The values that it uses: its operands, and what its edges pass. (ir/uses.py finds the uses of a value.)"""
        if self.unwind is None and not self.targets:
            return self.args
        return [*self.args, *[v for edge in self.edges() for v in edge.args]]


class Block:
    """A basic block. `insts` ends in exactly one terminator. Exceptional edges leave from the middle: a value
    passed along `inst.unwind` is defined before `inst`."""

    __slots__ = ("name", "params", "insts")

    def __init__(self, name: str = "", params=()):
        self.name = name
        self.params: list[Value] = list(params)
        self.insts: list[Inst] = []

    @property
    def terminator(self) -> Inst:
        return self.insts[-1]

    def values(self) -> list[Value]:
        """The values that it defines: its parameters and the results of its instructions."""
        return [*self.params, *[inst.result for inst in self.insts if inst.result is not None]]

    def edges(self):
        """All edges that leave the block, in order (exceptional ones where they occur)."""
        for inst in self.insts:
            if inst.unwind is not None:
                yield inst.unwind
            yield from inst.targets

    def __repr__(self):
        return f"<block {self.name}>"


_NO_FLAGS = FunctionFlags()


class Function:
    """A function. params are those of `entry` (= blocks[0]); `result`: Type of the returned value (None in generic IR).

    name: symbol-like unique name; qualname, filename, firstlineno: for tracebacks; library: True for functions of
    `lib/`, whose frames tracebacks hide; flags: facts that one stage sets for others; memo: results that are computed
    once for a generic function and all of its specialisations (infer/analysis.py, front/generators.py).
    """

    __slots__ = ("name", "qualname", "filename", "firstlineno", "blocks", "result", "library", "flags",
                 "memo")

    def __init__(self, name: str, qualname: str = "", filename: str = "", firstlineno: int = 0, library: bool = False):
        self.name = name
        self.qualname = qualname or name
        self.filename = filename
        self.firstlineno = firstlineno
        self.blocks: list[Block] = []
        self.result: Any = None  # Any: see Value.type
        self.library = library
        self.flags = _NO_FLAGS
        self.memo: dict[str, Any] = {}

    @property
    def entry(self) -> Block:
        return self.blocks[0]

    @property
    def params(self) -> list[Value]:
        return self.blocks[0].params

    def values(self) -> list[Value]:
        """All its values: the parameters of blocks and the results of instructions."""
        return [v for block in self.blocks for v in block.values()]

    def __repr__(self):
        return f"<function {self.name}>"
