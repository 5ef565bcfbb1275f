"""A survey of the derivatives of NumPy's callables: the calls of tests/lib/np/conformance, differentiated.

right     reverse mode, forward mode and central differences agree in a random direction
zero      the result does not depend on the arguments to first order: both modes give 0, and so do differences
constant  the result has no float in it
refused   an error at the line says that there is no derivative, or the call itself is not compiled
WRONG     anything else: a bug, as is CRASH

`python -m tests.derivatives.survey` is the worker: it reads one case a line as JSON and answers each with a line.
"""
import json
import os
import sys
import warnings

import numpy as np

from pyjitc import jvp, value_and_grad
from pyjitc.base.errors import CompileError
from tests.lib.np.conformance import run
from tests.lib.np.conformance.inputs import VARIED, values

__all__ = ["cases", "state"]

_DOMAINS = ((0.2, 0.9), (1.2, 3.0), (-2.0, -0.3), (-0.9, 0.9))


def cases(group, name, most=3):
    """The first calls of a name with floats, one for each text."""
    found = {}
    for case in run.cases(group, name, ["float64"]):
        if case.dtype == "float64" and case.layout == "C" and case.call not in found and len(found) < most:
            found[case.call] = case
    return list(found.values())


def inputs(names, domain, dtype):
    """The values of variables: floats that vary are in a domain, in square matrices only those beside the diagonal."""
    given = next(values(dtype, "C"))
    low, high = domain
    found = {}
    for name in names:
        x = given.get(name)
        if name in VARIED and isinstance(x, (np.ndarray, np.floating)) and x.dtype.kind == "f":
            x = (low + (high - low) * (0.5 + 0.5 * np.tanh(np.asarray(x) / 2))).astype(dtype)
            if name in ("m", "h", "s3"):
                x = x + 2 * np.eye(x.shape[-1], dtype=dtype) * (1 + np.arange(x.shape[-1], dtype=dtype) / 4)
            x = x if x.ndim else x[()]
        found[name] = x
    return found


def varies(x) -> bool:
    return isinstance(x, (np.ndarray, np.floating)) and x.dtype.kind == "f"


def floats_of(y, path="y"):
    """[(expression of a part, the part)] of the numbers in a result that are no integers."""
    if isinstance(y, (tuple, list)):
        return [part for n, x in enumerate(y) for part in floats_of(x, f"{path}[{n}]")]
    if isinstance(y, np.matrix):  # `*` of matrices is the matrix product
        return []
    if isinstance(y, (float, complex)) or isinstance(y, (np.ndarray, np.generic)) and y.dtype.kind in "fc":
        return [(path, np.asarray(y))]
    return []


def function_of(case, given):
    """(a function of the variables that returns a number, the number of parts of the result that are floats, whether
    all of these are finite)."""
    names = list(given)
    setup = run.SETUP.get(case.group)
    lines = [f"{name} = {name}.copy()" for name in names if isinstance(given[name], np.ndarray) and varies(given[name])]
    space = {"np": np, **{name: x for name, x in given.items() if not varies(x)}}
    varied = [name for name in names if varies(given[name])]
    own = {**space, **{name: x.copy() if isinstance(x, np.ndarray) else x for name, x in given.items()}}
    if setup:
        exec(setup, own)
        lines.append(setup)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = eval(case.call, own)
    if result is None:
        changed = [name for name in names if isinstance(given[name], np.ndarray)
                   and not np.array_equal(own[name], given[name], equal_nan=given[name].dtype.kind in "fc")]
        target = changed[0] if changed else names[0]
        lines += [case.call, f"y = {target}"]
        result = own[target]
    else:
        lines.append(f"y = {case.call}")
    parts = floats_of(result)
    terms = []
    for n, (path, x) in enumerate(parts):
        weight = space[f"w{n}"] = np.linspace(0.5, 1.5, x.size).reshape(x.shape) if x.ndim else 1.0
        # compiled code takes the result of np.linalg.eig and np.roots, of which the type depends on values, as either
        for view in (f"np.real({path})", f"np.imag({path})") if x.dtype.kind == "c" else (f"np.real({path})",):
            terms.append(f"np.sum(np.sin({view}) * w{n})" if isinstance(weight, np.ndarray) else f"np.sin({view})")
    body = "\n    ".join([*lines, f"return {' + '.join(terms) or '0.0'}"])
    exec(compile(f"def f({', '.join(varied)}):\n    {body}\n", f"<{case.name}>", "exec"), space)
    return space["f"], len(parts), all(np.all(np.isfinite(x)) for _, x in parts)


def state(case, dtype="float64"):
    """(the state of the case, as the module's docstring lists them, a detail)."""
    names = run.variables(case.call)
    for domain in _DOMAINS:
        given = inputs(names, domain, dtype)
        try:
            f, count, finite = function_of(case, given)
        except (TypeError, IndexError) as error:
            return "constant", f"takes no floats: {type(error).__name__}"
        except Exception as error:
            return "constant", f"is not called: {type(error).__name__}"
        if finite:
            break
    if not count:
        return "constant", "has no float in its result"
    args = tuple([x for x in given.values() if varies(x)])
    if not args:
        return "constant", "no argument varies"
    random = np.random.default_rng(5)
    along = [np.asarray(random.normal(size=np.shape(x))).astype(x.dtype)[()] for x in args]

    def at(step):  # also where the numbers are of float32, which has too few digits for differences
        moved = [np.asarray(x, np.float64)[()] + step * t for x, t in zip(args, along)]
        return float(f(*[x.copy() if isinstance(x, np.ndarray) else x for x in moved]))

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected: float | None = (at(1e-6) - at(-1e-6)) / 2e-6
        found = []
        for mode in ("reverse", "forward"):
            try:
                if mode == "reverse":
                    value, gradients = value_and_grad(f, tuple(range(len(args))))(*args)
                    found.append(sum(float(np.sum(g * t)) for g, t in zip(gradients, along)))
                else:
                    found.append(float(jvp(f, args, tuple(along))[1]))
            except CompileError as error:
                return "refused", str(error).splitlines()[0]
            except ValueError as error:
                if "the derivative of" in str(error):
                    return "refused", str(error)
                return "WRONG", f"{mode}: ValueError: {error}"
            except Exception as error:
                return "WRONG", f"{mode}: {type(error).__name__}: {str(error).splitlines()[:1]}"
        if not np.allclose(value, at(0.0), 1e-4, 1e-4, equal_nan=True):
            expected = None  # what float32 computes is another function: the residues of polydiv have other lengths
    near = (1e-5, 1e-9) if dtype == "float64" else (1e-3, 1e-4)
    if expected is not None and not np.allclose(found[0], expected, near[0], near[0], equal_nan=True):
        return "WRONG", f"reverse {found[0]:.8g}, differences {expected:.8g}"
    if not np.allclose(found[0], found[1], near[1], near[1], equal_nan=True):
        return "WRONG", f"reverse {found[0]:.10g}, forward {found[1]:.10g}"
    return ("zero" if found[0] == found[1] == 0.0 else "right"), ""


if __name__ == "__main__":
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of NumPy or of compiled code must not appear among the answers
    for line in sys.stdin:
        text, dtype = json.loads(line)
        print(json.dumps(state(run.Case(*text), dtype)), file=out, flush=True)
