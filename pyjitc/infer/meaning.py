"""The meaning of an operation for given operand types: a small expression over the operands.

A rule of the library inspects the types (and known values) of its operands and returns an expression of leaf
operations, library calls and constants; inference reads its type, and emission converts it to instructions. Anything
that needs control flow is a library function.
"""
from __future__ import annotations

from typing import Any, Callable

from ..base.errors import TypingError
from ..ir.core import OBJECTS, PURE, Op, regions_read
from ..types.classes import defines
from ..types.kinds import ObjectOf, Type

__all__ = ["UNKNOWN", "Expr", "Operand", "Const", "Apply", "Call", "CallValue", "ClassAttribute", "Derived", "FieldGet",
           "FieldSet", "Local", "Ruled", "Share", "Step", "Nest", "Fresh", "Throw", "Mismatch", "FieldNotConstant",
           "NotConstant", "NotConverted", "NotNative", "NeedsObjects", "NeedsDisplays", "NeedsList",
           "RecursiveGenerator", "Restart", "Again", "thrown"]


class _Unknown:
    __slots__ = ()

    def __repr__(self):
        return "UNKNOWN"

    def __bool__(self):
        raise TypeError("an unknown value has no truth: compare with `is UNKNOWN`")


UNKNOWN = _Unknown()


class Mismatch(Exception):
    """Raised where the operands have no such operation. `message`: that of CPython's TypeError; `hint`: what to write
    instead, or ''. `exception`: the class that CPython raises at run time (by default TypeError); `given`: its
    arguments, where these are not the message."""

    def __init__(self, message: str, hint: str = "", exception: type = TypeError, given: tuple | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exception = exception
        self.given = given
        self.name: str | None = None  # of the attribute that is missing
        self.obj: Expr | None = None  # the value that does not have it, where the interpreter can have an object for it
        # where the program is to be changed, if not where the error is found: (Spec, instruction)
        self.place: Any = None


class NotConverted(Mismatch):
    """Raised where an operation has no meaning for an operand, but has one for the number that `function`, which is
    operator.index or float, makes of it. Inference tries that number where the class of the operand defines it."""

    def __init__(self, message: str, hint: str, operand: "Expr", function):
        super().__init__(message, hint)
        self.operand, self.function = operand, function

    def is_defined(self) -> bool:
        """Whether the class of the operand is one of the program and defines the conversion to that number."""
        t = self.operand.type
        return isinstance(t, ObjectOf) and defines(t.cls, "__index__", *["__float__"] * (self.function is float))


class NotNative(Mismatch):
    """Raised where the interpreter does the operation, and compiled code has no form for it. Where any other Mismatch
    is raised, the interpreter would raise the same exception."""


class NotConstant(NotNative):
    """Raised where compiled code needs a value that is a constant."""


class FieldNotConstant(NotConstant):
    """Raised where the value that must be a constant is the name of a field of a record."""


class RecursiveGenerator(NotNative):
    """Raised where a generator that `code` makes would hold another generator of the same code, to any depth."""

    def __init__(self, code):
        super().__init__("a generator that iterates over another of itself is not compiled",
                         "write a recursive function, or a loop with a list as the stack")
        self.code = code


class NeedsList(Exception):
    """Raised where an operation on a list display needs a list: its type is not enough (see displays.py)."""


class NeedsDisplays(Mismatch):
    """Raised where the result of a function, or an argument of a derivative, must be a dict display, whose type has its
    keys, but is a Python dict: inference begins again, and takes the dict displays that functions only return or pass
    to calls as displays (displays.read_only)."""


class NeedsObjects(Exception):
    """Raised where a value of `type` becomes a Python object: functions in it must be Python function objects, and the
    variables that they share must be Python cells."""

    def __init__(self, type: Type):
        super().__init__(type)
        self.type = type


class Restart(Exception):
    """Raised to restart inference: it has found more list displays that must be lists (see displays.py), or functions
    and variables that must be Python objects."""


class Again(Exception):
    """Raised where the program needs other options, with which it is compiled again. `options`: their values."""

    def __init__(self, **options: Any):
        super().__init__(options)
        self.options = options


class Expr:
    """A node: `type` (None for a Call until inference has read the callee) and `value` (UNKNOWN or the constant)."""

    __slots__ = ("type", "value")
    type: Any  # not Type | None: most code only handles expressions that have a type
    value: Any

    @property
    def known(self) -> bool:
        return self.value is not UNKNOWN


class Operand(Expr):
    """Operand `index` of the instruction: a type, and its value where it is a constant. members: for a
    union, member -> value, for the members whose value is known."""

    __slots__ = ("index", "members")

    def __init__(self, index: int, type: Type, value: Any = UNKNOWN, members: dict[Type, Any] | None = None):
        self.index = index
        self.members = members
        self.type = type
        self.value = value

    def __repr__(self):
        return f"operand {self.index}: {self.type}"


class Const(Expr):
    __slots__ = ()

    def __init__(self, type: Type, value: Any):
        self.type = type
        self.value = value


class Apply(Expr):
    """A leaf operation on sub-expressions (a Call that occurs twice in a tree is made once). Its type comes from the
    record's rule; pure operations on known operands are folded by the record's `eval` (if that raises, the operation is
    left to run time)."""

    __slots__ = ("op", "operands", "attrs", "holds")
    holds: bool

    def __init__(self, op: Op, *operands: Expr, **attrs: Any):
        self.op = op
        # whether a part of it reads or changes the contents of containers
        self.holds = op.stores is not None or bool(regions_read(op.effects) & OBJECTS) or any(
            [type(x) is Apply and x.holds for x in operands])
        self.operands = operands
        self.attrs = attrs
        self.type = None
        self.value = UNKNOWN
        if all([x.type is not None for x in operands]):
            self.type_now()

    def type_now(self) -> None:
        """Compute the type and, for a pure operation on known operands, the value. The operands must have types (a Call
        among them has none before inference has analysed the callee; inference then calls this)."""
        op, operands = self.op, self.operands
        assert op.rule is not None
        self.type = op.rule(tuple([x.type for x in operands]), self.attrs)
        if op.effects == PURE and op.eval is not None and all([x.value is not UNKNOWN for x in operands]):
            try:
                self.value = op(*[x.value for x in operands], **self.attrs)
            except Exception:
                self.value = UNKNOWN


class Call(Expr):
    """A call of a library function (a Python function of `lib/`, in the compiled subset), specialised on the
    operands' types and known values (int, bool, str, None, and tuples of these)."""

    __slots__ = ("function", "operands", "resolved")

    def __init__(self, function: Callable, *operands: Expr):
        self.function = function
        self.operands = operands
        self.resolved: Expr | None = None
        self.type = None
        self.value = UNKNOWN


class CallValue(Expr):
    """A call of a function value (an operand of Function type, or a Singleton holding a Python callable), as if the
    source contained `callee(*operands, **keywords)`: map, filter, sorted(key=) and operators of classes use it."""

    __slots__ = ("callee", "operands", "keywords")

    def __init__(self, callee: Expr, *operands: Expr, keywords: dict[str, Expr] | None = None):
        self.callee = callee
        self.operands = operands
        self.keywords = keywords or {}
        self.type = None
        self.value = UNKNOWN


class Derived(Expr):
    """A call of the derivative of a function value, `callee(*operands)`; passes/derivatives makes its body. wrt: the
    positions of the operands with respect to which it is differentiated.

    mode: what the call returns. The value that is differentiated is the result, or with `has_aux` its first item.
    "gradient": (result, gradients of that value with respect to each of `wrt`). "pull": the same with the cotangent of
    that value in `seeds`. "push": (result, tangent of that value) for the tangents of `wrt` in `seeds`.

    memory: the bytes that reverse mode may keep for a loop, 0 where there is no limit.

    of_displays: (this expression, type of the result) -> the expression that replaces this one if the function returns
    displays, or a float on some paths and an int on others; None where nothing replaces it."""

    __slots__ = ("callee", "operands", "mode", "wrt", "seeds", "has_aux", "memory", "of_displays", "called")

    def __init__(self, callee: Expr, operands, mode: str, wrt: tuple[int, ...], seeds=(), has_aux: bool = False,
                 of_displays: Callable | None = None, memory: int = 0):
        self.of_displays = of_displays
        self.callee, self.operands, self.mode, self.wrt = callee, list(operands), mode, wrt
        self.seeds, self.has_aux, self.memory = list(seeds), has_aux, memory
        self.called: Any = None  # the call of the function itself, once its type is known
        self.type = None
        self.value = UNKNOWN


class Ruled(Expr):
    """A call of a function with derivatives from the program, `callee(*operands)`; the last operand is a tuple of all
    its arguments. tangent, forward, backward: (library function, its first operands), or None: see ops/derivative.py.
    fixed: the positions of arguments that must not vary; repeats: see ops/derivative.py. of_displays: for a function
    that returns list or dict displays: type of its result -> an expression that computes it by a call of a function
    that returns tuples in their place."""

    __slots__ = ("callee", "operands", "tangent", "forward", "backward", "fixed", "repeats", "of_displays")

    def __init__(self, callee, operands, tangent, forward, backward, fixed, repeats, of_displays):
        self.callee, self.operands, self.repeats, self.of_displays = callee, list(operands), repeats, of_displays
        self.tangent, self.forward, self.backward, self.fixed = tangent, forward, backward, fixed
        self.type = None
        self.value = UNKNOWN


class ClassAttribute(Expr):
    """The attribute of a class before it is bound, such as a method that an operator calls. The code is compiled again
    where the program assigns another one."""

    __slots__ = ("cls", "name")

    def __init__(self, cls: type, name: str):
        self.cls = cls
        self.name = name
        self.type = None
        self.value = UNKNOWN


class FieldGet(Expr):
    """The attribute `name` that an object stores. otherwise: the value of the class attribute of that name, which is
    used where the object stores none; UNKNOWN where the class has none."""

    __slots__ = ("x", "name", "otherwise")

    def __init__(self, x: Expr, name: str, otherwise: Any = UNKNOWN):
        self.x = x
        self.name = name
        self.otherwise = otherwise
        self.type = None
        self.value = UNKNOWN


class FieldSet(Expr):
    """Store an attribute of an object, as object.__setattr__ does. The result is None."""

    __slots__ = ("x", "name", "content", "stored")

    def __init__(self, x: Expr, name: str, content: Expr):
        self.x = x
        self.name = name
        self.content = content
        self.stored: Type | None = None  # the type in which the value is stored, once it is known
        self.type = None
        self.value = UNKNOWN


class Local(Expr):
    """The abstract value of a value in the function's own generic IR: its first argument, for super()."""

    __slots__ = ("local",)

    def __init__(self, local: Any):
        self.local = local
        self.type = None
        self.value = UNKNOWN


class Step(Expr):
    """One step of a generator's state (an operand of Generator type): (has, item, next state)."""

    __slots__ = ("state",)

    def __init__(self, state: Expr):
        self.state = state
        self.type = None
        self.value = UNKNOWN


class Share(Expr):
    """An iterator object with an iteration state (an operand), for a value that several variables may refer to. Its
    content has the types of all states that steps lead to."""

    __slots__ = ("state",)

    def __init__(self, state: Expr):
        self.state = state
        self.type = None
        self.value = UNKNOWN


class Fresh(Expr):
    """A container of kind `kind` (a subclass of kinds.Container) that is made here: its type has type variables of its
    own, one set for each place in the program, in which `held`, types by parameter, are stored. make: type ->
    expression."""

    __slots__ = ("kind", "held", "make")

    def __init__(self, kind: type, held: tuple, make: Callable):
        self.kind, self.held, self.make = kind, held, make
        self.type = None
        self.value = UNKNOWN


class Nest(Expr):
    """A loop nest over array elements (ops/nest.py): `template(*arguments, dtype of an element)` with, in its holes,
    `kernel(*fixed, elements of the operands)`; template and kernel are library functions.

    shape: the position of the argument that is the shape of the resulting array, None if the result is no array. ndim:
    the number of axes of the index space. into: whether the nest writes into an argument. dtype: the NumPy scalar type
    of an element, None for the type of the kernel's result. kept: the only axis of the result, or None.

    instead: the library function that is called in place of the nest if all operands are in memory; its arguments are
    the operands, and with `into` all `arguments` but the first, then the operands. beside: a library function that
    computes two products of one matrix, of which this nest is the second; its arguments are the matrix, a vector to
    its right and a column to its left."""

    __slots__ = ("template", "arguments", "kernel", "fixed", "operands", "shape", "ndim", "into", "dtype", "instead",
                 "beside", "kept", "calls")

    def __init__(self, template: Callable, arguments, kernel: Callable, fixed, operands, *, ndim: int,
                 shape: int | None = None, into: bool = False, dtype: Type | None = None,
                 instead: Callable | None = None, beside: Callable | None = None, kept: int | None = None):
        self.template, self.arguments, self.kernel, self.fixed = template, list(arguments), kernel, list(fixed)
        self.operands, self.shape, self.ndim, self.into, self.dtype = list(operands), shape, ndim, into, dtype
        self.instead, self.beside, self.kept = instead, beside, kept
        # (those of the template, of the kernel, and of `instead` and `beside` or None), once their types are known
        self.calls: tuple | None = None
        self.type = None
        self.value = UNKNOWN


class Throw(Expr):
    """Raises `exception(message)`, or `exception(*given)`, when control arrives: an operation that is certain to fail
    at run time.

    name: the attribute `name` of a NameError or an AttributeError; obj: the attribute `obj` of the latter, or None.
    hint: '', or what the program probably means; it is then refused at compile time, unless the program catches
    it."""

    __slots__ = ("exception", "message", "hint", "given", "name", "obj")

    def __init__(self, exception: type, message: str, hint: str = "", given: tuple | None = None,
                 name: str | None = None, obj: Expr | None = None):
        self.exception = exception
        self.message = message
        self.hint = hint
        self.given = given
        self.name = name
        self.obj = obj
        self.type = None
        self.value = UNKNOWN


def thrown(error: Mismatch) -> Throw:
    """The code for one case that is refused: when control arrives there, it raises the exception that the interpreter
    would raise, or an error which says that compiled code cannot do the operation."""
    if isinstance(error, NotNative) and error.exception is TypeError:
        return Throw(TypingError, f"{error.message}: {error.hint}" if error.hint else error.message)
    return Throw(error.exception, error.message, given=error.given, name=error.name, obj=error.obj)
