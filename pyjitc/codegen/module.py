"""The LLVM text of a module: functions, the helpers and declarations that they use, constants, metadata.

The text names every external symbol, so that the object is relocatable.
"""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import is_straight
from ..ops import arith, control, memory, structure
from ..types.kinds import is_float
from . import helpers, partition, shared
from .declarations import declared
from .definitions import expanded

__all__ = ["Module", "SMALL"]

SMALL = 12  # instructions of a function that is always inlined

forms = lazy(f"{__package__}.forms")  # only functions that call one of its forms need it

# Operations that are one machine instruction or none each, but for constants. The code generator combines them as well
# as LLVM's pass for that, where our passes have simplified them; the pass takes a third of the optimiser's time.
_NOT_COMBINED = frozenset((
    control.CONST, control.JUMP, control.BRANCH, control.RETURN, memory.ARRAY_LOAD, memory.ARRAY_STORE,
    memory.ARRAY_DIM, memory.POLL, arith.IADD, arith.ISUB, arith.FADD, arith.FSUB, arith.FMUL, arith.FNEG,
    *arith.INTEGER_COMPARISONS, *arith.FLOAT_COMPARISONS, arith.BAND, arith.BOR, arith.BNOT, structure.SELECT,
    structure.DUAL_MAKE, structure.DUAL_WIDE, structure.DUAL_IS_NARROW))


def _combines(fn: ir.Function) -> bool:
    """Whether LLVM's pass that combines instructions may improve the code of a function."""
    return any([inst.op not in _NOT_COMBINED and (inst.op is not arith.CAST or not is_float(inst.result.type))
                and (inst.op is not memory.CHECK_INDEX or not inst.attrs.get("nonnegative"))
                for block in fn.blocks for inst in block.insts])


def _may_be_inlined(fn: ir.Function) -> bool:
    """Whether LLVM may inline calls of a function."""
    return not (fn.flags.noinline or fn.flags.optnone or fn.flags.llvm_inline == "never")


class Metadata:
    """Metadata on branches, loops and memory for LLVM, as numbered nodes to which instructions refer.

    !0 and !1 are the weights of a branch that is likely and of one that is not, !2 is the range of a length, and !5 is
    the group of the accesses of loops without dependences. The other nodes are made on demand: from 10 on loops that
    are not worth vectorising, from 10,001 those whose iterations are independent, from 20,001 those that are unrolled,
    from 50,001 scopes of aliases, from 60,001 lists of these, from 70,001 kinds of memory, from 80,001 domains of
    scopes that share none, from 90,001 loops that begin at a line of the cache. (A grid has ranges of its own from
    40,001.)
    """

    def __init__(self):
        self.novectorize_loops: list[bool] = []  # whether it begins at a line of the cache
        self.vector_loops: list[tuple[int, bool]] = []  # the interleave count, whether iterations are independent
        self.unrolled_loops: list[int] = []  # into how many iterations
        self.aligned_loops = 0
        self.branching = False  # whether an unrolled loop has branches
        self.ordered = False  # whether a loop is to be vectorised that sums floats in order
        self.scopes: dict[tuple, int] = {}  # (function, group of arrays, number in it) -> number of the alias scope
        self.scope_lists: dict[tuple[int, ...], int] = {}
        self.kinds: dict[str, int] = {}  # name of a kind of memory -> number of its TBAA tag

    def kind(self, name: str) -> int:
        """The number of the TBAA tag of a kind of memory, which does not alias other kinds."""
        return self.kinds.setdefault(name, 70_002 + 2 * len(self.kinds))

    def novectorize_loop(self, line: bool) -> int:
        """The number of new loop metadata: no vectorising, no interleaving, no unrolling; line: the loop begins at a
        line of the cache."""
        self.novectorize_loops.append(line)
        return 9 + len(self.novectorize_loops)

    def vector_loop(self, interleave: int, independent: bool) -> int:
        """The number of new loop metadata: the number of vectors in flight, 0 where LLVM decides; independent: no
        iteration accesses an element that another one writes."""
        self.vector_loops.append((interleave, independent))
        return 10_000 + len(self.vector_loops)

    def unrolled_loop(self, how) -> int:
        """The number of new loop metadata: unroll four or eight times; how: the attribute `unroll` of the loop."""
        self.unrolled_loops.append(8 if how == "look-ups" else 4)
        self.branching |= how == "branches"
        return 20_000 + len(self.unrolled_loops)

    def aligned_loop(self) -> int:
        """The number of new loop metadata: the loop begins at a line of the cache."""
        self.aligned_loops += 1
        return 90_000 + self.aligned_loops

    def scope_list(self, scopes) -> int:
        """The number of the metadata of a list of alias scopes; the scopes are made at their first use."""
        numbers = tuple(self.scopes.setdefault(scope, 50_001 + len(self.scopes)) for scope in scopes)
        return self.scope_lists.setdefault(numbers, 60_001 + len(self.scope_lists))

    def parts(self) -> list[str]:
        """The text of the nodes."""
        parts = ['!0 = !{!"branch_weights", i32 2000, i32 1}\n!1 = !{!"branch_weights", i32 1, i32 2000}\n'
                 f"!2 = !{{i64 0, i64 {1 << 60}}}\n!5 = distinct !{{}}"]
        if self.novectorize_loops or self.ordered:
            parts.append('!3 = !{!"llvm.loop.vectorize.enable", i1 false}\n!4 = !{!"llvm.loop.unroll.disable"}')
            parts += (f"!{n} = distinct !{{!{n}, !3, !4{', !90000' * line}}}"
                      for n, line in enumerate(self.novectorize_loops, 10))
        if self.vector_loops:
            counts = {1: "!7", 2: "!8", 4: "!9"}
            parts.append('!6 = !{!"llvm.loop.parallel_accesses", !5}')
            parts += (f'{name} = !{{!"llvm.loop.interleave.count", i32 {count}}}' for count, name in counts.items())
            parts += (f'!{n} = distinct !{{!{n}{", !6" * independent}{", " + counts[count] if count else ""}}}'
                      for n, (count, independent) in enumerate(self.vector_loops, 10_001))
        if self.unrolled_loops:
            parts += (f'!{30_000 + count} = !{{!"llvm.loop.unroll.count", i32 {count}}}'
                      for count in dict.fromkeys(self.unrolled_loops))
            scalar = ", !3" * self.ordered  # sums that are not worth vectorising stay as they are
            parts += (f"!{n} = distinct !{{!{n}, !{30_000 + count}{scalar}}}"
                      for n, count in enumerate(self.unrolled_loops, 20_001))
        if self.aligned_loops or any(self.novectorize_loops):
            parts.append('!90000 = !{!"llvm.loop.align", i32 64}')
            parts += (f"!{n} = distinct !{{!{n}, !90000}}" for n in range(90_001, 90_001 + self.aligned_loops))
        if self.scopes:
            parts.append("!50000 = distinct !{!50000}")
            for (_, _, number), n in self.scopes.items():
                domain = 50_000
                if number == memory.ALONE:
                    domain = n + 30_000
                    parts.append(f"!{domain} = distinct !{{!{domain}}}")
                parts.append(f"!{n} = distinct !{{!{n}, !{domain}}}")
            parts += (f"!{n} = !{{{', '.join(f'!{k}' for k in scopes)}}}" for scopes, n in self.scope_lists.items())
        if self.kinds:
            parts.append('!70000 = !{!"memory"}')
            parts += (f'!{n - 1} = !{{!"{name}", !70000, i64 0}}\n!{n} = !{{!{n - 1}, !{n - 1}, i64 0}}'
                      for name, n in self.kinds.items())
        return parts


class Module:
    """The LLVM text of one compilation: functions, runtime helpers, declarations, strings, per-object constants."""

    inlined: tuple[str, ...] = ()  # helpers that are inlined on this target

    def __init__(self, options, nogil: bool = False, shares: bool = False, pooled: bool = False):
        self.options = options
        self.shares = shares  # whether helpers that programs share are in images of their own
        self.elsewhere: dict[str, None] = {}  # helpers that are compiled in a separate image
        self.nogil = nogil  # functions run without the interpreter lock: code that sets an error takes it
        self.pooled = pooled  # some functions run on the threads of the pool
        self.declarations: dict[str, None] = {}
        self.helpers: dict[str, None] = {}
        self.strings: dict[str, str] = {}
        self.objects: list[tuple[str, object]] = []
        self._object_index: dict = {}
        self.bodies: list[str] = []
        self.novectorize: list[str] = []  # the bodies of functions whose loops LLVM must not vectorise
        self.keeps_apart = False  # whether one of them has loops or is a function of the library
        # for each function, whether a few passes make it as good as all of them
        self.skips_loop_passes: list[bool] = []
        self.register = 0  # bytes of the longest vector register, where loops may be written in vectors (wide.py)
        # the text of each function -> the one with its loops in vectors; None where some function needs all passes
        self.wide: dict[str, str] | None = {}
        self.strided_text = ""  # the text of the second copy of `strided`
        self.has_loops = False  # whether some function has loops
        # whether LLVM's pass that combines instructions has something to do
        self.combines = bool(options.fastmath)
        # functions of the C library that are rarely called: symbol -> (number, type) of operands
        self.rare: dict[str, tuple[int, str]] = {}
        # lookup tables: (types of elements and indices, elements) -> number
        self.tables: dict[tuple, int] = {}
        self.arrays: dict[tuple, str] = {}  # constants in memory: (type of the elements, their texts) -> symbol
        self.packs = False  # whether scalars of some function may be combined to vectors
        self.steps = False  # whether addresses in loops of some function are computed from those before
        self.metadata = Metadata()
        self.strided: ir.Function | None = None  # the function of which the entry calls a second copy (native.py)
        self.has_cores = False  # whether `strided` is the loop of a generalised ufunc
        self.enters_inline = False  # whether the first function is inlined into the entry (native.py)
        self.added = False  # whether a function was added; the first one is called by the stub
        self.symbols: dict[ir.Function, str] = {}
        self.exported: ir.Function | None = None  # a function that another module calls
        self.entries: dict[ir.Function, str] = {}  # function of a chunk -> the function that the pool calls
        self.context: tuple[str, ...] = ()  # additional parameters of every function, which it passes on
        fast = options.fastmath
        self.flags = "fast " if fast is True else "".join(f"{f} " for f in fast) if fast else ""

    def strided_symbol(self) -> str:
        """The symbol of the second copy of the function `strided`."""
        return f"{self.symbol(self.strided)}.strided"

    def symbol(self, fn: ir.Function) -> str:
        found = self.symbols.get(fn)
        if found is None:
            name = "".join(c if c.isascii() and c.isalnum() or c in "_." else "_" for c in fn.name)
            found = self.symbols[fn] = f"@f{len(self.symbols)}.{name}"
        return found

    def export(self, fn: ir.Function) -> None:
        """Let another module call a function."""
        self.exported = fn
        self.symbols[fn] = f"@{partition.BODY}.{self.symbol(fn).partition('.')[2]}"

    def go_on_from(self, other: Module) -> None:
        """Number objects after those of another module, which is loaded together with this one, as are its helpers."""
        self.objects, self._object_index = other.objects, other._object_index
        self.elsewhere.update(other.elsewhere)

    def string(self, text: str) -> str:
        found = self.strings.get(text)
        if found is None:
            found = self.strings[text] = f"@.s{len(self.strings)}"
        return found

    def array_of(self, t: str, values: tuple[str, ...]) -> str | None:
        """The symbol of an array of constants of the LLVM type `t`."""
        return self.arrays.setdefault((t, values), f"@.a{len(self.arrays)}")

    def object(self, value) -> str:
        """The symbol of a Python object that the code needs; the loader sets it to the object's address."""
        key = (type(value), value) if type(value) in (bytes, int, bool) else id(value)
        found = self._object_index.get(key)
        if found is None:
            name = f"pyjitc_object_{len(self.objects)}"
            self.objects.append((name, value))
            found = self._object_index[key] = "@" + name
        return found

    def helper(self, name: str) -> str:
        if self.shares and shared.is_shared(name):
            return self.lasting_helper(name)
        if name not in self.helpers:
            self.helpers[name] = None
            for other in helpers.needed(name):
                self.helper(other)
        return "@" + name

    def lasting_helper(self, name: str) -> str:
        """The symbol of a helper in an image of its own, which is never unloaded."""
        assert shared.is_shared(name), name
        if name not in self.elsewhere:
            self.elsewhere[name] = None
            self.declarations[shared.declaration(name)] = None
        return "@" + name

    def add(self, fn: ir.Function, body: str, wide: str | None = None) -> None:
        """Add a function with the text `body`; wide: its text with the loops in vectors, if it has one."""
        formed = partition.FORM in body
        self.packs |= fn.flags.packs
        self.steps |= fn.flags.steps
        inlines = any([i.op is control.INVOKE and _may_be_inlined(i.attrs["callee"])
                       for block in fn.blocks for i in block.insts])
        self.skips_loop_passes.append(fn.flags.skips_loop_passes and not formed and not inlines)
        if formed or inlines or not (wide or fn.flags.skips_loop_passes or fn.flags.optnone):
            self.wide = None
        elif wide and self.wide is not None:
            self.wide[body] = wide
        straight, apart = is_straight(fn), fn.flags.novectorize and not formed
        self.has_loops = self.has_loops or not straight
        self.keeps_apart = self.keeps_apart or apart and (fn.library or not straight)
        self.combines = self.combines or _combines(fn)
        (self.novectorize if apart else self.bodies).append(body)
        if fn is self.strided:
            copy = body.replace(f"{self.symbol(fn)}(", f"{self.strided_symbol()}(", 1).replace(" alwaysinline", "", 1)
            (self.bodies if formed else self.novectorize).append(copy)
            self.keeps_apart = self.keeps_apart or not formed
            self.strided_text = copy

    def _write_vectors(self, wide: dict[str, str]) -> None:
        """Replace functions by those with loops in vectors. The loop of a ufunc tests the strides, so one copy serves
        for all; that of a generalised one has rows, which may be as short as the tests."""
        self.bodies += self.novectorize
        self.novectorize, self.skips_loop_passes = [], []
        if self.strided_text and not self.has_cores:
            self.bodies.remove(self.strided_text)
            wide = {body: text.replace(" alwaysinline", " noinline", 1) if f"{self.symbol(self.strided)}(" in
                    text.partition("\n")[0] else text for body, text in wide.items()}
            self.bodies = [body.replace(f"{self.strided_symbol()}(", f"{self.symbol(self.strided)}(")
                           for body in self.bodies]
        self.bodies = [wide.get(body, body) for body in self.bodies]

    def definitions(self) -> str:
        """The text without the declarations that follow from it, and without the functions `novectorize`."""
        parts = [expanded(helpers.text(self.helpers, self.nogil, self.inlined, self.pooled)), *self.declarations]
        for text, name in self.strings.items():
            data = text.encode() + b"\0"
            escaped = "".join(chr(b) if 32 <= b < 127 and b not in (34, 64, 92) else f"\\{b:02X}" for b in data)
            parts.append(f'{name} = private unnamed_addr constant [{len(data)} x i8] c"{escaped}"')
        parts += (f"{name} = private unnamed_addr constant [{len(values)} x {t}] "
                  f"[{', '.join(f'{t} {v}' for v in values)}]" for (t, values), name in self.arrays.items())
        parts += self.bodies
        if self.rare or self.tables:
            parts.append(forms.declarations(self.rare, self.tables))
        parts += self.metadata.parts()
        return "\n".join(parts)

    def text(self, target) -> str:
        few = bool(self.wide) or bool(self.skips_loop_passes) and all(self.skips_loop_passes) and not self.keeps_apart
        # the loops in vectors call no helpers
        loops = (self.has_loops or self.nogil) and not self.wide
        few = few and all([helpers.needs_few_passes(name, loops) for name in self.helpers])
        if few and self.wide:
            self._write_vectors(self.wide)
        elif few:
            self.bodies, self.novectorize = self.bodies + self.novectorize, []
        text = declared(self.definitions(), *self.novectorize)
        if self.packs:
            text = partition.PACKS + text
        if self.steps:
            text = partition.STEPS + text
        if self.metadata.branching:
            text = partition.REMAINDERS + text
        if self.metadata.ordered:
            text = partition.ORDERED + text
        if few:
            combines = (bool(self.wide) or self.combines
                        or any([" noinline" not in helpers.TEXT[name] for name in self.helpers]))
            return text + (partition.FEW_PASSES if combines else partition.FEWEST)
        if self.novectorize:
            text = partition.joined(text, self.novectorize)
        return (partition.with_forms(text, forms.definitions(self.rare, self.tables, target.permutes))
                if self.rare or self.tables else text)
