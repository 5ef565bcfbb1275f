"""Which values NumPy's functions take as an axis.

NumPy converts an axis by one of two functions: by `operator.index`, which takes bools of Python as the ints 0 and 1, or
by one of its own, which refuses bools. The rule of a function gets an int in both cases, or a tuple of ints, or
whatever is no number, such as None. Values that the function refuses are refused here.
"""
from __future__ import annotations

import operator

import numpy as np

from ...infer.constants import constant
from ...infer.meaning import Apply, Mismatch
from ...ops.arith import CAST
from ...types import kinds as k
from ...types.lattice import dtype_of

__all__ = ["AXES", "as_axis", "integer", "with_axes"]

# The parameters that are axes: the name, the position (the array of an array method is at 0; None: by name only), and
# the functions and array methods
AXES: tuple[tuple[str, int | None, str], ...] = (
    ("axis", 1, "sum prod min max amin amax mean std var any all ptp nansum nanprod nanmin nanmax nanmean nanstd "
                "nanvar nanmedian nancumsum nancumprod nanargmin nanargmax median average cumsum cumprod argmin argmax "
                "count_nonzero sort argsort concatenate concat stack expand_dims squeeze flip size packbits "
                "unpackbits rollaxis lexsort apply_along_axis"),
    ("axis", 2, "nanpercentile nanquantile percentile quantile diff partition argpartition repeat take compress delete "
                "append split array_split roll take_along_axis unwrap linalg.norm fft.fft fft.ifft fft.rfft "
                "fft.irfft fft.hfft fft.ihfft lib.stride_tricks.sliding_window_view"),
    ("axis", 3, "insert trapezoid put_along_axis polynomial.polynomial.polyder"),
    ("axis", 4, "unique"), ("axis", 5, "cross geomspace polynomial.polynomial.polyint"),
    ("axis", 6, "linspace logspace"),
    ("axis", None, "gradient cumulative_sum cumulative_prod unstack vecdot linalg.vecdot linalg.cross "
                   "linalg.vector_norm"),
    ("axes", 1, "transpose permute_dims"), ("axes", 2, "tensordot apply_over_axes"),
    ("axis1", 1, "swapaxes"), ("axis2", 2, "swapaxes"), ("axis1", 2, "diagonal trace"), ("axis2", 3, "diagonal trace"),
    ("source", 1, "moveaxis"), ("destination", 2, "moveaxis"), ("start", 2, "rollaxis"),
    ("axisa", 2, "cross"), ("axisb", 3, "cross"), ("axisc", 4, "cross"),
)
# The functions that take no bool as an axis: they, or what they call, convert it by NumPy's own function
_NO_BOOLS = frozenset("""
    sum prod min max amin amax mean std var any all ptp nansum nanprod nanmin nanmax nanmean nanstd nanvar nancumsum
    nancumprod nanargmin nanargmax cumsum cumprod argmin argmax count_nonzero trapezoid unwrap cumulative_sum
    cumulative_prod argsort argpartition repeat take compress append concatenate concat transpose permute_dims squeeze
    packbits unpackbits vecdot linalg.vecdot apply_over_axes
""".split())
# The functions that convert a single axis in another way than each axis of several
_ONE_NUMBER = {"linalg.norm": int, "linalg.vector_norm": int, "tensordot": operator.index}


def with_axes(name, home, rule):
    """The rule of the function `name` of NumPy's module `home`, or of the array method `name`, that gets each axis as
    an int."""
    path = f"{home}.{name}".removeprefix("numpy.")
    places = {parameter: position for parameter, position, functions in AXES if path in functions.split()}
    if not places:
        return rule
    of_many = integer if path in _NO_BOOLS or path in _ONE_NUMBER else operator.index
    convert = _ONE_NUMBER.get(path, of_many), of_many

    def with_ints(args, kwargs):
        args, kwargs = list(args), dict(kwargs)
        for parameter, position in places.items():
            if parameter in kwargs:
                kwargs[parameter] = as_axis(kwargs[parameter], *convert)
            elif position is not None and position < len(args):
                args[position] = as_axis(args[position], *convert)
        return rule(args, kwargs)

    return with_ints


_EXAMPLES = {k.Bool: True, k.Float: 1.0, k.Complex: 1j}  # a value of each of Python's types that may be refused


def as_axis(x, convert=operator.index, of_many=operator.index):
    """An axis as an int, or a tuple of axes as a tuple of ints. convert: converts a single axis; of_many: converts each
    axis of a tuple. A value that is no number is returned unchanged, for the function to judge."""
    if x.type is k.Int or not (x.known or k.is_number(x.type)):
        return x
    try:
        if x.known:
            found = _ints(x.value, convert, of_many)
            return x if found is x.value else constant(found)
        convert(_EXAMPLES[x.type] if x.type in _EXAMPLES else dtype_of(x.type).type(1))
    except TypeError as error:
        raise Mismatch(str(error)) from None
    fits = x.type is k.Bool or type(x.type) is k.NpInt and x.type is not k.uint64
    return Apply(CAST, x, type=k.Int) if fits else x


def _ints(value, convert, of_many):
    """A constant axis, or constant axes, converted to ints; the value itself if these are ints already."""
    if isinstance(value, tuple):
        items = tuple([_ints(item, of_many, of_many) for item in value])
        return value if all(map(operator.is_, items, value)) else items
    return convert(value) if isinstance(value, (bool, int, float, complex, np.generic)) else value


def integer(value) -> int:
    """The int of a value that is an integer, and no bool, as NumPy converts axes."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError("an integer is required for the axis")
    return operator.index(value)
