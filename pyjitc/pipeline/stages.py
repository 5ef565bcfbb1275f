"""From a Python function and argument types to native code: the stages of the compiler, in order.

    generic(function)                          IR without types, made from its bytecode
    infer(function, types, options, library)   typed IR, how it is called, what it depends on
    optimise(functions, options)               after the passes; `optimise_device` and `optimise_block` are for kernels
    compile_signature(function, types, ...)    all of it, and the object code for this processor

`njit`, kernels and the tracing front end use these; everything they need is passed as arguments.
`front.functions.carrier` is for a front end that makes generic IR itself. The module is loaded by the first compile.
Its only state are memo tables of values that never change (generic IR of functions, specialisations of library
functions).
"""
from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import cache, partial, wraps

from ..base.errors import CompileError, Diagnostic, PyjitcError, defect, with_article
from ..base.lazy import lazy
from ..base.named import Named
from ..base.options import Options, environment
from ..base.trace import dump, timed
from ..codegen import link
from ..codegen.box import NotBoxable
from ..codegen.compile import Spec as Wrapper
from ..codegen.compile import compile_module, module_text, recursive
from ..codegen.function import FunctionEmitter
from ..front import functions
from ..front.build import build as build_function
from ..infer.meaning import UNKNOWN, Again
from ..infer.names import describe
from ..infer.specialise import specialise
from ..ir.core import Loc
from ..lib.table import Library
from ..ops import control
from ..passes import inline, pipeline
from ..types.kinds import DictDisplay, ListDisplay, is_display
from .portable import ABSENT, Guard

__all__ = ["LIBRARY", "Compiled", "Typed", "build", "calling", "compile_signature", "generic", "infer", "inspect",
           "optimise", "optimise_block", "optimise_device", "refusing_depth", "report", "dumped_stages", "to_regions"]

generators = lazy("pyjitc.front.generators")  # only programs with `yield` load it
entries = lazy("pyjitc.codegen.entries")  # only ufuncs and callbacks load it
elementary = lazy("pyjitc.lib.elementary.table")  # only programs with elementary functions load it
adjoints = lazy("pyjitc.lib.adjoints")  # only programs that ask for derivatives load it
grid = lazy("pyjitc.passes.grid")  # only kernels on the CPU load it
images = lazy(f"{__package__}.images")  # only programs that call the library load it
watched = lazy("pyjitc.lib.watched")  # only programs that use np.errstate load it
tape = lazy("pyjitc.passes.derivatives.tape")  # only inspection needs this and the next five
bytecode = lazy("bytecode")
drawing = lazy("pyjitc.ir.drawing")
linecache = lazy("linecache")
graph = lazy("pyjitc.ir.graph")
show = lazy("pyjitc.ir.show")
verify = lazy("pyjitc.ir.verify")  # only tests need it
extended = lazy("pyjitc.lib.extended")

LIBRARY = Library()
LIBRARY.store = lambda library: images.Images(library)


class Typed(Named, fields="functions spec guards"):
    """The result of inference. functions: typed IR, the entry first; spec: the entry's, with the types of its arguments
    and of its result; guards: the values that the program may change and on which the code depends."""

    __slots__ = ()

    @property
    def result(self):
        """The type of the result; None where the function never returns."""
        return self.spec.result[0] if self.spec.result else None


class Compiled(Named, fields="object runtime entry next objects result guards"):
    """Native code of one function for one tuple of argument types.

    object: relocatable ELF files, which are loaded as one; runtime: those with the helpers that they call, loaded
    before; entry: symbol of the stub; next: symbol of the data word for the address of the next stub; objects: symbol
    -> the Python object to which the loader sets it; result: result type (or its text); guards: the values that the
    program may change and on which the code depends.

    If the object also defines the 8-byte word `pyjitc_active`, which the stub increments before the call of the
    function and decrements after it, replaced code is unmapped as soon as no call is inside; otherwise it is unmapped
    with the dispatcher.
    """

    __slots__ = ()


# ---------------------------------------------------------------- stages


def build(proto, as_objects=frozenset()):
    """Generic IR of a Prototype; it must not be changed. as_objects: see `build_function`."""
    return (build_function(proto, as_objects) if type(proto) is functions.Prototype
            else generators.build_step(proto, build_function))


def generic(function):
    """Generic IR of a function; it must not be changed."""
    return build(functions.prototype_of(function))


def infer(function, types, options: Options, library=LIBRARY, lists=False) -> Typed:
    """Typed IR of `function` for arguments of `types`. library: the meaning of operators and calls; lists: whether
    every list display is a Python list. Raises CompileError where the function cannot be compiled, with the guards on
    which that depends."""
    def found(options):
        return specialise(function, types, library=library, build=build, prototype=functions.prototype_of,
                          nested=functions.nested, options=options, lists=lists,
                          program_library=_watching(library) if options.errstate else library)

    with timed("infer"), extended.as_in_numba(options.numba) if options.numba else nullcontext():
        if not functions.prototype_of(function).library:
            LIBRARY.finish(stored=False)  # discards what a failed compile has left
        try:
            try:
                typed, spec, dependencies = found(options)
            except Again as asked:
                typed, spec, dependencies = found(options._replace(**asked.options))
        except CompileError as error:
            if hasattr(error, "dependencies"):
                error.guards = _guards(error.dependencies)
            raise
    if _verified():
        verify.verify_module(typed, "inference")
    if environment("PYJITC_DUMP"):
        if typed and not typed[0].library:
            dump("generic", function.__qualname__, lambda: show.show(generic(function)))
        _dump_all(typed, "typed")
    return Typed(typed, spec, _guards(dependencies))


@cache
def _watching(library):
    """The library for the program's operations if it uses np.errstate."""
    return watched.Watched(library)


def _guards(dependencies) -> tuple[Guard, ...]:
    return tuple(Guard(d.container, d.key, ABSENT if d.value is UNKNOWN else d.value) for d in dependencies)


_bodies: list = []


def _body(inst):
    """The implementation of an elementary function on this processor; see passes/elementary.py."""
    if not _bodies:
        _bodies.append(elementary.Bodies(lambda function, types: LIBRARY.images.typed(function, types, _spec)))
    return _bodies[0](inst)


def _helper(function, types):
    """The typed form of a library function, which may be given by its name: `name` for one of lib/adjoints.py,
    `py.natives:name` for one of lib/py/natives.py and so on; (name, *arguments) for what the function of this name
    returns."""
    if isinstance(function, tuple):
        name, *arguments = function
        module, _, name = name.rpartition(":")
        function = getattr(lazy(f"pyjitc.lib.{module}"), name)(*arguments)
    if isinstance(function, str):
        module, _, name = function.rpartition(":")
        function = getattr(lazy(f"pyjitc.lib.{module}") if module else adjoints, name)
    return LIBRARY.images.typed(function, types, _spec)


def _spec(function, types):
    """The specialisation of a library function."""
    spec = infer(function, types, Options()).spec
    if spec.error is not None:
        raise spec.error
    return spec


def to_regions(module, options: Options):
    """Typed functions, the entry first, after the passes that make regions of parallel loops."""
    return pipeline.run_to_regions(module, options, _helper)


@contextmanager
def _passes(fn):
    """Context in which the passes process `fn` and what it calls. A defect of a pass becomes a CompileError: left as it
    is, a handler of the program could take it for an exception of its own."""
    try:
        with timed("passes"):
            yield
    except (PyjitcError, MemoryError, RecursionError, Warning):
        raise
    except Exception as error:
        message, hint = defect(error)
        raise CompileError(Diagnostic(message, fn.filename, fn.firstlineno, function=fn.qualname,
                                      hint=hint)) from error


def optimise(module, options: Options, check=None):
    """Typed functions, the entry first, after the passes for this processor. check: called with functions and the name
    of the pass that left them."""
    with _passes(module[0]):
        found = pipeline.run(module, options, _body, _helper, check or _observer())
    LIBRARY.finish()
    return found


def optimise_device(module, options: Options, body):
    """A kernel, first of `module`, after the passes for a GPU. body: see `passes.elementary.run`."""
    with _passes(module[0]):
        return pipeline.run_device(module, options, body, recursive, _observer())


def optimise_block(module, options: Options):
    """(functions made of a kernel, the first of `module`; the first of them runs a block on the CPU; their plan)."""
    with _passes(module[0]):
        found = grid.run_module(module, options, _body, recursive, _observer())
    LIBRARY.finish()
    return found


def _observer():
    """A function that is called with functions and the name of the pass that processed them last, or None."""
    return _after_pass if _verified() or environment("PYJITC_DUMP") else None


_LAST_PASSES = ("refcount", "restarts")


def _after_pass(functions, name: str) -> None:
    if _verified() and (name in _LAST_PASSES or environment("PYJITC_VERIFY") != "last"):
        verify.verify_module(functions, name)
    _dump_all(functions, name)


def _dump_all(functions, stage: str) -> None:
    for fn in functions:
        if not fn.library:
            dump(stage, fn.name, partial(show.show, fn))


def _verified() -> bool:
    return environment("PYJITC_VERIFY") not in ("", "0")


def calling(function, typed: Typed) -> Wrapper:
    """The Spec by which the stub of `function` takes its arguments."""
    code, args = function.__code__, typed.spec.args
    return Wrapper(
        code.co_varnames[:len(args)], typed.spec.accepts, tuple(v is UNKNOWN for _, v in args),
        code.co_posonlyargcount, not code.co_kwonlyargcount and not code.co_flags & 12,
        tuple(guard[:3] for guard in typed.guards))


# ---------------------------------------------------------------- all of them


def refusing_depth(stage):
    """Decorator of a function that compiles its first argument: for a program that is nested too deeply for the
    compiler it raises a CompileError with a location instead of the compiler's own RecursionError."""
    @wraps(stage)
    def guarded(function, *args):
        try:
            return stage(function, *args)
        except RecursionError as error:
            raise _too_deep(function, error) from None

    return guarded


@refusing_depth
def compile_signature(function, types, options: Options, form=None, emitter=FunctionEmitter) -> Compiled:
    """Native code of `function` for arguments of `types`, with an entry of `form` (codegen/native.py), or a stub for
    Python. emitter: the class that emits its functions. Raises CompileError where the function cannot be compiled, with
    the guards on which that depends."""
    try:
        return _compiled(function, types, options, form, emitter, infer(function, types, options))
    except NotBoxable as error:
        if form is not None or not is_display(error.type):
            raise _refused(function, error) from None
    try:  # the interpreter gets a list that inference has taken for one that is only read
        return _compiled(function, types, options, form, emitter, infer(function, types, options, lists=True))
    except NotBoxable as error:
        raise _refused(function, error) from None


def _compiled(function, types, options, form, emitter, typed) -> Compiled:
    if form is not None:
        if isinstance(form, entries.Loop):
            inline.absorb(typed.functions[0], nests=not any(form.cores))
        made = compile_module(optimise(typed.functions, options), form, None, options)
        return Compiled(made.object, made.runtime, made.entry, made.entry, made.objects, typed.result, typed.guards)
    try:
        made = compile_module(optimise(typed.functions, options), calling(function, typed), None, options, None,
                              emitter)
    except NotBoxable as error:
        error.guards = typed.guards
        raise
    return Compiled(made.object, made.runtime, made.entry, made.next, made.objects, typed.result,
                    tuple(guard._replace(symbol=symbol) for guard, symbol in zip(typed.guards, made.guards)))


def _refused(function, error: NotBoxable) -> CompileError:
    """The error for a result that has no Python object."""
    code = function.__code__
    returns = [block.insts[-1].loc for block in generic(function).blocks if block.insts[-1].op is control.RETURN]
    loc = returns[0] if len(returns) == 1 and returns[0].line else Loc(code.co_firstlineno, 0, -1, -1)
    refused = CompileError(Diagnostic(
        f"the result is {_brief(error.type)}, which cannot leave compiled code", code.co_filename, *loc,
        function=function.__qualname__, hint="return numbers, arrays, tuples, strings or None"))
    refused.guards = getattr(error, "guards", ())
    return refused


def _too_deep(function, error: RecursionError) -> CompileError:
    """The error for a program that is nested too deeply for the compiler, which is recursive; its location is the one
    that inference had reached, if that raised."""
    code, loc, name = function.__code__, Loc(function.__code__.co_firstlineno, 0, -1, -1), function.__qualname__
    proto, inst = getattr(error, "place", (None, None))
    if proto is not None:
        code, loc, name = proto.code, inst.loc, proto.qualname
    return CompileError(Diagnostic(
        "something here is nested too deeply to be compiled: expressions, tuples or functions in each other, "
        "hundreds of levels of them",
        code.co_filename, *loc, function=name,
        hint="write a long expression as several statements, and a chain of functions or tuples as a loop over an "
             "array"))


def _brief(t) -> str:
    if t.inner or isinstance(t, (ListDisplay, DictDisplay)):
        name = describe(t)[1:-1]
        return with_article(name)
    return f"a value of type {t}"


def dumped_stages() -> tuple[str, ...]:
    """The names of stages that PYJITC_DUMP may contain."""
    passes = dict.fromkeys(one.__name__.rpartition(".")[2] for one in pipeline.PASSES)
    return ("generic", "typed", "inline", "nests", *passes, "llvm", "asm", "all")


@refusing_depth
def report(function, types, options: Options) -> str:
    """The lines of a function, and of functions that it calls, that the interpreter does under `jit`."""
    try:
        remarks = infer(function, types, options).spec.remarks
    except CompileError as error:
        return f"the interpreter runs all of {function.__qualname__}: {error}"
    shown: dict = {}
    for one in remarks:
        shown.setdefault((one.proto.code.co_filename, one.loc.line, one.proto.qualname), {})[one.reason] = one.hint
    if not shown:
        return f"all of {function.__qualname__} is native"
    lines = [f"the interpreter does, in {function.__qualname__}({', '.join(map(str, types))}):"]
    for (filename, line, qualname), reasons in shown.items():
        lines.append(f"  {filename}:{line} in {qualname}: {linecache.getline(filename, line).strip()}")
        for reason, hint in reasons.items():
            lines.append(f"    {reason}")
            if hint:
                lines.append(f"      help: {hint}")
    return "\n".join(lines)


@refusing_depth
def inspect(function, types, options: Options, stage: str) -> str:
    """The text of one stage of the compilation of `function` for `types`."""
    if stage == "bytecode":
        return bytecode.format_bytecode(bytecode.Bytecode.from_code(function.__code__), lineno=True)
    if stage == "cfg":
        fn = generic(function)
        return graph.Graph(graph.dot(fn), partial(drawing.svg, fn))
    if stage == "ir":
        return show.show(generic(function))
    typed = infer(function, types, options)
    if stage == "typed":
        return show.show_module([fn for fn in typed.functions if not fn.library])
    if stage == "tape":
        kept: list[str] = []

        def look(functions, name):
            if name == "derivatives":
                kept.extend(f"{fn.qualname}(), line {line}: the loop {text}" for fn in functions
                            for line, text in tape.told(fn))

        optimise(typed.functions, options, look)
        return "\n".join(kept) or "no loop is reversed"
    module = optimise(typed.functions, options)
    if stage == "parallel":
        notes = sorted((line, fn.qualname, text) for fn in module for line, text in fn.memo.get("parallel", ()))
        return ("\n".join(dict.fromkeys(f"{name}(), {text}" for _, name, text in notes))
                or "no loop is marked as parallel")
    if stage == "opt":
        return show.show_module(module)
    target = link.host_target()
    text, *_ = module_text(module, calling(function, typed), target, options)
    return (link.to_text if stage == "llvm" else link.to_assembly)(text, target)
