"""How reverse mode keeps the adjoints of arrays: as values that flow backwards, or in arrays of adjoints beside the
arrays; the base class of the pass in reverse.py, which describes both."""
from __future__ import annotations

from typing import Any

from ...ir.core import SELECTS, VIEW, Value
from ...ops import control as c
from ...ops import memory as mem
from ...ops import structure as s
from ...ops.nest import NEST, NEST_INTO, template_of
from ...ops.pyobject import PY_UNBOX
from ...types import kinds as k
from ...types.tangents import gradient_type, is_varying, tangent_type, varies
from .activity import Activity, arrays_behind, is_filled, items_of
from .builder import Builder, refused
from .common import own_type, zeros
from .normal import Normal
from .targets import read_under_others, targets, written_again, written_later

__all__ = ["CHOICES", "AdjointArrays"]


class AdjointArrays:
    """fn, helpers, form, act, varying, calls, opened, lengths, adjoint_of: see the pass."""

    fn: Any
    helpers: Any
    form: Normal
    act: Activity
    varying: dict
    calls: dict
    opened: set[Value]
    lengths: dict[Value, list[Value]]
    adjoint_of: dict[Value, Value]

    # -- which adjoints are values

    def sort_arrays(self):
        """Decide for each class of arrays how its adjoint is kept. values: the adjoint is an SSA value; carried: the
        array is written or accessed by element, and a loop makes it or passes it on, so that its array of adjoints is
        passed backwards between blocks, as a value is.
        """
        cl, nest = self.act.classes.of, self.form.nest
        touched: set[Value] = set()
        made: set[Value] = set()
        carried: set[Value] = set()
        for block in self.fn.blocks:
            loop = nest.of.get(block)
            if loop is not None and loop.header is block:
                carried.update(cl(p) for p in block.params if type(p.type) is k.Array)
            for i in block.insts:
                made_here = i.result is not None and type(i.result.type) is k.Array and (
                    i.op in _MAKERS or i.op is s.TUPLE_GET)
                if loop is not None and made_here:
                    carried.add(cl(i.result))
                if made_here and (i.op is NEST or i.op is s.TUPLE_GET or i in self.calls):
                    made.add(cl(i.result))
                    continue
                if i in self.calls:
                    continue
                if i.op is s.TUPLE_AT and type(i.result.type) is k.Array:
                    touched.add(cl(i.result))
                if i.op in (NEST, mem.ARRAY_DIM, mem.ARRAY_STRIDE, c.JUMP, c.BRANCH, c.RETURN, s.TUPLE_MAKE):
                    continue
                read = i.args[1:2] if i.op is NEST_INTO else arrays_behind(i) if is_filled(i) else i.args
                touched.update(cl(x) for x in read if type(x.type) is k.Array)
        made.update(map(cl, self.only_in_nests()))
        self.values = made - touched
        self.carried = carried - self.values
        self.written = {cl(x) for block in self.fn.blocks for i in block.insts for x in targets(i)}
        self.named = written_again(self.fn, self.act.classes) if self.carried else set()

    def is_written(self, x: Value) -> bool:
        """Whether an array, or one that may share memory with it, is written into."""
        return self.act.classes.of(x) in self.written

    def has_names(self, x: Value) -> bool:
        """Whether an array, or one that may share memory with it, is written into where it may have several names."""
        return self.act.classes.of(x) in self.named

    def names_of(self, roots) -> set[Value]:
        """Arrays, and the views of them."""
        return {x for x in self.form.home if type(x.type) is k.Array and self.flows(x) and self.root(x) in roots}

    def is_written_behind(self, edge, v: Value) -> bool:
        """Whether an array may be written into after an edge that passes it to a block parameter, and be read after
        that under another name, which has adjoints of its own."""
        return self.has_names(v) and read_under_others(self.fn, edge, self.names_of({v}), self.act.classes)

    def only_in_nests(self) -> list[Value]:
        """The varying array arguments that only nests outside of loops read: their adjoints are sums of the results of
        these nests, which fuse, so no array of zeros is needed to add to."""
        found = dict.fromkeys([p for p in self.varying if type(p.type) is k.Array])
        for block in self.fn.blocks:
            for inst in block.insts:
                if inst.op in (mem.ARRAY_DIM, mem.ARRAY_STRIDE) or (
                        inst.op is NEST and self.form.nest.of.get(block) is None):
                    continue
                for x in inst.uses():
                    found.pop(x, None)
        return list(found)

    def flows(self, v: Value) -> bool:
        """Whether the array of adjoints of v is passed backwards from block to block."""
        return type(v.type) is k.Array and is_varying(v.type) and v in self.act and (
            self.act.classes.of(v) in self.carried)

    def root(self, v: Value) -> Value:
        """The array that v is a view of."""
        while v.inst is not None and v.inst.op.traits & VIEW and self.flows(v):
            v = v.inst.args[0]
        return v

    def is_value(self, v: Value) -> bool:
        """Whether the adjoint of v is an SSA value."""
        t = v.type
        if type(t) is k.Array:
            return is_varying(t) and (self.act.classes.of(v) in self.values
                                            or self.flows(v) and self.root(v) is v)
        return is_varying(t)

    def has_shadow(self, v: Value) -> bool:
        """Whether v has one array of adjoints as long as v exists."""
        return (type(v.type) is k.Array and is_varying(v.type) and v in self.act and not self.is_value(v)
                and not self.flows(v))

    def beside(self, b, cur, x: Value) -> Any:
        """The array of adjoints of x; None where x is not active."""
        if x in self.shadow:
            return self.shadow[x]
        if not self.flows(x):
            return None
        i: Any = x.inst
        if self.root(x) is x:
            self.check_chosen(i)
            cur[x] = self.dense(b, cur.get(x), x)
            return cur[x]
        if self.root(x).type.layout != "C" and i.op is mem.ARRAY_VIEW:
            raise refused(self.fn, i, "a part of an array whose order in memory changes in a loop has no derivative "
                          "yet", "make the arrays of all trips in the same way, for example by .copy()")
        return b.again(i, [self.beside(b, cur, i.args[0]), *i.args[1:]], own_type(x.type))

    def check_chosen(self, inst):
        """Refuse to choose one of several arrays if it is written into, since it has several names then."""
        if inst is None or inst.op not in CHOICES or not self.has_names(inst.result):
            return
        chosen = items_of(inst) if inst.op is s.TUPLE_AT else inst.args[1:]
        block = self.form.home[inst.result]
        names = {inst.result, *self.names_of({self.root(x) for x in chosen})}
        if written_later(block, block.insts.index(inst) + 1, names, self.act.classes):
            raise refused(self.fn, inst, "one of two arrays is chosen here in a loop, of which there is no derivative",
                          "copy the chosen one, with `if` and .copy()")

    # -- arrays of adjoints

    def shadows(self):
        fn, form = self.fn, self.form
        self.shadow = shadow = {}
        for block in form.dom.order:
            if block is not fn.entry:
                for p in list(block.params):
                    if self.has_shadow(p):
                        shadow[p] = Value(own_type(p.type), f"{p.name}_")
                        block.params.append(shadow[p])
                        form.home[shadow[p]] = block
        for block in form.dom.order:
            insts, block.insts = block.insts, []
            b = Builder(block.insts)
            if block is fn.entry:
                for p in fn.params:
                    if self.has_shadow(p):
                        shadow[p] = self.zeros(b, p)
            for inst in insts:
                b.at(inst)
                for e in inst.edges():
                    e.args += [shadow[x] for p, x in list(zip(e.block.params, e.args)) if p in shadow]
                block.insts.append(inst)
                if inst.result is not None and self.has_shadow(inst.result):
                    shadow[inst.result] = self.shadow_of(b, inst)
            form.note(block, block.insts)

    def shadow_of(self, b, inst):
        op, r, shadow = inst.op, inst.result, self.shadow
        if op.traits & VIEW:
            return b.again(inst, [shadow[inst.args[0]], *inst.args[1:]], own_type(r.type))
        if op.traits & SELECTS:
            return b.op(op, inst.args[0], *(shadow[x] for x in inst.args[1:]))
        if op is s.UNDEF:
            return b.op(op, type=own_type(r.type))
        if op is s.TUPLE_AT:
            return b.op(op, b.op(s.TUPLE_MAKE, *(shadow[x] for x in items_of(inst)), cls=None), inst.args[1])
        is_item = op is s.TUPLE_GET and r.type.layout != "A"  # of an argument that does not vary while others do
        if op not in (mem.ARRAY_NEW, mem.ARRAY_COPY, NEST, c.INVOKE, PY_UNBOX) and r not in self.opened and not is_item:
            raise refused(self.fn, inst, f"there is no derivative of arrays that the operation {op.name} makes",
                          "make the array with NumPy's functions")
        return b.again(inst, inst.args, zero=True) if op is mem.ARRAY_NEW else self.zeros(b, r)

    def zeros(self, b, x):
        return zeros(b, self.helpers, x)

    # -- adjoints of arrays

    def dims_of(self, x: Value) -> list[Value]:
        """The lengths of an array, as values of the forward part."""
        made = x.inst
        if made is not None and made.op is mem.ARRAY_NEW:
            return list(made.args)
        dims = _dims_of_nest(x)
        if dims is not None:
            return dims
        if made is not None and made.op is NEST and template_of(made) == "rows":
            space = made.args[0].inst
            if space is not None and space.op is s.TUPLE_MAKE:
                return space.args[:1]
        found = self.lengths.get(x)
        if found is None:
            b = Builder([], made)
            found = self.lengths[x] = [b.op(mem.ARRAY_DIM, x, axis=n) for n in range(x.type.ndim)]
            self.form.insert_behind(x, b.insts)
        return found

    def dims_of_adjoint(self, g: Value) -> list[Value] | None:
        """The lengths of an array of adjoints as values of the forward part, if known."""
        found = _dims_of_nest(g)
        return self.dims_of(self.adjoint_of[g]) if found is None and g in self.adjoint_of else found

    def shape_of(self, b, x):
        return b.op(s.TUPLE_MAKE, *self.dims_of(x), cls=None)

    def dense(self, b, g, v):
        """The adjoint g of the array v as an array. Otherwise g may be one number, where v was summed, or None for
        zero."""
        wanted = gradient_type(v.type)
        if g is not None and type(g.type) is k.Array:
            return g if g.type is wanted else b.op(s.RETYPE, g, type=wanted)
        shape = self.shape_of(b, v)
        if g is None:
            g = b.zero(v.type.dtype)
        return b.call(self.helpers("full", (shape.type, g.type)), shape, g)

    def plus(self, b, x, y):
        if type(x.type) is not k.Array and type(y.type) is not k.Array:
            return b.fadd(x, y)
        return b.call(self.helpers("plus", (x.type, y.type)), x, y)

    def add(self, b, cur, v, g, exact=False, new=False):
        """Add g, which may have more axes than v or fewer, to the adjoint of v. exact: g has the shape of v; new: g is
        a new array with no other use."""
        if v not in self.act or not varies(v.type):
            return
        if type(v.type) is not k.Array:
            if type(g.type) is k.Array:
                g = b.call(self.helpers("total", (g.type,)), g)
            g = b.cast(g, tangent_type(v.type))
            cur[v] = b.fadd(cur[v], g) if v in cur else g
            return
        is_array = type(g.type) is k.Array
        if is_array:
            exact = exact or _are_equal(self.dims_of(v), self.dims_of_adjoint(g))
        if self.is_value(v) and not self.flows(v):
            if is_array:
                if not exact:
                    g = self.reduced(b, "reduced" if new else "reduced_apart", v, g)
                if g.type is not gradient_type(v.type):
                    g = b.op(s.RETYPE, g, type=gradient_type(v.type))
            cur[v] = self.plus(b, cur[v], g) if v in cur else g
        elif is_array and v not in cur and self.starts(v) and g.type.dtype is v.type.dtype:
            g = (self.reduced(b, "reduced_copy", v, g) if not exact else g if new else
                 b.call(self.helpers("copied", (g.type,)), g))
            cur[v] = g if g.type is gradient_type(v.type) else b.op(s.RETYPE, g, type=gradient_type(v.type))
        else:
            total = self.beside(b, cur, v)
            b.call(self.helpers("accumulate", (total.type, g.type)), total, g)

    def starts(self, v) -> bool:
        """Whether the first term that is added to the array of adjoints of v initialises it."""
        return self.flows(v) and self.root(v) is v and (
            v.inst is None or v.inst.op not in CHOICES)

    def reduced(self, b, name, v, g):
        shape = self.shape_of(b, v)
        return b.call(self.helpers(name, (shape.type, g.type)), shape, g)


CHOICES = (s.SELECT, s.CHOOSE, s.TUPLE_AT)
_MAKERS = (mem.ARRAY_NEW, mem.ARRAY_COPY, NEST, c.INVOKE)


def _are_equal(dims: list[Value], others: list[Value] | None) -> bool:
    """Whether the lengths of an array are certainly equal to others."""
    def same(x, y):
        i, j = x.inst, y.inst
        return x is y or (i is not None and j is not None and i.op is j.op is mem.ARRAY_DIM
                          and i.args == j.args and i.attrs["axis"] == j.attrs["axis"])

    return others is not None and len(dims) == len(others) and all(map(same, dims, others))


def _dims_of_nest(g: Value):
    """The lengths of an array that a nest makes, in its own shape; None for others."""
    made = g.inst
    if made is None or made.op is not NEST or made.attrs["shape"] is None:
        return None
    shape = made.args[made.attrs["shape"]].inst
    return list(shape.args) if shape is not None and shape.op is s.TUPLE_MAKE else None
