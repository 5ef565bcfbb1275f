"""Options of NumPy's functions that are texts, where a call chooses them at run time: the function is called with each
text that it takes, and one of these calls is chosen at run time."""
from __future__ import annotations

from ..infer import boxed
from ..infer.constants import constant
from ..infer.meaning import Apply, Call, CallValue, Const, Expr
from ..ops.structure import DISCARD, TUPLE_GET, TUPLE_MAKE
from ..types.kinds import Int, Str

__all__ = ["at_run_time", "is_option"]

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf",
            "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
            "normal_unbiased")
_KINDS = ("quicksort", "mergesort", "heapsort", "stable")
_BOUNDS = ("raise", "wrap", "clip")
# path of a function, without "np." -> {name of an option: its texts}. Texts for which the result is of another kind
# than for others are left out, as are those that no array of compiled code can have.
_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "searchsorted": {"side": ("left", "right")},
    "sort": {"kind": _KINDS}, "argsort": {"kind": _KINDS},
    "reshape": {"order": ("C", "F", "A")},
    "pad": {"mode": ("constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric",
                     "wrap")},
    **dict.fromkeys(("quantile", "percentile", "nanquantile", "nanpercentile"), {"method": _METHODS}),
    **dict.fromkeys(("take", "choose", "ravel_multi_index"), {"mode": _BOUNDS}),
    **dict.fromkeys(("convolve", "correlate"), {"mode": ("full", "same", "valid")}),
    "meshgrid": {"indexing": ("xy", "ij")},
    "trim_zeros": {"trim": ("fb", "f", "b")},
    **dict.fromkeys(("packbits", "unpackbits"), {"bitorder": ("big", "little")}),
    **dict.fromkeys(("linalg.eigh", "linalg.eigvalsh"), {"UPLO": ("L", "U")}),
}


def is_option(path: str, name: str, x: Expr) -> bool:
    """Whether an argument is a text that is not known at compile time, for an option whose texts are known here."""
    return x.type is Str and not x.known and name in _options(path)


def _options(path: str) -> dict[str, tuple[str, ...]]:
    return _OPTIONS.get(path.removeprefix("np.").removeprefix("ndarray."), {})


def at_run_time(path: str, name: str, x: Expr, callee: Expr, args, kwargs) -> Expr:
    """The call of `callee` with each of the texts that x, the option `name`, may be."""
    given: list[Expr] = []
    places = tuple([_place(value, x, given) for value in (*args, *kwargs.values())])
    spec = constant((path, name, places, tuple(kwargs)))
    return Call(switched, callee, spec, Const(Int, 0), x, Apply(TUPLE_MAKE, *given, cls=None))


def _place(value: Expr, x: Expr, given: list[Expr]):
    """Where an argument of the call comes from: None, from the option; (value,), a constant; its place in `given`."""
    if value is x:
        return None
    if value.known and (value.value is None or type(value.value) in (bool, int, str)):
        return (value.value,)
    given.append(value)
    return len(given) - 1


def switched(callee, spec, n, value, given):
    text = text_of(spec, n)
    if text is None:
        call_numpy(callee, spec, value, given)
        raise ValueError(wrong(spec))
    if value == text:
        return with_text(callee, spec, n, given)
    return switched(callee, spec, n + 1, value, given)


def _intrinsic(function):
    """As `rule.intrinsic`, which is not imported, since rule.py asks this module."""
    function.rule = lambda args, kwargs: function(*args)
    return function


@_intrinsic
def text_of(spec, n):
    path, name, _, _ = spec.value
    texts = _options(path)[name]
    return constant(texts[n.value] if n.value < len(texts) else None)


@_intrinsic
def call_numpy(callee, spec, value, given):
    """The call by the interpreter, which raises the error for another text."""
    return Apply(DISCARD, boxed.call(callee, *_arguments(spec.value, value, given)))


@_intrinsic
def wrong(spec):
    path, name, _, _ = spec.value
    return constant(f"{name}= of {path}, where it is chosen at run time, must be one of "
                    f"{', '.join(map(repr, _options(path)[name]))}")


@_intrinsic
def with_text(callee, spec, n, given):
    path, name, _, _ = spec.value
    args, keywords = _arguments(spec.value, constant(_options(path)[name][n.value]), given)
    return CallValue(callee, *args, keywords=keywords)


def _arguments(spec, text: Expr, given: Expr) -> tuple[list[Expr], dict[str, Expr]]:
    """The positional arguments of the call with a text, and those with keywords."""
    _, _, places, keywords = spec
    values = [text if place is None else constant(place[0]) if type(place) is tuple
              else Apply(TUPLE_GET, given, index=place) for place in places]
    first = len(values) - len(keywords)
    return values[:first], dict(zip(keywords, values[first:]))
