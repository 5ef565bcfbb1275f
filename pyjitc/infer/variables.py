"""The meaning of the generic operations on variables: globals, captured variables and cells."""
from __future__ import annotations

import types as pytypes
from typing import Any, Callable

import numpy as np

from ..base.errors import did_you_mean
from ..base.lazy import lazy
from ..front.functions import SELF, Recursive
from ..ir import core as ir
from ..ops import control, generic, pyobject, structure
from ..ops.arith import numpy_class
from ..types.kinds import (
    Array, Cell, Function, Object, ObjectCell, Singleton, Tuple, Type, Unbound, any_part, closed, is_number, members_of,
)
from .constants import constant
from .expressions import Captured, CellGet, CellSet, Expr, MakeCell, OwnFunction
from .join import join
from .meaning import UNKNOWN, Apply, Const, NeedsObjects, NotNative, Throw
from .names import with_object

boxed = lazy(f"{__package__}.boxed")  # only programs that need the interpreter load it
dis = lazy("dis")

__all__ = ["Variables"]


class Variables:
    """The meaning of the operations on variables: a part of `Operations`."""

    analysis: Any
    session: Any
    inst: ir.Inst
    block: ir.Block
    constant_of: Callable
    held_constant: Callable
    reader_of_display: Callable
    call: Callable

    def global_(self, inst, operands):
        name = inst.attrs["name"]
        proto = self.analysis.spec.proto
        space = proto.globals
        if (id(space), name) in self.session.outer:
            return self.variable_value(self.session.outer[id(space), name], False)
        value = space.get(name, UNKNOWN)
        if not proto.library:
            self.session.depend(space, name, value)
            self.session.readers.setdefault((id(space), name), {})[self.analysis, self.block] = None
        if value is UNKNOWN:
            builtins = space.get("__builtins__", __builtins__)
            builtins = builtins if isinstance(builtins, dict) else vars(builtins)
            value = builtins.get(name, UNKNOWN)
            if value is UNKNOWN:
                return Throw(NameError, f"name '{name}' is not defined", self.other_variable(name, (*space, *builtins)),
                             name=name)
        return self.constant_of(inst, value)

    def store_global(self, inst, operands):
        space, name = self.analysis.spec.proto.globals, inst.attrs["name"]
        return self.store_variable(self.session.outer_variable(space, name, name), operands[0])

    def store_variable(self, variable, value):
        self.session.grow(variable, value.type)
        function = "PyCell_Set" if variable.key is None else "PyDict_SetItem"
        key = () if variable.key is None else (Const(Object, variable.key),)
        return boxed.test(function, Const(Object, variable.container), *key, value)

    def variable_value(self, variable, free):
        variable.readers[self.analysis, self.block] = None
        exception, message = (self.session.unbound_error(variable.name, True) if free else
                              (NameError, f"name '{variable.name}' is not defined"))
        if variable.content is None:
            return Throw(exception, message, name=variable.name)
        return self.read_variable(variable.name, Const(Object, variable.container), variable.key, variable.content,
                                  exception, message)

    def read_variable(self, name, container, key, content, exception, message):
        found = Apply(pyobject.PY_VARIABLE, container, key=key, cls=exception, message=message)
        if content is Object:
            return found
        return Apply(pyobject.PY_UNBOX, found, type=content, otherwise=(
            "TypeError", f"the variable '{name}' was of type {closed(content)} when this was compiled, and holds "
                         f"something else now"))

    def other_variable(self, name, more=()):
        """The hint for an error about a variable without a value: a similar name among those of the function or in
        `more`."""
        code = self.analysis.spec.proto.code
        if any(step.argval == name and step.opname.startswith("DELETE_") for step in dis.get_instructions(code)):
            return ""  # the variable had a value
        return did_you_mean(name, (*code.co_varnames, *code.co_cellvars, *code.co_freevars, *more))

    def freevar(self, inst, operands, name=""):
        name = name or inst.attrs["name"]
        spec = self.analysis.spec
        index = spec.proto.code.co_freevars.index(name)
        if spec.closure is not None:
            role = spec.closure[0].roles.index("closure")
            return self.captured(spec.closure[0], role, index)
        cell = spec.function.__closure__[index]
        if inst is not None and inst.attrs["rebound"] or (id(cell), None) in self.session.outer:
            self.session.outer_variable(cell, None, name)
            return Const(Singleton(cell), cell)
        self.session.readers.setdefault((id(cell), None), {})[self.analysis, self.block] = None
        try:
            value = cell.cell_contents
        except ValueError:
            self.session.depend(cell, None, UNKNOWN)
            exception, message = self.session.unbound_error(name, True)
            return Throw(exception, message, name=name)
        self.session.depend(cell, None, value)
        if value is spec.function:  # a local function that calls itself
            return Const(Singleton(value), value)
        return self.held_constant(value)

    def captured(self, function, role, index):
        t = function.captures[role].elements[index]
        if isinstance(t, Singleton) and type(t.value) is Recursive:
            return self.recursive(t.value, function, role)
        return Captured(t, role, index)

    def recursive(self, made, function, role):
        """The value of a variable for a function that did not exist yet when the running function was made: the running
        function itself, or a function built from its closure."""
        if made.own:
            return OwnFunction(function)
        parts = [OwnFunction(function) if p is SELF else self.captured(function, role, p) if type(p) is int else
                 self.recursive(p, function, role) if p in _markers(function, role) else Const(Singleton(p), p)
                 for p in made.parts]
        closure = Apply(structure.TUPLE_MAKE, *parts, cls=None)
        proto = self.session.nested(self.analysis.spec.proto, made.code, made.qualname)
        return Apply(structure.FUNCTION_MAKE, closure, type=Function(proto, (closure.type,), ("closure",)))

    def make_cell(self, inst, operands):
        name = inst.attrs.get("name", "cell")
        site = self.session.site(self.analysis.spec, inst, Cell, lambda: self.session.variable(name=name))
        if inst not in self.session.findings.cells:
            self.refine(site, operands[0].type)
            return MakeCell(operands[0], Cell(site))
        given = []
        if operands[0].type is not Unbound:
            given = operands
            self.refine(site, with_object(operands[0]).type)
        made = boxed.by_python(pytypes.CellType, *given)
        return Apply(structure.RETYPE, made, type=ObjectCell(site))

    def refine(self, site, content):
        # the two refer to each other, which only the interpreter's garbage collector can free
        if _holds(content, site):
            raise NeedsObjects(Tuple((Cell(site), content)))
        site.become(content if site.content is None else join((site.content, UNKNOWN), (content, UNKNOWN))[0])

    def cell_get(self, inst, operands):
        cell = operands[0]
        if isinstance(cell.type, Singleton) and type(cell.type.value) is pytypes.CellType:
            return self.variable_value(self.session.outer[id(cell.type.value), None], True)
        unbound = cell.type is Unbound or isinstance(cell.type, ObjectCell) and cell.type.content is None
        if isinstance(cell.type, Cell):
            unbound = cell.type.content is Unbound
        if unbound:
            name = inst.attrs["name"]
            exception, message = self.session.unbound_error(name, inst.attrs.get("free", False))
            return Throw(exception, message, self.other_variable(name), name=name)
        if isinstance(cell.type, ObjectCell):
            name, content = inst.attrs["name"], cell.type.content
            exception, message = self.session.unbound_error(name, inst.attrs.get("free", False))
            return self.read_variable(name, Apply(structure.RETYPE, cell, type=Object), None, content, exception,
                                      message)
        if not isinstance(cell.type, Cell):
            return cell  # captured by value: it is never rebound
        return CellGet(cell, cell.type.content, inst.attrs["name"], inst.attrs.get("free", False))

    def cell_set(self, inst, operands):
        t = operands[0].type
        if isinstance(t, Singleton) and type(t.value) is pytypes.CellType and operands[1].type is not Unbound:
            return self.store_variable(self.session.outer[id(t.value), None], operands[1])
        if isinstance(t, ObjectCell):
            self.refine(t.site, with_object(operands[1]).type)
            return boxed.test("PyCell_Set", Apply(structure.RETYPE, operands[0], type=Object), operands[1])
        if not isinstance(t, Cell):
            raise NotNative(f"assigning to '{inst.attrs['name']}' of the function around the compiled one is not "
                            f"supported",
                            "return the value, or write into an array")
        self.refine(operands[0].type.site, operands[1].type)
        return CellSet(operands[0], operands[1])

    def check_bound(self, inst, operands):
        x = operands[0]
        if x.type is Unbound:
            if self.session.options.numba and (made := self.no_elements(inst)) is not None:
                return made
            name = inst.attrs["name"]
            exception, message = self.session.unbound_error(name, False)
            return Throw(exception, message, self.other_variable(name))
        return x

    def no_elements(self, inst) -> Expr | None:
        """The array without elements that replaces an unset variable for an array, if it is only returned as an item of
        a tuple; None for other variables. Programs for Numba rely on that: callers do not read the arrays that the
        function was not asked to compute."""
        reader, _ = self.analysis.shape.only_reader(inst, self.block)
        if reader is None or reader.op is not generic.TUPLE or self.reader_of_display(inst)[0] is not control.RETURN:
            return None
        found = [t for t in members_of(self.analysis.lookup(inst.args[0], self.block)[0]) if t is not Unbound]
        if len(found) != 1 or not isinstance(found[0], Array) or not is_number(found[0].dtype):
            return None
        shape, dtype = constant((0,) * found[0].ndim), constant(numpy_class(found[0].dtype))
        return self.call(constant(np.empty), [shape, dtype], {})


def _markers(function, role):
    return [t.value for t in function.captures[role].elements if isinstance(t, Singleton)]


def _holds(t: Type, site) -> bool:
    """Whether a value of type `t` refers to the cell of `site`."""
    return any_part(t, lambda part: isinstance(part, Cell) and (
        part.site is site or part.site.content is not None and _holds(part.site.content, site)))
