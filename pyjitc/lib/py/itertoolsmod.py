"""`itertools` and the higher-order functions of `functools`, over all iterables of compiled code."""
from __future__ import annotations

import functools
import itertools

import numpy as np

from ...infer.constants import constant
from ...infer.meaning import Apply, Call, Const, Expr, Mismatch, NotNative, Throw
from ...infer.names import describe
from ...ops.structure import TUPLE_MAKE
from ...types import kinds as k
from ...types.kinds import Bool, Ellipsis_, Int, ListDisplay, NoneType, Object, Tuple, is_integer
from ..build import number
from ..protocol import protocol_of
from ..rule import rule
from . import iteration, iterators, ranges

__all__ = ["CALLS", "FROM_ITERABLE", "product_of"]


@rule("itertools.count")
def _count(start=0, step=1):
    of_ints = start.type is Bool and step.type in (Int, Bool)
    return Call(iterators.count_from_bool if of_ints else iterators.count, start, step)


@rule("itertools.cycle", "iterable, /")
def _cycle(iterable):
    if isinstance(iterable.type, ListDisplay):
        return Call(iterators.cycle, Apply(TUPLE_MAKE, *protocol_of(iterable.type).elements(iterable), cls=None))
    cls = iterable.type.python_class
    if cls in (tuple, range, str, bytes, np.ndarray):
        return Call(iterators.cycle, iterable)
    return Call(iterators.cycle_saved, iterable)


@rule("itertools.repeat", "object, times=...")
def _repeat(x, times):
    return Call(iterators.forever, x) if times.type is Ellipsis_ else Call(iterators.repeated, x, ranges.index(times))


@rule("itertools.accumulate")
def _accumulate(iterable, func=None, *, initial=None):
    func = func or Const(NoneType, None)
    if initial is not None:
        return Call(iterators.accumulated_from, iterable, func, initial)
    return Call(iterators.accumulated, iterable, func)


@rule("itertools.islice", "iterable, /, *bounds")
def _islice(iterable, *bounds):
    if not 1 <= len(bounds) <= 3:
        raise Mismatch(f"islice expected at {'least 2' if not bounds else 'most 4'} arguments, got {len(bounds) + 1}")
    start, stop, *step = bounds if len(bounds) > 1 else (number(0), *bounds)
    first, each = (x if x.type is not NoneType else number(value)
                   for x, value in ((start, 0), (step[0] if step else number(1), 1)))
    for x, what in ((stop, "Stop argument" if len(bounds) == 1 else "Indices"), (first, "Indices")):
        if x.type is not NoneType and not is_integer(x.type) and x.type is not Bool and x.type is not Object:
            return Throw(ValueError, f"{what} for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    return Call(iterators.islice, iterable, first, stop, each)


@rule("itertools.chain")
def _chain(*iterables):
    for x in iterables:
        if not protocol_of(x.type).is_iterable(x):  # the interpreter finds that at the first step
            raise NotNative(f"{describe(x.type)} object is not iterable")
    return Call(iterators.chain_all, *iterables)


def _chained(args, kwargs):
    if len(args) != 1 or kwargs:
        raise Mismatch(f"chain.from_iterable() takes exactly one argument ({len(args) + len(kwargs)} given)")
    return Call(iterators.chained, args[0])


@rule("itertools.zip_longest")
def _zip_longest(*iterables, fillvalue=None):
    return Call(iterators.zip_longest, fillvalue or Const(NoneType, None), *iterables)


@rule("itertools.product")
def _product(*iterables, repeat=1):
    repeat = ranges.index(repeat)
    if not repeat.known:
        return Call(iterators.product_of_any, repeat, *iterables)
    if repeat.value < 0:
        raise Mismatch("repeat argument cannot be negative", "", ValueError)
    return Call(iterators.product, repeat, *iterables)


def product_of(iterables: Expr, repeat: Expr = number(1)) -> Expr:
    """`itertools.product(*iterables)` of a number of iterables that is known only at run time."""
    return Call(iterators.product_of, iterables, repeat)


def _chosen(name: str, iterable: Expr, r: Expr) -> Expr:
    """The rule of a function that yields tuples of r items: where r is known, it is part of their type."""
    if not k.is_integer(r.type) and r.type is not Bool:
        raise Mismatch(f"Expected int as r, got {describe(r.type)[1:-1]}")
    r = ranges.index(r)
    if not r.known:
        return Call(getattr(iterators, f"{name}_of_any"), iterable, r)
    if r.value < 0:
        raise Mismatch("r must be non-negative", "", ValueError)
    return Call(getattr(iterators, name), iterable, r)


@rule("itertools.combinations")
def _combinations(iterable, r):
    return _chosen("combinations", iterable, r)


@rule("itertools.combinations_with_replacement")
def _combinations_with_replacement(iterable, r):
    return _chosen("combinations_with_replacement", iterable, r)


@rule("itertools.permutations")
def _permutations(iterable, r=None):
    if r is None and isinstance(iterable.type, (Tuple, ListDisplay)):
        r = number(len(iterable.type.parts))
    if r is None:
        return Call(iterators.all_permutations, iterable)
    return _chosen("permutations", iterable, r)


def _of_two(function, first: str, second: str):
    name = function.__name__
    return rule(f"itertools.{name}", f"{first}, {second}, /")(lambda x, y: Call(getattr(iterators, name), x, y))


@rule("itertools.compress")
def _compress(data, selectors):
    return Call(iterators.compress, data, selectors)


@rule("itertools.pairwise", "iterable, /")
def _pairwise(iterable):
    return Call(iterators.pairwise, iterable)


@rule("itertools.groupby")
def _groupby(iterable, key=None):
    return Call(iterators.grouped, iterable, key or Const(NoneType, None))


@rule("itertools.tee", "iterable, n: Constant=2, /")
def _tee(iterable, n):
    if type(n) is not int or n < 0:
        raise Mismatch("n must be >= 0", "", ValueError)
    if iterable.type.python_class in (tuple, range, str, bytes):
        return Call(iterators.tee_of_fixed, iterable, number(n), constant(()))
    return Call(iterators.tee, iterable, number(n))


@rule("functools.reduce", "function, iterable, /, initial=...")
def _reduce(function, iterable, initial):
    if initial.type is Ellipsis_:
        return Call(iteration.reduced, function, iterable)
    return Call(iteration.reduced_from, function, iterable, initial)


FROM_ITERABLE = itertools.chain.from_iterable
CALLS = {
    itertools.count: _count, itertools.cycle: _cycle, itertools.repeat: _repeat, itertools.accumulate: _accumulate,
    itertools.islice: _islice, itertools.chain: _chain, itertools.zip_longest: _zip_longest,
    itertools.product: _product, itertools.combinations: _combinations, itertools.permutations: _permutations,
    itertools.combinations_with_replacement: _combinations_with_replacement, itertools.compress: _compress,
    itertools.pairwise: _pairwise, itertools.groupby: _groupby, itertools.tee: _tee, functools.reduce: _reduce,
    **{function: _of_two(function, *names) for function, names in (
        (itertools.takewhile, ("predicate", "iterable")), (itertools.dropwhile, ("predicate", "iterable")),
        (itertools.filterfalse, ("function", "iterable")), (itertools.starmap, ("function", "iterable")))},
    FROM_ITERABLE: _chained,
}
