"""Imports point down: a module imports only its own room and rooms before it, and only at its top; no modules import
each other in a circle. `lazy(...)` is an import that happens later.

The linter sees imports for their side effects, as unused imports; there should be none.
"""
import ast
import importlib
import pathlib

import pytest

from pyjitc.base.lazy import _Lazy

ROOMS = ("base", "types", "runtime", "ir", "ops", "front", "infer", "passes", "lib", "codegen", "pipeline", "api")
PUBLIC = ("cuda", "numba")  # packages beside the rooms, for users: they import any room, and no room imports them
PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "pyjitc"
MODULES = sorted(PACKAGE.rglob("*.py"))
KNOTS: dict[frozenset, str] = {}  # modules that import each other in a circle -> the reason why they may


def room_of(path):
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "api"  # the package's own files stand above the rooms


def test_rooms_are_all_there():
    assert ({path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
            == {*ROOMS, *PUBLIC})


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path):
    tree = ast.parse(path.read_text())
    at_top = {id(node) for node in tree.body}
    for node in tree.body:  # `if TYPE_CHECKING`, `try` around an import, `with Uncollected()`
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            at_top |= {id(inner) for inner in ast.walk(node)}
    room = room_of(path)
    allowed = (*ROOMS, room) if room in PUBLIC else ROOMS[:ROOMS.index(room) + 1]
    depth = len(path.relative_to(PACKAGE).parts)
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_lazy(node):
            continue
        where = f"{path.name}:{node.lineno}"
        if _is_lazy(node):
            imported = ast.unparse(node.args[0]).lstrip("f").strip("'\"").split(".")
            if imported[0] == "pyjitc":
                assert imported[1] in allowed, f"{where}: {room_of(path)} imports from {imported[1]}, later"
            continue
        assert id(node) in at_top, f"{where}: import inside a function"
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            assert not any(name.split(".")[0] == "pyjitc" for name in names), f"{where}: write a relative import"
            continue
        assert "*" not in names, f"{where}: star import"
        assert node.level or node.module.split(".")[0] != "pyjitc", f"{where}: write a relative import"
        if node.level == depth:  # from the top of the package
            for name in [node.module.split(".")[0]] if node.module else names:
                assert name in allowed, f"{where}: {room_of(path)} imports from {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_private_names_stay_in_their_room(path):
    tree, depth, modules = ast.parse(path.read_text()), len(path.relative_to(PACKAGE).parts), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == depth:  # from another room
            private = [alias.name for alias in node.names if alias.name.startswith("_")]
            assert not private, f"{path.name}:{node.lineno}: imports {', '.join(private)} of {node.module}"
            modules.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_lazy(node.value):
            modules.update(name.id for target in node.targets for name in ast.walk(target)
                           if isinstance(name, ast.Name))
    for node in ast.walk(tree):
        if (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
                and node.value.id[:1].islower() | node.value.id.startswith("_")):
            private = node.attr.startswith("_") and not node.attr.endswith("__")
            assert not private, f"{path.name}:{node.lineno}: uses {ast.unparse(node)}"


def _is_lazy(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lazy"


def test_no_modules_import_each_other_in_a_circle():
    known = named()
    graph = {name: imports(name, path, known) for name, path in known.items()}
    assert set(map(frozenset, circles(graph))) == set(KNOTS)


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == [["b", "c"]]
    assert "pyjitc.lib.np.dates.units" in imports("pyjitc.lib.build", PACKAGE / "lib" / "build.py", named())


def named():
    """The modules by name."""
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in MODULES}
    return {name.removesuffix(".__init__"): path for name, path in names.items()}


def imports(name, path, known):
    """The names of the modules that a module imports, now or later."""
    found = set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join([*package.split(".")[:len(package.split(".")) + 1 - node.level],
                             *([node.module] if node.module else [])])
            found.update(f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names)
    # some tables of lazy modules are made from lists of names
    for value in vars(importlib.import_module(name)).values():
        for one in value.values() if type(value) is dict else value if type(value) in (tuple, list) else (value,):
            if type(one) is _Lazy:
                found.add(one._name)
    return (found & set(known)) - {name}


def circles(graph):
    """The sets of nodes that reach each other (Tarjan's algorithm), of more than one node."""
    number, low, path, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        path.append(node)
        for other in graph[node]:
            if other not in number:
                visit(other)
            if other in path:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            at = path.index(node)
            found.append(path[at:])
            del path[at:]

    for node in graph:
        if node not in number:
            visit(node)
    return [group for group in found if len(group) > 1]
