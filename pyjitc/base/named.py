"""Named tuples without the cost of collections.namedtuple(), which generates and compiles code for each class, so that
first calls would be slower."""
from _collections import _tuplegetter

__all__ = ["Named"]


class Named(tuple):
    """`class Loc(Named, fields="line col", defaults=(0,))`: the defaults are those of the last fields. The fields may
    be annotated in the class instead, `line: int = 0`, as in typing.NamedTuple."""

    __slots__ = ()
    _fields: tuple = ()
    _field_defaults: dict = {}

    def __init_subclass__(cls, fields: str = "", defaults: tuple = ()):
        own = cls.__dict__
        cls._fields = names = tuple(fields.split() if fields else own["__annotations__"])
        cls._field_defaults = (dict(zip(names[len(names) - len(defaults):], defaults)) if fields
                               else {name: own[name] for name in names if name in own})
        for k, name in enumerate(cls._fields):
            setattr(cls, name, _tuplegetter(k, ""))

    def __new__(cls, *given, **by_name):
        if by_name or len(given) != len(cls._fields):
            given = cls._filled(given, by_name)
        return tuple.__new__(cls, given)

    @classmethod
    def _filled(cls, given, by_name):
        """All elements, from positional arguments and keyword arguments."""
        fields = cls._fields
        found = dict(cls._field_defaults)
        placed = dict(zip(fields, given))
        found.update(placed)
        found.update(by_name)
        wrong = [name for name in by_name if name in placed or name not in fields]
        missing = [name for name in fields if name not in found]
        if wrong or missing or len(given) > len(fields):
            raise TypeError(f"{cls.__name__}() takes {', '.join(fields)}"
                            + (f"; {', '.join(wrong or missing)} {'is wrong' if wrong else 'is missing'}"
                               if wrong or missing else f"; {len(given)} values were given"))
        return [found[name] for name in fields]

    def _replace(self, **changes):
        made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
        if changes:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(changes)}")
        return made

    def __getnewargs__(self):
        return tuple(self)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={x!r}' for name, x in zip(self._fields, self))})"
