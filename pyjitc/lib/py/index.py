"""The index of builtins: the module with the rule of each, in this folder, which is loaded by the first compile that
uses it.

A module listed here has `CALLS` (callable -> rule, see lib/rule.py); tests/lib/test_index.py compares this list with
them.
"""
from __future__ import annotations

import builtins
import operator
from functools import cache

import numpy as np

from ...base.lazy import lazy

__all__ = ["FUNCTIONS", "module_of", "names"]

FUNCTIONS: dict[str, str] = {
    "items": "iter next len",
    "ranges": "range",
    "lists": "list sorted",
    "dicts": "dict collections.Counter collections.OrderedDict collections.defaultdict",
    "sets": "set frozenset collections.deque",
    "heaps": "heapq.heappush heapq.heappop heapq.heapify heapq.heapreplace heapq.heappushpop heapq.nsmallest "
             "heapq.nlargest bisect.bisect_left bisect.bisect_right bisect.insort_left bisect.insort_right",
    "sequences": "enumerate zip reversed sum tuple slice max min any all map filter",
    "conversions": "int float complex bool operator.index operator.truth",
    "formatting": "str repr ascii format chr ord bin oct hex bytes bytearray memoryview",
    "builtins": "abs divmod pow round hash isinstance issubclass type callable id operator.abs operator.add "
                "operator.sub operator.mul operator.matmul operator.truediv operator.floordiv operator.mod "
                "operator.pow operator.lshift operator.rshift operator.and_ operator.or_ operator.xor operator.eq "
                "operator.ne operator.lt operator.le operator.gt operator.ge operator.neg operator.pos operator.invert "
                "operator.not_",
    "getters": "operator.itemgetter operator.attrgetter operator.methodcaller operator.iadd operator.isub "
               "operator.imul operator.itruediv operator.ifloordiv operator.imod operator.ipow operator.imatmul "
               "operator.ilshift operator.irshift operator.iand operator.ior operator.ixor operator.concat "
               "operator.iconcat operator.contains operator.getitem operator.setitem operator.delitem operator.is_ "
               "operator.is_not operator.countOf operator.indexOf functools.cmp_to_key contextlib.suppress",
    "partials": "functools.partial",
    "caches": "functools.cache functools.lru_cache",
    "itertoolsmod": "itertools.count itertools.cycle itertools.repeat itertools.accumulate itertools.islice "
                    "itertools.chain itertools.zip_longest itertools.product itertools.combinations "
                    "itertools.permutations itertools.combinations_with_replacement itertools.compress "
                    "itertools.pairwise itertools.takewhile itertools.dropwhile itertools.filterfalse "
                    "itertools.starmap itertools.groupby itertools.tee functools.reduce",
    "asked": "time.time time.monotonic time.perf_counter time.process_time time.thread_time time.time_ns "
             "time.monotonic_ns time.perf_counter_ns time.process_time_ns time.thread_time_ns time.sleep time.ctime "
             "time.asctime time.strftime statistics.fmean statistics.stdev statistics.pstdev statistics.geometric_mean "
             "statistics.correlation statistics.covariance struct.pack struct.calcsize struct.unpack "
             "struct.unpack_from struct.pack_into struct.iter_unpack copy.copy copy.deepcopy statistics.mean "
             "statistics.median statistics.median_low statistics.median_high statistics.median_grouped "
             "statistics.harmonic_mean statistics.variance statistics.pvariance statistics.mode statistics.multimode "
             "statistics.quantiles statistics.linear_regression heapq.merge random.Random dataclasses.replace",
}
# The module that a callable names as its own -> (prefix of its path in FUNCTIONS, the module)
_ROOTS = {"builtins": ("", builtins), "_operator": ("operator.", operator), "_struct": ("struct.", lazy("struct")),
          "_functools": ("functools.", lazy("functools")), "functools": ("functools.", lazy("functools")),
          "_heapq": ("heapq.", lazy("heapq")), "_bisect": ("bisect.", lazy("bisect")),
          "operator": ("operator.", operator),
          **{name: (f"{name}.", lazy(name)) for name in ("collections", "contextlib", "itertools", "time", "statistics",
                                                         "copy", "heapq", "random", "dataclasses")}}
@cache
def _module(name: str):
    """A module of this folder."""
    return lazy(f"pyjitc.lib.py.{name}")


@cache
def _home(path: str) -> str | None:
    """The name of the module with the rule of the callable at `path`; None where there is none."""
    return next((module for module, paths in FUNCTIONS.items() if path in paths.split()), None)


def module_of(target):
    """The module with the rule for a builtin, a function of `operator`, `math` or `cmath`, or a NumPy scalar class; or
    None."""
    home = getattr(target, "__module__", None)
    owner = getattr(target, "__self__", None)
    if owner is not None and type(owner).__module__ == "random":
        return _module("random_numbers")
    if isinstance(owner, type) and owner.__module__ == "itertools":
        return _module("itertoolsmod")
    if home == "math" or home == "cmath":
        return _module(f"{home}mod")
    if isinstance(target, type) and issubclass(target, np.generic):
        return _module("conversions")
    prefix, root = _ROOTS.get(home, ("", None))
    name = getattr(target, "__name__", None)
    if root is None or getattr(root, str(name), None) is not target:
        return None
    module = _home(f"{prefix}{name}")
    return module and _module(module)


def names(family: str) -> list[str]:
    """Names of the callables of `builtins`, `operator`, `math` or `cmath` that have a rule."""
    if family in ("math", "cmath"):
        return [f.__name__ for f in _module(f"{family}mod").CALLS]
    prefix = next((prefix for home, (prefix, _) in _ROOTS.items() if family == home), None)
    paths = [path for paths in FUNCTIONS.values() for path in paths.split()]
    return [path.removeprefix(prefix) for path in paths if prefix is not None and path.startswith(prefix)
            and (prefix or "." not in path)]
