"""Typed library functions on disk: a process that calls a library function reads the result of inference and
simplification from there if an earlier process has called the function with the same types.

An *image* is an entry of `Library.memo` after a compile: a library function that the program calls, for argument types
and constants, in the form in which it is inlined, with the functions that it still calls. As the interpreter does with
bytecode, images are stored next to the package's files, in `__pycache__`, under a hash of the function, its arguments,
and the versions of everything that makes typed IR; nothing is stored where PYTHONDONTWRITEBYTECODE is set. Lookups
cost little beside inference, so they are made for calls by the program, and for the functions that take the place of
its operations.

A function that is in two images becomes one function: each image names it by the hash of its specialisation. A function
that refers to something without a name in other processes, such as a closure or an object of the program, has no image.
Neither has a function whose globals are not those of its module, such as one that `eval` makes in a namespace of its
own: other processes could not find the objects behind the names in its code. A function that calls functions outside
the library, such as the constructor of one of NumPy's classes, or reads attributes is not even used again in its own
process (`bound` in infer/session.py).
"""
from __future__ import annotations

import marshal
import os
import sys
from importlib._bootstrap_external import cache_from_source
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Callable

import numpy as np

from ..base import kept
from ..base.lazy import lazy, load
from ..base.options import environment
from ..front import functions
from ..infer.meaning import UNKNOWN
from ..infer.session import Spec, only_value
from ..ir import core as ir
from ..ir.flags import FunctionFlags
from ..ir.tree import Leaf, Node
from ..lib import extended
from ..ops.control import CONST
from ..types.classes import FIXED_MODULES
from ..types.kinds import Type
from . import cache

__all__ = ["Images"]

inline = lazy("pyjitc.passes.inline")

_MOST = 2048  # the maximum number of files
_MOST_HELD = 500  # the maximum number of specialisations in memory
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_NAMED = (type, FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum))
_NUMBERS = "biufc"  # kinds of dtypes whose values an image holds
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TYPES, _OPS = (f"{__package__.partition('.')[0]}.{room}." for room in ("types", "ops"))


class _NotStored(Exception):
    """Raised for a function that refers to something which other processes cannot find."""


class Images:
    """The images of one library. found: hash of a specialisation -> the Spec, whose function is in its final form, the
    most recently used last; fresh: specialisations that this process has made, whose hash was not needed yet; missed:
    those among them that were looked for in vain in this compile."""

    def __init__(self, library):
        self.library = library
        self.found: dict[bytes, Spec] = {}
        self.fresh: list[Spec] = []
        self.missed: list[Spec] = []
        self.prototypes: dict[Any, tuple] = {}  # Prototype -> its part of the hash

    def find(self, key: tuple, proto, args, of_program: bool) -> Spec | None:
        """The specialisation of a library function that another process, or another image, has; None where there is
        none. key: the key of the memo; of_program: whether the program calls the function itself."""
        if not (of_program or self.found) or not self._may_be_used():
            return None
        try:
            digest = self._digest(proto, args, key[-2:])
        except _NotStored:
            return None
        spec = self.found.pop(digest, None)
        if spec is not None:
            self.found[digest] = spec
        elif of_program:
            spec = self._read(digest)
        if spec is not None:
            spec.proto, spec.key = proto, key
        return spec

    def note(self, spec: Spec, of_program: bool) -> None:
        """Record a specialisation that was not found. of_program: let `finish` store its image."""
        if self._may_be_used():
            self.fresh.append(spec)
            if of_program and not sys.dont_write_bytecode:
                self.missed.append(spec)

    def typed(self, function, types, make: Callable) -> ir.Function:
        """The typed form of a library function that a pass asks for; make: (function, types) -> its Spec."""
        args = tuple([(t, only_value(t)) for t in types])
        spec = None if function.__closure__ else self.find(
            (None, False, False), functions.prototype_of(function), args, True)
        if spec is None:
            spec = make(function, types)
            self.note(spec, True)
        return spec.typed

    def finish(self, stored: bool = True) -> None:
        """End a compile. stored: whether functions are in their final form, so that images of those that
        were looked for in vain can be stored."""
        missed, self.missed = self.missed, []
        made: dict[str, bytes] = {}
        lasting = [spec for spec in missed if spec.typed is not None and _lasts(spec)] if stored else []
        files = cache.sources() if lasting else {}
        for spec in lasting:
            try:
                encoded = marshal.dumps((files, _Encoder(self).run(spec.typed)))
                made[_path(self.digest_of(spec))] = encoded
            except (_NotStored, ValueError):
                pass
        kept.keep(made, _MOST)
        fresh, self.fresh = self.fresh, []
        for spec in fresh:
            if spec.typed is not None and _lasts(spec):
                spec.caller = spec.dependents = None
                if any([t.passing for t, _ in spec.args]):  # it must not keep objects of the program alive
                    self._pending([spec])
                else:
                    self.fresh.append(spec)
        if len(self.found) + len(self.fresh) > _MOST_HELD:
            self._pending(self.fresh)
            self.fresh = []
            self._forget()

    def _forget(self) -> None:
        """Keep the specialisations that were used last, with all that they call: if one that is kept called one that
        was forgotten, a module that also calls that one itself would contain it twice."""
        kept: dict[bytes, Spec] = {}
        for spec in reversed(self.found.values()):
            if len(kept) >= _MOST_HELD * 3 // 4:
                break
            waiting = [spec]
            while waiting:
                spec = waiting.pop()
                if spec.image is not None and spec.image not in kept:
                    kept[spec.image] = spec
                    assert spec.typed is not None  # a specialisation is entered in `found` when it has its final form
                    waiting += [fn.memo["spec"] for fn in inline.callees(spec.typed) if "spec" in fn.memo]
        self.found = dict(reversed(kept.items()))

    def _pending(self, fresh: list[Spec]) -> list[Spec]:
        """Enter finished specialisations in `found`; returns those that are still being made."""
        pending = []
        for spec in fresh:
            try:
                digest = self.digest_of(spec)
            except _NotStored:
                continue
            if spec.typed is None:
                pending.append(spec)
            elif _lasts(spec):
                self.found.setdefault(digest, spec)
        return pending

    @staticmethod
    def _may_be_used() -> bool:
        """Whether library functions have the same meaning here as in other processes: a program may register others."""
        return not (extended.OF_LIBRARY or extended.METHODS or extended.ATTRIBUTES or extended.OPERATORS)

    # -- hashes

    def _digest(self, proto, args, options) -> bytes:
        """The hash of a specialisation; raises _NotStored."""
        known = self.prototypes.get(proto)
        if known is None:
            name = proto.globals.get("__name__")
            if proto.globals is not getattr(sys.modules.get(name), "__dict__", None):
                raise _NotStored  # what its names mean is not in its code
            known = self.prototypes[proto] = (name, proto.qualname, _code_key(proto.code),
                                              getattr(proto, "step", None))  # the steps of a generator share its code
        encoder = _Encoder(self)
        parts = known, tuple([(encoder.value(t), encoder.value(v)) for t, v in args]), encoder.types, options
        text = repr((parts, cache.versions(), environment("PYJITC_BLAS")))
        return kept.digest(text.encode("utf-8", "surrogatepass"))

    def digest_of(self, spec: Spec) -> bytes:
        if spec.image is None:
            if spec.closure is not None or spec.key is None or spec.key[3] is not None or spec.rules is not None:
                raise _NotStored
            spec.image = self._digest(spec.proto, spec.args, spec.key[-2:])
        return spec.image

    # -- files

    def _read(self, digest: bytes) -> Spec | None:
        data = kept.read(_path(digest))
        if data is None:
            return None
        self.fresh = self._pending(self.fresh)
        try:
            files, image = marshal.loads(data)
            if not cache.unchanged(files):
                return None
            cache.of_images.update(files)
            held = {one[0] for one in image[-1]}
            # a function that is being made is not in its final form, and there must not be two of it
            return None if any([spec.image in held for spec in self.fresh]) else _Decoder(self).run(*image)
        except (OSError, ValueError, TypeError, LookupError, AttributeError, ImportError, EOFError):
            return None


def _lasts(spec: Spec) -> bool:
    """Whether a specialisation is valid in other compiles: it does not lead to what belongs to this one, and no type
    variable of this one is in its result."""
    return not spec.bound and spec.error is None and not (spec.result is not None and spec.result[0].varying)


def _path(digest: bytes) -> str:
    return f"{cache_from_source(__file__).rpartition('.')[0]}.{digest.hex()}.typed"


def _code_key(code: CodeType) -> tuple:
    """The parts of a code object by which library functions are distinguished."""
    return (code.co_name, code.co_firstlineno, code.co_flags, code.co_argcount, code.co_posonlyargcount,
            code.co_kwonlyargcount, code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
            *((code.co_linetable, code.co_exceptiontable) if sys.version_info >= (3, 11) else (code.co_lnotab,)),
            tuple([_code_key(x) if type(x) is CodeType else (type(x).__name__, repr(x)) for x in code.co_consts]))


def _module(name: str):
    return sys.modules.get(name) or load(name)


def _named(module: str, qualname: str):
    found = _module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def _operations(module: str) -> dict[str, ir.Op]:
    """The table of the operations that a module defines."""
    return next(table for name, table in vars(_module(module)).items()
                if name.endswith("_OPS") and name[0] != "_" and type(table) is dict)


_modules: dict[ir.Op, tuple[str, str]] = {}  # operation -> its module and its name in the table there


def _operation(op: ir.Op) -> tuple[str, str]:
    if op not in _modules:
        for name in [name for name in sys.modules if name.startswith(_OPS)]:
            try:
                table = _operations(name)
            except StopIteration:
                continue
            for key, one in table.items():
                _modules.setdefault(one, (name, key))
    if op not in _modules:
        raise _NotStored
    return _modules[op]


class _Encoder:
    """Makes values that `marshal` writes. A plain value stays as it is; others become tuples of a tag and parts."""

    def __init__(self, images: Images):
        self.images = images
        self.numbers: dict[Type, int] = {}
        self.types: list[tuple] = []  # (module, name of the kind, arguments), each after those in its arguments
        self.operations: dict[ir.Op, int] = {}
        self.locs: dict[ir.Loc, int] = {}
        self.functions: dict[ir.Function, int] = {}
        self.nodes: dict[Any, int] = {}
        self.trees: list[tuple] = []  # of nodes and leaves, each after its parts

    def run(self, fn: ir.Function) -> tuple:
        self.functions[fn] = 0
        made: list[tuple] = []
        while len(made) < len(self.functions):  # encoding a function may add others
            made.append(self.function(list(self.functions)[len(made)]))
        return (self.types, list(map(_operation, self.operations)), list(map(tuple, self.locs)), self.trees, made)

    def type(self, t: Type) -> int:
        number = self.numbers.get(t)
        if number is None:
            cls, args = t.__reduce__()
            if not cls.__module__.startswith(_TYPES) or t.varying:
                raise _NotStored
            encoded = cls.__module__, cls.__qualname__, tuple(map(self.value, args))
            number = self.numbers[t] = len(self.types)
            self.types.append(encoded)
        return number

    def value(self, x) -> Any:
        cls = type(x)
        if cls in _PLAIN:
            return x
        if isinstance(x, Type):
            return "type", self.type(x)
        if cls is tuple:
            return "tuple", *map(self.value, x)
        if x is UNKNOWN:
            return ("unknown",)
        if x is ...:
            return ("ellipsis",)
        if cls is slice:
            return "slice", *map(self.value, (x.start, x.stop, x.step))
        if cls is range:
            return "range", x.start, x.stop, x.step
        if cls is ir.Op:
            return "operation", *_operation(x)
        if isinstance(x, np.dtype) and x.kind in _NUMBERS and np.dtype(x.str) is x:
            return "dtype", x.str
        if isinstance(x, np.generic) and x.dtype.kind in _NUMBERS and cls.__module__ == "numpy":
            return "number", x.dtype.str, x.tobytes()
        if cls is ModuleType:
            name, qualname = x.__name__, ""
        elif x is np._NoValue:
            name, qualname = "numpy", "_NoValue"
        elif isinstance(x, _NAMED):
            name, qualname = getattr(x, "__module__", None) or "numpy", getattr(x, "__qualname__", x.__name__)
        else:
            raise _NotStored
        try:
            if name.partition(".")[0] in FIXED_MODULES and (
                    sys.modules[name] if not qualname else _named(name, qualname)) is x:
                return ("named", name, qualname) if qualname else ("module", name)
        except (AttributeError, ImportError, KeyError):
            pass
        raise _NotStored

    def attribute(self, x) -> Any:
        """An attribute of an instruction."""
        if type(x) is ir.Function:
            return "function", self.functions.setdefault(x, len(self.functions))
        return ("tree", self.tree(x)) if type(x) is Node else self.value(x)

    def tree(self, node) -> int:
        number = self.nodes.get(node)
        if number is None:
            encoded = (node.index if type(node) is Leaf else
                       (self.attribute(node.kernel)[1], *map(self.tree, node.parts)))
            number = self.nodes[node] = len(self.trees)
            self.trees.append(encoded)
        return number

    def function(self, fn: ir.Function) -> tuple:
        if "spec" not in fn.memo or not fn.flags.simplified:
            raise _NotStored
        spec = fn.memo["spec"]
        digest = self.images.digest_of(spec)
        declared = fn.memo.get("declared")
        if declared is None and ("rules" in fn.memo or "batched" in fn.memo):  # the function itself has them
            declared = spec.proto.globals["__name__"], spec.proto.qualname
            if getattr(_named(*declared), "__code__", None) is not spec.proto.code:
                raise _NotStored
        used = {v for block in fn.blocks for inst in block.insts for v in inst.uses()}
        values: dict[ir.Value, int] = {}
        # An unused number stays: the order of constants in the functions in which this one is inlined depends on it.
        kept_insts = [[inst for inst in block.insts if inst.op is not CONST or inst.result in used
                       or type(inst.attrs["value"]) in _PLAIN or isinstance(inst.attrs["value"], np.generic)]
                      for block in fn.blocks]
        for block, insts in zip(fn.blocks, kept_insts):
            for v in [*block.params, *[inst.result for inst in insts if inst.result is not None]]:
                values[v] = len(values)
        blocks = {block: n for n, block in enumerate(fn.blocks)}

        def edge(e):
            return blocks[e.block], *[values[v] for v in e.args]

        body = []
        for block, insts in zip(fn.blocks, kept_insts):
            body.append((block.name, len(block.params), [
                (self.operations.setdefault(inst.op, len(self.operations)), [values[v] for v in inst.args],
                 {name: self.attribute(x) for name, x in inst.attrs.items()}, inst.result is not None,
                 self.locs.setdefault(inst.loc, len(self.locs)), list(map(edge, inst.targets)),
                 None if inst.unwind is None else edge(inst.unwind)) for inst in insts]))
        result = None if spec.result is None else (self.value(spec.result[0]), self.value(spec.result[1]))
        return (digest, declared, tuple([(self.value(t), self.value(v)) for t, v in spec.args]), fn.name, fn.qualname,
                os.path.relpath(fn.filename, _PACKAGE), fn.firstlineno, tuple(fn.flags), self.value(fn.result), result,
                spec.raises, [self.type(v.type) for v in values], [v.name for v in values], body)


class _Decoder:
    def __init__(self, images: Images):
        self.images = images
        self.types: list[Type] = []
        self.functions: list[ir.Function] = []
        self.trees: list = []

    def run(self, types, operations, locs, trees, functions) -> Spec:
        images = self.images
        for module, name, args in types:
            self.types.append(getattr(_module(module), name)(*map(self.value, args)))
        tables: dict[str, dict[str, ir.Op]] = {}
        ops = []
        for module, name in operations:
            table = tables.get(module)
            if table is None:
                table = tables[module] = _operations(module)
            ops.append(table[name])
        places = [ir.Loc(*loc) for loc in locs]
        new: dict[bytes, Spec] = {}
        for one in functions:
            spec = images.found.get(one[0])
            if spec is None:
                spec = new[one[0]] = self.spec(one)
            self.functions.append(spec.typed)
        for one in trees:
            self.trees.append(Leaf(one) if type(one) is int else
                              Node(self.functions[one[0]], [self.trees[n] for n in one[1:]]))
        for one in functions:
            if one[0] in new:
                self.body(new[one[0]].typed, ops, places, *one[-3:])
        images.found.update(new)
        return images.found[functions[0][0]]

    def spec(self, encoded) -> Spec:
        (digest, declared, given, name, qualname, filename, line, flags, returned, result, raises, *_) = encoded
        spec = Spec(None, tuple([(self.value(t), self.value(v)) for t, v in given]), None, None)
        spec.image, spec.raises, spec.dependents = digest, raises, None
        spec.result = result and (self.value(result[0]), self.value(result[1]))
        fn = spec.typed = ir.Function(name, qualname, os.path.normpath(os.path.join(_PACKAGE, filename)), line, True)
        fn.flags, fn.result = FunctionFlags(*flags), self.value(returned)
        fn.memo["spec"] = spec
        if declared is not None:
            fn.memo["declared"] = declared
            self.images.library.declare(fn, _named(*declared).__code__, spec.args)
        return spec

    def value(self, x) -> Any:
        if type(x) is not tuple:
            return x
        tag, *rest = x
        if tag == "type":
            return self.types[rest[0]]
        if tag == "tuple":
            return tuple(map(self.value, rest))
        if tag == "unknown":
            return UNKNOWN
        if tag == "function":
            return self.functions[rest[0]]
        if tag == "tree":
            return self.trees[rest[0]]
        if tag == "named":
            return _named(*rest)
        if tag == "operation":
            return _operations(rest[0])[rest[1]]
        if tag == "dtype":
            return np.dtype(rest[0])
        if tag == "number":
            return np.frombuffer(rest[1], rest[0])[0]
        if tag == "slice":
            return slice(*map(self.value, rest))
        if tag == "range":
            return range(*rest)
        if tag == "module":
            return _module(rest[0])
        if tag == "ellipsis":
            return ...
        raise ValueError(tag)

    def body(self, fn: ir.Function, ops, places, types, names, blocks) -> None:
        kinds, Edge, Inst = self.types, ir.Edge, ir.Inst
        values = [ir.Value(kinds[t], name) for t, name in zip(types, names)]
        made = [ir.Block(name) for name, _, _ in blocks]
        at = 0
        for block, (_, count, insts) in zip(made, blocks):
            block.params = values[at:at + count]
            at += count
            for op, args, attrs, has_result, loc, targets, unwind in insts:
                result = None
                if has_result:
                    result = values[at]
                    at += 1
                for name, x in attrs.items():
                    if type(x) is tuple:
                        attrs[name] = self.value(x)
                    elif type(x) is str:  # equal texts in two functions are mostly one object
                        attrs[name] = sys.intern(x)
                block.insts.append(Inst(
                    ops[op], [values[v] for v in args], attrs, result, places[loc],
                    [Edge(made[b], [values[v] for v in given]) for b, *given in targets],
                    None if unwind is None else Edge(made[unwind[0]], [values[v] for v in unwind[1:]])))
        fn.blocks = made
