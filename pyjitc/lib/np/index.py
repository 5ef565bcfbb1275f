"""The index of NumPy functions: the module with the rule of each, in a folder next to this file, which is loaded by the
first compile that uses it.

A module listed here has `CALLS` (NumPy callable -> rule) and `METHODS` (ndarray method -> rule whose first operand is
the array); tests/lib/test_index.py compares this list with them.
"""
from __future__ import annotations

import sys

import numpy as np

from ...base.lazy import lazy
from ...infer.constants import constant
from ...infer.meaning import CallValue, NotNative
from ...types import kinds as k

axes = lazy(f"{__package__}.axes")

__all__ = ["FUNCTIONS", "METHODS", "TIMES", "taken", "method_rule", "module_of", "rule_of", "names", "method_module"]

FUNCTIONS: dict[str, str] = {
    "arrays.creation": "empty ndarray zeros ones full full_like empty_like zeros_like ones_like",
    "elementwise.scalars":
        "absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_count bitwise_or "
        "bitwise_xor cbrt ceil conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs "
        "float_power floor floor_divide fmax fmin fmod frexp gcd greater greater_equal heaviside hypot invert "
        "isfinite isinf isnan isnat lcm ldexp left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 "
        "logical_and logical_not logical_or logical_xor maximum minimum modf multiply negative nextafter not_equal "
        "positive power rad2deg radians reciprocal remainder right_shift rint sign signbit sin sinh spacing sqrt "
        "square subtract tan tanh trunc where finfo iinfo isscalar",
    "linalg.products": "matmul dot",
    "linalg.linalg":
        "linalg.solve linalg.inv linalg.det linalg.slogdet linalg.cholesky linalg.qr linalg.svd linalg.svdvals",
    "linalg.eigen": "linalg.eigh linalg.eigvalsh linalg.eig linalg.eigvals",
    "linalg.tensors": "einsum tensordot inner vdot outer kron cross trace",
    "linalg.vectors":
        "vecdot matvec vecmat matrix_transpose linalg.vecdot linalg.matrix_transpose linalg.outer linalg.diagonal "
        "linalg.trace linalg.cross linalg.matmul linalg.tensordot linalg.matrix_norm linalg.vector_norm "
        "linalg.tensorinv linalg.tensorsolve",
    "linalg.matrices":
        "linalg.norm linalg.cond linalg.matrix_rank linalg.pinv linalg.lstsq linalg.matrix_power linalg.multi_dot",
    "sorting.sorting": "sort argsort lexsort partition argpartition",
    "statistics.quantiles": "median percentile quantile nanmedian nanpercentile nanquantile",
    "sorting.setops": "unique union1d setxor1d setdiff1d intersect1d isin",
    "statistics.covariance": "cov corrcoef",
    "statistics.histograms": "histogram",
    "statistics.histogram_grids": "histogram2d histogramdd histogram_bin_edges",
    "sorting.searching": "searchsorted digitize nonzero flatnonzero argwhere extract bincount",
    "random.random":
        "random.Generator random.MT19937 random.PCG64 random.PCG64DXSM random.Philox random.RandomState random.SFC64 "
        "random.SeedSequence random.beta random.binomial random.bytes random.chisquare random.choice "
        "random.default_rng random.dirichlet random.exponential random.f random.gamma random.geometric random.gumbel "
        "random.hypergeometric random.laplace random.logistic random.lognormal random.logseries random.multinomial "
        "random.multivariate_normal random.get_state random.set_state random.negative_binomial "
        "random.noncentral_chisquare random.noncentral_f random.normal random.pareto random.permutation "
        "random.poisson random.power random.rand random.randint random.randn random.random random.random_integers "
        "random.random_sample random.ranf random.rayleigh random.sample random.seed random.shuffle "
        "random.standard_cauchy random.standard_exponential random.standard_gamma random.standard_normal "
        "random.standard_t random.triangular random.uniform random.vonmises random.wald random.weibull random.zipf",
    "arrays.bits": "packbits unpackbits may_share_memory shares_memory",
    "arrays.shortcuts":
        "unique_all unique_counts unique_inverse unique_values sort_complex rollaxis isfortran iterable frombuffer",
    "iteration.iterators": "ndindex ndenumerate nditer broadcast",
    "iteration.applying": "apply_along_axis apply_over_axes fromfunction piecewise vectorize fromiter",
    "shapes.padding": "pad",
    "arrays.texts":
        "array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific "
        "get_include getbufsize",
    "arrays.editing": "insert delete resize trim_zeros block",
    "arrays.ranges": "arange linspace logspace geomspace",
    "arrays.making":
        "array asarray asanyarray ascontiguousarray asfortranarray asarray_chkfinite require copy copyto",
    "arrays.positions":
        "meshgrid indices diag_indices diag_indices_from tril_indices triu_indices tril_indices_from "
        "triu_indices_from mask_indices diagflat",
    "shapes.splitting": "split array_split hsplit vsplit dsplit unstack broadcast_arrays broadcast_shapes",
    "elementwise.elementwise": "astype",
    "dates.times": "datetime64 timedelta64 datetime_data datetime_as_string",
    "dates.busdays": "busday_count busday_offset is_busday",
    "elementwise.errors": "errstate",
    "elementwise.pointwise":
        "clip round around fix isclose allclose array_equal array_equiv angle real imag real_if_close iscomplex "
        "isreal isposinf isneginf sinc nan_to_num",
    "arrays.dtypes":
        "can_cast result_type promote_types issubdtype isdtype dtype mintypecode typename common_type "
        "min_scalar_type iscomplexobj isrealobj",
    "analysis.series": " ".join((
        *(f"polynomial.polynomial.{name}" for name in (
            "polyadd polysub polymul polydiv polymulx polypow polyder polyint polyval polyroots "
            "polycompanion").split()),
        *(f"polynomial.polyutils.{name}" for name in "trimseq trimcoef as_series mapparms mapdomain".split()))),
    "analysis.polynomials":
        "polyval polyadd polysub polymul polydiv polyder polyint poly roots vander polyfit poly1d",
    "fft.fft":
        "fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.fftn "
        "fft.ifftn fft.rfftn fft.irfftn fft.fftfreq fft.rfftfreq fft.fftshift fft.ifftshift",
    "reductions.scans":
        "argmax argmin nanargmax nanargmin cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod",
    "analysis.differences": "diff ediff1d gradient trapezoid unwrap",
    "analysis.interpolation": "interp",
    "analysis.convolution": "convolve correlate",
    "shapes.sliding": "lib.stride_tricks.sliding_window_view lib.stride_tricks.as_strided",
    "analysis.windows": "hanning hamming blackman bartlett kaiser i0",
    "indexing.indexing": "take put place putmask compress take_along_axis put_along_axis",
    "indexing.choosing": "choose select ix_ unravel_index ravel_multi_index",
    "shapes.arrange":
        "reshape ravel transpose permute_dims swapaxes moveaxis expand_dims squeeze flip fliplr flipud rot90 "
        "broadcast_to atleast_1d atleast_2d atleast_3d roll repeat tile tri tril triu eye identity diag diagonal "
        "fill_diagonal shape ndim size",
    "shapes.joining": "concatenate concat stack vstack hstack dstack column_stack append row_stack",
    "reductions.reductions":
        "sum prod min max amin amax any all mean var std ptp average nansum nanprod nanmin nanmax nanmean nanvar "
        "nanstd count_nonzero",
}
METHODS: dict[str, str] = {
    "reductions.scans": "argmax argmin cumsum cumprod conj conjugate",
    "sorting.sorting": "sort argsort partition argpartition",
    "sorting.searching": "searchsorted nonzero",
    "linalg.products": "dot",
    "linalg.tensors": "trace",
    "elementwise.elementwise": "astype",
    "indexing.indexing": "take put compress",
    "indexing.choosing": "choose",
    "elementwise.pointwise": "clip round",
    "arrays.making": "copy",
    "arrays.bits": "view byteswap tobytes tolist item resize setflags getfield setfield dump dumps tofile to_device",
    "shapes.arrange": "reshape transpose ravel flatten swapaxes squeeze repeat diagonal",
    "reductions.reductions": "sum prod min max any all mean var std",
}

# Functions and array methods that accept dates and durations; all others refuse them.
TIMES = frozenset("""
    reshape ravel flatten transpose permute_dims swapaxes moveaxis expand_dims squeeze flip fliplr flipud rot90
    broadcast_to atleast_1d
    atleast_2d atleast_3d concatenate concat stack vstack hstack dstack column_stack append roll repeat tile diagonal
    shape ndim size
    array asarray asanyarray ascontiguousarray asfortranarray copy copyto astype
    split array_split hsplit vsplit dsplit unstack broadcast_arrays meshgrid diag tril triu block insert delete resize
    take put place putmask compress take_along_axis put_along_axis choose select extract nonzero flatnonzero argwhere
    count_nonzero
    sort argsort lexsort partition argpartition searchsorted unique union1d setxor1d setdiff1d intersect1d isin
    sum min max amin amax any all mean ptp cumsum argmax argmin diff ediff1d clip array_equal array_equiv arange
    nansum nanmean nanmin nanmax nanargmin nanargmax cumulative_sum median trace trapezoid unique_all unique_counts
    unique_inverse
    unique_values fill_diagonal diagflat trim_zeros ix_ frombuffer fromiter min_scalar_type apply_along_axis ndenumerate
    can_cast result_type promote_types issubdtype isdtype dtype view tobytes tolist may_share_memory shares_memory
    datetime64 timedelta64 datetime_data busday_count busday_offset is_busday datetime_as_string
""".split())

_OF_ITEMS = frozenset(("arrays.creation", "elementwise.scalars"))  # modules whose rules check the dtype themselves
_OF_LISTS = frozenset(("arrays.making", "random.random"))  # modules whose rules handle lists themselves
_modules = {name: lazy(f"pyjitc.lib.np.{name}") for name in {*FUNCTIONS, *METHODS}}
_methods = {name: module for module, names in METHODS.items() for name in names.split()}
_found: dict[int, str] = {}
_paths: dict[str, list[tuple[str, str]]] = {}  # name -> (path, module) of the callables with that name
_looked: set[str] = set()


def _lookup(path: str):
    """The NumPy callable `path`, or None; a submodule of NumPy that is not loaded cannot be in use."""
    *parents, name = path.split(".")
    if parents and ".".join(["numpy", *parents]) not in sys.modules:
        return None
    _looked.add(path)
    found = np
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _module_name(target) -> str | None:
    home = getattr(target, "__module__", None)
    if home is not None and not home.startswith("numpy"):
        return None
    if id(target) not in _found:
        if not _paths:
            for module, listed in FUNCTIONS.items():
                for path in listed.split():
                    _paths.setdefault(path.rpartition(".")[2], []).append((path, module))
        _look(_paths.get(getattr(target, "__name__", None), ()))
    # A callable may have another name in the module; exceptions have none.
    if id(target) not in _found and not (isinstance(target, type) and issubclass(target, BaseException)):
        for paths in _paths.values():
            _look(paths)
    return _found.get(id(target))


def _look(paths) -> None:
    for path, module in paths:
        if path not in _looked:
            found = _lookup(path)
            if found is not None:
                _found[id(found)] = module


def module_of(target):
    """The module with the rule for a NumPy callable, or None."""
    module = _module_name(target)
    return module and _modules[module]


def rule_of(target):
    """The rule for a NumPy callable, or None."""
    module = _module_name(target)
    if module is None:
        return None
    rule = _modules[module].CALLS[target]
    if module not in _OF_ITEMS:
        rule = taken(target, axes.with_axes(*_name_of(target), rule))
    return rule if module in _OF_LISTS else with_arrays(rule, target)


def names(module: str) -> list[str]:
    """Names of the callables of a module of NumPy that have a rule."""
    prefix = module.removeprefix("numpy").lstrip(".")
    return [name for paths in FUNCTIONS.values() for path in paths.split()
            for parent, _, name in [path.rpartition(".")] if parent == prefix]


def method_module(name: str):
    """The module with the rule for an ndarray method, or None."""
    module = _methods.get(name)
    return module and _modules[module]


def method_rule(name: str):
    """The rule of an ndarray method, which has one."""
    return taken(name, axes.with_axes(name, "numpy", method_module(name).METHODS[name]))


_STORES = (np.put, np.place, np.putmask)  # they convert the items of their third argument to the dtype of the first


def with_arrays(rule, target=None):
    """The rule of a NumPy function that converts arguments to arrays, with lists of the interpreter replaced by
    arrays."""
    def without_lists(args, kwargs):
        if any([k.any_part(x.type, _is_list) for x in args]) or any([k.any_part(x.type, _is_list)
                                                                     for x in kwargs.values()]):
            joined = _modules["arrays.making"].joined(target, args, kwargs)
            if joined is not None:
                return joined
            if target in _STORES and any([k.any_part(x.type, _is_list) for x in (*args[2:3], *kwargs.values())]):
                return rule(args, kwargs)
            made = _modules["arrays.making"].of_lists
            args, kwargs = list(map(made, args)), {name: made(x) for name, x in kwargs.items()}
            if target is not None and any([x.type is None for x in (*args, *kwargs.values())]):
                return CallValue(constant(target), *args, keywords=kwargs)  # a rule needs the types
        return rule(args, kwargs)

    return without_lists


def _is_list(t) -> bool:
    return type(t) is k.List


def _name_of(target) -> tuple[str, str]:
    """The name and the module of a NumPy function, or of an array method, which is given by its name."""
    return (target, "numpy") if type(target) is str else (getattr(target, "__name__", ""),
                                                          getattr(target, "__module__", None) or "numpy")


def taken(target, rule):
    """The rule of a NumPy function or array method; it refuses dates unless the function accepts them."""
    name, home = _name_of(target)
    if name in TIMES and home == "numpy":
        return rule

    def without_times(args, kwargs):
        if any(_holds_times(x.type) for x in [*args, *kwargs.values()]):
            raise NotNative(f"np{home.removeprefix('numpy')}.{name} of dates or durations is not compiled",
                            "compute with the numbers: a.view(np.int64)")
        return rule(args, kwargs)

    return without_times


def _holds_times(t) -> bool:
    return k.any_part(t, lambda part: k.is_time(
        part.dtype if isinstance(part, k.Array) else part.scalar if isinstance(part, k.DType) else part))
