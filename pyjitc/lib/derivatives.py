"""What the functions that `pyjitc.grad` and its kin make call: names for the compiler, each with its rule."""
from __future__ import annotations

from ..infer.meaning import Apply, Derived
from ..ops import structure as s
from ..ops.math import STOPPED
from ..types import kinds as k
from ..types.tangents import varies
from .np.elementwise.elementwise import over
from .rule import Constant, Rule, intrinsic

__all__ = ["gradients", "pulled", "pushed", "stop_gradient"]


def _items(x):
    return [Apply(s.TUPLE_GET, x, index=n) for n in range(len(x.type.elements))]


@intrinsic
def gradients(f, argnums: Constant, has_aux: Constant, args):
    """(f(*args), the gradients of it by the arguments at `argnums`); with has_aux of the first item of the result."""
    return Derived(f, _items(args), "gradient", argnums, (), has_aux)


@intrinsic
def pulled(f, argnums: Constant, has_aux: Constant, cotangent, args):
    """(f(*args), what the cotangent of the result becomes at the arguments at `argnums`); with has_aux of the first
    item of the result."""
    return Derived(f, _items(args), "pull", argnums, (cotangent,), has_aux)


@intrinsic
def pushed(f, argnums: Constant, tangents, args):
    """(f(*args), its change for these tangents, a tuple, of the arguments at `argnums`)."""
    return Derived(f, _items(args), "push", argnums, _items(tangents))


def stopped(x):
    return STOPPED(x)


def stop_gradient(x):
    """x, as a constant for derivatives. Arrays are copied."""
    return x


def _stop_gradient(x):
    t = x.type
    if not varies(t):
        return x
    if type(t) is k.Tuple:
        return Apply(s.TUPLE_MAKE, *map(_stop_gradient, _items(x)), cls=t.cls)
    return over(stopped, [], [x]) if type(t) is k.Array else Apply(STOPPED, x)


stop_gradient.rule = Rule(_stop_gradient, "pyjitc.stop_gradient")
