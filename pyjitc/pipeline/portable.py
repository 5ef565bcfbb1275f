"""Python objects on which compiled code depends, in a form that is valid in other processes and for other function
objects.

    fingerprint(value)  equal for values that compile to the same code
    contents(value)     digests of the arrays in a value, for kernels, which have their elements compiled in
    Paths               how to reach the containers and objects of one compile from the function and its arguments:
                        a cell of another closure made by the same code lies at the same path
    recipe / rebuild    an object the code refers to by address

All results are tuples of plain values that `marshal` writes, unless an object has no portable form: such parts hold the
object itself, tagged LITERAL, and serve in this process only.
"""
from __future__ import annotations

import enum
import importlib
import sys
import weakref
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType

import numpy as np

from ..base import relocated
from ..base.kept import digest
from ..base.lazy import lazy
from ..base.named import Named
from ..runtime.dispatcher import Callable_
from ..runtime.objects import classes_in, is_object_class, type_of_object
from ..runtime.platform import member_offset
from ..types import kinds
from ..types.classes import FIXED_MODULES, is_fixed, is_property, namespace
from ..types.typeof import attributes_type, instance_type, is_of_numpy, plain_array, typeof, variable_type

_OURS = f"{__package__.partition('.')[0]}."

__all__ = ["ABSENT", "Guard", "fingerprint", "contents", "objects_in", "shared_by", "code_hash", "type_key", "Paths",
           "recipe", "rebuild", "follow", "lookup", "portable", "plain_function", "keep", "restore"]

_records = lazy("pyjitc.runtime.records")
_ufuncs = lazy("pyjitc.runtime.ufuncs")  # only programs that make ufuncs load it
LITERAL = "literal"
_SCALARS = (type(None), bool, int, float, complex, str, bytes, type(...))
_EQUAL = (*_SCALARS, tuple, frozenset, np.generic, np.dtype, kinds.Type)  # those that are equal mean the same
_BOUND = MethodType, BuiltinFunctionType
_NAMED = (type, BuiltinFunctionType, np.ufunc, type(np.sum), type(np.ndarray.sum), type(str.join))


class _Absent:
    __slots__ = ()

    def __repr__(self):
        return "ABSENT"


ABSENT = _Absent()  # the value of a name that is not defined, or of an empty cell


class Guard(Named, fields="container key value symbol", defaults=(None,)):
    """A value for which the code was specialised: `container[key]` of a dict, the contents of a cell (key None), or an
    attribute of a function.

    symbol: name of an 8-byte data word of the object; the dispatcher stores there the address of the value that the
    code expects (0 for ABSENT), and the stub compares. None: not compared natively."""

    __slots__ = ()


class Literal:
    """An object that is compared by identity, without a portable form."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return type(other) is Literal and self.value is other.value

    def __hash__(self):
        return id(self.value)


def plain_function(value) -> FunctionType | None:
    """The Python function behind a function or dispatcher, else None."""
    if type(value) is FunctionType:
        return value
    return value.py_func if isinstance(value, Callable_) else None


def made_ufunc(value):
    """The record of a ufunc that a program made from a Python function, else None."""
    if type(value) is not np.ufunc or is_of_numpy(value):
        return None
    return _ufuncs.record_of(value)


def _function_in(value) -> FunctionType | None:
    """The Python function whose code is part of compiled code that calls `value`, else None."""
    function = plain_function(value)
    if function is None and (record := made_ufunc(value)) is not None:
        return record.function
    return function


def portable(part) -> bool:
    """Whether a fingerprint, path or recipe is valid in another process."""
    if type(part) is tuple:
        return all(map(portable, part))
    return type(part) is not Literal


# -- fingerprints

def fingerprint(value) -> tuple:
    """A key of the meaning of a constant: another process makes the same key for an equal constant."""
    cls = type(value)
    if cls in _SCALARS:
        return cls.__name__, repr(value)
    if value is ABSENT:
        return ("absent",)
    if isinstance(value, kinds.Type):
        return "type", type_key(value)
    if cls is tuple:
        return ("tuple", *map(fingerprint, value))
    return (_of_data(value, cls) or _of_definition(value, cls) or _of_container(value, cls) or _of_function(value, cls)
            or _of_name(value))


def _of_data(value, cls: type) -> tuple | None:
    """The fingerprint of an array, a NumPy number, a member of an enumeration, or a value made of constants."""
    if isinstance(value, np.ndarray) and type(plain_array(value)) is np.ndarray:
        flags = value.flags  # read at run time: only its type is compiled in
        return (cls.__name__, _dtype_key(value.dtype), value.ndim, flags.c_contiguous, flags.f_contiguous,
                flags.writeable, flags.aligned)
    if isinstance(value, enum.Enum):
        return "enum", fingerprint(cls), value.name, fingerprint(value.value)
    if isinstance(value, np.void) and value.dtype.names:  # read at run time as well
        return "record", *fingerprint(_records.array_of(value))
    if isinstance(value, np.generic) and cls.__module__ == "numpy":
        return "numpy", value.dtype.str, value.tobytes()
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return ("namedtuple", fingerprint(cls), *map(fingerprint, value))
    if cls is frozenset:  # in its order: code may depend on it, and another process may have another order
        return ("frozenset", *map(fingerprint, value))
    if cls is np.finfo or cls is np.iinfo:
        return cls.__name__, value.dtype.str
    if cls is slice:
        return ("slice", *map(fingerprint, (value.start, value.stop, value.step)))
    if cls is range:
        return "range", repr(value)
    return None


def _of_definition(value, cls: type) -> tuple | None:
    """The fingerprint of a module, a dtype, a code object, or a non-function that the body of a class defines."""
    if cls is ModuleType:
        return ("module", value.__name__) if sys.modules.get(value.__name__) is value else (LITERAL, Literal(value))
    if isinstance(value, np.dtype):
        return "dtype", *_dtype_key(value)
    if is_property(value):
        return "property", fingerprint(value.fget), fingerprint(value.fset)
    if cls in (staticmethod, classmethod):
        return cls.__name__, fingerprint(value.__func__)
    if cls is MemberDescriptorType:
        return "slot", member_offset(value)
    if cls is CodeType:
        return "code", code_hash(value)
    return None


def _of_container(value, cls: type) -> tuple | None:
    """The fingerprint of a list, a dict or a set: its type; None where it has none."""
    if cls in kinds.CONTAINERS and cls is not frozenset:  # read at run time as well
        try:
            t = typeof(value, type_of_object)
            return cls.__name__, type_key(t) if classes_in(t) else str(t)
        except (TypeError, OverflowError):
            if cls is dict:
                return ("dict",)  # each item that was read from it has a guard of its own
    return None


def _of_function(value, cls: type) -> tuple | None:
    """The fingerprint of a function of a program, of a ufunc that it made, or of a partial call."""
    function = plain_function(value)
    if function is not None:
        name = _name(function)
        if name is not None and name[0].partition(".")[0] in FIXED_MODULES:
            return ("name", *name)
        kwdefaults = function.__kwdefaults__ or {}
        return ("function", code_hash(function.__code__), fingerprint(function.__defaults__ or ()),
                *(part for name in sorted(kwdefaults) for part in (name, fingerprint(kwdefaults[name]))),
                *(() if function is value else map(repr, (*value.options, *value.converting()))))
    record = made_ufunc(value)
    if record is not None:
        return ("ufunc", fingerprint(record.function), repr(record.arguments), repr(record.declared),
                tuple(map(repr, record.options)))
    if cls is partial:
        return ("partial", fingerprint(value.func), fingerprint(value.args), tuple(value.keywords),
                *map(fingerprint, value.keywords.values()))
    return None


def _of_name(value) -> tuple:
    """The fingerprint of an object by its type or its name; or the object itself, which no other process has."""
    held = instance_type(value) or attributes_type(value) or type_of_object(value)
    if held is not None:  # read at run time, like arrays
        return "instance", type_key(held)
    name = _name(value) if callable(value) else _name_in_numpy(value)
    if name is not None and name[0].partition(".")[0] in FIXED_MODULES:
        return ("name", *name)
    if name is not None and isinstance(value, _NAMED):
        return ("class", *name, *_class_parts(value)) if isinstance(value, type) else ("name", *name)
    return LITERAL, Literal(value)


def _dtype_key(dtype: np.dtype) -> tuple:
    return (dtype.str,) if dtype.names is None else (dtype.type.__name__, repr(dtype))


def objects_in(value) -> list:
    """The value, and for a tuple or a partial function all that is in it."""
    if type(value) is partial:
        return [value, *objects_in((value.func, *value.args, *value.keywords.values()))]
    return [value, *(x for item in value for x in objects_in(item))] if isinstance(value, tuple) else [value]


def sharing(value, seen: dict[int, int]) -> tuple[int, ...]:
    """The numbers of the objects in a guarded value, in the order in which they are first seen: code refers to two
    globals that are one object by the path of one of them, so it is valid only where they are one object again. seen:
    the numbers of the objects so far, by identity."""
    return tuple([seen.setdefault(id(one), len(seen)) for one in objects_in(value) if not isinstance(one, _EQUAL)])


def shared_by(values, roots=()) -> list[tuple[int, ...]]:
    """The objects that the values of all guards of some code share with one another, as numbers (`sharing`), and with
    the functions among the arguments: those are part of the code, other arguments differ from call to call."""
    seen: dict[int, int] = {}
    for root in roots:
        for one in objects_in(root):
            if _function_in(one) is not None:
                seen.setdefault(id(one), len(seen))
    return [sharing(value, seen) for value in values]


def contents(value) -> tuple[bytes, ...]:
    if type(value) is np.ndarray:
        return (digest(f"{value.shape} {value.dtype!r} ".encode() + value.tobytes()),)
    if isinstance(value, tuple):
        return tuple([one for part in value for one in contents(part)])
    function = plain_function(value)
    return contents(function.__defaults__ or ()) if function is not None else ()


def _class_parts(cls: type) -> list:
    """The parts of a class of the program on which compiled code may depend: fields, members, code of methods,
    constants."""
    parts: list = [tuple(map(_base, cls.__bases__)), cls.__basicsize__, cls.__dictoffset__]
    for name, value in sorted(cls.__dict__.items()):
        if type(value) is MemberDescriptorType:
            parts += (name, member_offset(value))
        if isinstance(value, (staticmethod, classmethod, property)):
            value = value.fget if isinstance(value, property) else value.__func__
        if type(value) in _SCALARS and not (name.startswith("__") and name.endswith("__")):
            parts += (name, fingerprint(value))
        elif type(value) is FunctionType:
            parts += (name, code_hash(value.__code__))
        elif name in ("_fields", "_member_names_"):
            parts += (name, *value)
    return parts


def _base(cls: type) -> tuple:
    """The fingerprint of a base class: the program may have no name for it, as for a class from namedtuple()."""
    if str(cls.__module__).partition(".")[0] in FIXED_MODULES or _name(cls) is not None:
        return fingerprint(cls)
    return ("class", cls.__module__, cls.__qualname__, *_class_parts(cls))


def _name(value) -> tuple[str, str] | None:
    """(module, qualified name) by which `value` can be found, else None."""
    if isinstance(value, np.ufunc):
        return ("numpy", value.__name__) if getattr(np, value.__name__, None) is value else None
    if type(value) in _BOUND and not isinstance(value.__self__, (ModuleType, type)):  # random.random, np.random.normal
        module, qualname = type(value.__self__).__module__, value.__name__
        return (module, qualname) if _named(module, qualname) is value else None
    qualname = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    module = getattr(value, "__module__", None) or getattr(getattr(value, "__objclass__", None), "__module__", None)
    if not isinstance(qualname, str) or not isinstance(module, str):
        return None
    return (module, qualname) if _named(module, qualname) is value else None


def _name_in_numpy(value) -> tuple[str, str] | None:
    """The name of an object of NumPy's that is neither a function nor a class: np.mgrid, np.s_."""
    if type(value).__module__.partition(".")[0] != "numpy":
        return None
    return next((("numpy", name) for name, one in vars(np).items() if one is value), None)


def _named(module: str, qualname: str):
    found = sys.modules.get(module, ABSENT)
    for part in qualname.split("."):
        if found is ABSENT:
            return None
        found = getattr(found, part, ABSENT)
    return None if found is ABSENT else found


def code_hash(code: CodeType) -> str:
    """All parts of a code object on which compiled code depends, including positions for tracebacks."""
    known = _hashes.get(id(code))
    if known is not None:
        return known[1]
    parts: list[bytes] = []

    def add(value) -> None:
        cls = type(value)
        if cls is CodeType:
            for part in (value.co_name, getattr(value, "co_qualname", ""), _stable_name(value.co_filename),
                         value.co_firstlineno, value.co_flags, value.co_argcount, value.co_posonlyargcount,
                         value.co_kwonlyargcount, value.co_code, value.co_names, value.co_varnames, value.co_freevars,
                         value.co_cellvars, value.co_linetable if hasattr(value, "co_linetable")
                         else value.co_lnotab, getattr(value, "co_exceptiontable", b""), value.co_consts):
                add(part)
        elif cls is tuple:
            parts.append(b"(%d" % len(value))
            for part in value:
                add(part)
        elif cls is frozenset:
            add(tuple(sorted(repr((type(x).__name__, x)) for x in value)))
        else:
            text = value if cls is bytes else repr(value).encode("utf-8", "surrogatepass")
            parts.append(b"%s:%d:%s" % (cls.__name__.encode(), len(text), text))

    add(code)
    found = digest(b"".join(parts)).hex()
    number = id(code)
    _hashes[number] = weakref.ref(code, lambda _: _hashes.pop(number, None)), found
    return found


# by identity: equal code objects may come from different files
_hashes: dict[int, tuple[weakref.ref, str]] = {}


def _stable_name(filename: str) -> str:
    """A file name that is stable. A notebook's cell gets a new file name in every session; its content identifies it. A
    package that was built ahead of time may be installed in any folder."""
    return ("a notebook" if "ipykernel_" in filename or filename.startswith("<ipython-input-")
            else relocated.relative(filename))


def type_key(t: kinds.Type) -> tuple:
    """A type as part of a key: its kind and its parameters."""
    kind, *parts = t.key
    if isinstance(t, kinds.Singleton):
        parts = [t.value]
    elif isinstance(t, kinds.Attributes):
        parts.append(t.python_class)
    return (kind.__qualname__ if is_fixed(kind) else fingerprint(kind), *map(_key_part, parts))


def _key_part(part):
    if isinstance(part, kinds.Type):
        return type_key(part)
    return tuple(map(_key_part, part)) if type(part) is tuple else fingerprint(part)


# -- paths

def lookup(container, key):
    """The guarded value now; for the key ("type", ...) the type of the value."""
    if type(key) is tuple:
        found = variable_type(container, key[1])
        return ABSENT if found is None else found
    if type(container) is CellType:
        try:
            return container.cell_contents
        except ValueError:
            return ABSENT
    if type(container) is FunctionType:
        value = getattr(container, key)
        return ABSENT if value is None else value
    return container.get(key, ABSENT)


class Paths:
    """Paths to the objects that one compile read, from `roots` = (function, arguments...), from the classes of the
    program in `types` and from modules of libraries.

    A path is (root number, step, ...), for a class ((module, qualified name), step, ...), for the dict of a module of a
    library ((module, "__dict__"),); a step is a name, or a name
    and a key: globals, cell n, value key, contents, vars, item n, attribute name, type, class n (the dict of class n in
    the method resolution order). A container without a path is a literal."""

    def __init__(self, roots, guards: tuple[Guard, ...], types=()):
        self.known: dict[int, tuple] = {}
        for t in types:
            for cls in classes_in(t):
                name = _name(cls)
                if name is not None:
                    self.add(cls, (name,))
        for guard in guards:
            self.known.update(_of_library(guard.container))
        # Arguments come last: an argument that is also in a global may be another object in the next call.
        waiting = list(guards)
        for n, root in enumerate(roots):
            self.add(root, (n,))
            waiting = self._follow(waiting)

    def _follow(self, waiting: list[Guard]) -> list[Guard]:
        """Add the values of the guards whose containers are known; returns the other guards."""
        while waiting:
            rest = []
            for guard in waiting:
                path = self.known.get(id(guard.container))
                if path is None:
                    rest.append(guard)
                elif guard.value is not ABSENT and type(guard.key) is not tuple:
                    cls = type(guard.container)
                    step = ("contents" if cls is CellType
                            else ("attribute" if cls is FunctionType else "value", guard.key))
                    self.add(guard.value, (*path, step))
                    if type(guard.value) is str:  # an operand of `is`: not any other text with the same value
                        self.known.setdefault(id(guard.value), (*path, step))
            if len(rest) == len(waiting):
                break
            waiting = rest
        return waiting

    def add(self, value, path: tuple) -> None:
        if id(value) in self.known or type(value) in _SCALARS:
            return
        self.known[id(value)] = path
        function = _function_in(value)
        if function is not None:
            self.known.setdefault(id(function), (*path, "function"))
            self.known.setdefault(id(function.__globals__), (*path, "globals"))
            for n, cell in enumerate(function.__closure__ or ()):
                self.known.setdefault(id(cell), (*path, ("cell", n)))
        elif type(value) is ModuleType:
            self.known.setdefault(id(vars(value)), (*path, "vars"))
        elif isinstance(value, type):
            for n, base in enumerate(value.__mro__):
                if not is_fixed(base):
                    self.known.setdefault(id(namespace(base)), (*path, ("class", n)))
        elif isinstance(value, enum.Enum):
            self.known.setdefault(id(vars(value)), (*path, "vars"))
            self.add(type(value), (*path, "type"))
        elif isinstance(value, tuple):
            for n, item in enumerate(value):
                self.add(item, (*path, ("item", n)))
            self.add(type(value), (*path, "type"))
        elif type(value) is partial:
            for name in ("func", "args", "keywords"):
                self.add(getattr(value, name), (*path, ("attribute", name)))
        elif kinds.kind_of_class(type(value)) is not None or is_object_class(type(value)):
            self.add(type(value), (*path, "type"))
        elif isinstance(value, (staticmethod, classmethod, property)):
            name = "fget" if isinstance(value, property) else "__func__"
            self.add(getattr(value, name), (*path, ("attribute", name)))

    def of(self, value) -> tuple:
        path = self.known.get(id(value))
        return path if path is not None else (Literal(value),)


def _of_library(space) -> dict:
    """{id(space): path} where it is the dict of a module of a library, else {}."""
    module = space.get("__name__") if type(space) is dict else None
    if type(module) is not str or module.partition(".")[0] not in FIXED_MODULES or (
            getattr(sys.modules.get(module), "__dict__", None) is not space):
        return {}
    return {id(space): ((module, "__dict__"),)}


def follow(path: tuple, roots):
    """The object at `path`; LookupError or AttributeError where there is none."""
    first = path[0]
    if type(first) is tuple and first[1] == "__dict__" and first[0] not in sys.modules:
        importlib.import_module(first[0])
    found = (first.value if type(first) is Literal else roots[first] if type(first) is int
             else _named(*first))
    if found is None:
        raise LookupError(f"{'.'.join(first)} is not loaded")
    for step in path[1:]:
        if step == "globals":
            found = _function(found).__globals__
        elif step == "function":
            found = _function(found)
        elif step == "contents":
            found = found.cell_contents
        elif step == "vars":
            found = vars(found)
        elif step == "type":
            found = type(found)
        elif step[0] == "cell":
            found = _function(found).__closure__[step[1]]
        elif step[0] == "attribute":
            found = getattr(found, step[1])
        elif step[0] == "class":
            found = namespace(found.__mro__[step[1]])
        else:  # value, item
            found = found[step[1]]
    return found


def _function(value) -> FunctionType:
    function = _function_in(value)
    if function is None:
        raise LookupError(f"{value!r} is no function")
    return function


# -- the guards of a kernel

def keep(guards: tuple[Guard, ...], roots) -> tuple | None:
    """The guards in a form for other processes, with the digests of arrays; None where some cannot be represented."""
    paths = Paths(roots, guards)
    try:
        kept = tuple((g.symbol, paths.of(g.container), g.key, fingerprint(g.value), contents(g.value)) for g in guards)
    except (LookupError, TypeError, ValueError):
        return None
    return kept if portable(kept) else None


def restore(kept: tuple, roots) -> tuple[Guard, ...] | None:
    """The guards that `keep` represented, if they are valid for these roots; raises LookupError, AttributeError,
    TypeError or ValueError where a path leads nowhere."""
    guards = []
    for symbol, path, key, *expected in kept:
        container = follow(path, roots)
        value = lookup(container, key)
        if [fingerprint(value), contents(value)] != expected:
            return None
        guards.append(Guard(container, key, value, symbol))
    return tuple(guards)


# -- objects to which code refers

def recipe(value, paths: Paths) -> tuple:
    """A description by which another function object or process finds `value` (see `rebuild`)."""
    path = paths.known.get(id(value))
    if _is_constant(value) and (path is None or not _is_one_object(value)):
        return "constant", value
    if path is not None:
        return "path", path
    if isinstance(value, np.dtype) and value.names is None and value.subdtype is None and (
            np.dtype(value.str) is value or value.kind in "mM" and value.metadata is None):
        return "dtype", value.str
    if isinstance(value, np.generic) and type(value).__module__ == "numpy" and value.dtype.kind in "biufcmM":
        return "scalar", value.dtype.str, value.tobytes()
    if type(value) is ModuleType and sys.modules.get(value.__name__) is value:
        return "module", value.__name__
    name = _name(value) if isinstance(value, _NAMED) or type(value) is FunctionType else None
    if name is not None:
        return ("name", *name)
    return LITERAL, Literal(value)


def _is_one_object(value) -> bool:
    """Whether an equal object may behave in another way: a text compared by identity, a set in another order."""
    return type(value) is str or frozenset in map(type, objects_in(value))


def _is_constant(value) -> bool:
    if type(value) is tuple or type(value) is frozenset:
        return all(map(_is_constant, value))
    return type(value) in _SCALARS


def rebuild(made: tuple, roots):
    """The object of a recipe; raises LookupError where it does not exist."""
    kind = made[0]
    if kind == "constant":
        return _interned(made[1])
    if kind == "path":
        return follow(made[1], roots)
    if kind == "dtype":
        return np.dtype(made[1])
    if kind == "scalar":
        return np.frombuffer(made[2], made[1])[0]
    if kind == "module":
        return sys.modules[made[1]]
    if kind == "name":
        if made[1].startswith(_OURS):  # our own functions that compiled code calls may have to be imported
            __import__(made[1])
        found = _named(made[1], made[2])
        if found is None:
            raise LookupError(f"{made[1]}.{made[2]} is not loaded")
        return found
    return made[1].value


def _interned(value):
    """The names of keywords and attributes are compared by identity, so they are interned, as by Python's compiler."""
    if type(value) is tuple:
        return tuple(map(_interned, value))
    return sys.intern(value) if type(value) is str and value.isidentifier() else value
