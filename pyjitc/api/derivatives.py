"""`grad` and related transformations, which return compiled functions, with JAX's signatures.

Each makes a small Python function that calls a name of lib/derivatives.py, for which inference requests the derivative;
the small function is compiled like any other. This module is loaded when one of the names is first used.
"""
from __future__ import annotations

from functools import lru_cache, partial
from types import CellType, FunctionType
from typing import Any, Callable, Sequence

import numpy as np

from ..base.options import Options, with_environment
from ..front.functions import REBUILDING, TRANSFORMED, placed, prototype_of
from ..infer.constants import constant
from ..infer.meaning import UNKNOWN, Apply, CallValue, Expr, Mismatch, NotNative
from ..infer.names import describe
from ..lib import derivatives as names
from ..lib import ruled, transforms
from ..lib.derivatives import stop_gradient
from ..lib.rule import Constant, Rule
from ..lib.stand_ins import holds_dataclass
from ..lib.trees import constant_marks
from ..ops import structure
from ..types.kinds import Function, Singleton, Tuple
from . import trees
from .callables import OfAnyCount, is_of_any_count, of_count, opened, python_of
from .dispatch import CompiledFunction, Dispatcher
from .jit import njit

__all__ = ["check_grads", "checkpoint", "custom_jvp", "custom_vjp", "grad", "hessian", "hvp", "jacfwd", "jacobian",
           "jacrev", "jvp", "linearize", "pmap", "stop_gradient", "tree", "value_and_grad", "vjp", "vmap"]

tree = trees  # the functions on trees, under JAX's name
# the maximum number of functions that are cached for calls that make them again, such as grad(f)(x) in a loop
_DERIVATIVES = 256


def value_and_grad(fun: Callable, argnums: int | Sequence[int] | None = None, has_aux: bool = False,
                   holomorphic: bool = False, memory: int | None = None, *,
                   argnames: str | Sequence[str] | None = None) -> CompiledFunction:
    """A compiled function of the same arguments that returns (fun(...), gradient): see `grad`."""
    return _of_arguments("value_and_grad", fun, argnums, argnames,
                         lambda function, options, wrt: _gradient(function, options, wrt, bool(has_aux), True,
                                                                  bool(holomorphic), _limit(memory)))


def grad(fun: Callable, argnums: int | Sequence[int] | None = None, has_aux: bool = False,
         holomorphic: bool = False, memory: int | None = None, *,
         argnames: str | Sequence[str] | None = None) -> CompiledFunction:
    """A compiled function of the same arguments that returns the gradient of `fun`, which must return a float.

    argnums: the position of the argument with respect to which to differentiate, 0 by default, or a tuple of positions,
    for which the result is a tuple of gradients. argnames: the name of the argument, or a tuple of names, instead of
    positions. The arguments must be floats, arrays of floats, or tuples, lists, dicts and dataclasses of these; the
    gradient has the same structure, types and shapes. Arrays that `fun` writes into are copied, so that the caller's do
    not change. has_aux: `fun` returns (value, other results), and the new function (gradient, other results).
    holomorphic: `fun` is a holomorphic function of complex numbers that returns one, and the gradient is its complex
    derivative.

    The derivative is made by reverse-mode automatic differentiation of the compiled form of `fun`, with its loops,
    branches, writes into arrays and exceptions. memory: the most bytes that it may keep for a loop that no other loop
    contains. Parts of the loop are run again instead, by a binomial schedule, one trip at a time at the least.

    Raises TypeError where `fun` is no Python function or `argnums` no int or tuple of ints, ValueError for an argument
    that `fun` does not have. A call raises CompileError, at the line of the program, for an operation without a
    derivative.
    """
    return _of_arguments("grad", fun, argnums, argnames,
                         lambda function, options, wrt: _gradient(function, options, wrt, bool(has_aux), False,
                                                                  bool(holomorphic), _limit(memory)))


def jvp(fun: Callable, primals: Sequence, tangents: Sequence, has_aux: bool = False) -> tuple:
    """Forward mode: (`fun(*primals)`, its derivative in the direction of `tangents`).

    primals, tangents: sequences of the same length; each tangent has the type and shape of its primal, and is None for
    one that cannot vary, such as an int. The derivative has the types and shapes of the result. With has_aux `fun`
    returns (value, other results), and jvp (value, derivative, other results). Raises TypeError where the numbers of
    primals and tangents differ; CompileError for an operation without a derivative."""
    primals, tangents = tuple(primals), tuple(tangents)
    if len(primals) != len(tangents):
        raise TypeError(f"jvp takes as many tangents as primals, not {len(tangents)} for {len(primals)}")
    function, options, first = _compilable("jvp", fun, len(primals))
    return _pushed(function, options, len(first), len(primals), bool(has_aux))(
        *first, *primals, trees.in_order(primals, tangents))


def vjp(fun: Callable, *primals, has_aux: bool = False) -> tuple:
    """Reverse mode: (`fun(*primals)`, pullback). The pullback takes a cotangent, with the types and shapes of the
    result, and returns the tuple of cotangents of the arguments. With has_aux: (value, pullback, other results).

    Each call of the pullback runs `fun` again, since nothing is stored between the calls. Arrays among the arguments
    are copied. Raises CompileError for an operation without a derivative."""
    function, options, first = _compilable("vjp", fun, len(primals))
    given = (*first, *map(_own, primals))
    result = _compiled(function, options)(*map(_own, given))
    pullback = partial(_pulled(function, options, len(first), len(primals), bool(has_aux)), *given)
    pullback = _of_trees(pullback, (result[0] if has_aux else result,))
    return (result[0], pullback, result[1]) if has_aux else (result, pullback)


def linearize(fun: Callable, *primals, has_aux: bool = False) -> tuple:
    """Forward mode: (`fun(*primals)`, pushforward). The pushforward takes one tangent for each argument and returns the
    derivative of the result in that direction. With has_aux: (value, pushforward, other results). Raises CompileError
    for an operation without a derivative."""
    function, options, first = _compilable("linearize", fun, len(primals))
    given = (*first, *map(_own, primals))
    result = _compiled(function, options)(*map(_own, given))
    pushforward = partial(_pushed(function, options, len(first), len(primals), bool(has_aux), True), *given)
    pushforward = _of_trees(pushforward, primals)
    return (result[0], pushforward, result[1]) if has_aux else (result, pushforward)


def _of_trees(function, like):
    """`function` of tangents or cotangents of the values `like`, which also takes dicts with keys in another order."""
    return partial(_in_order, function, trees.rebuilt(_no_leaf, like)) if trees.is_tree(like) else function


def _no_leaf(x):
    return 0


def _in_order(function, like, *given):
    return function(*trees.in_order(like, given))


def jacfwd(fun: Callable, argnums: int | Sequence[int] | None = None, has_aux: bool = False,
           holomorphic: bool = False, *, argnames: str | Sequence[str] | None = None) -> CompiledFunction:
    """A compiled function that returns the Jacobian of `fun`, by forward mode with one sweep for each element of the
    argument: best for few arguments and many results. The shape of the Jacobian is that of the result followed by that
    of the argument. argnums, argnames: see `grad`. Where the result is a tree, the new function returns a tree like it,
    with a Jacobian, or for a tuple of arguments in `argnums` a tuple of Jacobians, at each leaf. With has_aux `fun`
    returns (value, other results), and the new function (Jacobian, other results)."""
    return _of_arguments("jacfwd", fun, argnums, argnames,
                         lambda function, options, wrt: _jacobian(function, options, wrt, "jacfwd", bool(has_aux),
                                                                      bool(holomorphic)))


def jacrev(fun: Callable, argnums: int | Sequence[int] | None = None, has_aux: bool = False,
           holomorphic: bool = False, *, argnames: str | Sequence[str] | None = None) -> CompiledFunction:
    """The same as `jacfwd`, by reverse mode with one sweep for each element of the result: best for many arguments and
    few results."""
    return _of_arguments("jacrev", fun, argnums, argnames,
                         lambda function, options, wrt: _jacobian(function, options, wrt, "jacrev", bool(has_aux),
                                                                      bool(holomorphic)))


jacobian = jacrev


def hessian(fun: Callable, argnums: int | Sequence[int] | None = None, has_aux: bool = False,
            holomorphic: bool = False, *, argnames: str | Sequence[str] | None = None) -> CompiledFunction:
    """A compiled function that returns the second derivatives of `fun`, which must return a float: an array with the
    shape of the argument twice, by forward mode over reverse mode. For a tuple of arguments in `argnums` a tuple of
    tuples of arrays: item n of item m is the derivative by argument m and then by argument n, and its axes are those of
    argument m, then those of argument n."""
    return jacfwd(grad(fun, argnums, has_aux, holomorphic, argnames=argnames), argnums, has_aux, holomorphic,
                  argnames=argnames)


def hvp(fun: Callable, primals: Sequence, tangents: Sequence) -> Any:
    """The product of the Hessian of `fun` with respect to its first argument and a vector, by forward mode over reverse
    mode, without forming the Hessian. primals, tangents: see `jvp`."""
    return jvp(grad(fun), primals, tangents)[1]


def vmap(fun: Callable, in_axes: int | None | Sequence = 0, out_axes: int | None | Sequence | dict = 0,
         axis_name: Any = None, axis_size: int | None = None, spmd_axis_name: Any = None) -> CompiledFunction:
    """A compiled function that applies `fun` to each example of a batch and returns arrays of the results.

    in_axes: the batch axis of each argument, or one for all; None for an argument that all examples share. A tuple,
    list or dict of axes says them for the parts of an argument. Parameters beyond those in the tuple are passed by
    name, and have the batch as their first axis. out_axes: the batch axis of the results; None for what is the same for
    all examples. Each example takes its own branches and numbers of trips. axis_size: the length of the batch, needed
    where no argument has one. axis_name, spmd_axis_name: accepted and not used, since no function asks for them.

    Raises ValueError where no argument has a batch axis, or `in_axes` has more items than the function has parameters,
    TypeError for axes that are no ints. The new function raises ValueError where batches have different lengths, or
    axes are not those of the arguments."""
    return _batch_of("vmap", fun, in_axes, out_axes, axis_size)


def pmap(fun: Callable, in_axes: int | None | Sequence = 0, out_axes: int | None | Sequence | dict = 0,
         axis_name: Any = None, axis_size: int | None = None) -> CompiledFunction:
    """The same as `vmap`, with the examples divided among the threads that `set_num_threads` allows. No example may
    write into an array that another one reads."""
    return _batch_of("pmap", fun, in_axes, out_axes, axis_size)


def _batch_of(what, fun, in_axes, out_axes, size, of_given=False):
    """The function that `vmap` or `pmap` returns. of_given: a call may leave out parameters with defaults; it maps only
    the arguments that it passes."""
    function, first = opened(what, fun)
    several = isinstance(in_axes, (tuple, list))
    if isinstance(in_axes, dict):
        raise TypeError("in_axes is an int, None, or a tuple with an item for each argument, not a dict")
    given = _fixed(in_axes, "in_axes")
    if size is not None:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0:
            raise TypeError(f"axis_size is a length, not {size!r}")
        size = int(size)
    elif given is None or several and not any(map(_is_mapped, given)):
        raise ValueError(f"{what} must have at least one argument with a batch: in_axes is None for all, and there is "
                         "no axis_size")
    out, options = _fixed(out_axes, "out_axes"), _options(function)
    if of_given:
        return _batched(function, options, given, out, what, None, size)

    def made(one):
        count = len(_parameters(one)) - len(first)
        axes = given if several else (given,) * count
        if len(axes) > count:
            raise ValueError(f"in_axes has {len(axes)} item{'s' * (len(axes) != 1)}, and {one.__qualname__}() takes "
                             f"{count} argument{'s' * (count != 1)}")
        named = count - len(axes)
        return _batched(one, options, (None,) * len(first) + axes + (0,) * named, out, what, named, size)

    # JAX maps the arguments that are given, not the defaults of others
    found = OfAnyCount(function, made) if is_of_any_count(function) or python_of(function).__defaults__ else made(
        function)
    return partial(found, *first) if first else found


def _is_mapped(axes) -> bool:
    if isinstance(axes, tuple):
        if axes[:1] == ("dict",):
            return any([_is_mapped(axis) for _, axis in axes[1]])
        return any(map(_is_mapped, axes))
    return axes is not None


def check_grads(fun: Callable, args: Sequence, order: int = 1, modes: Sequence[str] = ("fwd", "rev"),
                atol: float | None = None, rtol: float | None = None, eps: float | None = None) -> None:
    """Raise AssertionError where derivatives of `fun` at `args` differ from finite differences of its values.

    One random direction is tested. modes: "fwd" compares the tangent with central differences of step `eps` (1e-6);
    "rev" compares the pullback of a random cotangent with the tangent. order=2 tests the gradient in the same way.
    atol, rtol: absolute and relative tolerance (1e-5)."""
    if order > 1:
        check_grads(fun, args, 1, modes, atol, rtol, eps)
        return check_grads(grad(fun), args, order - 1, modes, atol, rtol, eps)
    _check_once(fun, tuple(args), modes, 1e-5 if atol is None else atol, 1e-5 if rtol is None else rtol,
                1e-6 if eps is None else eps)


def _check_once(fun, args, modes, atol, rtol, eps):
    random = np.random.default_rng(0)
    tangents = tuple([trees.rebuilt(lambda x: _random(random, x), x) for x in args])
    value, tangent = jvp(fun, tuple(map(_own, args)), tangents)
    name = getattr(fun, "__qualname__", repr(fun))
    if "fwd" in modes:
        function, options, first = _compilable("check_grads", fun, len(args))
        plain = _compiled(function, options)
        ends = [plain(*first, *(trees.rebuilt(lambda x, t: x if t is None else x + sign * eps * t, x, t)
                        for x, t in zip(args, tangents))) for sign in (1, -1)]
        _compare(f"{name}(): forward mode and central differences", tangent,
                 trees.rebuilt(lambda y, z, t: None if t is None else (y - z) / (2 * eps), *ends, tangent), atol, rtol)
    if "rev" in modes:
        cotangent = trees.rebuilt(lambda t: None if t is None else _random(random, t), tangent)
        _, pullback = vjp(fun, *args)
        found = pullback(cotangent)
        _compare(f"{name}(): reverse mode and forward mode", _product(found, tangents), _product(cotangent, tangent),
                 atol, rtol)


def _random(random, x):
    if isinstance(x, np.ndarray):
        if x.dtype.kind == "c":
            return (random.normal(size=x.shape) + 1j * random.normal(size=x.shape)).astype(x.dtype)
        return random.normal(size=x.shape).astype(x.dtype) if x.dtype.kind == "f" else None
    if isinstance(x, (complex, np.complexfloating)):
        return type(x)(complex(random.normal(), random.normal()))
    return type(x)(random.normal()) if isinstance(x, (float, np.floating)) else None


def _product(x, y) -> float:
    found = []

    def add(a, b):
        if a is not None and b is not None:
            found.append(float(np.sum(np.asarray(a) * b).real))

    trees.rebuilt(add, x, y)
    return sum(found)


def _compare(what, found, expected, atol, rtol):
    def one(x, y):
        if x is not None and not np.allclose(x, y, rtol, atol):
            raise AssertionError(f"{what} differ: {x!r} and {y!r}")

    trees.rebuilt(one, found, expected)


# -- functions with derivatives of their own


def custom_jvp(fun: Callable, nondiff_argnums: Sequence[int] = ()) -> CompiledFunction:
    """Decorator of a function with a derivative given by the program: `f.defjvp(rule)`, where rule(primals, tangents)
    returns (result, its tangent) and must be linear in the tangents; or `f.defjvps(*rules)`, with None or rule(tangent,
    result, *primals) for each argument, whose results are added. Both modes use it.

    nondiff_argnums: positions of arguments that do not vary, such as functions: the rule gets them first, one by one.
    The tangent of a value that cannot vary is None. Raises TypeError for a wrong number of rules in `defjvps`."""
    made = _with_rules("custom_jvp", fun, "jvp", nondiff_argnums)

    def defjvp(rule, symbolic_zeros=False):
        return _give(made, "jvp", rule)

    def defjvps(*rules):
        if nondiff_argnums:
            raise ValueError("defjvps takes functions without nondiff_argnums: use defjvp")
        if len(rules) != len(_parameters(fun)):
            raise TypeError(f"defjvps takes a rule, or None, for each of the {len(_parameters(fun))} arguments")
        return _give(made, "jvps", tuple(rules))

    made.defjvp, made.defjvps = defjvp, defjvps
    return made


def custom_vjp(fun: Callable, nondiff_argnums: Sequence[int] = ()) -> CompiledFunction:
    """Decorator of a function with a reverse-mode derivative given by the program: `f.defvjp(forward, backward)`.

    forward(*args) returns (result, residuals); backward(residuals, cotangent of the result) returns the tuple of
    cotangents of the arguments, None for those that cannot vary. nondiff_argnums: positions of arguments that do not
    vary: `backward` gets them first, one by one, and returns nothing for them."""
    made = _with_rules("custom_vjp", fun, "vjp", nondiff_argnums)

    def defvjp(fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        return _give(made, "vjp", fwd, bwd)

    made.defvjp = defvjp
    return made


def checkpoint(fun: Callable) -> CompiledFunction:
    """A function like `fun` for which reverse mode keeps only the arguments: the derivative runs it again, which takes
    less memory."""
    return _repeated(fun)


@lru_cache(_DERIVATIVES)
def _repeated(fun):
    return _with_rules("checkpoint", fun, "checkpoint", ())


def _with_rules(what, fun, kind, fixed):
    function, first = opened(what, fun)
    if first:
        raise TypeError(f"{what} takes a function, not a partial or a bound method: write a function around it")
    options, parameters = _options(function), _parameters(function, fixed)
    fixed = tuple([n % len(parameters) for n in fixed])
    rules = "'checkpoint', None, None" if kind == "checkpoint" else "KIND, RULE, SECOND"
    made = _carrier(function, what, parameters, f"return CUSTOM(FUN, {rules}, {fixed!r}, {', '.join(parameters)})",
                    options, CUSTOM=ruled.custom, KIND=kind, RULE=None, SECOND=None)
    made.py_func.__defaults__ = python_of(function).__defaults__
    return made


def _give(made, kind, rule, second=None):
    """Store a rule among the values that the compiled function captures, on which its code depends."""
    cells = dict(zip(made.py_func.__code__.co_freevars, made.py_func.__closure__))
    cells["KIND"].cell_contents, cells["RULE"].cell_contents, cells["SECOND"].cell_contents = kind, rule, second
    return rule if second is None else None


# -- making them


def _options(fun):
    """The options to compile a function with."""
    return fun.options if isinstance(fun, CompiledFunction) else None


def _compilable(name: str, fun, count: int) -> tuple:
    """(the function, the options to compile with, the first arguments that it gets) for a call with `count`
    arguments."""
    function, first = opened(name, fun)
    options = _options(function)
    if is_of_any_count(function):
        function = of_count(function, len(first) + count)
    return function, options, first


def _of_arguments(name: str, fun, argnums, argnames, make):
    """The result of make(function, options, positions of the arguments that vary), for any callable."""
    function, first = opened(name, fun)
    options = _options(function)

    def made(one):
        wrt = _checked(argnums, argnames, one)
        if first:  # argnums do not count them
            wrt = tuple([n if n < 0 else n + len(first) for n in wrt]) if type(wrt) is tuple else (
                wrt if wrt < 0 or argnames is not None else wrt + len(first))
        return make(one, options, wrt)

    found = OfAnyCount(function, made) if is_of_any_count(function) else made(function)
    return partial(found, *first) if first else found


def _limit(memory) -> int:
    """The bytes that a gradient may keep, 0 for no limit."""
    if memory is None:
        return 0
    if isinstance(memory, bool) or not isinstance(memory, (int, np.integer)) or memory <= 0:
        raise TypeError(f"memory is a positive number of bytes, not {memory!r}")
    return int(memory)


def _checked(argnums, argnames=None, fun=None) -> int | tuple[int, ...]:
    """The positions of the arguments that are asked for by position or by name."""
    if argnames is not None:
        if argnums is not None:
            raise TypeError("give argnums or argnames, not both")
        given = _parameters(fun)
        for name in (argnames,) if isinstance(argnames, str) else argnames:
            if name not in given:
                raise ValueError(f"argnames has {name!r}, and the parameters of {fun.__qualname__}() are "
                                 f"{', '.join(given)}")
        return given.index(argnames) if isinstance(argnames, str) else tuple(map(given.index, argnames))
    if argnums is None:
        return 0
    if type(argnums) is int:
        return argnums
    if isinstance(argnums, (tuple, list)) and argnums and all(type(n) is int for n in argnums):
        return tuple(argnums)
    raise TypeError(f"argnums must be an int or a tuple of ints, not {argnums!r}")


def _parameters(fun, argnums=()) -> tuple[str, ...]:
    """The names of the parameters."""
    code = python_of(fun).__code__
    if is_of_any_count(fun):
        raise TypeError(f"{fun.__qualname__}() has *args, and a derivative of its own is given for positional "
                        "parameters; write a function with positional parameters around it")
    given = code.co_varnames[:code.co_argcount]
    for n in argnums:
        if not -len(given) <= n < len(given):
            raise ValueError(f"argnums has {n}, and {fun.__qualname__}() takes {len(given)} "
                             f"argument{'s' * (len(given) != 1)}")
    return given


def _carrier(fun, what: str, parameters, body: str | Callable, options=None, MARKS=None, **space) -> CompiledFunction:
    """The compiled function `what(fun)` with this body, which captures `fun` and the values in `space`: captured values
    are pickled with it. A body that uses MARKS is made again for arguments that are trees (see trees.py): it may be a
    function that returns it for the marks."""
    found: dict = {}
    given_body, body = body, body if isinstance(body, str) else body(MARKS)
    marked = "MARKS" in body
    if marked:
        space["MARKS"] = MARKS
    # in one line, for tracebacks
    exec(f"def make(FUN, {', '.join(space)}):\n    def carrier({', '.join(parameters)}): {body}\n    return carrier",
         python_of(fun).__globals__, found)
    made, code = found["make"](fun, **space), python_of(fun).__code__
    made.__code__ = placed(made.__code__, what, code.co_filename, code.co_firstlineno)
    made.__module__ = fun.__module__
    made.__name__, made.__qualname__, made.__doc__ = what, f"{what}({fun.__qualname__})", fun.__doc__
    TRANSFORMED.add(made.__code__)
    if marked:
        REBUILDING.add(made.__code__)
    # also under PYJITC_DISABLE: the interpreter has no transforms
    made = Dispatcher(made, options or with_environment(Options()))
    if marked and MARKS is None:
        del space["MARKS"]
        made.__trees__ = trees.Trees(made, partial(_for_trees, fun, what, parameters, given_body, options, space))
    return made


def _for_trees(fun, what, parameters, body, options, space, marks) -> CompiledFunction:
    return _carrier(fun, what, parameters, body, options, MARKS=marks, **space)


@lru_cache(_DERIVATIVES)
def _gradient(fun, options, argnums, has_aux, with_value, holomorphic=False, memory=0):
    several = argnums if type(argnums) is tuple else (argnums,)
    parameters = _parameters(fun, several)
    several = tuple([n % len(parameters) for n in several])
    given = ", ".join(parameters)
    gradient = "found[1]" if type(argnums) is tuple else "found[1][0]"
    result = f"found[0], {gradient}" if with_value else f"{gradient}, found[0][1]" if has_aux else gradient
    last = f", {memory}" if memory else ""
    made = _carrier(fun, "value_and_grad" if with_value else "grad", parameters,
                    f"found = GRADIENTS(FUN, {several!r}, {has_aux!r}, ({given},), MARKS{last}); return {result}",
                    options, GRADIENTS=transforms.holomorphic_gradients if holomorphic else names.gradients)
    made.py_func.__defaults__ = python_of(fun).__defaults__
    return made


@lru_cache(_DERIVATIVES)
def _pushed(fun, options, fixed, count, has_aux, linear=False):
    """The derivative in a direction by the last `count` of the arguments; linear: the function takes one parameter for
    each tangent and returns the derivative alone."""
    given = [f"x{n}" for n in range(fixed + count)]
    along = [f"t{n}" for n in range(count)] if linear else ["tangents"]
    tangents = f"({', '.join(along)},)" if linear else "tangents"
    return _carrier(fun, "jvp", (*given, *along),
                    f"return PUSHED(FUN, {tuple(range(fixed, fixed + count))!r}, {has_aux!r}, {tangents}, "
                    f"({', '.join(given)},), MARKS){'[1]' if linear else ''}", options, PUSHED=names.pushed_apart)


@lru_cache(_DERIVATIVES)
def _pulled(fun, options, fixed, count, has_aux):
    given = [f"x{n}" for n in range(fixed + count)]
    return _carrier(fun, "vjp", (*given, "cotangent"),
                    f"return PULLED(FUN, {tuple(range(fixed, fixed + count))!r}, {has_aux!r}, cotangent, "
                    f"({', '.join(given)},), MARKS)[1]", options, PULLED=names.pulled)


@lru_cache(_DERIVATIVES)
def _compiled(fun, options):
    return njit(fun)


@lru_cache(_DERIVATIVES)
def _jacobian(fun, options, argnums, what, has_aux, holomorphic=False):
    several = argnums if type(argnums) is tuple else (argnums,)
    parameters = _parameters(fun, several)
    at = tuple([n % len(parameters) for n in several])
    if len(set(at)) < len(at):
        raise ValueError(f"argnums of a Jacobian has an argument twice: {argnums}")
    made = _carrier(fun, what, parameters, f"return JACOBIAN(FUN, {at}, {type(argnums) is tuple}, {has_aux}, "
                    f"({', '.join(parameters)},), MARKS, {holomorphic})", options,
                    JACOBIAN=transforms.forward_jacobian if what == "jacfwd" else transforms.reverse_jacobian)
    made.py_func.__defaults__ = python_of(fun).__defaults__
    return made


@lru_cache(_DERIVATIVES)
def _batched(fun, options, axes, out_axes, what, named, size):
    """The compiled function that maps `fun` over batches. named: how many of its last parameters are passed by name;
    None where a call may leave out any of the last ones."""
    names = _parameters(fun)
    if named is None:
        parameters, args = ["*given"], "given"
    else:
        parameters = [*names[:len(names) - named], *["*"][:named], *names[len(names) - named:]]
        args = f"({', '.join(names)},)"
    body = partial(_batched_body, axes, out_axes, args, names, size)
    if what == "vmap":
        return _carrier(fun, what, parameters, body, options, BATCHED=transforms.batched)
    options = (options or Options())._replace(parallel=True)
    return _carrier(fun, what, parameters, body, options, BATCHED=transforms.batched_in_parallel)


def _batched_body(axes, out_axes, args, names, size, marks) -> str:
    found = axes if marks is None else tuple(map(_axes_in_order, axes, trees.given(marks)))
    return f"return BATCHED(FUN, {found!r}, {out_axes!r}, {args}, MARKS, {names!r}, {size!r})"


def _fixed(axes, what):
    """The batch axes as constants: those in a dict as pairs of a key and an axis."""
    if isinstance(axes, dict):
        return "dict", tuple([(key, _fixed(axes[key], what)) for key in sorted(axes)])
    if isinstance(axes, (tuple, list)):
        return tuple([_fixed(axis, what) for axis in axes])
    if axes is None or isinstance(axes, (int, np.integer)) and not isinstance(axes, bool):
        return None if axes is None else int(axes)
    raise TypeError(f"{what} is an int, None, or a tuple, list or dict of these, not {axes!r}")


def _axes_in_order(axes, marks):
    """The batch axes of an argument with this structure as tuples, in the order of its items."""
    if not isinstance(axes, tuple) or marks is None:
        return axes
    if axes[:1] == ("dict",):
        given = dict(axes[1])
        if marks[0] != "dict" or given.keys() != set(marks[1]):
            raise ValueError(f"in_axes has a dict of {', '.join(given)}, which is not the structure of the argument")
        axes = tuple([given[key] for key in marks[1]])
    return tuple(map(_axes_in_order, axes, marks[2]))


def _own(x):
    """The argument x with copies of its arrays, also of those in trees, so that writes do not reach the caller's."""
    return trees.rebuilt(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, x)


# -- in compiled code


def _maker(function, parameters):
    """Let compiled code call a function that makes compiled functions: the call runs at compile time."""
    def rule(fun, *rest):
        if isinstance(fun.type, Singleton):
            try:
                return constant(_made_once(function, fun.type.value, *rest))
            except (TypeError, ValueError) as error:
                raise Mismatch(str(error)) from None
        if not isinstance(fun.type, Function):
            raise Mismatch(f"{function.__name__} takes a function, not {describe(fun.type)}")
        given, stand_in = _defaults(fun), _stand_in(fun.type.proto)
        try:
            if given and function in (vmap, pmap):  # they map the arguments that are given, not the defaults of others
                in_axes, out_axes, _, size, *_ = rest
                return _of_closure(_batch_of(function.__name__, stand_in, in_axes, out_axes, size, of_given=True), fun)
            if is_of_any_count(stand_in) and function is not checkpoint:
                return CallValue(constant(names.of_any_count), constant(function), constant_marks(rest), fun)
            return _of_closure(function(stand_in, *rest), fun, given)
        except (TypeError, ValueError) as error:
            raise Mismatch(str(error)) from None

    def for_count(fun, rest, count):
        try:
            return _of_closure(function(of_count(_stand_in(fun.type.proto), count), *rest), fun)
        except (TypeError, ValueError) as error:
            raise Mismatch(str(error)) from None

    function.for_count = for_count
    function.rule = Rule(rule, f"pyjitc.{function.__name__}", parameters)


def _made_once(function, fun, *rest):
    """The result of `function` for a constant: inference asks several times, and must get the same object each time."""
    try:
        return _remembered(function, fun, *rest)
    except TypeError:  # an argument such as a dict of axes has no hash, or the call is wrong
        return function(fun, *rest)


@lru_cache(_DERIVATIVES)
def _remembered(function, fun, *rest):
    return function(fun, *rest)


@lru_cache(_DERIVATIVES)
def _stand_in(proto) -> FunctionType:
    """A Python function with the code of one that compiled code makes, whose closure is known there only."""
    code = proto.code
    return FunctionType(code, proto.globals, code.co_name, None, tuple([CellType() for _ in code.co_freevars]))


def _defaults(fun) -> list[Expr]:
    """The defaults of the last parameters of a function that compiled code makes."""
    if fun.type.proto.code.co_kwonlyargcount:
        raise NotNative("a derivative or batch of a function with keyword-only parameters that is made in compiled "
                        "code is not compiled yet", "give it positional parameters")
    if "defaults" not in fun.type.roles:
        return []
    held = _opened(Apply(structure.CAPTURE_GET, fun, index=fun.type.roles.index("defaults")))
    return [Apply(structure.TUPLE_GET, held, index=n) for n in range(len(held.type.elements))]


def _of_closure(made, fun, defaults=()):
    """The expression of a function value in compiled code: the function `made`, which captures `fun` in place of its
    stand-in, directly or in a function that it captures, as `hessian` captures a gradient. defaults: those of its last
    parameters."""
    if not isinstance(made, CompiledFunction):
        raise NotNative("a derivative or batch of a function with *args or defaults that is made in compiled code is "
                       "not compiled yet", "give it positional parameters without defaults")
    inner = made.py_func
    cells = dict(zip(inner.__code__.co_freevars, inner.__closure__))

    def captured(name, x):
        if name != "FUN":
            return constant(x)
        return _of_closure(x, fun) if isinstance(x, CompiledFunction) else fun

    closure = Apply(structure.TUPLE_MAKE, *[captured(name, cell.cell_contents) for name, cell in cells.items()],
                    cls=None)
    held = [("defaults", Apply(structure.TUPLE_MAKE, *defaults, cls=None))] if defaults else []
    held.append(("closure", closure))
    t = Function(_lasting(inner), tuple([x.type for _, x in held]), tuple([role for role, _ in held]))
    return Apply(structure.FUNCTION_MAKE, *[x for _, x in held], type=t)


@lru_cache(_DERIVATIVES)
def _lasting(function):
    """The prototype of a function; it is interned, so it must be kept alive."""
    return prototype_of(function)


_ARGUMENTS = "fun, argnums: Constant = 0, has_aux: Constant = False, holomorphic: Constant = False"
_OF_BATCH = ("fun, in_axes: Constant = 0, out_axes: Constant = 0, axis_name: Constant = None, "
             "axis_size: Constant = None")
for _function, _parameters_of in (
        (grad, f"{_ARGUMENTS}, memory: Constant = None"),
        (value_and_grad, f"{_ARGUMENTS}, memory: Constant = None"), (jacfwd, _ARGUMENTS), (jacrev, _ARGUMENTS),
        (hessian, _ARGUMENTS), (checkpoint, "fun"),
        (vmap, f"{_OF_BATCH}, spmd_axis_name: Constant = None"), (pmap, _OF_BATCH)):
    _maker(_function, _parameters_of)


def _opened(x):
    """A tuple that the program captures, which is one constant where it contains arrays, as a tuple of its items."""
    if isinstance(x.type, Singleton) and type(x.type.value) is tuple:
        return Apply(structure.TUPLE_MAKE, *[_opened(constant(item)) for item in x.type.value], cls=None)
    return x


def _jvp_rule(fun, primals, tangents, has_aux: Constant = False):
    primals, tangents = _opened(primals), _opened(tangents)
    for name, x in (("primals", primals), ("tangents", tangents)):
        if not isinstance(x.type, Tuple):
            raise Mismatch(f"jvp takes {name} as a tuple", "write (x,) for one argument")
    if len(primals.type.elements) != len(tangents.type.elements):
        raise Mismatch("jvp takes as many tangents as primals")
    function, wrt, args = fun, tuple(range(len(primals.type.elements))), primals
    if isinstance(fun.type, Singleton) and not isinstance(fun.type.value, (FunctionType, CompiledFunction)) or (
            isinstance(fun.type, Function) and is_of_any_count(_stand_in(fun.type.proto))):
        # of what is not written in Python, such as a ufunc, or has no parameter for each argument, such as a partial
        function, wrt = constant(names.spread), (1,)
        args = Apply(structure.TUPLE_MAKE, fun, primals, cls=None)
        tangents = Apply(structure.TUPLE_MAKE, tangents, cls=None)
    return CallValue(constant(names.pushed_apart), function, constant(wrt), constant(has_aux), tangents, args)


jvp.rule = Rule(_jvp_rule, "pyjitc.jvp")


def _of_values(function):
    """Let compiled code call `vjp` or `linearize`."""
    def rule(given, keywords):
        has_aux = keywords.pop("has_aux", constant(False))
        if keywords:
            raise Mismatch(f"{function.__name__} takes no argument {', '.join(keywords)}: only has_aux is passed by "
                           "name")
        if len(given) < 2:
            raise Mismatch(f"{function.__name__} takes a function and its arguments")
        if has_aux.value is UNKNOWN:
            raise NotNative("has_aux must be a constant in compiled code", "write has_aux=True")
        has_objects = any([holds_dataclass(x.type) for x in given[1:]])
        made = names.OF_VALUES[function.__name__][bool(has_aux.value)][has_objects]
        return CallValue(constant(made), given[0], Apply(structure.TUPLE_MAKE, *given[1:], cls=None))

    function.rule = rule


_of_values(vjp)
_of_values(linearize)
