"""Typed IR from the results of the analysis: reachable blocks only, one leaf operation or call at a time.

A constant value is not passed between blocks: it is made where it is used. A union operand becomes a chain of tag tests
with one arm per member. Conversions that a join needs are on the edges.
"""
from __future__ import annotations

from typing import Any

from ..base.errors import Diagnostic, PyjitcError, TypingError, defect
from ..base.lazy import lazy
from ..ir import core as ir
from ..ops import arith, control, exceptions, memory, nest, pyobject, structure
from ..ops.derivative import Request, requested
from ..types.kinds import (
    Bool, Composite, Content, Dual, Exception_, Float, Int, NoneType, Object, Type, Unbound, Undefined, Union, closed,
    member_for, members_of,
)
from .constants import constant, is_plain
from .expressions import (
    Captured, CellGet, CellSet, MakeCell, OwnFunction, Raise, Split, UserCall, may_raise, meaning_av,
)
from .join import constant_as
from .meaning import (
    UNKNOWN, Apply, Call, Const, Derived, Expr, FieldGet, FieldSet, Local, Mismatch, Nest, Operand, Throw,
)

__all__ = ["close", "emit"]

objects = lazy("pyjitc.ops.objects")  # only programs with objects of classes load it


def emit(session, entry) -> list[ir.Function]:
    """Typed functions for `entry` (first) and everything it calls that was not emitted before (library functions are
    emitted once in a process)."""
    functions: list[ir.Function] = []
    queue = [entry]

    def shell(spec) -> ir.Function:
        if spec.typed is None:
            proto = spec.proto
            name = proto.qualname.replace("<locals>.", "").replace("<", "").replace(">", "")
            code = proto.code
            spec.typed = ir.Function(name, code.co_name, code.co_filename, code.co_firstlineno, proto.library)
            spec.typed.flags = session.library.flags.get(code, spec.typed.flags)
            if session.options.parallel or code in session.parallel:
                spec.typed.flags = spec.typed.flags._replace(parallel=True)
            if code in session.inlined:
                spec.typed.flags = spec.typed.flags._replace(asks_inline=True)
            if proto.library:
                spec.typed.memo["spec"] = spec
                session.library.declare(spec.typed, code, spec.args)
            if spec.rules is not None:
                spec.typed.memo["rules"] = spec.rules.with_functions(shell)
            queue.append(spec)
        return spec.typed

    shell(entry)
    queue.pop()
    requests: dict = {}  # request for a derivative -> the function whose body passes/derivatives makes
    while queue:
        spec = queue.pop()
        functions.append(spec.typed)
        emission = _Emission(session, spec, shell, requests)
        try:
            emission.run()
        except (PyjitcError, Mismatch, MemoryError, RecursionError, Warning):
            raise
        except Exception as error:  # a handler of the program could take it for an exception of its own
            message, hint = defect(error)
            raise TypingError(Diagnostic(message, spec.proto.code.co_filename, *emission.loc,
                                         function=spec.proto.qualname, hint=hint)) from error
        if spec.typed.flags.unpolled:
            for block in spec.typed.blocks:
                if block.terminator.targets:
                    block.terminator.attrs = {**block.terminator.attrs, "unpolled": True}
        spec.analysis = None
    functions += requests.values()
    return functions


def close(functions, session) -> None:
    """Replace the type variables of containers by their final types, now that inference is done: in the functions, and
    in their cells."""
    for made in session.sites.values():
        if type(made) is Content and made.content is not None:
            made.become(closed(made.content))
    for fn in functions:
        if fn.result is not None:
            fn.result = closed(fn.result)
        for block in fn.blocks:
            for value in block.params:
                if value.type.varying:
                    value.type = closed(value.type)
            for inst in block.insts:
                if inst.result is not None and inst.result.type.varying:
                    inst.result.type = closed(inst.result.type)
                for name, x in inst.attrs.items():
                    if isinstance(x, Type) and x.varying:
                        inst.attrs[name] = closed(x)
                if inst.op is pyobject.HAND_OUT and session.attributes:  # its steps are compiled later, separately
                    inst.attrs["token"] = session.described(closed(inst.args[0].type))
    for fn in functions:
        for block in fn.blocks:
            for inst in block.insts:
                if inst.op in structure.OF_UNIONS:
                    _of_one_member(inst)


def _of_one_member(inst: ir.Inst) -> None:
    """Rewrite an operation on a union whose members differed in type variables alone, and are one type now."""
    if inst.op is structure.UNION_IS:
        if not isinstance(inst.args[0].type, Union):
            inst.op, inst.args, inst.attrs = control.CONST, [], {"value": True}
    elif inst.args[0].type is inst.attrs["type"] and not isinstance(inst.args[0].type, Union):
        inst.op = structure.RETYPE


class _Emission:
    def __init__(self, session, spec, shell, requests):
        self.session = session
        self.spec = spec
        self.shell = shell
        self.requests = requests
        self.analysis = spec.analysis
        self.fn: ir.Function = spec.typed
        self.values: dict[ir.Value, ir.Value] = {}
        self.blocks: dict[ir.Block, ir.Block] = {}
        self.block: Any = None  # the Block to which instructions are added; None where control does not arrive
        self.loc = ir.NOWHERE
        self.override: dict[int, tuple[ir.Value, Type]] = {}
        self.unwind: tuple | None = None
        self.hoisted: dict[int, ir.Value] = {}
        self.extra: list[ir.Block] = []

    def run(self):
        analysis, fn = self.analysis, self.fn
        reached = [b for b in analysis.fn.blocks if b in analysis.incoming]
        fn.result = self.spec.result[0] if self.spec.result else NoneType
        prologue = ir.Block("entry")
        self.prologue = prologue
        self.closure = None
        if self.spec.closure is not None:
            self.closure = ir.Value(self.spec.closure[0], "closure")
            prologue.params.append(self.closure)
        entry = reached[0]
        for block in reached:
            new = self.blocks[block] = ir.Block(block.name or "b")
            if block is entry:
                for param, av in zip(block.params, self.spec.args):
                    if av[1] is UNKNOWN:
                        value = ir.Value(av[0], param.name)
                        prologue.params.append(value)
                        self.values[param] = value
                continue
            for param in block.params:
                av = analysis.av.get(param)
                if av is not None and av[1] is UNKNOWN:
                    value = self.values[param] = ir.Value(av[0], param.name)
                    new.params.append(value)
        for block in reached:
            self.gblock = block
            self.block = self.blocks[block]
            self.extra.append(self.block)
            for inst in block.insts:
                self.loc = inst.loc
                self.emit(inst)
                if self.block is None:
                    break
        self.block = prologue
        self.add(control.JUMP, (), targets=[ir.Edge(self.blocks[entry])])
        fn.blocks = [prologue, *self.extra]

    # -- building

    def add(self, op, args, attrs=None, type=None, name="", targets=()):
        result = ir.Value(type, name) if type is not None else None
        inst = ir.Inst(op, args, attrs, result, self.loc, targets)
        if op.effects & ir.RAISES and self.unwind is not None:
            inst.unwind = ir.Edge(self.unwind[0], self.unwind[1])
        self.block.insts.append(inst)
        return result

    def terminate(self, op, args=(), attrs=None, targets=()):
        self.add(op, args, attrs, None, "", targets)
        self.block = None

    def start(self, name, params=()):
        block = ir.Block(name, params)
        self.extra.append(block)
        self.block = block
        return block

    def constant(self, t, value):
        return self.add(control.CONST, (), {"value": value}, t)

    # -- values

    def use(self, gvalue):
        """(typed value, its type) of a generic value in this block."""
        av = self.analysis.lookup(gvalue, self.gblock)
        if av is None:
            return self.add(structure.UNDEF, (), {"type": NoneType}, NoneType), NoneType
        if av[1] is not UNKNOWN:
            return self.constant(*av), av[0]
        value = self.values[gvalue]
        if value.type is not av[0]:
            value = self.convert(value, av[0])
        return value, av[0]

    def convert(self, value, target, known=UNKNOWN):
        """`value` converted to type `target`, the type of a join. known: the value itself, where it is a constant."""
        source = value.type
        if source is target:
            return value
        if source is Undefined:
            return self.add(structure.UNDEF, (), {"type": target}, target)
        if target is Object:
            return (self.constant(Object, known) if known is not UNKNOWN and is_plain(source)
                    else self.add(pyobject.PY_BOX, (value,), None, Object))
        convert = _FROM.get(type(source)) or _TO.get(type(target)) or _Emission.to_same_kind
        return convert(self, value, target, known)

    def to_same_kind(self, value, target, known):
        """A value converted to another type of its kind, part by part where both types have parts."""
        if known is not UNKNOWN:
            fitted = constant_as(known, target)
            if fitted is not UNKNOWN:
                return self.constant(target, fitted)
        source = value.type
        if isinstance(target, Composite) and target.joins and target.is_like(source):
            parts = [self.convert(self.add(op, (value,), attrs, s), t)
                     for (op, attrs, s), t in zip(structure.takers(source), target.parts)]
            op, attrs = structure.maker(target)
            return self.add(op, parts, attrs, target)
        return self.add(structure.RETYPE, (value,), {"type": target}, target)

    def from_union(self, value, target, known):
        """A union converted to one of its members, to the join of some of them, or to a union with more members."""
        if isinstance(target, Union):
            if not _boxes(value.type, target):
                return self.add(structure.UNION_CAST, (value,), {"type": target}, target)
        found = [member for member in value.type.members if _includes(target, member)]
        # a list is no join of lists of other types, so that it can only be the member itself
        itself = target in found and (len(found) == 1 or target.holder)
        if not isinstance(target, Union) and (itself or not found):
            return self.add(structure.UNION_GET, (value,), {"type": target}, target)
        if len(found) == 1:
            return self.convert(self.add(structure.UNION_GET, (value,), {"type": found[0]}, found[0]), target)
        return self.by_member(value, target, found)

    def to_union(self, value, target, known):
        """A value of one type converted to a union."""
        member = member_for(target, value.type)
        if member is None and Object in target.members:
            member = Object
        return self.add(structure.UNION_MAKE, (self.convert(value, member),), {"type": target}, target)

    def by_member(self, value, target, members):
        """A union, which holds one of `members`, converted to the type of a join of these, in a branch for each."""
        merge = ir.Block("joined")
        result = ir.Value(target)
        merge.params.append(result)
        for k, member in enumerate(members):
            rest = None
            if k + 1 < len(members):
                arm, rest = ir.Block("member"), ir.Block("other")
                self.terminate(control.BRANCH, [self.add(structure.UNION_IS, (value,), {"type": member}, Bool)],
                               targets=[ir.Edge(arm), ir.Edge(rest)])
                self.extra.append(arm)
                self.block = arm
            part = self.add(structure.UNION_GET, (value,), {"type": member}, member)
            self.terminate(control.JUMP, targets=[ir.Edge(merge, [self.convert(part, target)])])
            if rest is not None:
                self.extra.append(rest)
                self.block = rest
        self.extra.append(merge)
        self.block = merge
        return result

    def from_dual(self, value, target, known=UNKNOWN):
        """A dual converted to one of its two types (which the number is known to have, or which has the same meaning
        here), to the union of both, or to a dual with other bounds."""
        t = value.type
        wide = self.add(structure.DUAL_WIDE, (value,), None, t.wide)
        if isinstance(target, Dual):  # a dual with other bounds
            flag = self.add(structure.DUAL_IS_NARROW, (value,), None, Bool)
            return self.add(structure.DUAL_MAKE, (wide, flag), {"type": target}, target)
        if target is t.wide:
            return wide
        narrow = self.add(arith.CAST, (wide,), {"type": t.narrow}, t.narrow)
        if target is t.narrow:
            return narrow
        flag = self.add(structure.DUAL_IS_NARROW, (value,), None, Bool)
        return self.add(structure.SELECT, (flag, self.convert(narrow, target), self.convert(wide, target)), None,
                        target)

    def to_dual(self, value, target, known):
        """A number of one of the types of a dual converted to that dual."""
        is_narrow = value.type is target.narrow
        if is_narrow and known is not UNKNOWN:
            wide = self.constant(target.wide, constant_as(known, target.wide))
        elif is_narrow:
            wide = self.add(arith.CAST, (value,), {"type": target.wide}, target.wide)
        elif value.type is target.wide:
            wide = value
        else:
            raise AssertionError(f"a value of type {value.type} as {target}")
        return self.add(structure.DUAL_MAKE, (wide, self.constant(Bool, is_narrow)), {"type": target}, target)

    # -- instructions

    def emit(self, inst):
        op = inst.op
        self.override = {}
        self.memo: dict[Expr, ir.Value] = {}  # sub-expressions that an expression contains more than once
        self.unwind = None
        self.args = inst.args
        if inst.unwind is not None and inst.unwind.block in self.blocks and (
                inst in self.analysis.raising or op is control.RAISE or op is control.RERAISE):
            self.unwind = (self.blocks[inst.unwind.block], self.edge_args(inst.unwind))
        if op is control.JUMP:
            edge = inst.targets[0]
            self.terminate(control.JUMP, targets=[ir.Edge(self.blocks[edge.block], self.edge_args(edge))])
        elif op is control.BRANCH:
            self.branch(inst)
        elif op is control.RETURN:
            left = self.analysis.meaning.get(inst)
            if left is not None:  # returned as a Python object: see leaving.py
                value = self.meaning(left, meaning_av(left) if type(left) is Split else None)
                if self.block is not None:
                    self.terminate(control.RETURN, [self.convert(value, self.fn.result)])
                return
            value, _ = self.use(inst.args[0])
            av = self.analysis.lookup(inst.args[0], self.gblock)
            self.terminate(control.RETURN, [self.convert(value, self.fn.result, av[1])])
        elif op is control.UNREACHABLE:
            self.terminate(control.UNREACHABLE)
        else:
            meaning = self.analysis.meaning.get(inst)
            av = self.analysis.av.get(inst.result) if inst.result is not None else None
            if meaning is None:  # an operand never has a value: control does not arrive
                self.terminate(control.UNREACHABLE)
                return
            value = self.meaning(meaning, av)
            if self.block is None:
                return
            if inst.result is None:
                return
            if av is None:
                self.terminate(control.UNREACHABLE)
            elif av[1] is UNKNOWN:
                if value.type is not av[0]:
                    value = self.convert(value, av[0])
                if not value.name:
                    value.name = inst.result.name
                self.values[inst.result] = value

    def edge_args(self, edge):
        """The converted arguments for the parameters that the target has in typed IR."""
        args = []
        for arg, param in zip(edge.args, edge.block.params):
            target = self.values.get(param)
            if target is None:
                continue
            av = self.analysis.lookup(arg, self.gblock)
            if av is None:
                args.append(self.add(structure.UNDEF, (), {"type": target.type}, target.type))
                continue
            if av[1] is not UNKNOWN and av[0] is not target.type:
                fitted = constant_as(av[1], target.type)
                if fitted is not UNKNOWN and not isinstance(target.type, Union):
                    args.append(self.constant(target.type, fitted))
                    continue
            args.append(self.convert(self.use(arg)[0], target.type, av[1]))
        return args

    def branch(self, inst):
        av = self.analysis.lookup(inst.args[0], self.gblock)
        if av[1] is not UNKNOWN:
            edge = inst.targets[0 if av[1] else 1]
            self.terminate(control.JUMP, targets=[ir.Edge(self.blocks[edge.block], self.edge_args(edge))])
            return
        condition, _ = self.use(inst.args[0])
        here, edges, blocks = self.block, [], []
        for edge in inst.targets:
            target = self.blocks.get(edge.block)
            if target is None:  # no member of the tested union takes this edge
                dead = ir.Block("never")
                dead.insts.append(ir.Inst(control.UNREACHABLE, loc=self.loc))
                blocks.append(dead)
                edges.append(ir.Edge(dead))
            elif not target.params:
                edges.append(ir.Edge(target))
            else:
                step = self.block = ir.Block("edge")
                args = self.edge_args(edge)
                if step.insts:
                    self.add(control.JUMP, (), targets=[ir.Edge(target, args)])
                    blocks.append(step)
                    edges.append(ir.Edge(step))
                else:
                    edges.append(ir.Edge(target, args))
        self.block = here
        self.terminate(control.BRANCH, [condition], targets=edges)
        self.extra.extend(blocks)

    def meaning(self, meaning, av):
        if type(meaning) is Split:
            return self.split(meaning, av)
        return self.expr(meaning)

    def split(self, split, av):
        operand = self.operand(split.index, None)
        merge = ir.Block("join")
        result = None
        if av is not None and av[1] is UNKNOWN:
            result = ir.Value(av[0])
            merge.params.append(result)
        saved, memo = dict(self.override), self.memo
        arrives = False
        for k, (member, meaning, arm_av) in enumerate(split.cases):
            rest = None
            if k + 1 < len(split.cases):
                test = self.is_member(operand, member)
                arm, rest = ir.Block("case"), ir.Block("else")
                self.terminate(control.BRANCH, [test], targets=[ir.Edge(arm), ir.Edge(rest)])
                self.extra.append(arm)
                self.block = arm
            self.override, self.memo = dict(saved), dict(memo)
            self.override[split.index] = (operand, member)
            value = self.meaning(meaning, meaning_av(meaning) if type(meaning) is Split else arm_av)
            if self.block is not None:
                if arm_av is None:
                    self.terminate(control.UNREACHABLE)
                else:
                    arrives = True
                    if value is None and result is not None:  # an operation whose result is None has no result value
                        value = self.constant(*arm_av)
                    args = [] if result is None else [self.convert(value, result.type, arm_av[1])]
                    self.terminate(control.JUMP, targets=[ir.Edge(merge, args)])
            if rest is not None:
                self.extra.append(rest)
                self.block = rest
        self.override, self.memo = saved, memo
        if not arrives:
            self.block = None
            return None
        self.extra.append(merge)
        self.block = merge
        if av is not None and av[1] is not UNKNOWN:
            return self.constant(*av)
        return result

    def is_member(self, value, member):
        """Whether a value of a union or a dual has the type `member`."""
        if not isinstance(value.type, Dual):
            return self.add(structure.UNION_IS, (value,), {"type": member}, Bool)
        flag = self.add(structure.DUAL_IS_NARROW, (value,), None, Bool)
        return flag if member is value.type.narrow else self.add(arith.BNOT, (flag,), None, Bool)

    def operand(self, index, t):
        """Operand `index` of the current instruction, as type `t` (None: in its own type)."""
        found = self.override.get(index)
        if found is None:
            value, _ = self.use(self.args[index])
        else:
            value, member = found
            if member is not None and isinstance(value.type, Union):
                if t is None:
                    return value
                value = self.add(structure.UNION_GET, (value,), {"type": member}, member)
            elif member is not None and isinstance(value.type, Dual):
                value = value if t is None else self.from_dual(value, member)
        if isinstance(value.type, Union) and t in value.type.members:
            # the same value is another operand, too, whose split has found that it holds this member
            return self.add(structure.UNION_GET, (value,), {"type": t}, t)
        return value if t is None else self.convert(value, t)

    def expr(self, e: Any):
        """The value of an expression; None where it has none, or control does not arrive."""
        kind = type(e)
        if e.value is UNKNOWN or kind is not Operand and kind is not Const and (kind is not Apply or e.op.effects):
            return _EXPRESSIONS[kind](self, e)
        if kind is Apply:
            for x in e.operands:  # the values of calls are known, but their effects have yet to happen
                if may_raise(x):
                    self.expr(x)
                    if self.block is None:
                        return None
        return self.constant(e.type, e.value)

    def apply(self, e):
        if e.op is pyobject.PY_UNBOX and type(e.operands[0]) is Const:
            return self.hoist(e)
        found = self.memo.get(e)
        if found is not None:
            return found
        args = []
        for x in e.operands:
            args.append(self.expr(x))
            if self.block is None:
                return None
        found = self.add(e.op, args, e.attrs, e.type)
        if found is not None:
            self.memo[e] = found
        return found

    def resolved(self, e):
        found = self.memo.get(e)
        if found is None:
            found = self.memo[e] = self.expr(e.resolved)
        return found

    def raise_(self, e):
        args = [self.expr(x) for x in e.operands]
        self.terminate(control.RERAISE if e.again else exceptions.EXC_THROW, args)

    def captured(self, e):
        t = self.spec.closure[0].captures[e.role]
        part = self.add(structure.CAPTURE_GET, (self.closure,), {"index": e.role}, t)
        return self.add(structure.TUPLE_GET, (part,), {"index": e.index}, e.type)

    def make_cell(self, e):
        content = e.type.content
        value = self.expr(e.content)
        return self.add(memory.CELL_NEW, (self.convert(value, content, e.content.value),), {"type": e.type}, e.type)

    def cell_set(self, e):
        content = e.cell.type.content
        value = self.convert(self.expr(e.content), content, e.content.value)
        self.add(memory.CELL_STORE, (self.expr(e.cell), value))

    def hoist(self, e):
        """Unbox a captured array once, at the entry."""
        key = id(e.operands[0].value)
        value = self.hoisted.get(key)
        if value is None:
            here, self.block, unwind, self.unwind = self.block, self.prologue, self.unwind, None
            boxed = self.constant(e.operands[0].type, e.operands[0].value)
            value = self.hoisted[key] = self.add(e.op, (boxed,), e.attrs, e.type)
            self.block, self.unwind = here, unwind
        return value

    def call(self, e):
        spec = e.spec
        args = [self.expr(e.closure)] if spec.closure is not None else []
        for x, av in zip(e.operands, spec.args):
            if av[1] is UNKNOWN:
                args.append(self.expr(x))
            elif may_raise(x):  # the value is known, but its computation may raise
                self.expr(x)
            if self.block is None:
                return None
        result = self.add(control.INVOKE, args, {"callee": self.shell(spec)}, spec.result[0] if spec.result
                          else NoneType)
        if spec.result is None:
            self.terminate(control.UNREACHABLE)
            return None
        if spec.result[1] is not UNKNOWN:
            return self.constant(*spec.result)
        return result

    def derived(self, e):
        found = self.memo.get(e)
        if found is not None:
            return found
        spec = e.called.spec
        args, places = [], {}
        if spec.closure is not None:
            args.append(self.expr(e.called.closure))
        for k, (x, av) in enumerate(zip(e.called.operands, spec.args)):
            if av[1] is UNKNOWN:
                places[k] = len(args)
                args.append(self.expr(x))
                if self.block is None:
                    return None
        for x in e.seeds:
            args.append(self.expr(x))
            if self.block is None:
                return None
        request = Request(self.shell(spec), e.mode, tuple([places[k] for k in e.wrt]), e.has_aux, e.memory)
        key = request, tuple([x.type for x in args]), e.type
        callee = self.requests.get(key)
        if callee is None:
            callee = self.requests[key] = requested(request, [x.type for x in args], e.type)
        found = self.memo[e] = self.add(control.INVOKE, args, {"callee": callee}, e.type)
        return found

    def nest(self, e):
        found = self.memo.get(e)
        if found is not None:
            return found
        if e.calls is None:
            self.terminate(control.UNREACHABLE)
            return None
        template, kernel, other, two = e.calls
        args = []
        for x, av in zip([*e.arguments, template.operands[-1]], template.spec.args):
            if av[1] is UNKNOWN:
                args.append(self.expr(x))
                if self.block is None:
                    return None
        count = len(args)
        leaves: list = []
        for x, av in zip([*e.fixed, *e.operands], kernel.spec.args):
            if av[1] is UNKNOWN:
                leaves.append(nest.Leaf(len(leaves)))
                args.append(self.expr(x))
                if self.block is None:
                    return None
        attrs = {"template": self.shell(template.spec), "tree": nest.Node(self.shell(kernel.spec), leaves),
                 "count": count, "shape": e.shape, "ndim": e.ndim}
        if other is not None:
            attrs["instead"] = self.shell(other.spec)
        for av in template.spec.args:
            if type(av[1]) is str:
                attrs["how"] = av[1]
            elif type(av[1]) is tuple and av[0].elements and all([t is Bool for t in av[0].elements]):
                attrs["reduced"] = av[1]
        if e.kept is not None:
            attrs["kept"] = e.kept
        if two is not None:
            attrs["beside"] = self.shell(two.spec)
        result = self.memo[e] = self.add(nest.NEST_INTO if e.into else nest.NEST, args, attrs, e.type)
        return result

    def throw(self, e):
        named = e.exception in (NameError, AttributeError) and e.name is not None and not self.session.options.nogil
        if e.given is None and not named:
            cls = e.exception
            if cls is TypeError and self.session.options.numba and self.unwind is None:
                cls = TypingError  # programs for Numba catch this class where an operation does not accept the types
            self.terminate(exceptions.THROW, (), {"cls": cls, "message": e.message})
            return
        args = [self.expr(constant(x)) for x in ((e.message,) if e.given is None else e.given)]
        attrs = {"cls": e.exception}
        if named:
            given = {"name": constant(e.name), "obj": e.obj} if e.obj is not None else {"name": constant(e.name)}
            args += map(self.expr, given.values())
            attrs["names"] = tuple(given)
        made = self.add(exceptions.EXC_NEW, args, attrs, Exception_(e.exception))
        self.terminate(exceptions.EXC_THROW, [made])

    def field(self, e):
        found = self.memo.get(e)
        if found is not None:
            return found
        x = self.expr(e.x)
        if self.block is None:
            return None
        if type(e) is FieldSet:
            value = self.expr(e.content)
            if self.block is None:
                return None
            self.add(objects.FIELD_SET, (x, self.convert(value, e.stored)), {"name": e.name})
            found = self.constant(NoneType, None)
        else:
            t = Undefined if e.type is None else e.type
            attrs = {"name": e.name, "type": t}
            if e.otherwise is not UNKNOWN and t is {int: Int, float: Float, bool: Bool}.get(type(e.otherwise)):
                attrs["otherwise"] = e.otherwise
            found = self.add(objects.FIELD_GET, (x,), attrs, t)
        self.memo[e] = found
        return found

    def cell_get(self, e):
        cell = self.expr(e.cell)
        content = e.cell.type.content
        value = self.add(memory.CELL_LOAD, (cell,), None, content)
        if isinstance(content, Union) and Unbound in content.members:
            test = self.add(structure.UNION_IS, (value,), {"type": Unbound}, Bool)
            bad, good = ir.Block("unbound"), ir.Block("bound")
            self.terminate(control.BRANCH, [test], targets=[ir.Edge(bad), ir.Edge(good)])
            self.extra += [bad, good]
            self.block = bad
            exception, message = self.session.unbound_error(e.name, e.free)
            self.throw(Throw(exception, message, name=e.name))
            self.block = good
            if e.type in content.members:
                return self.add(structure.UNION_GET, (value,), {"type": e.type}, e.type)
            value = self.convert(value, e.type)
        return value


E = _Emission
_FROM = {Dual: E.from_dual, Union: E.from_union}  # the type of the converted value -> its conversion
_TO = {Dual: E.to_dual, Union: E.to_union}  # the type of the result -> the conversion from any other type
# class of an expression -> its emission
_EXPRESSIONS = {
    Operand: lambda emission, e: emission.operand(e.index, e.type), Local: lambda emission, e: emission.use(e.local)[0],
    OwnFunction: lambda emission, e: emission.closure, Apply: E.apply, Call: E.resolved, UserCall: E.call, Nest: E.nest,
    Derived: E.derived, Throw: E.throw, Raise: E.raise_, Captured: E.captured, MakeCell: E.make_cell,
    CellSet: E.cell_set, CellGet: E.cell_get, FieldGet: E.field, FieldSet: E.field,
}
del E


def _includes(target: Type, t: Type) -> bool:
    """Whether a value of type t may be one of type `target`, a join."""
    return Object in members_of(target) or any([member.covers(t) for member in members_of(target)])


def _boxes(source: Type, target: Type) -> bool:
    """Whether a value of a union, converted to the type of a join, becomes a Python object, or a part of it does."""
    if source is target or source is Object:
        return False
    if target is Object:
        return True
    if isinstance(source, Union):
        return any([_boxes(member, target) for member in source.members])
    if isinstance(target, Union):
        member = member_for(target, source) or (Object if Object in target.members else None)
        return member is not None and _boxes(source, member)
    return isinstance(source, Composite) and isinstance(target, Composite) and target.is_like(source) and any(
        map(_boxes, source.parts, target.parts))
