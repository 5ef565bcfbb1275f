"""Binding of call arguments to the parameters of a Python function, with CPython's errors."""
from __future__ import annotations

from ..base.errors import did_you_mean
from ..ops import structure
from .expressions import dict_of
from .meaning import Apply, Mismatch

__all__ = ["bind", "slots_of"]


def bind(proto, args, kwargs, defaults, kwdefaults):
    """One expression per parameter, in the order of the code's locals (positional, keyword-only, *args, **kwargs).

    Raises Mismatch with the interpreter's message for a wrong count or an unknown keyword."""
    code = proto.code
    npos = code.co_argcount
    values = dict(zip(code.co_varnames[npos - len(defaults):npos], defaults))
    values.update(kwdefaults)
    slots, extra, surplus = slots_of(code, proto.qualname, args, kwargs, values)
    bound = [slots[n] if n in slots else values[n] for n in code.co_varnames[:npos + code.co_kwonlyargcount]]
    if code.co_flags & 4:
        bound.append(Apply(structure.TUPLE_MAKE, *extra, cls=None))
    if code.co_flags & 8:
        bound.append(dict_of(surplus.items()))
    return bound


def slots_of(code, name, args, kwargs, defaults):
    """The binding of a call to the parameters of `code`: ({parameter: argument}, further positional arguments, {further
    keyword: argument}). Parameters in `defaults` may be left out; all other errors raise a Mismatch, with Python's
    message for a function `name`."""
    npos, nposonly = code.co_argcount, code.co_posonlyargcount
    names = code.co_varnames[:npos + code.co_kwonlyargcount]
    slots = dict(zip(names[:npos], args))
    extra = list(args[npos:])
    if extra and not code.co_flags & 4:
        _too_many(name, npos, sum(n in defaults for n in names[:npos]), len(args))
    surplus = {}
    for key, value in kwargs.items():
        if key in names[nposonly:]:
            if key in slots:
                raise Mismatch(f"{name}() got multiple values for argument '{key}'")
            slots[key] = value
        elif code.co_flags & 8:
            surplus[key] = value
        elif key in names:
            raise Mismatch(f"{name}() got some positional-only arguments passed as keyword arguments: '{key}'")
        else:
            raise Mismatch(f"{name}() got an unexpected keyword argument '{key}'", did_you_mean(key, names[nposonly:]))
    if len(slots) < len(names):
        for part, kind in ((names[:npos], "positional"), (names[npos:], "keyword-only")):
            missing = [n for n in part if n not in slots and n not in defaults]
            if missing:
                _missing(name, missing, kind)
    return slots, extra, surplus


def _too_many(name, npos, ndefaults, given):
    takes = f"from {npos - ndefaults} to {npos}" if ndefaults else str(npos)
    plural = "" if takes == "1" else "s"
    raise Mismatch(f"{name}() takes {takes} positional argument{plural} but {given} {'was' if given == 1 else 'were'} "
                   f"given")


def _missing(name, missing, kind):
    quoted = [f"'{n}'" for n in missing]
    if len(quoted) == 1:
        text = quoted[0]
    elif len(quoted) == 2:
        text = " and ".join(quoted)
    else:
        text = ", ".join(quoted[:-1]) + f", and {quoted[-1]}"
    raise Mismatch(f"{name}() missing {len(missing)} required {kind} argument{'s' if len(missing) > 1 else ''}: {text}")
