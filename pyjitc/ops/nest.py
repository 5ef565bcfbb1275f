"""Loop nests over array elements as single operations, so that they can be fused.

A `nest` runs a *template*, a library function over an index space, with a *tree* of element functions (kernels) in its
holes: the hole `element` is the value of the tree at an index, the other holes return properties of its array operands.
passes/fusion.py merges nests, passes/nests.py expands them into loops.
"""
from __future__ import annotations

from ..ir.core import ALLOCATES, ELEMENTS, NEW_MEMORY, PURE, RAISES, READS, Function, Inst, Op, reads, writes
from ..ir.flags import Template
from ..ir.tree import Leaf, Node
from ..types.kinds import Array, Bool, Int
from .effects import NONDIFF, STRUCTURAL

__all__ = ["NEST", "NEST_INTO", "NESTS", "ELEMENT", "ELEMENT_UNIT", "STRETCHED", "ELEMENT_STRETCHED", "UNIT", "FLAT",
           "IS_ARRAY", "REPEATED", "ROW", "OVERLAPS", "SAVE", "PUT", "PUT_UNIT", "BROADCAST", "Node", "Leaf",
           "functions_of", "kernels", "template_of", "fails", "NEST_OPS", "shape_text", "aligned"]


def kernels(tree) -> list:
    """The kernels of a tree, one for each of its nodes."""
    work, seen, found = [tree], set(), []
    while work:
        node = work.pop()
        if type(node) is Node and node not in seen:
            seen.add(node)
            found.append(node.kernel)
            work.extend(node.parts)
    return found


def functions_of(nest: Inst) -> list[Function]:
    """The template and the kernels of a nest, and the library functions by whose call it may be replaced."""
    return [nest.attrs["template"], *kernels(nest.attrs["tree"]),
            *(nest.attrs[key] for key in ("instead", "beside") if key in nest.attrs)]


def template_of(nest: Inst) -> Template:
    """The kind of computation of a nest: the flag of its template function (`template` in ir/flags.py)."""
    return nest.attrs["template"].flags.template


def fails(tree) -> bool:
    """Whether computing an element may raise."""
    return any(inst.op.effects & RAISES for kernel in kernels(tree) for block in kernel.blocks for inst in block.insts)


def shape_text(shape) -> str:
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _split(values, ndims):
    shapes, at = [], 0
    for n in ndims:
        shapes.append(values[at:at + n])
        at += n
    return shapes


def aligned(values, ndims, axis):
    """The lengths of `axis` (counted from the last axis, 0) in each shape that has it."""
    return [shape[-1 - axis] for shape in _split(list(values), ndims) if len(shape) > axis]


_NO_ROOM = {"output": "non-broadcastable output operand with shape {place} doesn't match the broadcast shape {whole}",
            "place": "could not broadcast input array from shape {whole} into shape {place}"}


def _into(values, axis, ndims, into, listed):
    place, *others = _split(list(values), ndims)
    lengths = aligned(values, ndims, axis)
    if any(n != 1 and n != lengths[0] for n in lengths[1:]):
        if listed is not None and any(len({*aligned(values, ndims, k)} - {1}) > 1 for k in range(max(ndims))):
            raise ValueError(_cannot_broadcast([place, *others], listed))
        whole = others[0]
        if into == "output":
            whole = [next((n for n in aligned(values, ndims, k) if n != 1), 1) for k in range(len(place) - 1, -1, -1)]
        raise ValueError(_NO_ROOM[into].format(place=shape_text(place), whole=shape_text(whole)))
    return lengths[0]


def _cannot_broadcast(shapes, listed):
    return ("operands could not be broadcast together with shapes "
            + "".join(shape_text(shapes[n] if n >= 0 else ()) + " " for n in listed))


def _broadcast(*values, axis, ndims, into=None, listed=None, turned=False):
    if into is not None:
        return _into(values, axis, ndims, into, listed)
    found = [n for n in aligned(values, ndims, axis) if n != 1] or [1]
    if any(n != found[0] for n in found):
        raise ValueError(_cannot_broadcast(_written(values, ndims, turned), range(len(ndims))))
    return found[0]


def _written(values, ndims, turned):
    """The shapes as the program has them. turned: whether these are shapes of the transposed operands."""
    shapes = _split(list(values), ndims)
    return [shape[::-1] for shape in shapes] if turned else shapes


def _broadcast_lower(e, inst, *operands):
    ndims = inst.attrs["ndims"]
    values = [x[0] for x in operands]
    lengths = aligned(values, ndims, inst.attrs["axis"])
    into = inst.attrs.get("into")
    if into is not None:
        return _into_lower(e, inst, values, ndims, lengths, into)
    result = lengths[0]
    for n in lengths[1:]:
        if n == result:
            continue
        one = e.assign(f"icmp eq i64 {result}, 1")
        merged = e.assign(f"select i1 {one}, i64 {n}, i64 {result}")
        same = e.assign(f"icmp eq i64 {n}, {merged}")
        single = e.assign(f"icmp eq i64 {n}, 1")
        fine = e.assign(f"or i1 {same}, {single}")
        text = _cannot_broadcast([["%lld"] * n for n in ndims], range(len(ndims)))
        shapes = _written(values, ndims, inst.attrs.get("turned"))
        e.raise_unless(fine, inst, "ValueError", text, *(f"i64 {x}" for shape in shapes for x in shape))
        result = merged
    return [result]


def _into_lower(e, inst, values, ndims, lengths, into):
    place, *others = _split(values, ndims)

    def fail():
        axes = range(len(place) - 1, -1, -1)
        whole = others[0] if into == "place" else [_longest(e, aligned(values, ndims, k)) for k in axes]
        shapes = {"place": shape_text(["%lld"] * len(place)), "whole": shape_text(["%lld"] * len(whole))}
        ordered = [*whole, *place] if into == "place" else [*place, *whole]
        # where the operands are compatible, only a length of 1 in the result can be incompatible with theirs
        if into == "output":
            listed, every = inst.attrs["listed"], [place, *others]
            clash, room = e.label("clash"), e.label("room")
            e.branch(_clash(e, values, ndims), clash, room)
            e.start(clash)
            given = [f"i64 {x}" for n in listed if n >= 0 for x in every[n]]
            e.error(inst, "ValueError", _cannot_broadcast([["%lld"] * n for n in ndims], listed), *given)
            e.start(room)
        e.error(inst, "ValueError", _NO_ROOM[into].format(**shapes), *(f"i64 {x}" for x in ordered))

    for n in lengths[1:]:
        if n != lengths[0]:
            same = e.assign(f"icmp eq i64 {n}, {lengths[0]}")
            single = e.assign(f"icmp eq i64 {n}, 1")
            e.fail_unless(e.assign(f"or i1 {same}, {single}"), fail)
    return [lengths[0]]


def _longest(e, lengths):
    """The first length that is not 1."""
    found, *rest = lengths
    for n in rest:
        one = e.assign(f"icmp eq i64 {found}, 1")
        found = e.assign(f"select i1 {one}, i64 {n}, i64 {found}")
    return found


def _clash(e, values, ndims):
    """i1: whether some axis has two different lengths, neither of which is 1."""
    found = "false"
    for axis in range(max(ndims)):
        lengths = aligned(values, ndims, axis)
        longest = _longest(e, lengths)
        for n in lengths:
            other = e.assign(f"icmp ne i64 {n}, {longest}")
            long = e.assign(f"icmp ne i64 {n}, 1")
            found = e.assign(f"or i1 {found}, {e.assign(f'and i1 {other}, {long}')}")
    return found


def _never(e, inst, *operands):
    raise AssertionError(f"{inst.op.name} is gone before code is generated")


def _hole(name, result, effects, doc):
    return Op(name, lambda types, attrs: attrs["type"] if result is None else result, effects, lower=_never,
              partials=NONDIFF if result is Bool else STRUCTURAL, doc=doc)


def _result(types, attrs):
    return attrs["template"].result


NEST = Op("nest", _result, RAISES | READS | ALLOCATES, lower=_never, partials=STRUCTURAL,
          doc="(arguments, operands...) -> the result of the template, a function of the library that visits an index "
              "space and has holes for element functions. {template}: the function; {count}: how many of the operands "
              "are its arguments; {tree}: the element functions that are in the holes; {ndim}: the number of axes of "
              "the space; {shape}: which argument is the tuple of its lengths, or None; {kept}: the axis of the space "
              "that the result of a reduction keeps; {how}: what a reduction computes; {reduced}: the axes of a "
              "reduction over some of them; {instead}: a function to call where nothing was fused into the nest; "
              "{beside}: a function that computes two products at once", traits=NEW_MEMORY)
NEST_INTO = Op("nest_into", _result, RAISES | READS | writes(ELEMENTS), lower=_never, partials=STRUCTURAL,
               doc="a nest whose template writes into its first argument; {template}, {count}, {tree}, {ndim}, "
                   "{shape}, {kept}, {how}, {reduced}, {instead}, {beside}: see nest")
ELEMENT = _hole("element", None, reads(ELEMENTS), "the value of the tree, of {type}, at an index")
ELEMENT_UNIT = _hole("element_unit", None, reads(ELEMENTS),
                     "the value of the tree, of {type}, at an index, in a loop for which `unit` holds: elements "
                     "follow each other along the last axis")
STRETCHED = _hole("stretched", Bool, PURE, "whether rows of one operand meet columns of others, which repeat one "
                  "element along the last axis")
ELEMENT_STRETCHED = _hole("element_stretched", None, reads(ELEMENTS),
                          "the value of the tree, of {type}, at an index, in a loop for which `stretched` holds")
UNIT = _hole("unit", Bool, PURE, "whether one loop serves all operands and the target: along the last axis their "
             "elements follow each other, repeat, or have a step for which LLVM makes a loop of its own")
FLAT = _hole("flat", Bool, PURE, "whether every array operand is contiguous and has the shape (n...)")
IS_ARRAY = _hole("is_array", Bool, PURE, "whether the tree is an array of {type} and nothing else; {unit}: whose "
                 "elements follow each other from the index on")
REPEATED = _hole("repeated", Bool, PURE, "whether the nest is in a loop that changes its arrays, where they may be "
                 "short rows, and an element takes {most} operations or fewer")
ROW = Op("row", lambda types, attrs: Array(attrs["type"], 1, "C" if attrs["unit"] else "A"), PURE, lower=_never,
         partials=STRUCTURAL,
         doc="an array of elements of {type} that begins at an index, for operations that are told how many elements "
             "to read: its own length is meaningless; {unit}: its elements follow each other")
OVERLAPS = _hole("overlaps", Bool, PURE,
                 "whether writing into the array could change elements of operands before they are read")
SAVE = Op("save", lambda types, attrs: None, writes(ELEMENTS), lower=_never, partials=STRUCTURAL,
          doc="(target): copy the operands that have fewer elements and share memory with the target, before any "
              "element is written")
PUT = Op("put", lambda types, attrs: None, writes(ELEMENTS), lower=_never, partials=STRUCTURAL,
         doc="(target, fresh, separate, index..., value): write a value into the array `fresh` if `separate`, else "
             "into `target`, at an index of the nest, where no other iteration reads or writes")
PUT_UNIT = Op("put_unit", lambda types, attrs: None, writes(ELEMENTS), lower=_never, partials=STRUCTURAL,
              doc="as put, into an array whose elements follow each other along the last axis")
BROADCAST = Op("broadcast", lambda types, attrs: Int, RAISES, eval=_broadcast, eval_attrs=True, lower=_broadcast_lower,
               partials=NONDIFF,
               doc="length of {axis}, counted from the last, of the common shape of arrays of {ndims} axes with these "
                   "lengths; {into}: the first array is the target of the others; {listed}: the shapes that the error "
                   "lists; {turned}: the error lists them with their axes in the opposite order; ValueError as NumPy")

NEST_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
NESTS = frozenset((NEST, NEST_INTO))
