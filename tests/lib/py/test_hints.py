"""Parametrised classes (list[int]) in compiled functions, and the class of a value: annotations, isinstance,
messages."""
import collections
import typing
from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest

from pyjitc import CompileError, njit
from tests.oracle import agree


def annotated(xs):
    def first(a: list[int], b: int | None = None, c: dict[str, list[int]] | None = None,
              d: "typing.Callable[[int], int]" = None, e: typing.Optional[int] = None) -> list | tuple:
        return a if b is None else (b,)

    def second(f: typing.Callable[[int], int], *rest: typing.Union[int, str]) -> typing.List[int]:
        return [f(x) for x in xs]

    return first(xs), first(xs, 3), second(lambda x: x + 1)


def kind(x):
    if isinstance(x, int | float):
        return "number"
    if isinstance(x, str | None):
        return "text or nothing"
    return "sequence" if isinstance(x, list | tuple) else "other"


def parametrised(n):
    queue: deque[int] = deque[int]([n])
    counts = collections.defaultdict[str, int](int)
    counts["a"] += n
    return queue, counts, list[int]((n, 2)), dict[str, int](a=n)


def named(x):
    return (x.__class__.__name__, x.__class__ is type(x), x.__class__ is str, f"{type(x).__name__!r}",
            isinstance(3, x.__class__))


T = typing.TypeVar("T")


class Cache(typing.Generic[T]):
    def __init__(self, size: int):
        self.size = size
        self.data: dict[str, T] = {}

    def put(self, key: str, value: T) -> None:
        if len(self.data) < self.size:
            self.data[key] = value


class Slot(typing.Generic[T]):
    __slots__ = ("value",)

    def __init__(self, value: T):
        self.value = value


def generic(n):
    made, total = Cache[int](3), 0
    for i in range(n):
        made.put(str(i), i)
        total += Slot[int](i).value + Cache[str](size=i).size
    return total, made.data, made.size, str(made.__orig_class__)


@dataclass
class Link:
    value: int
    following: "Link | None" = None


def compared(n):
    a, b = Link(n), Link(n)
    return a == b, a == None, a.following == b, a != 3, a in [b], b in [None], a == "a"  # noqa: E711


@pytest.mark.parametrize("function, given", [
    (annotated, ([1, 2],)), (kind, (1, 2.5, "a", None, [1], (1,), np.arange(2), b"a")), (parametrised, (3,)),
    (generic, (0, 5)),
    (named, (1, True, 2.5, "a", b"a", None, (1, 2), [1], {1: 2}, {1}, 1j, np.arange(2), np.float32(1), range(2))),
    (compared, (3,))])
def test_agrees(function, given):
    for x in given:
        agree(function, x)


def test_what_is_unknown_is_refused():
    with pytest.raises(CompileError, match=r"what list\[...\] is parametrised with must be known"):
        njit(lambda n: list[n]())(3)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \|: 'type' and 'int'"):
        njit(lambda n: int | n)(3)


def test_generic_classes_are_made_by_compiled_code():
    compiled = njit(lambda n: sum([Cache[int](i).size for i in range(n)]))
    assert compiled(5) == 10
    (text,) = compiled.inspect_llvm().values()
    assert "PyObject_Vectorcall" not in text
    made = njit(lambda n: Cache[int](n))(2)
    assert vars(made) == {"size": 2, "data": {}, "__orig_class__": Cache[int]}
