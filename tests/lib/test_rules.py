"""Rules have the signature of their callable, and their errors for wrong arguments have its text."""
import cmath
import importlib
import inspect
import math
import operator
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.base.errors import CompileError
from pyjitc.lib import rule as rules
from pyjitc.lib.np import index
from pyjitc.lib.np.elementwise import scalars, ufunc_methods
from pyjitc.lib.np.random import random
from pyjitc.lib.np.shapes import views
from pyjitc.lib.py import builtins, cmathmod, conversions, mathmod, ranges, sequences

NEW = np.lib.NumpyVersion(np.__version__) >= "2.4.0"  # the signatures are those of NumPy 2.4
NOT_COMPILED = {"descending"}  # parameters that came with NumPy 2.5

# Callables whose declared signature is incomplete or differs from the arguments that they take.
OTHERWISE = {
    "np.arange": "its signature says that `start` and `stop` have one place; it takes start= too",
    "np.ndarray": "a constructor", "np.datetime64": "a constructor", "np.timedelta64": "a constructor",
    "np.dtype": "NumPy itself answers", "np.ndarray.view": "its signature says nothing",
    "np.ndarray.transpose": "takes axes, as NumPy's documentation says",
    "np.vectorize": "a decorator too, which is not compiled",
}


def every_rule():
    """(name, rule) for every callable with a rule."""
    tables = [(name, importlib.import_module(f"pyjitc.lib.np.{name}")) for name in {*index.FUNCTIONS, *index.METHODS}]
    for name, module in sorted(tables):
        for target, found in module.CALLS.items():
            yield f"{name}: {getattr(target, '__name__', target)}", found
        for method, found in getattr(module, "METHODS", {}).items():
            yield f"{name}: ndarray.{method}", found
    for module in (builtins, cmathmod, conversions, mathmod, ranges, sequences):
        for target, found in module.CALLS.items():
            yield f"{module.__name__}: {target.__name__}", found
    for home, table in (("Generator", random.GENERATOR), ("RandomState", random.LEGACY), ("ndarray", views.METHODS),
                        ("ufunc", ufunc_methods._RULES)):
        for name, found in table.items():
            yield f"{home}.{name}", found


RULES = {name: found for name, found in every_rule() if isinstance(found, rules.Rule)}


def test_all_rules_are_bound_in_one_way():
    """A meaning that is no Rule is a library function, or passes its arguments on."""
    passes_on = ("compiled.<locals>", "of_sequences.<locals>", "_on_global.<locals>")
    others = sorted({found.__qualname__ for name, found in every_rule() if not isinstance(found, rules.Rule)})
    assert [name for name in others if not name.startswith(passes_on)] == []
    assert len(RULES) > 500


def test_every_path_leads_to_a_callable():
    lost = [found.path for found in RULES.values() if rules.target_of(found.path) is None]
    assert not [path for path in lost if not hasattr(np.int64, path.rpartition(".")[2])]


@pytest.mark.skipif(not NEW, reason="the signatures are those of NumPy 2.4")
@pytest.mark.parametrize("name", RULES)
def test_declared_as_the_callable_is(name):
    """Names, kinds and defaults of parameters are those of the callable, if Python knows its signature."""
    found = RULES[name]
    if found.path in OTHERWISE or getattr(rules.target_of(found.path), "nout", 1) > 1:  # two places in a ufunc's out
        return
    try:
        wanted = inspect.signature(rules.target_of(found.path))
    except (ValueError, TypeError):
        return
    ours, theirs = list(found.parameters().parameters.values()), list(wanted.parameters.values())
    if found.path.startswith(tuple(rules._RECEIVERS)):  # the receiver cannot be passed by name
        ours, theirs = ours[1:], theirs[1:]
    open_ended = [p for p in ours if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    says_less = {p.kind for p in theirs} & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    if len(says_less) == 2:
        return  # the callable has no signature
    positional_only = [p.name for p in theirs if p.kind is p.POSITIONAL_ONLY]
    mine = {p.name: p for p in ours}
    for p in theirs:
        if p.name in positional_only or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue  # cannot be passed by name
        if p.name not in mine and (open_ended or p.name in NOT_COMPILED):
            continue
        assert p.name in mine, f"{found.path}{wanted}, declared {found.parameters()}"
        q = mine[p.name]
        assert (q.kind is q.KEYWORD_ONLY) == (p.kind is p.KEYWORD_ONLY), f"{found.path}: {p.name}"
        assert (q.default is q.empty) == (p.default is p.empty), f"{found.path}: {p.name}"
    known = {p.name for p in theirs}
    more = [p.name for p in ours if p not in open_ended and p.name not in known
            and p.kind is not p.POSITIONAL_ONLY and ours.index(p) >= len(positional_only)]
    assert says_less or not more, f"{found.path}{wanted}, declared {found.parameters()}"


A = np.ones((2, 3))
WRONG = {
    "a keyword": lambda a: np.swapaxes(a, 0, 1, axis=1),
    "near": lambda a: np.sum(a, axs=1),
    "too many": lambda a: np.swapaxes(a, 0, 1, 2),
    "too few": lambda a: np.moveaxis(a, 0),
    "twice": lambda a: np.flip(a, m=a),
    "in C": lambda a: np.zeros(),
    "in C by name": lambda a: np.zeros(3, form="C"),
    "method": lambda a: a.swapaxes(0),
    "method by name": lambda a: a.sort(axs=0),
    "sum of a method": lambda a: a.sum(foo=1),
    "ufunc": lambda a: np.add(a),
    "method of a ufunc": lambda a: np.add.reduce(a, axs=1),
    "linalg": lambda a: np.linalg.solve(a),
    "random": lambda a: np.random.normal(0.0, 1.0, 2, 3),
    "random by name": lambda a: np.random.normal(lok=1.0),
    "generator": lambda a: np.random.default_rng(1).integers(),
    "builtin": lambda a: hash(1, 2),
    "builtin by name": lambda a: abs(x=1),
    "builtin with parameters": lambda a: pow(2),
    "range": lambda a: range(),
    "math": lambda a: math.sin(1.0, 2.0),
    "math of two": lambda a: math.comb(5),
    "math by name": lambda a: math.isclose(1.0, 2.0, tol=1.0),
    "cmath": lambda a: cmath.rect(1.0),
    "operator": lambda a: operator.add(1),
    "scalar": lambda a: np.float64(1.5).is_integer(2),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused_in_the_words_of_the_callable(name):
    function = WRONG[name]
    with pytest.raises(TypeError) as expected:
        function(A)
    with pytest.raises(CompileError) as refused:
        njit(function)(A)
    assert refused.value.diagnostic.message == str(expected.value)


def test_a_parameter_that_must_be_a_constant():
    with pytest.raises(CompileError, match="keepdims= of np.sum must be a constant"):
        njit(lambda a, keep: np.sum(a, 0, keepdims=keep))(A, True)


def test_a_parameter_that_is_not_compiled():
    with pytest.raises(CompileError, match="np.array with ndmax= is not compiled"):
        njit(lambda a: np.array(a, ndmax=2))(A)


def test_none_and_nothing_are_the_same_where_none_is_the_default():
    function = njit(lambda a: (np.sum(a, axis=None), np.sum(a), np.clip(a, None, 0.5)))
    assert repr(function(A)) == repr(function.py_func(A))


def test_scalar_methods_have_paths():
    assert all(rules.target_of(f"np.float64.{name}") or rules.target_of(f"np.int64.{name}")
               for name in scalars.SCALAR_METHODS)


def loaded(module):
    """The modules that an import of this one loads, in a new process."""
    program = f"import sys, {module}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
               .stdout.split())


def test_the_first_compile_does_not_load_what_only_errors_need():
    assert not {"numpy.random", "inspect"} & (loaded("pyjitc.lib.rule") - loaded("numpy"))
