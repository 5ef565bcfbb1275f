"""functools.cache, lru_cache and cached_property.

Results of a function that is decorated in the program are stored in the same cache as the interpreter's (`cached_call`
of infer/evaluate.py). A function that is decorated in compiled code is a closure.
"""
from __future__ import annotations

import functools

from ...infer.constants import constant
from ...infer.meaning import Apply, Call, CallValue, Expr, FieldGet, FieldSet, NotNative
from ...ops.structure import METHOD_MAKE, TUPLE_MAKE
from ...types.kinds import Bool, Int, NoneType, Singleton, Str
from ..protocol import protocol_of
from ..rule import Constant, Rule, intrinsic, rule
from .interpreted import call_python
from .partials import captured

__all__ = ["CALLS", "cached", "cached_property", "of_cached", "of_cached_method"]


def cached(store, key, function, *args):
    """Call a function whose results are stored in the dict `store`."""
    if key in store:
        return store[key]
    found = function(*args)
    store[key] = found
    return found


@intrinsic
def key_of(*args):
    """The key of a call with these arguments, in the form of functools.lru_cache."""
    return args[0] if len(args) == 1 and args[0].type in (Int, Str) else Apply(TUPLE_MAKE, *args, cls=None)


def cached_function(function):
    store = dict()  # a Python object; `{}` would be a dict display

    def call(*args):
        return cached(store, key_of(*args), function, *args)

    return call


def recently_cached_function(function, limit):
    store = dict()  # a Python object; `{}` would be a dict display

    def call(*args):
        key = key_of(*args)
        if key in store:
            found = store.pop(key)  # it becomes the most recently used
        else:
            found = function(*args)
            if key in store:
                return found
            if len(store) >= limit:
                del store[next(iter(store))]
        store[key] = found
        return found

    return call


def limited(limit):
    def decorate(function):
        return recently_cached_function(function, limit)

    return decorate


@rule("functools.lru_cache")
def _lru_cache(maxsize=None, typed: Constant = False):
    if typed:
        raise NotNative("functools.lru_cache(typed=True) inside a compiled function is not compiled",
                        "leave typed out: what is compiled for other types keeps other results")
    if maxsize is None or maxsize.type is NoneType:
        return constant(cached_function)
    if maxsize.type is Int:
        return CallValue(constant(limited), maxsize)
    return CallValue(constant(recently_cached_function), maxsize, constant(128))


@rule("functools.cache", "user_function, /")
def _cache(user_function):
    return CallValue(constant(cached_function), user_function)


def of_cached(x: Expr, name: str) -> Expr | None:
    """An attribute of a function that was decorated in compiled code; None where it has none of that name, and for
    other functions."""
    if x.type.proto.code not in _CACHED:
        return None
    if name in ("cache_info", "cache_parameters"):
        raise NotNative(f"{name}() of a function that is decorated in a compiled function is not compiled",
                        "decorate the function outside, or count the calls in a variable")
    if name == "cache_clear":
        return Apply(METHOD_MAKE, x, name=name)
    if name in ("__name__", "__qualname__"):
        function = captured(x, "function")
        return constant(getattr(function.type.value, name)) if isinstance(function.type, Singleton) else (
            protocol_of(function.type).attribute(function, name))
    return captured(x, "function") if name == "__wrapped__" else None


def of_cached_method(x: Expr, name: str, args, kwargs) -> Expr | None:
    """x.cache_clear() of a function that was decorated in compiled code; None for other methods."""
    return Rule(lambda x: Call(clear, captured(x, "store")), name, "self, /")(
        [x, *args], kwargs) if name == "cache_clear" else None


def clear(store):
    store.clear()


_CACHED = tuple(next(x for x in make.__code__.co_consts if hasattr(x, "co_code"))
                for make in (cached_function, recently_cached_function))

# ---------------------------------------------------------------- cached_property


@intrinsic
def stored_field(x, name):
    return FieldGet(x, name.value)


@intrinsic
def store_field(x, name, value):
    return FieldSet(x, name.value, value)


def cached_property(x, name, function):
    try:
        return stored_field(x, name)
    except AttributeError:
        pass
    found = function(x)
    store_field(x, name, found)
    return found


# ---------------------------------------------------------------- descriptors


def stored_or_asked(name, get, descriptor, x, cls):
    """The attribute of an object where its class has a descriptor without `__set__` under that name."""
    if is_stored(x, name):
        return stored_field(x, name)
    return get(descriptor, x, cls)


@intrinsic
def is_stored(x, name):
    return call_python(_stores, x, name, type=Bool)


def _stores(x, name):
    return name in x.__dict__


CALLS = {functools.lru_cache: _lru_cache, functools.cache: _cache}
