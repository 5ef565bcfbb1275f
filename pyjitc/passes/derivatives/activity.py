"""Activity analysis: which values of a function vary with some of its parameters, and on which its result depends.

Arrays that may share memory form one class: what is true of one element is taken to be true of all of them, at any
time. A value that varies and that the result depends on is *active*; derivatives are computed for active values only.
An operation without a derivative rule is refused where an active value goes through it, so that a missing rule never
becomes a zero gradient.
"""
from __future__ import annotations

from types import FunctionType
from typing import Iterable

from ...ir.cfg import reverse_postorder
from ...ir.core import (
    CHECKS_FIRST, COUNTS, ERRORS, NEW_OBJECT, SAME_MEMORY, SAME_VALUE, SELECTS, WRITES, Function, Inst, Value, writes,
)
from ...ops import arith as a
from ...ops import control as c
from ...ops import memory as mem
from ...ops import pyobject as py
from ...ops import structure as s
from ...ops.blas import BLAS
from ...ops.derivative import Ruled
from ...ops.foreign import C_CALL, LLVM_CALL
from ...ops.nest import NEST, NEST_INTO, template_of
from ...ops.effects import NO_RULE, STRUCTURAL, Zero
from ...ops.random import RANDOM_CALL, RANDOM_DRAW, REJECTING
from ...types import kinds as k
from ...types.classes import FIXED_MODULES
from ...types.tangents import holds_complex, is_varying, varies
from ..frame import OF_ADDRESSES
from ..unions import Unions
from .builder import refused

__all__ = ["Activity", "Classes", "SAME", "arrays_behind", "fixed_of", "has_rule",
           "holds_memory", "is_filled", "is_known", "is_ruled", "items_of", "partials_of", "rules_of", "written"]

SAME = CHECKS_FIRST | SAME_VALUE  # traits of operations whose result is their first operand
_TEXTS = (k.Str, k.Bytes, k.Object)
_OBJECTS = frozenset((py.PY_BOX, py.PY_CALL))  # active values may go into them: they only print, and need no derivative
_CONTAINERS = ((k.Dict, "a dict"), (k.List, "a list"), (k.Set, "a set"), (k.ObjectOf, "an object"),
               (k.Iterator, "an iterator"))
_INSTEAD = "use numbers, arrays and tuples, or lists and dicts of numbers and objects that only this function has"
_FROM_ADDRESSES = OF_ADDRESSES | {s.SELECT, s.STRUCT_MAKE, s.STRUCT_GET, a.CAST}
_OF_COMPLEX = frozenset((a.COMPLEX_MAKE, a.REAL, a.IMAG))
# structural operations whose derivatives the transforms know
_KNOWN = _OF_COMPLEX | _OBJECTS | frozenset((
    a.CAST, c.JUMP, c.BRANCH, c.SWITCH, c.RETURN, c.INVOKE, mem.ARRAY_LOAD, mem.ARRAY_STORE, mem.ROW_COPY,
    mem.ARRAY_COPY, mem.ARRAY_NEW, mem.SUM_EIGHTS, mem.DOT, s.TUPLE_MAKE, s.TUPLE_GET, s.TUPLE_AT))


def _part(t):
    """The type of the parts of a complex element; other types are returned unchanged."""
    return k.float64 if t is k.complex128 else k.float32 if t is k.complex64 else t


def is_known(nest: Inst) -> bool:
    """Whether reverse mode knows the derivative of a loop nest as a whole."""
    kind = template_of(nest)
    if kind == "rows" or kind == "columns":
        return not _is_complex(nest)
    if kind == "fold" or kind == "fold axes":
        return nest.attrs.get("how") == "sum" and (kind == "fold" or "reduced" in nest.attrs)
    return bool(kind)


def _only_looks(call: Inst) -> bool:
    """Whether a call is the check for shared memory that the transforms have added. It computes nothing that has a
    derivative."""
    return call.attrs["callee"].flags.only_checks


def _reads_text(inst: Inst) -> bool:
    """Whether an instruction parses a float from a text, which may have been formatted from a float that varies."""
    if inst.op is c.INVOKE and rules_of(inst) is not None:
        return False
    return inst.result is not None and is_varying(inst.result.type) and any([x.type in _TEXTS for x in inst.args])


def is_ruled(inst: Inst) -> bool:
    return inst.op is c.INVOKE and type(inst.attrs["callee"].memo.get("rules")) is Ruled


def fixed_of(inst: Inst) -> list[Value]:
    """The items of the last argument, a tuple, that must not vary."""
    rules = inst.attrs["callee"].memo["rules"]
    made = inst.args[-1].inst if rules.fixed else None
    return [made.args[n] for n in rules.fixed] if made is not None and made.op is s.TUPLE_MAKE else []


def _is_complex(inst: Inst) -> bool:
    """Whether an operand or the result of an instruction is complex. The lengths and strides of an array do not
    count."""
    if inst.op in (mem.ARRAY_DIM, mem.ARRAY_STRIDE):
        return False
    r = inst.result
    return r is not None and holds_complex(r.type) or any([holds_complex(x.type) for x in inst.args])


def _is_of_complex(inst: Inst) -> bool:
    """Whether the derivative rule of an instruction is valid for complex numbers."""
    if inst.op is c.INVOKE:
        rules = rules_of(inst)
        # rules that the program defines are typed functions, so they fit the types of the call
        if type(rules) is Ruled:
            return rules.of_complex or isinstance(rules.backward, Function)
        return rules is not None and rules.of_complex
    return inst.op is not mem.DOT


def _hides(t) -> bool:
    """Whether a value of type t, such as a union, may hold varying numbers that the transforms do not follow."""
    return not is_varying(t) and type(t) is not k.Tuple and k.any_part(t, is_varying)


def has_rule(inst: Inst) -> bool:
    """Whether the transforms know the derivative of an instruction."""
    if _reads_text(inst) or inst.result is not None and _hides(inst.result.type):
        return False
    if _is_complex(inst) and not _is_of_complex(inst):
        return False
    if inst.op is NEST or inst.op is NEST_INTO:
        return is_known(inst)
    if inst.op is c.INVOKE:
        return rules_of(inst) is not None
    if inst.op is a.CAST and is_varying(inst.result.type) and not is_varying(inst.args[0].type):
        return False
    if inst.op is s.TUPLE_AT:
        return bool(items_of(inst)) and all([x.type is inst.result.type for x in items_of(inst)])
    op, rule = inst.op, inst.op.partials
    return bool(op.traits & (SAME | SAME_MEMORY)) or op in _KNOWN or rule is not NO_RULE and rule is not STRUCTURAL


def rules_of(call: Inst):
    """The rules of a library function that stays a call, or None."""
    return call.attrs["callee"].memo.get("rules")


def partials_of(b, inst: Inst) -> list[tuple[Value, Value]]:
    """[(operand, partial derivative of the result by it)] of an operation on numbers."""
    b.t = inst.result.type
    return list(zip(inst.args, inst.op.partials(b, *inst.args, inst.result)))


def items_of(inst: Inst) -> list[Value]:
    """The items of the tuple that `tuple_at` indexes; empty where the tuple was not made in this function."""
    made = inst.args[0].inst
    return made.args if made is not None and made.op is s.TUPLE_MAKE else []


def holds_memory(t) -> bool:
    """Whether a value of type t, such as a list, may refer to memory with numbers that vary, which other values may
    refer to as well."""
    if type(t) is k.Array or type(t) is k.Tuple:
        return k.any_part(t, lambda part: isinstance(part, _HOLDERS))
    return k.any_part(t, lambda part: type(part) is k.Array or isinstance(part, _HOLDERS))


def _is_memory(t) -> bool:
    return type(t) is k.Array or type(t) is k.Tuple and varies(t)


_HOLDERS = (k.Container, k.Instance, k.ObjectOf, k.Iterator, k.Cell)


class Classes(Unions):
    """Sets of arrays that may share memory, with the containers that hold them."""

    def __init__(self, fn: Function):
        super().__init__()
        held: list[tuple[Inst, list[Value]]] = []  # instructions with containers or objects as operands or result
        for block in fn.blocks:
            for inst in block.insts:
                r = inst.result
                if inst.op.traits & SAME_MEMORY and isinstance(r.type, k.Array):
                    for x in inst.args:
                        if isinstance(x.type, k.Array):
                            self.join(x, r)
                if inst.op is s.TUPLE_AT and isinstance(r.type, k.Array):
                    for x in items_of(inst):
                        self.join(x, r)
                holders = [x for x in (r, *inst.args) if x is not None and holds_memory(x.type)]
                if holders and inst.op not in _OBJECTS:
                    held.append((inst, holders))
                    for x in holders[1:]:
                        self.join(holders[0], x)
                for e in inst.edges():
                    for p, x in zip(e.block.params, e.args):
                        if isinstance(x.type, k.Array) or holds_memory(x.type):
                            self.join(x, p)

        # what is stored in a container may alias what is read from it, if anything is read from it
        read = {self.of(holders[0]) for inst, holders in held if inst.op is c.INVOKE
                or inst.result is not None and inst.result not in holders and _is_memory(inst.result.type)}
        for inst, holders in [(inst, holders) for inst, holders in held if self.of(holders[0]) in read]:
            for x in (inst.result, *inst.args):
                if x is not None and x not in holders and _is_memory(x.type):
                    self.join(holders[0], x)


def flows(inst: Inst) -> list[Value]:
    """The operands whose change changes the result to first order."""
    op, r = inst.op, inst.result
    if r is None or op is mem.ARRAY_NEW:
        return []
    if op in _OBJECTS:
        return list(inst.args)
    if op is s.TUPLE_MAKE or op is s.TUPLE_GET:
        return [x for x in inst.args if k.any_part(x.type, is_varying)] if k.any_part(r.type, is_varying) else []
    if op is c.INVOKE:
        return [] if _only_looks(inst) else inst.args
    if op is mem.ARRAY_DATA:  # what gets the address may read the elements
        return list(inst.args)
    if op is NEST:
        return inst.args[inst.attrs["count"]:] if is_varying(r.type) else []
    if r.type in _TEXTS:
        return list(inst.args)
    if _reads_text(inst):  # a float that is parsed from a text, or that a dict has under a text
        return list(inst.args)
    if _hides(r.type):
        return list(inst.args)
    if not is_varying(r.type):  # an int varies only where it is made of the bits of a float
        return list(inst.args) if not has_rule(inst) else [x for x in inst.args if k.is_integer(x.type)]
    if op.traits & SELECTS or op is mem.ARRAY_COPY:
        return inst.args[1:]
    if op.traits & SAME or op is a.CAST or op is mem.ARRAY_LOAD or op is mem.ARRAY_VIEW or op is mem.SUM_EIGHTS:
        return inst.args[:1]
    return [] if isinstance(op.partials, Zero) else list(inst.args)


class Activity:
    """seeds: values that vary; outputs: values that count (reverse mode), or None where all do; check: refuse
    instructions without a rule."""

    def __init__(self, fn: Function, seeds, outputs=None, check: bool = True):
        self.fn, self.classes = fn, Classes(fn)
        self.order = reverse_postorder(fn)
        after, before = self._relations()
        self.varied = _reached(map(self.key, seeds), after)
        self.active = self.varied
        if outputs is not None:
            self.useful = _reached(map(self.key, outputs), before)
            self.active = self.varied & self.useful
        if check:
            self._check()

    def key(self, v: Value) -> Value:
        return self.classes.of(v)

    def __contains__(self, v: Value) -> bool:
        return self.classes.of(v) in self.active

    def _relations(self) -> tuple[dict[Value, set[Value]], dict[Value, set[Value]]]:
        """(value -> the values that vary if it varies, value -> the values that the result depends on if it depends on
        this one)"""
        of = self.classes.of
        after: dict[Value, set[Value]] = {}
        before: dict[Value, set[Value]] = {}
        for block in self.order:
            for inst in block.insts:
                pairs = [written(inst)]
                if inst.result is not None:
                    pairs.append(([inst.result], flows(inst)))
                for targets, sources in pairs:
                    if targets and sources:
                        keys, origins = set(map(of, targets)), set(map(of, sources))
                        for x in origins:
                            after.setdefault(x, set()).update(keys)
                        for x in keys:
                            before.setdefault(x, set()).update(origins)
                for e in inst.edges():
                    for p, x in zip(e.block.params, e.args):
                        if varies(p.type) or not is_varying(x.type):
                            after.setdefault(of(x), set()).add(of(p))
                        before.setdefault(of(p), set()).add(of(x))
        return after, before

    def _check(self):
        """Refuse active instructions for which no rule is known."""
        for block in self.order:
            for inst in block.insts:
                if is_ruled(inst) and any(x in self for x in fixed_of(inst)):
                    raise refused(self.fn, inst, "an argument in nondiff_argnums varies here: its derivative would be "
                                  "lost", "leave it out of nondiff_argnums, or pass stop_gradient(x)")
                given = [x for x in flows(inst) if x in self]
                targets, sources = written(inst)
                if any(x in self for x in targets):
                    given += [x for x in sources if x in self]
                if given and not has_rule(inst) and (inst.result is None or inst.result in self or any(
                        x in self for x in targets)):
                    raise self._refusal(inst)
                if (inst.op.traits & SAME_MEMORY and inst.args and type(inst.args[0].type) is k.Array
                    and _part(inst.result.type.dtype) is not _part(inst.args[0].type.dtype) and inst.args[0] in self):
                    raise refused(self.fn, inst, "the bits of an array that varies are read or written as elements of "
                                  "another type: there is no derivative of that",
                                  "write x[np.argsort(x)] for np.sort(x), .astype to convert elements, or "
                                  "stop_gradient(x)")
                if inst.op is py.PY_CALL and any(type(x.type) is k.Array and x in self for x in targets):
                    raise refused(self.fn, inst, "the interpreter runs this call, which may write into an array that "
                                  "varies: there is no derivative of that", "pass stop_gradient(x), a copy")
                if inst.op is py.PY_UNBOX and inst.result in self and isinstance(inst.result.type, k.Container):
                    name = inst.result.type.class_name
                    raise refused(self.fn, inst, f"what varies is put into this {name}: there is no derivative of that",
                                  _INSTEAD)
                if inst.op is py.PY_UNBOX and inst.result in self and not self._is_kept(inst):
                    raise refused(self.fn, inst, "a captured array gets values that vary, or a value comes back from a "
                                  "Python object: there is no derivative of that",
                                  "pass the array as an argument, and compute in compiled code")

    def _is_kept(self, inst) -> bool:
        """Whether a captured array is never written into. It may have been classified as varying because arrays that
        vary are in its class; then its tangents are zeros in an array of the same layout."""
        made = inst.args[0].inst
        if made is None or made.op is not c.CONST or type(inst.result.type) is not k.Array or (
                inst.result.type.layout == "A"):
            return False
        same = {inst.result}  # values that may be the array or a view of it
        before = 0
        while len(same) > before:
            before = len(same)
            for block in self.order:
                for one in block.insts:
                    if (one.op.traits & SAME_MEMORY or one.op is s.TUPLE_AT) and any(x in same for x in one.args):
                        same.add(one.result)
                    if one.op is s.TUPLE_MAKE and inst.result in one.args:
                        return False
                    for e in one.edges():
                        same.update(p for p, x in zip(e.block.params, e.args) if x in same)
        return not any(x in same for block in self.order for one in block.insts for x in written(one)[0])

    def _refusal(self, inst):
        op = inst.op
        if op in (s.STRUCT_MAKE, s.STRUCT_GET):  # a tree that is no tuple, since a dict takes its place elsewhere
            dicts = [one for block in self.order for one in block.insts if one.result is not None
                     and isinstance(one.result.type, k.Dict) and one.op is not s.UNDEF]
            for one in sorted(dicts, key=lambda one: not one.op.traits & NEW_OBJECT)[:1]:  # where one is made
                return refused(self.fn, one, "this dict is an object of Python, since the keys of it, or of one that "
                               "takes its place, are not written out: there is no derivative of that",
                               "write the keys out, as in {'a': p['a'] * x, 'b': p['b'] * x}, or use pyjitc.tree.map "
                               "for all values")
        if _is_complex(inst):
            what = f"{inst.attrs['callee'].qualname}()" if op is c.INVOKE else f"the operation {op.name}"
            return refused(self.fn, inst, f"there is no derivative of {what} of complex numbers yet",
                           "compute with the real and the imaginary part, as numbers or arrays of their own")
        if op is c.INVOKE:
            callee = inst.attrs["callee"]
            if "schedule" in callee.memo:
                return refused(self.fn, inst, "there is no derivative of a gradient with memory= yet",
                               "differentiate it without memory=")
            if callee.library:
                return refused(self.fn, inst, f"there is no derivative of {callee.qualname}() yet",
                               "write it out, or stop_gradient(x) around what shall count as constant")
            if callee.result is not None and k.any_part(callee.result, lambda t: type(t) is k.Dual):
                return refused(self.fn, inst, f"{callee.qualname}() calls itself and returns a float of Python on some "
                               "paths and one of NumPy on others: such calls have no derivative yet",
                               "return floats of one type, such as np.float64(0.0) beside x[i] * 2.0")
            return refused(self.fn, inst, f"{callee.qualname}() calls itself and writes into its arguments, or has a "
                           "list or an object among them: such calls have no derivative yet",
                           "return the new values as numbers, arrays or tuples, or write the recursion as a loop")
        if op is C_CALL or op is LLVM_CALL:
            return refused(self.fn, inst, "numbers or the address of an array that vary go to code outside of pyjitc: "
                           "there is no derivative of that", "put the call into a function with a rule of its own: "
                           "pyjitc.custom_jvp or custom_vjp")
        if op in (RANDOM_CALL, REJECTING):
            return refused(self.fn, inst, "numbers of this distribution are drawn by a loop that rejects some, or are "
                           "whole: their derivative by its parameters is not that of the loop",
                           "draw with parameters that are constant, and compute from the numbers; or stop_gradient(x)")
        if op is BLAS:
            return refused(self.fn, inst, f"there is no derivative of what LAPACK's {inst.attrs['name']} computes here",
                           "solve, inv, det, slogdet, cholesky, qr, svd, svdvals, eigh, eigvalsh, eig and eigvals have "
                           "one")
        if op is a.CAST:
            return refused(self.fn, inst, "a float is made of an integer that comes from LAPACK, or from the bits of a "
                           "number that varies: there is no derivative of that",
                           "compute it with floats")
        if op in (mem.CELL_NEW, mem.CELL_LOAD, mem.CELL_STORE):
            return refused(self.fn, inst, "a value that varies is in a variable of an inner function that stays "
                           "a call, of which there is no derivative", "pass it as an argument, and return it")
        if op in (s.UNION_MAKE, s.UNION_GET, s.UNION_CAST):
            return refused(self.fn, inst, "a variable that varies has several types here, of which there is no "
                           "derivative", "give it the same type on every path: 0.0 for 0 and for None")
        result = [] if inst.result is None else [inst.result]
        values = [*result, *inst.args] if op.traits & NEW_OBJECT else [*inst.args, *result]
        holder = next((text for v in values for kind, text in _CONTAINERS if isinstance(v.type, kind)), None)
        if holder is not None:
            instead = f"{_INSTEAD}; a function returns a new dict, {{**p, 'a': x}}, rather than change one of another"
            return refused(self.fn, inst, f"what varies is put into {holder} here, or taken out of it: there is no "
                           "derivative of that", instead if holder == "a dict" else _INSTEAD)
        return refused(self.fn, inst, f"there is no derivative of the operation {op.name} yet",
                       "write it with operations that have one, or stop_gradient(x) around what shall count as "
                       "constant")


def _reached(start: Iterable[Value], then: dict[Value, set[Value]]) -> set[Value]:
    """The start values, and all values that a relation reaches from them."""
    found = set(start)
    work = list(found)
    for x in work:  # appended to during the iteration
        new = then.get(x, found) - found
        found |= new
        work += new
    return found


def _may_keep(call: Inst) -> list[Value]:
    """The containers and objects among the operands of a call of the interpreter, which may put the other operands into
    them, as `deque.append` does; of a function of the program also the arrays."""
    called = call.args[0].inst
    value = called.attrs["value"] if called is not None and called.op is c.CONST else None
    if value is print:
        return []
    kinds = (*_HOLDERS, k.Array) if type(value) is FunctionType and (
        str(value.__module__).partition(".")[0] not in FIXED_MODULES) else _HOLDERS
    boxes = [x.inst for x in call.args[1:]]
    return [box.args[0] for box in boxes if box is not None and box.op is py.PY_BOX
            and k.any_part(box.args[0].type, lambda part: isinstance(part, kinds))]


def written(inst: Inst) -> tuple[list[Value], list[Value]]:
    """(the arrays and containers that an instruction writes into, the operands from which the new content comes)"""
    op = inst.op
    if op is py.PY_CALL:
        return _may_keep(inst), inst.args[1:]
    if op is mem.ARRAY_STORE or op is mem.ROW_COPY:
        return inst.args[:1], inst.args[-1:] if op is mem.ARRAY_STORE else inst.args[1:2]
    if op is c.INVOKE:
        if _only_looks(inst):
            return [], []
        rules = rules_of(inst)
        return ([x for x in inst.args if not k.is_scalar(x.type)] if rules is None
                else [inst.args[n] for n in rules.writes]), inst.args
    if op is NEST_INTO:
        return inst.args[1:2], inst.args[inst.attrs["count"]:]
    if op is NEST:
        return [], []
    if is_filled(inst):
        return arrays_behind(inst), []
    if op.effects & WRITES & ~writes(COUNTS, ERRORS) and op not in _OBJECTS and not isinstance(op.partials, Zero):
        # of the arrays whose addresses these operations get, they write only into arrays of ints
        if op is RANDOM_CALL or op is RANDOM_DRAW:
            return [], []
        return [*inst.args, *arrays_behind(inst)], inst.args
    return [], []


def is_filled(inst: Inst) -> bool:
    """Whether an instruction overwrites all elements of an array with random numbers."""
    return inst.op is RANDOM_CALL and "fills" in inst.attrs


def arrays_behind(inst: Inst) -> list[Value]:
    """The arrays whose elements the operands of an instruction lead to: arrays, and those from whose addresses other
    operands are computed."""
    found: dict[Value, None] = {}
    seen = set()
    work = list(inst.args)
    for x in work:  # appended to during the iteration
        if type(x.type) is k.Array:
            found[x] = None
        elif x not in seen and x.inst is not None and x.inst.op in _FROM_ADDRESSES:
            seen.add(x)
            work += x.inst.args
    return list(found)
