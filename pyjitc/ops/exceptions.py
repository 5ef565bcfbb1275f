"""Operations on exceptions. Code raises one by setting Python's error indicator and taking the failure exit; exception
values are references to Python objects."""
from __future__ import annotations

from ..ir.core import ALLOCATES, ERRORS, HOST, PURE, RAISES, READS, TERMINATOR, WRITES, Op, writes
from ..types.kinds import Bool, Exception_, Int, NoneType, Object
from .effects import NONDIFF

__all__ = ["EXCEPTION_OPS"]


def _new_lower(e, inst, *operands):
    cls = e.object(inst.attrs["cls"])
    given = [e.box(a.type, x, inst) for a, x in zip(inst.args, operands)]
    return [e.python_call(inst, cls, given, inst.attrs.get("names", ()))]


def _new(*args, cls, names=()):
    placed = len(args) - len(names)
    return cls(*args[:placed], **dict(zip(names, args[placed:])))


def _throw_exc_lower(e, inst, exc, *cause):
    if cause:
        if inst.args[1].type is NoneType:
            reference = "null"
        else:
            reference = cause[0][0]
            e.line(f"call void {e.helper('pyj_retain_object')}(ptr {reference})")
        e.line(f"call void @PyException_SetCause(ptr {exc[0]}, ptr {reference})")
    e.line(f"call void {e.helper('pyj_throw')}(ptr {exc[0]})")
    e.jump(e.fail(inst))
    return []


def _throw_lower(e, inst, *operands):
    message = inst.attrs["message"]
    if not operands:
        e.error(inst, inst.attrs["cls"], message.replace("%", "%%"))
        return []
    given, forms = [], []
    for value, (x,) in zip(inst.args, operands):
        bits, signed = (64, True) if value.type is Int else (value.type.bits, value.type.signed)
        if bits < 64:
            x = e.assign(f"{'sext' if signed else 'zext'} i{bits} {x} to i64")
        given.append(f"i64 {x}")
        forms.append("%lld" if signed else "%llu")
    message = "%%".join(part.replace("%s", "{}")
                        for part in message.replace("{", "{{").replace("}", "}}").split("%%")).format(*forms)
    e.error(inst, inst.attrs["cls"], message, *given)
    return []


def _warn_lower(e, inst):
    e.warn(inst, inst.attrs["cls"], inst.attrs["message"])
    return []


def _match_lower(e, inst, exc):
    result = None
    for cls in inst.attrs["classes"]:
        one = e.assign(f"call i32 @PyErr_GivenExceptionMatches(ptr {exc[0]}, ptr {e.object(cls)})")
        hit = e.assign(f"icmp ne i32 {one}, 0")
        result = hit if result is None else e.assign(f"or i1 {result}, {hit}")
    return [result or "false"]


def _call(helper, result):
    def lower(e, inst, *operands):
        args = ", ".join(f"ptr {x[0]}" for x in operands)
        if result:
            return [e.assign(f"call ptr {e.helper(helper)}({args})")]
        e.line(f"call void {e.helper(helper)}({args})")
        return []

    return lower


EXC_NEW = Op("exc_new", lambda types, attrs: Exception_(attrs["cls"]), RAISES | ALLOCATES | READS | WRITES | HOST,
             lower=_new_lower, eval=_new, eval_attrs=True, partials=NONDIFF,
             doc="a new instance of exception class {cls}; {names}: the keywords of the last operands")
EXC_THROW = Op("exc_throw", lambda types, attrs: None, TERMINATOR | RAISES | writes(ERRORS) | HOST,
               lower=_throw_exc_lower, partials=NONDIFF, doc="raise exc [from cause]; cause is an exception or None")
THROW = Op("throw", lambda types, attrs: None, TERMINATOR | RAISES | writes(ERRORS), lower=_throw_lower,
           partials=NONDIFF, doc="raise {cls}({message}), with the int operands in place of each %s")
WARN = Op("warn", lambda types, attrs: NoneType, RAISES | writes(ERRORS), lower=_warn_lower, partials=NONDIFF,
          doc="issue the warning {message} of class {cls}, which a filter may turn into an exception")
EXC_FETCH = Op("exc_fetch", lambda types, attrs: Exception_(BaseException), ALLOCATES | writes(ERRORS) | HOST,
               lower=_call("pyj_fetch", True), partials=NONDIFF,
               doc="take the exception that arrived out of the error indicator")
EXC_MATCH = Op("exc_match_class", lambda types, attrs: Bool, PURE, lower=_match_lower, partials=NONDIFF,
               eval=lambda exc, *, classes: isinstance(exc, classes), eval_attrs=True,
               doc="whether exc is an instance of one of {classes}")
EXC_PUSH = Op("exc_push", lambda types, attrs: Object, ALLOCATES | writes(ERRORS) | HOST, lower=_call("pyj_push", True),
              partials=NONDIFF,
              doc="make exc the handled exception and return the one before (a null reference for none)")
EXC_POP = Op("exc_pop", lambda types, attrs: None, writes(ERRORS) | HOST, lower=_call("pyj_pop", False),
             partials=NONDIFF, doc="make `previous` the handled exception again")


def _nan_lower(e, inst, result, *operands):
    scalar = e.scalar(inst.args[0].type)
    fine = e.assign(f"fcmp ord {scalar} {result[0]}, {result[0]}")
    for value, (x,) in zip(inst.args[1:], operands):
        given = e.assign(f"fcmp uno {e.scalar(value.type)} {x}, {x}")
        fine = e.assign(f"or i1 {fine}, {given}")
    e.raise_unless(fine, inst, "FloatingPointError",
                   f"invalid value encountered in {inst.attrs['what']}".replace("%", "%%"))
    return []


NAN_CHECK = Op("nan_check", lambda types, attrs: None, RAISES, lower=_nan_lower, partials=NONDIFF,
               doc="raise FloatingPointError where the first operand, the result of {what}, is a NaN, and the other "
                   "operands, from which it was computed, are not")

EXCEPTION_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
