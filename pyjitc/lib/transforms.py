"""Jacobians and batches, in the compiled subset: loops over directions and over examples.

Called by functions that api/derivatives.py makes. `f` is a function of the program, `args` the tuple of its arguments,
`at`, the numbers of arguments in a tuple, and `axes` are constants.
"""
from __future__ import annotations

import numpy as np

from ..infer.derivatives import check_argument, check_jacobian
from ..infer.meaning import Apply, Const
from ..ops.arith import IMUL
from ..ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_STRIDE, ARRAY_VIEW
from ..runtime.pool import prange
from ..types.kinds import Array, DType, is_python_number
from ..types.lattice import dtype_of, numpy_counterpart
from .axes import expanded, mapped_axes, mapped_leaves, mapped_names, of_class
from .build import flagged
from .derivatives import name_of, own, pair, pulled, pushed, with_numbers
from .rule import NONE, Constant, intrinsic
from .stand_ins import as_objects, as_tuples, holds_objects
from .trees import (
    at_places, called, count_leaves, first_that_varies, flat, is_tuple, items, leaf_at, like, may_vary, nested,
    none_like, parts_of, restored, tangents_along, tuples, with_leaves,
)

__all__ = ["batched", "batched_in_parallel", "forward_jacobian", "holomorphic_gradients", "reverse_jacobian"]


# -- Jacobians

BY_COMPLEX = ("a Jacobian by complex numbers is that of a function of their real and imaginary parts: write it as one, "
              "lambda x, y: f(x + 1j * y), or use jvp, once in the direction 1 and once in 1j; for a holomorphic "
              "function pass holomorphic=True")
OF_COMPLEX = ("reverse mode gives one row of a Jacobian for each real number in the result, and the result is complex: "
              "use jacfwd, or return the real and the imaginary part")
OF_REAL = "holomorphic=True is for functions of complex numbers: pass z.astype(complex), or complex(x)"


def holomorphic_gradients(f, at, has_aux, args, marks):
    """(the result, the complex derivatives by the arguments `at`) of a holomorphic function."""
    if holds_objects(args):
        given = as_tuples(args)
        return as_objects(holomorphic_gradients(f, at, has_aux, given, marks), given)
    for n in at:
        if not is_complex(args[n]):
            raise TypeError(OF_REAL)
    if not is_complex(first(called(f, marks, own(args)), has_aux)):
        raise TypeError("holomorphic=True is for functions that return a complex number")
    return pulled(f, at, has_aux, 1.0, args, marks)


def is_complex(x):
    if isinstance(x, np.ndarray):
        return x.dtype.kind == "c"
    return isinstance(x, (complex, np.complexfloating))


@intrinsic
def check_given(f, at: Constant, x):
    """Refuse the derivative by the arguments `at`, the items of x, where nothing in one of them can vary."""
    for n, part in zip(at, parts_of(x)):
        check_argument(name_of(f), n, tuples(part).type)
    return NONE


@intrinsic
def check_returned(f, what: Constant, y):
    """Refuse the Jacobian of a result y where nothing in it can vary."""
    check_jacobian(name_of(f), what, y.type)
    return NONE


def forward_jacobian(f, at, several, has_aux, args, marks, holomorphic=False):
    """The derivative of the result with respect to the arguments `at`: a tree like the result, in which each leaf has
    become a tuple of derivatives, or where not `several` the only one of them. A derivative has the axes of the result,
    then those of the argument, and is None where the result cannot vary. With has_aux (the derivative, what f returns
    beside the result).

    It takes one forward sweep for each element of the arguments. All are calls of one function, with tangents that are
    zero except for one leaf."""
    if holds_objects(args):
        given = as_tuples(args)
        return as_objects(forward_jacobian(f, at, several, has_aux, given, marks, holomorphic), given)
    x = at_places(args, at)
    check_given(f, at, x)
    n = first_that_varies(x)
    leaf = leaf_at(x, n)
    if is_complex(leaf) != holomorphic:
        raise TypeError(OF_REAL if holomorphic else BY_COMPLEX)
    along = direction(leaf)
    value, change = pushed(f, at, has_aux, tangents_along(x, n, along), args, marks)
    result = first(value, has_aux)
    y = with_numbers((flat(result),))[0]
    check_returned(f, "jacfwd", y)
    found = flat(change)
    if isinstance(leaf, np.ndarray):
        found = by_array(f, at, has_aux, args, marks, x, leaf, y, n, found, along)
    rest = by_leaves(f, at, has_aux, args, marks, x, y, n + 1, holomorphic)
    found = nested(result, marks, at, several, x, nones(n) + (found,) + rest)
    if has_aux:
        return found, value[1]
    return found


def direction(x):
    """The tangent of a leaf of a tree along its first element."""
    if not isinstance(x, np.ndarray):
        return 1.0
    along = np.zeros(x.shape, x.dtype)
    along.reshape(-1)[:1] = 1
    return along


def nones(n):
    return () if n == 0 else (None,) + nones(n - 1)


def by_leaves(f, at, has_aux, args, marks, x, y, n, holomorphic):
    """The Jacobians of the result y by each leaf of x, the arguments `at`, from leaf n on: a tuple."""
    if n == count_leaves(x):
        return ()
    rest = by_leaves(f, at, has_aux, args, marks, x, y, n + 1, holomorphic)
    leaf = leaf_at(x, n)
    if not may_vary(leaf):
        return (None,) + rest
    if is_complex(leaf) != holomorphic:
        raise TypeError(OF_REAL if holomorphic else BY_COMPLEX)
    along = direction(leaf)
    change = flat(pushed(f, at, has_aux, tangents_along(x, n, along), args, marks)[1])
    if isinstance(leaf, np.ndarray):
        return (by_array(f, at, has_aux, args, marks, x, leaf, y, n, change, along),) + rest
    return (change,) + rest


def by_array(f, at, has_aux, args, marks, x, leaf, y, n, change, along):
    """The Jacobian of the result y by an array, which is leaf n of x, the arguments `at`. change: the derivative along
    its first element, which is that in the direction `along`."""
    elements = along.reshape(-1)
    tangents = tangents_along(x, n, along)
    out = columns(y, leaf.size)
    if leaf.size > 0:
        put_column(out, 0, change)
        elements[0] = 0
    for i in range(1, leaf.size):
        elements[i] = 1
        put_column(out, i, flat(pushed(f, at, has_aux, tangents, args, marks)[1]))
        elements[i] = 0
    return with_axes(out, y, leaf.shape)


def reverse_jacobian(f, at, several, has_aux, args, marks, holomorphic=False):
    """What `forward_jacobian` computes, by one reverse sweep for each element of the result."""
    if holds_objects(args):
        given = as_tuples(args)
        return as_objects(reverse_jacobian(f, at, several, has_aux, given, marks, holomorphic), given)
    x = at_places(args, at)
    check_given(f, at, x)
    value = called(f, marks, own(args))
    if has_aux:
        value = pair(f, value)
    result = first(value, has_aux)
    y = with_numbers((flat(result),))[0]
    for n in at:
        if is_complex(args[n]) != holomorphic:
            raise TypeError(OF_REAL if holomorphic else BY_COMPLEX)
    check_returned(f, "jacrev", y)
    found = like(result, with_leaves(y, rows_of_leaves(f, at, several, has_aux, args, marks, x, y, 0, holomorphic)))
    if has_aux:
        return found, value[1]
    return found


def rows(x, n, dtype):
    """An array of zeros with one row for each of n gradients with respect to x; a tuple of such arrays for a tuple x;
    None where x may not vary."""
    if is_tuple(x):
        x = items(x)
        if len(x) == 0:
            return ()
        return (rows(x[0], n, dtype),) + rows(x[1:], n, dtype)
    if not may_vary(x):
        return None
    return np.zeros((n, size_of(x)), dtype)


def in_shape(out, shape, x):
    if is_tuple(x):
        return of_class(x, all_in_shape(items(out), shape, items(x)))
    if out is None:
        return None
    return out.reshape(shape + shape_of(x))


def all_in_shape(out, shape, x):
    if len(x) == 0:
        return ()
    return (in_shape(out[0], shape, x[0]),) + all_in_shape(out[1:], shape, x[1:])


def rows_of_leaves(f, at, several, has_aux, args, marks, x, y, n, holomorphic):
    """The Jacobians of a function whose result is the tree y, or a leaf, by reverse sweeps: a tuple, for the leaves
    from leaf n on."""
    if n == count_leaves(y):
        return ()
    return (rows_of_leaf(f, at, several, has_aux, args, marks, x, y, n, holomorphic),) + rows_of_leaves(
        f, at, several, has_aux, args, marks, x, y, n + 1, holomorphic)


def rows_of_leaf(f, at, several, has_aux, args, marks, x, y, n, holomorphic):
    part = leaf_at(y, n)
    if not may_vary(part):
        return none_like(marks, at, several, x)
    if is_complex(part) and not holomorphic:
        raise TypeError(OF_COMPLEX)
    if not isinstance(part, np.ndarray):
        found = pulled(f, at, has_aux, alone(y, n, 1.0), args, marks)[1]
        return found if several else found[0]
    along = np.zeros(part.size, part.dtype)
    out = rows(flat(x), part.size, part.dtype)
    for i in range(part.size):
        along[i] = 1
        put_row(out, i, flat(pulled(f, at, has_aux, alone(y, n, along.reshape(part.shape)), args, marks)[1]))
        along[i] = 0
    return restored(marks, at, several, x, in_shape(out, part.shape, flat(x)))


def alone(y, n, cotangent):
    """A cotangent of the tree y that is zero except for leaf n."""
    if not is_tuple(y):
        return cotangent if n == 0 else nothing(y)
    y = items(y)
    if len(y) == 0:
        return ()
    return (alone(y[0], n, cotangent),) + alone(y[1:], n - count_leaves(y[0]), cotangent)


def nothing(y):
    if isinstance(y, np.ndarray):
        return np.zeros(y.shape, y.dtype)
    return 0.0


def columns(y, n):
    """An array for the derivatives of y with respect to n numbers; None where y cannot vary."""
    if is_tuple(y):
        y = items(y)
        if len(y) == 0:
            return ()
        return (columns(y[0], n),) + columns(y[1:], n)
    if not may_vary(y):
        return None
    return np.zeros((size_of(y), n), dtype_with(y))


def with_axes(out, y, shape):
    if is_tuple(y):
        return of_class(y, all_with_axes(items(out), items(y), shape))
    if out is None:
        return None
    return out.reshape(shape_of(y) + shape)


def all_with_axes(out, y, shape):
    if len(y) == 0:
        return ()
    return (with_axes(out[0], y[0], shape),) + all_with_axes(out[1:], y[1:], shape)


def first(y, has_aux):
    """The value of a function that may return other results with it."""
    if has_aux:
        return y[0]
    return y


def size_of(y):
    if isinstance(y, np.ndarray):
        return y.size
    return 1


def shape_of(y):
    if isinstance(y, np.ndarray):
        return y.shape
    return ()


def dtype_with(y):
    if isinstance(y, (np.ndarray, np.generic)):
        return y.dtype
    return np.dtype(np.float64)


def put_column(out, i, y):
    if is_tuple(y):
        out, y = items(out), items(y)
        if len(y) > 0:  # one by one: in a loop over them, the parts would have the union of their types
            put_column(out[0], i, y[0])
            put_column(out[1:], i, y[1:])
    elif y is None:
        return
    elif isinstance(y, np.ndarray):
        out[:, i] = y.reshape(-1)
    else:
        out[0, i] = y


def put_row(out, i, y):
    if is_tuple(y):
        out, y = items(out), items(y)
        if len(y) > 0:  # one by one: in a loop over them, the parts would have the union of their types
            put_row(out[0], i, y[0])
            put_row(out[1:], i, y[1:])
    elif y is None:
        return
    elif isinstance(y, np.ndarray):
        out[i] = y.reshape(-1)
    else:
        out[i, 0] = y


# -- batches

# While a batch is processed at once, what an example needs between operations should stay in the cache of a core.
CACHED = 1 << 19  # bytes
FIRST_PART, LEAST_PART, MOST_PART = 16, 16, 1 << 16  # examples


def batched(f, axes, out_axes, args, marks, names, size):
    """The results of f for each example of a batch, along `out_axes` of arrays. marks: the structures of the arguments,
    see trees.py; names: those of the parameters; size: the number of examples, None where an argument says it."""
    if holds_objects(args):
        given = as_tuples(args)
        return as_objects(batched(f, axes, out_axes, given, marks, names, size), given)
    axes = expanded(args, axes, "in_axes")
    n = examples(args, axes, names, size)
    given = in_front(args, axes)
    one, out = begun(f, axes, given, marks, n, "vmap of an empty batch: nothing says what the function returns")
    in_parts(f, axes, marks, given, n, out)
    return like(one, turned(out, expanded(one, out_axes, "out_axes")))


@flagged(vmap="parts")
def in_parts(f, axes, marks, args, n, out):
    """Write the results of the second and later examples, for one part of the batch after the other. A part has as many
    examples as let the arrays between the operations stay in the cache."""
    low, count = 1, FIRST_PART
    while low < n:
        high = n if n - low <= count else low + count
        kept = part(f, axes, marks, args, low, high, out)
        count = n if kept == 0 else min(max(CACHED * (high - low) // kept, LEAST_PART), MOST_PART)
        low = high


@flagged(vmap="part")
def part(f, axes, marks, args, low, high, out):
    """Write the results of some examples; returns how many bytes it has kept for all of them between operations.
    passes/batches.py makes operations on whole batches of it, where it can."""
    for i in range(low, high):
        put(out, i, of_example(f, axes, marks, args, i))
    return 0


@flagged(vmap="example")
def of_example(f, axes, marks, args, i):
    return flat(called(f, marks, taken_all(args, axes, i)))


def in_front(args, axes):
    """The arguments, with the batch as the first axis of the arrays."""
    if len(args) == 0:
        return ()
    return (first_axis(args[0], axes[0]),) + in_front(args[1:], axes[1:])


def first_axis(x, axis):
    if axis is None:
        return x
    if is_tuple(x):
        return of_class(x, in_front(items(x), axis))
    return x if axis == 0 else np.moveaxis(x, axis, 0)


def taken_all(args, axes, i):
    if len(args) == 0:
        return ()
    return (taken_from(args[0], axes[0], i),) + taken_all(args[1:], axes[1:], i)


def taken_from(x, axis, i):
    if axis is None:
        return x
    if is_tuple(x):
        return of_class(x, taken_all(items(x), axis, i))
    return taken(x, i)


@intrinsic
def taken(x, i):
    """Example i of an array, which it has."""
    t = x.type
    if t.ndim == 1:
        return Apply(ARRAY_LOAD, x, i)
    axes = range(1, t.ndim)
    inner = Array(t.dtype, t.ndim - 1, "C" if t.layout == "C" else "A", t.writable, t.aligned)
    return Apply(ARRAY_VIEW, x, Apply(IMUL, i, Apply(ARRAY_STRIDE, x, axis=0)),
                 *[Apply(ARRAY_DIM, x, axis=n) for n in axes], *[Apply(ARRAY_STRIDE, x, axis=n) for n in axes],
                 type=inner)


def batched_in_parallel(f, axes, out_axes, args, marks, names, size):
    """As `batched`, with the examples divided among threads."""
    if holds_objects(args):
        given = as_tuples(args)
        return as_objects(in_threads(f, axes, out_axes, given, marks, names, size), given)
    return in_threads(f, axes, out_axes, args, marks, names, size)


@flagged(vmap="threads")
def in_threads(f, axes, out_axes, args, marks, names, size):
    axes = expanded(args, axes, "in_axes")
    n = examples(args, axes, names, size)
    given = in_front(args, axes)
    one, out = begun(f, axes, given, marks, n, "pmap of an empty batch: nothing says what the function returns")
    for i in prange(1, n):
        put(out, i, of_example(f, axes, marks, given, i))
    return like(one, turned(out, expanded(one, out_axes, "out_axes")))


def begun(f, axes, args, marks, n, empty):
    """The results for the first of n examples, and room for those of all, with the first's in place."""
    if n == 0:
        raise ValueError(empty)
    one = called(f, marks, taken_all(args, axes, 0))
    out = room(flat(one), n)
    put(out, 0, flat(one))
    return one, out


def examples(args, axes, names, size):
    """The length of the batch, which must be the same in all arrays that have a batch axis."""
    leaves, places, texts = mapped_leaves(args, axes), mapped_axes(args, axes), mapped_names(args, axes, names)
    if len(leaves) == 0:
        if size is None:
            raise ValueError("vmap: no argument has a batch, and axis_size is not given")
        return size
    n = length(leaves[0], places[0], texts[0])
    check_lengths(leaves, places, texts, n, 1)
    if size is not None and n != size:
        raise ValueError(f"vmap got axis_size {size}, and {n} examples along axis {places[0]} of {texts[0]}")
    return n


def check_lengths(leaves, places, texts, n, k):
    if k < len(leaves):
        m = length(leaves[k], places[k], texts[k])
        if m != n:
            raise ValueError(f"vmap got batches of different lengths: {n} examples along axis {places[0]} of "
                             f"{texts[0]}, and {m} along axis {places[k]} of {texts[k]}")
        check_lengths(leaves, places, texts, n, k + 1)


def length(x, axis, name):
    """The length of the batch in an argument."""
    if isinstance(x, (list, dict)):
        raise TypeError(f"vmap takes the arrays out of {name}, a list or dict, where compiled code writes it out in "
                        "the call")
    if not isinstance(x, np.ndarray):
        raise ValueError(f"vmap needs an array with a batch for {name}, and got a number: give in_axes None for it")
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"vmap got in_axes {axis} for {name}, a {x.ndim}-dimensional array")
    return x.shape[axis]


def room(first, n):
    if first is None:
        return None
    if is_tuple(first):
        return of_class(first, room_of_all(items(first), n))
    if isinstance(first, np.ndarray):
        return np.empty((n,) + first.shape, first.dtype)
    if isinstance(first, (bool, int, float, complex, np.generic)):
        return np.empty(n, dtype_for(first))
    return np.full(n, first)


def room_of_all(first, n):
    if len(first) == 0:
        return ()
    return (room(first[0], n),) + room_of_all(first[1:], n)


@intrinsic
def dtype_for(x):
    """The dtype of an array of such numbers."""
    t = numpy_counterpart(x.type) if is_python_number(x.type) else x.type
    return Const(DType(t), dtype_of(t))


def put(out, i, y):
    if y is None:
        return
    if is_tuple(y):
        out, y = items(out), items(y)
        if len(y) > 0:  # one by one: in a loop over them, the parts would have the union of their types
            put(out[0], i, y[0])
            put(out[1:], i, y[1:])
    else:
        out[i] = y


def turned(out, axes):
    """The results with the batch as the axis that `axes` says; without one where it is None."""
    if out is None:
        return None
    if is_tuple(out):
        if axes is None:
            return of_class(out, all_alike(items(out)))
        return of_class(out, all_turned(items(out), axes))
    if axes is None:
        return alike(out)
    if axes == 0:
        return out
    return np.moveaxis(out, 0, axes)


def all_turned(out, axes):
    if len(out) == 0:
        return ()
    return (turned(out[0], axes[0]),) + all_turned(out[1:], axes[1:])


def all_alike(out):
    if len(out) == 0:
        return ()
    return (turned(out[0], None),) + all_alike(out[1:])


def alike(out):
    """The result that all examples have."""
    if not np.all((out == out[0]) | (out != out)):
        raise ValueError("vmap got out_axes None for a result that differs between examples")
    return out[0]
