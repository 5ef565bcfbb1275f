"""The lists of functions by module agree with the declarations in the modules."""
import importlib

import numpy as np
import pytest

from pyjitc.lib.np import index
from pyjitc.lib import kinds as lib_kinds
from pyjitc.lib.protocol import Protocol
from pyjitc.types.kinds import Type
from pyjitc.lib.py import index as py_index

MODULES = sorted({*index.FUNCTIONS, *index.METHODS})


def resolve(path):
    found = np
    for part in path.split("."):
        found = getattr(found, part)
    return found


def is_there(path):
    """Whether this version of NumPy has the name: some were removed, others added, after 2.0."""
    try:
        resolve(path)
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize("name", MODULES)
def test_index_is_complete(name):
    module = importlib.import_module(f"pyjitc.lib.np.{name}")
    listed = [p for p in index.FUNCTIONS.get(name, "").split() if is_there(p)]
    named = {getattr(f, "__name__", str(f)): f for f in module.CALLS}
    missing = sorted(n for n, f in named.items() if not any(resolve(p) is f for p in listed))
    assert not missing, f"add to FUNCTIONS[{name!r}]: {' '.join(missing)}"
    assert not [p for p in listed if resolve(p) not in module.CALLS]
    assert set(getattr(module, "METHODS", ())) == set(index.METHODS.get(name, "").split())


def test_a_name_is_in_one_module():
    for table in (index.FUNCTIONS, index.METHODS):
        names = " ".join(table.values()).split()
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", py_index.FUNCTIONS)
def test_index_of_builtins_is_complete(name):
    module = importlib.import_module(f"pyjitc.lib.py.{name}")
    paths = [p.rpartition(".") for p in py_index.FUNCTIONS[name].split()]
    listed = [getattr(importlib.import_module(home or "builtins"), last, None) for home, _, last in paths]
    own = {f for f in module.CALLS if not (isinstance(f, type) and issubclass(f, np.generic))
           and not isinstance(getattr(f, "__self__", None), type)}  # class methods are found by their class
    assert own == set(listed)
    assert all(py_index.module_of(f).CALLS is module.CALLS for f in module.CALLS)


def test_a_kind_has_its_protocol_in_one_module():
    listed = {}
    for table in (lib_kinds.HOMES, lib_kinds.OBJECT_HOMES):
        for home, kinds in table.items():
            for key in [type(kind) if isinstance(kind, Type) else kind for kind in kinds]:
                assert key not in [k for keys in listed.values() for k in keys], f"{key} is listed twice"
                listed.setdefault(home, []).append(key)
    for home, keys in listed.items():
        assert set(home.PROTOCOLS) == set(keys)
        assert all(isinstance(one, Protocol) for one in home.PROTOCOLS.values())


def test_names_of_others_are_not_builtins():
    """A class of a program with the name int is not `int`."""
    impostor = type("int", (), {"__module__": "builtins"})
    assert py_index.module_of(impostor) is None
    assert py_index.module_of(len.__class__) is None
