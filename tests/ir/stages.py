"""The IR of a function at the stages of a compile."""
from typing import NamedTuple

from pyjitc.base.options import Options
from pyjitc.infer.meaning import UNKNOWN
from pyjitc.pipeline import stages
from pyjitc.types.typeof import typeof


class Stage(NamedTuple):
    """functions: typed IR, the entry first; passed: which arguments are parameters (not constants of their type)."""

    functions: list
    passed: tuple


def generic(function):
    return stages.generic(function)


def typed(function, args) -> Stage:
    found = stages.infer(function, tuple(map(typeof, args)), Options())
    return Stage(found.functions, tuple(known is UNKNOWN for _, known in found.spec.args))


def optimised(function, args) -> Stage:
    stage = typed(function, args)
    return Stage(stages.optimise(stage.functions, Options()), stage.passed)
