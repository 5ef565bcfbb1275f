"""A smaller program that fails in the same way: statements, branches, operands and calls are taken away one by one."""
import ast
import copy
import time

__all__ = ["shrink"]


def shrink(source: str, fails, seconds: float = 30.0) -> str:
    """The smallest text found. fails(text) -> whether it still fails in the same way."""
    end = time.monotonic() + seconds
    tree = ast.parse(source)
    best = ast.unparse(tree)
    if not fails(best):
        return source
    improved = True
    while improved and time.monotonic() < end:
        improved = False
        k = 0
        while time.monotonic() < end:
            smaller = _nth(ast.parse(best), k)
            if smaller is None:
                break
            text = ast.unparse(ast.fix_missing_locations(smaller))
            if text != best and len(text) <= len(best) and _is_program(text) and fails(text):
                best = text
                improved = True  # the next candidate now has this number
            else:
                k += 1
    return best


def _is_program(text):
    try:
        compile(text, "<shrunk>", "exec")
        return True
    except (SyntaxError, ValueError):
        return False


def _nth(tree, number):
    """The tree with its `number`-th simplification, larger ones first; None after the last one."""
    for k, (owner, field, index, made) in enumerate(_candidates(tree)):
        if k == number:
            made = [copy.deepcopy(node) for node in made] if isinstance(made, list) else copy.deepcopy(made)
            if index is None:
                setattr(owner, field, made)
            else:
                getattr(owner, field)[index:index + 1] = made
            return tree
    return None


def _candidates(tree):
    """(owner, field, index or None, replacement): in lists the replacement is a list."""
    for owner in ast.walk(tree):
        for field, value in ast.iter_fields(owner):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from _statements(owner, field, value)
    for owner in ast.walk(tree):
        if isinstance(owner, ast.JoinedStr):  # holds texts and fields, no other expressions
            continue
        for field, value in ast.iter_fields(owner):
            if isinstance(value, ast.expr):
                yield from ((owner, field, None, made) for made in _expressions(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
                for index, item in enumerate(value):
                    if isinstance(owner, (ast.List, ast.Tuple)) and len(value) > 1:
                        yield owner, field, index, []
                    yield from ((owner, field, index, [made]) for made in _expressions(item))


def _statements(owner, field, block):
    optional = field in ("orelse", "finalbody")
    if optional:
        yield owner, field, None, []
    for index, node in enumerate(block):
        if len(block) > 1:
            yield owner, field, index, []
        elif not isinstance(node, ast.Pass) and not isinstance(owner, ast.Module):
            yield owner, field, index, [ast.Pass()]
    for index, node in enumerate(block):
        for inner in ("body", "orelse", "finalbody"):
            found = getattr(node, inner, None)
            if isinstance(found, list) and found and not isinstance(node, ast.FunctionDef):
                yield owner, field, index, found
        if isinstance(node, ast.Match):
            for k, case in enumerate(node.cases):
                yield owner, field, index, case.body
                if len(node.cases) > 1:
                    yield node, "cases", k, []
        if isinstance(node, ast.Try):
            for k in range(len(node.handlers)):
                if len(node.handlers) > 1 or node.finalbody:
                    yield node, "handlers", k, []
        if isinstance(node, ast.AugAssign):
            yield owner, field, index, [ast.Assign([node.target], node.value, lineno=0)]


def _expressions(node):
    """Smaller expressions in the place of `node`."""
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Compare):
        yield node.left
        yield from node.comparators
        if len(node.ops) > 1:
            yield ast.Compare(node.left, node.ops[:1], node.comparators[:1])
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse, node.test)
    elif isinstance(node, ast.Call):
        yield from (arg for arg in node.args if not isinstance(arg, ast.GeneratorExp))
    elif isinstance(node, ast.Tuple):
        yield from node.elts
    if not isinstance(node, (ast.Constant, ast.Name,
                             ast.Lambda)) or isinstance(node, ast.Constant) and len(repr(node.value)) > 1 \
            and not isinstance(node.value, (str, bool)) and node.value is not None:
        yield ast.Constant(1)
        yield ast.Constant(0)
        if not isinstance(node, ast.Constant):
            yield ast.Constant(True)
            yield ast.Constant(0.5)
