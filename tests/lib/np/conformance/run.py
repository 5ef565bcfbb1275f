"""Compares calls of NumPy functions in the interpreter and compiled. Each call ends as one of

same     value, dtype, shape, mutation
raises   the same exception in both
error    compiled code refuses it with a located error where NumPy has a result: not supported
message  an exception of the same class with another text
DIFFERS  anything else: a bug, as is CRASH (the process ended) and HANG

`python -m tests.lib.np.conformance.run` is the worker: it reads one case a line as JSON and answers each with a line.
"""
import ast
import copy
import inspect
import json
import os
import re
import sys
import warnings
from typing import NamedTuple

import numpy as np

from pyjitc import njit
from pyjitc.base.errors import PyjitcError

from . import calls, inputs

__all__ = ["names", "cases", "run", "Case"]

OWNERS = {"numpy": np, "linalg": np.linalg, "fft": np.fft, "random": np.random, "Generator": np.random.Generator,
          "ndarray": np.ndarray}
SETUP = {"random": "np.random.seed(7)", "Generator": "g = np.random.default_rng(7)"}
PREFIX = {"numpy": "np.", "linalg": "np.linalg.", "fft": "np.fft.", "random": "np.random.", "Generator": "g.",
          "ndarray": "a."}


class Case(NamedTuple):
    """One call. base: the call without out=, whose result gives the array `o`."""

    group: str
    name: str
    call: str
    dtype: str
    layout: str
    base: str = ""


def names(group):
    """The callables of a part of NumPy that are no classes."""
    if group == "ufunc methods":
        ufuncs = {f.__name__: f for f in vars(np).values() if isinstance(f, np.ufunc) and f.nin == 2 and f.nout == 1
                  and not f.signature}
        return [f"{f}.{method}" for f in sorted(ufuncs) for method in calls.METHODS_OF_UFUNCS]
    owner = OWNERS[group]
    listed = (dir(owner) if group in ("numpy", "Generator", "ndarray")
              else [*owner.__all__, *(["default_rng"] if group == "random" else [])])
    return sorted({n for n in listed if not n.startswith("_") and callable(getattr(owner, n))
                   and not isinstance(getattr(owner, n), type)})


def _texts(group, name):
    """[(call, call without out=)], the first one is the main one."""
    if group == "ufunc methods":
        f, method = name.split(".")
        return [(text, text.replace(", None, o)", ")"))
                for text in (_expression("numpy", name, line.replace("{f}", f"np.{f}"))
                             for line in calls.METHODS_OF_UFUNCS[method])]
    target = getattr(OWNERS[group], name)
    table = calls.TABLES.get(group, {})
    if isinstance(target, np.ufunc) and name not in table:
        first = "m, h" if target.signature else "a" if target.nin == 1 else "a, b"
        lines = list(calls.UNARY if target.nin == 1 else calls.BINARY if not target.signature
                     else [first, "a, b", "v, w", "s3, s3", "a3, m", "m, v3"])
        lines = [line for line in lines if not (target.nout > 1 and ", o" in line)]
        lines += [f"{first}, {keyword}" for keyword in calls.UFUNC_KEYWORDS
                  if not ("where" in keyword and target.signature)]
        return [(_expression(group, name, line), _expression(group, name, first)) for line in lines]
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except ValueError:
        parameters = []
    if group in ("Generator", "ndarray"):
        parameters = parameters[1:]
    lines = list(table.get(name, ()))
    if not lines:
        required = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.KEYWORD_ONLY)
                    and (
            p.kind is not p.VAR_POSITIONAL or p.name in calls.ARGUMENTS)]
        lines = [", ".join(calls.ARGUMENTS.get(p.name, ["a"])[0] for p in required)]
    found = [_expression(group, name, line) for line in lines]
    main, pairs = found[0], []
    if main.endswith(")") and main.startswith(PREFIX[group] + name + "("):
        for p in parameters:
            if (p.default is p.empty or p.name in ("like", "device", "order")
                and any(p.name + "=" in text for text in found)):
                continue
            if p.name == "like" or any(re.search(rf"\b{p.name}=", text) for text in found):
                continue
            default = p.default
            values = (calls.KEYWORDS.get(p.name)
                      or ([repr(default)] if default is None or type(default) in (bool, int, float, str) else []))
            pairs += [(main[:-1] + (", " if main[-2] != "(" else "") + f"{p.name}={value})", main) for value in values
                      if value != "None" or default is None]
    return [(text, re.sub(r", (out=)?o\)|out=o\)", ")", re.sub(", None, o", "", text))) for text in found] + pairs


def _expression(group, name, line):
    return line[1:].strip() if line.startswith("=") else f"{PREFIX[group]}{name}({line})"


def variables(text):
    return sorted({n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)} & inputs.NAMES)


def cases(group, name, dtypes=None):
    """All cases of a name: the main call over dtypes and layouts, the others for a float and an integer."""
    if name in calls.NOT_CALLED:
        return
    try:
        texts = _texts(group, name)
    except Exception as error:
        raise AssertionError(f"{group} {name}") from error
    target = None if group == "ufunc methods" else getattr(OWNERS[group], name)
    if isinstance(target, np.ufunc) and target.__name__ != name and hasattr(np, target.__name__):
        texts = texts[:1]  # another name of a ufunc
    for k, (text, base) in enumerate(dict(texts).items()):
        varied = set(variables(text)) & inputs.VARIED
        if not varied:
            yield Case(group, name, text, "float64", "C", base)
            continue
        few = ["float64", "int64", "float32", "complex128"]
        if isinstance(target, np.ufunc):
            dtypes = inputs.DTYPES
        elif group in ("linalg", "fft", "random", "Generator") or name in calls.HEAVY:
            dtypes = few
        else:
            dtypes = inputs.DTYPES[:11]
        if group == "ufunc methods":
            dtypes = few[:2] + ["bool", "uint8"]
        for dtype in dtypes if k == 0 else ["float64", "int32"] if group != "ufunc methods" else ["float64", "int64"]:
            yield Case(group, name, text, dtype, "C", base)
        if k == 0:
            for layout in inputs.LAYOUTS if group != "ufunc methods" else ["strided", "3-d"]:
                yield Case(group, name, text, "float64", layout, base)


def function_of(text, arguments, setup=""):
    space = {"np": np}
    exec(compile(f"def f({', '.join(arguments)}):\n    {setup or 'pass'}\n    return {text}\n", "<conformance>",
                 "exec"), space)
    return space["f"]


def kept(args):
    """Copies with the same strides and writeable flag."""
    return [laid_as(x) if isinstance(x, np.ndarray) else copy.deepcopy(x) for x in args]


def laid_as(x):
    if x.flags.c_contiguous or x.flags.f_contiguous:
        y = x.copy("K")
    else:
        base = np.zeros([2 * n for n in x.shape], x.dtype)
        y = base[tuple([slice(None, None, -2 if s < 0 else 2) for s in x.strides])]
        y[...] = x
    y.flags.writeable = x.flags.writeable
    return y


def attempt(function, args):
    args = kept(args)
    with warnings.catch_warnings(record=True) as found, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            how, what = "returns", function(*args)
        except Exception as error:
            how, what = "raises", error
    return (how, what, args,
            [f"{w.category.__name__}: {w.message}" for w in found if not issubclass(w.category, DeprecationWarning)])


def run(case):
    """(status, detail)"""
    setup = SETUP.get(case.group, "")
    if case.group == "ndarray" and not variables(case.call):
        setup = ""
    arguments = variables(case.call)
    plain = function_of(case.call, arguments, setup)
    compiled = njit(plain)
    target = getattr(np, case.name, None)
    best = "raises"
    elementwise = case.group == "numpy" and isinstance(target, np.ufunc) and not target.signature
    for number, given in enumerate(inputs.values(case.dtype, case.layout, elementwise)):
        if {"o", "t"} & set(arguments):
            before = variables(case.base)
            how, result, *_ = attempt(function_of(case.base, before, setup), [given[n] for n in before])
            if how == "raises" or not isinstance(result, (np.ndarray, np.generic, tuple)):
                result = given["a"]
            given["o"] = tuple(map(np.zeros_like, result)) if isinstance(result, tuple) else np.zeros_like(result)
            given["t"] = tuple(np.zeros(np.shape(r), np.int8)
                               for r in result) if isinstance(result, tuple) else np.zeros(np.shape(result), np.int8)
        args = [given[n] for n in arguments]
        expected, actual = attempt(plain, args), attempt(compiled, args)
        status, detail = compare(expected, actual, elementwise)
        best = "same" if status == "same" else best
        if status in ("same", "raises"):
            continue
        shown = ", ".join(f"{n}: {x.shape if isinstance(x, np.ndarray) else x!r}" for n, x in zip(arguments, args))
        detail = f"{detail} [{shown}]"
        if status != "DIFFERS" or not documented(case.call, detail):
            return status, detail
    return best, ""


def documented(call, detail) -> bool:
    """Whether docs/semantics.md has a row for the difference."""
    return (call in calls.DOCUMENTED and calls.DOCUMENTED[call] in detail or call.startswith(calls.SHORT_OF_A_ROW)
            and "raises" not in detail)


def compare(expected, actual, elementwise):
    how, value, after, warned = expected
    how2, value2, after2, warned2 = actual
    if how2 == "raises" and isinstance(value2, PyjitcError):
        message = str(value2).split("\n")
        hint = [line.strip() for line in message if line.strip().startswith("help:")]
        if "internal" in str(value2).lower():
            return "DIFFERS", " ".join(message)
        return ("raises", "") if how == "raises" else ("error", "; ".join(message[:1] + hint))
    if how2 == "raises" and isinstance(value2, NotImplementedError):
        return "error", str(value2)
    if how != how2:
        return "DIFFERS", f"NumPy {how} {short(value)}, compiled {how2} {short(value2)}"
    if how == "raises":
        if type(value) is not type(value2):
            return "DIFFERS", f"NumPy raises {value!r}, compiled {value2!r}"
        return ("raises", "") if str(value) == str(value2) else ("message", f"NumPy {value!r}, compiled {value2!r}")
    if warned != warned2:
        return "DIFFERS", f"NumPy warns {warned}, compiled {warned2}"
    wrong = (unlike(value, value2, elementwise)
             or "; ".join(filter(None, (unlike(x, y, elementwise) for x, y in zip(after, after2)))))
    return ("DIFFERS", wrong) if wrong else ("same", "")


def short(x):
    return " ".join(repr(x).split())[:200]


def unlike(x, y, elementwise):
    """'' or how two results differ. Floats agree to some units in the last place: of each element for ufuncs, of the
    largest element for functions whose order of operations is free."""
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        if type(x) is not type(y) and not (type(x).__name__ == type(y).__name__):
            return f"a {type(x).__name__} against a {type(y).__name__}"
        if len(x) != len(y):
            return f"{len(x)} items against {len(y)}"
        return "; ".join(filter(None, (unlike(p, q, elementwise) for p, q in zip(x, y))))
    if type(x) is not type(y):
        return f"{type(x).__name__} {short(x)} against {type(y).__name__} {short(y)}"
    if not isinstance(x, (np.ndarray, np.generic, float, complex)):
        return "" if x == y else f"{short(x)} against {short(y)}"
    if isinstance(x, (np.ndarray, np.generic)):
        if x.dtype != y.dtype or x.shape != y.shape:
            return f"{x.dtype}{list(x.shape)} against {y.dtype}{list(y.shape)}"
        if isinstance(x, np.ndarray) and x.flags.writeable != y.flags.writeable:
            return f"writeable {x.flags.writeable} against {y.flags.writeable}"
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind not in "fc":
        same = np.array_equal(x, y)
    else:
        parts = [(x.real, y.real), (x.imag, y.imag)] if x.dtype.kind == "c" else [(x, y)]
        size = np.abs(x.astype(np.result_type(x, np.float64)))
        if not elementwise:
            size = np.max(size, where=np.isfinite(size), initial=0.0)
        places = np.finfo(x.dtype).eps * (8 if elementwise and x.dtype.kind != "c" else 64)
        same = all(np.all((p == q) | (np.isnan(p) & np.isnan(q))
                          | (np.abs(p.astype(float) - q) <= places * np.where(np.isfinite(size), size, 0)
                             + np.finfo(x.dtype).smallest_subnormal))
                   for p, q in parts)
    return "" if same else f"{short(x)} against {short(y)}"


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # some functions print
    for line in sys.stdin:
        try:
            answer = run(Case(*json.loads(line)))
        except Exception as error:
            answer = "DIFFERS", f"internal: {type(error).__name__}: {error}"
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
