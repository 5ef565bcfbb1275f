"""From a Python function and argument types to native code: the whole pipeline, in order.

Loaded on the first compile only. Each stage hands its result to the next; what is kept are memo tables of things that
never change (generic IR of a function, specialisations of library functions).
"""
from __future__ import annotations

from functools import partial

from ..base.errors import CompileError, Diagnostic
from ..base.lazy import lazy
from ..base.options import Options, environment
from ..base.trace import dump, timed
from ..codegen import link
from ..codegen.box import NotBoxable
from ..codegen.compile import Spec as Wrapper
from ..codegen.compile import compile_module, module_text
from ..front import functions
from ..front.build import build
from ..infer.meaning import UNKNOWN, Again
from ..infer.names import describe
from ..infer.specialise import specialise
from ..ir.core import Loc
from ..lib.table import Library
from ..ops import control
from ..passes import pipeline
from ..types.kinds import Function, Generator, Iterator, Method, Struct
from .compiled import ABSENT, Compiled, Guard

__all__ = ["compile_signature", "generic", "inspect", "STAGES"]

generators = lazy("pyjitc.front.generators")  # programs with `yield` load it
bytecode = lazy("bytecode")  # only inspection needs these
drawing = lazy("pyjitc.ir.drawing")
graph = lazy("pyjitc.ir.graph")
notebook = lazy("pyjitc.api.notebook")
show = lazy("pyjitc.ir.show")
verify = lazy("pyjitc.ir.verify")  # and the tests this one

STAGES = ("bytecode", "cfg", "ir", "typed", "opt", "llvm", "asm")
_library = Library()


def _build(proto):
    return build(proto) if type(proto) is functions.Prototype else generators.build_step(proto, build)


def _specialise(function, types, options: Options):
    return specialise(function, types, library=_library, build=_build, prototype=functions.prototype_of,
                      nested=functions.nested, options=options)


def _typed(function, types, options: Options):
    with timed("infer"):
        try:
            found = _specialise(function, types, options)
        except Again as asked:
            found = _specialise(function, types, options._replace(**asked.options))
    if _verified():
        verify.verify_module(found[0], "inference")
    if environment("PYJITC_DUMP"):
        dump("generic", function.__qualname__, lambda: show.show(generic(function)))
        _dump_all(found[0], "typed")
    return found


def _dump_all(functions, stage: str) -> None:
    for fn in functions:
        if not fn.library:
            dump(stage, fn.name, partial(show.show, fn))


def _after_pass(functions, name: str) -> None:
    if _verified():
        verify.verify_module(functions, name)
    _dump_all(functions, name)


def _verified() -> bool:
    return environment("PYJITC_VERIFY") not in ("", "0")


def _module(function, types, options: Options):
    """Typed IR after the passes, the Spec of the entry, the guards' (container, key, value)."""
    typed, spec, dependencies = _typed(function, types, options)
    with timed("passes"):
        module = pipeline.run(typed, options, _after_pass if _verified() or environment("PYJITC_DUMP") else None)
    return module, spec, _guarded(dependencies)


def _guarded(dependencies):
    return [(d.container, d.key, ABSENT if d.value is UNKNOWN else d.value) for d in dependencies]


def _spec(function, spec, guards) -> Wrapper:
    code = function.__code__
    return Wrapper(
        code.co_varnames[:len(spec.args)], tuple(t for t, _ in spec.args), tuple(v is UNKNOWN for _, v in spec.args),
        code.co_posonlyargcount, not code.co_kwonlyargcount and not code.co_flags & 12, tuple(guards))


def compile_signature(function, types, options: Options) -> Compiled:
    """Native code of `function` for arguments of `types`. Raises CompileError where it has no meaning, with `guards`:
    what it depends on."""
    try:
        return _compiled(function, types, options)
    except RecursionError as error:
        raise _too_deep(function, error) from None


def _too_deep(function, error: RecursionError) -> CompileError:
    """What the compiler, which follows what is nested by calling itself, cannot follow to its end; located where
    inference was, if it was
    inference."""
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


def _compiled(function, types, options: Options) -> Compiled:
    try:
        module, spec, guards = _module(function, types, options)
    except CompileError as error:
        if hasattr(error, "dependencies"):
            error.guards = tuple(Guard(*g) for g in _guarded(error.dependencies))
        raise
    try:
        made = compile_module(module, _spec(function, spec, guards), None, options)
    except NotBoxable as error:
        code = function.__code__
        returns = [block.insts[-1].loc for block in generic(function).blocks if block.insts[-1].op is control.RETURN]
        loc = returns[0] if len(returns) == 1 and returns[0].line else Loc(code.co_firstlineno, 0, -1, -1)
        refused = CompileError(Diagnostic(
            f"the result is {_brief(error.type)}, which cannot leave compiled code", code.co_filename, *loc,
            function=function.__qualname__, hint="return numbers, arrays, tuples, strings or None"))
        refused.guards = tuple(Guard(*g) for g in guards)
        raise refused from None
    return Compiled(made.object, made.runtime, made.entry, made.next, made.objects, spec.result[0] if spec.result
                    else None,
                    tuple(Guard(*g, symbol) for g, symbol in zip(guards, made.guards)))


def _brief(t) -> str:
    if isinstance(t, (Function, Generator, Iterator, Method)) or isinstance(t, Struct) and t.name in ("list", "dict"):
        name = describe(t)[1:-1]
        return f"an {name}" if name[0] in "aeiou" else f"a {name}"
    return f"a value of type {t}"


def generic(function):
    """Generic IR of a function; not to be changed."""
    return _build(functions.prototype_of(function))


def dumped_stages() -> tuple[str, ...]:
    """What PYJITC_DUMP may name."""
    passes = dict.fromkeys(one.__name__.rpartition(".")[2] for one in pipeline.PASSES)
    return ("generic", "typed", "inline", *passes, "llvm", "asm", "all")


def inspect(function, types, options: Options, stage: str) -> str:
    """Text of one stage of the compilation of `function` for `types`."""
    if stage == "bytecode":
        return bytecode.format_bytecode(bytecode.Bytecode.from_code(function.__code__), lineno=True)
    if stage in ("cfg", "ir"):
        fn = generic(function)
        return notebook.Graph(graph.dot(fn), lambda: drawing.svg(fn)) if stage == "cfg" else show.show(fn)
    if stage == "typed":
        return show.show_module([fn for fn in _typed(function, types, options)[0] if not fn.library])
    module, spec, guards = _module(function, types, options)
    if stage == "opt":
        return show.show_module(module)
    target = link.host_target()
    text, *_ = module_text(module, _spec(function, spec, guards), target, options)
    return (link.to_text if stage == "llvm" else link.to_assembly)(text, target)
