"""With the option `debug`: stop where the first NaN is made.

Runs before inlining, on the functions of the program, so that the operations of the program are checked, and not those
by which the library computes them. Each operation on floats is followed by a test that fails when its result is a NaN
and no operand is; kernels of array statements are wrapped in functions that test. The exception is that of
np.errstate(invalid="raise").
Before:  y = fdiv a, b        After:  y = fdiv a, b ; nan_check y, a, b
Needs: typed IR, nests not written out.  Keeps: SSA.  A failing check leaves the function without running its handlers.
"""
from __future__ import annotations

from ..ir.core import Block, Function, Inst, Value
from ..ops import arith as a
from ..ops.control import INVOKE, RETURN
from ..ops.exceptions import NAN_CHECK
from ..ops.nest import NEST, NEST_INTO, Leaf, Node
from ..types.kinds import Float, NpFloat, Singleton, Type

__all__ = ["run"]

_NAMES = {a.FADD: "add", a.FSUB: "subtract", a.FMUL: "multiply", a.FDIV: "divide", a.FREM: "remainder"}


def run(functions: list[Function]) -> None:
    wrapped: dict[Function, Function] = {}
    for fn in functions:
        if not fn.library:
            for block in fn.blocks:
                block.insts = [new for inst in block.insts for new in _checked(inst, wrapped)]


def _is_float(t: Type | None) -> bool:
    return t is Float or type(t) is NpFloat


def _checked(inst: Inst, wrapped) -> list[Inst]:
    if inst.op is NEST or inst.op is NEST_INTO:
        inst.attrs = {**inst.attrs, "tree": _tree(inst.attrs["tree"], wrapped, {})}
        return [inst]
    if inst.op is INVOKE and not inst.attrs["callee"].library:
        return [inst]
    name = inst.attrs["callee"].name if inst.op is INVOKE else _NAMES.get(inst.op, inst.op.name)
    test = _test(inst.result, inst.args, name)
    if test is None:
        return [inst]
    test.loc = inst.loc
    return [inst, test]


def _test(result: Value | None, operands, name: str) -> Inst | None:
    floats = [v for v in operands if _is_float(v.type)]
    if result is None or not _is_float(result.type) or not floats:
        return None
    return Inst(NAN_CHECK, (result, *floats), {"what": name})


def _tree(node, wrapped, memo):
    if type(node) is Leaf:
        return node
    if node not in memo:
        kernel = node.kernel
        if _is_float(kernel.result) and any(_is_float(p.type) for p in kernel.params):
            if kernel not in wrapped:
                wrapped[kernel] = _wrapped(kernel)
            kernel = wrapped[kernel]
        memo[node] = Node(kernel, [_tree(part, wrapped, memo) for part in node.parts])
    return memo[node]


def _wrapped(kernel: Function) -> Function:
    """A kernel that calls `kernel` and tests its result."""
    fn = Function(f"{kernel.name}.checked", kernel.qualname, kernel.filename, kernel.firstlineno, True)
    fn.result, fn.flags = kernel.result, kernel.flags._replace(simplified=False)
    entry = Block("entry", [Value(p.type, p.name) for p in kernel.params])
    result = Value(kernel.result)
    first = entry.params[0].type
    name = getattr(first.value, "__name__", kernel.name) if isinstance(first, Singleton) else kernel.name
    test = _test(result, entry.params, name)
    assert test is not None
    entry.insts = [Inst(INVOKE, entry.params, {"callee": kernel}, result), test, Inst(RETURN, (result,))]
    fn.blocks = [entry]
    return fn
