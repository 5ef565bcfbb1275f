"""Python functions for operations that compiled code leaves to the interpreter and for which the C API has no single
function."""
from __future__ import annotations

import sys
from types import FunctionType

from . import hooks

__all__ = ["as_exception", "binder", "bound_with", "call_star", "compiled", "dict_of", "extended", "group_left",
           "group_match", "is_mapping", "is_sequence", "keys_of", "leave", "list_of", "matches", "merged", "others",
           "pattern_of_class", "set_of", "to_unpack", "unpack_star", "without", "without_keys"]


def binder(name, parameters, defaults, rest, only, only_defaults, returned, keywords, positional):
    """A function with the parameters and the name of another one, which returns the tuple of its arguments for the
    parameters `returned`, followed by those for `*rest`. Wrong arguments raise the TypeError of that function. rest,
    keywords: whether it accepts any number of further arguments, and any keywords; only: the parameters that are
    keyword-only; positional: how many of the others have no keyword."""
    required = len(parameters) - len(defaults)
    written = [p if n < required else f"{p}=defaults[{n - required}]" for n, p in enumerate(parameters)]
    if positional:
        written.insert(positional, "/")
    by_name = [f"{p}=only[{p!r}]" if p in only_defaults else p for p in only]
    stars = ["*rest"] if rest else ["*"] if only else []
    more = ["**keywords"] if keywords else []
    results = [*returned, *["*rest"][:rest]]
    space = {"defaults": defaults, "only": only_defaults}
    exec(f"def bind({', '.join(written + stars + by_name + more)}): return ({''.join(p + ', ' for p in results)})",
         space)
    made = space["bind"]
    made.__name__ = made.__qualname__ = name
    return made


def bound_with(binder, defaults, only_defaults, args, kwargs):
    """The result of `binder(*args, **kwargs)`, a partial call of a function of `binder`, with other defaults."""
    function = binder.func
    made = FunctionType(function.__code__, function.__globals__, function.__name__, defaults)
    made.__qualname__, made.__kwdefaults__ = function.__qualname__, only_defaults
    return made(*binder.args, *args, **binder.keywords, **kwargs)


def call_star(function, args, kwargs, *first):
    # Without the condition the error for `args` that cannot be iterated over would not name the function.
    return function(*first, *args, **kwargs) if first else function(*args, **kwargs)


def unpack_star(x, before, after):
    """The values that `a, b, *c, d = x` unpacks."""
    items = list(to_unpack(x))
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    end = len(items) - after
    return (*items[:before], items[before:end], *items[end:])


def no_manager(cls):
    """The error of a `with` statement for an object of class `cls`; None where it is a context manager."""
    missing = next((name for name in ("__enter__", "__exit__") if not hasattr(cls, name)), None)
    if missing is None:
        return None
    if sys.version_info < (3, 11):
        return AttributeError(missing)
    return TypeError(f"'{cls.__name__}' object does not support the context manager protocol"
                     + " (missed __exit__ method)" * (missing == "__exit__"))


def leave_of(manager):
    """The bound method `__exit__` of a context manager."""
    error = no_manager(type(manager))
    if error is not None:
        raise error
    return manager.__exit__


def leave(exit, error):
    """The result of a context manager's `__exit__` for the exception that ended its block."""
    return exit(type(error), error, error.__traceback__)


def to_unpack(x):
    """The iterator of `a, b = x`."""
    try:
        return iter(x)
    except TypeError:
        if hasattr(type(x), "__iter__") or hasattr(type(x), "__getitem__"):
            raise
        raise TypeError(f"cannot unpack non-iterable {type(x).__name__} object") from None


def as_exception(x, message):
    """The exception that `raise x` raises."""
    if isinstance(x, type) and issubclass(x, BaseException):
        made = x()
        if not isinstance(made, BaseException):
            raise TypeError(f"calling {x!r} should have returned an instance of BaseException, not {type(made)!r}")
        return made
    if isinstance(x, BaseException):
        return x
    raise TypeError(message)


def _wanted(classes) -> tuple:
    """The classes of an `except` clause, as a tuple."""
    wanted = classes if isinstance(classes, tuple) else (classes,)
    for cls in wanted:
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    return wanted


def matches(error, classes):
    """Whether `except classes` catches an exception."""
    return any([cls in type(error).__mro__ for cls in _wanted(classes)])


def group_match(error, classes):
    """The parts of an exception for `except* classes`: (the rest, the caught part, the exception handled then)."""
    if any(issubclass(cls, BaseExceptionGroup) for cls in _wanted(classes)):
        raise TypeError("catching ExceptionGroup with except* is not allowed. Use except instead.")
    caught, rest = None, error
    if error is not None and matches(error, classes):
        caught, rest = error, None
        if not isinstance(error, BaseExceptionGroup):
            caught = BaseExceptionGroup("", (error,))
    elif isinstance(error, BaseExceptionGroup):
        caught, rest = error.split(classes)
    return rest, caught, sys.exc_info()[1] if caught is None else caught


def group_left(error, left):
    """The exception that leaves a statement with `except*`, or None. left: the exceptions that the blocks of the
    clauses raised, and last the group that no clause has caught. Exceptions that a block raises again join that
    group."""
    if not isinstance(error, BaseExceptionGroup):
        return left[0]
    raised, again = [], set()
    for one in left:
        if one is None:
            continue
        if all(getattr(one, name) is getattr(error, name) for name in ("__traceback__", "__cause__", "__context__")):
            again.update(map(id, _single(one)))
        else:
            raised.append(one)
    kept = BaseExceptionGroup.subgroup(error, lambda x: id(x) in again)
    if kept is not None:
        raised.append(kept)
    return None if not raised else raised[0] if len(raised) == 1 else BaseExceptionGroup("", raised)


def _single(error):
    """The exceptions in a group, and those in its groups, that are no groups."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [x for one in error.exceptions for x in _single(one)]


def is_sequence(x):
    """Whether a sequence pattern may match."""
    return bool(type(x).__flags__ & 1 << 5)  # Py_TPFLAGS_SEQUENCE


def is_mapping(x):
    return bool(type(x).__flags__ & 1 << 6)  # Py_TPFLAGS_MAPPING


_MISSING = object()


def keys_of(x, keys):
    """The values of a mapping under these keys, or None where it has not all of them."""
    found = []
    for key in keys:
        value = x.get(key, _MISSING)
        if value is _MISSING:
            return None
        found.append(value)
    return tuple(found)


def without_keys(x, keys):
    """The `**rest` of a mapping pattern."""
    rest = dict(x)
    for key in keys:
        del rest[key]
    return rest


_ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def pattern_of_class(x, cls, count, names):
    """The attributes that a class pattern reads, or None where it does not match."""
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(x, cls):
        return None
    found = []
    fields = getattr(cls, "__match_args__", None)
    if count and fields is None and issubclass(cls, _ITSELF):
        if count > 1:
            raise TypeError(f"{cls.__name__}() accepts 1 positional sub-pattern ({count} given)")
        found.append(x)
    elif count:
        fields = fields or ()
        if count > len(fields):
            raise TypeError(f"{cls.__name__}() accepts {len(fields)} positional sub-pattern"
                            f"{'' if len(fields) == 1 else 's'} ({count} given)")
        names = (*fields[:count], *names)
    for name in names:
        value = getattr(x, name, _MISSING)
        if value is _MISSING:
            return None
        found.append(value)
    return tuple(found)


def merged(x, more, unique):
    """{**x, **more}, or the keywords of a call, in which no name may occur twice."""
    if unique:
        for name in more:
            if name in x:
                raise TypeError(f"got multiple values for keyword argument '{name}'")
    return {**x, **more}


def without(x, key, may_miss):
    """A copy of a dict without a key, which it may not have where may_miss says so."""
    found = dict(x)
    if may_miss:
        found.pop(key, None)
    else:
        del found[key]
    return found


def others(x, names):
    """The items of a dict whose keys are not among `names`."""
    return {key: value for key, value in x.items() if key not in names}


def extended(items, more):
    return [*items, *more]


def list_of(*items):
    return list(items)


def set_of(*items):
    return set(items)


def dict_of(*items):
    return dict(zip(items[::2], items[1::2]))


def compiled(options, function):
    """The compiled form of a function of the program."""
    return hooks.of_function[0](options, function)
