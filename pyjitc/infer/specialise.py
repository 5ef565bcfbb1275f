"""Typed IR for a Python function and the types of a call: the interface of this package."""
from __future__ import annotations

from types import ModuleType

from ..base.errors import CompileError, Diagnostic, TypingError
from ..base.lazy import lazy
from ..ir import core as ir
from ..ops import control
from ..ops.generic import CHECK_BOUND
from ..types.classes import FIXED_MODULES
from ..types.kinds import (
    DictDisplay, Function, Generator, Iterator, ListDisplay, Method, NoneType, Object, Singleton, any_part, closed,
)
from .analysis import Analysis
from .emit import close, emit
from .expressions import Split, UserCall, is_one_case
from .meaning import UNKNOWN, Expr, Mismatch, NeedsDisplays, NotNative, Restart, Throw
from .session import Findings, Session, only_value

__all__ = ["specialise"]

_linecache = lazy("linecache")
generators = lazy("pyjitc.front.generators")  # only programs with `yield` load it
_GENERATOR = 0x20  # inspect.CO_GENERATOR
_MAX_ROUNDS = 10_000  # only an error in the compiler exceeds it: each round finds something new, such as one more list
forgiving = lazy(f"{__package__}.forgiving")
handlers = lazy(f"{__package__}.handlers")  # only programs with an operation that certainly raises load it


def specialise(function, types, *, library, build, prototype, nested, options, program_library=None, lists=False):
    """Typed IR of `function` for arguments of `types`.

    library: lib.table.Library; program_library: the library for the program's own operations, None if it is the same;
    build, prototype, nested: functions of the front end, see Session; lists: whether every list display is a Python
    list. Returns (functions, spec, dependencies): a list of typed ir.Functions (the entry first), the Spec of the
    entry, a list of session.Dependency. Raises TypingError with the location in the program; its attribute
    `dependencies` is such a list, too."""
    findings, refused = Findings(), None
    findings.every = lists
    for _ in range(_MAX_ROUNDS):
        session = Session(library, program_library or library, build, prototype, nested, Analysis, options, findings)
        try:
            functions, spec = _specialised(session, function, types, library, prototype)
            break
        except Restart:
            continue
        except CompileError as error:
            error.dependencies = list(session.dependencies.values())
            if options.objects or refused is not None and _place(refused) != _place(error):
                raise
            if refused is not None:  # for one place, the error that was found without the interpreter says more
                try:
                    raise refused from None
                finally:
                    refused = None  # its traceback refers to this frame: this breaks the reference cycle
            findings, refused = Findings(asks=True), error.with_traceback(None)
            findings.every = lists
        finally:
            session.close()
    else:
        raise AssertionError(f"inference of {function.__qualname__} does not come to an end")
    return functions, spec, list(session.dependencies.values())


def _place(error):
    return error.diagnostic and error.diagnostic[1:6]


def _specialised(session, function, types, library, prototype):
    proto = prototype(function)
    session.depend_on_function(function)
    args = tuple((session.argument(t), only_value(t)) for t in types)
    if proto.code.co_flags & _GENERATOR:
        proto = generators.start_of(proto, function)
    try:
        spec = session.spec(proto, args, None, function)
        session.settle()
    except Mismatch as error:
        raise located(proto, None, error, ()) from None
    if session.options.objects:
        one = forgiving.refused(spec)
        if one is not None:
            inst = min(one.analysis.errors, key=lambda i: (i.loc.line, i.loc.col))
            raise located(one.proto, inst, one.analysis.errors[inst], _operand_types(one.analysis, inst))
    if session.asks:
        spec.remarks = forgiving.remarks(session)
    wrong = [] if session.options.objects else [
        one for one in session.order
        # An error in a library function is reported at its caller; the entry has none.
        if one.analysis is not None and one.analysis.errors and (not one.proto.library or one is spec)]
    needed = _called(spec) if wrong else ()
    for one in wrong:
        # a specialisation that is not needed was requested while less was known about the types of variables
        left = _not_raised(session, one) if one in needed else ()
        if left:
            inst = min(left, key=lambda i: (i.loc.line, i.loc.col))
            one, inst, found = _in_the_program(one, inst, one.analysis.errors[inst], spec, library)
            raise located(one.proto, inst, found, _operand_types(one.analysis, inst),
                          _calls(one, spec, inst.loc.line)) from None
    for analysis, inst in () if session.options.objects else session.doubtful:
        found = analysis.meaning.get(inst)
        one = analysis.spec
        if type(found) is Throw and found.hint and not (
                _has_value(analysis, inst) or is_one_case(one) or handlers.catches(analysis, inst, found.exception)):
            refusal = Mismatch(found.message, found.hint, found.exception)
            raise located(one.proto, inst, refusal, (), _calls(one, spec, inst.loc.line))
    functions = emit(session, spec)
    spec.accepts = tuple(map(session.accepted, types))
    if session.variables:
        close(functions, session)
        spec.args = tuple((t, value) for t, (_, value) in zip(types, spec.args))
        if spec.result is not None:
            spec.result = closed(spec.result[0]), spec.result[1]
    return functions, spec


def _not_raised(session, spec) -> list[ir.Inst]:
    """The instructions of a specialisation whose errors refuse the program. The other instructions with errors raise
    at run time what the interpreter would raise (`_is_for_run_time`, or the program catches the exception)."""
    errors, left = spec.analysis.errors, []
    whole = _is_for_run_time(session, spec)
    for inst, error in errors.items():
        if whole or not (_is_limit(inst, error) or spec.proto.library or _reads_objects(spec.analysis, inst)) and (
                handlers.catches(spec.analysis, inst, error.exception)):
            spec.analysis.meaning[inst] = Throw(error.exception, error.message, given=error.given,
                                                name=error.name, obj=error.obj)
            spec.analysis.raising.add(inst)
        else:
            left.append(inst)
    return left


def _reads_objects(analysis, inst: ir.Inst) -> bool:
    """Whether an operand may be an object of the interpreter, whose class is known only at run time."""
    found = [analysis.av.get(v) for v in inst.args]
    return any([av is not None and any_part(av[0], lambda t: t is Object) for av in found])


def _is_limit(inst: ir.Inst, error: Mismatch) -> bool:
    """Whether an error is one that the interpreter would not raise, or one of an instruction that cannot raise it."""
    return isinstance(error, (NotNative, NeedsDisplays)) or bool(
        inst.op.effects & ir.TERMINATOR and inst.op is not control.RAISE)


def _is_for_run_time(session, spec) -> bool:
    """Whether the errors of a specialisation are exceptions that the interpreter would raise, and values of its types
    may never reach it. Examples: a function that walks nested data calls itself for the type of every item, also
    for types that a test of values excludes (`if key == "#"`); a call whose argument has one of several types, and a
    value of the type that the function refuses may never occur."""
    errors = spec.analysis.errors.items()
    if spec.proto.library or any([_is_limit(inst, error) for inst, error in errors]):
        return False
    return is_one_case(spec) or (
        any([other.proto is spec.proto for other in session.callers(spec.caller)])
        and not any([error.hint for _, error in errors]))


def _called(entry) -> set:
    """The specialisations that the entry calls, itself or through others, and those that continue the generators of
    which they make iterator objects: these may leave, and are continued by code that is compiled later."""
    found, work = {entry}, [entry]
    while work:
        analysis = work.pop().analysis
        if analysis is None:
            continue
        parts: list = [part for block in analysis.fn.blocks if block in analysis.incoming for inst in block.insts
                       if inst in analysis.meaning for part in (analysis.meaning[inst], analysis.steps.get(inst))]
        seen: set[int] = set()
        while parts:
            part = parts.pop()
            if isinstance(part, (list, tuple)):
                parts += part
            elif isinstance(part, dict):
                parts += part.values()
            elif isinstance(part, (Expr, Split)) and id(part) not in seen:
                seen.add(id(part))
                if type(part) is UserCall and part.spec not in found:
                    found.add(part.spec)
                    work.append(part.spec)
                parts += [getattr(part, name) for base in type(part).__mro__ for name in getattr(base, "__slots__", ())
                          if hasattr(part, name)]
    return found


def _in_the_program(spec, inst, error, entry, library):
    """Report an error in the body of a function of Python's library or of this package at the program's call, since
    users do not know that body."""
    called = None
    if error.place is not None:
        return *error.place, error
    while (spec is not entry and spec.caller is not None
           and spec.proto.globals.get("__name__", "").partition(".")[0] in FIXED_MODULES):
        called = called if spec.proto.library else spec.proto
        spec, inst = spec.caller[0].spec, spec.caller[1]
    if called is None:
        return spec, inst, error
    module = called.globals["__name__"]
    if module.startswith("pyjitc.cuda"):
        return spec, inst, NotNative(f"{module}.{called.qualname} is not compiled: {error.message}", error.hint)
    return spec, inst, library.of_python(called.qualname, module, error)


def _has_value(analysis, inst) -> bool:
    """Whether the variable that `inst` reads without a value has one where it is read elsewhere, so that its name is
    not misspelt."""
    if inst.op is not CHECK_BOUND:
        return False
    reads = [other for block in analysis.fn.blocks for other in block.insts
             if other.op is CHECK_BOUND and other.attrs["name"] == inst.attrs["name"]]
    return any(type(analysis.meaning.get(other)) not in (Throw, type(None)) for other in reads)


def _operand_types(analysis, inst: ir.Inst):
    """[(name, type)] of the operands; those without a name are named by their source text, where that is short."""
    named = []
    for arg in inst.args:
        av = analysis.av.get(arg)
        name = arg.name or _written(analysis, arg)
        if av is not None and isinstance(av[0], Singleton) and (
                callable(av[0].value) or isinstance(av[0].value, ModuleType)):
            continue  # the name of a constant or a function already says its type
        if av is not None and name and name != str(av[0]) and (name, _shown(av[0])) not in named:
            named.append((name, _shown(av[0])))
    return tuple(named)


def _written(analysis, value) -> str:
    """The source text of the expression that computes `value`, if it has at most 24 characters; '' for constants and
    called functions."""
    av = analysis.av.get(value)
    if av is None or isinstance(av[0], (Singleton, Function, Method)) or av[1] is not UNKNOWN and av[0] is not NoneType:
        return ""
    made = next((i for block in analysis.fn.blocks for i in block.insts if i.result is value), None)
    if made is None or made.loc.end_line != made.loc.line or made.loc.col < 0:
        return ""
    line = _linecache.getline(analysis.spec.proto.code.co_filename, made.loc.line).encode()
    text = line[made.loc.col:made.loc.end_col].decode(errors="replace")
    return text if len(text) <= 24 else ""


def _shown(t) -> str:
    """The description of a type; for lists and iterators without the types of their items, which would not help a
    reader."""
    return t.class_name if isinstance(t, (ListDisplay, DictDisplay, Iterator, Generator)) else str(closed(t))


def _calls(spec, entry, line: int) -> tuple[str, ...]:
    """How `entry` calls `spec`: the source locations in the user's functions, the innermost first; without
    comprehensions, which are called on the line of the error itself."""
    places, seen = [], set()
    while spec is not entry and spec.caller is not None and spec not in seen:
        seen.add(spec)
        analysis, inst = spec.caller
        spec = analysis.spec
        if not spec.proto.library and inst.loc.line != line:
            line = inst.loc.line
            places.append(f"called at {spec.proto.code.co_filename}:{inst.loc.line} in {spec.proto.qualname}")
    return tuple(places) if len(places) < 3 else (places[0], f"..., {places[-1]}")


def located(proto, inst, error: Mismatch, types, notes=()) -> TypingError:
    loc = inst.loc if inst is not None else ir.Loc(proto.code.co_firstlineno, 0, -1, -1)
    refused = TypingError(Diagnostic(
        message=error.message, filename=proto.code.co_filename, line=loc.line, end_line=loc.end_line, col=loc.col,
        end_col=loc.end_col, function=proto.qualname, types=types, hint=error.hint, notes=notes))
    refused.reason = type(error)
    return refused
