"""Functions by which library functions talk to the compiler, besides the operation records: iteration and the absent
value.

`table.py` gives these names their meaning; they are never run by CPython.
"""
import warnings

from ..types.kinds import Undefined

__all__ = ["iterate", "advance", "following", "is_python_float", "NOTHING", "same", "fail", "warn", "put_state",
           "as_type", "as_element", "store_all", "fold", "identity", "combine_with", "mean_type", "insert_axes",
           "nan_identity", "chosen", "strided"]


def iterate(x):
    """The iteration state of `x`, as a `for` loop makes it."""
    raise NotImplementedError


def advance(state):
    """(has, item, next state) of an iteration state; item and next state have no value where `has` is false."""
    raise NotImplementedError


def following(state):
    """The iteration state after a step, for states whose fields are what holds the items, the position, the distance
    from one position to the next where that may be another number than 1, and the number of items that are left."""
    raise NotImplementedError


def put_state(it, state):
    """Store the next state of an iterator object whose states have several types."""
    raise NotImplementedError


def same(x, y):
    """How tuples compare their items: `x is y or x == y`. Numbers have no identity here."""
    raise NotImplementedError


def fail(cls, message):
    """raise cls(message). The compiler knows that the call never returns, so it has no value."""
    raise cls(message)


def warn(message, cls=RuntimeWarning):
    """Issue a warning at the line where the program calls compiled code."""
    warnings.warn(message, cls, stacklevel=2)


def as_type(x, dtype):
    """A number as an element of an array of `dtype`, with the conversion that assignment makes."""
    raise NotImplementedError


def as_element(x, dtype):
    """`x` converted as by the program's own assignment to an element: a NumPy number that does not fit in a signed
    integer raises."""
    raise NotImplementedError


def store_all(target, value):
    """target[...] = value, which has no more dimensions than the target."""
    raise NotImplementedError


def fold(how, a, where, dtype, axes=None):
    """The elements of `a` (where the mask is true) reduced to one, or along axes."""
    raise NotImplementedError


def identity(how, dtype):
    """The start value of a reduction."""
    raise NotImplementedError


def nan_identity(a, how):
    """The start value for the type of `a`; nan where `how` is 'nan'."""
    raise NotImplementedError


def combine_with(how, x, y):
    """One step of a reduction."""
    raise NotImplementedError


def mean_type(a):
    """The dtype of the mean of `a`."""
    raise NotImplementedError


def insert_axes(a, axes):
    """The view of `a` with new axes at these places."""
    raise NotImplementedError


def chosen(condition, x, y):
    """x or y, in their common NumPy type."""
    raise NotImplementedError


def strided(a):
    """The array `a` for reading, as a type without a layout: functions of it are compiled once for all layouts."""
    raise NotImplementedError


def is_python_float(x):
    """Whether `x` is a Python float and no subclass: np.float64 is not."""
    return type(x) is float


NOTHING = Undefined
