"""The IR of a function at the stages of a compile."""
from typing import NamedTuple

from pyjitc.api import compiler
from pyjitc.base.options import Options
from pyjitc.front import functions
from pyjitc.infer.meaning import UNKNOWN
from pyjitc.passes import pipeline
from pyjitc.types.typeof import typeof


class Stage(NamedTuple):
    """functions: typed IR, the entry first; passed: which arguments are parameters (not constants of their type)."""

    functions: list
    passed: tuple


def generic(function):
    return compiler._build(functions.prototype_of(function))


def typed(function, args) -> Stage:
    found, spec, _ = compiler._typed(function, tuple(map(typeof, args)), Options())
    return Stage(found, tuple(known is UNKNOWN for _, known in spec.args))


def optimised(function, args) -> Stage:
    stage = typed(function, args)
    return Stage(pipeline.run(stage.functions, Options()), stage.passed)
