"""`njit(parallel=True, debug="races")`: calls run typed IR in its interpreter, which records the memory that iterations
of parallel loops access (ir/races.py)."""
from __future__ import annotations

import inspect

from ..infer.meaning import UNKNOWN
from ..ir import races
from ..lib.elementary import table
from ..ops.elementary import provide
from ..passes import pipeline
from ..types.typeof import typeof
from . import stages

__all__ = ["call"]


def call(function, options, args, kwargs):
    """The result of function(*args, **kwargs). Raises RaceError where two iterations of a parallel loop access one
    element, and one writes it; CompileError as for the compiled function."""
    provide(table.meaning)  # the interpreter needs implementations of elementary functions
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    values = list(bound.arguments.values())
    typed = stages.infer(function, tuple(map(typeof, values)), options)
    module = pipeline.run_to_regions(typed.functions, options)
    passed = [value for value, (_, known) in zip(values, typed.spec.args, strict=True) if known is UNKNOWN]
    return races.run(module, passed)
