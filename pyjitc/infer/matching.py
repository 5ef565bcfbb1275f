"""The meaning of the patterns of a `match` statement: whether the subject is a sequence, a mapping or an object of some
class, and the parts of it that the inner patterns are compared with. Each function gets the evaluator `on`.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..base.lazy import lazy
from ..ops import generic, structure
from ..types.kinds import Bool, NoneType, Object, Singleton
from .constants import constant
from .meaning import Apply, Const, Mismatch, NotNative, Throw

interpreted = lazy("pyjitc.runtime.interpreted")
boxed = lazy(f"{__package__}.boxed")  # only programs that need the interpreter load it

__all__ = ["HANDLERS"]

# classes C for which `case C(n)` captures the object itself
_SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def _sequence(on, inst, operands):
    """Whether the subject is a sequence, but no text."""
    if operands[0].type is Object:
        return boxed.by_python(interpreted.is_sequence, operands[0], type=Bool)
    cls = on.library.class_of(operands[0].type)
    return Const(Bool, cls is not None and issubclass(cls, Sequence)
                 and not issubclass(cls, (str, bytes, bytearray)))


def _class(on, inst, operands):
    """The tuple of the attributes that the inner patterns are compared with; None where the subject is not of the
    class."""
    subject, cls = operands
    count, names = inst.attrs["count"], inst.attrs["kwnames"]
    if subject.type is Object:
        return boxed.by_python(interpreted.pattern_of_class, subject, cls, constant(count), constant(names))
    if not (isinstance(cls.type, Singleton) and isinstance(cls.type.value, type)):
        raise Mismatch("called match pattern must be a class")
    wanted = cls.type.value
    fits = on.library.rule_for(isinstance)([subject, cls], {})
    if not fits.known:
        raise NotNative("a class pattern for an exception is not compiled yet", "use isinstance")
    if not fits.value:
        return Const(NoneType, None)
    parts = []
    if count and wanted in _SELF_MATCHING and "__match_args__" not in vars(wanted):
        if count > 1:
            return Throw(TypeError, f"{wanted.__name__}() accepts 1 positional sub-pattern ({count} given)")
        parts.append(subject)
    elif count:
        fields = getattr(wanted, "__match_args__", ())
        if count > len(fields):
            return Throw(TypeError, f"{wanted.__name__}() accepts {len(fields)} positional sub-pattern"
                         f"{'' if len(fields) == 1 else 's'} ({count} given)")
        names = (*fields[:count], *names)
    for name in names:
        try:
            parts.append(on.attribute(subject, name))
        except Mismatch as error:
            if error.exception is AttributeError:
                return Const(NoneType, None)
            raise
    return Apply(structure.TUPLE_MAKE, *parts, cls=None)


def _mapping(on, inst, operands):
    """Whether the subject is a mapping."""
    if operands[0].type is Object:
        return boxed.by_python(interpreted.is_mapping, operands[0], type=Bool)
    cls = on.library.class_of(operands[0].type)
    return Const(Bool, cls is not None and issubclass(cls, Mapping))


def _keys(on, inst, operands):
    """The tuple of the values of keys; None where one of the keys is missing."""
    if operands[0].type is Object:
        return boxed.by_python(interpreted.keys_of, *operands)
    return on.library.match_keys(*operands)


def _rest(on, inst, operands):
    """A dict of the items of all other keys."""
    if operands[0].type is Object:
        return boxed.by_python(interpreted.without_keys, *operands)
    return on.library.match_rest(*operands)


HANDLERS = {generic.MATCH_SEQUENCE: _sequence, generic.MATCH_MAPPING: _mapping, generic.MATCH_KEYS: _keys,
            generic.MATCH_REST: _rest, generic.MATCH_CLASS: _class}
